// SPDX-License-Identifier: Apache-2.0
/*
 * The loader as its own files see it.
 *
 *     pipeline.c    the spine: orders, dispatches, batches, delivers
 *     loader.c      from options to a loader, and its end
 *     ring.c        the memory of batches
 *     bad.c         what becomes of bad samples
 *     order.c       which sample stands at which position; permute.c, weights.c
 *     ranks.c       which positions are this rank's
 *     mix.c         mixup and cutmix: who is mixed with whom, and how
 *     resume.c      where it stands, and going on from there; state.c
 *     batch.c       what can be asked of a batch
 *     stats.c       what it did with its time
 *     lend.c        memory of a device that the program lends
 *     keep.c        batches that stay on a device
 *     preparer.c    single samples
 *     naming.c      devices as a user names them
 *     team_open.c   from names to devices that work
 *     team.c        the devices, and where there are several, or a policy was asked for, the crew that deals to them
 *     share.c       cores that are shared with other loaders
 *
 * Invariants, true whenever the mutex is free:
 * 1. Each slot is free, or in the queue (being filled or mixed, or ready), or lent to a consumer. The queue is in the
 *    order of batches; its first is delivered next, and only when it is ready.
 * 2. A slot's `open` counts its tasks that are not settled, and one more while its pads are made. At 0 it is ready, or
 *    is mixed by the thread that brought it there, or is not yet where it is to stay: that is one more again, until it
 *    is done.
 * 3. in_flight counts what is dispatched and not settled, those pads and that mixing: it never exceeds the device's
 *    depth by more than the slots. While it is 0, nobody writes to a slot.
 * 4. If places can be dispatched (a slot is free, the device has room, nothing failed), somebody is about to do it:
 *    whoever made it so calls mr__loader_dispatch after he has let go of the mutex.
 */
#ifndef MR_LOADER_LOADER_H
#define MR_LOADER_LOADER_H

#include "base/meter.h"
#include "base/thread.h"
#include "device/device.h"
#include "device/targets.h"
#include "loader/mix.h"
#include "loader/order.h"
#include "loader/ranks.h"
#include "loader/setup.h"
#include "loader/share.h"
#include "loader/state.h"
#include "loader/team.h"
#include <sys/types.h>

typedef enum mr__slot_state {
    MR__SLOT_FREE,
    MR__SLOT_FILLING,
    MR__SLOT_MIXING, /* or on its way to its device */
    MR__SLOT_READY,
    MR__SLOT_LENT
} mr__slot_state;

/*
 * The memory of one batch, and the batch that is in it. Arrays have the batch's places and behind them those of guests:
 * samples of other ranks that some of ours are mixed with. Tasks are those of the batch, then at once those of guests.
 */
struct mr__slot {
    mr_batch batch; /* first: the consumer has a pointer to it */
    mr_loader *loader;
    mr__slot_state state;
    mr__deal deal;
    uint64_t number; /* of the batch, as the deal counts */
    mr__epoch_order order;
    uint32_t guests;
    uint32_t next; /* the first task that is not dispatched */
    uint32_t open;
    int code;           /* of a bad sample that makes all of it fail */
    uint32_t bad_count; /* positions whose sample was bad */
    uint64_t bad_position;
    mr__detail detail; /* of the bad sample at that position */
    uint8_t *images;
    mr__keep *keep; /* where the batch is to be; NULL: in `images` */
    int64_t *labels;
    uint64_t *ordinals, *positions;
    uint8_t *mask;
    mr__task *tasks;
    uint32_t *draws; /* of all tasks */
    mr__mix_choice mix;
    uint32_t *partners; /* places; for who mixes */
    int64_t *partner_labels;
    uint64_t *partner_ordinals;
    mr__task_targets *targets;  /* of all places and guests; NULL: none are read */
    uint8_t *masks;             /* theirs, one behind the other */
    mr__buffer values, offsets; /* of labels that are lists, once they were asked for */
    mr_label_kind lists;
    bool has_lists;
};

/* Bad samples met, and where they are written. Has a lock of its own. */
typedef struct mr__bad {
    mr_bad_policy policy;
    uint64_t most; /* in an epoch; UINT64_MAX: any number */
    mr__mutex mutex;
    bool ready;
    uint64_t epoch, in_epoch; /* bad positions that were delivered, of this epoch; under the loader's lock */
    uint64_t met, substitutes, unlisted;
    int file; /* -1: none */
    mr__text line;
    uint64_t *listed; /* ordinals that are in the file: a table with open places of UINT64_MAX */
    size_t listed_count, listed_capacity;
} mr__bad;

/* A consumer that waits in pieces (mr_loader_wait): when he came, and last left. */
typedef struct mr__visit {
    uint64_t came_ns;           /* CLOCK_MONOTONIC; 0: nobody did */
    uint64_t asked_ns, left_ns; /* the same, and when he left, by the loader's clock */
    uint64_t ready;             /* batches that lay ready when he came */
} mr__visit;

typedef struct mr__left {
    struct mr__left *next;
    const mr__slot *slot; /* whose it was */
    uint64_t lanes;       /* of the device that may write to it, a bit each */
    uint8_t *images;
} mr__left;

struct mr_loader {
    mr_hooks outer; /* the caller's: for the loader itself */
    mr__meter meter;
    mr_hooks hooks; /* through the meter: for everything else */
    pid_t pid;
    const mr__device_type *const *types; /* of devices that can be named */
    mr_dataset *dataset;
    mr_recipe *recipe;
    mr__work work;
    mr__order order;
    mr__ranks ranks;
    mr__bad bad;
    mr__forms forms;
    uint32_t batch;  /* places */
    uint32_t guests; /* room for so many in each slot */
    mr__mixing mixing;
    uint64_t end_epoch; /* behind the last one */
    bool has_numa_node;
    uint32_t numa_node;
    uint64_t timeout_ns;
    size_t draw_count; /* of one sample */
    uint8_t *blank;    /* one sample, black */
    mr__team team;
    mr__device *device; /* the first of them: the host, if it is among them */
    mr__device_info info;
    bool steps;       /* its time goes by whoever waits */
    mr__share *share; /* NULL: its cores are its own */

    bool ready; /* mutex and condition are made */
    mr__mutex mutex;
    mr__condition news; /* a batch is ready, nothing is in flight, or it is over */
    mr__slot *slots;
    uint32_t slot_count;
    mr__left *left;   /* memory of slots that a device may still write to */
    mr__slot **queue; /* a ring: of slots that are being filled or ready */
    uint32_t first, length;
    mr__slot *filling; /* the last of them, if it has places that are not dispatched */
    size_t in_flight;
    uint32_t dispatching; /* threads that have claimed something, and not yet submitted it */
    uint64_t progress_ns; /* when a task was last settled; CLOCK_MONOTONIC */
    uint64_t settled_ns;  /* the same by the loader's clock */
    uint64_t moves;       /* how often something was dispatched or settled */
    bool held;            /* nothing is dispatched: it is being put elsewhere */
    bool stopped;
    int code; /* of the failure that all calls return */
    mr__detail detail;

    /* What is dispatched next. */
    uint64_t epoch;
    mr__deal deal;
    uint64_t epoch_batches;       /* of a whole one */
    uint64_t next_batch, batches; /* of this epoch, as the deal counts */
    bool over;                    /* there is nothing more to dispatch */

    mr__state at; /* what was delivered */
    mr__consumer_meter consumer;
    mr__visit visit;
    uint32_t waiting;            /* consumers inside next or wait */
    uint64_t making_ns;          /* that mr_loader_new took */
    bool begun;                  /* a machine that is simulated begins at 0 */
    uint64_t begun_ns, first_ns; /* when the first next was, and the first batch */
};

/* As mr_loader_new, of other types of devices: the list of them stays. For tests. */
int mr__loader_new(const mr__device_type *const *types, mr_dataset *dataset, const mr_recipe *recipe,
                   const mr_loader_options *options, mr_loader **out, char *detail, size_t detail_nbytes);

/* Dispatches what can be. Without the mutex. */
void mr__loader_dispatch(mr_loader *loader);

/* The device's `done`. */
mr__done mr__loader_on_done;

/* Begins at a position of an epoch. The mutex is held or nobody else is there; nothing is in flight. */
void mr__loader_seek(mr_loader *loader, uint64_t epoch, uint64_t position);

/* MR_EFORKED in a child of the process that made it. */
int mr__loader_here(const mr_loader *loader);

/*
 * Batches stay on a device: memory there for each slot, after devices are open; samples that another device prepared,
 * or nobody, are sent there from `place` on; and the device's word that all is there. Without the mutex.
 */
int mr__keep_init(mr_loader *loader, const mr_loader_options *options, mr__detail *detail);
void mr__keep_send(mr__slot *slot, uint32_t place, uint32_t count);
void mr__keep_finish(mr__slot *slot, mr__kept *told);

/* Of tasks that came back from a crew's devices: those that are to be sent are. */
void mr__keep_send_done(mr__slot *slot, const mr__task *first);

int mr__ring_init(mr_loader *loader, uint32_t slots, mr__detail *detail);
void mr__ring_fini(mr_loader *loader);

/*
 * A device that is alone, and writes into slots itself, is not waited for any longer. mr__refuge: the slot's samples
 * move to new memory, and the task is to be done there. Tasks of the slot that others were at meanwhile end in the old:
 * when they have (whatever came of them: a black image is one, too), they are gathered. Without the mutex.
 */
mr__refuge mr__ring_refuge;
void mr__ring_gather(mr__slot *slot, const mr__task *task);

/* The slot's next batch begins: what nobody writes to any more is freed. With the mutex. */
void mr__ring_forget(mr__slot *slot);

/* Bytes of one slot; false when that does not fit. */
bool mr__slot_nbytes(const mr_loader *loader, size_t *nbytes);

int mr__bad_init(mr_loader *loader, const mr_loader_options *options, mr__detail *detail);
void mr__bad_fini(mr_loader *loader);

/* What is to be done about a task that failed. */
typedef enum mr__verdict {
    MR__VERDICT_FAIL,    /* the loader fails; task->code and detail say why */
    MR__VERDICT_AGAIN,   /* a substitute is to be tried */
    MR__VERDICT_REPLACE, /* black */
    MR__VERDICT_GONE     /* it was cancelled */
} mr__verdict;

/* `guest`: it is another rank's, which counts and lists it. */
mr__verdict mr__bad_judge(mr_loader *loader, const mr__task *task, bool guest);

/*
 * So many more bad positions of an epoch are about to be delivered: whether that is within the budget. Asked in order,
 * so that the answer depends on nothing but the data. The loader's lock is held.
 */
bool mr__bad_allow(mr_loader *loader, uint64_t epoch, uint32_t count);

/* MR_ELIMIT, with a detail that says so and what it was before. */
int mr__bad_refuse(const mr_loader *loader, uint64_t epoch, mr__detail *detail);

#endif
