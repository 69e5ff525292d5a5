// SPDX-License-Identifier: Apache-2.0
/*
 * Cores that the loaders of one group and machine lend to each other: a board, which is a small file that all of them
 * have mapped, and one byte of it for each core, locked by who holds that core. (doc/lending.md)
 *
 * Invariants:
 * 1. A lane runs tasks only while its loader holds the core's lock (of an open file description, F_OFD_SETLK), and one
 *    lane for each: so a core is held once. The kernel lets go of a lock when its holder ends, whatever ended it.
 * 2. What is written on the board says who should hold a core, never who does. It can be wrong, stale or hostile: then
 *    cores are lent badly, and none is held twice.
 * 3. A loan ends by itself: from its end on, or once its borrower is gone, the core is its owner's. A core whose owner
 *    is gone is nobody's: who has it lets go of it after his sample.
 * 4. `to` and `until_ns` are written under the decision lock only, a lock of the same kind; nobody waits for anything
 *    while he holds it, and nobody waits for it but who joins or leaves, for a bounded time.
 * 5. Who lets go of a core rings the one it is for, after the lock is gone; who is rung looks for cores after the ring.
 *    So no core lies free while somebody who should have it waits.
 * 6. A board that no living member has is removed, or begun anew, by the next who joins a group.
 */
#ifndef MR_DEVICE_CPU_CORES_H
#define MR_DEVICE_CPU_CORES_H

#include "base/error.h"
#include "base/memory.h"

enum { MR__BOARD_MEMBERS = 64, MR__BOARD_CORES = 1024, MR__BOARD_NAME_NBYTES = 65, MR__BOARD_PATH_NBYTES = 4096 };

#define MR__BOARD_IDLE UINT32_MAX

/*
 * Threads: take, check, leave, post and decide from any; join, listen, deafen, leave alone.
 * Ownership: mr__board_leave frees it.
 * Limits: MR__BOARD_MEMBERS loaders and MR__BOARD_CORES cores in a group; it allocates nothing after join.
 */
typedef struct mr__board mr__board;

/* What a member foretells; its own, or in a view. */
typedef struct mr__board_post {
    bool known;
    uint64_t work_ns, batch_ns, sample_ns;
    uint32_t reserve; /* MR__BOARD_IDLE: it has nothing to do */
} mr__board_post;

typedef struct mr__board_loan {
    uint32_t home, to; /* of the view's members */
    uint64_t until_ns; /* CLOCK_MONOTONIC */
    uint32_t socket;
} mr__board_loan;

typedef struct mr__board_view {
    uint64_t now_ns;
    size_t member_count, core_count;
    mr__board_post members[MR__BOARD_MEMBERS];
    mr__board_loan cores[MR__BOARD_CORES];
    uint16_t member_numbers[MR__BOARD_MEMBERS], core_numbers[MR__BOARD_CORES]; /* on the board */
} mr__board_view;

/* Writes to `to` and `until_ns` of the view's cores. Is short, and waits for nothing. */
typedef void mr__board_judge(void *user, mr__board_view *view);

typedef struct mr__board_options {
    const mr_hooks *hooks;      /* stays */
    const char *name;           /* of the group: 1 to 64 letters, digits and "._-" */
    const char *folder;         /* NULL: /dev/shm, or $XDG_RUNTIME_DIR where there is none */
    uint32_t cores;             /* that are this member's own */
    const uint16_t *processors; /* that these can be, at least as many; NULL: any, threads are not bound */
    uint32_t processor_count;
    mr__board_judge *judge; /* for what the board's own threads have decided; NULL: nothing */
    void *judge_user;
} mr__board_options;

/* MR_EARGUMENT, MR_ELIMIT, MR_EIO, MR_ENOMEM, MR_EUNSUPPORTED (a board of another version) with detail. */
int mr__board_join(const mr__board_options *options, mr__board **out, mr__detail *detail);

/* Cores go back, and the last one removes the board. No core is held any more. NULL is accepted. */
void mr__board_leave(mr__board *board);

/* For tests: closes its descriptor without a word, as if the process had been killed. */
void mr__board_abandon(mr__board *board);

/*
 * From now on `news` is called when there may be a core to take, by a thread of the board; and members that die are
 * seen by another one.
 */
int mr__board_listen(mr__board *board, void (*news)(void *user), void *user, mr__detail *detail);
void mr__board_deafen(mr__board *board);

#define MR__NO_CORE UINT32_MAX

/* A core that this member should have, and can: the calling thread is put on it, if it has a name. Does not wait. */
bool mr__core_take(mr__board *board, uint32_t *core);

/* Whether there is one that might be taken. Asks nobody. */
bool mr__core_any(mr__board *board);

/* Between samples: whether it may be kept. */
bool mr__core_check(mr__board *board, uint32_t core);

/* Lets go of it. */
void mr__core_leave(mr__board *board, uint32_t core);

void mr__board_post_own(mr__board *board, const mr__board_post *post);

/*
 * Buries who died, and has the judge decide. If somebody else decides just now, he does it once more for us: it does
 * not wait.
 */
void mr__board_decide(mr__board *board, mr__board_judge *judge, void *user);

/* That a loan to this member has ended since it was last asked: a reason to decide again. */
bool mr__board_expired(mr__board *board);

typedef struct mr__board_totals {
    uint32_t members, own, held; /* cores: its own, and those it holds now */
    uint64_t lent_ns, borrowed_ns;
} mr__board_totals;

mr__board_totals mr__board_total(mr__board *board);

/* Lanes that are enough for all cores of this machine, and its own. */
uint32_t mr__board_lanes(uint32_t own);

#endif
