// SPDX-License-Identifier: Apache-2.0
/* The board as its own files see it: board.c makes and ends it, cores.c lends by it, bell.c has its threads. */
#ifndef MR_DEVICE_CPU_BOARD_H
#define MR_DEVICE_CPU_BOARD_H

#include "base/thread.h"
#include "device/cpu/cores.h"
#include "device/cpu/placement.h"
#include <stdatomic.h>
#include <sys/types.h>

enum { MR__BOARD_VERSION = 1 };
#define MR__BOARD_MAGIC UINT64_C(0x64726f4272614d6c)

/* Bytes of the file that are locked; beyond what is in it, for they mean nothing else. */
enum { MR__LOCK_DECIDE = 1 << 20, MR__LOCK_ALIVE = MR__LOCK_DECIDE + 1, MR__LOCK_CORE = MR__LOCK_DECIDE + 4096 };

/* Members are numbered from 1 where 0 stands for nobody. */
typedef struct mr__board_member {
    atomic_uint used, bell; /* bell: a futex */
    atomic_int pid;
    atomic_uint known, reserve, unused[3];
    atomic_ullong work_ns, batch_ns, sample_ns, spare[1];
} mr__board_member;

typedef struct mr__board_core {
    atomic_uint home, to;
    atomic_ullong until_ns, lent_ns;
    atomic_int processor; /* -1: any */
    atomic_uint socket;
} mr__board_core;

typedef struct mr__board_file {
    uint64_t magic;
    uint32_t version, nbytes;
    atomic_uint joined; /* counts those who came and went */
    atomic_uint again;  /* somebody else wants a decision */
    atomic_uint top;    /* behind the last core that is anybody's */
    atomic_uint unused[9];
    mr__board_member members[MR__BOARD_MEMBERS];
    mr__board_core cores[MR__BOARD_CORES];
} mr__board_file;

/* What a member keeps of a core that it holds. */
typedef struct mr__holding {
    atomic_bool held;
    bool borrowed;
    uint64_t since_ns;
} mr__holding;

struct mr__board {
    const mr_hooks *hooks;
    int fd;
    mr__board_file *file;
    uint32_t number, own;
    char path[MR__BOARD_PATH_NBYTES];
    bool ready;      /* the mutex is made */
    mr__mutex mutex; /* of those who decide: locks of a file are not between threads of one description */
    mr__board_view view;
    atomic_bool expired, stopping;
    atomic_ullong borrowed_ns;
    mr__holding holding[MR__BOARD_CORES];
    int event; /* wakes the watch */
    mr__board_judge *judge;
    void *judge_user;
    void (*news)(void *user);
    void *user;
    mr__thread bell, watch;
    int skipped[MR__BOARD_MEMBERS]; /* processes that are gone while their locks are not: a child of theirs has them */
    unsigned looks[MR__BOARD_MEMBERS]; /* how often that was looked at */
};

/* Locks a byte, or lets go of it. False: another description has it. */
bool mr__byte_lock(int fd, off_t at);
void mr__byte_unlock(int fd, off_t at);

/* Whether another description has one of `count` bytes. */
bool mr__byte_is_locked(int fd, off_t at, off_t count);

/* The decision lock and the mutex. `wait`: some seconds at most. */
bool mr__board_lock(mr__board *board, bool wait);
void mr__board_unlock(mr__board *board);

/* Cores of members that are gone go back, and theirs are nobody's. The decision lock is held. */
void mr__board_bury(mr__board *board);

/*
 * Has the board's own judge decide, where there is one; buries who died in any case. `wait`: for the decision lock.
 * What others wanted to have decided while the lock was held for something else is decided so.
 */
void mr__board_decide_again(mr__board *board, bool wait);

/* Takes a member off the board. The decision lock is held. */
void mr__board_strike(mr__board_file *file, uint32_t number);

void mr__board_ring(mr__board_file *file, uint32_t number); /* 0: nobody */
void mr__board_ring_all(mr__board_file *file);

#endif
