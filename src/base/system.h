// SPDX-License-Identifier: Apache-2.0
/* The two halves of mr_threads_default, with what they ask given by the caller, so that tests can answer. */
#ifndef MR_BASE_SYSTEM_H
#define MR_BASE_SYSTEM_H

#include <stddef.h>

/*
 * Asks which processors the calling thread may run on: sched_getaffinity(0, nbytes, set), which returns 0, or -1 with
 * errno EINVAL when the set is too small for this kernel.
 */
typedef int mr__affinity_query(size_t nbytes, void *set);

/* Counts the processors, however many the kernel is built for; 0 when it cannot be known. */
unsigned mr__affinity_count(mr__affinity_query *query);

/*
 * The least CPU quota of this process's cgroups, in processors rounded up, at every level from its own up to the mount;
 * 0 when there is none. The paths are those of /proc/self/cgroup and /proc/self/mountinfo. What is missing or makes no
 * sense sets no quota.
 */
unsigned mr__cgroup_quota(const char *cgroup_path, const char *mountinfo_path);

#endif
