// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_SYSTEM_H
#define MILLRACE_SYSTEM_H

#include <millrace/export.h>
#include <stddef.h>

MR_BEGIN_DECLS

/*
 * How many threads to use when nobody says: the least of the processors this thread may run on (affinity) and the CPU
 * quota of its cgroup (version 1 or 2, at every level up to the root), rounded up; at least 1.
 */
MR_API unsigned mr_threads_default(void);

/*
 * The instruction sets that kernels are chosen from, as text ("avx2 bmi2 ..."), after the environment's MILLRACE_CPU
 * has masked them. Writes at most nbytes with the terminating zero; returns what it would have needed, as snprintf
 * does.
 */
MR_API size_t mr_cpu_text(char *text, size_t nbytes);

/*
 * The names that MILLRACE_CPU can have, separated by spaces; any other masks all there is, as "portable" does. Writes
 * and returns as mr_cpu_text does.
 */
MR_API size_t mr_cpu_names(char *text, size_t nbytes);

MR_END_DECLS

#endif
