// SPDX-License-Identifier: Apache-2.0
/*
 * The devices of a loader, and the scheduler that deals work to them. Whoever has an event (a batch was opened, tasks
 * are done, time has come) tells the crew under his lock, then asks for what is to be submitted until there is nothing,
 * and submits it without the lock. A device that fails loses its tasks to the others; nobody else notices.
 *
 *     job = mr__crew_open(crew, &batch);              a batch: fill its jobs
 *     mr__crew_add(crew, batch, count, now_ns);
 *     while (mr__crew_next(crew, now_ns, &gift))      unlock; submit gift.first to gift.device; lock
 *     mr__crew_done(crew, first, now_ns, &settled)    from a device's `done`
 *     mr__crew_wake_ns, mr__crew_tick                 deadlines, windows, devices that are tried again
 *
 * Threads: one at a time: the caller's lock.
 * Ownership: mr__crew_free frees it; devices are the caller's, who closes them.
 * Limits: batches x jobs.
 */
#ifndef MR_ROUTE_CREW_H
#define MR_ROUTE_CREW_H

#include "device/device.h"
#include "route/beside.h"
#include "route/cost.h"
#include "route/policy.h"

typedef struct mr__crew mr__crew;

/* What happened to a device, for the report. */
typedef enum mr__mishap {
    MR__MISHAP_LOST,   /* it gave tasks back */
    MR__MISHAP_LATE,   /* it did not answer in time, and was abandoned */
    MR__MISHAP_WRONG,  /* bytes did not fit their checksum */
    MR__MISHAP_MEMORY, /* a task did not find the memory that it was to have */
    MR__MISHAP_SLOW,   /* a batch waited for nothing else, and it took far longer than it should: abandoned, too */
    MR__MISHAP_BACK,   /* it was tried again, and is well */
    MR__MISHAPS
} mr__mishap;

/* "gave its tasks back". */
const char *mr__mishap_text(mr__mishap mishap);

/* A task that is done, for who watches. */
typedef struct mr__sight {
    const mr__task *task;
    const mr__job *job;
    const mr__pick *pick;
    double predicted_ns; /* of the task: its share of the job, without the launch */
} mr__sight;

typedef struct mr__crew_options {
    const mr_hooks *hooks;
    const mr__policy *policy; /* NULL: auto */
    mr__device *const *devices;
    const char *const *names;                         /* of them, for messages; stay */
    const uint64_t *launch_ns;                        /* of each; NULL: 0 */
    uint32_t device_count;                            /* the first is the host */
    uint32_t batches, jobs;                           /* at once; in a batch at most */
    uint32_t forms;                                   /* [1] */
    bool told;                                        /* nothing is learned: who fills jobs, fills job->ns */
    uint64_t deadline_ns, back_ns;                    /* mr__sched_options */
    mr__cut_rule cut;                                 /* likewise */
    bool has_trainer;                                 /* one of the devices trains too: */
    uint32_t trained;                                 /* this one; */
    mr__beside_options beside;                        /* and may be used so */
    size_t sample_nbytes;                             /* of a slot, for checksums */
    void (*seen)(void *user, const mr__sight *sight); /* NULL: nobody watches */
    void *user;
} mr__crew_options;

int mr__crew_new(const mr__crew_options *options, mr__crew **out);
void mr__crew_free(mr__crew *crew);

/* As mr__sched_open and mr__sched_add; job i is of form forms[i] (NULL: all of the first), has features[i]. */
mr__job *mr__crew_open(mr__crew *crew, uint32_t *batch);
void mr__crew_add(mr__crew *crew, uint32_t batch, uint32_t count, const mr__features *features, const uint8_t *forms,
                  uint64_t now_ns);

/* Before mr__crew_add, as mr__sched_split: only where nothing is learned, as models are of whole jobs. */
bool mr__crew_split(mr__crew *crew, uint32_t batch);

/* A list of tasks for a device. */
typedef struct mr__gift {
    uint32_t device;
    mr__task *first;
    size_t count;
} mr__gift;

/* False: nobody is to get anything now. */
bool mr__crew_next(mr__crew *crew, uint64_t now_ns, mr__gift *gift);

/* The device would not have it: its tasks are left again. */
void mr__crew_refused(mr__crew *crew, const mr__gift *gift, uint64_t now_ns);

/*
 * Tasks of one batch that a device is done with. *settled becomes the list of those whose code is final, and their
 * number is returned; others go to other devices.
 */
size_t mr__crew_done(mr__crew *crew, mr__task *first, uint64_t now_ns, mr__task **settled);

/* The trainer has no batch to go on with; it has one. */
void mr__crew_waits(mr__crew *crew, uint64_t now_ns);
void mr__crew_steps(mr__crew *crew, uint64_t now_ns);

/* When the crew wants to be asked, without an event. And then: a device to be abandoned (UINT32_MAX: none). */
uint64_t mr__crew_wake_ns(mr__crew *crew, uint64_t now_ns);
uint32_t mr__crew_tick(mr__crew *crew, uint64_t now_ns);

/* Forgets batches that will not be done: the loader is put elsewhere, and all tasks have come back. */
void mr__crew_clear(mr__crew *crew);

mr__sched *mr__crew_sched(mr__crew *crew);
const mr__beside *mr__crew_beside(const mr__crew *crew);
uint64_t mr__crew_mishaps(const mr__crew *crew, uint32_t device, mr__mishap mishap);

/* The model of a route, to be saved and loaded. */
mr__cost *mr__crew_cost(mr__crew *crew, uint32_t device, uint32_t form);

#endif
