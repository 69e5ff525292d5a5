// SPDX-License-Identifier: Apache-2.0
/*
 * The emulator finds what is wrong with a kernel: it says so itself, or with several seeds, or a sanitizer does. What a
 * sanitizer finds ends the process, so that those kernels run in one of their own: this program, with the kernel's
 * name.
 */
#include "test.h"

#include "base/sanitize.h"
#include "device/tape/tape.h"
#include "failing.h"
#include "kernel/lane/emulate.h"
#include "lane_wrong.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(MR__ASAN)
enum { HAS_ASAN = 1 };
#else
enum { HAS_ASAN = 0 };
#endif
#if defined(MR__TSAN)
enum { HAS_TSAN = 1 };
#else
enum { HAS_TSAN = 0 };
#endif

enum { ARENA_NBYTES = 4096 };

/* 1. Kernels that are wrong, and of which only C says so. */

MR_KERNEL(shares_too_much)
{
    MR_TEAM;
    MR_ALLOT(uint8_t, all, MR__SHARED_NBYTES - 64);
    MR_ALLOT(uint8_t, more, 65);
    all[lane.id] = more[lane.id] = (uint8_t)list;
    mr_barrier(lane);
    WORDS[group * 32 + lane.id] = (uint32_t)all[0] + more[0];
}

MR_KERNEL(shares_differently)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, row, 32 + (size_t)(lane.id != 7));
    row[lane.id] = list;
    mr_barrier(lane);
    WORDS[group * 32 + lane.id] = row[0];
}

MR_KERNEL(meets_alone)
{
    MR_ALONE;
    WORDS[group * 64 + lane.id] = mr_scan(lane, list);
}

MR_KERNEL(shares_alone)
{
    MR_ALONE;
    MR_ALLOT(uint32_t, row, 64);
    row[lane.id] = list;
    WORDS[group * 64 + lane.id] = row[lane.id];
}

/* A place is of 33 words; this one takes one more, inside the arena. */
MR_KERNEL(leaves_its_place)
{
    MR_ALONE;
    if (lane.id < 34)
        *(MR_GLOBAL uint32_t *)(void *)(arena + list + 4 * lane.id) = group;
}

/* clang-format off */
#define ALONE(name) {#name, mr__kernel_##name, MR__ALONE_LANES}
#define TEAM(name)  {#name, mr__kernel_##name, MR__TEAM_LANES}
/* clang-format on */
static const mr__lane_kernel all[] = {
    TEAM(skips_a_barrier),
    TEAM(ends_early),
    TEAM(ends_late),
    TEAM(shares_too_much),
    TEAM(shares_differently),
    ALONE(meets_alone),
    ALONE(shares_alone),
    TEAM(counts_on_zeros),
    TEAM(races_in_a_team),
    TEAM(waits_in_a_team),
    ALONE(races_alone),
    TEAM(races_between_groups),
    ALONE(leaves_its_place),
    ALONE(races_between_lone_groups),
    TEAM(leaves_shared_memory),
    TEAM(leaves_its_variables),
    ALONE(leaves_the_arena),
};

/* 2. Running one. */

static const mr__lane_kernel *kernel_of(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

static int run(const char *name, uint64_t seed, uint8_t *arena, uint32_t list, mr__detail *detail)
{
    mr_hooks hooks;
    (void)mr__hooks_init(&hooks, NULL);
    mr__emulation emulation = {.hooks = &hooks, .seed = seed};
    mr__detail_clear(detail);
    return mr__emulate_function(&emulation, kernel_of(name), list, 4, arena, NULL, detail);
}

/* Says what the emulator says: the line is not known here. */
static void refuses(const char *name, const char *words)
{
    uint8_t *arena = aligned_alloc(64, ARENA_NBYTES);
    assert_non_null(arena);
    for (uint64_t seed = 0; seed < 3; seed++) {
        mr__detail detail;
        assert_int_equal(run(name, seed, arena, 1, &detail), MR_EINTERNAL);
        assert_contains(detail.text, name);
        assert_contains(detail.text, words);
    }
    free(arena);
}

static void lanes_that_part_are_an_error(void **state)
{
    (void)state;
    refuses("skips_a_barrier", "has diverged: lane 0 is at line");
    refuses("skips_a_barrier", ", lane 3 at line ");
    refuses("ends_early", ", lane 31 at line 0 (0: it has ended)");
    refuses("ends_late", "lane 0 is at line 0, lane 31 at line ");
}

static void shared_memory_is_as_every_device_has_it(void **state)
{
    (void)state;
    refuses("shares_too_much", "asks for more shared memory than every device has (line ");
    refuses("shares_differently", "has lanes that ask for different shared memory");
    refuses("meets_alone", "has lanes that are alone, and they come to a collective word");
    refuses("shares_alone", "has lanes that are alone, and they ask for shared memory");
    uint32_t *arena = aligned_alloc(64, ARENA_NBYTES);
    mr__detail detail;
    assert_non_null(arena);
    assert_int_equal(run("counts_on_zeros", 0, (uint8_t *)arena, 0, &detail), 0);
    for (uint32_t i = 0; i < 4 * 32; i++)
        assert_int_equal(arena[i], 0xa5a5a5a5u);
    free(arena);
}

/* How many different results there are among some seeds. */
static uint32_t results(const char *name)
{
    enum { SEEDS = 8 };
    uint8_t *arena = aligned_alloc(64, SEEDS * ARENA_NBYTES);
    uint32_t different = 0;
    assert_non_null(arena);
    memset(arena, 0, SEEDS * ARENA_NBYTES);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        mr__detail detail;
        bool same = false;
        uint8_t *here = arena + seed * ARENA_NBYTES;
        assert_int_equal(run(name, seed, here, 1, &detail), 0);
        for (uint32_t i = 0; i < seed; i++)
            same = same || memcmp(arena + i * ARENA_NBYTES, here, ARENA_NBYTES) == 0;
        different += !same;
    }
    free(arena);
    return different;
}

static void seeds_show_races(void **state)
{
    (void)state;
    assert_int_equal(results("waits_in_a_team"), 1);
    if (HAS_TSAN) // it would end the process
        return;
    assert_true(results("races_in_a_team") > 1);
    assert_true(results("races_alone") > 1);
    assert_true(results("races_between_groups") > 1);
    assert_true(results("races_between_lone_groups") > 1);
}

static int wait_in_a_team(const mr_hooks *hooks, void *arg)
{
    mr__emulation emulation = {.hooks = hooks, .seed = 1};
    mr__detail detail;
    return mr__emulate_function(&emulation, kernel_of("waits_in_a_team"), 1, 4, arg, NULL, &detail);
}

static void memory_may_be_refused(void **state)
{
    (void)state;
    if (HAS_TSAN) // to which a lane is a thread: it would take a minute
        skip();
    uint8_t *arena = aligned_alloc(64, ARENA_NBYTES);
    assert_non_null(arena);
    failing_run(wait_in_a_team, arena);
    free(arena);
}

static void no_groups_are_no_work(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__detail detail;
    mr__launch none = {.kernel = (mr__kernel)0};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (uint64_t seed = 0; seed < 2; seed++)
        assert_int_equal(mr__emulate(&(mr__emulation){.hooks = &hooks, .seed = seed}, &none, 1, NULL, NULL, &detail),
                         0);
}

/* 3. What sanitizers find. */

/* The arena of a tape with two places, fenced. */
static int run_fenced(const char *name)
{
    mr_hooks hooks;
    mr__tape tape = {0};
    mr__detail detail;
    void *bytes;
    uint8_t *arena = aligned_alloc(64, ARENA_NBYTES);
    if (arena == NULL || mr__hooks_init(&hooks, NULL) != 0)
        return 2;
    memset(arena, 0, ARENA_NBYTES);
    mr__tape_init(&tape, &hooks, arena, ARENA_NBYTES, ARENA_NBYTES, 1);
    tape.guard = 64;
    uint32_t at = mr__tape_put(&tape, 33 * sizeof(uint32_t), &bytes);
    (void)mr__tape_put(&tape, 128, &bytes);
    mr__tape_fence(&tape, arena);
    int result = run(name, 0, arena, at, &detail);
    mr__tape_unfence(&tape, arena);
    mr__tape_fini(&tape);
    free(arena);
    return result == 0 ? 0 : 2;
}

static int run_named(const char *name)
{
    mr__detail detail;
    if (strcmp(name, "leaves_its_place") == 0)
        return run_fenced(name);
    uint8_t *arena = aligned_alloc(64, ARENA_NBYTES);
    if (arena == NULL)
        return 2;
    memset(arena, 0, ARENA_NBYTES);
    int result = run(name, 0, arena, 1, &detail);
    free(arena);
    return result == 0 ? 0 : 2;
}

/* Whether a process of its own fails, and says these words. */
static bool is_found(const char *name, const char *words)
{
    char said[4096];
    bool failed = !test_again(name, said, sizeof said);
    if (failed && strstr(said, words) == NULL)
        fail_msg("%s ended otherwise: %s", name, said);
    return failed;
}

/* In a build without it there is nothing to see. */
static void asan_finds_bytes_of_nobody(void **state)
{
    (void)state;
    if (!HAS_ASAN)
        skip();
    assert_true(is_found("leaves_the_arena", "heap-buffer-overflow"));
    assert_true(is_found("leaves_its_place", "use-after-poison"));
    assert_true(is_found("leaves_shared_memory", "use-after-poison"));
    assert_true(is_found("leaves_its_variables", "stack-buffer-overflow"));
    assert_false(is_found("waits_in_a_team", ""));
}

static void tsan_finds_races(void **state)
{
    (void)state;
    if (!HAS_TSAN)
        skip();
    assert_true(is_found("races_in_a_team", "data race"));
    assert_true(is_found("races_alone", "data race"));
    assert_true(is_found("races_between_groups", "data race"));
    assert_true(is_found("races_between_lone_groups", "data race"));
    assert_false(is_found("waits_in_a_team", ""));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_part_are_an_error),
        cmocka_unit_test(shared_memory_is_as_every_device_has_it),
        cmocka_unit_test(seeds_show_races),
        cmocka_unit_test(memory_may_be_refused),
        cmocka_unit_test(no_groups_are_no_work),
        cmocka_unit_test(asan_finds_bytes_of_nobody),
        cmocka_unit_test(tsan_finds_races),
    };
    if (argc == 2) // a process of its own, which never starts another
        return kernel_of(argv[1]) != NULL ? run_named(argv[1]) : 3;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
