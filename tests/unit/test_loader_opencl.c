// SPDX-License-Identifier: Apache-2.0
/* Loaders with an OpenCL device, the fake one of the tests: the same bytes as by the host alone, whoever prepares what,
 * in whatever order, and also when the device dies in the middle. */
#include "test.h"

#include "devices.h"
#include "fake_opencl.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 29, EPOCHS = 2 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define MORE    "short(26) rotate(20) jitter(0.4,0.4,0.4,0.1) center(24) normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *packed;
static fake_opencl fake;

static const char *const forms[] = {"original", "l3", "raw"};
/* With little memory: what is new is filled with garbage, which would take the longest of all. */
#define MEMORY " memory=33554432"
static const char *const kinds[] = {"kind=discrete" MEMORY, "kind=integrated" MEMORY, "kind=cpu" MEMORY};
static const char *const policies[] = {NULL, "auto", "interbatch", "intrabatch", "naive-device", "fusion"};

enum { FORMS = 3, KINDS = 3, POLICIES = sizeof policies / sizeof *policies };

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    fake = fake_opencl_open();
    assert_int_equal(setenv("MILLRACE_OPENCL", MILLRACE_FAKE_OPENCL, 1), 0);
    devices_make_folder(&folder, "source", SAMPLES, false);
    mr_dataset *source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    packed = pack_three_forms(source, &folder, "packed");
    mr_dataset_free(source);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(packed);
    test_folder_fini(&folder);
    return 0;
}

static int setup_one(void **state)
{
    (void)state;
    fake.reset();
    return 0;
}

static mr_loader_options plain(const char *device)
{
    return (mr_loader_options){OPTIONS, .batch = 8, .seed = 7, .epochs = EPOCHS, .threads = 2, .device = device};
}

/* All of them were prepared, and nothing of OpenCL's was used wrongly or is left. */
static void check_report(const devices_tape *got, const char *what)
{
    uint64_t samples = 0;
    for (uint32_t d = 0; d < got->stats.device_count; d++)
        samples += got->stats.devices[d].samples;
    if (samples != EPOCHS * SAMPLES || got->stats.samples != EPOCHS * SAMPLES)
        fail_msg("%s: %llu samples were prepared, and %llu delivered", what, (unsigned long long)samples,
                 (unsigned long long)got->stats.samples);
    const mr_device_stats *d = &got->stats.devices[got->stats.device_count - 1];
    if (d->on_host != 0 || d->refused != 0 || d->failures != d->late) // it may be slow
        fail_msg("%s: %llu on the host, %llu refused, %llu failures", what, (unsigned long long)d->on_host,
                 (unsigned long long)d->refused, (unsigned long long)d->failures);
    if (fake.check() != 0)
        fail_msg("%s: OpenCL was used wrongly", what);
}

/* Alone, and beside the host under every policy; every form on every kind of device. */
static void everybody_gives_the_same(void **state)
{
    (void)state;
    static const char *const recipes[] = {RECIPE, MORE};
    static const char *const lists[] = {"opencl:0", "cpu,opencl:0"};
    for (size_t f = 0; f < FORMS; f++)
        for (size_t r = 0; r < 2; r++) {
            mr_loader_options o = plain(NULL);
            o.form = forms[f];
            devices_tape wanted = devices_all(packed, recipes[r], &o);
            for (size_t i = 0; i < (size_t)KINDS * 2 * POLICIES; i++) {
                char what[128];
                if (r == 1 && i % 5 != f) // the device's ops have tests of their own
                    continue;
                fake.reset();
                assert_int_equal(fake.configure(kinds[i % KINDS]), 0);
                o.device = lists[i / KINDS % 2];
                o.policy = policies[i / KINDS / 2];
                o.threads = 1 + (uint32_t)i % 4;
                devices_tape got = devices_all(packed, recipes[r], &o);
                snprintf(what, sizeof what, "%s, %s, %s, %s", forms[f], kinds[i % KINDS], o.device,
                         o.policy != NULL ? o.policy : "no policy");
                devices_compare(&got, &wanted, what);
                check_report(&got, what);
                devices_tape_fini(&got);
            }
            devices_tape_fini(&wanted);
        }
}

/* Submissions are of whatever is left of a batch, and all that the device was promised to take at once has room. */
static void batches_of_any_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 3, 17, 23, 29};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        char what[64];
        mr_loader_options o = plain(NULL);
        o.epochs = 6;
        o.batch = sizes[i / 2];
        o.slots = 2 + (uint32_t)(i % 5) * 10;
        devices_tape wanted = devices_all(packed, "resize(5)", &o);
        fake.reset();
        assert_int_equal(fake.configure(kinds[i % 2 * 2]), 0);
        assert_int_equal(fake.configure("jitter_us=300"), 0);
        o.device = "opencl:0";
        o.timeout_ns = UINT64_C(20000000000);
        devices_tape got = devices_all(packed, "resize(5)", &o);
        snprintf(what, sizeof what, "batches of %u", o.batch);
        devices_compare(&got, &wanted, what);
        assert_int_equal(fake.check(), 0);
        devices_tape_fini(&got);
        devices_tape_fini(&wanted);
    }
}

/* What is asked for when nobody says anything of devices: the host's own cores are not taken twice. */
static void auto_takes_it(void **state)
{
    (void)state;
    mr_loader_options o = plain(NULL);
    devices_tape wanted = devices_all(packed, RECIPE, &o);
    for (size_t k = 0; k < KINDS; k++) {
        fake.reset();
        assert_int_equal(fake.configure(kinds[k]), 0);
        o.device = "auto";
        devices_tape got = devices_all(packed, RECIPE, &o);
        devices_compare(&got, &wanted, kinds[k]);
        assert_int_equal(got.stats.device_count, k == 2 ? 0 : 2);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
}

/* A device that is now slow, now fast, another time each launch; threads, batches ahead, forms and policies by chance.
 */
static void random_schedules(void **state)
{
    (void)state;
    uint64_t seed = 11;
    devices_tape wanted[FORMS];
    for (size_t f = 0; f < FORMS; f++) {
        mr_loader_options o = plain(NULL);
        o.form = forms[f];
        wanted[f] = devices_all(packed, RECIPE, &o);
    }
    for (int i = 0; i < (test_quick() ? 20 : 100); i++) {
        char words[128], what[256];
        uint64_t begun = seed;
        size_t f = picture_random_below(&seed, FORMS);
        mr_loader_options o = plain(picture_random_below(&seed, 4) == 0 ? "opencl:0" : "cpu,opencl:0");
        o.form = forms[f];
        o.policy = policies[picture_random_below(&seed, POLICIES)];
        o.threads = 1 + picture_random_below(&seed, 4);
        o.slots = 2 + picture_random_below(&seed, 3);
        fake.reset();
        snprintf(words, sizeof words, "%s units=%u seed=%u jitter_us=%u", kinds[picture_random_below(&seed, KINDS)],
                 1 + picture_random_below(&seed, 4), picture_random_below(&seed, 1000),
                 picture_random_below(&seed, 3) * 400);
        assert_int_equal(fake.configure(words), 0);
        snprintf(what, sizeof what, "schedule %d of seed %llu (%s; %s, %s, %s, %u threads)", i,
                 (unsigned long long)begun, words, o.form, o.device, o.policy != NULL ? o.policy : "no policy",
                 o.threads);
        devices_tape got = devices_all(packed, RECIPE, &o);
        devices_compare(&got, &wanted[f], what);
        check_report(&got, what);
        devices_tape_fini(&got);
    }
    for (size_t f = 0; f < FORMS; f++)
        devices_tape_fini(&wanted[f]);
}

/* Every batch once, every position once. */
static void check_positions(mr_loader *loader, const char *what, loading_sum *sum)
{
    uint8_t seen[EPOCHS][SAMPLES] = {{0}};
    mr_batch *batch;
    int result;
    *sum = (loading_sum){0};
    while ((result = mr_loader_next(loader, &batch)) == 0 && batch != NULL) {
        for (uint32_t i = 0; i < batch->count; i++)
            seen[batch->epoch][batch->positions[i]]++;
        sum->hash += mr_batch_hash(batch) * (batch->epoch + 1);
        mr_batch_release(batch);
        sum->batches++;
    }
    if (result != 0)
        fail_msg("%s: %s", what, mr_loader_detail(loader));
    for (size_t i = 0; i < (size_t)EPOCHS * SAMPLES; i++)
        if (seen[i / SAMPLES][i % SAMPLES] != 1)
            fail_msg("%s: position %zu came %u times", what, i, seen[i / SAMPLES][i % SAMPLES]);
}

/* In the middle of an epoch it is gone: its calls fail, or only what it was given does. */
static void killed_in_the_middle(void **state)
{
    (void)state;
    for (size_t i = 0; i < (size_t)FORMS * 2 * 2 * POLICIES; i++) {
        mr_loader_options o = plain(NULL);
        loading_sum wanted, got;
        mr_loader_stats stats = {.struct_size = sizeof stats};
        char what[128], words[64];
        o.form = forms[i % FORMS];
        mr_loader *loader = loading_new(packed, RECIPE, &o);
        check_positions(loader, "cpu", &wanted);
        mr_loader_free(loader);
        pack_remove(&folder, "cache"); // or it is known to be slow, and has little to do
        fake.reset();
        assert_int_equal(fake.configure(kinds[i / FORMS % 2 * 2]), 0);
        assert_int_equal(fake.configure(i / FORMS / 2 % 2 == 0 ? "jitter_us=100" : "jitter_us=100 lost_quiet=1"), 0);
        o.device = "cpu,opencl:0";
        o.policy = policies[i / FORMS / 4];
        o.threads = 1;
        snprintf(what, sizeof what, "case %zu, %s, %s", i, o.form, o.policy != NULL ? o.policy : "no policy");
        loader = loading_new(packed, RECIPE, &o);
        snprintf(words, sizeof words, "lost=%lld", fake.count("launches") + (long long)(i % 8));
        assert_int_equal(fake.configure(words), 0);
        check_positions(loader, what, &got);
        assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
        const mr_device_stats *d = &stats.devices[1];
        if (got.hash != wanted.hash || got.batches != wanted.batches)
            fail_msg("%s: another hash", what);
        assert_int_equal(stats.devices[0].samples + d->samples, EPOCHS * SAMPLES);
        assert_int_equal(stats.devices[0].failures, 0);
        if (d->gave_back != 0) // unless it had nothing to do any more
            assert_true(d->mishap != NULL && d->returned != 0);
        if (o.policy != NULL && strcmp(o.policy, "naive-device") == 0 && d->gave_back == 0) // all was its to do
            fail_msg("%s: it was not killed", what);
        mr_loader_free(loader);
        assert_int_equal(fake.check(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(everybody_gives_the_same, setup_one),
        cmocka_unit_test_setup(batches_of_any_size, setup_one),
        cmocka_unit_test_setup(auto_takes_it, setup_one),
        cmocka_unit_test_setup(random_schedules, setup_one),
        cmocka_unit_test_setup(killed_in_the_middle, setup_one),
    };
    if (getenv("ONLY") != NULL)
        cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, setup, teardown);
}
