// SPDX-License-Identifier: Apache-2.0
/* The encoder of a unit with AVX2 and BMI2: bits are moved together by PEXT. */
#if defined(__x86_64__)

#include "codec/l3/dct_unit_isa.h"

#include <immintrin.h>

#define BMI2        __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define UNIT_INLINE static inline __attribute__((always_inline)) BMI2

struct unit_band;
UNIT_INLINE void unit_measure(struct unit_band *band, const int16_t from[64]);

UNIT_INLINE uint64_t unit_extract(uint64_t bits, uint64_t mask)
{
    return _pext_u64(bits, mask);
}

#include "codec/l3/dct_unit_measure_avx2.h"

BMI2 static size_t encode_bmi2(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to)
{
    return encode_unit(blocks, pitch, columns, rows, to);
}

void mr__l3_unit_encoder_init_avx2(mr__l3_unit_encoder *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0 && (cpu & MR__CPU_FAST_PDEP) != 0)
        table->encode = encode_bmi2;
}

#endif
