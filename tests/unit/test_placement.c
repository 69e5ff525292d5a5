// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_getaffinity
#include "test.h"

#include "device/cpu/placement.h"

#include <sched.h>
#include <string.h>

static void lists_are_read(void **state)
{
    (void)state;
    static uint16_t numbers[MR__PROCESSORS_MAX];
    uint32_t count;
    assert_true(mr__processor_list("0-3,8,10-11\n", numbers, &count));
    static const uint16_t wanted[] = {0, 1, 2, 3, 8, 10, 11};
    assert_int_equal(count, 7);
    assert_memory_equal(numbers, wanted, sizeof wanted);
    assert_true(mr__processor_list("4095", numbers, &count));
    static const char *const bad[] = {"",         "-", "3-", "3-1", "1,", ",1", "4096", "99999999999999999999",
                                      "0-4095,0", "a", "1 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(mr__processor_list(bad[i], numbers, &count));
}

static void threads_are_put_where_they_may_be(void **state)
{
    (void)state;
    cpu_set_t before, now;
    mr__placement p;
    mr__detail detail;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(mr__placement_init(&p, MR_PIN_NONE, false, 0, &detail), 0);
    assert_int_equal(p.count, 0);
    mr__placement_apply(&p, 0);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&before, &now));
    assert_int_equal(mr__placement_init(&p, MR_PIN_CORES, false, 0, &detail), 0);
    assert_int_equal(p.count, CPU_COUNT(&before));
    for (uint32_t n = 0; n < 2 * p.count; n++) {
        mr__placement_apply(&p, n);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_true(CPU_COUNT(&now) == 1 && CPU_ISSET(p.processor[n % p.count], &now));
    }
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(mr__placement_init(&p, MR_PIN_NONE, true, 4000, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "NUMA node 4000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(threads_are_put_where_they_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
