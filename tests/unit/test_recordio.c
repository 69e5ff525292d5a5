// SPDX-License-Identifier: Apache-2.0
/* RecordIO files, made here byte by byte by code that shares nothing with the scanner. */
#include "test.h"

#include "failing.h"
#include "scanned.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAGIC 0xced7230au

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
    bytes_add_le(file, MAGIC, 4);
    bytes_add_le(file, part << 29 | (uint32_t)nbytes, 4);
    bytes_add(file, data, nbytes);
    while (file->nbytes % 4 != 0)
        bytes_add_le(file, 0, 1);
}

/* The head of a payload: flag, label, id, id2, and as many labels as flag says. */
static void add_head(made_bytes *payload, uint32_t flag, float label, uint64_t id, const float *labels)
{
    bytes_add_le(payload, flag, 4);
    bytes_add_f32(payload, label);
    bytes_add_le(payload, id, 8);
    bytes_add_le(payload, 0, 8);
    for (uint32_t i = 0; i < flag; i++)
        bytes_add_f32(payload, labels[i]);
}

/* Returns where it begins. */
static size_t add_record(made_bytes *file, uint64_t id, float label, size_t image_nbytes)
{
    static made_bytes payload;
    size_t at = file->nbytes;
    payload.nbytes = 0;
    add_head(&payload, 0, label, id, NULL);
    bytes_add_jpeg(&payload, image_nbytes);
    add_part(file, 0, payload.data, payload.nbytes);
    return at;
}

static void scan(scanned *s, const made_bytes *file, const char *idx, mr_broken_policy broken)
{
    char path[512];
    test_folder_write(&folder, "train.rec", file->data, file->nbytes);
    remove(test_folder_path(&folder, "train.idx", path));
    if (idx != NULL)
        test_folder_write(&folder, "train.idx", idx, strlen(idx));
    scanned_init(s, &mr__scanner_recordio, &folder, "train.rec", broken);
}

/* What MXNet 1.9.1 writes: MXRecordIO.write(pack(IRHeader(0, 3.0, 7, 0), 5 bytes)), then with the labels [1.0, 0.5]. */
static void golden_bytes(void **state)
{
    (void)state;
    // clang-format off
    static const uint8_t file[] = {
        0x0a, 0x23, 0xd7, 0xce, 29, 0, 0, 0,                     /* magic; whole, 29 bytes */
        0, 0, 0, 0, 0, 0, 0x40, 0x40, 7, 0, 0, 0, 0, 0, 0, 0,    /* flag 0, label 3.0, id 7 */
        0, 0, 0, 0, 0, 0, 0, 0,                                  /* id2 */
        0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0,                      /* an image of 5 bytes, 3 of padding */
        0x0a, 0x23, 0xd7, 0xce, 36, 0, 0, 0,
        2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0,       /* flag 2, label 0, id 255 */
        0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f,                         /* 1.0, 0.5 */
        0xff, 0xd8, 0xff, 0xe0,
    };
    // clang-format on
    static made_bytes b;
    scanned s;
    b.nbytes = 0;
    bytes_add(&b, file, sizeof file);
    scan(&s, &b, NULL, MR_BROKEN_FAIL);
    scanned_expect(&s, 2, 0);
    scanned_expect_key(&s, 0, "7");
    scanned_expect_key(&s, 1, "255");
    scanned_expect_int(&s, 0, 3);
    mr_label label = scanned_label(&s, 1);
    const double wanted[] = {1.0, 0.5};
    assert_true(label.kind == MR_LABEL_FLOATS && label.count == 2);
    assert_memory_equal(label.values, wanted, sizeof wanted);
    mr__record r = scanned_record(&s, 0), q = scanned_record(&s, 1);
    assert_true(r.offset == 32 && r.nbytes == 5 && r.form == MR_FORM_JPEG && r.channels == 0);
    assert_true(q.offset == 80 && q.nbytes == 4 && q.form == MR_FORM_JPEG);
    assert_true(mr__scanner_recordio.probe("x", file, sizeof file, sizeof file));
    assert_false(mr__scanner_recordio.probe("x.rec", file + 4, sizeof file - 4, sizeof file - 4));
    assert_int_equal(s.seen_nbytes, sizeof file);
    scanned_fini(&s);
}

static void whole_labels_are_integers(void **state)
{
    (void)state;
    static const struct {
        float label;
        bool whole;
    } cases[] = {{0, true},       {-0.0f, true},   {-5, true},       {1000, true},      {0.5f, false}, {-1.25f, false},
                 {1 << 24, true}, {0x1p53f, true}, {0x1p54f, false}, {INFINITY, false}, {NAN, false},  {-3e38f, false}};
    static made_bytes file, payload;
    scanned s;
    file.nbytes = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        add_record(&file, i, cases[i].label, 30 + i);
    const float whole[] = {3, -4, 5};
    payload.nbytes = 0;
    add_head(&payload, 3, 0.5f, 99, whole);
    bytes_add_jpeg(&payload, 30);
    add_part(&file, 0, payload.data, payload.nbytes);
    scan(&s, &file, NULL, MR_BROKEN_FAIL);
    size_t n = sizeof cases / sizeof *cases;
    scanned_expect(&s, n + 1, 0);
    for (size_t i = 0; i < n; i++) {
        mr_label label = scanned_label(&s, i);
        assert_int_equal(label.kind, cases[i].whole ? MR_LABEL_INT : MR_LABEL_FLOAT);
        if (cases[i].whole)
            assert_true((float)label.integer == cases[i].label);
        else
            assert_true(isnan(cases[i].label) ? isnan(label.real) : label.real == cases[i].label);
        assert_int_equal(scanned_record(&s, i).nbytes, 30 + i);
    }
    const int64_t ints[] = {3, -4, 5};
    mr_label label = scanned_label(&s, n);
    assert_true(label.kind == MR_LABEL_INTS && label.count == 3);
    assert_memory_equal(label.values, ints, sizeof ints);
    scanned_fini(&s);
}

static void the_idx_gives_keys_and_is_checked(void **state)
{
    (void)state;
    static made_bytes file;
    char idx[256];
    scanned s;
    file.nbytes = 0;
    size_t a = add_record(&file, 1, 1, 30), b = add_record(&file, 2, 2, 31), c = add_record(&file, 3, 3, 32);
    // in another order than the file's, one without a line
    snprintf(idx, sizeof idx, "key of c\t%zu\r\n\n10\t%zu\n", c, a);
    scan(&s, &file, idx, MR_BROKEN_FAIL);
    scanned_expect(&s, 3, 0);
    scanned_expect_key(&s, 0, "10");
    scanned_expect_key(&s, 1, "2");
    scanned_expect_key(&s, 2, "key of c");
    scanned_expect_int(&s, 2, 3);
    scanned_fini(&s);
    // places where no record begins, one record twice, lines that are none
    snprintf(idx, sizeof idx, "x\t%zu\ny\t%zu\nz\t%zu\nw\t18446744073709551615\nno tab\n\t5\nv\t-1\n", b, b + 4, b);
    scan(&s, &file, idx, MR_BROKEN_SKIP);
    scanned_expect(&s, 3, 6);
    scanned_expect_problem(&s, 0, MR_EFORMAT, "train.idx: line 5 is no key");
    scanned_expect_problem(&s, 1, MR_EFORMAT, "line 6");
    scanned_expect_problem(&s, 2, MR_EFORMAT, "line 7");
    scanned_expect_problem(&s, 3, MR_ECORRUPT, "lines 1 and 3 stand for the same record");
    scanned_expect_problem(&s, 4, MR_ECORRUPT, "line 2 says that a record begins at byte");
    scanned_expect_problem(&s, 5, MR_ECORRUPT, "line 4");
    scanned_expect_key(&s, 1, "x");
    scanned_fini(&s);
    snprintf(idx, sizeof idx, "x\t%zu\n", b + 8);
    scan(&s, &file, idx, MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_ECORRUPT);
    assert_contains(s.detail.text, "where none does");
    scanned_fini(&s);
}

/* Many lines, from last to first and mixed: the sort. */
static void an_idx_in_any_order(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static made_bytes file;
    static size_t places[COUNT];
    static char idx[COUNT * 32];
    scanned s;
    file.nbytes = 0;
    for (size_t i = 0; i < COUNT; i++)
        places[i] = add_record(&file, 0, (float)i, 30 + i % 7);
    for (size_t step = 1; step < COUNT; step += 166) { // 1, 167, 333, 499: all coprime with 500
        size_t used = 0;
        for (size_t i = 0; i < COUNT; i++) {
            size_t k = (i * step + 3) % COUNT;
            used += (size_t)snprintf(idx + used, sizeof idx - used, "k%zu\t%zu\n", k, places[k]);
        }
        scan(&s, &file, idx, MR_BROKEN_FAIL);
        scanned_expect(&s, COUNT, 0);
        for (size_t i = 0; i < COUNT; i++) {
            char key[32];
            snprintf(key, sizeof key, "k%zu", i);
            scanned_expect_key(&s, i, key);
            scanned_expect_int(&s, i, (int64_t)i);
        }
        scanned_fini(&s);
    }
}

static void damage_costs_no_more_than_it_hits(void **state)
{
    (void)state;
    static made_bytes file;
    scanned s;
    file.nbytes = 0;
    add_record(&file, 1, 1, 30);
    size_t at = add_record(&file, 2, 2, 70000); // more than is looked at together
    add_record(&file, 3, 3, 30);
    file.data[at] ^= 1; // the magic
    scan(&s, &file, NULL, MR_BROKEN_SKIP);
    scanned_expect(&s, 2, 1);
    scanned_expect_problem(&s, 0, MR_ECORRUPT, "record 1 at byte 64 does not begin with the magic number");
    scanned_expect_int(&s, 1, 3);
    assert_int_equal(s.seen_nbytes, file.nbytes);
    scanned_fini(&s);
    scan(&s, &file, NULL, MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_ECORRUPT);
    assert_contains(s.detail.text, "the magic number; --broken=skip leaves it out");
    scanned_fini(&s);
    file.data[at] ^= 1;
    file.data[at + 7] = 0x1f; // a length that reaches beyond the end
    scan(&s, &file, NULL, MR_BROKEN_SKIP);
    scanned_expect(&s, 2, 1);
    scanned_expect_problem(&s, 0, MR_ETRUNCATED, "record 1 at byte 64");
    scanned_fini(&s);
    file.data[at + 7] = 0x60; // a last part without a first
    scan(&s, &file, NULL, MR_BROKEN_SKIP);
    scanned_expect(&s, 2, 1);
    scanned_expect_problem(&s, 0, MR_ECORRUPT, "does not begin with its first part");
    scanned_fini(&s);
}

/* Where the next magic lies across the end of what is read at once. */
static void the_next_record_is_found_at_every_place(void **state)
{
    (void)state;
    static made_bytes file;
    for (size_t nbytes = 65536 - 80; nbytes <= 65536 + 16; nbytes += 4) {
        scanned s;
        file.nbytes = 0;
        bytes_add_text(&file, "junk");
        bytes_add_jpeg(&file, nbytes);
        add_record(&file, 3, 3, 30);
        scan(&s, &file, NULL, MR_BROKEN_SKIP);
        scanned_expect(&s, 1, 1);
        scanned_expect_problem(&s, 0, MR_EFORMAT, "magic number");
        scanned_fini(&s);
    }
}

static void cut_anywhere(void **state)
{
    (void)state;
    static made_bytes file;
    file.nbytes = 0;
    add_record(&file, 1, 1, 30); // 62 bytes, 2 of padding
    size_t second = file.nbytes;
    add_record(&file, 2, 2, 29);
    size_t all = file.nbytes;
    for (size_t n = 0; n <= all; n++) {
        scanned s;
        // The padding of the last record may be missing.
        size_t samples = (n >= second - 2) + (n >= all - 3);
        bool clean = n == 0 || (n >= second - 2 && n <= second) || n >= all - 3;
        file.nbytes = n;
        scan(&s, &file, NULL, MR_BROKEN_SKIP);
        scanned_expect(&s, samples, clean ? 0 : 1);
        if (!clean)
            scanned_expect_problem(&s, 0, MR_ETRUNCATED, n < second ? "record 0 at byte 0" : "record 1 at byte 64");
        scanned_fini(&s);
    }
}

static void payloads_that_are_no_image_records(void **state)
{
    (void)state;
    static made_bytes file, payload;
    const float labels[] = {1, 2};
    scanned s;
    file.nbytes = payload.nbytes = 0;
    add_part(&file, 0, "short", 5);
    add_head(&payload, 0, 1, 5, NULL); // no image
    add_part(&file, 0, payload.data, payload.nbytes);
    payload.nbytes = 0;
    add_head(&payload, 2, 1, 5, labels); // likewise
    add_part(&file, 0, payload.data, payload.nbytes);
    memcpy(payload.data, "\xff\xff\xff\xff", 4);
    add_part(&file, 0, payload.data, payload.nbytes);
    add_record(&file, 8, 1, 20);
    add_record(&file, 8, 2, 20);
    scan(&s, &file, NULL, MR_BROKEN_SKIP);
    scanned_expect(&s, 1, 5);
    scanned_expect_problem(&s, 0, MR_ECORRUPT, "has 5 bytes, less than the head of an image record");
    scanned_expect_problem(&s, 1, MR_ECORRUPT, "0 labels: there is no room for an image");
    scanned_expect_problem(&s, 2, MR_ECORRUPT, "2 labels");
    scanned_expect_problem(&s, 3, MR_ECORRUPT, "4294967295 labels");
    scanned_expect_problem(&s, 4, MR_ECORRUPT, "has the key '8', which an earlier one has already");
    scanned_fini(&s);
}

static int scan_with(const mr_hooks *hooks, void *arg)
{
    scanned s;
    (void)arg;
    scanned_init_by(&s, &(scanned_how){.scanner = &mr__scanner_recordio,
                                       .folder = &folder,
                                       .name = "train.rec",
                                       .broken = MR_BROKEN_SKIP,
                                       .hooks = hooks});
    int result = s.result;
    scanned_fini(&s);
    return result;
}

static void every_allocation_may_fail_and_it_stops_when_asked(void **state)
{
    (void)state;
    static made_bytes file, payload;
    const float labels[] = {1, 2};
    scanned s;
    file.nbytes = payload.nbytes = 0;
    add_record(&file, 1, 1, 30);
    add_record(&file, 1, 1, 30);
    add_head(&payload, 2, 1, 5, labels);
    bytes_add_jpeg(&payload, 30);
    add_part(&file, 0, payload.data, payload.nbytes);
    bytes_add_text(&file, "rest");
    scan(&s, &file, "a\t0\nb\t64\nc\t3\nbad\n", MR_BROKEN_SKIP);
    scanned_fini(&s);
    failing_run(scan_with, NULL);
    scanned_init_by(
        &s, &(scanned_how){.scanner = &mr__scanner_recordio, .folder = &folder, .name = "train.rec", .stop = true});
    assert_int_equal(s.result, MR_ECLOSED);
    scanned_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bytes),
        cmocka_unit_test(whole_labels_are_integers),
        cmocka_unit_test(the_idx_gives_keys_and_is_checked),
        cmocka_unit_test(an_idx_in_any_order),
        cmocka_unit_test(damage_costs_no_more_than_it_hits),
        cmocka_unit_test(the_next_record_is_found_at_every_place),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(payloads_that_are_no_image_records),
        cmocka_unit_test(every_allocation_may_fail_and_it_stops_when_asked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
