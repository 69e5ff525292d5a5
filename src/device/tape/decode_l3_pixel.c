// SPDX-License-Identifier: Apache-2.0
/*
 * L3's pixel mode on a tape. The host checks hashes and the parts of each tile, copies the tile as it is stored, and
 * says where everything is; kernels do the rest (kernel/lane/l3_pixel.h). LZ tiles are one chain and few: the host
 * unpacks them into the tape.
 *
 * All tiles of all images go by the same levels, whatever they consist of, so that their calls are launched together:
 *
 *     0         where each block's bits are
 *     1         residuals of prefix prediction; the base of lifting
 *     2         prefix prediction
 *     2 to 11   lifting: D, then B and C, from level 4 to level 0
 *     12        pixels
 */
#include "codec/l3/pixel_planes.h"
#include "device/tape/decode_l3.h"
#include "kernel/lane/l3_pixel_lift.h"
#include "kernel/lane/l3_pixel_pack.h"
#include "kernel/lane/l3_pixel_places.h"
#include "kernel/lane/l3_pixel_prefix.h"

#include <string.h>

enum { AT_PLACES = 0, AT_BASE = 1, AT_PREFIX = 2, AT_LIFT = 2, AT_PACK = AT_LIFT + 2 * MR__L3_LEVELS };

_Static_assert((int)MR__L3_LEVELS == (int)MR__L3_LEVEL_MAX && MR__L3_STREAMS == MR__L3_LAYER_MAX - 1,
               "kernels know as many levels and layers as the decoder");

/* One image. */
typedef struct job {
    mr__tape *tape;
    const mr__l3_head *head;
    const uint64_t *offsets;
    mr_rect region;
    mr__call call;
    uint32_t level;  /* of its first calls */
    uint32_t to;     /* where column `left` of the region's first row goes */
    uint32_t stride; /* of the sheet */
    uint32_t left;   /* the region's first column, or one of the 7 before it */
} job;

/* The array of a level of lifting, and the part of it that is needed. */
typedef struct need {
    uint32_t w, h;
    uint32_t x, y, end_x, end_y;
} need;

/* One tile. */
typedef struct tile {
    size_t number;
    mr_rect rect;
    mr_rect part; /* of it, in the region */
    const uint8_t *bytes;
    size_t nbytes;
    uint32_t planes; /* place of its mr__l3_plane_at */
    need need[MR__L3_LEVELS + 1];
} tile;

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static mr__l3_field field_of(uint32_t x, uint32_t y, uint32_t words, uint32_t rows)
{
    mr__l3_field field = {x, y, words, rows, 0};
    while (field.shift < 6 && 1u << field.shift < words)
        field.shift++;
    return field;
}

static void call(const job *j, uint32_t at, mr__kernel kernel, const void *order, size_t nbytes, uint64_t items)
{
    mr__tape_call_at(j->tape, j->level + at, kernel, order, nbytes, items);
}

/* Where a tile's column, which is a multiple of 8, and row are in the sheet. */
static uint32_t place_in_sheet(const job *j, const tile *t, uint32_t x, uint32_t y)
{
    return j->to + (t->rect.y + y - j->region.y) * j->stride + (t->rect.x + x - j->left) * j->head->channels;
}

/*
 * What it takes to make the part. Of the level below: a sample of B or C looks one to each side, at samples of A and D;
 * one of D again one to each side, at samples of A. Those are every second one.
 */
static void find_needs(tile *t)
{
    const mr_rect *p = &t->part;
    t->need[0] = (need){t->rect.width, t->rect.height, p->x, p->y, p->x + p->width, p->y + p->height};
    for (uint32_t i = 0; i < MR__L3_LEVELS; i++) {
        const need *n = &t->need[i];
        need *below = &t->need[i + 1];
        below->w = (n->w + 1) / 2;
        below->h = (n->h + 1) / 2;
        below->x = n->x >= 2 ? (n->x - 2) / 2 : 0;
        below->y = n->y >= 2 ? (n->y - 2) / 2 : 0;
        below->end_x = smaller(below->w, (n->end_x + 1) / 2 + 1);
        below->end_y = smaller(below->h, (n->end_y + 1) / 2 + 1);
    }
}

/* The part of D that a level needs: columns and rows are those of the level below. */
static uint32_t end_of_d(uint32_t end, uint32_t side)
{
    return smaller(side / 2, (end + 1) / 2);
}

/* 1. Planes. */

static uint32_t place_of(const job *j, const uint8_t *in_tape)
{
    return (uint32_t)(in_tape - j->tape->bytes);
}

static void lay_streams(const job *j, const mr__l3_channel *channel, mr__l3_plane_at *at)
{
    const mr__l3_plane *plane = &channel->plane[0];
    at->headers = place_of(j, plane->stream.headers);
    at->low = place_of(j, plane->stream.low);
    at->masks = place_of(j, plane->stream.masks);
    at->layers = channel->layers;
    for (uint32_t i = 0; i + 1 < channel->layers; i++) {
        at->layer[i] = place_of(j, plane->stream.layer[i + 2]);
        at->limit[i] = (uint32_t)plane->limit[i + 2];
    }
    at->groups = (uint32_t)(channel->selectors - plane->stream.headers) / 2; // selectors are behind them
    at->starts = mr__tape_room(j->tape, at->groups * UINT64_C(2) * sizeof(uint32_t));
    if (channel->layers != 0)
        at->bits = mr__tape_room(j->tape, at->groups * UINT64_C(2) * (channel->layers - 1) * sizeof(uint32_t));
}

static void lay_lifting(const job *j, const tile *t, const mr__l3_channel *channel, mr__l3_plane_at *at)
{
    const need *n = t->need;
    uint32_t group = mr__l3_group_count(n[channel->levels].w, n[channel->levels].h), d_nbytes = 0;
    uint32_t selectors = place_of(j, channel->selectors);
    at->levels = channel->levels;
    for (uint32_t i = channel->levels; i-- > 0;) {
        uint32_t odd = n[i].w / 2, b = mr__l3_group_count(odd, (n[i].h + 1) / 2);
        uint32_t c = mr__l3_group_count((n[i].w + 1) / 2, n[i].h / 2);
        at->first[i] = group;
        at->selectors[i] = selectors;
        group += mr__l3_group_count(odd, n[i].h / 2) + b + c;
        selectors += b + c;
        d_nbytes = greater(d_nbytes, mr__l3_pitch(odd) * end_of_d(n[i].end_y, n[i].h));
    }
    for (uint32_t i = 0; i <= channel->levels; i++)
        at->samples[i] = mr__tape_room(j->tape, (uint64_t)mr__l3_pitch(n[i].w) * n[i].end_y);
    at->d = mr__tape_room(j->tape, d_nbytes);
}

static void lay_prefix(const job *j, const tile *t, const mr__l3_channel *channel, mr__l3_plane_at *at)
{
    const need *n = &t->need[0];
    at->selectors[0] = place_of(j, channel->selectors);
    at->samples[0] =
        mr__tape_room(j->tape, (uint64_t)mr__l3_pitch(n->w) * mr__ceil_div(n->end_y, MR__L3_BLOCK_H) * MR__L3_BLOCK_H);
}

/* The tile's planes, where kernels find them. */
static bool lay_planes(const job *j, tile *t, const mr__l3_planes *planes)
{
    void *room;
    t->planes = mr__tape_put(j->tape, planes->channels * sizeof(mr__l3_plane_at), &room);
    mr__l3_plane_at *at = room;
    for (uint32_t c = 0; at != NULL && c < planes->channels; c++) {
        const mr__l3_channel *channel = &planes->channel[c];
        at[c] = (mr__l3_plane_at){.is_constant = channel->predictor == MR__L3_CONSTANT, .sample = channel->constant};
        if (!at[c].is_constant)
            lay_streams(j, channel, &at[c]);
        if (channel->predictor == MR__L3_LIFTING)
            lay_lifting(j, t, channel, &at[c]);
        else if (channel->predictor == MR__L3_PREFIX)
            lay_prefix(j, t, channel, &at[c]);
        at[c].value_count = planes->is_remapped ? planes->remap[c].count : 0;
        if (planes->is_remapped)
            at[c].values = mr__tape_copy(j->tape, planes->remap[c].value, planes->remap[c].count);
    }
    return at != NULL;
}

/* Those of a predictor that have more levels than this. */
static mr__l3_list list_of(const job *j, const tile *t, const mr__l3_planes *planes, uint32_t predictor, uint32_t level)
{
    mr__l3_list list = {.planes = t->planes, .status = mr__tape_status(j->tape)};
    for (uint32_t c = 0; c < planes->channels; c++)
        if (planes->channel[c].predictor == predictor && (level == 0 || planes->channel[c].levels > level))
            list.numbers |= c << 8 * list.count++;
    return list;
}

static void call_lifting(const job *j, const tile *t, const mr__l3_planes *planes)
{
    mr__order_l3_base base = {.list = list_of(j, t, planes, MR__L3_LIFTING, 0)};
    for (uint32_t i = 0; i <= MR__L3_LEVELS; i++) {
        base.w[i] = t->need[i].w;
        base.h[i] = t->need[i].end_y;
    }
    call(j, AT_BASE, MR__KERNEL_l3_base, &base, sizeof base, base.list.count);
    for (uint32_t i = MR__L3_LEVELS; i-- > 0;) {
        const need *n = &t->need[i], *below = n + 1;
        uint32_t at = AT_LIFT + 2 * (MR__L3_LEVELS - 1 - i), x = below->x / 8, x_bc = n->x / 16;
        uint32_t end_x = end_of_d(n->end_x, n->w), end_y = end_of_d(n->end_y, n->h);
        mr__order_l3_lift order = {.list = list_of(j, t, planes, MR__L3_LIFTING, i), .level = i, .w = n->w, .h = n->h};
        if (end_x > 8 * x && end_y > below->y) {
            order.field = field_of(x, below->y, mr__ceil_div(end_x, 8) - x, end_y - below->y);
            call(j, at, MR__KERNEL_l3_lift_d, &order, sizeof order,
                 (uint64_t)MR__L3_FIELD_GROUPS(order.field) * order.list.count);
        }
        order.field = field_of(x_bc, n->y, mr__ceil_div(n->end_x, 16) - x_bc, n->end_y - n->y);
        call(j, at + 1, MR__KERNEL_l3_lift_bc, &order, sizeof order,
             (uint64_t)MR__L3_FIELD_GROUPS(order.field) * order.list.count);
    }
}

static void call_prefix(const job *j, const tile *t, const mr__l3_planes *planes)
{
    const need *n = &t->need[0];
    mr__order_l3_prefix order = {.list = list_of(j, t, planes, MR__L3_PREFIX, 0), .w = n->w, .rows = n->end_y};
    order.field =
        field_of(0, 0, mr__l3_pitch(n->w) / MR__L3_BLOCK_W, mr__ceil_div(n->end_y, MR__L3_BLOCK_H) * MR__L3_BLOCK_H);
    call(j, AT_BASE, MR__KERNEL_l3_residuals, &order, sizeof order,
         (uint64_t)MR__L3_FIELD_GROUPS(order.field) * order.list.count);
    call(j, AT_PREFIX, MR__KERNEL_l3_prefix, &order, sizeof order, order.list.count);
}

static void call_pack(const job *j, const tile *t, const mr__l3_planes *planes)
{
    const need *n = &t->need[0];
    uint32_t x = n->x / 8;
    mr__order_l3_pack order = {.list = {.planes = t->planes, .count = 1, .status = mr__tape_status(j->tape)},
                               .field = field_of(x, n->y, mr__ceil_div(n->end_x, 8) - x, n->end_y - n->y),
                               .w = n->w,
                               .channels = planes->channels,
                               .green = planes->green,
                               .remapped = planes->is_remapped,
                               .x = n->x,
                               .end = n->end_x,
                               .to = place_in_sheet(j, t, 8 * x, n->y),
                               .stride = j->stride};
    call(j, AT_PACK, MR__KERNEL_l3_pack, &order, sizeof order, MR__L3_FIELD_GROUPS(order.field));
}

static int fail_room(mr__detail *detail)
{
    return mr__fail(detail, MR_ENOMEM, "it does not fit into the device's memory");
}

/* A copy of so many bytes, with as many behind them as kernels read; NULL: there is no room. */
static uint8_t *put_bytes(const job *j, const uint8_t *bytes, size_t nbytes, uint32_t *place)
{
    void *room;
    *place = mr__tape_put(j->tape, nbytes + MR__L3_SLACK, &room);
    if (room == NULL)
        return NULL;
    if (bytes != NULL)
        memcpy(room, bytes, nbytes);
    memset((uint8_t *)room + nbytes, 0, MR__L3_SLACK);
    return room;
}

static int write_planes(job *j, tile *t, const char **why)
{
    mr__l3_planes planes = {
        .w = t->rect.width, .h = t->rect.height, .channels = j->head->channels, .depth = j->head->depth};
    uint32_t place;
    const uint8_t *bytes = put_bytes(j, t->bytes, t->nbytes, &place);
    if (bytes == NULL)
        return fail_room(j->call.detail);
    *why = mr__l3_planes_read(&planes, bytes, t->nbytes);
    if (*why != NULL)
        return 0;
    find_needs(t);
    if (!lay_planes(j, t, &planes))
        return fail_room(j->call.detail);
    mr__order_l3_places order = {.list = list_of(j, t, &planes, MR__L3_LIFTING, 0)};
    mr__l3_list prefix = list_of(j, t, &planes, MR__L3_PREFIX, 0);
    order.list.numbers |= order.list.count < 4 ? prefix.numbers << 8 * order.list.count : 0;
    order.list.count += prefix.count;
    call(j, AT_PLACES, MR__KERNEL_l3_places, &order, sizeof order, order.list.count);
    call_lifting(j, t, &planes);
    call_prefix(j, t, &planes);
    call_pack(j, t, &planes);
    return 0;
}

/* 2. The other kinds. */

/* A tile of one pixel is one of constant channels. */
static int write_constant(job *j, tile *t, const char **why)
{
    mr__l3_planes planes = {.channels = j->head->channels};
    *why = mr__l3_constant_check(t->nbytes, planes.channels);
    if (*why != NULL)
        return 0;
    for (uint32_t c = 0; c < planes.channels; c++)
        planes.channel[c] = (mr__l3_channel){.predictor = MR__L3_CONSTANT, .constant = t->bytes[1 + c]};
    find_needs(t);
    if (!lay_planes(j, t, &planes))
        return fail_room(j->call.detail);
    call_pack(j, t, &planes);
    return 0;
}

/* Pixels that are in the tape from row part.y on. */
static void call_copy(const job *j, const tile *t, uint32_t place)
{
    uint32_t channels = j->head->channels, x = t->part.x / 8 * 8, end = t->part.x + t->part.width;
    mr__order_l3_copy order = {.field = field_of(0, 0, (mr__ceil_div(end, 8) * 8 - x) * channels / 8, t->part.height),
                               .from = place + x * channels,
                               .from_stride = t->rect.width * channels,
                               .to = place_in_sheet(j, t, x, t->part.y),
                               .stride = j->stride};
    call(j, AT_PACK, MR__KERNEL_l3_copy, &order, sizeof order, MR__L3_FIELD_GROUPS(order.field));
}

static int write_stored(job *j, const tile *t, const char **why)
{
    size_t row_nbytes = (size_t)t->rect.width * j->head->channels;
    uint32_t place;
    *why = mr__l3_stored_check(t->nbytes, row_nbytes, t->rect.height);
    if (*why != NULL)
        return 0;
    if (put_bytes(j, t->bytes + 1 + t->part.y * row_nbytes, t->part.height * row_nbytes, &place) == NULL)
        return fail_room(j->call.detail);
    call_copy(j, t, place);
    return 0;
}

static int write_lz(job *j, const tile *t, const char **why)
{
    size_t row_nbytes = (size_t)t->rect.width * j->head->channels;
    uint32_t place, rows = t->part.y + t->part.height;
    *why = mr__l3_lz_check(t->bytes, t->nbytes);
    if (*why != NULL)
        return 0;
    uint8_t *pixels = put_bytes(j, NULL, t->rect.height * row_nbytes, &place);
    if (pixels == NULL)
        return fail_room(j->call.detail);
    *why = mr__l3_lz_read(t->bytes, t->nbytes, row_nbytes, t->rect.height, rows, pixels);
    if (*why == NULL)
        call_copy(j, t, place + (uint32_t)(t->part.y * row_nbytes));
    return 0;
}

static int write_kind(job *j, tile *t, const char **why)
{
    switch (t->nbytes != 0 ? t->bytes[0] : UINT8_MAX) {
    case MR__L3_TILE_CONSTANT:
        return write_constant(j, t, why);
    case MR__L3_TILE_PLANES:
        return write_planes(j, t, why);
    case MR__L3_TILE_LZ:
        return write_lz(j, t, why);
    case MR__L3_TILE_STORED:
        return write_stored(j, t, why);
    default:
        *why = "a kind of tile that is not known";
        return 0;
    }
}

/* 3. The image. */

static int write_tile(job *j, size_t number)
{
    const mr_rect rect = mr__l3_tile_rect(j->head, number), r = j->region;
    uint32_t left = greater(rect.x, r.x), top = greater(rect.y, r.y);
    uint32_t right = smaller(rect.x + rect.width, r.x + r.width), end = smaller(rect.y + rect.height, r.y + r.height);
    tile t = {.number = number, .rect = rect, .part = {left - rect.x, top - rect.y, right - left, end - top}};
    const char *why = NULL;
    int result = mr__l3_tile_open(&j->call, j->head, j->offsets, number, false, &t.bytes, &t.nbytes);
    if (result == 0)
        result = write_kind(j, &t, &why);
    if (result == 0 && why != NULL)
        result = mr__l3_tile_damage(&j->call, j->head, number, j->offsets[number], why, false);
    return result;
}

static int write_tiles(job *j)
{
    const mr__l3_head *head = j->head;
    mr_rect r = j->region;
    uint32_t first = r.x / head->tile_width, last = (r.x + r.width - 1) / head->tile_width;
    for (uint32_t row = r.y / head->tile_height; row <= (r.y + r.height - 1) / head->tile_height; row++)
        for (uint32_t column = first; column <= last; column++) {
            int result = write_tile(j, (size_t)row * head->tiles_x + column);
            if (result != 0)
                return result;
        }
    return 0;
}

int mr__tape_decode_l3_pixel(mr__tape_writer *w, const mr__tape_source *source, const mr__l3_head *head,
                             const uint64_t *offsets, mr__sheet *sheet, mr__detail *detail)
{
    mr_rect r = source->region;
    uint64_t row = (mr__ceil_div(r.x + r.width, 8) * UINT64_C(8) - r.x / 8 * 8) * head->channels;
    job j = {.tape = w->tape, .head = head, .offsets = offsets, .region = r, .level = w->tape->level};
    if (head->depth != 8)
        return mr__fail(detail, MR_EUNSUPPORTED, "there is no kernel for L3 images of 16 bits");
    if (!mr__tape_is_inside(r, head->width, head->height))
        return mr__fail(detail, MR_EINTERNAL, "a region that is not in the image");
    j.call = mr__tape_l3_call(source, detail);
    j.left = r.x / 8 * 8;
    j.stride = (uint32_t)row;
    j.to = mr__tape_room(w->tape, row * r.height);
    int result = mr__tape_code(w->tape) == 0 ? write_tiles(&j) : fail_room(detail);
    if (result == 0 && mr__tape_code(w->tape) != 0)
        result = fail_room(detail);
    if (result == 0)
        *sheet = (mr__sheet){j.to + (r.x - j.left) * head->channels, j.stride, r.width, r.height, head->channels};
    return result;
}
