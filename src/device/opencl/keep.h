// SPDX-License-Identifier: Apache-2.0
/*
 * Memory of an OpenCL device in which a batch stays. Kernels of decks write into it (mr__cl_deck_keep), and the host
 * sends what it made. Both are counted until they have ended, those too that nobody waits for any more; so who is told
 * that a batch is there may hand it out, and later use the memory anew.
 *
 * Threads: any, several at once; free alone. Finish once for a batch, after all that belongs to it was begun.
 * Ownership: mr__cl_keep_free frees it; the player outlives it.
 * Limits: what the device allows of one buffer.
 */
#ifndef MR_DEVICE_OPENCL_KEEP_H
#define MR_DEVICE_OPENCL_KEEP_H

#include "device/device.h"
#include "device/opencl/player.h"

typedef struct mr__cl_keep mr__cl_keep;

/* `queues` are two that all keeps of a player share: made by the first. All zero before. */
typedef struct mr__cl_keep_queues {
    void *sends, *users; /* cl_command_queue: what the host sends; and one that nothing of ours is put into */
} mr__cl_keep_queues;

int mr__cl_keep_new(mr__cl_player *player, mr__cl_keep_queues *queues, uint64_t nbytes, mr__cl_keep **out,
                    mr__detail *detail);

/* Nothing is played into it any more; what is sent is waited for. NULL is accepted. */
void mr__cl_keep_free(mr__cl_keep *keep);
void mr__cl_keep_queues_fini(mr__cl_player *player, mr__cl_keep_queues *queues);

/* A play of the deck writes there: before it begins; and when it has ended, whatever came of it. */
void mr__cl_keep_begin(mr__cl_keep *keep, mr__cl_deck *deck);
void mr__cl_keep_end(mr__cl_keep *keep);

/* As the device's functions (device/device.h). */
void mr__cl_keep_send(mr__cl_keep *keep, uint64_t at, const void *bytes, uint64_t nbytes);
void mr__cl_keep_finish(mr__cl_keep *keep, mr__kept *told, void *user);
int mr__cl_keep_read(mr__cl_keep *keep, uint64_t at, void *to, uint64_t nbytes);
mr_batch_device mr__cl_keep_tell(const mr__cl_keep *keep);

#endif
