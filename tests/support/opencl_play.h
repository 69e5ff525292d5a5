// SPDX-License-Identifier: Apache-2.0
/*
 * Tapes on an OpenCL device, for playing.h:
 *
 *     opencl_play cl;
 *     if (opencl_play_open(&cl, NULL, &detail) != 0) ... there is none: detail says why
 *     playing how = {.play = opencl_play_tape, .user = &cl};
 *     ...
 *     opencl_play_close(&cl);
 *
 * Under Oclgrind (OCL_ICD_VENDORS=/usr/lib/oclgrind/liboclgrind-rt-icd.so OCLGRIND_DATA_RACES=1) with
 * options.simulator.
 */
#ifndef TESTS_SUPPORT_OPENCL_PLAY_H
#define TESTS_SUPPORT_OPENCL_PLAY_H

#include "playing.h"

#include "device/opencl/player.h"
#include <pthread.h>

typedef struct opencl_play {
    mr_hooks hooks;
    mr__cl_player *player;
    mr__cl_deck *deck; /* as large as the largest tape so far */
    uint32_t nbytes;
} opencl_play;

/* `options` may be NULL, and its hooks too. As mr__cl_player_open. */
int opencl_play_open(opencl_play *cl, const mr__cl_options *options, mr__detail *detail);
void opencl_play_close(opencl_play *cl);

/* Waits for its end: `user` is an opencl_play. */
playing_play opencl_play_tape;

/* A play that is waited for, of a deck of one's own: for mr__cl_deck_play, as `played` and its `user`. */
typedef struct opencl_wait {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done;
    int code;
    mr__detail why;
    const uint8_t *words;
} opencl_wait;

void opencl_wait_init(opencl_wait *wait);
mr__cl_played opencl_wait_played;
int opencl_wait_for(opencl_wait *wait, mr__detail *detail); /* the code that was told; it can be used again */

#endif
