// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include <spng.h>

static int format_of(const mr_image *to)
{
    if (to->depth == 16)
        return to->channels == 4 ? SPNG_FMT_RGBA16 : 0;
    return to->channels == 1   ? SPNG_FMT_G8
           : to->channels == 2 ? SPNG_FMT_GA8
           : to->channels == 3 ? SPNG_FMT_RGB8
                               : SPNG_FMT_RGBA8;
}

static bool decode_rows(spng_ctx *c, const mr_image *to)
{
    int format = format_of(to);
    size_t nbytes;
    if (format == 0 || spng_decoded_image_size(c, format, &nbytes) != 0 ||
        nbytes != mr_image_row_nbytes(to) * to->height || to->stride != (ptrdiff_t)mr_image_row_nbytes(to))
        return false;
    return spng_decode_image(c, to->pixels, nbytes, format, SPNG_DECODE_TRNS) == 0;
}

static peer_result decode(const void *bytes, size_t nbytes, const mr_image *to)
{
    spng_ctx *c = spng_ctx_new(0);
    bool good = c != NULL && spng_set_png_buffer(c, bytes, nbytes) == 0 && decode_rows(c, to);
    spng_ctx_free(c);
    return good ? PEER_DECODED : PEER_FAILED;
}

const bench_peer peer_libspng = {"libspng", MR_FORM_PNG, decode, NULL};
