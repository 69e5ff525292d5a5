// SPDX-License-Identifier: Apache-2.0
/* PNG files that are cut, changed or odd: what is refused and in which words, what is only a warning. */
#include "test.h"

#include "base/bytes.h"
#include "check.h"
#include "png_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small files of different makes: several IDATs, a palette, interlaced, 16 bits. */
static picture_file make_file(int n)
{
    switch (n) {
    case 0:
        return png_make(&(png_spec){.width = 9, .height = 7, .bit_depth = 8, .color_type = 2, .idat_nbytes = 60});
    case 1:
        return png_make(&(png_spec){.width = 11, .height = 6, .bit_depth = 4, .color_type = 3, .transparent = true});
    case 2:
        return png_make(&(png_spec){.width = 10, .height = 9, .bit_depth = 8, .color_type = 6, .interlaced = true});
    default:
        return png_make(&(png_spec){.width = 8, .height = 5, .bit_depth = 16, .color_type = 0, .transparent = true});
    }
}

static void every_truncation(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        picture_file file = make_file(n);
        mr_image whole, part;
        size_t end = png_find(&file, "IEND", 0);
        assert_true(png_reference_decode(file.bytes, file.nbytes, &whole));
        for (size_t cut = 1; cut < file.nbytes; cut++) {
            picture_file copy = picture_copy(file.bytes, cut);
            int result = mr_decoder_decode(decoder, copy.bytes, cut, NULL, &part);
            assert_int_equal(result, cut < 4 ? MR_EFORMAT : cut < end ? MR_ETRUNCATED : 0);
            if (cut >= 4 && cut < end) {
                assert_contains(mr_decoder_detail(decoder), "truncated PNG: ");
                assert_contains(mr_decoder_detail(decoder), " byte ");
            }
            if (cut >= end) { // the pixels are all there; a missing IEND is worth a warning
                assert_int_equal(mr_decoder_warnings(decoder), 1);
                assert_true(picture_same(&part, &whole));
            }
            free(copy.bytes);
        }
        mr_image_fini(&whole, NULL);
        free(file.bytes);
    }
}

static void truncated_image_data_is_accepted_on_request(void **state)
{
    (void)state;
    mr_decode_hints hints = {.struct_size = sizeof hints, .accept_damaged = true};
    picture_file file =
        png_make(&(png_spec){.width = 40, .height = 50, .bit_depth = 8, .color_type = 2, .idat_nbytes = 500});
    mr_image whole, part;
    uint32_t most = 0;
    size_t first = png_find(&file, "IDAT", 0), end = png_find(&file, "IEND", 0);
    assert_true(png_reference_decode(file.bytes, file.nbytes, &whole));
    for (size_t cut = first + 8; cut < end; cut++) {
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, cut, &hints, &part), 0);
        assert_true(mr_decoder_warnings(decoder) >= 1);
        assert_string_equal(mr_decoder_detail(decoder), "");
        uint32_t rows = picture_same_rows(&part, &whole);
        assert_true(rows >= most); // more of the file never gives less of the image
        most = rows;
        assert_true(picture_is_zero_from(&part, rows + 1));
    }
    assert_int_equal(most, 50);
    mr_image_fini(&whole, NULL);
    free(file.bytes);
}

/* The checksums catch every changed byte, unless no pixel depends on it: then there is a warning. */
static void every_changed_byte_is_seen(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        picture_file file = make_file(n);
        mr_image whole, part;
        assert_true(png_reference_decode(file.bytes, file.nbytes, &whole));
        for (size_t i = 0; i < file.nbytes; i++)
            for (int bit = 0; bit < 8; bit++) {
                file.bytes[i] ^= (uint8_t)(1 << bit);
                int result = mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &part);
                if (result == 0 && mr_decoder_warnings(decoder) == 0)
                    fail_msg("file %d: bit %d of byte %zu was changed unseen", n, bit, i);
                // A tRNS that is ignored leaves its channel out; whatever else is passed over changes no pixel.
                if (result == 0 && part.channels == whole.channels)
                    assert_true(picture_same(&part, &whole));
                file.bytes[i] ^= (uint8_t)(1 << bit);
            }
        mr_image_fini(&whole, NULL);
        free(file.bytes);
    }
}

/*
 * With the checksums put right, what we take libpng takes, and it has the same pixels, unless there was too much data:
 * libpng goes on to look for its end, and refuses if there is none. What we refuse and libpng does not is data that
 * is damaged behind the last row, mostly by a wrong Adler-32.
 */
static void changed_bytes_with_right_checksums(void **state)
{
    (void)state;
    size_t both = 0, adler = 0;
    for (int n = 0; n < 4; n++) {
        picture_file file = make_file(n);
        for (size_t i = 8; i < file.nbytes; i++)
            for (int v = 0; v < 3; v++) {
                picture_file changed = {0};
                mr_image ours, theirs;
                png_append(&changed, file.bytes, file.nbytes);
                changed.bytes[i] = v == 0 ? changed.bytes[i] ^ 1 : v == 1 ? changed.bytes[i] + 17 : 0xff;
                png_fix_checksums(&changed);
                int result = mr_decoder_decode(decoder, changed.bytes, changed.nbytes, NULL, &ours);
                bool taken = png_reference_decode(changed.bytes, changed.nbytes, &theirs);
                bool too_much = result == 0 && mr_decoder_warnings(decoder) != 0;
                if (result == 0 && (taken ? !picture_same(&ours, &theirs) : !too_much))
                    fail_msg("file %d, byte %zu, change %d: libpng %s", n, i, v,
                             taken ? "has other pixels" : "refuses");
                if (result != 0 && taken && strstr(mr_decoder_detail(decoder), "cannot be decompressed") == NULL)
                    fail_msg("file %d, byte %zu, change %d: libpng takes it, but %s", n, i, v,
                             mr_decoder_detail(decoder));
                both += result == 0;
                adler += result != 0 && taken;
                if (taken)
                    mr_image_fini(&theirs, NULL);
                free(changed.bytes);
            }
        free(file.bytes);
    }
    assert_true(both > 0 && adler > 0);
}

/* The pieces of a file of 2 x 2 pixels, each with a letter. "rows" stands for an IDAT of compressed rows. */
static const struct piece {
    char letter;
    const char *type;
    const char *bytes;
    size_t nbytes;
} pieces[] = {
    {'H', "IHDR", "\0\0\0\2\0\0\0\2\x8\0\0\0", 13}, // again
    {'P', "PLTE", "\1\2\3\4\5\6", 6},
    {'4', "PLTE", "\1\2\3\4", 4},
    {'0', "PLTE", "", 0},
    {'t', "tRNS", "\0\1", 2},
    {'T', "tRNS", "\0\1\2", 3}, // fits nothing
    {'d', "rows", "\0\1\0\0\0\1", 6},
    {'o', "rows", "\0\1\0\0\2\1", 6},       // an index beyond two colours
    {'s', "rows", "\0\1\0\0\0", 5},         // short
    {'l', "rows", "\0\1\0\0\0\1\0\0\0", 9}, // long
    {'f', "rows", "\0\1\0\5\0\1", 6},       // an unknown filter
    {'e', "IDAT", "", 0},
    {'g', "IDAT", "garbage!", 8},
    {'a', "abCd", "xyz", 3}, // unknown and ancillary
    {'C', "ABCD", "xyz", 3}, // unknown and critical
    {'E', "IEND", "", 0},
};

static void append_piece(picture_file *file, char letter)
{
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        const struct piece *p = &pieces[i];
        if (p->letter == letter && strcmp(p->type, "rows") == 0)
            png_append_rows(file, p->bytes, p->nbytes);
        else if (p->letter == letter)
            png_append_chunk(file, p->type, p->bytes, p->nbytes);
    }
}

/* Puts a file together; besides the pieces there are h and p, the headers of a gray and of a palette image. */
static picture_file assemble(const char *plan)
{
    static const uint8_t many[3 * 257];
    picture_file file = {0};
    for (const char *p = plan; *p != '\0'; p++) {
        if (*p == 'h' || *p == 'p')
            png_begin(&file, 2, 2, 8, *p == 'h' ? 0 : 3, 0);
        else if (*p == '7') // 257 colours
            png_append_chunk(&file, "PLTE", many, sizeof many);
        else if (*p == 'x') // break the checksum of the chunk before
            file.bytes[file.nbytes - 1] ^= 1;
        else if (*p == '?') // no chunk
            png_append(&file, "????????????????", 16);
        else if (*p == 'A') { // Apple's
            png_append(&file, "\x89PNG\r\n\x1a\n", 8);
            png_append_chunk(&file, "CgBI", "\x50\0\x20\6", 4);
        } else
            append_piece(&file, *p);
    }
    return file;
}

/* Which words, how many warnings. `word` is a part of the detail when it is refused. */
static const struct oddity {
    const char *plan;
    int result;
    uint32_t warnings;
    const char *word;
} oddities[] = {
    {"hdE", 0, 0, ""},
    {"hedeE", 0, 0, ""},
    {"haPdaE", 0, 1, ""},
    {"haxdE", 0, 1, ""},
    {"htdE", 0, 0, ""},
    {"httdE", 0, 1, ""},
    {"hTdE", 0, 1, ""},
    {"htxdE", 0, 1, ""},
    {"hd", 0, 1, ""},
    {"hdxE", MR_ECORRUPT, 0, "damaged PNG: the checksum of chunk IDAT at byte 33 does not match"},
    {"hdExa", 0, 2, ""},
    {"hdE?", 0, 1, ""},
    {"hd?", 0, 1, ""},
    {"hdCE", 0, 1, ""},
    {"hdHE", 0, 1, ""},
    {"hdadE", 0, 1, ""},
    {"hlE", 0, 1, ""},
    {"hdgE", 0, 1, ""},
    {"hsE", MR_ETRUNCATED, 0, "truncated PNG: the image data ends at byte "},
    {"hsadE", MR_ETRUNCATED, 0, "with 5 of 6 bytes"},
    {"heE", MR_ETRUNCATED, 0, "truncated PNG: the image data ends at byte 41 with 0 of 6 bytes"},
    {"hgE", MR_ECORRUPT, 0, "damaged PNG: image data that cannot be decompressed at byte 43: "},
    {"hfE", MR_ECORRUPT, 0, "damaged PNG: row 1 has the unknown filter 5, in the image data from byte 33 on"},
    {"hE", MR_ECORRUPT, 0, "damaged PNG: no image data before chunk IEND at byte 33"},
    {"h", MR_ETRUNCATED, 0, "truncated PNG: expected a chunk at byte 33"},
    {"h?", MR_ECORRUPT, 0, "damaged PNG: expected a chunk at byte 33"},
    {"hxdE", MR_ECORRUPT, 0, "damaged PNG: the checksum of chunk IHDR at byte 8 does not match"},
    {"hHdE", MR_ECORRUPT, 0, "damaged PNG: a second chunk IHDR at byte 33"},
    {"hCdE", MR_EUNSUPPORTED, 0, "PNG with an unknown critical chunk, ABCD at byte 33"},
    {"AhdE", MR_EUNSUPPORTED, 0, "a CgBI file"},
    {"pPdE", 0, 0, ""},
    {"pPoE", 0, 1, ""},
    {"pPtdE", 0, 0, ""},
    {"ptPdE", 0, 1, ""},
    {"pPTdE", 0, 1, ""},
    {"pdE", MR_ECORRUPT, 0, "damaged PNG: no chunk PLTE before chunk IDAT at byte 33"},
    {"pdPE", MR_ECORRUPT, 0, "damaged PNG: no chunk PLTE before chunk IDAT at byte 33"},
    {"pPPdE", MR_ECORRUPT, 0, "damaged PNG: a second chunk PLTE at byte 51"},
    {"pPxdE", MR_ECORRUPT, 0, "damaged PNG: the checksum of chunk PLTE at byte 33 does not match"},
    {"p4dE", MR_ECORRUPT, 0, "damaged PNG: chunk PLTE at byte 33 has 4 bytes"},
    {"p7dE", MR_ECORRUPT, 0, "damaged PNG: chunk PLTE at byte 33 has 771 bytes"},
    {"p0dE", MR_ECORRUPT, 0, "damaged PNG: chunk PLTE at byte 33 has 0 bytes"},
};

/* Each beside libpng, which takes what we take, with the same pixels. */
static void oddities_have_their_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++) {
        const struct oddity *o = &oddities[i];
        picture_file file = assemble(o->plan);
        mr_image ours, theirs;
        int result = mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &ours);
        const char *detail = mr_decoder_detail(decoder);
        if (result != o->result || strstr(detail, o->word) == NULL || (result == 0) != (detail[0] == '\0'))
            fail_msg("%s: %s, \"%s\"", o->plan, mr_error_name(result), detail);
        if (result == 0 && mr_decoder_warnings(decoder) != o->warnings)
            fail_msg("%s: %u warnings, not %u", o->plan, mr_decoder_warnings(decoder), o->warnings);
        bool taken = png_reference_decode(file.bytes, file.nbytes, &theirs);
        if (taken != (result == 0) || (taken && !picture_same(&ours, &theirs)))
            fail_msg("%s: libpng %s", o->plan, taken ? "takes it, with other pixels or alone" : "refuses");
        if (taken)
            mr_image_fini(&theirs, NULL);
        free(file.bytes);
    }
}

static void expect_as_libpng(const picture_file *file, uint32_t warnings)
{
    mr_image theirs;
    assert_true(png_reference_decode(file->bytes, file->nbytes, &theirs));
    check_decode(file, NULL, &theirs, "beyond the depth");
    assert_int_equal(mr_decoder_warnings(decoder), warnings);
    mr_image_fini(&theirs, NULL);
}

/* A palette of more than 2^depth colours counts for 2^depth; of a transparent gray, the bits that the depth has. */
static void what_is_beyond_the_depth_is_cut(void **state)
{
    (void)state;
    for (size_t alphas = 1; alphas <= 3; alphas++) {
        picture_file file = {0};
        png_begin(&file, 8, 1, 1, 3, 0);
        png_append_chunk(&file, "PLTE", "abcdefghi", 9);
        png_append_chunk(&file, "tRNS", "xyz", alphas);
        png_append_rows(&file, "\0\x5a", 2);
        png_append_chunk(&file, "IEND", "", 0);
        expect_as_libpng(&file, alphas == 3);
        free(file.bytes);
    }
    for (uint8_t depth = 1; depth <= 8; depth *= 2) {
        picture_file file = {0};
        png_begin(&file, 1, 2, depth, 0, 0);
        png_append_chunk(&file, "tRNS", "\xff\xff", 2);
        png_append_rows(&file, "\0\xff\0\x0f", 4);
        png_append_chunk(&file, "IEND", "", 0);
        expect_as_libpng(&file, 0);
        free(file.bytes);
    }
}

/* Damage in the image data that is accepted when asked to. */
static void damage_is_accepted_on_request(void **state)
{
    (void)state;
    static const struct {
        const char *plan;
        uint8_t pixels[4];
    } cases[] = {{"hdxE", {1, 0, 0, 1}}, {"hsE", {1, 0, 0, 0}}, {"hfE", {1, 0, 0, 1}}, {"hgE", {0}}, {"heE", {0}}};
    mr_decode_hints hints = {.struct_size = sizeof hints, .accept_damaged = true};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        picture_file file = assemble(cases[i].plan);
        mr_image image;
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, &hints, &image), 0);
        assert_int_equal(mr_decoder_warnings(decoder), 1);
        assert_memory_equal(image.pixels, cases[i].pixels, 4);
        free(file.bytes);
    }
    // Before the image data there is nothing to give.
    picture_file file = assemble("hxdE");
    check_refused(&file, &hints, MR_ECORRUPT, "the checksum of chunk IHDR");
    free(file.bytes);
}

static void wrong_adler_is_refused_or_accepted(void **state)
{
    (void)state;
    mr_decode_hints hints = {.struct_size = sizeof hints, .accept_damaged = true};
    mr_image image;
    picture_file file = assemble("hdE");
    file.bytes[png_find(&file, "IEND", 0) - 5] ^= 1; // the last byte of the data, before its checksum
    png_fix_checksums(&file);
    check_refused(&file, NULL, MR_ECORRUPT, "incorrect data check");
    assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, &hints, &image), 0);
    assert_memory_equal(image.pixels, "\1\0\0\1", 4);
    free(file.bytes);
}

static int decode_header(const mr_limits *limits, uint32_t width, uint32_t height, char detail[256])
{
    picture_file file = {0};
    png_begin(&file, width, height, 8, 2, 0);
    png_append_rows(&file, "\0\1\2\3", 4);
    png_append_chunk(&file, "IEND", "", 0);
    mr_decoder *own = handles_decoder(NULL, limits);
    int result = picture_try(own, file.bytes, file.nbytes, NULL);
    snprintf(detail, 256, "%s", mr_decoder_detail(own));
    mr_decoder_free(own);
    free(file.bytes);
    return result;
}

static void large_headers_cost_an_error(void **state)
{
    (void)state;
    char detail[256];
    mr_limits none = {sizeof none, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    mr_limits little = {.struct_size = sizeof little, .memory_nbytes = 4096};
    assert_int_equal(decode_header(NULL, 100000, 100000, detail), MR_ELIMIT);
    assert_contains(detail, "limits.pixels");
    assert_int_equal(decode_header(NULL, 16384, 16384, detail), MR_ETRUNCATED);
    assert_contains(detail, "cannot hold 16384 x 16384 pixels");
    assert_int_equal(decode_header(&little, 60, 60, detail), MR_ELIMIT);
    assert_contains(detail, "limits.memory_nbytes");
    assert_int_not_equal(decode_header(&none, INT32_MAX, INT32_MAX, detail), 0);
    assert_int_equal(decode_header(NULL, 0, 5, detail), MR_ECORRUPT);
    assert_int_equal(decode_header(NULL, 5, 0x80000000u, detail), MR_ECORRUPT);
    assert_string_equal(detail, "damaged PNG: a size of 5 x 2147483648 at byte 16");
}

/* Each field of IHDR with each value: the combinations of colour type and depth that exist, and no other. */
static void header_fields(void **state)
{
    (void)state;
    size_t good = 0;
    for (unsigned field = 8; field < 13; field++)
        for (unsigned type = 0; type < 8; type++)
            for (unsigned value = 0; value < 256; value++) {
                picture_file file = {0};
                mr_info info = {.struct_size = sizeof info};
                png_begin(&file, 1, 1, 8, (uint8_t)type, 0);
                file.bytes[16 + field] = (uint8_t)value;
                png_fix_checksums(&file);
                png_append_chunk(&file, "PLTE", "\0\0\0", 3);
                png_append_rows(&file, "\0\0\0\0\0\0\0\0\0", 9);
                mr_image theirs;
                int result = mr_decoder_info(decoder, file.bytes, file.nbytes, &info);
                bool taken = png_reference_decode(file.bytes, file.nbytes, &theirs);
                if (taken)
                    mr_image_fini(&theirs, NULL);
                assert_int_equal(result, taken ? 0 : MR_ECORRUPT);
                good += taken;
                free(file.bytes);
            }
    assert_true(good > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(truncated_image_data_is_accepted_on_request),
        cmocka_unit_test(every_changed_byte_is_seen),
        cmocka_unit_test(changed_bytes_with_right_checksums),
        cmocka_unit_test(oddities_have_their_words),
        cmocka_unit_test(what_is_beyond_the_depth_is_cut),
        cmocka_unit_test(damage_is_accepted_on_request),
        cmocka_unit_test(wrong_adler_is_refused_or_accepted),
        cmocka_unit_test(large_headers_cost_an_error),
        cmocka_unit_test(header_fields),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
