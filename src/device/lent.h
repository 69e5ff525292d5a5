// SPDX-License-Identifier: Apache-2.0
/*
 * Device memory that the caller lends and takes back while it is in use. A region is memory that the host can address,
 * or an opaque handle of the device's with a length; tasks are granted parts of it. All books are kept here, none in
 * the memory lent.
 *
 * Invariants:
 * 1. The blocks of a region lie side by side, cover it, and no two neighbours are free: so a grant lies in its region,
 *    and in no other grant.
 * 2. Nothing is granted in a region that is being taken back. With its last grant it is back: mr__lent_back tells.
 *    Since a task gives its grant back when it is done, that is one task's time at most.
 * 3. The memory of a region that is back is not touched again.
 * 4. What is granted in all does not exceed what the caller said is free when the batch began, but for what was granted
 *    before he said less.
 *
 * Canaries: before and behind each grant stand bytes that nobody may write to; they are looked at when it is given
 * back. In memory that the host addresses they are written and read here. In the device's, `mark` and `check` do it, if
 * there are some; else there are no canaries.
 *
 * Nothing calls back: what is to be told is asked for, when the caller has let go of his lock.
 *
 * Threads: one at a time; the caller's lock.
 * Ownership: mr__lent_free frees the books; the memory lent stays its owner's.
 * Limits: options.regions and options.grants at once; after init nothing is allocated.
 */
#ifndef MR_DEVICE_LENT_H
#define MR_DEVICE_LENT_H

#include "base/error.h"
#include "base/memory.h"
#include "device/budget.h"

typedef struct mr__lent_memory {
    void *address;   /* NULL: not the host's; then */
    uint64_t handle; /* what the device knows it by: regions of one handle lie at different offsets of it */
    uint64_t offset;
    uint64_t nbytes;
} mr__lent_memory;

/* A place in the device's memory, for who writes canaries there. True: done, or found intact. */
typedef bool mr__lent_canary(void *user, uint64_t handle, uint64_t offset, uint32_t nbytes);

typedef struct mr__lent_options {
    uint32_t regions, grants; /* at once, at most; 0: 16 and 256 */
    uint32_t align;           /* of a grant, a power of 2; 0: 64 */
    bool no_canaries;
    mr__lent_canary *mark, *check;  /* both or none */
    uint64_t (*usable)(void *user); /* of all that is lent, how much may be used now; NULL: all. Must not call us */
    void *user;
} mr__lent_options;

typedef struct mr__grant {
    mr__lent_memory memory; /* exactly what was asked for */
    uint32_t block, turn;   /* which one it is, and its how-manyeth use */
} mr__grant;

typedef struct mr__lent_counts {
    uint64_t lent_nbytes;                  /* in regions that are not being taken back */
    uint64_t asked_nbytes, granted_nbytes; /* in flight: what tasks asked for, and with alignment and canaries */
    uint64_t peak_nbytes;                  /* of granted_nbytes */
    uint64_t grants;                       /* in flight */
    uint64_t refused, scattered;           /* not now; of these, though as much was free in all */
    uint64_t never, reclaimed, broken;     /* broken: canaries */
} mr__lent_counts;

typedef struct mr__lent mr__lent;

/* MR_EARGUMENT, MR_ENOMEM with detail. */
int mr__lent_new(const mr_hooks *hooks, const mr__lent_options *options, mr__lent **out, mr__detail *detail);
void mr__lent_free(mr__lent *lent); /* NULL is accepted */

/* Another region; *number is its name. MR_EARGUMENT: empty, or a part of it is lent already. MR_ELIMIT: too many. */
int mr__lent_lend(mr__lent *lent, const mr__lent_memory *memory, uint32_t *number, mr__detail *detail);

/* No more grants in it. *back: it was empty and is back at once. MR_EARGUMENT: there is none of this name. */
int mr__lent_reclaim(mr__lent *lent, uint32_t number, bool *back, mr__detail *detail);

/*
 * Out of memory elsewhere: all regions are taken back, those without a grant at once. Returns how many bytes those
 * have; mr__lent_back tells which they are, and of the others when they have come.
 */
uint64_t mr__lent_let_go(mr__lent *lent);

/* A region that has come back since it was asked for, and is forgotten with that. False: none. */
bool mr__lent_back(mr__lent *lent, uint32_t *number, mr__lent_memory *memory);

/* A batch begins: what is free is asked again. */
void mr__lent_batch(mr__lent *lent);

mr__room mr__lent_take(mr__lent *lent, uint64_t nbytes, mr__grant *grant);

/* MR_ECORRUPT: somebody wrote outside of it. MR_EARGUMENT: it was given back before. With detail. */
int mr__lent_give(mr__lent *lent, const mr__grant *grant, mr__detail *detail);

mr__lent_counts mr__lent_tell(const mr__lent *lent);

#endif
