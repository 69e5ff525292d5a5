// SPDX-License-Identifier: Apache-2.0
#include "codec/l3/dct.h"

#include "base/bytes.h"
#include "base/size.h"

#include <string.h>

static unsigned least(uint32_t a, unsigned b)
{
    return a < b ? (unsigned)a : b;
}

/* Appends the units of one component. */
static unsigned add_units(const mr__l3_component *c, uint32_t number, uint32_t x, uint32_t y, mr__l3_dct_place *units)
{
    unsigned count = 0;
    for (uint32_t v = 0; v < c->v; v++)
        for (uint32_t h = 0; h < c->h; h++) {
            uint32_t unit_x = x * c->h + h, unit_y = y * c->v + v;
            uint32_t left = unit_x * MR__L3_UNIT_BLOCKS, top = unit_y * MR__L3_UNIT_BLOCKS;
            if (left < c->blocks_w && top < c->blocks_h)
                units[count++] = (mr__l3_dct_place){.component = number,
                                                    .x = unit_x,
                                                    .y = unit_y,
                                                    .columns = least(c->blocks_w - left, MR__L3_UNIT_BLOCKS),
                                                    .rows = least(c->blocks_h - top, MR__L3_UNIT_BLOCKS)};
        }
    return count;
}

unsigned mr__l3_dct_units(const mr__l3_head *head, uint32_t x, uint32_t y, mr__l3_dct_place units[MR__L3_DCT_UNITS_MAX])
{
    unsigned count = 0;
    for (uint32_t i = 0; i < head->channels; i++)
        count += add_units(&head->component[i], i, x, y, units + count);
    return count;
}

mr__jpeg_frame mr__l3_dct_frame_of(const mr__l3_head *head)
{
    mr__jpeg_frame frame = {
        .width = head->width, .height = head->height, .parts = head->channels, .rgb = head->color == MR__JPEG_RGB};
    for (uint32_t i = 0; i < head->channels; i++) {
        frame.h[i] = head->component[i].h;
        frame.v[i] = head->component[i].v;
    }
    return frame;
}

mr_rect mr__l3_dct_tiles(const mr__l3_head *head, const mr__jpeg_layout *layout, uint32_t parts, mr_rect region)
{
    uint32_t left = UINT32_MAX, top = UINT32_MAX, right = 0, bottom = 0;
    for (uint32_t i = 0; i < parts; i++) {
        mr_rect blocks = mr__jpeg_layout_blocks(layout, i, region);
        uint32_t wide = head->component[i].h * MR__L3_UNIT_BLOCKS, high = head->component[i].v * MR__L3_UNIT_BLOCKS;
        uint32_t l = blocks.x / wide, r = mr__ceil_div(blocks.x + blocks.width, wide);
        uint32_t t = blocks.y / high, b = mr__ceil_div(blocks.y + blocks.height, high);
        left = l < left ? l : left;
        top = t < top ? t : top;
        right = r > right ? r : right;
        bottom = b > bottom ? b : bottom;
    }
    return (mr_rect){left, top, right - left, bottom - top};
}

const char *mr__l3_dct_lengths(const uint8_t *bytes, size_t nbytes, mr__l3_dct_place *units, unsigned count)
{
    size_t at = 2 * (size_t)(count - 1);
    if (nbytes < at)
        return "it ends among the lengths of its units";
    for (unsigned i = 0; i < count; i++) {
        size_t left = nbytes - at, length = i + 1 < count ? mr__load_le16(bytes + 2 * i) : left;
        if (length > left)
            return "its units are longer than it is";
        if (length > MR__L3_UNIT_NBYTES_MAX)
            return "it has a unit that is longer than any can be";
        units[i].at = at;
        units[i].nbytes = length;
        at += length;
    }
    return NULL;
}

void mr__l3_dct_decoder_init(mr__l3_dct_decoder *decoder, mr__cpu_flags cpu)
{
    mr__l3_unit_kernels_init(&decoder->units, cpu);
    mr__jpeg_pixels_init(&decoder->pixels, cpu);
}

void mr__l3_dct_decoder_fini(mr__l3_dct_decoder *decoder, const mr_hooks *hooks)
{
    mr__buffer_fini(&decoder->samples, hooks);
}

const char *mr__l3_dct_unit_decode(mr__l3_dct_decoder *decoder, const mr__call *call, const uint8_t *tile,
                                   const mr__l3_dct_place *place, const uint16_t quant[64], unsigned bands)
{
    const uint8_t *bytes = tile + place->at;
    if ((size_t)(call->bytes + call->nbytes - bytes) < place->nbytes + MR__L3_UNIT_SLACK) {
        memcpy(decoder->padded, bytes, place->nbytes);
        memset(decoder->padded + place->nbytes, 0, MR__L3_UNIT_SLACK);
        bytes = decoder->padded;
    }
    return decoder->units.decode(&decoder->unit, bytes, place->nbytes, place->columns, place->rows, quant, bands);
}

int mr__l3_dct_tile_read(mr__call *call, mr__l3_dct_decoder *decoder, const mr__l3_head *head, const uint64_t *offsets,
                         size_t number, mr__l3_dct_visit *visit, void *user)
{
    static const uint16_t ones[64] = {
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    };
    size_t nbytes, at = 0;
    const uint8_t *tile;
    mr__l3_dct_place units[MR__L3_DCT_UNITS_MAX];
    unsigned count =
        mr__l3_dct_units(head, (uint32_t)(number % head->tiles_x), (uint32_t)(number / head->tiles_x), units);
    int result = mr__l3_tile_open(call, head, offsets, number, false, &tile, &nbytes);
    if (result != 0)
        return result;
    const char *why = mr__l3_dct_lengths(tile, nbytes, units, count);
    for (unsigned i = 0; why == NULL && i < count; i++) {
        at = units[i].at;
        why = mr__l3_dct_unit_decode(decoder, call, tile, &units[i], ones, 64);
        if (why == NULL && visit != NULL)
            visit(user, &units[i]);
    }
    return why == NULL ? 0 : mr__l3_tile_damage(call, head, number, offsets[number] + at, why, false);
}
