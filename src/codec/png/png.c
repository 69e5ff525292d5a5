// SPDX-License-Identifier: Apache-2.0
/*
 * PNG: own chunk parser, libdeflate, own unfilter kernels. bench/notes-png.md has the figures behind this.
 *
 * The whole image is inflated at once, as libdeflate wants it; rows are then undone straight into the target, each from
 * the one above it, so that a pixel is written once. Where pixels are not stored as they are wanted (bit depth,
 * palette, byte order, another number of channels), rows are undone in a small ring that stays in the first cache.
 */
#include "codec/png/png.h"

#include "codec/exif.h"
#include "codec/png/inflate.h"

#include <string.h>

static int state_init(mr__call *call, void *state)
{
    mr__png_state *s = state;
    mr__unfilter_init(&s->unfilter, call->cpu);
    return 0;
}

static void state_fini(void *state, const mr_hooks *hooks)
{
    mr__png_state *s = state;
    if (s->decompressor != NULL)
        libdeflate_free_decompressor(s->decompressor);
    if (s->compressor != NULL)
        libdeflate_free_compressor(s->compressor);
    mr__buffer_fini(&s->data, hooks);
    mr__buffer_fini(&s->raw, hooks);
    mr__buffer_fini(&s->rows, hooks);
    mr__buffer_fini(&s->pixels, hooks);
}

/* The first half of the signature is enough: if the second is broken, that is worth a better word than "unknown". */
static bool probe(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= 4 && memcmp(bytes, MR__PNG_SIGNATURE, 4) == 0;
}

static int info(mr__call *call, mr_info *out)
{
    mr__png png;
    int result = mr__png_parse(call, true, &png);
    if (result != 0)
        return result;
    mr__png_find_exif(call, &png);
    out->width = png.width;
    out->height = png.height;
    out->channels = mr__png_channels(&png);
    out->depth = mr__png_depth(&png);
    out->color = png.color_type == MR__PNG_PALETTE ? MR_COLOR_PALETTE
                 : mr__png_samples(&png) <= 2      ? MR_COLOR_GRAY
                                                   : MR_COLOR_RGB;
    out->progressive = png.interlaced;
    out->lossless = true;
    out->has_icc = png.icc.bytes != NULL;
    out->frames = png.frames;
    if (png.exif.bytes != NULL)
        out->orientation = mr__exif_orientation(png.exif.bytes, png.exif.nbytes);
    return 0;
}

static int icc(mr__call *call, mr__buffer *buffer, size_t *nbytes)
{
    mr__png png;
    int result = mr__png_parse(call, false, &png);
    return result != 0 ? result : mr__png_inflate_icc(call, png.icc, buffer, nbytes);
}

/* Any channels, row by row with mr_image_convert, which is cheaper than a second pass over the image. */
static bool gives(const mr_info *header, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    (void)channels;
    return reduce == 1 && (depth == 8 || depth == header->depth);
}

const mr__codec mr__codec_png = {.form = MR_FORM_PNG,
                                 .name = "png",
                                 .endings = "png apng",
                                 .state_nbytes = sizeof(mr__png_state),
                                 .state_init = state_init,
                                 .state_fini = state_fini,
                                 .probe = probe,
                                 .info = info,
                                 .icc = icc,
                                 .gives = gives,
                                 .holds = mr__png_holds,
                                 .decode = mr__png_decode,
                                 .encode = mr__png_encode};
