// SPDX-License-Identifier: Apache-2.0
/*
 * Who prepares tasks: threads of this host, later accelerators and workers near the storage; `sim` for tests. A device
 * is a small table of functions. What a device does not have is NULL in it, and the default stands here once, in the
 * function of the same name that callers use.
 *
 * Invariants every device keeps:
 * 1. Each task that was submitted is given to `done` once, with its code, in whatever order: unless the device is
 *    closed before.
 * 2. `done` is called without a lock of the device held, from any thread, and may submit.
 * 3. A slot is written to between submit and done of its task, by nobody else, and not after.
 * 4. Nothing polls.
 * 5. MR_EDEVICE and MR_ENOMEM say nothing about a sample: another device may do it.
 * 6. A task that needs more memory than the device has, is given to it only where nobody else is: it does it in some
 *    other way, or its code is about the sample (MR_ELIMIT).
 */
#ifndef MR_DEVICE_DEVICE_H
#define MR_DEVICE_DEVICE_H

#include "device/task.h"
#include "measure/stages.h"

/* `count` tasks of one batch, the first of them and by `next` the others; with that, they are the submitter's again. */
typedef void mr__done(void *user, mr__task *first, size_t count);

/*
 * What a device that is alone was to write for a task may still come, some day: the task gets another place. The lane
 * is in the task. False: there is no memory for that.
 */
typedef bool mr__refuge(void *user, mr__task *task);

typedef struct mr__device_options {
    const mr__work *work; /* stays */
    mr__done *done;
    void *user;
    uint32_t lanes; /* threads, or what stands for them; 0: as many as there are */
    mr_pinning pinning;
    bool has_numa_node;
    uint32_t numa_node;
    const struct mr__sim_options *sim; /* for `sim` alone (device/sim/sim.h); NULL: a plain one in a world of its own */
    uint32_t number;                   /* which of its kind: opencl:1 is 1 */
    uint64_t memory_nbytes;            /* of a device with memory of its own, at most; 0: what it has */
    uint64_t timeout_ns;               /* opening it may take so long without an answer from it; 0: no time at all */
    bool hostless;                     /* no device is the host: what this one fails at, its lanes do on the host */
    bool alone;                        /* there is no other device: it is never abandoned */
    mr__refuge *refuge;                /* with alone */
    struct mr__board *board;           /* lanes run only on cores that this gives them (cpu/cores.h); NULL: on any */
} mr__device_options;

/* A batch is where it is to stay; or is not: `code`, and why. */
typedef void mr__kept(void *user, int code, const char *why);

typedef struct mr__device_memory {
    uint64_t total_nbytes, free_nbytes, budget_nbytes; /* 0: not known, or the host's */
} mr__device_memory;

typedef struct mr__device_info {
    uint32_t lanes;
    size_t depth;       /* tasks that it wants to have at once, so that no lane waits and reads are ahead */
    size_t group;       /* tasks that are best submitted together */
    uint64_t launch_ns; /* what a submission takes beside its tasks; 0: nothing, and then groups are not made larger */
    mr__device_memory memory;
} mr__device_info;

typedef struct mr__device mr__device;

/* What an accelerator did not do. */
typedef struct mr__device_tally {
    uint64_t on_host; /* tasks that its lanes did on the host, in all */
    uint64_t refused; /* of these: a kernel would not */
    uint64_t failed;  /* submissions that it failed at, */
    uint64_t late;    /* or that it was not waited for any longer */
    bool aside;       /* a lane does without it at this moment */
    char cause[160];  /* of the last of them, in the driver's words; "": there was none */
} mr__device_tally;

/* One of several of a type that are here. */
typedef struct mr__device_found {
    uint32_t number; /* 1 of "opencl:1" */
    bool usable;
    bool is_host; /* the host's own cores under another name: nobody gets it who does not ask for it */
} mr__device_found;

typedef struct mr__device_type {
    const char *name;

    /*
     * Those that are here, by number; up to `most` of them. MR_EUNSUPPORTED with detail: there cannot be any, and what
     * to do is in the words. NULL: there is one, and it has no number.
     */
    int (*list)(const mr_hooks *hooks, mr__device_found *found, size_t most, size_t *count, mr__detail *detail);

    /* Whether there is one here; MR_EUNSUPPORTED with detail. NULL: always. */
    int (*probe)(mr__detail *detail);

    int (*open)(const mr__device_options *options, mr__device **out, mr__detail *detail);

    mr__device_info (*info)(const mr__device *device);

    /* The memory as it is now: others take of it, and give back. NULL: as info says. */
    mr__device_memory (*memory)(mr__device *device);

    /* Whether it can do this step on images of this form. NULL: it can do all. */
    bool (*takes)(const mr__device *device, mr_form form, mr_step_kind step);

    /*
     * Takes `count` tasks of one batch on, which are one list, without waiting; not more than info.depth in all.
     * MR_ECLOSED once it is closing.
     */
    int (*submit)(mr__device *device, mr__task *first, size_t count);

    /*
     * Those that nobody has begun are done at once, with MR_ECLOSED. NULL: all are begun. (Who wants to see it drained
     * counts what he has submitted and was told of.)
     */
    void (*cancel)(mr__device *device);

    /*
     * All that it has, begun or not, is done with MR_EDEVICE before this returns, and what it may still make of it is
     * dropped without touching a slot: so tasks of a device that hangs can be given to another. It goes on to take
     * tasks. NULL: it cannot, because its lanes write into slots themselves.
     */
    void (*abandon)(mr__device *device);

    /* With refuge: whether that lane may still write to where a task of its was before. */
    bool (*is_late)(mr__device *device, uint32_t lane);

    /*
     * Devices with a time of their own: runs the next event, and so perhaps a `done`. False: there is none. NULL: time
     * goes by itself.
     */
    bool (*advance)(mr__device *device);
    uint64_t (*now_ns)(const mr__device *device); /* with advance */

    /* What became of tasks that the device itself could not do. NULL: there are no such. */
    mr__device_tally (*tally)(mr__device *device);

    /*
     * Batches that stay where they are made: memory of the device's, of so many bytes, that goes with the device. What
     * this device prepares of such a batch (task->keep) it puts there, and need not put into slots. What others
     * prepared is sent: the bytes stay as they are until `told`. Once all is there, or cannot be (MR_EDEVICE with
     * words), keep_finish calls `told`, once, from any thread, perhaps before it returns. Nothing of an earlier batch
     * is on its way then. NULL, all five: it has no memory that anybody could use.
     */
    int (*keep_new)(mr__device *device, uint64_t nbytes, mr__keep **out, mr__detail *detail);
    void (*keep_send)(mr__device *device, mr__keep *keep, uint64_t at, const void *bytes, uint64_t nbytes);
    void (*keep_finish)(mr__device *device, mr__keep *keep, mr__kept *told, void *user);
    /* Back to the host, for who looks at it; waits. */
    int (*keep_read)(mr__device *device, mr__keep *keep, uint64_t at, void *to, uint64_t nbytes);
    /* By what a program knows it; the name is left to the caller. */
    mr_batch_device (*keep_tell)(mr__device *device, const mr__keep *keep);

    /* The meters of its lanes, and the processor's time that they took; *count of them. */
    const mr__thread_meter *const *(*meters)(const mr__device *device, size_t *count);
    uint64_t (*core_ns)(mr__device *device);

    /*
     * What it is busy with for longest, for a message: the task's ordinal and since when. False: nothing.
     */
    bool (*oldest)(mr__device *device, uint64_t *ordinal, const char **doing);

    /*
     * Stops and frees it; tasks that are not done will not be. False: by the deadline a lane was still held up, and it
     * is left to itself with all that it uses: nothing of the work may be freed.
     */
    bool (*close)(mr__device *device, uint64_t deadline_ns);
} mr__device_type;

/* The first member of every device. */
struct mr__device {
    const mr__device_type *type;
};

extern const mr__device_type mr__device_cpu;
extern const mr__device_type mr__device_sim;
extern const mr__device_type mr__device_opencl;

/* All types, behind the last NULL. */
const mr__device_type *const *mr__device_types(void);

/* The type of that name; NULL: there is none. */
const mr__device_type *mr__device_type_of(const char *name);

int mr__device_open(const mr__device_type *type, const mr__device_options *options, mr__device **out,
                    mr__detail *detail);
bool mr__device_takes(const mr__device *device, mr_form form, mr_step_kind step);
mr__device_memory mr__device_read_memory(mr__device *device);
mr__device_tally mr__device_read_tally(mr__device *device);
void mr__device_cancel(mr__device *device);
bool mr__device_abandon(mr__device *device); /* false: it cannot */
bool mr__device_advance(mr__device *device); /* false also where time goes by itself */

#endif
