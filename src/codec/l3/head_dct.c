// SPDX-License-Identifier: Apache-2.0
/* The mode part of DCT mode: doc/format-l3.md, "Mode part". */
#include "base/bytes.h"
#include "codec/l3/l3.h"

enum { PART_AT = 40, COLOR_MAX = 2, FLAG_PROGRESSIVE = 0x80 };

/* Reads the part byte by byte; beyond its end there are zeros, and `missing` says so in the end. */
typedef struct reader {
    const uint8_t *bytes;
    size_t nbytes, at;
    bool missing;
} reader;

static uint32_t next(reader *r)
{
    if (r->at < r->nbytes)
        return r->bytes[r->at++];
    r->missing = true;
    return 0;
}

static int fail(mr__call *call, size_t at, const char *why)
{
    return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: %s at byte %zu", why, PART_AT + at);
}

static int read_color(mr__call *call, reader *r, mr__l3_head *head)
{
    uint32_t byte = next(r);
    head->progressive = (byte & FLAG_PROGRESSIVE) != 0;
    head->color = byte & ~(uint32_t)FLAG_PROGRESSIVE;
    if (head->color > COLOR_MAX || (head->color == 0) != (head->channels == 1))
        return fail(call, 0, "a colour that its components cannot have");
    head->tables = next(r);
    if (head->tables < 1 || head->tables > head->channels)
        return fail(call, 1, "no quantisation tables, or more than components,");
    return 0;
}

/* Of the first component; all others are 1 x 1. */
static bool is_sampling(const mr__l3_head *head, uint32_t i, uint32_t h, uint32_t v)
{
    if (i != 0 || head->channels == 1)
        return h == 1 && v == 1;
    return ((h == 1 || h == 2) && (v == 1 || v == 2)) || (h == 4 && v == 1);
}

static int read_components(mr__call *call, reader *r, mr__l3_head *head)
{
    for (uint32_t i = 0; i < head->channels; i++) {
        uint32_t sampling = next(r), table = next(r);
        mr__l3_component *c = &head->component[i];
        *c = (mr__l3_component){.h = sampling & 15, .v = (uint8_t)(sampling >> 4), .table = (uint8_t)table};
        if (!is_sampling(head, i, c->h, c->v))
            return fail(call, r->at - 2, "sampling factors that L3 does not have");
        if (table >= head->tables)
            return fail(call, r->at - 1, "the number of a quantisation table that is not there");
    }
    return 0;
}

static int read_table(mr__call *call, reader *r, uint16_t quant[64])
{
    uint32_t wide = next(r);
    if (wide != 1 && wide != 2 && !r->missing)
        return fail(call, r->at - 1, "a quantisation table whose values have neither 1 nor 2 bytes");
    for (int i = 0; i < 64; i++) {
        uint32_t value = next(r);
        if (wide == 2)
            value |= next(r) << 8;
        if (value == 0 && !r->missing)
            return fail(call, r->at - wide, "a quantisation value of 0");
        quant[i] = (uint16_t)value;
    }
    return 0;
}

int mr__l3_dct_part_read(mr__call *call, mr__l3_head *head, const uint8_t *part, size_t nbytes)
{
    reader r = {part, nbytes, 0, false};
    int result = read_color(call, &r, head);
    if (result == 0)
        result = read_components(call, &r, head);
    for (uint32_t i = 0; result == 0 && i < head->tables; i++)
        result = read_table(call, &r, head->quant[i]);
    if (result == 0 && (r.missing || r.at != nbytes))
        result = fail(call, r.at, "a mode part that is too short or too long,");
    return result;
}

static size_t write_table(const uint16_t quant[64], uint8_t *to)
{
    uint32_t all = 0;
    for (int i = 0; i < 64; i++)
        all |= quant[i];
    size_t wide = all > 255 ? 2 : 1;
    to[0] = (uint8_t)wide;
    for (size_t i = 0; i < 64; i++) {
        if (wide == 2)
            mr__store_le16(to + 1 + 2 * i, quant[i]);
        else
            to[1 + i] = (uint8_t)quant[i];
    }
    return 1 + 64 * wide;
}

size_t mr__l3_dct_part_write(const mr__l3_head *head, uint8_t part[MR__L3_DCT_PART_MAX])
{
    size_t at = 0;
    part[at++] = (uint8_t)(head->color | (head->progressive ? FLAG_PROGRESSIVE : 0));
    part[at++] = (uint8_t)head->tables;
    for (uint32_t i = 0; i < head->channels; i++) {
        part[at++] = (uint8_t)(head->component[i].h | head->component[i].v << 4);
        part[at++] = head->component[i].table;
    }
    for (uint32_t i = 0; i < head->tables; i++)
        at += write_table(head->quant[i], part + at);
    return at;
}
