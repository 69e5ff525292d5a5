// SPDX-License-Identifier: Apache-2.0
/*
 * Eight sums side by side, of neighbouring bytes times a weight: what a processor that runs OpenCL has vectors for,
 * which its compiler does not find by itself in a kernel's loops. On a GPU they are eight plain numbers.
 */
#ifndef MR_KERNEL_EIGHT_H
#define MR_KERNEL_EIGHT_H

#include "kernel/language.h"

#if defined(__OPENCL_VERSION__)

typedef int8 mr__eight;

MR_INLINE void mr__eight_set(mr__eight *sum, int32_t n)
{
    *sum = (int8)(n);
}

MR_INLINE void mr__eight_add(mr__eight *sum, int32_t weight, MR_GLOBAL const uint8_t *at)
{
    *sum += weight * convert_int8(vload8(0, at));
}

/* Without the lowest bits, and within 0 to 255; ends are vectors too, since Oclgrind takes no plain number for one. */
MR_INLINE void mr__eight_bytes(const mr__eight *sum, uint32_t bits, uint8_t to[8])
{
    vstore8(convert_uchar8(clamp(*sum >> (int8)(bits), (int8)(0), (int8)(255))), 0, to);
}

#else

typedef struct mr__eight {
    int32_t v[8];
} mr__eight;

MR_INLINE void mr__eight_set(mr__eight *sum, int32_t n)
{
    for (uint32_t i = 0; i < 8; i++)
        sum->v[i] = n;
}

MR_INLINE void mr__eight_add(mr__eight *sum, int32_t weight, MR_GLOBAL const uint8_t *at)
{
    for (uint32_t i = 0; i < 8; i++)
        sum->v[i] += weight * (int32_t)at[i];
}

MR_INLINE void mr__eight_bytes(const mr__eight *sum, uint32_t bits, uint8_t to[8])
{
    for (uint32_t i = 0; i < 8; i++) {
        int32_t value = sum->v[i] >> bits;
        to[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

#endif

#endif
