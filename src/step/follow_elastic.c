// SPDX-License-Identifier: Apache-2.0
/*
 * Elastic moves. The result's pixel p is taken from p + d(p), where d is the field. Points go the other way, which
 * torchvision does not look for: a point p goes to p - d(p), with the field of its pixel.
 */
#include "base/size.h"
#include "kernel/elastic_pixel.h"
#include "kernel/grid.h"
#include "step/elastic.h"
#include "step/follow_masks.h"

#include <string.h>

/* Room for a part of the field, `rows` rows of it and as many more bytes; NULL: out of memory. */
static float *reserve(const mr__move *move, mr__follow_room room, mr_rect part, size_t rows, size_t more, void **field)
{
    size_t nbytes = mr__elastic_field_nbytes(&move->u.elastic, part), row_nbytes = (size_t)part.width * sizeof(float);
    nbytes = (nbytes + MR__ALIGN - 1) / MR__ALIGN * MR__ALIGN;
    if (mr__buffer_reserve(room.buffer, room.hooks, nbytes + rows * row_nbytes + more) != 0)
        return NULL;
    *field = room.buffer->bytes;
    return (float *)(room.buffer->bytes + nbytes);
}

static int too_little(const mr__move *move, mr__detail *detail)
{
    return mr__fail(detail, MR_ENOMEM, "out of memory for the elastic field of an image of %u x %u", move->width,
                    move->height);
}

/* The pixel of a place, rounded towards 0. */
static uint32_t pixel_of(float at, uint32_t side)
{
    return at >= (float)side ? side - 1 : at > 0.0f ? (uint32_t)at : 0;
}

static float bend(uint32_t at, uint32_t side, float displaced)
{
    float from = mr__elastic_middle(at, side) - displaced;
    return (from + 1.0f) * (0.5f * (float)side) - 0.5f;
}

/* One point, by a field of one pixel. */
static int bend_point(const mr__move *move, mr__follow_room room, float point[2], mr__detail *detail)
{
    mr__elastic_field field;
    mr_rect pixel = {pixel_of(point[0], move->width), pixel_of(point[1], move->height), 1, 1};
    void *memory;
    float dx, dy;
    if (reserve(move, room, pixel, 0, 0, &memory) == NULL)
        return too_little(move, detail);
    mr__elastic_field_init(&field, &move->u.elastic, move->width, move->height, pixel, room.cpu, memory);
    mr__elastic_field_row(&field, &dx, &dy);
    point[0] = bend(pixel.x, move->width, dx);
    point[1] = bend(pixel.y, move->height, dy);
    return 0;
}

/* All points of a call. */
typedef struct crowd {
    mr__find_point *find;
    void *points;
    size_t count;
    size_t there; /* those of them that are */
    mr_rect part; /* with the pixels of all */
} crowd;

static void look_at(const mr__move *move, crowd *c)
{
    uint32_t left = UINT32_MAX, top = UINT32_MAX, right = 0, bottom = 0;
    for (size_t i = 0; i < c->count; i++) {
        const float *point = c->find(c->points, i);
        if (point == NULL)
            continue;
        uint32_t x = pixel_of(point[0], move->width), y = pixel_of(point[1], move->height);
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
        c->there++;
    }
    if (c->there != 0)
        c->part = (mr_rect){left, top, right - left + 1, bottom - top + 1};
}

/* What a part of the field takes, in additions, about: weights, noise, and blurs across and down. */
static double cost_of(const mr__elastic *elastic, mr_rect part)
{
    uint32_t x = mr__elastic_kernel(elastic, 0), y = mr__elastic_kernel(elastic, 1);
    double kernel = x > y ? x : y, rows = part.height + kernel, columns = part.width + kernel + MR__ELASTIC_GROUP;
    return 80.0 * kernel + 16.0 * rows * columns + 2.0 * kernel * part.width * (rows + part.height);
}

/* Points by rows: heads[y] is the number of one of row y, from 1 on, next[] that of another one; 0: there is none. */
static void sort_in(const mr__move *move, const crowd *c, uint32_t *heads, uint32_t *next)
{
    memset(heads, 0, c->part.height * sizeof *heads);
    for (size_t i = 0; i < c->count; i++) {
        const float *point = c->find(c->points, i);
        if (point == NULL)
            continue;
        uint32_t row = pixel_of(point[1], move->height) - c->part.y;
        next[i] = heads[row];
        heads[row] = (uint32_t)(i + 1);
    }
}

/* All points, by a field of all pixels between them. */
static int bend_all(const mr__move *move, mr__follow_room room, const crowd *c, mr__detail *detail)
{
    mr__elastic_field field;
    mr_rect part = c->part;
    size_t more;
    void *memory;
    if (c->count >= UINT32_MAX || !mr__size_mul(c->count + part.height, sizeof(uint32_t), &more))
        return mr__fail(detail, MR_ELIMIT, "%zu points are more than can be bent", c->count);
    float *dx = reserve(move, room, part, 2, more, &memory);
    if (dx == NULL)
        return too_little(move, detail);
    float *dy = dx + part.width;
    uint32_t *heads = (uint32_t *)(void *)(dy + part.width), *next = heads + part.height;
    sort_in(move, c, heads, next);
    mr__elastic_field_init(&field, &move->u.elastic, move->width, move->height, part, room.cpu, memory);
    for (uint32_t row = 0; row < part.height; row++) {
        mr__elastic_field_row(&field, dx, dy);
        for (uint32_t i = heads[row]; i != 0; i = next[i - 1]) {
            float *point = c->find(c->points, i - 1);
            uint32_t x = pixel_of(point[0], move->width);
            point[0] = bend(x, move->width, dx[x - part.x]);
            point[1] = bend(part.y + row, move->height, dy[x - part.x]);
        }
    }
    return 0;
}

int mr__follow_bend(const mr__move *move, mr__follow_room room, mr__find_point *find, void *points, size_t count,
                    mr__detail *detail)
{
    crowd c = {.find = find, .points = points, .count = count};
    look_at(move, &c);
    if (cost_of(&move->u.elastic, c.part) < (double)c.there * cost_of(&move->u.elastic, (mr_rect){0, 0, 1, 1}))
        return bend_all(move, room, &c, detail);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        float *point = find(points, i);
        if (point != NULL)
            result = bend_point(move, room, point, detail);
    }
    return result;
}

/* One row of the result; `middles` are those of columns. */
static void bend_row(const mr_image *from, uint32_t y, const float *middles, const float *dx, const float *dy,
                     uint8_t *to)
{
    size_t nbytes = mr_image_pixel_nbytes(from);
    float middle = mr__elastic_middle(y, from->height);
    for (uint32_t x = 0; x < from->width; x++, to += nbytes) {
        int32_t column = mr__grid_pixel(middles[x] + dx[x], (float)from->width * 0.5f, (int32_t)from->width);
        int32_t row = mr__grid_pixel(middle + dy[x], (float)from->height * 0.5f, (int32_t)from->height);
        if (column < 0 || row < 0)
            memset(to, 0, nbytes);
        else
            memcpy(to, (const uint8_t *)from->pixels + (ptrdiff_t)row * from->stride + (size_t)column * nbytes, nbytes);
    }
}

int mr__follow_bend_mask(mr__mask_run *run, const mr__move *move, const mr_image *to)
{
    mr__elastic_field field;
    mr_rect all = {0, 0, move->width, move->height};
    void *memory;
    float *dx = reserve(move, run->room, all, 3, 0, &memory);
    if (dx == NULL)
        return too_little(move, run->detail);
    float *dy = dx + all.width, *middles = dy + all.width;
    for (uint32_t x = 0; x < all.width; x++)
        middles[x] = mr__elastic_middle(x, all.width);
    mr__elastic_field_init(&field, &move->u.elastic, move->width, move->height, all, run->cpu, memory);
    for (uint32_t y = 0; y < to->height; y++) {
        mr__elastic_field_row(&field, dx, dy);
        bend_row(&run->from, y, middles, dx, dy, (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride);
    }
    return 0;
}
