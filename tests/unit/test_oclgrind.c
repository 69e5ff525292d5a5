// SPDX-License-Identifier: Apache-2.0
/*
 * Oclgrind finds what is wrong with a kernel, and nothing with one that is not: what bench/device-conformance
 * --oclgrind counts on. It says so on stderr and in no other way. Skipped where it is not installed.
 */
#include "test.h"

#include "base/sanitize.h"
#include "opencl_client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_NBYTES = 4096, SAID_NBYTES = 4 << 20 };

typedef struct wrong {
    const char *kernel;
    uint32_t lanes;
    const char *words; /* of Oclgrind; NULL: nothing is wrong */
} wrong;

static const wrong cases[] = {
    {"mr_waits_in_a_team", MR__TEAM_LANES, NULL},
    {"mr_races_in_a_team", MR__TEAM_LANES, "data race at local memory"},
    {"mr_races_alone", MR__ALONE_LANES, "Write-write data race at global memory"},
    {"mr_races_between_groups", MR__TEAM_LANES, "Write-write data race at global memory"},
    {"mr_races_between_lone_groups", MR__ALONE_LANES, "Write-write data race at global memory"},
    {"mr_leaves_shared_memory", MR__TEAM_LANES, "Invalid write of size 4 at local memory"},
    {"mr_leaves_its_variables", MR__TEAM_LANES, "Invalid write of size 4 at private memory"},
    {"mr_leaves_the_arena", MR__ALONE_LANES, "Invalid write of size 4 at global memory"},
    {"mr_skips_a_barrier", MR__TEAM_LANES, "Work-group divergence detected"},
};

static const char *library(void)
{
    const char *asked = getenv("OCLGRIND_ICD");
    return asked != NULL ? asked : "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
}

/* In a process of its own, which the loader of OpenCL looks at the environment of. */
static int run_all(void)
{
    opencl_client client;
    mr__detail detail;
    int bad = 0;
    char *text = opencl_client_text(MILLRACE_SOURCE_ROOT "/tests/support/lane_wrong.h");
    uint8_t *arena = aligned_alloc(64, ARENA_NBYTES);
    assert_non_null(arena);
    if (opencl_client_open(&client, NULL, text, &detail) != 0 ||
        strstr(client.found.entry.platform, "Oclgrind") == NULL)
        return 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(arena, 0, ARENA_NBYTES);
        fprintf(stderr, "\nbegin %s\n", cases[i].kernel);
        bad += opencl_client_run(&client, cases[i].kernel, cases[i].lanes, 1, 3, arena, ARENA_NBYTES, &detail) != 0;
    }
    fprintf(stderr, "\nbegin nothing\n");
    opencl_client_close(&client);
    free(arena);
    free(text);
    return bad;
}

/* What was said between a kernel's beginning and the next one's. */
static void check_said(char *said, const wrong *w)
{
    char begin[80];
    snprintf(begin, sizeof begin, "\nbegin %s\n", w->kernel);
    char *from = strstr(said, begin);
    assert_non_null(from);
    from += strlen(begin);
    char *to = strstr(from, "\nbegin ");
    assert_non_null(to);
    *to = '\0';
    if (w->words != NULL && strstr(from, w->words) == NULL)
        fail_msg("%s: Oclgrind says '%.300s'", w->kernel, from);
    if (w->words == NULL && from[strspn(from, " \n\t")] != '\0')
        fail_msg("%s: Oclgrind finds '%.300s'", w->kernel, from);
    *to = '\n';
}

static void it_finds_what_is_wrong(void **state)
{
    (void)state;
    char *said = malloc(SAID_NBYTES);
    assert_non_null(said);
    assert_int_equal(setenv("OCL_ICD_VENDORS", library(), 1), 0);
    assert_int_equal(setenv("OCLGRIND_DATA_RACES", "1", 1), 0);
    assert_int_equal(setenv("OCLGRIND_UNIFORM_WRITES", "1", 1), 0);
    assert_int_equal(setenv("OCLGRIND_MAX_ERRORS", "100000", 1), 0);
    assert_int_equal(unsetenv("OCLGRIND_LOG"), 0);
    assert_true(test_again("run", said, SAID_NBYTES));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_said(said, &cases[i]);
    free(said);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_what_is_wrong),
    };
    if (argc == 2)
        return strcmp(argv[1], "run") == 0 ? run_all() : 3;
#if defined(MR__TSAN)
    printf("skipped: TSan has much to say of Oclgrind's own threads\n");
    return 77;
#endif
    if (access(library(), R_OK) != 0) {
        printf("skipped: %s is not there\n", library());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
