// SPDX-License-Identifier: Apache-2.0
#include "device/tape/decode.h"

#include "base/size.h"
#include "codec/plan.h"
#include "device/tape/decode_l3.h"
#include "kernel/lane/reduce.h"

static mr__tape_decode_form *const decoders[MR_FORM_L3 + 1] = {
    [MR_FORM_JPEG] = mr__tape_decode_jpeg,
    [MR_FORM_RAW] = mr__tape_decode_raw,
    [MR_FORM_L3] = mr__tape_decode_l3,
};

bool mr__tape_takes_form(mr_form form)
{
    return (unsigned)form <= MR_FORM_L3 && decoders[form] != NULL;
}

/* Whether the form's own function gives this size: as the host's plan has it. */
static bool gives(const mr_info *info, uint32_t reduce)
{
    const mr__codec *codec = mr__codec_of_form(info->form);
    return codec->gives != NULL && codec->gives(info, info->channels, info->depth, reduce);
}

bool mr__tape_is_inside(mr_rect r, uint32_t width, uint32_t height)
{
    return r.width != 0 && r.height != 0 && r.x < width && r.width <= width - r.x && r.y < height &&
           r.height <= height - r.y;
}

/* The full size, and then the mean of boxes. */
static int decode_boxes(mr__tape_writer *w, const mr__tape_source *source, mr__sheet *sheet, mr__detail *detail)
{
    const mr_info *info = source->info;
    mr_rect r = source->region;
    uint32_t n = source->reduce;
    mr__tape_source full = *source;
    if ((n != 2 && n != 4 && n != 8) ||
        !mr__tape_is_inside(r, mr__ceil_div(info->width, n), mr__ceil_div(info->height, n)))
        return mr__fail(detail, MR_EINTERNAL, "a region that is not in the image, or a size of one %uth", n);
    full.reduce = 1;
    full.region = mr__plan_enlarge(r, n, info);
    mr__order_reduce order = {.n = n};
    int result = decoders[info->form](w, &full, &order.from, detail);
    if (result != 0)
        return result;
    order.to = mr__tape_sheet(w->tape, r.width, r.height, order.from.channels);
    mr__tape_call_of(w->tape, MR__KERNEL_reduce, &order, sizeof order, MR__REDUCE_GROUPS(order.to));
    mr__tape_leave(w->tape, &order.from);
    *sheet = order.to;
    return mr__tape_code(w->tape) == 0 ? 0 : mr__fail(detail, MR_ENOMEM, "it does not fit into the device's memory");
}

int mr__tape_decode(mr__tape_writer *w, const mr__tape_source *source, mr__sheet *sheet, mr__detail *detail)
{
    if (!mr__tape_takes_form(source->info->form) || source->info->depth != 8)
        return mr__fail(detail, MR_EUNSUPPORTED, "there is no kernel for images of this kind");
    if (source->reduce > 1 && !gives(source->info, source->reduce))
        return decode_boxes(w, source, sheet, detail);
    return decoders[source->info->form](w, source, sheet, detail);
}
