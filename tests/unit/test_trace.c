// SPDX-License-Identifier: Apache-2.0
/* The ring of marks, and what is written of it. Traces of whole runs: tests/command/feed_trace.sh. */
#include "test.h"

#include "base/json.h"
#include "base/memory.h"
#include "failing.h"
#include "files.h"
#include "measure/trace.h"
#include "report/trace.h"
#include "route/crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1. The ring. */

static void a_ring_keeps_the_last_in_order(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks(), all;
    assert_int_equal(mr__hooks_init(&all, &hooks), 0);
    for (size_t capacity = 1; capacity < 9; capacity++) {
        mr__trace *trace;
        assert_int_equal(mr__trace_new(&all, capacity, &trace), 0);
        assert_int_equal(mr__trace_count(trace), 0);
        for (uint64_t i = 0; i < 30; i++) {
            mr__trace_add(trace, &(mr__mark){.ordinal = i});
            size_t kept = i + 1 < capacity ? (size_t)i + 1 : capacity;
            assert_int_equal(mr__trace_count(trace), kept);
            assert_int_equal(mr__trace_forgotten(trace), i + 1 - kept);
            for (size_t k = 0; k < kept; k++)
                assert_int_equal(mr__trace_at(trace, k)->ordinal, i + 1 - kept + k);
        }
        mr__trace_free(trace);
    }
}

static void a_ring_has_limits(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks(), all;
    mr__trace *trace = NULL;
    assert_int_equal(mr__hooks_init(&all, &hooks), 0);
    assert_int_equal(mr__trace_new(&all, 0, &trace), MR_EARGUMENT);
    assert_int_equal(mr__trace_new(&all, (size_t)MR__TRACE_MAX + 1, &trace), MR_EARGUMENT);
    assert_int_equal(mr__trace_new(&all, SIZE_MAX, &trace), MR_EARGUMENT);
    assert_null(trace);
    mr__trace_free(NULL);
}

/* 2. What is written. */

enum { MARKS = 9 };

/* A host of two lanes, and an accelerator: a submission of three; one that hung; one that was never begun. */
static void make_marks(mr__mark *marks)
{
    const mr__mark made[MARKS] = {
        {.begun_ns = 5000, .busy_ns = 700, .predicted_ns = 350, .ordinal = 1, .lane = 1, .pick = 1},
        {.begun_ns = 4000, .busy_ns = 1500, .predicted_ns = UINT64_MAX, .ordinal = 2, .pick = 2},
        {.begun_ns = 4500, .busy_ns = 100, .predicted_ns = 100, .ordinal = 3, .pick = 1, .device = 1, .fused = 3},
        {.begun_ns = 4500, .busy_ns = 200, .predicted_ns = 100, .ordinal = 4, .pick = 1, .device = 1, .fused = 3},
        {.begun_ns = 4500, .busy_ns = 300, .predicted_ns = 400, .ordinal = 5, .pick = 1, .device = 1, .fused = 3},
        {.begun_ns = 6000, .ordinal = 6, .pick = 2, .device = 1, .code = MR_EDEVICE, .seen_ns = 9001, .sent_ns = 5500},
        {.begun_ns = 6000, .ordinal = 7, .pick = 2, .device = 1, .code = MR_EDEVICE, .seen_ns = 9001, .sent_ns = 5500},
        {.begun_ns = 9001, .ordinal = 8, .pick = 3, .device = 1, .code = MR_EDEVICE, .seen_ns = 9001, .sent_ns = 5600},
        {.begun_ns = 5500, .busy_ns = 10, .ordinal = 9, .batch = 1, .pick = 3, .code = MR_ECORRUPT},
    };
    memcpy(marks, made, sizeof made);
    for (size_t i = 0; i < MARKS; i++)
        marks[i].mishap = marks[i].code == MR_EDEVICE ? MR__MISHAP_LOST : MR__MISHAPS;
}

static mr__trace_report make_report(const mr_hooks *hooks, mr__mark *marks)
{
    make_marks(marks);
    return (mr__trace_report){.hooks = hooks,
                              .marks = marks,
                              .count = MARKS,
                              .forgotten = 12,
                              .device_count = 2,
                              .names = {"cpu", "odd \"\n\377 name"},
                              .lanes = {2, 1},
                              .policy = "auto",
                              .simulated = true};
}

static char *read_all(const char *path, size_t *nbytes)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    assert_true(file != NULL && text != NULL);
    *nbytes = fread(text, 1, (1 << 20) - 1, file);
    text[*nbytes] = '\0';
    fclose(file);
    return text;
}

static void must_be_json(const char *text, size_t nbytes)
{
    mr__json json = mr__json_init(text, nbytes);
    mr__json_token token = mr__json_next(&json);
    while (token.kind != MR__JSON_END && token.kind != MR__JSON_BAD)
        token = mr__json_next(&json);
    assert_int_equal(token.kind, MR__JSON_END);
}

/* The line of the first event with this name, up to its end. */
static void must_have(const char *text, const char *name, const char *what)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    const char *end = strchr(at, '\n');
    while (at != text && at[-1] != '\n')
        at--;
    char line[1024];
    snprintf(line, sizeof line, "%.*s", (int)(end - at), at);
    if (strstr(line, what) == NULL)
        fail_msg("no %s in %s", what, line);
}

static void tasks_are_laid_out(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks(), all;
    mr__mark marks[MARKS];
    mr__detail detail = {0};
    test_folder folder;
    char path[512];
    size_t nbytes;
    assert_int_equal(mr__hooks_init(&all, &hooks), 0);
    test_folder_init(&folder);
    test_folder_path(&folder, "trace.json", path);
    mr__trace_report report = make_report(&all, marks);
    assert_int_equal(mr__trace_report_write(&report, path, &detail), 0);
    char *text = read_all(path, &nbytes);
    must_be_json(text, nbytes);
    must_have(text, "sample 2\"", "\"pid\":1,\"tid\":10000,\"ts\":0.000,\"dur\":1.500"); // the first that began
    must_have(text, "sample 1\"", "\"pid\":1,\"tid\":10001,\"ts\":1.000,\"dur\":0.700");
    must_have(text, "sample 1\"", "\"predicted_us\":0.350,\"actual_us\":0.700,\"error\":1,");
    must_have(text, "\"3 samples\"", "\"ts\":0.500,\"dur\":0.600");
    must_have(text, "\"3 samples\"", "\"predicted_us\":0.600,\"actual_us\":0.600,\"error\":0,");
    must_have(text, "sample 3\"", "\"ts\":0.500,\"dur\":0.100");
    must_have(text, "sample 4\"", "\"ts\":0.600,\"dur\":0.200");
    must_have(text, "sample 5\"", "\"ts\":0.800,\"dur\":0.300");
    must_have(text, "sample 5\"", "\"error\":-0.25,");
    must_have(text, "2 samples, 2 given back", "\"ts\":2.000,\"dur\":3.001"); // it had the lane until then
    must_have(text, "sample 6, given back", "\"ts\":2.000,\"dur\":1.500");
    must_have(text, "sample 7, given back", "\"ts\":3.500,\"dur\":1.501");
    must_have(text, "sample 8, given back", "\"ph\":\"i\"");
    must_have(text, "sample 8, given back", "\"mishap\":\"gave its tasks back\"");
    must_have(text, "\"ph\":\"b\"", "\"ts\":1.500,\"name\":\"given back\"");
    must_have(text, "sample 9\"", "\"code\":\"MR_ECORRUPT\"");
    must_have(text, "\"batch 0\"", "\"ts\":0.000,\"dur\":5.001");
    must_have(text, "\"batch 1\"", "\"tid\":1000001,\"ts\":1.500,\"dur\":0.010"); // on a row of its own
    must_have(text, "\"forgotten\":12", "times are of a simulated machine");
    free(text);
    test_folder_fini(&folder);
}

static void an_empty_one_is_written_too(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks(), all;
    mr__detail detail = {0};
    test_folder folder;
    char path[512];
    size_t nbytes;
    assert_int_equal(mr__hooks_init(&all, &hooks), 0);
    test_folder_init(&folder);
    test_folder_path(&folder, "trace.json", path);
    mr__trace_report report = {.hooks = &all, .device_count = 1, .names = {"cpu"}, .lanes = {1}};
    assert_int_equal(mr__trace_report_write(&report, path, &detail), 0);
    char *text = read_all(path, &nbytes);
    must_be_json(text, nbytes);
    free(text);
    test_folder_fini(&folder);
}

static void what_cannot_be_written_is_told(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks(), all;
    mr__mark marks[MARKS];
    mr__detail detail = {0};
    assert_int_equal(mr__hooks_init(&all, &hooks), 0);
    mr__trace_report report = make_report(&all, marks);
    assert_int_equal(mr__trace_report_write(&report, "/proc/none/trace.json", &detail), MR_EIO);
    assert_non_null(strstr(detail.text, "/proc/none/trace.json"));
    assert_non_null(strstr(detail.text, "No such file"));
}

static int write_it(const mr_hooks *hooks, void *arg)
{
    mr_hooks all;
    mr__mark marks[MARKS];
    mr__detail detail = {0};
    if (mr__hooks_init(&all, hooks) != 0)
        return MR_EARGUMENT;
    mr__trace_report report = make_report(&all, marks);
    return mr__trace_report_write(&report, arg, &detail);
}

static void memory_may_fail(void **state)
{
    (void)state;
    test_folder folder;
    char path[512];
    test_folder_init_in_memory(&folder);
    test_folder_path(&folder, "trace.json", path);
    failing_run(write_it, path);
    test_folder_fini(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_keeps_the_last_in_order),
        cmocka_unit_test(a_ring_has_limits),
        cmocka_unit_test(tasks_are_laid_out),
        cmocka_unit_test(an_empty_one_is_written_too),
        cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
