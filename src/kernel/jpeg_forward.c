// SPDX-License-Identifier: Apache-2.0
/*
 * The portable kernels. The transform is that of Loeffler, Ligtenberg and Moschytz that libjpeg calls islow, 16 blocks
 * at a time in loops that compilers make vectors of: along the rows first, which leaves 2 bits of fraction, then down
 * the columns. Constants are multiples of 2^13, and the result is 8 times the coefficient. No sum leaves 16 bits before
 * it is multiplied.
 */
#include "kernel/jpeg_forward.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 16, GROUP = 8 };

/* Table K.1 and K.2 of the standard, in natural order. */
static const uint8_t standard[2][64] = {
    {
        16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
        69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
        81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99,
    },
    {
        17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
        99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    },
};

void mr__jpeg_quant_init(mr__jpeg_quant *quant, uint32_t quality, bool chroma)
{
    uint32_t percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (size_t b = 0; b < 64; b++) {
        uint32_t q = (standard[chroma][b] * percent + 50) / 100, k = 0;
        q = q < 1 ? 1 : q > 255 ? 255 : q;
        while (q >> (k + 1) != 0)
            k++;
        quant->by[b] = (uint16_t)q;
        quant->shift[b] = (uint8_t)k;
        quant->reciprocal[b] = (uint16_t)(((1u << (15 + k)) + q - 1) / q);
    }
}

typedef int16_t lanes[LANES];

INLINE int16_t narrow(int32_t value, unsigned shift)
{
    return (int16_t)((value + (1 << (shift - 1))) >> shift);
}

/*
 * A line of eight, `step` apart in both. On the first way 128 is taken from every sample, which only their sum knows
 * of.
 */
INLINE void line8(const lanes *restrict in, size_t step, bool first, lanes *restrict out)
{
    const unsigned shift = first ? 11 : 15;
    for (size_t i = 0; i < LANES; i++) {
        int32_t s07 = in[0][i] + in[7 * step][i], d07 = in[0][i] - in[7 * step][i];
        int32_t s16 = in[step][i] + in[6 * step][i], d16 = in[step][i] - in[6 * step][i];
        int32_t s25 = in[2 * step][i] + in[5 * step][i], d25 = in[2 * step][i] - in[5 * step][i];
        int32_t s34 = in[3 * step][i] + in[4 * step][i], d34 = in[3 * step][i] - in[4 * step][i];
        int32_t outer = s07 + s34, inner = s16 + s25, x = s07 - s34, y = s16 - s25;
        int32_t z3 = -6436 * (d34 + d16) + 9633 * (d25 + d07), z4 = 9633 * (d34 + d16) + 6437 * (d25 + d07);
        out[0][i] = first ? (int16_t)((outer + inner) * 4 - 4096) : narrow(outer + inner, 2);
        out[4 * step][i] = first ? (int16_t)((outer - inner) * 4) : narrow(outer - inner, 2);
        out[2 * step][i] = narrow(10703 * x + 4433 * y, shift);
        out[6 * step][i] = narrow(4433 * x - 10704 * y, shift);
        out[7 * step][i] = narrow(-4927 * d34 - 7373 * d07 + z3, shift);
        out[step][i] = narrow(-7373 * d34 + 4926 * d07 + z4, shift);
        out[5 * step][i] = narrow(-4176 * d25 - 20995 * d16 + z4, shift);
        out[3 * step][i] = narrow(-20995 * d25 + 4177 * d16 + z3, shift);
    }
}

/* To the nearest multiple of the quantiser, half of it away from zero. */
INLINE bool quantise(const lanes from, const mr__jpeg_quant *quant, size_t b, int16_t *to)
{
    const uint32_t by = quant->by[b], reciprocal = quant->reciprocal[b], shift = 15u + quant->shift[b];
    uint32_t any = 0;
    for (size_t i = 0; i < LANES; i++) {
        uint32_t size = (uint32_t)(from[i] < 0 ? -from[i] : from[i]);
        uint32_t times = ((size + 4 * by) >> 3) * reciprocal >> shift;
        any |= times;
        to[i] = (int16_t)(from[i] < 0 ? -(int32_t)(times * by) : (int32_t)(times * by));
    }
    return any != 0;
}

static uint64_t fdct_c(const uint8_t *from, ptrdiff_t stride, ptrdiff_t step, const mr__jpeg_quant *quant,
                       int16_t *coef)
{
    lanes block[64], table[64];
    uint64_t bands = 0;
    for (size_t v = 0; v < 8; v++, from += stride) {
        for (size_t i = 0; i < LANES; i++) {
            const uint8_t *at = i < GROUP ? from + 8 * i : from + step + 8 * (i - GROUP);
            for (size_t u = 0; u < 8; u++)
                block[u][i] = at[u];
        }
        line8((const lanes *)block, 1, true, table + 8 * v);
    }
    for (size_t u = 0; u < 8; u++)
        line8((const lanes *)table + u, 8, false, block + u);
    for (size_t b = 0; b < 64; b++)
        bands |= (uint64_t)quantise(block[b], quant, b, coef + LANES * b) << b;
    return bands;
}

/* As mr__jpeg_y; Cb and Cr have 128 added to them, and are rounded half down. */
INLINE uint32_t cb_of(const uint8_t *p)
{
    return (uint32_t)((32768 * p[2] - 11059 * p[0] - 21709 * p[1] + (128 << 16) + 32767) >> 16);
}

INLINE uint32_t cr_of(const uint8_t *p)
{
    return (uint32_t)((32768 * p[0] - 27439 * p[1] - 5329 * p[2] + (128 << 16) + 32767) >> 16);
}

/* A mean is rounded down and up by turns. */
void mr__jpeg_halve_c(const uint8_t *upper, const uint8_t *lower, size_t pairs, uint8_t *y_upper, uint8_t *y_lower,
                      uint8_t *cb, uint8_t *cr)
{
    for (size_t i = 0; i < pairs; i++, upper += 6, lower += 6) {
        uint32_t bias = 1 + (uint32_t)(i & 1);
        for (size_t k = 0; k < 2; k++) {
            y_upper[2 * i + k] = mr__jpeg_y(upper + 3 * k);
            y_lower[2 * i + k] = mr__jpeg_y(lower + 3 * k);
        }
        cb[i] = (uint8_t)((cb_of(upper) + cb_of(upper + 3) + cb_of(lower) + cb_of(lower + 3) + bias) >> 2);
        cr[i] = (uint8_t)((cr_of(upper) + cr_of(upper + 3) + cr_of(lower) + cr_of(lower + 3) + bias) >> 2);
    }
}

void mr__jpeg_forward_init(mr__jpeg_forward *table, mr__cpu_flags cpu)
{
    *table = (mr__jpeg_forward){.fdct = fdct_c, .halve = mr__jpeg_halve_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__jpeg_forward_init_avx2(table, cpu);
#elif defined(__aarch64__)
    mr__jpeg_forward_init_neon(table, cpu);
#endif
}
