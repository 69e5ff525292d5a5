// SPDX-License-Identifier: Apache-2.0
/*
 * Fewer columns, the same pixels.
 *
 * jpeg_crop_scanline moves the left edge to a whole number of MCUs and lets libjpeg believe that the image has only
 * these columns. The chroma samples beyond the edges are then taken as absent, so fancy upsampling (2:1 across, which
 * weighs each sample with its neighbours) is wrong in the first column of the crop and in the last. One column more on
 * each side mends that; it costs nothing unless it begins another MCU.
 *
 * What does not work in libjpeg-turbo 2.1.5, so that whole rows are decoded instead:
 * 1. A reduced component that is scaled up by its transform, but not all the way: 4:1:0 at half size, for example. The
 *    crop computes its width as if it were not scaled up, so half of the row is left out.
 * 2. Block smoothing, which libjpeg does where a progressive file ends before its coefficients are exact: it looks two
 *    blocks to each side, and at the edges of the crop finds none.
 * 3. A crop in which a component has fewer than three samples: libjpeg then changes to another upsampling.
 *
 * Rows need none of this: jpeg_skip_scanlines decodes, and drops, the rows that give context.
 */
#include "codec/jpeg/turbo_region.h"

#if JPEG_LIB_VERSION >= 70
#define SCALED_SIZE(component) ((component)->DCT_h_scaled_size)
#define LEAST_SIZE(cinfo)      ((cinfo)->min_DCT_h_scaled_size)
#else
#define SCALED_SIZE(component) ((component)->DCT_scaled_size)
#define LEAST_SIZE(cinfo)      ((cinfo)->min_DCT_scaled_size)
#endif

/* Whether a component's samples are those of the output, so that it is not upsampled. */
static bool is_full_size(j_decompress_ptr cinfo, const jpeg_component_info *c)
{
    int size = SCALED_SIZE(c), least = LEAST_SIZE(cinfo);
    return c->h_samp_factor * size == cinfo->max_h_samp_factor * least &&
           c->v_samp_factor * size == cinfo->max_v_samp_factor * least;
}

/* Reason 1 above. */
static bool scales_unevenly(j_decompress_ptr cinfo)
{
    for (int i = 0; i < cinfo->num_components; i++) {
        const jpeg_component_info *c = &cinfo->comp_info[i];
        if (c->component_needed && SCALED_SIZE(c) != LEAST_SIZE(cinfo) && !is_full_size(cinfo, c))
            return true;
    }
    return false;
}

/* Reason 2: whether a coefficient is not known to its last bit, which is more than libjpeg asks. */
static bool may_smooth(j_decompress_ptr cinfo)
{
    if (!cinfo->progressive_mode || cinfo->coef_bits == NULL)
        return false;
    for (int i = 0; i < cinfo->num_components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (cinfo->coef_bits[i][k] != 0)
                return true;
    return false;
}

mr__columns mr__turbo_crop(j_decompress_ptr cinfo, JDIMENSION x, JDIMENSION width)
{
    mr__columns all = {0, cinfo->output_width};
    JDIMENSION least = 3 * (JDIMENSION)cinfo->max_h_samp_factor; // reason 3
    if (width == all.width || all.width <= least || scales_unevenly(cinfo) || may_smooth(cinfo))
        return all;
    JDIMENSION left = x > 0 ? x - 1 : 0;
    JDIMENSION right = x + width < all.width ? x + width + 1 : all.width;
    if (right - left < least) {
        right = left + least < all.width ? left + least : all.width;
        left = right - least < left ? right - least : left;
    }
    mr__columns columns = {left, right - left};
    jpeg_crop_scanline(cinfo, &columns.x, &columns.width);
    return columns;
}
