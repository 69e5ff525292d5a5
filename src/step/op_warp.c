// SPDX-License-Identifier: Apache-2.0
/*
 * Turned and bent images, as Pillow's transform makes them (kernel/warp.h). It has four ways to nearest pixels, and
 * which one it takes is a part of the result:
 *
 *     turns by quarters    transposed
 *     affine without shear or turn: places of columns and rows are added up, in double: a table of columns
 *     affine               places are added up in whole numbers of 2^-16 pixels, where all of them are below 2^15
 *     other affine         added up in double
 *
 * The rest, all perspective and what is not nearest: every place by itself.
 */
#include "step/op_warp.h"

#include "base/size.h"
#include "kernel/turn.h"
#include "kernel/warp.h"
#include "step/ops.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

typedef struct warping {
    const mr__op *op;
    const mr__warp *warp;
    mr__warp_view from;
    mr__warp_kernels kernels;
    uint8_t *to; /* of the row that is made */
    uint32_t n;  /* pixels of a row */
} warping;

static size_t of_channels(const warping *w)
{
    return w->from.channels == 1 ? 0 : 1;
}

static uint8_t *row_of(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

static void fill_row(const warping *w, uint32_t x, uint32_t n)
{
    uint32_t channels = w->from.channels;
    uint8_t *to = w->to + (size_t)x * channels;
    const uint8_t *fill = w->from.fill;
    if (channels == 1 || (fill[0] == fill[1] && fill[0] == fill[2])) {
        memset(to, fill[0], (size_t)n * channels);
        return;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(to + 3 * i, fill, 3);
}

static const uint8_t *pixel_of(const mr__warp_view *from, int64_t x, int64_t y)
{
    return from->pixels + (ptrdiff_t)y * from->stride + (ptrdiff_t)x * from->channels;
}

/* By places: a part of a row at a time. */
static void run_places(warping *w, const mr_image *to)
{
    double xs[CHUNK], ys[CHUNK];
    const mr__warp *warp = w->warp;
    mr__warp_place *place = warp->perspective ? w->kernels.place_perspective : w->kernels.place_affine;
    mr__warp_sample *sample = w->kernels.sample[warp->sampling - MR_SAMPLING_NEAREST][of_channels(w)];
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x += CHUNK) {
            uint32_t n = to->width - x < CHUNK ? to->width - x : CHUNK;
            place(warp->c, w->op->to.x + x, w->op->to.y + y, n, xs, ys);
            sample(&w->from, xs, ys, n, row_of(to, y) + (size_t)x * w->from.channels);
        }
}

/* Nearest pixels of a perspective. */
static void run_seen(warping *w, const mr_image *to)
{
    mr__warp_seen *seen = w->kernels.seen[of_channels(w)];
    for (uint32_t y = 0; y < to->height; y++)
        seen(&w->from, w->warp->c, w->op->to.x, w->op->to.y + y, to->width, row_of(to, y));
}

/* Added up in double. */
static void run_sums(warping *w, const mr_image *to)
{
    double xs[CHUNK], ys[CHUNK];
    const double *c = w->warp->c;
    double row_x = mr__warp_add_up(c[2] + c[1] * 0.5 + c[0] * 0.5, c[1], w->op->to.y);
    double row_y = mr__warp_add_up(c[5] + c[4] * 0.5 + c[3] * 0.5, c[4], w->op->to.y);
    for (uint32_t y = 0; y < to->height; y++, row_x += c[1], row_y += c[4]) {
        double at_x = mr__warp_add_up(row_x, c[0], w->op->to.x), at_y = mr__warp_add_up(row_y, c[3], w->op->to.x);
        for (uint32_t x = 0; x < to->width; x += CHUNK) {
            uint32_t n = to->width - x < CHUNK ? to->width - x : CHUNK;
            for (uint32_t i = 0; i < n; i++, at_x += c[0], at_y += c[3]) {
                xs[i] = at_x;
                ys[i] = at_y;
            }
            mr__warp_nearest_c(&w->from, xs, ys, n, row_of(to, y) + (size_t)x * w->from.channels);
        }
    }
}

/* The pixel of a part that a place is in; -1: none. */
static int32_t in_part(double at, int32_t first, int32_t n)
{
    return at >= (double)first && at < (double)first + (double)n ? (int32_t)at - first : -1;
}

void mr__warp_list(const mr__op *op, size_t axis, int32_t *of)
{
    const double *c = op->u.warp.c;
    double step = axis == 0 ? c[0] : c[4];
    double at = mr__warp_add_up((axis == 0 ? c[2] : c[5]) + step * 0.5, step, axis == 0 ? op->to.x : op->to.y);
    int32_t first = (int32_t)(axis == 0 ? op->from.x : op->from.y);
    int32_t side = (int32_t)(axis == 0 ? op->from.width : op->from.height);
    uint32_t n = axis == 0 ? op->to.width : op->to.height;
    for (uint32_t i = 0; i < n; i++, at += step)
        of[i] = in_part(at, first, side);
}

/* Columns of the part, for each pixel of a row, and which of them there are: all those between two. */
typedef struct columns {
    int32_t *of;
    uint32_t begin, end;
    bool in_a_row; /* each next to the one before */
} columns;

static void find_columns(const warping *w, columns *list)
{
    mr__warp_list(w->op, 0, list->of);
    list->begin = list->end = 0;
    list->in_a_row = true;
    for (uint32_t x = 0; x < w->n; x++) {
        if (list->of[x] < 0)
            continue;
        if (list->end == 0)
            list->begin = x;
        else if (list->of[x] != list->of[x - 1] + 1)
            list->in_a_row = false;
        list->end = x + 1;
    }
}

static void copy_columns(const warping *w, const columns *list, const uint8_t *row)
{
    uint32_t begin = list->begin, end = list->end, channels = w->from.channels;
    if (list->in_a_row)
        memcpy(w->to + (size_t)begin * channels, row + (size_t)list->of[begin] * channels,
               (size_t)(end - begin) * channels);
    else if (channels == 1)
        for (uint32_t x = begin; x < end; x++)
            w->to[x] = row[list->of[x]];
    else
        for (uint32_t x = begin; x < end; x++)
            memcpy(w->to + 3 * (size_t)x, row + 3 * (size_t)list->of[x], 3);
}

static int run_scale(warping *w, const mr_image *to, mr__op_work *work)
{
    columns list = {.of = mr__op_scratch(work->tools, 0, (size_t)w->n * sizeof(int32_t))};
    int32_t *rows = mr__op_scratch(work->tools, 1, (size_t)to->height * sizeof *rows);
    if (list.of == NULL || rows == NULL)
        return mr__fail(work->detail, MR_ENOMEM, "out of memory: there was too little for rows and columns of %u x %u",
                        w->n, to->height);
    find_columns(w, &list);
    mr__warp_list(w->op, 1, rows);
    for (uint32_t y = 0; y < to->height; y++) {
        int32_t row = rows[y];
        w->to = row_of(to, y);
        if (row < 0 || list.end == 0) {
            fill_row(w, 0, w->n);
            continue;
        }
        fill_row(w, 0, list.begin);
        fill_row(w, list.end, w->n - list.end);
        copy_columns(w, &list, pixel_of(&w->from, 0, row));
    }
    return 0;
}

/* Whether places of the whole result are so near that whole numbers of 2^-16 pixels have them. */
static bool is_near(const mr__op *op)
{
    const double *c = op->u.warp.c;
    for (size_t i = 0; i < 4; i++) {
        double x = i % 2 == 0 ? 0.0 : (double)op->to_width, y = i < 2 ? 0.0 : (double)op->to_height;
        if (!(fabs(x * c[0] + y * c[1] + c[2]) < 32768.0 && fabs(x * c[3] + y * c[4] + c[5]) < 32768.0))
            return false;
    }
    return true;
}

/* Coefficients are below 2^17 where is_near: differences of places of corners, at least a pixel apart. */
static int64_t fixed_of(double v)
{
    return (int64_t)floor(v * 65536.0 + 0.5);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/* Of 0 to n - 1, cuts [*begin, *end) to those i for which 0 <= at + i step < limit. */
static void cut_range(int64_t at, int64_t step, int64_t limit, int64_t *begin, int64_t *end)
{
    int64_t first, last;
    if (step == 0) {
        first = 0;
        last = at >= 0 && at < limit ? *end : -1;
    } else if (step > 0) {
        first = -floor_divide(at, step); /* the least i with at + i step >= 0 */
        last = floor_divide(limit - 1 - at, step);
    } else {
        first = -floor_divide(limit - 1 - at, -step);
        last = floor_divide(at, -step);
    }
    *begin = first > *begin ? first : *begin;
    *end = last + 1 < *end ? last + 1 : *end;
    if (*end <= *begin)
        *begin = *end = 0;
}

/* A side in 2^-16 pixels; beyond 2^15 no walk goes. */
static int64_t fixed_side(int32_t side)
{
    return (int64_t)(side < 32768 ? side : 32768) * 65536;
}

mr__warp_walks mr__warp_walks_of(const mr__op *op)
{
    const double *c = op->u.warp.c;
    mr__warp_walks w = {.step_x = fixed_of(c[0]),
                        .step_y = fixed_of(c[3]),
                        .down_x = fixed_of(c[1]),
                        .down_y = fixed_of(c[4]),
                        .limit_x = fixed_side((int32_t)op->from.width),
                        .limit_y = fixed_side((int32_t)op->from.height)};
    w.x = fixed_of(c[2] + c[0] * 0.5 + c[1] * 0.5) + (int64_t)op->to.x * w.step_x;
    w.y = fixed_of(c[5] + c[3] * 0.5 + c[4] * 0.5) + (int64_t)op->to.x * w.step_y;
    w.x += (int64_t)op->to.y * w.down_x - (int64_t)op->from.x * 65536;
    w.y += (int64_t)op->to.y * w.down_y - (int64_t)op->from.y * 65536;
    return w;
}

/* Added up in 2^-16 pixels. Multiplying whole numbers gives the same. */
static void run_walks(warping *w, const mr_image *to)
{
    mr__warp_walks at = mr__warp_walks_of(w->op);
    mr__warp_walk *walk = w->kernels.walk[of_channels(w)];
    for (uint32_t y = 0; y < to->height; y++, at.x += at.down_x, at.y += at.down_y) {
        int64_t begin = 0, end = w->n;
        cut_range(at.x, at.step_x, at.limit_x, &begin, &end);
        cut_range(at.y, at.step_y, at.limit_y, &begin, &end);
        w->to = row_of(to, y);
        fill_row(w, 0, (uint32_t)begin);
        fill_row(w, (uint32_t)end, w->n - (uint32_t)end);
        if (begin == end)
            continue;
        int64_t x = at.x + begin * at.step_x, z = at.y + begin * at.step_y;
        uint8_t *row = w->to + (size_t)begin * w->from.channels;
        if (at.step_x == 65536 && at.step_y == 0)
            memcpy(row, pixel_of(&w->from, x >> 16, z >> 16), (size_t)(end - begin) * w->from.channels);
        else
            walk(&w->from, (mr__warp_walk_of){(int32_t)x, (int32_t)z, (int32_t)at.step_x, (int32_t)at.step_y},
                 (size_t)(end - begin), row);
    }
}

static void run_quarters(const mr__op_work *work)
{
    const mr__op *op = work->op;
    mr_rect part = mr__turn_need(op->u.warp.quarter, op->width, op->height, op->to);
    const uint8_t *from = (const uint8_t *)work->from.pixels + (ptrdiff_t)(part.y - op->from.y) * work->from.stride +
                          (ptrdiff_t)(part.x - op->from.x) * (ptrdiff_t)work->from.channels;
    mr__turn(op->u.warp.quarter, from, work->from.stride, part.width, part.height, work->from.channels, work->to.pixels,
             work->to.stride);
}

/* Moved by whole pixels: whatever is looked up lies in the very middle of one. */
static bool is_move(const mr__warp *warp)
{
    const double *c = warp->c;
    return !warp->perspective && c[0] == 1.0 && c[1] == 0.0 && c[3] == 0.0 && c[4] == 1.0 && fabs(c[2]) < 0x1p30 &&
           fabs(c[5]) < 0x1p30 && c[2] == floor(c[2]) && c[5] == floor(c[5]);
}

mr__warp_way mr__warp_way_of(const mr__op *op)
{
    const mr__warp *warp = &op->u.warp;
    if (warp->quarter != 0)
        return MR__WARP_QUARTERS;
    if (is_move(warp))
        return MR__WARP_SCALE;
    if (warp->perspective || warp->sampling != MR_SAMPLING_NEAREST)
        return MR__WARP_PLACES;
    if (warp->c[1] == 0.0 && warp->c[3] == 0.0)
        return MR__WARP_SCALE;
    return is_near(op) ? MR__WARP_WALKS : MR__WARP_SUMS;
}

static int run(mr__op_work *work)
{
    const mr__op *op = work->op;
    const mr__warp *warp = &op->u.warp;
    mr__warp_way way = mr__warp_way_of(op);
    if (way == MR__WARP_QUARTERS) {
        run_quarters(work);
        return 0;
    }
    warping w = {.op = op, .warp = warp, .n = work->to.width};
    w.from = (mr__warp_view){
        .pixels = work->from.pixels,
        .stride = work->from.stride,
        .x = (int32_t)op->from.x,
        .y = (int32_t)op->from.y,
        .width = (int32_t)op->from.width,
        .height = (int32_t)op->from.height,
        .whole_width = (int32_t)op->width,
        .whole_height = (int32_t)op->height,
        .channels = work->from.channels,
    };
    memcpy(w.from.fill, warp->fill, sizeof w.from.fill);
    mr__warp_kernels_init(&w.kernels, mr__op_cpu(work->tools));
    if (way == MR__WARP_SCALE)
        return run_scale(&w, &work->to, work);
    if (way == MR__WARP_WALKS)
        run_walks(&w, &work->to);
    else if (way == MR__WARP_SUMS)
        run_sums(&w, &work->to);
    else if (warp->sampling == MR_SAMPLING_NEAREST)
        run_seen(&w, &work->to);
    else
        run_places(&w, &work->to);
    return 0;
}

/* From the lowest to the highest of some places along an axis, with a margin, clipped; never empty. */
static void cut_span(double low, double high, double margin, uint32_t side, uint32_t *at, uint32_t *n)
{
    double first = floor(low - margin), last = floor(high + margin), most = (double)side - 1.0;
    first = first > most ? most : first > 0.0 ? first : 0.0;
    last = last > most ? most : last > first ? last : first;
    *at = (uint32_t)first;
    *n = (uint32_t)last - (uint32_t)first + 1;
}

/*
 * The corners' places have all others between them, with one exception: where the depth of a perspective changes its
 * sign, or is so small that nothing is certain, anything may be needed. A pixel beside what is looked at allows for
 * sums that are rounded.
 */
static mr_rect need(const mr__op *op, mr_rect part)
{
    const mr__warp *warp = &op->u.warp;
    const double *c = warp->c;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, depth_sign = 0.0;
    if (warp->quarter != 0)
        return mr__turn_need(warp->quarter, op->width, op->height, part);
    for (size_t i = 0; i < 4; i++) {
        double x = (double)part.x + (i % 2 == 0 ? 0.5 : (double)part.width - 0.5);
        double y = (double)part.y + (i < 2 ? 0.5 : (double)part.height - 0.5);
        double depth = warp->perspective ? mr__warp_line(c[6], c[7], 1.0, x, y) : 1.0;
        double at[2] = {mr__warp_line(c[0], c[1], c[2], x, y) / depth, mr__warp_line(c[3], c[4], c[5], x, y) / depth};
        if (!(fabs(depth) > 1e-6) || depth * depth_sign < 0.0 || !(fabs(at[0]) < 1e9 && fabs(at[1]) < 1e9))
            return mr__op_need_all(op, part);
        depth_sign = depth;
        for (size_t k = 0; k < 2; k++) {
            low[k] = at[k] < low[k] ? at[k] : low[k];
            high[k] = at[k] > high[k] ? at[k] : high[k];
        }
    }
    double margin = warp->sampling == MR_SAMPLING_NEAREST ? 1.0 : warp->sampling == MR_SAMPLING_BILINEAR ? 2.0 : 3.0;
    mr_rect all;
    cut_span(low[0], high[0], margin, op->width, &all.x, &all.width);
    cut_span(low[1], high[1], margin, op->height, &all.y, &all.height);
    return all;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    static const char *const samplings[] = {"", "nearest", "bilinear", "bicubic"};
    const mr__warp *warp = &op->u.warp;
    if (warp->quarter != 0)
        return snprintf(text, nbytes, "turned by %u degrees", warp->quarter * 90);
    const char *sampling = samplings[warp->sampling & 3];
    if (warp->perspective)
        return snprintf(text, nbytes, "seen from aside, %s", sampling);
    return snprintf(text, nbytes, "warped, %s: x = %.4g x + %.4g y + %.4g, y = %.4g x + %.4g y + %.4g", sampling,
                    warp->c[0], warp->c[1], warp->c[2], warp->c[3], warp->c[4], warp->c[5]);
}

const mr__op_type mr__op_warp = {.name = "warp", .run = run, .need = need, .tell = tell};
