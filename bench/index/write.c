// SPDX-License-Identifier: Apache-2.0
/*
 * An index as the document has it, written section after section without holding any of it: so it can be far larger
 * than the memory, and what the library reads was not written by the library. The key map is sorted a range of hashes
 * at a time; for each range all keys are hashed again.
 */
#include "index.h"

#include "base/bytes.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 128, ENTRY = 32, SECTIONS = 3, FIRST = 256, RECORD = 48, RANGE_SAMPLES = 1 << 23 };

#define STRIDE   UINT64_C(115000) /* bytes of one image in the shard, with its header and label */
#define IMAGE(i) (UINT64_C(100000) + (i) % 9999)

typedef struct output {
    FILE *file;
    uint64_t at;
    mr__hasher hasher; /* of the section */
    uint8_t entries[SECTIONS * ENTRY];
    unsigned sections;
} output;

static void put(output *out, const void *bytes, size_t nbytes)
{
    if (fwrite(bytes, 1, nbytes, out->file) != nbytes) {
        perror("index: writing failed");
        exit(1);
    }
    out->at += nbytes;
    mr__hasher_add(&out->hasher, bytes, nbytes);
}

static void begin_section(output *out)
{
    static const uint8_t zeros[64];
    put(out, zeros, (0 - out->at) % 64);
    mr__hasher_init(&out->hasher);
    mr__store_le64(out->entries + out->sections * ENTRY + 8, out->at);
}

static void end_section(output *out)
{
    uint8_t *entry = out->entries + out->sections++ * ENTRY;
    mr__store_le32(entry, out->sections);
    mr__store_le64(entry + 16, out->at - mr__load_le64(entry + 8));
    mr__store_le64(entry + 24, mr__hasher_value(&out->hasher));
}

static void write_digits(char *to, int digits, uint64_t value)
{
    for (int i = digits; i-- > 0; value /= 10)
        to[i] = (char)('0' + value % 10);
}

void write_key(uint64_t position, char key[KEY_NBYTES + 1])
{
    memcpy(key, "n00000000/000000000.jpg", KEY_NBYTES + 1);
    write_digits(key + 1, 8, position / 1300);
    write_digits(key + 10, 9, position);
}

static void put_records(output *out, uint64_t samples)
{
    begin_section(out);
    for (uint64_t i = 0; i < samples; i++) {
        uint8_t record[RECORD] = {0};
        mr__store_le64(record, i * STRIDE);
        mr__store_le32(record + 8, (uint32_t)IMAGE(i));
        record[13] = 1; // jpeg
        record[14] = 3;
        record[15] = 8;
        mr__store_le32(record + 16, 500);
        mr__store_le32(record + 20, 375);
        mr__store_le64(record + 32, i / 1300);
        record[40] = 1; // an integer
        record[44] = 1;
        put(out, record, sizeof record);
    }
    end_section(out);
}

static void put_keys(output *out, uint64_t samples)
{
    begin_section(out);
    for (uint64_t i = 0; i <= samples; i++) {
        uint8_t place[8];
        mr__store_le64(place, i * (KEY_NBYTES + 1));
        put(out, place, sizeof place);
    }
    for (uint64_t i = 0; i < samples; i++) {
        char key[KEY_NBYTES + 1];
        write_key(i, key);
        put(out, key, sizeof key);
    }
    end_section(out);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All entries whose hash is in this one of `ranges` equal parts; returns how many. */
static size_t gather(uint64_t *entries, size_t most, uint64_t samples, uint64_t range, uint64_t ranges)
{
    size_t count = 0;
    for (uint64_t i = 0; i < samples; i++) {
        char key[KEY_NBYTES + 1];
        write_key(i, key);
        uint64_t hash = mr__hash(key, KEY_NBYTES) >> 32;
        if (hash * ranges >> 32 != range)
            continue;
        if (count == most) {
            fprintf(stderr, "index: hashes are not spread evenly\n");
            exit(1);
        }
        entries[count++] = hash << 32 | i;
    }
    return count;
}

static void put_map(output *out, uint64_t samples)
{
    uint64_t ranges = samples / RANGE_SAMPLES + 1;
    size_t most = (size_t)(samples / ranges + samples / ranges / 16 + 4096);
    uint64_t *entries = malloc(most * sizeof *entries);
    if (entries == NULL)
        exit(1);
    begin_section(out);
    for (uint64_t range = 0; range < ranges; range++) {
        size_t count = gather(entries, most, samples, range, ranges);
        qsort(entries, count, sizeof *entries, compare);
        for (size_t i = 0; i < count; i++) {
            uint8_t entry[8];
            mr__store_le64(entry, entries[i]);
            put(out, entry, sizeof entry);
        }
    }
    end_section(out);
    free(entries);
}

static uint64_t fingerprint_of(uint64_t samples)
{
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    for (uint64_t i = 0; i < samples; i++) {
        uint8_t said[KEY_NBYTES + 1 + 8 + 8 + 1 + 8] = {0};
        write_key(i, (char *)said);
        mr__store_le64(said + KEY_NBYTES + 1, IMAGE(i));
        said[KEY_NBYTES + 17] = 1;
        mr__store_le64(said + KEY_NBYTES + 18, i / 1300);
        mr__hasher_add(&hasher, said, sizeof said);
    }
    return mr__hasher_value(&hasher);
}

static void put_head(output *out, uint64_t samples)
{
    uint8_t head[FIRST] = {0x8a, 'M', 'R', 'X', 13, 10, 26, 10, 1, 0, 2, 0, SECTIONS};
    mr__store_le64(head + 32, samples);
    mr__store_le64(head + 48, samples * STRIDE);
    mr__store_le64(head + 80, out->at);
    mr__store_le64(head + 88, fingerprint_of(samples));
    memcpy(head + HEAD, out->entries, sizeof out->entries);
    mr__hasher_init(&out->hasher);
    mr__hasher_add(&out->hasher, head, HEAD - 8);
    mr__hasher_add(&out->hasher, out->entries, sizeof out->entries);
    mr__store_le64(head + HEAD - 8, mr__hasher_value(&out->hasher));
    rewind(out->file);
    put(out, head, sizeof head);
}

void write_index(const char *path, uint64_t samples)
{
    static const uint8_t zeros[FIRST];
    output out = {.file = fopen(path, "wb")};
    if (out.file == NULL) {
        perror(path);
        exit(1);
    }
    mr__hasher_init(&out.hasher);
    put(&out, zeros, sizeof zeros);
    put_records(&out, samples);
    put_keys(&out, samples);
    put_map(&out, samples);
    put_head(&out, samples);
    if (fclose(out.file) != 0) {
        perror(path);
        exit(1);
    }
}
