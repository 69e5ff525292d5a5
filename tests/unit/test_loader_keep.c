// SPDX-License-Identifier: Apache-2.0
/* Batches that stay on a device: all of each is there when it is delivered, whoever made it. */
#include "test.h"

#include "devices.h"
#include "loader/loader.h"
#include "loading.h"
#include "pack_make.h"
#include "twin.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES = 61 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *source, *spoiled;

static const mr__device_type *const types[] = {&mr__device_cpu, &twin_device, &mr__device_sim, NULL};

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    devices_make_folder(&folder, "source", SAMPLES, false);
    devices_make_folder(&folder, "spoiled", SAMPLES, true);
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    spoiled = pack_open(&folder, "spoiled", MR_LAYOUT_FOLDER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(spoiled);
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

static int setup_one(void **state)
{
    (void)state;
    twin_make = (twin_setup){.count = 2};
    return 0;
}

static mr_loader_options plain(const char *device, mr_keep keep)
{
    return (mr_loader_options){OPTIONS,      .batch = 8,       .seed = 7,   .epochs = 2,
                               .threads = 2, .device = device, .keep = keep};
}

static int try(mr_dataset *dataset, const char *recipe, const mr_loader_options *o, mr_loader **loader,
               char detail[240])
{
    mr_recipe *r = loading_recipe(recipe);
    int result = mr__loader_new(types, dataset, r, o, loader, detail, 240);
    mr_recipe_free(r);
    return result;
}

/* All that came out: sums of what is on the device, and of the host's arrays. */
typedef struct sums {
    int result;
    uint64_t hash, bytes, batches, devices[2];
    char detail[240];
} sums;

static void look(const mr_batch *batch, bool kept, sums *s)
{
    mr_batch_device at = {.struct_size = sizeof at};
    int result = mr_batch_get_device(batch, &at);
    if (kept) {
        assert_int_equal(result, 0);
        assert_string_equal(at.name, "twin:0");
        assert_null(batch->images);
        assert_true(at.memory != NULL && at.memory == batch->device_data && at.context != NULL);
    } else {
        assert_int_equal(result, MR_EARGUMENT);
        assert_true(batch->images != NULL && batch->device_data == NULL);
    }
    const uint8_t *bytes = kept ? batch->device_data : batch->images;
    for (size_t i = 0; i < batch->images_nbytes; i++) // pads too
        s->bytes = 31 * s->bytes + bytes[i];
    s->hash += mr_batch_hash(batch);
}

static sums take(mr_loader *loader, uint64_t most, bool kept)
{
    sums s = {0};
    mr_batch *batch;
    while (s.batches < most && (s.result = mr_loader_next(loader, &batch)) == 0 && batch != NULL) {
        look(batch, kept, &s);
        mr_batch_release(batch);
        s.batches++;
    }
    mr_loader_stats stats = {.struct_size = sizeof stats};
    assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
    for (uint32_t d = 0; d < stats.device_count && d < 2; d++)
        s.devices[d] = stats.devices[d].samples;
    snprintf(s.detail, sizeof s.detail, "%s", mr_loader_detail(loader));
    return s;
}

static sums run(mr_dataset *dataset, const mr_loader_options *o)
{
    char detail[240];
    mr_loader *loader;
    if (try(dataset, RECIPE, o, &loader, detail) != 0)
        fail_msg("%s: %s", o->device, detail);
    sums s = take(loader, UINT64_MAX, o->keep == MR_KEEP_DEVICE);
    mr_loader_free(loader);
    return s;
}

static void check_same(const sums *got, const sums *wanted)
{
    if (got->result != wanted->result)
        fail_msg("%s: %s", mr_error_name(got->result), got->detail);
    assert_int_equal(got->batches, wanted->batches);
    assert_true(got->bytes == wanted->bytes);
    assert_true(got->hash == wanted->hash);
}

static void whoever_made_it(void **state)
{
    (void)state;
    static const char *const lists[] = {"twin:0", "cpu,twin:0"};
    static const char *const policies[] = {NULL, "auto", "intrabatch", "naive-device", "fusion"};
    mr_loader_options o = plain("cpu", MR_KEEP_HOST);
    sums wanted = run(source, &o);
    assert_int_equal(wanted.batches, 16);
    for (int late = 0; late < 2; late++)
        for (size_t i = 0; i < 2; i++)
            for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
                twin_make = (twin_setup){.count = 1, .late = late != 0};
                o = plain(lists[i], MR_KEEP_DEVICE);
                o.policy = policies[p];
                sums got = run(source, &o);
                check_same(&got, &wanted);
                bool host = i == 1 && p == 2; // all by the host, and two pads
                assert_true(!host || (got.devices[0] == 2 * SAMPLES && twin_make.sent == 2 * SAMPLES + 2));
                assert_true(i == 1 || twin_make.sent == 2);
            }
}

static void bad_samples_too(void **state)
{
    (void)state;
    static const mr_bad_policy policies[] = {MR_BAD_SKIP, MR_BAD_REPLACE};
    for (size_t p = 0; p < 2; p++) {
        mr_loader_options o = plain("cpu", MR_KEEP_HOST);
        o.bad = policies[p];
        o.bad_max = UINT64_MAX;
        sums wanted = run(spoiled, &o);
        assert_int_equal(wanted.result, 0);
        o.keep = MR_KEEP_DEVICE;
        o.device = "twin:0";
        sums got = run(spoiled, &o);
        check_same(&got, &wanted);
        o.device = "cpu,twin:0";
        got = run(spoiled, &o);
        check_same(&got, &wanted);
    }
}

static void others_do_what_a_device_lost(void **state)
{
    (void)state;
    mr_loader_options o = plain("cpu", MR_KEEP_HOST);
    sums wanted = run(source, &o);
    o = plain("cpu,twin:0", MR_KEEP_DEVICE);
    twin_make = (twin_setup){.count = 1, .lost_after = 9, .late = true};
    sums got = run(source, &o);
    check_same(&got, &wanted);
}

static void going_on_from_a_state(void **state)
{
    (void)state;
    char text[1024], detail[240];
    mr_loader_options o = plain("cpu", MR_KEEP_HOST);
    mr_loader *loader;
    assert_int_equal(try(source, RECIPE, &o, &loader, detail), 0);
    (void)take(loader, 5, false);
    (void)mr_loader_state(loader, text, sizeof text);
    sums wanted = take(loader, UINT64_MAX, false);
    mr_loader_free(loader);
    o = plain("cpu,twin:0", MR_KEEP_DEVICE);
    twin_make.late = true;
    assert_int_equal(try(source, RECIPE, &o, &loader, detail), 0);
    for (int i = 0; i < 3; i++) {
        (void)take(loader, 2, true); // and much is under way
        assert_int_equal(mr_loader_restore(loader, text), 0);
    }
    sums got = take(loader, UINT64_MAX, true);
    check_same(&got, &wanted);
    mr_loader_free(loader);
    assert_int_equal(try(source, RECIPE, &o, &loader, detail), 0); // freed in the midst of it
    (void)take(loader, 3, true);
    mr_loader_free(loader);
}

static void what_does_not_come(void **state)
{
    (void)state;
    mr_loader_options o = plain("cpu,twin:0", MR_KEEP_DEVICE);
    o.policy = "intrabatch";
    twin_make.send_fails = 20;
    sums got = run(source, &o);
    assert_int_equal(got.result, MR_EDEVICE);
    assert_string_equal(got.detail, "a batch cannot be put where it is to stay: it did not come");
}

static void refuses(const char *recipe, const mr_loader_options *o, const char *words)
{
    mr_loader *loader;
    char detail[240];
    assert_int_equal(try(source, recipe, o, &loader, detail), MR_EARGUMENT);
    assert_contains(detail, words);
}

static void what_cannot_be_asked_for(void **state)
{
    (void)state;
    mr_loader_options o = plain("twin:0", MR_KEEP_DEVICE);
    refuses("rrc(8) mixup(0.2)", &o, "the recipe mixes them (mixup, cutmix)");
    refuses("rrc(8) cutmix", &o, "leave one of the two out");
    static const char *const none[] = {"cpu", "sim"}, *const several[] = {"twin:0,twin:1", "cpu,twin:1,twin:0", "auto"};
    for (size_t i = 0; i < 2; i++) {
        o.device = none[i];
        refuses(RECIPE, &o, "no accelerator is here that could have them: name one, as in opencl:0 or cpu,opencl:0");
    }
    for (size_t i = 0; i < 3; i++) {
        o.device = several[i];
        refuses(RECIPE, &o, "2 accelerators are to prepare them: name one");
    }
    o.keep = (mr_keep)2;
    refuses(RECIPE, &o, "stands for nothing");
    twin_make.count = 1;
    o = plain("auto", MR_KEEP_DEVICE);
    sums got = run(source, &o);
    assert_int_equal(got.batches, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(whoever_made_it, setup_one),
        cmocka_unit_test_setup(bad_samples_too, setup_one),
        cmocka_unit_test_setup(others_do_what_a_device_lost, setup_one),
        cmocka_unit_test_setup(going_on_from_a_state, setup_one),
        cmocka_unit_test_setup(what_does_not_come, setup_one),
        cmocka_unit_test_setup(what_cannot_be_asked_for, setup_one),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
