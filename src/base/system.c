// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_getaffinity
#include "base/system.h"

#include <limits.h>
#include <millrace/system.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* 65,536 processors: eight times what Linux can be built for, and no heap that could fail. */
#define SET_WORDS (65536 / (CHAR_BIT * sizeof(unsigned long)))

unsigned mr__affinity_count(mr__affinity_query *query)
{
    unsigned long set[SET_WORDS];
    memset(set, 0, sizeof set);
    if (query(sizeof set, set) != 0)
        return 0;
    unsigned count = 0;
    for (size_t i = 0; i < SET_WORDS; i++)
        count += (unsigned)__builtin_popcountl(set[i]);
    return count;
}

static int ask_kernel(size_t nbytes, void *set)
{
    return sched_getaffinity(0, nbytes, set);
}

unsigned mr_threads_default(void)
{
    unsigned count = mr__affinity_count(ask_kernel);
    if (count == 0) { // a sandbox may forbid the question
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 && online <= INT_MAX ? (unsigned)online : 1;
    }
    unsigned quota = mr__cgroup_quota("/proc/self/cgroup", "/proc/self/mountinfo");
    return quota != 0 && quota < count ? quota : count;
}
