// SPDX-License-Identifier: Apache-2.0
#include "kernel/lane/convert.h"
#include "codec/orient.h"
#include "device/tape/decode.h"

int mr__tape_convert(mr__tape_writer *w, mr__sheet *sheet, uint32_t orientation, uint32_t channels, mr__detail *detail)
{
    if (orientation > 8 || channels < 1 || channels > 4)
        return mr__fail(detail, MR_EINTERNAL, "an orientation of %u, %u channels", orientation, channels);
    if (orientation <= 1 && channels == sheet->channels)
        return 0;
    mr__order_convert order = {.from = *sheet,
                               .turns = mr__orientation_turns(orientation),
                               .mirrors = mr__orientation_mirrors(orientation),
                               .flips = mr__orientation_flips(orientation)};
    order.to = mr__tape_sheet(w->tape, order.turns ? sheet->height : sheet->width,
                              order.turns ? sheet->width : sheet->height, channels);
    mr__tape_call_of(w->tape, MR__KERNEL_convert, &order, sizeof order,
                     (uint64_t)MR__CANVAS_GROUPS(order.to.width, (uint64_t)order.to.height));
    *sheet = order.to;
    return mr__tape_code(w->tape) == 0 ? 0 : mr__fail(detail, MR_ENOMEM, "it does not fit into the device's memory");
}
