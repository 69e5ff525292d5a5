// SPDX-License-Identifier: Apache-2.0
/* TFRecord files and what becomes of them. */
#include "test.h"

#include "failing.h"
#include "scanned.h"
#include "tfrecord_file.h"

#include <stdio.h>
#include <string.h>

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

static void scan(scanned *s, const made_bytes *file, mr_broken_policy broken)
{
    test_folder_write(&folder, "train-00000-of-01024", file->data, file->nbytes);
    scanned_init(s, &mr__scanner_tfrecord, &folder, "train-00000-of-01024", broken);
}

/*
 * The bytes that the Python package tfrecord 1.14.6 (with protobuf 7.36.2 and crc32c 2.9) writes for
 * {"label": (7, "int"), "image/encoded": (b"\xff\xd8\xff\xe0\x00", "byte")}. They are what the format says: the proto
 * files are tensorflow/core/example/{example,feature}.proto, the frame is that of
 * tensorflow/core/lib/io/record_writer.h.
 */
static void golden_bytes(void **state)
{
    (void)state;
    // clang-format off
    static const uint8_t file[] = {
        0x2e, 0, 0, 0, 0, 0, 0, 0, 0xc5, 0xcb, 0x57, 0xfa, /* 46 bytes; masked CRC-32C of that */
        0x0a, 0x2c,                                        /* Example.features, 44 bytes */
        0x0a, 0x1a,                                        /* Features.feature: an entry of 26 bytes */
        0x0a, 0x0d, 'i', 'm', 'a', 'g', 'e', '/', 'e', 'n', 'c', 'o', 'd', 'e', 'd', /* its key */
        0x12, 0x09, 0x0a, 0x07, 0x0a, 0x05,                /* its value: bytes_list { value: 5 bytes } */
        0xff, 0xd8, 0xff, 0xe0, 0x00,
        0x0a, 0x0e,                                        /* an entry of 14 bytes */
        0x0a, 0x05, 'l', 'a', 'b', 'e', 'l',
        0x12, 0x05, 0x1a, 0x03, 0x0a, 0x01, 0x07,          /* int64_list { value: [7], packed } */
        0xe0, 0x5a, 0x67, 0xca,                            /* masked CRC-32C of the data */
    };
    // clang-format on
    scanned s;
    test_folder_write(&folder, "golden.tfrecord", file, sizeof file);
    scanned_init(&s, &mr__scanner_tfrecord, &folder, "golden.tfrecord", MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    scanned_expect_key(&s, 0, "golden/000000000");
    scanned_expect_int(&s, 0, 7);
    mr__record r = scanned_record(&s, 0);
    assert_true(r.offset == 37 && r.nbytes == 5 && r.form == MR_FORM_JPEG && r.channels == 0 && !r.planar);
    assert_true(mr__scanner_tfrecord.probe("anything", file, sizeof file, sizeof file));
    scanned_fini(&s);
}

static void records_one_after_the_other(void **state)
{
    (void)state;
    static made_bytes file;
    scanned s;
    file.nbytes = 0;
    for (int i = 0; i < 20; i++)
        tfrecord_add_sample(&file, 40 + 300 * (size_t)i, i - 3);
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 20, 0);
    for (int i = 0; i < 20; i++) {
        char key[64];
        mr__record r = scanned_record(&s, (uint64_t)i);
        snprintf(key, sizeof key, "train-00000-of-01024/%09d", i);
        scanned_expect_key(&s, (uint64_t)i, key);
        scanned_expect_int(&s, (uint64_t)i, i - 3); // also negative ones: ten bytes of varint
        assert_int_equal(r.nbytes, 40 + 300 * i);
        assert_memory_equal(file.data + r.offset, "\xff\xd8\xff\xe0\0\x10JFIF", 10);
        assert_int_equal(mr__index_member_count(&s.index, (uint64_t)i), 0);
    }
    assert_int_equal(s.seen_nbytes, file.nbytes);
    scanned_fini(&s);
}

static void an_empty_file_has_no_samples(void **state)
{
    (void)state;
    static made_bytes file;
    scanned s;
    file.nbytes = 0;
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 0, 0);
    scanned_fini(&s);
}

static void features_become_key_label_and_members(void **state)
{
    (void)state;
    static made_bytes features, file, image;
    static const float boxes[] = {0.25f, 0.5f};
    scanned s;
    features.nbytes = file.nbytes = image.nbytes = 0;
    bytes_add_text(&image, "\x89PNG\r\n\x1a\n and more");
    tfrecord_add_floats(&features, "image/object/bbox/xmin", boxes, 2, true);
    tfrecord_add_text(&features, "image/class/text", "tench, Tinca tinca");
    tfrecord_add_bytes(&features, "image/encoded", image.data, image.nbytes);
    tfrecord_add_text(&features, "image/filename", "n01440764_10026.JPEG");
    tfrecord_add_int(&features, "image/class/label", 1);
    tfrecord_add_text(&features, "image/format", "JPEG");
    tfrecord_add_example(&file, &features);
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    scanned_expect_key(&s, 0, "n01440764_10026.JPEG");
    scanned_expect_int(&s, 0, 1);
    assert_int_equal(scanned_record(&s, 0).form, MR_FORM_PNG);
    assert_int_equal(scanned_record(&s, 0).nbytes, image.nbytes);
    assert_int_equal(mr__index_member_count(&s.index, 0), 3);
    mr__member box = scanned_member(&s, 0, 0, "image.object.bbox.xmin.pb");
    static const uint8_t encoded[] = {0x12, 0x0a, 0x0a, 0x08, 0, 0, 0x80, 0x3e, 0, 0, 0, 0x3f};
    assert_int_equal(box.nbytes, sizeof encoded);
    assert_memory_equal(file.data + box.offset, encoded, sizeof encoded);
    mr__member text = scanned_member(&s, 0, 1, "image.class.text");
    assert_int_equal(text.nbytes, 18);
    assert_memory_equal(file.data + text.offset, "tench, Tinca tinca", 18);
    assert_int_equal(scanned_member(&s, 0, 2, "image.format").nbytes, 4);
    scanned_fini(&s);
}

/* Names that are one without their slashes, many of them; kinds that are stored as they are. */
static void members_have_names_of_their_own(void **state)
{
    (void)state;
    static const int64_t two[] = {1, 2};
    static made_bytes features, file, list;
    scanned s;
    features.nbytes = file.nbytes = list.nbytes = 0;
    tfrecord_add_ints(&features, "label", two, 2, true);
    tfrecord_add_image(&features, "image", 40);
    tfrecord_add_text(&features, "a/b", "first");
    tfrecord_add_text(&features, "a.b.2", "taken");
    tfrecord_add_text(&features, "a.b", "third");
    tfrecord_add_int(&features, "/x", 5);
    tfrecord_add_int(&features, ".x", 6);
    tfrecord_add_text(&features, "/x.pb", "text");
    tfrecord_add_text(&features, "", "no name");
    tfrecord_add_text(&features, "empty", "");
    tfrecord_add_field(&list, 1, "one", 3);
    tfrecord_add_field(&list, 1, "two", 3);
    tfrecord_add_list(&features, "several", 1, &list);
    list.nbytes = 0;
    tfrecord_add_list(&features, "none/of/them", 1, &list);
    bytes_add_text(&list, "\xff\xff");
    tfrecord_add_entry(&features, "damaged", &list);
    tfrecord_add_example(&file, &features);
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    assert_memory_equal(scanned_label(&s, 0).values, two, sizeof two); // what members are looked at for is not kept
    static const struct {
        const char *name, *bytes;
        size_t nbytes;
    } wanted[] = {
        {"a.b", "first", 5},
        {"a.b.2", "taken", 5},
        {"a.b.3", "third", 5},
        {".x.pb", "\x1a\x03\x0a\x01\x05", 5},
        {".x.2.pb", "\x1a\x03\x0a\x01\x06", 5},
        {".x.pb.2", "text", 4},
        {"feature", "no name", 7},
        {"empty", "", 0},
        {"several.pb", "\x0a\x0a\x0a\x03one\x0a\x03two", 12},
        {"none.of.them.pb", "\x0a\x00", 2},
        {"damaged.pb", "\xff\xff", 2},
    };
    uint32_t count = sizeof wanted / sizeof *wanted;
    assert_int_equal(mr__index_member_count(&s.index, 0), count);
    for (uint32_t i = 0; i < count; i++) {
        mr__member member = scanned_member(&s, 0, i, wanted[i].name);
        assert_int_equal(member.nbytes, wanted[i].nbytes);
        assert_memory_equal(file.data + member.offset, wanted[i].bytes, member.nbytes);
    }
    scanned_fini(&s);
}

/* 256 features whose names differ in slashes alone. */
static void as_many_names_alike_as_there_can_be(void **state)
{
    (void)state;
    static made_bytes features, file;
    char name[] = "a.b.c.d.e.f.g.h.i";
    scanned s;
    features.nbytes = file.nbytes = 0;
    for (int i = 0; i < 256; i++) {
        for (int bit = 0; bit < 8; bit++)
            name[2 * bit + 1] = (i >> bit & 1) != 0 ? '/' : '.';
        tfrecord_add_int(&features, name, i);
    }
    tfrecord_add_image(&features, "image", 40);
    tfrecord_add_example(&file, &features);
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    assert_int_equal(mr__index_member_count(&s.index, 0), 256);
    scanned_member(&s, 0, 0, "a.b.c.d.e.f.g.h.i.pb");
    scanned_member(&s, 0, 1, "a.b.c.d.e.f.g.h.i.2.pb");
    scanned_member(&s, 0, 255, "a.b.c.d.e.f.g.h.i.256.pb");
    scanned_fini(&s);
}

/* One record with an image and one more feature called `name`. */
typedef void add_label(made_bytes *features);

static mr_label label_of(scanned *s, add_label *add)
{
    static made_bytes features, file;
    features.nbytes = file.nbytes = 0;
    tfrecord_add_image(&features, "jpg", 50);
    add(&features);
    tfrecord_add_example(&file, &features);
    scan(s, &file, MR_BROKEN_FAIL);
    scanned_expect(s, 1, 0);
    return scanned_label(s, 0);
}

static const int64_t three[] = {5, -1, INT64_MIN};
static const float reals[] = {1.5f, -2.25f, 1e30f};

static void add_none(made_bytes *f)
{
    (void)f;
}
static void add_packed(made_bytes *f)
{
    tfrecord_add_ints(f, "label", three, 3, true);
}
static void add_unpacked(made_bytes *f)
{
    tfrecord_add_ints(f, "image/label", three, 3, false);
}
static void add_real(made_bytes *f)
{
    tfrecord_add_floats(f, "class", reals, 1, false);
}
static void add_reals(made_bytes *f)
{
    tfrecord_add_floats(f, "cls", reals, 3, true);
}
static void add_words(made_bytes *f)
{
    tfrecord_add_text(f, "label/fine", "cat");
}
static void add_blob(made_bytes *f)
{
    tfrecord_add_bytes(f, "label", "a\0b", 3);
}
static void add_nothing(made_bytes *f)
{
    tfrecord_add_ints(f, "label", three, 0, true);
}

static void every_kind_of_label(void **state)
{
    (void)state;
    scanned s;
    assert_int_equal(label_of(&s, add_none).kind, MR_LABEL_NONE);
    scanned_fini(&s);
    add_label *const ints[] = {add_packed, add_unpacked};
    for (int i = 0; i < 2; i++) {
        mr_label label = label_of(&s, ints[i]);
        assert_true(label.kind == MR_LABEL_INTS && label.count == 3);
        assert_memory_equal(label.values, three, sizeof three);
        assert_int_equal(mr__index_member_count(&s.index, 0), 0);
        scanned_fini(&s);
    }
    mr_label label = label_of(&s, add_real);
    assert_true(label.kind == MR_LABEL_FLOAT && label.real == 1.5);
    scanned_fini(&s);
    label = label_of(&s, add_reals);
    const double wide[] = {1.5, -2.25, 1e30f};
    assert_true(label.kind == MR_LABEL_FLOATS && label.count == 3);
    assert_memory_equal(label.values, wide, sizeof wide);
    scanned_fini(&s);
    label = label_of(&s, add_words);
    assert_true(label.kind == MR_LABEL_TEXT && label.count == 3 && memcmp(label.values, "cat", 3) == 0);
    scanned_fini(&s);
    label = label_of(&s, add_blob);
    assert_true(label.kind == MR_LABEL_BYTES && label.count == 3 && memcmp(label.values, "a\0b", 3) == 0);
    scanned_fini(&s);
    label = label_of(&s, add_nothing);
    assert_int_equal(label.kind, MR_LABEL_NONE);
    scanned_member(&s, 0, 0, "label.pb"); // what is no label is a member
    scanned_fini(&s);
}

/* The order of the tables, not of the file. */
static void the_first_name_of_the_table_counts(void **state)
{
    (void)state;
    static made_bytes features, file;
    scanned s;
    features.nbytes = file.nbytes = 0;
    tfrecord_add_image(&features, "png", 70);
    tfrecord_add_int(&features, "image/encoded", 3); // no bytes: not the image
    tfrecord_add_image(&features, "image", 60);
    tfrecord_add_int(&features, "cls", 1);
    tfrecord_add_int(&features, "label", 2);
    tfrecord_add_text(&features, "__key__", "second");
    tfrecord_add_text(&features, "key", "first");
    tfrecord_add_example(&file, &features);
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    assert_int_equal(scanned_record(&s, 0).nbytes, 60);
    scanned_expect_int(&s, 0, 2);
    scanned_expect_key(&s, 0, "first");
    assert_int_equal(mr__index_member_count(&s.index, 0), 4);
    scanned_fini(&s);
}

/* Merging as protobuf does it; fields that nobody knows. */
static void the_last_one_wins_and_the_unknown_is_passed_over(void **state)
{
    (void)state;
    static made_bytes features, file, example, list, feature, entry;
    scanned s;
    features.nbytes = file.nbytes = example.nbytes = list.nbytes = feature.nbytes = entry.nbytes = 0;
    tfrecord_add_int(&features, "label", 1);
    tfrecord_add_varint(&features, 9 << 3 | 0); // a varint, 8 bytes and 4 bytes that are not known
    tfrecord_add_varint(&features, 12345);
    tfrecord_add_varint(&features, 10 << 3 | 1);
    bytes_add_le(&features, 7, 8);
    tfrecord_add_varint(&features, 1 << 3 | 5); // number 1, but not of wire type 2
    bytes_add_le(&features, 7, 4);
    tfrecord_add_image(&features, "image", 40);
    tfrecord_add_image(&features, "image", 50);
    tfrecord_add_field(&example, 1, features.data, features.nbytes);
    tfrecord_add_field(&example, 7, "unknown", 7);
    // a second Features: its map is merged. A Feature of floats, then ints twice: one list of ints.
    features.nbytes = 0;
    bytes_add_f32(&list, 3);
    tfrecord_add_field(&entry, 1, list.data, list.nbytes);
    tfrecord_add_field(&feature, 2, entry.data, entry.nbytes);
    tfrecord_add_field(&feature, 3, "\x0a\x02\x08\x09", 4);
    tfrecord_add_field(&feature, 3, "\x08\x0a", 2);
    tfrecord_add_entry(&features, "label", &feature);
    tfrecord_add_field(&example, 1, features.data, features.nbytes);
    tfrecord_add_record(&file, &example);
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    assert_int_equal(scanned_record(&s, 0).nbytes, 50);
    mr_label label = scanned_label(&s, 0);
    const int64_t wanted[] = {8, 9, 10};
    assert_true(label.kind == MR_LABEL_INTS && label.count == 3);
    assert_memory_equal(label.values, wanted, sizeof wanted);
    assert_int_equal(mr__index_member_count(&s.index, 0), 0);
    scanned_fini(&s);
}

static void sums_that_do_not_match(void **state)
{
    (void)state;
    static made_bytes file;
    scanned s;
    size_t second, third;
    file.nbytes = 0;
    tfrecord_add_sample(&file, 100, 1);
    second = file.nbytes;
    tfrecord_add_sample(&file, 100, 2);
    third = file.nbytes;
    tfrecord_add_sample(&file, 100, 3);
    file.data[third - 20] ^= 1; // data of the second
    scan(&s, &file, MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_ECORRUPT);
    assert_contains(s.detail.text, "the sum of the data of record 1 at byte ");
    assert_contains(s.detail.text, "does not match; --broken=skip leaves it out"); // nothing was, yet
    scanned_fini(&s);
    scan(&s, &file, MR_BROKEN_SKIP);
    scanned_expect(&s, 2, 1);
    scanned_expect_problem(&s, 0, MR_ECORRUPT, "does not match; this record is left out");
    scanned_expect_int(&s, 1, 3);
    scanned_expect_key(&s, 1, "train-00000-of-01024/000000002");
    scanned_fini(&s);
    file.data[third - 20] ^= 1;
    file.data[second + 3] ^= 1; // length of the second
    scan(&s, &file, MR_BROKEN_SKIP);
    scanned_expect(&s, 1, 1);
    char part[64];
    snprintf(part, sizeof part, "of record 1 at byte %zu does not match; all from there on is lost", second);
    scanned_expect_problem(&s, 0, MR_ECORRUPT, part);
    scanned_fini(&s);
    scan(&s, &file, MR_BROKEN_FAIL);
    assert_contains(s.detail.text, "does not match; --broken=skip leaves it out");
    scanned_fini(&s);
}

/* Every length a file can be cut to: the records that are whole, and one problem, unless it ends with a record. */
static void cut_anywhere(void **state)
{
    (void)state;
    static made_bytes file;
    size_t whole;
    file.nbytes = 0;
    tfrecord_add_sample(&file, 60, 1);
    whole = file.nbytes;
    tfrecord_add_sample(&file, 60, 2);
    size_t all = file.nbytes;
    for (size_t n = 0; n <= all; n++) {
        scanned s;
        file.nbytes = n;
        bool clean = n == 0 || n == whole || n == all;
        scan(&s, &file, MR_BROKEN_SKIP);
        scanned_expect(&s, (n >= whole) + (n == all), clean ? 0 : 1);
        if (!clean)
            scanned_expect_problem(&s, 0, MR_ETRUNCATED, n < whole ? "record 0 at byte 0" : "record 1 at byte");
        scanned_fini(&s);
        scan(&s, &file, MR_BROKEN_FAIL);
        assert_int_equal(s.result, clean ? 0 : MR_ETRUNCATED);
        scanned_fini(&s);
    }
}

static void lengths_without_end(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 16, INT64_MAX, 1u << 31, 17};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        static made_bytes file;
        scanned s;
        file.nbytes = 0;
        bytes_add_le(&file, lengths[i], 8);
        bytes_add_le(&file, tfrecord_sum(file.data, 8), 4);
        bytes_add_text(&file, "twenty bytes or so..");
        scan(&s, &file, MR_BROKEN_SKIP);
        scanned_expect(&s, 0, 1);
        scanned_expect_problem(&s, 0, MR_ETRUNCATED, "truncated");
        scanned_fini(&s);
    }
}

static void examples_that_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t nbytes;
        int code;
        const char *part;
    } cases[] = {
        {"", 0, MR_EFORMAT, "has no image"},
        {"\x0a\x05"
         "abc",
         5, MR_ECORRUPT, "a length reaches beyond what it is in, at byte 13"},
        {"\x0a\x01", 2, MR_ECORRUPT, "a length reaches beyond what it is in, at byte 13"},
        {"\x0a\xff", 2, MR_ECORRUPT, "a number is cut"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, MR_ECORRUPT, "more than 10 bytes"},
        {"\x02\x00", 2, MR_ECORRUPT, "no field of such a number"},
        {"\x0b", 1, MR_EUNSUPPORTED, "a group"},
        {"\x0f", 1, MR_ECORRUPT, "no such wire type"},
        {"\x0d\x01\x02", 3, MR_ECORRUPT, "a number is cut"},
        {"\x0a\x06\x0a\x04\x0a\x02"
         "a\0",
         8, MR_ECORRUPT, "has a zero in it"},
        {"\x0a\x0d\x0a\x0b\x0a\x05image\x12\x02\x0a\x07", 15, MR_ECORRUPT, "reaches beyond"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static made_bytes file, data;
        scanned s;
        file.nbytes = data.nbytes = 0;
        bytes_add(&data, cases[i].data, cases[i].nbytes);
        tfrecord_add_record(&file, &data);
        tfrecord_add_sample(&file, 50, 1);
        scan(&s, &file, MR_BROKEN_SKIP);
        scanned_expect(&s, 1, 1);
        scanned_expect_problem(&s, 0, cases[i].code, cases[i].part);
        scanned_expect_problem(&s, 0, cases[i].code, "record 0 at byte 0");
        scanned_fini(&s);
        scan(&s, &file, MR_BROKEN_FAIL);
        assert_int_equal(s.result, cases[i].code);
        scanned_fini(&s);
    }
}

/* Which of several images it would be, nobody says. */
static void two_images_are_none(void **state)
{
    (void)state;
    static made_bytes features, file, list;
    scanned s;
    features.nbytes = file.nbytes = list.nbytes = 0;
    tfrecord_add_field(&list, 1, "\xff\xd8\xff\xe0", 4);
    tfrecord_add_field(&list, 1, "\xff\xd8\xff\xe0", 4);
    tfrecord_add_list(&features, "image/encoded", 1, &list);
    tfrecord_add_example(&file, &features);
    scan(&s, &file, MR_BROKEN_SKIP);
    scanned_expect(&s, 0, 1);
    scanned_expect_problem(&s, 0, MR_EFORMAT, "has no image");
    scanned_fini(&s);
}

static void too_many_features(void **state)
{
    (void)state;
    static made_bytes features, file;
    scanned s;
    for (int count = 256; count <= 260; count++) {
        features.nbytes = file.nbytes = 0;
        for (int i = 0; i < count; i++) {
            char name[16];
            snprintf(name, sizeof name, "f%d", i);
            tfrecord_add_int(&features, name, i);
        }
        tfrecord_add_image(&features, "image", 40);
        tfrecord_add_example(&file, &features);
        scan(&s, &file, MR_BROKEN_SKIP);
        scanned_expect(&s, count == 256, count != 256);
        if (count != 256)
            scanned_expect_problem(&s, 0, MR_ELIMIT, "features");
        scanned_fini(&s);
    }
}

static void a_key_twice(void **state)
{
    (void)state;
    static made_bytes features, file;
    static const char *const keys[] = {"a", "b", "a", "", "train-00000-of-01024/000000003"};
    scanned s;
    file.nbytes = 0;
    for (int i = 0; i < 5; i++) {
        features.nbytes = 0;
        tfrecord_add_image(&features, "image", 40);
        tfrecord_add_text(&features, "filename", keys[i]);
        tfrecord_add_example(&file, &features);
    }
    scan(&s, &file, MR_BROKEN_SKIP);
    scanned_expect(&s, 3, 2);
    scanned_expect_problem(&s, 0, MR_ECORRUPT, "has the key 'a', which an earlier one has already");
    scanned_expect_problem(&s, 1, MR_ECORRUPT, "record 4");
    scanned_expect_key(&s, 2, "train-00000-of-01024/000000003"); // an empty one is none
    scanned_fini(&s);
    scan(&s, &file, MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_ECORRUPT);
    scanned_fini(&s);
}

static void keys_that_cannot_be_one(void **state)
{
    (void)state;
    static made_bytes features, file;
    static char large[4097];
    scanned s;
    memset(large, 'k', sizeof large);
    features.nbytes = file.nbytes = 0;
    tfrecord_add_image(&features, "image", 40);
    tfrecord_add_bytes(&features, "image/filename", "a\0b", 3);
    tfrecord_add_bytes(&features, "filename", large, 4097);
    tfrecord_add_bytes(&features, "key", large, 4096);
    tfrecord_add_example(&file, &features);
    scan(&s, &file, MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    const char *key;
    size_t nbytes;
    assert_true(mr__index_key(&s.index, 0, &key, &nbytes) && nbytes == 4096);
    assert_int_equal(mr__index_member_count(&s.index, 0), 2);
    scanned_fini(&s);
}

static void compressed_files_are_refused_with_advice(void **state)
{
    (void)state;
    scanned s;
    test_folder_write(&folder, "a.tfrecord.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3abcdefghi", 19);
    scanned_init(&s, &mr__scanner_tfrecord, &folder, "a.tfrecord.gz", MR_BROKEN_SKIP);
    assert_int_equal(s.result, MR_EUNSUPPORTED);
    assert_contains(s.detail.text, "compressed with gzip");
    assert_contains(s.detail.text, "unpack it first");
    scanned_fini(&s);
    test_folder_write(&folder, "a.tfrecord", "\x78\x9c, and then what zlib makes", 28);
    scanned_init(&s, &mr__scanner_tfrecord, &folder, "a.tfrecord", MR_BROKEN_SKIP);
    assert_int_equal(s.result, MR_EUNSUPPORTED);
    assert_contains(s.detail.text, "compressed with zlib");
    scanned_fini(&s);
    test_folder_write(&folder, "b.tfrecord", "this is some other file", 23);
    scanned_init(&s, &mr__scanner_tfrecord, &folder, "b.tfrecord", MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_EFORMAT);
    scanned_fini(&s);
    assert_true(mr__scanner_tfrecord.probe("x/imagenet-train.tfrecord-00000-of-01024", NULL, 0, 0));
    assert_false(mr__scanner_tfrecord.probe("x.tfrecord/some.bin", (const uint8_t *)"this is some other file", 23, 23));
}

/* Records of more than is read at once, and of more than a window has. */
static void large_records(void **state)
{
    (void)state;
    enum { LARGE = 3000000 };
    static uint8_t image[LARGE + 100];
    static made_bytes head, label;
    static uint8_t file[LARGE + 4096];
    scanned s;
    for (size_t i = 0; i < LARGE; i++)
        image[i] = (uint8_t)(i * 7 + i / 1000);
    // Example { features { entry { "image": bytes_list { image } } entry { "label": 9 } } }, lengths from within
    head.nbytes = label.nbytes = 0;
    tfrecord_add_int(&label, "label", 9);
    made_bytes *parts = &head;
    size_t list = LARGE + 5, feature = list + 5, entry = feature + 5 + 7, features = entry + 5 + label.nbytes;
    uint8_t *to = file;
    tfrecord_add_varint(parts, 1 << 3 | 2), tfrecord_add_varint(parts, features);
    tfrecord_add_varint(parts, 1 << 3 | 2), tfrecord_add_varint(parts, entry);
    tfrecord_add_field(parts, 1, "image", 5);
    tfrecord_add_varint(parts, 2 << 3 | 2), tfrecord_add_varint(parts, feature);
    tfrecord_add_varint(parts, 1 << 3 | 2), tfrecord_add_varint(parts, list);
    tfrecord_add_varint(parts, 1 << 3 | 2), tfrecord_add_varint(parts, LARGE);
    size_t data = head.nbytes + LARGE + label.nbytes;
    to += 12;
    memcpy(to, head.data, head.nbytes);
    memcpy(to + head.nbytes, image, LARGE);
    memcpy(to + head.nbytes + LARGE, label.data, label.nbytes);
    for (int i = 0; i < 8; i++)
        file[i] = (uint8_t)(data >> 8 * i);
    uint32_t crc = tfrecord_sum(file, 8), sum = tfrecord_sum(file + 12, data);
    for (int i = 0; i < 4; i++) {
        file[8 + i] = (uint8_t)(crc >> 8 * i);
        file[12 + data + (size_t)i] = (uint8_t)(sum >> 8 * i);
    }
    test_folder_write(&folder, "large.tfrec", file, data + 16);
    scanned_init(&s, &mr__scanner_tfrecord, &folder, "large.tfrec", MR_BROKEN_FAIL);
    scanned_expect(&s, 1, 0);
    scanned_expect_key(&s, 0, "large/000000000");
    scanned_expect_int(&s, 0, 9);
    assert_int_equal(scanned_record(&s, 0).nbytes, LARGE);
    assert_int_equal(scanned_record(&s, 0).offset, 12 + head.nbytes);
    scanned_fini(&s);
    file[12 + data - 1] ^= 128; // its very last byte
    test_folder_write(&folder, "large.tfrec", file, data + 16);
    scanned_init(&s, &mr__scanner_tfrecord, &folder, "large.tfrec", MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_ECORRUPT);
    scanned_fini(&s);
}

static int scan_with(const mr_hooks *hooks, void *arg)
{
    scanned s;
    (void)arg;
    scanned_init_by(&s, &(scanned_how){.scanner = &mr__scanner_tfrecord,
                                       .folder = &folder,
                                       .name = "fail.tfrecord",
                                       .broken = MR_BROKEN_SKIP,
                                       .hooks = hooks});
    int result = s.result;
    scanned_fini(&s);
    return result;
}

static void every_allocation_may_fail_and_it_stops_when_asked(void **state)
{
    (void)state;
    static made_bytes features, file;
    scanned s;
    file.nbytes = 0;
    for (int i = 0; i < 4; i++) {
        features.nbytes = 0;
        tfrecord_add_image(&features, "image", 40);
        tfrecord_add_text(&features, "filename", i == 2 ? "same" : i == 3 ? "same" : "");
        tfrecord_add_text(&features, "label", "text");
        tfrecord_add_ints(&features, "more", three, 3, true);
        tfrecord_add_example(&file, &features);
    }
    tfrecord_add_record(&file, &features); // no Example
    test_folder_write(&folder, "fail.tfrecord", file.data, file.nbytes);
    failing_run(scan_with, NULL);
    scanned_init_by(
        &s, &(scanned_how){.scanner = &mr__scanner_tfrecord, .folder = &folder, .name = "fail.tfrecord", .stop = true});
    assert_int_equal(s.result, MR_ECLOSED);
    scanned_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bytes),
        cmocka_unit_test(records_one_after_the_other),
        cmocka_unit_test(an_empty_file_has_no_samples),
        cmocka_unit_test(features_become_key_label_and_members),
        cmocka_unit_test(members_have_names_of_their_own),
        cmocka_unit_test(as_many_names_alike_as_there_can_be),
        cmocka_unit_test(every_kind_of_label),
        cmocka_unit_test(the_first_name_of_the_table_counts),
        cmocka_unit_test(the_last_one_wins_and_the_unknown_is_passed_over),
        cmocka_unit_test(sums_that_do_not_match),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(lengths_without_end),
        cmocka_unit_test(examples_that_are_none),
        cmocka_unit_test(two_images_are_none),
        cmocka_unit_test(too_many_features),
        cmocka_unit_test(a_key_twice),
        cmocka_unit_test(keys_that_cannot_be_one),
        cmocka_unit_test(compressed_files_are_refused_with_advice),
        cmocka_unit_test(large_records),
        cmocka_unit_test(every_allocation_may_fail_and_it_stops_when_asked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
