// SPDX-License-Identifier: Apache-2.0
/*
 * A world of its own time: a virtual clock, and what will happen when. Nothing happens by itself: whoever waits calls
 * mr__world_advance, which goes to the time of the next event and runs it. Devices, a trainer and timers share a world,
 * so that the same calls give the same events on every run.
 *
 * Threads: any. Events run one after the other, whoever advances, without the lock held; an event may add others, but
 * does not advance (that is false). The lock is for those who live in the world: what they keep is theirs under it.
 * Ownership: mr__world_free frees it, when nobody is left in it.
 * Limits: memory; it grows to the most events that were waited for at once, and stays so.
 */
#ifndef MR_DEVICE_SIM_WORLD_H
#define MR_DEVICE_SIM_WORLD_H

#include <millrace/hooks.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR__WORLD_NEVER UINT64_MAX

typedef struct mr__world mr__world;
typedef void mr__event(void *user, uint64_t number);

int mr__world_new(const mr_hooks *hooks, mr__world **out);
void mr__world_free(mr__world *world); /* NULL is accepted */

uint64_t mr__world_now_ns(const mr__world *world);

/*
 * Calls event(user, number) at that time: now, if it is past. Those of one time run in the order they were added.
 * MR_ENOMEM.
 */
int mr__world_at(mr__world *world, uint64_t at_ns, mr__event *event, void *user, uint64_t number);

/* Runs the next event. False: there is none, or an event asks. */
bool mr__world_advance(mr__world *world);

/*
 * Those of this user are dropped; and one of them that runs now in another thread has ended when this returns.
 */
void mr__world_leave(mr__world *world, const void *user);

/* For those who live in it. Room for so many events more, so that mr__world_add finds it. */
int mr__world_reserve(mr__world *world, size_t count);
void mr__world_unreserve(mr__world *world, size_t count);

void mr__world_lock(mr__world *world);
void mr__world_unlock(mr__world *world);

/* The lock is held for these. */
void mr__world_add(mr__world *world, uint64_t at_ns, mr__event *event, void *user, uint64_t number); /* reserved */
bool mr__world_drop(mr__world *world, mr__event *event, const void *user, uint64_t number); /* false: was not there */
void mr__world_wait(mr__world *world); /* until somebody has woken those who wait, or for no reason */
void mr__world_wake(mr__world *world);

#endif
