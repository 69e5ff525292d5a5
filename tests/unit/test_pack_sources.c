// SPDX-License-Identifier: Apache-2.0
/* What can be packed, what is refused and how: bad images, other plans, every kind of source. */
#include "test.h"

#include "pack_make.h"
#include "scanned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_folder folder;

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

#define FORM(...)                                                                                                      \
    {                                                                                                                  \
        .struct_size = sizeof(mr_pack_form), __VA_ARGS__                                                               \
    }

static size_t count_lines(const char *name)
{
    size_t lines = 0;
    picture_file file = pack_load(&folder, name);
    for (size_t i = 0; i < file.nbytes; i++)
        lines += file.bytes[i] == '\n';
    free(file.bytes);
    return lines;
}

/* Twelve images in the order a, b; number 3 and 8 are cut. */
static void make_bad(const char *name)
{
    pack_make_folder(&folder, name, 12, 12);
    for (size_t i = 3; i < 12; i += 5) {
        char path[64];
        picture_file file = pack_image(PACK_JPEG_PROGRESSIVE, 16, 16, i);
        snprintf(path, sizeof path, "%s/%c/%06zu.%s", name, "abc"[i * 3 / 12], i, i == 3 ? "jpg" : "png");
        test_folder_write(&folder, path, file.bytes, file.nbytes / 2);
        free(file.bytes);
    }
}

static void bad_images_keep_their_place(void **state)
{
    (void)state;
    make_bad("bad");
    mr_dataset *source = pack_open(&folder, "bad", MR_LAYOUT_FOLDER);
    mr_pack_options options = {.shard_samples = 5, .threads = 2};
    /* Beyond what is allowed: all are looked at (up to a hundred more than that), and listed. */
    pack_outcome outcome = pack_try(source, &folder, "out", &options, NULL);
    assert_int_equal(outcome.result, MR_ELIMIT);
    assert_contains(outcome.detail, "quarantine.jsonl");
    assert_int_equal(count_lines("out/quarantine.jsonl"), 2);
    assert_false(pack_exists(&folder, "out/dataset.json"));
    options.max_bad = 100000;
    assert_int_equal(pack_try(source, &folder, "out", &options, NULL).result, MR_ELIMIT);
    assert_int_equal(count_lines("out/quarantine.jsonl"), 2);
    /* What is enough goes on, and makes what an undisturbed run makes. */
    options.max_bad = 200000;
    mr_pack_report report = pack_run(source, &folder, "out", &options);
    assert_int_equal(report.refused, 2);
    assert_int_equal(report.shards_found, 3);
    assert_int_equal(count_lines("out/quarantine.jsonl"), 2);
    pack_run(source, &folder, "straight", &options);
    pack_compare(&folder, "out", "straight");
    mr_dataset *d = pack_open(&folder, "out", MR_LAYOUT_PACKED);
    assert_int_equal(mr_dataset_count(d), 12);
    for (uint64_t i = 0; i < 12; i++) {
        mr_record record = {.struct_size = sizeof record};
        mr_sample was = {.struct_size = sizeof was}, is = was;
        assert_int_equal(mr_dataset_record(d, i, 0, &record), 0);
        assert_int_equal(record.state, i % 5 == 3 ? MR_RECORD_REFUSED : MR_RECORD_PRESENT);
        assert_int_equal(mr_dataset_sample(source, i, &was) | mr_dataset_sample(d, i, &is), 0);
        assert_memory_equal(is.key, was.key, is.key_nbytes);
        assert_true(is.label.integer == was.label.integer);
    }
    mr_dataset_free(d);
    mr_dataset_free(source);
    assert_int_equal(pack_verify(&folder, "out", NULL), 0);
}

/* A higher limit that was enough is not forgotten by a lower one that comes after it. */
static void a_lower_limit_counts_what_was_done(void **state)
{
    (void)state;
    make_bad("low");
    mr_dataset *source = pack_open(&folder, "low", MR_LAYOUT_FOLDER);
    mr_pack_options options = {.shard_samples = 5, .max_bad = 200000, .threads = 1};
    char path[512];
    options.parts = 1;
    pack_run(source, &folder, "lower", &options);
    remove(test_folder_path(&folder, "lower/part-0-of-1.json", path));
    options.max_bad = 0;
    assert_int_equal(pack_try(source, &folder, "lower", &options, NULL).result, MR_ELIMIT);
    options.max_bad = 200000;
    mr_pack_report report = pack_run(source, &folder, "lower", &options);
    assert_int_equal(report.shards_found, 3);
    mr_dataset_free(source);
}

static void images_that_have_no_such_form(void **state)
{
    (void)state;
    static const mr_pack_form jpeg = FORM(.form = MR_FORM_JPEG);
    picture_file file = pack_image(PACK_PNG_3, 8, 8, 1);
    test_folder_write(&folder, "mixed/a/1.png", file.bytes, file.nbytes);
    free(file.bytes);
    file = pack_image(PACK_JPEG, 8, 8, 1);
    test_folder_write(&folder, "mixed/a/2.jpg", file.bytes, file.nbytes);
    free(file.bytes);
    mr_dataset *source = pack_open(&folder, "mixed", MR_LAYOUT_FOLDER);
    mr_pack_options options = {.forms = &jpeg, .form_count = 1};
    assert_int_equal(pack_try(source, &folder, "jpegs", &options, NULL).result, MR_ELIMIT);
    options.max_bad = 500000;
    mr_pack_report report = pack_run(source, &folder, "jpegs", &options);
    assert_int_equal(report.refused, 1);
    file = pack_load(&folder, "jpegs/quarantine.jsonl");
    file.bytes[file.nbytes] = '\0';
    assert_contains((const char *)file.bytes, "MR_EUNSUPPORTED");
    assert_contains((const char *)file.bytes, "\"key\": \"a/1.png\"");
    free(file.bytes);
    mr_dataset_free(source);
}

/* What is small enough to be kept as it came by a reduced form is looked at like any other. */
static void small_images_are_checked_too(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_JPEG, .max_side = 100),
                                         FORM(.form = MR_FORM_PNG, .max_side = 100)};
    for (uint32_t f = 0; f < 2; f++) {
        picture_file file = pack_image(f == 0 ? PACK_JPEG : PACK_PNG_3, 40, 40, 1);
        test_folder_write(&folder, f == 0 ? "small0/a/1.jpg" : "small1/a/1.png", file.bytes, file.nbytes * 3 / 4);
        free(file.bytes);
        mr_dataset *source = pack_open(&folder, f == 0 ? "small0" : "small1", MR_LAYOUT_FOLDER);
        mr_pack_options options = {.forms = &forms[f], .form_count = 1};
        assert_int_equal(pack_try(source, &folder, f == 0 ? "s0" : "s1", &options, NULL).result, MR_ELIMIT);
        mr_dataset_free(source);
    }
}

static void refuse(mr_dataset *source, const char *name, mr_pack_options options, const char *words)
{
    pack_outcome outcome = pack_try(source, &folder, name, &options, NULL);
    assert_int_equal(outcome.result, MR_EARGUMENT);
    assert_contains(outcome.detail, words);
}

static void other_plans_and_folders(void **state)
{
    (void)state;
    static const mr_pack_form raw = FORM(.form = MR_FORM_RAW);
    pack_make_folder(&folder, "plan", 6, 8);
    pack_make_folder(&folder, "plan2", 7, 8);
    mr_dataset *source = pack_open(&folder, "plan", MR_LAYOUT_FOLDER);
    mr_dataset *other = pack_open(&folder, "plan2", MR_LAYOUT_FOLDER);
    const mr_pack_options options = {.threads = 1};
    pack_run(source, &folder, "packed", &options);
    pack_copy(&folder, "packed", "before");
    refuse(source, "packed", (mr_pack_options){.forms = &raw, .form_count = 1}, "never changed");
    refuse(other, "packed", options, "never changed");
    pack_compare(&folder, "packed", "before");
    /* One that was begun: a part of it is there. */
    mr_pack_options part = {.shard_samples = 2, .parts = 2};
    pack_run(source, &folder, "begun", &part);
    part.part = 1;
    part.shard_samples = 3;
    refuse(source, "begun", part, "other options");
    part.shard_samples = 2;
    pack_run(source, &folder, "begun", &part);
    test_folder_write(&folder, "full/of", "something", 9);
    refuse(source, "full", options, "not empty");
    refuse(source, "full", (mr_pack_options){.budget_nbytes = 10}, "second");
    mr_dataset_free(other);
    mr_dataset_free(source);
    /* Nothing to pack. */
    test_folder_write(&folder, "empty.tfrecord", "", 0);
    source = pack_open(&folder, "empty.tfrecord", MR_LAYOUT_TFRECORD);
    refuse(source, "nothing", options, "no samples");
    assert_false(pack_exists(&folder, "nothing"));
    mr_dataset_free(source);
}

static void merges_of_other_datasets(void **state)
{
    (void)state;
    pack_make_folder(&folder, "m", 6, 8);
    mr_dataset *source = pack_open(&folder, "m", MR_LAYOUT_FOLDER);
    for (uint32_t i = 0; i < 2; i++)
        pack_run(source, &folder, i == 0 ? "m0" : "m1", &(mr_pack_options){.shard_samples = 2, .part = i, .parts = 2});
    pack_run(source, &folder, "target", &(mr_pack_options){.shard_samples = 3});
    pack_copy(&folder, "target", "kept");
    pack_outcome outcome = pack_try_merge(&folder, "m0 m1", "target", NULL);
    assert_int_equal(outcome.result, MR_EARGUMENT);
    assert_contains(outcome.detail, "never changed");
    pack_compare(&folder, "target", "kept");
    assert_int_equal(pack_try_merge(&folder, "m0 m1", "fine", NULL).result, 0);
    outcome = pack_try_merge(&folder, "m0 m1", "fine", NULL);
    assert_true(outcome.result == 0 && outcome.report.was_complete && outcome.report.samples == 6);
    assert_int_equal(pack_try_merge(&folder, "m0 m1", "finer", NULL).result, MR_EFORMAT);
    mr_dataset_free(source);
}

static void packed_datasets_are_packed_again(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_NONE), FORM(.form = MR_FORM_L3)};
    pack_make_folder(&folder, "again", 14, 9);
    mr_dataset *source = pack_open(&folder, "again", MR_LAYOUT_FOLDER);
    mr_pack_options options = {.forms = forms, .form_count = 2, .shard_samples = 4};
    pack_run(source, &folder, "first", &options);
    mr_dataset_free(source);
    source = pack_open(&folder, "first", MR_LAYOUT_PACKED);
    pack_run(source, &folder, "second", &options);
    mr_dataset_free(source);
    static const char *const names[] = {"original/000000.tar", "original/000003.tar", "l3/000001.tar"};
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "first/%s", names[i]);
        picture_file a = pack_load(&folder, name);
        snprintf(name, sizeof name, "second/%s", names[i]);
        picture_file b = pack_load(&folder, name);
        assert_int_equal(a.nbytes, b.nbytes);
        assert_memory_equal(a.bytes, b.bytes, a.nbytes);
        free(a.bytes);
        free(b.bytes);
    }
    source = pack_open(&folder, "second", MR_LAYOUT_PACKED);
    assert_string_equal(mr_dataset_class(source, 2), "c");
    mr_dataset_free(source);
}

/* --- Record files of others --------------------------------------------------------------------------------------- */

static made_bytes made, body;

static void pack_records(const char *name, mr_layout layout, uint64_t count, mr_form form)
{
    static const mr_pack_form l3 = FORM(.form = MR_FORM_L3);
    char out[64];
    test_folder_write(&folder, name, made.data, made.nbytes);
    mr_dataset *source = pack_open(&folder, name, layout);
    for (int i = 0; i < 2; i++) {
        mr_pack_options options = {.threads = 2};
        options.forms = &l3;
        options.form_count = (size_t)i;
        snprintf(out, sizeof out, "%s.out%d", name, i);
        mr_pack_report report = pack_run(source, &folder, out, &options);
        assert_int_equal(report.samples, count);
        assert_int_equal(pack_verify(&folder, out, NULL), 0);
        mr_dataset *d = pack_open(&folder, out, MR_LAYOUT_PACKED);
        for (uint64_t k = 0; k < count; k++) {
            mr_sample was = {.struct_size = sizeof was}, is = was;
            mr_record record = {.struct_size = sizeof record};
            assert_int_equal(mr_dataset_sample(source, k, &was) | mr_dataset_sample(d, k, &is), 0);
            assert_int_equal(is.label.kind, MR_LABEL_INT);
            assert_true(is.label.integer == was.label.integer && is.label.integer == (int64_t)k + 2);
            assert_int_equal(mr_dataset_record(d, k, 0, &record), 0);
            assert_int_equal(record.form, i == 0 ? form : MR_FORM_L3);
        }
        mr_dataset_free(d);
    }
    mr_dataset_free(source);
}

static void cifar(void **state)
{
    (void)state;
    made.nbytes = 0;
    for (uint64_t n = 0; n < 5; n++) {
        bytes_add_le(&made, n + 2, 1);
        for (uint64_t i = 0; i < 3072; i++)
            bytes_add_le(&made, n * 101 + i * 7, 1);
    }
    pack_records("data_batch_1.bin", MR_LAYOUT_CIFAR, 5, MR_FORM_RAW);
}

static uint32_t masked_crc(const uint8_t *data, size_t nbytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* A field of protobuf's wire type 2, of what is in `with`, which is emptied. */
static void wrap(made_bytes *to, uint64_t tag, made_bytes *with)
{
    bytes_add_le(to, tag, 1);
    bytes_add_le(to, with->nbytes % 128 | 128, 1);
    bytes_add_le(to, with->nbytes / 128, 1);
    bytes_add(to, with->data, with->nbytes);
    with->nbytes = 0;
}

/* An entry of Features: name, and a list of this kind. */
static void add_feature(made_bytes *features, const char *name, uint64_t kind, made_bytes *value)
{
    static made_bytes list, feature, entry, text;
    wrap(&list, 0x0a, value);
    wrap(&feature, kind << 3 | 2, &list);
    text.nbytes = 0;
    bytes_add_text(&text, name);
    wrap(&entry, 0x0a, &text);
    wrap(&entry, 0x12, &feature);
    wrap(features, 0x0a, &entry);
}

static void tfrecord(void **state)
{
    (void)state;
    static made_bytes features, value;
    made.nbytes = 0;
    for (uint64_t n = 0; n < 4; n++) {
        picture_file file = pack_image(PACK_JPEG, 20, 10, n);
        bytes_add(&value, file.bytes, file.nbytes);
        free(file.bytes);
        add_feature(&features, "image/encoded", 1, &value);
        bytes_add_le(&value, n + 2, 1);
        add_feature(&features, "image/class/label", 3, &value);
        wrap(&body, 0x0a, &features);
        size_t head = made.nbytes;
        bytes_add_le(&made, body.nbytes, 8);
        bytes_add_le(&made, masked_crc(made.data + head, 8), 4);
        bytes_add(&made, body.data, body.nbytes);
        bytes_add_le(&made, masked_crc(body.data, body.nbytes), 4);
        body.nbytes = 0;
    }
    pack_records("train.tfrecord", MR_LAYOUT_TFRECORD, 4, MR_FORM_JPEG);
}

static void recordio(void **state)
{
    (void)state;
    made.nbytes = 0;
    for (uint64_t n = 0; n < 4; n++) {
        picture_file file = pack_image(PACK_PNG_3, 20, 10, n);
        bytes_add_le(&made, 0xced7230a, 4);
        bytes_add_le(&made, 24 + file.nbytes, 4);
        bytes_add_le(&made, 0, 4);
        bytes_add_f32(&made, (float)n + 2);
        bytes_add_le(&made, n, 8);
        bytes_add_le(&made, 0, 8);
        bytes_add(&made, file.bytes, file.nbytes);
        while (made.nbytes % 4 != 0)
            bytes_add_le(&made, 0, 1);
        free(file.bytes);
    }
    pack_records("train.rec", MR_LAYOUT_RECORDIO, 4, MR_FORM_PNG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_images_keep_their_place),
        cmocka_unit_test(a_lower_limit_counts_what_was_done),
        cmocka_unit_test(images_that_have_no_such_form),
        cmocka_unit_test(small_images_are_checked_too),
        cmocka_unit_test(other_plans_and_folders),
        cmocka_unit_test(merges_of_other_datasets),
        cmocka_unit_test(packed_datasets_are_packed_again),
        cmocka_unit_test(cifar),
        cmocka_unit_test(tfrecord),
        cmocka_unit_test(recordio),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
