// SPDX-License-Identifier: Apache-2.0
/* Resizing beside Pillow, and every kernel beside portable C. */
#include "test.h"

#include "failing.h"
#include "guard.h"
#include "picture.h"
#include "resample_golden.h"
#include "step/resample.h"

#include <stdlib.h>
#include <string.h>

enum { FILTERS = GOLDEN_FILTERS, SIZES = sizeof golden_sizes / sizeof *golden_sizes };

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

static mr_resizer *resizer_of(const char *cpu)
{
    mr_resizer *resizer = NULL;
    const char *kept = getenv("MILLRACE_CPU");
    if (cpu != NULL)
        setenv("MILLRACE_CPU", cpu, 1);
    assert_int_equal(mr_resizer_new(NULL, &resizer), 0);
    if (cpu != NULL && kept != NULL)
        setenv("MILLRACE_CPU", kept, 1);
    else if (cpu != NULL)
        unsetenv("MILLRACE_CPU");
    return resizer;
}

static mr_image image_of(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth)
{
    mr_image image;
    assert_int_equal(mr_image_init(&image, width, height, channels, depth, NULL), 0);
    return image;
}

static mr_resize_options how(uint32_t filter, uint32_t order)
{
    return (mr_resize_options){sizeof(mr_resize_options), (mr_filter)filter, (mr_resize_order)order};
}

static void resize(mr_resizer *resizer, const mr_image *from, mr_resize_options options, const mr_image *to)
{
    int result = mr_resizer_resize(resizer, from, &options, to);
    if (result != 0)
        print_message("%s: %s\n", mr_error_name(result), mr_resizer_detail(resizer));
    assert_int_equal(result, 0);
}

/* Noise; every other time all or nothing, which overshoots most. */
static void fill(const mr_image *image, uint32_t noise_seed, bool extreme)
{
    size_t nbytes = mr_image_row_nbytes(image) * image->height;
    uint8_t *bytes = image->pixels;
    picture_noise(bytes, nbytes, noise_seed);
    for (size_t i = 0; extreme && i < nbytes; i++)
        bytes[i] = bytes[i] >= 128 ? 255 : 0;
}

static void check_golden(mr_resizer *resizer, size_t size, size_t mode)
{
    uint32_t channels = golden_channels[mode], depth = golden_depth[mode];
    mr_image from = image_of(golden_sizes[size].width, golden_sizes[size].height, channels, depth);
    mr_image to = image_of(golden_sizes[size].out_width, golden_sizes[size].out_height, channels, depth);
    const uint64_t *hashes = golden_hashes + (size * GOLDEN_MODES + mode) * FILTERS * GOLDEN_ORDERS;
    fill(&from, 7, golden_sizes[size].extreme);
    for (uint32_t i = 0; i < FILTERS * GOLDEN_ORDERS; i++) {
        uint32_t filter = i / GOLDEN_ORDERS, order = i % GOLDEN_ORDERS;
        resize(resizer, &from, how(filter, order), &to);
        if (mr_image_hash(&to) != hashes[i])
            print_message("%u x %u to %u x %u, %u channels of %u bits, %s, order %u\n", from.width, from.height,
                          to.width, to.height, channels, depth, mr_filter_name((mr_filter)filter), order);
        assert_true(mr_image_hash(&to) == hashes[i]);
    }
    mr_image_fini(&from, NULL);
    mr_image_fini(&to, NULL);
}

static void equals_pillow(void **state)
{
    (void)state;
    static const char *const cpus[] = {NULL, "portable"};
    for (size_t cpu = 0; cpu < 2; cpu++) {
        mr_resizer *resizer = resizer_of(cpus[cpu]);
        for (size_t i = 0; i < SIZES * GOLDEN_MODES; i++)
            check_golden(resizer, i / GOLDEN_MODES, i % GOLDEN_MODES);
        mr_resizer_free(resizer);
    }
}

/* Small, and around what fits a vector; now and then large. */
static uint32_t random_side(void)
{
    uint32_t kind = below(8);
    return 1 + (kind == 0 ? below(600) : kind < 4 ? below(100) : below(24));
}

/* Rows of both images end (or begin) at pages that cannot be touched. */
static void check_kernels(mr_resizer *best, mr_resizer *portable, bool at_start)
{
    mr_image like = image_of(random_side(), random_side(), 1 + below(4), below(8) == 0 ? 16 : 8);
    mr_image to = image_of(random_side(), random_side(), like.channels, like.depth);
    mr_resize_options options = how(below(FILTERS), below(2));
    guard guards[2];
    mr_image from = guard_image(&guards[0], &like, at_start), guarded = guard_image(&guards[1], &to, at_start);
    fill(&like, picture_random(&seed), below(2) == 0);
    assert_int_equal(mr_image_copy(&like, &from), 0);
    resize(portable, &like, options, &to);
    resize(best, &from, options, &guarded);
    if (!picture_same(&guarded, &to))
        print_message("%s from %u x %u, %u channels of %u bits\n", mr_filter_name(options.filter), like.width,
                      like.height, like.channels, like.depth);
    picture_compare(&guarded, &to, "the best kernels");
    guard_free(&guards[0]);
    guard_free(&guards[1]);
    mr_image_fini(&like, NULL);
    mr_image_fini(&to, NULL);
}

static void kernels_equal_portable_c(void **state)
{
    (void)state;
    mr_resizer *best = resizer_of(NULL), *portable = resizer_of("portable");
    for (int i = 0; i < (test_quick() ? 300 : 3000); i++)
        check_kernels(best, portable, i % 2 == 0);
    mr_resizer_free(best);
    mr_resizer_free(portable);
}

/* One axis at every factor, so that every way of a kernel is met with every number of channels. */
static void every_factor_equals_portable_c(void **state)
{
    (void)state;
    mr_resizer *best = resizer_of(NULL), *portable = resizer_of("portable");
    for (uint32_t in = 1; in <= 900; in += test_quick() ? 37 : 7) {
        uint32_t channels = 1 + in % 4, out = 1 + below(90);
        mr_image from = image_of(in, 3, channels, 8), a = image_of(out, 3, channels, 8),
                 b = image_of(out, 3, channels, 8);
        fill(&from, in, in % 3 == 0);
        for (uint32_t filter = 0; filter < FILTERS; filter++) {
            resize(best, &from, how(filter, 0), &a);
            resize(portable, &from, how(filter, 0), &b);
            picture_compare(&a, &b, mr_filter_name((mr_filter)filter));
        }
        mr_image_fini(&from, NULL);
        mr_image_fini(&a, NULL);
        mr_image_fini(&b, NULL);
    }
    mr_resizer_free(best);
    mr_resizer_free(portable);
}

/* Rows with gaps, upside down: nothing between them is written. */
static void any_stride_will_do(void **state)
{
    (void)state;
    mr_resizer *resizer = resizer_of(NULL);
    for (uint32_t i = 0; i < 4 * FILTERS; i++) {
        uint32_t channels = 1 + i % 4;
        mr_image from = image_of(57, 41, channels, 8), to = image_of(31, 67, channels, 8);
        mr_image wide = image_of(31 + 9, 67, channels, 8), view;
        fill(&from, i, false);
        memset(wide.pixels, 0xee, mr_image_row_nbytes(&wide) * wide.height);
        assert_int_equal(mr_image_crop(&wide, (mr_rect){4, 0, 31, 67}, &view), 0);
        view = mr_image_upside_down(&view);
        mr_image flipped = mr_image_upside_down(&view);
        resize(resizer, &from, how(i / 4, 0), &to);
        resize(resizer, &from, how(i / 4, 0), &view);
        picture_compare(&view, &to, "upside down");
        memset(to.pixels, 0xee, mr_image_row_nbytes(&to) * to.height);
        assert_int_equal(mr_image_copy(&to, &flipped), 0);
        for (size_t k = 0; k < mr_image_row_nbytes(&wide) * wide.height; k++)
            assert_int_equal(((uint8_t *)wide.pixels)[k], 0xee);
        mr_image_fini(&from, NULL);
        mr_image_fini(&to, NULL);
        mr_image_fini(&wide, NULL);
    }
    mr_resizer_free(resizer);
}

/* Channels of 16 bits do not meet, alpha being one of them. */
static void sixteen_bits_go_channel_by_channel(void **state)
{
    (void)state;
    mr_resizer *resizer = resizer_of(NULL);
    for (uint32_t i = 0; i < 3 * FILTERS; i++) {
        uint32_t channels = 2 + i % 3;
        mr_image from = image_of(23, 31, channels, 16), to = image_of(40, 9, channels, 16);
        mr_image gray = image_of(23, 31, 1, 16), gray_to = image_of(40, 9, 1, 16);
        fill(&from, i, i % 2);
        resize(resizer, &from, how(i / 3, 0), &to);
        for (uint32_t c = 0; c < channels; c++) {
            for (size_t k = 0; k < 23 * 31; k++)
                ((uint16_t *)gray.pixels)[k] = ((uint16_t *)from.pixels)[k * channels + c];
            resize(resizer, &gray, how(i / 3, 0), &gray_to);
            for (size_t k = 0; k < 40 * 9; k++)
                assert_int_equal(((uint16_t *)gray_to.pixels)[k], ((uint16_t *)to.pixels)[k * channels + c]);
        }
        mr_image_fini(&from, NULL);
        mr_image_fini(&to, NULL);
        mr_image_fini(&gray, NULL);
        mr_image_fini(&gray_to, NULL);
    }
    mr_resizer_free(resizer);
}

static void what_is_transparent_does_not_count(void **state)
{
    (void)state;
    uint8_t pixels[] = {200, 255, 9, 0, 200, 255, 77, 0}, out[4];
    mr_image from = {4, 1, 2, 8, 8, pixels}, to = {2, 1, 2, 8, 4, out};
    mr_resizer *resizer = resizer_of(NULL);
    resize(resizer, &from, how(MR_FILTER_BOX, 0), &to);
    static const uint8_t wanted[] = {199, 128, 199, 128}; // 100 of 128, times 255, rounded down
    assert_memory_equal(out, wanted, 4);
    mr_resizer_free(resizer);
}

/* Every color with every alpha, the same at every place of a vector. */
static void alpha_equals_portable_c(void **state)
{
    (void)state;
    static uint8_t from[65536 * 4 + 4], a[65536 * 4 + 4], b[65536 * 4 + 4];
    mr__resample portable, best;
    mr__resample_init(&portable, 0);
    mr__resample_init(&best, mr__cpu_detect());
    for (uint32_t channels = 2; channels <= 4; channels += 2) {
        for (size_t i = 0; i < 65536; i++) {
            memset(from + i * channels, (int)(i >> 8), channels - 1);
            from[i * channels + channels - 1] = (uint8_t)(i % 256);
        }
        for (size_t skip = 0; skip < 5; skip++) {
            best.premultiply(from + skip * channels, channels, a, 65536 - skip);
            portable.premultiply(from + skip * channels, channels, b, 65536 - skip);
            assert_memory_equal(a, b, (65536 - skip) * channels);
            best.unpremultiply(from + skip * channels, channels, a, 65536 - skip);
            portable.unpremultiply(from + skip * channels, channels, b, 65536 - skip);
            assert_memory_equal(a, b, (65536 - skip) * channels);
        }
    }
}

static void sizes_are_answered(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, n, max_width, max_height, short_width, short_height;
    } cases[] = {
        {500, 375, 256, 256, 192, 341, 256}, {375, 500, 256, 192, 256, 256, 341}, {100, 50, 200, 100, 50, 100, 50},
        {100, 50, 100, 100, 50, 100, 50},    {1000, 1, 10, 10, 1, 1000, 1},       {3, 2, 1, 1, 1, 1, 1},
        {1000, 25, 20, 20, 1, 800, 20},      {1000, 24, 20, 20, 1, 833, 20},      {4, 3, 2, 2, 2, 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t w = 0, h = 0;
        assert_int_equal(mr_resize_max_side(cases[i].width, cases[i].height, cases[i].n, &w, &h), 0);
        assert_int_equal(w, cases[i].max_width);
        assert_int_equal(h, cases[i].max_height);
        assert_int_equal(mr_resize_short_side(cases[i].width, cases[i].height, cases[i].n, &w, &h), 0);
        assert_int_equal(w, cases[i].short_width);
        assert_int_equal(h, cases[i].short_height);
    }
    uint32_t w = 0, h = 0, most = 0x7fffffff;
    assert_int_equal(mr_resize_max_side(most, most - 1, most - 1, &w, &h), 0);
    assert_int_equal(w, most - 1);
    assert_int_equal(mr_resize_max_side(0, 1, 1, &w, &h), MR_EARGUMENT);
    assert_int_equal(mr_resize_max_side(1, 1, 0, &w, &h), MR_EARGUMENT);
    assert_int_equal(mr_resize_short_side(1, most + 1, 1, &w, &h), MR_EARGUMENT);
    assert_int_equal(mr_resize_short_side(1, 1, 1, NULL, &h), MR_EARGUMENT);
}

static void filters_have_names(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FILTERS; i++) {
        mr_filter found = (mr_filter)99;
        assert_int_equal(mr_filter_from_name(mr_filter_name((mr_filter)i), &found), 0);
        assert_int_equal(found, i);
    }
    mr_filter kept = MR_FILTER_BOX;
    assert_int_equal(mr_filter_from_name("sharp", &kept), MR_EARGUMENT);
    assert_int_equal(mr_filter_from_name(NULL, &kept), MR_EARGUMENT);
    assert_int_equal(kept, MR_FILTER_BOX);
    assert_string_equal(mr_filter_name((mr_filter)FILTERS), "none");
}

/* 30 sizes take memory once; many more than are kept take it again, and come out the same. */
static void memory_is_kept(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr_resizer_options options = {.struct_size = sizeof options, .hooks = &hooks};
    mr_resizer *resizer = NULL;
    mr_image from = image_of(300, 200, 4, 8), to = image_of(200, 200, 4, 8);
    fill(&from, 1, false);
    failing_begin(0, false);
    assert_int_equal(mr_resizer_new(&options, &resizer), 0);
    uint64_t hashes[150];
    size_t attempts = 0;
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < (round < 2 ? 30 : 150); i++) {
            mr_image view = to;
            view.width = view.height = 200 - i;
            resize(resizer, &from, how(MR_FILTER_BILINEAR, 0), &view);
            if (round == 0 || (round == 2 && i >= 30))
                hashes[i] = mr_image_hash(&view);
            assert_true(mr_image_hash(&view) == hashes[i]);
        }
        assert_true(round != 1 || failing_now().attempts == attempts);
        attempts = failing_now().attempts;
    }
    mr_resizer_trim(resizer);
    assert_int_equal(failing_now().live_blocks, 1);
    mr_resizer_free(resizer);
    assert_int_equal(failing_end().live_blocks, 0);
    mr_image_fini(&from, NULL);
    mr_image_fini(&to, NULL);
}

static void refused(mr_resizer *resizer, const mr_image *from, const mr_resize_options *options, const mr_image *to,
                    int code, const char *part)
{
    assert_int_equal(mr_resizer_resize(resizer, from, options, to), code);
    assert_contains(mr_resizer_detail(resizer), part);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    uint8_t pixels[64] = {0}, out[64];
    mr_image from = {4, 4, 3, 8, 12, pixels}, to = {2, 2, 3, 8, 6, out}, gray = {2, 2, 1, 8, 6, out};
    mr_image none = from;
    mr_resizer *resizer = resizer_of(NULL);
    mr_resize_options o = how(FILTERS, 0), order = how(0, 2), no_size = {0};
    none.pixels = NULL;
    refused(resizer, &none, NULL, &to, MR_EARGUMENT, "what to resize is not a valid image");
    refused(resizer, &from, NULL, &none, MR_EARGUMENT, "what to resize to is not a valid image");
    refused(resizer, NULL, NULL, &to, MR_EARGUMENT, "not a valid image");
    refused(resizer, &from, NULL, &gray, MR_EARGUMENT, "from 3 channels of 8 bits to 1 of 8");
    refused(resizer, &from, &o, &to, MR_EARGUMENT, "no filter has the number 6");
    refused(resizer, &from, &order, &to, MR_EARGUMENT, "no order of passes has the number 2");
    refused(resizer, &from, &no_size, &to, MR_EARGUMENT, "struct_size");
    assert_int_equal(mr_resizer_resize(NULL, &from, NULL, &to), MR_EARGUMENT);
    assert_int_equal(mr_resizer_resize(resizer, &from, NULL, &to), 0);
    assert_string_equal(mr_resizer_detail(resizer), "");
    assert_int_equal(mr_resizer_new(NULL, NULL), MR_EARGUMENT);
    mr_resizer_free(resizer);
    mr_resizer_free(NULL);
    mr_resizer_trim(NULL);
    assert_string_equal(mr_resizer_detail(NULL), "");
}

/* What earlier calls left does not stand in the way of a resize that fits by itself. */
static void limits_hold(void **state)
{
    (void)state;
    mr_limits limits = {.struct_size = sizeof limits, .pixels = 10000, .memory_nbytes = 300000};
    mr_resizer_options options = {.struct_size = sizeof options, .limits = &limits};
    mr_resizer *resizer = NULL;
    mr_image from = image_of(200, 200, 4, 8), large = image_of(400, 400, 4, 8), to = image_of(100, 101, 4, 8);
    fill(&from, 1, false);
    fill(&large, 1, false);
    assert_int_equal(mr_resizer_new(&options, &resizer), 0);
    refused(resizer, &from, NULL, &to, MR_ELIMIT,
            "a resize to 100 x 101: more than 10000 pixels, the limit (limits.pix");
    to.height = 100;
    refused(resizer, &large, NULL, &to, MR_ELIMIT,
            "more than 300000 bytes of memory, the limit (limits.memory_nbytes)");
    for (uint32_t i = 0; i < 90; i++) {
        to.width = 100 - i;
        assert_int_equal(mr_resizer_resize(resizer, &from, NULL, &to), 0);
    }
    mr_resizer_free(resizer);
    mr_image_fini(&from, NULL);
    mr_image_fini(&large, NULL);
    mr_image_fini(&to, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_pillow),
        cmocka_unit_test(kernels_equal_portable_c),
        cmocka_unit_test(every_factor_equals_portable_c),
        cmocka_unit_test(any_stride_will_do),
        cmocka_unit_test(sixteen_bits_go_channel_by_channel),
        cmocka_unit_test(what_is_transparent_does_not_count),
        cmocka_unit_test(alpha_equals_portable_c),
        cmocka_unit_test(sizes_are_answered),
        cmocka_unit_test(filters_have_names),
        cmocka_unit_test(memory_is_kept),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
