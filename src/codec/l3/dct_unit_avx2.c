// SPDX-License-Identifier: Apache-2.0
/* The decoder of a unit with AVX2 and BMI2: bits are deposited by PDEP. */
#if defined(__x86_64__)

#include "codec/l3/dct_unit_isa.h"

#include <immintrin.h>

#define BMI2        __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define UNIT_INLINE static inline __attribute__((always_inline)) BMI2

UNIT_INLINE unsigned unit_count(uint64_t x)
{
    return (unsigned)_mm_popcnt_u64(x);
}

UNIT_INLINE uint64_t unit_deposit(uint64_t bits, uint64_t mask)
{
    return _pdep_u64(bits, mask);
}

/* Not memset, which compilers make slow of. */
UNIT_INLINE void unit_clear(uint64_t word[16])
{
    for (unsigned i = 0; i < 16; i += 4)
        _mm256_store_si256((__m256i *)(word + i), _mm256_setzero_si256());
}

UNIT_INLINE void sort_modes(uint8_t mode[64], const uint8_t *from, unsigned n, uint64_t by_mode[16]);
#define unit_sort sort_modes

#include "codec/l3/dct_unit_spread_avx2.h"

BMI2 static const char *decode_bmi2(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns,
                                    unsigned rows, const uint16_t quant[64], unsigned bands)
{
    return decode_unit(unit, bytes, nbytes, unit_grid(columns, rows), quant, bands);
}

void mr__l3_unit_kernels_init_avx2(mr__l3_unit_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0 && (cpu & MR__CPU_FAST_PDEP) != 0)
        table->decode = decode_bmi2;
}

#endif
