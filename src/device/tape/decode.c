// SPDX-License-Identifier: Apache-2.0
#include "device/tape/decode.h"

#include "device/tape/decode_l3.h"

static mr__tape_decode_form *const decoders[MR_FORM_L3 + 1] = {
    [MR_FORM_JPEG] = mr__tape_decode_jpeg,
    [MR_FORM_RAW] = mr__tape_decode_raw,
    [MR_FORM_L3] = mr__tape_decode_l3,
};

bool mr__tape_takes_form(mr_form form)
{
    return (unsigned)form <= MR_FORM_L3 && decoders[form] != NULL;
}

int mr__tape_decode(mr__tape_writer *w, const mr__tape_source *source, mr__sheet *sheet, mr__detail *detail)
{
    if (!mr__tape_takes_form(source->info->form) || source->info->depth != 8)
        return mr__fail(detail, MR_EUNSUPPORTED, "there is no kernel for images of this kind");
    return decoders[source->info->form](w, source, sheet, detail);
}
