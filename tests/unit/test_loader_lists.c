// SPDX-License-Identifier: Apache-2.0
/* Loaders of devices that were named: the same bytes from any list, and words for what cannot be had. Those that are
 * really here are tried by command.feed_devices. */
#include "test.h"

#include "devices.h"
#include "loader/loader.h"
#include "loading.h"
#include "pack_make.h"
#include "twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 61 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *source;

static const mr__device_type *const types[] = {&mr__device_cpu, &twin_device, &mr__device_sim, NULL};

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    devices_make_folder(&folder, "source", SAMPLES, false);
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

static int setup_one(void **state)
{
    (void)state;
    twin_make = (twin_setup){.count = 3, .hosts = 4};
    return 0;
}

static mr_loader_options plain(const char *device)
{
    return (mr_loader_options){OPTIONS, .batch = 8, .seed = 7, .epochs = 2, .threads = 2, .device = device};
}

static int try(const char *recipe, const mr_loader_options *o, mr_loader **loader, char detail[240])
{
    mr_recipe *r = loading_recipe(recipe);
    int result = mr__loader_new(types, source, r, o, loader, detail, 240);
    mr_recipe_free(r);
    return result;
}

/* What stands in the report of the last run, in order. */
static char names[400];

static void keep_names(const mr_loader_stats *stats)
{
    size_t at = 0;
    names[0] = '\0';
    for (uint32_t d = 0; d < stats->device_count; d++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", d != 0 ? "," : "", stats->devices[d].name);
}

static devices_tape run(const char *recipe, const mr_loader_options *o)
{
    devices_tape tape = {0};
    mr_loader *loader;
    char detail[240];
    if (try(recipe, o, &loader, detail) != 0)
        fail_msg("%s: %s", o->device, detail);
    devices_run(loader, UINT64_MAX, &tape);
    keep_names(&tape.stats);
    mr_loader_free(loader);
    return tape;
}

static void refuses(const char *recipe, const mr_loader_options *o, int code, const char *words)
{
    mr_loader *loader;
    char detail[240];
    assert_int_equal(try(recipe, o, &loader, detail), code);
    assert_string_equal(detail, words);
}

static void every_list_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const lists[][2] = {{"cpu", ""},
                                           {"twin", "twin:0"},
                                           {"twin:1", "twin:1"},
                                           {"twin:2", "twin:2"},
                                           {"twin:1,cpu", "cpu,twin:1"},
                                           {"auto", "cpu,twin:0,twin:1"},
                                           {"twin:2,twin:0", "twin:2,twin:0"},
                                           {"cpu,twin:2,twin:1,twin:0", "cpu,twin:2,twin:1,twin:0"}};
    static const char *const policies[] = {NULL,           "auto",   "interbatch", "intrabatch",
                                           "naive-device", "fusion", "longest",    "ends"};
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(source, RECIPE, &o);
    assert_int_equal(wanted.batches, 16);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            char what[64];
            o = plain(lists[i][0]);
            o.policy = policies[p];
            snprintf(what, sizeof what, "%s, %s", lists[i][0], policies[p] != NULL ? policies[p] : "no policy");
            devices_tape got = run(RECIPE, &o);
            devices_compare(&got, &wanted, what);
            bool bare = *lists[i][1] == '\0' && policies[p] != NULL; // the host alone has a policy when asked for
            assert_string_equal(names, bare ? "cpu" : lists[i][1]);
            assert_int_equal(twin_make.alone, i >= 1 && i <= 3 && policies[p] == NULL);
            if (i >= 1 && i <= 3 && policies[p] == NULL) {
                assert_true(got.stats.devices[0].samples >= 2 * SAMPLES && got.stats.devices[0].submissions != 0);
                assert_true(got.stats.devices[0].busy_seconds > 0 && got.stats.devices[0].lanes == 2);
            }
            uint64_t samples = 0;
            for (uint32_t d = 0; d < got.stats.device_count; d++)
                samples += got.stats.devices[d].samples;
            assert_true(got.stats.device_count == 0 || samples >= 2 * SAMPLES);
            devices_tape_fini(&got);
            twin_make.alone = false;
        }
    devices_tape_fini(&wanted);
}

/* Lines of the log. */
static char said[2048];

static void keep(void *user, mr_log_level level, const char *text)
{
    (void)user;
    size_t at = strlen(said);
    snprintf(said + at, sizeof said - at, "%d %s\n", (int)level, text);
}

static void auto_leaves_out_what_cannot_be_had(void **state)
{
    (void)state;
    const mr_hooks hooks = {.struct_size = sizeof hooks, .log = keep, .log_level = MR_LOG_INFO};
    mr_loader_options o = plain("auto");
    o.hooks = &hooks;
    twin_make.failing = 1;
    said[0] = '\0';
    devices_tape got = run(RECIPE, &o);
    assert_int_equal(got.result, 0);
    assert_string_equal(names, "cpu,twin:1");
    assert_non_null(strstr(said, "2 the device twin:0: it does not start: it is left out\n"));
    devices_tape_fini(&got);
    twin_make.failing = 7;
    got = run(RECIPE, &o);
    assert_int_equal(got.result, 0);
    assert_int_equal(got.stats.device_count, 0); // the host alone, as if nobody had said anything
    devices_tape_fini(&got);
    twin_make = (twin_setup){.absent = true};
    said[0] = '\0';
    got = run(RECIPE, &o);
    assert_int_equal(got.stats.device_count, 0);
    assert_string_equal(said, "3 no twin devices: there is no library of twins\n");
    devices_tape_fini(&got);
}

static void what_was_named_has_to_be_there(void **state)
{
    (void)state;
    mr_loader_options o = plain("twin:1");
    twin_make.failing = 2;
    refuses(RECIPE, &o, MR_EDEVICE, "the device twin:1: it does not start");
    o = plain("cpu,twin:1"); // somebody else is there
    devices_tape got = run(RECIPE, &o);
    assert_int_equal(got.result, 0);
    assert_string_equal(names, "");
    devices_tape_fini(&got);
    o = plain("twin:7");
    refuses(RECIPE, &o, MR_EUNSUPPORTED, "the device twin:7: there is no twin 7");
    o = plain("cpu,twn:1");
    refuses(RECIPE, &o, MR_EARGUMENT, "there is no device \"twn:1\": do you mean twin:1?");
    o = plain("cpu,twin:0");
    o.share = "some";
    refuses(RECIPE, &o, MR_EARGUMENT, "cores are shared by the device cpu, not by \"cpu,twin:0\"");
    twin_make.absent = true;
    o = plain("twin");
    refuses(RECIPE, &o, MR_EUNSUPPORTED, "there is no library of twins");
}

static void what_one_lacks_others_do(void **state)
{
    (void)state;
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(source, RECIPE, &o), got;
    twin_make.lacks_png = true;
    o = plain("twin:0,twin:1");
    refuses(RECIPE, &o, MR_EUNSUPPORTED, "the device twin:1 cannot decode png: name the host too, as in cpu,twin:1");
    o = plain("cpu,twin:0");
    got = run(RECIPE, &o);
    devices_compare(&got, &wanted, "without PNG");
    devices_tape_fini(&got);
    twin_make.lacks_png = false;
    twin_make.lacks = MR_STEP_FLIP;
    o = plain("twin:0");
    refuses(RECIPE, &o, MR_EUNSUPPORTED,
            "the device twin:0 cannot do flip, step 2 of the recipe, on png: name the host too, as in cpu,twin:0");
    o = plain("cpu,twin:0");
    got = run(RECIPE, &o);
    devices_compare(&got, &wanted, "without flip");
    assert_int_equal(got.stats.devices[1].samples, 0);
    devices_tape_fini(&got);
    devices_tape_fini(&wanted);
}

static void memory_has_a_budget(void **state)
{
    (void)state;
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(source, RECIPE, &o), got;
    o = plain("cpu,twin:0");
    o.device_memory_nbytes = 1000;
    got = run(RECIPE, &o);
    devices_compare(&got, &wanted, "a budget for nothing");
    assert_int_equal(twin_make.asked, 1000);
    assert_int_equal(got.stats.devices[1].samples, 0);
    assert_int_equal(got.stats.devices[0].samples, 2 * SAMPLES);
    devices_tape_fini(&got);
    o.device_memory_nbytes = 1 << 20;
    got = run(RECIPE, &o);
    devices_compare(&got, &wanted, "a budget for some");
    assert_int_equal(got.stats.devices[1].no_memory, 0);
    devices_tape_fini(&got);
    o = plain("twin:0,twin:1"); // there is nobody else: who gets it sees how to do it
    o.device_memory_nbytes = 1000;
    got = run(RECIPE, &o);
    devices_compare(&got, &wanted, "a budget for nothing, and no host");
    devices_tape_fini(&got);
    o = plain("twin:0");
    o.device_memory_nbytes = 1000;
    got = run(RECIPE, &o);
    devices_compare(&got, &wanted, "a budget for nothing, and alone");
    devices_tape_fini(&got);
    devices_tape_fini(&wanted);
}

static void a_device_is_lost(void **state)
{
    (void)state;
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(source, RECIPE, &o), got;
    twin_make.lost_after = 10;
    o = plain("cpu,twin:0");
    got = run(RECIPE, &o);
    devices_compare(&got, &wanted, "a device that is lost");
    devices_tape_fini(&got);
    o = plain("twin:0,twin:1"); // and nobody is left
    o.timeout_ns = 100000000;
    got = run(RECIPE, &o);
    assert_int_equal(got.result, MR_ETIMEOUT);
    assert_non_null(strstr(got.detail, "the device twin:0 gave its tasks back"));
    devices_tape_fini(&got);
    devices_tape_fini(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_list_gives_the_same_bytes, setup_one),
        cmocka_unit_test_setup(auto_leaves_out_what_cannot_be_had, setup_one),
        cmocka_unit_test_setup(what_was_named_has_to_be_there, setup_one),
        cmocka_unit_test_setup(what_one_lacks_others_do, setup_one),
        cmocka_unit_test_setup(memory_has_a_budget, setup_one),
        cmocka_unit_test_setup(a_device_is_lost, setup_one),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
