// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "dataset_make.h"

#include <stdio.h>
#include <string.h>

static test_folder folder;
static made_dataset made[MADE_KINDS];

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    for (made_kind kind = 0; kind < MADE_KINDS; kind++)
        made_init(&made[kind], &folder, kind);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static void every_layout_is_found_out(void **state)
{
    (void)state;
    for (made_kind kind = 0; kind < MADE_KINDS; kind++) {
        mr_dataset *d = made_open_well(&made[kind]);
        made_check(&made[kind], d);
        mr_dataset_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_found_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
