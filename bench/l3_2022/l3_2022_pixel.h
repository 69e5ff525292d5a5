// SPDX-License-Identifier: Apache-2.0
/* The prediction of `l3-2022`, in the C that kernels are written in (kernel/lane/lane.h). */
#ifndef BENCH_L3_2022_PIXEL_H
#define BENCH_L3_2022_PIXEL_H

#include <stdint.h>

static inline int l3_2022_choose(int first, int a, int b)
{
    return b ^ ((a ^ b) & -first);
}

static inline uint8_t l3_2022_predict(int a, int b, int c)
{
    int p = a + c - b;
    int to_a = p > a ? p - a : a - p, to_b = p > b ? p - b : b - p, to_c = p > c ? p - c : c - p;
    // Which neighbour it is depends on noise: chosen without branches, which would be guessed wrong.
    int without_a = l3_2022_choose(to_b <= to_c, b, c), without_c = l3_2022_choose(to_a <= to_b, a, b);
    int of_all = l3_2022_choose((to_a <= to_b) & (to_a <= to_c), a, l3_2022_choose(to_a <= to_c, b, c));
    return (uint8_t)l3_2022_choose(a == 0, without_a, l3_2022_choose(c == 0, without_c, of_all));
}

#endif
