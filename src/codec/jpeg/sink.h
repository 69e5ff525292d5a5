// SPDX-License-Identifier: Apache-2.0
/*
 * Where entropy-coded data is written: into a file that is being made, or against one that is there, with which it is
 * compared piece by piece and not kept.
 */
#ifndef MR_CODEC_JPEG_SINK_H
#define MR_CODEC_JPEG_SINK_H

#include "base/bytes.h"
#include "codec/codec.h"

/* What an MCU can take: 10 blocks of 64 symbols of 32 bits, each byte of which may be stuffed, and what is pending. */
enum { MR__SINK_ROOM = 10 * 64 * 4 * 2 + 32 };

/* Bits that fill up the last byte of an interval: all ones, unless they are given. */
typedef struct mr__jpeg_padding {
    mr__buffer bits; /* packed, the first at the top of a byte; made while comparing, else given */
    size_t count;
    size_t used;
    bool zeros; /* there is one that is not a one, so that they matter */
} mr__jpeg_padding;

typedef struct mr__jpeg_sink {
    mr__call *call;
    mr__buffer *buffer;
    mr__jpeg_padding *padding; /* NULL: ones */
    bool compares;             /* with call->bytes */
    size_t at;                 /* if so: where in them the buffer's first byte stands */
    uint8_t *next;             /* of the buffer; there are MR__SINK_ROOM bytes of room before an MCU */
    uint8_t *full;
    uint64_t bits;  /* not yet in the buffer, at the bottom */
    uint32_t spare; /* 64 less how many: 1 to 64 */
} mr__jpeg_sink;

/* Begins a file in an empty buffer. */
int mr__jpeg_sink_write(mr__jpeg_sink *sink, mr__call *call, mr__buffer *buffer, mr__jpeg_padding *padding);

/* Compares with call->bytes; the buffer is scratch. mr__jpeg_sink_seek says from where on. */
int mr__jpeg_sink_compare(mr__jpeg_sink *sink, mr__call *call, mr__buffer *buffer, mr__jpeg_padding *padding);
void mr__jpeg_sink_seek(mr__jpeg_sink *sink, size_t at);

/* Room for an MCU. MR_EUNSUPPORTED, with detail, at the first byte that is another. */
int mr__jpeg_sink_make_room(mr__jpeg_sink *sink);

static inline int mr__jpeg_sink_room(mr__jpeg_sink *sink)
{
    return sink->next <= sink->full ? 0 : mr__jpeg_sink_make_room(sink);
}

/* Bytes as they are; no bits are pending. */
int mr__jpeg_sink_bytes(mr__jpeg_sink *sink, const uint8_t *bytes, size_t nbytes);

/* Pads the bits to whole bytes, then nothing is pending; comparing, all has been compared. */
int mr__jpeg_sink_align(mr__jpeg_sink *sink);

/* How much has been written. */
static inline size_t mr__jpeg_sink_nbytes(const mr__jpeg_sink *sink)
{
    return (size_t)(sink->next - sink->buffer->bytes);
}

/* The bytes of a word, a zero behind each ff. */
static inline uint8_t *mr__sink_stuff(uint8_t *to, uint64_t word, uint32_t nbytes)
{
    for (uint32_t i = 0; i < nbytes; i++) {
        uint8_t byte = (uint8_t)(word >> (8 * (nbytes - 1 - i)));
        *to++ = byte;
        if (byte == 0xff)
            *to++ = 0;
    }
    return to;
}

/* n, 1 to 32, bits; there are no others in `value`. */
static inline __attribute__((always_inline)) void mr__sink_put(mr__jpeg_sink *s, uint32_t value, uint32_t n)
{
    if (__builtin_expect(n < s->spare, 1)) {
        s->bits = s->bits << n | value;
        s->spare -= n;
        return;
    }
    uint32_t rest = n - s->spare;
    uint64_t word = s->bits << s->spare | value >> rest, other = ~word;
    if (__builtin_expect(((other - UINT64_C(0x0101010101010101)) & word & UINT64_C(0x8080808080808080)) == 0, 1)) {
        mr__store_be32(s->next, (uint32_t)(word >> 32));
        mr__store_be32(s->next + 4, (uint32_t)word);
        s->next += 8;
    } else {
        s->next = mr__sink_stuff(s->next, word, 8);
    }
    s->bits = value; // what of it is written already will be shifted out
    s->spare = 64 - rest;
}

#endif
