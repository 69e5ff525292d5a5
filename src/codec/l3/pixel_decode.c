// SPDX-License-Identifier: Apache-2.0
/* Decodes pixel mode: the tiles that a region touches, one after the other, each by its kind. */
#include "base/bytes.h"
#include "base/size.h"
#include "codec/l3/pixel_planes.h"
#include "codec/l3/state.h"

#include <limits.h>
#include <lz4.h>
#include <string.h>

/* One tile on its way into the output. */
typedef struct tile {
    mr__call *call;
    const mr__l3_head *head;
    mr__l3_pixel_state *state;
    const mr__l3_pixel_work *work;
    const mr__l3_pixel_kernels *kernels;
    const uint8_t *bytes;
    size_t nbytes;
    bool has_slack; /* MR__L3_STREAM_SLACK bytes behind it belong to the image */
    uint32_t w, h;
    mr_rect part; /* of the tile that is in the region */
    mr_image to;  /* where that part goes */
} tile;

static size_t pixel_nbytes(const tile *t)
{
    return mr_image_pixel_nbytes(&t->to);
}

/* Copies n samples as they are stored. */
static void copy_samples(const uint8_t *from, size_t n, uint32_t depth, void *to)
{
    if (depth == 8) {
        memcpy(to, from, n);
        return;
    }
    uint16_t *samples = to;
    for (size_t i = 0; i < n; i++)
        samples[i] = mr__load_le16(from + 2 * i);
}

static void *row_of(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

/* Copies the part of w x h stored pixels that is wanted. */
static void copy_part(const tile *t, const uint8_t *pixels)
{
    size_t row_nbytes = t->w * pixel_nbytes(t);
    const uint8_t *from = pixels + t->part.y * row_nbytes + t->part.x * pixel_nbytes(t);
    for (uint32_t y = 0; y < t->part.height; y++)
        copy_samples(from + y * row_nbytes, (size_t)t->part.width * t->to.channels, t->to.depth, row_of(&t->to, y));
}

static void fill_rows(const tile *t)
{
    for (uint32_t y = 1; y < t->part.height; y++)
        memcpy(row_of(&t->to, y), t->to.pixels, mr_image_row_nbytes(&t->to));
}

static void fill_zero(const tile *t)
{
    memset(t->to.pixels, 0, mr_image_row_nbytes(&t->to));
    fill_rows(t);
}

const char *mr__l3_constant_check(size_t nbytes, size_t pixel_nbytes)
{
    return nbytes == 1 + pixel_nbytes ? NULL : "a constant tile of another length";
}

static const char *decode_constant(const tile *t)
{
    const char *why = mr__l3_constant_check(t->nbytes, pixel_nbytes(t));
    if (why != NULL)
        return why;
    uint8_t *first = t->to.pixels;
    for (uint32_t x = 0; x < t->part.width; x++)
        copy_samples(t->bytes + 1, t->to.channels, t->to.depth, first + x * pixel_nbytes(t));
    fill_rows(t);
    return NULL;
}

const char *mr__l3_stored_check(size_t nbytes, size_t row_nbytes, uint32_t h)
{
    return nbytes == 1 + h * row_nbytes ? NULL : "a stored tile of another length";
}

static const char *decode_stored(const tile *t)
{
    const char *why = mr__l3_stored_check(t->nbytes, t->w * pixel_nbytes(t), t->h);
    if (why == NULL)
        copy_part(t, t->bytes + 1);
    return why;
}

static void add_rows_above(uint8_t *pixels, size_t row_nbytes, uint32_t rows)
{
    for (uint32_t y = 1; y < rows; y++) {
        uint8_t *row = pixels + y * row_nbytes;
        const uint8_t *above = row - row_nbytes;
        for (size_t i = 0; i < row_nbytes; i++)
            row[i] = (uint8_t)(row[i] + above[i]);
    }
}

const char *mr__l3_lz_check(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= 2 && bytes[1] <= 1 && nbytes - 2 <= INT_MAX ? NULL : "an LZ tile without a beginning";
}

const char *mr__l3_lz_read(const uint8_t *bytes, size_t nbytes, size_t row_nbytes, uint32_t h, uint32_t rows,
                           uint8_t *pixels)
{
    size_t whole = h * row_nbytes;
    int got = LZ4_decompress_safe((const char *)bytes + 2, (char *)pixels, (int)(nbytes - 2), (int)whole);
    if (got < 0 || (size_t)got != whole)
        return "its LZ data does not give its pixels";
    if (bytes[1] == 1)
        add_rows_above(pixels, row_nbytes, rows);
    return NULL;
}

static int decode_lz(const tile *t, const char **why)
{
    size_t row_nbytes = t->w * pixel_nbytes(t);
    *why = mr__l3_lz_check(t->bytes, t->nbytes);
    if (*why != NULL)
        return 0;
    int result = mr__call_reserve(t->call, &t->state->pixels, t->h * row_nbytes);
    if (result != 0)
        return result;
    uint8_t *pixels = t->state->pixels.bytes;
    *why = mr__l3_lz_read(t->bytes, t->nbytes, row_nbytes, t->h, t->part.y + t->part.height, pixels);
    if (*why == NULL)
        copy_part(t, pixels);
    return 0;
}

/* Streams are read some way beyond their ends: a tile near the end of the image is moved to where there is room. */
static int decode_planes(tile *t, const char **why)
{
    const uint8_t *bytes = t->bytes;
    if (!t->has_slack) {
        size_t nbytes;
        if (!mr__size_add(t->nbytes, MR__L3_STREAM_SLACK, &nbytes))
            return mr__call_no_memory(t->call);
        int result = mr__call_reserve(t->call, &t->state->padded, nbytes);
        if (result != 0)
            return result;
        memcpy(t->state->padded.bytes, bytes, t->nbytes);
        memset(t->state->padded.bytes + t->nbytes, 0, MR__L3_STREAM_SLACK);
        bytes = t->state->padded.bytes;
    }
    mr__l3_planes planes;
    planes.w = t->w;
    planes.h = t->h;
    planes.channels = t->head->channels;
    planes.depth = t->head->depth;
    *why = mr__l3_planes_read(&planes, bytes, t->nbytes);
    if (*why == NULL)
        *why = mr__l3_planes_decode(&planes, t->work, t->kernels, t->part, &t->to);
    return 0;
}

/*
 * All of a tile, and then the part of it: whether the tile is taken for damaged must not depend on the region, or a
 * region would not be that part of the whole.
 */
static int decode_whole_planes(const tile *t, const char **why)
{
    tile all = *t;
    size_t row_nbytes = t->w * pixel_nbytes(t);
    int result = mr__call_reserve(t->call, &t->state->pixels, t->h * row_nbytes);
    if (result != 0)
        return result;
    all.part = (mr_rect){0, 0, t->w, t->h};
    all.to.width = t->w;
    all.to.height = t->h;
    all.to.stride = (ptrdiff_t)row_nbytes;
    all.to.pixels = t->state->pixels.bytes;
    result = decode_planes(&all, why);
    mr_image part;
    if (result == 0 && *why == NULL && mr_image_crop(&all.to, t->part, &part) == 0)
        result = mr_image_copy(&part, &t->to);
    return result;
}

static int decode_kind(tile *t, bool accept_damaged, const char **why)
{
    bool is_whole = t->part.width == t->w && t->part.height == t->h;
    switch (t->nbytes != 0 ? t->bytes[0] : UINT8_MAX) {
    case MR__L3_TILE_CONSTANT:
        *why = decode_constant(t);
        return 0;
    case MR__L3_TILE_PLANES:
        return accept_damaged && !is_whole ? decode_whole_planes(t, why) : decode_planes(t, why);
    case MR__L3_TILE_LZ:
        return decode_lz(t, why);
    case MR__L3_TILE_STORED:
        *why = decode_stored(t);
        return 0;
    default:
        *why = "a kind of tile that is not known";
        return 0;
    }
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The part of the tile that is in the region, and where it goes. */
static void place(tile *t, mr_rect rect, mr_rect region, const mr_image *to)
{
    uint32_t left = greater(rect.x, region.x), top = greater(rect.y, region.y);
    uint32_t right = smaller(rect.x + rect.width, region.x + region.width);
    uint32_t bottom = smaller(rect.y + rect.height, region.y + region.height);
    t->w = rect.width;
    t->h = rect.height;
    t->part = (mr_rect){left - rect.x, top - rect.y, right - left, bottom - top};
    t->to = *to;
    t->to.width = right - left;
    t->to.height = bottom - top;
    t->to.pixels = (uint8_t *)row_of(to, top - region.y) + (left - region.x) * pixel_nbytes(t);
}

static int decode_tile(tile *t, const uint64_t *offsets, size_t number, const mr__request *request)
{
    mr__call *call = t->call;
    int result = mr__l3_tile_open(call, t->head, offsets, number, request->accept_damaged, &t->bytes, &t->nbytes);
    if (result != 0)
        return result;
    if (t->bytes == NULL) {
        fill_zero(t);
        return 0;
    }
    const char *why = NULL;
    t->has_slack = call->nbytes - offsets[number + 1] >= MR__L3_STREAM_SLACK;
    result = decode_kind(t, request->accept_damaged, &why);
    if (result != 0 || why == NULL)
        return result;
    result = mr__l3_tile_damage(call, t->head, number, offsets[number], why, request->accept_damaged);
    if (result == 0)
        fill_zero(t);
    return result;
}

int mr__l3_pixel_decode(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__request *request,
                        const mr_image *to)
{
    mr__l3_pixel_state *state = &mr__l3_state_of(call)->pixel;
    mr__l3_pixel_kernels kernels;
    mr__l3_pixel_work work;
    tile t = {.call = call, .head = head, .state = state, .work = &work, .kernels = &kernels};
    mr_rect region = request->region;
    int result = mr__l3_pixel_work_init(call, state, &work, smaller(head->tile_width, head->width),
                                        smaller(head->tile_height, head->height), head->channels, head->depth);
    mr__l3_pixel_kernels_init(&kernels, call->cpu);
    for (uint32_t row = region.y / head->tile_height; result == 0 && row < head->tiles_y; row++) {
        if (row * head->tile_height >= region.y + region.height)
            break;
        for (uint32_t column = region.x / head->tile_width; result == 0 && column < head->tiles_x; column++) {
            if (column * head->tile_width >= region.x + region.width)
                break;
            size_t number = (size_t)row * head->tiles_x + column;
            place(&t, mr__l3_tile_rect(head, number), region, to);
            result = decode_tile(&t, offsets, number, request);
        }
    }
    return result;
}

/* What an adaptive tile is predicted by; mixed when its channels differ. */
static const char *predictor_name(const mr__l3_head *head, const uint8_t *bytes, size_t nbytes)
{
    static const char *const names[4] = {"planes: constant", "planes: lifting", "planes: prefix", "unknown"};
    size_t entry = head->depth == 8 ? 4 : 7, remapping = nbytes >= 2 ? bytes[1] >> 2 & 3 : 0;
    size_t at = 2 + head->channels * (size_t)(remapping == 0 ? 0 : remapping == 1 ? 32 : 4);
    if (nbytes < at + entry * head->channels)
        return "unknown";
    for (uint32_t c = 1; c < head->channels; c++)
        if ((bytes[at + c * entry] & 3) != (bytes[at] & 3))
            return "planes: mixed";
    return names[bytes[at] & 3];
}

const char *mr__l3_pixel_kind(const mr__l3_head *head, const uint8_t *bytes, size_t nbytes)
{
    switch (nbytes != 0 ? bytes[0] : UINT8_MAX) {
    case MR__L3_TILE_CONSTANT:
        return "constant";
    case MR__L3_TILE_PLANES:
        return predictor_name(head, bytes, nbytes);
    case MR__L3_TILE_LZ:
        return "lz";
    case MR__L3_TILE_STORED:
        return "stored";
    default:
        return "unknown";
    }
}
