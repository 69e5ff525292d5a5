// SPDX-License-Identifier: Apache-2.0
#include "kernel/warp.h"

#include <string.h>

void mr__warp_place_affine_c(const double c[8], uint32_t x, uint32_t y, size_t n, double *xs, double *ys)
{
    double down = (double)y + 0.5;
    for (size_t i = 0; i < n; i++) {
        double along = (double)(x + (uint32_t)i) + 0.5;
        xs[i] = mr__warp_line(c[0], c[1], c[2], along, down);
        ys[i] = mr__warp_line(c[3], c[4], c[5], along, down);
    }
}

void mr__warp_place_perspective_c(const double c[8], uint32_t x, uint32_t y, size_t n, double *xs, double *ys)
{
    double down = (double)y + 0.5;
    for (size_t i = 0; i < n; i++) {
        double along = (double)(x + (uint32_t)i) + 0.5;
        double depth = mr__warp_line(c[6], c[7], 1.0, along, down);
        xs[i] = mr__warp_line(c[0], c[1], c[2], along, down) / depth;
        ys[i] = mr__warp_line(c[3], c[4], c[5], along, down) / depth;
    }
}

static void put(uint8_t *to, const uint8_t *pixel, uint32_t channels)
{
    for (uint32_t c = 0; c < channels; c++)
        to[c] = pixel[c];
}

void mr__warp_nearest_c(const mr__warp_view *from, const double *xs, const double *ys, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++, to += from->channels) {
        if (!mr__warp_inside(xs[i], ys[i], from->whole_width, from->whole_height)) {
            put(to, from->fill, from->channels);
            continue;
        }
        int32_t x = mr__warp_clamp((int32_t)xs[i], from->x, from->width);
        int32_t y = mr__warp_clamp((int32_t)ys[i], from->y, from->height);
        put(to, from->pixels + y * from->stride + (ptrdiff_t)x * from->channels, from->channels);
    }
}

static const uint8_t *row_of(const mr__warp_view *from, int32_t y)
{
    return from->pixels + mr__warp_clamp(y, from->y, from->height) * from->stride;
}

static size_t column_of(const mr__warp_view *from, int32_t x)
{
    return (size_t)mr__warp_clamp(x, from->x, from->width) * from->channels;
}

void mr__warp_bilinear_c(const mr__warp_view *from, const double *xs, const double *ys, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++, to += from->channels) {
        if (!mr__warp_inside(xs[i], ys[i], from->whole_width, from->whole_height)) {
            put(to, from->fill, from->channels);
            continue;
        }
        mr__warp_spot s = mr__warp_spot_of(xs[i], ys[i]);
        const uint8_t *upper = row_of(from, s.y), *lower = row_of(from, s.y + 1);
        size_t left = column_of(from, s.x), right = column_of(from, s.x + 1);
        for (uint32_t c = 0; c < from->channels; c++) {
            double above = mr__warp_lerp(upper[left + c], upper[right + c], s.dx);
            double below = mr__warp_lerp(lower[left + c], lower[right + c], s.dx);
            to[c] = mr__warp_byte(mr__warp_lerp(above, below, s.dy));
        }
    }
}

static uint8_t cubic_of(const uint8_t *const rows[4], const size_t columns[4], uint32_t c, mr__warp_spot s)
{
    double v[4];
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *row = rows[i] + c;
        v[i] = mr__warp_cubic(row[columns[0]], row[columns[1]], row[columns[2]], row[columns[3]], s.dx);
    }
    return mr__warp_byte(mr__warp_cubic(v[0], v[1], v[2], v[3], s.dy));
}

void mr__warp_bicubic_c(const mr__warp_view *from, const double *xs, const double *ys, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++, to += from->channels) {
        if (!mr__warp_inside(xs[i], ys[i], from->whole_width, from->whole_height)) {
            put(to, from->fill, from->channels);
            continue;
        }
        mr__warp_spot s = mr__warp_spot_of(xs[i], ys[i]);
        const uint8_t *rows[4];
        size_t columns[4];
        for (int32_t k = 0; k < 4; k++) {
            rows[k] = row_of(from, s.y - 1 + k);
            columns[k] = column_of(from, s.x - 1 + k);
        }
        for (uint32_t c = 0; c < from->channels; c++)
            to[c] = cubic_of(rows, columns, c, s);
    }
}

void mr__warp_walk_1_c(const mr__warp_view *from, mr__warp_walk_of walk, size_t n, uint8_t *to)
{
    int64_t x = walk.x, y = walk.y;
    for (size_t i = 0; i < n; i++, x += walk.step_x, y += walk.step_y)
        to[i] = from->pixels[(y >> 16) * from->stride + (x >> 16)];
}

void mr__warp_walk_3_c(const mr__warp_view *from, mr__warp_walk_of walk, size_t n, uint8_t *to)
{
    int64_t x = walk.x, y = walk.y;
    for (size_t i = 0; i < n; i++, x += walk.step_x, y += walk.step_y)
        memcpy(to + 3 * i, from->pixels + (y >> 16) * from->stride + (x >> 16) * 3, 3);
}

void mr__warp_seen_c(const mr__warp_view *from, const double c[8], uint32_t x, uint32_t y, size_t n, uint8_t *to)
{
    enum { SOME = 64 };
    double xs[SOME], ys[SOME];
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < SOME ? n - i : SOME;
        mr__warp_place_perspective_c(c, x + (uint32_t)i, y, some, xs, ys);
        mr__warp_nearest_c(from, xs, ys, some, to + i * from->channels);
    }
}

void mr__warp_kernels_init(mr__warp_kernels *kernels, mr__cpu_flags cpu)
{
    *kernels = (mr__warp_kernels){
        .place_affine = mr__warp_place_affine_c,
        .place_perspective = mr__warp_place_perspective_c,
        .sample = {{mr__warp_nearest_c, mr__warp_nearest_c},
                   {mr__warp_bilinear_c, mr__warp_bilinear_c},
                   {mr__warp_bicubic_c, mr__warp_bicubic_c}},
        .walk = {mr__warp_walk_1_c, mr__warp_walk_3_c},
        .seen = {mr__warp_seen_c, mr__warp_seen_c},
    };
    (void)cpu;
#if defined(__x86_64__)
    mr__warp_kernels_init_avx2(kernels, cpu);
#endif
}
