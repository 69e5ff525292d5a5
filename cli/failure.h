// SPDX-License-Identifier: Apache-2.0
/* What ends a command that was asked for in a right way. */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include "command.h"

/*
 * Complains, and with --json also prints {"error": {"code": ..., "text": ...}}: the one object of a command that has no
 * other to print. `name` may be NULL. The exit code: EXIT_BAD_INPUT.
 */
__attribute__((format(printf, 4, 5))) int failed(const settings *s, int code, const char *name, const char *format,
                                                 ...);

/* The same with the library's sentence, which has the name in it; where it is empty, with what the code means. */
int failed_detail(const settings *s, int code, const char *name, const char *detail);

#endif
