// SPDX-License-Identifier: Apache-2.0
/* Inside of the OpenCL device: opencl_device.c has submissions and threads, opencl_lane.c what a lane does with tasks.
 */
#ifndef MR_DEVICE_OPENCL_OPENCL_LANE_H
#define MR_DEVICE_OPENCL_OPENCL_LANE_H

#include "base/thread.h"
#include "device/device.h"
#include "device/opencl/keep.h"
#include "device/opencl/player.h"
#include "device/tape/sample.h"

enum { MR__OPENCL_GROUP = 16 };

typedef struct mr__opencl mr__opencl;

/* A submission. */
typedef struct mr__opencl_group {
    mr__task *first;
    size_t count;
} mr__opencl_group;

typedef enum mr__opencl_state {
    MR__OPENCL_IDLE,
    MR__OPENCL_WRITING, /* reads, and writes its tape */
    MR__OPENCL_PLAYING, /* the device is at it, and nobody at the tasks */
    MR__OPENCL_ENDING   /* sees to what came of it */
} mr__opencl_state;

/* One task of the submission. */
typedef struct mr__opencl_piece {
    mr__errand errand;
    mr__task *task;
    uint64_t weight; /* its share of the submission's time */
    uint32_t number; /* on the tape */
    bool on_tape;    /* the device has it; else it is settled, or not yet begun */
    bool read;       /* its bytes are there, and are its own until it is settled */
} mr__opencl_piece;

typedef struct mr__opencl_lane {
    mr__opencl *opencl;
    uint32_t number;
    mr__thread thread;
    mr__hands hands;
    mr__read_ahead *ahead; /* made when a read has to be waited for */
    mr__cl_deck *deck;
    mr__tape tape;
    mr__tape_writer writer;
    mr__buffer out; /* where the device puts what it makes, unless it is put into slots */
    mr__opencl_piece pieces[MR__OPENCL_GROUP];
    size_t count, next; /* of the submission: tasks, and the first that was on no tape yet */
    mr__cl_piece wanted[MR__OPENCL_GROUP];
    size_t wanted_count;
    uint64_t batch_nbytes;
    mr__cl_keep *keep; /* where the submission's samples go; NULL: to the host */
    mr__cl_keep *kept; /* the same, of the tape that is or was played last */
    uint64_t begun_ns;
    uint64_t deadline_ns;             /* of the submission, where nobody else is; none: MR__FOR_EVER */
    bool given_up;                    /* what is on the tape may still be made, but is not waited for any longer */
    uint64_t mend_at_ns, mend_for_ns; /* when a broken deck is tried again, and how long after that */

    /* under the device's mutex */
    mr__opencl_state state;
    mr__opencl_group group;
    bool abandoned;  /* its tasks were taken from it while it was PLAYING */
    bool played;     /* the device has ended what it was given last */
    bool behind;     /* it has not, and nobody waits for it: until then nothing is played */
    int played_code; /* these three of the tape that was waited for */
    const uint8_t *words;
    char why[160];
    bool ended;
    uint64_t core_ns;
} mr__opencl_lane;

struct mr__opencl {
    mr__device device; /* first */
    mr_hooks hooks;
    const mr__work *work;
    mr__done *done;
    void *user;
    uint32_t number;
    char name[24];
    bool hostless, alone; /* of mr__device_options, as the next two */
    mr__refuge *refuge;
    uint64_t patience_ns; /* for a submission, where nobody else is */
    mr__cl_player *player;
    uint32_t arena_nbytes;
    uint64_t launch_ns;
    bool ready; /* mutex and conditions are made */
    bool stuck; /* it was given something before lanes were started, and has not done that yet */
    mr__mutex mutex;
    mr__condition news;  /* for lanes that have nothing to do */
    mr__condition moved; /* a lane is in another state, a tape was played */
    mr__opencl_group *queue;
    size_t capacity, head, queued;
    bool closing;
    mr__opencl_lane *lanes;
    uint32_t lane_count;
    const mr__thread_meter **meters;
    mr__cl_keep **keeps; /* of batches that stay here */
    size_t keep_count;
    mr__cl_keep_queues keep_queues;
    atomic_uint_least64_t on_host, refused; /* samples that the lanes did all of; that a kernel had refused */
    uint64_t failed, late;                  /* tapes; under the mutex */
    char cause[160];                        /* of the last of them */
};

/* On failure too, fini is called. */
int mr__opencl_lane_init(mr__opencl_lane *lane, mr__opencl *opencl, uint32_t number, mr__detail *detail);
void mr__opencl_lane_fini(mr__opencl_lane *lane);

/* A tape with a few launches, and next to nothing in them. Before the lane is started. */
int mr__opencl_write_little(mr__opencl_lane *lane);

/* Reads what the tasks of lane->group need. Those that fail are settled. */
void mr__opencl_read(mr__opencl_lane *lane);

/* The next tasks go on the tape, as many as fit, at least one; what the device cannot do, the host does. */
void mr__opencl_write(mr__opencl_lane *lane);

/* What is on no tape yet is to be settled like what was on one that failed. */
void mr__opencl_forsake(mr__opencl_lane *lane);

/* What was on the tape is settled, by what the device said. */
void mr__opencl_settle(mr__opencl_lane *lane);

/* All are settled: their times. */
void mr__opencl_end(mr__opencl_lane *lane);

#endif
