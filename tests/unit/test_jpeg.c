// SPDX-License-Identifier: Apache-2.0
/* JPEG headers, colours, profiles, limits, and the oddities of real sets. */
#include "test.h"

#include "check.h"
#include "failing.h"
#include "jpeg_golden.h"
#include "jpeg_plain.h"

#include "codec/jpeg/turbo.h"

#include <stdlib.h>
#include <string.h>

static void info_names_color_and_sampling(void **state)
{
    (void)state;
    static const struct {
        plain_recipe recipe;
        mr_color color;
        mr_subsampling subsampling;
    } cases[] = {
        {{.space = PLAIN_GRAY}, MR_COLOR_GRAY, MR_SUBSAMPLING_NONE},
        {{.space = PLAIN_GRAY, .factors = {0x22}}, MR_COLOR_GRAY, MR_SUBSAMPLING_NONE},
        {{.space = PLAIN_YCC}, MR_COLOR_YCBCR, MR_SUBSAMPLING_444},
        {{.space = PLAIN_YCC, .factors = {0x21, 0x21, 0x21}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_444},
        {{.space = PLAIN_YCC, .factors = {0x21}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_422},
        {{.space = PLAIN_YCC, .factors = {0x22, 0x12, 0x12}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_422},
        {{.space = PLAIN_YCC, .factors = {0x22}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_420},
        {{.space = PLAIN_YCC, .factors = {0x12}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_440},
        {{.space = PLAIN_YCC, .factors = {0x41}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_411},
        {{.space = PLAIN_YCC, .factors = {0x42}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_410},
        {{.space = PLAIN_YCC, .factors = {0x14}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_441},
        {{.space = PLAIN_YCC, .factors = {0x31}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_OTHER},
        {{.space = PLAIN_YCC, .factors = {0x22, 0x21, 0x12}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_OTHER},
        {{.space = PLAIN_YCC, .factors = {0x11, 0x22, 0x22}}, MR_COLOR_YCBCR, MR_SUBSAMPLING_OTHER},
        {{.space = PLAIN_YCC, .no_jfif = true}, MR_COLOR_YCBCR, MR_SUBSAMPLING_444},
        {{.space = PLAIN_RGB}, MR_COLOR_RGB, MR_SUBSAMPLING_NONE},
        {{.space = PLAIN_RGB, .no_adobe = true}, MR_COLOR_RGB, MR_SUBSAMPLING_NONE}, // by the names R, G, B
        {{.space = PLAIN_CMYK}, MR_COLOR_CMYK, MR_SUBSAMPLING_NONE},
        {{.space = PLAIN_CMYK, .no_adobe = true}, MR_COLOR_CMYK, MR_SUBSAMPLING_NONE},
        {{.space = PLAIN_YCCK}, MR_COLOR_YCCK, MR_SUBSAMPLING_444},
        {{.space = PLAIN_YCCK, .factors = {0x22, 0x11, 0x11, 0x22}}, MR_COLOR_YCCK, MR_SUBSAMPLING_420},
        {{.space = PLAIN_YCCK, .factors = {0x22, 0x11, 0x11, 0x11}}, MR_COLOR_YCCK, MR_SUBSAMPLING_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plain_recipe r = cases[i].recipe;
        r.width = 37;
        r.height = 23;
        r.progressive = i % 2 == 1;
        picture_file file = plain_encode(&r);
        mr_info info = info_of(&file);
        assert_int_equal(info.form, MR_FORM_JPEG);
        assert_int_equal(info.width, 37);
        assert_int_equal(info.height, 23);
        assert_int_equal(info.channels, r.space == PLAIN_GRAY ? 1 : 3);
        assert_int_equal(info.depth, 8);
        assert_int_equal(info.color, cases[i].color);
        assert_int_equal(info.subsampling, cases[i].subsampling);
        assert_int_equal(info.progressive, r.progressive);
        assert_int_equal(info.orientation, 1);
        assert_false(info.has_icc || info.lossless);
        // RGB that is decoded is what libjpeg, by its own look at the markers, decodes.
        mr_image plain;
        assert_int_equal(picture_try(decoder, file.bytes, file.nbytes, NULL), 0);
        if (r.space == PLAIN_YCC || r.space == PLAIN_RGB) {
            assert_int_equal(plain_decode(file.bytes, file.nbytes, 1, 3, &plain), 0);
            check_decode(&file, NULL, &plain, "RGB");
            mr_image_fini(&plain, NULL);
        }
        free(file.bytes);
    }
}

/* The frame header, after FF C0 or its kin. */
static uint8_t *frame_of(const picture_file *file)
{
    uint8_t *p = file->bytes + 2;
    while (p[1] < 0xc0 || p[1] > 0xcf || p[1] == 0xc4)
        p += 2 + (p[2] << 8 | p[3]);
    return p;
}

static void check_header_refused(const picture_file *file, int code, const char *part)
{
    mr_info info = {.struct_size = sizeof info};
    assert_int_equal(mr_decoder_info(decoder, file->bytes, file->nbytes, &info), code);
    check_refused(file, NULL, code, part);
}

/* Each a change of one byte of the frame header. */
static void what_is_not_supported(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        int code;
        const char *part;
    } cases[] = {
        {1, 0xc3, MR_EUNSUPPORTED, "lossless JPEG (ffc3 at byte "},
        {1, 0xcb, MR_EUNSUPPORTED, "lossless JPEG"},
        {1, 0xc5, MR_EUNSUPPORTED, "hierarchical JPEG (ffc5 at byte "},
        {1, 0xcf, MR_EUNSUPPORTED, "hierarchical JPEG"},
        {1, 0xde, MR_EUNSUPPORTED, "hierarchical JPEG"},
        {1, 0xc8, MR_EUNSUPPORTED, "extension"},
        {1, 0x02, MR_ECORRUPT, "unknown marker ff02 at byte "},
        {1, 0xf3, MR_ECORRUPT, "unknown marker"},
        {1, 0xd8, MR_ECORRUPT, "second start marker"},
        {1, 0xd9, MR_ECORRUPT, "without an image"},
        {1, 0xda, MR_ECORRUPT, "a scan (ffda) before the frame header"},
        {3, 18, MR_ECORRUPT, "wrong length"},
        {3, 1, MR_ECORRUPT, "has length 1 at byte "},
        {2, 255, MR_ETRUNCATED, "ends at byte "},
        {4, 12, MR_EUNSUPPORTED, "JPEG of 12 bits at byte "},
        {11, 0x01, MR_ECORRUPT, "sampling factors 0 x 1"},
        {11, 0x15, MR_ECORRUPT, "sampling factors 1 x 5"},
    };
    plain_recipe r = {.width = 9, .height = 9, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r);
    uint8_t *frame = frame_of(&file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t kept = frame[cases[i].at];
        frame[cases[i].at] = cases[i].value;
        check_header_refused(&file, cases[i].code, cases[i].part);
        frame[cases[i].at] = kept;
    }
    frame[6] = 0;
    check_header_refused(&file, MR_EUNSUPPORTED, "height 0");
    frame[6] = 9;
    frame[8] = 0;
    check_header_refused(&file, MR_ECORRUPT, "width 0");
    free(file.bytes);
}

/* libjpeg takes an APP0 of a length that cannot be for an empty one, and what it had held for bytes before a marker. */
static void segments_without_a_length(void **state)
{
    (void)state;
    plain_recipe r = {.width = 19, .height = 9, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r);
    assert_int_equal(file.bytes[3], 0xe0);
    file.bytes[4] = 0;
    for (uint8_t length = 0; length < 2; length++) {
        mr_image plain;
        file.bytes[5] = length;
        assert_true(plain_decode(file.bytes, file.nbytes, 1, 3, &plain) >= 0);
        mr_image ours = picture_decode(file.bytes, file.nbytes, NULL);
        assert_true(picture_same(&plain, &ours));
        mr_image_fini(&ours, NULL);
        mr_image_fini(&plain, NULL);
    }
    free(file.bytes);
}

static void fractional_sampling_is_refused(void **state)
{
    (void)state;
    plain_recipe r = {.width = 40, .height = 40, .space = PLAIN_YCC, .factors = {0x31, 0x11, 0x11}};
    picture_file file = plain_encode(&r);
    frame_of(&file)[14] = 0x21; // Cb: two to the luma's three
    check_refused(
        &file, NULL, MR_EUNSUPPORTED,
        "JPEG that libjpeg does not support: sampling factors that do not divide the largest ones, near byte ");
    free(file.bytes);
}

static void check_golden(const uint8_t *bytes, size_t nbytes, const uint8_t *rgb)
{
    mr_image out;
    assert_int_equal(mr_decoder_decode(decoder, bytes, nbytes, NULL, &out), 0);
    assert_true(out.width == 8 && out.height == 6 && out.channels == 3);
    assert_memory_equal(out.pixels, rgb, 8 * 6 * 3);
    mr_decode_hints h = {.struct_size = sizeof h, .region = {3, 2, 4, 3}};
    assert_int_equal(mr_decoder_decode(decoder, bytes, nbytes, &h, &out), 0);
    for (size_t y = 0; y < 3; y++)
        assert_memory_equal((uint8_t *)out.pixels + y * 12, rgb + ((y + 2) * 8 + 3) * 3, 12);
}

static void cmyk_as_pillow_gives_it(void **state)
{
    (void)state;
    check_golden(golden_cmyk_adobe, sizeof golden_cmyk_adobe, golden_cmyk_adobe_rgb);
    check_golden(golden_ycck_adobe, sizeof golden_ycck_adobe, golden_ycck_adobe_rgb);
    check_golden(golden_cmyk_bare, sizeof golden_cmyk_bare, golden_cmyk_bare_rgb);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int w = 0; w < 256; w++)
        for (int c = 0; c < 256; c++) {
            uint8_t cmyk[4] = {(uint8_t)c, (uint8_t)c, (uint8_t)c, (uint8_t)w}, rgb[3];
            mr__jpeg_cmyk_row(cmyk, rgb, 1);
            hash = (hash ^ rgb[0]) * UINT64_C(0x100000001b3);
            assert_true(rgb[0] == rgb[1] && rgb[0] == rgb[2]);
        }
    assert_true(hash == GOLDEN_CMYK_TABLE_FNV);
}

static void gray_of_color(void **state)
{
    (void)state;
    static const plain_space spaces[] = {PLAIN_RGB, PLAIN_CMYK, PLAIN_YCCK};
    mr_decode_hints h = {.struct_size = sizeof h, .channels = 1, .reduce = 2};
    for (size_t i = 0; i < 3; i++) {
        plain_recipe r = {.width = 41, .height = 31, .space = spaces[i]};
        picture_file file = plain_encode(&r);
        mr_image rgb, kept, luma;
        mr_decode_hints color = {.struct_size = sizeof color, .reduce = 2};
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, &color, &rgb), 0);
        assert_int_equal(mr_image_init(&kept, rgb.width, rgb.height, 3, 8, NULL), 0);
        assert_int_equal(mr_image_init(&luma, rgb.width, rgb.height, 1, 8, NULL), 0);
        assert_int_equal(mr_image_copy(&rgb, &kept), 0);
        assert_int_equal(mr_image_convert(&kept, &luma), 0);
        check_decode(&file, &h, &luma, "gray");
        mr_image_fini(&kept, NULL);
        mr_image_fini(&luma, NULL);
        free(file.bytes);
    }
}

/* Gray with alpha, or of 16 bits, is made of the same Y as gray alone. */
static void gray_is_luma_in_every_shape(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{2, 8}, {1, 16}, {2, 16}};
    plain_recipe r = {.width = 41, .height = 31, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r);
    mr_image y, want;
    mr_decode_hints h = {.struct_size = sizeof h, .channels = 1};
    for (size_t i = 0; i < 3; i++) {
        h.channels = 1, h.depth = 8;
        assert_int_equal(mr_decoder_decode(decoder, file.bytes, file.nbytes, &h, &y), 0);
        h.channels = shapes[i][0], h.depth = shapes[i][1];
        assert_int_equal(mr_image_init(&want, 41, 31, h.channels, h.depth, NULL), 0);
        assert_int_equal(mr_image_convert(&y, &want), 0);
        check_decode(&file, &h, &want, "gray");
        mr_image_fini(&want, NULL);
    }
    free(file.bytes);
}

/* Puts a segment right after the start marker. */
static picture_file with_segment(const picture_file *file, uint8_t marker, const void *bytes, size_t nbytes)
{
    picture_file longer = {malloc(file->nbytes + nbytes + 4), file->nbytes + nbytes + 4};
    const uint8_t head[] = {0xff, 0xd8, 0xff, marker, (uint8_t)((nbytes + 2) >> 8), (uint8_t)(nbytes + 2)};
    memcpy(longer.bytes, head, 6);
    memcpy(longer.bytes + 6, bytes, nbytes);
    memcpy(longer.bytes + 6 + nbytes, file->bytes + 2, file->nbytes - 2);
    return longer;
}

/* JFIF's marker goes before Adobe's, and that before the components' names; of two EXIF segments the first counts. */
static void first_things_first(void **state)
{
    (void)state;
    plain_recipe r = {.width = 20, .height = 10, .space = PLAIN_RGB};
    picture_file rgb = plain_encode(&r); // which libjpeg writes with Adobe's marker and without JFIF's
    static const char jfif[14] = "JFIF\0\1\1\0\0\1\0\1";
    picture_file both = with_segment(&rgb, 0xe0, jfif, sizeof jfif);
    picture_file one = with_segment(&rgb, 0xe1, "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0", 28);
    picture_file two = with_segment(&one, 0xe1, "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\3\0\0\0", 28);
    assert_int_equal(info_of(&rgb).color, MR_COLOR_RGB);
    assert_int_equal(info_of(&both).color, MR_COLOR_YCBCR);
    assert_int_equal(info_of(&one).orientation, 6);
    assert_int_equal(info_of(&two).orientation, 3);
    mr_image plain;
    assert_int_equal(plain_decode(both.bytes, both.nbytes, 1, 3, &plain), 0);
    check_decode(&both, NULL, &plain, "JFIF and Adobe");
    mr_image_fini(&plain, NULL);
    free(rgb.bytes), free(both.bytes), free(one.bytes), free(two.bytes);
}

static void check_icc(const picture_file *file, int code, const char *profile)
{
    const void *icc = "";
    size_t nbytes = 1;
    assert_true(info_of(file).has_icc);
    assert_int_equal(mr_decoder_icc(decoder, file->bytes, file->nbytes, &icc, &nbytes), code);
    if (code == 0) {
        assert_int_equal(nbytes, strlen(profile));
        assert_memory_equal(icc, profile, nbytes);
    } else {
        assert_contains(mr_decoder_detail(decoder), profile);
    }
}

static void icc_pieces(void **state)
{
    (void)state;
    plain_recipe r = {.width = 9, .height = 9, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r);
    picture_file one = with_segment(&file, 0xe2, "ICC_PROFILE\0\2\2world", 19);
    check_icc(&one, MR_ECORRUPT, "ICC piece 1 of 2 is missing before the scan at byte ");
    picture_file two = with_segment(&one, 0xe2, "ICC_PROFILE\0\1\2hello ", 20);
    check_icc(&two, 0, "hello world");
    picture_file three = with_segment(&two, 0xe2, "ICC_PROFILE\0\1\2hello ", 20);
    check_icc(&three, MR_ECORRUPT, "ICC piece 1 comes twice, at byte ");
    picture_file four = with_segment(&two, 0xe2, "ICC_PROFILE\0\1\3hello ", 20);
    check_icc(&four, MR_ECORRUPT, "does not fit the others");
    picture_file zero = with_segment(&file, 0xe2, "ICC_PROFILE\0\0\0", 14);
    check_icc(&zero, MR_ECORRUPT, "does not fit");
    picture_file empty = with_segment(&file, 0xe2, "ICC_PROFILE\0\1\1", 14);
    mr_decoder_trim(decoder); // which leaves no buffer to copy nothing into
    const void *icc = "";
    size_t nbytes = 1;
    assert_int_equal(mr_decoder_icc(decoder, empty.bytes, empty.nbytes, &icc, &nbytes), 0);
    assert_true(icc == NULL && nbytes == 0);
    icc = "", nbytes = 1;
    assert_int_equal(mr_decoder_icc(decoder, file.bytes, file.nbytes, &icc, &nbytes), 0);
    assert_true(icc == NULL && nbytes == 0);
    free(file.bytes), free(one.bytes), free(two.bytes), free(three.bytes), free(four.bytes), free(zero.bytes);
    free(empty.bytes);
}

/* What ImageNet is known for. */
static void imagenet_oddities(void **state)
{
    (void)state;
    // A PNG that is called n02105855_2933.JPEG: the name is nowhere asked for.
    static const uint8_t png[] = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
                                  0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00,
                                  0x00, 0xfd, 0xd4, 0x9a, 0x73, 0x00, 0x00, 0x00, 0x16, 0x49, 0x44, 0x41, 0x54, 0x78,
                                  0x9c, 0x63, 0x60, 0xe0, 0x12, 0xd1, 0x30, 0xb2, 0x61, 0x88, 0x4a, 0xc9, 0x6b, 0xea,
                                  0x99, 0x06, 0x00, 0x0f, 0x90, 0x03, 0x85, 0x0e, 0xb9, 0x03, 0x04, 0x00, 0x00, 0x00,
                                  0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
    static const uint8_t png_rgb[] = {0, 10, 20, 40, 50, 60, 90, 100, 110, 130, 140, 150};
    mr_image out;
    assert_int_equal(mr_form_probe(png, sizeof png), MR_FORM_PNG);
    assert_int_equal(mr_decoder_decode(decoder, png, sizeof png, NULL, &out), 0);
    assert_true(out.width == 2 && out.height == 2 && out.channels == 3);
    assert_memory_equal(out.pixels, png_rgb, sizeof png_rgb);
    // CMYK, with and without Adobe's marker, is RGB as Pillow gives it.
    check_golden(golden_cmyk_adobe, sizeof golden_cmyk_adobe, golden_cmyk_adobe_rgb);
    check_golden(golden_cmyk_bare, sizeof golden_cmyk_bare, golden_cmyk_bare_rgb);
    // EXIF that is broken in every way is as if it were not there.
    static const struct {
        const char *bytes;
        size_t nbytes;
        uint32_t orientation;
    } exif[] = {
        {"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0", 28, 6},
        {"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\x63\0\0\0", 28, 1},
        {"Exif\0\0II*\0\xff\xff\xff\xff", 14, 1},
        {"Exif\0\0MM\0*\0\0\0\x08\xff\xff\1\x12", 18, 1},
        {"Exif\0\0", 6, 1},
        {"Exif", 4, 1},
        {"", 0, 1},
        {"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6", 25, 1},
    };
    plain_recipe r = {.width = 20, .height = 10, .space = PLAIN_YCC};
    picture_file file = plain_encode(&r);
    mr_decode_hints h = {.struct_size = sizeof h, .orient = true};
    for (size_t i = 0; i < sizeof exif / sizeof *exif; i++) {
        picture_file with = with_segment(&file, 0xe1, exif[i].bytes, exif[i].nbytes);
        assert_int_equal(info_of(&with).orientation, exif[i].orientation);
        assert_int_equal(mr_decoder_decode(decoder, with.bytes, with.nbytes, &h, &out), 0);
        assert_int_equal(out.width, exif[i].orientation == 6 ? 10 : 20);
        assert_int_equal(mr_decoder_warnings(decoder), 0);
        free(with.bytes);
    }
    free(file.bytes);
}

/* Motion JPEG leaves out its Huffman tables; those of the image before must not come to its help, or harm. */
static void tables_do_not_linger(void **state)
{
    (void)state;
    plain_recipe r = {.width = 30, .height = 30, .space = PLAIN_YCC};
    plain_recipe optimized = {.width = 64, .height = 64, .space = PLAIN_YCC, .progressive = true, .quality = 20};
    picture_file file = plain_encode(&r), other = plain_encode(&optimized);
    mr_image out, plain;
    assert_int_equal(plain_decode(file.bytes, file.nbytes, 1, 3, &plain), 0);
    for (size_t i = 2; file.bytes[i + 1] != 0xda;) {
        size_t length = 2 + (size_t)(file.bytes[i + 2] << 8 | file.bytes[i + 3]);
        if (file.bytes[i + 1] == 0xc4) {
            memmove(file.bytes + i, file.bytes + i + length, file.nbytes - i - length);
            file.nbytes -= length;
        } else {
            i += length;
        }
    }
    assert_int_equal(mr_decoder_decode(decoder, other.bytes, other.nbytes, NULL, &out), 0);
    check_decode(&file, NULL, &plain, "without tables");
    mr_image_fini(&plain, NULL);
    free(file.bytes), free(other.bytes);
}

/* With damage accepted, so that nothing is refused for want of bytes before the limit is met. */
static void check_limit(const picture_file *file, mr_limits limits, const char *part, size_t peak_nbytes)
{
    mr_hooks hooks = failing_hooks();
    mr_image out;
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    failing_begin(0, false);
    mr_decoder *d = handles_decoder(&hooks, &limits);
    assert_int_equal(mr_decoder_decode(d, file->bytes, file->nbytes, &accept, &out), MR_ELIMIT);
    assert_contains(mr_decoder_detail(d), part);
    mr_decoder_free(d);
    failing_counts counts = failing_end();
    assert_true(counts.live_blocks == 0 && counts.fault == NULL);
    assert_in_range(counts.peak_nbytes, 0, peak_nbytes);
}

static void limits(void **state)
{
    (void)state;
    plain_recipe r = {.width = 512, .height = 400, .space = PLAIN_YCC, .progressive = true, .quality = 10};
    picture_file file = plain_encode(&r);
    check_limit(&file, (mr_limits){.scans = 9}, "JPEG of more than 9 scans, the limit (limits.scans), at byte ",
                4 << 20);
    check_limit(&file, (mr_limits){.pixels = 512 * 400 - 1}, "limits.pixels", 16 << 10);
    // Pixels fit, coefficients do not; these are refused before they are taken.
    check_limit(&file, (mr_limits){.memory_nbytes = 1 << 20}, "limits.memory_nbytes", 1 << 20);
    mr_decoder *d = handles_decoder(NULL, &(mr_limits){.scans = 10, .pixels = 512 * 400, .memory_nbytes = 3 << 20});
    mr_image out;
    assert_int_equal(mr_decoder_decode(d, file.bytes, file.nbytes, NULL, &out), 0);
    mr_decoder_free(d);
    memcpy(frame_of(&file) + 5, "\xff\xdc\xff\xdc", 4); // 65500 x 65500
    check_limit(&file, (mr_limits){0}, "limits.pixels", 16 << 10);
    check_limit(&file, (mr_limits){.pixels = UINT64_MAX}, "limits.memory_nbytes", 16 << 10);
    free(file.bytes);
}

/* A region's own pixels are few, but a progressive file's coefficients are those of all of it. */
static void coefficients_are_charged(void **state)
{
    (void)state;
    plain_recipe r = {.width = 512, .height = 400, .space = PLAIN_YCC, .progressive = true, .quality = 10};
    picture_file file = plain_encode(&r);
    mr_decoder *d = handles_decoder(NULL, &(mr_limits){.pixels = UINT64_MAX});
    uint8_t pixels[3];
    mr_image out, one = {.width = 1, .height = 1, .channels = 3, .depth = 8, .stride = 3, .pixels = pixels};
    mr_decode_hints h = {.struct_size = sizeof h, .region = {0, 0, 1, 1}};
    assert_int_equal(mr_decoder_decode(d, file.bytes, file.nbytes, &h, &out), 0);
    memcpy(frame_of(&file) + 5, "\xff\xdc\xff\xdc", 4);
    h.accept_damaged = true; // else too few bytes for so many blocks are the first thing seen
    assert_int_equal(mr_decoder_decode_into(d, file.bytes, file.nbytes, &h, &one), MR_ELIMIT);
    mr_decoder_free(d);
    free(file.bytes);
}

/* Once a decoder has seen an image it takes no more memory for its like, and none at all to read a header. */
static void memory_is_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        plain_recipe r = {.width = 500, .height = 375, .space = i == 3 ? PLAIN_YCCK : PLAIN_YCC, .progressive = i % 2};
        picture_file file = plain_encode(&r);
        mr_decode_hints h = {.struct_size = sizeof h, .region = {i == 2 ? 100 : 0, 0, 300, 200}};
        check_memory_is_kept(&file, &h);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_names_color_and_sampling),
        cmocka_unit_test(what_is_not_supported),
        cmocka_unit_test(segments_without_a_length),
        cmocka_unit_test(fractional_sampling_is_refused),
        cmocka_unit_test(cmyk_as_pillow_gives_it),
        cmocka_unit_test(gray_of_color),
        cmocka_unit_test(gray_is_luma_in_every_shape),
        cmocka_unit_test(first_things_first),
        cmocka_unit_test(icc_pieces),
        cmocka_unit_test(imagenet_oddities),
        cmocka_unit_test(tables_do_not_linger),
        cmocka_unit_test(limits),
        cmocka_unit_test(coefficients_are_charged),
        cmocka_unit_test(memory_is_kept),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
