// SPDX-License-Identifier: Apache-2.0
/*
 * A mutator that knows how a JPEG is built: pieces, each a marker with its segment, a scan's with its data behind it.
 * Pieces are moved, doubled and dropped, their bytes changed with the length made right again, and the numbers that
 * decide most (sizes, factors, tables, scan parameters, restart intervals) are set to what is just possible.
 */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 64

enum { SOF0 = 0xc0, SOF2 = 0xc2, DHT = 0xc4, RST0 = 0xd0, RST7 = 0xd7, EOI = 0xd9, SOS = 0xda, DQT = 0xdb, DRI = 0xdd };

/* In a copy of the input. */
typedef struct piece {
    uint8_t *bytes; /* from its FF on */
    size_t nbytes;
    size_t head; /* marker and segment; a scan's data comes behind */
} piece;

typedef struct jpeg {
    piece piece[PIECES_MAX];
    size_t count;
    uint8_t *tail; /* what is behind the end, or cannot be cut into pieces */
    size_t tail_nbytes;
} jpeg;

static uint32_t draw(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

/* The bytes of a scan's data from `at` on: up to a marker that is no restart. */
static size_t measure_data(const uint8_t *bytes, size_t nbytes, size_t at)
{
    size_t from = at;
    while (at + 1 < nbytes && (bytes[at] != 0xff || bytes[at + 1] == 0 || bytes[at + 1] == 0xff ||
                               (bytes[at + 1] >= RST0 && bytes[at + 1] <= RST7)))
        at++;
    return (at + 1 < nbytes ? at : nbytes) - from;
}

static void parse(jpeg *j, uint8_t *bytes, size_t nbytes)
{
    size_t at = 2;
    j->count = 0;
    while (j->count < PIECES_MAX && nbytes - at >= 4 && bytes[at] == 0xff && bytes[at + 1] >= SOF0 &&
           bytes[at + 1] != EOI) {
        size_t head = 2 + ((size_t)bytes[at + 2] << 8 | bytes[at + 3]);
        if (head < 4 || head > nbytes - at)
            break;
        size_t data = bytes[at + 1] == SOS ? measure_data(bytes, nbytes, at + head) : 0;
        j->piece[j->count++] = (piece){bytes + at, head + data, head};
        at += head + data;
    }
    j->tail = bytes + at;
    j->tail_nbytes = nbytes - at;
}

static size_t write_jpeg(const jpeg *j, uint8_t *to, size_t max_nbytes)
{
    size_t used = 2;
    memcpy(to, "\xff\xd8", 2);
    for (size_t i = 0; i <= j->count; i++) {
        const uint8_t *bytes = i < j->count ? j->piece[i].bytes : j->tail;
        size_t nbytes = i < j->count ? j->piece[i].nbytes : j->tail_nbytes;
        nbytes = nbytes < max_nbytes - used ? nbytes : max_nbytes - used;
        memcpy(to + used, bytes, nbytes);
        used += nbytes;
    }
    return used;
}

/* Swaps, doubles or drops pieces. */
static void mutate_list(jpeg *j, uint32_t *state)
{
    size_t a = draw(state, (uint32_t)j->count), b = draw(state, (uint32_t)j->count);
    piece moved = j->piece[a];
    switch (draw(state, 3)) {
    case 0:
        j->piece[a] = j->piece[b];
        j->piece[b] = moved;
        break;
    case 1:
        if (j->count == PIECES_MAX)
            break;
        memmove(j->piece + b + 1, j->piece + b, (j->count++ - b) * sizeof(piece));
        j->piece[b] = moved;
        break;
    default:
        memmove(j->piece + a, j->piece + a + 1, (--j->count - a) * sizeof(piece));
    }
}

static void mutate_frame(uint8_t *p, size_t nbytes, uint32_t *state)
{
    static const uint8_t factors[] = {0x11, 0x21, 0x12, 0x22, 0x41, 0x14, 0x42, 0x24, 0x31, 0x13, 0x33, 0x44};
    size_t count = nbytes > 9 ? p[9] : 0;
    if (count == 0 || nbytes < 10 + 3 * count)
        return;
    uint8_t *c = p + 10 + 3 * draw(state, (uint32_t)count);
    switch (draw(state, 6)) {
    case 0:
        p[5 + 2 * draw(state, 2)] = 0;
        p[6 + 2 * draw(state, 2)] = (uint8_t)(1 + draw(state, 70));
        break;
    case 1:
        p[1] = (uint8_t)(SOF0 + draw(state, 3));
        break;
    case 2:
        c[0] = (uint8_t)draw(state, 5);
        break;
    case 3:
        c[2] = (uint8_t)draw(state, 5);
        break;
    default:
        c[1] = factors[draw(state, sizeof factors)];
    }
}

static void mutate_scan(uint8_t *p, size_t nbytes, uint32_t *state)
{
    static const uint8_t places[] = {0, 0, 1, 1, 2, 5, 6, 62, 63, 63, 64};
    size_t count = nbytes > 4 ? p[4] : 0;
    if (count == 0 || count > 4 || nbytes < 8 + 2 * count)
        return;
    uint8_t *c = p + 5 + 2 * draw(state, (uint32_t)count), *last = p + 5 + 2 * count;
    switch (draw(state, 5)) {
    case 0:
        c[0] = (uint8_t)draw(state, 5);
        break;
    case 1:
        c[1] = (uint8_t)(draw(state, 5) << 4 | draw(state, 5));
        break;
    case 2:
        last[2] = (uint8_t)(draw(state, 4) << 4 | draw(state, 4));
        break;
    default:
        last[draw(state, 2)] = places[draw(state, sizeof places)];
    }
}

/* A table: its number, a count of codes, a symbol or quantiser at the edge of what can be. */
static void mutate_table(uint8_t *p, size_t nbytes, uint32_t *state)
{
    static const uint8_t edges[] = {0x00, 0x01, 0xf0, 0x0f, 0x0c, 0x0b, 0xff, 0x10, 0xe0, 0x7f, 0x80, 0xfe};
    if (nbytes < 24)
        return;
    switch (draw(state, 3)) {
    case 0:
        p[4] ^= (uint8_t)(1 << draw(state, 8));
        break;
    case 1:
        if (p[1] == DHT) { // as many codes as before, of other lengths
            uint8_t *from = p + 5 + draw(state, 16), *to = p + 5 + draw(state, 16);
            *to = (uint8_t)(*to + (*from != 0));
            *from = (uint8_t)(*from - (*from != 0));
            break;
        } // fall through
    default:
        p[5 + draw(state, (uint32_t)nbytes - 5)] = edges[draw(state, sizeof edges)];
    }
}

/* A scan's data: a part of it from elsewhere, or less of it. */
static void mutate_data(piece *p, uint32_t *state)
{
    size_t nbytes = p->nbytes - p->head;
    uint8_t *data = p->bytes + p->head;
    if (nbytes < 4)
        return;
    size_t from = draw(state, (uint32_t)nbytes), to = draw(state, (uint32_t)nbytes), most = from > to ? from : to;
    size_t n = 1 + draw(state, (uint32_t)(nbytes - most));
    switch (draw(state, 4)) {
    case 0:
        memmove(data + to, data + from, n);
        break;
    case 1:
        p->nbytes -= nbytes - from;
        break;
    case 2:
        memset(data + from, draw(state, 2) == 0 ? 0 : 0xfe, n);
        break;
    default:
        data[from] = (uint8_t)(draw(state, 2) == 0 ? 0xff : RST0 + draw(state, 8));
    }
}

static void mutate_meaning(jpeg *j, uint32_t *state)
{
    piece *p = &j->piece[draw(state, (uint32_t)j->count)];
    uint8_t marker = p->bytes[1];
    if (marker >= SOF0 && marker <= SOF2)
        mutate_frame(p->bytes, p->head, state);
    else if (marker == SOS && draw(state, 2) == 0)
        mutate_data(p, state);
    else if (marker == SOS)
        mutate_scan(p->bytes, p->head, state);
    else if (marker == DHT || marker == DQT)
        mutate_table(p->bytes, p->head, state);
    else if (marker == DRI && p->head == 6)
        p->bytes[5] = (uint8_t)draw(state, 9);
}

/* Fill bytes before a restart marker of a scan's data, in a copy that the caller frees; NULL: there is none. */
static uint8_t *mutate_fill(jpeg *j, uint32_t *state)
{
    piece *p = &j->piece[draw(state, (uint32_t)j->count)];
    size_t nbytes = p->nbytes - p->head, from = nbytes > 2 ? draw(state, (uint32_t)nbytes) : 0, n = 1 + draw(state, 9);
    for (size_t i = 0; i + 1 < nbytes; i++) {
        size_t at = p->head + (from + i) % (nbytes - 1);
        if (p->bytes[at] != 0xff || p->bytes[at + 1] < RST0 || p->bytes[at + 1] > RST7)
            continue;
        uint8_t *copy = malloc(p->nbytes + n);
        if (copy == NULL)
            return NULL;
        memcpy(copy, p->bytes, at);
        memset(copy + at, 0xff, n);
        memcpy(copy + at + n, p->bytes + at, p->nbytes - at);
        p->bytes = copy;
        p->nbytes += n;
        return copy;
    }
    return NULL;
}

/* Any change to one piece, in a copy with room to grow, which the caller frees. */
static uint8_t *mutate_piece(jpeg *j, uint32_t *state)
{
    piece *p = &j->piece[draw(state, (uint32_t)j->count)];
    size_t room = p->nbytes + 64, data = p->nbytes - p->head;
    uint8_t *copy = malloc(room);
    if (copy == NULL)
        return NULL;
    memcpy(copy, p->bytes, p->nbytes);
    if (data != 0 && draw(state, 4) != 0) {
        p->nbytes = p->head + LLVMFuzzerMutate(copy + p->head, data, room - p->head);
    } else {
        size_t head = 4 + LLVMFuzzerMutate(copy + 4, p->head - 4, p->head - 4 + 32);
        memcpy(copy + head, p->bytes + p->head, data);
        copy[2] = (uint8_t)((head - 2) >> 8);
        copy[3] = (uint8_t)(head - 2);
        p->nbytes = head + data;
        p->head = head;
    }
    p->bytes = copy;
    return copy;
}

bool fuzz_is_jpeg(const uint8_t *bytes, size_t nbytes)
{
    return nbytes > 6 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

size_t fuzz_mutate_jpeg(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed)
{
    uint32_t state = seed;
    jpeg j = {.count = 0};
    uint8_t *copy = malloc(nbytes), *made = NULL;
    if (copy == NULL)
        return nbytes;
    memcpy(copy, bytes, nbytes);
    parse(&j, copy, nbytes);
    if (j.count == 0) {
        free(copy);
        return LLVMFuzzerMutate(bytes, nbytes, max_nbytes);
    }
    switch (draw(&state, 9)) {
    case 0:
    case 1:
        mutate_list(&j, &state);
        break;
    case 2:
        j.tail_nbytes = j.tail_nbytes > 8 ? 8 : 0;
        break;
    case 3:
    case 4:
        made = mutate_piece(&j, &state);
        break;
    case 5:
        made = mutate_fill(&j, &state);
        break;
    default:
        mutate_meaning(&j, &state);
    }
    nbytes = write_jpeg(&j, bytes, max_nbytes);
    free(made);
    free(copy);
    return nbytes;
}
