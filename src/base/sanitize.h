// SPDX-License-Identifier: Apache-2.0
/*
 * What a sanitizer has to be told, and nothing where there is none.
 *
 *     MR__ASAN, MR__TSAN   this build has it
 *     mr__poison           ASan: whoever touches these bytes from now on is wrong
 *     mr__unpoison         they may be touched again
 *     mr__sync_give        TSan: what was done so far is seen by whoever takes from the same address later
 *     mr__sync_take
 *     MR__UNWATCHED        TSan does not look at what this function does
 */
#ifndef MR_BASE_SANITIZE_H
#define MR_BASE_SANITIZE_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MR__ASAN
#endif
#if __has_feature(thread_sanitizer)
#define MR__TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(MR__ASAN)
#define MR__ASAN
#endif
#if defined(__SANITIZE_THREAD__) && !defined(MR__TSAN)
#define MR__TSAN
#endif

#if defined(MR__ASAN)
#include <sanitizer/asan_interface.h>
#endif

static inline void mr__poison(const void *at, size_t nbytes)
{
#if defined(MR__ASAN)
    __asan_poison_memory_region(at, nbytes);
#else
    (void)at;
    (void)nbytes;
#endif
}

static inline void mr__unpoison(const void *at, size_t nbytes)
{
#if defined(MR__ASAN)
    __asan_unpoison_memory_region(at, nbytes);
#else
    (void)at;
    (void)nbytes;
#endif
}

#if defined(MR__TSAN)
#include <sanitizer/tsan_interface.h>
#define MR__UNWATCHED     __attribute__((no_sanitize("thread")))
#define mr__sync_give(at) __tsan_release(at)
#define mr__sync_take(at) __tsan_acquire(at)
#else
#define MR__UNWATCHED
#define mr__sync_give(at) ((void)(at))
#define mr__sync_take(at) ((void)(at))
#endif

#endif
