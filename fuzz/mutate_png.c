// SPDX-License-Identifier: Apache-2.0
/*
 * A mutator that knows how a PNG is built. Chunk CRCs and the Adler-32 of the compressed rows stop a plain fuzzer at
 * the door; here a mutation is done to a chunk, to the list of chunks or to the rows themselves, and lengths, checksums
 * and compression are made right again. mutate.c leaves some wrong, so that the checks are tried too.
 */
#include "mutate.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE_NBYTES 8
#define FRAME_NBYTES     12 /* length, type, CRC */
#define CHUNKS_MAX       64
#define ROWS_NBYTES      (1 << 18)

/* A chunk in a copy of the input: `type` is four bytes, the data follows them. */
typedef struct chunk {
    uint8_t *type;
    size_t nbytes; /* of data */
} chunk;

typedef struct png {
    chunk chunk[CHUNKS_MAX];
    size_t count;
    uint8_t *tail; /* what follows the last whole chunk */
    size_t tail_nbytes;
} png;

static uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t draw(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static void parse(png *p, uint8_t *bytes, size_t nbytes)
{
    size_t at = SIGNATURE_NBYTES;
    p->count = 0;
    while (p->count < CHUNKS_MAX && nbytes - at >= FRAME_NBYTES &&
           load_be32(bytes + at) <= nbytes - at - FRAME_NBYTES) {
        p->chunk[p->count++] = (chunk){bytes + at + 4, load_be32(bytes + at)};
        at += FRAME_NBYTES + load_be32(bytes + at);
    }
    p->tail = bytes + at;
    p->tail_nbytes = nbytes - at;
}

/* Writes what fits, with right lengths and CRCs; returns its bytes. */
static size_t write_png(const png *p, uint8_t *to, size_t max_nbytes, const uint8_t *signature)
{
    size_t used = SIGNATURE_NBYTES;
    memcpy(to, signature, SIGNATURE_NBYTES);
    for (size_t i = 0; i < p->count; i++) {
        const chunk *c = &p->chunk[i];
        if (c->nbytes + FRAME_NBYTES > max_nbytes - used)
            return used;
        store_be32(to + used, (uint32_t)c->nbytes);
        memcpy(to + used + 4, c->type, 4 + c->nbytes);
        store_be32(to + used + 8 + c->nbytes, libdeflate_crc32(0, to + used + 4, 4 + c->nbytes));
        used += FRAME_NBYTES + c->nbytes;
    }
    size_t rest = p->tail_nbytes < max_nbytes - used ? p->tail_nbytes : max_nbytes - used;
    if (rest != 0)
        memcpy(to + used, p->tail, rest);
    return used + rest;
}

/* Moves, doubles, drops a chunk, or gives it another type. */
static void mutate_list(png *p, uint32_t *state)
{
    static const char types[][5] = {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "iCCP",
                                    "eXIf", "acTL", "fcTL", "fdAT", "cHRM", "sBIT", "bKGD"};
    size_t i = draw(state, (uint32_t)p->count), j = draw(state, (uint32_t)p->count);
    chunk moved = p->chunk[i];
    switch (draw(state, 4)) {
    case 0:
        p->chunk[i] = p->chunk[j];
        p->chunk[j] = moved;
        break;
    case 1:
        if (p->count == CHUNKS_MAX)
            break;
        memmove(p->chunk + j + 1, p->chunk + j, (p->count++ - j) * sizeof(chunk));
        p->chunk[j] = moved;
        break;
    case 2:
        memmove(p->chunk + i, p->chunk + i + 1, (--p->count - i) * sizeof(chunk));
        break;
    default:
        memcpy(p->chunk[i].type, types[draw(state, sizeof types / sizeof *types)], 4);
    }
}

/* Mutates the data of one chunk, in a copy with room to grow, which the caller frees. */
static uint8_t *mutate_data(png *p, uint32_t *state)
{
    chunk *c = &p->chunk[draw(state, (uint32_t)p->count)];
    size_t room = c->nbytes + 64;
    uint8_t *copy = malloc(4 + room);
    if (copy == NULL)
        return NULL;
    memcpy(copy, c->type, 4 + c->nbytes);
    bool header = memcmp(copy, "IHDR", 4) == 0 && c->nbytes == 13;
    c->nbytes = LLVMFuzzerMutate(copy + 4, c->nbytes, header ? 13 : room);
    if (header) { /* small sizes, or nothing would be decoded at all */
        memset(copy + 4, 0, draw(state, 8) != 0 ? 2 : 0);
        memset(copy + 8, 0, draw(state, 8) != 0 ? 2 : 0);
    }
    c->type = copy;
    return copy;
}

static bool is_rows(const chunk *c)
{
    return memcmp(c->type, "IDAT", 4) == 0;
}

/* The data of all IDAT chunks, decompressed; 0 when it cannot be. */
static size_t inflate_rows(const png *p, uint8_t *rows)
{
    size_t nbytes = 0, found = 0;
    for (size_t i = 0; i < p->count; i++)
        nbytes += is_rows(&p->chunk[i]) ? p->chunk[i].nbytes : 0;
    uint8_t *all = malloc(nbytes + 1);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    for (size_t i = 0, at = 0; all != NULL && i < p->count; i++) {
        if (!is_rows(&p->chunk[i]))
            continue;
        memcpy(all + at, p->chunk[i].type + 4, p->chunk[i].nbytes);
        at += p->chunk[i].nbytes;
    }
    if (all == NULL || d == NULL || libdeflate_zlib_decompress(d, all, nbytes, rows, ROWS_NBYTES, &found) != 0)
        found = 0;
    libdeflate_free_decompressor(d);
    free(all);
    return found;
}

/* Puts `parts` in the place of all IDAT chunks. */
static void replace_rows(png *p, const chunk *parts, size_t part_count)
{
    png old = *p;
    bool placed = false;
    p->count = 0;
    for (size_t i = 0; i < old.count && p->count + part_count <= CHUNKS_MAX; i++) {
        if (!is_rows(&old.chunk[i])) {
            p->chunk[p->count++] = old.chunk[i];
        } else if (!placed) {
            memcpy(p->chunk + p->count, parts, part_count * sizeof *parts);
            p->count += part_count;
            placed = true;
        }
    }
}

/* Compresses the rows into one IDAT or two. The caller frees what the chunks point at. */
static uint8_t *deflate_rows(png *p, const uint8_t *rows, size_t nbytes, uint32_t *state)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor((int)draw(state, 3) * 3);
    if (c == NULL)
        return NULL;
    size_t room = libdeflate_zlib_compress_bound(c, nbytes);
    uint8_t *made = malloc(4 + room + 4);
    if (made != NULL) {
        size_t found = libdeflate_zlib_compress(c, rows, nbytes, made + 4, room);
        size_t cut = draw(state, 4) == 0 && found != 0 ? draw(state, (uint32_t)found) : found;
        uint8_t *second = made + 4 + cut;
        memmove(second + 4, second, found - cut);
        memcpy(made, "IDAT", 4);
        memcpy(second, "IDAT", 4);
        replace_rows(p, (chunk[]){{made, cut}, {second, found - cut}}, cut < found ? 2 : 1);
    }
    libdeflate_free_compressor(c);
    return made;
}

static uint8_t *mutate_rows(png *p, uint32_t *state)
{
    uint8_t *rows = malloc(ROWS_NBYTES), *made = NULL;
    size_t nbytes = rows != NULL ? inflate_rows(p, rows) : 0;
    if (nbytes != 0) {
        nbytes = LLVMFuzzerMutate(rows, nbytes, ROWS_NBYTES);
        made = deflate_rows(p, rows, nbytes, state);
    }
    free(rows);
    return made;
}

bool fuzz_is_png(const uint8_t *bytes, size_t nbytes)
{
    return nbytes > SIGNATURE_NBYTES && memcmp(bytes, "\x89PNG\r\n\x1a\n", SIGNATURE_NBYTES) == 0;
}

size_t fuzz_mutate_png(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed)
{
    uint32_t state = seed;
    png p = {.count = 0};
    uint8_t *copy = malloc(nbytes), *made = NULL;
    if (copy == NULL)
        return nbytes;
    memcpy(copy, bytes, nbytes);
    parse(&p, copy, nbytes);
    if (p.count == 0) {
        free(copy);
        return LLVMFuzzerMutate(bytes, nbytes, max_nbytes);
    }
    switch (draw(&state, 8)) {
    case 0:
        mutate_list(&p, &state);
        break;
    case 1:
        p.tail_nbytes = 0;
        break;
    case 2:
    case 3:
    case 4:
        made = mutate_rows(&p, &state);
        break;
    default:
        made = mutate_data(&p, &state);
    }
    nbytes = write_png(&p, bytes, max_nbytes, copy);
    free(made);
    free(copy);
    return nbytes;
}
