// SPDX-License-Identifier: Apache-2.0
/* All kernels. tools/make-kernels begins here. */
#ifndef MR_KERNEL_LANE_ALL_H
#define MR_KERNEL_LANE_ALL_H

#include "kernel/lane/lane.h"

#include "kernel/lane/jpeg_pixels.h"
#include "kernel/lane/l3_unit.h"
#include "kernel/lane/pass.h"

#endif
