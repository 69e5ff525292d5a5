// SPDX-License-Identifier: Apache-2.0
/* Every kernel of this folder, in the one order that numbers them: name, lanes of a group. */
#ifndef MR_KERNEL_LANE_KERNELS_H
#define MR_KERNEL_LANE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define MR__ALONE_LANES 64
#define MR__TEAM_LANES  32

/* clang-format off */
#define MR__KERNELS(K)                                                                                                 \
    K(resample, MR__ALONE_LANES)                                                                                       \
    K(place, MR__ALONE_LANES)                                                                                          \
    K(idct, MR__ALONE_LANES)                                                                                           \
    K(jpeg_pixels, MR__ALONE_LANES)                                                                                    \
    K(l3_unit, MR__TEAM_LANES)
/* clang-format on */

#define MR__KERNEL_NUMBER(name, lanes) MR__KERNEL_##name,
typedef enum mr__kernel { MR__KERNELS(MR__KERNEL_NUMBER) MR__KERNEL_COUNT } mr__kernel;
#undef MR__KERNEL_NUMBER

/*
 * A kernel that is not ours and is run as ours are, on the same tapes: bench/ compares with one. It is of a team, is
 * called `guest`, and whoever runs it brings it along: the emulator its function, a player its text, which comes after
 * ours.
 */
#define MR__KERNEL_GUEST ((mr__kernel)MR__KERNEL_COUNT)

/* One start of a kernel: groups 0 to groups - 1, whose turns are at `list` in the arena. */
typedef struct mr__launch {
    mr__kernel kernel;
    uint32_t list, groups;
} mr__launch;

/* "resample"; a program has it as "mr_resample". */
const char *mr__kernel_name(mr__kernel kernel);
uint32_t mr__kernel_lanes(mr__kernel kernel);

/* The OpenCL C program that has them all: opencl_text.c, which tools/make-kernels writes. */
extern const char *const mr__opencl_text[];
extern const size_t mr__opencl_text_count;

#endif
