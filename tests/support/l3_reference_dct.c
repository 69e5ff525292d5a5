// SPDX-License-Identifier: Apache-2.0
/* doc/format-l3.md, "DCT mode": the mode part and the tiles. Units are in l3_reference_unit.c. */
#include "l3_reference.h"

#include "l3_reference_unit.h"

#include <stdlib.h>

static bool is_sampling(unsigned h, unsigned v)
{
    return (h == 1 && (v == 1 || v == 2)) || (h == 2 && (v == 1 || v == 2)) || (h == 4 && v == 1);
}

static const char *read_component(l3_bytes *part, unsigned number, unsigned tables, l3_reference *to)
{
    l3_component *c = &to->component[number];
    unsigned factors = (unsigned)l3_bytes_number(part, 1);
    c->h = factors & 15;
    c->v = factors >> 4;
    c->table = (unsigned)l3_bytes_number(part, 1);
    bool is_first_of_three = number == 0 && to->channels == 3;
    if (is_first_of_three ? !is_sampling(c->h, c->v) : factors != 0x11)
        return "sampling factors";
    if (c->table >= tables)
        return "a component's table";
    uint32_t across = 8 * to->component[0].h, down = 8 * to->component[0].v;
    c->blocks_w = (to->width * c->h + across - 1) / across;
    c->blocks_h = (to->height * c->v + down - 1) / down;
    c->blocks = calloc((size_t)c->blocks_w * c->blocks_h, 64 * sizeof *c->blocks);
    return c->blocks == NULL ? "memory" : NULL;
}

static const char *read_table(l3_bytes *part, uint16_t table[64])
{
    unsigned nbytes = (unsigned)l3_bytes_number(part, 1);
    if (nbytes != 1 && nbytes != 2)
        return "bytes of a quantisation table";
    for (unsigned i = 0; i < 64; i++) {
        table[i] = (uint16_t)l3_bytes_number(part, nbytes);
        if (table[i] == 0)
            return "a quantisation table with a 0";
    }
    return NULL;
}

const char *l3_reference_mode_part(l3_bytes part, l3_reference *to)
{
    unsigned color = (unsigned)l3_bytes_number(&part, 1), tables = (unsigned)l3_bytes_number(&part, 1);
    const char *why = NULL;
    to->color = color & 127;
    to->progressive = color >> 7 != 0;
    if (to->color > 2 || (to->color == 0) != (to->channels == 1))
        return "colour";
    if (tables < 1 || tables > to->channels)
        return "how many tables";
    for (unsigned i = 0; why == NULL && i < to->channels; i++)
        why = read_component(&part, i, tables, to);
    for (unsigned i = 0; why == NULL && i < tables; i++)
        why = read_table(&part, to->quant[i]);
    if (why == NULL && (part.ended || part.left != 0))
        why = "the length of the mode part";
    return why;
}

/* Where a unit is: its first block, and how many of them it has each way. */
typedef struct unit {
    const l3_component *component;
    uint32_t x, y, columns, rows;
} unit;

static uint32_t cut(uint32_t first, uint32_t end)
{
    return first >= end ? 0 : end - first < 8 ? end - first : 8;
}

/* The units of a tile in order. */
static unsigned list_units(const l3_reference *to, uint32_t column, uint32_t row, unit list[6])
{
    unsigned count = 0;
    for (unsigned i = 0; i < to->channels; i++) {
        const l3_component *c = &to->component[i];
        for (unsigned n = 0; n < c->h * c->v; n++) {
            unit u = {.component = c, .x = 8 * (column * c->h + n % c->h), .y = 8 * (row * c->v + n / c->h)};
            u.columns = cut(u.x, c->blocks_w);
            u.rows = cut(u.y, c->blocks_h);
            if (u.columns != 0 && u.rows != 0)
                list[count++] = u;
        }
    }
    return count;
}

static void place_blocks(unit u, int16_t coef[64][64])
{
    for (uint32_t i = 0; i < u.columns * u.rows; i++) {
        uint32_t x = i % u.columns, y = i / u.columns;
        int16_t *block = u.component->blocks + ((size_t)(u.y + y) * u.component->blocks_w + u.x + x) * 64;
        for (unsigned z = 0; z < 64; z++)
            block[z] = coef[z][8 * y + x];
    }
}

const char *l3_reference_units(l3_bytes tile, uint32_t column, uint32_t row, const l3_reference *to)
{
    unit list[6];
    uint64_t length[6];
    int16_t coef[64][64];
    unsigned count = list_units(to, column, row, list);
    for (unsigned i = 0; i + 1 < count; i++)
        length[i] = l3_bytes_number(&tile, 2);
    for (unsigned i = 0; i < count; i++) {
        l3_bytes bytes = l3_bytes_part(&tile, i + 1 < count ? length[i] : tile.left);
        if (tile.ended)
            return "a tile shorter than its units";
        if (!l3_reference_unit(coef, bytes.at, bytes.left, list[i].columns, list[i].rows))
            return "a unit";
        place_blocks(list[i], coef);
    }
    return NULL;
}
