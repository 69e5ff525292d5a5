// SPDX-License-Identifier: Apache-2.0
#include "l3_device.h"

#include <stdlib.h>
#include <string.h>

static bytes keep(const void *from, size_t nbytes)
{
    bytes b = {need(malloc(nbytes)), nbytes, {.struct_size = sizeof b.info}};
    memcpy(b.at, from, nbytes);
    return b;
}

static bool store_l3(picture *p, mr_encoder *encoder, mr_form source, const mr_image *image)
{
    const mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3, .without_origin = true};
    mr_recode_report report = {.struct_size = sizeof report};
    const void *at;
    size_t nbytes;
    const bytes *from = &p->as[AS_SOURCE];
    bool good =
        source == MR_FORM_JPEG
            ? mr_encoder_recode(encoder, from->at, from->nbytes, &options, &at, &nbytes, &report) == 0 && report.exact
            : mr_encoder_encode(encoder, image, &options, &at, &nbytes) == 0;
    if (good)
        p->as[AS_L3] = keep(at, nbytes);
    return good;
}

static bool store_all(picture *p, mr_encoder *encoder, mr_form source, const mr_image *image)
{
    const mr_encode_options raw = {.struct_size = sizeof raw, .form = MR_FORM_RAW};
    const void *at;
    size_t nbytes;
    if (!store_l3(p, encoder, source, image) || mr_encoder_encode(encoder, image, &raw, &at, &nbytes) != 0)
        return false;
    p->as[AS_RAW] = keep(at, nbytes);
    bytes *old = &p->as[AS_L3_2022];
    old->at = l3_2022_encode(image, l3_2022_side(image->width, image->height), &old->nbytes);
    return old->at != NULL;
}

static void picture_free(picture *p)
{
    for (size_t i = 0; i < STORINGS; i++)
        free(p->as[i].at);
    free(p->path);
}

/* False: it is none for us. */
static bool picture_load(picture *p, const item *it, mr_decoder *decoder, mr_encoder *encoder, mr_form source)
{
    mr_image image;
    *p = (picture){.path = need(strdup(it->path))};
    p->as[AS_SOURCE] = keep(it->bytes, it->nbytes);
    bool good = mr_decoder_decode(decoder, it->bytes, it->nbytes, NULL, &image) == 0 && image.channels == 3 &&
                image.depth == 8 && store_all(p, encoder, source, &image);
    if (good) {
        p->shape = image;
        p->shape.pixels = NULL;
        p->hash = mr_image_hash(&image);
    }
    for (size_t i = 0; i < STORINGS && good; i++)
        if (i != AS_L3_2022)
            good = mr_decoder_info(decoder, p->as[i].at, p->as[i].nbytes, &p->as[i].info) == 0;
    if (!good)
        picture_free(p);
    return good;
}

void pictures_load(picture_set *set, const char *folder, mr_form source, size_t most)
{
    item_set files = {0};
    mr_decoder *decoder = decoder_under("", MR_JPEG_EITHER);
    mr_encoder *encoder = NULL;
    if (mr_encoder_new(NULL, &encoder) != 0)
        need(NULL);
    *set = (picture_set){.name = folder, .source = source};
    set_add(&files, decoder, folder);
    set->pictures = need(calloc(files.count + 1, sizeof *set->pictures));
    for (size_t i = 0; i < files.count && set->count < most; i++) {
        picture *p = &set->pictures[set->count];
        if (files.items[i].form != source)
            continue;
        if (!picture_load(p, &files.items[i], decoder, encoder, source)) {
            set->left_out++;
            continue;
        }
        set->pixels += (double)p->shape.width * p->shape.height;
        set->count++;
    }
    set_free(&files);
    mr_encoder_free(encoder);
    mr_decoder_free(decoder);
}

void pictures_free(picture_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        picture_free(&set->pictures[i]);
    free(set->pictures);
    *set = (picture_set){0};
}
