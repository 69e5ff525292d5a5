// SPDX-License-Identifier: Apache-2.0
/* The end of a recipe: the definition by plain arithmetic, and every kernel beside it. */
#include "test.h"

#include "picture.h"
#include "step/finish.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

static const mr_dtype dtypes[] = {MR_U8, MR_F32, MR_F16, MR_BF16};

static mr__finish finish_of(mr_dtype dtype, mr_batch_layout layout, uint32_t channels, uint32_t depth)
{
    mr__finish f = {.depth = depth};
    f.output = (mr_output){.struct_size = sizeof f.output, .channels = channels, .layout = layout, .dtype = dtype};
    return f;
}

/* Of ImageNet, of everyday, of none, at random, and such that no short cut holds. */
static void give_numbers(mr__finish *f, uint32_t kind)
{
    static const float mean[4] = {0.485f, 0.456f, 0.406f, 0.5f}, std[4] = {0.229f, 0.224f, 0.225f, 0.25f};
    static const float extreme[] = {0.0f, -0.0f, 1e-30f, 1e30f, 3e38f, 1e-44f, -7.0f, 1.0f};
    f->normalize = kind != 0;
    for (uint32_t c = 0; c < 4; c++) {
        f->mean[c] = kind == 1 ? mean[c] : kind == 2 ? 0.5f : kind == 3 ? 0.0f : (float)below(1 << 20) / (1 << 20);
        f->std[c] = kind == 1 ? std[c] : kind == 2 ? 0.5f : kind == 3 ? 1.0f : (float)(1 + below(1 << 20)) / (1 << 19);
        if (kind == 5) {
            f->mean[c] = extreme[below(8)];
            f->std[c] = extreme[2 + below(6)];
        }
    }
}

enum { KINDS = 6 };

static float by_hand(const mr__finish *f, uint32_t c, uint32_t value)
{
    volatile float most = f->depth == 16 ? 65535.0f : 255.0f, number = (float)value;
    number = number / most;
    if (!f->normalize)
        return number;
    number = number - f->mean[c];
    number = number / f->std[c];
    return number;
}

static void expect_number(const mr__finish *f, uint32_t c, uint32_t value, const uint8_t *at)
{
    float number = by_hand(f, c, value);
    uint16_t half = f->output.dtype == MR_F16 ? mr__f16_from_f32(number) : mr__bf16_from_f32(number);
    uint8_t byte = (uint8_t)(f->depth == 16 ? value >> 8 : value);
    if (f->output.dtype == MR_U8)
        assert_memory_equal(at, &byte, 1);
    else if (f->output.dtype == MR_F32)
        assert_memory_equal(at, &number, sizeof number);
    else
        assert_memory_equal(at, &half, sizeof half);
}

/* A row of every value (or of 16-bit ones here and there), by this processor and by none. */
static void check_values(const mr__finish *f, mr__cpu_flags cpu, bool flip)
{
    enum { N = 256 };
    mr__finisher finisher;
    mr__finisher_init(&finisher, f, cpu);
    size_t number = finisher.number_nbytes, channels = f->output.channels;
    uint16_t wide[N * 4];
    uint8_t row[N * 4], out[N * 4 * 4];
    for (size_t i = 0; i < N * channels; i++) {
        row[i] = (uint8_t)(i / channels + i % channels * 37);
        wide[i] = (uint16_t)(row[i] * 257u + i % 7);
    }
    finisher.run(&finisher, f->depth == 16 ? (void *)wide : row, N, flip, out, N * number);
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < channels; c++) {
            size_t x = flip ? N - 1 - i : i, at = f->output.layout == MR_NCHW ? c * N + x : x * channels + c;
            size_t sample = i * channels + c;
            expect_number(f, (uint32_t)c, f->depth == 16 ? wide[sample] : row[sample], out + at * number);
        }
}

static void every_value_is_torchs(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4 * 2 * 3 * 2 * 2 * KINDS; i++) {
        static const uint32_t channels[] = {1, 3, 4};
        mr__finish f = finish_of(dtypes[i % 4], (mr_batch_layout)(i / 4 % 2), channels[i / 8 % 3], i / 24 % 2 ? 16 : 8);
        give_numbers(&f, i / 96);
        if (f.normalize && f.output.dtype == MR_U8)
            f.normalize = false;
        check_values(&f, mr__cpu_detect(), i / 48 % 2);
        check_values(&f, 0, i / 48 % 2);
    }
}

/* Random means and deviations: how often a kernel is not exact is for it to say, what comes out is not. */
static void random_numbers_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < (test_quick() ? 100 : 1000); i++) {
        mr__finish f = finish_of(MR_F32, i % 2 ? MR_NCHW : MR_NHWC, 3, 8);
        give_numbers(&f, 4);
        check_values(&f, mr__cpu_detect(), i % 3 == 0);
    }
}

/* The usual numbers are not left to the table: kernels would be slow, and nobody would know. */
static void the_usual_numbers_have_kernels(void **state)
{
    (void)state;
    mr__finish_kernels best;
    mr__finish_kernels_init(&best, mr__cpu_detect());
    for (uint32_t i = 0; i < 4 * 2 * 4; i++) {
        mr__finish f = finish_of(dtypes[i % 4], (mr_batch_layout)(i / 4 % 2), 3, 8);
        mr__finisher finisher;
        give_numbers(&f, i / 8);
        mr__finisher_init(&finisher, &f, mr__cpu_detect());
        assert_true(finisher.run == best.of[f.output.dtype][f.output.layout]);
    }
}

/* Exactly sized, so that a sanitizer sees what goes beyond; planes have gaps, which stay as they are. */
static void check_kernel(const mr__finisher *f, mr__finish_kernel *kernel, mr__finish_kernel *portable, size_t n)
{
    size_t number = f->number_nbytes, gap = below(3) * 5 * number, plane = n * number + gap;
    size_t nbytes = f->layout == MR_NCHW ? plane * f->channels - gap : n * number * f->channels;
    uint8_t *row = malloc(n * f->channels), *out[2] = {NULL, NULL};
    bool flip = below(2);
    assert_true(row != NULL && posix_memalign((void **)&out[0], 64, nbytes) == 0 &&
                posix_memalign((void **)&out[1], 64, nbytes) == 0);
    picture_noise(row, n * f->channels, picture_random(&seed));
    for (size_t i = 0; i < 2; i++) {
        memset(out[i], 0xa5, nbytes);
        (i == 0 ? portable : kernel)(f, row, n, flip, out[i], plane);
    }
    if (memcmp(out[0], out[1], nbytes) != 0)
        print_message("dtype %d, layout %d, %u channels, %zu pixels, flip %d\n", f->dtype, f->layout, f->channels, n,
                      flip);
    assert_memory_equal(out[0], out[1], nbytes);
    free(row);
    free(out[0]);
    free(out[1]);
}

static void kernels_equal_portable_c(void **state)
{
    (void)state;
    static const char *const levels[] = {"sse41", "avx2", "avx512", "neon"};
    for (uint32_t i = 0; i < 4 * 4 * 2 * 4 * 2; i++) {
        mr__cpu_flags mask = 0;
        mr__finish_kernels best, portable;
        mr__finisher finisher;
        mr__finish f = finish_of(dtypes[i % 4], (mr_batch_layout)(i / 4 % 2), 1 + i / 8 % 4, 8);
        give_numbers(&f, i / 32 % 2);
        assert_true(mr__cpu_mask_from_text(levels[i / 64], &mask));
        mr__finish_kernels_init(&best, mr__cpu_detect() & mask);
        mr__finish_kernels_init(&portable, 0);
        mr__finisher_init(&finisher, &f, 0);
        finisher.stream = below(2); /* of which whole lines alone make use */
        for (size_t n = 1; n <= (test_quick() ? 70 : 150); n++)
            check_kernel(&finisher, best.of[f.output.dtype][f.output.layout],
                         portable.of[f.output.dtype][f.output.layout], n);
        check_kernel(&finisher, best.of[f.output.dtype][f.output.layout], portable.of[f.output.dtype][f.output.layout],
                     224 + below(900));
    }
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void halves_are_the_nearest(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        uint16_t f16, bf16;
    } known[] = {
        {0x00000000, 0x0000, 0x0000}, {0x80000000, 0x8000, 0x8000}, {0x3f800000, 0x3c00, 0x3f80},
        {0x3f801000, 0x3c00, 0x3f80}, {0x3f803000, 0x3c02, 0x3f80}, {0x3f808000, 0x3c04, 0x3f80},
        {0x3f808001, 0x3c04, 0x3f81}, {0x3f818000, 0x3c0c, 0x3f82}, {0x477fe000, 0x7bff, 0x4780},
        {0x477fefff, 0x7bff, 0x4780}, {0x477ff000, 0x7c00, 0x4780}, {0x7f800000, 0x7c00, 0x7f80},
        {0xff800000, 0xfc00, 0xff80}, {0x7f7fffff, 0x7c00, 0x7f80}, {0x38800000, 0x0400, 0x3880},
        {0x387fffff, 0x0400, 0x3880}, {0x33800000, 0x0001, 0x3380}, {0x33000000, 0x0000, 0x3300},
        {0x33000001, 0x0001, 0x3300}, {0x33c00000, 0x0002, 0x33c0}, {0xb3000001, 0x8001, 0xb300},
        {0x00000001, 0x0000, 0x0000}, {0x387fc000, 0x03ff, 0x3880}, {0x387fe000, 0x0400, 0x3880},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(mr__f16_from_f32(float_of(known[i].bits)), known[i].f16);
        assert_int_equal(mr__bf16_from_f32(float_of(known[i].bits)), known[i].bf16);
    }
    assert_true((mr__f16_from_f32(float_of(0x7f800001)) & 0x7fff) > 0x7c00);
    assert_true((mr__bf16_from_f32(float_of(0x7f800001)) & 0x7fff) > 0x7f80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_torchs),          cmocka_unit_test(random_numbers_are_exact),
        cmocka_unit_test(the_usual_numbers_have_kernels), cmocka_unit_test(kernels_equal_portable_c),
        cmocka_unit_test(halves_are_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
