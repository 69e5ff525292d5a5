// SPDX-License-Identifier: Apache-2.0
/*
 * A device to measure on: OpenCL's, whose threads, where it is a processor, are kept on one core, and this thread on
 * another. So the processor time of this thread is the host's, and the device's is what the device says its kernels
 * took.
 *
 *     stand_begin; for each image: mr__tape_open, calls, mr__tape_close; stand_play
 */
#ifndef BENCH_DEVICE_STAND_H
#define BENCH_DEVICE_STAND_H

#include "opencl_play.h"

typedef struct stand {
    opencl_play cl; /* its player; for playing.h too */
    mr__cl_deck *deck;
    mr__tape tape;
    mr__tape_writer writer;
    opencl_wait wait;
    uint8_t *out; /* a batch of out_nbytes, whole pages */
    size_t out_nbytes;
    unsigned host_core, device_core;
} stand;

typedef struct stand_options {
    const char *guest; /* as mr__cl_options has it */
    uint32_t number;   /* of the device */
    uint32_t arena_nbytes;
    size_t out_nbytes;
    uint32_t samples; /* of a tape, at most */
    bool sends;       /* as if the device's memory were apart */
} stand_options;

/*
 * Before this, no thread of the process knows OpenCL. MR_EUNSUPPORTED with detail: there is no device. Says where its
 * threads are when `told`.
 */
int stand_open(stand *s, const stand_options *options, bool told, mr__detail *detail);
void stand_close(stand *s);

/* Finished numbers are as this says from now on. */
void stand_set_finish(stand *s, const mr__finish *finish);

void stand_begin(stand *s);

/* Ends the tape, plays it and waits; of the batch so many bytes are given back, in s->out. A kernel that refuses is
 * MR_ECORRUPT. */
int stand_play(stand *s, size_t out_nbytes, mr__detail *detail);

/* Of the last play. */
double stand_kernel_ns(const stand *s, mr__kernel kernel);

/* Keeps the calling thread on this core; false: it cannot be. */
bool stand_pin(unsigned core);

/* How many threads of the process may run on these cores alone, by /proc/self/task: a bit each. */
unsigned stand_threads_on(uint64_t cores);

#endif
