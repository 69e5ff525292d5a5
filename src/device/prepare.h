// SPDX-License-Identifier: Apache-2.0
/*
 * One task from its source through decode and augment into its slot. The host's threads, `sim` and the single-sample
 * preparer all come through here.
 *
 *     mr__prepare_begin    where its bytes are, and which of them are needed
 *     mr__prepare_next     after each read: is there another one to be made? (first a head, then a range)
 *     mr__prepare_end      decode the region, augment, into the slot
 *
 * Between begin and end somebody reads errand->read: at once, or ahead while other tasks go on.
 */
#ifndef MR_DEVICE_PREPARE_H
#define MR_DEVICE_PREPARE_H

#include "codec/ranges.h"
#include "dataset/fetch.h"
#include "device/targets.h"
#include "measure/stages.h"
#include "source/read_ahead.h"
#include "step/augment.h"

/*
 * What a thread keeps between tasks: decoder, tables of weights, scratch.
 *
 * Threads: one at a time.
 * Ownership: mr__hands_fini frees it; all zero is accepted.
 * Limits: the work's.
 */
typedef struct mr__hands {
    const mr__work *work;
    mr_decoder *decoder;
    mr__augment *augment;
    mr__thread_meter *meter;
    mr__targets *targets; /* NULL: none are read */
    mr__buffer gray;
    uint64_t lap_ns; /* when the last stage ended: the next one begins there */
} mr__hands;

int mr__hands_init(mr__hands *hands, const mr__work *work, mr__detail *detail);
void mr__hands_fini(mr__hands *hands);

/* Begins to take the time; after waiting, or work that belongs to no stage. */
void mr__hands_start(mr__hands *hands);

/* The time since the last stage ended was this stage's, of so many samples and bytes. */
void mr__hands_lap(mr__hands *hands, mr__stage_id stage, uint64_t count, uint64_t nbytes);

/* One task under way; all zero is a fresh one, whose memory is kept for the next. */
typedef struct mr__errand {
    mr__task *task;
    mr__fetch fetch;
    mr__read read;
    uint64_t head_nbytes;   /* read first, of an image that is read in part; 0: it is read whole */
    bool has_head;          /* that it was */
    bool renewed;           /* the file is another one than was indexed, and is read as it is now */
    bool away;              /* its reading was given to a read-ahead; for the device */
    bool resolved;          /* the chain is made, from the size that the index has */
    uint32_t width, height; /* as stored */
    const void *bytes;      /* from mr__prepare_open on: the stored image, as far as it was read, */
    size_t nbytes;
    mr_info info; /* and what its header says */
    mr__chain chain;
} mr__errand;

void mr__errand_fini(mr__errand *errand, const mr__work *work);

/* 0: errand->read is to be made. Else the task's code, with its detail. */
int mr__prepare_begin(mr__hands *hands, mr__errand *errand, mr__task *task);

/* After a read was made: true: errand->read is to be made again, for what is still missing. */
bool mr__prepare_next(mr__hands *hands, mr__errand *errand);

/* The rest. Writes the task's code and detail, and returns the code. Measures decode and augment. */
int mr__prepare_end(mr__hands *hands, mr__errand *errand);

/*
 * The rest in two halves, for devices that may do the second: the stored bytes are checked, the header is looked at and
 * the chain made; then decode and augment, into the slot. mr__prepare_decode is decoding alone: the region's pixels, as
 * the recipe wants them, in memory of the hands or the errand.
 */
int mr__prepare_open(mr__hands *hands, mr__errand *errand);
int mr__prepare_make(mr__hands *hands, mr__errand *errand);
int mr__prepare_decode(mr__hands *hands, mr__errand *errand, mr_image *part);

/* All of it, waiting for what is read. */
int mr__prepare(mr__hands *hands, mr__errand *errand, mr__task *task);

#endif
