// SPDX-License-Identifier: Apache-2.0
/* libjpeg-turbo as any program uses it: none of our source, memory, limits or error handling is between. */
#include "check.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct plain_error {
    struct jpeg_error_mgr base;
    jmp_buf jump;
} plain_error;

static void jump_out(j_common_ptr cinfo)
{
    longjmp(((plain_error *)cinfo->err)->jump, 1);
}

static void stay_silent(j_common_ptr cinfo)
{
    (void)cinfo;
}

int fuzz_plain_jpeg(const uint8_t *bytes, size_t nbytes, uint32_t reduce, const mr_image *to)
{
    struct jpeg_decompress_struct c;
    plain_error error;
    c.err = jpeg_std_error(&error.base);
    error.base.error_exit = jump_out;
    error.base.output_message = stay_silent;
    if (setjmp(error.jump) != 0) {
        jpeg_destroy_decompress(&c);
        return -1;
    }
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, bytes, nbytes);
    jpeg_read_header(&c, TRUE);
    c.scale_num = 1;
    c.out_color_space = to->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    c.scale_denom = reduce;
    jpeg_start_decompress(&c);
    bool fits = c.output_width == to->width && c.output_height == to->height;
    while (fits && c.output_scanline < c.output_height) {
        JSAMPROW row = (uint8_t *)to->pixels + (ptrdiff_t)c.output_scanline * to->stride;
        jpeg_read_scanlines(&c, &row, 1);
    }
    int warnings = fits ? (int)error.base.num_warnings : -1;
    jpeg_destroy_decompress(&c);
    return warnings;
}
