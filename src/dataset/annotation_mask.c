// SPDX-License-Identifier: Apache-2.0
/*
 * From a segmentation to pixels, the same ones as pycocotools has.
 *
 * An outline is traced on a grid of fifths of a pixel: corners are rounded to it, and between two of them there is a
 * point for each step along the longer side, rounded across. Where it passes from the middle fifth of a column of
 * pixels to the next, to the left or to the right, inside and outside change, from the first pixel whose middle is not
 * above the higher one of the two points downward. Several polygons are all that any of them has.
 */
#include "dataset/annotation_segment.h"

#include <math.h>
#include <string.h>

/* In a pixel, while a polygon is made: that inside and outside change here. */
enum { INSIDE = 1, CHANGES = 2 };

/* A polygon that is being made, and the part of the mask that changes are in: from `left` to before `right`, ... */
typedef struct outline {
    const mr_image *to;
    uint32_t left, top, right, bottom;
} outline;

static uint8_t *pixel_of(const mr_image *to, uint32_t x, uint32_t y)
{
    return (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride + x;
}

/* The outline passes the column x at this height, in fifths. Where it does so below the image, all above is inside, or
 * is not: as far as the bottom. */
static void change_at(outline *o, uint32_t x, int32_t height)
{
    double y = ceil(((double)height + 0.5) / 5.0 - 0.5);
    uint32_t rows = o->to->height, row = y < 0.0 ? 0 : y < (double)rows ? (uint32_t)y : rows;
    if (row < rows)
        *pixel_of(o->to, x, row) ^= CHANGES;
    o->left = x < o->left ? x : o->left;
    o->right = x + 1 > o->right ? x + 1 : o->right;
    o->top = row < o->top ? row : o->top;
    o->bottom = row > o->bottom ? row : o->bottom;
}

typedef struct edge {
    int32_t x, y;      /* where it begins: the end from which it goes on along its longer side */
    int32_t steps;     /* along that */
    int32_t low, high; /* of x */
    double slope;      /* across */
    bool wide;         /* x is the longer side */
} edge;

/* How far it is across after some steps. */
static int32_t across(const edge *e, int32_t steps)
{
    return (int32_t)((double)(e->wide ? e->y : e->x) + e->slope * steps + 0.5);
}

static edge edge_of(int32_t x, int32_t y, int32_t to_x, int32_t to_y)
{
    int32_t dx = to_x > x ? to_x - x : x - to_x, dy = to_y > y ? to_y - y : y - to_y;
    edge e = {.x = x, .y = y, .wide = dx >= dy, .low = x < to_x ? x : to_x, .high = x < to_x ? to_x : x};
    if (e.wide ? x > to_x : y > to_y) {
        e.x = to_x;
        e.y = to_y;
        to_x = x;
        to_y = y;
    }
    e.steps = e.wide ? dx : dy;
    if (e.steps != 0)
        e.slope = (double)(e.wide ? to_y - e.y : to_x - e.x) / e.steps;
    return e;
}

/* Of a steep edge the last step at which it has not passed from fifth `at` to the next yet, or back. */
static int32_t last_before(const edge *e, int32_t at)
{
    int32_t low = 0, high = e->steps;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        bool passed = e->slope > 0 ? across(e, middle) > at : across(e, middle) <= at;
        if (passed)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static void trace_edge(outline *o, const edge *e)
{
    int64_t first = e->low > 2 ? ((int64_t)e->low - 2 + 4) / 5 : 0;
    for (int64_t x = first; x < o->to->width && 5 * x + 2 < e->high; x++) {
        int32_t at = (int32_t)(5 * x + 2);
        if (e->wide) {
            int32_t a = across(e, at - e->x), b = across(e, at - e->x + 1);
            change_at(o, (uint32_t)x, a < b ? a : b);
        } else {
            change_at(o, (uint32_t)x, e->y + last_before(e, at));
        }
    }
}

/* Everything is outside at the top of a column, and below the last change. */
static void fill_changes(const outline *o)
{
    for (uint32_t y = o->top; y < o->bottom; y++)
        for (uint32_t x = o->left; x < o->right; x++) {
            uint8_t above = y > 0 ? *pixel_of(o->to, x, y - 1) & CHANGES : 0;
            *pixel_of(o->to, x, y) ^= above;
        }
    for (uint32_t y = o->top; y <= o->bottom && y < o->to->height; y++)
        for (uint32_t x = o->left; x < o->right; x++)
            *pixel_of(o->to, x, y) = y < o->bottom ? *pixel_of(o->to, x, y) != 0 : *pixel_of(o->to, x, y) & INSIDE;
}

/* What has fewer than three corners is none. */
static void add_polygon(const mr_image *to, const double *corners, size_t count)
{
    outline o = {.to = to, .left = to->width, .top = to->height};
    for (size_t i = 0; count >= 6 && i < count; i += 2) {
        const double *from = corners + i, *next = corners + (i + 2) % count;
        edge e = edge_of((int32_t)(5.0 * from[0] + 0.5), (int32_t)(5.0 * from[1] + 0.5), (int32_t)(5.0 * next[0] + 0.5),
                         (int32_t)(5.0 * next[1] + 0.5));
        trace_edge(&o, &e);
    }
    fill_changes(&o);
}

static int add_runs(mr_annotation *a, const mr_image *to, size_t object, const double *numbers, size_t count)
{
    uint64_t left = (uint64_t)to->width * to->height;
    uint32_t x = 0, y = 0;
    if (numbers[0] != (double)to->height || numbers[1] != (double)to->width)
        return mr__fail(&a->detail, MR_EARGUMENT,
                        "annotation: the segmentation of object %zu is of an image of %g x %g, and not of %u x %u",
                        object, numbers[1], numbers[0], to->width, to->height);
    for (size_t i = 2; i < count; i++) {
        uint64_t run = (uint64_t)numbers[i];
        if (run > left)
            return mr__fail(&a->detail, MR_ECORRUPT,
                            "annotation: the segmentation of object %zu has more pixels than its %u x %u", object,
                            to->width, to->height);
        for (left -= run; run != 0; run--) {
            *pixel_of(to, x, y) = i % 2 == 1 ? INSIDE : 0;
            x += ++y == to->height;
            y = y == to->height ? 0 : y;
        }
    }
    return 0;
}

int mr_annotation_mask(mr_annotation *a, size_t object, const mr_image *to)
{
    if (a == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&a->detail);
    const mr__object *o = object < a->count ? &((const mr__object *)a->objects.bytes)[object] : NULL;
    if (o == NULL || o->segment_count == 0)
        return mr__fail(&a->detail, MR_EARGUMENT, "annotation: object %zu has no segmentation", object);
    if (!mr_image_is_valid(to) || to->channels != 1 || to->depth != 8)
        return mr__fail(&a->detail, MR_EARGUMENT, "annotation: a mask has one channel of 8 bits");
    const double *numbers = (const double *)a->segments.bytes + o->segment_start;
    for (uint32_t y = 0; y < to->height; y++)
        memset(pixel_of(to, 0, y), 0, to->width);
    if (o->has_runs)
        return add_runs(a, to, object, numbers, o->segment_count);
    for (size_t i = 0; i < o->segment_count; i += 1 + (size_t)numbers[i])
        add_polygon(to, numbers + i + 1, (size_t)numbers[i]);
    return 0;
}
