// SPDX-License-Identifier: Apache-2.0
/*
 * What a device that runs kernels (kernel/lane) is to do for some samples, written down: orders, tables and stored
 * bytes in an arena, and launches that go by them. Host code writes a tape; opencl, later cuda, and the emulator play
 * it.
 *
 *     tape.c           places in the arena, calls, launches
 *     tape_sample.c    one sample: which decoder, then its chain
 *     tape_chain.c     passes
 *     tape_op*.c       ops, by a table
 *     tape_l3*.c, tape_jpeg.c, ...   decoders
 *
 * The arena is one piece of device memory. What the host writes grows from its beginning ("put"), and is sent; what
 * only kernels write grows from its end ("room"), and is not. A tape's first bytes are a word for each sample, 0 unless
 * a kernel refuses what it finds.
 *
 * Calls of one sample are done one after the other; those of different samples are independent, so that the calls that
 * come first in each are launched together, kernel by kernel, then the second ones, and so on: a launch costs the same
 * for one image and for a hundred.
 *
 * Errors stay: once there was no room, everything that is asked for is place 0, and mr__tape_code says MR_ENOMEM; a
 * sample that failed is taken back, and the tape is as it was before it.
 *
 * Threads: one at a time.
 * Ownership: memory is the caller's (mr__tape_options), the list of calls its own: mr__tape_fini.
 * Limits: an arena has less than 4 GiB.
 */
#ifndef MR_DEVICE_TAPE_TAPE_H
#define MR_DEVICE_TAPE_TAPE_H

#include "base/error.h"
#include "base/memory.h"
#include "kernel/lane/kernels.h"
#include "kernel/lane/lane.h"
#include <millrace/image.h>

typedef struct mr__tape_call {
    mr__kernel kernel;
    uint32_t level; /* of its sample: how many calls it comes after */
    uint32_t order, items;
} mr__tape_call;

/* Bytes of the arena that somebody asked for. */
typedef struct mr__tape_place {
    uint32_t at, nbytes;
} mr__tape_place;

/* Room that a sample needs no more. */
typedef struct mr__tape_spare {
    uint32_t at, nbytes;
} mr__tape_spare;

enum { MR__TAPE_SPARES = 8 };

typedef struct mr__tape {
    const mr_hooks *hooks;
    uint8_t *bytes;      /* what the host writes: the arena's beginning, or a copy of it */
    uint32_t put_nbytes; /* as long as this at most */
    uint32_t nbytes;     /* of the arena */
    uint32_t guard;      /* unused bytes behind every place: for tests */
    uint32_t samples_max;

    uint32_t put;   /* first byte that is not written */
    uint32_t room;  /* first byte of what kernels write; put + lists <= room */
    uint64_t lists; /* bytes that lists of launches will take at most */
    uint32_t count; /* samples */
    uint32_t level; /* of the sample that is being written */
    int code;
    mr__tape_spare spares[MR__TAPE_SPARES]; /* of the same sample */
    uint32_t spare_count;

    mr__tape_call *calls;
    size_t call_count, call_max;
    mr__launch *launches;
    size_t launch_count, launch_max;
    mr__tape_place *places; /* with a guard: all there are */
    size_t place_count, place_max;
} mr__tape;

/* All zero before. `bytes` stays; it is 64-byte aligned, and so is the arena. */
void mr__tape_init(mr__tape *tape, const mr_hooks *hooks, uint8_t *bytes, uint32_t put_nbytes, uint32_t nbytes,
                   uint32_t samples_max);
void mr__tape_fini(mr__tape *tape);

/* Empty again. */
void mr__tape_begin(mr__tape *tape);

/* What a sample that fails takes with it. */
typedef struct mr__tape_mark {
    uint32_t put, room;
    uint64_t lists;
    size_t call_count, place_count;
} mr__tape_mark;

/* The next sample: its number. One that failed is dropped, with what was written for it. */
mr__tape_mark mr__tape_open(mr__tape *tape);
void mr__tape_drop(mr__tape *tape, mr__tape_mark mark);
uint32_t mr__tape_close(mr__tape *tape);

/* 0, or MR_ENOMEM: of the sample that is being written. */
int mr__tape_code(const mr__tape *tape);

/* The word of the sample that is being written: for an order. */
uint32_t mr__tape_status(const mr__tape *tape);

/* A place for the host to write, 64-byte aligned, all that is in it not set; *bytes is NULL when there is none. */
uint32_t mr__tape_put(mr__tape *tape, size_t nbytes, void **bytes);

/* The same, with these bytes. */
uint32_t mr__tape_copy(mr__tape *tape, const void *bytes, size_t nbytes);

/* The place that was put last has only so many bytes: the others are given back. */
void mr__tape_cut(mr__tape *tape, uint32_t at, uint32_t nbytes);

/* A place that only kernels write, 64-byte aligned. */
uint32_t mr__tape_room(mr__tape *tape, uint64_t nbytes);

/* Room for pixels: rows without gaps. */
mr__sheet mr__tape_sheet(mr__tape *tape, uint32_t width, uint32_t height, uint32_t channels);

/*
 * A sheet that mr__tape_sheet gave, and that no call from now on looks at: later calls of the same sample may have its
 * room. Pixels from the host, and parts of sheets, are accepted, and stay.
 */
void mr__tape_leave(mr__tape *tape, const mr__sheet *sheet);

/* Pixels from the host. */
mr__sheet mr__tape_image(mr__tape *tape, const mr_image *image);

/*
 * A call: so many items of an order, a group each, after all calls of this sample so far. `order` is copied. No items:
 * no call.
 */
void mr__tape_call_of(mr__tape *tape, mr__kernel kernel, const void *order, size_t order_nbytes, uint64_t items);

/* The same, beside the last call: they do not wait for each other. */
void mr__tape_call_beside(mr__tape *tape, mr__kernel kernel, const void *order, size_t order_nbytes, uint64_t items);

/*
 * The same, at this level of its sample (the first: 0): after all calls at lower ones, beside those at the same. For
 * decoders whose parts take different ways: where they meet again is agreed on, and levels that nobody uses cost
 * nothing.
 */
void mr__tape_call_at(mr__tape *tape, uint32_t level, mr__kernel kernel, const void *order, size_t order_nbytes,
                      uint64_t items);

/*
 * Branches of a sample, which do not wait for each other: each begins where all calls so far are done, and what one
 * leaves no other gets. After the end all of them are waited for.
 *
 *     mr__tape_fork fork = mr__tape_fork_begin(tape);
 *     for (each branch) {
 *         ... its calls
 *         mr__tape_fork_next(tape, &fork);
 *     }
 *     mr__tape_fork_end(tape, &fork);
 */
typedef struct mr__tape_fork {
    uint32_t first, last; /* levels */
    mr__tape_spare spares[MR__TAPE_SPARES];
    uint32_t spare_count;
} mr__tape_fork;

mr__tape_fork mr__tape_fork_begin(mr__tape *tape);
void mr__tape_fork_next(mr__tape *tape, mr__tape_fork *fork);
void mr__tape_fork_end(mr__tape *tape, const mr__tape_fork *fork);

/* After the last sample: launches are made. MR_ENOMEM. Bytes 0 to tape->put are to be sent. */
int mr__tape_end(mr__tape *tape);

/*
 * For tests, of a tape with a guard: under ASan, all of the arena that is in no place is out of bounds until it is
 * unfenced (fence.c).
 */
void mr__tape_fence(const mr__tape *tape, const uint8_t *arena);
void mr__tape_unfence(const mr__tape *tape, const uint8_t *arena);

/* Whether a kernel has refused something of this sample, by the words that came back. */
static inline bool mr__tape_refused(const uint8_t *words, uint32_t sample)
{
    return ((const uint32_t *)(const void *)words)[sample] != 0;
}

#endif
