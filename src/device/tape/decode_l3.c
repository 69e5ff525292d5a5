// SPDX-License-Identifier: Apache-2.0
#include "device/tape/decode_l3.h"

#include "codec/l3/state.h"

static mr__handle *handle_of(const mr__tape_source *source)
{
    return (mr__handle *)source->decoder; // its first member
}

mr__call mr__tape_l3_call(const mr__tape_source *source, mr__detail *detail)
{
    mr__call call = mr__handle_call(handle_of(source), source->bytes, source->nbytes);
    call.detail = detail;
    return call;
}

/* What comes before the first tile, in the order in which a decoder on the host looks at it. */
static int open_image(const mr__tape_source *source, mr__call *call, const mr__l3_head **head, const uint64_t **offsets)
{
    const mr__codec *codec;
    mr_info info;
    mr__request request = {.info = &info, .region = source->region, .reduce = source->reduce > 1 ? source->reduce : 1};
    int result = mr__call_open(call, &handle_of(source)->states, &codec, &info);
    if (result == 0 && codec != &mr__codec_l3)
        result = mr__call_fail(call, MR_EINTERNAL, "%s was taken for L3", call->name);
    if (result == 0)
        result = mr__call_check_pixels(call, info.width, info.height);
    if (result == 0)
        result = mr__l3_begin(call, &request, offsets);
    if (result == 0)
        *head = &mr__l3_state_of(call)->head;
    return result;
}

int mr__tape_decode_l3(mr__tape_writer *w, const mr__tape_source *source, mr__sheet *sheet, mr__detail *detail)
{
    mr__call call = mr__tape_l3_call(source, detail);
    const mr__l3_head *head;
    const uint64_t *offsets;
    int result = open_image(source, &call, &head, &offsets);
    (void)mr__handle_end(handle_of(source), &call, result);
    if (result != 0)
        return result;
    if (head->mode == MR__L3_PIXEL)
        return mr__tape_decode_l3_pixel(w, source, head, offsets, sheet, detail);
    return mr__tape_decode_l3_dct(w, source, head, offsets, sheet, detail);
}
