// SPDX-License-Identifier: Apache-2.0
/*
 * The portable kernels: the formulas of jpeg_forward_pixel.h, 16 blocks at a time in loops that compilers make vectors
 * of.
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

/* Lines of eight, `step` apart in both. */
INLINE void line8(const lanes *restrict in, size_t step, bool first, lanes *restrict out)
{
    for (size_t i = 0; i < LANES; i++) {
        mr__idct_line x = {{in[0][i], in[step][i], in[2 * step][i], in[3 * step][i], in[4 * step][i], in[5 * step][i],
                            in[6 * step][i], in[7 * step][i]}};
        mr__idct_line y = mr__fdct_line8(x, first);
        out[0][i] = y.at[0];
        out[step][i] = y.at[1];
        out[2 * step][i] = y.at[2];
        out[3 * step][i] = y.at[3];
        out[4 * step][i] = y.at[4];
        out[5 * step][i] = y.at[5];
        out[6 * step][i] = y.at[6];
        out[7 * step][i] = y.at[7];
    }
}

INLINE bool quantise(const lanes from, const mr__jpeg_quant *quant, size_t b, int16_t *to)
{
    const uint32_t by = quant->by[b], reciprocal = quant->reciprocal[b], shift = quant->shift[b];
    int32_t any = 0;
    for (size_t i = 0; i < LANES; i++)
        any |= to[i] = mr__fdct_quantised(from[i], by, reciprocal, shift);
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

INLINE uint32_t cb_of(const uint8_t *p)
{
    return mr__jpeg_cb_of(p[0], p[1], p[2]);
}

INLINE uint32_t cr_of(const uint8_t *p)
{
    return mr__jpeg_cr_of(p[0], p[1], p[2]);
}

void mr__jpeg_halve_c(const uint8_t *upper, const uint8_t *lower, size_t pairs, uint8_t *y_upper, uint8_t *y_lower,
                      uint8_t *cb, uint8_t *cr)
{
    for (size_t i = 0; i < pairs; i++, upper += 6, lower += 6) {
        uint32_t at = (uint32_t)i;
        for (size_t k = 0; k < 2; k++) {
            y_upper[2 * i + k] = mr__jpeg_y(upper + 3 * k);
            y_lower[2 * i + k] = mr__jpeg_y(lower + 3 * k);
        }
        cb[i] = mr__jpeg_mean(cb_of(upper) + cb_of(upper + 3) + cb_of(lower) + cb_of(lower + 3), at);
        cr[i] = mr__jpeg_mean(cr_of(upper) + cr_of(upper + 3) + cr_of(lower) + cr_of(lower + 3), at);
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
