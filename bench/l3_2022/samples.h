// SPDX-License-Identifier: Apache-2.0
/* Images that `l3-2022` is checked with: each has something that broke an implementation of it. */
#ifndef BENCH_L3_2022_SAMPLES_H
#define BENCH_L3_2022_SAMPLES_H

#include <millrace/image.h>

typedef enum l3_2022_content {
    L3_2022_CONSTANT,
    L3_2022_CONSTANT_ROWS, /* a width of 0 */
    L3_2022_GRADIENT,
    L3_2022_NOISE, /* a width of 8 */
    L3_2022_EXTREMES,
    L3_2022_ZEROS_AMONG, /* neighbours that the prediction looks at twice */
    L3_2022_CONTENTS
} l3_2022_content;

/* The next number of a sequence. */
uint32_t l3_2022_random(uint64_t *state);

/* RGB of 8 bits, without gaps. */
void l3_2022_fill(const mr_image *image, l3_2022_content what, uint64_t seed);

#endif
