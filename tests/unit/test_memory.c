// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/memory.h"
#include "failing.h"

#include <millrace/error.h>
#include <string.h>

typedef struct ours {
    size_t struct_size;
    uint64_t first, second;
} ours;

typedef struct newer {
    ours common;
    uint64_t third;
} newer;

static void no_struct_is_all_zero(void **state)
{
    (void)state;
    ours got, zero = {0};
    memset(&got, 0xff, sizeof got);
    assert_true(mr__struct_copy(&got, sizeof got, NULL));
    assert_memory_equal(&got, &zero, sizeof got);
}

static void the_same_struct_is_copied(void **state)
{
    (void)state;
    ours got, given = {sizeof given, 1, 2};
    assert_true(mr__struct_copy(&got, sizeof got, &given));
    assert_memory_equal(&got, &given, sizeof got);
}

static void an_older_struct_lacks_fields(void **state)
{
    (void)state;
    ours got, given = {offsetof(ours, second), 1, 0xdead};
    memset(&got, 0xff, sizeof got);
    assert_true(mr__struct_copy(&got, sizeof got, &given));
    assert_int_equal(got.first, 1);
    assert_int_equal(got.second, 0);
    assert_int_equal(got.struct_size, sizeof got);
}

static void a_newer_struct_may_not_ask_for_what_we_lack(void **state)
{
    (void)state;
    ours got;
    newer given = {{sizeof given, 1, 2}, 0};
    assert_true(mr__struct_copy(&got, sizeof got, &given));
    assert_int_equal(got.struct_size, sizeof got);
    assert_int_equal(got.second, 2);
    for (size_t i = 0; i < sizeof given.third; i++) {
        given.third = UINT64_C(1) << (8 * i);
        assert_false(mr__struct_copy(&got, sizeof got, &given));
    }
}

static void a_size_that_was_not_set_is_refused(void **state)
{
    (void)state;
    static const size_t bad[] = {0, 1, sizeof(size_t) - 1, MR__STRUCT_NBYTES_MAX + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ours got, given = {bad[i], 0, 0};
        assert_false(mr__struct_copy(&got, sizeof got, &given)); // and reads nothing beyond `given`
        assert_false(mr__struct_give(&given, &got, sizeof got));
        assert_int_equal(given.struct_size, bad[i]);
    }
    ours got, given = {sizeof(size_t), 7, 7};
    assert_true(mr__struct_copy(&got, sizeof got, &given));
    assert_int_equal(got.first, 0);
}

static void giving_keeps_to_their_size(void **state)
{
    (void)state;
    ours mine = {sizeof mine, 11, 22}, old = {offsetof(ours, second), 1, 2};
    newer new = {{sizeof new, 1, 2}, 3};
    assert_true(mr__struct_give(&old, &mine, sizeof mine));
    assert_int_equal(old.struct_size, offsetof(ours, second));
    assert_int_equal(old.first, 11);
    assert_int_equal(old.second, 2);
    assert_true(mr__struct_give(&new, &mine, sizeof mine));
    assert_int_equal(new.common.struct_size, sizeof new);
    assert_int_equal(new.common.second, 22);
    assert_int_equal(new.third, 0);
}

static void *alloc_nothing(void *user, size_t nbytes, size_t align)
{
    (void)user, (void)nbytes, (void)align;
    return NULL;
}

static void free_nothing(void *user, void *block)
{
    (void)user, (void)block;
}

static void log_nothing(void *user, mr_log_level level, const char *text)
{
    (void)user, (void)level, (void)text;
}

static void hooks_have_defaults(void **state)
{
    (void)state;
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(hooks.struct_size, sizeof hooks);
    assert_int_equal(hooks.log_level, MR_LOG_NONE);
    void *block = hooks.alloc(hooks.user, 1, 4096);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 4096, 0);
    hooks.free(hooks.user, block);
    hooks.log(hooks.user, MR_LOG_ERROR, "nobody hears this");
    assert_true(hooks.now_ns(hooks.user) > 0);
}

static void half_a_pair_is_refused(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr_hooks only_alloc = {.struct_size = sizeof hooks, .alloc = alloc_nothing};
    mr_hooks only_free = {.struct_size = sizeof hooks, .free = free_nothing};
    mr_hooks both = {.struct_size = sizeof hooks, .alloc = alloc_nothing, .free = free_nothing};
    mr_hooks unset = {0};
    assert_int_equal(mr__hooks_init(&hooks, &only_alloc), MR_EARGUMENT);
    assert_int_equal(mr__hooks_init(&hooks, &only_free), MR_EARGUMENT);
    assert_int_equal(mr__hooks_init(&hooks, &unset), MR_EARGUMENT);
    assert_int_equal(mr__hooks_init(&hooks, &both), 0);
    assert_null(mr__alloc(&hooks, 1));
}

static void a_log_without_a_level_gets_warnings(void **state)
{
    (void)state;
    mr_hooks hooks, given = {.struct_size = sizeof hooks, .log = log_nothing};
    assert_int_equal(mr__hooks_init(&hooks, &given), 0);
    assert_int_equal(hooks.log_level, MR_LOG_WARNING);
    given.log_level = MR_LOG_DEBUG;
    assert_int_equal(mr__hooks_init(&hooks, &given), 0);
    assert_int_equal(hooks.log_level, MR_LOG_DEBUG);
    // Without a log there is no level to let anything through.
    mr_hooks silent = {.struct_size = sizeof hooks, .log_level = MR_LOG_DEBUG};
    assert_int_equal(mr__hooks_init(&hooks, &silent), 0);
    assert_int_equal(hooks.log_level, MR_LOG_NONE);
}

static void memory_is_aligned_and_zeroed(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks(); // which gives memory that is not zero
    failing_begin(0, false);
    for (size_t nbytes = 0; nbytes < 300; nbytes += 37) {
        uint8_t *block = mr__alloc_zero(&hooks, nbytes);
        uint8_t *array = mr__alloc_array(&hooks, nbytes, 3);
        assert_int_equal((uintptr_t)block % MR__ALIGN, 0);
        assert_int_equal((uintptr_t)array % MR__ALIGN, 0);
        for (size_t i = 0; i < nbytes; i++)
            assert_true(block[i] == 0 && array[3 * i] == 0 && array[3 * i + 2] == 0);
        mr__free(&hooks, block);
        mr__free(&hooks, array);
    }
    mr__free(&hooks, NULL);
    assert_null(mr__alloc_array(&hooks, SIZE_MAX / 2 + 1, 2));
    failing_counts counts = failing_end();
    assert_null(counts.fault);
    assert_int_equal(counts.live_blocks, 0);
}

static void a_buffer_is_kept_and_grows(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr__buffer buffer = {0};
    failing_begin(0, false);
    assert_int_equal(mr__buffer_reserve(&buffer, &hooks, 100), 0);
    uint8_t *block = buffer.bytes;
    assert_int_equal(mr__buffer_reserve(&buffer, &hooks, 50), 0);
    assert_int_equal(mr__buffer_reserve(&buffer, &hooks, 100), 0);
    assert_ptr_equal(buffer.bytes, block);
    assert_int_equal(buffer.capacity, 100);
    assert_int_equal(mr__buffer_reserve(&buffer, &hooks, 101), 0);
    assert_int_equal(buffer.capacity, 101);
    assert_int_equal(failing_now().live_blocks, 1);
    assert_int_equal(failing_now().peak_nbytes, 101); // the old block went first
    mr__buffer_fini(&buffer, &hooks);
    mr__buffer_fini(&buffer, &hooks);
    assert_int_equal(failing_end().live_blocks, 0);
    assert_null(buffer.bytes);
    assert_int_equal(buffer.capacity, 0);
}

static void appending_keeps_what_is_there(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr__buffer buffer = {0};
    failing_begin(0, false);
    for (size_t used = 0; used < 3000; used++) {
        assert_int_equal(mr__buffer_grow(&buffer, &hooks, used, used + 1), 0);
        buffer.bytes[used] = (uint8_t)(used * 7);
    }
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(buffer.bytes[i], (uint8_t)(i * 7));
    assert_true(failing_now().attempts < 30); // linear: it grew by half each time
    mr__buffer_fini(&buffer, &hooks);
    assert_int_equal(failing_end().live_blocks, 0);
}

static void a_buffer_without_memory(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr__buffer buffer = {0};
    failing_begin(2, false);
    assert_int_equal(mr__buffer_grow(&buffer, &hooks, 0, 10), 0);
    buffer.bytes[9] = 42;
    assert_int_equal(mr__buffer_grow(&buffer, &hooks, 10, 11), MR_ENOMEM);
    assert_int_equal(buffer.bytes[9], 42); // growing leaves it as it was
    assert_int_equal(buffer.capacity, 10);
    failing_begin(1, true);
    mr__buffer lost = {0};
    assert_int_equal(mr__buffer_reserve(&lost, &hooks, 1), MR_ENOMEM);
    assert_null(lost.bytes);
    assert_int_equal(lost.capacity, 0);
    failing_end();
    mr__buffer_fini(&buffer, &hooks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_struct_is_all_zero),
        cmocka_unit_test(the_same_struct_is_copied),
        cmocka_unit_test(an_older_struct_lacks_fields),
        cmocka_unit_test(a_newer_struct_may_not_ask_for_what_we_lack),
        cmocka_unit_test(a_size_that_was_not_set_is_refused),
        cmocka_unit_test(giving_keeps_to_their_size),
        cmocka_unit_test(hooks_have_defaults),
        cmocka_unit_test(half_a_pair_is_refused),
        cmocka_unit_test(a_log_without_a_level_gets_warnings),
        cmocka_unit_test(memory_is_aligned_and_zeroed),
        cmocka_unit_test(a_buffer_is_kept_and_grows),
        cmocka_unit_test(appending_keeps_what_is_there),
        cmocka_unit_test(a_buffer_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
