// SPDX-License-Identifier: Apache-2.0
/*
 * The portable kernels of pixel mode, and the choice of kernels. Those that depend on the type of a sample are in
 * pixel_samples.h.
 *
 * Groups are decoded eight bytes at a time: a row of a block is 8 numbers of k bits, that is k bytes, and becomes one
 * word of 8 bytes.
 */
#include "codec/l3/pixel_kernels.h"

#include "base/bytes.h"
#include "codec/l3/pixel_deposit.h"

#include <string.h>

#define EACH(byte) ((uint64_t)(byte)*UINT64_C(0x0101010101010101))

/* What it takes to decode a block of width k. */
typedef struct width {
    uint64_t fours, twos, ones; /* masks: 4 numbers in the lower half, 2 in lower quarters, 1 in even bytes */
    uint64_t sign;              /* bit k - 1 of each byte */
    unsigned fill;              /* times that bit is the bits above it */
    unsigned k;
} width;

#define LOW(bits) ((UINT64_C(1) << (bits)) - 1)
#define WIDTH(k_)                                                                                                      \
    {                                                                                                                  \
        .fours = LOW(4 * (k_)), .twos = LOW(2 * (k_)) * UINT64_C(0x0000000100000001),                                  \
        .ones = LOW(k_) * UINT64_C(0x0001000100010001), .sign = EACH((1 << (k_)) >> 1), .fill = (1 << (9 - (k_))) - 2, \
        .k = (k_)                                                                                                      \
    }
/* The fill of no bits at all is never used. */
static const width widths[9] = {WIDTH(0), WIDTH(1), WIDTH(2), WIDTH(3), WIDTH(4),
                                WIDTH(5), WIDTH(6), WIDTH(7), WIDTH(8)};

/* A row of 8 signed numbers of k bits to 8 bytes. */
static inline uint64_t unpack_row(const uint8_t *from, const width *w)
{
    uint64_t x = mr__load_le64(from);
    x = (x & w->fours) | (x << (32 - 4 * w->k) & w->fours << 32);
    x = (x & w->twos) | (x << (16 - 2 * w->k) & w->twos << 16);
    x = (x & w->ones) | (x << (8 - w->k) & w->ones << 8);
    return x | (x & w->sign) * w->fill;
}

/* Quotients of a row, 4 bits each, to 8 bytes. */
static inline uint64_t spread_quotients(uint64_t q)
{
    q = (q | q << 16) & UINT64_C(0x0000ffff0000ffff);
    q = (q | q << 8) & UINT64_C(0x00ff00ff00ff00ff);
    return (q | q << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/*
 * v + (q << (k - 1)) if v is not negative, else v - (q << (k - 1)). v has copies of its sign from bit k - 1 on, and
 * v - x is ~(~v + x): either way the bits of the quotient change those copies, and nothing is carried.
 */
static inline uint64_t add_quotients(uint64_t v, uint64_t q, unsigned k)
{
    return v ^ (q & EACH(0xff >> (k - 1))) << (k - 1);
}

static inline unsigned count_ones(uint64_t x)
{
    x -= x >> 1 & EACH(0x55);
    x = (x & EACH(0x33)) + (x >> 2 & EACH(0x33));
    return (unsigned)(((x + (x >> 4)) & EACH(0x0f)) * EACH(1) >> 56);
}

/* The masks of a pair's layers, from layer 1 on. */
static inline __attribute__((always_inline)) void read_layers(mr__l3_stream *s, uint64_t *mask, unsigned layers)
{
    for (unsigned j = 2; j <= layers; j++) {
        unsigned count = count_ones(mask[j - 1]);
        uint64_t bits = mr__load_le64(s->layer[j] + (s->at[j] >> 3)) >> (s->at[j] & 7);
        mask[j] = mr__l3_deposit(bits, mask[j - 1], count);
        s->at[j] += count;
        if (j == 2)
            s->crowd |= count + 6;
    }
}

/* Layer 1 of a block, if it has layers. */
static inline uint64_t read_mask(mr__l3_stream *s, unsigned header)
{
    if (header <= 8)
        return 0;
    s->masks += 4;
    return mr__load_le32(s->masks - 4);
}

static inline __attribute__((always_inline)) void decode_block(mr__l3_stream *s, unsigned header, const uint64_t *mask,
                                                               unsigned layers, unsigned shift, uint8_t *to,
                                                               size_t pitch)
{
    static const uint8_t place[4] = {0, 2, 1, 3}; // of a row among the packed ones
    unsigned k = header > 8 ? header - 8 : header;
    for (unsigned y = 0; y < MR__L3_BLOCK_H; y++) {
        uint64_t v = unpack_row(s->low + place[y] * k, &widths[k]);
        if (layers != 0 && header > 8) {
            uint64_t q = 0;
            for (unsigned j = 1; j <= layers; j++)
                q += mask[j] >> (shift + y) & 0x11111111;
            v = add_quotients(v, spread_quotients(q), k);
        }
        mr__store_le64(to + y * pitch, v);
    }
    s->low += 4 * k;
}

static inline __attribute__((always_inline)) void decode_groups(mr__l3_stream *s, unsigned count, uint8_t *to,
                                                                size_t pitch, unsigned layers)
{
    for (unsigned pair = 0; pair < 2 * count; pair++, to += 2 * MR__L3_BLOCK_W) {
        unsigned first = *s->headers & 15, second = *s->headers >> 4;
        uint64_t mask[MR__L3_LAYER_MAX + 1];
        s->headers++;
        if (layers != 0) {
            mask[1] = read_mask(s, first);
            mask[1] |= read_mask(s, second) << 32;
            read_layers(s, mask, layers);
        }
        decode_block(s, first, mask, layers, 0, to, pitch);
        decode_block(s, second, mask, layers, 32, to + MR__L3_BLOCK_W, pitch);
    }
}

static void groups0_c(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 0);
}

static void groups3_c(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 3);
}

static void groups6_c(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch)
{
    decode_groups(stream, count, to, pitch, 6);
}

enum { CHUNK = 16, TILE_SIDE_MAX = 1024 };

#define T         uint8_t
#define DEPTH     8
#define NAME(x)   x##_u8_c
#define SIGNED(x) ((int8_t)(x))
#include "codec/l3/pixel_samples.h"
#undef T
#undef DEPTH
#undef NAME
#undef SIGNED

#define T         uint16_t
#define DEPTH     16
#define NAME(x)   x##_u16_c
#define SIGNED(x) ((int16_t)(x))
#include "codec/l3/pixel_samples.h"
#undef T
#undef DEPTH
#undef NAME
#undef SIGNED

void mr__l3_pixel_kernels_init_c(mr__l3_pixel_kernels *table)
{
    *table = (mr__l3_pixel_kernels){.groups = {groups0_c, groups3_c, groups6_c}};
    fill_u8_c(table);
    fill_u16_c(table);
}

void mr__l3_pixel_kernels_init(mr__l3_pixel_kernels *table, mr__cpu_flags cpu)
{
    mr__l3_pixel_kernels_init_c(table);
#if defined(__x86_64__)
    mr__l3_pixel_kernels_init_avx2(table, cpu);
#elif defined(__aarch64__)
    mr__l3_pixel_kernels_init_neon(table, cpu);
#endif
}
