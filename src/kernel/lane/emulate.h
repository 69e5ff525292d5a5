// SPDX-License-Identifier: Apache-2.0
/*
 * Runs kernels in C, in lockstep: the lanes of a team go from one collective word to the next, each on a stack of its
 * own, in an order that may be shuffled. It is for tests, sanitizers and comparisons, and slow.
 *
 * It finds what a device would not tell: lanes that come to different words (an error that names both lines), lanes
 * that end while others wait, more shared memory than every device has, and results that depend on the order of lanes
 * or groups (by running with several seeds).
 *
 * Under ASan a team's shared memory ends where it was asked to. Under TSan every lane of a team is a thread to it, and
 * the groups of a launch are spread over a few gangs of such threads: two lanes that touch the same byte, and no
 * collective word between, are a data race, in whatever order they ran.
 */
#ifndef MR_KERNEL_LANE_EMULATE_H
#define MR_KERNEL_LANE_EMULATE_H

#include "base/error.h"
#include "base/memory.h"
#include "kernel/lane/kernels.h"
#include "kernel/lane/lane.h"

/* What OpenCL 1.2 has at least for a group, without what its collective words take. */
#define MR__SHARED_NBYTES ((32u << 10) - 256u)

/* One lane of a kernel, as MR_KERNEL writes it in C. */
typedef void mr__kernel_function(mr_lane lane, uint32_t group, uint8_t *arena, uint8_t *out, uint32_t list);

typedef struct mr__emulation {
    const mr_hooks *hooks;      /* of mr__hooks_init */
    uint64_t seed;              /* of the order of lanes and groups; 0: as they are numbered */
    mr__kernel_function *guest; /* of MR__KERNEL_GUEST, where it is launched */
} mr__emulation;

/* All launches, one after the other. MR_ENOMEM; MR_EINTERNAL with detail: the kernel has diverged. */
int mr__emulate(const mr__emulation *emulation, const mr__launch *launches, size_t count, uint8_t *arena, uint8_t *out,
                mr__detail *detail);

/* A kernel that is not in MR__KERNELS: of a test. */
typedef struct mr__lane_kernel {
    const char *name;
    mr__kernel_function *run;
    uint32_t lanes; /* MR__ALONE_LANES, MR__TEAM_LANES */
} mr__lane_kernel;

int mr__emulate_function(const mr__emulation *emulation, const mr__lane_kernel *kernel, uint32_t list, uint32_t groups,
                         uint8_t *arena, uint8_t *out, mr__detail *detail);

#endif
