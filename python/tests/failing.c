// SPDX-License-Identifier: Apache-2.0
/* Preloaded by test_failing.py: makes one allocation of the extension module fail, and counts those that are not freed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t nbytes);
extern void *__libc_calloc(size_t count, size_t nbytes);
extern void *__libc_realloc(void *old, size_t nbytes);
extern void *__libc_memalign(size_t align, size_t nbytes);
extern void __libc_free(void *block);

enum { PLACES = 1 << 18 };
static void *blocks[PLACES]; /* that the module has: by address, each in one of some places from its own on */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t from, to; /* the module's code */
static long left = -1, live;

void failing_watch(uintptr_t begin, uintptr_t end)
{
    from = begin;
    to = end;
}

/* The allocation of this number, from 0, fails; -1: none. */
void failing_arm(long number)
{
    __atomic_store_n(&left, number, __ATOMIC_SEQ_CST);
}

/* Whether one has failed since it was armed. */
bool failing_fired(void)
{
    return __atomic_load_n(&left, __ATOMIC_SEQ_CST) == -2;
}

long failing_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

static bool is_module(void *caller)
{
    return (uintptr_t)caller >= from && (uintptr_t)caller < to;
}

static bool fails(void)
{
    long now = __atomic_load_n(&left, __ATOMIC_SEQ_CST);
    while (now >= 0)
        if (__atomic_compare_exchange_n(&left, &now, now == 0 ? -2 : now - 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return now == 0;
    return false;
}

static size_t find(void *block, void *wanted)
{
    size_t at = ((uintptr_t)block >> 4) % PLACES;
    for (size_t i = 0; i < 64; i++, at = (at + 1) % PLACES)
        if (blocks[at] == wanted)
            return at;
    return PLACES;
}

static void *note(void *block)
{
    pthread_mutex_lock(&mutex);
    size_t at = block != NULL ? find(block, NULL) : PLACES;
    if (at < PLACES) {
        blocks[at] = block;
        live++;
    }
    pthread_mutex_unlock(&mutex);
    return block;
}

static void forget(void *block)
{
    if (__atomic_load_n(&live, __ATOMIC_RELAXED) == 0)
        return;
    pthread_mutex_lock(&mutex);
    size_t at = find(block, block);
    if (at < PLACES) {
        blocks[at] = NULL;
        live--;
    }
    pthread_mutex_unlock(&mutex);
}

#define GIVE(make)                                                                                                     \
    do {                                                                                                               \
        if (from == 0 || !is_module(__builtin_return_address(0)))                                                      \
            return make;                                                                                               \
        if (fails()) {                                                                                                 \
            errno = ENOMEM;                                                                                            \
            return NULL;                                                                                               \
        }                                                                                                              \
        return note(make);                                                                                             \
    } while (0)

void *malloc(size_t nbytes)
{
    GIVE(__libc_malloc(nbytes));
}

void *calloc(size_t count, size_t nbytes)
{
    GIVE(__libc_calloc(count, nbytes));
}

void *aligned_alloc(size_t align, size_t nbytes)
{
    GIVE(__libc_memalign(align, nbytes));
}

int posix_memalign(void **out, size_t align, size_t nbytes)
{
    bool ours = from != 0 && is_module(__builtin_return_address(0));
    if (ours && fails())
        return ENOMEM;
    *out = __libc_memalign(align, nbytes);
    if (ours)
        note(*out);
    return *out != NULL ? 0 : ENOMEM;
}

void *realloc(void *old, size_t nbytes)
{
    if (from == 0 || !is_module(__builtin_return_address(0)))
        return __libc_realloc(old, nbytes);
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    forget(old);
    return note(__libc_realloc(old, nbytes));
}

void free(void *block)
{
    if (block != NULL)
        forget(block);
    __libc_free(block);
}
