// SPDX-License-Identifier: Apache-2.0
#include "kernel/filter.h"

#include "kernel/filter_pixel.h"

void mr__sharpen_row_c(const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t step, size_t n,
                       float factor, uint8_t *to)
{
    above -= step;
    row -= step;
    below -= step;
    for (size_t i = 0; i < n; i++) {
        size_t j = i + step, k = j + step;
        int32_t sum = above[i] + above[j] + above[k] + row[i] + row[j] + row[k] + below[i] + below[j] + below[k];
        to[i] = mr__sharpened(mr__smooth(sum, row[j]), row[j], factor);
    }
}

/* So many sums side by side are kept at hand while the rows go by. */
enum { GROUP = 32 };

void mr__blur_down_u8_c(const uint8_t *const *rows, const float *weight, size_t radius, size_t n, float *to)
{
    float sum[GROUP];
    for (size_t i = 0; i < n; i += GROUP) {
        size_t m = n - i < GROUP ? n - i : GROUP;
        for (size_t x = 0; x < m; x++)
            sum[x] = weight[0] * (float)rows[radius][i + x];
        for (size_t j = 1; j <= radius; j++) {
            const uint8_t *above = rows[radius - j] + i, *below = rows[radius + j] + i;
            for (size_t x = 0; x < m; x++)
                sum[x] += weight[j] * (float)(above[x] + below[x]);
        }
        for (size_t x = 0; x < m; x++)
            to[i + x] = sum[x];
    }
}

void mr__blur_down_f32_c(const float *const *rows, const float *weight, size_t radius, size_t n, float *to)
{
    float sum[GROUP];
    for (size_t i = 0; i < n; i += GROUP) {
        size_t m = n - i < GROUP ? n - i : GROUP;
        for (size_t x = 0; x < m; x++)
            sum[x] = weight[0] * rows[radius][i + x];
        for (size_t j = 1; j <= radius; j++) {
            const float *above = rows[radius - j] + i, *below = rows[radius + j] + i;
            for (size_t x = 0; x < m; x++)
                sum[x] += weight[j] * (above[x] + below[x]);
        }
        for (size_t x = 0; x < m; x++)
            to[i + x] = sum[x];
    }
}

/* The first `m` of a row, at most GROUP. */
static inline void sum_across(const float *row, size_t step, const float *weight, size_t radius, size_t m, float *sum)
{
    for (size_t x = 0; x < m; x++)
        sum[x] = weight[0] * row[x];
    for (size_t j = 1; j <= radius; j++) {
        const float *left = row - j * step, *right = row + j * step;
        for (size_t x = 0; x < m; x++)
            sum[x] += weight[j] * (left[x] + right[x]);
    }
}

void mr__blur_across_u8_c(const float *row, size_t step, const float *weight, size_t radius, size_t n, uint8_t *to)
{
    float sum[GROUP];
    for (size_t i = 0; i < n; i += GROUP) {
        size_t m = n - i < GROUP ? n - i : GROUP;
        sum_across(row + i, step, weight, radius, m, sum);
        for (size_t x = 0; x < m; x++)
            to[i + x] = mr__rounded_u8(sum[x]);
    }
}

void mr__blur_across_f32_c(const float *row, size_t step, const float *weight, size_t radius, size_t n, float *to)
{
    for (size_t i = 0; i < n; i += GROUP)
        sum_across(row + i, step, weight, radius, n - i < GROUP ? n - i : GROUP, to + i);
}

void mr__filters_init(mr__filters *filters, mr__cpu_flags cpu)
{
    *filters = (mr__filters){mr__sharpen_row_c, mr__blur_down_u8_c, mr__blur_down_f32_c, mr__blur_across_u8_c,
                             mr__blur_across_f32_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__filters_init_avx2(filters, cpu);
#elif defined(__aarch64__)
    mr__filters_init_neon(filters, cpu);
#endif
}
