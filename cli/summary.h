// SPDX-License-Identifier: Apache-2.0
/* What info tells of a dataset. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "command.h"

/* The exit code. */
int summary_run(const settings *s, char **paths, size_t count);

#endif
