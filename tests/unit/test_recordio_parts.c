// SPDX-License-Identifier: Apache-2.0
/* RecordIO's records in parts: written here as dmlc-core writes them, read as anybody reads a dataset. */
#include "test.h"

#include "dataset/recordio_join.h"
#include "failing.h"
#include "scanned.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint8_t magic[4] = {0x0a, 0x23, 0xd7, 0xce};

static test_folder folder;

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static void add_part(made_bytes *file, uint32_t part, const void *data, size_t nbytes)
{
    bytes_add(file, magic, 4);
    bytes_add_le(file, part << 29 | (uint32_t)nbytes, 4);
    bytes_add(file, data, nbytes);
    while (file->nbytes % 4 != 0)
        bytes_add_le(file, 0, 1);
}

/* Cut at every magic number that stands at a multiple of 4, and without it. Returns how many parts it has. */
static int add_record(made_bytes *file, const made_bytes *payload)
{
    size_t from = 0;
    int parts = 0;
    for (size_t i = 0; i + 4 <= payload->nbytes; i += 4) {
        if (memcmp(payload->data + i, magic, 4) != 0)
            continue;
        add_part(file, parts++ == 0 ? 1 : 2, payload->data + from, i - from);
        from = i + 4;
    }
    add_part(file, parts == 0 ? 0 : 3, payload->data + from, payload->nbytes - from);
    return parts + 1;
}

/* What stands before the image; the labels may be the magic number too. */
static void add_head(made_bytes *payload, uint32_t flag, uint64_t id, uint64_t id2)
{
    payload->nbytes = 0;
    bytes_add_le(payload, flag, 4);
    bytes_add_f32(payload, 7);
    bytes_add_le(payload, id, 8);
    bytes_add_le(payload, id2, 8);
    for (uint32_t i = 0; i < flag; i++)
        bytes_add(payload, i % 2 == 1 ? magic : (const uint8_t *)"\0\0\x80\x3f", 4);
}

/* An image of so many bytes with the magic number at these places, up to one that is no place in it. */
enum { PLACES = 6, NONE = 100000 };

static void make_image(made_bytes *image, size_t nbytes, const size_t places[PLACES])
{
    image->nbytes = 0;
    bytes_add_jpeg(image, nbytes);
    for (int i = 0; i < PLACES && places[i] != NONE; i++)
        memcpy(image->data + places[i], magic, 4);
}

static const struct {
    size_t nbytes;
    uint32_t flag;
    int parts;
    size_t places[PLACES];
} cases[] = {
    {60, 0, 1, {NONE}},
    {60, 0, 2, {16, NONE}},
    {60, 0, 2, {0, NONE}},  /* at its very beginning */
    {60, 0, 2, {56, NONE}}, /* at its very end: the last part is empty */
    {63, 0, 2, {56, NONE}},
    {61, 0, 1, {57, NONE}},         /* not at a multiple of 4: it stays */
    {60, 0, 2, {17, 36, NONE}},     /* likewise the first */
    {60, 0, 4, {20, 24, 28, NONE}}, /* one behind the other: parts of nothing */
    {4, 0, 2, {0, NONE}},
    {24, 0, 7, {0, 4, 8, 12, 16, 20}},
    {60, 1, 2, {40, NONE}},
    {60, 5, 4, {40, NONE}}, /* labels that are the magic number */
    {60, 2, 3, {0, NONE}},
    {100001, 0, 3, {40000, 80000, NONE}}, /* more than is looked at together */
};

enum { CASES = sizeof cases / sizeof *cases };

static made_bytes images[CASES], file, payload;

static void make_file(void)
{
    file.nbytes = 0;
    for (size_t i = 0; i < CASES; i++) {
        make_image(&images[i], cases[i].nbytes, cases[i].places);
        add_head(&payload, cases[i].flag, i, 0);
        bytes_add(&payload, images[i].data, images[i].nbytes);
        assert_int_equal(add_record(&file, &payload), cases[i].parts);
    }
    test_folder_write(&folder, "train.rec", file.data, file.nbytes);
}

static mr_dataset *open_file(void)
{
    char path[512];
    const char *paths[] = {test_folder_path(&folder, "train.rec", path)};
    const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE};
    mr_dataset *d;
    assert_int_equal(mr_dataset_new(&options, &d), 0);
    if (mr_dataset_open(d, paths, 1) != 0)
        fail_msg("%s", mr_dataset_detail(d));
    return d;
}

/* The default policy: nothing is wrong with such a file. */
static void images_come_back_byte_for_byte(void **state)
{
    (void)state;
    make_file();
    mr_dataset *d = open_file();
    mr_reader *reader;
    assert_int_equal(mr_reader_new(d, &reader), 0);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < CASES; i++) {
            const void *bytes;
            size_t nbytes;
            if (mr_reader_record(reader, i, 0, &bytes, &nbytes) != 0)
                fail_msg("%zu: %s", i, mr_reader_detail(reader));
            assert_int_equal(nbytes, images[i].nbytes);
            assert_memory_equal(bytes, images[i].data, nbytes);
        }
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static void labels_and_forms_are_read_across_parts(void **state)
{
    (void)state;
    scanned s;
    size_t at = 0;
    make_file();
    scanned_init(&s, &mr__scanner_recordio, &folder, "train.rec", MR_BROKEN_FAIL);
    scanned_expect(&s, CASES, 0);
    for (size_t i = 0; i < CASES; i++) {
        char key[24];
        mr__record r = scanned_record(&s, i);
        snprintf(key, sizeof key, "%zu", i);
        scanned_expect_key(&s, i, key);
        assert_int_equal(r.parts, cases[i].parts > 1);
        assert_int_equal(r.form, cases[i].places[0] == 0 ? MR_FORM_NONE : MR_FORM_JPEG);
        uint64_t payload_nbytes = 24 + 4 * cases[i].flag + images[i].nbytes;
        uint64_t end = at + 4 * ((uint64_t)cases[i].parts - 1) + 8 + payload_nbytes; // each cut: 8 more, 4 less
        assert_int_equal(r.offset, r.parts ? at : end - images[i].nbytes);
        assert_int_equal(r.offset + r.nbytes, end);
        at = (end + 3) / 4 * 4;
        if (cases[i].flag == 0) {
            scanned_expect_int(&s, i, 7);
            continue;
        }
        mr_label label = scanned_label(&s, i);
        float number;
        memcpy(&number, magic, 4);
        assert_int_equal(label.count, cases[i].flag == 1 ? 1 : cases[i].flag);
        assert_int_equal(label.kind, MR_LABEL_INTS);
        for (size_t k = 0; k < label.count; k++)
            assert_true(((const int64_t *)label.values)[k] == (k % 2 == 1 ? (int64_t)number : 1));
    }
    assert_int_equal(at, file.nbytes);
    assert_int_equal(s.seen_nbytes, file.nbytes);
    scanned_fini(&s);
}

/* The number of the record, an id, is the magic number; so is the count of labels, for which there is no room. */
static void heads_are_put_together_too(void **state)
{
    (void)state;
    scanned s;
    file.nbytes = 0;
    make_image(&images[0], 60, (const size_t[PLACES]){NONE});
    add_head(&payload, 0, 0xced7230a00000000u, 0xced7230aced7230au);
    bytes_add(&payload, images[0].data, 60);
    assert_int_equal(add_record(&file, &payload), 4);
    memcpy(payload.data, magic, 4);
    assert_int_equal(add_record(&file, &payload), 5);
    test_folder_write(&folder, "train.rec", file.data, file.nbytes);
    scanned_init(&s, &mr__scanner_recordio, &folder, "train.rec", MR_BROKEN_SKIP);
    scanned_expect(&s, 1, 1);
    scanned_expect_key(&s, 0, "14904420017662590976");
    scanned_expect_problem(&s, 0, MR_ECORRUPT, "and 3470205706 labels: there is no room for an image");
    assert_int_equal(scanned_record(&s, 0).form, MR_FORM_JPEG);
    scanned_fini(&s);
}

/* No writer cuts so; dmlc-core's reader takes it, without the zeros in between. */
static void parts_of_any_length(void **state)
{
    (void)state;
    static const uint8_t labels[] = {0, 0, 0x0a, 0x23, 0xd7, 0xce, 0x80, 0x3f};
    scanned s;
    const void *bytes;
    size_t nbytes;
    file.nbytes = payload.nbytes = 0;
    add_head(&payload, 0, 5, 0);
    memcpy(payload.data, "\2", 1);
    bytes_add(&payload, labels, 2);
    add_part(&file, 1, payload.data, payload.nbytes);
    add_part(&file, 2, labels + 6, 2);
    add_part(&file, 3, "image", 5);
    test_folder_write(&folder, "train.rec", file.data, file.nbytes);
    scanned_init(&s, &mr__scanner_recordio, &folder, "train.rec", MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    float numbers[2];
    memcpy(numbers, labels, sizeof numbers);
    mr_label label = scanned_label(&s, 0);
    assert_true(label.kind == MR_LABEL_FLOATS && label.count == 2);
    for (int i = 0; i < 2; i++)
        assert_true(((const double *)label.values)[i] == numbers[i]);
    scanned_fini(&s);
    mr_dataset *d = open_file();
    mr_reader *reader;
    assert_int_equal(mr_reader_new(d, &reader), 0);
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, &nbytes), 0);
    assert_int_equal(nbytes, 9);
    assert_memory_equal(bytes, "\x0a\x23\xd7\xceimage", 9);
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static void scan_file(scanned *s, const char *idx, mr_broken_policy broken)
{
    char path[512];
    test_folder_write(&folder, "broken.rec", file.data, file.nbytes);
    remove(test_folder_path(&folder, "broken.idx", path));
    if (idx != NULL)
        test_folder_write(&folder, "broken.idx", idx, strlen(idx));
    scanned_init(s, &mr__scanner_recordio, &folder, "broken.rec", broken);
}

/* A whole record, one in three parts of 40, 0 and 23 bytes, a whole one. Returns where they begin. */
static void make_three(size_t at[4])
{
    file.nbytes = 0;
    for (size_t i = 0; i < 3; i++) {
        make_image(&images[i], 47, (const size_t[PLACES]){i == 1 ? 16 : NONE, 20, NONE});
        add_head(&payload, 0, i, 0);
        bytes_add(&payload, images[i].data, images[i].nbytes);
        at[i] = file.nbytes;
        assert_int_equal(add_record(&file, &payload), i == 1 ? 3 : 1);
    }
    at[3] = file.nbytes;
}

static void files_are_cut_anywhere_in_the_parts(void **state)
{
    (void)state;
    size_t at[4];
    make_three(at);
    for (size_t n = at[1]; n <= at[2]; n++) {
        scanned s;
        bool whole = n >= at[2] - 1; // the padding may be missing
        file.nbytes = n;
        scan_file(&s, NULL, MR_BROKEN_SKIP);
        scanned_expect(&s, 1 + whole, n != at[1] && !whole);
        if (n != at[1] && !whole)
            scanned_expect_problem(&s, 0, MR_ETRUNCATED, "record 1 at byte 80");
        scanned_fini(&s);
        scan_file(&s, NULL, MR_BROKEN_FAIL);
        assert_int_equal(s.result, n == at[1] || whole ? 0 : MR_ETRUNCATED);
        scanned_fini(&s);
    }
}

/* What is damaged costs this record alone, and no line of the .idx. */
static void parts_that_are_none(void **state)
{
    (void)state;
    size_t at[4];
    make_three(at);
    const struct {
        size_t place;
        uint8_t bits;
        int code;
        const char *words;
    } damage[] = {
        {at[1] + 48, 1, MR_ECORRUPT, "is stored in parts, and the one at byte 128 is none of them"},
        {at[1] + 48 + 7, 0x60, MR_ECORRUPT, "at byte 128 is none of them"}, // a first one in the middle
        {at[1] + 48 + 7, 0xc0, MR_ECORRUPT, "at byte 128 is none of them"}, // a part 4
        {at[1] + 48 + 7, 0x10, MR_ETRUNCATED, "at byte 128 goes on behind the end of the file"},
        {at[1] + 56 + 7, 0x20, MR_ECORRUPT, "at byte 168 is none of them"}, // no last one
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        scanned s;
        file.data[damage[i].place] ^= damage[i].bits;
        scan_file(&s, "key\t80\n", MR_BROKEN_SKIP);
        /* A first part in the middle begins a record of its own, which is too short to be one. */
        scanned_expect(&s, 2, i == 1 ? 2 : 1);
        scanned_expect_problem(&s, 0, damage[i].code, damage[i].words);
        scanned_expect_int(&s, 1, 7);
        scanned_expect_key(&s, 1, "2");
        scanned_fini(&s);
        scan_file(&s, NULL, MR_BROKEN_FAIL);
        assert_int_equal(s.result, damage[i].code);
        assert_contains(s.detail.text, "; --broken=skip leaves it out");
        scanned_fini(&s);
        file.data[damage[i].place] ^= damage[i].bits;
    }
}

/* Whatever an index says: nothing but a record in parts, to its last byte, is one. */
static void nothing_else_is_joined(void **state)
{
    (void)state;
    size_t at[4], offset, nbytes;
    mr_hooks hooks;
    mr__buffer out = {NULL, 0};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    make_three(at);
    size_t good = at[2] - 1 - at[1];
    for (size_t n = 0; n <= at[3] - at[1]; n++) {
        uint8_t *copy = malloc(n + (n == 0)); // so that a sanitizer sees what is read behind it
        assert_non_null(copy);
        memcpy(copy, file.data + at[1], n);
        assert_int_equal(mr__recordio_join(copy, n, &hooks, &out, &offset, &nbytes), n == good ? 0 : MR_ECORRUPT);
        if (n == good) {
            assert_int_equal(nbytes, 47);
            assert_memory_equal(out.bytes + offset, images[1].data, 47);
        }
        free(copy);
    }
    assert_int_equal(mr__recordio_join(file.data, at[1] - 1, &hooks, &out, &offset, &nbytes), MR_ECORRUPT); // whole
    file.data[at[1] + 8] = 12; // labels up to beyond its end; up to its last three bytes
    assert_int_equal(mr__recordio_join(file.data + at[1], good, &hooks, &out, &offset, &nbytes), MR_ECORRUPT);
    file.data[at[1] + 8] = 11;
    assert_int_equal(mr__recordio_join(file.data + at[1], good, &hooks, &out, &offset, &nbytes), 0);
    assert_int_equal(nbytes, 3);
    file.nbytes = 0;
    add_head(&payload, 0, 0, 0);
    bytes_add(&payload, magic, 4);
    bytes_add_text(&payload, "rest");
    add_record(&file, &payload);
    assert_int_equal(mr__recordio_join(file.data, file.nbytes, &hooks, &out, &offset, &nbytes), 0);
    file.data[8] = 2; // labels up to its very end
    assert_int_equal(mr__recordio_join(file.data, file.nbytes, &hooks, &out, &offset, &nbytes), MR_ECORRUPT);
    mr__buffer_fini(&out, &hooks);
}

/* The file is written to under a dataset, which does not see it by its time. */
static void what_changed_meanwhile_is_an_error(void **state)
{
    (void)state;
    char path[512];
    struct stat was;
    const void *bytes;
    size_t nbytes, at[4];
    make_three(at);
    test_folder_write(&folder, "train.rec", file.data, file.nbytes);
    assert_int_equal(stat(test_folder_path(&folder, "train.rec", path), &was), 0);
    mr_dataset *d = open_file();
    mr_reader *reader;
    assert_int_equal(mr_reader_new(d, &reader), 0);
    file.data[at[1] + 48] ^= 1;
    test_folder_write(&folder, "train.rec", file.data, file.nbytes);
    const struct timespec times[2] = {was.st_atim, was.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(mr_reader_record(reader, 1, 0, &bytes, &nbytes), MR_ECORRUPT);
    assert_contains(mr_reader_detail(reader), "1: the 87 bytes at byte 80 of ");
    assert_int_equal(mr_reader_record(reader, 2, 0, &bytes, &nbytes), 0);
    assert_memory_equal(bytes, images[2].data, 47);
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static int read_with(const mr_hooks *hooks, void *arg)
{
    char path[512];
    const char *paths[] = {test_folder_path(&folder, "train.rec", path)};
    const mr_dataset_options options = {.struct_size = sizeof options, .index = MR_INDEX_NONE, .hooks = hooks};
    mr_dataset *d = NULL;
    mr_reader *reader = NULL;
    const void *bytes;
    size_t nbytes;
    (void)arg;
    int result = mr_dataset_new(&options, &d);
    if (result == 0)
        result = mr_dataset_open(d, paths, 1);
    if (result == 0)
        result = mr_reader_new(d, &reader);
    if (result == 0)
        result = mr_reader_record(reader, 1, 0, &bytes, &nbytes);
    mr_reader_free(reader);
    mr_dataset_free(d);
    return result;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t at[4];
    make_three(at);
    test_folder_write(&folder, "train.rec", file.data, file.nbytes);
    failing_run(read_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_come_back_byte_for_byte),
        cmocka_unit_test(labels_and_forms_are_read_across_parts),
        cmocka_unit_test(heads_are_put_together_too),
        cmocka_unit_test(parts_of_any_length),
        cmocka_unit_test(files_are_cut_anywhere_in_the_parts),
        cmocka_unit_test(parts_that_are_none),
        cmocka_unit_test(nothing_else_is_joined),
        cmocka_unit_test(what_changed_meanwhile_is_an_error),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
