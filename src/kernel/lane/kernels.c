// SPDX-License-Identifier: Apache-2.0
#include "kernel/lane/kernels.h"

#define NAME(name, lanes) #name,
static const char *const names[] = {MR__KERNELS(NAME) "guest"};
#undef NAME

#define LANES(name, lanes) lanes,
static const uint32_t lanes_of[] = {MR__KERNELS(LANES) MR__TEAM_LANES};
#undef LANES

const char *mr__kernel_name(mr__kernel kernel)
{
    return names[kernel];
}

uint32_t mr__kernel_lanes(mr__kernel kernel)
{
    return lanes_of[kernel];
}
