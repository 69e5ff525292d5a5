// SPDX-License-Identifier: Apache-2.0
/* torchvision's elastic: every pixel is looked up where the field (elastic.h) says. */
#include "kernel/elastic_pixel.h"
#include "step/elastic.h"
#include "step/op_blur.h"
#include "step/ops.h"

/* No displacement is longer than half of alpha pixels; some more for neighbours, and for what is rounded. */
static mr_rect need(const mr__op *op, mr_rect part)
{
    enum { MORE = 4 };
    uint32_t x = (uint32_t)(op->u.elastic.alpha[0] * 0.5) + MORE, y = (uint32_t)(op->u.elastic.alpha[1] * 0.5) + MORE;
    return mr__rect_grown(part, x, y, op->width, op->height);
}

/* A row of numbers each. */
typedef struct lines {
    float *middle, *dx, *dy, *x, *y;
} lines;

static int make_lines(mr__op_work *w, lines *l)
{
    const mr__op *op = w->op;
    size_t n = ((size_t)op->to.width + 15) / 16 * 16;
    float *at = mr__op_scratch(w->tools, 1, 5 * n * sizeof *at);
    if (at == NULL)
        return MR_ENOMEM;
    *l = (lines){at, at + n, at + 2 * n, at + 3 * n, at + 4 * n};
    for (uint32_t i = 0; i < op->to.width; i++)
        l->middle[i] = mr__elastic_middle(op->to.x + i, op->width);
    return 0;
}

static mr__elastic_view view_of(const mr__op_work *w)
{
    const mr__op *op = w->op;
    const uint8_t *fill = op->u.elastic.fill;
    return (mr__elastic_view){.pixels = w->from.pixels,
                              .stride = w->from.stride,
                              .x = (int32_t)op->from.x,
                              .y = (int32_t)op->from.y,
                              .right = (int32_t)(op->from.x + op->from.width),
                              .width = (int32_t)op->width,
                              .height = (int32_t)op->height,
                              .channels = w->from.channels,
                              .fill = {fill[0], fill[1], fill[2], fill[3]}};
}

static void run_rows(mr__op_work *w, mr__elastic_field *field, const lines *l)
{
    const mr__op *op = w->op;
    const mr__elastics *k = &field->elastics;
    mr__elastic_view view = view_of(w);
    mr_sampling sampling = op->u.elastic.sampling;
    mr__elastic_look_row *look = sampling == MR_SAMPLING_NEAREST   ? k->nearest
                                 : sampling == MR_SAMPLING_BICUBIC ? k->bicubic
                                                                   : k->bilinear;
    for (uint32_t i = 0; i < op->to.height; i++) {
        float middle = mr__elastic_middle(op->to.y + i, op->height);
        mr__elastic_field_row(field, l->dx, l->dy);
        k->place(l->middle, 1, l->dx, op->to.width, (float)op->width * 0.5f, l->x);
        k->place(&middle, 0, l->dy, op->to.width, (float)op->height * 0.5f, l->y);
        look(&view, l->x, l->y, op->to.width, (uint8_t *)w->to.pixels + (ptrdiff_t)i * w->to.stride);
    }
}

static int run(mr__op_work *w)
{
    const mr__op *op = w->op;
    mr__elastic_field field;
    lines l;
    void *memory = mr__op_scratch(w->tools, 0, mr__elastic_field_nbytes(&op->u.elastic, op->to));
    if (memory == NULL || make_lines(w, &l) != 0)
        return mr__fail(w->detail, MR_ENOMEM, "out of memory: there was too little for an elastic field %u wide",
                        op->to.width);
    mr__elastic_field_init(&field, &op->u.elastic, op->width, op->height, op->to, mr__op_cpu(w->tools), memory);
    run_rows(w, &field, &l);
    return 0;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    const mr__elastic *e = &op->u.elastic;
    return snprintf(text, nbytes, "elastic with alpha %g/%g, sigma %g/%g", e->alpha[0], e->alpha[1], e->sigma[0],
                    e->sigma[1]);
}

const mr__op_type mr__op_elastic = {.name = "elastic", .run = run, .need = need, .tell = tell};
