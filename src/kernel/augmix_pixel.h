// SPDX-License-Identifier: Apache-2.0
/* The formula of augmix (kernel/augmix.h), in what C, OpenCL C and CUDA C have in common. Without contraction. */
#ifndef MR_KERNEL_AUGMIX_PIXEL_H
#define MR_KERNEL_AUGMIX_PIXEL_H

#include "kernel/language.h"

MR_INLINE float mr__augmix_part(uint8_t sample, float weight)
{
    return weight * (float)sample;
}

MR_INLINE uint8_t mr__augmix_whole(float sum)
{
    return (uint8_t)(int32_t)sum;
}

#endif
