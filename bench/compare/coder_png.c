// SPDX-License-Identifier: Apache-2.0
#include "coder.h"
#include "peers.h"

#include <stdlib.h>
#include <string.h>

bool blob_copy(const void *bytes, size_t nbytes, blob *out)
{
    out->bytes = malloc(nbytes + (nbytes == 0));
    out->nbytes = nbytes;
    if (out->bytes != NULL)
        memcpy(out->bytes, bytes, nbytes);
    return out->bytes != NULL;
}

#ifdef PEER_PNG
#include <png.h>

typedef struct sink {
    blob out;
    size_t room;
} sink;

static void put(png_structp png, png_bytep bytes, size_t nbytes)
{
    sink *s = png_get_io_ptr(png);
    if (nbytes > s->room - s->out.nbytes) {
        size_t room = 2 * (s->out.nbytes + nbytes);
        uint8_t *grown = realloc(s->out.bytes, room);
        if (grown == NULL)
            png_error(png, "no memory");
        s->out.bytes = grown;
        s->room = room;
    }
    memcpy(s->out.bytes + s->out.nbytes, bytes, nbytes);
    s->out.nbytes += nbytes;
}

static void flush(png_structp png)
{
    (void)png;
}

/* Everything as libpng does it when nobody tells it anything: all filters by its heuristic, zlib's level said though.
 */
static bool encode(const mr_image *image, blob *out)
{
    sink s = {.room = 0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    volatile bool good = false;
    if (info != NULL && setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, &s, put, flush);
        png_set_compression_level(png, 6);
        png_set_IHDR(png, info, image->width, image->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png, info);
        for (uint32_t y = 0; y < image->height; y++)
            png_write_row(png, peer_row(image, y));
        png_write_end(png, info);
        good = true;
    }
    png_destroy_write_struct(&png, &info);
    *out = s.out;
    if (!good)
        free(s.out.bytes);
    return good;
}

static bool decode(void *state, const blob *stored, const mr_image *to)
{
    (void)state;
    return peer_libpng.decode(stored->bytes, stored->nbytes, to) == PEER_DECODED;
}

static const coder libpng = {.name = "PNG-6",
                             .made = "libpng, zlib level 6, its default filters (the least sum of absolute values)",
                             .encode = encode,
                             .decode = decode};
const coder *const coder_libpng = &libpng;
#else
const coder *const coder_libpng = NULL;
#endif
