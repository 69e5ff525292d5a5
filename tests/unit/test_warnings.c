// SPDX-License-Identifier: Apache-2.0
/* Warnings are counted, and the log is not flooded with them. */
#include "test.h"

#include "codec/codec.h"
#include "handles.h"
#include "jpeg_plain.h"
#include "png_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was logged. */
typedef struct heard {
    size_t lines;
    char first[320];
    char last[320];
} heard;

static void hear(void *user, mr_log_level level, const char *text)
{
    heard *h = user;
    assert_int_equal(level, MR_LOG_WARNING);
    if (h->lines++ == 0)
        snprintf(h->first, sizeof h->first, "%s", text);
    snprintf(h->last, sizeof h->last, "%s", text);
}

static mr_hooks hooks_to(heard *h)
{
    mr_hooks hooks, given = {.struct_size = sizeof given, .user = h, .log = hear};
    assert_int_equal(mr__hooks_init(&hooks, &given), 0);
    return hooks;
}

static void the_first_are_logged_and_all_are_counted(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 1000; count += count < 20 ? 1 : 98) {
        heard h = {0};
        mr_hooks hooks = hooks_to(&h);
        mr__call call = {.name = "fake", .hooks = &hooks};
        char text[40];
        for (uint32_t i = 1; i <= count; i++)
            mr__call_warn(&call, "warning %u", i);
        assert_int_equal(call.warnings, count);
        assert_int_equal(h.lines, count <= 16 ? count : 17);
        snprintf(text, sizeof text, "warning %u", count);
        if (count >= 1)
            assert_string_equal(
                h.last, count <= 16 ? text : "fake: more than 16 warnings of one image; the others are not logged");
    }
}

static void the_count_does_not_begin_anew(void **state)
{
    (void)state;
    heard h = {0};
    mr_hooks hooks = hooks_to(&h);
    mr__call call = {.name = "fake", .hooks = &hooks, .warnings = UINT32_MAX};
    mr__call_warn(&call, "one too many");
    assert_int_equal(call.warnings, UINT32_MAX);
    assert_int_equal(h.lines, 0);
}

/* Decodes what is damaged; returns the warnings counted. */
static uint32_t decode(const picture_file *file, heard *h)
{
    mr_hooks hooks = hooks_to(h);
    mr_decoder *own = handles_decoder(&hooks, NULL);
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    assert_int_equal(picture_try(own, file->bytes, file->nbytes, &accept), 0);
    uint32_t warnings = mr_decoder_warnings(own);
    mr_decoder_free(own);
    return warnings;
}

/* Rows with filters that do not exist, from the second on; also those of an interlaced image, in its seven passes. */
static void unknown_filters_are_one_warning(void **state)
{
    (void)state;
    for (uint8_t interlaced = 0; interlaced <= 1; interlaced++) {
        picture_file file = {0};
        uint8_t rows[2000];
        heard h = {0};
        memset(rows, 9, sizeof rows);
        rows[0] = 0;
        png_begin(&file, 1, 1000, 8, 0, interlaced);
        png_append_rows(&file, rows, sizeof rows);
        png_append_chunk(&file, "IEND", "", 0);
        assert_int_equal(decode(&file, &h), 1);
        assert_int_equal(h.lines, 1);
        assert_string_equal(h.last, "PNG: 999 rows have unknown filters, the first of them row 1 with filter 9, in the "
                                    "image data from byte 33 on; taken for none");
        free(file.bytes);
    }
}

static void chunks_out_of_place_do_not_flood(void **state)
{
    (void)state;
    picture_file file = {0};
    heard h = {0};
    png_begin(&file, 1, 1, 8, 0, 0);
    png_append_rows(&file, "\0\1", 2);
    for (int i = 0; i < 500; i++)
        png_append_chunk(&file, "ABCD", "", 0);
    png_append_chunk(&file, "IEND", "", 0);
    assert_int_equal(decode(&file, &h), 500);
    assert_int_equal(h.lines, 17);
    assert_contains(h.first, "chunk ABCD at byte ");
    free(file.bytes);
}

/* libjpeg has a word for every restart marker that is wrong, and for every bad code. */
static void damaged_jpegs_do_not_flood(void **state)
{
    (void)state;
    plain_recipe recipe = {.width = 800, .height = 8, .space = PLAIN_GRAY, .restart = 1};
    picture_file file = plain_encode(&recipe);
    heard h = {0};
    for (size_t i = 0; i + 1 < file.nbytes; i++)
        if (file.bytes[i] == 0xff && file.bytes[i + 1] >= 0xd0 && file.bytes[i + 1] <= 0xd7)
            file.bytes[i + 1] ^= 4;
    assert_true(decode(&file, &h) > 17);
    assert_int_equal(h.lines, 17);
    assert_contains(h.last, "jpeg: more than 16 warnings");
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_are_logged_and_all_are_counted),
        cmocka_unit_test(the_count_does_not_begin_anew),
        cmocka_unit_test(unknown_filters_are_one_warning),
        cmocka_unit_test(chunks_out_of_place_do_not_flood),
        cmocka_unit_test(damaged_jpegs_do_not_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
