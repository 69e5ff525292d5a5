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
#include "kernel/l3_pixel.h"

#include <string.h>

#define EACH(byte) MR__L3_EACH(byte)

static const mr__l3_width widths[9] = {MR__L3_WIDTH(0), MR__L3_WIDTH(1), MR__L3_WIDTH(2),
                                       MR__L3_WIDTH(3), MR__L3_WIDTH(4), MR__L3_WIDTH(5),
                                       MR__L3_WIDTH(6), MR__L3_WIDTH(7), MR__L3_WIDTH(8)};

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
        uint64_t v = mr__l3_unpack(mr__load_le64(s->low + place[y] * k), widths[k]);
        if (layers != 0 && header > 8) {
            uint64_t q = 0;
            for (unsigned j = 1; j <= layers; j++)
                q += mask[j] >> (shift + y) & 0x11111111;
            v = mr__l3_add_quotients(v, mr__l3_spread_quotients(q), k);
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
