// SPDX-License-Identifier: Apache-2.0
/*
 * AVX2 with PDEP: groups of blocks to residuals.
 *
 * A group is made as four rows of 32 bytes, each quarter of a row from one block. Its low bits come out of the stream
 * as 16-bit lanes: a byte shuffle brings each number's bits into its lane, one multiplication moves them to the top and
 * another one brings them down again with their sign.
 *
 * Where a number v of k bits has the quotient q, q << (k - 1) is added to it when it is not negative, else subtracted.
 * Either way that is v ^ (q << (k - 1)): v has copies of its sign from bit k - 1 on, and -1 - v - x is ~(v + x).
 *
 * The masks of a group are 128 bits, a nibble for each of its 32 columns. In binary the quotient has the bits m1 ^ m2 ^
 * m3 and m2 (as m3 lies within m2, and m2 within m1), which a byte shuffle spreads to a byte a column, two bits a row.
 */
#if defined(__x86_64__)

#include "codec/l3/pixel_kernels_avx2.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* What the header of a block says. */
typedef struct width {
    uint8_t shuffle[32]; /* the two bytes that number i of a half is in */
    uint16_t raise[16];  /* times this: to the top of 16 bits */
    uint16_t lower[16];  /* times this, upper half: the number with its sign */
    uint64_t quotients;  /* byte q: q << (k - 1) */
    uint64_t nbytes;     /* of a half */
    uint64_t unused[2];
} width;

#define BYTES(i, k)  (i) * (k) / 8, ((i) * (k) / 8 + 1) % 16
#define BYTES4(i, k) BYTES(i, k), BYTES(i + 1, k), BYTES(i + 2, k), BYTES(i + 3, k)
#define RAISE(i, k)  (uint16_t)((k) == 0 ? 0 : 1u << (16 - (k) - (i) * (k) % 8))
#define RAISE4(i, k) RAISE(i, k), RAISE(i + 1, k), RAISE(i + 2, k), RAISE(i + 3, k)
#define LOWER4(k)    1u << (k), 1u << (k), 1u << (k), 1u << (k)
#define LESS(k)      (((k) + 7) % 8) /* k - 1; without bits there are no quotients either */
#define QUOTIENTS(k)                                                                                                   \
    (UINT64_C(0x0706050403020100) << LESS(k) & UINT64_C(0x0101010101010101) * (uint8_t)(0xff << LESS(k)))
#define WIDTH(k)                                                                                                       \
    {                                                                                                                  \
        {BYTES4(0, k), BYTES4(4, k), BYTES4(8, k), BYTES4(12, k)},                                                     \
            {RAISE4(0, k), RAISE4(4, k), RAISE4(8, k), RAISE4(12, k)}, {LOWER4(k), LOWER4(k), LOWER4(k), LOWER4(k)},   \
            QUOTIENTS(k), 2 * (k),                                                                                     \
        {                                                                                                              \
            0, 0                                                                                                       \
        }                                                                                                              \
    }

static const _Alignas(64) width widths[16] = {WIDTH(0), WIDTH(1), WIDTH(2), WIDTH(3), WIDTH(4), WIDTH(5),
                                              WIDTH(6), WIDTH(7), WIDTH(8), WIDTH(1), WIDTH(2), WIDTH(3),
                                              WIDTH(4), WIDTH(5), WIDTH(6), WIDTH(7)};

/* For the header byte of a pair: where its mask has bits, and how many bytes that is. */
#define HAS(n)     ((n) > 8 ? UINT64_C(0xffffffff) : 0)
#define PLACE(x)   HAS((x) % 16) | HAS((x) / 16) << 32
#define PLACE4(x)  PLACE(x), PLACE(x + 1), PLACE(x + 2), PLACE(x + 3)
#define PLACE16(x) PLACE4(x), PLACE4(x + 4), PLACE4(x + 8), PLACE4(x + 12)
#define PLACE64(x) PLACE16(x), PLACE16(x + 16), PLACE16(x + 32), PLACE16(x + 48)
static const uint64_t places[256] = {PLACE64(0), PLACE64(64), PLACE64(128), PLACE64(192)};

#define TAKE(x)   4 * (((x) % 16 > 8) + ((x) / 16 > 8))
#define TAKE4(x)  TAKE(x), TAKE(x + 1), TAKE(x + 2), TAKE(x + 3)
#define TAKE16(x) TAKE4(x), TAKE4(x + 4), TAKE4(x + 8), TAKE4(x + 12)
#define TAKE64(x) TAKE16(x), TAKE16(x + 16), TAKE16(x + 32), TAKE16(x + 48)
static const uint8_t takes[256] = {TAKE64(0), TAKE64(64), TAKE64(128), TAKE64(192)};

typedef struct rows {
    __m256i row[4];
} rows;

INLINE __m256i unpack_half(const uint8_t *low, __m256i shuffle, __m256i raise, __m256i lower)
{
    __m256i x = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)low));
    x = _mm256_mullo_epi16(_mm256_shuffle_epi8(x, shuffle), raise);
    return _mm256_mulhi_epi16(x, lower);
}

/* A block's rows 0 and 2, and its rows 1 and 3. */
typedef struct halves {
    __m256i even, odd;
} halves;

INLINE halves unpack_block(const uint8_t **low, const width *w)
{
    __m256i shuffle = _mm256_load_si256((const void *)w->shuffle), raise = _mm256_load_si256((const void *)w->raise);
    __m256i lower = _mm256_load_si256((const void *)w->lower);
    const uint8_t *second = *low + w->nbytes;
    halves h = {unpack_half(*low, shuffle, raise, lower), unpack_half(second, shuffle, raise, lower)};
    *low = second + w->nbytes;
    return h;
}

INLINE const width *width_at(uint32_t header, unsigned block)
{
    return &widths[header >> (4 * block) & 15];
}

INLINE rows unpack_group(const uint8_t **low, uint32_t header)
{
    halves h0 = unpack_block(low, width_at(header, 0)), h1 = unpack_block(low, width_at(header, 1));
    __m256i even01 = _mm256_packs_epi16(h0.even, h1.even), odd01 = _mm256_packs_epi16(h0.odd, h1.odd);
    halves h2 = unpack_block(low, width_at(header, 2)), h3 = unpack_block(low, width_at(header, 3));
    __m256i even23 = _mm256_packs_epi16(h2.even, h3.even), odd23 = _mm256_packs_epi16(h2.odd, h3.odd);
    rows r = {{_mm256_permute2x128_si256(even01, even23, 0x20), _mm256_permute2x128_si256(odd01, odd23, 0x20),
               _mm256_permute2x128_si256(even01, even23, 0x31), _mm256_permute2x128_si256(odd01, odd23, 0x31)}};
    return r;
}

/* Where the masks stand; a copy that the compiler can keep in registers. */
typedef struct layers {
    const uint8_t *masks;
    const uint8_t *layer[MR__L3_LAYER_MAX + 1];
    uint64_t at[MR__L3_LAYER_MAX + 1];
    uint32_t crowd;
} layers;

typedef struct masks {
    uint64_t m[MR__L3_LAYER_MAX + 1];
} masks;

INLINE uint64_t load_bits(const uint8_t *bytes, uint64_t at)
{
    uint64_t word;
    memcpy(&word, bytes + (at >> 3), sizeof word);
    return word >> (at & 7);
}

/* 64 bits as 64 bytes of 0 or -1. */
typedef struct lanes {
    __m256i low, high;
} lanes;

INLINE lanes widen(uint64_t mask)
{
    const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201);
    const __m256i first = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i second = _mm256_add_epi8(first, _mm256_set1_epi8(4));
    __m256i m = _mm256_set1_epi64x((long long)mask);
    __m256i low = _mm256_and_si256(_mm256_shuffle_epi8(m, first), bits);
    __m256i high = _mm256_and_si256(_mm256_shuffle_epi8(m, second), bits);
    lanes l = {_mm256_cmpeq_epi8(low, bits), _mm256_cmpeq_epi8(high, bits)};
    return l;
}

INLINE uint64_t narrow(lanes l)
{
    uint32_t low = (uint32_t)_mm256_movemask_epi8(l.low), high = (uint32_t)_mm256_movemask_epi8(l.high);
    return (uint64_t)high << 32 | low;
}

/* Sums of bytes from the left on. */
INLINE __m256i sum_up(__m256i x)
{
    const __m256i to_odd = _mm256_setr_epi64x(-1, 0x0707070707070707, -1, 0x0707070707070707);
    x = _mm256_add_epi8(x, _mm256_slli_epi64(x, 8));
    x = _mm256_add_epi8(x, _mm256_slli_epi64(x, 16));
    x = _mm256_add_epi8(x, _mm256_slli_epi64(x, 32));
    x = _mm256_add_epi8(x, _mm256_shuffle_epi8(x, to_odd));
    __m256i lower = _mm256_permute2x128_si256(x, x, 0x08); // to the upper lane; 0 in its place
    return _mm256_add_epi8(x, _mm256_shuffle_epi8(lower, _mm256_set1_epi8(15)));
}

/* For 32 places: -1 where the mask has it and the bit of `word` that it stands for, of which `rank` are before, is 1.
 */
INLINE __m256i pick(__m256i word, __m256i mask, __m256i rank)
{
    const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i place = _mm256_and_si256(_mm256_srli_epi16(rank, 3), _mm256_set1_epi8(7));
    __m256i bit = _mm256_shuffle_epi8(bits, rank);
    __m256i found = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(word, place), bit), bit);
    return _mm256_and_si256(found, mask);
}

/* PDEP, where that is slow: each place of the mask looks for its bit. */
INLINE lanes deposit(uint64_t word, lanes mask)
{
    const __m256i ones = _mm256_set1_epi8(-1);
    __m256i w = _mm256_set1_epi64x((long long)word);
    // Each one of the mask counts as -1, so that -1 less the sum is the rank.
    __m256i low = sum_up(mask.low), high = sum_up(mask.high);
    high = _mm256_add_epi8(high, _mm256_shuffle_epi8(_mm256_permute4x64_epi64(low, 0xff), _mm256_set1_epi8(7)));
    lanes to = {pick(w, mask.low, _mm256_xor_si256(low, ones)), pick(w, mask.high, _mm256_xor_si256(high, ones))};
    return to;
}

/* The next word of layer j, whose bits belong to the ones of mask j - 1. */
INLINE uint64_t next_word(layers *s, const masks *p, unsigned j)
{
    uint64_t ones = (uint64_t)__builtin_popcountll(p->m[j - 1]), word = load_bits(s->layer[j], s->at[j]);
    s->at[j] += ones;
    if (j == 2)
        s->crowd |= (uint32_t)ones + 6;
    return word;
}

INLINE masks read_pair(layers *s, unsigned header, unsigned count, bool slow)
{
    masks p;
    uint64_t word;
    memcpy(&word, s->masks, sizeof word);
    s->masks += takes[header];
    if (!slow) {
        p.m[1] = _pdep_u64(word, places[header]);
#pragma GCC unroll 8
        for (unsigned j = 2; j <= count; j++)
            p.m[j] = _pdep_u64(next_word(s, &p, j), p.m[j - 1]);
        return p;
    }
    // A second block that is alone in having layers has its mask at the front.
    p.m[1] = (places[header] << 32 == 0 ? word << 32 : word) & places[header];
    lanes l = widen(p.m[1]);
#pragma GCC unroll 8
    for (unsigned j = 2; j <= count; j++) {
        l = deposit(next_word(s, &p, j), l);
        p.m[j] = narrow(l);
    }
    return p;
}

INLINE __m128i join(uint64_t low, uint64_t high)
{
    return _mm_set_epi64x((long long)high, (long long)low);
}

/* 32 nibbles to bytes. */
INLINE __m256i nibbles(__m128i bits)
{
    __m256i x = _mm256_cvtepu8_epi16(bits);
    return _mm256_and_si256(_mm256_or_si256(x, _mm256_slli_epi16(x, 4)), _mm256_set1_epi8(15));
}

/* Byte n: the four bits of n at the places 0, 2, 4, 6, times `scale`. */
INLINE __m256i spread_pairs(__m256i n, int scale)
{
    __m128i table = _mm_setr_epi8(0, 1, 4, 5, 16, 17, 20, 21, 64, 65, 68, 69, 80, 81, 84, 85);
    if (scale == 2)
        table = _mm_add_epi8(table, table);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), n);
}

INLINE void apply_three(rows *r, uint32_t header, const masks *a, const masks *b)
{
    __m128i m2 = join(a->m[2], b->m[2]);
    __m128i odd = _mm_xor_si128(_mm_xor_si128(join(a->m[1], b->m[1]), m2), join(a->m[3], b->m[3]));
    __m256i q = _mm256_or_si256(spread_pairs(nibbles(odd), 1), spread_pairs(nibbles(m2), 2));
    const __m256i three = _mm256_set1_epi8(3);
    __m256i n = _mm256_srlv_epi64(_mm256_set1_epi16((short)header), _mm256_setr_epi64x(0, 4, 8, 12));
    // k - 1, which for a block with layers is its header - 9; without them there is nothing to move.
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6));
    __m256i by = _mm256_shuffle_epi8(table, _mm256_and_si256(n, _mm256_set1_epi64x(15)));
    r->row[0] = _mm256_xor_si256(r->row[0], _mm256_sllv_epi64(_mm256_and_si256(q, three), by));
    q = _mm256_srli_epi64(q, 2);
    r->row[1] = _mm256_xor_si256(r->row[1], _mm256_sllv_epi64(_mm256_and_si256(q, three), by));
    q = _mm256_srli_epi64(q, 2);
    r->row[2] = _mm256_xor_si256(r->row[2], _mm256_sllv_epi64(_mm256_and_si256(q, three), by));
    q = _mm256_srli_epi64(q, 2);
    r->row[3] = _mm256_xor_si256(r->row[3], _mm256_sllv_epi64(_mm256_and_si256(q, three), by));
}

/* Byte n: two bits of n, from bit `first` on, at the places 0 and 4, times `scale`. */
INLINE __m256i spread_nibbles(__m256i n, unsigned first, int scale)
{
    __m128i table = first == 0 ? _mm_setr_epi8(0, 1, 16, 17, 0, 1, 16, 17, 0, 1, 16, 17, 0, 1, 16, 17)
                               : _mm_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 16, 16, 16, 16, 17, 17, 17, 17);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_mullo_epi16(table, _mm_set1_epi16((short)scale))), n);
}

/* Two rows, whose quotients are the low and the high nibbles of q (up to 6 each). */
INLINE void apply_two_rows(__m256i *first, __m256i *second, __m256i q, __m256i table)
{
    // A table for the even blocks in the lower half of each lane, for the odd ones in the upper.
    const __m256i half = _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808);
    *first = _mm256_xor_si256(*first, _mm256_shuffle_epi8(table, _mm256_or_si256(q, half)));
    q = _mm256_or_si256(_mm256_srli_epi64(q, 4), half);
    *second = _mm256_xor_si256(*second, _mm256_shuffle_epi8(table, q));
}

INLINE void apply_six(rows *r, uint32_t header, const masks *a, const masks *b)
{
    __m128i m4 = join(a->m[4], b->m[4]);
    __m128i even = _mm_xor_si128(_mm_xor_si128(join(a->m[2], b->m[2]), m4), join(a->m[6], b->m[6]));
    __m128i odd = _mm_xor_si128(join(a->m[1], b->m[1]), _mm_xor_si128(join(a->m[3], b->m[3]), join(a->m[5], b->m[5])));
    __m256i n0 = nibbles(_mm_xor_si128(even, odd)), n1 = nibbles(even), n2 = nibbles(m4);
    __m256i table =
        _mm256_setr_epi64x((long long)width_at(header, 0)->quotients, (long long)width_at(header, 1)->quotients,
                           (long long)width_at(header, 2)->quotients, (long long)width_at(header, 3)->quotients);
    __m256i q01 = _mm256_or_si256(spread_nibbles(n0, 0, 1), spread_nibbles(n1, 0, 2));
    __m256i q23 = _mm256_or_si256(spread_nibbles(n0, 2, 1), spread_nibbles(n1, 2, 2));
    q01 = _mm256_or_si256(q01, spread_nibbles(n2, 0, 4));
    q23 = _mm256_or_si256(q23, spread_nibbles(n2, 2, 4));
    apply_two_rows(&r->row[0], &r->row[1], q01, table);
    apply_two_rows(&r->row[2], &r->row[3], q23, table);
}

INLINE void decode_groups(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch, unsigned layer_count,
                          bool slow)
{
    const uint8_t *headers = stream->headers, *low = stream->low;
    layers s = {.masks = stream->masks, .crowd = stream->crowd};
#pragma GCC unroll 8
    for (unsigned j = 2; j <= layer_count; j++) {
        s.layer[j] = stream->layer[j];
        s.at[j] = stream->at[j];
    }
    for (unsigned i = 0; i < count; i++, headers += 2, to += MR__L3_GROUP_W) {
        uint32_t header = (uint32_t)headers[1] << 8 | headers[0];
        rows r = unpack_group(&low, header);
        if (layer_count != 0) {
            masks a = read_pair(&s, headers[0], layer_count, slow), b = read_pair(&s, headers[1], layer_count, slow);
            if (layer_count == 3)
                apply_three(&r, header, &a, &b);
            else
                apply_six(&r, header, &a, &b);
        }
#pragma GCC unroll 4
        for (unsigned y = 0; y < 4; y++)
            _mm256_store_si256((void *)(to + y * pitch), r.row[y]);
    }
    stream->headers = headers;
    stream->low = low;
    stream->masks = s.masks;
    stream->crowd = s.crowd;
#pragma GCC unroll 8
    for (unsigned j = 2; j <= layer_count; j++)
        stream->at[j] = s.at[j];
}

TARGET static void groups0_u8_avx2(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 0, false);
}

TARGET static void groups3_u8_avx2(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 3, false);
}

TARGET static void groups6_u8_avx2(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 6, false);
}

TARGET static void groups3_slow_u8_avx2(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 3, true);
}

TARGET static void groups6_slow_u8_avx2(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 6, true);
}

void mr__l3_groups_init_avx2(mr__l3_pixel_kernels *table, mr__cpu_flags cpu)
{
    bool fast = (cpu & MR__CPU_FAST_PDEP) != 0;
    if ((cpu & MR__CPU_BMI2) == 0)
        return;
    table->groups[0] = groups0_u8_avx2;
    table->groups[1] = fast ? groups3_u8_avx2 : groups3_slow_u8_avx2;
    table->groups[2] = fast ? groups6_u8_avx2 : groups6_slow_u8_avx2;
}

#else
typedef int mr__no_avx2_here; /* ISO C wants a declaration in every file */
#endif
