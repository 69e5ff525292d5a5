// SPDX-License-Identifier: Apache-2.0
/* Tar shards scanned and written, and names expanded, with each allocation refused. */
#include "test.h"

#include "dataset/braces.h"
#include "dataset/tar_write.h"
#include "failing.h"
#include "tar_file.h"

#include <stdio.h>
#include <string.h>

static tar_file shard;

/* Enough samples that everything grows; labels of all kinds, members, long names, problems. */
static int make_shard(void **state)
{
    (void)state;
    static const char *const labels[] = {"1", "2.5", "1 2 3", "1 2.5", "text", "a longer text for the labels to grow"};
    char text[200];
    for (int i = 0; i < 140; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.jpg", i);
        tar_add_text(&shard, name, "P5 1 1 1\nx");
        snprintf(name, sizeof name, "%d.cls", i);
        tar_add_text(&shard, name, labels[i % 6]);
        snprintf(name, sizeof name, "%d.json", i);
        tar_add_text(&shard, name, "{}");
    }
    tar_add_text(&shard, "7.jpg", "a second one");
    memset(text, 'n', sizeof text);
    memcpy(text + 195, ".jpg", 5);
    tar_add(&shard, "././@LongLink", 'L', text, 200);
    tar_add_text(&shard, "likeness.jpg", "");
    tar_add_text(&shard, "last.txt", "no image");
    return 0;
}

static int free_shard(void **state)
{
    (void)state;
    tar_free(&shard);
    return 0;
}

static int scan(const mr_hooks *hooks, void *arg)
{
    (void)arg;
    tar_scanned s = tar_scan_bytes(shard.bytes, shard.nbytes, MR_BROKEN_SKIP, hooks);
    if (s.result == 0) {
        assert_int_equal(s.index.head.samples, 141);
        assert_int_equal(mr__index_problem_count(&s.index), 2);
    }
    tar_scanned_free(&s);
    return s.result;
}

static int write_members(const mr_hooks *given, void *arg)
{
    (void)arg;
    mr_hooks hooks;
    mr__buffer buffer = {NULL, 0};
    size_t used = 0;
    int result = mr__hooks_init(&hooks, given);
    for (int i = 0; i < 5 && result == 0; i++)
        result = mr__tar_write_head(&buffer, &hooks, &used, used, "a.jpg", 5, 0, 4096);
    if (result == 0)
        result = mr__tar_write_padding(&buffer, &hooks, &used, 1);
    if (result == 0)
        result = mr__tar_write_end(&buffer, &hooks, &used);
    mr__buffer_fini(&buffer, &hooks);
    return result;
}

static int expand(const mr_hooks *given, void *arg)
{
    (void)arg;
    mr_hooks hooks;
    mr__detail detail = {""};
    mr__names names = {.count = 0};
    int result = mr__hooks_init(&hooks, given);
    if (result == 0)
        result = mr__names_expand(&names, &hooks, "{a,b{1..3}}-{x,y}.tar", &detail);
    assert_int_equal(names.count, result == 0 ? 8 : 0);
    assert_int_equal(detail.text[0] == '\0', result == 0);
    mr__names_fini(&names, &hooks);
    return result;
}

static void scanning(void **state)
{
    (void)state;
    failing_run(scan, NULL);
}

static void writing(void **state)
{
    (void)state;
    failing_run(write_members, NULL);
}

static void expanding(void **state)
{
    (void)state;
    failing_run(expand, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scanning),
        cmocka_unit_test(writing),
        cmocka_unit_test(expanding),
    };
    return cmocka_run_group_tests(tests, make_shard, free_shard);
}
