// SPDX-License-Identifier: Apache-2.0
/*
 * The fake libOpenCL of tests (fake_opencl/fake.h), for those who use it: the library is MILLRACE_FAKE_OPENCL, a path,
 * to be given to the player as mr__cl_options.library, or to the command as MILLRACE_OPENCL. These functions are found
 * in it by fake_opencl_open.
 *
 * Settings, by fake_opencl_configure or FAKE_OPENCL of the environment: words with spaces or commas between. Launches
 * and reads count from 1.
 *
 *     platforms=0 devices=0          there is none (of each platform, so many)
 *     kind=discrete                  or integrated, cpu
 *     doubles=0 exact=0 available=0 compiler=0 full=0 profiling=0 version=11     what it lacks
 *     memory=N alloc=N units=N lanes=N   bytes in all; in one buffer; units that compute; lanes that start together
 *     build_fails=1                  programs cannot be built, and their log says so
 *     fail=clCreateBuffer:3:-4       the third call of it fails with -4; up to eight such words
 *     lost=N                         after N launches the device is gone: all calls fail, and what is in queues
 *     lost_quiet=1                   with that, calls succeed, and only what is in queues fails
 *     hang=N                         launch N does not end until fake_opencl_go_on
 *     resources=N                    launch N is CL_OUT_OF_RESOURCES, by its call
 *     resources_quiet=N              the same, by its event
 *     slow_ms=N                      launches take so much longer
 *     jitter_us=N                    each takes up to so much longer, by chance
 *     wrong=N                        the Nth read (or map to read) gives a wrong byte
 *     time_back=N time_ahead=N       the device's clock jumps during launch N
 *     misaligned=1                   what is mapped is at no multiple of 64
 *     seed=N                         of the emulator; without it another one for each launch
 */
#ifndef TESTS_SUPPORT_FAKE_OPENCL_H
#define TESTS_SUPPORT_FAKE_OPENCL_H

#include "kernel/lane/emulate.h"

/* Everything as it was at first, nothing of FAKE_OPENCL. */
void fake_opencl_reset(void);

/* 0; or -1, said on stderr: a word is not known. */
int fake_opencl_configure(const char *text);

/* What hangs goes on, and nothing hangs any more. */
void fake_opencl_go_on(void);

/* How often a function was called ("clCreateBuffer"); "launches": how many were run. -1: it does not know that. */
long long fake_opencl_count(const char *what);

/* A kernel of a test's own: programs whose text has MR_KERNEL(name) have it. 0, or -1: there are too many. */
int fake_opencl_kernel(const mr__lane_kernel *kernel);

/* How much is wrong since the last check; each is said on stderr: objects that were not released, too. */
int fake_opencl_check(void);

/* The same functions, found in the library; the test fails where it cannot be loaded. A test begins with reset. */
typedef struct fake_opencl {
    void (*reset)(void);
    int (*configure)(const char *text);
    void (*go_on)(void);
    long long (*count)(const char *what);
    int (*kernel)(const mr__lane_kernel *kernel);
    int (*check)(void);
} fake_opencl;

fake_opencl fake_opencl_open(void);

#endif
