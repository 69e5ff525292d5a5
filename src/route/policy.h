// SPDX-License-Identifier: Apache-2.0
/* What policies see of the scheduler, and the table of them. */
#ifndef MR_ROUTE_POLICY_H
#define MR_ROUTE_POLICY_H

#include "device/budget.h"
#include "route/sched.h"

typedef struct mr__lot mr__lot;

/* A batch. `order` has its jobs in the policy's order: the largest first, or as they came. */
struct mr__lot {
    bool open, added;
    bool split;      /* jobs have their ways */
    bool stale;      /* to be planned (anew), before anything is taken of it */
    bool choosy;     /* some job cannot be done by every device */
    uint64_t number; /* in the order of opening */
    mr__job *jobs;
    uint32_t *order; /* places of jobs */
    uint32_t *skip;  /* from a place in `order` to the first at or behind it that may be left; count: none */
    uint32_t count, left, undone;
    uint32_t last;    /* no place behind it is left */
    float work;       /* of what is left */
    float *plan;      /* of each lane: what is planned for it and left; of policies that plan */
    uint32_t planned; /* which of several plans */
    /* Of a batch that is split: shares of its jobs that are to cross so (all 0: nobody has asked yet), and how many do;
     * sums over what is left as it was stored; and what is ready to cross. */
    double share[MR__CUTS];
    uint32_t given[MR__CUTS], stored;
    double sums[MR__CUTS][MR__CUT_RESOURCES], ready_ns[MR__CUT_RESOURCES];
};

typedef struct mr__station {
    mr__sched_device device;
    uint32_t lane0; /* the number of its first lane among all */
    mr__pick *picks;
    uint32_t capacity; /* of picks */
    uint32_t under_way;
    double speed;            /* of a lane: work in a nanosecond */
    uint64_t room_ns;        /* of a fused pick; 0: it gets nothing */
    uint64_t aside_until_ns; /* 0: it is well */
    uint64_t back_ns;
    bool trial;        /* it was set aside, and has not done anything since */
    bool unseen;       /* how fast it is, nobody knows */
    uint32_t rest;     /* so often a policy need not go through all that is left: it found nothing for it just now */
    mr__budget memory; /* what picks under way have taken of the device's */
    bool blocked;      /* its memory is in pieces: nothing until a pick has given some back */
    mr__sched_tally tally;
} mr__station;

struct mr__sched {
    mr_hooks hooks;
    const mr__policy *policy;
    mr__sched_options options;
    mr__station stations[MR__SCHED_DEVICES_MAX];
    uint32_t station_count, lane_count;
    mr__lot *lots;
    uint32_t *queue; /* open batches, the oldest first */
    uint32_t queued;
    uint64_t opened;
    double mean_work;   /* of a job in the batch that came last */
    uint32_t under_way; /* picks */
    uint64_t tick_ns;   /* of policies with a control loop: when it last ran */
    mr__job **waiting;  /* of each lane: the job that waits behind the one it is at; of policies that do so */
    mr__job *job_memory;
    uint32_t *place_memory;
    float *plan_memory;
    mr__pick *pick_memory;
};

/* Launching may be this share of a pick's time: jobs are fused until it is. */
#define MR__LAUNCH_SHARE 0.05

/* Who takes part: all devices; the host, which is the first; or the others, and the host in what they cannot do. */
typedef enum mr__policy_who { MR__WHO_ALL, MR__WHO_HOST, MR__WHO_DEVICES } mr__policy_who;

typedef enum mr__policy_key { MR__KEY_ORDER, MR__KEY_WORK, MR__KEY_NBYTES } mr__policy_key;

struct mr__policy {
    const char *name;
    const char *summary;
    uint32_t grain; /* samples of a job; 0: a whole batch; 1: one, or more where they are tiny */
    mr__policy_key key;
    mr__policy_who who;
    uint64_t tick_ns; /* it has a control loop, which runs so often; 0: none */
    bool shown;       /* to users: others are for comparison */
    /* Once a batch is there and sorted, and again when something has changed: what is left of it. NULL: nothing. */
    void (*plan)(mr__sched *sched, mr__lot *lot, uint64_t now_ns);
    /* Fills pick->first, count and reason by mr__pick_add. False: nothing of this batch for this device now. */
    bool (*pick)(mr__sched *sched, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick);
    /* The same for batches that are split. NULL: none are. */
    bool (*pick_cut)(mr__sched *sched, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick);
};

extern const mr__policy mr__policy_auto, mr__policy_interbatch, mr__policy_intrabatch, mr__policy_naive_device,
    mr__policy_fusion, mr__policy_longest, mr__policy_ends, mr__policy_better;

/* Of a batch that is split: what makes it end soonest (policy_cut.c). */
bool mr__policy_pick_cut(mr__sched *sched, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick);

/* By number, from 0; NULL: there are no more. And by name; NULL: there is none. */
const mr__policy *mr__policy_at(uint32_t number);
const mr__policy *mr__policy_of(const char *name);

/* Samples of one job: `tiny` at least (0: 1), where they are so small. */
uint32_t mr__policy_grain(const mr__policy *policy, uint32_t batch, uint32_t tiny);

/* The first place at or behind `place` whose job is left; lot->count: none. And the last of all. */
uint32_t mr__lot_next(mr__lot *lot, uint32_t place);
uint32_t mr__lot_last(mr__lot *lot);

static inline mr__job *mr__lot_job(const mr__lot *lot, uint32_t place)
{
    return &lot->jobs[lot->order[place]];
}

/* Whether the device may take a job into a pick: it can do it, and has the memory. */
bool mr__sched_takes(const mr__sched *sched, uint32_t device, const mr__job *job, const mr__pick *pick);

void mr__pick_add(mr__pick *pick, mr__job *job);

/* A job of a batch that is split is left, as it is now: what there is to do of it. And those of a pick are not. */
void mr__lot_leave(const mr__sched *sched, mr__lot *lot, mr__job *job);
void mr__lot_give(mr__lot *lot, const mr__pick *pick);

/* The predicted time of a pick on its device, with the launch, if the job were in it too. NULL: as it is. */
double mr__pick_ns(const mr__sched *sched, const mr__pick *pick, const mr__job *job);

/* Open to work now. */
bool mr__station_is_open(const mr__station *station, uint64_t now_ns);

/* How long, from now on, a pick will still take; of one that is late, a part of what it took already. */
double mr__pick_left_ns(const mr__pick *pick, uint64_t now_ns);

/* How long until a lane of the device is free: the first of them that will be. */
double mr__station_free_ns(const mr__station *station, uint64_t now_ns);

/*
 * How long, from now on, until all that is left of this batch and of older ones is done, if it could be poured like
 * water into the lanes that are open; one lane of device `without` left out (UINT32_MAX: none).
 */
double mr__sched_pour_ns(const mr__sched *sched, const mr__lot *lot, uint32_t without, uint64_t now_ns);

#endif
