// SPDX-License-Identifier: Apache-2.0
/* AVX2 finds the coefficients that are not zero, BMI2 shifts by any register. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2")))

/* 32 numbers: packed to bytes, halves interleaved, so that the quarters are put back in order. */
TARGET static inline __attribute__((always_inline)) uint32_t find_zero(const int16_t *from)
{
    __m256i a = _mm256_loadu_si256((const void *)from), b = _mm256_loadu_si256((const void *)(from + 16));
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), _MM_SHUFFLE(3, 1, 2, 0));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(packed, _mm256_setzero_si256()));
}

TARGET static inline __attribute__((always_inline)) uint64_t find_nonzero(const int16_t *block)
{
    return ~((uint64_t)find_zero(block) | (uint64_t)find_zero(block + 32) << 32);
}

#define WRITE_TARGET TARGET
#define FIND_NONZERO find_nonzero
#include "codec/jpeg/scan_write_kernels.h"

TARGET static int write_s16_avx2(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    return write_sequential(w, units, unit_count, mcus);
}

TARGET static int count_s16_avx2(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    return count_sequential(w, units, unit_count, mcus);
}

/* 16 numbers whose magnitude is below the limit, as all ones. */
TARGET static inline __attribute__((always_inline)) __m256i find_below(const int16_t *from, __m256i most)
{
    __m256i magnitude = _mm256_abs_epi16(_mm256_loadu_si256((const void *)from));
    return _mm256_cmpeq_epi16(_mm256_subs_epu16(magnitude, most), _mm256_setzero_si256());
}

TARGET static uint64_t find_s16_avx2(const int16_t *block, uint32_t low)
{
    __m256i most = _mm256_set1_epi16((int16_t)((1 << low) - 1));
    uint64_t below = 0;
    for (uint32_t i = 0; i < 64; i += 32) {
        __m256i a = find_below(block + i, most), b = find_below(block + i + 16, most);
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), _MM_SHUFFLE(3, 1, 2, 0));
        below |= (uint64_t)(uint32_t)_mm256_movemask_epi8(packed) << i;
    }
    return ~below;
}

void mr__jpeg_scans_init_avx2(mr__jpeg_scans *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0 && (cpu & MR__CPU_BMI2) != 0) {
        table->write = write_s16_avx2;
        table->count = count_s16_avx2;
        table->find = find_s16_avx2;
        table->unstuff = mr__jpeg_unstuff_avx2;
    }
}

#endif
