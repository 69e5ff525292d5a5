// SPDX-License-Identifier: Apache-2.0
/* Every kernel of this folder, in the one order that numbers them: name, lanes of a group. */
#ifndef MR_KERNEL_LANE_KERNELS_H
#define MR_KERNEL_LANE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define MR__ALONE_LANES 64
#define MR__TEAM_LANES  32

/* Shared memory of a group that an OpenCL kernel is given, as its fourth argument: two words for each lane of a team.
 */
#define MR__KERNEL_WORDS_NBYTES (2 * MR__TEAM_LANES * sizeof(uint32_t))

/* clang-format off */
#define MR__KERNELS(K)                                                                                                 \
    K(resample, MR__ALONE_LANES)                                                                                       \
    K(place, MR__ALONE_LANES)                                                                                          \
    K(count_levels, MR__TEAM_LANES)                                                                                    \
    K(sum_levels, MR__TEAM_LANES)                                                                                      \
    K(make_tables, MR__TEAM_LANES)                                                                                     \
    K(paint, MR__ALONE_LANES)                                                                                          \
    K(add_noise, MR__ALONE_LANES)                                                                                      \
    K(copy_around, MR__ALONE_LANES)                                                                                    \
    K(fill, MR__ALONE_LANES)                                                                                           \
    K(randomize, MR__ALONE_LANES)                                                                                      \
    K(sharpen, MR__ALONE_LANES)                                                                                        \
    K(blur_down, MR__ALONE_LANES)                                                                                      \
    K(blur_across, MR__ALONE_LANES)                                                                                    \
    K(convert, MR__ALONE_LANES)                                                                                        \
    K(warp_pick, MR__ALONE_LANES)                                                                                      \
    K(warp_walk, MR__ALONE_LANES)                                                                                      \
    K(warp, MR__ALONE_LANES)                                                                                           \
    K(warp_sum, MR__ALONE_LANES)                                                                                       \
    K(elastic_noise, MR__ALONE_LANES)                                                                                  \
    K(elastic_across, MR__ALONE_LANES)                                                                                 \
    K(elastic_look, MR__ALONE_LANES)                                                                                   \
    K(augmix, MR__ALONE_LANES)                                                                                         \
    K(l3_places, MR__TEAM_LANES)                                                                                       \
    K(l3_base, MR__TEAM_LANES)                                                                                         \
    K(l3_residuals, MR__ALONE_LANES)                                                                                   \
    K(l3_prefix, MR__TEAM_LANES)                                                                                       \
    K(l3_lift_d, MR__ALONE_LANES)                                                                                      \
    K(l3_lift_bc, MR__ALONE_LANES)                                                                                     \
    K(l3_pack, MR__ALONE_LANES)                                                                                        \
    K(l3_copy, MR__ALONE_LANES)                                                                                        \
    K(idct, MR__ALONE_LANES)                                                                                           \
    K(jpeg_pixels, MR__ALONE_LANES)                                                                                    \
    K(l3_unit, MR__TEAM_LANES)                                                                                         \
    K(jpeg_split, MR__ALONE_LANES)                                                                                     \
    K(jpeg_again, MR__ALONE_LANES)                                                                                     \
    K(reduce, MR__ALONE_LANES)
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
