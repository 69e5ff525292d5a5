// SPDX-License-Identifier: Apache-2.0
/* The memory that tiles of pixel mode are decoded in. */
#include "base/size.h"
#include "codec/l3/pixel.h"
#include "codec/l3/pixel_kernels.h"

int mr__l3_pixel_state_init(mr__call *call, mr__l3_pixel_state *state)
{
    (void)call;
    (void)state;
    return 0;
}

void mr__l3_pixel_state_fini(mr__l3_pixel_state *state, const mr_hooks *hooks)
{
    mr__buffer_fini(&state->work, hooks);
    mr__buffer_fini(&state->padded, hooks);
    mr__buffer_fini(&state->pixels, hooks);
}

/* Memory that is given out piece by piece; without any, only measured. */
typedef struct ground {
    uint8_t *bytes;
    size_t used;
} ground;

/* Rows of w samples. A side is 1024 at most, so no sum overflows. */
static mr__l3_rows lay_rows(ground *g, uint32_t w, uint32_t rows, uint32_t sample_nbytes)
{
    size_t groups = mr__ceil_div(w, MR__L3_GROUP_W);
    mr__l3_rows laid = {.pitch = MR__L3_ROW_BEFORE + groups * MR__L3_GROUP_W * sample_nbytes + MR__L3_ROW_BEHIND};
    if (g->bytes != NULL)
        laid.first = g->bytes + g->used + MR__L3_ROW_BEFORE;
    g->used += rows * laid.pitch;
    return laid;
}

static void lay_channel(mr__l3_pixel_work *work, ground *g, uint32_t c, uint32_t w, uint32_t h, uint32_t sample_nbytes)
{
    work->rows[c] = lay_rows(g, w, 8, sample_nbytes);
    work->d[c] = lay_rows(g, (w + 1) / 2, 8, sample_nbytes);
    for (uint32_t i = 1; i <= MR__L3_LEVEL_MAX; i++) {
        w = (w + 1) / 2;
        h = (h + 1) / 2;
        work->level[c][i] = lay_rows(g, w, (h + 7) / 8 * 8, sample_nbytes); // whole steps
    }
}

static void lay_all(mr__l3_pixel_work *work, ground *g, uint32_t w, uint32_t h, uint32_t channels, uint32_t depth)
{
    /* The most groups that are decoded at once: those of D, B and C at level 0. */
    uint32_t groups = 2 * mr__ceil_div(w / 2, MR__L3_GROUP_W) + mr__ceil_div((w + 1) / 2, MR__L3_GROUP_W);
    for (uint32_t i = 0; i < 2; i++)
        work->residuals[i] = lay_rows(g, groups * MR__L3_GROUP_W, MR__L3_BLOCK_H, 1);
    work->remapped = lay_rows(g, w, channels, depth / 8);
    for (uint32_t c = 0; c < channels; c++)
        lay_channel(work, g, c, w, h, depth / 8);
}

int mr__l3_pixel_work_init(mr__call *call, mr__l3_pixel_state *state, mr__l3_pixel_work *work, uint32_t w, uint32_t h,
                           uint32_t channels, uint32_t depth)
{
    ground g = {NULL, 0};
    lay_all(work, &g, w, h, channels, depth);
    int result = mr__call_reserve(call, &state->work, g.used);
    if (result != 0)
        return result;
    g = (ground){state->work.bytes, 0};
    lay_all(work, &g, w, h, channels, depth);
    return 0;
}
