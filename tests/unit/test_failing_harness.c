// SPDX-License-Identifier: Apache-2.0
/* The harness of failing allocations itself, tried on right and on wrong code. */
#include "test.h"

#include "failing.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    size_t runs, refused;
} tally;

/* Two blocks of the hooks and what a library needs between them. */
static int allocate_three(const mr_hooks *hooks, void *arg)
{
    tally *t = arg;
    int result = MR_ENOMEM;
    void *first = hooks->alloc(hooks->user, 100, 64);
    struct libdeflate_decompressor *library = libdeflate_alloc_decompressor();
    void *second = hooks->alloc(hooks->user, 7, 4096);
    if (first != NULL && library != NULL && second != NULL)
        result = 0;
    if (first != NULL)
        hooks->free(hooks->user, first);
    if (second != NULL)
        hooks->free(hooks->user, second);
    libdeflate_free_decompressor(library);
    t->runs++;
    t->refused += failing_now().refused;
    return result;
}

static void every_allocation_is_refused_once_and_for_ever(void **state)
{
    (void)state;
    tally t = {0};
    failing_run(allocate_three, &t);
    assert_int_equal(t.runs, 1 + 3 + 3);
    assert_int_equal(t.refused, 3 * 1 + 3 + 2 + 1);
}

/* More than a quick run refuses one by one. */
enum { MANY = FAILING_QUICK_ALL + 2 * FAILING_QUICK_STEP + 1 };

typedef struct refusals {
    size_t once[MANY + 1], for_ever[MANY + 1]; /* how often each was the first to be refused, so */
} refusals;

static int allocate_many(const mr_hooks *hooks, void *arg)
{
    refusals *r = arg;
    size_t first = 0;
    for (size_t i = 1; i <= MANY; i++) {
        void *block = hooks->alloc(hooks->user, i, 64);
        if (block != NULL)
            hooks->free(hooks->user, block);
        else if (first == 0)
            first = i;
    }
    size_t refused = failing_now().refused;
    // For the last one, once and for ever are the same.
    bool for_ever = refused > 1 || (first == MANY && r->once[MANY] != 0);
    (for_ever ? r->for_ever : r->once)[first]++;
    assert_int_equal(refused, first == 0 ? 0 : refused > 1 ? MANY - first + 1 : 1);
    return refused == 0 ? 0 : MR_ENOMEM;
}

/* Sets or unsets MILLRACE_TEST_QUICK, runs, and sets it back. */
static refusals run_many(const char *quick)
{
    refusals r = {0};
    const char *was = getenv("MILLRACE_TEST_QUICK");
    char kept[16] = "";
    if (was != NULL)
        strncat(kept, was, sizeof kept - 1);
    setenv("MILLRACE_TEST_QUICK", quick, 1);
    failing_run(allocate_many, &r);
    setenv("MILLRACE_TEST_QUICK", kept, 1);
    return r;
}

static void a_quick_run_refuses_the_first_ones_and_a_sample(void **state)
{
    (void)state;
    refusals full = run_many("0"), empty = run_many(""), quick = run_many("1");
    for (size_t i = 1; i <= MANY; i++) {
        size_t sampled = i <= FAILING_QUICK_ALL || (i - FAILING_QUICK_ALL) % FAILING_QUICK_STEP == 0;
        assert_true(full.once[i] == 1 && full.for_ever[i] == 1);
        assert_true(empty.once[i] == 1 && empty.for_ever[i] == 1);
        assert_true(quick.once[i] == sampled && quick.for_ever[i] == sampled);
    }
}

static void a_library_counts(void **state)
{
    (void)state;
    failing_begin(1, false);
    struct libdeflate_decompressor *none = libdeflate_alloc_decompressor();
    struct libdeflate_decompressor *some = libdeflate_alloc_decompressor();
    failing_counts before = failing_now();
    libdeflate_free_decompressor(some);
    failing_counts after = failing_end();
    assert_null(none);
    assert_non_null(some);
    assert_int_equal(before.live_blocks, 1);
    assert_true(before.live_nbytes > 1000);
    assert_int_equal(after.live_blocks, 0);
    assert_int_equal(after.live_nbytes, 0);
    assert_int_equal(after.peak_nbytes, before.live_nbytes);
    assert_int_equal(after.attempts, 2);
}

static void realloc_and_calloc_are_wrapped(void **state)
{
    (void)state;
    void *volatile block[3]; // volatile, or a compiler that knows these functions leaves the calls out
    failing_begin(3, false);
    block[0] = calloc(5, 5);
    block[1] = realloc(block[0], 1000);
    block[2] = realloc(block[1], 5000);
    failing_counts counts = failing_now();
    free(block[2] == NULL ? block[1] : block[2]);
    failing_counts after = failing_end();
    assert_null(block[2]);
    assert_int_equal(counts.live_blocks, 1);
    assert_int_equal(counts.live_nbytes, 1000);
    assert_int_equal(after.live_blocks, 0);
}

static void a_leak_is_seen(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    failing_begin(0, false);
    void *block = hooks.alloc(NULL, 12, 64);
    failing_counts counts = failing_end();
    hooks.free(NULL, block);
    assert_int_equal(counts.live_blocks, 1);
    assert_int_equal(counts.live_nbytes, 12);
    assert_null(counts.fault);
}

static void a_double_free_is_seen(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    failing_begin(0, false);
    void *block = hooks.alloc(NULL, 12, 64);
    hooks.free(NULL, block);
    hooks.free(NULL, block);
    assert_contains(failing_end().fault, "twice");
}

static void a_foreign_free_is_seen(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    int on_the_stack;
    failing_begin(0, false);
    hooks.free(NULL, &on_the_stack);
    assert_contains(failing_end().fault, "never allocated");
    failing_begin(0, false);
    void *library = malloc(3);
    hooks.free(NULL, library);
    free(library);
    assert_contains(failing_end().fault, "library's block");
}

static void bad_alignment_is_seen(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    failing_begin(0, false);
    assert_null(hooks.alloc(NULL, 12, 48));
    assert_contains(failing_end().fault, "power of two");
    failing_begin(0, false);
    assert_null(hooks.alloc(NULL, 0, 64));
    assert_contains(failing_end().fault, "0 bytes");
}

static void many_blocks_are_kept_apart(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static void *blocks[COUNT];
    mr_hooks hooks = failing_hooks();
    failing_begin(0, false);
    for (size_t i = 0; i < COUNT; i++)
        blocks[i] = hooks.alloc(NULL, i + 1, 64);
    for (size_t i = 0; i < COUNT; i++)
        hooks.free(NULL, blocks[i * 7 % COUNT]); // 7 and COUNT share no factor
    failing_counts counts = failing_end();
    assert_null(counts.fault);
    assert_int_equal(counts.live_blocks, 0);
    assert_int_equal(counts.live_nbytes, 0);
    assert_int_equal(counts.peak_nbytes, (size_t)COUNT * (COUNT + 1) / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_is_refused_once_and_for_ever),
        cmocka_unit_test(a_quick_run_refuses_the_first_ones_and_a_sample),
        cmocka_unit_test(a_library_counts),
        cmocka_unit_test(realloc_and_calloc_are_wrapped),
        cmocka_unit_test(a_leak_is_seen),
        cmocka_unit_test(a_double_free_is_seen),
        cmocka_unit_test(a_foreign_free_is_seen),
        cmocka_unit_test(bad_alignment_is_seen),
        cmocka_unit_test(many_blocks_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
