// SPDX-License-Identifier: Apache-2.0
/* Loaders whose OpenCL device, the fake one of the tests, fails in every way, is not there, is too small, or is given
 * what is damaged: each batch comes once, right and in time, and the report says what happened. */
#include "test.h"

#include "base/clock.h"
#include "devices.h"
#include "fake_opencl.h"
#include "handles.h"
#include "jpeg_plain.h"
#include "l3_dct.h"
#include "l3_file.h"
#include "l3_plain_encode.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 29, EPOCHS = 2 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define BOTH    "cpu,opencl:0"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *packed;
static fake_opencl fake;

static int setup(void **state)
{
    (void)handles_setup(state);
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    fake = fake_opencl_open();
    devices_make_folder(&folder, "source", SAMPLES, false);
    mr_dataset *source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    packed = pack_three_forms(source, &folder, "packed");
    mr_dataset_free(source);
    return 0;
}

static int teardown(void **state)
{
    mr_dataset_free(packed);
    test_folder_fini(&folder);
    return handles_teardown(state);
}

/* A new machine, of which nothing was learned. */
static void make_machine(const char *words)
{
    fake.reset();
    assert_int_equal(fake.configure("memory=33554432"), 0);
    assert_int_equal(fake.configure(words), 0);
    pack_remove(&folder, "cache");
}

static int setup_one(void **state)
{
    (void)state;
    assert_int_equal(setenv("MILLRACE_OPENCL", MILLRACE_FAKE_OPENCL, 1), 0);
    make_machine("");
    return 0;
}

static mr_loader_options plain(const char *device)
{
    return (mr_loader_options){OPTIONS, .batch = 8, .seed = 7, .epochs = EPOCHS, .threads = 2, .device = device};
}

static int try(mr_dataset *dataset, const char *recipe, const mr_loader_options *o, mr_loader **loader,
               char detail[240])
{
    mr_recipe *r = loading_recipe(recipe);
    int result = mr_loader_new(dataset, r, o, loader, detail, 240);
    mr_recipe_free(r);
    return result;
}

static void refuses(const mr_loader_options *o, int code, const char *words)
{
    mr_loader *loader = NULL;
    char detail[240];
    int result = try(packed, RECIPE, o, &loader, detail);
    if (result != code || strstr(detail, words) == NULL)
        fail_msg("%s: %s: '%s', not '%s'", o->device, mr_error_name(result), detail, words);
}

static void check_samples(const devices_tape *got, uint64_t wanted)
{
    uint64_t samples = 0;
    for (uint32_t d = 0; d < got->stats.device_count; d++)
        samples += got->stats.devices[d].samples;
    assert_int_equal(got->stats.samples, wanted);
    assert_true(got->stats.device_count == 0 || samples == wanted);
}

/* 1. It fails. */

/* With these words from the next launch on, or call that makes a buffer, `ahead` of them later. */
static void fails_midway(const char *list, const char *policy, const char *word, int ahead, devices_tape *got)
{
    const char *counted = strstr(word, "clCreateBuffer") != NULL ? "clCreateBuffer" : "launches";
    mr_loader_options o = plain(list);
    char words[64];
    o.policy = policy;
    o.form = "l3";
    mr_loader *loader = loading_new(packed, RECIPE, &o);
    snprintf(words, sizeof words, word, fake.count(counted) + ahead);
    assert_int_equal(fake.configure(words), 0);
    devices_run(loader, UINT64_MAX, got);
    mr_loader_free(loader);
    assert_int_equal(fake.check(), 0);
}

static void it_fails(void **state)
{
    (void)state;
    static const char *const words[] = {"lost=%lld", "lost_quiet=1,lost=%lld", "resources=%lld", "resources_quiet=%lld",
                                        "fail=clCreateBuffer:%lld:-4"};
    static const char *const policies[] = {NULL, "intrabatch", "naive-device"};
    mr_loader_options o = plain(NULL);
    o.form = "l3";
    devices_tape wanted = devices_all(packed, RECIPE, &o);
    for (size_t i = 0; i < 5 * 3 * 2 * 2; i++) {
        const char *list = i / 15 % 2 == 0 ? "opencl:0" : BOTH, *policy = policies[i / 5 % 3];
        devices_tape got = {0};
        char what[128];
        make_machine(i / 30 == 0 ? "kind=discrete" : "kind=cpu");
        if (i / 15 % 2 == 0 && policy != NULL)
            continue; // nobody else is there to whom a policy would give it
        fails_midway(list, policy, words[i % 5], i % 5 == 4 ? 1 : 1 + (int)(i % 4) * 2, &got);
        snprintf(what, sizeof what, "%s, %s, %s", words[i % 5], list, policy != NULL ? policy : "no policy");
        devices_compare(&got, &wanted, what);
        check_samples(&got, EPOCHS * SAMPLES);
        const mr_device_stats *d = &got.stats.devices[got.stats.device_count - 1];
        if (i / 15 % 2 == 0 && d->on_host == 0) // the lanes did it
            fail_msg("%s: nothing was done on the host", what);
        if (i / 15 % 2 == 1 && policy != NULL && strcmp(policy, "naive-device") == 0)
            if ((i % 5 == 4 ? d->no_memory : d->gave_back) == 0 || d->failures == 0 || d->returned == 0 ||
                d->mishap == NULL)
                fail_msg("%s: %llu failures", what, (unsigned long long)d->failures);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* It does not answer, ever: others do it, in time, and the loader can be freed. */
static void it_hangs(void **state)
{
    (void)state;
    static const char *const policies[] = {"naive-device", "intrabatch", NULL};
    devices_tape wanted, got;
    mr_loader_options o = plain(NULL);
    wanted = devices_all(packed, RECIPE, &o);
    for (size_t i = 0; i < 3; i++) {
        char words[64];
        make_machine(i == 1 ? "kind=cpu" : "kind=discrete");
        o = plain(BOTH);
        o.policy = policies[i];
        o.timeout_ns = UINT64_C(20000000000);
        mr_loader *loader = loading_new(packed, RECIPE, &o);
        snprintf(words, sizeof words, "hang=%lld", fake.count("launches") + 1);
        assert_int_equal(fake.configure(words), 0);
        got = (devices_tape){0};
        devices_run(loader, UINT64_MAX, &got);
        devices_compare(&got, &wanted, "it hangs");
        check_samples(&got, EPOCHS * SAMPLES);
        if (got.gap_ns > UINT64_C(10000000000))
            fail_msg("a batch took %.3f s", (double)got.gap_ns * 1e-9);
        const mr_device_stats *d = &got.stats.devices[1];
        if (i == 0)
            assert_true(d->late != 0 && d->failures != 0 && d->returned != 0 && d->mishap != NULL);
        fake.go_on(); // its end is waited for
        mr_loader_free(loader);
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* It hangs for good: where nobody else is, its lanes do all on the host, and not where it may still write. What it has
 * is left to it, and stays until the program ends: freeing the loader comes back. */
static void it_hangs_for_good(void **state)
{
    (void)state;
    static const char *const lists[] = {BOTH, "opencl:0", "opencl:0", "opencl:0,opencl:1"};
    static const char *const policies[] = {"naive-device", NULL, "auto", NULL};
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(packed, RECIPE, &o);
    for (size_t i = 0; i < 2 * sizeof lists / sizeof *lists; i++) {
        char words[64];
        o = plain(lists[i / 2]);
        devices_tape got = {0};
        o.policy = policies[i / 2];
        o.timeout_ns = UINT64_C(3000000000);
        o.device_memory_nbytes = 4 << 20; // it is never given back
        make_machine(i % 2 == 0 ? "kind=discrete devices=2 memory=134217728" : "kind=cpu devices=2 memory=134217728");
        mr_loader *loader = loading_new(packed, RECIPE, &o);
        snprintf(words, sizeof words, "hang=%lld", fake.count("launches") + 1);
        assert_int_equal(fake.configure(words), 0);
        devices_run(loader, UINT64_MAX, &got);
        devices_compare(&got, &wanted, lists[i / 2]);
        check_samples(&got, EPOCHS * SAMPLES);
        const mr_device_stats *d = &got.stats.devices[0];
        if (i / 2 == 1 && (d->late == 0 || d->on_host == 0 || !d->aside || strstr(d->cause, "not answer") == NULL))
            fail_msg("%llu late, %llu on the host, '%s'", (unsigned long long)d->late, (unsigned long long)d->on_host,
                     d->cause);
        uint64_t begun = mr__clock_monotonic_ns();
        mr_loader_free(loader);
        assert_true(mr__clock_monotonic_ns() - begun < UINT64_C(8000000000));
        fake.go_on();
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* It hangs, is given up, and goes on after all, and writes where its samples were to be: nobody sees that, and it is in
 * use again. */
static void it_was_late(void **state)
{
    (void)state;
    mr_loader_options o = plain(NULL);
    o.epochs = 40;
    devices_tape wanted = devices_all(packed, RECIPE, &o);
    for (size_t i = 0; i < 3; i++) {
        char words[64];
        o.device = "opencl:0";
        o.policy = i == 2 ? "auto" : NULL;
        o.timeout_ns = UINT64_C(3000000000);
        make_machine(i == 1 ? "kind=cpu" : "kind=discrete");
        mr_loader *loader = loading_new(packed, RECIPE, &o);
        long long before = fake.count("launches");
        snprintf(words, sizeof words, "hang=%lld", before + 1);
        assert_int_equal(fake.configure(words), 0);
        devices_tape got = {0};
        devices_run(loader, 3, &got);
        fake.go_on();
        devices_run(loader, UINT64_MAX, &got);
        devices_compare(&got, &wanted, "it was late");
        check_samples(&got, 40 * SAMPLES);
        const mr_device_stats *d = &got.stats.devices[0];
        if (d->late == 0 || d->on_host == 0 || d->on_host > 20 * SAMPLES || d->aside)
            fail_msg("%llu late, %llu on the host", (unsigned long long)d->late, (unsigned long long)d->on_host);
        mr_loader_free(loader);
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* One launch fails: that is told with the driver's words, and the device is in use again. */
static void it_is_well_again(void **state)
{
    (void)state;
    static const char *const words[] = {"resources=%lld", "resources_quiet=%lld"};
    mr_loader_options o = plain(NULL);
    o.form = "l3";
    devices_tape wanted = devices_all(packed, RECIPE, &o);
    for (size_t i = 0; i < 4; i++) {
        devices_tape got = {0};
        make_machine(i / 2 == 0 ? "kind=discrete" : "kind=cpu");
        fails_midway("opencl:0", NULL, words[i % 2], 3, &got);
        devices_compare(&got, &wanted, words[i % 2]);
        const mr_device_stats *d = &got.stats.devices[0];
        if (d->failures != 1 || d->gave_back != 1 || d->on_host == 0 || d->on_host > 16 || d->aside)
            fail_msg("%s: %llu failures, %llu on the host", words[i % 2], (unsigned long long)d->failures,
                     (unsigned long long)d->on_host);
        assert_contains(d->cause, "OUT_OF_RESOURCES");
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* It hangs from its first launch on, which it is tried with: that is said in time; auto does without it. */
static void it_hangs_when_opened(void **state)
{
    (void)state;
    mr_loader_options o = plain("opencl:0");
    o.timeout_ns = UINT64_C(500000000);
    make_machine("hang=1");
    refuses(&o, MR_EDEVICE, "the device opencl:0: it did not do as little as an empty launch in all the time");
    fake.go_on();
    for (int i = 0; i < 2; i++) {
        make_machine("hang=1");
        o.device = i == 0 ? "auto" : BOTH;
        devices_tape got = devices_all(packed, RECIPE, &o);
        assert_int_equal(got.result, 0);
        assert_int_equal(got.stats.device_count, 0);
        check_samples(&got, EPOCHS * SAMPLES);
        fake.go_on();
        devices_tape_fini(&got);
    }
}

/* 2. It cannot be had. */

/* The host does all of it, and the report says why. */
static void without(const char *list, const char *said, const devices_tape *wanted)
{
    mr_loader_options o = plain(list);
    mr_loader_stats stats = {.struct_size = sizeof stats};
    mr_loader *loader = loading_new(packed, RECIPE, &o);
    devices_tape got = {0};
    devices_run(loader, UINT64_MAX, &got);
    devices_compare(&got, wanted, list);
    assert_int_equal(got.stats.device_count, 0);
    assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
    assert_contains(stats.left_out, said);
    mr_loader_free(loader);
    assert_int_equal(fake.check(), 0);
    devices_tape_fini(&got);
}

static void it_cannot_be_had(void **state)
{
    (void)state;
    static const struct {
        const char *words, *said;
        int code;
    } cases[] = {
        {"platforms=0", "OpenCL", MR_EUNSUPPORTED},
        {"devices=0", "OpenCL", MR_EUNSUPPORTED},
        {"build_fails=1", "built", MR_EDEVICE},
        {"exact=0", "opencl:0", MR_EUNSUPPORTED},
        {"lost=0", "opencl:0", MR_EDEVICE},
        {"memory=4096", "opencl:0", MR_EUNSUPPORTED},
        {"fail=clCreateBuffer:1:-4", "opencl:0", MR_ENOMEM},
        {"fail=clCreateContext:1:-6", "opencl:0", MR_ENOMEM},
        {"fail=clCreateCommandQueue:1:-5", "opencl:0", MR_EDEVICE},
    };
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(packed, RECIPE, &o);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const lists[] = {BOTH, "cpu,opencl", "auto"};
        make_machine(cases[i].words);
        o = plain("opencl:0"); // nobody else is there
        refuses(&o, cases[i].code, cases[i].said);
        assert_int_equal(fake.check(), 0);
        for (size_t l = 0; l < 3; l++) {
            make_machine(cases[i].words);
            without(lists[l], l == 0 ? cases[i].said : l == 1 ? "the device opencl" : "", &wanted);
        }
    }
    assert_int_equal(setenv("MILLRACE_OPENCL", "/nowhere/libOpenCL.so", 1), 0); // no ICD loader at all
    o = plain("opencl:0");
    refuses(&o, MR_EUNSUPPORTED, "OpenCL library");
    without(BOTH, "the device opencl:0: ", &wanted);
    without("auto", "", &wanted);
    devices_tape_fini(&wanted);
}

/* 3. It is too small. */

static void a_budget_for_nothing(void **state)
{
    (void)state;
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(packed, RECIPE, &o), got;
    static const char *const lists[] = {BOTH, "opencl:0", "auto"};
    for (size_t i = 0; i < 6; i++) {
        o = plain(lists[i % 3]);
        o.device_memory_nbytes = 1000;
        o.policy = i / 3 == 1 ? "auto" : NULL;
        got = devices_all(packed, RECIPE, &o);
        devices_compare(&got, &wanted, lists[i % 3]);
        check_samples(&got, EPOCHS * SAMPLES);
        assert_int_equal(got.stats.devices[0].failures, 0);
        assert_int_equal(got.stats.devices[0].on_host, i % 3 == 1 ? EPOCHS * SAMPLES : 0);
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* One image of 100 megapixels among small ones, for which a lane has 1 MiB: the host does it, whoever is named. */
static void a_large_image(void **state)
{
    (void)state;
    mr_image image = {0};
    mr_encode_options png = {sizeof png, .form = MR_FORM_PNG, .effort = 1};
    assert_int_equal(mr_image_init(&image, 10000, 10000, 1, 8, NULL), 0);
    for (uint32_t y = 0; y < 10000; y++)
        memset((uint8_t *)image.pixels + (size_t)y * image.stride, (int)(y / 64), 10000);
    picture_file file = picture_encode(&image, &png);
    mr_image_fini(&image, NULL);
    devices_make_folder(&folder, "large", 11, false);
    test_folder_write(&folder, "large/a/900.png", file.bytes, file.nbytes);
    free(file.bytes);
    mr_dataset *large = pack_open(&folder, "large", MR_LAYOUT_FOLDER);
    mr_loader_options o = plain(NULL);
    o.epochs = 1;
    devices_tape wanted = devices_all(large, RECIPE, &o);
    static const char *const lists[] = {"opencl:0", BOTH};
    for (size_t i = 0; i < 2; i++) {
        o.device = lists[i];
        o.device_memory_nbytes = 2 << 20;
        make_machine("");
        devices_tape got = devices_all(large, RECIPE, &o);
        devices_compare(&got, &wanted, lists[i]);
        check_samples(&got, 12);
        const mr_device_stats *d = &got.stats.devices[i];
        assert_int_equal(d->failures, d->late);
        assert_int_equal(d->on_host, i == 0 ? 1 : 0); // the host is given it
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
    mr_dataset_free(large);
}

/* 4. What it is given is damaged. */

/* Bytes of tiles are changed, and the hashes made right, until the host's decoder finds it out. */
static picture_file damaged(bool dct, uint64_t *seed)
{
    const plain_recipe recipe = {.width = 200, .height = 70, .space = PLAIN_YCC, .seed = *seed};
    mr_image image = picture_make(90, 70, 3, 8, *seed);
    picture_file jpeg = plain_encode(&recipe),
                 file = dct ? dct_make(&jpeg) : l3_plain_encode_tiles(&image, 4, 32, 32, true);
    for (;;) {
        picture_file copy = picture_copy(file.bytes, file.nbytes);
        mr_tile tile = dct_tile(&copy, 1);
        copy.bytes[tile.offset + picture_random_below(seed, (uint32_t)tile.nbytes)] ^=
            (uint8_t)(1u << picture_random_below(seed, 8));
        dct ? dct_mend(&copy) : l3_file_fix(&copy);
        int result = picture_try(decoder, copy.bytes, copy.nbytes, NULL);
        if (result == MR_ECORRUPT && strstr(mr_decoder_detail(decoder), "tile 1") != NULL) {
            free(file.bytes);
            file = copy;
            break;
        }
        free(copy.bytes);
    }
    mr_image_fini(&image, NULL);
    free(jpeg.bytes);
    return file;
}

/* A folder of small images, and so many that are damaged. */
static mr_dataset *spoiled(bool dct, uint64_t seed, int count)
{
    char name[64], path[96];
    snprintf(name, sizeof name, "spoiled%d-%llu-%d", dct, (unsigned long long)seed, count);
    devices_make_folder(&folder, name, 9, false);
    for (int i = 0; i < count; i++) {
        picture_file file = damaged(dct, &seed);
        snprintf(path, sizeof path, "%s/b/spoiled%d.l3", name, i);
        test_folder_write(&folder, path, file.bytes, file.nbytes);
        free(file.bytes);
    }
    return pack_open(&folder, name, MR_LAYOUT_FOLDER);
}

static void a_tile_is_damaged(void **state)
{
    (void)state;
    static const char *const lists[] = {"opencl:0", BOTH, BOTH};
    static const char *const policies[] = {NULL, NULL, "naive-device"};
    uint64_t refused = 0;
    for (uint64_t i = 0; i < (test_quick() ? 8 : 24); i++) {
        mr_dataset *dataset = spoiled(i % 2 == 1, i + 1, 1);
        for (int skip = 0; skip < 2; skip++) {
            mr_loader_options o = plain(NULL);
            o.bad = skip ? MR_BAD_SKIP : MR_BAD_FAIL;
            devices_tape wanted = devices_all(dataset, "resize(24)", &o);
            assert_int_equal(wanted.result, skip ? 0 : MR_ECORRUPT);
            if (!skip) {
                assert_contains(wanted.detail, "spoiled");
                assert_contains(wanted.detail, "tile 1 ");
            }
            for (size_t l = 0; l < 3; l++) {
                o.device = lists[l];
                o.policy = policies[l];
                make_machine(i % 4 < 2 ? "kind=discrete" : "kind=cpu");
                devices_tape got = devices_all(dataset, "resize(24)", &o);
                assert_int_equal(got.result, wanted.result);
                assert_string_equal(got.detail, wanted.detail);
                if (skip) { // else it has been met as often as was prepared ahead
                    devices_compare(&got, &wanted, "skipped");
                    assert_int_equal(got.stats.bad, wanted.stats.bad);
                    assert_int_equal(got.stats.substitutes, wanted.stats.substitutes);
                }
                const mr_device_stats *d = &got.stats.devices[got.stats.device_count - 1];
                assert_true(d->on_host >= d->refused && d->failures == d->late);
                refused += d->refused;
                assert_int_equal(fake.check(), 0);
                devices_tape_fini(&got);
            }
            devices_tape_fini(&wanted);
        }
        mr_dataset_free(dataset);
    }
    assert_true(refused != 0); // kernels have seen some of it
}

/* Most are, and each of them takes another sample's place to try, so that nearly all submissions are of one. */
static void most_are_damaged(void **state)
{
    (void)state;
    mr_dataset *dataset = spoiled(false, 99, 27);
    mr_loader_options o = plain(NULL);
    o.epochs = 5;
    o.bad = MR_BAD_SKIP;
    o.bad_max = 100000;
    devices_tape wanted = devices_all(dataset, "resize(24)", &o);
    assert_int_equal(wanted.result, 0);
    for (size_t i = 0; i < 4; i++) {
        o.device = i / 2 == 0 ? "opencl:0" : BOTH;
        make_machine(i % 2 == 0 ? "kind=discrete" : "kind=cpu");
        devices_tape got = devices_all(dataset, "resize(24)", &o);
        devices_compare(&got, &wanted, o.device);
        assert_int_equal(got.stats.substitutes, wanted.stats.substitutes);
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
    mr_dataset_free(dataset);
}

/* A folder of small images, and as many JPEGs of which half is missing: the host finds that while it writes a tape. */
static mr_dataset *halved(void)
{
    const plain_recipe recipe = {.width = 60, .height = 50, .space = PLAIN_YCC, .seed = 5};
    picture_file jpeg = plain_encode(&recipe);
    pack_remove(&folder, "halved");
    devices_make_folder(&folder, "halved", 12, false);
    for (int i = 0; i < 12; i++) {
        char path[64];
        snprintf(path, sizeof path, "halved/b/half%d.jpg", i);
        test_folder_write(&folder, path, jpeg.bytes, jpeg.nbytes / 2);
    }
    free(jpeg.bytes);
    return pack_open(&folder, "halved", MR_LAYOUT_FOLDER);
}

/* A batch moves to other memory, since the device hangs, and takes with it what became of its damaged samples. */
static void damaged_and_late(void **state)
{
    (void)state;
    mr_dataset *dataset = halved();
    for (size_t i = 0; i < 8; i++) {
        char words[64];
        mr_loader_options o = plain(NULL);
        o.batch = 24;
        o.bad = i % 2 == 0 ? MR_BAD_REPLACE : MR_BAD_SKIP;
        o.bad_max = 100000;
        devices_tape wanted = devices_all(dataset, "resize(24)", &o), got = {0};
        o.device = "opencl:0";
        o.timeout_ns = UINT64_C(2000000000);
        make_machine(i / 2 % 2 == 0 ? "kind=discrete" : "kind=cpu");
        mr_loader *loader = loading_new(dataset, "resize(24)", &o);
        snprintf(words, sizeof words, "hang=%lld", fake.count("launches") + 1 + (long long)i / 4 * 9);
        assert_int_equal(fake.configure(words), 0);
        devices_run(loader, UINT64_MAX, &got);
        devices_compare(&got, &wanted, words);
        fake.go_on();
        mr_loader_free(loader);
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
        devices_tape_fini(&wanted);
    }
    mr_dataset_free(dataset);
}

/* Each submission takes longer than it is waited for: batches move again and again, and what they leave is given back.
 */
static void late_again_and_again(void **state)
{
    (void)state;
    mr_dataset *dataset = halved();
    uint64_t late = 0;
    for (size_t i = 0; i < 4; i++) {
        mr_loader_options o = plain(NULL);
        o.batch = 24;
        o.epochs = 5;
        o.bad = i % 2 == 0 ? MR_BAD_REPLACE : MR_BAD_SKIP;
        o.bad_max = 100000;
        devices_tape wanted = devices_all(dataset, "resize(24)", &o);
        o.device = "opencl:0";
        o.timeout_ns = UINT64_C(2000000000);
        o.device_memory_nbytes = 2 << 20;
        make_machine(i / 2 == 0 ? "kind=discrete" : "kind=cpu");
        mr_loader *loader = loading_new(dataset, "resize(24)", &o);
        devices_tape got = {0};
        assert_int_equal(fake.configure("slow_ms=250"), 0);
        devices_run(loader, UINT64_MAX, &got);
        mr_loader_free(loader);
        devices_compare(&got, &wanted, "late");
        late += got.stats.devices[0].late;
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
        devices_tape_fini(&wanted);
    }
    assert_true(late != 0);
    mr_dataset_free(dataset);
}

/* 5. It lacks a step. */

static int invert(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user, (void)draws, (void)scratch;
    for (uint32_t y = 0; y < from->height; y++)
        for (size_t x = 0; x < (size_t)from->width * from->channels; x++)
            ((uint8_t *)to->pixels)[(ptrdiff_t)y * to->stride + (ptrdiff_t)x] =
                (uint8_t)(255 - ((const uint8_t *)from->pixels)[(ptrdiff_t)y * from->stride + (ptrdiff_t)x]);
    return 0;
}

static int try_steps(const char *device, bool user, mr_loader **loader, char detail[240])
{
    const mr_user_step own = {.struct_size = sizeof own, .name = "mine", .run = invert};
    const mr_step step = {.struct_size = sizeof step, .kind = MR_STEP_USER, .user = &own};
    mr_loader_options o = plain(device);
    mr_recipe *recipe = loading_recipe(user ? "resize(24)" : "resize(24) rotate(30)");
    if (user)
        assert_int_equal(mr_recipe_add(recipe, &step), 0);
    int result = mr_loader_new(packed, recipe, &o, loader, detail, 240);
    mr_recipe_free(recipe);
    return result;
}

static void it_lacks_a_step(void **state)
{
    (void)state;
    static const char *const said[] = {"cannot do rotate, step 2 of the recipe", "step 2 of the recipe"};
    for (int user = 0; user < 2; user++) {
        devices_tape wanted = {0}, got = {0};
        mr_loader *loader;
        char detail[240];
        make_machine("doubles=0");
        assert_int_equal(try_steps("opencl:0", user != 0, &loader, detail), MR_EUNSUPPORTED);
        assert_contains(detail, said[user]);
        assert_contains(detail, "name the host too, as in cpu,opencl:0");
        assert_int_equal(try_steps("cpu", user != 0, &loader, detail), 0);
        devices_run(loader, UINT64_MAX, &wanted);
        mr_loader_free(loader);
        assert_int_equal(try_steps(BOTH, user != 0, &loader, detail), 0);
        devices_run(loader, UINT64_MAX, &got);
        assert_contains(got.stats.devices[1].lacks, user ? "step 2 of the recipe" : "rotate, step 2 of the recipe");
        mr_loader_free(loader);
        devices_compare(&got, &wanted, said[user]);
        check_samples(&got, EPOCHS * SAMPLES);
        assert_int_equal(got.stats.devices[1].samples, 0);
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
        devices_tape_fini(&wanted);
    }
}

/* In a process of its own, which ends without a look at what is left: that is left on purpose. */
static void what_hangs_is_left(void **state)
{
    (void)state;
    char said[4096];
    if (!test_again("held", said, sizeof said))
        fail_msg("%s", said);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest held[] = {cmocka_unit_test_setup(it_hangs_for_good, setup_one),
                                      cmocka_unit_test_setup(it_hangs_when_opened, setup_one)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_fails, setup_one),
        cmocka_unit_test_setup(it_hangs, setup_one),
        cmocka_unit_test_setup(it_cannot_be_had, setup_one),
        cmocka_unit_test_setup(a_budget_for_nothing, setup_one),
        cmocka_unit_test_setup(a_large_image, setup_one),
        cmocka_unit_test_setup(a_tile_is_damaged, setup_one),
        cmocka_unit_test_setup(most_are_damaged, setup_one),
        cmocka_unit_test_setup(damaged_and_late, setup_one),
        cmocka_unit_test_setup(late_again_and_again, setup_one),
        cmocka_unit_test_setup(it_was_late, setup_one),
        cmocka_unit_test_setup(it_is_well_again, setup_one),
        cmocka_unit_test_setup(it_lacks_a_step, setup_one),
        cmocka_unit_test(what_hangs_is_left),
    };
    if (argc > 1 && strcmp(argv[1], "held") == 0)
        _exit(cmocka_run_group_tests(held, setup, teardown));
    if (getenv("ONLY") != NULL)
        cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, setup, teardown);
}
