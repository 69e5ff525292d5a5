// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mr_encode_options pnm = {.struct_size = sizeof pnm, .form = MR_FORM_PNM};

static void every_shape_comes_back(void **state)
{
    (void)state;
    for (uint32_t side = 1; side <= 40; side += side < 4 ? 1 : 6)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (uint32_t depth = 8; depth <= 16; depth += 8) {
                mr_image image = picture_make(side, 41 - side, channels, depth, side);
                mr_image flipped = mr_image_upside_down(&image);
                picture_file file = picture_encode(&flipped, &pnm);
                check_decode(&file, NULL, &flipped, "PNM");
                mr_image_fini(&image, NULL);
                free(file.bytes);
            }
}

static void what_is_written(void **state)
{
    (void)state;
    static const struct {
        uint32_t channels, depth;
        const char *head;
    } cases[] = {
        {1, 8, "P5\n2 1\n255\n"},
        {3, 16, "P6\n2 1\n65535\n"},
        {2, 16, "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 65535\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n"},
        {4, 8, "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_image image = picture_make(2, 1, cases[i].channels, cases[i].depth, 7);
        picture_file file = picture_encode(&image, &pnm);
        size_t head = strlen(cases[i].head), n = mr_image_row_nbytes(&image);
        assert_int_equal(file.nbytes, head + n);
        assert_memory_equal(file.bytes, cases[i].head, head);
        for (size_t k = 0; k < n; k++) {
            uint8_t sample = ((uint8_t *)image.pixels)[k];
            assert_int_equal(file.bytes[head + (cases[i].depth == 16 ? k ^ 1 : k)], sample);
        }
        mr_image_fini(&image, NULL);
        free(file.bytes);
    }
}

/* One small file as text, and what comes of it: up to 8 samples, or an error. */
typedef struct text_case {
    const char *text;
    size_t nbytes; /* 0: strlen */
    int expected;
    uint32_t width, height, channels, depth;
    uint32_t samples[8];
    uint32_t warnings;
    const char *word; /* of the detail */
} text_case;

static void check_case(const text_case *c)
{
    picture_file file = picture_copy(c->text, c->nbytes != 0 ? c->nbytes : strlen(c->text));
    mr_image out = {0};
    int result = mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &out);
    if (result != c->expected)
        fail_msg("%s gives %s: %s", c->text, mr_error_name(result), mr_decoder_detail(decoder));
    if (result != 0 && (c->word == NULL || strstr(mr_decoder_detail(decoder), c->word) == NULL))
        fail_msg("%s gives '%s', without '%s'", c->text, mr_decoder_detail(decoder), c->word);
    if (result == 0) {
        if (mr_decoder_warnings(decoder) != c->warnings)
            fail_msg("%s gives %u warnings", c->text, mr_decoder_warnings(decoder));
        bool shape =
            out.width == c->width && out.height == c->height && out.channels == c->channels && out.depth == c->depth;
        if (!shape)
            fail_msg("%s is %u x %u x %u of %u", c->text, out.width, out.height, out.channels, out.depth);
        for (uint32_t i = 0; i < c->width * c->height * c->channels; i++) {
            uint32_t v = c->depth == 8 ? ((uint8_t *)out.pixels)[i] : ((uint16_t *)out.pixels)[i];
            if (v != c->samples[i])
                fail_msg("%s: sample %u is %u, not %u", c->text, i, v, c->samples[i]);
        }
    }
    free(file.bytes);
}

#define BYTES(text)         text, sizeof text - 1
#define REFUSED(code, word) code, 0, 0, 0, 0, {0}, 0, word

static void oddities_of_headers(void **state)
{
    (void)state;
    static const text_case cases[] = {
        {"P2 2 1 255 7 8\n", 0, 0, 2, 1, 1, 8, {7, 8}, 0, NULL},
        {"P2\n2\t1\r\n255\v7\f8\n", 0, 0, 2, 1, 1, 8, {7, 8}, 0, NULL},
        {"P2#c\n2 1 255 7 8\n", 0, 0, 2, 1, 1, 8, {7, 8}, 0, NULL},
        {"P2\n# one\n# two\r2# three\n1 #\n255 7 8\n", 0, 0, 2, 1, 1, 8, {7, 8}, 0, NULL},
        {"P2 0002 01 00255 007 8\n", 0, 0, 2, 1, 1, 8, {7, 8}, 0, NULL},
        // The comment is the one white space before the pixels; after a white space, # is a pixel.
        {BYTES("P5 2 1 255#c\nAB"), 0, 2, 1, 1, 8, {'A', 'B'}, 0, NULL},
        {BYTES("P5 2 1 255 #B"), 0, 2, 1, 1, 8, {'#', 'B'}, 0, NULL},
        {BYTES("P5 2 1 255\n\n "), 0, 2, 1, 1, 8, {'\n', ' '}, 0, NULL},
        {BYTES("P5 2 1 255\r\n "), 0, 2, 1, 1, 8, {'\n', ' '}, 0, NULL},
        {"P2 2 1 255 7#c\n8\n", 0, 0, 2, 1, 1, 8, {7, 8}, 0, NULL},
        {"P3 1 1 255 # c\n7 8 #d\n\n 9\n", 0, 0, 1, 1, 3, 8, {7, 8, 9}, 0, NULL},
        {"P2", 0, REFUSED(MR_EFORMAT, "known format")},
        {"P2x", 0, REFUSED(MR_EFORMAT, "known format")},
        {"P8 1 1 255 1", 0, REFUSED(MR_EFORMAT, "known format")},
        {"P2 ", 0, REFUSED(MR_ETRUNCATED, "width at byte 3")},
        {"P2 2 #", 0, REFUSED(MR_ETRUNCATED, "height at byte 6")},
        {"P2 2 1", 0, REFUSED(MR_ETRUNCATED, "maxval at byte 6")},
        {"P2 2 1 25", 0, REFUSED(MR_ETRUNCATED, "white space after the header at byte 9")},
        {"P4 2 1", 0, REFUSED(MR_ETRUNCATED, "white space after the header at byte 6")},
        {"P2 2 -1 255", 0, REFUSED(MR_ECORRUPT, "height, a number, at byte 5")},
        {"P2 2x 1 255", 0, REFUSED(MR_ECORRUPT, "width, a number, at byte 4")},
        {"P2 0 1 255", 0, REFUSED(MR_ECORRUPT, "width at byte 3 is 0")},
        {"P2 1 0 255", 0, REFUSED(MR_ECORRUPT, "height at byte 5 is 0")},
        {"P2 1 2147483648 255", 0, REFUSED(MR_ECORRUPT, "height at byte 5 is 2147483648")},
        {"P2 1 4294967296 255", 0, REFUSED(MR_ECORRUPT, "height at byte 5 is more")},
        {"P2 1 1 0 0", 0, REFUSED(MR_ECORRUPT, "maxval at byte 7 is 0")},
        {"P2 1 1 65536 0", 0, REFUSED(MR_ECORRUPT, "maxval at byte 7 is 65536")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

static void oddities_of_pixels(void **state)
{
    (void)state;
    static const text_case cases[] = {
        // Bits: 1 is black; text needs no white space between them; rows of packed ones fill their byte.
        {"P1 3 2 1 0 1 0 1 1", 0, 0, 3, 2, 1, 8, {0, 255, 0, 255, 0, 0}, 0, NULL},
        {"P1\n3 2\n101\n011\n", 0, 0, 3, 2, 1, 8, {0, 255, 0, 255, 0, 0}, 0, NULL},
        {"P1 3 2 10#c\n1011", 0, 0, 3, 2, 1, 8, {0, 255, 0, 255, 0, 0}, 0, NULL},
        {BYTES("P4 3 2 \xbf\x60"), 0, 3, 2, 1, 8, {0, 255, 0, 255, 0, 0}, 0, NULL},
        {BYTES("P4 3 2\n\xa0\x7f"), 0, 3, 2, 1, 8, {0, 255, 0, 255, 0, 0}, 0, NULL},
        {"P1 2 1 12", 0, REFUSED(MR_ECORRUPT, "sample at byte 8")},
        {"P1 2 1 1 ", 0, REFUSED(MR_ETRUNCATED, "sample at byte 9")},
        {BYTES("P4 3 2 \xbf"), REFUSED(MR_ETRUNCATED, "end at byte 9, the data at 8")},
        // Scaling: round(v * 255 / maxval), halves up; above 255 to 16 bits.
        {"P2 4 1 3 0 1 2 3\n", 0, 0, 4, 1, 1, 8, {0, 85, 170, 255}, 0, NULL},
        {"P2 3 1 2 0 1 2\n", 0, 0, 3, 1, 1, 8, {0, 128, 255}, 0, NULL},
        {"P2 3 1 100 50 1 99\n", 0, 0, 3, 1, 1, 8, {128, 3, 252}, 0, NULL},
        {BYTES("P5 3 1 100 \x32\x01\x63"), 0, 3, 1, 1, 8, {128, 3, 252}, 0, NULL},
        {"P2 3 1 256 0 128 256\n", 0, 0, 3, 1, 1, 16, {0, 32768, 65535}, 0, NULL},
        {"P2 3 1 1023 0 512 1023\n", 0, 0, 3, 1, 1, 16, {0, 32800, 65535}, 0, NULL},
        {BYTES("P5 2 1 1023 \x02\x00\x03\xff"), 0, 2, 1, 1, 16, {32800, 65535}, 0, NULL},
        {BYTES("P6 1 1 65535 \x01\x02\x03\x04\xff\xfe"), 0, 1, 1, 3, 16, {258, 772, 65534}, 0, NULL},
        {"P2 2 1 100 7 101", 0, REFUSED(MR_ECORRUPT, "byte 13 is 101, above the maxval 100")},
        {"P2 1 1 9 99999999999999999999", 0, REFUSED(MR_ECORRUPT, "sample at byte 9")},
        {BYTES("P5 2 1 100 \x64\x65"), REFUSED(MR_ECORRUPT, "byte 12 is 101, above the maxval 100")},
        {BYTES("P5 2 1 300 \x01\x2c\x01\x2d"), REFUSED(MR_ECORRUPT, "byte 13 is 301, above")},
        {"P2 2 1 255 7 x\n", 0, REFUSED(MR_ECORRUPT, "sample at byte 13")},
        {"P2 2 1 255 7-8\n", 0, REFUSED(MR_ECORRUPT, "sample at byte 12")},
        {"P2 2 1 255 7   ", 0, REFUSED(MR_ETRUNCATED, "sample at byte 15")},
        // A number that ends with the data may have lost digits; Netpbm's pamdepth refuses these and takes those of P1.
        {"P2 2 1 255 200 250", 0,
         REFUSED(MR_ETRUNCATED, "truncated PNM: the last sample ends with the data at byte 18")},
        {"P2 2 1 255 200 2", 0, REFUSED(MR_ETRUNCATED, "the last sample ends with the data at byte 16")},
        {"P2 2 1 255 200 2#c", 0, REFUSED(MR_ETRUNCATED, "the last sample ends with the data at byte 18")},
        {"P3 1 1 255 1 2 3", 0, REFUSED(MR_ETRUNCATED, "the last sample ends with the data at byte 16")},
        {"P2 2 1 255 200 2#c\n", 0, 0, 2, 1, 1, 8, {200, 2}, 0, NULL},
        {"P2 2 1 255 200 250\t", 0, 0, 2, 1, 1, 8, {200, 250}, 0, NULL},
        // What follows is a warning, unless it is the white space of text.
        {"P2 1 1 255 7 \n\n", 0, 0, 1, 1, 1, 8, {7}, 0, NULL},
        {"P2 1 1 255 7 P2 1 1\n", 0, 0, 1, 1, 1, 8, {7}, 1, NULL},
        {"P1 2 1 101", 0, 0, 2, 1, 1, 8, {0, 255}, 1, NULL},
        {BYTES("P5 1 1 255 A\n"), 0, 1, 1, 1, 8, {'A'}, 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

#define PAM(more) "P7\nWIDTH 2\nHEIGHT 1\n" more "ENDHDR\n"

static void oddities_of_pam(void **state)
{
    (void)state;
    static const text_case cases[] = {
        {BYTES(PAM("DEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE\n") "AB"), 0, 2, 1, 1, 8, {'A', 'B'}, 0, NULL},
        {BYTES(PAM("DEPTH 1\nMAXVAL 255\n") "AB"), 0, 2, 1, 1, 8, {'A', 'B'}, 0, NULL},
        {BYTES(PAM("DEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\n") "\1\0"), 0, 2, 1, 1, 8, {255, 0}, 0, NULL},
        {BYTES(PAM("DEPTH 2\nMAXVAL 15\nTUPLTYPE GRAYSCALE_ALPHA\n") "\0\1\2\17"),
         0,
         2,
         1,
         2,
         8,
         {0, 17, 34, 255},
         0,
         NULL},
        {BYTES(PAM("DEPTH 2\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE_ALPHA\n") "\0\1\1\0"),
         0,
         2,
         1,
         2,
         8,
         {0, 255, 255, 0},
         0,
         NULL},
        {BYTES(PAM("DEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\n") "ABCDEF"),
         0,
         2,
         1,
         3,
         8,
         {'A', 'B', 'C', 'D', 'E', 'F'},
         0,
         NULL},
        {BYTES(PAM("TUPLTYPE RGB_ALPHA\n# c\n\n  DEPTH\t 4 \r\n #d\nMAXVAL 255\n") "ABCDEFGH"),
         0,
         2,
         1,
         4,
         8,
         {'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'},
         0,
         NULL},
        {BYTES(PAM("DEPTH 1\nMAXVAL 65535\nTUPLTYPE GRAYSCALE\n") "\1\2\3\4"), 0, 2, 1, 1, 16, {258, 772}, 0, NULL},
        {BYTES(PAM("DEPTH 1\nMAXVAL 255\nTUPLTYPE DEPTH_MAP\n") "AB"), REFUSED(MR_EUNSUPPORTED, "TUPLTYPE at byte 48")},
        {BYTES(PAM("DEPTH 5\nMAXVAL 255\n") "AB"),
         REFUSED(MR_EUNSUPPORTED, "PAM of depth 5 at byte 26; 1 to 4 are supported")},
        {BYTES(PAM("DEPTH 3\nMAXVAL 255\nTUPLTYPE GRAYSCALE\n") "AB"), REFUSED(MR_EUNSUPPORTED, "depth 3")},
        {BYTES(PAM("DEPTH 1\nMAXVAL 9\nTUPLTYPE A\nTUPLTYPE B\n") "AB"), REFUSED(MR_EUNSUPPORTED, "second")},
        {BYTES(PAM("MAXVAL 255\n") "AB"), REFUSED(MR_ECORRUPT, "no DEPTH before ENDHDR at byte 31")},
        {BYTES(PAM("DEPTH 1\nDEPTH 1\nMAXVAL 255\n") "AB"), REFUSED(MR_ECORRUPT, "second DEPTH at byte 28")},
        {BYTES(PAM("DEPTH 1\nCOLOR 1\nMAXVAL 255\n") "AB"), REFUSED(MR_ECORRUPT, "unknown header line at byte 28")},
        {BYTES(PAM("DEPTH 1 2\nMAXVAL 255\n") "AB"), REFUSED(MR_ECORRUPT, "DEPTH at byte 26 is not one")},
        {BYTES(PAM("DEPTH\nMAXVAL 255\n") "AB"), REFUSED(MR_ECORRUPT, "not one number")},
        {BYTES(PAM("DEPTH 0\nMAXVAL 255\n") "AB"), REFUSED(MR_ECORRUPT, "DEPTH at byte 26 is 0")},
        {BYTES(PAM("DEPTH 1\nMAXVAL 65536\n") "AB"), REFUSED(MR_ECORRUPT, "MAXVAL at byte 35")},
        {BYTES("P7\nWIDTH 2\nHEIGHT 1\nENDHDR"), REFUSED(MR_ETRUNCATED, "ENDHDR before byte 26")},
        {BYTES("P7 332\n"), REFUSED(MR_EFORMAT, "known format")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* The same pixels in each of the formats that can hold them, as text made here. */
static picture_file write_text(const mr_image *image, bool bits)
{
    size_t room = 64 + (size_t)image->width * image->height * image->channels * 7;
    picture_file file = {malloc(room), 0};
    uint32_t maxval = image->depth == 8 ? 255 : 65535, columns = image->width * image->channels;
    char *text = (char *)file.bytes;
    int n = sprintf(text, "P%d %u %u ", bits ? 1 : image->channels == 3 ? 3 : 2, image->width, image->height);
    if (!bits)
        n += sprintf(text + n, "%u\n", maxval);
    for (uint32_t i = 0; i < columns * image->height; i++) {
        uint32_t v = image->depth == 8 ? ((uint8_t *)image->pixels)[i] : ((uint16_t *)image->pixels)[i];
        n += bits ? sprintf(text + n, "%d", v == 0) : sprintf(text + n, "%u\n", v);
    }
    file.nbytes = (size_t)n;
    return file;
}

static picture_file write_bits(const mr_image *image)
{
    size_t row = (image->width + 7) / 8;
    picture_file file = {calloc(1, 64 + row * image->height), 0};
    size_t head = (size_t)sprintf((char *)file.bytes, "P4\n%u %u\n", image->width, image->height);
    memset(file.bytes + head, 0, row * image->height);
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            if (((uint8_t *)image->pixels)[y * image->width + x] == 0)
                file.bytes[head + y * row + x / 8] |= (uint8_t)(0x80 >> x % 8);
    file.nbytes = head + row * image->height;
    return file;
}

static void check_regions(const mr_image *image, picture_file file)
{
    uint64_t seed = file.nbytes;
    check_decode(&file, NULL, image, "PNM");
    for (int i = 0; i < 50; i++) {
        mr_rect region = picture_random_rect(&seed, image->width, image->height);
        check_region(&file, (mr_decode_hints){0}, region, image, "PNM");
    }
    free(file.bytes);
}

static void regions_are_the_crop(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        mr_image image = picture_make(19, 11, i % 2 == 0 ? 1 : 3, i < 2 ? 8 : 16, i);
        check_regions(&image, picture_encode(&image, &pnm));
        check_regions(&image, write_text(&image, false));
        mr_image_fini(&image, NULL);
    }
    mr_image bits = picture_make(19, 11, 1, 8, 5);
    for (size_t i = 0; i < 19 * 11; i++)
        ((uint8_t *)bits.pixels)[i] = ((uint8_t *)bits.pixels)[i] < 100 ? 0 : 255;
    check_regions(&bits, write_text(&bits, true));
    check_regions(&bits, write_bits(&bits));
    mr_image_fini(&bits, NULL);
}

/* Text after the last row of a region is not looked at. */
static void reading_stops_below_the_region(void **state)
{
    (void)state;
    const char text[] = "P2 2 3 255 1 2 3 4 damage";
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = {1, 1, 1, 1}};
    mr_image out = picture_decode(text, sizeof text - 1, &hints);
    assert_int_equal(*(uint8_t *)out.pixels, 4);
    mr_image_fini(&out, NULL);
    assert_int_equal(picture_try(decoder, text, sizeof text - 1, &hints), 0);
    assert_int_equal(mr_decoder_warnings(decoder), 0);
    hints.region.height = 2;
    assert_int_equal(picture_try(decoder, text, sizeof text - 1, &hints), MR_ECORRUPT);
}

/* Every format, cut everywhere: an error or, with accept_damaged, the samples that were there. */
static void every_truncation(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t nbytes, head;
    } files[] = {
        {BYTES("P1 3 2 1 0 1 0 1 1"), 7},
        {BYTES("P2 3 2 255 11 22 33 44 55 66\n"), 11},
        {BYTES("P4 3 2 \xbf\x60"), 7},
        {BYTES("P3 1 2 300 11 22 33 44 55 66\n"), 11},
        {BYTES("P5 3 2 255 ABCDEF"), 11},
        {BYTES("P6 1 2 300 \0A\0B\0C\0D\0E\0F"), 11},
        {BYTES(PAM("DEPTH 4\nMAXVAL 255\n") "ABCDEFGH"), 47},
    };
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t nbytes = 0; nbytes < files[i].nbytes; nbytes++) {
            picture_file file = picture_copy(files[i].text, nbytes);
            int result = picture_try(decoder, file.bytes, nbytes, NULL);
            assert_int_equal(result, nbytes < 3 ? MR_EFORMAT : MR_ETRUNCATED);
            result = picture_try(decoder, file.bytes, nbytes, &accept);
            if (nbytes >= files[i].head) {
                assert_int_equal(result, 0);
                assert_int_equal(mr_decoder_warnings(decoder), 1);
            }
            free(file.bytes);
        }
}

static void accepted_damage_gives_what_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t nbytes;
        uint8_t samples[6];
    } cases[] = {
        {BYTES("P2 3 2 255 1 2 3 4"), {1, 2, 3, 4, 0, 0}},
        {BYTES("P2 3 2 255 1 2 3 4 "), {1, 2, 3, 4, 0, 0}},
        {BYTES("P2 3 2 255 1 2 3 4 5 6"), {1, 2, 3, 4, 5, 6}},
        {BYTES("P2 3 2 255 1 2 x 4 5 6"), {1, 2, 0, 0, 0, 0}},
        {BYTES("P2 3 2 5 1 2 6 4 5 7\n"), {51, 102, 255, 204, 255, 255}},
        {BYTES("P5 3 2 5 \1\2\6\4\5\7"), {51, 102, 255, 204, 255, 255}},
        {BYTES("P2 3 2 5 1 2 99999999999 4 5 7"), {51, 102, 0, 0, 0, 0}},
        {BYTES("P5 3 2 5 \1\2\3\4"), {51, 102, 153, 204, 0, 0}},
        {BYTES("P1 3 2 01010"), {255, 0, 255, 0, 255, 0}},
        {BYTES("P4 3 2 \x5f"), {255, 0, 255, 0, 0, 0}},
    };
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_image out;
        assert_int_equal(mr_decoder_decode(decoder, cases[i].text, cases[i].nbytes, &accept, &out), 0);
        assert_int_equal(mr_decoder_warnings(decoder), 1);
        assert_memory_equal(out.pixels, cases[i].samples, 6);
    }
}

static void every_changed_byte_is_survived(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t nbytes;
    } files[] = {
        {BYTES("P1 3 2 101 011")},
        {BYTES("P2 3 2 255 11 22 33 44 55 66")},
        {BYTES("P4 3 2 \xbf\x60")},
        {BYTES("P3 1 2 300 11 22 33 44 55 66")},
        {BYTES("P5 3 2 255 ABCDEF")},
        {BYTES("P6 1 2 300 \0A\0B\0C\0D\0E\0F")},
        {BYTES(PAM("DEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\n") "ABCDEFGH")},
    };
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        picture_file file = picture_copy(files[i].text, files[i].nbytes);
        for (size_t at = 0; at < file.nbytes; at++)
            for (unsigned value = 0; value < 256; value++) {
                file.bytes[at] = (uint8_t)value;
                picture_try(decoder, file.bytes, file.nbytes, NULL);
                picture_try(decoder, file.bytes, file.nbytes, &accept);
                file.bytes[at] = (uint8_t)files[i].text[at];
            }
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_comes_back),
        cmocka_unit_test(what_is_written),
        cmocka_unit_test(oddities_of_headers),
        cmocka_unit_test(oddities_of_pixels),
        cmocka_unit_test(oddities_of_pam),
        cmocka_unit_test(regions_are_the_crop),
        cmocka_unit_test(reading_stops_below_the_region),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(accepted_damage_gives_what_is_there),
        cmocka_unit_test(every_changed_byte_is_survived),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
