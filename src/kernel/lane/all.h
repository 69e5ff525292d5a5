// SPDX-License-Identifier: Apache-2.0
/* All kernels. tools/make-kernels begins here. */
#ifndef MR_KERNEL_LANE_ALL_H
#define MR_KERNEL_LANE_ALL_H

#include "kernel/lane/lane.h"

#include "kernel/lane/augmix.h"
#include "kernel/lane/convert.h"
#include "kernel/lane/elastic.h"
#include "kernel/lane/filter.h"
#include "kernel/lane/jpeg_again.h"
#include "kernel/lane/jpeg_pixels.h"
#include "kernel/lane/l3_pixel_lift.h"
#include "kernel/lane/l3_pixel_pack.h"
#include "kernel/lane/l3_pixel_places.h"
#include "kernel/lane/l3_pixel_prefix.h"
#include "kernel/lane/l3_unit.h"
#include "kernel/lane/levels.h"
#include "kernel/lane/noise.h"
#include "kernel/lane/paint.h"
#include "kernel/lane/pass.h"
#include "kernel/lane/reduce.h"
#include "kernel/lane/warp.h"

#endif
