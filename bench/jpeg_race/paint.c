// SPDX-License-Identifier: Apache-2.0
/*
 * Photographs of any size: mosaics of other pictures, each at the smallest of its sizes that still fills the place, so
 * that a small image is as sharp as a thumbnail is and a large one has the grain of a camera.
 */
#include "jpeg_race.h"

#include <stdlib.h>
#include <string.h>

#define EACH(width, height, quality)                                                                                   \
    {width, height, quality, MR_SUBSAMPLING_420},                                                                      \
    {                                                                                                                  \
        width, height, quality, MR_SUBSAMPLING_444                                                                     \
    }
const painting paintings[] = {
    EACH(64, 64, 90),     EACH(128, 128, 90),   EACH(256, 256, 90),   EACH(512, 512, 90),
    EACH(1024, 1024, 90), EACH(2304, 1728, 90), EACH(4000, 3000, 90), EACH(8192, 6144, 90),
    EACH(512, 512, 50),   EACH(512, 512, 75),   EACH(512, 512, 95),   EACH(512, 512, 100),
};
const size_t painting_count = sizeof paintings / sizeof *paintings;

/* The largest divisor that leaves a picture as large as the place. */
static uint32_t reduction(const mr_image *shape, const mr_image *place)
{
    uint32_t n = 8;
    while (n > 1 && (shape->width / n < place->width || shape->height / n < place->height))
        n /= 2;
    return n;
}

/* Puts a picture at x, y of a canvas, as far as it reaches. Gives back its size, nothing when it is of no use. */
static mr_rect put(const mr_image *canvas, uint32_t x, uint32_t y, mr_decoder *decoder, const item *picture)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 3, .depth = 8};
    mr_image from, to;
    hints.reduce = reduction(&picture->shape, canvas);
    if (mr_decoder_decode(decoder, picture->bytes, picture->nbytes, &hints, &from) != 0)
        return (mr_rect){0, 0, 0, 0};
    mr_rect size = {x, y, from.width, from.height};
    size.width = size.width < canvas->width - x ? size.width : canvas->width - x;
    size.height = size.height < canvas->height - y ? size.height : canvas->height - y;
    mr_rect part = {(from.width - size.width) / 2, (from.height - size.height) / 2, size.width, size.height};
    if (mr_image_crop(&from, part, &from) != 0 || mr_image_crop(canvas, size, &to) != 0 || mr_image_copy(&from, &to))
        return (mr_rect){0, 0, 0, 0};
    return size;
}

/* Row by row; *next is the picture that comes next, and goes round. False when no picture can be decoded. */
static bool fill(const mr_image *canvas, mr_decoder *decoder, const item_set *pictures, size_t *next)
{
    size_t failures = 0;
    for (uint32_t y = 0, low = 0; y < canvas->height; y += low) {
        low = canvas->height - y;
        for (uint32_t x = 0; x < canvas->width && failures < pictures->count;) {
            mr_rect done = put(canvas, x, y, decoder, &pictures->items[*next]);
            *next = (*next + 1) % pictures->count;
            failures += done.width == 0;
            x += done.width;
            low = done.height != 0 && done.height < low ? done.height : low;
        }
        if (failures >= pictures->count)
            return false;
    }
    return pictures->count != 0;
}

void name_painting(jpeg_set *set, const painting *p)
{
    *set = (jpeg_set){.group = "generated"};
    snprintf(set->name, sizeof set->name, "%ux%u q%u %s", p->width, p->height, p->quality,
             mr_subsampling_name(p->subsampling));
}

/* Neither so large that even an eighth of it must be cut down, nor one of very many pieces. */
static bool suits(const item *picture, const painting *p)
{
    const mr_image *shape = &picture->shape;
    return shape->width <= 12 * p->width && (double)shape->width * shape->height * 16 >= (double)p->width * p->height;
}

/* The pictures that suit, which are still the others'; all of them when none does. */
static item_set choose(const item_set *pictures, const painting *p)
{
    item_set chosen = {.items = need(calloc(pictures->count + 1, sizeof *chosen.items))};
    for (size_t i = 0; i < pictures->count; i++)
        if (suits(&pictures->items[i], p))
            chosen.items[chosen.count++] = pictures->items[i];
    if (chosen.count == 0 && pictures->count != 0) {
        memcpy(chosen.items, pictures->items, pictures->count * sizeof *chosen.items);
        chosen.count = pictures->count;
    }
    return chosen;
}

/* Up to four megapixels of them, at least one and at most 64. */
void paint_set(jpeg_set *set, const painting *p, const item_set *pictures)
{
    mr_decoder *decoder = decoder_under("", MR_JPEG_EITHER);
    mr_encoder *encoder = NULL;
    mr_image canvas = {.pixels = NULL};
    size_t next = 0, count = ((size_t)4 << 20) / ((size_t)p->width * p->height) + 1;
    mr_encode_options how = {
        .struct_size = sizeof how, .form = MR_FORM_JPEG, .quality = p->quality, .subsampling = p->subsampling};
    item_set chosen = choose(pictures, p);
    name_painting(set, p);
    if (mr_image_init(&canvas, p->width, p->height, 3, 8, NULL) != 0 || mr_encoder_new(NULL, &encoder) != 0)
        need(NULL);
    for (size_t i = 0; i < count && i < 64 && fill(&canvas, decoder, &chosen, &next); i++) {
        const void *bytes = NULL;
        size_t nbytes = 0;
        if (mr_encoder_encode(encoder, &canvas, &how, &bytes, &nbytes) != 0)
            break;
        set_take(&set->files, decoder, set->name, memcpy(need(malloc(nbytes)), bytes, nbytes), nbytes);
    }
    mr_image_fini(&canvas, NULL);
    free(chosen.items);
    mr_encoder_free(encoder);
    mr_decoder_free(decoder);
}
