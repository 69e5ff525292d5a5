// SPDX-License-Identifier: Apache-2.0
/* What is packed beside images: labels of every kind, other members, keys of any kind. */
#include "test.h"

#include "pack_make.h"
#include "tar_file.h"

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

static void add_image(tar_file *tar, const char *key, pack_kind kind)
{
    char name[128];
    picture_file file = pack_image(kind, 9, 7, strlen(key));
    snprintf(name, sizeof name, "%s.%s", key, pack_ending(kind));
    tar_add(tar, name, '0', file.bytes, file.nbytes);
    free(file.bytes);
}

static void save(tar_file *tar, const char *name)
{
    tar_end(tar);
    test_folder_write(&folder, name, tar->bytes, tar->nbytes);
    tar_free(tar);
    *tar = (tar_file){0};
}

static const char *key_of(const mr_dataset *d, uint64_t ordinal)
{
    mr_sample sample = {.struct_size = sizeof sample};
    assert_int_equal(mr_dataset_sample(d, ordinal, &sample), 0);
    return sample.key;
}

static void expect_label(const mr_label *got, const mr_label *wanted)
{
    assert_int_equal(got->kind, wanted->kind);
    assert_true(got->integer == wanted->integer && got->real == wanted->real && got->count == wanted->count);
    size_t each = wanted->kind == MR_LABEL_INTS || wanted->kind == MR_LABEL_FLOATS ? 8 : 1;
    if (wanted->count != 0)
        assert_memory_equal(got->values, wanted->values, wanted->count * each);
}

/* From .cls to the index, to .cls, and by the tar scanner back again. */
static void labels_of_every_kind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mr_label_kind kind;
    } labels[] = {{"7", MR_LABEL_INT},       {"-9223372036854775808", MR_LABEL_INT},
                  {"0.1", MR_LABEL_FLOAT},   {"-1.5e300", MR_LABEL_FLOAT},
                  {"1 -2 3", MR_LABEL_INTS}, {"0.5 1 -0.25", MR_LABEL_FLOATS},
                  {"a word", MR_LABEL_TEXT}, {"\xc3\xa9t\xc3\xa9", MR_LABEL_TEXT}};
    enum { COUNT = sizeof labels / sizeof *labels };
    tar_file tar = {0};
    char path[512], name[32];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "%zu", i);
        add_image(&tar, name, PACK_PNG_1);
        snprintf(name, sizeof name, "%zu.cls", i);
        tar_add_text(&tar, name, labels[i].text);
    }
    add_image(&tar, "none", PACK_PNG_1);
    save(&tar, "labels.tar");
    mr_dataset *d = pack_open(&folder, "labels.tar", MR_LAYOUT_TAR);
    pack_run(d, &folder, "labels", &(mr_pack_options){.threads = 2});
    mr_dataset *packed = pack_open(&folder, "labels", MR_LAYOUT_PACKED);
    tar_scanned scanned =
        tar_scan_file(test_folder_path(&folder, "labels/original/000000.tar", path), MR_BROKEN_FAIL, NULL);
    assert_int_equal(scanned.result, 0);
    for (uint64_t i = 0; i <= COUNT; i++) {
        mr_sample was = {.struct_size = sizeof was}, is = was;
        mr_label again;
        assert_int_equal(mr_dataset_sample(d, i, &was) | mr_dataset_sample(packed, i, &is), 0);
        assert_int_equal(was.label.kind, i == COUNT ? MR_LABEL_NONE : labels[i].kind);
        expect_label(&is.label, &was.label);
        assert_true(mr__index_label(&scanned.index, i, &again));
        expect_label(&again, &was.label);
    }
    tar_scanned_free(&scanned);
    mr_dataset_free(packed);
    mr_dataset_free(d);
    assert_int_equal(pack_verify(&folder, "labels", NULL), 0);
}

static void expect_member(mr_reader *reader, uint64_t ordinal, uint32_t number, const char *text)
{
    const void *bytes;
    size_t nbytes;
    if (mr_reader_member(reader, ordinal, number, &bytes, &nbytes) != 0)
        fail_msg("%s", mr_reader_detail(reader));
    assert_int_equal(nbytes, strlen(text));
    assert_memory_equal(bytes, text, nbytes);
}

/* In the first form that the sample has. */
static void members_are_carried(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {FORM(.form = MR_FORM_JPEG), FORM(.form = MR_FORM_L3)};
    static const char *const texts[][2] = {{"{\"a\": 1}", "mask 1"}, {"{\"b\": 2}", ""}};
    tar_file tar = {0};
    for (int i = 0; i < 2; i++) {
        const char *key = i == 0 ? "x/jay" : "pee";
        char name[32];
        add_image(&tar, key, i == 0 ? PACK_JPEG : PACK_PNG_3);
        snprintf(name, sizeof name, "%s.json", key);
        tar_add_text(&tar, name, texts[i][0]);
        snprintf(name, sizeof name, "%s.seg.png", key);
        tar_add_text(&tar, name, texts[i][1]);
    }
    save(&tar, "members.tar");
    mr_dataset *d = pack_open(&folder, "members.tar", MR_LAYOUT_TAR);
    pack_run(d, &folder, "members", &(mr_pack_options){.forms = forms, .form_count = 2});
    mr_dataset_free(d);
    mr_reader *reader;
    d = pack_open(&folder, "members", MR_LAYOUT_PACKED);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    for (uint64_t i = 0; i < 2; i++) {
        mr_member member = {.struct_size = sizeof member};
        char path[512];
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(mr_dataset_member(d, i, k, &member), 0);
            assert_string_equal(member.name, k == 0 ? "json" : "seg.png");
            assert_true(mr_dataset_file(d, member.file, path, sizeof path) > 0);
            assert_contains(path, i == 0 ? "/jpeg/" : "/l3/");
            expect_member(reader, i, k, texts[i][k]);
        }
        assert_int_equal(mr_dataset_member(d, i, 2, &member), MR_EARGUMENT);
    }
    mr_reader_free(reader);
    /* Once more, from what was packed. */
    pack_run(d, &folder, "again", &(mr_pack_options){.forms = forms, .form_count = 2});
    mr_dataset_free(d);
    d = pack_open(&folder, "again", MR_LAYOUT_PACKED);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    expect_member(reader, 0, 1, texts[0][1]);
    expect_member(reader, 1, 0, texts[1][0]);
    mr_reader_free(reader);
    mr_dataset_free(d);
    assert_int_equal(pack_verify(&folder, "members", NULL) + pack_verify(&folder, "again", NULL), 0);
}

static void names_are_made_safe(void **state)
{
    (void)state;
    static const struct {
        const char *key, *name, *with_ending;
        mr_layout layout;
    } cases[] = {
        {"a/b.jpg", "a/b", "a/b%2Ejpg", MR_LAYOUT_FOLDER},
        {"a.b.jpg", "a%2Eb", "a%2Eb%2Ejpg", MR_LAYOUT_FOLDER},
        {"a%b.jpg", "a%25b", "a%25b%2Ejpg", MR_LAYOUT_FOLDER},
        {"x.y/z.png", "x.y/z", "x.y/z%2Epng", MR_LAYOUT_FOLDER},
        {".hidden", "%2Ehidden", "%2Ehidden", MR_LAYOUT_FOLDER},
        {"../x.jpg", "%2E%2E/x", "%2E%2E/x%2Ejpg", MR_LAYOUT_LIST},
        {"a/../../x.jpg", "a/%2E%2E/%2E%2E/x", "a/%2E%2E/%2E%2E/x%2Ejpg", MR_LAYOUT_LIST},
        {"/etc//passwd", "etc/passwd", "etc/passwd", MR_LAYOUT_LIST},
        {"./x", "%2E/x", "%2E/x", MR_LAYOUT_TAR},
        {"..", "%2E", "%2E%2E", MR_LAYOUT_TFRECORD},
        {"/", "%", "%", MR_LAYOUT_TFRECORD},
        {"a/", "a/%", "a/%", MR_LAYOUT_TFRECORD},
        {"a\\b\n", "a%5Cb%0A", "a%5Cb%0A", MR_LAYOUT_TFRECORD},
        {"k%2Ey", "k%2Ey", "k%2Ey", MR_LAYOUT_PACKED},
    };
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int ending = 0; ending < 2; ending++) {
            mr__text text;
            const char *got;
            mr__text_init(&text, &hooks);
            mr__pack_name(&text, cases[i].layout, cases[i].key, ending != 0);
            assert_int_equal(mr__text_finish(&text, &got, NULL), 0);
            assert_string_equal(got, ending != 0 ? cases[i].with_ending : cases[i].name);
            mr__text_fini(&text);
        }
}

/* Folders: dots, percents, stems that are there twice. */
static void keys_of_folders(void **state)
{
    (void)state;
    static const char *const names[] = {"a.jpg", "a.png", "a.webp",    "b%2Epng.jpg",
                                        "b.png", "b.jpg", "c.d.e.jpg", "c: d.jpg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        pack_kind kind = strstr(names[i], ".jpg") != NULL   ? PACK_JPEG
                         : strstr(names[i], ".png") != NULL ? PACK_PNG_2
                                                            : PACK_WEBP;
        picture_file file = pack_image(kind, 5, 4, i);
        snprintf(path, sizeof path, "keys/k/%s", names[i]);
        test_folder_write(&folder, path, file.bytes, file.nbytes - (strchr(names[i], ':') != NULL ? 30 : 0));
        free(file.bytes);
    }
    mr_dataset *d = pack_open(&folder, "keys", MR_LAYOUT_FOLDER);
    mr_pack_report report = pack_run(d, &folder, "packed-keys", &(mr_pack_options){.max_bad = 200000});
    assert_int_equal(report.refused, 1);
    mr_dataset_free(d);
    picture_file quarantine = pack_load(&folder, "packed-keys/quarantine.jsonl");
    quarantine.bytes[quarantine.nbytes] = '\0';
    assert_contains((const char *)quarantine.bytes, "\"key\": \"k/c: d.jpg\"");
    free(quarantine.bytes);
    d = pack_open(&folder, "packed-keys", MR_LAYOUT_PACKED);
    char all[512] = "";
    for (uint64_t i = 0; i < mr_dataset_count(d); i++) {
        uint64_t found;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s ", key_of(d, i));
        assert_int_equal(mr_dataset_find(d, key_of(d, i), &found), 0);
        assert_int_equal(found, i);
    }
    assert_string_equal(all, "k/a k/a%2Epng k/a%2Ewebp k/b%252Epng k/b k/b%2Epng k/c%2Ed%2Ee k/c: d ");
    mr_dataset_free(d);
}

/* Shards that begin their keys anew become one. */
static void keys_that_are_there_twice(void **state)
{
    (void)state;
    tar_file tar = {0};
    for (int i = 0; i < 3; i++) {
        char name[32];
        add_image(&tar, "a", PACK_PNG_1);
        add_image(&tar, i == 1 ? "a%232" : "b", PACK_PNG_1);
        snprintf(name, sizeof name, "twice-%d.tar", i);
        save(&tar, name);
    }
    mr_dataset *d = pack_open(&folder, "twice-{0..2}.tar", MR_LAYOUT_TAR);
    assert_int_equal(mr_dataset_count(d), 6);
    pack_run(d, &folder, "once", &(mr_pack_options){.threads = 1});
    mr_dataset_free(d);
    d = pack_open(&folder, "once", MR_LAYOUT_PACKED);
    static const char *const wanted[] = {"a", "b", "a%233", "a%25232", "a%235", "b%236"};
    for (uint64_t i = 0; i < 6; i++)
        assert_string_equal(key_of(d, i), wanted[i]);
    mr_dataset_free(d);
    assert_int_equal(pack_verify(&folder, "once", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_every_kind),      cmocka_unit_test(members_are_carried),
        cmocka_unit_test(names_are_made_safe),       cmocka_unit_test(keys_of_folders),
        cmocka_unit_test(keys_that_are_there_twice),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
