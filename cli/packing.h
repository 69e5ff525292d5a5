// SPDX-License-Identifier: Apache-2.0
/* What pack and merge tell of a dataset that they made. */
#ifndef CLI_PACKING_H
#define CLI_PACKING_H

#include "command.h"

/* In seconds, from some time on. */
double packing_clock(void);

/* The report, for a person or with --json as an object; `verb` is "Packed" or "Merged". */
void packing_put(const settings *s, const char *verb, const mr_pack_report *report, double seconds);

#define PACKING_OUT                                                                                                    \
    {                                                                                                                  \
        .name = "out", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(settings, out), .argument = "DST",       \
        .help = "The folder of the packed dataset, which is made if it is not there"                                   \
    }

#endif
