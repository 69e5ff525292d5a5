// SPDX-License-Identifier: Apache-2.0
/*
 * Our own JPEG decoder gives libjpeg's bytes, by shape: every sampling, every size, every colour, any stride, every
 * orientation. test_jpeg_own_kinds.c goes through the kinds of files. MILLRACE_LONG=1 takes all cases, in some
 * minutes; otherwise a sample, always the same one.
 */
#include "test.h"

#include "guard.h"
#include "jpeg_make.h"
#include "jpeg_own.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 5;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

/* Makes it and holds ours against libjpeg; nothing may be handed over. */
static void check(const make_recipe *r, own_case c)
{
    char text[200];
    picture_file file = make_jpeg(r);
    c.what = make_text(r, text, sizeof text);
    c.random = &seed;
    own_must(&file, &c);
    free(file.bytes);
}

typedef struct factor_tally {
    uint32_t ours, refused;
} factor_tally;

static void check_factors(make_recipe *r, uint32_t reduce, uint32_t channels, factor_tally *t)
{
    char text[200];
    bool plain_takes;
    picture_file file = make_jpeg(r);
    own_case c = {.what = make_text(r, text, sizeof text), .reduce = reduce, .channels = channels, .random = &seed};
    c.regions = test_long() ? 20 : 3;
    c.libjpeg_regions = test_long();
    int result = own_check(&file, &c, &plain_takes);
    free(file.bytes);
    if (plain_takes && result != 0)
        fail_msg("%s, reduce %u, %u channels: libjpeg decodes it, ours does not: %s", text, reduce, channels,
                 mr_decoder_detail(own_decoders[OWN_BEST]));
    t->ours += result == 0;
    t->refused += !plain_takes;
}

/* Every sampling of three components: what libjpeg decodes ours does, and what it refuses ours does not decode. */
static void factors(void **state)
{
    (void)state;
    factor_tally t = {0};
    uint32_t step = test_quick() ? 11 : 1;
    for (uint32_t i = 0; i < 4096; i += step) {
        make_recipe r = {.space = PLAIN_YCC, .seed = i};
        for (uint32_t k = 0; k < 3; k++)
            r.factors[k] = (uint8_t)(((i >> 4 * k & 3) + 1) << 4 | ((i >> (4 * k + 2) & 3) + 1));
        r.width = 1 + below(70);
        r.height = 1 + below(70);
        r.script = i % 3 == 0 ? MAKE_DEFAULT : i % 3 == 1 ? MAKE_ONE : MAKE_LUMA_APART;
        if (!make_fits(&r))
            r.script = i % 2 == 0 ? MAKE_DC_APART : MAKE_SEPARATE;
        for (uint32_t n = 0; n < 8; n++)
            if (test_long() || (n ^ i * 5) % 8 < (test_quick() ? 1 : 3))
                check_factors(&r, 1u << n / 2, n % 2 == 0 ? 3 : 1, &t);
    }
    print_message("samplings: %u decodes by ours, %u refused by both\n", t.ours, t.refused);
    assert_true(t.ours > 1000 / step && t.refused > 1000 / step);
}

/* One component's factors have no meaning. */
static void gray_factors(void **state)
{
    (void)state;
    for (uint8_t h = 1; h <= 4; h++)
        for (uint8_t v = 1; v <= 4; v++)
            for (uint32_t n = 0; n < 8; n++) {
                make_recipe r = {.space = PLAIN_GRAY, .factors = {(uint8_t)(h << 4 | v)}, .seed = n};
                r.width = 1 + below(90);
                r.height = 1 + below(90);
                r.script = n % 2 == 0 ? MAKE_ONE : MAKE_DEFAULT;
                r.restart = n % 3 == 0 ? 3 : 0;
                check(&r, (own_case){.reduce = 1u << n % 4,
                                     .channels = n / 4 == 0 ? 1 : 3,
                                     .regions = test_long() ? 20 : 8,
                                     .libjpeg_regions = true});
            }
}

static const uint8_t common_factors[] = {0x22, 0x11, 0x21, 0x12, 0x41, 0x42, 0x14};

/* The whole with 20 regions; then reduced or gray, one way or in a long run all. */
static void check_size(const make_recipe *r, uint32_t number)
{
    check(r, (own_case){.reduce = 1, .channels = 3, .regions = 20});
    for (uint32_t n = 1; n < 8; n++)
        if (test_long() || n == number % 7 + 1)
            check(r,
                  (own_case){.reduce = 1u << n / 2, .channels = n % 2 == 0 ? 3 : 1, .regions = test_long() ? 20 : 7});
}

/* All sizes from 1 x 1 to 70 x 70 in a long run; else the diagonal, the edges and some others. */
static void sizes(void **state)
{
    (void)state;
    uint32_t number = 0, kinds = test_long() ? sizeof common_factors : 2;
    for (uint32_t h = 1; h <= 70; h++)
        for (uint32_t w = 1; w <= 70; w++) {
            bool is_edge = w == h || (w <= 2 && h % 5 == 0) || (h <= 2 && w % 5 == 0);
            if (!test_long() && !is_edge && below(test_quick() ? 60 : 6) != 0)
                continue;
            for (uint32_t k = 0; k < kinds; k++, number++) {
                make_recipe r = {.width = w, .height = h, .space = PLAIN_YCC, .seed = number};
                r.factors[0] = common_factors[k];
                r.restart = number % 5 == 0 ? 2 : 0;
                r.script = number % 7 == 3 ? MAKE_DEFAULT : MAKE_ONE;
                check_size(&r, number);
            }
        }
}

/* Wide enough for several groups of 16 blocks, and for more than a vector of anything. */
static void wide_and_high(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {127, 128, 129, 255, 256, 257, 300, 513};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof common_factors; k++) {
            bool is_wide = (i + k) % 2 == 0;
            make_recipe r = {.space = PLAIN_YCC, .factors = {common_factors[k]}, .seed = i, .look = MAKE_NOISE};
            r.width = is_wide ? lengths[i] : 1 + below(40);
            r.height = is_wide ? 1 + below(40) : lengths[i];
            r.script = k % 3 == 0 ? MAKE_DEFAULT : MAKE_ONE;
            for (uint32_t n = 0; n < 4; n++)
                check(&r, (own_case){.reduce = 1u << n, .channels = 3, .regions = 20, .libjpeg_regions = n == 0});
        }
}

/* Which colours the samples are: by Adobe's marker, by JFIF's, by the components' names. */
static void colors(void **state)
{
    (void)state;
    static const struct {
        plain_space space;
        bool no_adobe, no_jfif;
        uint8_t ids[3];
    } kinds[] = {
        {PLAIN_RGB, false, true, {0}},
        {PLAIN_RGB, true, true, {0}},
        {PLAIN_RGB, false, true, {1, 2, 3}},
        {PLAIN_RGB, true, true, {1, 2, 3}}, // is YCbCr then
        {PLAIN_RGB, true, true, {'r', 'g', 'b'}},
        {PLAIN_YCC, true, true, {0}},
        {PLAIN_YCC, true, true, {'R', 'G', 'B'}}, // is RGB then
        {PLAIN_YCC, true, false, {'R', 'G', 'B'}},
        {PLAIN_YCC, true, true, {10, 20, 30}},
        {PLAIN_YCC, true, true, {3, 2, 1}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint32_t n = 0; n < 12; n++) {
            make_recipe r = {.space = kinds[i].space, .no_adobe = kinds[i].no_adobe, .no_jfif = kinds[i].no_jfif};
            memcpy(r.ids, kinds[i].ids, 3);
            memcpy(r.factors, n % 3 == 0 ? "\x11\x11\x11" : n % 3 == 1 ? "\x22\x11\x11" : "\x21\x12\x22", 3);
            r.look = n % 2 == 0 ? MAKE_MIXED : MAKE_EXTREME;
            r.script = n % 4 == 3 ? MAKE_DEFAULT : MAKE_ONE;
            r.width = 20 + below(60);
            r.height = 20 + below(60);
            r.seed = n;
            if (!make_fits(&r))
                r.script = MAKE_SEPARATE;
            check(&r,
                  (own_case){
                      .reduce = 1u << n / 3, .channels = 3, .regions = test_long() ? 20 : 10, .libjpeg_regions = true});
        }
}

/* Where a pixel of the turned image stands in the stored one of w x h. */
static void turn_back(uint32_t orientation, uint32_t w, uint32_t h, uint32_t *x, uint32_t *y)
{
    uint32_t a = *x, b = *y;
    if (orientation >= 5) {
        *x = b;
        *y = a;
    }
    if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        *x = w - 1 - *x;
    if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        *y = h - 1 - *y;
}

static mr_image turn(const mr_image *stored, uint32_t orientation)
{
    bool is_across = orientation >= 5;
    mr_image out;
    assert_int_equal(mr_image_init(&out, is_across ? stored->height : stored->width,
                                   is_across ? stored->width : stored->height, stored->channels, 8, NULL),
                     0);
    for (uint32_t y = 0; y < out.height; y++)
        for (uint32_t x = 0; x < out.width; x++) {
            uint32_t sx = x, sy = y;
            turn_back(orientation, stored->width, stored->height, &sx, &sy);
            memcpy((uint8_t *)out.pixels + (ptrdiff_t)y * out.stride + x * out.channels,
                   (const uint8_t *)stored->pixels + (ptrdiff_t)sy * stored->stride + sx * out.channels, out.channels);
        }
    return out;
}

static void orientations(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 8 * 8; n++) {
        uint32_t orientation = 1 + n % 8, reduce = 1u << n / 8 % 4, channels = n / 32 == 0 ? 3 : 1;
        make_recipe r = {.width = 45, .height = 29, .space = PLAIN_YCC, .factors = {0x22}};
        r.orientation = (uint8_t)orientation;
        r.script = n % 3 == 0 ? MAKE_DEFAULT : MAKE_ONE;
        picture_file file = make_jpeg(&r);
        char text[200];
        own_case c = {.what = make_text(&r, text, sizeof text), .reduce = reduce, .channels = channels};
        c.random = &seed;
        mr_decode_hints hints = {.reduce = reduce, .channels = channels, .orient = true};
        mr_image stored;
        assert_true(plain_decode(file.bytes, file.nbytes, reduce, channels, &stored) == 0);
        mr_image whole = turn(&stored, orientation);
        for (uint32_t i = 0; i < 12; i++)
            own_check_part(own_decoders[OWN_BEST], "ours", &file, hints,
                           own_region(i, whole.width, whole.height, &seed), &whole, &c);
        mr_image_fini(&stored, NULL);
        mr_image_fini(&whole, NULL);
        free(file.bytes);
    }
}

/* Not a byte is read behind the file, nor written or read beside a row. */
static void at_the_edge_of_memory(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < (test_quick() ? 24u : 120u); n++) {
        make_recipe r = {.width = 1 + below(90), .height = 1 + below(40), .space = PLAIN_YCC, .seed = n};
        r.factors[0] = common_factors[n % sizeof common_factors];
        r.script = n % 4 == 0 ? MAKE_DEFAULT : MAKE_ONE;
        r.look = n % 2 == 0 ? MAKE_NOISE : MAKE_MIXED;
        r.restart = n % 5 == 0 ? 1 : 0;
        picture_file file = make_jpeg(&r);
        mr_image whole, wanted;
        uint32_t reduce = 1u << n % 4, channels = n % 3 == 0 ? 1 : 3;
        assert_true(plain_decode(file.bytes, file.nbytes, reduce, channels, &whole) == 0);
        mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = reduce, .channels = channels};
        hints.region = own_region(n % 20, whole.width, whole.height, &seed);
        assert_int_equal(mr_image_crop(&whole, hints.region, &wanted), 0);
        guard in, out;
        const uint8_t *bytes = guard_bytes(&in, file.bytes, file.nbytes);
        for (size_t k = 0; k < OWN_KERNELS; k++) {
            mr_image to = guard_image(&out, &wanted, k % 2 == 0);
            assert_int_equal(mr_decoder_decode_into(own_decoders[k], bytes, file.nbytes, &hints, &to), 0);
            picture_compare(&to, &wanted, own_kernel_names[k]);
            guard_free(&out);
        }
        guard_free(&in);
        mr_image_fini(&whole, NULL);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors),
        cmocka_unit_test(gray_factors),
        cmocka_unit_test(sizes),
        cmocka_unit_test(wide_and_high),
        cmocka_unit_test(colors),
        cmocka_unit_test(orientations),
        cmocka_unit_test(at_the_edge_of_memory),
    };
    return cmocka_run_group_tests(tests, own_setup, own_teardown);
}
