// SPDX-License-Identifier: Apache-2.0
/*
 * Pixels are libwebp's with its default options: fancy upsampling, no dithering, as `dwebp -nodither` and Pillow give
 * them.
 *
 * 1. A part is decoded with the context it needs: see job.c.
 * 2. RGB of a lossy picture with alpha is decoded without looking at its ALPH chunk.
 * 3. Damage is believed when memory is there and a second decode finds it too: libwebp also calls a shortage of memory
 *    so. What is given of a damaged picture, where that is accepted: see damage.c.
 */
#include "codec/webp/job.h"

#include <limits.h>
#include <string.h>

static bool same_rect(mr_rect a, mr_rect b)
{
    return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/* libwebp counts bytes of its output in int. */
static bool spans_int(const mr_image *image)
{
    size_t stride = image->stride < 0 ? (size_t)0 - (size_t)image->stride : (size_t)image->stride;
    return stride <= INT_MAX / image->height;
}

static VP8StatusCode run(const mr__webp_job *j, mr_rect part, const mr_image *to)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return VP8_STATUS_INVALID_PARAM;
    mr__webp_job_ask(j, part, to, &config);
    VP8StatusCode status = WebPDecode(j->bytes, j->nbytes, &config);
    WebPFreeDecBuffer(&config.output);
    return status;
}

/* Decodes a part of the picture, in its own coordinates. */
static int decode_picture(const mr__webp_job *j, mr_rect region, bool accept_damaged, const mr_image *to)
{
    mr_rect part = mr__webp_job_part(j, region);
    bool direct = same_rect(part, region) && spans_int(to);
    mr_image target = *to, inner;
    int result = mr__webp_job_charge(j);
    if (result == 0 && !direct)
        result = mr__webp_scratch(j->call, part.width, part.height, to->channels, &target);
    if (result != 0)
        return result;
    VP8StatusCode status = run(j, part, &target);
    if (mr__webp_job_is_damage(status) && mr__webp_job_hides_shortage(j)) {
        result = mr__webp_job_check_memory(j);
        if (result != 0)
            return result;
        status = run(j, part, &target);
    }
    if (mr__webp_job_is_damage(status) && accept_damaged)
        return mr__webp_decode_damaged(j, region, to);
    if (status != VP8_STATUS_OK)
        return mr__webp_job_fail(j, status);
    if (direct)
        return 0;
    result =
        mr_image_crop(&target, (mr_rect){region.x - part.x, region.y - part.y, region.width, region.height}, &inner);
    return result != 0 ? result : mr_image_copy(&inner, to);
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The region of the canvas: the part of the first frame that lies in it, transparent black around. */
static int decode_canvas(const mr__webp_job *j, const mr__webp_file *file, mr_rect r, bool accept_damaged,
                         const mr_image *to)
{
    uint32_t left = max_u32(r.x, file->x), right = min_u32(r.x + r.width, file->x + file->picture.width);
    uint32_t top = max_u32(r.y, file->y), below = min_u32(r.y + r.height, file->y + file->picture.height);
    bool empty = left >= right || top >= below;
    if (empty || right - left != r.width || below - top != r.height)
        for (uint32_t y = 0; y < to->height; y++)
            memset((uint8_t *)to->pixels + (ptrdiff_t)y * to->stride, 0, mr_image_row_nbytes(to));
    if (empty)
        return 0;
    mr_image inner;
    mr_rect place = {left - r.x, top - r.y, right - left, below - top};
    int result = mr_image_crop(to, place, &inner);
    if (result != 0)
        return result;
    mr_rect part = {left - file->x, top - file->y, place.width, place.height};
    return decode_picture(j, part, accept_damaged, &inner);
}

int mr__webp_decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    mr__webp_file file;
    int result = mr__webp_walk(call, &file);
    if (result != 0)
        return result;
    if (file.stated_end > call->nbytes && !request->accept_damaged)
        return mr__call_fail(call, MR_ETRUNCATED,
                             "truncated WebP: the file says it ends at byte %zu, the data at byte %zu", file.stated_end,
                             call->nbytes);
    mr__webp_job j = mr__webp_job_make(call, &file.picture, to->channels == 4);
    ;
    uint32_t warnings = call->warnings;
    result = decode_canvas(&j, &file, request->region, request->accept_damaged, to);
    if (result == 0 && file.stated_end > call->nbytes && call->warnings == warnings)
        mr__call_warn(call, "truncated WebP: the file says it ends at byte %zu, the data at byte %zu", file.stated_end,
                      call->nbytes);
    return result;
}
