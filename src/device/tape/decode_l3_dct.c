// SPDX-License-Identifier: Apache-2.0
/*
 * L3's DCT mode on a tape. The host checks the hashes of the tiles that the region touches and the lengths of their
 * units, and puts those units on the tape that the region needs, as they are stored; all else is done by kernels.
 */
#include "device/tape/decode_l3.h"

#include "base/size.h"
#include "codec/l3/dct.h"
#include "device/tape/decode_dct.h"
#include "device/tape/flow.h"
#include "kernel/lane/l3_unit.h"

#include <string.h>

typedef struct job {
    mr__call call;
    mr__tape *tape;
    mr__tape_flow flow;
    const mr__l3_head *head;
    const uint64_t *offsets;
    mr__jpeg_layout layout;
    mr__tape_dct dct;
    uint32_t first[MR__JPEG_PARTS_MAX]; /* of a component's units among all */
    uint32_t count;
    mr__unit_at *list;
    mr__order_l3_unit order;
    mr__sheet coef;
} job;

static int fail_room(job *j)
{
    return mr__call_fail(&j->call, MR_ENOMEM, "it does not fit into the device's memory");
}

/* Which units the region needs. */
static int find_units(job *j, const mr__tape_source *source)
{
    mr__jpeg_frame frame = mr__l3_dct_frame_of(j->head);
    if (!mr__jpeg_layout_init(&j->layout, &frame, source->reduce > 1 ? source->reduce : 1))
        return mr__call_fail(&j->call, MR_EINTERNAL, "the back end does not take the sampling factors of this l3");
    mr__tape_dct_init(&j->dct, &j->layout, j->head->channels, source->region);
    for (uint32_t i = 0; i < j->dct.parts; i++) {
        mr__tape_dct_part *p = &j->dct.part[i];
        mr__tape_dct_grid(&j->dct, i, MR__L3_UNIT_BLOCKS, MR__L3_UNIT_BLOCKS,
                          p->blocks.x / MR__L3_UNIT_BLOCKS * MR__L3_UNIT_BLOCKS,
                          p->blocks.y / MR__L3_UNIT_BLOCKS * MR__L3_UNIT_BLOCKS);
        p->quant = j->head->quant[j->head->component[i].table];
        j->first[i] = j->count;
        j->count += p->count;
    }
    return 0;
}

/* A place for their list, and room for what becomes of them. */
static int place_units(job *j)
{
    void *bytes;
    j->order.status = mr__tape_status(j->tape);
    j->order.units = mr__tape_put(j->tape, j->count * sizeof *j->list, &bytes);
    j->order.strips = mr__tape_room(j->tape, j->count * sizeof(mr__strip));
    j->coef = mr__tape_sheet(j->tape, MR__UNIT_COEF_NBYTES, j->count, 1);
    j->order.coef = j->coef.at;
    j->list = bytes;
    if (bytes != NULL) // without bytes a unit is refused: each is to come
        memset(bytes, 0, j->count * sizeof *j->list);
    for (uint32_t i = 0; i < j->dct.parts; i++)
        j->dct.part[i].strips = j->order.strips + j->first[i] * (uint32_t)sizeof(mr__strip);
    return mr__tape_code(j->tape) == 0 ? 0 : fail_room(j);
}

static bool is_needed(const job *j, const mr__l3_dct_place *unit)
{
    const mr_rect *need = &j->dct.part[unit->component].blocks;
    uint32_t left = unit->x * MR__L3_UNIT_BLOCKS, top = unit->y * MR__L3_UNIT_BLOCKS;
    return left < need->x + need->width && left + unit->columns > need->x && top < need->y + need->height &&
           top + unit->rows > need->y;
}

static int put_unit(job *j, const uint8_t *tile, const mr__l3_dct_place *unit)
{
    const mr__tape_dct_part *p = &j->dct.part[unit->component];
    uint32_t number = mr__tape_dct_number(p, unit->x * MR__L3_UNIT_BLOCKS, unit->y * MR__L3_UNIT_BLOCKS);
    uint32_t nbytes = (uint32_t)unit->nbytes;
    uint8_t *to = mr__tape_flow_ask(&j->flow, nbytes + MR__UNIT_SLACK);
    if (to == NULL)
        return fail_room(j);
    memcpy(to, tile + unit->at, nbytes);
    memset(to + nbytes, 0, MR__UNIT_SLACK);
    // libjpeg's transforms to 4 and 2 samples look at high frequencies too
    j->list[j->first[unit->component] + number] =
        (mr__unit_at){.at = mr__tape_flow_took(&j->flow, nbytes + MR__UNIT_SLACK),
                      .nbytes = nbytes,
                      .columns = unit->columns,
                      .rows = unit->rows,
                      .bands = j->layout.part[unit->component].size == 1 ? 1 : 64};
    return 0;
}

static int put_tile(job *j, uint32_t x, uint32_t y)
{
    size_t number = (size_t)y * j->head->tiles_x + x, nbytes;
    const uint8_t *tile;
    mr__l3_dct_place units[MR__L3_DCT_UNITS_MAX];
    unsigned count = mr__l3_dct_units(j->head, x, y, units);
    int result = mr__l3_tile_open(&j->call, j->head, j->offsets, number, false, &tile, &nbytes);
    if (result != 0)
        return result;
    const char *why = mr__l3_dct_lengths(tile, nbytes, units, count);
    if (why != NULL)
        return mr__l3_tile_damage(&j->call, j->head, number, j->offsets[number], why, false);
    for (unsigned i = 0; i < count && result == 0; i++)
        if (is_needed(j, &units[i]))
            result = put_unit(j, tile, &units[i]);
    return result;
}

static int put_tiles(job *j)
{
    mr_rect tiles = mr__l3_dct_tiles(j->head, &j->layout, j->dct.parts, j->dct.region);
    int result = 0;
    for (uint32_t y = 0; y < tiles.height; y++)
        for (uint32_t x = 0; x < tiles.width && result == 0; x++)
            result = put_tile(j, tiles.x + x, tiles.y + y);
    mr__tape_flow_end(&j->flow);
    return result;
}

int mr__tape_decode_l3_dct(mr__tape_writer *w, const mr__tape_source *source, const mr__l3_head *head,
                           const uint64_t *offsets, mr__sheet *sheet, mr__detail *detail)
{
    job j = {.call = mr__tape_l3_call(source, detail),
             .tape = w->tape,
             .flow = {.tape = w->tape},
             .head = head,
             .offsets = offsets};
    int result = find_units(&j, source);
    if (result == 0)
        result = place_units(&j);
    if (result == 0)
        result = put_tiles(&j);
    if (result != 0)
        return result;
    mr__tape_call_of(w->tape, MR__KERNEL_l3_unit, &j.order, sizeof j.order, j.count);
    *sheet = mr__tape_dct_lay(w->tape, &j.dct, &j.coef);
    return 0;
}
