// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes between scans. Most encoders that make Huffman tables for an image make them all in the same way, from the
 * coefficients that we have: such a table is one byte here.
 */
#include "codec/jpeg/origin.h"

#include <string.h>

typedef struct tables {
    mr__huffman of[2][4];
    bool is_used[2][4];
} tables;

/* The tables that the walk's scan uses. */
static void find_used(const mr__jpeg_scan *s, bool used[2][4])
{
    for (uint32_t i = 0; i < s->count; i++) {
        used[0][s->dc[i]] |= s->first == 0 && s->high == 0;
        used[1][s->ac[i]] |= s->last != 0;
    }
}

/* The optimal ones for it. */
static int make_optimal(const mr__jpeg_walk *w, mr__jpeg_counts *counts, tables *t)
{
    *t = (tables){.is_used = {{false}}};
    find_used(&w->scan, t->is_used);
    int result = mr__jpeg_scan_count(w, counts);
    for (uint32_t i = 0; result == 0 && i < 8; i++)
        if (t->is_used[i / 4][i % 4])
            mr__huffman_optimal(&t->of[i / 4][i % 4], counts->of[i / 4][i % 4]);
    return result;
}

static bool is_standard(const mr__huffman *table, uint32_t table_class)
{
    for (uint32_t number = 0; number < 2; number++) {
        mr__huffman standard;
        mr__huffman_standard(&standard, table_class, number);
        if (mr__huffman_same(table, &standard))
            return true;
    }
    return false;
}

/* Whether it is worth while to look for optimal tables: one that the scan uses is new and none of the standard's. */
static bool has_own_tables(const mr__jpeg_walk *w, size_t from)
{
    size_t at = from;
    mr__jpeg_segment s = {0};
    while (at < w->scan.at && mr__jpeg_next_segment(w->call, &at, &s) == 0)
        for (size_t i = 0; s.marker == MR__JPEG_DHT && i < s.nbytes;) {
            mr__huffman table;
            uint32_t table_class = s.bytes[i] >> 4 & 1;
            size_t used = mr__huffman_parse(&table, s.bytes + i + 1, s.nbytes - i - 1);
            if (used == 0 || !is_standard(&table, table_class))
                return used != 0;
            i += 1 + used;
        }
    return false;
}

/* One table of a segment; `made` has the optimal ones. */
static int add_table(const uint8_t *bytes, size_t nbytes, size_t *used, const tables *made, mr__origin_bytes *to)
{
    mr__huffman table;
    uint8_t name = bytes[0];
    uint32_t table_class = name >> 4 & 1, number = name & 3;
    *used = 1 + mr__huffman_parse(&table, bytes + 1, nbytes - 1);
    bool stands_in = made->is_used[table_class][number] && mr__huffman_same(&table, &made->of[table_class][number]);
    if (!stands_in)
        return mr__origin_add(to, bytes, *used);
    name |= MR__JPEG_STANDS_IN;
    return mr__origin_add(to, &name, 1);
}

static int add_tables(const mr__jpeg_segment *s, const tables *made, mr__origin_bytes *to)
{
    size_t length_at = to->nbytes + 2, used;
    int result = mr__origin_add(to, (const uint8_t[4]){0xff, MR__JPEG_DHT, 0, 0}, 4);
    for (size_t i = 0; result == 0 && i < s->nbytes; i += used)
        result = add_table(s->bytes + i, s->nbytes - i, &used, made, to);
    if (result == 0)
        mr__store_be16(to->buffer.bytes + length_at, (uint16_t)(to->nbytes - length_at));
    return result;
}

/*
 * A table that comes twice before one scan is not to be had by counting: who would know which one? Nor is one that
 * cannot be, which a file may have as long as no scan uses it.
 */
static bool has_twice(const mr__jpeg_walk *w, size_t from)
{
    size_t at = from;
    bool seen[2][4] = {{false}};
    mr__jpeg_segment s = {0};
    while (at < w->scan.at && mr__jpeg_next_segment(w->call, &at, &s) == 0)
        for (size_t i = 0; s.marker == MR__JPEG_DHT && i < s.nbytes;) {
            mr__huffman table;
            bool *it = &seen[s.bytes[i] >> 4 & 1][s.bytes[i] & 3];
            if (*it)
                return true;
            *it = true;
            size_t used = mr__huffman_parse(&table, s.bytes + i + 1, s.nbytes - i - 1);
            if (used == 0)
                return true;
            i += 1 + used;
        }
    return false;
}

int mr__origin_text_make(const mr__jpeg_walk *w, size_t from, mr__jpeg_counts *counts, mr__origin_bytes *text)
{
    tables made;
    if (w->scan.at < from || !has_own_tables(w, from) || has_twice(w, from))
        return mr__origin_add(text, w->call->bytes + from, w->at - from);
    int result = make_optimal(w, counts, &made);
    size_t at = from;
    while (result == 0 && at < w->at) {
        mr__jpeg_segment s;
        result = mr__jpeg_next_segment(w->call, &at, &s);
        if (result == 0 && s.marker == MR__JPEG_DHT) {
            result = mr__origin_add(text, w->call->bytes + from, s.at - from);
            if (result == 0)
                result = add_tables(&s, &made, text);
            from = at;
        }
    }
    return result == 0 ? mr__origin_add(text, w->call->bytes + from, w->at - from) : result;
}

static bool has_stand_ins(const mr__jpeg_walk *w)
{
    for (uint32_t i = 0; i < 8; i++)
        if (w->stands_in[i / 4][i % 4])
            return true;
    return false;
}

static int fail_stand_in(const mr__jpeg_walk *w, size_t at)
{
    return mr__call_fail(w->call, MR_ECORRUPT, "damaged origin of a JPEG: no scan uses the Huffman table at byte %zu",
                         at);
}

/* A segment of tables, each as a file has it. */
static int write_tables(mr__jpeg_walk *w, const mr__jpeg_segment *s, mr__jpeg_sink *sink)
{
    uint8_t bytes[4 + 8 * (1 + 16 + 256)] = {0xff, MR__JPEG_DHT};
    size_t n = 4;
    for (size_t i = 0; i < s->nbytes;) {
        uint8_t name = s->bytes[i];
        mr__huffman table = w->huffman[name >> 4 & 1][name & 3];
        bool stands_in = name >= MR__JPEG_STANDS_IN;
        if (stands_in && !w->stands_in[name >> 4 & 1][name & 3])
            return fail_stand_in(w, s->at);
        i += 1 + (stands_in ? 0 : mr__huffman_parse(&table, s->bytes + i + 1, s->nbytes - i - 1));
        if (n + 1 + 16 + 256 > sizeof bytes)
            return mr__call_fail(w->call, MR_ECORRUPT, "damaged origin of a JPEG: too many Huffman tables at byte %zu",
                                 s->at);
        bytes[n++] = name & 0x7f;
        n += mr__huffman_store(&table, bytes + n);
    }
    mr__store_be16(bytes + 2, (uint16_t)(n - 2));
    return mr__jpeg_sink_bytes(sink, bytes, n);
}

int mr__origin_text_write(mr__jpeg_walk *w, size_t from, mr__jpeg_counts *counts, mr__jpeg_sink *sink)
{
    if (!has_stand_ins(w))
        return mr__jpeg_sink_bytes(sink, w->call->bytes + from, w->at - from);
    tables made;
    if (w->scan.at < from)
        return fail_stand_in(w, from);
    int result = make_optimal(w, counts, &made);
    for (uint32_t i = 0; result == 0 && i < 8; i++)
        if (w->stands_in[i / 4][i % 4]) {
            if (!made.is_used[i / 4][i % 4])
                return fail_stand_in(w, from);
            w->huffman[i / 4][i % 4] = made.of[i / 4][i % 4];
        }
    size_t at = from;
    while (result == 0 && at < w->at) {
        mr__jpeg_segment s;
        result = mr__jpeg_next_segment(w->call, &at, &s);
        if (result == 0 && s.marker == MR__JPEG_DHT) {
            result = mr__jpeg_sink_bytes(sink, w->call->bytes + from, s.at - from);
            if (result == 0)
                result = write_tables(w, &s, sink);
            from = at;
        }
    }
    return result == 0 ? mr__jpeg_sink_bytes(sink, w->call->bytes + from, w->at - from) : result;
}
