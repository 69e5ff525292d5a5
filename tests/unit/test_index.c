// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "dataset/index.h"

#include <string.h>

static void a_small_one_comes_back(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__detail detail = {""};
    mr__index_build build;
    mr__index index;
    const uint8_t *bytes;
    size_t nbytes;
    mr__index_head head = {.layout = MR_LAYOUT_TAR, .data_nbytes = 10000};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    static const double real[] = {1.5, -2};
    mr__member members[] = {{"json", 4, 100, 20}, {"seg.png", 7, 200, 30}};
    mr__draft drafts[] = {
        {.key = "a/b",
         .key_nbytes = 3,
         .record = {.offset = 512, .nbytes = 99, .planar = true},
         .label = {MR_LABEL_INT, .integer = -7}},
        {.key = "c",
         .key_nbytes = 1,
         .record = {.offset = 1024},
         .label = {MR_LABEL_FLOATS, .values = real, .count = 2},
         .members = members,
         .member_count = 2},
    };
    assert_int_equal(mr__index_add(&build, &drafts[0]), 0);
    assert_int_equal(mr__index_add(&build, &drafts[1]), 0);
    assert_int_equal(mr__index_add_class(&build, "cat", 3), 0);
    assert_int_equal(mr__index_add_problem(&build, 1, MR_ECORRUPT, "bad %d", 5), 0);
    assert_int_equal(mr__index_build_finish(&build, &head, &bytes, &nbytes), 0);
    assert_int_equal(mr__index_take(&index, &build, "test", &detail), 0);
    mr__index_build_fini(&build);
    mr__record record;
    mr_label label;
    mr__member member;
    uint64_t position;
    assert_true(mr__index_record(&index, 0, &record));
    assert_int_equal(record.offset, 512);
    assert_int_equal(record.nbytes, 99);
    assert_true(record.planar);
    assert_true(mr__index_label(&index, 0, &label));
    assert_int_equal(label.integer, -7);
    assert_true(mr__index_label(&index, 1, &label));
    assert_memory_equal(label.values, real, sizeof real);
    assert_int_equal(mr__index_member_count(&index, 0), 0);
    assert_int_equal(mr__index_member_count(&index, 1), 2);
    assert_true(mr__index_member(&index, 1, 1, &member));
    assert_string_equal(member.name, "seg.png");
    assert_true(mr__index_find(&index, "c", 1, &position));
    assert_int_equal(position, 1);
    assert_false(mr__index_find(&index, "d", 1, &position));
    mr__index_close(&index);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(a_small_one_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
