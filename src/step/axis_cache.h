// SPDX-License-Identifier: Apache-2.0
/*
 * Axes that were needed lately. Random crops have hundreds of sizes, and to make an axis takes a good part of the time
 * of the resize that needs it.
 *
 * An axis (weights, and what kernels made of them) is a pure function of its key; it stays in its place until that is
 * the one that was not used for longest, and a place keeps its memory for the next axis.
 */
#ifndef MR_STEP_AXIS_CACHE_H
#define MR_STEP_AXIS_CACHE_H

#include "base/error.h"
#include "step/resample.h"

/*
 * Random crops of photographs have some 700 widths and heights. With so many places 96 of 100 axes are there when they
 * are needed (512: 79, 256: 42), each of which saves 6 to 12 us of the 80 to 90 that an image takes. They hold about 15
 * KB each, and get them only when they are used.
 */
enum { MR__AXIS_PLACES = 768, MR__AXIS_GUESSES = 2048 };

typedef struct mr__axis_key {
    mr__resample_side side;
    uint32_t channels; /* 0: of the vertical pass */
} mr__axis_key;

typedef struct mr__axis_place {
    mr__axis_key key;
    mr__resample_axis axis;
    mr__buffer weights, table;
} mr__axis_place;

typedef struct mr__axis_cache {
    const mr_hooks *hooks;
    const mr__resample *kernels;
    uint64_t calls;
    uint16_t guesses[MR__AXIS_GUESSES]; /* the place that a hash was at last, by its lower bits */
    uint32_t hashes[MR__AXIS_PLACES];   /* of keys, apart from them: they are looked through where a guess is wrong */
    uint64_t used[MR__AXIS_PLACES];     /* number of the call; 0: never */
    mr__axis_place places[MR__AXIS_PLACES];
} mr__axis_cache;

/* `hooks` and `kernels` stay. */
void mr__axis_cache_init(mr__axis_cache *cache, const mr_hooks *hooks, const mr__resample *kernels);

/* Gives all memory back; it can be used again. */
void mr__axis_cache_trim(mr__axis_cache *cache);

/*
 * The axis of a key; the last two that were asked for stay. MR_ENOMEM without detail; MR_ELIMIT with it;
 * MR_EINTERNAL, with it, for source samples that are not there.
 */
int mr__axis_cache_get(mr__axis_cache *cache, const mr__axis_key *key, mr__detail *detail,
                       const mr__resample_axis **out);

#endif
