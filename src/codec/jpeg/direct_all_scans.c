// SPDX-License-Identifier: Apache-2.0
/* A JPEG of several scans, progressive or not: all its coefficients, then their pixels. */
#include "codec/jpeg/direct.h"

/*
 * Whether all coefficients times their quantisers are 16 bits, which is all that the transform is exact for: those of
 * an image are. A coefficient fits if it is at most `most`, so that with it added there are 0 to 2 * most.
 */
static bool are_plain(const int16_t *blocks, size_t count, const uint16_t quant[64])
{
    uint16_t most[64];
    uint32_t beyond = 0;
    for (size_t k = 0; k < 64; k++)
        most[k] = (uint16_t)(INT16_MAX / (quant[k] != 0 ? quant[k] : 1));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 64; k++)
            beyond |= (uint16_t)(blocks[i * 64 + k] + most[k]) > (uint16_t)(2 * most[k]);
    return beyond == 0;
}

/* A row of blocks, as much of it as the region needs, 16 at a time. False: not by us. */
static bool transform_row(mr__direct_job *j, uint32_t part, uint32_t band, uint32_t y, int16_t *strip)
{
    const mr__jpeg_rows_part *p = &j->rows.part[part];
    const mr__jpeg_plane *plane = &j->frame.plane[part];
    const mr__jpeg_pixels *kernels = &j->direct->pixels;
    uint32_t right = p->blocks.x + p->blocks.width;
    const int16_t *row = plane->blocks + (size_t)(band * p->band + y) * plane->padded_w * 64;
    if (!are_plain(row + (size_t)p->left * 64, right - p->left, j->frame.quant[plane->table]))
        return false;
    for (uint32_t x = p->left; x < right; x += MR__JPEG_STRIP) {
        uint32_t count = right - x < MR__JPEG_STRIP ? right - x : MR__JPEG_STRIP;
        uint32_t last = kernels->lay(row + (size_t)x * 64, count, strip);
        kernels->strip[j->rows.layout.part[part].idct](strip, j->frame.quant[plane->table], last, count > 8 ? 2 : 1,
                                                       mr__jpeg_rows_at(&j->rows, part, x, y), p->stride);
    }
    return true;
}

/* The rows of blocks of one row of MCUs. */
static int transform_band(mr__direct_job *j, uint32_t band, int16_t *strip)
{
    for (uint32_t i = 0; i < j->rows.parts; i++)
        for (uint32_t y = 0; y < j->rows.part[i].band; y++)
            if (mr__direct_needs_row(j, i, band * j->rows.part[i].band + y) && !transform_row(j, i, band, y, strip))
                return mr__call_fail(j->call, MR_EUNSUPPORTED,
                                     "JPEG with coefficients that no image has, which is not supported");
    return mr__direct_finish_band(j, band);
}

int mr__direct_all_scans(mr__direct_job *j, mr__jpeg_walk *walk)
{
    _Alignas(64) int16_t strip[64 * MR__JPEG_STRIP] = {0};
    int result = mr__jpeg_coefficients_read_on(walk, &j->direct->work);
    if (result == 0 && !j->frame.is_complete)
        result = mr__call_fail(j->call, MR_EUNSUPPORTED,
                               "JPEG whose scans leave coefficients out, which libjpeg makes up for by smoothing");
    for (uint32_t b = j->mcus.y; result == 0 && b < j->mcus.y + j->mcus.height; b++)
        result = transform_band(j, b, strip);
    return result;
}
