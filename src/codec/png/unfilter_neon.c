// SPDX-License-Identifier: Apache-2.0
/*
 * NEON, which every aarch64 has. The arrangement is that of unfilter_x86.c, where the reasons stand.
 *
 * Invariant: a pixel of 3 (or 6) bytes is moved as 4 (or 8) wherever a whole pixel follows in the row; the bytes too
 * many are written again with that pixel. The row's last pixel is moved with its exact size.
 */
#if defined(__aarch64__)

#include "codec/png/unfilter.h"
#include "codec/png/unfilter_kernels.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE uint8x8_t load(const uint8_t *from, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, from, size);
    return vcreate_u8(bits);
}

INLINE void store(uint8_t *to, uint8x8_t pixel, size_t size)
{
    uint64_t bits = vget_lane_u64(vreinterpret_u64_u8(pixel), 0);
    memcpy(to, &bits, size);
}

INLINE size_t roomy(size_t pixel)
{
    return pixel == 3 ? 4 : pixel == 6 ? 8 : pixel;
}

static void up_u8_neon(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes)
{
    size_t i = 0;
    for (; nbytes - i >= 16; i += 16)
        vst1q_u8(to + i, vaddq_u8(vld1q_u8(from + i), vld1q_u8(above + i)));
    for (; i < nbytes; i++)
        to[i] = (uint8_t)(from[i] + above[i]);
}

INLINE void sub_row(uint8_t *to, const uint8_t *from, size_t nbytes, size_t pixel)
{
    size_t size = roomy(pixel), i = 0;
    uint8x8_t left = vdup_n_u8(0);
    for (; i < nbytes - pixel; i += pixel) {
        left = vadd_u8(left, load(from + i, size));
        store(to + i, left, size);
    }
    store(to + i, vadd_u8(left, load(from + i, pixel)), pixel);
}

/* vhadd rounds down, as PNG does. */
INLINE void average_row(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes, size_t pixel)
{
    size_t size = roomy(pixel), i = 0;
    uint8x8_t left = vdup_n_u8(0);
    for (; i < nbytes - pixel; i += pixel) {
        left = vadd_u8(load(from + i, size), vhadd_u8(left, load(above + i, size)));
        store(to + i, left, size);
    }
    store(to + i, vadd_u8(load(from + i, pixel), vhadd_u8(left, load(above + i, pixel))), pixel);
}

/* Distances to a and b fit bytes; the one to c is |a + b - 2c|, of 9 bits, and is cut to 255, which no other exceeds.
 */
INLINE uint8x8_t paeth_pixel(uint8x8_t x, uint8x8_t a, uint8x8_t b, uint8x8_t c)
{
    uint8x8_t to_a = vabd_u8(b, c), to_b = vabd_u8(a, c);
    uint8x8_t to_c = vqmovn_u16(vabdq_u16(vaddl_u8(a, b), vaddl_u8(c, c)));
    uint8x8_t b_or_c = vbsl_u8(vcgt_u8(to_b, to_c), vadd_u8(x, c), vadd_u8(x, b));
    return vbsl_u8(vcgt_u8(to_a, vmin_u8(to_b, to_c)), b_or_c, vadd_u8(x, a));
}

INLINE void paeth_row(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes, size_t pixel)
{
    size_t size = roomy(pixel), i = 0;
    uint8x8_t a = vdup_n_u8(0), c = a;
    for (; i < nbytes - pixel; i += pixel) {
        uint8x8_t b = load(above + i, size);
        a = paeth_pixel(load(from + i, size), a, b, c);
        c = b;
        store(to + i, a, size);
    }
    store(to + i, paeth_pixel(load(from + i, pixel), a, load(above + i, pixel), c), pixel);
}

/* Two rows side by side, for pixels of up to 4 bytes: the lower row two pixels behind, in the upper half. */
typedef struct pair {
    uint8x8_t a;      /* the last results, of both rows */
    uint8x8_t before; /* the ones before these: their lower half is what lies above the lower row's next pixel */
    uint8x8_t c;
} pair;

INLINE uint8x8_t join(uint8x8_t low, uint8x8_t high)
{
    return vreinterpret_u8_u32(vzip1_u32(vreinterpret_u32_u8(low), vreinterpret_u32_u8(high)));
}

/* `upper` and `lower` are the sizes to move each row's pixel as; 0 where the row has none (yet, or any more). */
INLINE void pair_step(pair *p, uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t i,
                      size_t pixel, size_t upper, size_t lower)
{
    size_t j = i - 2 * pixel;
    uint8x8_t none = vdup_n_u8(0);
    uint8x8_t x = upper != 0 ? load(from[0] + i, upper) : none, b = upper != 0 ? load(above + i, upper) : none;
    x = join(x, lower != 0 ? load(from[1] + j, lower) : none);
    b = join(b, p->before);
    uint8x8_t a = paeth_pixel(x, p->a, b, p->c);
    p->before = p->a;
    p->a = a;
    p->c = b;
    if (upper != 0)
        store(to[0] + i, a, upper);
    if (lower != 0)
        store(to[1] + j, vreinterpret_u8_u64(vshr_n_u64(vreinterpret_u64_u8(a), 32)), lower);
}

INLINE void paeth_two_rows(uint8_t *const to[], const uint8_t *const from[], const uint8_t *above, size_t nbytes,
                           size_t pixel)
{
    if (pixel > 4 || nbytes < 4 * pixel) {
        paeth_row(to[0], from[0], above, nbytes, pixel);
        paeth_row(to[1], from[1], to[0], nbytes, pixel);
        return;
    }
    pair p = {vdup_n_u8(0), vdup_n_u8(0), vdup_n_u8(0)};
    size_t size = roomy(pixel), i = 0;
    for (; i < 2 * pixel; i += pixel)
        pair_step(&p, to, from, above, i, pixel, size, 0);
    for (; i < nbytes - pixel; i += pixel)
        pair_step(&p, to, from, above, i, pixel, size, size);
    pair_step(&p, to, from, above, i, pixel, pixel, size);
    pair_step(&p, to, from, above, i + pixel, pixel, 0, size);
    pair_step(&p, to, from, above, i + 2 * pixel, pixel, 0, pixel);
}

UNFILTER_KERNELS(neon, )

void mr__unfilter_init_neon(mr__unfilter *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    UNFILTER_FILL(table, neon);
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
