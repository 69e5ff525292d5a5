// SPDX-License-Identifier: Apache-2.0
/* A device's budget: never above its limit, whatever is taken, given back and taken away. */
#include "test.h"

#include "device/budget.h"
#include "picture.h"

static void never_and_not_now_are_two_answers(void **state)
{
    (void)state;
    mr__budget b;
    mr__budget_init(&b, 100);
    assert_int_equal(mr__budget_take(&b, 101), MR__ROOM_NEVER);
    assert_int_equal(mr__budget_take(&b, 60), MR__ROOM_TAKEN);
    assert_int_equal(mr__budget_take(&b, 41), MR__ROOM_NOT_NOW);
    assert_int_equal(mr__budget_take(&b, 40), MR__ROOM_TAKEN);
    assert_int_equal(mr__budget_take(&b, 0), MR__ROOM_TAKEN);
    assert_false(mr__budget_give(&b, 101));
    assert_true(mr__budget_give(&b, 0) && mr__budget_give(&b, 40));
    assert_false(mr__budget_give(&b, 59)); // the last that is out, but not all of it
    assert_true(mr__budget_give(&b, 60));
    assert_false(mr__budget_give(&b, 0));
    assert_true(b.taken_nbytes == 0 && b.peak_nbytes == 100 && b.refused == 1 && b.never == 1 && b.shrunk == 0);
    mr__budget_init(&b, MR__BUDGET_ANY);
    assert_int_equal(mr__budget_take(&b, UINT64_MAX), MR__ROOM_NEVER); // could not be counted
    assert_int_equal(mr__budget_take(&b, UINT64_MAX - 1), MR__ROOM_TAKEN);
    assert_int_equal(mr__budget_take(&b, 2), MR__ROOM_NOT_NOW); // nothing wraps
}

static void a_limit_falls_while_tasks_are_in_flight(void **state)
{
    (void)state;
    mr__budget b;
    mr__budget_init(&b, 100);
    assert_int_equal(mr__budget_take(&b, 50), MR__ROOM_TAKEN);
    assert_int_equal(mr__budget_take(&b, 30), MR__ROOM_TAKEN);
    mr__budget_limit(&b, 40);
    assert_true(mr__budget_over(&b) == 40 && b.shrunk == 1);
    assert_int_equal(mr__budget_take(&b, 1), MR__ROOM_NOT_NOW);
    assert_int_equal(mr__budget_take(&b, 50), MR__ROOM_NEVER); // as the limit is now
    assert_true(mr__budget_give(&b, 50) && mr__budget_over(&b) == 0);
    assert_int_equal(mr__budget_take(&b, 11), MR__ROOM_NOT_NOW);
    assert_int_equal(mr__budget_take(&b, 10), MR__ROOM_TAKEN);
    mr__budget_limit(&b, 100);
    assert_int_equal(mr__budget_take(&b, 50), MR__ROOM_TAKEN);
    mr__budget_limit(&b, 0); // all of it
    assert_int_equal(mr__budget_take(&b, 1), MR__ROOM_NEVER);
    assert_true(mr__budget_over(&b) == 90 && b.shrunk == 2);
}

static void limits_are_read_from_a_device(void **state)
{
    (void)state;
    mr__budget b;
    mr__budget_init(&b, 0);
    mr__budget_read(&b, &(mr__device_memory){0}, 0, 0);
    assert_true(b.limit_nbytes == MR__BUDGET_ANY); // the host's
    mr__budget_read(&b, &(mr__device_memory){0}, 0, 70);
    assert_true(b.limit_nbytes == 70);
    mr__budget_read(&b, &(mr__device_memory){1000, 400, 500}, 0, 0);
    assert_true(b.limit_nbytes == 400);
    mr__budget_read(&b, &(mr__device_memory){1000, 900, 500}, 0, 0);
    assert_true(b.limit_nbytes == 500);
    mr__budget_read(&b, &(mr__device_memory){1000, 0, 500}, 0, 0);
    assert_true(b.limit_nbytes == 0); // full
    mr__budget_limit(&b, 500);
    assert_int_equal(mr__budget_take(&b, 300), MR__ROOM_TAKEN);
    mr__budget_read(&b, &(mr__device_memory){1000, 100, 500}, 200, 0); // 200 of the 300 are allocated
    assert_true(b.limit_nbytes == 300);
    mr__budget_read(&b, &(mr__device_memory){1000, 100, 500}, UINT64_MAX, 0); // no more than was taken
    assert_true(b.limit_nbytes == 400);
    mr__budget_read(&b, &(mr__device_memory){UINT64_MAX, UINT64_MAX, 0}, 300, 0);
    assert_true(b.limit_nbytes == UINT64_MAX);
}

/* Batches of tasks of all sizes, under a limit that comes and goes: what is given back is all that was taken. */
static void a_thousand_batches_leave_nothing_behind(void **state)
{
    (void)state;
    enum { FLIGHT = 64 };
    uint64_t seed = 11, sizes[FLIGHT], delivered = 0, elsewhere = 0;
    mr__budget b;
    mr__budget_init(&b, 64 << 20);
    for (int batch = 0; batch < 1000; batch++) {
        size_t flying = 0;
        uint64_t most = b.limit_nbytes;
        for (int task = 0; task < 240;) {
            uint64_t nbytes = (uint64_t)picture_random_below(&seed, 4 << 20) << picture_random_below(&seed, 6);
            mr__room room = flying < FLIGHT ? mr__budget_take(&b, nbytes) : MR__ROOM_NOT_NOW;
            assert_true(b.taken_nbytes <= most || room != MR__ROOM_TAKEN);
            if (room == MR__ROOM_TAKEN) {
                assert_true(b.taken_nbytes <= b.limit_nbytes);
                sizes[flying++] = nbytes;
            } else if (room == MR__ROOM_NOT_NOW) {
                assert_true(flying != 0); // or nobody could ever make room
                size_t done = picture_random_below(&seed, (uint32_t)flying);
                assert_true(mr__budget_give(&b, sizes[done]));
                sizes[done] = sizes[--flying];
                continue;
            }
            delivered += room == MR__ROOM_TAKEN;
            elsewhere += room == MR__ROOM_NEVER;
            task++;
            if (picture_random_below(&seed, 100) == 0)
                mr__budget_limit(&b, (uint64_t)picture_random_below(&seed, 64 << 20));
            most = b.limit_nbytes > most ? b.limit_nbytes : most;
        }
        while (flying != 0)
            assert_true(mr__budget_give(&b, sizes[--flying]));
        assert_true(b.taken_nbytes == 0 && b.taken_count == 0);
    }
    assert_true(delivered + elsewhere == 240000 && delivered > 10000 && elsewhere > 10000 && b.shrunk > 100);
    assert_true(b.peak_nbytes <= 64 << 20 && b.never == elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_and_not_now_are_two_answers),
        cmocka_unit_test(a_limit_falls_while_tasks_are_in_flight),
        cmocka_unit_test(limits_are_read_from_a_device),
        cmocka_unit_test(a_thousand_batches_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
