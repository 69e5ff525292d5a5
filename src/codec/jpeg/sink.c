// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/sink.h"

#include "base/size.h"

#include <string.h>

/* What is compared at once: it stays in the cache. */
enum { PIECE_NBYTES = 16384 };

static void begin(mr__jpeg_sink *s, mr__call *call, mr__buffer *buffer, mr__jpeg_padding *padding)
{
    *s = (mr__jpeg_sink){.call = call, .buffer = buffer, .padding = padding, .spare = 64};
    s->next = buffer->bytes;
    s->full = buffer->bytes + buffer->capacity - MR__SINK_ROOM;
}

int mr__jpeg_sink_write(mr__jpeg_sink *s, mr__call *call, mr__buffer *buffer, mr__jpeg_padding *padding)
{
    int result = mr__call_reserve(call, buffer, PIECE_NBYTES + MR__SINK_ROOM);
    if (result == 0)
        begin(s, call, buffer, padding);
    return result;
}

int mr__jpeg_sink_compare(mr__jpeg_sink *s, mr__call *call, mr__buffer *buffer, mr__jpeg_padding *padding)
{
    int result = mr__jpeg_sink_write(s, call, buffer, padding);
    if (result == 0) {
        s->compares = true;
        s->full = s->next + PIECE_NBYTES;
    }
    return result;
}

void mr__jpeg_sink_seek(mr__jpeg_sink *s, size_t at)
{
    s->at = at;
}

/* Compares what there is, and begins anew. */
static int compare(mr__jpeg_sink *s)
{
    const uint8_t *wanted = s->call->bytes + s->at, *made = s->buffer->bytes;
    size_t nbytes = mr__jpeg_sink_nbytes(s), left = s->call->nbytes - s->at, i = 0;
    if (nbytes <= left && memcmp(wanted, made, nbytes) == 0) {
        s->at += nbytes;
        s->next = s->buffer->bytes;
        return 0;
    }
    while (i < left && i < nbytes && wanted[i] == made[i])
        i++;
    return mr__call_fail(s->call, MR_EUNSUPPORTED,
                         "JPEG that was coded in an unusual way, seen at byte %zu: its file could not be made again",
                         s->at + i);
}

/* At least `nbytes` and an MCU more. */
static int grow(mr__jpeg_sink *s, size_t nbytes)
{
    size_t used = mr__jpeg_sink_nbytes(s), wanted;
    if (!mr__size_add(used, nbytes, &wanted) || wanted > s->call->limits->nbytes)
        return mr__call_fail(s->call, MR_ELIMIT, "JPEG of more than %llu bytes, the limit (limits.nbytes)",
                             (unsigned long long)s->call->limits->nbytes);
    if (mr__buffer_grow(s->buffer, s->call->hooks, used, wanted + 2 * MR__SINK_ROOM) != 0)
        return mr__call_no_memory(s->call);
    s->next = s->buffer->bytes + used;
    s->full = s->buffer->bytes + s->buffer->capacity - MR__SINK_ROOM;
    return 0;
}

int mr__jpeg_sink_make_room(mr__jpeg_sink *s)
{
    return s->compares ? compare(s) : grow(s, 0);
}

int mr__jpeg_sink_bytes(mr__jpeg_sink *s, const uint8_t *bytes, size_t nbytes)
{
    while (nbytes != 0) {
        size_t piece = nbytes < MR__SINK_ROOM ? nbytes : MR__SINK_ROOM;
        int result = mr__jpeg_sink_room(s);
        if (result != 0)
            return result;
        memcpy(s->next, bytes, piece);
        s->next += piece;
        bytes += piece;
        nbytes -= piece;
    }
    return 0;
}

/* The low bits of the byte at hand, and their place among the others. */
static int learn_padding(mr__jpeg_sink *s, uint32_t n, uint32_t *value)
{
    mr__jpeg_padding *p = s->padding;
    int result = compare(s);
    if (result != 0)
        return result;
    *value = s->at < s->call->nbytes ? s->call->bytes[s->at] & ((1u << n) - 1) : 0;
    if (mr__buffer_grow(&p->bits, s->call->hooks, (p->count + 7) / 8, (p->count + n + 7) / 8) != 0)
        return mr__call_no_memory(s->call);
    for (uint32_t i = n; i-- > 0; p->count++) {
        uint8_t *byte = &p->bits.bytes[p->count / 8], bit = *value >> i & 1;
        *byte = (uint8_t)((p->count % 8 == 0 ? 0 : *byte) | bit << (7 - p->count % 8));
        p->zeros |= bit == 0;
    }
    return 0;
}

static int give_padding(mr__jpeg_sink *s, uint32_t n, uint32_t *value)
{
    mr__jpeg_padding *p = s->padding;
    *value = 0;
    if (p == NULL || !p->zeros) {
        *value = (1u << n) - 1;
        return 0;
    }
    for (uint32_t i = 0; i < n; i++, p->used++) {
        if (p->used == p->count)
            return mr__call_fail(s->call, MR_ECORRUPT, "damaged origin of a JPEG: it has %zu padding bits, too few",
                                 p->count);
        *value = *value << 1 | (p->bits.bytes[p->used / 8] >> (7 - p->used % 8) & 1);
    }
    return 0;
}

int mr__jpeg_sink_align(mr__jpeg_sink *s)
{
    int result = mr__jpeg_sink_room(s);
    if (result != 0)
        return result;
    uint32_t missing = s->spare % 8, used = 64 - s->spare, value;
    s->next = mr__sink_stuff(s->next, s->bits >> used % 8, used / 8);
    if (missing != 0) {
        result = s->compares ? learn_padding(s, missing, &value) : give_padding(s, missing, &value);
        if (result != 0)
            return result;
        uint64_t rest = s->bits & ((1u << used % 8) - 1);
        s->next = mr__sink_stuff(s->next, rest << missing | value, 1);
    }
    s->bits = 0;
    s->spare = 64;
    return s->compares ? compare(s) : 0;
}
