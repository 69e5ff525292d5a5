// SPDX-License-Identifier: Apache-2.0
#include "device/tape/decode_l3.h"

int mr__tape_decode_l3_pixel(mr__tape_writer *w, const mr__tape_source *source, const mr__l3_head *head,
                             const uint64_t *offsets, mr__sheet *sheet, mr__detail *detail)
{
    (void)w, (void)source, (void)head, (void)offsets, (void)sheet;
    return mr__fail(detail, MR_EUNSUPPORTED, "there is no kernel for L3's pixel mode");
}
