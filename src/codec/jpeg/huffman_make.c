// SPDX-License-Identifier: Apache-2.0
/* Huffman tables that no file has to give: the standard's, and those made for the data at hand. */
#include "codec/jpeg/huffman.h"

#include <string.h>

/*
 * T.81, Annex K.3. The symbols of each length come in the order of the standard, which for AC is nearly that of their
 * runs and sizes.
 */
static const uint8_t dc_luma[] = {0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const uint8_t dc_chroma[] = {0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0,  0,
                                    0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const uint8_t ac_luma[] = {
    0,    2,    1,    3,    3,    2,    4,    3,    5,    5,    4,    4,    0,    0,    1,    125, // counts
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
    0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72,
    0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3,
    0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
    0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
};
static const uint8_t ac_chroma[] = {
    0,    2,    1,    2,    4,    4,    3,    4,    7,    5,    4,    4,    0,    1,    2,    119, // counts
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
    0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1,
    0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36,
    0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
    0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
    0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
    0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba,
    0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda,
    0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
};

void mr__huffman_standard(mr__huffman *table, uint32_t table_class, uint32_t number)
{
    static const struct {
        const uint8_t *bytes;
        size_t nbytes;
    } all[2][2] = {{{dc_luma, sizeof dc_luma}, {dc_chroma, sizeof dc_chroma}},
                   {{ac_luma, sizeof ac_luma}, {ac_chroma, sizeof ac_chroma}}};
    mr__huffman_parse(table, all[table_class][number].bytes, all[table_class][number].nbytes);
}

/* One more than the symbols: the code of all ones, which nobody may have, belongs to a symbol of its own. */
enum { NOBODY = MR__HUFFMAN_COUNT_MAX, TREE_MAX = MR__HUFFMAN_COUNT_MAX + 1 };

/* The symbols and groups of symbols that are left, in the order of their numbers. */
typedef struct forest {
    uint32_t counts[TREE_MAX];
    uint16_t symbols[TREE_MAX];
    uint32_t count;
} forest;

/* The two rarest, and among equals the last ones: *a is the rarest. There are two at least. */
static void find_rarest(const forest *f, uint32_t *a, uint32_t *b)
{
    uint32_t first = f->counts[1] <= f->counts[0], second = 1 - first;
    for (uint32_t i = 2; i < f->count; i++) {
        if (f->counts[i] > f->counts[second])
            continue;
        second = i;
        if (f->counts[i] <= f->counts[first]) {
            second = first;
            first = i;
        }
    }
    *a = first;
    *b = second;
}

/* Two become one, which has the first's place. */
static void join(forest *f, uint32_t a, uint32_t b)
{
    f->counts[a] += f->counts[b];
    f->count--;
    memmove(f->counts + b, f->counts + b + 1, (f->count - b) * sizeof *f->counts);
    memmove(f->symbols + b, f->symbols + b + 1, (f->count - b) * sizeof *f->symbols);
}

/* Each symbol of a chain is one bit longer; returns the chain's end. */
static int lengthen(uint8_t sizes[TREE_MAX], const int next[TREE_MAX], int i)
{
    for (;; i = next[i]) {
        sizes[i]++;
        if (next[i] < 0)
            return i;
    }
}

/* T.81, figure K.1: the code length of each symbol. Symbols that were joined hang together in a chain. */
static void find_sizes(const uint32_t counts[TREE_MAX], uint8_t sizes[TREE_MAX])
{
    forest f = {.count = 0};
    int next[TREE_MAX];
    memset(sizes, 0, TREE_MAX);
    for (uint32_t i = 0; i < TREE_MAX; i++) {
        next[i] = -1;
        if (counts[i] == 0)
            continue;
        f.counts[f.count] = counts[i];
        f.symbols[f.count++] = (uint16_t)i;
    }
    while (f.count > 1) {
        uint32_t a, b;
        find_rarest(&f, &a, &b);
        next[lengthen(sizes, next, f.symbols[a])] = f.symbols[b];
        lengthen(sizes, next, f.symbols[b]);
        join(&f, a, b);
    }
}

/* T.81, figure K.3: no code longer than 16 bits. Two of the longest become one shorter, beside a shorter one split. */
static void shorten(uint32_t of_length[TREE_MAX])
{
    for (int i = TREE_MAX - 1; i > MR__HUFFMAN_LENGTH_MAX; i--)
        while (of_length[i] > 0) {
            int j = i - 2;
            while (of_length[j] == 0)
                j--;
            of_length[i] -= 2;
            of_length[i - 1]++;
            of_length[j + 1] += 2;
            of_length[j]--;
        }
}

void mr__huffman_optimal(mr__huffman *table, uint32_t counts[MR__HUFFMAN_COUNT_MAX + 1])
{
    uint8_t sizes[TREE_MAX];
    uint32_t of_length[TREE_MAX] = {0};
    int longest_made = 0;
    counts[NOBODY] = 1;
    find_sizes(counts, sizes);
    for (int i = 0; i < TREE_MAX; i++) {
        of_length[sizes[i]]++;
        longest_made = sizes[i] > longest_made ? sizes[i] : longest_made;
    }
    of_length[0] = 0;
    shorten(of_length);
    int longest = MR__HUFFMAN_LENGTH_MAX;
    while (longest > 0 && of_length[longest] == 0)
        longest--;
    if (longest > 0)
        of_length[longest]--; // nobody's, the last of the longest
    *table = (mr__huffman){.is_there = true};
    for (int i = 1; i <= MR__HUFFMAN_LENGTH_MAX; i++)
        table->counts[i] = (uint8_t)of_length[i];
    for (int length = 1; length <= longest_made; length++) // before they were shortened
        for (int i = 0; i < NOBODY; i++)
            if (sizes[i] == length)
                table->symbols[table->count++] = (uint8_t)i;
}
