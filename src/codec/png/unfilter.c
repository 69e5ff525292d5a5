// SPDX-License-Identifier: Apache-2.0
/* The portable kernels, and the choice of kernels. */
#include "codec/png/unfilter.h"
#include "codec/png/unfilter_kernels.h"

static void up_u8_c(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        to[i] = (uint8_t)(from[i] + above[i]);
}

/*
 * The others take the pixel's bytes as a constant, so that each size becomes a loop of its own. `left` and `corner`
 * live in registers: reading them back from `to` would wait for the store.
 */
static inline __attribute__((always_inline)) void sub_row(uint8_t *to, const uint8_t *from, size_t nbytes, size_t pixel)
{
    uint8_t left[MR__PNG_PIXEL_MAX] = {0};
    for (size_t i = 0; i < nbytes; i += pixel)
        for (size_t c = 0; c < pixel; c++)
            to[i + c] = left[c] = (uint8_t)(from[i + c] + left[c]);
}

static inline __attribute__((always_inline)) void average_row(uint8_t *to, const uint8_t *from, const uint8_t *above,
                                                              size_t nbytes, size_t pixel)
{
    uint8_t left[MR__PNG_PIXEL_MAX] = {0};
    for (size_t i = 0; i < nbytes; i += pixel)
        for (size_t c = 0; c < pixel; c++)
            to[i + c] = left[c] = (uint8_t)(from[i + c] + (left[c] + above[i + c]) / 2);
}

static inline int distance(int a, int b)
{
    return a < b ? b - a : a - b;
}

/* Whichever of left, above, corner is nearest to left + above - corner, in that order when equally near. */
static inline int predict(int left, int above, int corner)
{
    int to_left = distance(above, corner);
    int to_above = distance(left, corner);
    int to_corner = distance(left + above, 2 * corner);
    int other = to_above <= to_corner ? above : corner;
    int other_distance = to_above <= to_corner ? to_above : to_corner;
    return to_left <= other_distance ? left : other;
}

static inline __attribute__((always_inline)) void paeth_row(uint8_t *to, const uint8_t *from, const uint8_t *above,
                                                            size_t nbytes, size_t pixel)
{
    uint8_t left[MR__PNG_PIXEL_MAX] = {0}, corner[MR__PNG_PIXEL_MAX] = {0};
    for (size_t i = 0; i < nbytes; i += pixel)
        for (size_t c = 0; c < pixel; c++) {
            to[i + c] = left[c] = (uint8_t)(from[i + c] + predict(left[c], above[i + c], corner[c]));
            corner[c] = above[i + c];
        }
}

static inline __attribute__((always_inline)) void paeth_two_rows(uint8_t *const to[], const uint8_t *const from[],
                                                                 const uint8_t *above, size_t nbytes, size_t pixel)
{
    for (size_t i = 0; i < 2; i++)
        paeth_row(to[i], from[i], i == 0 ? above : to[0], nbytes, pixel);
}

UNFILTER_KERNELS(c, )

void mr__unfilter_init_c(mr__unfilter *table)
{
    *table = (mr__unfilter){0};
    UNFILTER_FILL(table, c);
}

void mr__unfilter_init(mr__unfilter *table, mr__cpu_flags cpu)
{
    mr__unfilter_init_c(table);
#if defined(__x86_64__)
    mr__unfilter_init_x86(table, cpu);
#elif defined(__aarch64__)
    mr__unfilter_init_neon(table, cpu);
#endif
}
