// SPDX-License-Identifier: Apache-2.0
/* A row of a patch is one or two registers, so that the row above never leaves them. */
#include "l3_2022.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define FAST __attribute__((target("avx2,bmi2")))

bool l3_2022_can_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

FAST static inline __m256i less_equal(__m256i a, __m256i b)
{
    return _mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a);
}

/*
 * With A = |a-b| = |p-c| and C = |c-b| = |p-a|: where a and c lie strictly on one side of b, |p-b| = A+C, which is more
 * than either; elsewhere it is |A-C|. So bytes do.
 */
FAST static inline __m256i predict(__m256i a, __m256i b, __m256i c)
{
    __m256i zero = _mm256_setzero_si256();
    __m256i to_c = _mm256_sub_epi8(_mm256_max_epu8(a, b), _mm256_min_epu8(a, b));
    __m256i to_a = _mm256_sub_epi8(_mm256_max_epu8(c, b), _mm256_min_epu8(c, b));
    __m256i apart = _mm256_sub_epi8(_mm256_max_epu8(to_a, to_c), _mm256_min_epu8(to_a, to_c));
    __m256i not_one_side = _mm256_and_si256(less_equal(_mm256_min_epu8(a, c), b), less_equal(b, _mm256_max_epu8(a, c)));
    __m256i b_to_c = _mm256_and_si256(not_one_side, less_equal(apart, to_c));                 // |p-b| <= |p-c|
    __m256i a_to_b = _mm256_or_si256(_mm256_andnot_si256(not_one_side, _mm256_set1_epi8(-1)), // |p-a| <= |p-b|
                                     less_equal(to_a, apart));
    __m256i a_to_c = less_equal(to_a, to_c);
    __m256i without_a = _mm256_blendv_epi8(c, b, b_to_c);
    __m256i without_c = _mm256_blendv_epi8(b, a, a_to_b);
    __m256i all = _mm256_blendv_epi8(_mm256_blendv_epi8(c, b, a_to_c), a, _mm256_and_si256(a_to_b, a_to_c));
    all = _mm256_blendv_epi8(all, without_c, _mm256_cmpeq_epi8(c, zero));
    return _mm256_blendv_epi8(all, without_a, _mm256_cmpeq_epi8(a, zero));
}

/* The deltas start at bit 12, and eight of them are a whole number of bytes: each eight start in the middle of one. */
FAST static inline long long eight(const uint8_t *from, uint64_t mask)
{
    uint64_t low;
    memcpy(&low, from, sizeof low);
    return (long long)_pdep_u64(low >> 4 | (uint64_t)from[8] << 60, mask);
}

FAST static inline __m256i unpack(const uint8_t *from, uint32_t bits, uint64_t mask)
{
    return _mm256_set_epi64x(eight(from + 3 * bits, mask), eight(from + 2 * bits, mask), eight(from + bits, mask),
                             eight(from, mask));
}

/* Bytes one to the right, the last of `before` coming in; and one to the left, the first of `after` coming in. */
FAST static inline __m256i from_left(__m256i row, __m256i before)
{
    return _mm256_alignr_epi8(row, _mm256_permute2x128_si256(before, row, 0x21), 15);
}

FAST static inline __m256i from_right(__m256i row, __m256i after)
{
    return _mm256_alignr_epi8(_mm256_permute2x128_si256(row, after, 0x21), row, 1);
}

FAST static inline __m256i first_bytes(uint32_t count)
{
    uint8_t mask[32];
    for (uint32_t i = 0; i < 32; i++)
        mask[i] = i < count ? 255 : 0;
    return _mm256_loadu_si256((const __m256i *)mask);
}

FAST static bool plane_avx2(const uint8_t *from, size_t nbytes, size_t file_nbytes, uint32_t width, uint32_t height,
                            uint8_t *to)
{
    uint8_t room[L3_2022_ROOM];
    const __m256i zero = _mm256_setzero_si256();
    const __m256i keep = first_bytes(width), keep2 = first_bytes(width > 32 ? width - 32 : 0);
    __m256i above = zero, above2 = zero;
    for (uint32_t y = 0; y < height; y++, to += L3_2022_SIDE_MAX) {
        if (nbytes < 2)
            return false;
        uint32_t bits = from[0] & 15, row_nbytes = (12 + bits * width + 7) / 8;
        if (bits > 8 || row_nbytes > nbytes)
            return false;
        const __m256i base = _mm256_set1_epi8((char)(from[0] >> 4 | from[1] << 4));
        const uint8_t *row = l3_2022_row(from, row_nbytes, file_nbytes, room) + 1;
        uint64_t mask = UINT64_C(0x0101010101010101) * ((1u << bits) - 1);
        __m256i now = _mm256_add_epi8(base, unpack(row, bits, mask)), now2 = zero;
        if (width > 32) // `above` is zero in the first row, and so is its prediction
            now2 = _mm256_add_epi8(_mm256_add_epi8(base, unpack(row + 4 * bits, bits, mask)),
                                   predict(from_left(above2, above), above2, from_right(above2, zero)));
        now = _mm256_add_epi8(now, predict(from_left(above, zero), above, from_right(above, above2)));
        above = _mm256_and_si256(now, keep);
        above2 = _mm256_and_si256(now2, keep2);
        _mm256_storeu_si256((__m256i *)to, above);
        if (width > 32)
            _mm256_storeu_si256((__m256i *)(to + 32), above2);
        from += row_nbytes;
        nbytes -= row_nbytes;
        file_nbytes -= row_nbytes;
    }
    return nbytes == 0;
}

/* The 16 bytes from byte 16 * part of 16 pixels: which of r, g, b goes where. -1 leaves a zero. */
FAST static inline __m128i weave_part(__m128i r, __m128i g, __m128i b, int part)
{
    static const int8_t place[3][3][16] = {
        {{0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5},
         {-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1},
         {-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1}},
        {{-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1},
         {5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10},
         {-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1}},
        {{-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1},
         {-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1},
         {10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15}},
    };
    const __m128i *shuffle = (const __m128i *)place[part];
    __m128i rg =
        _mm_or_si128(_mm_shuffle_epi8(r, _mm_loadu_si128(shuffle)), _mm_shuffle_epi8(g, _mm_loadu_si128(shuffle + 1)));
    return _mm_or_si128(rg, _mm_shuffle_epi8(b, _mm_loadu_si128(shuffle + 2)));
}

FAST static void weave_avx2(const uint8_t *r, const uint8_t *g, const uint8_t *b, uint32_t width, uint8_t *rgb)
{
    uint32_t x = 0;
    for (; x + 16 <= width; x += 16) {
        __m128i red = _mm_loadu_si128((const __m128i *)(r + x)), green = _mm_loadu_si128((const __m128i *)(g + x)),
                blue = _mm_loadu_si128((const __m128i *)(b + x));
        for (int part = 0; part < 3; part++)
            _mm_storeu_si128((__m128i *)(rgb + 3 * x + 16 * part), weave_part(red, green, blue, part));
    }
    l3_2022_portable.weave(r + x, g + x, b + x, width - x, rgb + 3 * x);
}

static const l3_2022_kernels avx2 = {plane_avx2, weave_avx2};
const l3_2022_kernels *const l3_2022_avx2 = &avx2;

#else

bool l3_2022_can_avx2(void)
{
    return false;
}

const l3_2022_kernels *const l3_2022_avx2 = NULL;

#endif
