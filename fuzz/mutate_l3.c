// SPDX-License-Identifier: Apache-2.0
/*
 * A mutator that knows how an L3 image is built (doc/format-l3.md). A plain fuzzer stops at the hash of the head; here
 * a mutation is done to a tile, to the list of tiles, to the head's fields, the mode part or the tail, and the index,
 * all lengths and all hashes are made right again. mutate.c leaves some wrong, so that the checks are tried too.
 */
#include "mutate.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

enum {
    FIXED_NBYTES = 40,
    PART_MAX = 512,
    TILES_MAX = 64,
    SECTIONS_MAX = 8,
    SECTION_NBYTES = 24, /* before its content */
    GROW = 64            /* bytes that a mutation may add */
};

/* A piece of a copy of the input. */
typedef struct piece {
    uint8_t *bytes;
    size_t nbytes;
} piece;

typedef struct section {
    uint8_t name[4];
    piece content;
} section;

typedef struct l3 {
    uint8_t fixed[FIXED_NBYTES];
    uint8_t part[PART_MAX];
    size_t part_nbytes;
    piece tile[TILES_MAX];
    size_t tiles;
    section section[SECTIONS_MAX];
    size_t sections;
} l3;

static uint64_t load(const uint8_t *p, unsigned nbytes)
{
    uint64_t v = 0;
    while (nbytes-- > 0)
        v = v << 8 | p[nbytes];
    return v;
}

static void store(uint8_t *p, uint64_t v, unsigned nbytes)
{
    for (unsigned i = 0; i < nbytes; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t draw(uint32_t *state, size_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((*state >> 8) % n);
}

/* How many tiles the fields ask for; 0: none that could be. */
static uint64_t count_tiles(const uint8_t *fixed)
{
    uint64_t tile_width = load(fixed + 24, 2), tile_height = load(fixed + 26, 2);
    if (tile_width == 0 || tile_height == 0)
        return 0;
    return ((load(fixed + 16, 4) + tile_width - 1) / tile_width) *
           ((load(fixed + 20, 4) + tile_height - 1) / tile_height);
}

static void parse_tail(l3 *p, uint8_t *at, uint8_t *end)
{
    while (end - at >= SECTION_NBYTES && p->sections < SECTIONS_MAX) {
        uint64_t nbytes = load(at + 8, 8);
        if (nbytes > (uint64_t)(end - at - SECTION_NBYTES))
            return;
        section *s = &p->section[p->sections++];
        memcpy(s->name, at, 4);
        s->content = (piece){at + SECTION_NBYTES, (size_t)nbytes};
        at += SECTION_NBYTES + nbytes;
    }
}

static bool parse(l3 *p, uint8_t *bytes, size_t nbytes)
{
    *p = (l3){.tiles = 0};
    memcpy(p->fixed, bytes, FIXED_NBYTES);
    uint64_t part = load(bytes + 28, 4), tiles = count_tiles(bytes), size = bytes[14];
    if (part > PART_MAX || tiles == 0 || tiles > TILES_MAX || size == 0 || size > 4)
        return false;
    size_t index = FIXED_NBYTES + (size_t)part, at = index + (size_t)(tiles * (size + 4)) + 8;
    if (at > nbytes)
        return false;
    memcpy(p->part, bytes + FIXED_NBYTES, (size_t)part);
    p->part_nbytes = (size_t)part;
    for (; p->tiles < tiles; p->tiles++) {
        uint64_t length = load(bytes + index + p->tiles * size, (unsigned)size);
        if (length > nbytes - at)
            return false;
        p->tile[p->tiles] = (piece){bytes + at, (size_t)length};
        at += (size_t)length;
    }
    parse_tail(p, bytes + at, bytes + nbytes);
    return true;
}

static size_t measure(const l3 *p, size_t *head_nbytes, unsigned *size_nbytes, uint64_t *tail_nbytes)
{
    size_t most = 0, sum = 0;
    *tail_nbytes = 0;
    for (size_t i = 0; i < p->tiles; i++) {
        sum += p->tile[i].nbytes;
        most = p->tile[i].nbytes > most ? p->tile[i].nbytes : most;
    }
    for (size_t i = 0; i < p->sections; i++)
        *tail_nbytes += SECTION_NBYTES + p->section[i].content.nbytes;
    *size_nbytes = most > 0xffffff ? 4 : most > 0xffff ? 3 : most > 0xff ? 2 : 1;
    *head_nbytes = FIXED_NBYTES + p->part_nbytes + p->tiles * (*size_nbytes + 4) + 8;
    return *head_nbytes + sum + (size_t)*tail_nbytes;
}

static uint8_t *write_section(uint8_t *to, const section *s)
{
    XXH3_state_t *state = XXH3_createState();
    memcpy(to, s->name, 4);
    memset(to + 4, 0, 4);
    store(to + 8, s->content.nbytes, 8);
    memcpy(to + SECTION_NBYTES, s->content.bytes, s->content.nbytes);
    if (state != NULL) {
        XXH3_64bits_reset(state);
        XXH3_64bits_update(state, to, 16);
        XXH3_64bits_update(state, to + SECTION_NBYTES, s->content.nbytes);
        store(to + 16, XXH3_64bits_digest(state), 8);
        XXH3_freeState(state);
    }
    return to + SECTION_NBYTES + s->content.nbytes;
}

/* Writes it with right lengths and hashes; 0 when it does not fit. */
static size_t write_l3(const l3 *p, uint8_t *to, size_t max_nbytes)
{
    size_t head_nbytes;
    unsigned size;
    uint64_t tail_nbytes;
    size_t nbytes = measure(p, &head_nbytes, &size, &tail_nbytes);
    if (nbytes > max_nbytes)
        return 0;
    memcpy(to, p->fixed, FIXED_NBYTES);
    to[14] = (uint8_t)size;
    store(to + 28, p->part_nbytes, 4);
    store(to + 32, tail_nbytes, 8);
    memcpy(to + FIXED_NBYTES, p->part, p->part_nbytes);
    uint8_t *sizes = to + FIXED_NBYTES + p->part_nbytes, *hashes = sizes + p->tiles * size, *at = to + head_nbytes;
    for (size_t i = 0; i < p->tiles; i++) {
        memcpy(at, p->tile[i].bytes, p->tile[i].nbytes);
        store(sizes + i * size, p->tile[i].nbytes, size);
        store(hashes + i * 4, XXH3_64bits(at, p->tile[i].nbytes), 4);
        at += p->tile[i].nbytes;
    }
    store(to + head_nbytes - 8, XXH3_64bits(to, head_nbytes - 8), 8);
    for (size_t i = 0; i < p->sections; i++)
        at = write_section(at, &p->section[i]);
    return nbytes;
}

/* Mutates a piece in a copy with room to grow, which the caller frees. */
static uint8_t *mutate_piece(piece *p)
{
    uint8_t *copy = malloc(p->nbytes + GROW);
    if (copy == NULL)
        return NULL;
    if (p->nbytes != 0)
        memcpy(copy, p->bytes, p->nbytes);
    p->nbytes = LLVMFuzzerMutate(copy, p->nbytes, p->nbytes + GROW);
    p->bytes = copy;
    return copy;
}

/* Other fields, and as many tiles as they then ask for. */
static void mutate_fixed(l3 *p, uint32_t *state)
{
    static const uint8_t at[] = {10, 11, 12, 13, 15, 16, 20, 24, 26};
    uint8_t *field = p->fixed + at[draw(state, sizeof at)];
    LLVMFuzzerMutate(field, 1, 1);
    uint64_t wanted = count_tiles(p->fixed);
    for (size_t have = p->tiles; p->tiles < wanted && p->tiles < TILES_MAX; p->tiles++)
        p->tile[p->tiles] = p->tile[p->tiles % have];
    if (wanted != 0 && wanted < p->tiles)
        p->tiles = (size_t)wanted;
}

static void mutate_list(l3 *p, uint32_t *state)
{
    size_t i = draw(state, p->tiles), j = draw(state, p->tiles);
    piece moved = p->tile[i];
    switch (draw(state, 3)) {
    case 0:
        p->tile[i] = p->tile[j];
        p->tile[j] = moved;
        break;
    case 1:
        p->tile[i] = p->tile[j];
        break;
    default:
        p->tile[i].nbytes = draw(state, moved.nbytes + 1);
    }
}

static void set_flags(l3 *p)
{
    p->fixed[15] = 0;
    for (size_t i = 0; i < p->sections; i++) {
        p->fixed[15] |= memcmp(p->section[i].name, "ICC ", 4) == 0 ? 1 : 0;
        p->fixed[15] |= memcmp(p->section[i].name, "ORIG", 4) == 0 ? 2 : 0;
    }
}

/* Mutates, adds or drops a section; the flags follow, mostly. */
static uint8_t *mutate_tail(l3 *p, uint32_t *state)
{
    static const char names[][5] = {"AAAA", "ICC ", "ORIG", "zzzz"};
    uint32_t kind = draw(state, 8);
    uint8_t *made = NULL;
    if ((p->sections == 0 || kind == 0) && p->sections < SECTIONS_MAX) {
        section *s = &p->section[p->sections++];
        memcpy(s->name, names[draw(state, 4)], 4);
        s->content = p->tile[0];
    } else if (kind == 1) {
        p->sections--;
    } else if (kind == 2) {
        memcpy(p->section[draw(state, p->sections)].name, names[draw(state, 4)], 4);
    } else {
        made = mutate_piece(&p->section[draw(state, p->sections)].content);
    }
    if (draw(state, 8) != 0)
        set_flags(p);
    return made;
}

bool fuzz_is_l3(const uint8_t *bytes, size_t nbytes)
{
    return nbytes > FIXED_NBYTES && memcmp(bytes, "\x8aMRL\r\n\x1a\n", 8) == 0;
}

size_t fuzz_mutate_l3(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed)
{
    uint32_t state = seed;
    uint8_t *copy = malloc(nbytes), *made = NULL;
    l3 *p = malloc(sizeof *p);
    size_t written = 0;
    if (copy != NULL && p != NULL) {
        memcpy(copy, bytes, nbytes);
        if (parse(p, copy, nbytes)) {
            uint32_t kind = draw(&state, 16);
            if (kind == 0)
                mutate_fixed(p, &state);
            else if (kind == 1)
                p->part_nbytes = LLVMFuzzerMutate(p->part, p->part_nbytes, draw(&state, 4) == 0 ? PART_MAX : 400);
            else if (kind == 2)
                mutate_list(p, &state);
            else if (kind < 6)
                made = mutate_tail(p, &state);
            else
                made = mutate_piece(&p->tile[draw(&state, p->tiles)]);
            written = write_l3(p, bytes, max_nbytes);
        }
    }
    free(made);
    free(copy);
    free(p);
    return written != 0 ? written : LLVMFuzzerMutate(bytes, nbytes, max_nbytes);
}
