// SPDX-License-Identifier: Apache-2.0
/*
 * Who takes the batches: steps of a length that the hardware says, in virtual time. If it runs on a device that also
 * prepares, a step goes on at the rate 1 / (1 + d b) while a share b of that device's lanes is busy.
 *
 * Threads: any; a step is begun by one who knows that none is under way.
 * Ownership: mr__trainer_free frees it, after the devices that tell it of their lanes, and before the world.
 * Limits: none of its own.
 */
#ifndef MR_DEVICE_SIM_TRAINER_H
#define MR_DEVICE_SIM_TRAINER_H

#include "device/sim/hardware.h"
#include "device/sim/world.h"

typedef struct mr__trainer mr__trainer;

/* A step, counted from 0, is over. Called in an event, without a lock; may begin the next. */
typedef void mr__step_over(void *user, uint64_t step);

typedef struct mr__trainer_times {
    uint64_t steps;        /* that are over */
    uint64_t step_ns;      /* all of them; */
    uint64_t alone_ns;     /* as long as they had taken without interference; */
    uint64_t wait_ns;      /* between the end of one and the beginning of the next */
    uint64_t last_step_ns; /* of the last; */
    uint64_t last_wait_ns; /* and before it; an iteration is both */
    uint64_t first_begun_ns, last_over_ns;
} mr__trainer_times;

int mr__trainer_new(const mr_hooks *hooks, mr__world *world, const mr__hardware *hardware, mr__step_over *over,
                    void *user, mr__trainer **out);
void mr__trainer_free(mr__trainer *trainer); /* NULL is accepted */

void mr__trainer_begin_step(mr__trainer *trainer);
bool mr__trainer_is_in_step(mr__trainer *trainer);
mr__trainer_times mr__trainer_tell(mr__trainer *trainer);

/* Of its device's lanes so many are busy now. For the device; the world's lock is held. */
void mr__trainer_note_busy(mr__trainer *trainer, uint32_t busy, uint32_t lanes);

#endif
