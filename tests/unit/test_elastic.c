// SPDX-License-Identifier: Apache-2.0
/* Elastic: its noise, its field, and pixels looked up by it, beside torchvision given the very noise. */
#include "test.h"

#include "../golden/elastic_golden.h"
#include "base/rng.h"
#include "filtering.h"
#include "guard.h"
#include "kernel/elastic_pixel.h"
#include "picture.h"
#include "step/elastic.h"
#include "step/follow.h"
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static mr__detail detail;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

static float *room_for(size_t n)
{
    float *room = malloc(n * sizeof *room);
    assert_non_null(room);
    return room;
}

/* The field of a part; both are to be freed by the first. */
static float *field_of(const mr__elastic *e, uint32_t width, uint32_t height, mr_rect part, mr__cpu_flags cpu)
{
    size_t n = (size_t)part.width * part.height;
    void *memory = NULL;
    float *both = room_for(2 * n);
    mr__elastic_field field;
    assert_int_equal(posix_memalign(&memory, 64, mr__elastic_field_nbytes(e, part)), 0);
    mr__elastic_field_init(&field, e, width, height, part, cpu, memory);
    for (size_t y = 0; y < part.height; y++)
        mr__elastic_field_row(&field, both + y * part.width, both + n + y * part.width);
    free(memory);
    return both;
}

static void test_noise_is_by_place(void **state)
{
    enum { GROUPS = 3, N = GROUPS * MR__ELASTIC_GROUP };
    mr__elastics portable, k;
    (void)state;
    mr__elastics_init(&portable, 0);
    mr__elastics_init(&k, mr__cpu_detect());
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t key[2] = {picture_random(&seed), picture_random(&seed)}, y = below(20000), group = below(600);
        float *wanted = room_for(2 * N), *got = room_for(2 * N);
        portable.noise(key, y, group, GROUPS, wanted, wanted + N);
        k.noise(key, y, group, GROUPS, got, got + N);
        assert_memory_equal(got, wanted, 2 * N * sizeof *got);
        uint32_t j = below(N), x = group * MR__ELASTIC_GROUP + j, words[4];
        mr__philox((uint32_t[4]){x / 32 * 8 + x % 8, y, 0, 0}, key, words);
        assert_true(got[j] == mr__elastic_noise(words[x / 8 % 4] & 0xffff));
        assert_true(got[N + j] == mr__elastic_noise(words[x / 8 % 4] >> 16));
        free(wanted);
        free(got);
    }
}

/* Chi-square of 256 bins, and of 16 x 16 of both axes; and neighbours know nothing of each other. */
static void test_noise_is_uniform(void **state)
{
    enum { GROUPS = 32, N = GROUPS * MR__ELASTIC_GROUP, ROWS = 1000 };
    static uint32_t bins[3][256];
    mr__elastics k;
    float *dx = room_for(N), *dy = room_for(N);
    double next = 0.0, both = 0.0, sum = 0.0;
    (void)state;
    memset(bins, 0, sizeof bins);
    mr__elastics_init(&k, mr__cpu_detect());
    for (uint32_t y = 0; y < ROWS; y++) {
        k.noise((const uint32_t[2]){17, 4}, y, 0, GROUPS, dx, dy);
        for (size_t i = 0; i < N; i++) {
            uint32_t x_bin = (uint32_t)((dx[i] + 1.0f) * 128.0f), y_bin = (uint32_t)((dy[i] + 1.0f) * 128.0f);
            bins[0][x_bin]++;
            bins[1][y_bin]++;
            bins[2][x_bin / 16 * 16 + y_bin / 16]++;
            next += i == 0 ? 0.0 : dx[i] * dx[i - 1];
            both += dx[i] * dy[i];
            sum += dx[i] + dy[i];
        }
    }
    for (size_t i = 0; i < 3; i++) {
        double chi = 0.0, wanted = (double)N * ROWS / 256;
        for (size_t j = 0; j < 256; j++)
            chi += (bins[i][j] - wanted) * (bins[i][j] - wanted) / wanted;
        assert_true(chi > 170.0 && chi < 350.0); /* 255 +- 22.6 */
    }
    assert_true(fabs(next) < 4 * 338 && fabs(both) < 4 * 338); /* sqrt(1024000) / 3 */
    assert_true(fabs(sum) < 4 * 827);
    free(dx);
    free(dy);
}

static void test_field_golden(void **state)
{
    mr__elastic e = {.alpha = {golden_field_alpha[0], golden_field_alpha[1]},
                     .sigma = {golden_field_sigma[0], golden_field_sigma[1]},
                     .key = {golden_field_key[0], golden_field_key[1]}};
    size_t n = (size_t)GOLDEN_FIELD_WIDTH * GOLDEN_FIELD_HEIGHT;
    mr_rect all = {0, 0, GOLDEN_FIELD_WIDTH, GOLDEN_FIELD_HEIGHT};
    float *field = field_of(&e, GOLDEN_FIELD_WIDTH, GOLDEN_FIELD_HEIGHT, all, mr__cpu_detect());
    (void)state;
    for (size_t i = 0; i < sizeof golden_field / sizeof *golden_field; i++) {
        size_t at = golden_field[i].y * GOLDEN_FIELD_WIDTH + golden_field[i].x;
        assert_true(fabsf(field[at] - golden_field[i].dx) < 5e-7f);
        assert_true(fabsf(field[n + at] - golden_field[i].dy) < 5e-7f);
    }
    free(field);
}

static mr__elastic random_elastic(void)
{
    mr__elastic e = {.alpha = {below(60), below(60)},
                     .sigma = {0.001 + below(20) / 10.0, 0.001 + below(20) / 10.0},
                     .key = {picture_random(&seed), picture_random(&seed)},
                     .sampling = (mr_sampling)(1 + below(3)),
                     .fill = {(uint8_t)below(256), (uint8_t)below(256), (uint8_t)below(256)}};
    return e;
}

/* A size that the field can be made of. */
static uint32_t random_side(const mr__elastic *e, uint32_t more)
{
    uint32_t x = mr__elastic_kernel(e, 0) / 2, y = mr__elastic_kernel(e, 1) / 2;
    return (x > y ? x : y) + 1 + below(more);
}

static void test_field_parts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        mr__elastic e = random_elastic();
        uint32_t width = random_side(&e, i < 20 ? 4 : 120), height = random_side(&e, i < 20 ? 4 : 60);
        size_t n = (size_t)width * height;
        float *whole = field_of(&e, width, height, (mr_rect){0, 0, width, height}, 0);
        for (size_t j = 0; j < 4; j++) {
            mr_rect part = picture_random_rect(&seed, width, height);
            part = j == 0 ? (mr_rect){part.x, part.y, 1, 1} : part; /* a keypoint's */
            size_t m = (size_t)part.width * part.height;
            float *got = field_of(&e, width, height, part, mr__cpu_detect());
            for (size_t y = 0; y < part.height; y++) {
                const float *row = whole + (part.y + y) * width + part.x;
                assert_memory_equal(got + y * part.width, row, part.width * sizeof *row);
                assert_memory_equal(got + m + y * part.width, row + n, part.width * sizeof *row);
            }
            free(got);
        }
        free(whole);
    }
}

static void test_golden(void **state)
{
    size_t near = 0;
    (void)state;
    for (size_t i = 0; i < sizeof golden_elastics / sizeof *golden_elastics; i++) {
        mr__op op = {.kind = MR__OP_ELASTIC};
        memcpy(op.u.elastic.alpha, golden_elastics[i].alpha, sizeof op.u.elastic.alpha);
        memcpy(op.u.elastic.sigma, golden_elastics[i].sigma, sizeof op.u.elastic.sigma);
        memcpy(op.u.elastic.key, golden_elastics[i].key, sizeof op.u.elastic.key);
        memcpy(op.u.elastic.fill, golden_elastics[i].fill, sizeof op.u.elastic.fill);
        op.u.elastic.sampling = (mr_sampling)golden_elastics[i].sampling;
        mr_image image = filtering_picture(golden_elastics[i].width, golden_elastics[i].height,
                                           golden_elastics[i].channels, golden_elastics[i].kind);
        mr_image got = filtering_whole(op, &image, mr__cpu_detect());
        near += filtering_count_near(&got, golden_pixels + golden_elastics[i].at);
        mr_image_fini(&got, NULL);
        mr_image_fini(&image, NULL);
    }
    assert_true(near <= sizeof golden_pixels / 1000);
}

/* The last ones: all of it far away, and the widest image. */
static void test_parts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 120; i++) {
        mr__op op = {.kind = MR__OP_ELASTIC, .u.elastic = random_elastic()};
        uint32_t width = random_side(&op.u.elastic, i < 60 ? 10 : 150), height = random_side(&op.u.elastic, 50);
        if (i >= 110)
            op.u.elastic.alpha[i % 2] = MR__ELASTIC_ALPHA_MAX;
        width = i == 119 ? MR_RECIPE_SIDE_MAX : width;
        mr_image image = filtering_picture(width, height, below(2) == 0 ? 1 : 3, below(3));
        filtering_check_parts(op, &image, &seed);
        mr_image_fini(&image, NULL);
    }
}

/* Nothing moves: every pixel comes back as it was, whatever the filter. */
static void test_nothing_moves(void **state)
{
    static const uint32_t sides[] = {1, 2, 3, 5, 97, 224, 1021};
    (void)state;
    for (uint32_t i = 0; i < 7 * 3; i++) {
        mr_image image = filtering_picture(sides[i / 3], sides[6 - i / 3], 3, 0);
        mr__op op = {.kind = MR__OP_ELASTIC, .u.elastic = {.sigma = {0.001, 0.001}}};
        op.u.elastic.sampling = (mr_sampling)(1 + i % 3);
        mr_image got = filtering_whole(op, &image, mr__cpu_detect());
        picture_compare(&got, &image, "alpha 0");
        mr_image_fini(&got, NULL);
        mr_image_fini(&image, NULL);
    }
}

/* Places half-way between two pixels, in and out of the image, and rows that end where memory does. */
static void test_look_kernels(void **state)
{
    enum { N = 45, WIDTH = 21, HEIGHT = 6 };
    mr__elastics portable, k;
    (void)state;
    mr__elastics_init(&portable, 0);
    mr__elastics_init(&k, mr__cpu_detect());
    for (uint32_t i = 0; i < 200; i++) {
        guard g;
        mr_image image = filtering_picture(WIDTH, HEIGHT, i % 2 == 0 ? 1 : 3, 0);
        mr_image guarded = guard_image(&g, &image, false);
        mr__elastic_view view = {.pixels = guarded.pixels, .stride = guarded.stride, .right = WIDTH, .width = WIDTH};
        view.height = HEIGHT;
        view.channels = image.channels;
        for (uint32_t j = 0; j < HEIGHT; j++)
            memcpy((uint8_t *)guarded.pixels + (ptrdiff_t)j * guarded.stride,
                   (uint8_t *)image.pixels + (ptrdiff_t)j * image.stride, WIDTH * image.channels);
        float x[N], y[N];
        uint8_t got[3 * N], wanted[3 * N];
        for (uint32_t j = 0; j < N; j++) {
            x[j] = (float)(below(4 * WIDTH + 16)) * 0.25f - 2.0f;
            y[j] = i < 100 ? (float)(below(4 * HEIGHT - 4)) * 0.25f : (float)(below(4 * HEIGHT + 16)) * 0.25f - 2.0f;
            x[j] = j < 24 ? (float)(WIDTH - 2) - (float)below(3 * 4) * 0.25f : x[j];
        }
        k.bilinear(&view, x, y, N, got);
        portable.bilinear(&view, x, y, N, wanted);
        assert_memory_equal(got, wanted, N * image.channels);
        k.nearest(&view, x, y, N, got);
        for (uint32_t j = 0; j < N; j++) {
            int at_x = (int)rintf(x[j]), at_y = (int)rintf(y[j]);
            bool inside = at_x >= 0 && at_x < WIDTH && at_y >= 0 && at_y < HEIGHT;
            const uint8_t *from =
                inside ? (uint8_t *)image.pixels + at_y * image.stride + at_x * (int)image.channels : view.fill;
            assert_memory_equal(got + j * image.channels, from, image.channels);
        }
        guard_free(&g);
        mr_image_fini(&image, NULL);
    }
}

static void refuse(mr_step step, const char *words)
{
    step.kind = MR_STEP_ELASTIC;
    mr__detail_clear(&detail);
    assert_int_equal(mr__step_elastic.settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, words);
}

static void test_refused(void **state)
{
    mr_step step = {.kind = MR_STEP_ELASTIC};
    uint32_t draws[2] = {1, 2};
    mr__chain chain;
    (void)state;
    refuse((mr_step){.alpha = {-1.0, 1.0}}, "elastic: alpha=-1");
    refuse((mr_step){.alpha = {1.0, INFINITY}}, "elastic: alpha=inf");
    refuse((mr_step){.sigma = {0.0, 1.0}}, "elastic: sigma=0");
    refuse((mr_step){.sigma = {1.0, 251.0}}, "elastic: sigma=251");
    refuse((mr_step){.sigma = {1.0, NAN}}, "elastic: sigma=");
    refuse((mr_step){.sampling = (mr_sampling)9}, "elastic: no sampling has the number 9");
    assert_int_equal(mr__step_elastic.settle(&step, &detail), 0);
    mr__chain_init(&chain, 100, 20, false, NULL);
    assert_int_equal(mr__step_elastic.resolve(&step, draws, &chain, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "sigma=5 blurs over 41 pixels, too many for an image of 100 x 20");
    mr__chain_init(&chain, 21, 21, false, NULL);
    assert_int_equal(mr__step_elastic.resolve(&step, draws, &chain, &detail), 0);
}

static void test_step(void **state)
{
    static mr__follow follow;
    mr_step step = {.kind = MR_STEP_ELASTIC, .alpha = {7.0, 0.0}, .fill = {1, 2, 3}};
    uint32_t draws[2] = {5, 6};
    mr__chain chain;
    char text[100];
    (void)state;
    assert_int_equal(mr__step_elastic.settle(&step, &detail), 0);
    assert_int_equal(mr__step_draw_count(&step), 2);
    mr__follow_init(&follow);
    mr__chain_init(&chain, 100, 50, false, &follow);
    assert_int_equal(mr__step_elastic.resolve(&step, draws, &chain, &detail), 0);
    assert_int_equal(chain.op_count, 1);
    const mr__elastic *e = &chain.op[0].u.elastic;
    assert_true(e->alpha[0] == 7.0 && e->alpha[1] == 0.0 && e->sigma[0] == 5.0 && e->sigma[1] == 5.0);
    assert_true(e->key[0] == 5 && e->key[1] == 6 && e->sampling == MR_SAMPLING_BILINEAR && e->fill[2] == 3);
    assert_int_equal(follow.count, 1);
    assert_int_equal(follow.moves[0].kind, MR__MOVE_ELASTIC);
    assert_true(follow.moves[0].width == 100 && follow.moves[0].to_height == 50);
    assert_memory_equal(follow.moves[0].u.elastic.key, e->key, sizeof e->key);
    mr__op_elastic.tell(&chain.op[0], text, sizeof text);
    assert_string_equal(text, "elastic with alpha 7/0, sigma 5/5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_is_by_place),
        cmocka_unit_test(test_noise_is_uniform),
        cmocka_unit_test(test_field_golden),
        cmocka_unit_test(test_field_parts),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_nothing_moves),
        cmocka_unit_test(test_look_kernels),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
