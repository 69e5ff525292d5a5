// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/memory.h"
#include "base/meter.h"
#include "failing.h"

#include <string.h>

static mr__meter new_meter(uint64_t limit)
{
    mr_hooks given = failing_hooks(), under;
    mr__meter meter;
    assert_int_equal(mr__hooks_init(&under, &given), 0);
    mr__meter_init(&meter, &under, limit);
    return meter;
}

static void the_limit_holds_to_the_byte(void **state)
{
    (void)state;
    mr__meter meter = new_meter(1000);
    mr_hooks hooks = mr__meter_hooks(&meter);
    failing_begin(0, false);
    void *a = mr__alloc(&hooks, 600), *b = mr__alloc(&hooks, 400);
    assert_true(a != NULL && b != NULL && !mr__meter_refused(&meter));
    assert_null(mr__alloc(&hooks, 1));
    assert_true(mr__meter_refused(&meter));
    assert_int_equal(failing_now().attempts, 2); // nobody was asked for the third
    mr__free(&hooks, a);
    assert_int_equal(mr__meter_begin(&meter), 400);
    assert_false(mr__meter_refused(&meter));
    a = mr__alloc(&hooks, 600);
    assert_non_null(a);
    mr__free(&hooks, a);
    mr__free(&hooks, b);
    assert_int_equal(mr__meter_begin(&meter), 0);
    failing_counts counts = failing_end();
    assert_null(counts.fault);
    assert_int_equal(counts.live_blocks, 0);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    mr__meter meter = new_meter(UINT64_MAX);
    mr_hooks hooks = mr__meter_hooks(&meter);
    assert_null(mr__alloc(&hooks, SIZE_MAX));
    assert_null(mr__alloc(&hooks, SIZE_MAX - 63));
    assert_int_equal(mr__meter_begin(&meter), 0);
}

static void blocks_are_aligned_and_whole(void **state)
{
    (void)state;
    mr__meter meter = new_meter(1 << 20);
    mr_hooks hooks = mr__meter_hooks(&meter);
    for (size_t align = 1; align <= 4096; align *= 2) {
        uint8_t *block = hooks.alloc(hooks.user, 100, align);
        assert_int_equal((uintptr_t)block % align, 0);
        memset(block, 0xff, 100);
        hooks.free(hooks.user, block);
    }
    assert_int_equal(mr__meter_begin(&meter), 0);
}

static void memory_of_others_counts(void **state)
{
    (void)state;
    mr__meter meter = new_meter(1000);
    mr_hooks hooks = mr__meter_hooks(&meter);
    assert_true(mr__meter_add(&meter, 900));
    assert_null(mr__alloc(&hooks, 101));
    assert_false(mr__meter_add(&meter, 101));
    mr__meter_sub(&meter, 900);
    void *block = mr__alloc(&hooks, 101);
    assert_non_null(block);
    mr__free(&hooks, block);
}

static void a_refusal_below_is_not_the_meters(void **state)
{
    (void)state;
    mr__meter meter = new_meter(1000);
    mr_hooks hooks = mr__meter_hooks(&meter);
    failing_begin(1, false);
    assert_null(mr__alloc(&hooks, 10));
    assert_false(mr__meter_refused(&meter));
    assert_int_equal(mr__meter_begin(&meter), 0);
    failing_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_holds_to_the_byte),       cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(blocks_are_aligned_and_whole),      cmocka_unit_test(memory_of_others_counts),
        cmocka_unit_test(a_refusal_below_is_not_the_meters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
