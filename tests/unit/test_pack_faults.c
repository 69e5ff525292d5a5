// SPDX-License-Identifier: Apache-2.0
/*
 * Whatever the disk does, what is published is whole, and the same command makes the same dataset in the end: with
 * every call failing in its turn, and with power cuts at any of them.
 */
#include "test.h"

#include "base/rng.h"
#include "faulty_disk.h"
#include "pack_make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static test_folder folder;
static mr_dataset *source;
static const mr_pack_form forms[] = {{sizeof *forms, .form = MR_FORM_NONE}, {sizeof *forms, .form = MR_FORM_L3}};
static const mr_pack_options options = {.struct_size = sizeof options,
                                        .forms = forms,
                                        .form_count = 2,
                                        .shard_samples = 3,
                                        .max_bad = 500000,
                                        .threads = 1};

/* Eight images in three shards, of which one is cut; and what an undisturbed run makes of them, whole and in parts. */
static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    pack_make_folder(&folder, "source", 8, 5);
    test_folder_write(&folder, "source/b/000009.jpg", "\xff\xd8\xff\xe0", 4);
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    mr_pack_report report = pack_run(source, &folder, "whole", &options);
    assert_int_equal(report.shards, 3);
    assert_int_equal(report.refused, 1);
    assert_int_equal(pack_verify(&folder, "whole", NULL), 0);
    for (uint32_t i = 0; i < 2; i++) {
        mr_pack_options part = options;
        part.part = i;
        part.parts = 2;
        pack_run(source, &folder, i == 0 ? "part0" : "part1", &part);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

/* What a test disturbs: packing, or merging into a folder of its own or into that of a part. */
typedef struct work {
    const char *target;
    const char *parts; /* NULL: packing */
} work;

static const work packing = {"out", NULL}, merging = {"out", "p0 p1"}, merging_into_part = {"p0", "p0 p1"};

static void begin(const work *w)
{
    pack_remove(&folder, "out");
    if (w->parts == NULL)
        return;
    pack_remove(&folder, "p0");
    pack_remove(&folder, "p1");
    pack_copy(&folder, "part0", "p0");
    pack_copy(&folder, "part1", "p1");
}

static pack_outcome do_work(const work *w, const mr__disk *disk)
{
    return w->parts == NULL ? pack_try(source, &folder, w->target, &options, disk)
                            : pack_try_merge(&folder, w->parts, w->target, disk);
}

/* Once more, undisturbed. A disk that only counts is the real one without its syncs, which take long. */
static bool go_on(const work *w, char what[512])
{
    faulty_disk calm;
    faulty_disk_init(&calm);
    pack_outcome outcome = do_work(w, &calm.disk);
    faulty_disk_fini(&calm);
    if (outcome.result != 0)
        snprintf(what, 512, "going on fails: %.400s", outcome.detail);
    return outcome.result == 0 && pack_same(&folder, w->target, "whole", what);
}

/* Whether what is there now is a whole dataset, or none. */
static bool is_sound(const work *w, char what[512])
{
    char path[512], name[64];
    const char *paths[] = {test_folder_path(&folder, w->target, path)};
    const mr_dataset_options given = {sizeof given, .index = MR_INDEX_NONE, .threads = 1};
    mr_dataset *dataset;
    mr_verify_report report;
    snprintf(name, sizeof name, "%s/dataset.json", w->target);
    bool there = pack_exists(&folder, name);
    assert_int_equal(mr_dataset_new(&given, &dataset), 0);
    bool opens = mr_dataset_open(dataset, paths, 1) == 0;
    mr_dataset_free(dataset);
    snprintf(what, 512, "%s", opens == there ? "" : there ? "dataset.json is there, but does not open" : "it opens");
    if (opens == there && there && pack_verify(&folder, w->target, &report) != 0)
        snprintf(what, 512, "dataset.json is there, and %llu findings", (unsigned long long)report.findings);
    return what[0] == '\0';
}

static size_t count_calls(const work *w)
{
    faulty_disk disk;
    begin(w);
    faulty_disk_init(&disk);
    assert_int_equal(do_work(w, &disk.disk).result, 0);
    size_t calls = disk.calls;
    for (int i = 0; i < FAULTY_CALLS; i++) /* every kind of call is among those that fail */
        assert_true(disk.each[i] != 0 || w->parts != NULL);
    faulty_disk_fini(&disk);
    pack_compare(&folder, w->target, "whole");
    return calls;
}

static void fail_at(const work *w, faulty_fault fault)
{
    char what[512];
    faulty_disk disk;
    begin(w);
    faulty_disk_init(&disk);
    faulty_disk_fail(&disk, fault);
    pack_outcome outcome = do_work(w, &disk.disk);
    faulty_disk_fini(&disk);
    if (!is_sound(w, what) || !go_on(w, what))
        fail_msg("call %zu fails%s with %d (%s): %s", fault.nth, fault.for_ever ? " and all behind it" : "",
                 fault.error, outcome.detail, what);
}

static void fail_each(const work *w)
{
    size_t calls = count_calls(w), step = test_quick() ? 3 : 1;
    assert_true(calls > 20);
    for (size_t nth = 1; nth <= calls; nth += step) {
        fail_at(w, (faulty_fault){nth, ENOSPC, .reached = 100});
        fail_at(w, (faulty_fault){nth, EIO, .for_ever = true});
        if (test_long()) {
            fail_at(w, (faulty_fault){nth, EIO, .reached = 0});
            fail_at(w, (faulty_fault){nth, ENOSPC, .reached = 1000, .for_ever = true});
        }
    }
}

static void every_call_of_packing_fails(void **state)
{
    (void)state;
    fail_each(&packing);
}

static void every_call_of_merging_fails(void **state)
{
    (void)state;
    fail_each(&merging);
    fail_each(&merging_into_part);
}

/* How a disk lies: what it says is stored is not. */
typedef enum lie { HONEST, NO_SYNC, NO_SYNC_FOLDER } lie;

static int no_sync(const mr__disk *disk, mr__disk_file *file)
{
    (void)disk, (void)file;
    return 0;
}

static int no_sync_folder(const mr__disk *disk, const char *path)
{
    (void)disk, (void)path;
    return 0;
}

/*
 * Up to three runs on one disk: some call of each fails, once or for ever; then the power goes. What is there is sound,
 * and going on makes the whole. Returns whether that holds.
 */
static bool cut_power(const work *w, size_t calls, uint64_t seed, lie how, char what[512])
{
    mr__rng rng;
    faulty_disk disk;
    mr__rng_init(&rng, seed, 1, 0, 0);
    begin(w);
    faulty_disk_init(&disk);
    mr__disk given = disk.disk;
    if (how == NO_SYNC)
        given.sync = no_sync;
    if (how == NO_SYNC_FOLDER)
        given.sync_folder = no_sync_folder;
    uint32_t runs = 1 + mr__rng_below(&rng, 3);
    for (uint32_t i = 0; i < runs; i++) {
        faulty_fault fault = {1 + mr__rng_below(&rng, (uint32_t)calls + 2), EIO, .reached = mr__rng_below(&rng, 3000)};
        fault.for_ever = i + 1 == runs || mr__rng_below(&rng, 2) == 0;
        faulty_disk_fail(&disk, fault);
        do_work(w, &given);
    }
    faulty_disk_crash(&disk, seed);
    faulty_disk_fini(&disk);
    return is_sound(w, what) && go_on(w, what);
}

static size_t seeds(void)
{
    return test_long() ? 3000 : test_quick() ? 100 : 400;
}

static void survive_cuts(const work *w, size_t count, uint64_t first)
{
    char what[512];
    size_t calls = count_calls(w);
    for (size_t i = 0; i < count; i++)
        if (!cut_power(w, calls, first + i, HONEST, what))
            fail_msg("seed %llu: %s", (unsigned long long)(first + i), what);
}

static void power_cuts_while_packing(void **state)
{
    (void)state;
    survive_cuts(&packing, seeds(), 1000);
    survive_cuts(&packing, 1, 2919); /* a plan whose name was not made to last */
}

static void power_cuts_while_merging(void **state)
{
    (void)state;
    survive_cuts(&merging, seeds() / 2, 20000);
    survive_cuts(&merging_into_part, seeds() / 2, 30000);
}

/* A disk that lies about its syncs must be caught by the same proof, or the proof shows nothing. */
static size_t count_bites(const work *w, lie how)
{
    char what[512];
    size_t calls = count_calls(w), bites = 0;
    for (uint64_t seed = 1; seed <= 60; seed++)
        bites += !cut_power(w, calls, seed, how, what);
    return bites;
}

static void the_proof_bites(void **state)
{
    (void)state;
    assert_true(count_bites(&packing, NO_SYNC) > 0);
    assert_true(count_bites(&packing, NO_SYNC_FOLDER) > 0);
    assert_true(count_bites(&merging, NO_SYNC_FOLDER) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_packing_fails),
        cmocka_unit_test(every_call_of_merging_fails),
        cmocka_unit_test(power_cuts_while_packing),
        cmocka_unit_test(power_cuts_while_merging),
        cmocka_unit_test(the_proof_bites),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
