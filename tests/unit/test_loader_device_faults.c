// SPDX-License-Identifier: Apache-2.0
/* Devices that fail, with real pixels: every batch comes once, whole, in order and in time, and it is told. */
#define _GNU_SOURCE // usleep
#include "test.h"

#include "base/clock.h"
#include "base/thread.h"
#include "devices.h"
#include "loader/loader.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 60 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define MIXED   "rrc(20) flip mixup(0.4) normalize(imagenet) cutmix"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *good, *bad;
static mr_dataset *packed; /* the good ones: what they need of a device's memory is known */

static const char *const policies[] = {"auto",   "interbatch", "intrabatch", "naive-device",
                                       "fusion", "longest",    "ends",       "better"};
enum { POLICIES = sizeof policies / sizeof *policies };

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    devices_make_folder(&folder, "good", SAMPLES, false);
    devices_make_folder(&folder, "bad", SAMPLES, true);
    good = pack_open(&folder, "good", MR_LAYOUT_FOLDER);
    bad = pack_open(&folder, "bad", MR_LAYOUT_FOLDER);
    mr_pack_options packing = {.struct_size = sizeof packing, .threads = 2};
    pack_run(good, &folder, "packed", &packing);
    packed = pack_open(&folder, "packed", MR_LAYOUT_PACKED);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(good);
    mr_dataset_free(bad);
    mr_dataset_free(packed);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options plain(void)
{
    return (mr_loader_options){OPTIONS, .batch = 20, .seed = 3, .epochs = 20, .threads = 3};
}

/* Four cores, and an accelerator as fast as they are together; without it, it takes twice as long. */
static const char *pair(const char *faults)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 4}, {\"name\": \"gpu\", \"kind\": \"accelerator\", "
             "\"speed\": 4, \"launch_us\": 100, \"group\": 4, \"memory_mb\": 64, \"faults\": [%s]}], "
             "\"cost\": {\"default\": {\"us\": 10000}}}",
             faults);
    return devices_machine(&folder, text);
}

/* A submission that is not done in twice its time and a second more is taken to be lost. */
static const uint64_t deadline_ns = UINT64_C(1000000000) + 2 * UINT64_C(50000000);

static void one_fault_at_a_time(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *mishap;
        bool returns;
    } cases[] = {
        {"{\"kind\": \"lost\", \"after\": 30}", "gave its tasks back", true},
        {"{\"kind\": \"lost\", \"after\": 0}", "gave its tasks back", true},
        {"{\"kind\": \"lost\", \"after\": 37, \"back_ms\": 100}", "gave its tasks back", true},
        {"{\"kind\": \"hang\", \"after\": 25}", "did not answer in time", true},
        {"{\"kind\": \"hang\", \"after\": 25, \"back_ms\": 1500}", "did not answer in time", true},
        {"{\"kind\": \"wrong\", \"after\": 11}", "gave bytes that were damaged", true},
        {"{\"kind\": \"wrong\", \"every\": 7}", "gave bytes that were damaged", true},
        {"{\"kind\": \"memory\", \"at_ms\": 30, \"mb\": 64}", NULL, false},
        {"{\"kind\": \"memory\", \"at_ms\": 33, \"mb\": 63.99}", NULL, false},
        {"{\"kind\": \"slow\", \"factor\": 8, \"from_ms\": 40}", NULL, false},
        {"{\"kind\": \"freeze\", \"at_ms\": 40, \"for_ms\": 400}", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += test_quick() ? 3 : 1) {
        mr_loader_options o = plain();
        o.epochs = test_quick() ? 6 : 20;
        o.device = pair("");
        pack_remove(&folder, "cache");
        devices_tape normal = devices_all(packed, RECIPE, &o);
        assert_int_equal(normal.result, 0);
        o.device = pair(cases[i].fault);
        devices_tape got = devices_all(packed, RECIPE, &o);
        devices_compare(&got, &normal, cases[i].fault);
        const mr_device_stats *host = &got.stats.devices[0], *gpu = &got.stats.devices[1];
        if (got.gap_ns > 2 * normal.gap_ns + deadline_ns)
            fail_msg("%s: a batch took %.3f s, normally %.3f", cases[i].fault, (double)got.gap_ns * 1e-9,
                     (double)normal.gap_ns * 1e-9);
        if (cases[i].returns && (gpu->failures == 0 || gpu->returned == 0))
            fail_msg("%s: %llu failures, %llu returned", cases[i].fault, (unsigned long long)gpu->failures,
                     (unsigned long long)gpu->returned);
        if (cases[i].mishap != NULL) {
            assert_non_null(gpu->mishap);
            if (strcmp(gpu->mishap, "was far too slow") != 0 || strcmp(cases[i].mishap, "did not answer in time") != 0)
                assert_string_equal(gpu->mishap, cases[i].mishap); // who hangs is slow, first
        }
        assert_int_equal(host->failures, 0);
        assert_null(host->mishap);
        assert_int_equal(host->jobs + gpu->jobs, o.epochs * SAMPLES);
        devices_tape_fini(&got);
        devices_tape_fini(&normal);
    }
}

/* One that is back is at work again. */
static void a_device_that_is_back_is_used(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    uint64_t jobs[2];
    o.epochs = 60;
    for (int back = 0; back < 2; back++) {
        pack_remove(&folder, "cache");
        o.device = pair(back ? "{\"kind\": \"lost\", \"after\": 30, \"back_ms\": 200}"
                             : "{\"kind\": \"lost\", \"after\": 30}");
        devices_tape tape = devices_all(packed, RECIPE, &o);
        assert_int_equal(tape.result, 0);
        jobs[back] = tape.stats.devices[1].jobs;
        devices_tape_fini(&tape);
    }
    assert_int_equal(jobs[0], 30);
    assert_true(jobs[1] > 10 * SAMPLES);
}

/* Everything at once, on several devices, by every policy; the host does not fail. */
static void random_faults(void **state)
{
    (void)state;
    static const char *const recipes[] = {RECIPE, MIXED};
    char text[16384], what[64];
    uint64_t seed = 4;
    devices_tape wanted[2];
    mr_loader_options o = plain();
    o.epochs = 3;
    o.batch = 9;
    for (int k = 0; k < 2; k++)
        wanted[k] = devices_all(packed, recipes[k], &o);
    for (int i = 0; i < (test_quick() ? 16 : 100); i++) {
        devices_random(&seed, 2 + picture_random_below(&seed, 7), true, text);
        o.device = devices_machine(&folder, text);
        o.policy = policies[(size_t)i % POLICIES];
        o.slots = 2 + (uint32_t)i % 3;
        snprintf(what, sizeof what, "machine %d, %s", i, o.policy);
        devices_tape got = devices_all(packed, recipes[i % 2], &o);
        devices_compare(&got, &wanted[i % 2], what);
        devices_tape_fini(&got);
    }
    for (int k = 0; k < 2; k++)
        devices_tape_fini(&wanted[k]);
}

/* Nobody is left: time goes on to when they are tried again, or there is an error; never is it for ever. */
static void all_devices_fail(void **state)
{
    (void)state;
    static const struct {
        const char *host, *gpu;
        bool ends_well;
    } cases[] = {
        {"{\"kind\": \"lost\", \"after\": 9, \"back_ms\": 5000}", "{\"kind\": \"lost\", \"after\": 9}", true},
        {"{\"kind\": \"hang\", \"after\": 9, \"back_ms\": 5000}", "{\"kind\": \"hang\", \"after\": 9}", true},
        {"{\"kind\": \"wrong\", \"every\": 5}", "{\"kind\": \"wrong\", \"every\": 5}", true},
        {"{\"kind\": \"lost\", \"after\": 9}", "{\"kind\": \"lost\", \"after\": 9}", false},
        {"{\"kind\": \"hang\", \"after\": 9}", "{\"kind\": \"hang\", \"after\": 9}", false},
        {"{\"kind\": \"hang\", \"after\": 0}", "{\"kind\": \"lost\", \"after\": 0}", false},
        {"{\"kind\": \"freeze\", \"at_ms\": 5, \"for_ms\": 9000000}", "{\"kind\": \"wrong\", \"every\": 1}", false},
    };
    mr_loader_options o = plain();
    o.epochs = 10;
    devices_tape wanted = devices_all(good, RECIPE, &o);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t p = 0; p < POLICIES; p++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 2, \"faults\": [%s]}, "
                     "{\"name\": \"gpu\", \"kind\": \"accelerator\", \"faults\": [%s]}]}",
                     cases[i].host, cases[i].gpu);
            o.policy = policies[p];
            o.device = devices_machine(&folder, text);
            devices_tape got = devices_all(good, RECIPE, &o);
            if (cases[i].ends_well) {
                devices_compare(&got, &wanted, policies[p]);
            } else {
                assert_int_equal(got.result, MR_ETIMEOUT);
                assert_true(got.stats.seconds < 200); // a timeout is 60
            }
            devices_tape_fini(&got);
        }
    devices_tape_fini(&wanted);
}

static void refuse(const mr_loader_options *o, const char *part)
{
    mr_recipe *recipe = loading_recipe(RECIPE);
    mr_loader *loader;
    char detail[240];
    assert_int_equal(mr_loader_new(good, recipe, o, &loader, detail, sizeof detail), MR_EARGUMENT);
    assert_contains(detail, part);
    mr_recipe_free(recipe);
}

/* What only the trainer's own device could do, while it may do nothing. */
static void nobody_may(void **state)
{
    (void)state;
    static const char *const modes[] = {"off", "exclusive", "duty", "overlapped", "auto"};
    mr_loader_options o = plain();
    o.epochs = 2;
    devices_tape wanted = devices_all(good, RECIPE, &o);
    for (size_t m = 0; m < 5; m++)
        for (int host = 0; host < 3; host++) {
            static const char *const hosts[] = {"", "{\"name\": \"cpu\", \"lacks\": [\"jpeg\", \"png\", \"flip\"]}, ",
                                                "{\"name\": \"cpu\"}, "};
            char text[1024];
            snprintf(text, sizeof text,
                     "{\"devices\": [%s{\"name\": \"gpu\", \"kind\": \"accelerator\", \"launch_us\": 100}], "
                     "\"trainer\": {\"device\": \"gpu\", \"step_ms\": 7, \"interference\": 0.3}}",
                     hosts[host]);
            o.beside = modes[m];
            o.device = devices_machine(&folder, text);
            o.timeout_ns = UINT64_C(5000000000);
            if (m == 0 && host != 2) {
                refuse(&o, "nobody else can");
                continue;
            }
            devices_tape got = devices_all(good, RECIPE, &o);
            devices_compare(&got, &wanted, modes[m]);
            devices_tape_fini(&got);
        }
    devices_tape_fini(&wanted);
}

/* Who waits in pieces waits too. */
static void waiting_in_pieces(void **state)
{
    (void)state;
    static const char *const modes[] = {"exclusive", "duty", "auto"};
    mr_loader_options o = plain();
    o.epochs = 2;
    devices_tape wanted = devices_all(good, RECIPE, &o);
    o.timeout_ns = UINT64_C(5000000000);
    o.device = devices_machine(&folder, "{\"devices\": [{\"name\": \"gpu\", \"kind\": \"accelerator\"}], \"trainer\": "
                                        "{\"device\": \"gpu\", \"step_ms\": 3, \"interference\": 0.3}}");
    for (size_t m = 0; m < 3; m++) {
        devices_tape got = {0};
        o.beside = modes[m];
        mr_loader *loader = loading_new(good, RECIPE, &o);
        for (size_t i = 0; i < 7; i++) {
            assert_int_equal(mr_loader_wait(loader, UINT64_MAX), 0);
            devices_run(loader, 1, &got);
        }
        devices_compare(&got, &wanted, modes[m]);
        mr_loader_free(loader);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* Images of 100 megapixels, which need more than the device has; and images of whose size nothing is known. */
static void large_images_and_a_small_device(void **state)
{
    (void)state;
    static const char text[] = "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 2}, {\"name\": \"gpu\", \"kind\": "
                               "\"accelerator\", \"speed\": 50, \"memory_mb\": 64, \"group\": 8, \"launch_us\": 50}]}";
    mr_image image = {0};
    mr_encode_options jpeg = {sizeof jpeg, .form = MR_FORM_JPEG, .quality = 50};
    assert_int_equal(mr_image_init(&image, 10000, 10000, 1, 8, NULL), 0);
    for (uint32_t y = 0; y < 10000; y++)
        memset((uint8_t *)image.pixels + (size_t)y * image.stride, (int)(y / 64), 10000);
    picture_file file = picture_encode(&image, &jpeg);
    mr_image_fini(&image, NULL);
    devices_make_folder(&folder, "large", 24, false);
    test_folder_write(&folder, "large/a/900.jpg", file.bytes, file.nbytes);
    test_folder_write(&folder, "large/c/901.jpg", file.bytes, file.nbytes);
    free(file.bytes);
    mr_dataset *unknown = pack_open(&folder, "large", MR_LAYOUT_FOLDER);
    mr_pack_options packing = {.struct_size = sizeof packing, .threads = 2};
    pack_run(unknown, &folder, "large.packed", &packing);
    mr_dataset *known = pack_open(&folder, "large.packed", MR_LAYOUT_PACKED);
    for (int i = 0; i < 2; i++) {
        mr_loader_options o = plain();
        devices_tape got = {0};
        o.epochs = 1;
        o.batch = 7;
        devices_tape wanted = devices_all(i == 0 ? known : unknown, RECIPE, &o);
        o.device = devices_machine(&folder, text);
        mr_loader *loader = loading_new(i == 0 ? known : unknown, RECIPE, &o);
        devices_run(loader, UINT64_MAX, &got);
        devices_compare(&got, &wanted, i == 0 ? "known" : "unknown");
        mr__sim_counts counts = mr__sim_tell(loader->team.devices[1]);
        assert_int_equal(counts.no_memory, 0);
        assert_true(counts.memory_peak_nbytes <= 64000000);
        assert_int_equal(got.stats.devices[1].failures, 0);
        assert_true(counts.tasks != 0); // where the index has no sizes, headers are read
        mr_loader_free(loader);
        devices_tape_fini(&got);
        devices_tape_fini(&wanted);
    }
    mr_dataset_free(known);
    mr_dataset_free(unknown);
}

/* Bad samples are bad whoever meets them, and what takes their place is the same. */
static void bad_samples(void **state)
{
    (void)state;
    static const mr_bad_policy ways[] = {MR_BAD_SKIP, MR_BAD_REPLACE};
    static const char *const recipes[] = {RECIPE, MIXED};
    static const struct {
        uint32_t batch, slots, world;
    } shapes[] = {{1, 2, 1}, {8, 3, 1}, {60, 2, 1}, {7, 2, 2}, {64, 2, 1}};
    for (size_t i = 0; i < 5 * 2 * 2; i += test_quick() ? 3 : 1) {
        mr_loader_options o = plain();
        size_t shape = i / 4;
        o.bad = ways[i % 2];
        o.bad_max = UINT64_MAX;
        o.batch = shapes[shape].batch;
        o.slots = shapes[shape].slots;
        o.has_rank = true;
        o.world = shapes[shape].world;
        o.rank = o.world - 1;
        o.epochs = 2;
        devices_tape wanted = devices_all(bad, recipes[i / 2 % 2], &o);
        assert_int_equal(wanted.result, 0);
        for (size_t p = 0; p < 2 * POLICIES; p++) {
            char what[64];
            static const char *const machines[] = {
                "{\"devices\": [{\"name\": \"cpu\"}, {\"name\": \"gpu\", \"kind\": \"accelerator\", \"speed\": 8, "
                "\"lanes\": 2, \"launch_us\": 300, \"group\": 16}]}",
                "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 2, \"faults\": [{\"kind\": \"lost\", \"after\": 5, "
                "\"back_ms\": 1200}, {\"kind\": \"hang\", \"after\": 33, \"back_ms\": 900}]}, {\"name\": \"gpu\", "
                "\"kind\": \"accelerator\", \"memory_mb\": 1, \"faults\": [{\"kind\": \"wrong\", \"every\": 6}]}]}"};
            o.policy = policies[p % POLICIES];
            o.device = p < POLICIES ? NULL : devices_machine(&folder, machines[i % 4 < 2 ? 0 : 1]);
            o.threads = 1 + (uint32_t)p;
            snprintf(what, sizeof what, "%s, case %zu.%zu", o.policy, i, p);
            devices_tape got = devices_all(bad, recipes[i / 2 % 2], &o);
            devices_compare(&got, &wanted, what);
            assert_int_equal(got.stats.bad, wanted.stats.bad);
            assert_int_equal(got.stats.substitutes, wanted.stats.substitutes);
            devices_tape_fini(&got);
        }
        devices_tape_fini(&wanted);
    }
}

/* Samples of two kinds, each of which one device lacks: who takes a bad one's place may be of the other kind. */
static void bad_samples_of_two_kinds(void **state)
{
    (void)state;
    static const char text[] = "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 2, \"lacks\": [\"png\"]}, {\"name\": "
                               "\"gpu\", \"kind\": \"accelerator\", \"lacks\": [\"jpeg\"]}]}";
    for (size_t i = 0; i < 2 * POLICIES; i++) {
        mr_loader_options o = plain();
        o.bad = MR_BAD_SKIP;
        o.bad_max = UINT64_MAX;
        o.epochs = 3;
        o.batch = i % 2 == 0 ? 8 : 60;
        devices_tape wanted = devices_all(bad, MIXED, &o);
        o.policy = policies[i / 2];
        o.device = devices_machine(&folder, text);
        devices_tape got = devices_all(bad, MIXED, &o);
        devices_compare(&got, &wanted, o.policy);
        assert_int_equal(got.stats.devices[0].failures + got.stats.devices[1].failures, 0);
        assert_int_equal(got.stats.devices[0].returned + got.stats.devices[1].returned, 0);
        devices_tape_fini(&got);
        devices_tape_fini(&wanted);
    }
}

/* Who could do it has no memory for it: an error, and not after a minute. */
static void no_memory_anywhere(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    for (int i = 0; i < 3; i++) {
        const char *bounded = i == 1 ? "\"memory_mb\": 0.001" : "\"memory_mb\": 64";
        const char *faults = "\"faults\": [{\"kind\": \"memory\", \"at_ms\": 100, \"mb\": 64}]";
        char text[512];
        snprintf(text, sizeof text,
                 "{\"devices\": [{\"name\": \"cpu\", \"lacks\": [\"flip\"]}, {\"name\": \"gpu\", \"kind\": "
                 "\"accelerator\", %s%s%s}]}",
                 bounded, i == 2 ? ", " : "", i == 2 ? faults : "");
        o.device = devices_machine(&folder, text);
        uint64_t before = mr__clock_monotonic_ns();
        devices_tape got = devices_all(i == 0 ? good : packed, RECIPE, &o);
        assert_int_equal(got.result, i == 0 ? 0 : MR_ETIMEOUT); // 0: the index has no sizes, but headers have
        assert_true(mr__clock_monotonic_ns() - before < UINT64_C(15000000000));
        assert_true(i == 1 ? got.batches == 0 : got.batches != 0);
        devices_tape_fini(&got);
    }
}

/* Slow is no error; nothing for the program's own timeout is, by the machine's clock. */
static void the_timeout_is_by_the_virtual_clock(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.epochs = 1;
    o.timeout_ns = UINT64_C(20000000000);
    for (int hangs = 0; hangs < 2; hangs++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"devices\": [{\"name\": \"cpu\", \"faults\": [%s]}], \"cost\": {\"default\": {\"us\": 1e6}}}",
                 hangs ? "{\"kind\": \"lost\", \"after\": 25}" : "");
        o.device = devices_machine(&folder, text);
        pack_remove(&folder, "cache");
        devices_tape got = devices_all(good, RECIPE, &o);
        assert_int_equal(got.result, hangs ? MR_ETIMEOUT : 0);
        assert_int_equal(got.batches, hangs ? 1 : 3);
        assert_true(got.stats.seconds >= (hangs ? 25 + 20 : SAMPLES));
        assert_true(got.stats.seconds < (hangs ? 25 + 60 : SAMPLES + 10)); // a try may take as long again
        devices_tape_fini(&got);
    }
}

/* More bad samples at once than a device's queue is long. */
static void a_whole_batch_is_bad(void **state)
{
    (void)state;
    enum { MANY = 400 };
    picture_file file = pack_image(PACK_PNG_3, 20, 20, 5);
    for (size_t i = 0; i < MANY; i++) {
        char name[64];
        snprintf(name, sizeof name, "rotten/%03zu.png", i);
        test_folder_write(&folder, name, file.bytes, i % 40 == 0 ? file.nbytes : 40);
    }
    free(file.bytes);
    mr_dataset *rotten = pack_open(&folder, "rotten", MR_LAYOUT_FOLDER);
    mr_loader_options o = {OPTIONS, .batch = MANY, .seed = 3, .epochs = 2, .threads = 2, .bad = MR_BAD_SKIP};
    o.bad_max = UINT64_MAX;
    devices_tape wanted = devices_all(rotten, "rrc(8)", &o);
    for (size_t p = 0; p < POLICIES; p++)
        for (int real = 0; real < 2; real++) {
            o.policy = policies[p];
            o.device = real ? NULL : pair("");
            devices_tape got = devices_all(rotten, "rrc(8)", &o);
            devices_compare(&got, &wanted, policies[p]);
            devices_tape_fini(&got);
        }
    devices_tape_fini(&wanted);
    mr_dataset_free(rotten);
}

/* The first bad sample in the order of positions, whichever device met one first. */
static void fail_names_the_first(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.order = MR_ORDER_SEQUENTIAL;
    devices_tape wanted = devices_all(bad, RECIPE, &o);
    assert_int_not_equal(wanted.result, 0);
    for (size_t p = 0; p < 2 * POLICIES; p++) {
        o.policy = policies[p % POLICIES];
        o.device = p < POLICIES ? NULL : pair("");
        devices_tape got = devices_all(bad, RECIPE, &o);
        assert_int_equal(got.result, wanted.result);
        assert_int_equal(got.batches, 0);
        assert_string_equal(got.detail, wanted.detail);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* To another place in the midst of everything, and to the end from there. */
static void restored_in_the_midst(void **state)
{
    (void)state;
    static const char *const faults[] = {"", "{\"kind\": \"hang\", \"after\": 30}",
                                         "{\"kind\": \"lost\", \"after\": 30, \"back_ms\": 50}", NULL};
    mr_loader_options o = plain();
    o.epochs = 3;
    char at[512];
    for (size_t p = 0; p < POLICIES; p++)
        for (size_t f = 0; f < 4; f++) {
            o.policy = policies[p];
            o.device = faults[f] != NULL ? pair(faults[f]) : NULL;
            mr_loader *loader = loading_new(packed, RECIPE, &o);
            devices_tape wanted = {0}, got = {0}, some = {0};
            devices_run(loader, 2, &some);
            assert_true(mr_loader_state(loader, at, sizeof at) < sizeof at);
            devices_run(loader, UINT64_MAX, &wanted);
            for (uint64_t n = 0; n < 5; n++) {
                assert_int_equal(mr_loader_restore(loader, at), 0);
                devices_tape_fini(&some);
                devices_run(loader, n, &some);
                assert_int_equal(some.result, 0);
                if (n == 3)
                    mr_loader_stop(loader);
            }
            assert_int_equal(mr_loader_restore(loader, at), 0);
            devices_run(loader, UINT64_MAX, &got);
            devices_compare(&got, &wanted, policies[p]);
            if (f == 0) { // nothing was wrong with them
                assert_int_equal(got.stats.devices[0].failures + got.stats.devices[1].failures, 0);
                assert_null(got.stats.devices[0].mishap);
            }
            mr_loader_free(loader);
            devices_tape_fini(&some);
            devices_tape_fini(&got);
            devices_tape_fini(&wanted);
        }
}

/* Several consumers, each batch to one; a thread beside them that puts the loader elsewhere, or stops it. */
typedef struct crowd {
    mr_loader *loader;
    atomic_uint_least64_t hash, batches;
    atomic_int worst;
    atomic_bool over;
} crowd;

static void consume(void *arg)
{
    crowd *c = arg;
    mr_batch *batch;
    for (;;) {
        int result = mr_loader_next(c->loader, &batch);
        if (result != 0)
            atomic_store(&c->worst, result);
        if (result != 0 || batch == NULL)
            return;
        atomic_fetch_add(&c->hash, mr_batch_hash(batch) * (batch->epoch + 1));
        atomic_fetch_add(&c->batches, 1);
        mr_batch_release(batch);
    }
}

static void run_crowd(crowd *c, uint32_t count)
{
    mr__thread threads[8];
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(mr__thread_start(&threads[i], "consumer", consume, c), 0);
    for (uint32_t i = 0; i < count; i++)
        mr__thread_join(&threads[i]);
}

static void several_consumers(void **state)
{
    (void)state;
    static const char *const machines[] = {
        NULL,
        "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 2}, {\"name\": \"gpu\", \"kind\": \"accelerator\", \"faults\": "
        "[{\"kind\": \"lost\", \"after\": 40, \"back_ms\": 10}, {\"kind\": \"hang\", \"after\": 200, \"back_ms\": "
        "9000},"
        "{\"kind\": \"wrong\", \"every\": 50}]}]}",
        "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 2}, {\"name\": \"gpu\", \"kind\": \"accelerator\"}], "
        "\"trainer\": {\"device\": \"gpu\", \"step_ms\": 2, \"interference\": 0.5}}"};
    mr_loader_options o = plain();
    o.batch = 3;
    o.epochs = 8;
    o.threads = 8;
    uint64_t wanted = loading_all(good, MIXED, &o).hash;
    for (size_t p = 0; p < POLICIES; p++)
        for (int m = 0; m < 3; m++) {
            o.policy = policies[p];
            o.slots = 6;
            o.device = machines[m] != NULL ? devices_machine(&folder, machines[m]) : NULL;
            crowd c = {.loader = loading_new(good, MIXED, &o)};
            run_crowd(&c, 4);
            assert_int_equal(atomic_load(&c.worst), 0);
            assert_int_equal(atomic_load(&c.batches), 160);
            assert_true(atomic_load(&c.hash) == wanted);
            mr_loader_free(c.loader);
        }
}

static void disturb(void *arg)
{
    crowd *c = arg;
    char at[512];
    for (int i = 0; i < 60 && !atomic_load(&c->over); i++) {
        (void)mr_loader_state(c->loader, at, sizeof at);
        (void)mr_loader_restore(c->loader, at); // refused while batches are lent
        usleep(500);
    }
    mr_loader_stop(c->loader);
}

/* While another thread takes batches: no hang, no batch of two places. */
static void disturbed_by_another_thread(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.batch = 3;
    o.epochs = 0;
    o.threads = 4;
    for (size_t p = 0; p < POLICIES; p++)
        for (int m = 0; m < 3; m++) {
            o.policy = policies[p];
            o.device = m == 0 ? NULL : pair(m == 1 ? "" : "{\"kind\": \"hang\", \"after\": 50}");
            crowd c = {.loader = loading_new(good, RECIPE, &o)};
            mr__thread thread;
            assert_int_equal(mr__thread_start(&thread, "disturber", disturb, &c), 0);
            run_crowd(&c, 2);
            atomic_store(&c.over, true);
            mr__thread_join(&thread);
            assert_int_equal(atomic_load(&c.worst), MR_ECLOSED);
            mr_loader_free(c.loader);
        }
}

/* A consumer that waits while another, who has all batches, lets go of one: time goes on for it. */
typedef struct holder {
    mr_batch *held[2];
} holder;

static void let_go(void *arg)
{
    holder *h = arg;
    usleep(50000);
    for (int i = 0; i < 2; i++)
        mr_batch_release(h->held[i]);
}

static void released_by_another_thread(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.slots = 2;
    o.epochs = 1;
    o.timeout_ns = UINT64_C(15000000000);
    for (int m = 0; m < 2; m++) {
        holder h;
        mr_batch *third;
        mr__thread thread;
        o.device = m == 0 ? "sim" : pair("");
        mr_loader *loader = loading_new(good, RECIPE, &o);
        for (int i = 0; i < 2; i++)
            assert_int_equal(mr_loader_next(loader, &h.held[i]), 0);
        assert_int_equal(mr__thread_start(&thread, "holder", let_go, &h), 0);
        assert_int_equal(mr_loader_next(loader, &third), 0);
        mr__thread_join(&thread);
        mr_batch_release(third);
        mr_loader_free(loader);
    }
}

/* Freed at any moment, with tasks under way on everything. */
static void freed_in_the_midst(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    for (size_t p = 0; p < POLICIES; p++)
        for (uint64_t n = 0; n < 8; n++)
            for (int m = 0; m < 3; m++) {
                o.policy = policies[p];
                o.threads = 1 + (uint32_t)n;
                o.device = m == 0 ? NULL : pair(m == 1 ? "" : "{\"kind\": \"hang\", \"after\": 30}");
                mr_loader *loader = loading_new(good, RECIPE, &o);
                (void)loading_run(loader, n);
                mr_loader_free(loader);
            }
}

static void a_child_is_told(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        mr_loader_options o = plain();
        mr_batch *batch, *second;
        o.policy = "auto";
        o.device = m == 0 ? NULL : pair("");
        mr_loader *loader = loading_new(good, RECIPE, &o);
        assert_int_equal(mr_loader_next(loader, &batch), 0);
        pid_t child = fork();
        if (child == 0) {
            mr_loader_stats s = {.struct_size = sizeof s};
            bool told = mr_loader_next(loader, &second) == MR_EFORKED && mr_loader_wait(loader, 0) == MR_EFORKED &&
                        mr_loader_get_stats(loader, &s) == MR_EFORKED && mr_loader_restore(loader, "{}") == MR_EFORKED;
            mr_loader_stop(loader);
            mr_batch_release(batch);
            mr_loader_free(loader);
            _exit(told ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        mr_batch_release(batch);
        assert_int_equal(loading_run(loader, UINT64_MAX).result, 0);
        mr_loader_free(loader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_fault_at_a_time),
        cmocka_unit_test(a_device_that_is_back_is_used),
        cmocka_unit_test(random_faults),
        cmocka_unit_test(all_devices_fail),
        cmocka_unit_test(nobody_may),
        cmocka_unit_test(waiting_in_pieces),
        cmocka_unit_test(large_images_and_a_small_device),
        cmocka_unit_test(bad_samples),
        cmocka_unit_test(bad_samples_of_two_kinds),
        cmocka_unit_test(no_memory_anywhere),
        cmocka_unit_test(the_timeout_is_by_the_virtual_clock),
        cmocka_unit_test(a_whole_batch_is_bad),
        cmocka_unit_test(fail_names_the_first),
        cmocka_unit_test(restored_in_the_midst),
        cmocka_unit_test(several_consumers),
        cmocka_unit_test(disturbed_by_another_thread),
        cmocka_unit_test(released_by_another_thread),
        cmocka_unit_test(freed_in_the_midst),
        cmocka_unit_test(a_child_is_told),
    };
    if (getenv("ONLY") != NULL)
        cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, setup, teardown);
}
