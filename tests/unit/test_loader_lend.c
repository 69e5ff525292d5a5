// SPDX-License-Identifier: Apache-2.0
/* Memory of a device that the program lends to a loader, and takes back in its midst: the same bytes all the while. */
#include "test.h"

#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 96, EPOCHS = 4, REGION = 4 << 20, GUARD = 4096 };

#define RECIPE "rrc(32) flip dtype(u8)"

static test_folder folder;
static mr_dataset *packed;
static char machine[600];
static uint8_t *memory; /* two regions with a guard before, between and behind */

static int setup(void **state)
{
    static const char text[] =
        "{\"name\": \"lent\", \"devices\": ["
        "{\"name\": \"cpu\", \"kind\": \"cpu\", \"lanes\": 1, \"speed\": 1},"
        "{\"name\": \"acc\", \"kind\": \"accelerator\", \"lanes\": 2, \"speed\": 8, \"group\": 4,"
        " \"launch_us\": 50}]}";
    char path[512];
    (void)state;
    test_folder_init_in_memory(&folder);
    pack_make_folder(&folder, "source", SAMPLES, 48);
    mr_dataset *source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    pack_run(source, &folder, "packed", &(mr_pack_options){.struct_size = sizeof(mr_pack_options)});
    mr_dataset_free(source);
    packed = pack_open(&folder, "packed", MR_LAYOUT_PACKED);
    test_folder_write(&folder, "machine.json", text, sizeof text - 1);
    test_folder_path(&folder, "machine.json", path);
    snprintf(machine, sizeof machine, "sim:%s", path);
    test_folder_path(&folder, "cache", path);
    setenv("XDG_CACHE_HOME", path, 1);
    memory = malloc(2 * REGION + 3 * GUARD);
    memset(memory, 0x5a, 2 * REGION + 3 * GUARD);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(memory);
    mr_dataset_free(packed);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options options_of(const char *device)
{
    return (mr_loader_options){.struct_size = sizeof(mr_loader_options),
                               .batch = 8,
                               .seed = 5,
                               .epochs = EPOCHS,
                               .has_rank = true,
                               .world = 1,
                               .device = device};
}

static mr_device_memory region(int number)
{
    return (mr_device_memory){.struct_size = sizeof(mr_device_memory),
                              .address = memory + GUARD + number * (REGION + GUARD),
                              .nbytes = REGION};
}

static void check_guards(void)
{
    for (int n = 0; n < 3; n++)
        for (size_t i = 0; i < GUARD; i++)
            assert_int_equal(memory[(size_t)n * (REGION + GUARD) + i], 0x5a);
}

static mr_device_stats stats_of(mr_loader *loader, uint32_t device)
{
    mr_loader_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
    assert_true(stats.device_count == 2 && stats.simulated);
    return stats.devices[device];
}

/* Some batches; their hashes are added up. */
static uint64_t take(mr_loader *loader, int count)
{
    uint64_t hash = 0;
    for (mr_batch *batch; count-- > 0;) {
        assert_int_equal(mr_loader_next(loader, &batch), 0);
        assert_non_null(batch);
        hash += mr_batch_hash(batch) * (batch->epoch + 1); // as loading_all adds them up
        mr_batch_release(batch);
    }
    return hash;
}

static void lent_memory_is_used_and_comes_back(void **state)
{
    (void)state;
    mr_loader_options plain = options_of(NULL), options = options_of(machine);
    uint64_t expected = loading_all(packed, RECIPE, &plain).hash, hash = 0;
    mr_loader *loader = loading_new(packed, RECIPE, &options);
    uint32_t first, second, third;
    mr_device_memory one = region(0), two = region(1), within = one;
    within.nbytes /= 2;
    assert_int_equal(mr_loader_lend(loader, "acc", &one, &first), 0);
    assert_int_equal(mr_loader_lend(loader, "acc", &within, &third), MR_EARGUMENT); // lent already
    hash += take(loader, 12);
    uint64_t jobs = stats_of(loader, 1).jobs;
    assert_true(jobs > 0);

    assert_int_equal(mr_loader_lend(loader, "acc", &two, &second), 0);
    assert_int_equal(mr_loader_reclaim(loader, "acc", first, UINT64_C(15000000000)), 0);
    memset(one.address, 0x11, REGION); // the caller's again
    assert_int_equal(mr_loader_reclaim(loader, "acc", first, 0), MR_EARGUMENT);
    hash += take(loader, 12);
    for (size_t i = 0; i < REGION; i++)
        assert_int_equal(((uint8_t *)one.address)[i], 0x11);
    assert_true(stats_of(loader, 1).jobs > jobs);

    /* Nothing is lent any more: the host does it all. */
    (void)mr_loader_let_go(loader, "acc");
    assert_int_equal(mr_loader_reclaim(loader, "acc", second, UINT64_C(15000000000)), 0);
    jobs = stats_of(loader, 1).jobs;
    memset(two.address, 0x22, REGION);
    hash += take(loader, 12);
    assert_int_equal(stats_of(loader, 1).jobs, jobs);
    for (size_t i = 0; i < REGION; i++)
        assert_int_equal(((uint8_t *)two.address)[i], 0x22);

    assert_int_equal(mr_loader_lend(loader, "acc", &one, &first), 0);
    hash += take(loader, 12);
    assert_true(stats_of(loader, 1).jobs > jobs);
    assert_true(hash == expected);
    check_guards();
    mr_loader_free(loader);
}

/* In a region that no sample fits into, nothing is done, and nothing waits for it. */
static void too_little_memory_is_none(void **state)
{
    (void)state;
    mr_loader_options plain = options_of(NULL), options = options_of(machine);
    mr_loader *loader = loading_new(packed, RECIPE, &options);
    mr_device_memory little = region(0);
    uint32_t number;
    little.nbytes = 300;
    assert_int_equal(mr_loader_lend(loader, "acc", &little, &number), 0);
    assert_true(take(loader, 48) == loading_all(packed, RECIPE, &plain).hash);
    assert_int_equal(stats_of(loader, 1).jobs, 0);
    check_guards();
    mr_loader_free(loader);
}

static void what_cannot_be_lent_to_says_so(void **state)
{
    (void)state;
    mr_loader_options plain = options_of(NULL), options = options_of(machine);
    mr_device_memory one = region(0);
    uint32_t number;
    mr_loader *loader = loading_new(packed, RECIPE, &plain);
    assert_int_equal(mr_loader_lend(loader, "cpu", &one, &number), MR_EUNSUPPORTED);
    assert_non_null(strstr(mr_loader_detail(loader), "host"));
    assert_int_equal(mr_loader_let_go(loader, "cpu"), 0);
    mr_loader_free(loader);
    loader = loading_new(packed, RECIPE, &options);
    assert_int_equal(mr_loader_lend(loader, "gpu", &one, &number), MR_EARGUMENT);
    assert_int_equal(mr_loader_lend(loader, "acc", NULL, &number), MR_EARGUMENT);
    assert_int_equal(mr_loader_lend(loader, NULL, &one, &number), MR_EARGUMENT);
    assert_int_equal(mr_loader_reclaim(loader, "acc", 0, 0), MR_EARGUMENT);
    assert_int_equal(mr_loader_reclaim(loader, "acc", UINT32_MAX, 0), MR_EARGUMENT);
    mr_loader_free(loader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lent_memory_is_used_and_comes_back),
        cmocka_unit_test(too_little_memory_is_none),
        cmocka_unit_test(what_cannot_be_lent_to_says_so),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
