// SPDX-License-Identifier: Apache-2.0
/* A kernel of lane_shim.h as the emulator takes it. */
#ifndef TESTS_SUPPORT_LANE_SHIM_RUN_H
#define TESTS_SUPPORT_LANE_SHIM_RUN_H

#include "kernel/lane/emulate.h"
#include "lane_shim.h"

void shim_run(shim_kernel *kernel, bool team, mr_lane lane, uint32_t group, uint8_t *arena, uint8_t *out,
              uint32_t list);

#endif
