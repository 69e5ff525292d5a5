// SPDX-License-Identifier: Apache-2.0
/* --size, --max-side, --short-side, and how. */
#ifndef CLI_RESIZING_H
#define CLI_RESIZING_H

#include "command.h"

extern const option options_resizing[];

/* EXIT_USAGE, after a word on it, for options that do not go together. */
int resizing_check(const command *c, const settings *s);

/* The option that asks for another size than width x height; NULL: none does. */
const char *resizing_option(const settings *s, uint32_t width, uint32_t height);

/*
 * Resizes *image as the options ask, if they do, and lets it be the result, whose pixels are *own; mr_image_fini that.
 * 0, or a code and its sentence.
 */
int resizing_run(const settings *s, mr_image *image, mr_image *own, char *error, size_t nbytes);

#endif
