// SPDX-License-Identifier: Apache-2.0
/*
 * Our own JPEG decoder gives libjpeg's bytes, by kind of file: every quality, every script, restarts, tables, contents,
 * each with every instruction set; and what it is not for is libjpeg's to decode. MILLRACE_LONG=1 takes all cases.
 */
#include "test.h"

#include "jpeg_backend.h"
#include "jpeg_make.h"
#include "jpeg_own.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 6;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

static void check(const make_recipe *r, own_case c)
{
    char text[200];
    picture_file file = make_jpeg(r);
    c.what = make_text(r, text, sizeof text);
    c.random = &seed;
    own_must(&file, &c);
    free(file.bytes);
}

/* Gray, 4:4:4, 4:2:0, 4:2:2, 4:4:0, thirds. */
static const struct {
    plain_space space;
    uint8_t first;
} shapes[] = {{PLAIN_GRAY, 0x11}, {PLAIN_YCC, 0x11}, {PLAIN_YCC, 0x22},
              {PLAIN_YCC, 0x21},  {PLAIN_YCC, 0x12}, {PLAIN_YCC, 0x31}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static make_recipe recipe_of(size_t shape, uint32_t least, uint32_t most)
{
    make_recipe r = {.space = shapes[shape].space, .factors = {shapes[shape].first}};
    r.width = least + below(most - least + 1);
    r.height = least + below(most - least + 1);
    r.seed = picture_random(&seed);
    return r;
}

/* With so many regions; in a long run always 20. */
static own_case any_case(uint32_t regions)
{
    own_case c = {.reduce = 1u << below(4), .channels = below(3) == 0 ? 1 : 3};
    c.regions = test_long() ? 20 : regions;
    return c;
}

static void qualities(void **state)
{
    (void)state;
    for (int quality = 1; quality <= 100; quality++)
        for (uint32_t n = 0; n < 4 * SHAPES; n++) {
            if (!test_long() && n % 4 != 0 && (n + (uint32_t)quality) % 5 != 0)
                continue;
            make_recipe r = recipe_of(n / 4, 20, 60);
            r.quality = quality;
            r.coarse = n % 2 == 0;
            r.script = n % 3 == 0 ? MAKE_DEFAULT : MAKE_ONE;
            r.optimised = n % 5 == 0;
            r.look = (make_look)((n + (uint32_t)quality) % MAKE_LOOKS);
            own_case c = any_case(3);
            c.reduce = n % 4 == 0 ? 1 : c.reduce;
            check(&r, c);
        }
}

static void looks(void **state)
{
    (void)state;
    static const int some[] = {1, 10, 50, 90, 100};
    for (int look = 0; look < MAKE_LOOKS; look++)
        for (size_t q = 0; q < sizeof some / sizeof *some; q++)
            for (uint32_t n = 0; n < SHAPES; n++) {
                make_recipe r = recipe_of(n, 30, 100);
                r.look = (make_look)look;
                r.quality = some[q];
                r.coarse = q % 2 == 0;
                r.optimised = n % 2 == 0;
                own_case c = any_case(5);
                c.every_kernel = true;
                check(&r, c);
                c.reduce = 1;
                check(&r, c);
            }
}

/* Every script, with and without restarts. */
static void scripts(void **state)
{
    (void)state;
    static const int intervals[] = {0, 1, 2, 7, 13, 1000};
    enum { INTERVALS = sizeof intervals / sizeof *intervals };
    for (int script = 0; script < MAKE_SCRIPTS; script++)
        for (size_t shape = 0; shape < SHAPES; shape++)
            for (uint32_t n = 0; n <= INTERVALS; n++) {
                make_recipe r = recipe_of(shape, 1, n % 2 == 0 ? 40 : 110);
                r.script = (make_script)script;
                r.restart = n < INTERVALS ? intervals[n] : 1;
                r.restart_rows = n == INTERVALS;
                r.optimised = below(2) == 0;
                r.look = (make_look)below(MAKE_LOOKS);
                own_case c = any_case(test_quick() ? 3 : 10);
                c.every_kernel = n % 2 == 0;
                c.libjpeg_regions = true;
                check(&r, c);
                c.reduce = 1;
                check(&r, c);
            }
}

/* Anything with anything. */
static void mixtures(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x11, 0x12, 0x21, 0x22, 0x41, 0x14, 0x42, 0x24, 0x31};
    uint32_t count = test_long() ? 30000 : test_quick() ? 200 : 1200;
    for (uint32_t n = 0; n < count; n++) {
        make_recipe r = recipe_of(below(SHAPES), 1, 150);
        r.factors[0] = factors[below(sizeof factors)];
        r.factors[1] = below(4) == 0 ? r.factors[0] : 0x11;
        r.factors[2] = below(4) == 0 ? r.factors[0] : 0x11;
        r.look = (make_look)below(MAKE_LOOKS);
        r.script = (make_script)below(MAKE_SCRIPTS);
        r.quality = 1 + (int)below(100);
        r.coarse = below(2) == 0;
        r.optimised = below(2) == 0;
        r.restart = below(3) == 0 ? 1 + (int)below(20) : 0;
        if (!make_fits(&r))
            r.script = MAKE_SEPARATE;
        own_case c = any_case(10);
        c.every_kernel = n % 4 == 0;
        c.libjpeg_regions = n % 4 == 1;
        check(&r, c);
    }
}

/* Coefficients that no image has, up to the ends of 16 bits once dequantised. */
static void wild_coefficients(void **state)
{
    (void)state;
    own_skip_unless_x86();
    static const uint8_t factors[] = {0, 0x11, 0x22, 0x21, 0x12, 0x41};
    for (uint32_t n = 0; n < (test_long() ? 2000u : 60u); n++) {
        picture_file file = backend_wild(1 + below(100), 1 + below(60), factors[n % sizeof factors], n);
        own_case c = any_case(5);
        c.what = "wild coefficients";
        c.random = &seed;
        c.every_kernel = true;
        own_must(&file, &c);
        c.reduce = 1;
        own_must(&file, &c);
        free(file.bytes);
    }
}

/* Ours says that it is not for this one. libjpeg decodes it, and so does a decoder that may choose. */
static void check_handed_over(const picture_file *file, const char *what, bool is_cmyk)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 3};
    mr_image ours, plain;
    if (mr_decoder_decode(own_decoders[OWN_BEST], file->bytes, file->nbytes, &hints, &ours) != MR_EUNSUPPORTED)
        fail_msg("%s: ours alone says: %s", what, mr_decoder_detail(own_decoders[OWN_BEST]));
    assert_contains(mr_decoder_detail(own_decoders[OWN_BEST]), "JPEG");
    assert_true((is_cmyk ? plain_decode_cmyk(file->bytes, file->nbytes, 1, &plain)
                         : plain_decode(file->bytes, file->nbytes, 1, 3, &plain)) == 0);
    mr_decoder *others[] = {own_either, own_turbo};
    for (size_t i = 0; i < 2; i++) {
        if (mr_decoder_decode(others[i], file->bytes, file->nbytes, &hints, &ours) != 0)
            fail_msg("%s: %s", what, mr_decoder_detail(others[i]));
        picture_compare(&ours, &plain, what);
        assert_int_equal(mr_decoder_warnings(others[i]), 0);
    }
    mr_image_fini(&plain, NULL);
}

static void handed_over(void **state)
{
    (void)state;
    char text[200];
    for (uint32_t n = 0; n < 12; n++) {
        make_recipe r = recipe_of(n % SHAPES, 10, 60);
        bool is_cmyk = n % 3 != 0;
        r.arithmetic = !is_cmyk;
        if (is_cmyk) {
            r.space = n % 3 == 1 ? PLAIN_CMYK : PLAIN_YCCK;
            r.factors[3] = r.factors[0];
        }
        r.script = n % 2 == 0 ? MAKE_ONE : MAKE_DEFAULT;
        if (!make_fits(&r))
            r.script = MAKE_SEPARATE;
        if (r.arithmetic && !plain_has_arithmetic())
            continue;
        picture_file file = make_jpeg(&r);
        check_handed_over(&file, make_text(&r, text, sizeof text), is_cmyk);
        free(file.bytes);
    }
}

/* Progressive, and the scans end before the coefficients are exact: libjpeg smooths, ours does not. */
static void smoothed(void **state)
{
    (void)state;
    plain_recipe r = {.width = 60, .height = 50, .space = PLAIN_YCC, .progressive = true, .unrefined = true};
    picture_file file = plain_encode(&r);
    check_handed_over(&file, "a progressive file without its last scans", false);
    free(file.bytes);
}

static int decode_within(mr_jpeg_choice choice, uint64_t memory_nbytes, const picture_file *file)
{
    mr_limits limits = {.struct_size = sizeof limits, .memory_nbytes = memory_nbytes};
    mr_decoder_options options = {.struct_size = sizeof options, .limits = &limits, .jpeg = choice};
    mr_decoder *decoder;
    mr_image out;
    assert_int_equal(mr_decoder_new(&options, &decoder), 0);
    int result = mr_decoder_decode(decoder, file->bytes, file->nbytes, NULL, &out);
    mr_decoder_free(decoder);
    return result;
}

/* What libjpeg has memory enough for must not fail because ours took some before, or would have needed more. */
static void memory_is_handed_over(void **state)
{
    (void)state;
    for (int unrefined = 0; unrefined < 2; unrefined++) {
        plain_recipe r = {
            .width = 300, .height = 200, .space = PLAIN_YCC, .progressive = true, .unrefined = unrefined != 0};
        picture_file file = plain_encode(&r);
        uint64_t few = 1, enough = 1 << 24;
        while (enough - few > 1) {
            uint64_t middle = few + (enough - few) / 2;
            if (decode_within(MR_JPEG_LIBJPEG, middle, &file) == 0)
                enough = middle;
            else
                few = middle;
        }
        assert_in_range(enough, 100000, 1 << 23);
        assert_int_equal(decode_within(MR_JPEG_EITHER, enough, &file), 0);
        assert_int_equal(decode_within(MR_JPEG_EITHER, enough + enough / 50, &file), 0);
        assert_int_equal(decode_within(MR_JPEG_EITHER, enough / 4, &file), MR_ELIMIT);
        free(file.bytes);
    }
}

/* 12 bits, lossless, hierarchical: nobody here decodes these, and the sentence is one about support. */
static void beyond_everybody(void **state)
{
    (void)state;
    static const struct {
        uint8_t marker, bits;
    } frames[] = {{0xc1, 12}, {0xc2, 12}, {0xc3, 8}, {0xc5, 8}, {0xc6, 8}, {0xc7, 8}, {0xcb, 8}, {0xcd, 8}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        make_recipe r = {.width = 30, .height = 20, .space = PLAIN_YCC};
        picture_file file = make_jpeg(&r);
        size_t at = make_frame_at(&file);
        file.bytes[at + 1] = frames[i].marker;
        file.bytes[at + 4] = frames[i].bits;
        mr_decoder *all[] = {own_decoders[OWN_BEST], own_either, own_turbo};
        for (size_t k = 0; k < 3; k++) {
            mr_image out;
            int result = mr_decoder_decode(all[k], file.bytes, file.nbytes, NULL, &out);
            if (result != MR_EUNSUPPORTED)
                fail_msg("marker %02x, %u bits, decoder %zu: %s, %s", frames[i].marker, frames[i].bits, k,
                         mr_error_name(result), mr_decoder_detail(all[k]));
        }
        free(file.bytes);
    }
}

/* One after the other in one decoder, good and bad, large and small: nothing lingers. */
static void nothing_lingers(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 40; n++) {
        make_recipe r = recipe_of(n % SHAPES, 1, n % 3 == 0 ? 200 : 30);
        r.script = n % 2 == 0 ? MAKE_ONE : (make_script)below(MAKE_SCRIPTS);
        r.look = MAKE_NOISE;
        picture_file file = make_jpeg(&r);
        mr_image out;
        for (size_t k = 0; k < OWN_KERNELS; k++) // half of it: damage in mid-scan
            (void)mr_decoder_decode(own_decoders[k], file.bytes, file.nbytes / 2, NULL, &out);
        free(file.bytes);
        r = recipe_of(below(SHAPES), 1, 60);
        own_case c = any_case(2);
        c.every_kernel = true;
        check(&r, c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qualities),         cmocka_unit_test(looks),
        cmocka_unit_test(scripts),           cmocka_unit_test(mixtures),
        cmocka_unit_test(smoothed),          cmocka_unit_test(handed_over),
        cmocka_unit_test(wild_coefficients), cmocka_unit_test(beyond_everybody),
        cmocka_unit_test(nothing_lingers),   cmocka_unit_test(memory_is_handed_over),
    };
    return cmocka_run_group_tests(tests, own_setup, own_teardown);
}
