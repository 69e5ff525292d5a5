// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes a tile of planes. The coarse levels of lifting come first, channel by channel; then the tile is swept in
 * steps of 8 rows: each channel makes its 8 rows, and they are packed into the output while they are in the nearest
 * cache.
 *
 * Invariant: before each call of `groups`, mr__l3_plane_within held. One call takes at most 48 groups, so 768 bytes of
 * a layer, and reads at most 8 behind them: less than MR__L3_STREAM_SLACK.
 */
#include "base/size.h"
#include "codec/l3/pixel_planes.h"

#include <string.h>

enum { STEP = 8 /* rows of a step */ };

static const char bad_layers[] = "its layers do not fit its blocks";

typedef struct sweep {
    mr__l3_planes *planes;
    const mr__l3_pixel_work *work;
    const mr__l3_pixel_kernels *kernels;
    uint32_t wide; /* bytes of a sample less 1: 0 or 1, the index of the depth in the kernel table */
} sweep;

static inline void *row_of(const mr__l3_rows *rows, size_t y)
{
    return rows->first + y * rows->pitch;
}

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t shrink(uint32_t side, uint32_t level)
{
    return (side + (1u << level) - 1) >> level;
}

/* Residuals of the next `count` groups, all planes. False when a layer ends before them. */
static bool decode_groups(const sweep *s, mr__l3_channel *channel, uint32_t count)
{
    bool within = true;
    for (uint32_t i = 0; i <= s->wide; i++) {
        const mr__l3_rows *to = &s->work->residuals[i];
        s->kernels->groups[channel->layers / 3](&channel->plane[i].stream, count, to->first, to->pitch);
        within &= mr__l3_plane_within(&channel->plane[i], channel->layers);
    }
    return within;
}

static const char *decode_base(const sweep *s, uint32_t c)
{
    mr__l3_channel *channel = &s->planes->channel[c];
    uint32_t w = shrink(s->planes->w, channel->levels), h = shrink(s->planes->h, channel->levels);
    const mr__l3_rows *level = &s->work->level[c][channel->levels];
    const void *above = NULL;
    for (uint32_t y = 0; y < h; y++) {
        if (y % MR__L3_BLOCK_H == 0 && !decode_groups(s, channel, mr__ceil_div(w, MR__L3_GROUP_W)))
            return bad_layers;
        const uint8_t *low = row_of(&s->work->residuals[0], y % MR__L3_BLOCK_H);
        const uint8_t *high = row_of(&s->work->residuals[1], y % MR__L3_BLOCK_H);
        void *to = row_of(level, y);
        s->kernels->base[s->wide](above, low, high, w, to);
        above = to;
    }
    return NULL;
}

/* Where the residuals of D, B and C are after decode_groups, and their selectors. */
static void find_residuals(const sweep *s, mr__l3_channel *channel, mr__l3_lift *lift)
{
    uint32_t groups_d = lift->rows_d != 0 ? mr__ceil_div(lift->wo, MR__L3_GROUP_W) : 0;
    uint32_t groups_b = mr__ceil_div(lift->wo, MR__L3_GROUP_W);
    uint32_t groups_c = lift->rows_d != 0 ? mr__ceil_div(lift->we, MR__L3_GROUP_W) : 0;
    lift->pitch = s->work->residuals[0].pitch;
    lift->rd = s->work->residuals[0].first;
    lift->rb = lift->rd + (size_t)groups_d * MR__L3_GROUP_W;
    lift->rc = lift->rb + (size_t)groups_b * MR__L3_GROUP_W;
    lift->hd = s->work->residuals[1].first;
    lift->hb = lift->hd + (size_t)groups_d * MR__L3_GROUP_W;
    lift->hc = lift->hb + (size_t)groups_b * MR__L3_GROUP_W;
    lift->sb = channel->selectors;
    lift->sc = lift->sb + groups_b;
    channel->selectors += groups_b + groups_c;
}

static uint32_t group_count(const mr__l3_lift *lift)
{
    uint32_t odd = mr__ceil_div(lift->wo, MR__L3_GROUP_W), even = mr__ceil_div(lift->we, MR__L3_GROUP_W);
    return lift->rows_d != 0 ? 2 * odd + even : odd;
}

static void find_rows(const sweep *s, uint32_t c, uint32_t level, uint32_t step, uint32_t he, mr__l3_lift *lift,
                      const mr__l3_rows *to, uint32_t first)
{
    const mr__l3_rows *a = &s->work->level[c][level + 1], *d = &s->work->d[c];
    uint32_t top = step * MR__L3_BLOCK_H, ring = top % STEP;
    for (uint32_t i = 0; i < 5; i++)
        lift->a[i] = row_of(a, smaller(top + i, he - 1));
    lift->d[0] = step == 0 ? NULL : row_of(d, STEP - 1 - ring);
    for (uint32_t i = 0; i < 4; i++)
        lift->d[i + 1] = row_of(d, ring + i);
    for (uint32_t i = 0; i < STEP; i++)
        lift->to[i] = row_of(to, first + i);
}

/*
 * A row of groups of a level: its rows 8 * step and on, written to the rows `first` and on of `to`. Where nobody looks
 * at them, they are only decoded.
 */
static bool lift_step(const sweep *s, uint32_t c, uint32_t level, uint32_t step, bool is_wanted, const mr__l3_rows *to,
                      uint32_t first)
{
    mr__l3_channel *channel = &s->planes->channel[c];
    uint32_t w = shrink(s->planes->w, level), h = shrink(s->planes->h, level), top = step * MR__L3_BLOCK_H;
    uint32_t he = (h + 1) / 2, ho = h / 2;
    mr__l3_lift lift;
    lift.we = (w + 1) / 2;
    lift.wo = w / 2;
    lift.rows_b = smaller(he - top, MR__L3_BLOCK_H);
    lift.rows_d = ho > top ? smaller(ho - top, MR__L3_BLOCK_H) : 0;
    uint32_t count = group_count(&lift);
    if (count != 0 && !decode_groups(s, channel, count))
        return false;
    find_residuals(s, channel, &lift);
    if (is_wanted) {
        find_rows(s, c, level, step, he, &lift, to, first);
        s->kernels->lift[s->wide](&lift);
    }
    return true;
}

/* The levels of a channel from the base to level 1. */
static const char *decode_levels(const sweep *s, uint32_t c)
{
    const char *why = decode_base(s, c);
    for (uint32_t level = s->planes->channel[c].levels - 1; why == NULL && level >= 1; level--) {
        uint32_t steps = mr__ceil_div(shrink(s->planes->h, level), STEP);
        for (uint32_t step = 0; why == NULL && step < steps; step++)
            if (!lift_step(s, c, level, step, true, &s->work->level[c][level], step * STEP))
                why = bad_layers;
    }
    return why;
}

/* One row stands for all of a constant channel's. */
static void fill_constant(const sweep *s, uint32_t c)
{
    uint32_t value = s->planes->channel[c].constant;
    void *row = s->work->rows[c].first;
    if (s->wide == 0) {
        memset(row, (int)value, s->planes->w);
        return;
    }
    uint16_t *to = row;
    for (uint32_t x = 0; x < s->planes->w; x++)
        to[x] = (uint16_t)value;
}

/* Up to 8 rows of a prefix channel: two rows of groups. */
static bool prefix_step(const sweep *s, uint32_t c, uint32_t step)
{
    mr__l3_channel *channel = &s->planes->channel[c];
    const mr__l3_rows *rows = &s->work->rows[c];
    uint32_t groups = mr__ceil_div(s->planes->w, MR__L3_GROUP_W);
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t top = step * STEP + half * MR__L3_BLOCK_H, ring = half * MR__L3_BLOCK_H;
        if (top >= s->planes->h)
            return true;
        if (!decode_groups(s, channel, groups))
            return false;
        mr__l3_prefix prefix = {.w = s->planes->w, .rows = smaller(s->planes->h - top, MR__L3_BLOCK_H)};
        prefix.above = top == 0 ? NULL : row_of(rows, (ring + STEP - 1) % STEP);
        prefix.r = s->work->residuals[0].first;
        prefix.h = s->work->residuals[1].first;
        prefix.pitch = s->work->residuals[0].pitch;
        prefix.s = channel->selectors;
        for (uint32_t i = 0; i < MR__L3_BLOCK_H; i++)
            prefix.to[i] = row_of(rows, ring + i);
        channel->selectors += groups;
        s->kernels->prefix[s->wide](&prefix);
    }
    return true;
}

/* Remaps a row of each channel, and packs them. False when a value is beyond those that occur. */
static bool pack_remapped(const sweep *s, const void *const row[MR__L3_CHANNEL_MAX], uint32_t n, uint8_t *out)
{
    const mr__l3_planes *planes = s->planes;
    const void *remapped[MR__L3_CHANNEL_MAX] = {NULL, NULL, NULL, NULL};
    bool in_range = true;
    for (uint32_t c = 0; c < planes->channels; c++) {
        void *to = row_of(&s->work->remapped, c);
        bool add = planes->green && (c == 0 || c == 2);
        in_range &= s->kernels->remap[s->wide](row[c], add ? row[1] : NULL, n, &planes->remap[c], to);
        remapped[c] = to;
    }
    s->kernels->pack[s->wide][planes->channels][0](remapped, n, out);
    return in_range;
}

/* Packs the rows of a step that are part of the region. A constant channel has one row, again and again. */
static bool pack_step(const sweep *s, uint32_t step, mr_rect part, const mr_image *to)
{
    const mr__l3_planes *planes = s->planes;
    uint32_t top = step * STEP, from = part.y > top ? part.y : top, end = smaller(top + STEP, part.y + part.height);
    uint8_t *out = (uint8_t *)to->pixels + (ptrdiff_t)(from - part.y) * to->stride;
    const void *row[MR__L3_CHANNEL_MAX] = {NULL, NULL, NULL, NULL};
    size_t pitch[MR__L3_CHANNEL_MAX];
    for (uint32_t c = 0; c < planes->channels; c++) {
        pitch[c] = planes->channel[c].predictor == MR__L3_CONSTANT ? 0 : s->work->rows[c].pitch;
        row[c] = s->work->rows[c].first + (from - top) * pitch[c] + ((size_t)part.x << s->wide);
    }
    mr__l3_pack_row *pack = s->kernels->pack[s->wide][planes->channels][planes->green];
    bool in_range = true;
    for (uint32_t y = from; y < end; y++, out += to->stride) {
        if (planes->is_remapped)
            in_range &= pack_remapped(s, row, part.width, out);
        else
            pack(row, part.width, out);
        for (uint32_t c = 0; c < planes->channels; c++)
            row[c] = (const uint8_t *)row[c] + pitch[c];
    }
    return in_range;
}

/* One step of every channel. Of lifting, only rows that are shown, and those just above them, are made. */
static bool decode_step(const sweep *s, uint32_t step, mr_rect part)
{
    bool within = true;
    for (uint32_t c = 0; within && c < s->planes->channels; c++) {
        uint32_t predictor = s->planes->channel[c].predictor;
        if (predictor == MR__L3_LIFTING)
            within = lift_step(s, c, 0, step, (step + 2) * STEP > part.y, &s->work->rows[c], 0);
        else if (predictor == MR__L3_PREFIX)
            within = prefix_step(s, c, step);
    }
    return within;
}

static bool all_ended(const mr__l3_planes *planes)
{
    bool ended = true;
    for (uint32_t c = 0; c < planes->channels; c++)
        for (uint32_t i = 0; planes->channel[c].predictor != MR__L3_CONSTANT && i < planes->depth / 8; i++)
            ended &= mr__l3_plane_ended(&planes->channel[c].plane[i], planes->channel[c].layers);
    return ended;
}

const char *mr__l3_planes_decode(mr__l3_planes *planes, const mr__l3_pixel_work *work,
                                 const mr__l3_pixel_kernels *kernels, mr_rect part, const mr_image *to)
{
    const sweep s = {planes, work, kernels, planes->depth / 8 - 1};
    const char *why = NULL;
    for (uint32_t c = 0; why == NULL && c < planes->channels; c++) {
        if (planes->channel[c].predictor == MR__L3_LIFTING)
            why = decode_levels(&s, c);
        else if (planes->channel[c].predictor == MR__L3_CONSTANT)
            fill_constant(&s, c);
    }
    if (why != NULL)
        return why;
    uint32_t bottom = part.y + part.height;
    for (uint32_t step = 0; step * STEP < bottom; step++) {
        if (!decode_step(&s, step, part))
            return bad_layers;
        if ((step + 1) * STEP > part.y && !pack_step(&s, step, part, to))
            return "a sample is beyond the values that occur";
    }
    return mr__ceil_div(bottom, STEP) < mr__ceil_div(planes->h, STEP) || all_ended(planes) ? NULL : bad_layers;
}
