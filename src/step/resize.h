// SPDX-License-Identifier: Apache-2.0
/* What the files of the resizer share among themselves. */
#ifndef MR_STEP_RESIZE_H
#define MR_STEP_RESIZE_H

#include "base/memory.h"

#include <millrace/resize.h>

/* Pillow's nearest: each pixel is that of the source in which its middle lies. `columns` has room for to->width. */
void mr__resize_nearest(const mr_image *from, const mr_image *to, uint32_t *columns);

#endif
