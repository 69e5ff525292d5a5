// SPDX-License-Identifier: Apache-2.0
/* A rectangle of grey levels, or of random bytes by place. */
#include "kernel/noise.h"
#include "step/erase.h"
#include "step/ops.h"

#include <string.h>

/* The first pixel, then twice as many at a time. */
static void fill_row(uint8_t *to, const uint8_t *levels, size_t channels, size_t nbytes)
{
    size_t done = channels;
    memcpy(to, levels, channels);
    for (; done < nbytes; done *= 2)
        memcpy(to + done, to, done < nbytes - done ? done : nbytes - done);
}

static int run(mr__op_work *w)
{
    const mr__op *op = w->op;
    const mr__erase *erase = &op->u.erase;
    const mr_image *image = &w->to;
    size_t channels = image->channels;
    mr__noise_kernels kernels;
    uint8_t levels[4];
    mr_rect r;
    if (!mr__erase_common(erase->rect, op->from, &r))
        return 0;
    mr__noise_kernels_init(&kernels, mr__op_cpu(w->tools));
    for (size_t c = 0; c < 4; c++)
        levels[c] = mr__erase_level(erase->value[c]);
    uint8_t *to = (uint8_t *)image->pixels + (ptrdiff_t)(r.y - op->from.y) * image->stride;
    to += (r.x - op->from.x) * channels;
    size_t nbytes = r.width * channels;
    if (!erase->noise)
        fill_row(to, levels, channels, nbytes);
    for (uint32_t y = r.y; y < r.y + r.height; y++, to += image->stride)
        if (erase->noise)
            mr__noise_bytes(&kernels, erase->key, y, r.x * channels, nbytes, to);
        else if (y > r.y)
            memcpy(to, to - image->stride, nbytes);
    return 0;
}

static int tell(const mr__op *op, char *text, size_t nbytes)
{
    mr_rect r = op->u.erase.rect;
    return snprintf(text, nbytes, "erased at %u,%u: %u x %u", r.x, r.y, r.width, r.height);
}

const mr__op_type mr__op_erase = {.name = "erase", .run = run, .in_place = true, .tell = tell};
