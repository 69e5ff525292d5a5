// SPDX-License-Identifier: Apache-2.0
/* Headers that claim more than their bytes can hold cost nothing; images that just fit their bytes are decoded. */
#include "test.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "check.h"
#include "failing.h"
#include "jpeg_plain.h"
#include "png_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A claim is refused, into memory of the decoder or of the caller, and takes no memory but the codec's state. */
static void check_claim(const picture_file *file, const char *part)
{
    mr_hooks hooks = failing_hooks();
    mr_image out;
    failing_begin(0, false);
    mr_decoder *own = handles_decoder(&hooks, NULL);
    int result = mr_decoder_decode(own, file->bytes, file->nbytes, NULL, &out);
    failing_counts counts = failing_now();
    char detail[256];
    snprintf(detail, sizeof detail, "%s", mr_decoder_detail(own));
    mr_decoder_free(own);
    failing_end();
    if (result != MR_ETRUNCATED || counts.peak_nbytes > 100 << 10)
        fail_msg("%s: %s after %zu bytes of memory", detail, mr_error_name(result), counts.peak_nbytes);
    assert_contains(detail, part);
}

#define BYTES(text) text, sizeof text - 1

static void pnm_claims(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t nbytes;
        const char *part;
    } cases[] = {
        {BYTES("P1 16384 16384 1"), "the text of 16384 x 16384 pixels from byte 15 on cannot end at byte 16"},
        {BYTES("P2 16384 16384 9 1 "), "the text of 16384 x 16384 pixels from byte 17 on cannot end at byte 19"},
        {BYTES("P3 16384 16384 255\n"), "cannot end at byte 19"},
        {BYTES("P4 16384 16384\n"), "the pixels end at byte 33554447, the data at 15"},
        {BYTES("P5 16384 16384 65535\n"), "the pixels end at byte 536870933, the data at 21"},
        {BYTES("P6 16384 16384 255\n"), "the pixels end at byte 805306387, the data at 19"},
        {BYTES("P7\nWIDTH 16384\nHEIGHT 16384\nDEPTH 4\nMAXVAL 255\nENDHDR\n"), "the pixels end at byte 1073741878"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture_file file = picture_copy(cases[i].text, cases[i].nbytes);
        check_claim(&file, cases[i].part);
        free(file.bytes);
    }
}

/* As few bytes as there can be, which are enough, and one less, which is not. */
static void pnm_that_just_fits(void **state)
{
    (void)state;
    static const char *const texts[] = {"P1 3 2 101010", "P2 3 2 9 1 2 3 4 5 6 ", "P3 1 2 9 1 2 3 4 5 6\n",
                                        "P4 9 1 abcd",   "P5 3 2 255 abcdef",     "P6 1 2 255 abcdef"};
    static const char *const reasons[] = {"cannot end at byte 12",
                                          "last sample ends with the data at byte 20",
                                          "last sample ends with the data at byte 20",
                                          "the pixels end at byte 9, the data at 8",
                                          "the pixels end at byte 17, the data at 16",
                                          "the pixels end at byte 17, the data at 16"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        picture_file file = picture_copy(texts[i], strlen(texts[i]));
        file.nbytes -= i == 3 ? 2 : 0; // 9 bits fill two bytes
        assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), 0);
        assert_int_equal(mr_decoder_warnings(decoder), 0);
        file.nbytes--;
        check_refused(&file, NULL, MR_ETRUNCATED, reasons[i]);
        file.nbytes--;
        check_refused(&file, NULL, MR_ETRUNCATED, i < 3 ? "cannot end at byte " : "the pixels end at byte ");
        free(file.bytes);
    }
}

static void raw_claims(void **state)
{
    (void)state;
    mr_image image = picture_make(3, 2, 3, 8, 1);
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_RAW};
    picture_file file = picture_encode(&image, &options);
    check_decode(&file, NULL, &image, "raw");
    mr__store_le32(file.bytes + 16, 16384);
    mr__store_le32(file.bytes + 20, 16384);
    mr__store_le64(file.bytes + 56, mr__hash(file.bytes, 56));
    check_claim(&file, "it ends at byte 82, and should at byte 805306432");
    mr_image_fini(&image, NULL);
    free(file.bytes);
}

static void png_claims(void **state)
{
    (void)state;
    picture_file file = {0};
    png_begin(&file, 16384, 16384, 8, 2, 0);
    for (int i = 0; i < 100; i++)
        png_append_chunk(&file, "IDAT", "0123456789", 10);
    check_claim(&file, "truncated PNG: 1000 bytes of image data from byte 33 on cannot hold 16384 x 16384 pixels");
    file.nbytes -= 9; // into the last one
    check_claim(&file, "truncated PNG: 995 bytes of image data");
    free(file.bytes);
}

/* Zeros are the best that deflate can do: about 1030 to one. */
static void png_that_just_fits(void **state)
{
    (void)state;
    enum { SIDE = 2000 };
    uint8_t *rows = calloc(SIDE, SIDE + 1);
    picture_file file = {0};
    png_begin(&file, SIDE, SIDE, 8, 0, 0);
    png_append_rows(&file, rows, (size_t)SIDE * (SIDE + 1));
    png_append_chunk(&file, "IEND", "", 0);
    assert_true(file.nbytes < 4200);
    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), 0);
    free(rows);
    free(file.bytes);
}

static uint8_t *find_marker(const picture_file *file, uint8_t marker)
{
    for (size_t i = 2; i + 1 < file->nbytes; i++)
        if (file->bytes[i] == 0xff && file->bytes[i + 1] == marker)
            return file->bytes + i;
    fail();
    return NULL;
}

static void jpeg_claims(void **state)
{
    (void)state;
    static const plain_recipe recipes[] = {
        {.width = 40, .height = 30, .space = PLAIN_YCC, .factors = {0x22}},
        {.width = 40, .height = 30, .space = PLAIN_GRAY},
        {.width = 40, .height = 30, .space = PLAIN_YCC, .separate = true},
        {.width = 40, .height = 30, .space = PLAIN_CMYK, .progressive = true},
    };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        picture_file file = plain_encode(&recipes[i]);
        uint8_t *frame = find_marker(&file, recipes[i].progressive ? 0xc2 : 0xc0);
        mr__store_be16(frame + 5, 16384);
        mr__store_be16(frame + 7, 16384);
        check_claim(&file, "on cannot hold 16384 x 16384 pixels");
        free(file.bytes);
    }
}

/* Images of the shortest codes: nothing smaller can be written, and all are decoded. */
static void jpeg_that_just_fits(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x11, 0x21, 0x22, 0x41};
    for (size_t i = 0; i < 96; i++) {
        plain_recipe r = {.width = 300 + (uint32_t)i, .height = 200, .flat = true, .factors = {factors[i % 4]}};
        r.space = i / 4 % 3 == 0 ? PLAIN_GRAY : i / 4 % 3 == 1 ? PLAIN_YCC : PLAIN_CMYK;
        r.progressive = i / 12 % 2 == 1;
        r.separate = i / 24 % 2 == 1;
        r.arithmetic = i / 48 % 2 == 1 && plain_has_arithmetic();
        picture_file file = plain_encode(&r);
        mr_image plain, out;
        uint32_t channels = r.space == PLAIN_CMYK ? 4 : 3;
        assert_int_equal(plain_decode(file.bytes, file.nbytes, 1, channels, &plain), 0);
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &out), 0);
        assert_int_equal(mr_decoder_warnings(decoder), 0);
        mr_image_fini(&plain, NULL);
        free(file.bytes);
    }
}

/* Two bits a block, to the bit; without the last byte it cannot be. */
static void the_bound_of_jpeg_is_met(void **state)
{
    (void)state;
    plain_recipe r = {.width = 320, .height = 80, .space = PLAIN_GRAY, .flat = true};
    picture_file file = plain_encode(&r);
    size_t data = (size_t)(find_marker(&file, 0xda) - file.bytes) + 10, end = file.nbytes - 2;
    assert_int_equal(end - data, 40 * 10 * 2 / 8);
    file.nbytes = end;
    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), 0);
    file.nbytes--;
    check_refused(&file, NULL, MR_ETRUNCATED, "truncated JPEG: 99 bytes of image data from byte ");
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, &accept), 0);
    free(file.bytes);
}

/* libjpeg does not miss the scans of components that never come; neither does the bound. */
static void only_the_first_scan_counts(void **state)
{
    (void)state;
    plain_recipe r = {.width = 320, .height = 80, .space = PLAIN_YCC, .flat = true, .separate = true};
    picture_file file = plain_encode(&r);
    picture_file rest = {find_marker(&file, 0xda) + 2, 0};
    rest.nbytes = file.nbytes - (size_t)(rest.bytes - file.bytes);
    uint8_t *second = find_marker(&rest, 0xc4); // the tables of the second scan
    memcpy(second, "\xff\xd9", 2);
    file.nbytes = (size_t)(second + 2 - file.bytes);
    mr_image plain;
    assert_true(plain_decode(file.bytes, file.nbytes, 1, 3, &plain) >= 0);
    check_decode(&file, NULL, &plain, "one scan of three");
    mr_image_fini(&plain, NULL);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pnm_claims),
        cmocka_unit_test(pnm_that_just_fits),
        cmocka_unit_test(raw_claims),
        cmocka_unit_test(png_claims),
        cmocka_unit_test(png_that_just_fits),
        cmocka_unit_test(jpeg_claims),
        cmocka_unit_test(jpeg_that_just_fits),
        cmocka_unit_test(the_bound_of_jpeg_is_met),
        cmocka_unit_test(only_the_first_scan_counts),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
