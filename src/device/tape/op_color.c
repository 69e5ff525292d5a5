// SPDX-License-Identifier: Apache-2.0
/*
 * Ops that change colors where they are. Neighbours are painted at once, and what the same table is for every image is
 * made here, by the host's own code. Where a table depends on the image, it is looked at first: as it is before the
 * first of the neighbours, so that such a run of tables can only be the first of them.
 */
#include "device/tape/ops.h"
#include "kernel/lane/levels.h"
#include "kernel/lane/paint.h"
#include "step/chain.h"
#include "step/op_table.h"

static bool is_table(const mr__op *op)
{
    return mr__op_types[op->kind]->table != NULL;
}

/* What tables have to know, of one sheet. */
typedef struct look {
    mr__order_levels order; /* for counting */
    mr__tables_at before;   /* what became of levels so far */
    uint32_t counts;        /* 0: nobody has counted */
    bool made;              /* by a kernel: `before` */
} look;

static look look_at(const mr__sheet *sheet)
{
    look l = {.order = {.from = *sheet}};
    uint64_t pixels = (uint64_t)sheet->width * sheet->height;
    uint32_t pieces = (uint32_t)((pixels + MR__PIECE - 1) / MR__PIECE);
    uint32_t least = (uint32_t)(pixels >> 23) + 1; // no more of them than a sum of 32 bits can have
    l.order.pieces = pieces;
    l.order.parts = pieces < MR__LEVELS_PARTS ? pieces : MR__LEVELS_PARTS;
    l.order.parts = l.order.parts < least ? least : l.order.parts;
    return l;
}

static void lay_count(mr__tape_writer *w, look *l)
{
    mr__order_levels order = l->order;
    uint64_t items = (uint64_t)order.parts * order.from.channels;
    l->counts = order.to = mr__tape_room(w->tape, items * 256 * sizeof(uint32_t));
    mr__tape_call_of(w->tape, MR__KERNEL_count_levels, &order, sizeof order, items);
}

/* Where the sums are. It does not wait for the counts, which are made at the same time. */
static uint32_t lay_sum(mr__tape_writer *w, const look *l)
{
    mr__order_levels order = l->order;
    bool beside = l->counts != 0 && !l->made;
    order.before = l->before;
    order.to = mr__tape_room(w->tape, order.parts * sizeof(uint32_t));
    if (beside)
        mr__tape_call_beside(w->tape, MR__KERNEL_sum_levels, &order, sizeof order, order.parts);
    else
        mr__tape_call_of(w->tape, MR__KERNEL_sum_levels, &order, sizeof order, order.parts);
    return order.to;
}

static uint32_t rule_kind(mr__op_kind kind)
{
    return kind == MR__OP_CONTRAST   ? MR__RULE_CONTRAST
           : kind == MR__OP_EQUALIZE ? MR__RULE_EQUALIZE
                                     : MR__RULE_AUTOCONTRAST;
}

/* How many of these up to the next contrast, which is to know what they make; the first may be one. */
static size_t count_stretch(const mr__op *ops, size_t count)
{
    size_t n = 1;
    while (n < count && ops[n].kind != MR__OP_CONTRAST)
        n++;
    return n;
}

/* Ops without a contrast, but for the first. */
static void lay_stretch(mr__tape_writer *w, look *l, const mr__op *ops, size_t count)
{
    mr__rule rules[MR__OPS_MAX];
    uint8_t table[256];
    uint32_t channels = l->order.from.channels;
    mr__order_tables order = {.before = l->before,
                              .counts = l->counts,
                              .parts = l->order.parts,
                              .pixels = l->order.from.width * l->order.from.height};
    if (ops->kind == MR__OP_CONTRAST)
        order.sums = lay_sum(w, l);
    for (size_t i = 0, n; i < count; i += n) {
        mr__rule *rule = &rules[order.rule_count++];
        n = mr__tables_known(ops + i, count - i, table);
        if (n != 0)
            *rule = (mr__rule){.kind = MR__RULE_TABLE, .table = mr__tape_copy(w->tape, table, sizeof table)};
        else
            *rule = (mr__rule){.kind = rule_kind(ops[i].kind), .factor = (float)ops[i].amount};
        n += n == 0;
    }
    order.rules = mr__tape_copy(w->tape, rules, order.rule_count * sizeof *rules);
    order.to = mr__tape_room(w->tape, 256 * channels);
    mr__tape_call_of(w->tape, MR__KERNEL_make_tables, &order, sizeof order, channels);
    l->before = (mr__tables_at){order.to, 256};
    l->made = true;
}

/* Some tables of which one at least depends on the image: what they make of all levels. */
static mr__tables_at lay_tables(mr__tape_writer *w, const mr__op *ops, size_t count, const mr__sheet *sheet)
{
    look l = look_at(sheet);
    uint8_t table[256];
    size_t i = mr__tables_known(ops, count, table);
    if (i != 0)
        l.before = (mr__tables_at){mr__tape_copy(w->tape, table, sizeof table), 0};
    for (size_t k = 0; k < count && l.counts == 0; k++)
        if (ops[k].kind == MR__OP_EQUALIZE || ops[k].kind == MR__OP_AUTOCONTRAST)
            lay_count(w, &l);
    for (size_t n; i < count; i += n) {
        n = count_stretch(ops + i, count - i);
        lay_stretch(w, &l, ops + i, n);
    }
    return l.before;
}

/* The tables from here on, as a stroke; how many they are. None where the image is to be painted before. */
static size_t tables_stroke(mr__tape_writer *w, const mr__op *ops, size_t count, const mr__sheet *sheet, bool first,
                            mr__stroke *stroke)
{
    uint8_t table[256];
    size_t n = 0, known = mr__tables_known(ops, count, table);
    while (n < count && is_table(&ops[n]))
        n++;
    stroke->kind = MR__STROKE_TABLES;
    if (known != n && first) {
        stroke->tables = lay_tables(w, ops, n, sheet);
        return n;
    }
    if (known != 0)
        stroke->tables = (mr__tables_at){mr__tape_copy(w->tape, table, sizeof table), 0};
    return known;
}

static bool is_color(mr__op_kind kind)
{
    return kind == MR__OP_SATURATION || kind == MR__OP_HUE || kind == MR__OP_GRAYSCALE || kind == MR__OP_PERMUTE;
}

static mr__stroke color_stroke(const mr__op *op)
{
    static const uint32_t kinds[] = {
        [MR__OP_SATURATION] = MR__STROKE_SATURATION,
        [MR__OP_HUE] = MR__STROKE_HUE,
        [MR__OP_GRAYSCALE] = MR__STROKE_GRAYSCALE,
        [MR__OP_PERMUTE] = MR__STROKE_PERMUTE,
    };
    return (mr__stroke){.kind = kinds[op->kind], .whole = op->whole, .factor = (float)op->amount};
}

int mr__tape_lay_color(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                       mr__detail *detail)
{
    mr__stroke strokes[MR__OPS_MAX];
    mr__order_paint order = {.from = *sheet};
    size_t i = 0, n = 1;
    (void)detail;
    for (; i < count && n != 0; i += n) {
        mr__stroke stroke = {0};
        n = 1;
        if (is_table(&ops[i]))
            n = tables_stroke(w, ops + i, count - i, sheet, order.stroke_count == 0, &stroke);
        else if (is_color(ops[i].kind) && sheet->channels == 3)
            stroke = color_stroke(&ops[i]);
        else if (is_color(ops[i].kind))
            continue; // gray images stay as they are
        else
            break;
        if (n != 0)
            strokes[order.stroke_count++] = stroke;
    }
    *took = i;
    if (order.stroke_count == 0)
        return 0;
    order.strokes = mr__tape_copy(w->tape, strokes, order.stroke_count * sizeof *strokes);
    order.to = mr__tape_sheet(w->tape, sheet->width, sheet->height, sheet->channels);
    mr__tape_call_of(w->tape, MR__KERNEL_paint, &order, sizeof order,
                     MR__CANVAS_GROUPS(order.to.width, (uint64_t)order.to.height));
    *sheet = order.to;
    return 0;
}
