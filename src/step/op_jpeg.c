// SPDX-License-Identifier: Apache-2.0
/* As if stored with a quality: what Pillow gives for save and open, bit for bit. */
#include "kernel/jpeg_again.h"
#include "step/ops.h"

static mr_rect need(const mr__op *op, mr_rect part)
{
    return mr__jpeg_again_need(op->width, op->height, part);
}

static int run(mr__op_work *w)
{
    const mr__op *op = w->op;
    mr__jpeg_again again = {.width = op->width, .height = op->height, .quality = op->whole};
    again.there = op->from;
    again.wanted = op->to;
    again.from = w->from;
    again.to = w->to;
    void *work = mr__op_scratch(w->tools, 0, mr__jpeg_again_nbytes(op->to.width));
    if (work == NULL)
        return mr__fail(w->detail, MR_ENOMEM, "out of memory: jpeg of %u x %u pixels", op->to.width, op->to.height);
    mr__jpeg_again_run(&again, mr__op_cpu(w->tools), work);
    return 0;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    return snprintf(text, nbytes, "jpeg of quality %u", op->whole);
}

const mr__op_type mr__op_jpeg = {.name = "jpeg", .run = run, .need = need, .tell = tell};
