// SPDX-License-Identifier: Apache-2.0
/*
 * Lists of devices on machines that are not here: GPUs of the fake OpenCL library, which are found, fail, and keep
 * batches in memory that is not the host's.
 */
#include "test.h"

#include "devices.h"
#include "fake_opencl.h"
#include "loader/loader.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 21 };

#define RECIPE  "rrc(16) flip normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *source;
static fake_opencl fake;

/* Lines of the log. */
static char said[4096];

static void keep_words(void *user, mr_log_level level, const char *text)
{
    (void)user, (void)level;
    size_t at = strlen(said);
    snprintf(said + at, sizeof said - at, "%s\n", text);
}

static const mr_hooks hooks = {.struct_size = sizeof hooks, .log = keep_words};

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    pack_make_folder(&folder, "source", SAMPLES, 14);
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    fake = fake_opencl_open();
    assert_int_equal(setenv("MILLRACE_OPENCL", MILLRACE_FAKE_OPENCL, 1), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

static void machine(const char *settings)
{
    fake.reset();
    said[0] = '\0';
    if (fake.configure(settings) != 0)
        fail_msg("%s", settings);
}

/* With several devices most is given to the accelerator, or nothing would befall it. */
static mr_loader_options plain(const char *device)
{
    bool several = strchr(device, ',') != NULL;
    return (mr_loader_options){OPTIONS,
                               .hooks = &hooks,
                               .batch = 8,
                               .seed = 7,
                               .epochs = 1,
                               .threads = 2,
                               .device = device,
                               .device_memory_nbytes = 16 << 20,
                               .policy = several ? "naive-device" : NULL};
}

static char names[200]; /* of the last run's devices */

static void keep_names(const mr_loader_stats *stats)
{
    size_t at = 0;
    names[0] = '\0';
    for (uint32_t d = 0; d < stats->device_count; d++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", d != 0 ? "," : "", stats->devices[d].name);
}

/* The sum of an epoch's hashes, and how it ended. */
static uint64_t run(const mr_loader_options *o, int *result, char detail[240])
{
    mr_loader *loader;
    mr_batch *batch;
    uint64_t sum = 0;
    mr_recipe *recipe = loading_recipe(RECIPE);
    *result = mr_loader_new(source, recipe, o, &loader, detail, 240);
    mr_recipe_free(recipe);
    if (*result != 0)
        return 0;
    while ((*result = mr_loader_next(loader, &batch)) == 0 && batch != NULL) {
        sum += mr_batch_hash(batch);
        mr_batch_release(batch);
    }
    mr_loader_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
    keep_names(&stats);
    snprintf(detail, 240, "%s", mr_loader_detail(loader));
    fake.go_on();
    mr_loader_free(loader);
    return sum;
}

static uint64_t wanted(void)
{
    static uint64_t hash;
    mr_loader_options o = plain("cpu");
    int result = 0;
    char detail[240];
    if (hash == 0)
        hash = run(&o, &result, detail);
    assert_int_equal(result, 0);
    return hash;
}

static void expect(const char *settings, const char *device, mr_keep keep, const char *found)
{
    char detail[240];
    int result;
    uint64_t hash = wanted();
    mr_loader_options o = plain(device);
    o.keep = keep;
    machine(settings);
    uint64_t got = run(&o, &result, detail);
    if (result != 0 || got != hash)
        fail_msg("%s on %s: %s", device, settings, result != 0 ? detail : "other bytes");
    if (found != NULL)
        assert_string_equal(names, found);
    if (fake.check() != 0)
        fail_msg("%s on %s: the library was not used as it should be", device, settings);
}

static void expect_error(const char *settings, const char *device, mr_keep keep, int code, const char *words)
{
    char detail[240];
    int result;
    mr_loader_options o = plain(device);
    o.keep = keep;
    o.timeout_ns = 2000000000;
    machine(settings);
    (void)run(&o, &result, detail);
    if (result != code)
        fail_msg("%s on %s: %s: %s", device, settings, mr_error_name(result), detail);
    assert_contains(detail, words);
    if (fake.check() != 0)
        fail_msg("%s on %s: the library was not used as it should be", device, settings);
}

static void who_is_found(void **state)
{
    (void)state;
    expect("kind=discrete", "auto", MR_KEEP_HOST, "cpu,opencl:0");
    expect("kind=integrated devices=2", "auto", MR_KEEP_HOST, "cpu,opencl:0,opencl:1");
    expect("kind=cpu", "auto", MR_KEEP_HOST, "");
    expect("kind=cpu", "opencl", MR_KEEP_HOST, "opencl:0");
    expect("devices=2", "opencl:1", MR_KEEP_HOST, "opencl:1");
    expect("devices=2", "opencl:1,opencl:0", MR_KEEP_HOST, "opencl:1,opencl:0");
    expect("devices=2", "opencl:1,cpu", MR_KEEP_HOST, "cpu,opencl:1");
    expect("devices=0", "auto", MR_KEEP_HOST, "");
    expect("platforms=0", "auto", MR_KEEP_HOST, "");
    expect("exact=0", "auto", MR_KEEP_HOST, "");
    expect_error("devices=1", "cpu,opencl:1", MR_KEEP_HOST, MR_EARGUMENT, "the device opencl:1: ");
    expect_error("exact=0", "opencl", MR_KEEP_HOST, MR_EUNSUPPORTED, "none can be used: millrace devices says why");
    expect("exact=0", "cpu,opencl:0", MR_KEEP_HOST, "cpu");
    expect("platforms=0", "cpu,opencl", MR_KEEP_HOST, "cpu");
    expect_error("platforms=0", "opencl", MR_KEEP_HOST, MR_EUNSUPPORTED, "OpenCL");
}

static void one_that_cannot_be_opened(void **state)
{
    (void)state;
    expect("build_fails=1", "auto", MR_KEEP_HOST, "");
    assert_contains(said, "the device opencl:0: ");
    assert_contains(said, ": it is left out\n");
    expect("build_fails=1", "cpu,opencl:0", MR_KEEP_HOST, "cpu");
    assert_contains(said, ": it is left out\n");
    expect_error("build_fails=1", "opencl:0", MR_KEEP_HOST, MR_EDEVICE, "the device opencl:0: ");
    expect_error("build_fails=1", "cpu,opencl:0", MR_KEEP_DEVICE, MR_EARGUMENT, "no accelerator is here");
    expect("fail=clCreateContext:1:-6", "auto", MR_KEEP_HOST, "");
    assert_contains(said, "it is left out");
}

static void batches_stay(void **state)
{
    (void)state;
    static const char *const kinds[] = {"kind=discrete", "kind=integrated", "kind=cpu"};
    for (size_t k = 0; k < 3; k++) {
        expect(kinds[k], "opencl", MR_KEEP_DEVICE, "opencl:0");
        expect(kinds[k], "cpu,opencl", MR_KEEP_DEVICE, "cpu,opencl:0");
    }
    expect("kind=discrete", "auto", MR_KEEP_DEVICE, "cpu,opencl:0");
    expect("kind=discrete,slow_ms=3", "cpu,opencl", MR_KEEP_DEVICE, "cpu,opencl:0");
    expect_error("devices=2", "auto", MR_KEEP_DEVICE, MR_EARGUMENT, "2 accelerators are to prepare them");
    expect_error("devices=2", "opencl:0,opencl:1", MR_KEEP_DEVICE, MR_EARGUMENT, "2 accelerators");
}

/* A device that fails takes its batches with it; one that has not the means for a play has not. */
static void what_happens_to_those_that_stay(void **state)
{
    (void)state;
    expect_error("kind=discrete,lost=26", "opencl", MR_KEEP_DEVICE, MR_EDEVICE, "cannot be put where it is to stay");
    expect_error("kind=discrete,lost=26", "cpu,opencl", MR_KEEP_DEVICE, MR_EDEVICE, "where it is to stay");
    expect_error("kind=discrete,lost=26,lost_quiet=1", "opencl", MR_KEEP_DEVICE, MR_EDEVICE, "where it is to stay");
    expect("kind=discrete,resources=27", "cpu,opencl", MR_KEEP_DEVICE, NULL);
    expect("kind=discrete,resources_quiet=27", "opencl", MR_KEEP_DEVICE, NULL);
    expect_error("kind=discrete,hang=27", "opencl", MR_KEEP_DEVICE, MR_ETIMEOUT, "nothing moved for 2 s");
    expect_error("kind=discrete,hang=27", "cpu,opencl", MR_KEEP_DEVICE, MR_ETIMEOUT, "nothing moved for 2 s");
    expect_error("kind=discrete,alloc=67108864,fail=clCreateBuffer:8:-4", "opencl", MR_KEEP_DEVICE, MR_ENOMEM,
                 "a batch of 0 MiB cannot stay on the device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_found),
        cmocka_unit_test(one_that_cannot_be_opened),
        cmocka_unit_test(batches_stay),
        cmocka_unit_test(what_happens_to_those_that_stay),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
