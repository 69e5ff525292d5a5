// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

typedef struct heard {
    int count;
    mr_log_level level;
    char text[512];
} heard;

static void hear(void *user, mr_log_level level, const char *text)
{
    heard *h = user;
    h->count++;
    h->level = level;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static mr_hooks hooks_with(heard *h, mr_log_level level)
{
    mr_hooks hooks, given = {.struct_size = sizeof given, .user = h, .log = hear, .log_level = level};
    assert_int_equal(mr__hooks_init(&hooks, &given), 0);
    return hooks;
}

static void levels_let_through_what_they_say(void **state)
{
    (void)state;
    for (int threshold = MR_LOG_ERROR; threshold <= MR_LOG_DEBUG; threshold++)
        for (int level = MR_LOG_ERROR; level <= MR_LOG_DEBUG; level++) {
            heard h = {0};
            mr_hooks hooks = hooks_with(&h, (mr_log_level)threshold);
            mr__log(&hooks, (mr_log_level)level, "%s %d", "line", level);
            assert_int_equal(h.count, level <= threshold);
            if (h.count == 1) {
                assert_int_equal(h.level, level);
                assert_int_equal(strncmp(h.text, "line ", 5), 0);
                assert_int_equal(h.text[5], '0' + level);
            }
        }
}

static void no_level_means_warnings(void **state)
{
    (void)state;
    heard h = {0};
    mr_hooks hooks = hooks_with(&h, MR_LOG_NONE);
    mr__log(&hooks, MR_LOG_INFO, "no");
    assert_int_equal(h.count, 0);
    mr__log(&hooks, MR_LOG_WARNING, "yes");
    assert_int_equal(h.count, 1);
}

static void no_log_is_silence(void **state)
{
    (void)state;
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__log(&hooks, MR_LOG_ERROR, "nobody hears this");
}

static void a_long_line_is_cut(void **state)
{
    (void)state;
    char large[2000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    heard h = {0};
    mr_hooks hooks = hooks_with(&h, MR_LOG_ERROR);
    mr__log(&hooks, MR_LOG_ERROR, "%s", large);
    assert_in_range(strlen(h.text), 200, sizeof h.text - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_let_through_what_they_say),
        cmocka_unit_test(no_level_means_warnings),
        cmocka_unit_test(no_log_is_silence),
        cmocka_unit_test(a_long_line_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
