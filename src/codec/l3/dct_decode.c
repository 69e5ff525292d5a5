// SPDX-License-Identifier: Apache-2.0
/*
 * From tiles to the pixels of a region, a row of tiles at a time, by way of kernel/jpeg_rows.h: a band is a row of
 * tiles.
 *
 * Invariants:
 * 1. A tile is looked at only if the region needs samples of it; its hash is checked once; of its units only those
 *    that the region needs are decoded, and of them only the rows of blocks that it needs are transformed.
 * 2. Planes are as wide as the units they hold, and no unit writes outside its place.
 */
#include "codec/l3/dct.h"

#include "base/size.h"

#include <string.h>

/* The IDCT wants its lanes 32-byte aligned: it begins at an even row of a unit's blocks. */
enum { FIRST_ROW_STEP = 2 };

typedef struct job {
    mr__call *call;
    mr__l3_dct_decoder *decoder;
    const mr__l3_head *head;
    const uint64_t *offsets;
    const mr__request *request;
    mr__jpeg_rows rows;
    mr_rect tiles;
} job;

static int init_rows(job *j, const mr_image *to)
{
    const mr__l3_head *head = j->head;
    mr__jpeg_frame frame = mr__l3_dct_frame_of(head);
    const mr__request *r = j->request;
    if (!mr__jpeg_rows_init(&j->rows, &j->decoder->pixels, &frame, r->reduce, r->region, to))
        return mr__call_fail(j->call, MR_EINTERNAL, "the back end does not take the sampling factors of this l3");
    for (uint32_t i = 0; i < j->rows.parts; i++) {
        mr__jpeg_rows_part *p = &j->rows.part[i];
        uint32_t right = mr__ceil_div(p->blocks.x + p->blocks.width, MR__L3_UNIT_BLOCKS) * MR__L3_UNIT_BLOCKS;
        p->left = p->blocks.x / MR__L3_UNIT_BLOCKS * MR__L3_UNIT_BLOCKS;
        p->columns = right - p->left;
        p->band = MR__L3_UNIT_BLOCKS * head->component[i].v;
    }
    return 0;
}

static int place_rows(job *j)
{
    int result = mr__call_reserve(j->call, &j->decoder->samples, mr__jpeg_rows_nbytes(&j->rows));
    if (result == 0)
        mr__jpeg_rows_place(&j->rows, j->decoder->samples.bytes);
    return result;
}

static bool is_needed(const job *j, const mr__l3_dct_place *unit)
{
    if (unit->component >= j->rows.parts)
        return false;
    const mr__jpeg_rows_part *p = &j->rows.part[unit->component];
    uint32_t top = unit->y * MR__L3_UNIT_BLOCKS, left = unit->x * MR__L3_UNIT_BLOCKS;
    return left >= p->left && left < p->left + p->columns && top < p->blocks.y + p->blocks.height &&
           top + unit->rows > p->blocks.y;
}

/* Where the samples go of a unit's block in column 0 and this row. */
static uint8_t *samples_of(const job *j, const mr__l3_dct_place *unit, uint32_t row)
{
    uint32_t y = unit->y % j->head->component[unit->component].v * MR__L3_UNIT_BLOCKS + row;
    return mr__jpeg_rows_at(&j->rows, unit->component, unit->x * MR__L3_UNIT_BLOCKS, y);
}

static void transform_unit(job *j, const mr__l3_dct_place *unit)
{
    const mr__jpeg_rows_part *p = &j->rows.part[unit->component];
    const mr__jpeg_part *part = &j->rows.layout.part[unit->component];
    mr__l3_unit *from = &j->decoder->unit;
    uint32_t top = unit->y * MR__L3_UNIT_BLOCKS, bottom = p->blocks.y + p->blocks.height;
    uint32_t first = p->blocks.y > top ? (p->blocks.y - top) / FIRST_ROW_STEP * FIRST_ROW_STEP : 0;
    uint32_t end = bottom - top < unit->rows ? bottom - top : unit->rows;
    j->decoder->pixels.idct[part->idct](from->coef[0] + (size_t)first * MR__L3_UNIT_BLOCKS, 64, from->bands,
                                        end - first, samples_of(j, unit, first), p->stride,
                                        (ptrdiff_t)part->size * p->stride);
}

/*
 * The units of a tile that the region needs. NULL, or why the tile is damaged, with the byte in it. Where damage is
 * accepted the others are looked at as well: whether a tile is taken for damaged must not depend on the region.
 */
static const char *decode_units(job *j, const uint8_t *tile, mr__l3_dct_place *units, unsigned count, size_t *at)
{
    for (unsigned i = 0; i < count; i++) {
        bool needed = is_needed(j, &units[i]);
        if (!needed && (!j->request->accept_damaged || units[i].component >= j->rows.parts))
            continue;
        // libjpeg's transforms to 4 and 2 samples look at high frequencies too.
        unsigned bands = j->rows.layout.part[units[i].component].size == 1 ? 1 : 64;
        const uint16_t *quant = j->head->quant[j->head->component[units[i].component].table];
        const char *why = mr__l3_dct_unit_decode(j->decoder, j->call, tile, &units[i], quant, bands);
        *at = units[i].at;
        if (why != NULL)
            return why;
        if (needed)
            transform_unit(j, &units[i]);
    }
    return NULL;
}

/* What a tile without coefficients gives: the middle. */
static void fill_units(job *j, const mr__l3_dct_place *units, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!is_needed(j, &units[i]))
            continue;
        const mr__jpeg_rows_part *p = &j->rows.part[units[i].component];
        uint32_t side = MR__L3_UNIT_BLOCKS * j->rows.layout.part[units[i].component].size;
        for (uint32_t y = 0; y < side; y++)
            memset(samples_of(j, &units[i], 0) + (ptrdiff_t)y * p->stride, 128, side);
    }
}

static int decode_tile(job *j, uint32_t x, uint32_t y)
{
    bool accept_damaged = j->request->accept_damaged;
    size_t number = (size_t)y * j->head->tiles_x + x, nbytes, at = 0;
    const uint8_t *tile;
    mr__l3_dct_place units[MR__L3_DCT_UNITS_MAX];
    unsigned count = mr__l3_dct_units(j->head, x, y, units);
    int result = mr__l3_tile_open(j->call, j->head, j->offsets, number, accept_damaged, &tile, &nbytes);
    if (result == 0 && tile != NULL) {
        const char *why = mr__l3_dct_lengths(tile, nbytes, units, count);
        if (why == NULL)
            why = decode_units(j, tile, units, count, &at);
        if (why == NULL)
            return 0;
        result = mr__l3_tile_damage(j->call, j->head, number, j->offsets[number] + at, why, accept_damaged);
    }
    if (result == 0)
        fill_units(j, units, count);
    return result;
}

static int decode_row(job *j, uint32_t tile_row)
{
    int result = 0;
    for (uint32_t x = 0; result == 0 && x < j->tiles.width; x++)
        result = decode_tile(j, j->tiles.x + x, tile_row);
    if (result == 0 && !mr__jpeg_rows_finish(&j->rows, tile_row))
        result = mr__call_fail(j->call, MR_EINTERNAL, "more rows of samples to keep than were thought of");
    return result;
}

int mr__l3_dct_decode_with(mr__call *call, mr__l3_dct_decoder *decoder, const mr__l3_head *head,
                           const uint64_t *offsets, const mr__request *request, const mr_image *to)
{
    job j = {.call = call, .decoder = decoder, .head = head, .offsets = offsets, .request = request};
    int result = init_rows(&j, to);
    if (result != 0)
        return result;
    j.tiles = mr__l3_dct_tiles(head, &j.rows.layout, j.rows.parts, request->region);
    result = place_rows(&j);
    for (uint32_t y = 0; result == 0 && y < j.tiles.height; y++)
        result = decode_row(&j, j.tiles.y + y);
    return result;
}
