// SPDX-License-Identifier: Apache-2.0
/*
 * AVX2: remapping of 8-bit samples, 32 at a time. A byte shuffle looks up 16 values by the lower four bits; as many of
 * them as there are values are made, and the upper bits choose among these, two by two.
 */
#if defined(__x86_64__)

#include "codec/l3/pixel_kernels_avx2.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { STEP = 32 };

/* A sample's lower bits, and its bits 4 to 7 each where a blend looks for them. */
typedef struct index {
    __m256i low, bit4, bit5, bit6, bit7;
} index;

INLINE index read_index(__m256i x)
{
    index i = {_mm256_and_si256(x, _mm256_set1_epi8(15)), _mm256_slli_epi16(x, 3), _mm256_slli_epi16(x, 2),
               _mm256_slli_epi16(x, 1), x};
    return i;
}

INLINE __m256i find16(const uint8_t *values, const index *i)
{
    __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)values));
    return _mm256_shuffle_epi8(table, i->low);
}

INLINE __m256i find64(const uint8_t *values, const index *i)
{
    __m256i a = _mm256_blendv_epi8(find16(values, i), find16(values + 16, i), i->bit4);
    __m256i b = _mm256_blendv_epi8(find16(values + 32, i), find16(values + 48, i), i->bit4);
    return _mm256_blendv_epi8(a, b, i->bit5);
}

INLINE __m256i find128(const uint8_t *values, const index *i)
{
    return _mm256_blendv_epi8(find64(values, i), find64(values + 64, i), i->bit6);
}

INLINE __m256i find(const uint8_t *values, __m256i x, unsigned count)
{
    index i = read_index(x);
    if (count == 64)
        return find64(values, &i);
    if (count == 128)
        return find128(values, &i);
    return _mm256_blendv_epi8(find128(values, &i), find128(values + 128, &i), i.bit7);
}

INLINE __m256i load_samples(const uint8_t *from, const uint8_t *green, size_t x)
{
    __m256i samples = _mm256_loadu_si256((const void *)(from + x));
    if (green == NULL)
        return samples;
    __m256i g = _mm256_loadu_si256((const void *)(green + x));
    return _mm256_add_epi8(samples, _mm256_xor_si256(g, _mm256_set1_epi8((char)0x80))); // 128 less, or more: the same
}

INLINE bool all_below(__m256i x, unsigned count)
{
    __m256i last = _mm256_set1_epi8((char)(count - 1));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(x, last), last)) == -1;
}

/* Ones in the first n bytes, n up to 32. */
INLINE __m256i first_bytes(size_t n)
{
    static const int8_t ones_then_zeros[2 * STEP] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const void *)(ones_then_zeros + STEP - n));
}

/* Gives the greatest samples. `values` is how many the table has, rounded up to 64, 128 or 256. */
INLINE __m256i remap_row(const uint8_t *from, const uint8_t *green, size_t n, const uint8_t *value, uint8_t *to,
                         unsigned values)
{
    __m256i most = _mm256_setzero_si256();
    for (size_t x = 0; x < n; x += STEP) {
        __m256i samples = load_samples(from, green, x);
        if (n - x < STEP)
            samples = _mm256_and_si256(samples, first_bytes(n - x));
        most = _mm256_max_epu8(most, samples);
        _mm256_storeu_si256((void *)(to + x), find(value, samples, values));
    }
    return most;
}

TARGET static bool remap_u8_avx2(const void *from, const void *green, unsigned n, const mr__l3_remap *remap, void *to)
{
    __m256i most;
    if (remap->count <= 64)
        most = remap_row(from, green, n, remap->value, to, 64);
    else if (remap->count <= 128)
        most = remap_row(from, green, n, remap->value, to, 128);
    else
        most = remap_row(from, green, n, remap->value, to, 256);
    return all_below(most, remap->count);
}

void mr__l3_remap_init_avx2(mr__l3_pixel_kernels *table)
{
    table->remap[0] = remap_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
