// SPDX-License-Identifier: Apache-2.0
/*
 * The words of lane.h as devices have them, run in C: lane_as_opencl.c, lane_as_subgroups.c and lane_as_cuda.c compile
 * what lane.h has for them, with OpenCL's and CUDA's own functions made of the emulator's. So their local memory, their
 * barriers and their shuffles are seen by sanitizers, and those that no device here has are run at all.
 *
 * No types of stdint.h in here: OpenCL's are not the same.
 */
#ifndef TESTS_SUPPORT_LANE_SHIM_H
#define TESTS_SUPPORT_LANE_SHIM_H

/* What a device's compiler takes, a compiler of C wonders at. */
#if defined(SHIM_OTHER_LANGUAGE)
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

/* Of the lane that runs. */
unsigned shim_id(void);
unsigned shim_group(void);
void shim_barrier(void);
unsigned shim_sum(unsigned n);
unsigned shim_scan(unsigned n);
unsigned shim_shuffle(unsigned n, unsigned from);
void *shim_allot(unsigned long nbytes);

typedef void shim_kernel(unsigned char *arena, unsigned char *out, unsigned list, unsigned *words);

/* In the order of lane_words.h; NULL is the end. */
extern shim_kernel *const shim_opencl[], *const shim_subgroups[], *const shim_cuda[];

#define SHIM_KERNELS                                                                                                   \
    {                                                                                                                  \
        mr_words_collective, mr_words_again, mr_words_shared, mr_words_passed, mr_words_alone, 0                       \
    }

#endif
