// SPDX-License-Identifier: Apache-2.0
/* A jump to another stack is what _FORTIFY_SOURCE takes for a mistake. */
#undef _FORTIFY_SOURCE

#include "kernel/lane/fiber.h"

#include "base/sanitize.h"
#include "base/thread.h"

#include <features.h>
#include <setjmp.h>

#if defined(__GLIBC__) && !defined(MR__FIBER_THREADS)

#include <ucontext.h>

/* A kernel's variables are few; a sanitizer's are more. */
#if defined(MR__ASAN) || defined(MR__TSAN)
enum { STACK_NBYTES = 256 << 10 };
#else
enum { STACK_NBYTES = 64 << 10 };
#endif

/*
 * swapcontext asks the system for the mask of signals each time. So contexts are for the beginning only, and after that
 * jumps; but a sanitizer takes a jump for one that leaves functions, and forgets what it knows of the stack.
 */
#if !defined(MR__ASAN) && !defined(MR__TSAN)
#define JUMPS
#endif

struct mr__fiber {
    const mr_hooks *hooks;
    void (*run)(void *arg);
    void *arg;
    uint8_t *stack;
    bool fresh, ended;
#if defined(JUMPS)
    ucontext_t here;
    sigjmp_buf jump_here, jump_outside;
#else
    ucontext_t here, outside;
#endif
    void *tsan, *tsan_outside;
    void *fake; /* ASan's: where variables are whose use after return is looked for */
    const void *outside_stack;
    size_t outside_nbytes;
};

#if defined(MR__TSAN)
/* To it a fiber is a thread, which takes a millisecond to make: they are kept. (In no other build is there such data.)
 */
static struct {
    pthread_mutex_t mutex;
    void *fibers[256];
    size_t count;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *take_kept(void)
{
    (void)pthread_mutex_lock(&kept.mutex);
    void *fiber = kept.count != 0 ? kept.fibers[--kept.count] : NULL;
    (void)pthread_mutex_unlock(&kept.mutex);
    return fiber != NULL ? fiber : __tsan_create_fiber(0);
}

static void keep(void *fiber)
{
    (void)pthread_mutex_lock(&kept.mutex);
    bool room = kept.count < sizeof kept.fibers / sizeof *kept.fibers;
    if (room)
        kept.fibers[kept.count++] = fiber;
    (void)pthread_mutex_unlock(&kept.mutex);
    if (!room)
        __tsan_destroy_fiber(fiber);
}
#endif

/* 1. What sanitizers want to know before and after a switch. */

MR__UNWATCHED static void leave_outside(mr__fiber *f, void **fake)
{
#if defined(MR__ASAN)
    __sanitizer_start_switch_fiber(fake, f->stack, STACK_NBYTES);
#elif defined(MR__TSAN)
    f->tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->tsan, __tsan_switch_to_fiber_no_sync);
#endif
    (void)f;
    (void)fake;
}

static void come_outside(void *fake)
{
#if defined(MR__ASAN)
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#else
    (void)fake;
#endif
}

static void come_in(mr__fiber *f)
{
#if defined(MR__ASAN)
    __sanitizer_finish_switch_fiber(f->fake, &f->outside_stack, &f->outside_nbytes);
#else
    (void)f;
#endif
}

/* Of one that has ended, nothing is kept. */
MR__UNWATCHED static void leave(mr__fiber *f)
{
#if defined(MR__ASAN)
    __sanitizer_start_switch_fiber(f->ended ? NULL : &f->fake, f->outside_stack, f->outside_nbytes);
#elif defined(MR__TSAN)
    __tsan_switch_to_fiber(f->tsan_outside, __tsan_switch_to_fiber_no_sync);
#else
    (void)f;
#endif
}

/* 2. Switches. */

MR__UNWATCHED static void switch_outside(mr__fiber *f)
{
    leave(f);
#if defined(JUMPS)
    if (sigsetjmp(f->jump_here, 0) == 0)
        siglongjmp(f->jump_outside, 1);
#else
    (void)swapcontext(&f->here, &f->outside);
#endif
    come_in(f);
}

/* A context's function has ints for arguments: a pointer takes two. */
MR__UNWATCHED static void begin_run(unsigned high, unsigned low)
{
    mr__fiber *f = (mr__fiber *)((uintptr_t)high << 16 << 16 | (uintptr_t)low);
    come_in(f);
    f->run(f->arg);
    f->ended = true;
    switch_outside(f);
}

MR__UNWATCHED static void switch_in(mr__fiber *f)
{
    void *fake = NULL;
    bool fresh = f->fresh;
    f->fresh = false;
    leave_outside(f, &fake);
#if defined(JUMPS)
    if (sigsetjmp(f->jump_outside, 0) == 0) {
        if (fresh)
            (void)setcontext(&f->here);
        siglongjmp(f->jump_here, 1);
    }
#else
    (void)fresh;
    (void)swapcontext(&f->outside, &f->here);
#endif
    come_outside(fake);
}

/* 3. What others call. */

mr__fiber *mr__fiber_new(const mr_hooks *hooks)
{
    mr__fiber *f = mr__alloc_zero(hooks, sizeof *f);
    if (f == NULL)
        return NULL;
    f->hooks = hooks;
    f->ended = true;
#if defined(MR__TSAN)
    f->tsan = take_kept();
#endif
    if ((f->stack = mr__alloc(hooks, STACK_NBYTES)) != NULL)
        return f;
    mr__fiber_free(f);
    return NULL;
}

void mr__fiber_free(mr__fiber *f)
{
    if (f == NULL)
        return;
#if defined(MR__TSAN)
    keep(f->tsan);
#endif
    mr__free(f->hooks, f->stack);
    mr__free(f->hooks, f);
}

MR__UNWATCHED void mr__fiber_begin(mr__fiber *f, void (*run)(void *arg), void *arg)
{
    uintptr_t at = (uintptr_t)f;
    f->run = run;
    f->arg = arg;
    f->fresh = true;
    f->ended = false;
    f->fake = NULL;
    mr__unpoison(f->stack, STACK_NBYTES); // its last function did not return
    (void)getcontext(&f->here);
    f->here.uc_stack.ss_sp = f->stack;
    f->here.uc_stack.ss_size = STACK_NBYTES;
    f->here.uc_link = NULL;
    makecontext(&f->here, (void (*)(void))begin_run, 2, (unsigned)(at >> 16 >> 16), (unsigned)at);
    f->here.uc_stack = (stack_t){0}; // or ASan clears what it knows of this stack at every switch
}

MR__UNWATCHED bool mr__fiber_go(mr__fiber *f)
{
    if (!f->ended)
        switch_in(f);
    return f->ended;
}

MR__UNWATCHED void mr__fiber_wait(mr__fiber *f)
{
    switch_outside(f);
}

#else

/* Whose turn it is. */
enum { OUTSIDE, HERE, NOBODY };

struct mr__fiber {
    const mr_hooks *hooks;
    void (*run)(void *arg);
    void *arg;
    bool ended;
    int turn;
    mr__thread thread;
    mr__mutex mutex;
    mr__condition changed;
    bool has_mutex, has_changed;
};

static void give_turn(mr__fiber *f, int turn)
{
    f->turn = turn;
    mr__condition_wake_all(&f->changed);
}

/* With the mutex. A fiber that is freed ends where it is. */
static void wait_turn(mr__fiber *f, int turn)
{
    while (f->turn != turn && f->turn != NOBODY)
        (void)mr__condition_wait(&f->changed, &f->mutex, MR__FOR_EVER);
    if (f->turn != NOBODY)
        return;
    mr__mutex_unlock(&f->mutex);
    pthread_exit(NULL);
}

static void run_thread(void *arg)
{
    mr__fiber *f = arg;
    mr__mutex_lock(&f->mutex);
    for (;;) {
        wait_turn(f, HERE);
        mr__mutex_unlock(&f->mutex);
        f->run(f->arg);
        mr__mutex_lock(&f->mutex);
        f->ended = true;
        give_turn(f, OUTSIDE);
    }
}

mr__fiber *mr__fiber_new(const mr_hooks *hooks)
{
    mr__fiber *f = mr__alloc_zero(hooks, sizeof *f);
    if (f == NULL)
        return NULL;
    f->hooks = hooks;
    f->ended = true;
    f->has_mutex = mr__mutex_init(&f->mutex) == 0;
    f->has_changed = mr__condition_init(&f->changed) == 0;
    if (f->has_mutex && f->has_changed && mr__thread_start(&f->thread, "mr-lane", run_thread, f) == 0)
        return f;
    mr__fiber_free(f);
    return NULL;
}

void mr__fiber_free(mr__fiber *f)
{
    if (f == NULL)
        return;
    if (f->thread.started) {
        mr__mutex_lock(&f->mutex);
        give_turn(f, NOBODY);
        mr__mutex_unlock(&f->mutex);
    }
    mr__thread_join(&f->thread);
    if (f->has_changed)
        mr__condition_fini(&f->changed);
    if (f->has_mutex)
        mr__mutex_fini(&f->mutex);
    mr__free(f->hooks, f);
}

void mr__fiber_begin(mr__fiber *f, void (*run)(void *arg), void *arg)
{
    f->run = run;
    f->arg = arg;
    f->ended = false;
}

bool mr__fiber_go(mr__fiber *f)
{
    if (f->ended)
        return true;
    mr__mutex_lock(&f->mutex);
    give_turn(f, HERE);
    wait_turn(f, OUTSIDE);
    mr__mutex_unlock(&f->mutex);
    return f->ended;
}

void mr__fiber_wait(mr__fiber *f)
{
    mr__mutex_lock(&f->mutex);
    give_turn(f, OUTSIDE);
    wait_turn(f, HERE);
    mr__mutex_unlock(&f->mutex);
}

#endif
