// SPDX-License-Identifier: Apache-2.0
#include "device/tape/chain.h"

int mr__tape_erase_finished(mr__tape_writer *w, const mr__erase *erase, mr__detail *detail)
{
    (void)w;
    (void)erase;
    return mr__fail(detail, MR_EUNSUPPORTED, "there is no kernel for erasing in finished numbers");
}
