// SPDX-License-Identifier: Apache-2.0
/* A JPEG of several scans, progressive or not: all its coefficients, then their pixels. */
#include "codec/jpeg/direct.h"

#include "codec/jpeg/header.h"

typedef struct transforming {
    mr__direct_job *job;
    uint16_t most[MR__JPEG_PLANE_MAX][64]; /* by place: what is 16 bits once it is multiplied by its quantiser */
    _Alignas(64) int16_t strip[64 * MR__JPEG_STRIP];
} transforming;

/* The transform is exact for products of 16 bits, which those of an image are. */
static void find_most(transforming *t)
{
    const mr__jpeg_coefficients *f = &t->job->frame;
    for (uint32_t i = 0; i < t->job->rows.parts; i++)
        for (uint32_t k = 0; k < 64; k++)
            t->most[i][k] = (uint16_t)(INT16_MAX / f->quant[f->plane[i].table][k]);
}

/* A row of blocks, as much of it as the region needs, 16 at a time. */
static int transform_row(transforming *t, uint32_t part, uint32_t band, uint32_t y)
{
    mr__direct_job *j = t->job;
    const mr__jpeg_rows_part *p = &j->rows.part[part];
    const mr__jpeg_plane *plane = &j->frame.plane[part];
    const mr__jpeg_pixels *kernels = &j->direct->pixels;
    const mr__jpeg_part *shape = &j->rows.layout.part[part];
    uint32_t right = p->blocks.x + p->blocks.width;
    int result = 0;
    const int16_t *row = plane->blocks + (size_t)(band * p->band + y) * plane->padded_w * 64;
    if (!kernels->within(row + (size_t)p->left * 64, right - p->left, t->most[part]))
        return mr__call_fail(j->call, MR_EUNSUPPORTED,
                             "JPEG with coefficients that no image has, which is not supported");
    for (uint32_t x = p->left; x < right && result == 0; x += MR__JPEG_STRIP) {
        uint32_t count = right - x < MR__JPEG_STRIP ? right - x : MR__JPEG_STRIP;
        uint32_t last = kernels->lay(row + (size_t)x * 64, count, t->strip);
        if (j->sink != NULL)
            result = mr__direct_give_strip(j, part, x, band * p->band + y, t->strip, last);
        else
            kernels->strip[shape->idct](t->strip, j->frame.quant[plane->table], last, count > 8 ? 2 : 1,
                                        mr__jpeg_rows_at(&j->rows, part, x, y), p->stride, (ptrdiff_t)8 * shape->size);
    }
    return result;
}

/* The rows of blocks of one row of MCUs. */
static int transform_band(transforming *t, uint32_t band)
{
    mr__direct_job *j = t->job;
    int result = 0;
    for (uint32_t i = 0; i < j->rows.parts; i++)
        for (uint32_t y = 0; y < j->rows.part[i].band && result == 0; y++)
            if (mr__direct_needs_row(j, i, band * j->rows.part[i].band + y))
                result = transform_row(t, i, band, y);
    return result == 0 ? mr__direct_finish_band(j, band) : result;
}

int mr__direct_all_scans(mr__direct_job *j, mr__jpeg_walk *walk)
{
    transforming t = {.job = j};
    size_t fill = mr__jpeg_find_fill(j->call);
    if (fill != j->call->nbytes)
        return mr__jpeg_fail_fill(j->call, fill);
    int result = mr__jpeg_coefficients_read_on(walk, &j->direct->work);
    if (result == 0 && !j->frame.is_complete)
        result = mr__call_fail(j->call, MR_EUNSUPPORTED,
                               "JPEG whose scans leave coefficients out, which libjpeg makes up for by smoothing");
    if (result == 0)
        result = mr__direct_check_quantisers(j);
    if (result == 0)
        result = mr__direct_begin(j);
    if (result == 0)
        find_most(&t);
    for (uint32_t b = j->mcus.y; result == 0 && b < j->mcus.y + j->mcus.height; b++)
        result = transform_band(&t, b);
    return result;
}
