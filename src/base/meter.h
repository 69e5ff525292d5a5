// SPDX-License-Identifier: Apache-2.0
/*
 * A meter stands between a handle and the caller's hooks: it counts every byte that is alive and refuses what would go
 * beyond a limit, before it is allocated. So a limit on memory holds whoever allocates: a codec, or a library to which
 * our hooks were given. What a library takes by malloc is put on the meter by estimate, for as long as it has it.
 *
 * Threads: any; the counts are atomic.
 * Ownership: its hooks point at it, so it stays where it is until the last block is freed.
 * Limits: mr__meter_init's.
 */
#ifndef MR_BASE_METER_H
#define MR_BASE_METER_H

#include <millrace/hooks.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct mr__meter {
    mr_hooks under; /* the caller's, complete */
    uint64_t limit_nbytes;
    atomic_uint_least64_t live_nbytes;
    atomic_bool refused; /* that something was, since mr__meter_begin */
} mr__meter;

/* `under` is what mr__hooks_init made. */
void mr__meter_init(mr__meter *meter, const mr_hooks *under, uint64_t limit_nbytes);

/* Hooks that go through the meter. */
mr_hooks mr__meter_hooks(mr__meter *meter);

/* Forgets that something was refused, and tells what is alive. */
uint64_t mr__meter_begin(mr__meter *meter);

bool mr__meter_refused(const mr__meter *meter);

/* Puts bytes that somebody else allocates on the meter; false, and refused, when they do not fit. */
bool mr__meter_add(mr__meter *meter, uint64_t nbytes);
void mr__meter_sub(mr__meter *meter, uint64_t nbytes);

#endif
