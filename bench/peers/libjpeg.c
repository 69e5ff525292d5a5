// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

typedef struct trap {
    struct jpeg_error_mgr errors;
    jmp_buf jump;
} trap;

static void leave(j_common_ptr cinfo)
{
    longjmp(((trap *)cinfo->err)->jump, 1);
}

static void say_nothing(j_common_ptr cinfo)
{
    (void)cinfo;
}

/* Before setjmp: from here on the struct can be destroyed, whatever happens. */
static void prepare(struct jpeg_decompress_struct *c, trap *t)
{
    memset(c, 0, sizeof *c);
    c->err = jpeg_std_error(&t->errors);
    t->errors.error_exit = leave;
    t->errors.output_message = say_nothing;
}

/* Header and settings; CMYK is left out, because libjpeg itself does not make RGB of it. */
static bool start(struct jpeg_decompress_struct *c, const void *bytes, size_t nbytes, const mr_image *to)
{
    jpeg_create_decompress(c);
    jpeg_mem_src(c, bytes, (unsigned long)nbytes);
    jpeg_read_header(c, TRUE);
    if (to->depth != 8 || c->num_components > 3 || (to->channels != 1 && to->channels != 3))
        return false;
    c->out_color_space = to->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    return jpeg_start_decompress(c) && c->output_components == (int)to->channels;
}

static peer_result decode(const void *bytes, size_t nbytes, const mr_image *to)
{
    struct jpeg_decompress_struct c;
    trap t;
    volatile peer_result result = PEER_FAILED;
    prepare(&c, &t);
    if (setjmp(t.jump) == 0 && start(&c, bytes, nbytes, to) && c.output_width == to->width &&
        c.output_height == to->height) {
        while (c.output_scanline < c.output_height) {
            JSAMPROW row = peer_row(to, c.output_scanline);
            jpeg_read_scanlines(&c, &row, 1);
        }
        jpeg_finish_decompress(&c);
        result = t.errors.num_warnings == 0 ? PEER_DECODED : PEER_WARNED;
    }
    jpeg_destroy_decompress(&c);
    return result;
}

/* Crops to whole iMCUs and skips rows, which is as near as libjpeg comes; the edges differ from the whole decode. */
static void read_part(struct jpeg_decompress_struct *c, uint8_t *row, mr_rect region, const mr_image *to)
{
    JDIMENSION x = region.x, width = region.width;
    jpeg_crop_scanline(c, &x, &width);
    size_t lead = (region.x - x) * to->channels;
    if (region.y > 0)
        jpeg_skip_scanlines(c, region.y);
    for (uint32_t y = 0; y < region.height; y++) {
        JSAMPROW rows = row;
        jpeg_read_scanlines(c, &rows, 1);
        memcpy(peer_row(to, y), row + lead, mr_image_row_nbytes(to));
    }
}

static bool decode_region(const void *bytes, size_t nbytes, mr_rect region, const mr_image *to)
{
    struct jpeg_decompress_struct c;
    trap t;
    volatile bool good = false;
    uint8_t *volatile row = NULL;
    prepare(&c, &t);
    if (setjmp(t.jump) == 0 && start(&c, bytes, nbytes, to) && (row = malloc((size_t)c.output_width * 3)) != NULL) {
        read_part(&c, row, region, to);
        jpeg_abort_decompress(&c);
        good = true;
    }
    free(row);
    jpeg_destroy_decompress(&c);
    return good;
}

const bench_peer peer_libjpeg = {"libjpeg-turbo", MR_FORM_JPEG, decode, decode_region};
