// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "dataset/cifar.h"
#include "failing.h"
#include "handles.h"
#include "scanned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_folder folder;

static int setup(void **state)
{
    test_folder_init(&folder);
    return handles_setup(state);
}

static int teardown(void **state)
{
    test_folder_fini(&folder);
    return handles_teardown(state);
}

static uint8_t pixel(size_t record, size_t i)
{
    return (uint8_t)(record * 101 + i * 7 + i / 1024 * 50);
}

/* Records of classes 0, 1, 2, ... of `classes`, with `labels` bytes before the pixels. */
static void make_file(made_bytes *b, size_t count, size_t labels, unsigned classes)
{
    b->nbytes = 0;
    for (size_t n = 0; n < count; n++) {
        if (labels == 2)
            bytes_add_le(b, (n + 5) % 20, 1);
        bytes_add_le(b, n % classes, 1);
        for (size_t i = 0; i < 3072; i++)
            bytes_add_le(b, pixel(n, i), 1);
    }
}

static void cifar_10(void **state)
{
    (void)state;
    static made_bytes b;
    scanned s;
    make_file(&b, 12, 1, 10);
    test_folder_write(&folder, "ten/data_batch_2.bin", b.data, b.nbytes);
    scanned_init(&s, &mr__scanner_cifar, &folder, "ten/data_batch_2.bin", MR_BROKEN_FAIL);
    scanned_expect(&s, 12, 0);
    assert_int_equal(mr__index_class_count(&s.index), 0);
    scanned_expect_key(&s, 11, "data_batch_2/000000011");
    scanned_expect_int(&s, 11, 1);
    mr__record r = scanned_record(&s, 11);
    assert_true(r.offset == 11 * 3073 + 1 && r.nbytes == 3072 && r.form == MR_FORM_RAW && r.planar && !r.has_hash);
    assert_true(r.width == 32 && r.height == 32 && r.channels == 3 && r.depth == 8 && r.orientation == 1);
    assert_int_equal(mr__index_member_count(&s.index, 3), 0);
    assert_int_equal(s.seen_nbytes, b.nbytes);
    scanned_fini(&s);
}

static void cifar_100_with_names(void **state)
{
    (void)state;
    static made_bytes b, names;
    scanned s;
    make_file(&b, 30, 2, 100);
    names.nbytes = 0;
    for (int i = 0; i < 100; i++) {
        char line[32];
        snprintf(line, sizeof line, "class_%d\n", i);
        bytes_add_text(&names, line);
    }
    bytes_add_text(&names, "\n");
    test_folder_write(&folder, "hundred/train.bin", b.data, b.nbytes);
    test_folder_write(&folder, "hundred/fine_label_names.txt", names.data, names.nbytes);
    scanned_init(&s, &mr__scanner_cifar, &folder, "hundred/train.bin", MR_BROKEN_FAIL);
    scanned_expect(&s, 30, 0);
    scanned_expect_int(&s, 29, 29);
    assert_true(scanned_record(&s, 29).offset == 29 * 3074 + 2);
    mr__member coarse = scanned_member(&s, 29, 0, "coarse");
    assert_true(coarse.offset == 29 * 3074 && coarse.nbytes == 1);
    assert_int_equal(mr__index_member_count(&s.index, 29), 1);
    const char *name;
    size_t nbytes;
    assert_int_equal(mr__index_class_count(&s.index), 100);
    assert_true(mr__index_class(&s.index, 42, &name, &nbytes));
    assert_string_equal(name, "class_42");
    scanned_fini(&s);
    // one name too few
    test_folder_write(&folder, "hundred/fine_label_names.txt", names.data, names.nbytes - 11);
    scanned_init(&s, &mr__scanner_cifar, &folder, "hundred/train.bin", MR_BROKEN_SKIP);
    scanned_expect(&s, 30, 1);
    scanned_expect_problem(&s, 0, MR_EFORMAT, "has not the names of 100 classes");
    assert_int_equal(mr__index_class_count(&s.index), 0);
    scanned_fini(&s);
    // one too many
    bytes_add_text(&names, "more\n");
    test_folder_write(&folder, "hundred/fine_label_names.txt", names.data, names.nbytes);
    scanned_init(&s, &mr__scanner_cifar, &folder, "hundred/train.bin", MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_EFORMAT);
    scanned_fini(&s);
}

static void labels_that_cannot_be(void **state)
{
    (void)state;
    static made_bytes b;
    scanned s;
    make_file(&b, 3, 1, 10);
    b.data[3073] = 10;
    test_folder_write(&folder, "test_batch.bin", b.data, b.nbytes);
    scanned_init(&s, &mr__scanner_cifar, &folder, "test_batch.bin", MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_ECORRUPT);
    assert_contains(s.detail.text, "record 1 at byte 3073 is of class 10; there are 10");
    scanned_fini(&s);
    scanned_init(&s, &mr__scanner_cifar, &folder, "test_batch.bin", MR_BROKEN_SKIP);
    scanned_expect(&s, 2, 1);
    scanned_expect_key(&s, 1, "test_batch/000000002");
    scanned_fini(&s);
    make_file(&b, 3, 2, 100);
    b.data[1] = 100;
    b.data[3074] = 20;
    test_folder_write(&folder, "test.bin", b.data, b.nbytes);
    scanned_init(&s, &mr__scanner_cifar, &folder, "test.bin", MR_BROKEN_SKIP);
    scanned_expect(&s, 1, 2);
    scanned_expect_problem(&s, 0, MR_ECORRUPT, "is of class 100; there are 100");
    scanned_expect_problem(&s, 1, MR_ECORRUPT, "is of class 20 (coarse); there are 20");
    scanned_fini(&s);
}

static void lengths_and_names(void **state)
{
    (void)state;
    static made_bytes b;
    scanned s;
    make_file(&b, 2, 1, 10);
    test_folder_write(&folder, "data_batch_1.bin", b.data, b.nbytes - 1);
    scanned_init(&s, &mr__scanner_cifar, &folder, "data_batch_1.bin", MR_BROKEN_SKIP);
    scanned_expect(&s, 1, 1);
    scanned_expect_problem(&s, 0, MR_ETRUNCATED,
                           "record 1 at byte 3073 should end at byte 6146, the file ends at 6145");
    scanned_fini(&s);
    test_folder_write(&folder, "mine", b.data, b.nbytes); // by its length alone
    scanned_init(&s, &mr__scanner_cifar, &folder, "mine", MR_BROKEN_FAIL);
    scanned_expect(&s, 2, 0);
    scanned_expect_key(&s, 1, "mine/000000001");
    scanned_fini(&s);
    test_folder_write(&folder, "mine", b.data, b.nbytes - 1);
    scanned_init(&s, &mr__scanner_cifar, &folder, "mine", MR_BROKEN_SKIP);
    assert_int_equal(s.result, MR_EFORMAT);
    scanned_fini(&s);
    bool (*probe)(const char *, const uint8_t *, size_t, uint64_t) = mr__scanner_cifar.probe;
    assert_true(probe("a/data_batch_5.bin", b.data, 4096, 10000 * 3073));
    assert_true(probe("test_batch.bin", b.data, 4096, 3073));
    assert_true(probe("x/train.bin", b.data, 4096, 50000 * 3074));
    assert_false(probe("x/train.bin", b.data, 4096, 50000 * 3073));
    assert_false(probe("x/test_batch.bin", b.data, 4096, 3074));
    assert_false(probe("x/test_batch.bin", b.data, 0, 0));
    assert_false(probe("x/other.bin", b.data, 4096, 3073));
}

/* What is wrapped decodes to the pixels of the planes. */
static void wrap_planes(const uint8_t *planes, mr__cpu_flags cpu)
{
    mr_hooks hooks;
    mr__buffer out = {0};
    size_t nbytes = 0;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__cifar_wrap(planes, cpu, &hooks, &out, &nbytes), 0);
    mr_image image;
    assert_int_equal(mr_decoder_decode(decoder, out.bytes, nbytes, NULL, &image), 0);
    assert_true(image.width == 32 && image.height == 32 && image.channels == 3 && image.depth == 8);
    for (size_t i = 0; i < 1024; i++)
        for (size_t c = 0; c < 3; c++)
            assert_int_equal(((uint8_t *)image.pixels)[3 * i + c], planes[1024 * c + i]);
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_RAW};
    const void *same;
    size_t same_nbytes;
    assert_int_equal(mr_encoder_encode(encoder, &image, &options, &same, &same_nbytes), 0);
    assert_int_equal(same_nbytes, nbytes);
    assert_memory_equal(same, out.bytes, nbytes);
    mr__buffer_fini(&out, &hooks);
}

/* With vectors and without; nothing behind the planes is looked at. */
static void planes_become_an_image(void **state)
{
    (void)state;
    uint8_t *planes = malloc(MR__CIFAR_NBYTES);
    assert_non_null(planes);
    for (size_t i = 0; i < MR__CIFAR_NBYTES; i++)
        planes[i] = pixel(3, i);
    wrap_planes(planes, 0);
    wrap_planes(planes, mr__cpu_detect());
    free(planes);
}

static int scan_with(const mr_hooks *hooks, void *arg)
{
    scanned s;
    (void)arg;
    scanned_init_by(&s, &(scanned_how){.scanner = &mr__scanner_cifar,
                                       .folder = &folder,
                                       .name = "fail/data_batch_1.bin",
                                       .broken = MR_BROKEN_SKIP,
                                       .hooks = hooks});
    int result = s.result;
    scanned_fini(&s);
    return result;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static made_bytes b;
    make_file(&b, 3, 1, 10);
    b.data[3073] = 10;
    test_folder_write(&folder, "fail/data_batch_1.bin", b.data, b.nbytes);
    test_folder_write(&folder, "fail/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n", 21);
    failing_run(scan_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cifar_10),
        cmocka_unit_test(cifar_100_with_names),
        cmocka_unit_test(labels_that_cannot_be),
        cmocka_unit_test(lengths_and_names),
        cmocka_unit_test(planes_become_an_image),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
