// SPDX-License-Identifier: Apache-2.0
/*
 * Live blocks stand in one open-addressed table of fixed size, so that the harness itself allocates nothing. A wrong
 * use is noted and told after the scenario: a jump out of the library's middle, or out of another thread, would hide
 * it.
 */
#include "failing.h"

#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_SIZE ((size_t)1 << 16)

typedef struct entry {
    void *block;
    size_t nbytes;
    failing_owner owner;
} entry;

static struct {
    pthread_mutex_t mutex;
    bool armed, for_ever;
    size_t nth;
    size_t nth_thread; /* how many more until the refused one; 0: none */
    failing_counts counts;
    entry table[TABLE_SIZE];
} harness = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void note_fault(const char *fault)
{
    if (harness.counts.fault == NULL)
        harness.counts.fault = fault;
}

static size_t home_of(const void *block)
{
    return (size_t)(((uint64_t)(uintptr_t)block * UINT64_C(0x9e3779b97f4a7c15)) >> 48) % TABLE_SIZE;
}

static size_t slot_of(const void *block)
{
    size_t i = home_of(block);
    while (harness.table[i].block != NULL && harness.table[i].block != block)
        i = (i + 1) % TABLE_SIZE;
    return i;
}

/* Empties a slot, and moves back what had to step over it. */
static void empty_slot(size_t hole)
{
    for (size_t i = (hole + 1) % TABLE_SIZE; harness.table[i].block != NULL; i = (i + 1) % TABLE_SIZE) {
        size_t home = home_of(harness.table[i].block);
        if ((i - home) % TABLE_SIZE >= (i - hole) % TABLE_SIZE) {
            harness.table[hole] = harness.table[i];
            hole = i;
        }
    }
    harness.table[hole] = (entry){0};
}

bool failing_refuses(void)
{
    pthread_mutex_lock(&harness.mutex);
    bool refuse = false;
    if (harness.armed) {
        size_t number = ++harness.counts.attempts;
        refuse = harness.nth != 0 && (number == harness.nth || (harness.for_ever && number > harness.nth));
        harness.counts.refused += refuse;
    }
    pthread_mutex_unlock(&harness.mutex);
    return refuse;
}

void failing_threads(size_t nth)
{
    pthread_mutex_lock(&harness.mutex);
    harness.nth_thread = nth;
    pthread_mutex_unlock(&harness.mutex);
}

bool failing_refuses_thread(void)
{
    pthread_mutex_lock(&harness.mutex);
    bool refuse = harness.nth_thread == 1;
    if (harness.nth_thread != 0)
        harness.nth_thread--;
    pthread_mutex_unlock(&harness.mutex);
    return refuse;
}

void failing_add(void *block, size_t nbytes, failing_owner owner)
{
    pthread_mutex_lock(&harness.mutex);
    failing_counts *counts = &harness.counts;
    if (harness.armed && counts->live_blocks >= TABLE_SIZE / 2) {
        note_fault("too many blocks alive for the harness's table");
    } else if (harness.armed) {
        harness.table[slot_of(block)] = (entry){block, nbytes, owner};
        counts->live_blocks++;
        counts->live_nbytes += nbytes;
        if (counts->live_nbytes > counts->peak_nbytes)
            counts->peak_nbytes = counts->live_nbytes;
    }
    pthread_mutex_unlock(&harness.mutex);
}

/* False when the block is not known, or is another owner's. */
bool failing_remove(void *block, failing_owner owner, size_t *nbytes)
{
    pthread_mutex_lock(&harness.mutex);
    size_t slot = slot_of(block);
    entry found = harness.table[slot];
    bool ours = found.block != NULL && found.owner == owner;
    if (ours) {
        empty_slot(slot);
        harness.counts.live_blocks--;
        harness.counts.live_nbytes -= found.nbytes;
        *nbytes = found.nbytes;
    } else if (found.block != NULL) {
        note_fault(owner == FAILING_HOOKS ? "a library's block was freed through the hooks"
                                          : "a block of the hooks was given to free() or realloc()");
    } else if (harness.armed && owner == FAILING_HOOKS) {
        note_fault("a block was freed twice, or was never allocated");
    }
    pthread_mutex_unlock(&harness.mutex);
    return ours;
}

static void *hook_alloc(void *user, size_t nbytes, size_t align)
{
    (void)user;
    bool sensible = nbytes != 0 && align >= sizeof(void *) && (align & (align - 1)) == 0;
    if (!sensible) {
        pthread_mutex_lock(&harness.mutex);
        note_fault("an allocation of 0 bytes, or with an alignment that is no power of two");
        pthread_mutex_unlock(&harness.mutex);
        return NULL;
    }
    void *block;
    if (failing_refuses() || posix_memalign(&block, align, nbytes) != 0)
        return NULL;
    memset(block, 0xa5, nbytes); // code that counts on zeros shows
    failing_add(block, nbytes, FAILING_HOOKS);
    return block;
}

static void hook_free(void *user, void *block)
{
    (void)user;
    size_t nbytes;
    bool ours = failing_remove(block, FAILING_HOOKS, &nbytes);
    if (ours)
        memset(block, 0xdd, nbytes); // and so does code that reads what it freed
    pthread_mutex_lock(&harness.mutex);
    bool armed = harness.armed;
    pthread_mutex_unlock(&harness.mutex);
    // What is not ours is left alone while watched: the fault is noted, and freeing it would end the process.
    if (ours || !armed)
        free(block);
}

mr_hooks failing_hooks(void)
{
    return (mr_hooks){.struct_size = sizeof(mr_hooks), .alloc = hook_alloc, .free = hook_free};
}

void failing_begin(size_t nth, bool for_ever)
{
    pthread_mutex_lock(&harness.mutex);
    memset(harness.table, 0, sizeof harness.table);
    harness.counts = (failing_counts){0};
    harness.nth = nth;
    harness.for_ever = for_ever;
    harness.armed = true;
    pthread_mutex_unlock(&harness.mutex);
}

failing_counts failing_now(void)
{
    pthread_mutex_lock(&harness.mutex);
    failing_counts counts = harness.counts;
    pthread_mutex_unlock(&harness.mutex);
    return counts;
}

failing_counts failing_end(void)
{
    pthread_mutex_lock(&harness.mutex);
    failing_counts counts = harness.counts;
    harness.armed = false;
    memset(harness.table, 0, sizeof harness.table);
    pthread_mutex_unlock(&harness.mutex);
    return counts;
}

/* One run, and what must hold after it. */
static failing_counts run_once(failing_scenario *scenario, void *arg, size_t nth, bool for_ever)
{
    mr_hooks hooks = failing_hooks();
    failing_begin(nth, for_ever);
    int result = scenario(&hooks, arg);
    failing_counts counts = failing_end();
    const char *how = for_ever ? "and all after it " : "";
    if (result != 0 && !(nth != 0 && result == MR_ENOMEM))
        fail_msg("allocation %zu %srefused (0: none): the scenario returned %s", nth, how, mr_error_name(result));
    if (counts.fault != NULL)
        fail_msg("allocation %zu %srefused (0: none): %s", nth, how, counts.fault);
    if (counts.live_blocks != 0)
        fail_msg("allocation %zu %srefused (0: none): %zu blocks (%zu bytes) leaked", nth, how, counts.live_blocks,
                 counts.live_nbytes);
    return counts;
}

void failing_run(failing_scenario *scenario, void *arg)
{
    size_t count = run_once(scenario, arg, 0, false).attempts;
    for (int for_ever = 0; for_ever <= 1; for_ever++)
        for (size_t nth = 1; nth <= count; nth += nth >= FAILING_QUICK_ALL && test_quick() ? FAILING_QUICK_STEP : 1)
            run_once(scenario, arg, nth, for_ever);
}
