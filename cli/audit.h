// SPDX-License-Identifier: Apache-2.0
/* What verify does with packed datasets. */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "command.h"
#include "json.h"

/* Verifies one folder; `j` gets an object of it, NULL: it is told in words. The exit code. */
int audit_run(const settings *s, const char *folder, json *j);

/* Why a folder with no dataset.json is not to be taken for a folder of images: it is half of a packed one. */
const char *audit_unfinished(const char *folder);

#endif
