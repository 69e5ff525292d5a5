// SPDX-License-Identifier: Apache-2.0
/*
 * From tiles to the pixels of a region, a row of tiles at a time: its units are decoded and transformed into planes as
 * high as the row, pixels are made of them, and the few rows of samples that the next ones need as well are moved to
 * the top. So memory goes by the width of the region, and the samples stay in the cache between the two steps.
 *
 * Invariants:
 * 1. A tile is looked at only if the region needs samples of it; its hash is checked once; of its units only those
 *    that the region needs are decoded, and of them only the rows of blocks that it needs are transformed.
 * 2. Planes are as wide as the units they hold, and no unit writes outside its place.
 * 3. A row of pixels is made when all samples that it needs are in the planes: those of the row of tiles at hand, and
 *    `kept` rows of the one above it.
 */
#include "codec/l3/dct.h"

#include "base/size.h"

#include <string.h>

/* Rows of samples that may be kept from one row of tiles to the next. Blending looks one sample up and one down. */
enum { KEPT_MAX = 4 };

/* The IDCT wants its lanes 32-byte aligned: it begins at an even row of a unit's blocks. */
enum { FIRST_ROW_STEP = 2 };

/* A component of the image, as much of it as the region needs. */
typedef struct plane {
    mr_rect blocks; /* needed */
    unsigned size;  /* samples of a block across and down */
    unsigned bands; /* frequencies needed, in zigzag order */
    const uint16_t *quant;
    uint32_t unit_left, unit_right; /* columns of units */
    uint32_t rows;                  /* of samples in a row of tiles */
    uint32_t kept;                  /* rows above them */
    ptrdiff_t stride;
    uint8_t *samples; /* the first of the row of tiles */
} plane;

typedef struct job {
    mr__call *call;
    mr__l3_dct_decoder *decoder;
    const mr__l3_head *head;
    const uint64_t *offsets;
    const mr__request *request;
    const mr_image *to;
    mr__jpeg_layout layout;
    uint32_t planes;
    plane plane[MR__L3_COMPONENT_MAX];
    mr_rect tiles;
    uint32_t next; /* row of pixels to be made, in the image */
    void *work;    /* of mr__jpeg_assemble */
} job;

static int init_layout(job *j)
{
    const mr__l3_head *head = j->head;
    mr__jpeg_frame frame = {
        .width = head->width, .height = head->height, .parts = head->channels, .rgb = head->color == MR__JPEG_RGB};
    for (uint32_t i = 0; i < head->channels; i++) {
        frame.h[i] = head->component[i].h;
        frame.v[i] = head->component[i].v;
    }
    if (!mr__jpeg_layout_init(&j->layout, &frame, j->request->reduce))
        return mr__call_fail(j->call, MR_EINTERNAL, "the back end does not take the sampling factors of this l3");
    j->planes = j->to->channels == 1 ? 1 : head->channels;
    return 0;
}

static void init_plane(job *j, uint32_t number)
{
    plane *p = &j->plane[number];
    const mr__l3_component *c = &j->head->component[number];
    p->blocks = mr__jpeg_layout_blocks(&j->layout, number, j->request->region);
    p->size = j->layout.part[number].size;
    p->bands = p->size == 1 ? 1 : 64; // libjpeg's transforms to 4 and 2 samples look at high frequencies too
    p->quant = j->head->quant[c->table];
    p->unit_left = p->blocks.x / MR__L3_UNIT_BLOCKS;
    p->unit_right = mr__ceil_div(p->blocks.x + p->blocks.width, MR__L3_UNIT_BLOCKS);
    p->rows = MR__L3_UNIT_BLOCKS * c->v * p->size;
    size_t width = (size_t)(p->unit_right - p->unit_left) * MR__L3_UNIT_BLOCKS * p->size + MR__JPEG_SLACK;
    p->stride = (ptrdiff_t)((width + MR__ALIGN - 1) / MR__ALIGN * MR__ALIGN);
}

/* The tiles that hold what the planes need. */
static void find_tiles(job *j)
{
    uint32_t left = UINT32_MAX, top = UINT32_MAX, right = 0, bottom = 0;
    for (uint32_t i = 0; i < j->planes; i++) {
        const plane *p = &j->plane[i];
        uint32_t h = j->head->component[i].h, v = j->head->component[i].v * MR__L3_UNIT_BLOCKS;
        uint32_t l = p->unit_left / h, r = mr__ceil_div(p->unit_right, h);
        uint32_t t = p->blocks.y / v, b = mr__ceil_div(p->blocks.y + p->blocks.height, v);
        left = l < left ? l : left;
        top = t < top ? t : top;
        right = r > right ? r : right;
        bottom = b > bottom ? b : bottom;
    }
    j->tiles = (mr_rect){left, top, right - left, bottom - top};
}

static size_t plane_nbytes(const plane *p)
{
    return (p->rows + KEPT_MAX) * (size_t)p->stride;
}

/* One block for all planes and the work area. A row of samples is less than 2^17 bytes: nothing here can overflow. */
static int place_planes(job *j)
{
    size_t work_nbytes = mr__jpeg_assemble_nbytes(j->to->width), nbytes = work_nbytes;
    for (uint32_t i = 0; i < j->planes; i++)
        nbytes += plane_nbytes(&j->plane[i]);
    int result = mr__call_reserve(j->call, &j->decoder->samples, nbytes);
    if (result != 0)
        return result;
    j->work = j->decoder->samples.bytes;
    uint8_t *at = j->decoder->samples.bytes + work_nbytes;
    for (uint32_t i = 0; i < j->planes; i++) {
        plane *p = &j->plane[i];
        p->samples = at + KEPT_MAX * p->stride;
        at += plane_nbytes(p);
    }
    return 0;
}

static bool is_needed(const job *j, const mr__l3_dct_place *unit)
{
    if (unit->component >= j->planes)
        return false;
    const plane *p = &j->plane[unit->component];
    uint32_t top = unit->y * MR__L3_UNIT_BLOCKS;
    return unit->x >= p->unit_left && unit->x < p->unit_right && top < p->blocks.y + p->blocks.height &&
           top + unit->rows > p->blocks.y;
}

/* Where the first sample of a unit goes. */
static uint8_t *samples_of(const job *j, const mr__l3_dct_place *unit)
{
    const plane *p = &j->plane[unit->component];
    uint32_t row = unit->y % j->head->component[unit->component].v, side = MR__L3_UNIT_BLOCKS * p->size;
    return p->samples + (ptrdiff_t)(row * side) * p->stride + (size_t)(unit->x - p->unit_left) * side;
}

static void transform_unit(job *j, const mr__l3_dct_place *unit)
{
    const plane *p = &j->plane[unit->component];
    mr__l3_unit *from = &j->decoder->unit;
    uint32_t top = unit->y * MR__L3_UNIT_BLOCKS, bottom = p->blocks.y + p->blocks.height;
    uint32_t first = p->blocks.y > top ? (p->blocks.y - top) / FIRST_ROW_STEP * FIRST_ROW_STEP : 0;
    uint32_t end = bottom - top < unit->rows ? bottom - top : unit->rows;
    ptrdiff_t step = (ptrdiff_t)p->size * p->stride;
    mr__jpeg_idct *idct = j->decoder->pixels.idct[j->layout.part[unit->component].idct];
    idct(from->coef[0] + (size_t)first * MR__L3_UNIT_BLOCKS, 64, from->bands, end - first,
         samples_of(j, unit) + (ptrdiff_t)first * step, p->stride, step);
}

/*
 * The units of a tile that the region needs. NULL, or why the tile is damaged, with the byte in it. Where damage is
 * accepted the others are looked at as well: whether a tile is taken for damaged must not depend on the region.
 */
static const char *decode_units(job *j, const uint8_t *tile, mr__l3_dct_place *units, unsigned count, size_t *at)
{
    for (unsigned i = 0; i < count; i++) {
        bool needed = is_needed(j, &units[i]);
        if (!needed && (!j->request->accept_damaged || units[i].component >= j->planes))
            continue;
        const plane *p = &j->plane[units[i].component];
        const char *why = mr__l3_dct_unit_decode(j->decoder, j->call, tile, &units[i], p->quant, p->bands);
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
        const plane *p = &j->plane[units[i].component];
        uint32_t side = MR__L3_UNIT_BLOCKS * p->size;
        for (uint32_t y = 0; y < side; y++)
            memset(samples_of(j, &units[i]) + (ptrdiff_t)y * p->stride, 128, side);
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

/* The rows of samples that one row of pixels needs. */
static mr_rect samples_for(const job *j, uint32_t part, uint32_t row)
{
    mr_rect line = {j->request->region.x, row, j->request->region.width, 1};
    return mr__jpeg_layout_samples(&j->layout, part, line);
}

static bool is_row_ready(const job *j, uint32_t row, uint32_t tile_row)
{
    for (uint32_t i = 0; i < j->planes; i++) {
        mr_rect need = samples_for(j, i, row);
        if (need.y + need.height > (tile_row + 1) * j->plane[i].rows)
            return false;
    }
    return true;
}

/* Where the rows of pixels end that can be made once this row of tiles is there. */
static uint32_t rows_end(const job *j, uint32_t tile_row)
{
    const mr_rect *region = &j->request->region;
    uint32_t end = region->y + region->height, below = (tile_row + 1) * (j->head->tile_height / j->request->reduce);
    if (below < end)
        end = below;
    while (end > j->next && !is_row_ready(j, end - 1, tile_row))
        end--;
    return end;
}

static void make_pixels(job *j, uint32_t tile_row, uint32_t end)
{
    const mr_rect *region = &j->request->region;
    mr__jpeg_samples parts[MR__L3_COMPONENT_MAX];
    for (uint32_t i = 0; i < j->planes; i++) {
        const plane *p = &j->plane[i];
        parts[i] = (mr__jpeg_samples){.samples = p->samples - (ptrdiff_t)p->kept * p->stride,
                                      .stride = p->stride,
                                      .left = p->unit_left * MR__L3_UNIT_BLOCKS * p->size,
                                      .top = tile_row * p->rows - p->kept};
    }
    mr_image to = *j->to;
    to.height = end - j->next;
    to.pixels = (uint8_t *)j->to->pixels + (ptrdiff_t)(j->next - region->y) * j->to->stride;
    mr_rect band = {region->x, j->next, region->width, to.height};
    mr__jpeg_assemble(&j->decoder->pixels, &j->layout, parts, band, j->work, &to);
}

/* Moves what the next rows of pixels need of this row of tiles to the top. */
static int keep_rows(job *j, uint32_t tile_row)
{
    for (uint32_t i = 0; i < j->planes; i++) {
        plane *p = &j->plane[i];
        uint32_t first = samples_for(j, i, j->next).y, end = (tile_row + 1) * p->rows;
        p->kept = first < end ? end - first : 0;
        if (p->kept > KEPT_MAX)
            return mr__call_fail(j->call, MR_EINTERNAL, "%u rows of samples to keep where %d at most were thought of",
                                 p->kept, KEPT_MAX);
        size_t nbytes = p->kept * (size_t)p->stride;
        memcpy(p->samples - nbytes, p->samples + p->rows * (size_t)p->stride - nbytes, nbytes);
    }
    return 0;
}

static int decode_row(job *j, uint32_t tile_row)
{
    int result = 0;
    for (uint32_t x = 0; result == 0 && x < j->tiles.width; x++)
        result = decode_tile(j, j->tiles.x + x, tile_row);
    if (result != 0)
        return result;
    uint32_t end = rows_end(j, tile_row);
    if (end > j->next)
        make_pixels(j, tile_row, end);
    j->next = end;
    return end < j->request->region.y + j->request->region.height ? keep_rows(j, tile_row) : 0;
}

int mr__l3_dct_decode_with(mr__call *call, mr__l3_dct_decoder *decoder, const mr__l3_head *head,
                           const uint64_t *offsets, const mr__request *request, const mr_image *to)
{
    job j = {.call = call,
             .decoder = decoder,
             .head = head,
             .offsets = offsets,
             .request = request,
             .to = to,
             .next = request->region.y};
    int result = init_layout(&j);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < j.planes; i++)
        init_plane(&j, i);
    find_tiles(&j);
    result = place_planes(&j);
    for (uint32_t y = 0; result == 0 && y < j.tiles.height; y++)
        result = decode_row(&j, j.tiles.y + y);
    return result;
}
