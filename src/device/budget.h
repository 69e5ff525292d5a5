// SPDX-License-Identifier: Apache-2.0
/*
 * A hard budget of a device's memory. Whoever dispatches takes a task's worst case (device/need.h) before, and gives it
 * back when the task is done or abandoned: so nothing is allocated that was not counted, and nothing is refused by the
 * device itself.
 *
 * Invariants:
 * 1. Right after a take, taken_nbytes <= limit_nbytes.
 * 2. taken_nbytes is what was taken and not given back: with nothing in flight it is 0.
 * 3. A limit may fall below what is taken. Then every take fails until it fits again; what is in flight is the
 *    caller's, to be left to finish or to be abandoned: mr__budget_over says how much.
 *
 * Threads: one at a time; the caller's lock.
 * Ownership: a plain value; it owns nothing, and there is nothing to free.
 * Limits: mr__budget_init's.
 */
#ifndef MR_DEVICE_BUDGET_H
#define MR_DEVICE_BUDGET_H

#include "device/device.h"

#define MR__BUDGET_ANY UINT64_MAX

typedef enum mr__room {
    MR__ROOM_TAKEN,
    MR__ROOM_NOT_NOW, /* there will be, when others have given theirs back */
    MR__ROOM_NEVER    /* not even if nothing else were there, as the limit is: it goes to another device */
} mr__room;

typedef struct mr__budget {
    uint64_t limit_nbytes; /* MR__BUDGET_ANY: none */
    uint64_t taken_nbytes, taken_count;
    /* since it was made */
    uint64_t peak_nbytes;
    uint64_t refused; /* takes that had to wait */
    uint64_t never;   /* takes that went elsewhere */
    uint64_t shrunk;  /* how often the limit fell */
} mr__budget;

void mr__budget_init(mr__budget *budget, uint64_t limit_nbytes);

/* UINT64_MAX, an amount that could not be counted (device/need.h), never fits. Nothing is taken but with TAKEN. */
mr__room mr__budget_take(mr__budget *budget, uint64_t nbytes);

/* As much as one take took. False, and nothing happens: that much is not taken, which is an error of the caller's. */
bool mr__budget_give(mr__budget *budget, uint64_t nbytes);

/* From now on; also below what is taken. */
void mr__budget_limit(mr__budget *budget, uint64_t nbytes);

/* What is taken beyond the limit, since it fell: what has to be given back before anything can be taken. */
uint64_t mr__budget_over(const mr__budget *budget);

/*
 * The limit by what a device says now: its own budget, `cap_nbytes` (0: none), and what is free there beside what is
 * ours. `held_nbytes` is what the device has really allocated for our tasks at this moment: taken but not yet allocated
 * bytes are still among the free ones, and would count twice. 0 is safe, and small.
 */
void mr__budget_read(mr__budget *budget, const mr__device_memory *memory, uint64_t held_nbytes, uint64_t cap_nbytes);

#endif
