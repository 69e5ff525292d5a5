// SPDX-License-Identifier: Apache-2.0
#include "device/tape/ops.h"
#include "kernel/lane/elastic.h"
#include "step/elastic.h"
#include "step/gauss.h"
#include "step/op_blur.h"

/* Weights of a kernel, in the tape, and how many of them can be seen on a side. */
static uint32_t put_weights(mr__tape_writer *w, uint32_t kernel, double sigma, uint32_t *radius)
{
    void *weights;
    uint32_t at = mr__tape_put(w->tape, (kernel / 2 + 1) * sizeof(float), &weights);
    *radius = weights != NULL ? (uint32_t)mr__gauss_weights(kernel, sigma, weights) : 0;
    return at;
}

/* The middles of `count` pixels of a side. */
static uint32_t put_middles(mr__tape_writer *w, uint32_t first, uint32_t count, uint32_t side)
{
    void *bytes;
    uint32_t at = mr__tape_put(w->tape, count * sizeof(float), &bytes);
    float *middles = bytes;
    for (uint32_t i = 0; middles != NULL && i < count; i++)
        middles[i] = mr__elastic_middle(first + i, side);
    return at;
}

static uint32_t larger(const uint32_t radius[2])
{
    return radius[0] > radius[1] ? radius[0] : radius[1];
}

/* Numbers of 32 bits, of which a row has so many. */
static mr__sheet room_for(mr__tape_writer *w, uint32_t numbers, uint32_t rows)
{
    return mr__tape_sheet(w->tape, numbers, rows, sizeof(uint32_t));
}

/* Noise of these rows and, with their groups, columns; blurred across, it has those of `to`: two floats a pixel. */
static mr__sheet lay_across(mr__tape_writer *w, const mr__op *op, mr_rect rows)
{
    const mr__elastic *e = &op->u.elastic;
    mr__order_elastic_across across = {.x = op->to.x, .columns = op->to.width, .width = op->width};
    for (size_t i = 0; i < 2; i++)
        across.weights[i] = put_weights(w, mr__elastic_kernel(e, i), e->sigma[0], &across.radius[i]);
    mr_rect all = mr__rect_grown(rows, larger(across.radius), 0, op->width, op->height);
    mr__order_elastic_noise noise = {.group = all.x / MR__ELASTIC_GROUP, .y = all.y, .key = {e->key[0], e->key[1]}};
    noise.groups = (all.x + all.width + MR__ELASTIC_GROUP - 1) / MR__ELASTIC_GROUP - noise.group;
    across.pitch = noise.groups * MR__ELASTIC_GROUP;
    across.noise_x = noise.group * MR__ELASTIC_GROUP;
    mr__sheet words = room_for(w, across.pitch, rows.height), blurred = room_for(w, 2 * across.columns, rows.height);
    across.noise = noise.to = words.at;
    across.to = blurred.at;
    mr__tape_call_of(w->tape, MR__KERNEL_elastic_noise, &noise, sizeof noise,
                     (uint64_t)MR__NOISE_GROUPS(noise.groups) * rows.height);
    mr__tape_call_of(w->tape, MR__KERNEL_elastic_across, &across, sizeof across,
                     MR__CANVAS_GROUPS(across.columns, (uint64_t)rows.height));
    mr__tape_leave(w->tape, &words);
    return blurred;
}

int mr__tape_lay_elastic(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                         mr__detail *detail)
{
    const mr__op *op = ops;
    const mr__elastic *e = &op->u.elastic;
    mr__order_elastic_look look = {.from = *sheet,
                                   .alpha = {(float)e->alpha[0], (float)e->alpha[1]},
                                   .side = {op->width, op->height},
                                   .to_y = op->to.y,
                                   .from_x = (int32_t)op->from.x,
                                   .from_y = (int32_t)op->from.y,
                                   .look = (uint32_t)(e->sampling - MR_SAMPLING_NEAREST),
                                   .fill = mr__tape_fill(e->fill)};
    (void)count;
    (void)took;
    (void)detail;
    for (size_t i = 0; i < 2; i++)
        look.weights[i] = put_weights(w, mr__elastic_kernel(e, i), e->sigma[1], &look.radius[i]);
    mr_rect rows = mr__rect_grown(op->to, 0, larger(look.radius), op->width, op->height);
    look.top = rows.y;
    mr__sheet blurred = lay_across(w, op, rows);
    look.blurred = blurred.at;
    look.middles[0] = put_middles(w, op->to.x, op->to.width, op->width);
    look.middles[1] = put_middles(w, op->to.y, op->to.height, op->height);
    look.to = mr__tape_sheet(w->tape, op->to.width, op->to.height, sheet->channels);
    mr__tape_call_of(w->tape, MR__KERNEL_elastic_look, &look, sizeof look, mr__tape_groups(&look.to));
    mr__tape_leave(w->tape, &blurred);
    *sheet = look.to;
    return 0;
}
