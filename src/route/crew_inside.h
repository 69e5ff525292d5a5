// SPDX-License-Identifier: Apache-2.0
/* The crew as its own files see it: crew.c, crew_learn.c, crew_memory.c. */
#ifndef MR_ROUTE_CREW_INSIDE_H
#define MR_ROUTE_CREW_INSIDE_H

#include "route/crew.h"

typedef struct mr__mate {
    mr__device *device;
    const char *name;
    double launch_ns;
    bool can_fail;
    bool bounded;              /* its memory is its own */
    bool strayed;              /* what it was believed to take is not what it takes */
    uint32_t learned;          /* jobs since jobs were last predicted anew */
    double per_batch;          /* jobs that it does for each batch, about */
    double slower, slower_log; /* how much longer jobs took than chance explains, and in all, as logarithms; */
    uint32_t slower_count;     /* as many of them */
    mr__lent *lent;            /* memory that the program lends; NULL: it never has */
    uint32_t back;             /* bit i: region i was asked for, and has come back */
    uint64_t busy_ns;
    uint64_t tasks, lost;
    uint64_t mishaps[MR__MISHAPS];
    mr__mishap last; /* MR__MISHAPS: nothing happened to it */
} mr__mate;

struct mr__crew {
    mr_hooks hooks;
    mr__crew_options options;
    mr__sched *sched;
    mr__mate members[MR__SCHED_DEVICES_MAX];
    mr__beside beside;
    mr__cost *costs; /* device x form */
    mr__features *features;
    uint8_t *forms;    /* of each job */
    mr__grant *grants; /* of each pick, from lent memory; nbytes 0: none */
    bool resting;      /* what comes back was asked for: it says nothing about devices */
};

/* Something happened to a device. */
void mr__crew_note(mr__crew *crew, uint32_t device, mr__mishap mishap);

/* crew_learn.c: which of all jobs it is; what it takes on each device; and what is made of what it took. */
size_t mr__crew_number(const mr__crew *crew, const mr__job *job);
void mr__crew_predict(mr__crew *crew, mr__job *job);
void mr__crew_predict_again(mr__crew *crew); /* what is left, if a device is not what it was believed to be */
bool mr__crew_is_known(mr__crew *crew, uint32_t device);
void mr__crew_learn(mr__crew *crew, const mr__job *job, const mr__pick *pick);
void mr__crew_learn_slowness(mr__crew *crew, uint32_t device, uint64_t now_ns);
void mr__crew_learn_lateness(mr__crew *crew, uint64_t now_ns);

/* crew_memory.c: what a device may take; and the memory of a pick, where the program lends some. */
uint64_t mr__crew_limit_of(const mr__crew *crew, const mr__device_memory *memory);
void mr__crew_bound_need(const mr__crew *crew, mr__job *job);
void mr__crew_read_memory(mr__crew *crew, uint32_t device);
bool mr__crew_grant(mr__crew *crew, mr__pick *pick);
void mr__crew_end_grant(mr__crew *crew, const mr__pick *pick);

#endif
