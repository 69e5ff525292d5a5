// SPDX-License-Identifier: Apache-2.0
/* Remapping channels whose histograms have holes to a dense range: doc/format-l3.md, "Planes". */
#ifndef MR_CODEC_L3_PIXEL_REMAP_H
#define MR_CODEC_L3_PIXEL_REMAP_H

#include "codec/l3/pixel_encode.h"

enum { MR__L3_REMAP_NBYTES = 32 }; /* the most that one channel's table takes */

/*
 * Remaps all channels in place where that is worth its bytes. Returns the kind (0, 1 or 2), and writes the tables.
 */
unsigned mr__l3_remap(const mr__l3_pixel_plan *plan, mr__l3_samples *channels, uint8_t *tables, size_t *nbytes);

#endif
