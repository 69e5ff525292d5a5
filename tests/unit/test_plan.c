// SPDX-License-Identifier: Apache-2.0
/* Plans carried out by hand and held against the plain way, for every orientation, reduction and region. */
#include "test.h"

#include "codec/plan.h"
#include "picture.h"
#include "reference.h"

#include <millrace/millrace.h>
#include <stdio.h>

/* What codecs can be like: what they do by themselves. */
static bool gives_reduced(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    (void)reduce;
    return channels == info->channels && depth == info->depth;
}

static bool gives_shapes(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    (void)info, (void)channels, (void)depth;
    return reduce == 1;
}

static bool gives_all(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    (void)info, (void)channels, (void)depth, (void)reduce;
    return true;
}

static const mr__codec codecs[] = {
    {.name = "plain"},
    {.name = "reducing", .gives = gives_reduced},
    {.name = "converting", .gives = gives_shapes},
    {.name = "able", .gives = gives_all},
};

enum { WIDTH = 19, HEIGHT = 13, STAGE_NBYTES = WIDTH * HEIGHT * 8 };

typedef struct bench {
    mr_image stored;
    mr_limits limits;
    mr_hooks hooks;
    mr__detail detail;
    mr__call call;
} bench;

static void set_up(bench *b, uint32_t channels, uint32_t depth)
{
    assert_int_equal(mr__limits_init(&b->limits, NULL), 0);
    assert_int_equal(mr__hooks_init(&b->hooks, NULL), 0);
    b->call = (mr__call){.hooks = &b->hooks, .limits = &b->limits, .detail = &b->detail};
    assert_int_equal(mr_image_init(&b->stored, WIDTH, HEIGHT, channels, depth, NULL), 0);
    picture_noise(b->stored.pixels, (size_t)b->stored.stride * HEIGHT, 5);
}

static mr_info info_of(const bench *b, uint32_t orientation)
{
    return (mr_info){.width = WIDTH,
                     .height = HEIGHT,
                     .channels = b->stored.channels,
                     .depth = b->stored.depth,
                     .orientation = orientation};
}

/* A codec's decode: the asked region of the stored image in the shape of `out`. */
static void decode_by_hand(const bench *b, const mr__codec *codec, const mr__request *request, const mr_image *out)
{
    bool native = out->channels == b->stored.channels && out->depth == b->stored.depth && request->reduce == 1;
    assert_true(native || codec->gives(request->info, out->channels, out->depth, request->reduce));
    mr_decode_hints hints = {
        .region = request->region, .reduce = request->reduce, .channels = out->channels, .depth = out->depth};
    mr_image whole;
    reference_decode(&b->stored, 1, &hints, &whole);
    assert_int_equal(mr_image_copy(&whole, out), 0);
    mr_image_fini(&whole, NULL);
}

static mr_image carry_out(const bench *b, const mr__codec *codec, const mr__plan *plan, uint8_t memory[4][STAGE_NBYTES])
{
    mr_image from = {0};
    assert_in_range(plan->stage_count, 1, 4);
    for (size_t i = 0; i < plan->stage_count; i++) {
        mr_image out = plan->stage[i].out;
        assert_true((size_t)out.stride == mr_image_row_nbytes(&out) && (size_t)out.stride * out.height <= STAGE_NBYTES);
        out.pixels = memory[i];
        if (plan->stage[i].kind == MR__STAGE_DECODE)
            decode_by_hand(b, codec, &plan->request, &out);
        else if (plan->stage[i].kind == MR__STAGE_REDUCE)
            assert_int_equal(mr_image_reduce(&from, plan->reduce, &out), 0);
        else if (plan->stage[i].kind == MR__STAGE_CONVERT)
            assert_int_equal(mr_image_convert(&from, &out), 0);
        else
            assert_int_equal(mr_image_orient(&from, plan->orientation, &out), 0);
        from = out;
    }
    return from;
}

static void check(bench *b, const mr__codec *codec, uint32_t orientation, const mr_decode_hints *hints)
{
    static _Alignas(64) uint8_t memory[4][STAGE_NBYTES];
    mr_info info = info_of(b, orientation);
    mr__plan plan;
    assert_int_equal(mr__plan_init(&plan, &b->call, codec, &info, hints), 0);
    mr_image got = carry_out(b, codec, &plan, memory), expected;
    reference_decode(&b->stored, orientation, hints, &expected);
    char what[160];
    snprintf(what, sizeof what, "%s codec, orientation %u, reduce %u, %u channels, %u bits, region %u,%u %ux%u",
             codec->name, orientation, hints->reduce, hints->channels, hints->depth, hints->region.x, hints->region.y,
             hints->region.width, hints->region.height);
    picture_compare(&got, &expected, what);
    mr_image_fini(&expected, NULL);
}

/* Every region of a side, numbered: the nth part of [0, length). */
static bool nth_part(uint32_t length, uint32_t n, uint32_t *start, uint32_t *size)
{
    *start = n % length;
    *size = n / length + 1;
    return *start + *size <= length;
}

static void check_regions(bench *b, const mr__codec *codec, uint32_t orientation, mr_decode_hints *hints, uint32_t step)
{
    uint32_t n = hints->reduce > 1 ? hints->reduce : 1;
    uint32_t width = (WIDTH + n - 1) / n, height = (HEIGHT + n - 1) / n;
    if (hints->orient && orientation >= 5) {
        uint32_t swap = width;
        width = height;
        height = swap;
    }
    for (uint32_t i = 0; i < width * width * height * height; i += step) {
        mr_rect *r = &hints->region;
        if (nth_part(width, i % (width * width), &r->x, &r->width) &&
            nth_part(height, i / (width * width), &r->y, &r->height))
            check(b, codec, orientation, hints);
    }
    hints->region = (mr_rect){0};
    check(b, codec, orientation, hints);
}

static void every_orientation_reduction_and_region(void **state)
{
    (void)state;
    static const uint32_t steps[] = {[0] = 101, [1] = 13, [2] = 1, [4] = 1, [8] = 1}; // full size: a sample of them
    bench b;
    set_up(&b, 1, 8);
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
        for (uint32_t orientation = 1; orientation <= 8; orientation++)
            for (uint32_t reduce = 0; reduce <= 8; reduce = reduce != 0 ? reduce * 2 : 1) {
                mr_decode_hints hints = {.reduce = reduce, .orient = true};
                check_regions(&b, &codecs[c], orientation, &hints, steps[reduce]);
            }
    mr_image_fini(&b.stored, NULL);
}

static void every_shape(void **state)
{
    (void)state;
    for (uint32_t stored = 0; stored < 8; stored++) {
        bench b;
        set_up(&b, stored % 4 + 1, stored < 4 ? 8 : 16);
        for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
            for (uint32_t channels = 0; channels <= 4; channels++)
                for (uint32_t depth = 0; depth <= 16; depth += 8)
                    for (uint32_t reduce = 1; reduce <= 4; reduce *= 2) {
                        mr_decode_hints hints = {.region = {1, 2, 2, 1},
                                                 .reduce = reduce,
                                                 .channels = channels,
                                                 .depth = depth,
                                                 .orient = true};
                        check(&b, &codecs[c], 6, &hints);
                        check(&b, &codecs[c], 1, &hints);
                    }
        mr_image_fini(&b.stored, NULL);
    }
}

static void the_orientation_is_left_alone_unless_asked(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 3, 8);
    mr_decode_hints hints = {0};
    for (uint32_t orientation = 1; orientation <= 8; orientation++)
        check_regions(&b, &codecs[0], orientation, &hints, 1999);
    mr_image_fini(&b.stored, NULL);
}

/* A codec that does everything is asked for everything, and nothing is done twice. */
static void stages_are_only_what_is_needed(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 3, 8);
    mr_info info = info_of(&b, 6);
    mr__plan plan;
    mr_decode_hints hints = {.reduce = 2, .channels = 1};
    assert_int_equal(mr__plan_init(&plan, &b.call, &codecs[3], &info, &hints), 0);
    assert_int_equal(plan.stage_count, 1);
    assert_int_equal(plan.request.reduce, 2);
    assert_int_equal(mr__plan_init(&plan, &b.call, &codecs[1], &info, &hints), 0);
    assert_int_equal(plan.stage_count, 2); // decode reduced, convert
    assert_int_equal(plan.request.reduce, 2);
    hints.orient = true;
    assert_int_equal(mr__plan_init(&plan, &b.call, &codecs[0], &info, &hints), 0);
    assert_int_equal(plan.stage_count, 4);
    assert_int_equal(plan.request.reduce, 1);
    hints = (mr_decode_hints){.accept_damaged = true};
    assert_int_equal(mr__plan_init(&plan, &b.call, &codecs[0], &info, &hints), 0);
    assert_int_equal(plan.stage_count, 1);
    assert_true(plan.request.accept_damaged);
    mr_image_fini(&b.stored, NULL);
}

static void bad_hints_are_refused_with_a_word(void **state)
{
    (void)state;
    static const struct {
        mr_decode_hints hints;
        const char *word;
    } cases[] = {
        {{.reduce = 3}, "reduce is 3"},
        {{.reduce = 16}, "reduce is 16"},
        {{.channels = 5}, "channels is 5"},
        {{.depth = 12}, "depth is 12"},
        {{.region = {0, 0, WIDTH + 1, 1}}, "which is 19x13"},
        {{.region = {0, 0, 1, HEIGHT + 1}}, "region 0,0 1x14"},
        {{.region = {WIDTH, 0, 1, 1}}, "region 19,0"},
        {{.region = {0, HEIGHT, 1, 1}}, "region 0,13"},
        {{.region = {1, 0, 0, 0}}, "region 1,0 0x0"},
        {{.region = {0, 0, 1, 0}}, "region"},
        {{.region = {2, 0, UINT32_MAX, 1}}, "region"},
        {{.region = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}}, "region"},
        {{.region = {0, 0, WIDTH, HEIGHT}, .orient = true}, "which is 13x19"}, // it is shown turned
        {{.region = {0, 0, 11, 1}, .reduce = 2}, "which is 10x7"},
    };
    bench b;
    set_up(&b, 3, 8);
    mr_info info = info_of(&b, 6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr__plan plan;
        mr__detail_clear(&b.detail);
        assert_int_equal(mr__plan_init(&plan, &b.call, &codecs[0], &info, &cases[i].hints), MR_EARGUMENT);
        assert_contains(b.detail.text, cases[i].word);
    }
    mr_image_fini(&b.stored, NULL);
}

/* Nothing wraps where the header is as large as can be. */
static void the_largest_image(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 1, 8);
    const uint32_t most = 0x7fffffff;
    mr_info info = {.width = most, .height = most, .channels = 4, .depth = 16, .orientation = 7};
    for (uint32_t reduce = 2; reduce <= 8; reduce *= 2) {
        uint32_t side = most / reduce + 1;
        mr_decode_hints hints = {.region = {0, 0, 1, 2}, .reduce = reduce, .orient = true};
        mr__plan plan;
        assert_int_equal(mr__plan_init(&plan, &b.call, &codecs[0], &info, &hints), 0);
        // Orientation 7 shows the stored bottom right corner first, whose blocks are one pixel short.
        assert_int_equal(plan.request.region.x, (side - 2) * reduce);
        assert_int_equal(plan.request.region.y, (side - 1) * reduce);
        assert_int_equal(plan.request.region.width, 2 * reduce - 1);
        assert_int_equal(plan.request.region.height, reduce - 1);
    }
    mr_image_fini(&b.stored, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_orientation_reduction_and_region),     cmocka_unit_test(every_shape),
        cmocka_unit_test(the_orientation_is_left_alone_unless_asked), cmocka_unit_test(stages_are_only_what_is_needed),
        cmocka_unit_test(bad_hints_are_refused_with_a_word),          cmocka_unit_test(the_largest_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
