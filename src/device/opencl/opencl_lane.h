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
    uint64_t begun_ns;

    /* under the device's mutex */
    mr__opencl_state state;
    mr__opencl_group group;
    bool abandoned;
    bool played;
    int played_code;
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
    bool alone; /* nobody else is there to do what it cannot, and it is never abandoned */
    mr__cl_player *player;
    uint32_t arena_nbytes;
    uint64_t launch_ns;
    bool ready; /* mutex and conditions are made */
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
    /* Samples that the lanes did all of; that they decoded alone; that a kernel had refused. */
    atomic_uint_least64_t on_host, decoded_here, refused;
};

/* On failure too, fini is called. */
int mr__opencl_lane_init(mr__opencl_lane *lane, mr__opencl *opencl, uint32_t number, mr__detail *detail);
void mr__opencl_lane_fini(mr__opencl_lane *lane);

/* How long a submission of little takes: opencl->launch_ns. Before lanes are started. */
int mr__opencl_measure(mr__opencl *opencl, uint32_t times, mr__detail *detail);

/* Reads what the tasks of lane->group need. Those that fail are settled. */
void mr__opencl_read(mr__opencl_lane *lane);

/* The next tasks go on the tape, as many as fit, at least one; what the device cannot do, the host does. False: all are
 * settled, or on it. */
void mr__opencl_write(mr__opencl_lane *lane);

/* What was on the tape is settled, by what the device said. */
void mr__opencl_settle(mr__opencl_lane *lane);

/* All are settled: their times. */
void mr__opencl_end(mr__opencl_lane *lane);

#endif
