// SPDX-License-Identifier: Apache-2.0
#include "device/tape/decode.h"

int mr__tape_convert(mr__tape_writer *w, mr__sheet *sheet, uint32_t orientation, uint32_t channels, mr__detail *detail)
{
    (void)w;
    (void)sheet;
    (void)orientation;
    (void)channels;
    return mr__fail(detail, MR_EUNSUPPORTED, "there is no kernel for turning and converting");
}
