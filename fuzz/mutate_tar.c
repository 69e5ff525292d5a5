// SPDX-License-Identifier: Apache-2.0
/*
 * Tar archives: bytes are changed within a block, sizes and types in a header, blocks are moved, doubled and dropped;
 * and most checksums are made right again.
 */
#include "mutate.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, MAGIC = 257, SIZE = 124, SIZE_NBYTES = 12, CHECKSUM = 148, TYPE = 156 };

static uint32_t draw(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % n;
}

static bool is_header(const uint8_t *block)
{
    return memcmp(block + MAGIC, "ustar", 5) == 0;
}

bool fuzz_is_tar(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= BLOCK && is_header(bytes);
}

static void sign(uint8_t *block)
{
    unsigned sum = 8 * ' ';
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= CHECKSUM && i < CHECKSUM + 8 ? 0 : block[i];
    snprintf((char *)block + CHECKSUM, 8, "%06o", sum);
    block[CHECKSUM + 7] = ' ';
}

/* A header among the blocks; the first one when there is no luck. */
static uint8_t *pick_header(uint8_t *bytes, size_t nbytes, uint32_t *state)
{
    for (int i = 0; i < 16; i++) {
        uint8_t *block = bytes + (size_t)draw(state, (uint32_t)(nbytes / BLOCK)) * BLOCK;
        if (is_header(block))
            return block;
    }
    return bytes;
}

static void mutate_size(uint8_t *block, uint32_t *state)
{
    static const uint32_t sizes[] = {0, 1, 511, 512, 513, 1023, 1024, 4096, 65536, 65537, 1 << 20, (1 << 20) + 1};
    snprintf((char *)block + SIZE, SIZE_NBYTES, "%011o", sizes[draw(state, sizeof sizes / sizeof *sizes)]);
    if (draw(state, 6) == 0) {
        memset(block + SIZE, 0, SIZE_NBYTES);
        block[SIZE] = 0x80;
        block[SIZE + 4 + draw(state, 8)] = (uint8_t)draw(state, 256);
    }
}

/* A block over another, or between two, or away. */
static size_t mutate_blocks(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t *state)
{
    size_t count = nbytes / BLOCK;
    size_t from = draw(state, (uint32_t)count) * (size_t)BLOCK, to = draw(state, (uint32_t)count) * (size_t)BLOCK;
    uint8_t block[BLOCK];
    memcpy(block, bytes + from, BLOCK);
    switch (draw(state, 3)) {
    case 0:
        memcpy(bytes + to, block, BLOCK);
        return nbytes;
    case 1:
        if (max_nbytes - nbytes < BLOCK)
            return nbytes;
        memmove(bytes + to + BLOCK, bytes + to, nbytes - to);
        memcpy(bytes + to, block, BLOCK);
        return nbytes + BLOCK;
    default:
        memmove(bytes + to, bytes + to + BLOCK, nbytes - to - BLOCK);
        return nbytes - BLOCK;
    }
}

static void mutate_within(uint8_t *bytes, size_t nbytes, uint32_t *state)
{
    uint8_t *block = bytes + (size_t)draw(state, (uint32_t)(nbytes / BLOCK)) * BLOCK;
    size_t used = BLOCK;
    while (used > 1 && block[used - 1] == 0)
        used--;
    size_t most = is_header(block) && draw(state, 2) == 0 ? 100 : used; /* of the name alone, half of the time */
    uint8_t part[BLOCK] = {0};
    memcpy(part, block, most);
    LLVMFuzzerMutate(part, most, most);
    memcpy(block, part, most);
}

size_t fuzz_mutate_tar(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed)
{
    static const char types[] = "00000\0123567SMxxgLLKVD";
    uint32_t state = seed;
    switch (draw(&state, 8)) {
    case 0:
        mutate_size(pick_header(bytes, nbytes, &state), &state);
        break;
    case 1:
        pick_header(bytes, nbytes, &state)[TYPE] = (uint8_t)types[draw(&state, sizeof types - 1)];
        break;
    case 2:
    case 3:
        nbytes = mutate_blocks(bytes, nbytes, max_nbytes, &state);
        break;
    case 4:
        nbytes = LLVMFuzzerMutate(bytes, nbytes, max_nbytes);
        break;
    default:
        mutate_within(bytes, nbytes, &state);
    }
    for (size_t at = 0; at + BLOCK <= nbytes && draw(&state, 40) != 0; at += BLOCK)
        if (is_header(bytes + at))
            sign(bytes + at);
    return nbytes;
}
