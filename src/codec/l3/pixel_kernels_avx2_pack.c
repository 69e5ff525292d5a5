// SPDX-License-Identifier: Apache-2.0
/* AVX2: rows of 8-bit channels to pixels, 32 at a time; the last ones through a small buffer, as nothing may be written
 * behind them. */
#if defined(__x86_64__)

#include "codec/l3/pixel_kernels_avx2.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET

enum { STEP = 32 };

typedef struct pixels {
    __m256i c[4];
} pixels;

INLINE pixels load_pixels(const uint8_t *const from[4], size_t x, unsigned channels, bool green)
{
    pixels p;
#pragma GCC unroll 4
    for (unsigned i = 0; i < channels; i++)
        p.c[i] = _mm256_loadu_si256((const void *)(from[i] + x));
    if (green) {
        __m256i g = _mm256_xor_si256(p.c[1], _mm256_set1_epi8((char)0x80)); // 128 less, or more: the same
        p.c[0] = _mm256_add_epi8(p.c[0], g);
        p.c[2] = _mm256_add_epi8(p.c[2], g);
    }
    return p;
}

INLINE void store_lanes(uint8_t *to, __m256i low, __m256i high, int which)
{
    _mm256_storeu_si256((void *)to, which == 0 ? _mm256_permute2x128_si256(low, high, 0x20)
                                               : _mm256_permute2x128_si256(low, high, 0x31));
}

INLINE void store_two(uint8_t *to, const pixels *p)
{
    __m256i low = _mm256_unpacklo_epi8(p->c[0], p->c[1]), high = _mm256_unpackhi_epi8(p->c[0], p->c[1]);
    store_lanes(to, low, high, 0);
    store_lanes(to + 32, low, high, 1);
}

/* Each lane's 16 pixels are three vectors of 16 bytes: red and green, side by side already, and blue find their places.
 */
INLINE void store_three(uint8_t *to, const pixels *p)
{
    const __m128i rg0 = _mm_setr_epi8(0, 1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10);
    const __m128i rg1 = _mm_setr_epi8(1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10, 11);
    const __m128i rg2 = _mm_setr_epi8(-1, 6, 7, -1, 8, 9, -1, 10, 11, -1, 12, 13, -1, 14, 15, -1);
    const __m128i b0 = _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
    const __m128i b1 = _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1);
    const __m128i b2 = _mm_setr_epi8(10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15);
#define PLACE(x, by) _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(by))
    __m256i low = _mm256_unpacklo_epi8(p->c[0], p->c[1]), high = _mm256_unpackhi_epi8(p->c[0], p->c[1]);
    __m256i middle = _mm256_alignr_epi8(high, low, 10);
    __m256i v0 = _mm256_or_si256(PLACE(low, rg0), PLACE(p->c[2], b0));
    __m256i v1 = _mm256_or_si256(PLACE(middle, rg1), PLACE(p->c[2], b1));
    __m256i v2 = _mm256_or_si256(PLACE(high, rg2), PLACE(p->c[2], b2));
#undef PLACE
    store_lanes(to, v0, v1, 0);
    _mm256_storeu_si256((void *)(to + 32), _mm256_permute2x128_si256(v2, v0, 0x30));
    store_lanes(to + 64, v1, v2, 1);
}

INLINE void store_four(uint8_t *to, const pixels *p)
{
    __m256i rg0 = _mm256_unpacklo_epi8(p->c[0], p->c[1]), rg1 = _mm256_unpackhi_epi8(p->c[0], p->c[1]);
    __m256i ba0 = _mm256_unpacklo_epi8(p->c[2], p->c[3]), ba1 = _mm256_unpackhi_epi8(p->c[2], p->c[3]);
    __m256i v0 = _mm256_unpacklo_epi16(rg0, ba0), v1 = _mm256_unpackhi_epi16(rg0, ba0);
    __m256i v2 = _mm256_unpacklo_epi16(rg1, ba1), v3 = _mm256_unpackhi_epi16(rg1, ba1);
    store_lanes(to, v0, v1, 0);
    store_lanes(to + 32, v2, v3, 0);
    store_lanes(to + 64, v0, v1, 1);
    store_lanes(to + 96, v2, v3, 1);
}

INLINE void pack_step(const uint8_t *const from[4], size_t x, uint8_t *to, unsigned channels, bool green)
{
    pixels p = load_pixels(from, x, channels, green);
    if (channels == 2)
        store_two(to, &p);
    else if (channels == 3)
        store_three(to, &p);
    else
        store_four(to, &p);
}

INLINE void pack_row(const void *const channel[4], unsigned n, uint8_t *to, unsigned channels, bool green)
{
    // A local copy: for all a compiler knows, a store of bytes could change the caller's.
    const uint8_t *const from[4] = {channel[0], channel[1], channels > 2 ? channel[2] : NULL,
                                    channels > 3 ? channel[3] : NULL};
    size_t x = 0;
    for (; n - x >= STEP; x += STEP)
        pack_step(from, x, to + x * channels, channels, green);
    if (x == n)
        return;
    uint8_t last[4 * STEP];
    pack_step(from, x, last, channels, green);
    memcpy(to + x * channels, last, (n - x) * channels);
}

TARGET static void pack2_u8_avx2(const void *const channel[4], unsigned n, void *to)
{
    pack_row(channel, n, to, 2, false);
}

TARGET static void pack3_u8_avx2(const void *const channel[4], unsigned n, void *to)
{
    pack_row(channel, n, to, 3, false);
}

TARGET static void pack3_green_u8_avx2(const void *const channel[4], unsigned n, void *to)
{
    pack_row(channel, n, to, 3, true);
}

TARGET static void pack4_u8_avx2(const void *const channel[4], unsigned n, void *to)
{
    pack_row(channel, n, to, 4, false);
}

TARGET static void pack4_green_u8_avx2(const void *const channel[4], unsigned n, void *to)
{
    pack_row(channel, n, to, 4, true);
}

void mr__l3_pack_init_avx2(mr__l3_pixel_kernels *table)
{
    table->pack[0][2][0] = pack2_u8_avx2;
    table->pack[0][3][0] = pack3_u8_avx2;
    table->pack[0][3][1] = pack3_green_u8_avx2;
    table->pack[0][4][0] = pack4_u8_avx2;
    table->pack[0][4][1] = pack4_green_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
