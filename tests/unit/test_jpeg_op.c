// SPDX-License-Identifier: Apache-2.0
/* The op jpeg beside Pillow's save and open: all qualities, sizes from 1 x 1 on; parts beside the whole; its step. */
#include "test.h"

#include "../golden/jpeg_op_golden.h"
#include "base/hash.h"
#include "kernel/jpeg_again.h"
#include "picture.h"
#include "step/ops.h"
#include "step/step.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* As jpeg_op_golden.py makes it: noise, black and white, or waves. */
static uint8_t sample_of(uint32_t x, uint32_t y, uint32_t c, uint32_t seed)
{
    uint32_t h = (x * 0x9e3779b1u ^ y * 0x85ebca77u ^ c * 0xc2b2ae3du) ^ seed * 0x27d4eb2fu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    h ^= h >> 15;
    uint32_t wave = 5 * x + 3 * y + 40 * c + (x * y >> 4) + (h >> 28);
    if (seed % 3 == 0)
        return (uint8_t)(h >> 24);
    if (seed % 3 == 1)
        return (uint8_t)((h >> 31) * 255);
    return (uint8_t)((wave & 256) != 0 ? 255 - (wave & 255) : wave & 255);
}

static mr_image new_image(uint32_t width, uint32_t height, uint32_t channels)
{
    mr_image image = {width, height, channels, 8, (ptrdiff_t)((size_t)width * channels), NULL};
    image.pixels = malloc((size_t)image.stride * height);
    assert_non_null(image.pixels);
    return image;
}

static mr_image new_picture(uint32_t width, uint32_t height, uint32_t channels, uint32_t seed)
{
    mr_image image = new_image(width, height, channels);
    uint8_t *to = image.pixels;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++)
                *to++ = sample_of(x, y, c, seed);
    return image;
}

/* Runs the op as a chain would, for a part of the image; `to` has its size. */
static void run_op(mr__cpu_flags cpu, const mr_image *from, uint32_t quality, mr_rect part, const mr_image *to)
{
    mr__op op = {.kind = MR__OP_JPEG, .whole = quality, .width = from->width, .height = from->height};
    mr__detail detail;
    mr__op_work work = {.op = &op, .to = *to, .detail = &detail};
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, cpu, &work.tools), 0);
    op.to_width = op.width;
    op.to_height = op.height;
    op.to = part;
    op.from = mr__op_jpeg.need(&op, part);
    assert_int_equal(mr_image_crop(from, op.from, &work.from), 0);
    // A copy that ends where it ends, for those who look for reads beyond.
    mr_image copy = new_image(work.from.width, work.from.height, work.from.channels);
    for (uint32_t y = 0; y < copy.height; y++)
        memcpy((uint8_t *)copy.pixels + (ptrdiff_t)y * copy.stride,
               (const uint8_t *)work.from.pixels + (ptrdiff_t)y * work.from.stride, (size_t)copy.stride);
    work.from = copy;
    assert_int_equal(mr__op_jpeg.run(&work), 0);
    mr__op_tools_free(work.tools);
    free(copy.pixels);
}

static void add_case(mr__hasher *hasher, mr__cpu_flags cpu, uint32_t width, uint32_t height, uint32_t quality)
{
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        mr_image from = new_picture(width, height, channels, width + height + quality);
        mr_image to = new_image(width, height, channels);
        run_op(cpu, &from, quality, (mr_rect){0, 0, width, height}, &to);
        mr__hasher_add(hasher, to.pixels, (size_t)to.stride * height);
        free(from.pixels);
        free(to.pixels);
    }
}

static void equals_pillow(mr__cpu_flags cpu)
{
    mr__hasher hasher;
    for (uint32_t q = 1; q <= 100; q++) {
        mr__hasher_init(&hasher);
        for (size_t i = 0; i < COUNT(golden_quality_sizes); i++)
            add_case(&hasher, cpu, golden_quality_sizes[i][0], golden_quality_sizes[i][1], q);
        assert_true(mr__hasher_value(&hasher) == golden_qualities[q - 1]);
    }
    for (size_t w = 0; w < COUNT(golden_widths); w++) {
        mr__hasher_init(&hasher);
        for (size_t h = 0; h < COUNT(golden_heights); h++)
            add_case(&hasher, cpu, golden_widths[w], golden_heights[h],
                     1 + (7 * golden_widths[w] + 13 * golden_heights[h]) % 100);
        assert_true(mr__hasher_value(&hasher) == golden_sides[w]);
    }
    for (size_t i = 0; i < COUNT(golden_large); i++) {
        mr__hasher_init(&hasher);
        add_case(&hasher, cpu, golden_large[i][0], golden_large[i][1], golden_large[i][2]);
        assert_true(mr__hasher_value(&hasher) == golden_larges[i]);
    }
}

static void portable_equals_pillow(void **state)
{
    (void)state;
    equals_pillow(0);
}

static void processor_equals_pillow(void **state)
{
    (void)state;
    equals_pillow(mr__cpu_detect());
}

static bool has_part(const mr_image *whole, mr_rect r, const mr_image *part)
{
    size_t nbytes = (size_t)r.width * whole->channels;
    for (uint32_t y = 0; y < r.height; y++)
        if (memcmp((const uint8_t *)whole->pixels + (ptrdiff_t)(r.y + y) * whole->stride + r.x * whole->channels,
                   (const uint8_t *)part->pixels + (ptrdiff_t)y * part->stride, nbytes) != 0)
            return false;
    return true;
}

static mr_rect random_part(uint64_t *seed, uint32_t width, uint32_t height)
{
    mr_rect r = {picture_random_below(seed, width), picture_random_below(seed, height), 0, 0};
    r.width = 1 + picture_random_below(seed, width - r.x);
    r.height = 1 + picture_random_below(seed, height - r.y);
    return r;
}

static void parts_equal_the_whole(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (uint32_t i = 0; i < (test_quick() ? 40u : 300u); i++) {
        uint32_t width = 1 + picture_random_below(&seed, i % 2 ? 40 : 200),
                 height = 1 + picture_random_below(&seed, 90);
        uint32_t channels = i % 3 == 0 ? 1 : 3, quality = 1 + picture_random_below(&seed, 100);
        mr_image from = new_picture(width, height, channels, i), all = new_image(width, height, channels);
        run_op(mr__cpu_detect(), &from, quality, (mr_rect){0, 0, width, height}, &all);
        for (uint32_t k = 0; k < 4; k++) {
            mr_rect r = random_part(&seed, width, height);
            mr_image part = new_image(r.width, r.height, channels);
            run_op(k % 2 == 0 ? 0 : mr__cpu_detect(), &from, quality, r, &part);
            assert_true(has_part(&all, r, &part));
            free(part.pixels);
        }
        free(from.pixels);
        free(all.pixels);
    }
}

static void needs_no_more_than_squares(void **state)
{
    mr__op op = {.kind = MR__OP_JPEG, .width = 1000, .height = 700};
    mr_rect r = mr__op_jpeg.need(&op, (mr_rect){100, 200, 50, 60});
    (void)state;
    // 100 to 149 lies in squares 6 to 9, 200 to 259 in 12 to 16; chroma from two pixels further is in them too.
    assert_int_equal(r.x, 96);
    assert_int_equal(r.width, 64);
    assert_int_equal(r.y, 192);
    assert_int_equal(r.height, 80);
    r = mr__op_jpeg.need(&op, (mr_rect){96, 192, 64, 80});
    assert_int_equal(r.x, 80);
    assert_int_equal(r.width, 96);
    assert_int_equal(r.y, 176);
    assert_int_equal(r.height, 112);
    r = mr__op_jpeg.need(&op, (mr_rect){0, 0, 1000, 700});
    assert_int_equal(r.width, 1000);
    assert_int_equal(r.height, 700);
}

static void refuses(mr_step step, const char *words)
{
    mr__detail detail;
    mr__detail_clear(&detail);
    assert_int_equal(mr__step_jpeg.settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "jpeg");
    assert_contains(detail.text, words);
}

static void qualities_are_within_1_to_100(void **state)
{
    (void)state;
    refuses((mr_step){.kind = MR_STEP_JPEG}, "1 to 100");
    refuses((mr_step){.kind = MR_STEP_JPEG, .quality = {1, 101}}, "1..101");
    refuses((mr_step){.kind = MR_STEP_JPEG, .quality = {80, 20}}, "80..20");
    refuses((mr_step){.kind = MR_STEP_JPEG, .quality = {0, 20}}, "0..20");
}

/* Every quality of the range as often as the others. */
static void qualities_are_drawn_alike(void **state)
{
    enum { DRAWS = 70000, LOW = 30, HIGH = 36 };
    mr_step step = {.kind = MR_STEP_JPEG, .quality = {LOW, HIGH}};
    uint32_t counts[101] = {0};
    uint64_t seed = 9;
    double chi = 0;
    mr__detail detail;
    (void)state;
    assert_int_equal(mr__step_jpeg.settle(&step, &detail), 0);
    for (uint32_t i = 0; i < DRAWS; i++) {
        static mr__chain chain;
        uint32_t draws[2] = {picture_random_below(&seed, UINT32_MAX), picture_random_below(&seed, UINT32_MAX)};
        mr__chain_init(&chain, 4, 4, false, NULL);
        assert_int_equal(mr__step_jpeg.resolve(&step, draws, &chain, &detail), 0);
        assert_int_equal(chain.op_count, 1);
        assert_in_range(chain.op[0].whole, LOW, HIGH);
        counts[chain.op[0].whole]++;
    }
    for (uint32_t q = LOW; q <= HIGH; q++)
        chi += ((double)counts[q] - 10000.0) * ((double)counts[q] - 10000.0) / 10000.0;
    assert_true(chi < 22.5); // 6 degrees of freedom: once in a thousand
}

/* The recipe's text, and the same pixels whether a part is made or all of it. */
static void steps_stand_in_recipes(void **state)
{
    static const char *const texts[] = {"jpeg(20..80) center(40)", "rrc(48) jpeg(35) crop(32)",
                                        "short(50) jpeg(90, chance=0.5) center(33)"};
    mr_image from = new_picture(131, 97, 3, 2);
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        uint8_t made[2][3 * 48 * 48];
        memset(made, 0, sizeof made);
        for (size_t apart = 0; apart < 2; apart++) {
            mr_recipe *recipe;
            mr_applier *applier;
            assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
            assert_int_equal(mr_recipe_parse(recipe, texts[i]), 0);
            assert_string_equal(mr_recipe_text(recipe), texts[i]);
            assert_int_equal(mr_recipe_set_fusing(recipe, apart == 0), 0);
            assert_int_equal(mr_applier_new(recipe, NULL, &applier), 0);
            assert_int_equal(mr_applier_run(applier, &from, 1, 2, 3, made[apart]), 0);
            mr_applier_free(applier);
            mr_recipe_free(recipe);
        }
        assert_memory_equal(made[0], made[1], sizeof made[0]);
    }
    free(from.pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable_equals_pillow),        cmocka_unit_test(processor_equals_pillow),
        cmocka_unit_test(parts_equal_the_whole),         cmocka_unit_test(needs_no_more_than_squares),
        cmocka_unit_test(qualities_are_within_1_to_100), cmocka_unit_test(qualities_are_drawn_alike),
        cmocka_unit_test(steps_stand_in_recipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
