// SPDX-License-Identifier: Apache-2.0
#include "codec/l3/dct_recode.h"

#include <string.h>

/* The factors of the first component where the others are 1 x 1. */
static bool is_known(uint32_t h, uint32_t v)
{
    return (h == 1 && v == 1) || (h == 2 && v == 1) || (h == 2 && v == 2) || (h == 1 && v == 2) || (h == 4 && v == 1);
}

static int refuse_factors(mr__l3_dct_job *job)
{
    const mr__jpeg_plane *p = job->coefficients.plane;
    return mr__call_fail(job->call, MR_EUNSUPPORTED,
                         "the JPEG's sampling factors are %ux%u, %ux%u, %ux%u: L3's DCT mode has 4:4:4, 4:2:2, 4:2:0, "
                         "4:4:0 and 4:1:1",
                         p[0].h, p[0].v, p[1].h, p[1].v, p[2].h, p[2].v);
}

/* What counts is how the components' factors stand to each other: 2x2, 1x2, 1x2 is 4:2:2. */
static int fill_factors(mr__l3_dct_job *job)
{
    const mr__jpeg_plane *p = job->coefficients.plane;
    mr__l3_component *c = job->head.component;
    for (uint32_t i = 0; i < job->head.channels; i++)
        c[i].h = c[i].v = 1;
    if (job->head.channels == 1)
        return 0;
    if (p[1].h != p[2].h || p[1].v != p[2].v || p[0].h % p[1].h != 0 || p[0].v % p[1].v != 0)
        return refuse_factors(job);
    c[0].h = p[0].h / p[1].h;
    c[0].v = p[0].v / p[1].v;
    return is_known(c[0].h, c[0].v) ? 0 : refuse_factors(job);
}

/* The number of a table in the head, which has each only once. */
static int add_table(mr__l3_dct_job *job, const uint16_t quant[64], uint8_t *number)
{
    mr__l3_head *head = &job->head;
    for (uint32_t i = 0; i < 64; i++)
        if (quant[i] == 0)
            return mr__call_fail(job->call, MR_EUNSUPPORTED,
                                 "a quantisation table of the JPEG has a 0, which L3's DCT mode does not take");
    uint32_t i = 0;
    while (i < head->tables && memcmp(head->quant[i], quant, sizeof head->quant[i]) != 0)
        i++;
    if (i == head->tables)
        memcpy(head->quant[head->tables++], quant, sizeof head->quant[i]);
    *number = (uint8_t)i;
    return 0;
}

int mr__l3_dct_frame(mr__l3_dct_job *job)
{
    const mr__jpeg_coefficients *from = &job->coefficients;
    mr__l3_head *head = &job->head;
    *head = (mr__l3_head){.mode = MR__L3_DCT,
                          .channels = from->components,
                          .depth = 8,
                          .orientation = from->orientation,
                          .width = from->width,
                          .height = from->height,
                          .progressive = from->progressive,
                          .color = from->color};
    int result = fill_factors(job);
    for (uint32_t i = 0; result == 0 && i < head->channels; i++)
        result = add_table(job, from->quant[from->plane[i].table], &head->component[i].table);
    if (result == 0)
        mr__l3_head_complete(head);
    return result;
}
