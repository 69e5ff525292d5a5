// SPDX-License-Identifier: Apache-2.0
/*
 * An OpenCL device that plays tapes (device/tape/tape.h). The library is loaded when it is asked for, and only then:
 * nothing is linked, and a machine without it has everything else.
 *
 *     cl.h, cl_load.c      what we know of OpenCL's interface, and the library's functions
 *     cl_list.c            platforms and devices, what each can do, and why one cannot be used
 *     cl_program.c         the kernels, built, and kept in the user's cache by text, driver and options
 *     player.c             a context with its program; decks
 *
 * A player is a context on one device with the built program. A deck is one queue, in order, with an arena; several
 * decks of a player play side by side. Playing does not wait: the end is told by an event's callback.
 *
 * Zero copy: on a processor or an integrated device the arena is host memory, and what the host puts is there.
 * Elsewhere it is sent. On a processor kernels write into the batch itself; elsewhere results are read from the arena's
 * end straight into the batch.
 */
#ifndef MR_DEVICE_OPENCL_PLAYER_H
#define MR_DEVICE_OPENCL_PLAYER_H

#include "device/tape/tape.h"

typedef struct mr__cl_player mr__cl_player;
typedef struct mr__cl_deck mr__cl_deck;

typedef struct mr__cl_facts {
    char name[128], vendor[128], version[128], driver[128];
    bool is_cpu, is_gpu;
    bool unified;                         /* its memory is the host's */
    bool doubles;                         /* numbers of 64 bits: some ops need them */
    bool exact;                           /* divides floats as IEEE says; without it, it is not used */
    bool subgroups;                       /* of 32, which teams then are */
    uint32_t units;                       /* that compute */
    uint64_t memory_nbytes, alloc_nbytes; /* in all; of one buffer at most */
} mr__cl_facts;

typedef struct mr__cl_options {
    const mr_hooks *hooks; /* of mr__hooks_init; stay */
    const char *library;   /* NULL: MILLRACE_OPENCL of the environment, else libOpenCL.so.1 */
    uint32_t number;       /* of the device: as mr__cl_list counts them */
    bool no_cache;         /* the program is built anew, and not kept */
    bool in_place;         /* on a processor, kernels write into the batch itself where they can (mr__cl_deck_play) */
    bool sends;            /* as if the device's memory were not the host's: for tests */
    bool simulator;        /* Oclgrind, which looks for races: its floats need not be IEEE's, and it runs only while
                              it is waited for, so that a play waits */
    const char *guest;     /* OpenCL C of MR__KERNEL_GUEST; NULL: there is none */
    uint32_t groups_max;   /* of one launch: for tests; 0: as many as devices take */
} mr__cl_options;

/* MR_EUNSUPPORTED: no library, no platform, no such device, or one that lacks what we need; MR_EDEVICE: it failed. With
 * detail. */
int mr__cl_player_open(const mr__cl_options *options, mr__cl_player **out, mr__detail *detail);
void mr__cl_player_close(mr__cl_player *player); /* NULL is accepted; no deck is left */
const mr__cl_facts *mr__cl_player_facts(const mr__cl_player *player);

/*
 * A deck with an arena of so many bytes, of which the host can write the first `put_nbytes`. MR_ENOMEM: there is not so
 * much; MR_EDEVICE. With detail.
 */
int mr__cl_deck_new(mr__cl_player *player, uint32_t nbytes, uint32_t put_nbytes, mr__cl_deck **out, mr__detail *detail);

/* Nothing is being played. NULL is accepted. */
void mr__cl_deck_free(mr__cl_deck *deck);

/* After a play: the memory that its pieces went to is not used any more. */
void mr__cl_deck_let_go(mr__cl_deck *deck);

/*
 * A play that failed leaves its deck broken: nothing is played on it until it was mended, which makes queue and arena
 * anew. That takes a device which can still do so. The bytes of its arena are elsewhere then, as mr__cl_deck_bytes
 * says; on failure there are none, and it can be tried again.
 */
bool mr__cl_deck_is_broken(const mr__cl_deck *deck);
int mr__cl_deck_mend(mr__cl_deck *deck, mr__detail *detail);

/* Where the host puts what is in its tape: stays until the deck is mended. For mr__tape_init. */
uint8_t *mr__cl_deck_bytes(mr__cl_deck *deck);

/* Where a batch is: `out` of kernels is its first byte; of it, the host wants these pieces. */
typedef struct mr__cl_piece {
    uint64_t at; /* in the batch */
    uint64_t nbytes;
    void *to; /* host memory that it goes to */
} mr__cl_piece;

/*
 * `code` is 0; or MR_EDEVICE, MR_ENOMEM with words: the device has failed, and nothing of it counts. `words` are those
 * of the tape's samples (mr__tape_refused), and stay until the next play. Called once, from any thread; it does little,
 * and calls nothing here.
 */
typedef void mr__cl_played(void *user, int code, const char *why, const uint8_t *words);

/*
 * Sends the tape, runs its launches, and gets the pieces (nbytes of the batch in all, each piece inside). Does not
 * wait. On failure, with detail, `played` is not called. A play that was refused here (MR_ENOMEM:
 * no buffer for the batch) may be tried again; once the device has failed, here or in `played`, the deck fails for
 * good, with MR_EDEVICE.
 *
 * In place: where options.in_place is set, the device is a processor, and all pieces are in host memory as they are in
 * the batch (to - at is the same for all, and the batch's nbytes from there on are memory of its), kernels write there.
 */
int mr__cl_deck_play(mr__cl_deck *deck, const mr__tape *tape, uint64_t nbytes, const mr__cl_piece *pieces, size_t count,
                     mr__cl_played *played, void *user, mr__detail *detail);

/* How long a kernel took on the device in the last play; MR__KERNELS_ALL: all of them. 0: not known. */
#define MR__KERNELS_ALL ((mr__kernel)(MR__KERNEL_GUEST + 1))
uint64_t mr__cl_deck_kernel_ns(const mr__cl_deck *deck, mr__kernel kernel);

/* One device of the machine, for a list. */
typedef struct mr__cl_entry {
    uint32_t number;
    char platform[128];
    mr__cl_facts facts;
    bool usable;
    char why[160]; /* it is not */
} mr__cl_entry;

/*
 * All devices, up to `most` of them; *count of them. MR_EUNSUPPORTED with detail: there is no library, or no platform;
 * what to do is in the words.
 */
int mr__cl_list(const mr__cl_options *options, mr__cl_entry *entries, size_t most, size_t *count, mr__detail *detail);

#endif
