// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/rng.h"

#include <string.h>

/* The known answers published with Random123 (tests/kat_vectors, philox4x32 10). */
static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[4];
        mr__philox(cases[i].counter, cases[i].key, out);
        assert_memory_equal(out, cases[i].expected, sizeof out);
    }
}

/* The schedule is part of the promise "same seed, same bytes": a change here changes every augmented batch. */
static void the_schedule_is_as_written(void **state)
{
    (void)state;
    const uint32_t key[2] = {0x89abcdef, 0x01234567};
    const uint32_t first[4] = {0, 0x55667788, 0x0bad3344, 7}, second[4] = {1, 0x55667788, 0x0bad3344, 7};
    uint32_t blocks[8];
    mr__philox(first, key, blocks);
    mr__philox(second, key, blocks + 4);
    mr__rng rng;
    mr__rng_init(&rng, UINT64_C(0x0123456789abcdef), 7, UINT64_C(0x334455667788), 0x0bad);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(mr__rng_u32(&rng), blocks[i]);
}

static void zero_keys_draw_the_first_published_block(void **state)
{
    (void)state;
    mr__rng rng;
    mr__rng_init(&rng, 0, 0, 0, 0);
    assert_int_equal(mr__rng_u32(&rng), 0x6627e8d5);
    assert_int_equal(mr__rng_u32(&rng), 0xe169c58d);
    mr__rng copy = rng;
    assert_int_equal(mr__rng_u32(&rng), 0xbc57ac4c);
    assert_int_equal(mr__rng_u32(&copy), 0xbc57ac4c);
    assert_int_equal(mr__rng_u32(&rng), 0x9b00dbd8);
}

/* Every field of the schedule, at its smallest and largest bit, gives another counter. */
static void no_two_streams_share_a_counter(void **state)
{
    (void)state;
    static const struct {
        uint64_t sample;
        uint32_t epoch, step;
    } streams[] = {
        {0, 0, 0},
        {1, 0, 0},
        {UINT64_C(1) << 31, 0, 0},
        {UINT64_C(1) << 32, 0, 0},
        {UINT64_C(1) << 47, 0, 0},
        {MR__RNG_SAMPLE_MAX, 0, 0},
        {0, 1, 0},
        {0, UINT32_C(1) << 31, 0},
        {0, UINT32_MAX, 0},
        {0, 0, 1},
        {0, 0, MR__RNG_STEP_HOUSE},
        {0, 0, MR__RNG_STEP_MAX},
        {MR__RNG_SAMPLE_MAX, UINT32_MAX, MR__RNG_STEP_MAX},
    };
    enum { COUNT = sizeof streams / sizeof *streams };
    mr__rng rng[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        mr__rng_init(&rng[i], 5, streams[i].epoch, streams[i].sample, streams[i].step);
        assert_int_equal(rng[i].counter[0], 0); // the rest of the word is for blocks
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(rng[i].counter, rng[j].counter, sizeof rng[i].counter);
    }
}

static void seeds_differ_in_every_bit(void **state)
{
    (void)state;
    mr__rng zero;
    mr__rng_init(&zero, 0, 0, 0, 0);
    for (int bit = 0; bit < 64; bit++) {
        mr__rng rng;
        mr__rng_init(&rng, UINT64_C(1) << bit, 0, 0, 0);
        assert_memory_not_equal(rng.key, zero.key, sizeof rng.key);
    }
}

/* A stream whose next block is the one given. */
static mr__rng with_draws(uint32_t high, uint32_t low)
{
    return (mr__rng){.block = {0, 0, high, low}, .left = 2};
}

static void below_is_the_upper_part_of_the_product(void **state)
{
    (void)state;
    static const struct {
        uint32_t high, low, n, expected;
    } cases[] = {
        {0, 0, 1, 0},
        {UINT32_MAX, UINT32_MAX, 1, 0},
        {UINT32_MAX, UINT32_MAX, 10, 9},
        {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX - 1},
        {UINT32_C(1) << 31, 0, 2, 1},
        {(UINT32_C(1) << 31) - 1, UINT32_MAX, 2, 0},
        {0x55555555, 0x55555555, 3, 0}, // the largest x with 3 x < 2^64
        {0x55555555, 0x55555556, 3, 1}, // and the next: it is the low word that carries
        {0xaaaaaaaa, 0xaaaaaaaa, 3, 1},
        {0xaaaaaaaa, 0xaaaaaaab, 3, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr__rng rng = with_draws(cases[i].high, cases[i].low);
        assert_int_equal(mr__rng_below(&rng, cases[i].n), cases[i].expected);
        assert_int_equal(rng.left, 0); // two draws, whatever the value
    }
}

static void below_reaches_everything_about_equally(void **state)
{
    (void)state;
    enum { N = 7, DRAWS = 70000 };
    unsigned count[N] = {0};
    mr__rng rng;
    mr__rng_init(&rng, 1, 2, 3, 4);
    for (int i = 0; i < DRAWS; i++)
        count[mr__rng_below(&rng, N)]++;
    for (int i = 0; i < N; i++) // 10,000 expected, standard deviation 93
        assert_in_range(count[i], 9500, 10500);
}

static void floats_are_24_bits_below_one(void **state)
{
    (void)state;
    mr__rng low = {.block = {0, 0, 0, 255}, .left = 1}, high = {.block = {0, 0, 0, UINT32_MAX}, .left = 1};
    assert_true(mr__rng_float(&low) == 0.0f);
    assert_true(mr__rng_float(&high) == 1.0f - 0x1p-24f);
    mr__rng rng;
    mr__rng_init(&rng, 9, 0, 0, 0);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        float value = mr__rng_float(&rng);
        assert_true(value >= 0 && value < 1);
        sum += value;
    }
    assert_true(sum > 4850 && sum < 5150); // standard deviation 29
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(the_schedule_is_as_written),
        cmocka_unit_test(zero_keys_draw_the_first_published_block),
        cmocka_unit_test(no_two_streams_share_a_counter),
        cmocka_unit_test(seeds_differ_in_every_bit),
        cmocka_unit_test(below_is_the_upper_part_of_the_product),
        cmocka_unit_test(below_reaches_everything_about_equally),
        cmocka_unit_test(floats_are_24_bits_below_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
