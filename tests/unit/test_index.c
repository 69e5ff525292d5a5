// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "dataset/index_file.h"
#include "failing.h"
#include "files.h"
#include "index_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void same_record(const mr__record *a, const mr__record *b)
{
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->nbytes, b->nbytes);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->form, b->form);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->orientation, b->orientation);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->has_hash, b->has_hash);
    assert_int_equal(a->pixel_mode, b->pixel_mode);
    assert_int_equal(a->planar, b->planar);
    assert_int_equal(a->parts, b->parts);
}

static void same_label(const mr_label *a, const mr_label *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->integer, b->integer);
    assert_memory_equal(&a->real, &b->real, sizeof a->real);
    assert_int_equal(a->count, b->count);
    if (a->count != 0)
        assert_memory_equal(a->values, b->values, a->count * (a->kind <= MR_LABEL_FLOATS ? 8 : 1));
}

static void same_sample(const mr__index *index, const mr__draft *draft, uint64_t position)
{
    mr__record record;
    mr_label label;
    const char *key;
    const void *row;
    size_t nbytes;
    uint64_t found;
    assert_true(mr__index_record(index, position, &record));
    same_record(&record, &draft->record);
    assert_true(mr__index_label(index, position, &label));
    same_label(&label, &draft->label);
    assert_true(mr__index_key(index, position, &key, &nbytes));
    assert_int_equal(nbytes, draft->key_nbytes);
    assert_string_equal(key, draft->key);
    assert_true(mr__index_find(index, draft->key, draft->key_nbytes, &found));
    assert_int_equal(found, position);
    assert_true(mr__index_row_index(index, position, &row, &nbytes));
    assert_int_equal(nbytes, draft->row_index_nbytes);
    if (nbytes != 0)
        assert_memory_equal(row, draft->row_index, nbytes);
    assert_int_equal(mr__index_member_count(index, position), draft->member_count);
    for (uint32_t i = 0; i < draft->member_count; i++) {
        mr__member member;
        assert_true(mr__index_member(index, position, i, &member));
        assert_string_equal(member.name, draft->members[i].name);
        assert_int_equal(member.name_nbytes, draft->members[i].name_nbytes);
        assert_int_equal(member.offset, draft->members[i].offset);
        assert_int_equal(member.nbytes, draft->members[i].nbytes);
    }
}

static void same_texts(const mr__index *index, const index_case *of)
{
    char text[32];
    const char *found;
    size_t nbytes;
    int64_t mtime_ns;
    uint32_t position;
    int code;
    assert_int_equal(mr__index_class_count(index), of->classes);
    for (uint32_t i = 0; i < of->classes; i++) {
        assert_true(mr__index_class(index, i, &found, &nbytes));
        assert_string_equal(found, index_text(text, "class", i));
        assert_int_equal(nbytes, strlen(text));
    }
    assert_int_equal(mr__index_folder_count(index), of->folders);
    for (uint32_t i = 0; i < of->folders; i++) {
        assert_true(mr__index_folder(index, i, &found, &mtime_ns));
        assert_string_equal(found, index_folder(text, i));
        assert_int_equal(mtime_ns, -(int64_t)i);
    }
    assert_int_equal(mr__index_problem_count(index), of->problems);
    for (uint32_t i = 0; i < of->problems; i++) {
        assert_true(mr__index_problem(index, i, &position, &code, &found));
        assert_string_equal(found, index_text(text, "problem", i));
        assert_int_equal(code, -1 - (int)i);
        assert_int_equal(position, i % 2 == 0 ? MR__INDEX_NO_POSITION : i / 2);
    }
}

static void same_head(const mr__index *index, const index_case *of)
{
    mr__index_head head = index_head(of);
    assert_int_equal(index->head.layout, head.layout);
    assert_int_equal(index->head.samples, of->samples);
    assert_int_equal(index->head.shard, head.shard);
    assert_int_equal(index->head.data_nbytes, head.data_nbytes);
    assert_int_equal(index->head.data_mtime_ns, head.data_mtime_ns);
    assert_int_equal(index->head.data_hash, head.data_hash);
    assert_int_equal(index->head.made_of, head.made_of);
}

static void round_trip(const index_case *of)
{
    mr_hooks hooks;
    mr__index_build build, twin;
    mr__index index;
    mr__detail detail = {""};
    index_sample sample;
    const uint8_t *bytes, *others;
    size_t nbytes, others_nbytes;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr_hooks filling = failing_hooks(); // with other bytes in new memory
    assert_int_equal(index_make(of, &hooks, &build, &bytes, &nbytes), 0);
    assert_int_equal(index_make(of, &filling, &twin, &others, &others_nbytes), 0);
    assert_int_equal(nbytes, others_nbytes);
    assert_memory_equal(bytes, others, nbytes);
    mr__index_build_fini(&twin);
    assert_int_equal(mr__index_take(&index, &build, "made", &detail), 0);
    mr__index_build_fini(&build);
    same_head(&index, of);
    for (uint32_t i = 0; i < of->samples; i++) {
        index_sample_make(&sample, of, i);
        same_sample(&index, &sample.draft, i);
    }
    same_texts(&index, of);
    index_read_all(&index);
    if (mr__index_check(&index, "made", &detail) != 0)
        fail_msg("%s", detail.text);
    mr__index_close(&index);
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 2, 3, 17, 300};
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
        for (int layout = MR_LAYOUT_PACKED; layout <= MR_LAYOUT_FOLDER; layout++)
            for (uint32_t kind = 0; kind < 8; kind++) {
                index_case of = {.seed = 8 * size + kind, .samples = sizes[size], .layout = (mr_layout)layout};
                of.members = kind & 1;
                of.rows = kind & 2;
                of.classes = kind & 4 ? 7 : 0;
                of.problems = kind & 4 && of.samples > 2 ? 5 : 0;
                of.folders = layout == MR_LAYOUT_FOLDER ? 1 + kind : 0;
                round_trip(&of);
            }
}

/* Byte for byte what doc/format-dataset.md says of one sample. */
static void the_document_is_followed(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__index_build build;
    const uint8_t *bytes;
    size_t nbytes;
    mr__record record = {.offset = 0x0102, .nbytes = 0x0504030201, .hash = 9, .width = 6, .height = 7, .form = 1};
    record.channels = 3;
    record.depth = 8;
    record.orientation = 6;
    record.has_hash = record.planar = true;
    mr__draft draft = {.key = "ab", .key_nbytes = 2, .record = record};
    draft.label = (mr_label){.kind = MR_LABEL_TEXT, .values = "cat", .count = 3};
    mr__index_head head = {.layout = MR_LAYOUT_PACKED, .shard = 3, .data_nbytes = UINT64_C(1) << 40, .made_of = 8};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    assert_int_equal(mr__index_add(&build, &draft), 0);
    assert_int_equal(mr__index_build_finish(&build, &head, &bytes, &nbytes), 0);
    assert_int_equal(nbytes, 256 + 4 * 64 - 64 + 3);
    static const uint8_t begin[40] = {0x8a, 'M', 'R', 'X', 13, 10, 26, 10, 1, 0, 1, 0, 4, [32] = 1};
    assert_memory_equal(bytes, begin, 40);
    static const uint8_t stored[48] = {2, 1, [8] = 1,  2,        3,        4,        5, 1, 3,
                                       8, 6, [20] = 7, [24] = 9, [37] = 3, [40] = 5, 0, 5, [44] = 6};
    assert_memory_equal(bytes + 256, stored, 48);
    static const uint8_t keys[19] = {[8] = 3, [16] = 'a', 'b'};
    assert_memory_equal(bytes + 320, keys, 19);
    assert_int_equal(mr__load_le64(bytes + 384), mr__hash("ab", 2) >> 32 << 32);
    assert_memory_equal(bytes + 448, "cat", 3);
    assert_int_equal(mr__load_le64(bytes + 128 + 8), 256);
    assert_int_equal(mr__load_le64(bytes + 128 + 24), mr__hash(stored, 48));
    static const uint8_t said[] = {'a', 'b', 0, 1, 2, 3, 4, 5, 0, 0, 0, 9, 0,   0,   0,  0,
                                   0,   0,   0, 5, 3, 0, 0, 0, 0, 0, 0, 0, 'c', 'a', 't'};
    assert_int_equal(mr__load_le64(bytes + 88), mr__hash(said, sizeof said));
    mr__index_build_fini(&build);
}

static int add_key(mr__index_build *build, const char *key)
{
    mr__draft draft = {.key = key, .key_nbytes = strlen(key)};
    return mr__index_add(build, &draft);
}

/* 300,000 keys have some 10 pairs with the same upper 32 bits; as many again are asked for and are not there. */
static void keys_are_found_though_hashes_meet(void **state)
{
    (void)state;
    enum { KEYS = 300000 };
    mr_hooks hooks;
    mr__index_build build;
    mr__index index;
    mr__detail detail;
    const uint8_t *bytes;
    size_t nbytes;
    uint64_t position, meet = 0;
    char key[16];
    mr__index_head head = {.layout = MR_LAYOUT_TAR};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_int_equal(add_key(&build, key), 0);
    }
    assert_int_equal(mr__index_build_finish(&build, &head, &bytes, &nbytes), 0);
    assert_int_equal(mr__index_init(&index, bytes, nbytes, "keys", &detail), 0);
    for (int i = 0; i < 2 * KEYS; i++) {
        snprintf(key, sizeof key, "%d", i);
        if (mr__index_find(&index, key, strlen(key), &position) != (i < KEYS) || (i < KEYS && position != (uint64_t)i))
            fail_msg("key %s is found at %llu", key, (unsigned long long)position);
    }
    const uint8_t *map = mr__index_key_map(&index);
    for (uint64_t i = 1; i < KEYS; i++)
        meet += mr__load_le32(map + 8 * i + 4) == mr__load_le32(map + 8 * i - 4);
    assert_true(meet > 2);
    assert_int_equal(mr__index_check(&index, "keys", &detail), 0);
    mr__index_build_fini(&build);
}

static void of_two_equal_keys_the_first_is_found(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__index_build build;
    mr__index index;
    mr__detail detail;
    const uint8_t *bytes;
    size_t nbytes;
    uint64_t position = 9;
    mr__index_head head = {.layout = MR_LAYOUT_TAR};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    static const char *const keys[] = {"x", "twice", "", "twice"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(add_key(&build, keys[i]), 0);
    assert_int_equal(mr__index_build_finish(&build, &head, &bytes, &nbytes), 0);
    assert_int_equal(mr__index_init(&index, bytes, nbytes, "keys", &detail), 0);
    assert_true(mr__index_find(&index, "twice", 5, &position));
    assert_int_equal(position, 1);
    assert_true(mr__index_find(&index, NULL, 0, &position));
    assert_int_equal(position, 2);
    assert_int_equal(mr__index_check(&index, "keys", &detail), 0);
    mr__index_build_fini(&build);
}

static void what_cannot_be_held_is_refused(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__index_build build;
    static mr__member members[MR__MEMBER_MAX + 1];
    static const double numbers[2];
    const mr__record sound = {.channels = 3, .depth = 8, .width = 1, .height = 1};
    mr__record bad[8];
    for (int i = 0; i < 8; i++)
        bad[i] = sound;
    bad[0].channels = 5;
    bad[1].depth = 9;
    bad[2].width = 0;
    bad[3].channels = 0;
    bad[4].orientation = 9;
    bad[5].form = 7;
    bad[6].state = 3;
    bad[7].height = 0;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    for (int i = 0; i < 8; i++) {
        mr__draft draft = {.key = "k", .key_nbytes = 1, .record = bad[i]};
        assert_int_equal(mr__index_add(&build, &draft), MR_EARGUMENT);
    }
    mr__draft draft = {.key = "a\0b", .key_nbytes = 3};
    assert_int_equal(mr__index_add(&build, &draft), MR_EARGUMENT);
    draft = (mr__draft){.record.nbytes = UINT64_C(1) << 40};
    assert_int_equal(mr__index_add(&build, &draft), MR_ELIMIT);
    draft = (mr__draft){.members = members, .member_count = MR__MEMBER_MAX + 1};
    assert_int_equal(mr__index_add(&build, &draft), MR_ELIMIT);
    draft = (mr__draft){.label = {.kind = MR_LABEL_INTS, .values = numbers, .count = 1 << 24}};
    assert_int_equal(mr__index_add(&build, &draft), MR_ELIMIT);
    draft = (mr__draft){.label = {.kind = MR_LABEL_BYTES + 1}};
    assert_int_equal(mr__index_add(&build, &draft), MR_EARGUMENT);
    draft = (mr__draft){.label = {.kind = MR_LABEL_TEXT, .values = "a\0", .count = 2}};
    assert_int_equal(mr__index_add(&build, &draft), MR_EARGUMENT);
    draft = (mr__draft){.label = {.kind = MR_LABEL_TEXT, .count = 2}};
    assert_int_equal(mr__index_add(&build, &draft), MR_EARGUMENT);
    build.parts[MR__PART_LABELS].used = MR__INDEX_LABELS_MAX - 15;
    draft = (mr__draft){.label = {.kind = MR_LABEL_FLOATS, .values = numbers, .count = 2}};
    assert_int_equal(mr__index_add(&build, &draft), MR_ELIMIT);
    build.parts[MR__PART_LABELS].used = 0;
    build.samples = MR__INDEX_SAMPLE_MAX;
    draft = (mr__draft){.key = "k", .key_nbytes = 1};
    assert_int_equal(mr__index_add(&build, &draft), MR_ELIMIT);
    build.samples = 0;
    assert_int_equal(mr__index_add_folder(&build, "not the first", 0), MR_EARGUMENT);
    assert_int_equal(mr__index_add_problem(&build, 0, 0, "no code"), MR_EARGUMENT);
    assert_int_equal(mr__index_add_class(&build, "a\0", 2), MR_EARGUMENT);
    for (int i = 0; i < MR__INDEX_PART_COUNT; i++)
        assert_int_equal(build.parts[i].used, 0); // and nothing of it is left
    assert_int_equal(mr__index_add(&build, &draft), 0);
    mr__index_build_fini(&build);
}

static void a_head_says_nothing_that_its_layout_does_not_have(void **state)
{
    (void)state;
    static const mr__index_head bad[] = {
        {.layout = MR_LAYOUT_AUTO},
        {.layout = MR_LAYOUT_FOLDER + 1},
        {.layout = MR_LAYOUT_TAR, .shard = 1},
        {.layout = MR_LAYOUT_TAR, .data_hash = 1},
        {.layout = MR_LAYOUT_TAR, .required = 1},
        {.layout = MR_LAYOUT_TAR, .ignorable = 1},
        {.layout = MR_LAYOUT_PACKED, .data_mtime_ns = 1},
    };
    mr_hooks hooks;
    const uint8_t *bytes;
    size_t nbytes;
    mr__index_head good = {.layout = MR_LAYOUT_TAR};
    mr__index_build build;
    mr__index index;
    mr__detail detail;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mr__index_build_finish(&build, &bad[i], &bytes, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr__index_add_problem(&build, 0, MR_EIO, "of no sample"), 0);
    assert_int_equal(mr__index_build_finish(&build, &good, &bytes, &nbytes), MR_EARGUMENT);
    assert_int_equal(mr__index_take(&index, &build, "unfinished", &detail), MR_EARGUMENT);
    assert_int_equal(add_key(&build, "k"), 0);
    assert_int_equal(mr__index_build_finish(&build, &good, &bytes, &nbytes), 0);
    assert_int_equal(mr__index_build_finish(&build, &good, &bytes, &nbytes), MR_EARGUMENT);
    assert_int_equal(add_key(&build, "too late"), MR_EARGUMENT);
    mr__index_build_fini(&build);
}

static int make_and_take(const mr_hooks *hooks, void *arg)
{
    mr__index_build build;
    mr__index index = {0};
    mr__detail detail;
    const uint8_t *bytes;
    size_t nbytes;
    int error = index_make(arg, hooks, &build, &bytes, &nbytes);
    if (error == 0)
        error = mr__index_take(&index, &build, "made", &detail);
    if (error == 0)
        error = mr__index_check(&index, "made", &detail);
    mr__index_build_fini(&build);
    mr__index_close(&index);
    return error;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    index_case of = {
        .seed = 5, .samples = 40, .classes = 3, .folders = 3, .problems = 4, .members = true, .rows = true};
    of.layout = MR_LAYOUT_FOLDER;
    failing_run(make_and_take, &of);
}

/* More names than the first table holds, in an order of their own, each twice. */
static void many_names_of_members(void **state)
{
    (void)state;
    enum { NAMES = 1000 };
    mr_hooks hooks;
    mr__index_build build;
    mr__index index;
    mr__detail detail;
    const uint8_t *bytes;
    size_t nbytes;
    char name[16];
    mr__index_head head = {.layout = MR_LAYOUT_TAR};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    for (int i = 0; i < 2 * NAMES; i++) {
        snprintf(name, sizeof name, "%d", i * 7 % NAMES);
        mr__member member = {.name = name, .name_nbytes = strlen(name)};
        mr__draft draft = {.key = "k", .key_nbytes = 1, .members = &member, .member_count = 1};
        assert_int_equal(mr__index_add(&build, &draft), 0);
    }
    assert_int_equal(build.names, NAMES);
    assert_int_equal(mr__index_build_finish(&build, &head, &bytes, &nbytes), 0);
    assert_int_equal(mr__index_init(&index, bytes, nbytes, "names", &detail), 0);
    assert_int_equal(mr__index_check(&index, "names", &detail), 0);
    for (int i = 0; i < 2 * NAMES; i++) {
        mr__member member;
        snprintf(name, sizeof name, "%d", i * 7 % NAMES);
        assert_true(mr__index_member(&index, (uint64_t)i, 0, &member));
        assert_string_equal(member.name, name);
    }
    mr__index_build_fini(&build);
}

static void files_are_mapped(void **state)
{
    (void)state;
    const index_case of = {.seed = 3, .samples = 50, .layout = MR_LAYOUT_TFRECORD, .members = true};
    mr_hooks hooks;
    mr__index_build build;
    mr__index index;
    mr__detail detail = {""};
    test_folder folder;
    char path[512];
    const uint8_t *bytes;
    size_t nbytes;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(index_make(&of, &hooks, &build, &bytes, &nbytes), 0);
    test_folder_init(&folder);
    test_folder_write(&folder, "good.mrx", bytes, nbytes);
    test_folder_write(&folder, "empty.mrx", bytes, 0);
    test_folder_write(&folder, "cut.mrx", bytes, nbytes - 1);
    test_folder_write(&folder, "other.mrx", "{\"no\": \"index\"}", 15);
    assert_int_equal(mr__index_open(&index, test_folder_path(&folder, "good.mrx", path), &detail), 0);
    assert_int_equal(mr__index_check(&index, path, &detail), 0);
    assert_memory_equal(index.bytes, bytes, nbytes);
    index_read_all(&index);
    mr__index_close(&index);
    mr__index_close(&index);
    assert_int_equal(mr__index_open(&index, test_folder_path(&folder, "empty.mrx", path), &detail), MR_ETRUNCATED);
    assert_contains(detail.text, "empty.mrx: an empty file");
    assert_int_equal(mr__index_open(&index, test_folder_path(&folder, "cut.mrx", path), &detail), MR_ETRUNCATED);
    assert_contains(detail.text, "cut.mrx: the index ends at byte");
    assert_int_equal(mr__index_open(&index, test_folder_path(&folder, "other.mrx", path), &detail), MR_EFORMAT);
    assert_contains(detail.text, "other.mrx: no index of Millrace");
    assert_int_equal(mr__index_open(&index, folder.path, &detail), MR_EIO);
    assert_contains(detail.text, "Is a directory");
    assert_int_equal(mr__index_open(&index, test_folder_path(&folder, "none.mrx", path), &detail), MR_EIO);
    assert_contains(detail.text, "none.mrx: the index cannot be opened: No such file");
    assert_null(index.bytes);
    mr__index_build_fini(&build);
    test_folder_fini(&folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(the_document_is_followed),
        cmocka_unit_test(keys_are_found_though_hashes_meet),
        cmocka_unit_test(of_two_equal_keys_the_first_is_found),
        cmocka_unit_test(what_cannot_be_held_is_refused),
        cmocka_unit_test(a_head_says_nothing_that_its_layout_does_not_have),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(many_names_of_members),
        cmocka_unit_test(files_are_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
