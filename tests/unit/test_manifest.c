// SPDX-License-Identifier: Apache-2.0
/* dataset.json: what is written is read, and nothing else is. */
#include "test.h"

#include "base/hash.h"
#include "dataset/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_hooks hooks;

static int setup(void **state)
{
    (void)state;
    return mr__hooks_init(&hooks, NULL);
}

/* A form, and three shards with 6 samples. */
static void make(mr__manifest *m, mr__text *text)
{
    const mr__manifest_file files[2] = {{512, 1, 128, 2}, {1024, 3, 256, 4}};
    mr__manifest_init(m, &hooks);
    mr__text_init(text, &hooks);
    m->form_count = 2;
    m->forms[0] = (mr__manifest_form){.of = {.name = "jpeg", .form = MR_FORM_JPEG, .samples = 6}, .alignment = 512};
    m->forms[1] = (mr__manifest_form){.of = {.name = "raw-max32", .form = MR_FORM_RAW, .max_side = 32},
                                      .filter = "area",
                                      .pillow = 13,
                                      .alignment = 4096};
    m->source_layout = MR_LAYOUT_TAR;
    m->plan = 0x0123456789abcdef;
    m->samples = 6;
    assert_int_equal(mr__manifest_add_class(m, "a \"quoted\" one", 14), 0);
    assert_int_equal(mr__manifest_add_class(m, "", 0), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(mr__manifest_add_shard(m, 2, files), 0);
    mr__manifest_write(m, text);
    assert_int_equal(text->code, 0);
}

static int read_text(const void *text, size_t nbytes, mr__detail *detail)
{
    mr__manifest m;
    char *copy = malloc(nbytes + 1); // so that a sanitizer sees what is read behind it
    memcpy(copy, text, nbytes);
    copy = realloc(copy, nbytes != 0 ? nbytes : 1);
    mr__manifest_init(&m, &hooks);
    detail->text[0] = '\0';
    int result = mr__manifest_read(&m, copy, nbytes, "dataset.json", detail);
    assert_int_equal(detail->text[0] == '\0', result == 0);
    mr__manifest_fini(&m);
    free(copy);
    return result;
}

static void there_and_back(void **state)
{
    (void)state;
    mr__manifest m, back;
    mr__text text, again;
    mr__detail detail = {""};
    make(&m, &text);
    mr__manifest_init(&back, &hooks);
    mr__text_init(&again, &hooks);
    assert_int_equal(mr__manifest_read(&back, (char *)text.buffer.bytes, text.nbytes, "x", &detail), 0);
    assert_string_equal(back.classes[0], "a \"quoted\" one");
    assert_int_equal(back.files[5].index_hash, 4);
    mr__manifest_write(&back, &again);
    assert_int_equal(again.nbytes, text.nbytes);
    assert_memory_equal(again.buffer.bytes, text.buffer.bytes, text.nbytes);
    mr__manifest_fini(&back);
    mr__manifest_fini(&m);
    mr__text_fini(&again);
    mr__text_fini(&text);
}

static void every_byte_counts(void **state)
{
    (void)state;
    mr__manifest m;
    mr__text text;
    mr__detail detail;
    make(&m, &text);
    for (size_t i = 0; i < text.nbytes; i++) {
        assert_int_not_equal(read_text(text.buffer.bytes, i, &detail), 0);
        text.buffer.bytes[i] ^= 1;
        assert_int_not_equal(read_text(text.buffer.bytes, text.nbytes, &detail), 0);
        text.buffer.bytes[i] ^= 1;
    }
    assert_int_equal(read_text(text.buffer.bytes, text.nbytes, &detail), 0);
    mr__manifest_fini(&m);
    mr__text_fini(&text);
}

/* Reads the text up to its hash with `from` replaced by `to`, and a hash that is right. */
static int read_changed(const char *from, const char *to, mr__detail *detail)
{
    mr__manifest m;
    mr__text text;
    static char changed[8192];
    make(&m, &text);
    char *whole = (char *)text.buffer.bytes, *end = whole + text.nbytes - 29;
    *end = '\0';
    const char *at = strstr(whole, from);
    assert_non_null(at);
    int length = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
    uint64_t hash = mr__hash(changed, (size_t)length);
    length += snprintf(changed + length, sizeof changed - (size_t)length, "\"hash\": \"%016llx\"\n}\n",
                       (unsigned long long)hash);
    mr__manifest_fini(&m);
    mr__text_fini(&text);
    return read_text(changed, (size_t)length, detail);
}

static void what_a_right_hash_does_not_help(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        int result;
        const char *words;
    } table[] = {
        {"\"version\": 1", "\"version\": 1", 0, ""},
        {"\"version\": 1", "\"version\": 2", MR_EUNSUPPORTED, "a newer Millrace wrote it"},
        {"\"required\": []", "\"required\": [\"x\"]", MR_EUNSUPPORTED, "feature \"x\""},
        {"\"ignorable\": []", "\"ignorable\": [\"x\"], \"x\": {\"y\": [1]}", 0, ""},
        {"\"ignorable\": []", "\"ignorable\": [], \"x\": 1", MR_ECORRUPT, "not a member that Millrace knows"},
        {"millrace-dataset", "other", MR_EFORMAT, "not a dataset of Millrace"},
        {"millrace-dataset", "millrace-part", MR_ECORRUPT, "which part"},
        {"\"samples\": 6,\n", "\"samples\": 7,\n", MR_ECORRUPT, "its shards have 6 samples"},
        {"\"samples\": 6,\n", "\"samples\": 6,\n\"samples\": 6,\n", MR_ECORRUPT, "twice"},
        {"\"samples\": 6,\n", "", MR_ECORRUPT, "\"samples\" is missing"},
        {"\"refused\": 0", "\"refused\": 7", MR_ECORRUPT, ""},
        {"\"alignment\": 512", "\"alignment\": 513", MR_ECORRUPT, "neither 512 nor 4096"},
        {"\"name\": \"jpeg\"", "\"name\": \"..\"", MR_ECORRUPT, "no name of a form"},
        {"\"name\": \"jpeg\"", "\"name\": \"a/b\"", MR_ECORRUPT, "word"},
        {"\"name\": \"jpeg\"", "\"name\": \"raw-max32\"", MR_ECORRUPT, "two forms of one name"},
        {"\"form\": \"jpeg\"", "\"form\": \"avif\"", MR_EUNSUPPORTED, "avif"},
        {"\"forms\": [", "\"shards\": [{\"samples\": 6, \"files\": []}],\n\"forms\": [", MR_ECORRUPT,
         "before the forms"},
        {"\"\"\n],", "\"\\u0000\"\n],", MR_ECORRUPT, "not a name"},
        {"{\"samples\": 2, ", "{\"samples\": 18446744073709551615, ", MR_ELIMIT, "more than"},
        {"{\"samples\": 2, ", "{\"samples\": 18446744073709551616, ", MR_ECORRUPT, "whole number"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        mr__detail detail;
        int result = read_changed(table[i].from, table[i].to, &detail);
        if (result != table[i].result)
            fail_msg("%s: %s (%s)", table[i].to, mr_error_name(result), detail.text);
        assert_contains(detail.text, table[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(what_a_right_hash_does_not_help),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
