// SPDX-License-Identifier: Apache-2.0
/* What was decoded as it is wanted: turned as its orientation says (codec/orient.h), with other channels. */
#ifndef MR_KERNEL_LANE_CONVERT_H
#define MR_KERNEL_LANE_CONVERT_H

#include "kernel/channels_pixel.h"
#include "kernel/lane/pass.h"

typedef struct mr__order_convert {
    mr__sheet from, to;
    uint32_t turns, mirrors, flips;
} mr__order_convert;

MR_KERNEL(convert)
{
    MR_ALONE;
    const mr__order_convert order = *MR_ORDER(mr__order_convert), *o = &order;
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    if (x >= o->to.width)
        return;
    uint32_t from_x = o->turns != 0 ? y : x, from_y = o->turns != 0 ? x : y, pixel[4] = {0, 0, 0, 0};
    from_x = o->mirrors != 0 ? o->from.width - 1 - from_x : from_x;
    from_y = o->flips != 0 ? o->from.height - 1 - from_y : from_y;
    MR_GLOBAL const uint8_t *from = arena + o->from.at + from_y * o->from.stride + from_x * o->from.channels;
    MR_GLOBAL uint8_t *to = arena + o->to.at + y * o->to.stride + x * o->to.channels;
    for (uint32_t c = 0; c < o->from.channels; c++)
        pixel[c] = from[c];
    mr__channels_change(pixel, o->from.channels, o->to.channels, 255);
    for (uint32_t c = 0; c < o->to.channels; c++)
        to[c] = (uint8_t)pixel[c];
}

#endif
