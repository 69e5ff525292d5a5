// SPDX-License-Identifier: Apache-2.0
/*
 * What is said to a `sim` device when it is opened (mr__device_options.sim): in which world it is, and which device of
 * which hardware. Several share a world; what runs in it is the same on every run.
 */
#ifndef MR_DEVICE_SIM_SIM_H
#define MR_DEVICE_SIM_SIM_H

#include "device/device.h"
#include "device/sim/hardware.h"
#include "device/sim/trainer.h"
#include "device/sim/world.h"

/*
 * The functions are called with the world's lock held: they look at the task, and at nothing of the world. All that is
 * pointed to stays until the device is closed.
 */
typedef struct mr__sim_options {
    mr__world *world;
    const mr__hardware *hardware;
    uint32_t number; /* of the device in it */

    /* What the task costs a core of speed 1. NULL: the hardware's cost of its image. */
    uint64_t (*core_ns)(void *user, const mr__task *task);

    /* What crosses the link to the device for it. NULL: the stored bytes of its image. */
    uint64_t (*nbytes)(void *user, const mr__task *task);

    /* What it takes of the device's memory. NULL: its stored bytes, its pixels at 3 bytes each, and what is made. */
    uint64_t (*memory)(void *user, const mr__task *task);
    void *user;

    uint64_t output_nbytes; /* of a sample that was made; 0: the work's */
    mr__trainer *trainer;   /* is told how many lanes are busy; NULL: nobody is */

    /*
     * Nothing is prepared: tasks have no slot, and the work need not have a dataset. Then what is not known of an image
     * is 0, and a task's form is the mr_form itself.
     */
    bool blind;
} mr__sim_options;

typedef struct mr__sim_counts {
    uint64_t tasks, submissions; /* done, whatever their code; a list that is longer than the group counts as several */
    uint64_t failed;             /* tasks given back with MR_EDEVICE */
    uint64_t no_memory;          /* tasks that did not fit into the device's memory: MR_ENOMEM */
    uint64_t busy_ns;            /* of all lanes, up to the last end */
    uint64_t link_nbytes;        /* both ways */
    uint64_t memory_peak_nbytes; /* at once */
    uint64_t overcommit_nbytes;  /* the most that the trainer took and did not find free: it would have failed */
} mr__sim_counts;

mr__sim_counts mr__sim_tell(mr__device *device);

#endif
