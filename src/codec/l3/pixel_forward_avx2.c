// SPDX-License-Identifier: Apache-2.0
/* Forward prediction, the portable text compiled for AVX2. */
#include "codec/l3/pixel_forward.h"

#include "base/bytes.h"
#include "codec/l3/pixel_kernels.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define FORWARD_TARGET __attribute__((target("avx2")))

FORWARD_TARGET static inline __m128i two_rows(const uint8_t *first, const uint8_t *second)
{
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(const void *)first),
                              _mm_loadl_epi64((const __m128i *)(const void *)second));
}

/* The sum of a block's magnitudes: four rows of 8 bytes in one vector. */
FORWARD_TARGET static inline unsigned magnitude_u8_avx2(const uint8_t *at, size_t pitch)
{
    const __m128i upper = two_rows(at, at + pitch), lower = two_rows(at + 2 * pitch, at + 3 * pitch);
    const __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(upper), lower, 1);
    const __m256i m = _mm256_xor_si256(v, _mm256_cmpgt_epi8(_mm256_setzero_si256(), v));
    const __m256i sums = _mm256_sad_epu8(m, _mm256_setzero_si256());
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (unsigned)_mm_cvtsi128_si32(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}
#define FORWARD_HAS_MAGNITUDE

#define FORWARD_NAME(x) x##_u8_avx2
#define SAMPLE          uint8_t
#define SIGNED          int8_t
#include "codec/l3/pixel_forward_template.h"

#define FORWARD_NAME(x) x##_u16_avx2
#define SAMPLE          uint16_t
#define SIGNED          int16_t
#include "codec/l3/pixel_forward_template.h"

void mr__l3_forward_init_avx2(mr__l3_forward *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        *table = (mr__l3_forward){{lift_u8_avx2, lift_u16_avx2}, {prefix_u8_avx2, prefix_u16_avx2}};
}
#else
void mr__l3_forward_init_avx2(mr__l3_forward *table, mr__cpu_flags cpu)
{
    (void)table;
    (void)cpu;
}
#endif
