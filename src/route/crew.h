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
#include "device/lent.h"
#include "route/beside.h"
#include "route/cost.h"
#include "route/policy.h"

typedef struct mr__crew mr__crew;

/* What happened to a device, for the report. */
typedef enum mr__mishap {
    MR__MISHAP_LOST,    /* it gave tasks back */
    MR__MISHAP_LATE,    /* it did not answer in time, and was abandoned */
    MR__MISHAP_WRONG,   /* bytes did not fit their checksum */
    MR__MISHAP_MEMORY,  /* a task did not find the memory that it was to have */
    MR__MISHAP_SLOW,    /* a batch waited for nothing else, and it took far longer than it should: abandoned, too */
    MR__MISHAP_BACK,    /* it was tried again, and is well */
    MR__MISHAP_OUTSIDE, /* it wrote outside of the memory that it was lent */
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
    mr__mishap mishap;   /* why it goes to another device; MR__MISHAPS: it does not */
} mr__sight;

typedef struct mr__crew_options {
    const mr_hooks *hooks;
    const mr__policy *policy; /* NULL: auto */
    mr__device *const *devices;
    const char *const *names;                         /* of them, for messages; stay */
    const uint64_t *launch_ns;                        /* of each; NULL: 0 */
    uint32_t device_count;                            /* the first is the host */
    bool hostless;                                    /* there is none among them */
    uint64_t memory_nbytes;                           /* that each may take of its own memory, at most; 0: as it says */
    uint32_t batches, jobs;                           /* at once; in a batch at most */
    uint32_t forms;                                   /* [1] */
    uint32_t grain;                                   /* tasks of a job, at most [1] */
    bool told;                                        /* nothing is learned: who fills jobs, fills job->ns */
    uint64_t deadline_ns, back_ns;                    /* mr__sched_options */
    mr__cut_rule cut;                                 /* likewise */
    bool has_trainer;                                 /* one of the devices trains too: */
    uint32_t trained;                                 /* this one; */
    bool needed;                                      /* it can do what nobody else can; */
    mr__beside_options beside;                        /* and may be used so */
    void (*seen)(void *user, const mr__sight *sight); /* NULL: nobody watches */
    void *user;
} mr__crew_options;

int mr__crew_new(const mr__crew_options *options, mr__crew **out);
void mr__crew_free(mr__crew *crew);

/* As mr__sched_open and mr__sched_add; job i is of form forms[i] (NULL: all of the first), has features[i]. */
mr__job *mr__crew_open(mr__crew *crew, uint32_t *batch);
void mr__crew_add(mr__crew *crew, uint32_t batch, uint32_t count, const mr__features *features, const uint8_t *forms,
                  uint64_t now_ns);

/*
 * Whether the host is given more than its lanes are at, because reads have to be waited for: what it has, nobody else
 * can take any more. At first it is not.
 */
void mr__crew_read_ahead(mr__crew *crew, bool ahead);

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

/* Before: those whose bytes do not fit their checksum are marked. Needs no lock. */
void mr__crew_check(mr__task *first, size_t sample_nbytes);

/*
 * Also before, of a task with a code: whether that is about the device, or that it was cancelled, and not about the
 * sample. Of others, one that is aimed at another sample (task->again, and its need_nbytes and lacked) is not settled,
 * but left again. Needs no lock.
 */
bool mr__crew_doubts(const mr__crew *crew, const mr__task *task);

/* And before anything is done about them: who watches is told of each, as its device gave it back. */
void mr__crew_watch(const mr__crew *crew, const mr__task *first);

/* The trainer has no batch to go on with; it has one. */
void mr__crew_waits(mr__crew *crew, uint64_t now_ns);
void mr__crew_steps(mr__crew *crew, uint64_t now_ns);

/* When the crew wants to be asked, without an event. And then: a device to be abandoned (UINT32_MAX: none). */
uint64_t mr__crew_wake_ns(mr__crew *crew, uint64_t now_ns);
uint32_t mr__crew_tick(mr__crew *crew, uint64_t now_ns);

/* Everything is about to be had back, by cancel and abandon: no device is blamed for it. Until mr__crew_clear. */
void mr__crew_rest(mr__crew *crew);

/* Forgets batches that will not be done: the loader is put elsewhere, and all tasks have come back. */
void mr__crew_clear(mr__crew *crew);

/*
 * Memory of a device, lent by the program: once some was lent, the device works in that alone. A region that is
 * reclaimed gets nothing new, and is back when the last submission in it has ended; mr__crew_let_go asks for all of
 * them back, and returns what was back at once.
 */
int mr__crew_lend(mr__crew *crew, uint32_t device, const mr__lent_memory *memory, uint32_t *region, mr__detail *detail);
int mr__crew_reclaim(mr__crew *crew, uint32_t device, uint32_t region, bool *back, mr__detail *detail);
uint64_t mr__crew_let_go(mr__crew *crew, uint32_t device);
/* Whether anything ever was. */
bool mr__crew_is_lent(const mr__crew *crew);
bool mr__crew_is_back(mr__crew *crew, uint32_t device, uint32_t region);

mr__sched *mr__crew_sched(mr__crew *crew);
const mr__beside *mr__crew_beside(const mr__crew *crew);
uint64_t mr__crew_mishaps(const mr__crew *crew, uint32_t device, mr__mishap mishap);

/* Tasks that it did, whatever came of them; that it gave back, or gave wrong, and others did. */
uint64_t mr__crew_tasks(const mr__crew *crew, uint32_t device);
uint64_t mr__crew_lost(const mr__crew *crew, uint32_t device);
/* What happened to it last; NULL: nothing did. */
const char *mr__crew_last_mishap(const mr__crew *crew, uint32_t device);

/* How long its lanes were busy with what it did. */
double mr__crew_busy_seconds(const mr__crew *crew, uint32_t device);

/* The model of a route, to be saved and loaded. */
mr__cost *mr__crew_cost(mr__crew *crew, uint32_t device, uint32_t form);

#endif
