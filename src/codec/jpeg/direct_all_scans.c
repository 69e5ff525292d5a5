// SPDX-License-Identifier: Apache-2.0
/* A JPEG of several scans, progressive or not: all its coefficients, then their pixels. */
#include "codec/jpeg/direct.h"

/* A row of blocks, as much of it as the region needs, 16 at a time. */
static void transform_row(mr__direct_job *j, uint32_t part, uint32_t band, uint32_t y, int16_t *strip)
{
    const mr__jpeg_rows_part *p = &j->rows.part[part];
    const mr__jpeg_plane *plane = &j->frame.plane[part];
    const mr__jpeg_pixels *kernels = &j->direct->pixels;
    uint32_t right = p->blocks.x + p->blocks.width;
    const int16_t *row = plane->blocks + (size_t)(band * p->band + y) * plane->padded_w * 64;
    for (uint32_t x = p->left; x < right; x += MR__JPEG_STRIP) {
        uint32_t count = right - x < MR__JPEG_STRIP ? right - x : MR__JPEG_STRIP;
        uint32_t last = kernels->lay(row + (size_t)x * 64, count, strip);
        kernels->strip[j->rows.layout.part[part].idct](strip, j->frame.quant[plane->table], last, count > 8 ? 2 : 1,
                                                       mr__jpeg_rows_at(&j->rows, part, x, y), p->stride);
    }
}

int mr__direct_all_scans(mr__direct_job *j, mr__jpeg_walk *walk)
{
    _Alignas(64) int16_t strip[64 * MR__JPEG_STRIP] = {0};
    int result = mr__jpeg_coefficients_read_on(walk, &j->direct->work);
    if (result == 0 && !j->frame.is_complete)
        result = mr__call_fail(j->call, MR_EUNSUPPORTED,
                               "JPEG whose scans leave coefficients out, which libjpeg makes up for by smoothing");
    for (uint32_t b = j->mcus.y; result == 0 && b < j->mcus.y + j->mcus.height; b++) {
        for (uint32_t i = 0; i < j->rows.parts; i++)
            for (uint32_t y = 0; y < j->rows.part[i].band; y++)
                if (mr__direct_needs_row(j, i, b * j->rows.part[i].band + y))
                    transform_row(j, i, b, y, strip);
        result = mr__direct_finish_band(j, b);
    }
    return result;
}
