// SPDX-License-Identifier: Apache-2.0
/*
 * NEON, which every aarch64 has: groups of blocks to residuals, and pixels out of channels. Compilers make vectors of
 * the portable lifting, base and remapping by themselves, and prefix waits for the sample on its left: these stay as
 * they are.
 *
 * There is no PDEP: see pixel_deposit.h.
 */
#if defined(__aarch64__)

#include "codec/l3/pixel_deposit.h"
#include "codec/l3/pixel_kernels.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* --- Groups --- */

/* What it takes to unpack a row of 8 numbers of k bits. */
typedef struct width {
    uint8_t shuffle[16]; /* the two bytes that number i is in */
    int16_t raise[8];    /* to the top of 16 bits */
} width;

#define BYTES(i, k)  (i) * (k) / 8, (i) * (k) / 8 + 1
#define BYTES4(i, k) BYTES(i, k), BYTES(i + 1, k), BYTES(i + 2, k), BYTES(i + 3, k)
#define RAISE(i, k)  16 - (k) - (i) * (k) % 8
#define RAISE4(i, k) RAISE(i, k), RAISE(i + 1, k), RAISE(i + 2, k), RAISE(i + 3, k)
#define WIDTH(k)                                                                                                       \
    {                                                                                                                  \
        {BYTES4(0, k), BYTES4(4, k)},                                                                                  \
        {                                                                                                              \
            RAISE4(0, k), RAISE4(4, k)                                                                                 \
        }                                                                                                              \
    }
static const width widths[9] = {WIDTH(0), WIDTH(1), WIDTH(2), WIDTH(3), WIDTH(4),
                                WIDTH(5), WIDTH(6), WIDTH(7), WIDTH(8)};

/* A row of 8 signed numbers. A shift by 16 gives 0, which is what numbers of no bits are. */
INLINE uint8x8_t unpack_row(const uint8_t *from, const width *w, int16x8_t lower)
{
    uint8x16_t pairs = vqtbl1q_u8(vld1q_u8(from), vld1q_u8(w->shuffle));
    uint16x8_t top = vshlq_u16(vreinterpretq_u16_u8(pairs), vld1q_s16(w->raise));
    return vmovn_u16(vreinterpretq_u16_s16(vshlq_s16(vreinterpretq_s16_u16(top), lower)));
}

/* Rows of the two blocks of a pair, side by side. */
typedef struct rows {
    uint8x16_t row[4];
} rows;

INLINE rows unpack_pair(const uint8_t **low, unsigned k0, unsigned k1)
{
    rows r;
    const uint8_t *first = *low, *second = first + 4 * k0;
    int16x8_t lower0 = vdupq_n_s16((int16_t)((int)k0 - 16)), lower1 = vdupq_n_s16((int16_t)((int)k1 - 16));
    for (unsigned y = 0; y < 4; y++) {
        unsigned place = y == 1 ? 2 : y == 2 ? 1 : y; // rows 0 and 2 come first
        r.row[y] = vcombine_u8(unpack_row(first + place * k0, &widths[k0], lower0),
                               unpack_row(second + place * k1, &widths[k1], lower1));
    }
    *low = second + 4 * k1;
    return r;
}

INLINE unsigned count_ones(uint64_t mask)
{
    return vaddv_u8(vcnt_u8(vcreate_u8(mask)));
}

INLINE uint64_t load_bits(const uint8_t *bytes, uint64_t at)
{
    uint64_t word;
    memcpy(&word, bytes + (at >> 3), sizeof word);
    return word >> (at & 7);
}

/* Layer 1 of a pair: the bytes are there only for blocks that have layers. */
INLINE uint64_t read_mask(mr__l3_stream *s, unsigned first, unsigned second)
{
    uint64_t word;
    memcpy(&word, s->masks, sizeof word);
    s->masks += 4 * ((first > 8) + (second > 8));
    if (first <= 8)
        return second > 8 ? word << 32 : 0;
    return second > 8 ? word : (uint32_t)word;
}

/* Changes the rows by the quotients of the pair. */
INLINE void apply_layers(mr__l3_stream *s, rows *r, unsigned first, unsigned second, unsigned layers)
{
    uint64_t mask = read_mask(s, first, second), q[4];
    for (unsigned y = 0; y < 4; y++)
        q[y] = mask >> y & UINT64_C(0x1111111111111111);
    for (unsigned j = 2; j <= layers; j++) {
        unsigned ones = count_ones(mask);
        uint64_t bits = load_bits(s->layer[j], s->at[j]);
        mask = mr__l3_deposit(bits, mask, ones);
        s->at[j] += ones;
        if (j == 2)
            s->crowd |= ones + 6;
        for (unsigned y = 0; y < 4; y++)
            q[y] += mask >> y & UINT64_C(0x1111111111111111); // of at most 6
    }
    int8x16_t by = vcombine_s8(vdup_n_s8((int8_t)(first > 8 ? (int)first - 9 : 0)),
                               vdup_n_s8((int8_t)(second > 8 ? (int)second - 9 : 0)));
    for (unsigned y = 0; y < 4; y++) {
        uint8x8_t nibbles = vcreate_u8(q[y]), even = vand_u8(nibbles, vdup_n_u8(15)), odd = vshr_n_u8(nibbles, 4);
        uint8x16_t quotients = vcombine_u8(vzip1_u8(even, odd), vzip2_u8(even, odd));
        r->row[y] = veorq_u8(r->row[y], vshlq_u8(quotients, by)); // see pixel_kernels.c, add_quotients
    }
}

INLINE void decode_groups(mr__l3_stream *s, unsigned count, uint8_t *to, size_t pitch, unsigned layers)
{
    for (unsigned pair = 0; pair < 2 * count; pair++, to += 16) {
        unsigned first = *s->headers & 15, second = *s->headers >> 4;
        s->headers++;
        rows r = unpack_pair(&s->low, first > 8 ? first - 8 : first, second > 8 ? second - 8 : second);
        if (layers != 0)
            apply_layers(s, &r, first, second, layers);
        for (unsigned y = 0; y < 4; y++)
            vst1q_u8(to + y * pitch, r.row[y]);
    }
}

static void groups0_u8_neon(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 0);
}

static void groups3_u8_neon(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 3);
}

static void groups6_u8_neon(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 6);
}

/* --- Pixels out of channels --- */

/* Of each kind: 16 bytes or 8 words of each channel at a time, the rest one by one. */
#define PACK2(T, LANES, SUFFIX, VECTOR)                                                                                \
    static void pack2_##SUFFIX##_neon(const void *const channel[4], unsigned n, void *to)                              \
    {                                                                                                                  \
        const T *a = channel[0], *b = channel[1];                                                                      \
        T *t = to;                                                                                                     \
        unsigned x = 0;                                                                                                \
        for (; n - x >= LANES; x += LANES)                                                                             \
            vst2q_##SUFFIX(t + 2 * x, (VECTOR##x2_t){{vld1q_##SUFFIX(a + x), vld1q_##SUFFIX(b + x)}});                 \
        for (; x < n; x++) {                                                                                           \
            t[2 * x] = a[x];                                                                                           \
            t[2 * x + 1] = b[x];                                                                                       \
        }                                                                                                              \
    }

/* With green: channel 1 less half, which is what its topmost bit the other way round is, is added to 0 and 2. */
#define PACK3(T, LANES, SUFFIX, VECTOR)                                                                                \
    INLINE void pack3_##SUFFIX(const void *const channel[4], unsigned n, void *to, bool green)                         \
    {                                                                                                                  \
        const T *a = channel[0], *b = channel[1], *c = channel[2], half = (T)(1u << (8 * sizeof(T) - 1));              \
        T *t = to;                                                                                                     \
        unsigned x = 0;                                                                                                \
        for (; n - x >= LANES; x += LANES) {                                                                           \
            VECTOR##_t va = vld1q_##SUFFIX(a + x), vb = vld1q_##SUFFIX(b + x), vc = vld1q_##SUFFIX(c + x);             \
            VECTOR##_t add = green ? veorq_##SUFFIX(vb, vdupq_n_##SUFFIX(half)) : vdupq_n_##SUFFIX(0);                 \
            vst3q_##SUFFIX(t + 3 * x, (VECTOR##x3_t){{vaddq_##SUFFIX(va, add), vb, vaddq_##SUFFIX(vc, add)}});         \
        }                                                                                                              \
        for (; x < n; x++) {                                                                                           \
            T add = green ? (T)(b[x] ^ half) : 0;                                                                      \
            t[3 * x] = (T)(a[x] + add);                                                                                \
            t[3 * x + 1] = b[x];                                                                                       \
            t[3 * x + 2] = (T)(c[x] + add);                                                                            \
        }                                                                                                              \
    }

#define PACK4(T, LANES, SUFFIX, VECTOR)                                                                                \
    INLINE void pack4_##SUFFIX(const void *const channel[4], unsigned n, void *to, bool green)                         \
    {                                                                                                                  \
        const T *a = channel[0], *b = channel[1], *c = channel[2], *d = channel[3];                                    \
        const T half = (T)(1u << (8 * sizeof(T) - 1));                                                                 \
        T *t = to;                                                                                                     \
        unsigned x = 0;                                                                                                \
        for (; n - x >= LANES; x += LANES) {                                                                           \
            VECTOR##_t va = vld1q_##SUFFIX(a + x), vb = vld1q_##SUFFIX(b + x), vc = vld1q_##SUFFIX(c + x);             \
            VECTOR##_t add = green ? veorq_##SUFFIX(vb, vdupq_n_##SUFFIX(half)) : vdupq_n_##SUFFIX(0);                 \
            vst4q_##SUFFIX(t + 4 * x, (VECTOR##x4_t){{vaddq_##SUFFIX(va, add), vb, vaddq_##SUFFIX(vc, add),            \
                                                      vld1q_##SUFFIX(d + x)}});                                        \
        }                                                                                                              \
        for (; x < n; x++) {                                                                                           \
            T add = green ? (T)(b[x] ^ half) : 0;                                                                      \
            t[4 * x] = (T)(a[x] + add);                                                                                \
            t[4 * x + 1] = b[x];                                                                                       \
            t[4 * x + 2] = (T)(c[x] + add);                                                                            \
            t[4 * x + 3] = d[x];                                                                                       \
        }                                                                                                              \
    }

#define VARIANT(channels, colour, SUFFIX, green)                                                                       \
    static void pack##channels##colour##_##SUFFIX##_neon(const void *const channel[4], unsigned n, void *to)           \
    {                                                                                                                  \
        pack##channels##_##SUFFIX(channel, n, to, green);                                                              \
    }

#define PACK_ALL(T, LANES, SUFFIX, VECTOR)                                                                             \
    PACK2(T, LANES, SUFFIX, VECTOR)                                                                                    \
    PACK3(T, LANES, SUFFIX, VECTOR)                                                                                    \
    PACK4(T, LANES, SUFFIX, VECTOR)                                                                                    \
    VARIANT(3, , SUFFIX, false)                                                                                        \
    VARIANT(3, _green, SUFFIX, true)                                                                                   \
    VARIANT(4, , SUFFIX, false)                                                                                        \
    VARIANT(4, _green, SUFFIX, true)

PACK_ALL(uint8_t, 16, u8, uint8x16)
PACK_ALL(uint16_t, 8, u16, uint16x8)

#define FILL(table, depth, SUFFIX)                                                                                     \
    do {                                                                                                               \
        (table)->pack[depth][2][0] = pack2_##SUFFIX##_neon;                                                            \
        (table)->pack[depth][3][0] = pack3_##SUFFIX##_neon;                                                            \
        (table)->pack[depth][3][1] = pack3_green_##SUFFIX##_neon;                                                      \
        (table)->pack[depth][4][0] = pack4_##SUFFIX##_neon;                                                            \
        (table)->pack[depth][4][1] = pack4_green_##SUFFIX##_neon;                                                      \
    } while (0)

void mr__l3_pixel_kernels_init_neon(mr__l3_pixel_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    table->groups[0] = groups0_u8_neon;
    table->groups[1] = groups3_u8_neon;
    table->groups[2] = groups6_u8_neon;
    FILL(table, 0, u8);
    FILL(table, 1, u16);
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
