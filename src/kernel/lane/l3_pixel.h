// SPDX-License-Identifier: Apache-2.0
/*
 * L3's pixel mode on a device: what its kernels share. doc/format-l3.md, "Pixel mode", has the words.
 *
 *     l3_pixel.h           places, words of 8 samples, a row of residuals from the streams
 *     l3_pixel_places.h    where each block's bits are: a team a plane
 *     l3_pixel_lift.h      lifting: the base, then D, then B and C of each level
 *     l3_pixel_prefix.h    prefix prediction
 *     l3_pixel_pack.h      channels to pixels; tiles that come as pixels
 *
 * Why it is cut up so. A tile of a photograph is some 2^16 pixels of three channels, a batch some thousand tiles.
 *
 * 1. A lane makes 8 samples, a row of a block, in a word of 64 bits. The format packs such a row into whole bytes, so
 *    that a load, three shifts and a few masks unpack all of it; averages and sums of bytes are a handful of
 *    operations on the word. On a processor that is as good as vectors and needs no luck with a compiler; on a GPU a
 *    word is two registers, and loads and stores are 8 bytes a lane, one lane beside the other. A tile of 2^16 pixels
 *    still has 24576 lanes of such work, a batch some millions.
 * 2. Only places in the streams are sums over everything before them. A team finds them for a plane, with one scan for
 *    all headers and one for each layer: each lane adds up a run of blocks of its own, which is a short loop, instead
 *    of 32 lanes meeting for every 32 blocks. Counts alone are needed for that, of the bits as they are packed:
 *    nothing is deposited into masks.
 * 3. A number finds its bit in layer j by its rank among the ones of layer j - 1, where the rank in the layer after
 *    that is a count of the same packed word. So a row's quotients come from a mask and one word a layer, and need
 *    nobody else.
 * 4. Residuals do not go through memory: whoever predicts a row unpacks it. Prefix prediction is the exception, since
 *    its chain of rows should have little to do in each.
 * 5. A call is a tile, with all channels that take part: orders and turns are sent, and stay few.
 *
 * Whatever the streams hold, no lane reads outside of the tile's bytes and MR__L3_SLACK behind them: the host has
 * checked the lengths of headers, low bits and layer 1 (mr__l3_planes_read); l3_places cuts places in layers to their
 * ends, and refuses.
 */
#ifndef MR_KERNEL_LANE_L3_PIXEL_H
#define MR_KERNEL_LANE_L3_PIXEL_H

#include "kernel/l3_pixel.h"
#include "kernel/lane/lane.h"

enum {
    MR__L3_SLACK = 64,   /* bytes behind stored bytes that are read */
    MR__L3_LEVELS = 5,   /* of lifting, at most */
    MR__L3_STREAMS = 5,  /* layers behind the first, at most */
    MR__L3_ONES_MAX = 57 /* of a pair's layer 1 */
};

/* A channel of a tile. All places are in the arena. */
typedef struct mr__l3_plane_at {
    uint32_t headers, low, masks; /* stored, as are layers 2 to 6, of so many bits */
    uint32_t layers;              /* 0, 3 or 6 */
    uint32_t layer[MR__L3_STREAMS], limit[MR__L3_STREAMS];
    uint32_t groups;
    uint32_t starts; /* two words a group: where its low bits and its layer 1 begin, from `low` and `masks` on */
    uint32_t bits;   /* layers - 1 words a pair of blocks: where its bits begin in layer 2 and on */
    uint32_t levels; /* of lifting */
    uint32_t first[MR__L3_LEVELS], selectors[MR__L3_LEVELS]; /* of a level: its first group, its first selectors */
    uint32_t samples[MR__L3_LEVELS + 1]; /* of each level, in rows of mr__l3_pitch bytes; [0] is the channel */
    uint32_t d;                          /* D of the level at hand */
    uint32_t is_constant, sample;        /* of a constant channel */
    uint32_t values, value_count;        /* of a remapped channel */
} mr__l3_plane_at;

/* Planes of a tile that take part in something: their numbers, 8 bits each. */
typedef struct mr__l3_list {
    uint32_t planes; /* where they are: all of the tile's */
    uint32_t numbers, count;
    uint32_t status; /* of the sample */
} mr__l3_list;

/*
 * What lanes that are alone are spread over, for each plane of a list: `words` words of 8 in each of `rows` rows, from
 * word x and row y on. The lanes of a group are 2^shift words beside each other, in as many rows as it has for them.
 */
typedef struct mr__l3_field {
    uint32_t x, y, words, rows, shift;
} mr__l3_field;

#define MR__L3_FIELD_ACROSS(f) (((f).words + (1u << (f).shift) - 1) >> (f).shift)
#define MR__L3_FIELD_DOWN(f)   (((f).rows + (64u >> (f).shift) - 1) >> (6 - (f).shift))
#define MR__L3_FIELD_GROUPS(f) (MR__L3_FIELD_ACROSS(f) * MR__L3_FIELD_DOWN(f))

/* Where a lane is in a field; `number` is that of the plane in its list. */
typedef struct mr__l3_spot {
    uint32_t number, x, y;
    bool inside;
} mr__l3_spot;

MR_INLINE mr__l3_spot mr__l3_spot_of(MR_GLOBAL const mr__l3_field *f, uint32_t item, uint32_t id)
{
    uint32_t across = MR__L3_FIELD_ACROSS(*f), groups = across * MR__L3_FIELD_DOWN(*f);
    uint32_t number = item / groups, group = item - number * groups, down = group / across;
    uint32_t x = ((group - down * across) << f->shift) + (id & ((1u << f->shift) - 1));
    uint32_t y = (down << (6 - f->shift)) + (id >> f->shift);
    mr__l3_spot spot = {number, f->x + x, f->y + y, x < f->words && y < f->rows};
    return spot;
}

MR_INLINE MR_GLOBAL const mr__l3_plane_at *mr__l3_plane_of(MR_GLOBAL const uint8_t *arena,
                                                           MR_GLOBAL const mr__l3_list *list, uint32_t number)
{
    return (MR_GLOBAL const mr__l3_plane_at *)(arena + list->planes) + (list->numbers >> 8 * number & 255);
}

/* Rows of samples are whole groups, so that residuals fit in. */
MR_INLINE uint32_t mr__l3_pitch(uint32_t w)
{
    return (w + 31) & ~31u;
}

/* 1. Words of 8 samples. */

MR_INLINE uint64_t mr__l3_load(MR_GLOBAL const uint8_t *arena, uint32_t at)
{
    return *(MR_GLOBAL const uint64_t *)(arena + at);
}

MR_INLINE void mr__l3_store(MR_GLOBAL uint8_t *arena, uint32_t at, uint64_t word)
{
    *(MR_GLOBAL uint64_t *)(arena + at) = word;
}

/* 64 bits from any bit on: two words, since devices load words from their multiples alone. */
MR_INLINE uint64_t mr__l3_bits(MR_GLOBAL const uint8_t *arena, uint32_t at, uint32_t bit)
{
    at += bit >> 3;
    uint32_t shift = 8 * (at & 7) + (bit & 7);
    uint64_t first = mr__l3_load(arena, at & ~7u), second = mr__l3_load(arena, (at & ~7u) + 8);
    return first >> shift | second << 1 << (63 - shift);
}

MR_INLINE uint64_t mr__l3_add(uint64_t a, uint64_t b)
{
    const uint64_t low = MR__L3_EACH(0x7f);
    return ((a & low) + (b & low)) ^ ((a ^ b) & ~low);
}

MR_INLINE uint64_t mr__l3_sub(uint64_t a, uint64_t b)
{
    const uint64_t high = MR__L3_EACH(0x80);
    return ((a | high) - (b & ~high)) ^ ((a ^ ~b) & high);
}

/* (a + b + 1) >> 1. */
MR_INLINE uint64_t mr__l3_average(uint64_t a, uint64_t b)
{
    return (a | b) - ((a ^ b) >> 1 & MR__L3_EACH(0x7f));
}

/* Each the sum of itself and all below. */
MR_INLINE uint64_t mr__l3_sums(uint64_t a)
{
    a = mr__l3_add(a, a << 8);
    a = mr__l3_add(a, a << 16);
    return mr__l3_add(a, a << 32);
}

/* a0, b0, a1, b1, ... of the lower halves. */
MR_INLINE uint64_t mr__l3_zip(uint64_t a, uint64_t b)
{
    a = (a & 0xfffffffful) | (b & 0xfffffffful) << 32;
    a = (a & 0xffff00000000fffful) | (a >> 16 & 0xffff0000ul) | (a & 0xffff0000ul) << 16;
    return (a & 0xff0000ffff0000fful) | (a >> 8 & 0x0000ff000000ff00ul) | (a & 0x0000ff000000ff00ul) << 8;
}

/* Word x of a row of w samples at `row`; behind the last of them it has that one once more. */
MR_INLINE uint64_t mr__l3_word(MR_GLOBAL const uint8_t *arena, uint32_t row, uint32_t x, uint32_t w)
{
    uint32_t left = w - 8 * x; // w is 8 * x at least
    uint64_t word = left != 0 ? mr__l3_load(arena, row + 8 * x) : 0;
    if (left >= 8)
        return word;
    uint64_t last = arena[row + w - 1];
    return (word & MR__L3_LOW(8 * left)) | last << 8 * left;
}

/* The same, one sample to the right; `word` is the one that starts where the row does. */
MR_INLINE uint64_t mr__l3_word_right(MR_GLOBAL const uint8_t *arena, uint32_t row, uint32_t x, uint32_t w,
                                     uint64_t word)
{
    uint32_t next = 8 * x + 8 < w ? 8 * x + 8 : w - 1;
    return word >> 8 | (uint64_t)arena[row + next] << 56;
}

/* One sample to the left; before the first is that one once more. */
MR_INLINE uint64_t mr__l3_word_left(MR_GLOBAL const uint8_t *arena, uint32_t row, uint32_t x, uint64_t word)
{
    return word << 8 | (x != 0 ? (uint64_t)arena[row + 8 * x - 1] : word & 255);
}

/* 2. Streams. */

/* The headers of a group, a byte for each block. */
MR_INLINE uint32_t mr__l3_headers(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane,
                                  uint32_t group)
{
    uint32_t a = arena[plane->headers + 2 * group], b = arena[plane->headers + 2 * group + 1];
    return (a & 15) | a >> 4 << 8 | (b & 15) << 16 | b >> 4 << 24;
}

/* 1 for each block with layers. */
MR_INLINE uint32_t mr__l3_layered(uint32_t headers)
{
    return (headers + 0x07070707u) >> 4 & 0x01010101u;
}

/* The k of each block. */
MR_INLINE uint32_t mr__l3_widths(uint32_t headers, uint32_t layered)
{
    return headers - 8 * layered;
}

/* The sum of the lowest `count` bytes, 0 to 3, and that of all four. */
MR_INLINE uint32_t mr__l3_sum_below(uint32_t bytes, uint32_t count)
{
    return (bytes & ((1u << 8 * count) - 1)) * 0x01010101u >> 24;
}

MR_INLINE uint32_t mr__l3_sum_all(uint32_t bytes)
{
    return bytes * 0x01010101u >> 24;
}

MR_INLINE MR_GLOBAL const uint32_t *mr__l3_starts(MR_GLOBAL const uint8_t *arena,
                                                  MR_GLOBAL const mr__l3_plane_at *plane, uint32_t group)
{
    return (MR_GLOBAL const uint32_t *)(arena + plane->starts) + 2 * group;
}

/* Layer 1 of a pair of blocks: the lower or the upper one of the group whose layer 1 begins at `start`. */
MR_INLINE uint64_t mr__l3_mask(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane, uint32_t start,
                               uint32_t layered, uint32_t upper)
{
    uint32_t before = upper != 0 ? mr__l3_sum_below(layered, 2) : 0, own = layered >> 16 * upper & 0x0101u;
    uint64_t bits = mr__l3_bits(arena, plane->masks + start + 4 * before, 0);
    return own == 0x0101u ? bits : own == 1 ? bits & 0xfffffffful : own == 0 ? 0 : bits << 32;
}

/* As many of the lowest bits; 63 at most, since more have been refused. */
MR_INLINE uint64_t mr__l3_lowest(uint64_t bits, uint32_t count)
{
    return bits & MR__L3_LOW(count & 63);
}

/*
 * The quotients of a row, 4 bits each: bit `shift` of the pair's layer 1 is that of its first number, the next four
 * bits on. `ranks` has a byte for each number that is still counted: how many ones of the layer before are below its
 * own.
 */
MR_INLINE uint32_t mr__l3_quotients(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane,
                                    uint32_t pair, uint64_t mask, uint32_t shift)
{
    uint32_t row = (uint32_t)(mask >> shift) & 0x11111111u, sum = row, streams = plane->layers - 1;
    MR_GLOBAL const uint32_t *begin = (MR_GLOBAL const uint32_t *)(arena + plane->bits) + pair * streams;
    uint64_t ranks = 0, ones = mask;
    for (uint32_t left = row; left != 0; left &= left - 1) {
        uint32_t one = left & (0u - left);
        ranks |= (uint64_t)mr_count64(mask & (((uint64_t)one << shift) - 1)) << 2 * mr_count32(one - 1);
    }
    for (uint32_t j = 0; j < streams && row != 0; j++) {
        ones = mr__l3_lowest(mr__l3_bits(arena, plane->layer[j], begin[j]), mr_count64(ones));
        for (uint32_t left = row; left != 0; left &= left - 1) {
            uint32_t one = left & (0u - left), place = 2 * mr_count32(one - 1);
            uint32_t rank = (uint32_t)(ranks >> place) & 63;
            if ((ones >> rank & 1) != 0)
                ranks ^= (uint64_t)(rank ^ mr_count64(ones & MR__L3_LOW(rank))) << place;
            else
                row ^= one;
        }
        sum += row;
    }
    return sum;
}

/* Row `row` of block `block` of a group: 8 residuals. */
MR_INLINE uint64_t mr__l3_row(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__l3_plane_at *plane, uint32_t group,
                              uint32_t block, uint32_t row)
{
    uint32_t headers = mr__l3_headers(arena, plane, group), layered = mr__l3_layered(headers);
    uint32_t widths = mr__l3_widths(headers, layered), k = widths >> 8 * block & 15;
    MR_GLOBAL const uint32_t *starts = mr__l3_starts(arena, plane, group);
    uint32_t rank = (row & 1) << 1 | row >> 1; // rows 0 and 2 come first
    uint32_t low = plane->low + starts[0] + 4 * mr__l3_sum_below(widths, block) + rank * k;
    const mr__l3_width width = MR__L3_WIDTH(k);
    uint64_t v = mr__l3_unpack(mr__l3_bits(arena, low, 0), width);
    if ((layered >> 8 * block & 1) == 0)
        return v;
    uint64_t mask = mr__l3_mask(arena, plane, starts[1], layered, block >> 1);
    uint32_t q = mr__l3_quotients(arena, plane, 2 * group + (block >> 1), mask, 32 * (block & 1) + row);
    return mr__l3_add_quotients(v, mr__l3_spread_quotients(q), k);
}

/* The selector of a block, of those that begin at `selectors`. */
MR_INLINE uint32_t mr__l3_selector(MR_GLOBAL const uint8_t *arena, uint32_t selectors, uint32_t block)
{
    return arena[selectors + block / 4] >> 2 * (block & 3) & 3;
}

#endif
