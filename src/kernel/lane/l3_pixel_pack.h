// SPDX-License-Identifier: Apache-2.0
/*
 * From channels to pixels of the sheet: green, remapping, and as many words a lane as there are channels, 8 pixels. The
 * sheet begins in a column that is a multiple of 8, and its rows are whole words, so that all of them are stored as
 * words; what lies beyond the region is in it and not looked at.
 */
#ifndef MR_KERNEL_LANE_L3_PIXEL_PACK_H
#define MR_KERNEL_LANE_L3_PIXEL_PACK_H

#include "kernel/lane/l3_pixel.h"

typedef struct mr__order_l3_pack {
    mr__l3_list list; /* the whole tile is one */
    mr__l3_field field;
    uint32_t w, channels, green, remapped;
    uint32_t x, end;     /* columns of the tile that are shown */
    uint32_t to, stride; /* of the first word of the field */
} mr__order_l3_pack;

/* A tile that comes as pixels. */
typedef struct mr__order_l3_copy {
    mr__l3_field field; /* words of 8 bytes */
    uint32_t from, from_stride, to, stride;
} mr__order_l3_copy;

/* Eight samples of a channel through its table. One that is beyond its values is refused where it is shown. */
MR_INLINE uint64_t mr__l3_remapped(MR_GLOBAL uint8_t *arena, MR_GLOBAL const mr__order_l3_pack *o,
                                   MR_GLOBAL const mr__l3_plane_at *plane, uint32_t x, uint64_t word)
{
    uint64_t to = 0;
    bool beyond = false;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t v = (uint32_t)(word >> 8 * i) & 255;
        bool known = v < plane->value_count;
        beyond |= !known && x + i >= o->x && x + i < o->end;
        to |= (uint64_t)arena[plane->values + (known ? v : 0)] << 8 * i;
    }
    if (beyond)
        MR_REFUSE(o->list.status);
    return to;
}

/* Word i of 8 pixels. `channels` is a constant where this is called, so that no loop is left. */
MR_INLINE uint64_t mr__l3_weave(const uint64_t *word, uint32_t channels, uint32_t i)
{
    uint64_t to = 0;
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t n = 8 * i + b;
        to |= (word[n % channels] >> 8 * (n / channels) & 255) << 8 * b;
    }
    return to;
}

MR_INLINE void mr__l3_put_pixels(MR_GLOBAL uint8_t *arena, uint32_t at, const uint64_t *word, uint32_t channels)
{
    for (uint32_t i = 0; i < channels; i++)
        mr__l3_store(arena, at + 8 * i, mr__l3_weave(word, channels, i));
}

MR_KERNEL(l3_pack)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_l3_pack *o = MR_ORDER(mr__order_l3_pack);
    MR_GLOBAL const mr__l3_plane_at *plane = mr__l3_plane_of(arena, &o->list, 0);
    mr__l3_spot at = mr__l3_spot_of(&o->field, MR_ITEM, lane.id);
    uint64_t word[4] = {0, 0, 0, 0};
    if (!at.inside)
        return;
    for (uint32_t c = 0; c < o->channels; c++) {
        if (plane[c].is_constant != 0)
            word[c] = MR__L3_EACH(plane[c].sample);
        else
            word[c] = mr__l3_load(arena, plane[c].samples[0] + at.y * mr__l3_pitch(o->w) + 8 * at.x);
    }
    if (o->green != 0) { // less 128 is a changed bit
        word[0] = mr__l3_add(word[0], word[1]) ^ MR__L3_EACH(128);
        word[2] = mr__l3_add(word[2], word[1]) ^ MR__L3_EACH(128);
    }
    for (uint32_t c = 0; o->remapped != 0 && c < o->channels; c++)
        word[c] = mr__l3_remapped(arena, o, &plane[c], 8 * at.x, word[c]);
    uint32_t to = o->to + (at.y - o->field.y) * o->stride + (at.x - o->field.x) * 8 * o->channels;
    if (o->channels == 3)
        mr__l3_put_pixels(arena, to, word, 3);
    else if (o->channels == 1)
        mr__l3_put_pixels(arena, to, word, 1);
    else if (o->channels == 4)
        mr__l3_put_pixels(arena, to, word, 4);
    else
        mr__l3_put_pixels(arena, to, word, 2);
}

MR_KERNEL(l3_copy)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_l3_copy *o = MR_ORDER(mr__order_l3_copy);
    mr__l3_spot at = mr__l3_spot_of(&o->field, MR_ITEM, lane.id);
    if (at.inside)
        mr__l3_store(arena, o->to + at.y * o->stride + 8 * at.x,
                     mr__l3_bits(arena, o->from + at.y * o->from_stride + 8 * at.x, 0));
}

#endif
