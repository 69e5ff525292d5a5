// SPDX-License-Identifier: Apache-2.0
/*
 * Elastic, pixel by pixel, in what C, OpenCL C and CUDA C have in common: torch's grid_sample without aligned corners,
 * zeros outside, and torchvision's fill, which is mixed in by how much of the pixel's weights lies inside. Without
 * contraction.
 */
#ifndef MR_KERNEL_ELASTIC_PIXEL_H
#define MR_KERNEL_ELASTIC_PIXEL_H

#include "kernel/filter_pixel.h"

/*
 * Noise by place. Row y has groups of 32 pixels; a group is eight blocks of Philox, whose counter is {block, y, 0, 0}:
 * pixel x has word x / 8 % 4 of block x / 32 * 8 + x % 8, of which the low half is along x, the high one along y. (So
 * that eight blocks side by side give words in the order of pixels.)
 */
#define MR__ELASTIC_GROUP 32

/* Of 16 bits: 2^16 numbers from -1 to 1, which are as far apart, and the mean of which is 0. */
MR_INLINE float mr__elastic_noise(uint32_t bits)
{
    return ((float)(int32_t)bits - 32767.5f) * 0x1p-15f;
}

/* What is blurred, times alpha, then divided by the side. */
MR_INLINE float mr__elastic_scaled(float blurred, float alpha, float side)
{
    return blurred * alpha / side;
}

/* In pixels from the middle of one (mr__elastic_middle) and what it is displaced by; half a side. */
MR_INLINE float mr__elastic_place(float middle, float displaced, float half_side)
{
    float at = middle + displaced;
    float moved = (at + 1.0f) * half_side;
    return moved - 0.5f;
}

/* The largest whole number not above; of numbers from -2^30 to 2^30. */
MR_INLINE int32_t mr__elastic_floor(float value)
{
    int32_t whole = (int32_t)value;
    return (float)whole > value ? whole - 1 : whole;
}

/* The whole number next to a place, of two the even one. */
MR_INLINE int32_t mr__elastic_next_to(float place)
{
    int32_t below = mr__elastic_floor(place);
    float rest = place - (float)below;
    return below + (rest > 0.5f || (rest == 0.5f && below % 2 != 0) ? 1 : 0);
}

/* The weights of the four around, by rows: how far it is from the left ones, from the upper ones. */
MR_INLINE void mr__elastic_linear(float right_part, float lower_part, float weight[4])
{
    float left_part = 1.0f - right_part, upper_part = 1.0f - lower_part;
    weight[0] = left_part * upper_part;
    weight[1] = right_part * upper_part;
    weight[2] = left_part * lower_part;
    weight[3] = right_part * lower_part;
}

/* The weights of the four around, cubic with a = -3/4; t is how far it is from the second. */
MR_INLINE void mr__elastic_cubic(float t, float weight[4])
{
    const float a = -0.75f;
    float far = t + 1.0f, back = 1.0f - t, next = 2.0f - t;
    weight[0] = ((a * far - 5.0f * a) * far + 8.0f * a) * far - 4.0f * a;
    weight[1] = ((a + 2.0f) * t - (a + 3.0f)) * t * t + 1.0f;
    weight[2] = ((a + 2.0f) * back - (a + 3.0f)) * back * back + 1.0f;
    weight[3] = ((a * next - 5.0f * a) * next + 8.0f * a) * next - 4.0f * a;
}

/* A sum of samples, and of the weights of those that are inside. */
MR_INLINE uint8_t mr__elastic_filled(float sum, float inside, float fill)
{
    float above = (sum - fill) * inside;
    return mr__rounded_u8(above + fill);
}

#endif
