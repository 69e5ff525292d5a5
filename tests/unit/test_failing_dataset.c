// SPDX-License-Identifier: Apache-2.0
/* Datasets opened, read, packed, merged and verified with each allocation refused. */
#include "test.h"

#include "dataset_make.h"
#include "failing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_folder folder;
static made_dataset made[MADE_KINDS], tiny;

static int setup(void **state)
{
    (void)state;
    char path[512];
    test_folder_init(&folder);
    setenv("XDG_CACHE_HOME", test_folder_path(&folder, "cache", path), 1);
    for (made_kind kind = 0; kind < MADE_KINDS; kind++)
        made_init(&made[kind], &folder, kind);
    test_folder_write(&folder, "tiny/x/0.png", made_image(0)->bytes, made_image(0)->nbytes);
    test_folder_write(&folder, "tiny/y/1.png", made_image(1)->bytes, made_image(1)->nbytes);
    tiny = (made_dataset){.kind = MADE_FLAT};
    test_folder_path(&folder, "tiny", tiny.path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

typedef struct how {
    const made_dataset *m;
    mr_dataset_options options;
} how;

static int read_all(const how *h, mr_dataset *d)
{
    mr_reader *reader;
    int result = mr_reader_new(d, &reader);
    if (result != 0)
        return result;
    for (size_t i = 0; i < MADE_SAMPLES && result == 0; i += 5) {
        const void *bytes = NULL;
        size_t nbytes = 0;
        uint64_t ordinal;
        result = mr_reader_record(reader, i, 0, &bytes, &nbytes);
        if (result == 0 && h->m->layout != MR_LAYOUT_CIFAR) // whose check decodes, which allocates
            assert_true(made_bytes_are(h->m, i, bytes, nbytes));
        if (result == 0 && h->m->members != 0)
            result = mr_reader_member(reader, i, 0, &bytes, &nbytes);
        assert_int_equal(mr_reader_detail(reader)[0] == '\0', result == 0);
        if (result == 0) {
            result = mr_dataset_find(d, made_key(h->m, i), &ordinal);
            if (result == 0)
                assert_int_equal(ordinal, i);
        }
    }
    mr_reader_free(reader);
    return result;
}

static int open_and_read(const mr_hooks *hooks, void *arg)
{
    how *h = arg;
    mr_dataset *d;
    h->options.hooks = hooks;
    int result = made_open(h->m, &h->options, &d);
    if (d != NULL) {
        assert_int_equal(mr_dataset_detail(d)[0] == '\0', result == 0);
        assert_int_equal(mr_dataset_count(d), result == 0 ? MADE_SAMPLES : 0);
        if (result == 0)
            result = read_all(h, d);
    }
    mr_dataset_free(d);
    return result;
}

/* The one that failed for want of memory is opened again. */
static int open_twice(const mr_hooks *hooks, void *arg)
{
    how *h = arg;
    mr_dataset *d;
    const char *path = h->m->path;
    h->options.hooks = hooks;
    int result = made_open(h->m, &h->options, &d);
    if (d != NULL && result != 0) {
        result = mr_dataset_open(d, &path, 1);
        assert_int_equal(mr_dataset_count(d), result == 0 ? MADE_SAMPLES : 0);
    }
    mr_dataset_free(d);
    return result;
}

static void run_all(mr_index_place place, bool rebuild)
{
    for (made_kind kind = 0; kind < MADE_KINDS; kind++) {
        how h = {.m = &made[kind],
                 .options = {.struct_size = sizeof h.options, .index = place, .threads = 1, .rebuild = rebuild}};
        failing_run(open_and_read, &h);
        mr_dataset *d = made_open_well(&made[kind]);
        made_check(&made[kind], d);
        mr_dataset_free(d);
    }
}

static void indexes_that_are_kept_nowhere(void **state)
{
    (void)state;
    run_all(MR_INDEX_NONE, false);
}

static void indexes_that_are_found(void **state)
{
    (void)state;
    run_all(MR_INDEX_CACHE, false);
}

static void indexes_that_are_written(void **state)
{
    (void)state;
    static const made_kind kinds[] = {MADE_IMAGE_FOLDER, MADE_BRACES};
    for (size_t i = 0; i < 2; i++) {
        how h = {.m = &made[kinds[i]],
                 .options = {.struct_size = sizeof h.options, .index = MR_INDEX_BESIDE, .threads = 1, .rebuild = true}};
        failing_run(open_and_read, &h);
    }
}

static void the_next_open_works(void **state)
{
    (void)state;
    for (made_kind kind = 0; kind < MADE_KINDS; kind++) {
        how h = {.m = &made[kind], .options = {.struct_size = sizeof h.options, .index = MR_INDEX_NONE, .threads = 1}};
        failing_run(open_twice, &h);
    }
}

/* Packs, into a folder that is fresh each time. */
static int pack(const mr_hooks *hooks, mr_dataset *source, const char *to, uint32_t part, uint32_t parts)
{
    mr_packer *packer;
    const mr_pack_form forms[] = {{.struct_size = sizeof *forms}, {.struct_size = sizeof *forms, .form = MR_FORM_L3}};
    const mr_pack_options options = {.struct_size = sizeof options,
                                     .hooks = hooks,
                                     .forms = forms,
                                     .form_count = 2,
                                     .shard_samples = 1,
                                     .part = part,
                                     .parts = parts,
                                     .threads = 1};
    mr_pack_report report = {.struct_size = sizeof report};
    int result = mr_packer_new(&options, &packer);
    if (result != 0)
        return result;
    result = mr_packer_run(packer, source, to, &report);
    if (result == 0)
        assert_int_equal(report.samples, parts != 0 ? 1 : 2);
    else
        assert_true(mr_packer_detail(packer)[0] != '\0');
    mr_packer_free(packer);
    return result;
}

static void remove_folder(const char *path)
{
    test_folder gone;
    assert_true((size_t)snprintf(gone.path, sizeof gone.path, "%s", path) < sizeof gone.path);
    test_folder_fini(&gone);
}

static void check_tiny(const char *path)
{
    made_dataset packed = {.kind = MADE_PACKED};
    snprintf(packed.path, sizeof packed.path, "%s", path);
    mr_dataset *d = made_open_well(&packed);
    assert_int_equal(mr_dataset_count(d), 2);
    mr_dataset_free(d);
}

/* After each failure the run is gone on with, and what comes of it is whole. */
static int pack_tiny(const mr_hooks *hooks, void *arg)
{
    char path[512];
    (void)arg;
    test_folder_path(&folder, "tiny-packed", path);
    remove_folder(path);
    mr_dataset *d = NULL;
    mr_dataset_options options = {.struct_size = sizeof options, .hooks = hooks, .index = MR_INDEX_NONE, .threads = 1};
    int result = made_open(&tiny, &options, &d);
    if (result == 0)
        result = pack(hooks, d, path, 0, 0);
    mr_dataset_free(d);
    return result;
}

static void packing(void **state)
{
    (void)state;
    char path[512];
    failing_run(pack_tiny, NULL);
    mr_dataset *d = made_open_well(&tiny);
    assert_int_equal(pack(NULL, d, test_folder_path(&folder, "tiny-packed", path), 0, 0), 0);
    mr_dataset_free(d);
    check_tiny(path);
}

static int merge_tiny(const mr_hooks *hooks, void *arg)
{
    char to[512], zero[512], one[512];
    const char *folders[] = {test_folder_path(&folder, "part-0", zero), test_folder_path(&folder, "part-1", one)};
    mr_packer *packer;
    const mr_pack_options options = {.struct_size = sizeof options, .hooks = hooks, .threads = 1};
    mr_pack_report report = {.struct_size = sizeof report};
    (void)arg;
    test_folder_path(&folder, "merged", to);
    int result = mr_packer_new(&options, &packer);
    if (result != 0)
        return result;
    result = mr_packer_merge(packer, folders, 2, to, &report);
    if (result != 0)
        assert_true(mr_packer_detail(packer)[0] != '\0');
    mr_packer_free(packer);
    return result;
}

static void make_parts(void)
{
    static const char *const names[] = {"part-0", "part-1", "merged"};
    char path[512];
    mr_dataset *d = made_open_well(&tiny);
    for (uint32_t i = 0; i < 3; i++) {
        remove_folder(test_folder_path(&folder, names[i], path));
        if (i < 2)
            assert_int_equal(pack(NULL, d, path, i, 2), 0);
    }
    mr_dataset_free(d);
}

/* Each time from parts that are whole; after each failure the merge is gone on with. */
static void merging(void **state)
{
    (void)state;
    char path[512];
    test_folder_path(&folder, "merged", path);
    mr_hooks hooks = failing_hooks();
    size_t attempts = 1;
    for (size_t nth = 0; nth <= attempts; nth++) {
        make_parts();
        failing_begin(nth, nth % 2 == 0);
        int result = merge_tiny(&hooks, NULL);
        failing_counts counts = failing_end();
        if (nth == 0) {
            assert_int_equal(result, 0);
            attempts = counts.attempts;
        }
        assert_null(counts.fault);
        assert_int_equal(counts.live_blocks, 0);
        if (result != 0) {
            assert_int_equal(result, MR_ENOMEM);
            assert_int_equal(merge_tiny(NULL, NULL), 0);
        }
        check_tiny(path);
    }
}

static int verify(const mr_hooks *hooks, void *arg)
{
    char detail[256] = "", report_path[512];
    mr_verify_report report = {.struct_size = sizeof report};
    const mr_verify_options options = {.struct_size = sizeof options,
                                       .hooks = hooks,
                                       .threads = 1,
                                       .report = test_folder_path(&folder, "verified.txt", report_path)};
    unlink(report_path);
    int result = mr_dataset_verify(arg, &options, &report, detail, sizeof detail);
    assert_int_equal(detail[0] == '\0', result == 0);
    if (result == 0) {
        assert_int_equal(report.findings, 0);
        assert_int_equal(report.records, 4);
    }
    return result;
}

static void verifying(void **state)
{
    (void)state;
    char path[512];
    failing_run(verify, (void *)(uintptr_t)test_folder_path(&folder, "tiny-packed", path));
}

/* A thread that is not to be had is done without. */
static void threads_that_are_refused(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 3; nth++) {
        mr_dataset *d;
        const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE, .threads = 3};
        failing_threads(nth);
        int result = made_open(&made[MADE_BRACES], &options, &d);
        failing_threads(0);
        assert_int_equal(result, 0);
        made_check(&made[MADE_BRACES], d);
        mr_dataset_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_that_are_kept_nowhere),
        cmocka_unit_test(indexes_that_are_found),
        cmocka_unit_test(indexes_that_are_written),
        cmocka_unit_test(the_next_open_works),
        cmocka_unit_test(threads_that_are_refused),
        cmocka_unit_test(packing),
        cmocka_unit_test(merging),
        cmocka_unit_test(verifying),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
