// SPDX-License-Identifier: Apache-2.0
/* Several devices prepare one batch: the same bytes as one alone, whoever does what, whenever. */
#include "test.h"

#include "devices.h"
#include "loader/loader.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 61 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *source, *packed;

static const char *const policies[] = {"auto",   "interbatch", "intrabatch", "naive-device",
                                       "fusion", "longest",    "ends",       "better"};
enum { POLICIES = sizeof policies / sizeof *policies };

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    devices_make_folder(&folder, "source", SAMPLES, false);
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    packed = pack_three_forms(source, &folder, "packed");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(packed);
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options plain(void)
{
    return (mr_loader_options){OPTIONS, .batch = 8, .seed = 7, .epochs = 2, .threads = 2};
}

static void real_threads_under_every_policy(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 4, 32};
    mr_loader_options o = plain();
    devices_tape wanted = devices_all(source, RECIPE, &o);
    assert_int_equal(wanted.batches, 16);
    for (size_t p = 0; p < POLICIES; p++)
        for (size_t t = 0; t < 3; t++) {
            o.policy = policies[p];
            o.threads = threads[t];
            devices_tape got = devices_all(source, RECIPE, &o);
            devices_compare(&got, &wanted, policies[p]);
            assert_string_equal(got.stats.policy, policies[p]);
            assert_int_equal(got.stats.device_count, 1);
            assert_int_equal(got.stats.devices[0].lanes, threads[t]);
            assert_true(got.stats.devices[0].jobs != 0 && got.stats.devices[0].failures == 0);
            assert_null(got.stats.devices[0].mishap);
            devices_tape_fini(&got);
        }
    devices_tape_fini(&wanted);
}

/* A host and alike accelerators, `count` in all. */
static const char *machine_of(uint32_t count)
{
    char text[4096];
    size_t at = (size_t)snprintf(text, sizeof text, "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 3}");
    for (uint32_t d = 1; d < count; d++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               ", {\"name\": \"a%u\", \"kind\": \"accelerator\", \"speed\": %u, \"launch_us\": 300, "
                               "\"group\": 8, \"depth\": 2}",
                               d, d);
    snprintf(text + at, sizeof text - at, "]}");
    return devices_machine(&folder, text);
}

static void simulated_machines_of_all_sizes(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    devices_tape wanted = devices_all(source, RECIPE, &o);
    for (uint32_t count = 1; count <= 8; count += test_quick() ? 3 : 1)
        for (size_t p = 0; p < POLICIES; p++) {
            char what[64];
            snprintf(what, sizeof what, "%s on %u devices", policies[p], count);
            o.policy = policies[p];
            o.device = machine_of(count);
            devices_tape got = devices_all(source, RECIPE, &o);
            devices_compare(&got, &wanted, what);
            assert_true(got.stats.simulated);
            assert_int_equal(got.stats.device_count, count);
            uint64_t others = 0;
            for (uint32_t d = 1; d < count; d++)
                others += got.stats.devices[d].jobs;
            if (strcmp(policies[p], "interbatch") == 0 || strcmp(policies[p], "intrabatch") == 0)
                assert_int_equal(others, 0);
            else if (count > 1)
                assert_true(others != 0);
            devices_tape_fini(&got);
        }
    devices_tape_fini(&wanted);
    o.device = machine_of(9);
    mr_recipe *recipe = loading_recipe(RECIPE);
    mr_loader *loader;
    char detail[240];
    assert_int_equal(mr_loader_new(source, recipe, &o, &loader, detail, sizeof detail), MR_ELIMIT);
    mr_recipe_free(recipe);
}

/* Random speeds, jitters, launches, groups, depths and memories, with mixed forms and mixing of samples. */
static void random_schedules(void **state)
{
    (void)state;
    static const char *const recipes[] = {RECIPE, "rrc(20) flip mixup(0.4) normalize(imagenet) cutmix"};
    static const char *const forms[] = {"original", "original+l3+raw"};
    char text[16384], what[64];
    uint64_t seed = 10;
    devices_tape wanted[4] = {{0}};
    for (int i = 0; i < (test_quick() ? 16 : 100); i++) {
        int k = i % 4;
        mr_loader_options o = plain();
        o.form = forms[k / 2];
        o.slots = 2 + (uint32_t)i % 3;
        if (wanted[k].bytes == NULL)
            wanted[k] = devices_all(packed, recipes[k % 2], &o);
        devices_random(&seed, 1 + picture_random_below(&seed, 8), false, text);
        o.device = devices_machine(&folder, text);
        o.policy = policies[picture_random_below(&seed, POLICIES)];
        devices_tape got = devices_all(packed, recipes[k % 2], &o);
        snprintf(what, sizeof what, "schedule %d, %s", i, o.policy);
        devices_compare(&got, &wanted[k], what);
        for (uint32_t d = 0; d < got.stats.device_count; d++)
            if (got.stats.devices[d].failures != 0 && strcmp(got.stats.devices[d].mishap, "was far too slow") != 0)
                fail_msg("%s: device %u %s\n%s", what, d, got.stats.devices[d].mishap, text);
        devices_tape_fini(&got);
    }
    for (int k = 0; k < 4; k++)
        devices_tape_fini(&wanted[k]);
}

/* The same machine and seed: the same events, at the same times. */
static void a_schedule_repeats(void **state)
{
    (void)state;
    char text[16384];
    uint64_t seed = 77;
    devices_random(&seed, 5, false, text);
    for (size_t p = 0; p < POLICIES; p++) {
        mr_loader_options o = plain();
        double seconds = 0;
        o.policy = policies[p];
        o.device = devices_machine(&folder, text);
        for (int i = 0; i < 3; i++) {
            pack_remove(&folder, "cache"); // what was learned would change it
            devices_tape got = devices_all(source, RECIPE, &o);
            assert_int_equal(got.result, 0);
            if (i != 0 && seconds != got.stats.seconds)
                fail_msg("%s: %.9f s, and again %.9f s", policies[p], seconds, got.stats.seconds);
            seconds = got.stats.seconds;
            devices_tape_fini(&got);
        }
    }
}

static void labels_are_untouched(void **state)
{
    (void)state;
    static const int64_t labels[] = {0, 255, 256, 999, 21840, INT32_MAX, -1};
    enum { LABELS = sizeof labels / sizeof *labels };
    char list[1024], name[64], path[512], list_path[512];
    size_t at = 0;
    for (size_t i = 0; i < LABELS; i++) {
        picture_file file = pack_image(PACK_PNG_3, 20, 20, i);
        snprintf(name, sizeof name, "labels/%zu.png", i);
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
        at += (size_t)snprintf(list + at, sizeof list - at, "%zu.png\t%lld\n", i, (long long)labels[i]);
    }
    test_folder_write(&folder, "labels.tsv", list, at);
    const mr_dataset_options options = {sizeof options, .layout = MR_LAYOUT_FOLDER, .index = MR_INDEX_NONE,
                                        .list = test_folder_path(&folder, "labels.tsv", list_path)};
    const char *paths[] = {test_folder_path(&folder, "labels", path)};
    mr_dataset *dataset;
    assert_int_equal(mr_dataset_new(&options, &dataset), 0);
    assert_int_equal(mr_dataset_open(dataset, paths, 1), 0);
    for (size_t p = 0; p < POLICIES; p++) {
        mr_loader_options o = {OPTIONS, .batch = LABELS, .epochs = 1, .policy = policies[p], .device = machine_of(3)};
        mr_batch *batch;
        mr_loader *loader = loading_new(dataset, "rrc(8)", &o);
        assert_int_equal(mr_loader_next(loader, &batch), 0);
        for (uint32_t i = 0; i < LABELS; i++)
            assert_true(batch->labels[i] == labels[batch->ordinals[i]]);
        mr_batch_release(batch);
        mr_loader_free(loader);
    }
    mr_dataset_free(dataset);
}

/* Every way to deal an epoch out, with the same bytes as without a crew. */
static void every_shape_of_batches(void **state)
{
    (void)state;
    static const struct {
        uint32_t batch, slots, world;
        bool drop_last;
    } shapes[] = {{1, 2, 1, false},   {1, 3, 2, true},  {7, 2, 3, false},  {61, 2, 1, false},
                  {100, 2, 1, false}, {16, 5, 1, true}, {30, 2, 2, false}, {9, 2, 4, true}};
    static const char *const recipes[] = {RECIPE, "rrc(20) flip mixup(0.4) normalize(imagenet) cutmix"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i += test_quick() ? 3 : 1)
        for (size_t p = 0; p < POLICIES; p++)
            for (int k = 0; k < 4; k++) {
                char what[64];
                mr_loader_options o = plain();
                o.batch = shapes[i].batch;
                o.slots = shapes[i].slots;
                o.drop_last = shapes[i].drop_last;
                o.has_rank = true;
                o.world = shapes[i].world;
                o.rank = shapes[i].world - 1;
                devices_tape wanted = devices_all(source, recipes[k % 2], &o);
                o.policy = policies[p];
                o.device = k < 2 ? machine_of(3) : NULL;
                devices_tape got = devices_all(source, recipes[k % 2], &o);
                snprintf(what, sizeof what, "%s, shape %zu.%d", policies[p], i, k);
                devices_compare(&got, &wanted, what);
                devices_tape_fini(&got);
                devices_tape_fini(&wanted);
            }
}

/* The host has no L3, the first accelerator no raw pixels, the second nothing at all. */
static void check_takers(const mr_loader *loader, const char *what)
{
    uint32_t l3, raw;
    size_t count = mr__trace_count(loader->team.trace);
    assert_int_equal(mr_dataset_find_form(packed, "l3", &l3) | mr_dataset_find_form(packed, "raw", &raw), 0);
    assert_int_equal(count, 2 * SAMPLES);
    for (size_t i = 0; i < count; i++) {
        const mr__mark *mark = mr__trace_at(loader->team.trace, i);
        if (mark->device != (mark->form == l3 ? 1 : 0))
            fail_msg("%s: form %u on device %u", what, mark->form, mark->device);
    }
}

/* A form and a step that a device lacks go elsewhere; what nobody can is an error at once. */
static void what_a_device_lacks(void **state)
{
    (void)state;
    static const char text[] = "{\"devices\": [{\"name\": \"cpu\", \"lanes\": 2, \"lacks\": [\"l3\"]}, "
                               "{\"name\": \"a\", \"kind\": \"accelerator\", \"speed\": 9, \"lacks\": [\"raw\"]}, "
                               "{\"name\": \"b\", \"kind\": \"accelerator\", \"speed\": 99, \"lacks\": [\"flip\"]}]}";
    mr_loader_options o = plain();
    o.form = "l3+raw";
    o.trace = 0;
    devices_tape wanted = devices_all(packed, RECIPE, &o);
    for (size_t p = 0; p < POLICIES; p++) {
        devices_tape got = {0};
        o.policy = policies[p];
        o.device = devices_machine(&folder, text);
        o.trace = 4 * SAMPLES;
        mr_loader *loader = loading_new(packed, RECIPE, &o);
        devices_run(loader, UINT64_MAX, &got);
        devices_compare(&got, &wanted, policies[p]);
        check_takers(loader, policies[p]);
        mr_loader_free(loader);
        devices_tape_fini(&got);
    }
    devices_tape_fini(&wanted);
    static const char *const impossible[] = {
        "{\"devices\": [{\"name\": \"cpu\", \"lacks\": [\"l3\"]}]}",
        "{\"devices\": [{\"name\": \"cpu\", \"lacks\": [\"flip\"]}, {\"name\": \"a\", \"lacks\": [\"l3\"]}]}",
        "{\"devices\": [{\"name\": \"cpu\", \"lacks\": [\"png\"]}]}"};
    for (size_t i = 0; i < 3; i++) {
        mr_recipe *recipe = loading_recipe(RECIPE);
        mr_loader *loader;
        char detail[240];
        o.device = devices_machine(&folder, impossible[i]);
        o.policy = NULL;
        o.form = i == 2 ? NULL : "l3+raw";
        assert_int_equal(mr_loader_new(packed, recipe, &o, &loader, detail, sizeof detail), MR_EUNSUPPORTED);
        assert_contains(detail, i == 2 ? "the device cpu cannot decode png" : "cannot decode l3");
        mr_recipe_free(recipe);
    }
}

/* Where images of one form differ in kind: a folder, and what was packed of it as it was. */
static void kinds_differ(void **state)
{
    (void)state;
    static const char text[] = "{\"devices\": [{\"name\": \"cpu\", \"lacks\": [\"png\", \"webp\"]}, "
                               "{\"name\": \"a\", \"lacks\": [\"jpeg\", \"webp\"]}]}";
    for (size_t i = 0; i < 2 * POLICIES; i++) {
        mr_dataset *dataset = i % 2 == 0 ? source : packed;
        mr_loader_options o = plain();
        devices_tape wanted = devices_all(dataset, RECIPE, &o), got = {0};
        o.policy = policies[i / 2];
        o.device = devices_machine(&folder, text);
        o.trace = 4 * SAMPLES;
        mr_loader *loader = loading_new(dataset, RECIPE, &o);
        devices_run(loader, UINT64_MAX, &got);
        devices_compare(&got, &wanted, o.policy);
        assert_int_equal(mr__trace_count(loader->team.trace), 2 * SAMPLES);
        for (size_t n = 0; n < 2 * SAMPLES; n++) {
            const mr__mark *mark = mr__trace_at(loader->team.trace, n);
            mr_record record = {.struct_size = sizeof record};
            assert_int_equal(mr_dataset_record(dataset, mark->ordinal, mark->form, &record), 0);
            if (record.form != MR_FORM_NONE && mark->device != (record.form == MR_FORM_PNG ? 1 : 0))
                fail_msg("%s: form %d on device %u", o.policy, record.form, mark->device);
        }
        mr_loader_free(loader);
        devices_tape_fini(&got);
        devices_tape_fini(&wanted);
    }
}

/* What a loader believes a sample to take on its devices. */
static uint64_t learned(mr_loader *loader, uint32_t device)
{
    return mr__crew_cost(loader->team.crew, device, 0)->samples;
}

/* By real devices: a simulated machine is the same on every run, and so learns anew each time. */
static void costs_are_kept(void **state)
{
    (void)state;
    for (int real = 0; real < 2; real++) {
        mr_loader_options o = plain();
        uint64_t before = 0;
        o.policy = "auto";
        o.device = real ? NULL : machine_of(2);
        pack_remove(&folder, "cache");
        for (int i = 0; i < 3; i++) {
            devices_tape tape = {0};
            mr_loader *loader = loading_new(source, RECIPE, &o);
            assert_true(i == 0 || !real ? learned(loader, 0) == 0 : learned(loader, 0) == before);
            devices_run(loader, UINT64_MAX, &tape);
            before = learned(loader, 0);
            assert_true(before != 0);
            mr_loader_free(loader);
            devices_tape_fini(&tape);
        }
        o.seed = 3; // of the order, which is nothing to costs
        mr_loader *loader = loading_new(source, RECIPE, &o), *other = loading_new(source, "rrc(25)", &o);
        assert_true(learned(loader, 0) == (real ? before : 0) && learned(other, 0) == 0);
        mr_loader_free(loader);
        mr_loader_free(other);
    }
}

/* A file that is damaged in any way is as good as none. */
static void damaged_costs_are_learned_anew(void **state)
{
    (void)state;
    char command[1200];
    static const char *const damages[] = {
        "truncate -s 20 \"$f\"", ": > \"$f\"", "sed -i 's/[0-9][0-9.e+-]*,/1e308,/g' \"$f\"",
        "sed -i 's/\"scale\": [0-9.e+-]*/\"scale\": -7/' \"$f\"", "rm \"$f\"; mkdir \"$f\""};
    mr_loader_options o = plain();
    devices_tape wanted = devices_all(source, RECIPE, &o);
    o.policy = "auto";
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        pack_remove(&folder, "cache");
        devices_tape got = devices_all(source, RECIPE, &o);
        devices_tape_fini(&got);
        snprintf(command, sizeof command, "for f in %s/cache/millrace/costs/*.json; do %s; done", folder.path,
                 damages[i]);
        assert_int_equal(system(command), 0);
        got = devices_all(source, RECIPE, &o);
        devices_compare(&got, &wanted, damages[i]);
        devices_tape_fini(&got);
    }
    pack_remove(&folder, "cache");
    devices_tape_fini(&wanted);
}

static void two_loaders_do_not_meet(void **state)
{
    (void)state;
    mr_loader_options o = plain(), p = plain();
    p.seed = 8;
    devices_tape wanted[2] = {devices_all(source, RECIPE, &o), devices_all(packed, RECIPE, &p)}, got[2] = {{0}};
    o.device = machine_of(3);
    mr_loader *loaders[3];
    loaders[0] = loading_new(source, RECIPE, &o);
    loaders[1] = loading_new(packed, RECIPE, &p);
    loaders[2] = loading_new(packed, RECIPE, &o);
    for (int i = 0; i < 40; i++)
        devices_run(loaders[i % 2], 1, &got[i % 2]);
    for (int i = 0; i < 2; i++) {
        devices_compare(&got[i], &wanted[i], i == 0 ? "the first" : "the second");
        devices_tape_fini(&got[i]);
        devices_tape_fini(&wanted[i]);
    }
    for (int i = 0; i < 3; i++)
        mr_loader_free(loaders[i]);
}

/* Images all alike, so that a device knows the largest after its first. */
static mr_dataset *open_alike(void)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        char name[64];
        picture_file file = pack_image(PACK_PNG_3, 40, 40, 1);
        snprintf(name, sizeof name, "alike/%03zu.png", i);
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
    return pack_open(&folder, "alike", MR_LAYOUT_FOLDER);
}

static void the_steady_state_allocates_nothing(void **state)
{
    (void)state;
    mr_dataset *alike = open_alike();
    for (size_t p = 0; p < POLICIES; p++)
        for (int real = 0; real < 2; real++) {
            loading_counter c = {0};
            mr_hooks hooks = loading_hooks(&c);
            mr_loader_options o = plain();
            o.hooks = &hooks;
            o.epochs = 40;
            o.threads = 1;
            o.read_depth = 1;
            o.policy = policies[p];
            o.device = real ? NULL : machine_of(3);
            mr_loader *loader = loading_new(alike, "short(26) center(24) normalize(imagenet)", &o);
            assert_int_equal(loading_run(loader, 8 * 15).batches, 8 * 15);
            unsigned before = atomic_load(&c.allocated);
            assert_int_equal(loading_run(loader, UINT64_MAX).samples, 25 * SAMPLES);
            if (atomic_load(&c.allocated) != before)
                fail_msg("%s%s: %u allocations", policies[p], real ? "" : ", simulated",
                         atomic_load(&c.allocated) - before);
            mr_loader_free(loader);
        }
    mr_dataset_free(alike);
}

/* Of one that has done nothing yet, so that nothing depends on who met which image. */
static uint64_t memory_of(const mr_loader_options *o)
{
    mr_loader_stats stats = {.struct_size = sizeof stats};
    mr_loader *loader = loading_new(source, RECIPE, o);
    assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
    mr_loader_free(loader);
    return stats.memory_nbytes;
}

static void the_cap_counts_the_crew(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.memory_nbytes = (uint64_t)160 << 20;
    o.batch = 16;
    devices_tape one = devices_all(source, RECIPE, &o);
    uint64_t without = memory_of(&o);
    o.policy = "auto";
    devices_tape crew = devices_all(source, RECIPE, &o);
    devices_compare(&crew, &one, "under a cap");
    assert_true(crew.stats.memory_nbytes <= o.memory_nbytes);
    assert_true(memory_of(&o) > without);
    devices_tape_fini(&one);
    devices_tape_fini(&crew);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_threads_under_every_policy),
        cmocka_unit_test(simulated_machines_of_all_sizes),
        cmocka_unit_test(random_schedules),
        cmocka_unit_test(a_schedule_repeats),
        cmocka_unit_test(labels_are_untouched),
        cmocka_unit_test(every_shape_of_batches),
        cmocka_unit_test(what_a_device_lacks),
        cmocka_unit_test(kinds_differ),
        cmocka_unit_test(costs_are_kept),
        cmocka_unit_test(damaged_costs_are_learned_anew),
        cmocka_unit_test(two_loaders_do_not_meet),
        cmocka_unit_test(the_steady_state_allocates_nothing),
        cmocka_unit_test(the_cap_counts_the_crew),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
