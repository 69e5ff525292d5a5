// SPDX-License-Identifier: Apache-2.0
/* The encoder of a unit with AVX2 for processors whose PEXT is slow (AMD before Zen 3) or absent. */
#if defined(__x86_64__)

#include "codec/l3/dct_unit_isa.h"

#include <immintrin.h>

#define AVX2        __attribute__((target("avx2,popcnt")))
#define UNIT_INLINE static inline __attribute__((always_inline)) AVX2

struct unit_band;
UNIT_INLINE void unit_measure(struct unit_band *band, const int16_t from[64]);

UNIT_INLINE uint64_t unit_extract(uint64_t bits, uint64_t mask)
{
    if (mask == ~UINT64_C(0))
        return bits;
    uint64_t to = 0;
    for (unsigned n = 0; mask != 0; mask &= mask - 1, n++)
        to |= (uint64_t)((bits & mask & (0 - mask)) != 0) << n;
    return to;
}

#include "codec/l3/dct_unit_measure_avx2.h"

AVX2 static size_t encode_avx2(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to)
{
    return encode_unit(blocks, pitch, columns, rows, to);
}

void mr__l3_unit_encoder_init_avx2_nopext(mr__l3_unit_encoder *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        table->encode = encode_avx2;
}

#endif
