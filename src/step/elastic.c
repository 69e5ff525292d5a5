// SPDX-License-Identifier: Apache-2.0
#include "step/elastic.h"

#include "kernel/elastic_pixel.h"
#include "step/gauss.h"
#include "step/op_blur.h"

uint32_t mr__elastic_kernel(const mr__elastic *elastic, size_t axis)
{
    return (uint32_t)(8.0 * elastic->sigma[axis] + 1.0) | 1u;
}

/* Of both kernels, before it is known how much of them can be seen. */
static size_t radius_of(const mr__elastic *elastic)
{
    uint32_t x = mr__elastic_kernel(elastic, 0), y = mr__elastic_kernel(elastic, 1);
    return (x > y ? x : y) / 2;
}

/* In floats, each a multiple of 16. */
typedef struct sizes {
    size_t weights, noise, ring, rows;
} sizes;

static size_t round_up(size_t n)
{
    return (n + 15) / 16 * 16;
}

static sizes sizes_of(size_t radius, uint32_t width)
{
    size_t rows = 2 * radius + 1;
    return (sizes){
        .weights = round_up(radius + 1),
        .noise = round_up(4 * radius + width + 2 * MR__ELASTIC_GROUP),
        .ring = round_up(rows * width),
        .rows = round_up((rows * sizeof(float *) + sizeof(float) - 1) / sizeof(float)),
    };
}

size_t mr__elastic_field_nbytes(const mr__elastic *elastic, mr_rect part)
{
    sizes s = sizes_of(radius_of(elastic), part.width);
    return (4 * s.weights + 2 * s.noise + 2 * s.ring + s.rows) * sizeof(float);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void mr__elastic_field_init(mr__elastic_field *field, const mr__elastic *elastic, uint32_t width, uint32_t height,
                            mr_rect part, mr__cpu_flags cpu, void *memory)
{
    sizes s = sizes_of(radius_of(elastic), part.width);
    float *at = memory;
    *field = (mr__elastic_field){.elastic = *elastic, .width = width, .height = height, .part = part};
    mr__filters_init(&field->filters, cpu);
    mr__elastics_init(&field->elastics, cpu);
    for (size_t i = 0; i < 2; i++) {
        uint32_t kernel = mr__elastic_kernel(elastic, i);
        field->across[i] = at;
        field->down[i] = at + s.weights;
        field->noise[i] = at + 2 * s.weights;
        field->ring[i] = at + 2 * s.weights + s.noise;
        at += 2 * s.weights + s.noise + s.ring;
        field->across_radius[i] = mr__gauss_weights(kernel, elastic->sigma[0], field->across[i]);
        field->down_radius[i] = mr__gauss_weights(kernel, elastic->sigma[1], field->down[i]);
        field->radius = larger(field->radius, larger(field->across_radius[i], field->down_radius[i]));
    }
    field->rows = (void *)at;
    mr_rect grown = mr__rect_grown(part, (uint32_t)field->radius, (uint32_t)field->radius, width, height);
    field->group = grown.x / MR__ELASTIC_GROUP;
    field->groups = (grown.x + grown.width + MR__ELASTIC_GROUP - 1) / MR__ELASTIC_GROUP - field->group;
    field->next = grown.y;
    field->y = part.y;
}

/* Noise of a row, mirrored at the image's sides, blurred across. */
static void make_row(mr__elastic_field *field, uint32_t y)
{
    size_t rows = 2 * field->radius + 1, n = field->part.width;
    int32_t radius = (int32_t)field->radius, first = (int32_t)(field->group * MR__ELASTIC_GROUP);
    int32_t x = (int32_t)field->part.x, width = (int32_t)field->width;
    field->elastics.noise(field->elastic.key, y, field->group, field->groups, field->noise[0] + radius,
                          field->noise[1] + radius);
    for (size_t i = 0; i < 2; i++) {
        float *noise = field->noise[i] + radius;
        for (int32_t at = x - radius; at < 0; at++)
            noise[at] = noise[-at];
        for (int32_t at = width; at < x + (int32_t)n + radius; at++)
            noise[at - first] = noise[mr__mirrored(at, width) - first];
        field->filters.across_f32(noise + x - first, 1, field->across[i], field->across_radius[i], n,
                                  field->ring[i] + y % rows * n);
    }
}

static void blur_down(mr__elastic_field *field, size_t axis, float *to)
{
    size_t rows = 2 * field->radius + 1, n = field->part.width, radius = field->down_radius[axis];
    for (size_t i = 0; i <= 2 * radius; i++) {
        int32_t at = (int32_t)field->y + (int32_t)i - (int32_t)radius;
        field->rows[i] = field->ring[axis] + (size_t)mr__mirrored(at, (int32_t)field->height) % rows * n;
    }
    field->filters.down_f32(field->rows, field->down[axis], radius, n, to);
}

void mr__elastic_field_row(mr__elastic_field *field, float *dx, float *dy)
{
    size_t n = field->part.width;
    for (; field->next < field->height && field->next <= field->y + field->radius; field->next++)
        make_row(field, field->next);
    blur_down(field, 0, dx);
    blur_down(field, 1, dy);
    field->elastics.scale(dx, n, (float)field->elastic.alpha[0], (float)field->width);
    field->elastics.scale(dy, n, (float)field->elastic.alpha[1], (float)field->height);
    field->y++;
}
