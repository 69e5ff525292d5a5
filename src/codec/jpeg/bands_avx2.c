// SPDX-License-Identifier: Apache-2.0
/* AVX2 looks at a block and changes it as a whole; PDEP finds a place, and puts bits to theirs. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#define BAND_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

/* 32 numbers as bytes, the last one first. */
BAND_TARGET static inline __attribute__((always_inline)) __m256i pack_backwards(const int16_t *from)
{
    const __m256i turn = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
                                          15, 14, 13, 12, 11, 10, 9, 8);
    __m256i a = _mm256_loadu_si256((const void *)from), b = _mm256_loadu_si256((const void *)(from + 16));
    __m256i quarters = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), _MM_SHUFFLE(0, 2, 1, 3));
    return _mm256_shuffle_epi8(quarters, turn);
}

BAND_TARGET static inline __attribute__((always_inline)) uint64_t join(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

BAND_TARGET static inline __attribute__((always_inline)) void look_at(const int16_t *block, uint64_t *nonzero,
                                                                      uint64_t *negative)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i a = pack_backwards(block), b = pack_backwards(block + 32);
    *nonzero = ~join((uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, zero)),
                     (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, zero)));
    *negative = join((uint32_t)_mm256_movemask_epi8(a), (uint32_t)_mm256_movemask_epi8(b));
}

/* All ones where the bit of a place is set, for 16 places. */
BAND_TARGET static inline __attribute__((always_inline)) __m256i widen(uint64_t places, int quarter)
{
    const __m256i bits = _mm256_setr_epi16((int16_t)0x8000, 0x4000, 0x2000, 0x1000, 0x0800, 0x0400, 0x0200, 0x0100,
                                           0x0080, 0x0040, 0x0020, 0x0010, 0x0008, 0x0004, 0x0002, 0x0001);
    __m256i all = _mm256_set1_epi16((int16_t)(places >> (48 - 16 * quarter)));
    return _mm256_cmpeq_epi16(_mm256_and_si256(all, bits), bits);
}

BAND_TARGET static inline __attribute__((always_inline)) void change(int16_t *block, uint64_t which, uint64_t minus,
                                                                     int16_t one)
{
    __m256i by = _mm256_set1_epi16(one);
    for (int i = 0; i < 4; i++) {
        __m256i *at = (void *)(block + 16 * i), sign = widen(minus, i);
        __m256i step = _mm256_and_si256(widen(which, i), by);
        step = _mm256_sub_epi16(_mm256_xor_si256(step, sign), sign);
        _mm256_storeu_si256(at, _mm256_add_epi16(_mm256_loadu_si256(at), step));
    }
}

#define BAND_HAS_BLOCKS
#define BAND_DEPOSIT _pdep_u64
#include "codec/jpeg/bands_read.h"

BAND_TARGET static bool read_bands_avx2(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    return read_bands(r, units, mcus);
}

BAND_TARGET static bool refine_bands_avx2(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    return refine_bands(r, units, mcus, false);
}

BAND_TARGET static bool refine_bands_pdep(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    return refine_bands(r, units, mcus, true);
}

void mr__jpeg_bands_init_avx2(mr__jpeg_bands *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) == 0 || (cpu & MR__CPU_BMI2) == 0)
        return;
    *table = (mr__jpeg_bands){read_bands_avx2, refine_bands_avx2};
    if ((cpu & MR__CPU_FAST_PDEP) != 0)
        table->more = refine_bands_pdep;
}

#endif
