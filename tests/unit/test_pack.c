// SPDX-License-Identifier: Apache-2.0
/* What packing makes of images: the same bytes on any number of threads, forms, shares, budgets, alignment. */
#include "test.h"

#include "pack_make.h"
#include "tar_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SOURCE_COUNT = 39 };

static test_folder folder;
static mr_dataset *source;

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    pack_make_folder(&folder, "source", SOURCE_COUNT, 14);
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

static mr_pack_options options_of(const mr_pack_form *forms, size_t count)
{
    return (mr_pack_options){.struct_size = sizeof(mr_pack_options), .forms = forms, .form_count = count, .threads = 2};
}

#define FORM(...)                                                                                                      \
    {                                                                                                                  \
        .struct_size = sizeof(mr_pack_form), __VA_ARGS__                                                               \
    }

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {
        FORM(.form = MR_FORM_NONE), FORM(.form = MR_FORM_L3), FORM(.form = MR_FORM_RAW, .share = 400000),
        FORM(.form = MR_FORM_JPEG, .short_side = 8), FORM(.form = MR_FORM_PNG, .max_side = 9)};
    static const uint32_t threads[] = {1, 2, 5};
    mr_pack_options options = options_of(forms, 5);
    options.shard_samples = 7;
    for (size_t i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "threads%zu", i);
        options.threads = threads[i];
        mr_pack_report report = pack_run(source, &folder, name, &options);
        assert_int_equal(report.samples, SOURCE_COUNT);
        assert_int_equal(report.shards, 6);
        assert_int_equal(report.shards_found, 0);
        assert_int_equal(pack_verify(&folder, name, NULL), 0);
        if (i != 0)
            pack_compare(&folder, name, "threads0");
    }
    mr_pack_report report = pack_run(source, &folder, "threads0", &options);
    assert_true(report.was_complete && report.shards_found == 6 && report.in_nbytes == 0);
}

static mr_image decode_record(mr_reader *reader, uint64_t ordinal, uint32_t form)
{
    const void *bytes;
    size_t nbytes;
    if (mr_reader_record(reader, ordinal, form, &bytes, &nbytes) != 0)
        fail_msg("%s", mr_reader_detail(reader));
    return picture_decode(bytes, nbytes, NULL);
}

/* Original bytes are kept; L3 and raw have the same pixels; reduced ones the size asked for. */
static void forms_hold_what_they_should(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_NONE), FORM(.form = MR_FORM_L3),
                                         FORM(.form = MR_FORM_RAW), FORM(.form = MR_FORM_WEBP, .short_side = 6),
                                         FORM(.form = MR_FORM_JPEG, .max_side = 10)};
    static const char *const names[] = {"original", "l3", "raw", "webp-short6", "jpeg-max10"};
    mr_pack_options options = options_of(forms, 5);
    mr_reader *from, *to;
    pack_run(source, &folder, "forms", &options);
    mr_dataset *d = pack_open(&folder, "forms", MR_LAYOUT_AUTO);
    assert_int_equal(mr_reader_new(d, &to) | mr_reader_new(source, &from), 0);
    for (uint32_t f = 0; f < 5; f++) {
        mr_dataset_form form = {.struct_size = sizeof form};
        assert_int_equal(mr_dataset_get_form(d, f, &form), 0);
        assert_string_equal(form.name, names[f]);
        if (f == 0 || f == 2)
            assert_int_equal(form.samples, SOURCE_COUNT);
    }
    for (uint64_t i = 0; i < SOURCE_COUNT; i++) {
        const void *bytes, *was;
        size_t nbytes, was_nbytes;
        assert_int_equal(mr_reader_record(from, i, 0, &was, &was_nbytes), 0);
        assert_int_equal(mr_reader_record(to, i, 0, &bytes, &nbytes), 0);
        assert_int_equal(nbytes, was_nbytes);
        assert_memory_equal(bytes, was, nbytes);
        mr_image wanted = picture_decode(was, was_nbytes, NULL);
        for (uint32_t f = 1; f < 5; f++) {
            mr_record record = {.struct_size = sizeof record};
            assert_int_equal(mr_dataset_record(d, i, f, &record), 0);
            if (record.state == MR_RECORD_ABSENT) {
                assert_true(f == 1 && i % PACK_KINDS == PACK_JPEG_CMYK);
                continue;
            }
            mr_image got = decode_record(to, i, f);
            assert_true(record.width == got.width && record.height == got.height);
            if (f <= 2)
                picture_compare(&got, &wanted, names[f]);
            uint32_t small = got.width < got.height ? got.width : got.height, large = got.width + got.height - small;
            assert_true(f != 3 || small == 6);
            assert_true(f != 4 || large == 10);
            mr_image_fini(&got, NULL);
        }
        mr_image_fini(&wanted, NULL);
    }
    mr_reader_free(from);
    mr_reader_free(to);
    mr_dataset_free(d);
}

/* A JPEG of four colours has no L3 of its coefficients: it is left out beside the JPEG, and holds pixels alone. */
static void four_colours(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_JPEG), FORM(.form = MR_FORM_L3)};
    for (pack_kind kind = PACK_JPEG; kind <= PACK_JPEG_PROGRESSIVE; kind++) {
        char name[32];
        picture_file file = pack_image(kind, 20, 11, 3);
        snprintf(name, sizeof name, "cmyk/k/%d.jpg", (int)kind);
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
    mr_dataset *d = pack_open(&folder, "cmyk", MR_LAYOUT_FOLDER);
    mr_pack_options options = options_of(forms, 2);
    mr_pack_report report = pack_run(d, &folder, "beside", &options);
    assert_int_equal(report.absent, 1);
    assert_int_equal(report.pixel_mode, 0);
    options = options_of(forms + 1, 1);
    report = pack_run(d, &folder, "alone", &options);
    assert_int_equal(report.absent, 0);
    assert_int_equal(report.pixel_mode, 1);
    mr_dataset_free(d);
    d = pack_open(&folder, "beside", MR_LAYOUT_PACKED);
    mr_record record = {.struct_size = sizeof record};
    assert_int_equal(mr_dataset_record(d, 2, 1, &record), 0);
    assert_int_equal(record.state, MR_RECORD_ABSENT);
    assert_int_equal(mr_dataset_record(d, 1, 1, &record), 0);
    assert_int_equal(record.state, MR_RECORD_PRESENT);
    mr_dataset_free(d);
}

/* Of every run of up to a thousand neighbours its part, to within four. */
static void shares_are_even(void **state)
{
    (void)state;
    static const uint32_t shares[] = {10000, 300000, 500000, 900000};
    for (size_t s = 0; s < 4; s++) {
        mr__pack_plan plan = {.form_count = 2};
        plan.forms[1].share = shares[s];
        for (uint64_t from = 0; from < 100000; from += 997) {
            uint64_t count = 0;
            for (uint64_t i = 1; i <= 1000; i++) {
                count += mr__pack_plan_chooses(&plan, 1, from + i - 1);
                double wanted = (double)i * shares[s] / 1e6, off = (double)count - wanted;
                if (off > 4 || off < -4)
                    fail_msg("%llu of %llu from %llu on", (unsigned long long)count, (unsigned long long)i,
                             (unsigned long long)from);
            }
        }
    }
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_NONE), FORM(.form = MR_FORM_RAW, .share = 300000)};
    mr_pack_options options = options_of(forms, 2);
    mr_pack_report report = pack_run(source, &folder, "share", &options);
    assert_int_equal(report.absent, 0); /* those could have it */
    mr_dataset *d = pack_open(&folder, "share", MR_LAYOUT_PACKED);
    mr_dataset_form form = {.struct_size = sizeof form};
    assert_int_equal(mr_dataset_get_form(d, 1, &form), 0);
    assert_in_range(form.samples, SOURCE_COUNT * 3 / 10 - 2, SOURCE_COUNT * 3 / 10 + 2);
    mr_dataset_free(d);
}

static uint64_t nbytes_below(const char *path)
{
    uint64_t sum = 0;
    DIR *open = opendir(path);
    struct dirent *entry;
    assert_non_null(open);
    while ((entry = readdir(open)) != NULL) {
        char name[1024];
        struct stat status;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && stat(name, &status) == 0)
            sum += S_ISDIR(status.st_mode) ? nbytes_below(name) : (uint64_t)status.st_size;
    }
    closedir(open);
    return sum;
}

static void budgets_are_kept(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_NONE), FORM(.form = MR_FORM_RAW),
                                         FORM(.form = MR_FORM_L3)};
    mr_pack_options options = options_of(forms, 1);
    options.shard_samples = 10;
    pack_run(source, &folder, "first", &options);
    char path[512];
    uint64_t first = nbytes_below(test_folder_path(&folder, "first", path));
    options.form_count = 3;
    pack_run(source, &folder, "all", &options);
    uint64_t all = nbytes_below(test_folder_path(&folder, "all", path)), before = 0;
    for (uint64_t percent = 50; percent <= 250; percent += 50) {
        mr_dataset_form form = {.struct_size = sizeof form};
        options.budget_nbytes = first * 3 / 2 + (all - first) * percent / 100;
        pack_remove(&folder, "budget");
        pack_run(source, &folder, "budget", &options);
        assert_true(nbytes_below(test_folder_path(&folder, "budget", path)) <= options.budget_nbytes);
        mr_dataset *d = pack_open(&folder, "budget", MR_LAYOUT_PACKED);
        assert_int_equal(mr_dataset_get_form(d, 1, &form), 0);
        assert_true(form.samples >= before);
        before = form.samples;
        mr_dataset_free(d);
        assert_int_equal(pack_verify(&folder, "budget", NULL), 0);
    }
    assert_int_equal(before, SOURCE_COUNT);
    options.budget_nbytes = first / 2;
    pack_outcome outcome = pack_try(source, &folder, "none", &options, NULL);
    assert_int_equal(outcome.result, MR_ELIMIT);
    assert_contains(outcome.detail, "budget");
    options.form_count = 1;
    assert_int_equal(pack_try(source, &folder, "none", &options, NULL).result, MR_EARGUMENT);
}

/* Members, long labels and images that differ by much are within the budget, too. */
static void budgets_of_uneven_samples(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_NONE), FORM(.form = MR_FORM_RAW)};
    static char text[6000];
    tar_file tar = {0};
    char name[32], path[512];
    memset(text, 'x', sizeof text - 1);
    for (size_t i = 0; i < 300; i++) {
        uint32_t side = i % 50 < 5 ? 60 : 4;
        picture_file file = pack_image(PACK_PNG_3, side, side, i);
        snprintf(name, sizeof name, "%04zu.png", i);
        tar_add(&tar, name, '0', file.bytes, file.nbytes);
        snprintf(name, sizeof name, "%04zu.cls", i);
        tar_add_text(&tar, name, text + (i % 3 == 0 ? 3000 : 5990));
        snprintf(name, sizeof name, "%04zu.txt", i);
        if (i % 2 == 0)
            tar_add_text(&tar, name, text + 1000);
        free(file.bytes);
    }
    tar_end(&tar);
    test_folder_write(&folder, "uneven.tar", tar.bytes, tar.nbytes);
    tar_free(&tar);
    mr_dataset *d = pack_open(&folder, "uneven.tar", MR_LAYOUT_TAR);
    mr_pack_options options = options_of(forms, 1);
    options.shard_samples = 40;
    pack_run(d, &folder, "uneven-first", &options);
    uint64_t first = nbytes_below(test_folder_path(&folder, "uneven-first", path));
    options.form_count = 2;
    for (uint64_t percent = 125; percent <= 300; percent += 35) {
        options.budget_nbytes = first * percent / 100;
        pack_remove(&folder, "uneven");
        pack_run(d, &folder, "uneven", &options);
        uint64_t nbytes = nbytes_below(test_folder_path(&folder, "uneven", path));
        if (nbytes > options.budget_nbytes)
            fail_msg("%llu bytes, %llu were allowed", (unsigned long long)nbytes,
                     (unsigned long long)options.budget_nbytes);
    }
    mr_dataset_free(d);
}

/* The shards are tars: our own scanner, which knows nothing of their index, finds the same in them. */
static void compare_with_tar(const char *name, uint32_t form, const char *form_name)
{
    char path[512], shard[128];
    mr_dataset *d = pack_open(&folder, name, MR_LAYOUT_PACKED);
    snprintf(shard, sizeof shard, "%s/%s/000000.tar", name, form_name);
    tar_scanned scanned = tar_scan_file(test_folder_path(&folder, shard, path), MR_BROKEN_FAIL, NULL);
    assert_int_equal(scanned.result, 0);
    uint64_t at = 0;
    for (uint64_t i = 0; i < mr_dataset_count(d); i++) {
        mr_record record = {.struct_size = sizeof record};
        mr_sample sample = {.struct_size = sizeof sample};
        mr__record found;
        mr_label label;
        const char *key;
        size_t key_nbytes;
        assert_int_equal(mr_dataset_record(d, i, form, &record) | mr_dataset_sample(d, i, &sample), 0);
        if (record.state != MR_RECORD_PRESENT)
            continue;
        assert_true(mr__index_record(&scanned.index, at, &found) && mr__index_label(&scanned.index, at, &label) &&
                    mr__index_key(&scanned.index, at, &key, &key_nbytes));
        assert_string_equal(key, sample.key);
        assert_true(found.offset == record.offset && found.nbytes == record.nbytes && found.form == record.form);
        assert_true(label.kind == MR_LABEL_INT && sample.label.integer == label.integer);
        at++;
    }
    assert_int_equal(at, scanned.index.head.samples);
    tar_scanned_free(&scanned);
    mr_dataset_free(d);
}

static void images_are_aligned(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_JPEG), FORM(.form = MR_FORM_RAW)};
    static const mr_alignment alignments[] = {MR_ALIGN_AUTO, MR_ALIGN_TAR, MR_ALIGN_PAGE};
    for (size_t a = 0; a < 3; a++) {
        mr_pack_options options = options_of(forms, 2);
        options.alignment = alignments[a];
        pack_remove(&folder, "aligned");
        pack_run(source, &folder, "aligned", &options);
        mr_dataset *d = pack_open(&folder, "aligned", MR_LAYOUT_PACKED);
        for (uint64_t i = 0; i < SOURCE_COUNT; i++)
            for (uint32_t f = 0; f < 2; f++) {
                mr_record record = {.struct_size = sizeof record};
                assert_int_equal(mr_dataset_record(d, i, f, &record), 0);
                assert_int_equal(record.offset % (a == 2 ? 4096 : 512), 0);
            }
        mr_dataset_free(d);
        compare_with_tar("aligned", 0, "jpeg");
        compare_with_tar("aligned", 1, "raw");
        assert_int_equal(pack_verify(&folder, "aligned", NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter), cmocka_unit_test(forms_hold_what_they_should),
        cmocka_unit_test(four_colours),          cmocka_unit_test(shares_are_even),
        cmocka_unit_test(budgets_are_kept),      cmocka_unit_test(budgets_of_uneven_samples),
        cmocka_unit_test(images_are_aligned),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
