// SPDX-License-Identifier: Apache-2.0
/*
 * The inside of a `sim` device: how long its lanes take, and what befalls them. For sim_device.c; the world's lock is
 * held for all of it.
 */
#ifndef MR_DEVICE_SIM_LANES_H
#define MR_DEVICE_SIM_LANES_H

#include "device/prepare.h"
#include "device/sim/sim.h"

/* Tasks that one lane does together. */
typedef struct mr__piece {
    mr__task *first;
    uint32_t count; /* 0: none */
} mr__piece;

typedef struct mr__turn {
    mr__piece piece;
    uint32_t lane;
    int code; /* MR_ENOMEM: it did not fit */
    uint64_t begun_ns, end_ns;
    uint64_t launch_ns, work_ns; /* as they would take with nothing in between; work with its launch */
    uint64_t memory_nbytes;
    uint64_t number; /* how many tasks were done before its first */
} mr__turn;

typedef struct mr__lane {
    mr__turn turn;
    bool armed;  /* has an event in the world */
    bool failed; /* what it has is being given back */
} mr__lane;

typedef struct mr__sim {
    mr__device device; /* first */
    const mr__work *work;
    mr__done *done;
    void *user;
    mr__sim_options is;
    const mr__hardware_device *hardware;
    mr__hardware *own_hardware; /* NULL: it was given one */
    mr__world *world;
    size_t reserved; /* events */
    mr__hands hands;
    mr__errand errand;
    const mr__thread_meter *meters[1];
    uint32_t lane_count, busy, group;
    mr__lane *lanes;
    mr__piece *queue; /* a ring: piece n is at n modulo capacity */
    size_t capacity;
    uint64_t head, tail; /* pieces that have left it, and come to it */
    uint64_t begun;      /* tasks */
    bool has_windows, has_wrong;
    bool preparing;  /* somebody is, without the lock */
    bool refusing;   /* an event will give all back */
    uint32_t giving; /* calls that give all back: nothing begins */
    bool tripped[MR__HARDWARE_FAULTS_MAX];
    uint64_t back_ns[MR__HARDWARE_FAULTS_MAX]; /* when it is over, of one that has tripped */
    uint64_t memory_used, memory_seen_ns;
    mr__sim_counts counts;
} mr__sim;

bool mr__sim_is_lost(const mr__sim *s);

/* Whether the bytes of the task that so many were done before are damaged. */
bool mr__sim_is_wrong(const mr__sim *s, uint64_t number);

/* Faults that are due now, by the tasks that were done. `end` is the lanes' event. */
void mr__sim_trip(mr__sim *s, mr__event *end);

/* Free lanes begin what waits. */
void mr__sim_begin(mr__sim *s, mr__event *end);

/* What a lane has leaves it. */
mr__turn mr__sim_take(mr__sim *s, uint32_t lane);

mr__device_memory mr__sim_memory(const mr__sim *s);
void mr__sim_note_memory(mr__sim *s); /* before its use changes */

#endif
