// SPDX-License-Identifier: Apache-2.0
#include "kernel/elastic.h"

#include "base/rng.h"
#include "kernel/elastic_pixel.h"

void mr__elastic_noise_row_c(const uint32_t key[2], uint32_t y, uint32_t group, size_t groups, float *dx, float *dy)
{
    for (size_t g = 0; g < groups; g++, dx += MR__ELASTIC_GROUP, dy += MR__ELASTIC_GROUP)
        for (uint32_t lane = 0; lane < 8; lane++) {
            uint32_t counter[4] = {8 * (group + (uint32_t)g) + lane, y, 0, 0}, words[4];
            mr__philox(counter, key, words);
            for (size_t i = 0; i < 4; i++) {
                dx[8 * i + lane] = mr__elastic_noise(words[i] & 0xffffu);
                dy[8 * i + lane] = mr__elastic_noise(words[i] >> 16);
            }
        }
}

void mr__elastic_scale_row_c(float *row, size_t n, float alpha, float side)
{
    for (size_t i = 0; i < n; i++)
        row[i] = mr__elastic_scaled(row[i], alpha, side);
}

void mr__elastic_place_row_c(const float *middle, size_t apart, const float *displaced, size_t n, float half, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = mr__elastic_place(middle[i * apart], displaced[i], half);
}

static bool is_inside(const mr__elastic_view *view, int32_t x, int32_t y)
{
    return x >= 0 && x < view->width && y >= 0 && y < view->height;
}

static const uint8_t *pixel_at(const mr__elastic_view *view, int32_t x, int32_t y)
{
    return view->pixels + (ptrdiff_t)(y - view->y) * view->stride + (ptrdiff_t)(x - view->x) * view->channels;
}

void mr__elastic_nearest_c(const mr__elastic_view *view, const float *x, const float *y, size_t n, uint8_t *to)
{
    size_t channels = view->channels;
    for (size_t i = 0; i < n; i++, to += channels) {
        int32_t at_x = mr__elastic_next_to(x[i]), at_y = mr__elastic_next_to(y[i]);
        const uint8_t *from = is_inside(view, at_x, at_y) ? pixel_at(view, at_x, at_y) : view->fill;
        for (size_t c = 0; c < channels; c++)
            to[c] = from[c];
    }
}

static void look_bilinear(const mr__elastic_view *view, float x, float y, uint8_t *to)
{
    int32_t left = mr__elastic_floor(x), top = mr__elastic_floor(y);
    float weight[4], sum[4] = {0.0f, 0.0f, 0.0f, 0.0f}; /* the last one is of the weights */
    mr__elastic_linear(x - (float)left, y - (float)top, weight);
    for (int32_t i = 0; i < 4; i++) {
        int32_t at_x = left + i % 2, at_y = top + i / 2;
        if (!is_inside(view, at_x, at_y))
            continue;
        const uint8_t *from = pixel_at(view, at_x, at_y);
        for (size_t c = 0; c < view->channels; c++)
            sum[c] += (float)from[c] * weight[i];
        sum[3] += weight[i];
    }
    for (size_t c = 0; c < view->channels; c++)
        to[c] = mr__elastic_filled(sum[c], sum[3], view->fill[c]);
}

void mr__elastic_bilinear_c(const mr__elastic_view *view, const float *x, const float *y, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++)
        look_bilinear(view, x[i], y[i], to + i * view->channels);
}

/* Of one row of four pixels. */
static void add_cubic_row(const mr__elastic_view *view, int32_t left, int32_t y, const float weight[4], float sum[4])
{
    for (int32_t j = 0; j < 4; j++) {
        if (!is_inside(view, left + j, y))
            continue;
        const uint8_t *from = pixel_at(view, left + j, y);
        for (size_t c = 0; c < view->channels; c++)
            sum[c] += (float)from[c] * weight[j];
        sum[3] += weight[j];
    }
}

/* Sums that leave 0 to 255 are clipped; torchvision leaves them to what a conversion makes of them. */
void mr__elastic_bicubic_c(const mr__elastic_view *view, const float *x, const float *y, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++, to += view->channels) {
        int32_t left = mr__elastic_floor(x[i]), top = mr__elastic_floor(y[i]);
        float across[4], down[4], sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        mr__elastic_cubic(x[i] - (float)left, across);
        mr__elastic_cubic(y[i] - (float)top, down);
        for (int32_t j = 0; j < 4; j++) {
            float row[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            add_cubic_row(view, left - 1, top - 1 + j, across, row);
            for (size_t c = 0; c < 4; c++)
                sum[c] += row[c] * down[j];
        }
        for (size_t c = 0; c < view->channels; c++)
            to[c] = mr__elastic_filled(sum[c], sum[3], view->fill[c]);
    }
}

void mr__elastics_init(mr__elastics *elastics, mr__cpu_flags cpu)
{
    *elastics = (mr__elastics){mr__elastic_noise_row_c, mr__elastic_scale_row_c, mr__elastic_place_row_c,
                               mr__elastic_nearest_c,   mr__elastic_bilinear_c,  mr__elastic_bicubic_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__elastics_init_avx2(elastics, cpu);
#endif
}
