// SPDX-License-Identifier: Apache-2.0
/*
 * Filters over rows: sharpness, and blurs with a symmetric kernel, first down, then across.
 *
 * A blur has weights in float: weight[0] of the middle, weight[j] of the two that are j away. Sums are made in one
 * order, each operation rounded:
 *
 *     weight[0] v[0] + weight[1] (v[-1] + v[1]) + weight[2] (v[-2] + v[2]) + ...    from the left to the right
 *
 * so that the portable kernels and all others give the same bits.
 */
#ifndef MR_KERNEL_FILTER_H
#define MR_KERNEL_FILTER_H

#include "cpu/cpu.h"

/* `n` samples, whose neighbours are `step` samples away and are all there. */
typedef void mr__sharpen_row(const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t step, size_t n,
                             float factor, uint8_t *to);

/* Down: rows[radius] is the one in the middle. */
typedef void mr__blur_down_u8(const uint8_t *const *rows, const float *weight, size_t radius, size_t n, float *to);
typedef void mr__blur_down_f32(const float *const *rows, const float *weight, size_t radius, size_t n, float *to);

/* Across: neighbours are `step` numbers away; radius * step of them are there before the row and behind it. */
typedef void mr__blur_across_u8(const float *row, size_t step, const float *weight, size_t radius, size_t n,
                                uint8_t *to);
typedef void mr__blur_across_f32(const float *row, size_t step, const float *weight, size_t radius, size_t n,
                                 float *to);

typedef struct mr__filters {
    mr__sharpen_row *sharpen;
    mr__blur_down_u8 *down_u8;
    mr__blur_down_f32 *down_f32;
    mr__blur_across_u8 *across_u8;
    mr__blur_across_f32 *across_f32;
} mr__filters;

void mr__filters_init(mr__filters *filters, mr__cpu_flags cpu);
void mr__filters_init_avx2(mr__filters *filters, mr__cpu_flags cpu);
void mr__filters_init_neon(mr__filters *filters, mr__cpu_flags cpu);

/* The portable ones: others leave to them what is too short. */
mr__sharpen_row mr__sharpen_row_c;
mr__blur_down_u8 mr__blur_down_u8_c;
mr__blur_down_f32 mr__blur_down_f32_c;
mr__blur_across_u8 mr__blur_across_u8_c;
mr__blur_across_f32 mr__blur_across_f32_c;

#endif
