// SPDX-License-Identifier: Apache-2.0
/*
 * MCUs of a sequential scan, written or counted: the bodies of kernels, which a file gives its instruction set. It can
 * have two things before it includes this: WRITE_TARGET, an attribute, and FIND_NONZERO(block), which gives a bit for
 * each coefficient that is not zero.
 */
#ifndef MR_CODEC_JPEG_SCAN_WRITE_KERNELS_H
#define MR_CODEC_JPEG_SCAN_WRITE_KERNELS_H

#include "codec/jpeg/scan_kernels.h"

#include <string.h>

#ifndef WRITE_TARGET
#define WRITE_TARGET
#endif
#define WRITE_INLINE WRITE_TARGET static inline __attribute__((always_inline))

#ifndef FIND_NONZERO
#define FIND_NONZERO find_nonzero

/* Four numbers at a time: the top bit of each tells, and a multiplication gathers them. */
WRITE_INLINE uint64_t find_nonzero(const int16_t *block)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64; i += 4) {
        uint64_t four;
        memcpy(&four, block + i, sizeof four);
        four |= (four & UINT64_C(0x7fff7fff7fff7fff)) + UINT64_C(0x7fff7fff7fff7fff);
        four = four >> 15 & UINT64_C(0x0001000100010001);
        mask |= (four * UINT64_C(0x0001000200040008) >> 48 & 15) << i;
    }
    return mask;
}
#endif

/* How many bits a value has without its sign; 0 has none. */
WRITE_INLINE uint32_t size_of(int32_t value)
{
    uint32_t magnitude = (uint32_t)(value < 0 ? -value : value);
    return magnitude == 0 ? 0 : 32 - (uint32_t)__builtin_clz(magnitude);
}

/* A code and its value's bits: a negative value's are those of value - 1. A size of 17 has no code. */
WRITE_INLINE void put_value(mr__jpeg_sink *sink, uint32_t code, int32_t value, uint32_t size, uint32_t *seen)
{
    uint32_t bits = (uint32_t)(value + (value >> 31)) & ((UINT32_C(1) << size) - 1);
    *seen |= code;
    mr__sink_put(sink, code >> 8 << size | bits, (code & 31) + size);
}

/* The codes for a block. */
WRITE_INLINE void write_block(mr__jpeg_sink *sink, const mr__huffman_writer *dc, const mr__huffman_writer *ac,
                              const int16_t *block, int32_t difference, uint32_t *seen)
{
    uint32_t size = size_of(difference), k = 0;
    put_value(sink, dc->code[size], difference, size, seen);
    for (uint64_t left = FIND_NONZERO(block) >> 1; left != 0;) {
        uint32_t run = (uint32_t)__builtin_ctzll(left);
        left = left >> run >> 1;
        k += run + 1;
        for (; run > 15; run -= 16)
            put_value(sink, ac->code[15 << 5], 0, 0, seen);
        size = size_of(block[k]);
        put_value(sink, ac->code[run << 5 | size], block[k], size, seen);
    }
    if (k != 63)
        put_value(sink, ac->code[0], 0, 0, seen);
}

WRITE_INLINE void count_block(uint32_t *dc, uint32_t *ac, const int16_t *block, int32_t difference)
{
    uint32_t k = 0;
    dc[size_of(difference)]++;
    for (uint64_t left = FIND_NONZERO(block) >> 1; left != 0;) {
        uint32_t run = (uint32_t)__builtin_ctzll(left);
        left = left >> run >> 1;
        k += run + 1;
        for (; run > 15; run -= 16)
            ac[0xf0]++;
        ac[(run << 4) + size_of(block[k])]++;
    }
    ac[0] += k != 63;
}

WRITE_INLINE int write_sequential(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    uint32_t seen = 0;
    for (uint32_t m = 0; m < mcus; m++) {
        int result = mr__jpeg_sink_room(w->sink);
        if (result != 0)
            return result;
        mr__jpeg_sink sink = *w->sink;
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            const int16_t *block = u->block;
            u->block += u->step;
            write_block(&sink, &w->dc[u->part], &w->ac[u->part], block, block[0] - w->before[u->part], &seen);
            w->before[u->part] = block[0];
        }
        w->sink->next = sink.next;
        w->sink->bits = sink.bits;
        w->sink->spare = sink.spare;
    }
    w->seen |= seen;
    return 0;
}

WRITE_INLINE int count_sequential(mr__jpeg_writer *w, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    for (uint32_t m = 0; m < mcus; m++)
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            const int16_t *block = u->block;
            u->block += u->step;
            count_block(w->counts->of[0][w->scan->dc[u->part]], w->counts->of[1][w->scan->ac[u->part]], block,
                        block[0] - w->before[u->part]);
            w->before[u->part] = block[0];
        }
    return 0;
}

#endif
