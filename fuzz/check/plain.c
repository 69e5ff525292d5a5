// SPDX-License-Identifier: Apache-2.0
/* libjpeg-turbo as any program uses it: none of our source, memory, limits or error handling is between. */
#include "plain.h"
#include "check.h"

int fuzz_plain_jpeg(const uint8_t *bytes, size_t nbytes, uint32_t reduce, const mr_image *to)
{
    struct jpeg_decompress_struct c;
    plain_error error;
    c.err = plain_error_init(&error);
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
