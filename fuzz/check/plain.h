// SPDX-License-Identifier: Apache-2.0
/* A plain libjpeg-turbo: what it cannot go on with is a jump, what it says is not printed. */
#ifndef FUZZ_CHECK_PLAIN_H
#define FUZZ_CHECK_PLAIN_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct plain_error {
    struct jpeg_error_mgr base;
    jmp_buf jump; /* to be set before jpeglib is called */
} plain_error;

static void plain_jump(j_common_ptr cinfo)
{
    longjmp(((plain_error *)cinfo->err)->jump, 1);
}

static void plain_silence(j_common_ptr cinfo)
{
    (void)cinfo;
}

static inline struct jpeg_error_mgr *plain_error_init(plain_error *error)
{
    jpeg_std_error(&error->base);
    error->base.error_exit = plain_jump;
    error->base.output_message = plain_silence;
    return &error->base;
}

#endif
