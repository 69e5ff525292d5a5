// SPDX-License-Identifier: Apache-2.0
/* From a JPEG to L3 and back: the very file, or one with the same coefficients; and which JPEGs stay outside, and why.
 */
#define _GNU_SOURCE // memmem
#include "test.h"

#include "jpeg_plain.h"
#include "l3_dct.h"
#include "l3_file.h"

#include "codec/handle.h"
#include "codec/jpeg/coefficients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const plain_recipe kinds[] = {
    {.space = PLAIN_GRAY},
    {.space = PLAIN_GRAY, .factors = {0x22}},
    {.space = PLAIN_YCC},
    {.space = PLAIN_YCC, .factors = {0x21}},
    {.space = PLAIN_YCC, .factors = {0x22}},
    {.space = PLAIN_YCC, .factors = {0x12}},
    {.space = PLAIN_YCC, .factors = {0x41}},
    {.space = PLAIN_YCC, .factors = {0x21, 0x21, 0x21}},
    {.space = PLAIN_YCC, .factors = {0x22, 0x12, 0x12}},
    {.space = PLAIN_YCC, .factors = {0x22, 0x21, 0x21}},
    {.space = PLAIN_YCC, .factors = {0x22, 0x22, 0x22}, .separate = true},
    {.space = PLAIN_RGB},
    {.space = PLAIN_RGB, .no_adobe = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void check_same(const picture_file *a, const picture_file *b, const char *what)
{
    if (a->nbytes != b->nbytes || memcmp(a->bytes, b->bytes, a->nbytes) != 0)
        fail_msg("%s: not the very file: %zu bytes became %zu", what, a->nbytes, b->nbytes);
}

/* To L3 and back, byte for byte. */
static void check_very_file(const picture_file *jpeg, const char *what)
{
    mr_recode_report there = {0}, back = {0};
    picture_file l3 = dct_recode(encoder, jpeg, MR_FORM_L3, NULL, &there);
    if (!there.has_origin)
        fail_msg("%s: no origin: %s", what, there.why);
    assert_true(there.origin_nbytes != 0 && there.origin_nbytes < jpeg->nbytes);
    assert_string_equal(there.why, "");
    assert_true(info_of(&l3).has_origin);
    picture_file again = dct_recode(encoder, &l3, MR_FORM_JPEG, NULL, &back);
    assert_true(back.has_origin);
    check_same(jpeg, &again, what);
    free(l3.bytes);
    free(again.bytes);
}

static void very_file(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++)
        for (int i = 0; i < (test_quick() ? 6 : 18); i++) {
            char what[80];
            plain_recipe r = kinds[k];
            r.width = (uint32_t[]){1, 9, 64, 67, 130, 201}[i % 6];
            r.height = (uint32_t[]){70, 1, 8, 129, 33, 64}[i * 5 % 6];
            r.quality = 10 + 5 * i;
            r.restart = i % 4 == 3 ? 1 + i : 0;
            r.progressive = !r.separate && i % 3 == 1;
            r.seed = (uint64_t)i;
            picture_file jpeg = plain_encode(&r);
            snprintf(what, sizeof what, "kind %u, case %d", k, i);
            check_very_file(&jpeg, what);
            free(jpeg.bytes);
        }
}

/* A JPEG with all sorts of things before and behind its image. */
static picture_file with_metadata(uint32_t orientation, const uint8_t *icc, size_t icc_nbytes)
{
    mr_image image = picture_make(150, 90, 3, 8, 5);
    mr_encode_options o = {.struct_size = sizeof o,
                           .form = MR_FORM_JPEG,
                           .orientation = orientation,
                           .icc = icc,
                           .icc_nbytes = icc_nbytes};
    picture_file file = picture_encode(&image, &o);
    mr_image_fini(&image, NULL);
    return file;
}

static void metadata_is_kept(void **state)
{
    (void)state;
    uint8_t icc[3000], other[200];
    picture_noise(icc, sizeof icc, 1);
    picture_noise(other, sizeof other, 2);
    picture_file jpeg = with_metadata(6, icc, sizeof icc);
    check_very_file(&jpeg, "with metadata");
    mr_encode_options bare = {.without_origin = true};
    mr_recode_report report;
    picture_file l3 = dct_recode(encoder, &jpeg, MR_FORM_L3, &bare, &report);
    assert_false(report.has_origin);
    assert_int_equal(report.origin_nbytes, 0);
    assert_string_equal(report.why, "");
    check_metadata(&l3, 6, icc, sizeof icc);
    picture_file plain = dct_recode(encoder, &l3, MR_FORM_JPEG, NULL, &report);
    assert_false(report.has_origin);
    assert_contains(report.why, "no origin");
    check_metadata(&plain, 6, icc, sizeof icc);
    // what the options give goes before
    mr_encode_options options = {.orientation = 3, .icc = other, .icc_nbytes = sizeof other};
    picture_file changed = dct_recode(encoder, &jpeg, MR_FORM_L3, &options, NULL);
    check_metadata(&changed, 3, other, sizeof other);
    picture_file back = dct_recode(encoder, &changed, MR_FORM_JPEG, NULL, &report);
    check_same(&jpeg, &back, "changed in L3, and back");
    free(back.bytes);
    back = dct_recode(encoder, &l3, MR_FORM_JPEG, &options, &report);
    check_metadata(&back, 3, other, sizeof other);
    free(jpeg.bytes);
    free(l3.bytes);
    free(plain.bytes);
    free(changed.bytes);
    free(back.bytes);
}

/* The very file is not what is asked for when the options want another orientation or profile. */
static void other_than_the_origin(void **state)
{
    (void)state;
    uint8_t icc[100] = {1};
    picture_file jpeg = with_metadata(6, icc, sizeof icc), l3 = dct_make(&jpeg);
    mr_encode_options turned = {.orientation = 8}, same = {.orientation = 6, .icc = icc, .icc_nbytes = sizeof icc};
    mr_recode_report report;
    picture_file back = dct_recode(encoder, &l3, MR_FORM_JPEG, &turned, &report);
    assert_false(report.has_origin);
    assert_contains(report.why, "not what the origin has");
    check_metadata(&back, 8, icc, sizeof icc);
    free(back.bytes);
    back = dct_recode(encoder, &l3, MR_FORM_JPEG, &same, &report);
    assert_true(report.has_origin);
    check_same(&jpeg, &back, "what the origin has");
    free(back.bytes);
    // an L3 image with another profile has the very file no more, or still has it
    mr_encode_options other = {.icc = "other", .icc_nbytes = 5};
    picture_file changed = dct_recode(encoder, &l3, MR_FORM_L3, &other, &report);
    bool has_origin = report.has_origin;
    check_metadata(&changed, 6, "other", 5);
    back = dct_recode(encoder, &changed, MR_FORM_JPEG, NULL, &report);
    assert_int_equal(report.has_origin, has_origin);
    if (has_origin)
        check_same(&jpeg, &back, "with another profile in L3");
    else
        check_metadata(&back, 6, "other", 5);
    free(back.bytes);
    free(changed.bytes);
    free(jpeg.bytes);
    free(l3.bytes);
}

typedef struct reading {
    mr__handle *handle;
    mr__jpeg_coefficients_work work;
    mr__jpeg_coefficients read;
} reading;

static void read_coefficients(reading *r, const picture_file *file)
{
    memset(r, 0, sizeof *r);
    assert_int_equal(mr__handle_new(sizeof *r->handle, NULL, NULL, &r->handle), 0);
    mr__call call = mr__handle_call(r->handle, file->bytes, file->nbytes);
    assert_int_equal(mr__jpeg_coefficients_read(&call, &r->work, &r->read), 0);
    mr__handle_end(r->handle, &call, 0);
}

static void forget_coefficients(reading *r)
{
    mr__jpeg_coefficients_fini(&r->work, &r->handle->hooks);
    mr__handle_free(r->handle);
}

static void check_same_coefficients(const picture_file *a, const picture_file *b)
{
    reading x, y;
    read_coefficients(&x, a);
    read_coefficients(&y, b);
    assert_int_equal(x.read.components, y.read.components);
    assert_int_equal(x.read.color, y.read.color);
    for (uint32_t i = 0; i < x.read.components; i++) {
        const mr__jpeg_plane *p = &x.read.plane[i], *q = &y.read.plane[i];
        assert_int_equal(p->blocks_w, q->blocks_w);
        assert_int_equal(p->blocks_h, q->blocks_h);
        assert_memory_equal(x.read.quant[p->table], y.read.quant[q->table], sizeof x.read.quant[0]);
        for (uint32_t row = 0; row < p->blocks_h; row++)
            assert_memory_equal(p->blocks + (size_t)row * p->padded_w * 64, q->blocks + (size_t)row * q->padded_w * 64,
                                p->blocks_w * 64 * sizeof *p->blocks);
    }
    forget_coefficients(&x);
    forget_coefficients(&y);
}

static void same_coefficients_without_origin(void **state)
{
    (void)state;
    uint64_t random = 1;
    mr_encode_options bare = {.without_origin = true};
    for (uint32_t k = 0; k < KINDS; k++) {
        plain_recipe r = kinds[k];
        r.width = 77;
        r.height = 145;
        r.quality = 5 + 7 * (int)k;
        r.progressive = !r.separate && k % 2;
        picture_file jpeg = plain_encode(&r), l3 = dct_recode(encoder, &jpeg, MR_FORM_L3, &bare, NULL);
        picture_file back = dct_recode(encoder, &l3, MR_FORM_JPEG, NULL, NULL);
        check_same_coefficients(&jpeg, &back);
        dct_check_pixels(&jpeg, &back, 1, &random, "without origin");
        free(jpeg.bytes);
        free(l3.bytes);
        free(back.bytes);
    }
}

/* The content of the section of this name. */
static uint8_t *section_of(const picture_file *l3, const char *name)
{
    uint8_t *at = l3->bytes + l3->nbytes - info_of(l3).extra_nbytes;
    uint8_t *found = memmem(at, (size_t)(l3->bytes + l3->nbytes - at), name, 4);
    assert_non_null(found);
    return found + 24;
}

/* A damaged origin takes nothing with it but the very file, and is told. */
static void check_only_origin_lost(const picture_file *jpeg, const picture_file *l3, const uint8_t *icc, size_t nbytes,
                                   const char *part)
{
    mr_recode_report report = {0};
    picture_file back = dct_recode(encoder, l3, MR_FORM_JPEG, NULL, &report);
    assert_true(report.exact && !report.has_origin && report.origin_nbytes == 0);
    assert_contains(report.why, "the origin is damaged: ");
    assert_contains(report.why, part);
    assert_contains(report.why, "; this is a JPEG with the same coefficients");
    check_same_coefficients(jpeg, &back);
    check_metadata(&back, 6, icc, nbytes);
    free(back.bytes);
    assert_int_equal(mr_decoder_verify(decoder, l3->bytes, l3->nbytes), MR_ECORRUPT);
    assert_contains(mr_decoder_detail(decoder), part);
    mr_encode_options bare = {.without_origin = true};
    picture_file rest = dct_recode(encoder, l3, MR_FORM_L3, &bare, &report);
    assert_true(report.exact && !report.has_origin && !info_of(&rest).has_origin);
    assert_string_equal(report.why, "");
    assert_int_equal(mr_decoder_verify(decoder, rest.bytes, rest.nbytes), 0);
    check_metadata(&rest, 6, icc, nbytes);
    free(rest.bytes);
}

static void damaged_origin(void **state)
{
    (void)state;
    uint8_t icc[300];
    picture_noise(icc, sizeof icc, 1);
    for (size_t with = 0; with < 2; with++) {
        size_t nbytes = with ? sizeof icc : 0;
        const uint8_t *profile = with ? icc : NULL;
        picture_file jpeg = with_metadata(6, profile, nbytes), l3 = dct_make(&jpeg);
        uint8_t *origin = section_of(&l3, "ORIG");
        size_t length = (size_t)(l3.bytes + l3.nbytes - origin);
        assert_int_equal(mr_decoder_verify(decoder, l3.bytes, l3.nbytes), 0);
        for (size_t at = 0; at < length + 24; at += 1 + length / 20) { // its name, length and hash too
            origin[(ptrdiff_t)at - 24] ^= 16;
            check_only_origin_lost(&jpeg, &l3, profile, nbytes, "section at byte");
            origin[(ptrdiff_t)at - 24] ^= 16;
        }
        // hashes that are right, and content that is not
        static const struct {
            size_t at;
            uint8_t value;
            const char *part;
        } wrong[] = {{0, 0, "sampling factors"}, {0, 0x99, "sampling factors"}, {1, 255, "its header"}};
        for (size_t i = 0; i < 3; i++) {
            uint8_t before = origin[wrong[i].at];
            origin[wrong[i].at] = wrong[i].value;
            l3_file_fix(&l3);
            check_only_origin_lost(&jpeg, &l3, profile, nbytes, wrong[i].part);
            origin[wrong[i].at] = before;
        }
        memset(origin + length / 2, 0xff, length / 2);
        l3_file_fix(&l3);
        check_only_origin_lost(&jpeg, &l3, profile, nbytes, "damaged origin of a JPEG");
        free(jpeg.bytes);
        free(l3.bytes);
    }
}

static void check_lost(const picture_file *l3, const char *part)
{
    const mr_form forms[] = {MR_FORM_JPEG, MR_FORM_L3};
    for (size_t i = 0; i < 4; i++) {
        mr_encode_options o = {.struct_size = sizeof o, .form = forms[i % 2], .without_origin = i >= 2};
        const void *bytes;
        size_t nbytes;
        assert_int_equal(mr_encoder_recode(encoder, l3->bytes, l3->nbytes, &o, &bytes, &nbytes, NULL), MR_ECORRUPT);
        assert_contains(mr_encoder_detail(encoder), part);
    }
}

/* Damage elsewhere stays an error, whether the origin is damaged or not. */
static void damage_beside_the_origin(void **state)
{
    (void)state;
    uint8_t icc[300];
    picture_noise(icc, sizeof icc, 1);
    picture_file jpeg = with_metadata(6, icc, sizeof icc), l3 = dct_make(&jpeg);
    uint8_t *profile = section_of(&l3, "ICC "), *origin = section_of(&l3, "ORIG");
    uint8_t *tile = l3.bytes + dct_tile(&l3, 0).offset;
    for (int i = 0; i < 2; i++) {
        profile[20] ^= 1;
        check_lost(&l3, "section at byte");
        profile[20] ^= 1;
        tile[5] ^= 1;
        check_lost(&l3, "tile 0");
        tile[5] ^= 1;
        l3.bytes[16] ^= 1;
        check_lost(&l3, "head");
        l3.bytes[16] ^= 1;
        origin[0] = 0; // of the next round
        l3_file_fix(&l3);
    }
    // to L3 with an origin that is kept, it must be right
    origin[1] ^= 1;
    mr_encode_options kept = {.struct_size = sizeof kept, .form = MR_FORM_L3};
    const void *bytes;
    size_t nbytes;
    assert_int_equal(mr_encoder_recode(encoder, l3.bytes, l3.nbytes, &kept, &bytes, &nbytes, NULL), MR_ECORRUPT);
    free(jpeg.bytes);
    free(l3.bytes);
}

static void check_outside(const plain_recipe *recipe, const char *part)
{
    char why[256];
    plain_recipe r = *recipe;
    r.width = 50;
    r.height = 40;
    picture_file jpeg = plain_encode(&r);
    int result = dct_try(&jpeg, NULL, why);
    if (result != MR_EUNSUPPORTED)
        fail_msg("%s, where \"%s\" was to be the reason: %s", mr_error_name(result), part, why);
    assert_contains(why, part);
    free(jpeg.bytes);
}

static void what_stays_outside(void **state)
{
    (void)state;
    check_outside(&(plain_recipe){.space = PLAIN_CMYK}, "CMYK");
    check_outside(&(plain_recipe){.space = PLAIN_YCCK}, "CMYK");
    check_outside(&(plain_recipe){.space = PLAIN_YCC, .factors = {0x42}}, "4x2, 1x1, 1x1");
    check_outside(&(plain_recipe){.space = PLAIN_YCC, .factors = {0x11, 0x22, 0x22}}, "1x1, 2x2, 2x2");
    check_outside(&(plain_recipe){.space = PLAIN_YCC, .factors = {0x22, 0x21, 0x12}}, "2x2, 2x1, 1x2");
    check_outside(&(plain_recipe){.space = PLAIN_YCC, .factors = {0x31}}, "3x1, 1x1, 1x1");
    check_outside(&(plain_recipe){.space = PLAIN_YCC, .progressive = true, .unrefined = true},
                  "other pixels than libjpeg-turbo");
    if (plain_has_arithmetic())
        check_outside(&(plain_recipe){.space = PLAIN_YCC, .arithmetic = true}, "arithmetic");
}

/* A quantiser of 0 takes all that libjpeg would have to say about its frequency. */
static void zero_in_a_table(void **state)
{
    (void)state;
    char why[256];
    plain_recipe r = {.width = 30, .height = 30, .space = PLAIN_YCC};
    picture_file jpeg = plain_encode(&r);
    uint8_t *table = memmem(jpeg.bytes, jpeg.nbytes, "\xff\xdb", 2);
    assert_non_null(table);
    table[5 + 20] = 0;
    assert_int_equal(dct_try(&jpeg, NULL, why), MR_EUNSUPPORTED);
    assert_contains(why, "has a 0");
    free(jpeg.bytes);
}

static void damaged_source(void **state)
{
    (void)state;
    char why[256];
    plain_recipe r = {.width = 100, .height = 100, .space = PLAIN_YCC};
    picture_file jpeg = plain_encode(&r);
    for (size_t cut = 3; cut < jpeg.nbytes - 2; cut += jpeg.nbytes / 20) {
        picture_file part = picture_copy(jpeg.bytes, cut);
        int result = dct_try(&part, NULL, why);
        assert_true(result == MR_ETRUNCATED || result == MR_ECORRUPT);
        assert_true(why[0] != '\0');
        free(part.bytes);
    }
    free(jpeg.bytes);
}

/* The less memory there is, the fewer rows the proof takes at a time; the bytes are the same until it is too little. */
static void little_memory(void **state)
{
    (void)state;
    plain_recipe r = {.width = 300, .height = 3000, .space = PLAIN_YCC};
    picture_file jpeg = plain_encode(&r), wanted = dct_make(&jpeg);
    size_t passed = 0, refused = 0;
    for (uint64_t nbytes = 24u << 20; nbytes > 4u << 20; nbytes -= 1u << 20)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            mr_limits limits = {.struct_size = sizeof limits, .memory_nbytes = nbytes};
            mr_encoder *own = handles_encoder(NULL, &limits);
            mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_L3, .threads = threads};
            const void *bytes;
            size_t got;
            int result = mr_encoder_recode(own, jpeg.bytes, jpeg.nbytes, &o, &bytes, &got, NULL);
            assert_true(result == 0 || result == MR_ELIMIT);
            if (result == 0) {
                assert_int_equal(got, wanted.nbytes);
                assert_memory_equal(bytes, wanted.bytes, got);
            }
            passed += result == 0;
            refused += result != 0;
            mr_encoder_free(own);
        }
    assert_true(passed >= 10 && refused >= 4);
    free(jpeg.bytes);
    free(wanted.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(very_file),
        cmocka_unit_test(metadata_is_kept),
        cmocka_unit_test(other_than_the_origin),
        cmocka_unit_test(same_coefficients_without_origin),
        cmocka_unit_test(damaged_origin),
        cmocka_unit_test(damage_beside_the_origin),
        cmocka_unit_test(what_stays_outside),
        cmocka_unit_test(zero_in_a_table),
        cmocka_unit_test(damaged_source),
        cmocka_unit_test(little_memory),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
