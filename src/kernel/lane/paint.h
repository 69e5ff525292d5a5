// SPDX-License-Identifier: Apache-2.0
/*
 * Colors, pixel by pixel: ops that look at no more than the pixel and are neighbours are one kernel, which reads it
 * once and writes it once. Each is a stroke.
 */
#ifndef MR_KERNEL_LANE_PAINT_H
#define MR_KERNEL_LANE_PAINT_H

#include "kernel/color_pixel.h"
#include "kernel/lane/lane.h"
#include "kernel/lane/levels.h"
#include "kernel/lane/pass.h"

enum { MR__STROKE_TABLES, MR__STROKE_SATURATION, MR__STROKE_HUE, MR__STROKE_GRAYSCALE, MR__STROKE_PERMUTE };

typedef struct mr__stroke {
    uint32_t kind;
    mr__tables_at tables; /* TABLES */
    uint32_t whole;       /* HUE, PERMUTE: as mr__op has it */
    float factor;         /* SATURATION */
} mr__stroke;

/* Pixels have 1 channel or 3; of one there are tables alone. */
typedef struct mr__order_paint {
    mr__sheet from, to;
    uint32_t strokes, stroke_count;
} mr__order_paint;

MR_INLINE void mr__turn_hue(uint32_t turn, uint32_t pixel[4])
{
    uint8_t rgb[3];
    mr__hsv color = mr__hsv_of(pixel[0], pixel[1], pixel[2]);
    color.h = (color.h + turn) & 255u;
    mr__hsv_to_rgb(color, rgb);
    for (uint32_t c = 0; c < 3; c++)
        pixel[c] = rgb[c];
}

MR_INLINE void mr__permute(uint32_t order, uint32_t pixel[4])
{
    uint32_t was[4] = {pixel[0], pixel[1], pixel[2], 0};
    for (uint32_t c = 0; c < 3; c++)
        pixel[c] = was[order >> (2 * c) & 3u];
}

MR_INLINE void mr__paint_stroke(MR_GLOBAL const uint8_t *arena, MR_GLOBAL const mr__stroke *stroke, uint32_t channels,
                                uint32_t pixel[4])
{
    uint32_t kind = stroke->kind;
    if (kind == MR__STROKE_TABLES) {
        for (uint32_t c = 0; c < channels; c++)
            pixel[c] = mr__tabled(arena, stroke->tables, c, pixel[c]);
    } else if (kind == MR__STROKE_HUE) {
        mr__turn_hue(stroke->whole, pixel);
    } else if (kind == MR__STROKE_PERMUTE) {
        mr__permute(stroke->whole, pixel);
    } else {
        uint32_t gray = mr__gray(pixel[0], pixel[1], pixel[2]);
        for (uint32_t c = 0; c < 3; c++)
            pixel[c] = kind == MR__STROKE_GRAYSCALE ? gray : mr__blend(gray, pixel[c], stroke->factor);
    }
}

MR_KERNEL(paint)
{
    MR_ALONE;
    MR_GLOBAL const mr__order_paint *o = MR_ORDER(mr__order_paint);
    MR_GLOBAL const mr__stroke *stroke = (MR_GLOBAL const mr__stroke *)(arena + o->strokes);
    uint32_t groups = MR__ROW_GROUPS(o->to.width), y = MR_ITEM / groups, x = MR_ITEM % groups * MR_LANES + lane.id;
    uint32_t channels = o->to.channels, pixel[4] = {0, 0, 0, 0};
    if (x >= o->to.width)
        return;
    MR_GLOBAL const uint8_t *from = arena + o->from.at + y * o->from.stride + x * channels;
    MR_GLOBAL uint8_t *to = arena + o->to.at + y * o->to.stride + x * channels;
    for (uint32_t c = 0; c < channels; c++)
        pixel[c] = from[c];
    for (uint32_t i = 0; i < o->stroke_count; i++)
        mr__paint_stroke(arena, stroke + i, channels, pixel);
    for (uint32_t c = 0; c < channels; c++)
        to[c] = (uint8_t)pixel[c];
}

#endif
