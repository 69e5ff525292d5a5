// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/clock.h"
#include "base/memory.h"
#include "fake_clock.h"

static void it_never_goes_back(void **state)
{
    (void)state;
    uint64_t before = mr__clock_monotonic_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = mr__clock_monotonic_ns();
        assert_true(now >= before);
        before = now;
    }
}

static void a_deadline_does_not_wrap(void **state)
{
    (void)state;
    uint64_t before = mr__clock_monotonic_ns();
    uint64_t deadline = mr__clock_deadline_ns(1000);
    assert_true(deadline >= before + 1000);
    assert_true(mr__clock_deadline_ns(UINT64_MAX) == UINT64_MAX);
    assert_true(mr__clock_deadline_ns(UINT64_MAX - 1) == UINT64_MAX);
}

static void the_default_hook_is_this_clock(void **state)
{
    (void)state;
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    uint64_t before = mr__clock_monotonic_ns(), now = hooks.now_ns(hooks.user), after = mr__clock_monotonic_ns();
    assert_true(before <= now && now <= after);
}

static void a_test_can_replace_it(void **state)
{
    (void)state;
    fake_clock clock = {.now_ns = 100, .step_ns = 3};
    mr_hooks given = fake_clock_hooks(&clock), hooks;
    assert_int_equal(mr__hooks_init(&hooks, &given), 0);
    assert_int_equal(hooks.now_ns(hooks.user), 100);
    assert_int_equal(hooks.now_ns(hooks.user), 103);
    fake_clock_advance(&clock, 1000);
    assert_int_equal(hooks.now_ns(hooks.user), 1106);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_never_goes_back),
        cmocka_unit_test(a_deadline_does_not_wrap),
        cmocka_unit_test(the_default_hook_is_this_clock),
        cmocka_unit_test(a_test_can_replace_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
