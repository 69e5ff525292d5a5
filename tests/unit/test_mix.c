// SPDX-License-Identifier: Apache-2.0
/* How a batch is mixed: kernels, who is mixed with whom, what is drawn. */
#include "test.h"

#include "../golden/mix_golden.h"
#include "base/rng.h"
#include "kernel/half.h"
#include "loader/mix.h"
#include "loader/permute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void floats_are_those_of_torch(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOLDEN_MIXUPS; i++)
        for (size_t k = 0; k < 2; k++) {
            mr__mix_weights w = mr__mix_weights_of(golden_mixups[i].lambda);
            uint32_t own[GOLDEN_NUMBERS];
            memcpy(own, golden_pair[k], sizeof own);
            mr__mix_f32_c(own, golden_pair[1 - k], GOLDEN_NUMBERS, &w);
            assert_memory_equal(own, golden_mixups[i].pair[k], sizeof own);
        }
}

/* The truth of u8, in 64 bits. */
static void bytes_are_rounded(void **state)
{
    (void)state;
    static const double weights[] = {0.0, 1.0, 0.5, 1.0 / 65536, 1.0 - 1.0 / 65536, 0.3, 1.0 / 3, 0.99999999};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        mr__mix_weights w = mr__mix_weights_of(weights[i]);
        assert_in_range(w.own_u8, 0, 65536);
        for (uint32_t own = 0; own < 256; own++)
            for (uint32_t other = 0; other < 256; other++) {
                double truth = own * weights[i] + other * (1.0 - weights[i]);
                uint8_t got = (uint8_t)own, from = (uint8_t)other;
                mr__mix_u8_c(&got, &from, 1, &w);
                assert_true(fabs(got - truth) <= 0.5 + 255.0 / 65536);
                assert_true(own != other || got == own);
            }
    }
}

static void halves_are_the_same_numbers(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        bool f16_nan = (bits & 0x7fff) > 0x7c00, bf16_nan = (bits & 0x7fff) > 0x7f80;
        assert_true(f16_nan ? isnan(mr__f32_from_f16(half)) : mr__f16_from_f32(mr__f32_from_f16(half)) == half);
        assert_true(bf16_nan ? isnan(mr__f32_from_bf16(half)) : mr__bf16_from_f32(mr__f32_from_bf16(half)) == half);
    }
    assert_true(mr__f32_from_f16(0x3c00) == 1.0f && mr__f32_from_f16(0x0001) == 0x1p-24f);
    assert_true(mr__f32_from_f16(0xfbff) == -65504.0f && mr__f32_from_f16(0x7c00) == INFINITY);
}

/* Finite numbers of any size, many of them small. */
static void fill(void *to, size_t count, mr_dtype dtype, mr__rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = mr__rng_u32(rng);
        float number = (float)((double)(int32_t)bits * (i % 5 == 0 ? 0x1p-44 : i % 7 == 0 ? 0x1p-16 : 0x1p-29));
        if (dtype == MR_U8)
            ((uint8_t *)to)[i] = (uint8_t)(i % 9 == 0 ? 255 * (bits >> 31) : bits);
        else if (dtype == MR_F32)
            ((float *)to)[i] = number;
        else
            ((uint16_t *)to)[i] = dtype == MR_F16 ? mr__f16_from_f32(number) : mr__bf16_from_f32(number);
    }
}

enum { LONGEST = 300 };

static void compare_kernels(mr_dtype dtype, mr__mix_kernel *portable, mr__mix_kernel *kernel)
{
    static const double weights[] = {0.0, 1.0, 0.5, 0.25, 1.0 / 65536, 0.3, 0.7071, 1e-9, 0.9999999999};
    mr__rng rng;
    mr__rng_init(&rng, 3, 0, 0, dtype);
    for (size_t count = 0; count <= LONGEST; count += count < 70 ? 1 : 23)
        for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
            mr__mix_weights w = mr__mix_weights_of(weights[i]);
            uint32_t own[2][LONGEST + 1], other[LONGEST + 1]; // a number of the largest size behind the end stays
            fill(own[0], LONGEST + 1, dtype, &rng);
            fill(other, LONGEST + 1, dtype, &rng);
            memcpy(own[1], own[0], sizeof own[0]);
            portable(own[0], other, count, &w);
            kernel(own[1], other, count, &w);
            assert_memory_equal(own[0], own[1], (LONGEST + 1) * mr_dtype_nbytes(dtype));
        }
}

static void kernels_agree(void **state)
{
    (void)state;
    mr__mix_kernels portable, fast;
    mr__mix_kernels_init(&portable, 0);
    mr__mix_kernels_init(&fast, mr__cpu_detect());
    compare_kernels(MR_U8, portable.u8, fast.u8);
    compare_kernels(MR_F32, portable.f32, fast.f32);
    compare_kernels(MR_F16, portable.f16, fast.f16);
    compare_kernels(MR_BF16, portable.bf16, fast.bf16);
}

static void boxes_are_those_of_torchvision(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOLDEN_BOXES; i++) {
        uint32_t width = golden_boxes[i].width, height = golden_boxes[i].height;
        mr_rect box = mr__mix_box(golden_boxes[i].lambda, golden_boxes[i].x, golden_boxes[i].y, width, height);
        uint32_t got[4] = {box.x, box.y, box.width, box.height};
        assert_memory_equal(got, golden_boxes[i].box, sizeof got);
        assert_true(1.0 - (double)(box.width * box.height) / (width * height) == golden_boxes[i].weight);
    }
}

static void everyone_is_one_partner(void **state)
{
    (void)state;
    for (uint64_t count = 1; count < 200; count++) {
        uint8_t seen[200] = {0};
        for (uint64_t i = 0; i < count; i++) {
            uint64_t partner = mr__mix_partner(i, count);
            assert_true(partner < count && !seen[partner]++);
            assert_true(partner == (i + count / 2) % count && (count == 1 || partner != i));
            assert_true(count % 2 != 0 || mr__mix_partner(partner, count) == i);
        }
    }
    assert_true(mr__mix_partner(UINT64_C(1) << 47, (UINT64_C(1) << 48) - 1) == 0);
}

/* The same of all worlds, and local where it is to be. */
static void partners_do_not_depend_on_the_world(void **state)
{
    (void)state;
    enum { BATCH = 12, WORLD = 6 };
    for (uint32_t world = 1; world <= WORLD; world++)
        for (uint32_t batch = 1; batch <= BATCH; batch++)
            for (uint64_t count = 1; count <= (uint64_t)batch * world; count++)
                for (uint32_t rank = 0; rank < world; rank++) {
                    bool whole = count == (uint64_t)batch * world;
                    mr__deal deal = {.batch = batch, .world = world, .rank = rank, .drop_last = whole};
                    uint32_t partners[BATCH], own = 0;
                    uint64_t guests[BATCH];
                    while (own < batch && (uint64_t)own * world + rank < count)
                        own++;
                    uint32_t others = mr__mix_partners(&deal, count, own, batch, partners, guests);
                    assert_true(mr__mix_has_guests(&deal) || others == 0);
                    assert_true(world > 1 || others == 0);
                    for (uint32_t i = 0; i < own; i++) {
                        uint64_t at =
                            partners[i] < batch ? (uint64_t)partners[i] * world + rank : guests[partners[i] - batch];
                        assert_true(partners[i] < own || partners[i] >= batch);
                        assert_true(at == mr__mix_partner((uint64_t)i * world + rank, count));
                    }
                }
}

/* In place, against a copy. */
static void mixing_in_place_is_mixing(void **state)
{
    (void)state;
    enum { PLACES = 9, SIDE = 60 };
    static const mr_dtype dtypes[] = {MR_U8, MR_F32, MR_F16, MR_BF16};
    for (int i = 0; i < 4 * 2 * 2 * 3; i++) {
        mr_dtype dtype = dtypes[i % 4];
        mr_output o = {.width = SIDE, .height = SIDE + 3, .channels = 3, .dtype = dtype};
        o.layout = i / 4 % 2 == 0 ? MR_NCHW : MR_NHWC;
        size_t numbers = (size_t)o.width * o.height * 3, number = mr_dtype_nbytes(dtype);
        o.sample_nbytes = numbers * number;
        mr__mixing mixing;
        mr_recipe *recipe;
        mr__rng rng;
        assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
        mr__mixing_init(&mixing, recipe, &o, mr__cpu_detect());
        mr_recipe_free(recipe);
        mr__mix_choice choice = {i / 8 % 2 == 0 ? MR_STEP_MIXUP : MR_STEP_CUTMIX, 0.3, {7, 11, 31, 29}};
        mr__mix_weights w = mr__mix_weights_of(choice.weight);
        uint8_t *images = malloc(PLACES * o.sample_nbytes), *before = malloc(PLACES * o.sample_nbytes);
        mr__rng_init(&rng, 1, 0, (uint64_t)i, 0);
        fill(images, PLACES * numbers, dtype, &rng);
        memcpy(before, images, PLACES * o.sample_nbytes);
        // a circle of two, a way of two to a guest, a circle of one; or one of six; or a way of all
        uint32_t wanted[3][6] = {{3, 2, 7, 0, 4, 8}, {5, 0, 1, 2, 3, 4}, {8, 0, 1, 2, 3, 4}}, partners[6];
        memcpy(partners, wanted[i / 16], sizeof partners);
        mr__mix_run(&mixing, &choice, images, partners, 6);
        for (size_t place = 0; place < 6; place++) {
            uint8_t *own = before + place * o.sample_nbytes, *got = images + place * o.sample_nbytes;
            uint8_t *other = before + wanted[i / 16][place] * o.sample_nbytes, *mixed = malloc(o.sample_nbytes);
            memcpy(mixed, own, o.sample_nbytes);
            for (size_t n = 0; n < numbers; n++) {
                size_t pixel = o.layout == MR_NHWC ? n / 3 : n % (numbers / 3);
                size_t x = pixel % o.width, y = pixel / o.width;
                bool inside = x >= 7 && x < 7 + 31 && y >= 11 && y < 11 + 29;
                if (choice.kind == MR_STEP_CUTMIX && inside)
                    memcpy(mixed + n * number, other + n * number, number);
            }
            if (choice.kind == MR_STEP_MIXUP)
                mixing.kernel(mixed, other, numbers, &w);
            assert_memory_equal(got, mixed, o.sample_nbytes);
            free(mixed);
        }
        assert_memory_equal(images + 6 * o.sample_nbytes, before + 6 * o.sample_nbytes, 3 * o.sample_nbytes);
        free(images);
        free(before);
    }
}

static mr__mixing mixing_of(double mixup_chance, double cutmix_chance, double alpha)
{
    return (mr__mixing){.mixup = mixup_chance > 0,
                        .cutmix = cutmix_chance > 0,
                        .alpha = {alpha, alpha},
                        .chance = {mixup_chance, cutmix_chance},
                        .output = {.width = 100, .height = 50, .channels = 3, .dtype = MR_U8}};
}

/* Beta(a, a) has the mean 1/2 and the variance 1 / (4 (2 a + 1)). */
static void weights_are_those_of_beta(void **state)
{
    (void)state;
    static const double alphas[] = {0.1, 0.2, 0.5, 1.0, 2.0, 8.0};
    enum { DRAWS = 40000 };
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
        mr__mixing m = mixing_of(1, 0, alphas[i]);
        double sum = 0, squares = 0;
        for (uint64_t n = 0; n < DRAWS; n++) {
            mr__mix_choice c = mr__mix_draw(&m, 9, n % 7, n * 64);
            assert_true(c.kind == MR_STEP_MIXUP && c.weight >= 0 && c.weight <= 1);
            sum += c.weight;
            squares += (c.weight - 0.5) * (c.weight - 0.5);
        }
        double variance = 1 / (4 * (2 * alphas[i] + 1));
        assert_true(fabs(sum / DRAWS - 0.5) < 5 * sqrt(variance / DRAWS));
        assert_true(fabs(squares / DRAWS - variance) < 5 * 0.25 * sqrt(1.0 / DRAWS));
    }
}

static void chances_are_kept(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    uint32_t count[MR_STEP_CUTMIX + 1] = {0}, left = 0;
    mr__mixing m = mixing_of(0.8, 0.5, 1);
    for (uint64_t n = 0; n < DRAWS; n++) {
        mr__mix_choice c = mr__mix_draw(&m, 1, 2, n), again = mr__mix_draw(&m, 1, 2, n);
        assert_true(c.kind == again.kind && c.weight == again.weight);
        count[c.kind]++;
        assert_true(c.kind != MR_STEP_NONE || c.weight == 1.0);
        if (c.kind != MR_STEP_CUTMIX)
            continue;
        assert_true(c.box.x + c.box.width <= 100 && c.box.y + c.box.height <= 50);
        assert_true(c.weight == 1.0 - c.box.width * c.box.height / 5000.0);
        left += c.box.x + c.box.width / 2 < 50;
    }
    assert_true(abs((int)count[MR_STEP_MIXUP] - DRAWS * 4 / 10) < 400);
    assert_true(abs((int)count[MR_STEP_CUTMIX] - DRAWS / 4) < 400);
    assert_true(abs((int)left - (int)count[MR_STEP_CUTMIX] / 2) < 250);
    m = mixing_of(0, 0, 1);
    assert_true(mr__mix_draw(&m, 1, 2, 3).kind == MR_STEP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_those_of_torch),           cmocka_unit_test(bytes_are_rounded),
        cmocka_unit_test(halves_are_the_same_numbers),         cmocka_unit_test(kernels_agree),
        cmocka_unit_test(boxes_are_those_of_torchvision),      cmocka_unit_test(everyone_is_one_partner),
        cmocka_unit_test(partners_do_not_depend_on_the_world), cmocka_unit_test(mixing_in_place_is_mixing),
        cmocka_unit_test(weights_are_those_of_beta),           cmocka_unit_test(chances_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
