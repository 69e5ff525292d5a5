// SPDX-License-Identifier: Apache-2.0
/* The tail of L3: sections known, unknown, twice, out of order, too long; and what recoding makes of them. */
#include "test.h"

#include "base/bytes.h"
#include "check.h"
#include "l3_file.h"

#include <stdlib.h>
#include <string.h>

/* An ICC profile, something nobody knows, and an origin, in DCT mode. */
typedef struct tail_file {
    uint8_t tail[256];
    l3_spec spec;
    picture_file file;
    size_t at; /* of the tail */
} tail_file;

static void make(tail_file *t, const char *const *names, size_t count, uint32_t flags)
{
    t->spec = l3_spec_dct();
    t->spec.tail = t->tail;
    t->spec.tail_nbytes = 0;
    t->spec.flags = flags;
    for (size_t i = 0; i < count; i++)
        t->spec.tail_nbytes +=
            l3_file_section(t->tail + t->spec.tail_nbytes, names[i], "content, such as it is", 5 + 3 * i);
    t->file = l3_file_make(&t->spec);
    t->at = t->file.nbytes - t->spec.tail_nbytes;
}

/* mr_decoder_icc walks the whole tail. */
static int read_tail(const picture_file *file)
{
    const void *icc = NULL;
    size_t nbytes = 0;
    return mr_decoder_icc(decoder, file->bytes, file->nbytes, &icc, &nbytes);
}

static void check_tail_refused(const picture_file *file, const char *part)
{
    assert_int_equal(read_tail(file), MR_ECORRUPT);
    assert_contains(mr_decoder_detail(decoder), part);
    assert_int_equal(mr_decoder_verify(decoder, file->bytes, file->nbytes), MR_ECORRUPT);
    assert_contains(mr_decoder_detail(decoder), part);
}

static void sections_are_found_and_unknown_ones_passed_over(void **state)
{
    (void)state;
    tail_file t;
    make(&t, (const char *const[]){"AAAA", "ICC ", "NEWS", "ORIG", "zzzz"}, 5, 3);
    check_metadata(&t.file, 6, "content,", 8);
    mr_info info = info_of(&t.file);
    assert_true(info.has_icc && info.has_origin);
    free(t.file.bytes);
    make(&t, (const char *const[]){"NEWS"}, 1, 0);
    check_metadata(&t.file, 6, NULL, 0);
    free(t.file.bytes);
}

static void every_flipped_bit_of_the_tail_is_an_error(void **state)
{
    (void)state;
    tail_file t;
    make(&t, (const char *const[]){"ICC ", "NEWS", "ORIG"}, 3, 3);
    for (size_t bit = t.at * 8; bit < t.file.nbytes * 8; bit++) {
        t.file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        check_tail_refused(&t.file, "section at byte ");
        t.file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(read_tail(&t.file), 0);
    free(t.file.bytes);
}

static void names_come_once_and_in_order(void **state)
{
    (void)state;
    static const char *const lists[][3] = {{"ICC ", "ICC ", "ORIG"},
                                           {"ICC ", "ORIG", "ORIG"},
                                           {"ICC ", "ORIG", "NEWS"},
                                           {"ORIG", "ICC ", "aaaa"},
                                           {"\xff\xff\xff\xff", "\xff\xff\xff\xff", "aaaa"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        tail_file t;
        make(&t, lists[i], 3, 3);
        check_tail_refused(&t.file, "is there twice, or out of order");
        free(t.file.bytes);
    }
}

static void flags_and_sections_agree(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t flags;
        const char *word;
    } cases[] = {{"ICC ", 3, "byte 15 says it has an origin, and its tail has none"},
                 {"ORIG", 3, "byte 15 says it has an ICC profile, and its tail has none"},
                 {"ICC ", 0, "byte 15 says it has no ICC profile, and its tail has one"},
                 {"ORIG", 0, "byte 15 says it has no origin, and its tail has one"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tail_file t;
        make(&t, &cases[i].name, 1, cases[i].flags);
        assert_int_equal(mr_decoder_verify(decoder, t.file.bytes, t.file.nbytes), MR_ECORRUPT);
        assert_contains(mr_decoder_detail(decoder), cases[i].word);
        free(t.file.bytes);
    }
}

static void lengths_are_checked(void **state)
{
    (void)state;
    static const uint64_t wrong[] = {6, 4, 1, 1000, UINT64_MAX, UINT64_MAX - 23, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tail_file t;
        make(&t, (const char *const[]){"ICC "}, 1, 1);
        mr__store_le64(t.file.bytes + t.at + 8, wrong[i]);
        l3_file_fix(&t.file);
        check_tail_refused(&t.file, wrong[i] < 5 ? "too few for a section" : "is longer than the file");
        free(t.file.bytes);
    }
    for (uint32_t flag = 1; flag <= 2; flag++) {
        tail_file t;
        make(&t, (const char *const[]){"ICC ", "ORIG"}, 2, 3);
        t.spec.tail_nbytes = l3_file_section(t.tail, flag == 1 ? "ICC " : "ORIG", NULL, 0);
        t.spec.flags = flag;
        free(t.file.bytes);
        t.file = l3_file_make(&t.spec);
        assert_int_equal(mr_decoder_verify(decoder, t.file.bytes, t.file.nbytes), MR_ECORRUPT);
        assert_contains(mr_decoder_detail(decoder), "is empty");
        free(t.file.bytes);
    }
    for (size_t i = 4; i < 8; i++) {
        tail_file t;
        make(&t, (const char *const[]){"ICC "}, 1, 1);
        t.file.bytes[t.at + i] = 0x80;
        l3_file_fix(&t.file);
        check_tail_refused(&t.file, "a reserved byte at byte ");
        free(t.file.bytes);
    }
}

/* A tail may be cut off with its flags: the rest is a valid file. */
static void a_tail_can_be_left_out(void **state)
{
    (void)state;
    tail_file t;
    make(&t, (const char *const[]){"ICC ", "ORIG"}, 2, 3);
    t.file.nbytes = t.at;
    t.file.bytes[15] = 0;
    mr__store_le64(t.file.bytes + 32, 0);
    l3_file_fix(&t.file);
    check_metadata(&t.file, 6, NULL, 0);
    free(t.file.bytes);
}

typedef struct recoded {
    picture_file file;
    mr_recode_report report;
} recoded;

static recoded recode(const picture_file *file, const mr_encode_options *options)
{
    recoded r = {.report = {.struct_size = sizeof r.report}};
    const void *out;
    size_t nbytes;
    int result = mr_encoder_recode(encoder, file->bytes, file->nbytes, options, &out, &nbytes, &r.report);
    assert_string_equal(mr_encoder_detail(encoder), "");
    assert_int_equal(result, 0);
    r.file = picture_copy(out, nbytes);
    return r;
}

/* L3 to L3 in DCT mode does not go through pixels. */
static void an_image_is_rewritten_without_its_origin(void **state)
{
    (void)state;
    tail_file t;
    make(&t, (const char *const[]){"ICC ", "ORIG"}, 2, 3);
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3};
    recoded same = recode(&t.file, &options);
    assert_true(same.report.exact && same.report.has_origin);
    assert_int_equal(same.report.origin_nbytes, 24 + 8);
    assert_string_equal(same.report.why, "");
    assert_int_equal(same.file.nbytes, t.file.nbytes);
    assert_memory_equal(same.file.bytes, t.file.bytes, t.file.nbytes);
    options.without_origin = true;
    options.orientation = 3;
    options.icc = "another profile";
    options.icc_nbytes = 15;
    recoded other = recode(&t.file, &options);
    assert_true(other.report.exact && !other.report.has_origin && other.report.origin_nbytes == 0);
    check_metadata(&other.file, 3, "another profile", 15);
    assert_int_equal(other.file.nbytes, t.at + 24 + 15);
    size_t head_nbytes = l3_spec_head_nbytes(&t.spec);
    assert_memory_equal(other.file.bytes + head_nbytes, t.file.bytes + head_nbytes, t.at - head_nbytes);
    free(same.file.bytes);
    free(other.file.bytes);
    free(t.file.bytes);
}

static void a_damaged_image_is_not_rewritten(void **state)
{
    (void)state;
    tail_file t;
    make(&t, (const char *const[]){"ICC ", "ORIG"}, 2, 3);
    const mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3};
    const void *out = NULL;
    size_t nbytes = 0;
    for (size_t at = 0; at < t.file.nbytes; at++) {
        t.file.bytes[at] ^= 0x10;
        assert_int_not_equal(mr_encoder_recode(encoder, t.file.bytes, t.file.nbytes, &options, &out, &nbytes, NULL), 0);
        assert_string_not_equal(mr_encoder_detail(encoder), "");
        t.file.bytes[at] ^= 0x10;
    }
    assert_null(out);
    free(t.file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_found_and_unknown_ones_passed_over),
        cmocka_unit_test(every_flipped_bit_of_the_tail_is_an_error),
        cmocka_unit_test(names_come_once_and_in_order),
        cmocka_unit_test(flags_and_sections_agree),
        cmocka_unit_test(lengths_are_checked),
        cmocka_unit_test(a_tail_can_be_left_out),
        cmocka_unit_test(an_image_is_rewritten_without_its_origin),
        cmocka_unit_test(a_damaged_image_is_not_rewritten),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
