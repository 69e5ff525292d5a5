// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/hash.h"
#include "dataset/key_set.h"

#include <millrace/error.h>
#include <stdio.h>
#include <string.h>

static mr_hooks hooks;

static int setup(void **state)
{
    (void)state;
    return mr__hooks_init(&hooks, NULL);
}

static void keys_are_there_once_added(void **state)
{
    (void)state;
    mr__key_set set = {.count = 0};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 50000; i++) {
            char key[16];
            bool there = round == 0;
            size_t nbytes = (size_t)snprintf(key, sizeof key, "%d", i);
            assert_int_equal(mr__key_set_add(&set, &hooks, key, nbytes, &there), 0);
            assert_int_equal(there, round == 1);
        }
    assert_int_equal(set.count, 50000);
    mr__key_set_fini(&set, &hooks);
}

static void keys_are_compared_whole(void **state)
{
    (void)state;
    static const char *const keys[] = {"", "a", "ab", "b", "a/b", "a/bc"};
    mr__key_set set = {.count = 0};
    bool there = true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_int_equal(mr__key_set_add(&set, &hooks, keys[i], strlen(keys[i]), &there), 0);
        assert_false(there);
    }
    mr__key_set_fini(&set, &hooks);
}

/* Of keys that share the lower bits of their hash, the set takes a thousand, and then says so. */
static void keys_that_collide_are_refused(void **state)
{
    (void)state;
    mr__key_set set = {.count = 0};
    int result = 0;
    bool there;
    for (uint64_t i = 0; result == 0 && set.count < 2000; i++)
        if ((mr__hash(&i, sizeof i) & 4095) == 0)
            result = mr__key_set_add(&set, &hooks, (const char *)&i, sizeof i, &there);
    assert_int_equal(result, MR_ELIMIT);
    assert_int_equal(set.count, 1024);
    mr__key_set_fini(&set, &hooks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_there_once_added),
        cmocka_unit_test(keys_are_compared_whole),
        cmocka_unit_test(keys_that_collide_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
