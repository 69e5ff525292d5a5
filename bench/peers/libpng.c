// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include <png.h>

typedef struct source {
    const uint8_t *bytes;
    size_t nbytes;
} source;

static void get(png_structp png, png_bytep to, size_t nbytes)
{
    source *s = png_get_io_ptr(png);
    if (nbytes > s->nbytes)
        png_error(png, "the end");
    memcpy(to, s->bytes, nbytes);
    s->bytes += nbytes;
    s->nbytes -= nbytes;
}

static void fail(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* Palettes become colours, transparency alpha, few bits eight: what libpng calls expanding. */
static bool start(png_structp png, png_infop info, const mr_image *to)
{
    png_set_expand(png);
    png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return png_get_image_width(png, info) == to->width && png_get_image_height(png, info) == to->height &&
           png_get_channels(png, info) == to->channels && png_get_bit_depth(png, info) == to->depth;
}

static peer_result decode(const void *bytes, size_t nbytes, const mr_image *to)
{
    source s = {.bytes = bytes, .nbytes = nbytes};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, warn);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    png_bytep *volatile rows = NULL;
    volatile peer_result result = PEER_FAILED;
    if (info != NULL && setjmp(png_jmpbuf(png)) == 0) {
        png_set_read_fn(png, &s, get);
        png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_read_info(png, info);
        if (start(png, info, to) && (rows = malloc(to->height * sizeof *rows)) != NULL) {
            for (uint32_t y = 0; y < to->height; y++)
                rows[y] = peer_row(to, y);
            png_read_image(png, rows);
            png_read_end(png, NULL);
            result = PEER_DECODED;
        }
    }
    free(rows);
    png_destroy_read_struct(&png, &info, NULL);
    return result;
}

const bench_peer peer_libpng = {"libpng", MR_FORM_PNG, decode, NULL};
