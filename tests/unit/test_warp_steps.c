// SPDX-License-Identifier: Apache-2.0
/* rotate, affine, shear, translate, perspective: what they draw, what they refuse, what they note. */
#include "test.h"

#include "picture.h"
#include "step/follow.h"
#include "step/step.h"

#include <math.h>
#include <string.h>

static uint64_t seed = 3;
static mr__chain chain;
static mr__follow follow;
static mr__detail detail;

static mr_step step_of(mr_step_kind kind)
{
    return (mr_step){.struct_size = sizeof(mr_step), .kind = kind};
}

static void settle(mr_step *step)
{
    assert_int_equal(mr__step_type_of(step->kind)->settle(step, &detail), 0);
}

/* What a step does to an image of this size; with these draws, or with random ones. NULL: nothing. */
static const mr__move *resolve(const mr_step *step, const uint32_t *draws, uint32_t width, uint32_t height)
{
    const mr__step_type *type = mr__step_type_of(step->kind);
    uint32_t drawn[32];
    assert_true(mr__step_draw_count(step) <= 32);
    for (size_t i = 0; i < 32; i++)
        drawn[i] = draws != NULL && i < mr__step_draw_count(step) ? draws[i] : picture_random(&seed);
    mr__follow_init(&follow);
    mr__chain_init(&chain, width, height, false, &follow);
    assert_int_equal(type->resolve(step, drawn, &chain, &detail), 0);
    assert_int_equal(chain.op_count, follow.count);
    return follow.count == 0 ? NULL : &follow.moves[0];
}

/* That counts are what chances make them: beyond 5 sigma of chi-square something is wrong, not unlucky. */
static void assert_likely(const uint32_t *counts, const double *chances, size_t n, uint32_t total)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double expected = chances[i] * total;
        sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    }
    double degrees = (double)n - 1.0;
    if (!(fabs(sum - degrees) < 5.0 * sqrt(2.0 * degrees)))
        fail_msg("a chi-square of %g with %g degrees of freedom", sum, degrees);
}

static void assert_close(double a, double b)
{
    if (!(fabs(a - b) < 1e-6))
        fail_msg("%g is not %g", a, b);
}

enum { TIMES = 100000 };

static void test_rotate(void **state)
{
    (void)state;
    mr_step step = step_of(MR_STEP_ROTATE);
    step.degrees[0] = -30.0;
    step.degrees[1] = 10.0;
    settle(&step);
    assert_int_equal(step.sampling, MR_SAMPLING_NEAREST);
    assert_close(resolve(&step, (const uint32_t[]){0}, 20, 10)->u.rotate.degrees, -30.0);
    assert_close(resolve(&step, (const uint32_t[]){UINT32_MAX}, 20, 10)->u.rotate.degrees, 10.0);
    uint32_t counts[8] = {0};
    const double chances[8] = {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125};
    for (uint32_t i = 0; i < TIMES; i++)
        counts[(size_t)((resolve(&step, NULL, 20, 10)->u.rotate.degrees + 30.0) / 5.0)]++;
    assert_likely(counts, chances, 8, TIMES);
    const mr__move *move = resolve(&step, (const uint32_t[]){0}, 20, 10);
    assert_int_equal(move->kind, MR__MOVE_ROTATE);
    assert_true(move->width == 20 && move->height == 10 && move->to_width == 20 && move->to_height == 10);
    step.expand = true;
    move = resolve(&step, (const uint32_t[]){0}, 20, 10);
    assert_true(move->to_width == 24 && move->to_height == 20); /* as Pillow */
    assert_true(chain.op[0].to_width == 24 && chain.op[0].to_height == 20);
}

/* -6.4 to 6.4: the numbers at both ends have less than a pixel to come from. */
static void test_translate(void **state)
{
    (void)state;
    mr_step step = step_of(MR_STEP_TRANSLATE);
    step.translate[0] = 0.064;
    step.translate[1] = 1.0;
    settle(&step);
    uint32_t x[13] = {0}, y[5] = {0};
    double chances[13], rows[5] = {0.125, 0.25, 0.25, 0.25, 0.125};
    for (size_t i = 0; i < 13; i++)
        chances[i] = (i == 0 || i == 12 ? 0.9 : 1.0) / 12.8;
    for (uint32_t i = 0; i < TIMES; i++) {
        const mr__move *move = resolve(&step, NULL, 100, 2);
        double moved[2] = {move != NULL ? move->u.affine.translate[0] : 0.0,
                           move != NULL ? move->u.affine.translate[1] : 0.0};
        assert_true(moved[0] == floor(moved[0]) && moved[1] == floor(moved[1]));
        x[(size_t)(moved[0] + 6.0)]++;
        y[(size_t)(moved[1] + 2.0)]++;
    }
    assert_likely(x, chances, 13, TIMES);
    assert_likely(y, rows, 5, TIMES);
}

static void test_affine(void **state)
{
    (void)state;
    mr_step step = step_of(MR_STEP_AFFINE);
    settle(&step);
    assert_true(step.scale_low == 1.0 && step.scale_high == 1.0);
    assert_null(resolve(&step, NULL, 20, 10));
    step.degrees[0] = -10.0;
    step.degrees[1] = 10.0;
    step.translate[0] = 0.5;
    step.translate[1] = 0.25;
    step.scale_low = 0.5;
    step.scale_high = 2.0;
    memcpy(step.shear, (const double[]){-1.0, 2.0, -3.0, 4.0}, sizeof step.shear);
    settle(&step);
    const mr__affine *a = &resolve(&step, (const uint32_t[]){0, 0, 0, 0, 0, 0}, 20, 12)->u.affine;
    assert_close(a->degrees, -10.0);
    assert_true(a->translate[0] == -10.0 && a->translate[1] == -3.0);
    assert_close(a->scale, 0.5);
    assert_close(a->shear[0], -1.0);
    assert_close(a->shear[1], -3.0);
    uint32_t most[6];
    for (size_t i = 0; i < 6; i++) {
        memset(most, 0, sizeof most);
        most[i] = UINT32_MAX;
        a = &resolve(&step, most, 20, 12)->u.affine;
        assert_close(a->degrees, i == 0 ? 10.0 : -10.0);
        assert_close(a->translate[0], i == 1 ? 10.0 : -10.0);
        assert_close(a->translate[1], i == 2 ? 3.0 : -3.0);
        assert_close(a->scale, i == 3 ? 2.0 : 0.5);
        assert_close(a->shear[0], i == 4 ? 2.0 : -1.0);
        assert_close(a->shear[1], i == 5 ? 4.0 : -3.0);
    }
    step.kind = MR_STEP_SHEAR;
    settle(&step);
    a = &resolve(&step, (const uint32_t[]){0, UINT32_MAX}, 20, 12)->u.affine;
    assert_true(a->degrees == 0.0 && a->translate[0] == 0.0 && a->scale == 1.0);
    assert_close(a->shear[0], -1.0);
    assert_close(a->shear[1], 4.0);
}

/* Each corner is anywhere in its part, as torchvision draws it: 0 to floor(0.6 * 5) along x, 0 to floor(0.6 * 3). */
static void test_perspective(void **state)
{
    (void)state;
    mr_step step = step_of(MR_STEP_PERSPECTIVE);
    settle(&step);
    assert_true(step.distortion == 0.5 && step.chance == 0.5 && step.sampling == MR_SAMPLING_BILINEAR);
    step.distortion = 0.6;
    step.chance = 1.0;
    settle(&step);
    uint32_t counts[8][4] = {{0}}, total = 0;
    const double along[4] = {0.25, 0.25, 0.25, 0.25}, down[2] = {0.5, 0.5};
    for (uint32_t i = 0; i < TIMES; i++) {
        const mr__move *move = resolve(&step, NULL, 11, 7);
        if (move == NULL)
            continue; /* corners that stay, or on a line: of these, one in 4096 and fewer */
        const int32_t(*c)[2] = move->u.perspective.corners;
        const int32_t ways[8] = {c[0][0],      c[0][1],     10 - c[1][0], c[1][1],
                                 10 - c[2][0], 6 - c[2][1], c[3][0],      6 - c[3][1]};
        for (size_t k = 0; k < 8; k++) {
            assert_true(ways[k] >= 0 && ways[k] < (k % 2 == 0 ? 4 : 2));
            counts[k][ways[k]]++;
        }
        total++;
    }
    assert_true(total > TIMES - TIMES / 1000);
    for (size_t k = 0; k < 8; k++)
        assert_likely(counts[k], k % 2 == 0 ? along : down, k % 2 == 0 ? 4 : 2, total);
    step.chance = 0.0;
    assert_null(resolve(&step, NULL, 11, 7));
}

/* Where nothing would change, nothing is done; where nothing can be, neither. */
static void test_nothing(void **state)
{
    (void)state;
    static const uint8_t fill[4] = {0};
    const double center[2] = {3.0, 4.5};
    mr__affine affine = {.scale = 1.0, .has_center = true, .center = {3.0, 4.5}};
    const int32_t same[4][2] = {{0, 0}, {8, 0}, {8, 6}, {0, 6}}, line[4][2] = {{0, 0}, {4, 3}, {8, 6}, {0, 6}};
    const int32_t one[4][2] = {{0, 0}, {0, 0}, {0, 6}, {0, 6}};
    for (int sampling = 1; sampling <= 3; sampling++) {
        mr__chain_init(&chain, 9, 7, false, NULL);
        for (int degrees = -720; degrees <= 720; degrees += 360) {
            assert_int_equal(mr__chain_rotate(&chain, degrees, false, NULL, (mr_sampling)sampling, fill, &detail), 0);
            assert_int_equal(mr__chain_rotate(&chain, degrees, true, center, (mr_sampling)sampling, fill, &detail), 0);
        }
        assert_int_equal(mr__chain_affine(&chain, &affine, (mr_sampling)sampling, fill, &detail), 0);
        assert_int_equal(mr__chain_perspective(&chain, same, (mr_sampling)sampling, fill, &detail), 0);
        assert_int_equal(mr__chain_perspective(&chain, line, (mr_sampling)sampling, fill, &detail), 0);
        assert_int_equal(chain.op_count, 0);
        mr__chain_init(&chain, 1, 7, false, NULL);
        assert_int_equal(mr__chain_perspective(&chain, one, (mr_sampling)sampling, fill, &detail), 0);
        assert_int_equal(chain.op_count, 0);
    }
    mr__chain_init(&chain, 16000, 16000, false, NULL);
    assert_int_equal(mr__chain_rotate(&chain, 45.0, true, NULL, MR_SAMPLING_NEAREST, fill, &detail), MR_ELIMIT);
    assert_contains(detail.text, "22628 x 22628");
}

/* One thing that is wrong, and what is said of it. */
static void refuse(mr_step step, const char *says)
{
    assert_int_equal(mr__step_type_of(step.kind)->settle(&step, &detail), MR_EARGUMENT);
    assert_contains(detail.text, says);
    assert_contains(detail.text, mr__step_type_of(step.kind)->name);
}

static void test_refused(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mr_step step = step_of(MR_STEP_ROTATE);
        step.degrees[i % 2] = bad[i];
        refuse(step, "degrees");
        step = step_of(MR_STEP_ROTATE);
        step.has_center = true;
        step.center[i % 2] = bad[i];
        refuse(step, "center");
        step = step_of(MR_STEP_AFFINE);
        step.scale_low = step.scale_high = bad[i];
        refuse(step, "scale");
        step = step_of(MR_STEP_SHEAR);
        step.shear[i % 4] = bad[i];
        refuse(step, "shear");
        step = step_of(MR_STEP_TRANSLATE);
        step.translate[i % 2] = bad[i];
        refuse(step, "translate");
        step = step_of(MR_STEP_PERSPECTIVE);
        step.distortion = bad[i];
        refuse(step, "distortion");
        step = step_of(MR_STEP_PERSPECTIVE);
        step.has_chance = true;
        step.chance = bad[i];
        refuse(step, "chance");
        step = step_of((mr_step_kind)(MR_STEP_ROTATE + i));
        step.sampling = (mr_sampling)9;
        refuse(step, "sampling");
    }
}

static void test_shapes(void **state)
{
    (void)state;
    for (int kind = MR_STEP_ROTATE; kind <= MR_STEP_PERSPECTIVE; kind++) {
        mr_step step = step_of((mr_step_kind)kind);
        const mr__step_type *type = mr__step_type_of(step.kind);
        settle(&step);
        mr__shape shape = {20, 10, 3, 8}, alpha = {20, 10, 4, 8}, deep = {20, 10, 3, 16};
        assert_int_equal(type->shape(&step, &shape, &detail), 0);
        assert_true(shape.width == 20 && shape.height == 10 && shape.channels == 3 && shape.depth == 8);
        assert_int_equal(type->shape(&step, &alpha, &detail), MR_EARGUMENT);
        assert_contains(detail.text, "convert(rgb)");
        assert_int_equal(type->shape(&step, &deep, &detail), MR_EARGUMENT);
        step.expand = true;
        assert_int_equal(type->shape(&step, &shape, &detail), 0);
        assert_int_equal(shape.width, kind == MR_STEP_ROTATE ? 0 : 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotate),      cmocka_unit_test(test_translate), cmocka_unit_test(test_affine),
        cmocka_unit_test(test_perspective), cmocka_unit_test(test_nothing),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
