// SPDX-License-Identifier: Apache-2.0
#include "codec/plan.h"

#include "base/size.h"
#include "codec/orient.h"

static mr_image shape_of(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth)
{
    mr_image shape = {.width = width, .height = height, .channels = channels, .depth = depth};
    shape.stride = (ptrdiff_t)mr_image_row_nbytes(&shape);
    return shape;
}

static int check_hints(mr__call *call, const mr_decode_hints *hints)
{
    uint32_t n = hints->reduce;
    if (n != 0 && n != 1 && n != 2 && n != 4 && n != 8)
        return mr__call_fail(call, MR_EARGUMENT, "reduce is %u; it can be 1, 2, 4 or 8", n);
    if (hints->channels > 4)
        return mr__call_fail(call, MR_EARGUMENT, "channels is %u; it can be 0 (as stored) to 4", hints->channels);
    if (hints->depth != 0 && hints->depth != 8 && hints->depth != 16)
        return mr__call_fail(call, MR_EARGUMENT, "depth is %u; it can be 0 (as stored), 8 or 16", hints->depth);
    return 0;
}

/* The region asked for, all of width x height when it is empty. */
static int find_region(mr__call *call, mr_rect asked, uint32_t width, uint32_t height, mr_rect *region)
{
    if (asked.x == 0 && asked.y == 0 && asked.width == 0 && asked.height == 0)
        asked = (mr_rect){0, 0, width, height};
    bool inside = asked.width >= 1 && asked.height >= 1 && asked.x < width && asked.y < height &&
                  asked.width <= width - asked.x && asked.height <= height - asked.y;
    if (!inside)
        return mr__call_fail(call, MR_EARGUMENT, "region %u,%u %ux%u does not lie inside the image, which is %ux%u",
                             asked.x, asked.y, asked.width, asked.height, width, height);
    *region = asked;
    return 0;
}

mr_rect mr__plan_enlarge(mr_rect r, uint32_t n, const mr_info *info)
{
    uint32_t x = r.x * n, y = r.y * n;
    uint32_t width = r.width > (info->width - x) / n ? info->width - x : r.width * n;
    uint32_t height = r.height > (info->height - y) / n ? info->height - y : r.height * n;
    return (mr_rect){x, y, width, height};
}

static void add_stage(mr__plan *plan, mr__stage_kind kind, mr_image out)
{
    plan->stage[plan->stage_count++] = (mr__stage){kind, out};
}

static bool gives(const mr__codec *codec, const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    return codec->gives != NULL && codec->gives(info, channels, depth, reduce);
}

/* Stages after decoding, each only where the codec does not do its work already. */
static void lay_out(mr__plan *plan, const mr__codec *codec, const mr_info *info, mr_image result, uint32_t reduce)
{
    mr_rect region = plan->request.region;
    uint32_t channels = info->channels, depth = info->depth;
    if (gives(codec, info, result.channels, result.depth, reduce)) {
        channels = result.channels;
        depth = result.depth;
    } else if (result.channels <= 2 && channels == 3 && gives(codec, info, 1, depth, reduce)) {
        channels = 1; // the codec's gray, which is JPEG's Y, whatever is made of it then
    }
    bool native_reduce = reduce == 1 || gives(codec, info, channels, depth, reduce);
    plan->request.reduce = native_reduce ? reduce : 1;
    if (!native_reduce)
        plan->request.region = mr__plan_enlarge(region, reduce, info);
    plan->reduce = reduce;
    add_stage(plan, MR__STAGE_DECODE,
              shape_of(plan->request.region.width, plan->request.region.height, channels, depth));
    if (!native_reduce)
        add_stage(plan, MR__STAGE_REDUCE, shape_of(region.width, region.height, channels, depth));
    if (channels != result.channels || depth != result.depth)
        add_stage(plan, MR__STAGE_CONVERT, shape_of(region.width, region.height, result.channels, result.depth));
    if (plan->orientation != 1)
        add_stage(plan, MR__STAGE_ORIENT, result);
}

int mr__plan_init(mr__plan *plan, mr__call *call, const mr__codec *codec, const mr_info *info,
                  const mr_decode_hints *hints)
{
    int result = check_hints(call, hints);
    if (result != 0)
        return result;
    *plan = (mr__plan){.orientation = hints->orient ? info->orientation : 1};
    plan->request = (mr__request){.info = info,
                                  .accept_damaged = hints->accept_damaged,
                                  .index = hints->index,
                                  .index_nbytes = hints->index != NULL ? hints->index_nbytes : 0,
                                  .values = hints->values};
    uint32_t reduce = hints->reduce != 0 ? hints->reduce : 1;
    uint32_t width = mr__ceil_div(info->width, reduce), height = mr__ceil_div(info->height, reduce);
    bool turned = mr__orientation_turns(plan->orientation);
    mr_rect shown;
    result = find_region(call, hints->region, turned ? height : width, turned ? width : height, &shown);
    if (result != 0)
        return result;
    plan->request.region = mr__orientation_to_stored(plan->orientation, shown, width, height);
    mr_image out = shape_of(shown.width, shown.height, hints->channels != 0 ? hints->channels : info->channels,
                            hints->depth != 0 ? hints->depth : info->depth);
    lay_out(plan, codec, info, out, reduce);
    return 0;
}
