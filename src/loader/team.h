// SPDX-License-Identifier: Apache-2.0
/*
 * The devices of a loader. One alone, host or accelerator, is given tasks in order by pipeline.c, unless a policy was
 * asked for. Else there is a crew (route/crew.h): each batch is described to it when its slot is opened, and it says
 * who gets what.
 *
 * A simulated machine ("sim:FILE") has a world of its own time, in which its devices and its trainer live: then the
 * loader's clock is that world's, and whoever waits for a batch moves it.
 */
#ifndef MR_LOADER_TEAM_H
#define MR_LOADER_TEAM_H

#include "device/sim/sim.h"
#include "loader/headers.h"
#include "loader/naming.h"
#include "loader/setup.h"
#include "measure/trace.h"
#include "route/crew.h"

typedef struct mr__slot mr__slot;

enum { MR__TEAM_KINDS = MR_FORM_L3 + 1 };

/* What is kept of a slot's tasks while the crew has them. */
typedef struct mr__slot_jobs {
    uint32_t batch; /* as the crew counts */
    mr__job *jobs;
    mr__features *features;
    uint8_t *forms;
    mr__chain *chain; /* scratch of who fills the slot */
    mr__look look;
} mr__slot_jobs;

typedef struct mr__team {
    mr__device_names named; /* what the user asked for */
    mr__device *devices[MR__SCHED_DEVICES_MAX];
    const char *names[MR__SCHED_DEVICES_MAX];
    uint64_t launch_ns[MR__SCHED_DEVICES_MAX];
    uint32_t count;
    bool asked;         /* the user wants a policy, or a trace */
    bool hostless;      /* there are accelerators, and nobody else */
    bool alone;         /* there is one accelerator, and no crew: what it did is counted here */
    mr__device *keeper; /* batches stay with it; NULL: they are the host's */
    uint64_t alone_tasks, alone_submissions, alone_busy_ns;
    uint32_t lacked[MR__TEAM_KINDS];       /* devices that cannot do this recipe on a form of this kind, a bit each */
    bool lacking;                          /* somebody lacks something */
    char lacks[MR__SCHED_DEVICES_MAX][96]; /* the first step that a device cannot do, in words; "": it can do all */
    mr__headers *headers;                  /* with that, what images' own headers say; NULL: the index has to do */
    bool counts_memory;                    /* there are devices with memory of their own */
    const mr__thread_meter **meters;       /* of all their lanes */
    size_t meter_count;

    mr__crew *crew; /* NULL: there is one device, and no policy */
    const mr__policy *policy;
    uint32_t grain;                   /* samples of a job */
    bool tiny;                        /* they are so small that some are one job */
    uint64_t reads_seen, waited_seen; /* up to the last batch: all, and those that were waited for */
    mr__slot_jobs *slots;
    uint32_t slot_count;
    mr__trace *trace; /* NULL: nobody wants one */

    mr__hardware *hardware; /* NULL: the devices are real */
    mr__world *world;
    mr__trainer *trainer;
    uint64_t armed_ns; /* when the world wakes the crew; UINT64_MAX: it will not */
} mr__team;

/* After the ring is there, and team.named was read. On failure everything is closed. */
int mr__team_open(mr_loader *loader, const mr_loader_options *options, uint32_t threads, mr__detail *detail);

/* Once it is known which dataset and recipe it is: what was kept of them is read. */
void mr__team_ready(mr_loader *loader);

/* False: a lane is held up, and nothing of the loader may be freed. */
bool mr__team_close(mr_loader *loader, uint64_t deadline_ns);

/* What it keeps between runs is written. */
void mr__team_save(mr_loader *loader);

/* By the world's clock, where there is one. */
uint64_t mr__team_now_ns(const mr_loader *loader);

/* A slot was opened: the crew makes room for its batch. The mutex is held. */
void mr__team_begin(mr_loader *loader, mr__slot *slot);

/* Its tasks are filled: what each will cost. Then they are the crew's. Without the mutex. */
void mr__team_describe(mr_loader *loader, mr__slot *slot);

/* A task of it was aimed at another sample. Without the mutex. */
void mr__team_describe_again(mr_loader *loader, mr__task *task);

/* Whether the code of a task that came back says nothing about its sample. Without the mutex. */
bool mr__team_doubts(const mr_loader *loader, const mr__task *task);

/* Tasks came back: they are counted, their checksums are compared, and who watches sees them as they are. Without the
 * mutex. */
void mr__team_look(mr_loader *loader, mr__task *first);

/* Tasks came back, and what is bad among them was judged: how many are settled. Without the mutex. */
size_t mr__team_done(mr_loader *loader, mr__task *first, size_t count);

/* What is wrong with a device that is set aside, in words. The mutex is held. False: nothing is. */
bool mr__team_trouble(const mr_loader *loader, char *text, size_t nbytes);

/* A list for a device, that pipeline.c has claimed. Without the mutex. */
void mr__team_submit(mr_loader *loader, const mr__gift *gift);

/* Deadlines, and devices that are tried again. Without the mutex. */
void mr__team_tick(mr_loader *loader);

/* The consumer came: the trainer's step has ended before. Without the mutex. */
void mr__team_arrive(mr_loader *loader);

/* It has no batch to go on with; it has got one. The mutex is held. True: something may be dispatched now. */
bool mr__team_waits(mr_loader *loader);
void mr__team_steps(mr_loader *loader);

/* It goes on with what it got. Without the mutex. */
void mr__team_leave(mr_loader *loader);

/* The next event of a world, or of a device with a time of its own. Without the mutex. False: there is none. */
bool mr__team_advance(mr_loader *loader);

/* Everything that can be had back is asked for. Without the mutex. */
void mr__team_cancel(mr_loader *loader);

/* For a trace: what the crew saw. */
void mr__team_watch(void *user, const mr__sight *sight);

/* The processor's time that threads of all devices took. Without the mutex. */
uint64_t mr__team_core_ns(const mr_loader *loader);

/* What a device is busy with for longest: the first that is. Without the mutex. */
bool mr__team_oldest(const mr_loader *loader, uint64_t *ordinal, const char **doing);

/* Of devices and policy. The mutex is held. */
void mr__team_fill(mr_loader *loader, mr_loader_stats *stats);

#endif
