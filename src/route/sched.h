// SPDX-License-Identifier: Apache-2.0
/*
 * The scheduler: which device prepares which samples of which batch. It has no thread, no clock and no lock: somebody
 * adds batches, asks for work whenever a device has room, and says what is done. So the loader and a simulation of a
 * million tasks a second run the same code.
 *
 *     sched.c           batches, jobs, picks; devices that fail
 *     forecast.c        when a lane will be free, and a batch be ready
 *     split.c           jobs that are done in part by the host, and then cross to the accelerator
 *     policy.h          what a policy is, and the table of them (doc/policies.md says where each comes from)
 *     policy_auto.c     ours
 *     policy_plain.c    interbatch, intrabatch, naive-device
 *     policy_fusion.c   the public prototype's
 *     policy_pair.c     longest first, the two-ended queue, and the better of both
 *     policy_cut.c      batches whose jobs may cross to the accelerator half done (cut.h)
 *
 * Words: a *job* is what is placed as one: a sample, or some neighbours of a batch where samples are tiny. A *pick* is
 * what a device gets at once: a job, or several that are fused, as every submission costs it something. *Work* is a
 * job's time on a lane of the first device, so that devices can be compared; the speed of another is the work that a
 * lane of it does in the time.
 *
 * Invariants:
 * 1. Each job of a batch is left, or in one pick, or done. A pick's jobs are of one batch.
 * 2. A device has at most `depth` picks, and none while it is set aside or not open.
 * 3. If a job is left and nothing is under way, some device that may take it does when it is asked: a batch is never
 *    stuck because everybody waits for somebody better.
 * 4. Nothing is allocated after mr__sched_new.
 *
 * Threads: one at a time.
 * Ownership: mr__sched_free frees it; tasks are the caller's.
 * Limits: batches x jobs, MR__SCHED_DEVICES_MAX devices.
 */
#ifndef MR_ROUTE_SCHED_H
#define MR_ROUTE_SCHED_H

#include "device/task.h"
#include "route/cut.h"

enum { MR__SCHED_DEVICES_MAX = 8, MR__SCHED_LANES_MAX = 1024 };

/* Why a job was put where it is. */
typedef enum mr__reason {
    MR__REASON_ORDER,   /* its turn: the policy looks at nothing else */
    MR__REASON_LARGEST, /* the largest that is left, on the fastest device */
    MR__REASON_FITS,    /* the largest that ends well before the batch will */
    MR__REASON_SOONER,  /* done here before the faster device would have it done */
    MR__REASON_SMALL,   /* the smallest: anything larger would end last */
    MR__REASON_ALONE,   /* nobody else is at work, or can do it */
    MR__REASON_PLANNED, /* planned for this lane */
    MR__REASON_STOLEN,  /* planned for another lane, that would end later */
    MR__REASON_TRIAL    /* to see how fast the device is, or whether it is well again */
} mr__reason;

/* "the largest that is left, on the fastest device". */
const char *mr__reason_text(mr__reason reason);

typedef struct mr__pick mr__pick;

typedef struct mr__job {
    mr__task *first; /* the tasks, a list */
    uint32_t count;
    float ns[MR__SCHED_DEVICES_MAX]; /* predicted, on a lane of each device, without its launch; INFINITY: it cannot */
    uint64_t stored_nbytes;
    uint64_t need_nbytes;       /* of a device's memory, at most */
    mr__cut_way ways[MR__CUTS]; /* of a batch that is split: what it takes at each cut, without the launch */
    /* The scheduler's own. */
    uint8_t state, aim; /* of a batch that is split, mr__cut: as it is, and as its pick makes it to cross, or crosses */
    float work;
    bool taken;
    uint32_t again; /* so often a device has failed with it */
    uint32_t batch, owner;
    struct mr__job *next; /* in its pick */
    mr__pick *pick;
    /* The crew's: tasks that are not done; those that came back undone; and how long lanes were busy with it. */
    uint32_t open, back_count;
    mr__task *back;
    uint64_t busy_ns;
    bool failed; /* a task of it was not done well: its time says nothing; else, what came back is half done */
} mr__job;

struct mr__pick {
    uint32_t device, lane, batch;
    mr__job *first;
    uint32_t count; /* jobs */
    mr__reason reason;
    uint64_t number; /* of the picks of its device */
    uint64_t begun_ns;
    uint64_t due_ns;      /* when it should be done */
    uint64_t deadline_ns; /* when its device is taken to have failed; UINT64_MAX: never */
    uint64_t need_nbytes;
    float work;
    uint32_t open; /* jobs that are not done */
};

typedef struct mr__sched_device {
    const char *name; /* stays */
    uint32_t lanes;
    uint32_t depth;         /* picks at once; 0: as many as lanes */
    uint32_t group;         /* jobs in a pick, at most; 0: 1 */
    double launch_ns;       /* of each pick */
    uint64_t memory_nbytes; /* for jobs under way, at first; 0: no bound */
    bool can_fail;          /* it can be abandoned: has deadlines */
} mr__sched_device;

typedef struct mr__policy mr__policy;

typedef struct mr__sched_options {
    const mr_hooks *hooks;
    const mr__policy *policy; /* NULL: auto */
    const mr__sched_device *devices;
    uint32_t device_count;
    bool hostless;          /* the first is an accelerator like the others */
    uint32_t batches, jobs; /* at once; in a batch, at most */
    uint64_t deadline_ns;   /* a pick that takes twice its time and so much longer has failed [1 s] */
    uint64_t back_ns;       /* so long a device that failed is set aside; twice as long each further time [1 s] */
    mr__cut_rule cut;       /* of batches that are split */
} mr__sched_options;

/* What became of a device. */
typedef struct mr__sched_tally {
    uint64_t jobs, picks, failures, returned; /* returned: jobs that it did not do, and others did */
    uint64_t refused;                         /* asked, and had no memory for anything that was left */
    uint64_t parts;                           /* jobs that it did in part, for the accelerator to go on with */
    bool aside;                               /* it has failed, and not done anything since */
} mr__sched_tally;

typedef struct mr__sched mr__sched;

int mr__sched_new(const mr__sched_options *options, mr__sched **out);
void mr__sched_free(mr__sched *sched);

/*
 * Room for a batch: an array of `jobs` that the caller fills (first, count, ns, stored_nbytes, need_nbytes), and then
 * says how many with mr__sched_add. NULL: there are `batches` already.
 */
mr__job *mr__sched_open(mr__sched *sched, uint32_t *batch);
void mr__sched_add(mr__sched *sched, uint32_t batch, uint32_t count, uint64_t now_ns);

/*
 * Before mr__sched_add: jobs have their ways, and may be done in part by the host before they cross to the accelerator.
 * Their `ns` are then the scheduler's to fill. False: not with these devices (it takes a host and one accelerator), or
 * not by this policy, and jobs are placed whole.
 */
bool mr__sched_split(mr__sched *sched, uint32_t batch);

/* The predictions of jobs that are left are other ones now. */
void mr__sched_changed(mr__sched *sched, uint32_t batch);

/* Work for a device that has room; NULL: nothing for it now. Its jobs are a list. Ask again after every event. */
mr__pick *mr__sched_take(mr__sched *sched, uint32_t device, uint64_t now_ns);

/* A job of a pick is done; true: it was the batch's last, which is the caller's to close. */
bool mr__sched_done(mr__sched *sched, mr__job *job, uint64_t now_ns);

/* Whether what a pick does of a job is a part of it, and the accelerator has to go on. */
bool mr__sched_is_part(const mr__sched *sched, const mr__job *job);

/* A part of a job is done: the job is left again. */
void mr__sched_part_done(mr__sched *sched, mr__job *job, uint64_t now_ns);

/* A job comes back because its device failed; it is left again, for others first. */
void mr__sched_return(mr__sched *sched, mr__job *job, uint64_t now_ns);

/* Forgets a batch, whose jobs are all done, or will never be. */
void mr__sched_close(mr__sched *sched, uint32_t batch);

/* The device failed, and is set aside for a while; its jobs have to be returned. */
void mr__sched_fail(mr__sched *sched, uint32_t device, uint64_t now_ns);

/* It is tried again at that time already. */
void mr__sched_retry(mr__sched *sched, uint32_t device, uint64_t at_ns);

/* How long a fused pick of it may be (a trainer's device, while the trainer is at it); 0: it gets nothing. */
void mr__sched_allow(mr__sched *sched, uint32_t device, uint64_t room_ns);

/* Its memory for jobs from now on (MR__BUDGET_ANY: any); what is under way stays. */
void mr__sched_memory(mr__sched *sched, uint32_t device, uint64_t nbytes);

/*
 * A pick that was just taken is not to be: there was no memory for it in one piece. Its jobs are left again; `never`:
 * for other devices, else for this one too, once another of its picks has ended.
 */
void mr__sched_untake(mr__sched *sched, mr__pick *pick, bool never);

/* Nobody knows how fast the device is (or somebody does, again): it gets one small job until it is known. */
void mr__sched_unseen(mr__sched *sched, uint32_t device, bool unseen);

/* How many picks at once. */
void mr__sched_depth(mr__sched *sched, uint32_t device, uint32_t depth);

/* When something changes by itself: a deadline, a device that is tried again. UINT64_MAX: nothing will. */
uint64_t mr__sched_next_ns(const mr__sched *sched, uint64_t now_ns);

/*
 * A device that is to be abandoned; UINT32_MAX: none. Its pick is past its deadline; or it is not the host, and a
 * batch waits for nothing but this pick, which takes four times as long as it should, or was a trial and takes twice
 * as long as the host would. A job that came back from a device is given more time from one to the next.
 */
uint32_t mr__sched_overdue(const mr__sched *sched, uint64_t now_ns);

/* When the batch will be ready, if all goes as predicted. */
uint64_t mr__sched_ready_ns(mr__sched *sched, uint32_t batch, uint64_t now_ns);

mr__sched_tally mr__sched_tally_of(const mr__sched *sched, uint32_t device);

#endif
