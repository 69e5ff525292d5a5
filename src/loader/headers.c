// SPDX-License-Identifier: Apache-2.0
#include "loader/headers.h"

#include "dataset/fetch.h"
#include <stdatomic.h>

struct mr__headers {
    mr_hooks hooks;
    mr_limits limits;
    mr_dataset *dataset;
    mr__forms forms;
    uint64_t samples;
    atomic_uint_least64_t *seen; /* sample x form; 0: not looked at */
};

/* A word: width and height in 24 bits each, then channels, orientation, form, progressive, and that it was looked at.
 */
enum { SIDE_BITS = 24, SIDE_MAX = (1 << SIDE_BITS) - 1 };

#define LOOKED (UINT64_C(1) << 63)

static uint64_t fold(const mr__header *h)
{
    if (h->width > SIDE_MAX || h->height > SIDE_MAX)
        return LOOKED;
    return LOOKED | h->width | (uint64_t)h->height << 24 | (uint64_t)(h->channels & 7) << 48 |
           (uint64_t)(h->orientation & 15) << 51 | (uint64_t)(h->form & 31) << 55 | (uint64_t)h->progressive << 60 |
           (uint64_t)h->pixel_mode << 61;
}

static void unfold(uint64_t word, mr__header *h)
{
    h->width = (uint32_t)(word & SIDE_MAX);
    h->height = (uint32_t)(word >> 24 & SIDE_MAX);
    h->channels = (uint8_t)(word >> 48 & 7);
    h->orientation = (uint8_t)(word >> 51 & 15);
    if (h->width != 0)
        h->form = (uint8_t)(word >> 55 & 31);
    h->progressive = (word >> 60 & 1) != 0;
    h->pixel_mode = (word >> 61 & 1) != 0;
}

int mr__headers_new(const mr__work *work, const mr__forms *forms, mr__headers **out)
{
    mr__headers *h = mr__alloc_zero(&work->hooks, sizeof *h);
    if (h == NULL)
        return MR_ENOMEM;
    *h = (mr__headers){.hooks = work->hooks,
                       .limits = work->limits,
                       .dataset = work->dataset,
                       .forms = *forms,
                       .samples = mr_dataset_count(work->dataset)};
    if (h->samples < SIZE_MAX / MR__FORMS_MAX / sizeof *h->seen)
        h->seen = mr__alloc_array(&h->hooks, (size_t)h->samples * forms->count, sizeof *h->seen);
    if (h->seen == NULL) {
        mr__headers_free(h);
        return MR_ENOMEM;
    }
    *out = h;
    return 0;
}

void mr__headers_free(mr__headers *h)
{
    if (h == NULL)
        return;
    mr_hooks hooks = h->hooks;
    mr__free(&hooks, h->seen);
    mr__free(&hooks, h);
}

void mr__look_fini(mr__look *look)
{
    mr_reader_free(look->reader);
    mr_decoder_free(look->decoder);
    *look = (mr__look){0};
}

static atomic_uint_least64_t *place_of(const mr__headers *h, uint64_t ordinal, uint32_t form)
{
    for (uint32_t i = 0; i < h->forms.count; i++)
        if (h->forms.numbers[i] == form && ordinal < h->samples)
            return &h->seen[(size_t)ordinal * h->forms.count + i];
    return NULL;
}

/* Reads it. What is no image is LOOKED at, and nothing more; 0: it could not be read now. */
static uint64_t read_header(const mr__headers *h, mr__look *look, uint64_t ordinal, uint32_t form)
{
    const mr_decoder_options options = {.struct_size = sizeof options, .hooks = &h->hooks, .limits = &h->limits};
    mr_info info = {.struct_size = sizeof info};
    mr__header header;
    const void *bytes;
    size_t nbytes;
    if (look->reader == NULL && mr__reader_new(h->dataset, &h->hooks, &look->reader) != 0)
        return 0;
    if (look->decoder == NULL && mr_decoder_new(&options, &look->decoder) != 0)
        return 0;
    if (mr_reader_record(look->reader, ordinal, form, &bytes, &nbytes) != 0)
        return 0;
    if (mr_decoder_info(look->decoder, bytes, nbytes, &info) != 0)
        return LOOKED;
    mr__header_from(&info, nbytes, &header);
    return fold(&header);
}

bool mr__headers_of(mr__headers *h, mr__look *look, const mr_dataset *dataset, uint64_t ordinal, uint32_t form,
                    mr__header *header)
{
    (void)mr__header_of(dataset, ordinal, form, header);
    if (h == NULL || header->width != 0 || header->nbytes == 0)
        return header->row_index;
    atomic_uint_least64_t *place = place_of(h, ordinal, form);
    uint64_t word = place != NULL ? atomic_load_explicit(place, memory_order_relaxed) : 0;
    if (word == 0) {
        word = read_header(h, look, ordinal, form);
        if (place != NULL)
            atomic_store_explicit(place, word, memory_order_relaxed);
    }
    if (word != 0)
        unfold(word, header);
    return header->width != 0 && !header->progressive;
}
