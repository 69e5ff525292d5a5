// SPDX-License-Identifier: Apache-2.0
/* Datasets of every layout, through the public functions alone. */
#include "test.h"

#include "dataset_make.h"
#include "tar_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static test_folder folder;
static made_dataset made[MADE_KINDS];

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    for (made_kind kind = 0; kind < MADE_KINDS; kind++)
        made_init(&made[kind], &folder, kind);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

/* Opens one path of the folder, whatever comes of it. */
static int open_path(const char *name, const mr_dataset_options *given, mr_dataset **d)
{
    char path[512];
    mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE};
    const char *paths[] = {test_folder_path(&folder, name, path)};
    assert_int_equal(mr_dataset_new(given != NULL ? given : &options, d), 0);
    return mr_dataset_open(*d, paths, 1);
}

static void every_layout_is_found_out(void **state)
{
    (void)state;
    for (made_kind kind = 0; kind < MADE_KINDS; kind++) {
        mr_dataset *d = made_open_well(&made[kind]);
        made_check(&made[kind], d);
        mr_dataset_free(d);
    }
}

static void a_layout_that_is_asked_for_and_another_one(void **state)
{
    (void)state;
    for (made_kind kind = 0; kind < MADE_KINDS; kind++)
        for (mr_layout layout = MR_LAYOUT_PACKED; layout <= MR_LAYOUT_FOLDER; layout++) {
            mr_dataset *d;
            const mr_dataset_options options = {
                .struct_size = sizeof options, .index = MR_INDEX_NONE, .layout = layout};
            int result = made_open(&made[kind], &options, &d);
            if (layout == made[kind].layout) {
                assert_int_equal(result, 0);
                made_check(&made[kind], d);
            } else {
                if (result == 0)
                    fail_msg("%s opens as %s", made_name(kind), mr_layout_name(layout));
                assert_true(result == MR_EARGUMENT || result == MR_EFORMAT || result == MR_ECORRUPT ||
                            result == MR_ETRUNCATED || result == MR_EIO);
                if (strstr(mr_dataset_detail(d), made_name(kind)) == NULL)
                    assert_contains(mr_dataset_detail(d), "layout list");
                assert_int_equal(mr_dataset_count(d), 0);
            }
            mr_dataset_free(d);
        }
}

static void names_of_layouts(void **state)
{
    (void)state;
    assert_string_equal(mr_layout_name(MR_LAYOUT_AUTO), "auto");
    assert_string_equal(mr_layout_name(MR_LAYOUT_TFRECORD), "tfrecord");
    assert_string_equal(mr_layout_name((mr_layout)99), "auto");
}

static void the_first_of_mixed_files_decides(void **state)
{
    (void)state;
    static const made_kind kinds[] = {MADE_TAR, MADE_TFRECORD, MADE_RECORDIO, MADE_CIFAR_10};
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++) {
            if (a == b)
                continue;
            mr_dataset *d;
            const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE};
            const char *paths[] = {made[kinds[a]].path, made[kinds[b]].path};
            assert_int_equal(mr_dataset_new(&options, &d), 0);
            assert_int_not_equal(mr_dataset_open(d, paths, 2), 0);
            assert_contains(mr_dataset_detail(d), made[kinds[b]].path);
            mr_dataset_free(d);
        }
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    mr_dataset *d;
    test_folder_write(&folder, "packed.tar.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
    test_folder_write(&folder, "empty/in/.keep", "", 0);
    test_folder_write(&folder, "half/pack.json", "{}", 2);
    test_folder_write(&folder, "words.txt", "words", 5);
    static const struct {
        const char *name;
        mr_layout layout;
        int result;
        const char *words;
    } table[] = {
        {"packed.tar.gz", MR_LAYOUT_TAR, MR_EUNSUPPORTED, "gunzip"},
        {"packed.tar.gz", MR_LAYOUT_AUTO, MR_EUNSUPPORTED, "gunzip"},
        {"words.txt", MR_LAYOUT_AUTO, MR_EFORMAT, "words.txt: not a dataset that Millrace knows"},
        {"empty/in", MR_LAYOUT_AUTO, MR_EFORMAT, "no image in the folder"},
        {"empty/in", MR_LAYOUT_TAR, MR_EARGUMENT, "no tar file"},
        {"empty/in", MR_LAYOUT_PACKED, MR_EIO, "dataset.json: No such file"},
        {"nowhere", MR_LAYOUT_AUTO, MR_EIO, "nowhere: No such file"},
        {"nowhere-{0..3}.tar", MR_LAYOUT_AUTO, MR_EIO, "nowhere-0.tar: No such file"},
        {"half", MR_LAYOUT_AUTO, MR_EFORMAT, "was not finished"},
        {"half", MR_LAYOUT_PACKED, MR_EFORMAT, "was not finished"},
        {"words.txt", MR_LAYOUT_FOLDER, MR_EARGUMENT, "is no folder"},
        {"words.txt", MR_LAYOUT_LIST, MR_EARGUMENT, "the list of what is in it"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const mr_dataset_options options = {
            .struct_size = sizeof options, .index = MR_INDEX_NONE, .layout = table[i].layout};
        int result = open_path(table[i].name, &options, &d);
        assert_contains(mr_dataset_detail(d), table[i].words);
        if (result != table[i].result)
            fail_msg("%s: %s, not %s", table[i].name, mr_error_name(result), mr_error_name(table[i].result));
        mr_dataset_free(d);
    }
}

static void files_and_folders_do_not_mix(void **state)
{
    (void)state;
    mr_dataset *d;
    const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE};
    const char *folder_first[] = {made[MADE_FLAT].path, made[MADE_TAR].path};
    const char *file_first[] = {made[MADE_TAR].path, made[MADE_FLAT].path};
    const char *null[] = {made[MADE_TAR].path, NULL};
    assert_int_equal(mr_dataset_new(&options, &d), 0);
    assert_int_equal(mr_dataset_open(d, folder_first, 2), MR_EARGUMENT);
    assert_contains(mr_dataset_detail(d), "one at a time");
    assert_int_equal(mr_dataset_open(d, file_first, 2), MR_EIO);
    assert_contains(mr_dataset_detail(d), "flat/in: Is a directory");
    assert_int_equal(mr_dataset_open(d, null, 2), MR_EARGUMENT);
    assert_true(mr_dataset_detail(d)[0] != '\0');
    assert_int_equal(mr_dataset_open(d, NULL, 1), MR_EARGUMENT);
    assert_int_equal(mr_dataset_open(d, file_first, 0), MR_EARGUMENT);
    assert_contains(mr_dataset_detail(d), "no path");
    mr_dataset_free(d);
}

static void a_failed_open_can_be_tried_again_and_a_good_one_not(void **state)
{
    (void)state;
    static const char broken[] = "{\"format\": \"millrace-dataset\"}\n";
    char path[512];
    mr_dataset *d;
    const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE};
    test_folder_write(&folder, "broken/dataset.json", broken, sizeof broken - 1);
    const char *bad[] = {test_folder_path(&folder, "broken", path)}, *good[] = {made[MADE_PACKED].path};
    assert_int_equal(mr_dataset_new(&options, &d), 0);
    assert_int_equal(mr_dataset_open(d, bad, 1), MR_ETRUNCATED);
    assert_contains(mr_dataset_detail(d), "broken/dataset.json does not end with its hash");
    assert_int_equal(mr_dataset_open(d, bad, 1), MR_ETRUNCATED);
    assert_int_equal(mr_dataset_open(d, good, 1), 0);
    made_check(&made[MADE_PACKED], d);
    assert_int_equal(mr_dataset_open(d, good, 1), MR_EARGUMENT);
    assert_contains(mr_dataset_detail(d), "opened once");
    assert_int_equal(mr_dataset_count(d), MADE_SAMPLES);
    mr_dataset_free(d);
}

static void options_that_are_refused(void **state)
{
    (void)state;
    mr_dataset *d = NULL;
    char list[] = "list", index_folder[] = "folder";
    mr_dataset_options options = {.struct_size = sizeof options, .list = list, .index_folder = index_folder};
    options.layout = (mr_layout)8;
    assert_int_equal(mr_dataset_new(&options, &d), MR_EARGUMENT);
    options.layout = MR_LAYOUT_AUTO;
    options.index = (mr_index_place)3;
    assert_int_equal(mr_dataset_new(&options, &d), MR_EARGUMENT);
    options.index = MR_INDEX_NONE;
    options.broken = (mr_broken_policy)2;
    assert_int_equal(mr_dataset_new(&options, &d), MR_EARGUMENT);
    options.struct_size = 0;
    assert_int_equal(mr_dataset_new(&options, &d), MR_EARGUMENT);
    assert_int_equal(mr_dataset_new(NULL, NULL), MR_EARGUMENT);
    assert_null(d);
    assert_int_equal(mr_dataset_new(NULL, &d), 0);
    mr_dataset_free(d);
}

/* Everything that can be asked, of none and of one that is not open. */
static void nothing_to_ask(void **state)
{
    (void)state;
    mr_dataset *closed, *d = NULL;
    mr_reader *reader;
    uint64_t ordinal = 7;
    uint32_t number = 7;
    char path[16] = "as it was";
    mr_dataset_info info = {.struct_size = sizeof info};
    mr_dataset_form form = {.struct_size = sizeof form};
    mr_dataset_problem problem = {.struct_size = sizeof problem};
    mr_sample sample = {.struct_size = sizeof sample};
    mr_record record = {.struct_size = sizeof record};
    mr_member member = {.struct_size = sizeof member};
    assert_int_equal(mr_dataset_new(NULL, &closed), 0);
    for (int i = 0; i < 2; i++, d = closed) {
        assert_int_equal(mr_dataset_count(d), 0);
        assert_string_equal(mr_dataset_detail(d), "");
        assert_string_equal(mr_dataset_class(d, 0), "");
        assert_int_equal(mr_dataset_get_info(d, &info), MR_EARGUMENT);
        assert_int_equal(mr_dataset_get_form(d, 0, &form), MR_EARGUMENT);
        assert_int_equal(mr_dataset_find_form(d, "stored", &number), MR_EARGUMENT);
        assert_int_equal(mr_dataset_get_problem(d, 0, &problem), MR_EARGUMENT);
        assert_int_equal(mr_dataset_sample(d, 0, &sample), MR_EARGUMENT);
        assert_int_equal(mr_dataset_record(d, 0, 0, &record), MR_EARGUMENT);
        assert_int_equal(mr_dataset_member(d, 0, 0, &member), MR_EARGUMENT);
        assert_int_equal(mr_dataset_find(d, "0", &ordinal), MR_EARGUMENT);
        assert_int_equal(mr_dataset_file(d, 0, path, sizeof path), 0);
        assert_int_equal(mr_reader_new(d, &reader), MR_EARGUMENT);
    }
    assert_int_equal(mr_dataset_open(NULL, NULL, 0), MR_EARGUMENT);
    assert_true(ordinal == 7 && number == 7 && info.samples == 0 && sample.key == NULL);
    assert_string_equal(path, "as it was");
    assert_string_equal(mr_reader_detail(NULL), "");
    mr_reader_free(NULL);
    mr_dataset_free(NULL);
    mr_dataset_free(closed);
}

/* In an open one, with NULL, and beyond what there is. */
static void beyond_the_end(void **state)
{
    (void)state;
    for (made_kind kind = 0; kind < MADE_KINDS; kind++) {
        mr_dataset *d = made_open_well(&made[kind]);
        mr_reader *reader;
        const void *bytes = "as it was", *before = bytes;
        size_t nbytes = 7;
        uint64_t ordinal = 7;
        mr_dataset_info info = {.struct_size = sizeof info};
        mr_dataset_form form = {.struct_size = sizeof form};
        mr_dataset_problem problem = {.struct_size = sizeof problem};
        mr_sample sample = {.struct_size = sizeof sample};
        mr_record record = {.struct_size = sizeof record};
        mr_member member = {.struct_size = sizeof member};
        assert_int_equal(mr_dataset_get_info(d, &info), 0);
        assert_int_equal(mr_reader_new(d, &reader), 0);
        assert_int_equal(mr_dataset_get_form(d, info.forms, &form), MR_EARGUMENT);
        assert_int_equal(mr_dataset_sample(d, MADE_SAMPLES, &sample), MR_EARGUMENT);
        assert_int_equal(mr_dataset_sample(d, UINT64_MAX, &sample), MR_EARGUMENT);
        assert_int_equal(mr_dataset_record(d, MADE_SAMPLES, 0, &record), MR_EARGUMENT);
        assert_int_equal(mr_dataset_record(d, 0, info.forms, &record), MR_EARGUMENT);
        assert_int_equal(mr_dataset_record(d, 0, UINT32_MAX, &record), MR_EARGUMENT);
        assert_int_equal(mr_dataset_member(d, 0, (uint32_t)made[kind].members, &member), MR_EARGUMENT);
        assert_int_equal(mr_dataset_member(d, MADE_SAMPLES, 0, &member), MR_EARGUMENT);
        assert_int_equal(mr_dataset_get_problem(d, 0, &problem), MR_EARGUMENT);
        assert_int_equal(mr_dataset_find(d, "no such key", &ordinal), MR_EARGUMENT);
        assert_int_equal(mr_dataset_find(d, "", &ordinal), MR_EARGUMENT);
        assert_string_equal(mr_dataset_class(d, info.classes), "");
        assert_int_equal(mr_dataset_file(d, info.files, NULL, 0), 0);
        assert_int_equal(mr_reader_record(reader, MADE_SAMPLES, 0, &bytes, &nbytes), MR_EARGUMENT);
        assert_contains(mr_reader_detail(reader), "of 6 samples");
        assert_int_equal(mr_reader_record(reader, 0, info.forms, &bytes, &nbytes), MR_EARGUMENT);
        assert_int_equal(mr_reader_member(reader, 0, (uint32_t)made[kind].members, &bytes, &nbytes), MR_EARGUMENT);
        assert_contains(mr_reader_detail(reader), "there is no number");
        assert_int_equal(mr_reader_member(reader, MADE_SAMPLES, 0, &bytes, &nbytes), MR_EARGUMENT);
        assert_true(bytes == before && nbytes == 7 && ordinal == 7 && sample.key == NULL);
        mr_reader_free(reader);
        mr_dataset_free(d);
    }
}

static void null_everywhere(void **state)
{
    (void)state;
    mr_dataset *d = made_open_well(&made[MADE_PACKED]);
    mr_reader *reader;
    const void *bytes;
    size_t nbytes;
    uint64_t ordinal;
    uint32_t number;
    mr_sample unset = {0};
    assert_int_equal(mr_reader_new(d, &reader), 0);
    assert_int_equal(mr_reader_new(d, NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_get_info(d, NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_get_form(d, 0, NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_find_form(d, NULL, &number), MR_EARGUMENT);
    assert_int_equal(mr_dataset_find_form(d, "raw", NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_get_problem(d, 0, NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_sample(d, 0, NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_sample(d, 0, &unset), MR_EARGUMENT);
    assert_int_equal(mr_dataset_record(d, 0, 0, NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_member(d, 0, 0, NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_find(d, NULL, &ordinal), MR_EARGUMENT);
    assert_int_equal(mr_dataset_find(d, "s0", NULL), MR_EARGUMENT);
    assert_int_equal(mr_dataset_file(d, 0, NULL, 10), 0);
    assert_int_equal(mr_reader_record(NULL, 0, 0, &bytes, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_reader_record(reader, 0, 0, NULL, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, NULL), MR_EARGUMENT);
    assert_int_equal(mr_reader_member(NULL, 0, 0, &bytes, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_reader_member(reader, 0, 0, NULL, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr_reader_member(reader, 0, 0, &bytes, NULL), MR_EARGUMENT);
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static void classes_have_names(void **state)
{
    (void)state;
    mr_dataset *d = made_open_well(&made[MADE_IMAGE_FOLDER]);
    mr_dataset_info info = {.struct_size = sizeof info};
    assert_int_equal(mr_dataset_get_info(d, &info), 0);
    assert_int_equal(info.classes, 3);
    assert_string_equal(mr_dataset_class(d, 0), "cat");
    assert_string_equal(mr_dataset_class(d, 2), "emu");
    assert_string_equal(mr_dataset_class(d, 3), "");
    mr_dataset_free(d);
    d = made_open_well(&made[MADE_TSV]);
    assert_int_equal(mr_dataset_get_info(d, &info), 0);
    assert_int_equal(info.classes, 0);
    mr_dataset_free(d);
}

/* The bytes that a record says it is stored in are there. */
static void files_have_the_records(void **state)
{
    (void)state;
    for (made_kind kind = 0; kind < MADE_KINDS; kind++) {
        mr_dataset *d = made_open_well(&made[kind]);
        mr_dataset_info info = {.struct_size = sizeof info};
        assert_int_equal(mr_dataset_get_info(d, &info), 0);
        bool listed = kind == MADE_TSV || kind == MADE_JSONL;
        size_t wanted =
            made[kind].layout == MR_LAYOUT_FOLDER ? (size_t)MADE_SAMPLES + listed : info.shards * info.forms;
        assert_int_equal(info.files, wanted);
        for (size_t i = 0; i < MADE_SAMPLES; i++) {
            mr_record record = {.struct_size = sizeof record};
            char path[600], tail[8] = "";
            static uint8_t bytes[4096];
            assert_int_equal(mr_dataset_record(d, i, 0, &record), 0);
            size_t length = mr_dataset_file(d, record.file, path, sizeof path);
            assert_int_equal(length, strlen(path));
            assert_int_equal(mr_dataset_file(d, record.file, NULL, 0), length);
            assert_int_equal(mr_dataset_file(d, record.file, tail, sizeof tail), length);
            assert_memory_equal(tail, path, sizeof tail - 1);
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            assert_int_equal(fseek(file, (long)record.offset, SEEK_SET), 0);
            assert_int_equal(fread(bytes, 1, (size_t)record.nbytes, file), record.nbytes);
            fclose(file);
            if (made[kind].layout != MR_LAYOUT_CIFAR)
                assert_memory_equal(bytes, made_image(i)->bytes, record.nbytes);
        }
        mr_dataset_free(d);
    }
}

static void one_form_or_several(void **state)
{
    (void)state;
    mr_dataset_form form = {.struct_size = sizeof form};
    uint32_t number = 9;
    mr_dataset *d = made_open_well(&made[MADE_BRACES]);
    assert_int_equal(mr_dataset_get_form(d, 0, &form), 0);
    assert_string_equal(form.name, "stored");
    assert_int_equal(form.samples, MADE_SAMPLES);
    assert_int_equal(mr_dataset_find_form(d, "stored", &number), 0);
    assert_int_equal(number, 0);
    mr_dataset_free(d);
    d = made_open_well(&made[MADE_PACKED]);
    assert_int_equal(mr_dataset_get_form(d, 0, &form), 0);
    assert_string_equal(form.name, "original");
    assert_int_equal(form.form, MR_FORM_NONE);
    assert_int_equal(mr_dataset_find_form(d, "raw", &number), 0);
    assert_int_equal(number, 1);
    assert_int_equal(mr_dataset_find_form(d, "l3", &number), MR_EARGUMENT);
    assert_int_equal(number, 1);
    assert_int_equal(mr_dataset_get_form(d, 1, &form), 0);
    assert_int_equal(form.form, MR_FORM_RAW);
    assert_int_equal(form.samples, MADE_SAMPLES);
    mr_reader *reader;
    assert_int_equal(mr_reader_new(d, &reader), 0);
    for (size_t i = 0; i < MADE_SAMPLES; i++) {
        const void *bytes;
        size_t nbytes;
        assert_int_equal(mr_reader_record(reader, i, 1, &bytes, &nbytes), 0);
        mr_image raw = picture_decode(bytes, nbytes, NULL);
        mr_image png = picture_decode(made_image(i)->bytes, made_image(i)->nbytes, NULL);
        picture_compare(&raw, &png, "the form raw");
        mr_image_fini(&raw, NULL);
        mr_image_fini(&png, NULL);
    }
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static void a_key_in_two_shards_is_the_first(void **state)
{
    (void)state;
    mr_dataset *d;
    const char *paths[] = {made[MADE_BRACES].path, made[MADE_TAR].path};
    const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE, .threads = 3};
    uint64_t ordinal = 99;
    assert_int_equal(mr_dataset_new(&options, &d), 0);
    assert_int_equal(mr_dataset_open(d, paths, 2), 0);
    assert_int_equal(mr_dataset_count(d), 2 * MADE_SAMPLES);
    for (size_t i = 0; i < MADE_SAMPLES; i++) {
        mr_sample sample = {.struct_size = sizeof sample};
        assert_int_equal(mr_dataset_find(d, made_key(&made[MADE_TAR], i), &ordinal), 0);
        assert_int_equal(ordinal, i);
        assert_int_equal(mr_dataset_sample(d, MADE_SAMPLES + i, &sample), 0);
        assert_string_equal(sample.key, made_key(&made[MADE_TAR], i));
        assert_int_equal(sample.shard, 3);
        assert_int_equal(sample.position, i);
    }
    mr_dataset_free(d);
}

/* A shard with a key twice, and one without an end, between good ones. */
static void problems_are_listed(void **state)
{
    (void)state;
    tar_file good = {0}, twice = {0};
    mr_dataset *d;
    tar_add(&good, "a.png", '0', made_image(0)->bytes, made_image(0)->nbytes);
    tar_end(&good);
    tar_add(&twice, "b.png", '0', made_image(1)->bytes, made_image(1)->nbytes);
    tar_add(&twice, "c.png", '0', made_image(2)->bytes, made_image(2)->nbytes);
    tar_add(&twice, "b.png", '0', made_image(3)->bytes, made_image(3)->nbytes);
    tar_end(&twice);
    test_folder_write(&folder, "problems/0.tar", good.bytes, good.nbytes);
    test_folder_write(&folder, "problems/1.tar", twice.bytes, twice.nbytes);
    tar_free(&good);
    tar_free(&twice);
    assert_int_not_equal(open_path("problems", NULL, &d), 0);
    assert_contains(mr_dataset_detail(d), "problems/1.tar");
    mr_dataset_free(d);
    const mr_dataset_options options = {
        .struct_size = sizeof options, .index = MR_INDEX_NONE, .broken = MR_BROKEN_SKIP};
    assert_int_equal(open_path("problems", &options, &d), 0);
    mr_dataset_info info = {.struct_size = sizeof info};
    mr_dataset_problem problem = {.struct_size = sizeof problem};
    assert_int_equal(mr_dataset_get_info(d, &info), 0);
    assert_int_equal(info.samples, 3);
    assert_int_equal(info.problems, 1);
    assert_int_equal(mr_dataset_get_problem(d, 0, &problem), 0);
    assert_int_equal(problem.file, 1);
    assert_contains(problem.text, "b");
    assert_int_equal(mr_dataset_get_problem(d, 1, &problem), MR_EARGUMENT);
    mr_dataset_free(d);
}

/* Packs what has an image that is none and others, as it came and as JPEG, which none of them is. */
static void records_that_are_absent_or_refused(void **state)
{
    (void)state;
    char path[512];
    mr_dataset *d;
    mr_packer *packer;
    mr_reader *reader;
    const void *bytes = NULL;
    size_t nbytes;
    const mr_pack_form forms[] = {{.struct_size = sizeof *forms}, {.struct_size = sizeof *forms, .form = MR_FORM_JPEG}};
    const mr_pack_options pack = {
        .struct_size = sizeof pack, .forms = forms, .form_count = 2, .max_bad = 1000000, .threads = 2};
    mr_pack_report report = {.struct_size = sizeof report};
    test_folder_write(&folder, "some/x/a.png", made_image(0)->bytes, made_image(0)->nbytes);
    test_folder_write(&folder, "some/x/b.png", "no image", 8);
    assert_int_equal(open_path("some", NULL, &d), 0);
    assert_int_equal(mr_packer_new(&pack, &packer), 0);
    if (mr_packer_run(packer, d, test_folder_path(&folder, "some-packed", path), &report) != 0)
        fail_msg("%s", mr_packer_detail(packer));
    mr_packer_free(packer);
    mr_dataset_free(d);
    assert_int_equal(open_path("some-packed", NULL, &d), 0);
    assert_string_equal(mr_dataset_class(d, 0), "x");
    mr_record record = {.struct_size = sizeof record};
    mr_dataset_problem problem = {.struct_size = sizeof problem};
    assert_int_equal(mr_dataset_record(d, 0, 1, &record), 0);
    assert_int_equal(record.state, MR_RECORD_ABSENT);
    assert_int_equal(mr_dataset_record(d, 1, 0, &record), 0);
    assert_int_equal(record.state, MR_RECORD_REFUSED);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, &nbytes), 0);
    assert_int_equal(mr_reader_record(reader, 0, 1, &bytes, &nbytes), MR_EUNSUPPORTED);
    assert_contains(mr_reader_detail(reader), "has no such form");
    assert_int_equal(mr_reader_record(reader, 1, 0, &bytes, &nbytes), MR_EUNSUPPORTED);
    assert_contains(mr_reader_detail(reader), "quarantine.jsonl");
    assert_int_equal(mr_dataset_get_problem(d, 0, &problem), 0);
    assert_int_equal(problem.ordinal, 1);
    assert_int_equal(mr_dataset_get_problem(d, 1, &problem), MR_EARGUMENT);
    mr_reader_free(reader);
    mr_dataset_free(d);
}

/* Members stand in the first form that a sample has: here the second, as no image is a JPEG. */
static void members_in_another_form(void **state)
{
    (void)state;
    char path[512];
    mr_packer *packer;
    mr_reader *reader;
    mr_dataset *d = made_open_well(&made[MADE_TAR]);
    const void *bytes;
    size_t nbytes;
    const mr_pack_form forms[] = {{.struct_size = sizeof *forms, .form = MR_FORM_JPEG}, {.struct_size = sizeof *forms}};
    const mr_pack_options pack = {.struct_size = sizeof pack, .forms = forms, .form_count = 2, .threads = 1};
    assert_int_equal(mr_packer_new(&pack, &packer), 0);
    if (mr_packer_run(packer, d, test_folder_path(&folder, "no-jpeg", path), NULL) != 0)
        fail_msg("%s", mr_packer_detail(packer));
    mr_packer_free(packer);
    mr_dataset_free(d);
    assert_int_equal(open_path("no-jpeg", NULL, &d), 0);
    mr_sample sample = {.struct_size = sizeof sample};
    mr_member member = {.struct_size = sizeof member};
    assert_int_equal(mr_dataset_sample(d, 3, &sample), 0);
    assert_int_equal(sample.members, 1);
    assert_int_equal(mr_dataset_member(d, 3, 0, &member), 0);
    assert_string_equal(member.name, "json");
    assert_int_equal(member.file, 1);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    assert_int_equal(mr_reader_member(reader, 3, 0, &bytes, &nbytes), 0);
    assert_int_equal(nbytes, strlen("{\"file_name\": \"3.png\", \"label\": 1}"));
    mr_reader_free(reader);
    mr_dataset_free(d);
}

/* A pipe that nobody writes to is not waited for, alone and behind a file. */
static void a_pipe_is_refused(void **state)
{
    (void)state;
    mr_dataset *d;
    char path[512];
    const char *paths[] = {made[MADE_TAR].path, test_folder_path(&folder, "pipe.tar", path)};
    const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE};
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(open_path("pipe.tar", NULL, &d), MR_EIO);
    assert_contains(mr_dataset_detail(d), "pipe.tar: ");
    mr_dataset_free(d);
    assert_int_equal(mr_dataset_new(&options, &d), 0);
    assert_int_equal(mr_dataset_open(d, paths, 2), MR_EIO);
    assert_contains(mr_dataset_detail(d), "pipe.tar: ");
    mr_dataset_free(d);
}

static void what_may_not_be_read(void **state)
{
    (void)state;
    mr_dataset *d, *other;
    bool root = geteuid() == 0;
    char path[512];
    test_folder_write(&folder, "locked.tar", "x", 1);
    test_folder_write(&folder, "locked/a.png", "x", 1);
    assert_int_equal(chmod(folder.path, 0755), 0);
    assert_int_equal(chmod(test_folder_path(&folder, "locked.tar", path), 0), 0);
    assert_int_equal(chmod(test_folder_path(&folder, "locked", path), 0), 0);
    if (root) // who may read everything
        assert_int_equal(seteuid(65534), 0);
    int file = open_path("locked.tar", NULL, &d), in_folder = open_path("locked", NULL, &other);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(file, MR_EIO);
    assert_contains(mr_dataset_detail(d), "locked.tar: Permission denied");
    assert_int_equal(in_folder, MR_EIO);
    assert_contains(mr_dataset_detail(other), "locked: Permission denied");
    mr_dataset_free(d);
    mr_dataset_free(other);
}

/* However long the name of a file, there is room for what is wrong with it. */
static void a_long_name_leaves_room_for_words(void **state)
{
    (void)state;
    char name[240];
    mr_dataset *d;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(open_path(name, NULL, &d), MR_EIO);
    assert_contains(mr_dataset_detail(d), "nnn: No such file");
    mr_dataset_free(d);
    test_folder_write(&folder, name, "words", 5);
    assert_int_equal(open_path(name, NULL, &d), MR_EFORMAT);
    assert_contains(mr_dataset_detail(d), "not a dataset that Millrace knows");
    mr_dataset_free(d);
}

/* Names with braces that are there as they stand are no pattern. */
static void braces_that_are_a_name(void **state)
{
    (void)state;
    tar_file tar = {0};
    mr_dataset *d;
    mr_sample sample = {.struct_size = sizeof sample};
    tar_add(&tar, "k.png", '0', made_image(0)->bytes, made_image(0)->nbytes);
    tar_end(&tar);
    test_folder_write(&folder, "braces/x-{0..1}.tar", tar.bytes, tar.nbytes);
    tar_free(&tar);
    assert_int_equal(open_path("braces/x-{0..1}.tar", NULL, &d), 0);
    assert_int_equal(mr_dataset_count(d), 1);
    assert_int_equal(mr_dataset_sample(d, 0, &sample), 0);
    assert_string_equal(sample.key, "k");
    mr_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_found_out),
        cmocka_unit_test(a_layout_that_is_asked_for_and_another_one),
        cmocka_unit_test(names_of_layouts),
        cmocka_unit_test(the_first_of_mixed_files_decides),
        cmocka_unit_test(what_cannot_be_opened),
        cmocka_unit_test(files_and_folders_do_not_mix),
        cmocka_unit_test(a_failed_open_can_be_tried_again_and_a_good_one_not),
        cmocka_unit_test(options_that_are_refused),
        cmocka_unit_test(nothing_to_ask),
        cmocka_unit_test(beyond_the_end),
        cmocka_unit_test(null_everywhere),
        cmocka_unit_test(classes_have_names),
        cmocka_unit_test(files_have_the_records),
        cmocka_unit_test(one_form_or_several),
        cmocka_unit_test(a_key_in_two_shards_is_the_first),
        cmocka_unit_test(problems_are_listed),
        cmocka_unit_test(records_that_are_absent_or_refused),
        cmocka_unit_test(braces_that_are_a_name),
        cmocka_unit_test(members_in_another_form),
        cmocka_unit_test(a_pipe_is_refused),
        cmocka_unit_test(what_may_not_be_read),
        cmocka_unit_test(a_long_name_leaves_room_for_words),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
