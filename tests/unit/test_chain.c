// SPDX-License-Identifier: Apache-2.0
/* A folded chain does what its operations do one by one, and looks at no more than it needs. */
#include "test.h"

#include "picture.h"
#include "plain_chain.h"
#include "step/resample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

/* A step of a program's: every byte is another, moved around where the size changes. */
static int run_user(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)user;
    (void)scratch;
    size_t n = mr_image_pixel_nbytes(from);
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            const uint8_t *source =
                (const uint8_t *)from->pixels + (ptrdiff_t)(y % from->height) * from->stride + x % from->width * n;
            for (size_t i = 0; i < n; i++)
                ((uint8_t *)to->pixels + (ptrdiff_t)y * to->stride + x * n)[i] = (uint8_t)(source[i] + draws[0]);
        }
    return 0;
}

static const mr_user_step users[] = {
    {.struct_size = sizeof(mr_user_step), .name = "same", .draws = 1, .run = run_user},
    {.struct_size = sizeof(mr_user_step), .name = "wide", .width = 31, .draws = 1, .run = run_user},
};
static const uint32_t user_draws[] = {3, 77};

/* What a chain is made of, beside the image that it stands for. */
typedef struct walk {
    mr_resizer *resizer;
    mr__chain chain;
    mr_image now;
    mr__detail detail;
    char said[600];
} walk;

static void say(walk *w, const char *what, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    size_t n = strlen(w->said);
    snprintf(w->said + n, sizeof w->said - n, " %s(%u %u %u %u)", what, a, b, c, d);
}

static void replace(walk *w, int result, mr_image next)
{
    assert_int_equal(result, 0);
    mr_image_fini(&w->now, NULL);
    w->now = next;
}

static void walk_crop(walk *w, mr_rect rect)
{
    say(w, "crop", rect.x, rect.y, rect.width, rect.height);
    replace(w, mr__chain_crop(&w->chain, rect, &w->detail), plain_crop(&w->now, rect));
}

static void walk_resize(walk *w, uint32_t width, uint32_t height, mr_filter filter)
{
    say(w, mr_filter_name(filter), width, height, 0, 0);
    replace(w, mr__chain_resize(&w->chain, width, height, filter, &w->detail),
            plain_resize(w->resizer, &w->now, width, height, filter));
}

static void walk_flip(walk *w, bool x, bool y)
{
    say(w, "flip", x, y, 0, 0);
    replace(w, mr__chain_flip(&w->chain, x, y, &w->detail), plain_flip(&w->now, x, y));
}

static void walk_pad(walk *w, const uint32_t pad[4], mr_border border, const uint8_t fill[4])
{
    static const char *const names[] = {"fill", "edge", "reflect", "symmetric"};
    say(w, names[border], pad[0], pad[1], pad[2], pad[3]);
    replace(w, mr__chain_pad(&w->chain, pad, border, fill, &w->detail), plain_pad(&w->now, pad, border, fill));
}

static int add_user(mr__chain *chain, const mr_user_step *user, const uint32_t *draws, mr__detail *detail)
{
    mr__op op = {.kind = MR__OP_USER, .u.user = {user, draws}};
    mr__chain_size(chain, &op.to_width, &op.to_height);
    op.to_width = user->width != 0 ? user->width : op.to_width;
    op.to_height = user->height != 0 ? user->height : op.to_height;
    return mr__chain_op(chain, op, detail);
}

static void walk_user(walk *w, const mr_user_step *user, const uint32_t *draws)
{
    say(w, user->name, 0, 0, 0, 0);
    replace(w, add_user(&w->chain, user, draws, &w->detail), plain_user(&w->now, user, draws));
}

static void random_pad(walk *w)
{
    static const uint8_t fills[][4] = {{0, 0, 0, 0}, {9, 8, 7, 6}, {255, 0, 3, 128}};
    mr_border border = (mr_border)(below(2) * below(4));
    uint32_t pad[4], most[2] = {w->now.width, w->now.height};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t limit = border == MR_BORDER_REFLECT ? most[i % 2] : most[i % 2] + 1;
        pad[i] = below(3) == 0 ? 0 : below(border == MR_BORDER_FILL || limit > 9 ? 9 : limit);
    }
    walk_pad(w, pad, border, fills[below(3)]);
}

static void random_operation(walk *w)
{
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        walk_crop(w, picture_random_rect(&seed, w->now.width, w->now.height));
        break;
    case 3:
        walk_resize(w, 1 + below(40), 1 + below(40), (mr_filter)below(6));
        break;
    case 4:
        walk_flip(w, below(2), below(2));
        break;
    case 5:
    case 6:
        random_pad(w);
        break;
    default:
        if (below(4) == 0)
            walk_user(w, &users[below(2)], &user_draws[below(2)]);
    }
}

static walk walk_of(mr_resizer *resizer, uint32_t width, uint32_t height, uint32_t channels, uint32_t depth)
{
    walk w = {.resizer = resizer};
    w.now = picture_make(width, height, channels, depth, seed);
    mr__chain_init(&w.chain, width, height, below(3) == 0, NULL);
    return w;
}

/* What holds of every pass (chain.c). */
static void check_pass(const mr__pass *p, bool is_last)
{
    mr_rect region = mr__pass_region(p);
    assert_true(p->window.x + p->window.width <= p->to_width && p->window.y + p->window.height <= p->to_height);
    assert_true(p->x + p->window.width <= p->canvas_width && p->y + p->window.height <= p->canvas_height);
    assert_true(region.width >= 1 && region.height >= 1);
    assert_true(region.x >= p->crop.x && region.x + region.width <= p->crop.x + p->crop.width);
    assert_true(region.y >= p->crop.y && region.y + region.height <= p->crop.y + p->crop.height);
    assert_true(p->crop.x + p->crop.width <= p->width && p->crop.y + p->crop.height <= p->height);
    bool whole = p->window.width == p->to_width && p->window.height == p->to_height;
    if (p->to_width == p->crop.width && p->to_height == p->crop.height)
        assert_true(whole || p->window.width == 0);
    if (p->border != MR_BORDER_FILL)
        assert_true(whole);
    assert_true((p->window.width == 0) == (p->window.height == 0));
    if (p->window.width == 0)
        assert_true(p->x == 0 && p->y == 0 && !p->flip_x && !p->flip_y && p->border == MR_BORDER_FILL);
    assert_true(!is_last || p->ops == 0);
}

static void random_walk(mr_resizer *resizer)
{
    static const uint32_t channels[] = {1, 3, 4};
    walk w = walk_of(resizer, 1 + below(30), 1 + below(30), channels[below(3)], below(3) == 0 ? 16 : 8);
    mr_image source = plain_crop(&w.now, (mr_rect){0, 0, w.now.width, w.now.height});
    for (uint32_t n = below(9); n > 0; n--)
        if (w.now.width < 200 && w.now.height < 200) {
            w.chain.step = n;
            random_operation(&w);
        }
    if (below(4) != 0)
        mr__chain_narrow(&w.chain);
    for (size_t i = 0; i < w.chain.count; i++)
        check_pass(&w.chain.pass[i], i + 1 == w.chain.count);
    mr_image got = plain_chain(resizer, &w.chain, &source);
    if (!picture_same(&got, &w.now))
        print_message("%u x %u, %u channels of %u bits:%s\n", source.width, source.height, source.channels,
                      source.depth, w.said);
    picture_compare(&got, &w.now, "a folded chain");
    mr_image_fini(&got, NULL);
    mr_image_fini(&w.now, NULL);
    mr_image_fini(&source, NULL);
}

static void folded_chains_change_nothing(void **state)
{
    (void)state;
    mr_resizer *resizer;
    assert_int_equal(mr_resizer_new(NULL, &resizer), 0);
    size_t n = test_long() ? 200000 : test_quick() ? 1500 : 12000;
    for (seed = 1; n > 0; n--)
        random_walk(resizer);
    mr_resizer_free(resizer);
}

/* How many passes a list of operations takes: c crop, r resize, f flip, p fill, q another fill, e edge, u user. */
static size_t passes_of(const char *operations)
{
    static const uint32_t pad[4] = {2, 3, 4, 5};
    static const uint8_t black[4] = {0, 0, 0, 0}, gray[4] = {128, 128, 128, 128};
    mr__chain chain;
    mr__detail detail;
    mr__chain_init(&chain, 100, 80, false, NULL);
    for (const char *o = operations; *o != 0; o++) {
        uint32_t width, height;
        int result = 0;
        mr__chain_size(&chain, &width, &height);
        if (*o == 'c')
            result = mr__chain_crop(&chain, (mr_rect){1, 1, width - 2, height - 2}, &detail);
        else if (*o == 'i')
            result = mr__chain_crop(&chain, (mr_rect){9, 9, width - 18, height - 18}, &detail);
        else if (*o == 'r')
            result = mr__chain_resize(&chain, width / 2, height / 2, MR_FILTER_BILINEAR, &detail);
        else if (*o == 'f')
            result = mr__chain_flip(&chain, true, true, &detail);
        else if (*o == 'p' || *o == 'q')
            result = mr__chain_pad(&chain, pad, MR_BORDER_FILL, *o == 'p' ? black : gray, &detail);
        else if (*o == 'e')
            result = mr__chain_pad(&chain, pad, MR_BORDER_EDGE, black, &detail);
        else
            result = add_user(&chain, &users[0], user_draws, &detail);
        assert_int_equal(result, 0);
    }
    return chain.count;
}

/* That nothing is folded would pass every other test. */
static void what_can_be_one_pass_is(void **state)
{
    (void)state;
    static const struct {
        const char *operations;
        size_t passes;
    } cases[] = {
        {"", 1},    {"cccc", 1}, {"cr", 1},  {"crf", 1},   {"crcfcpcfpc", 1}, {"pcpcfc", 1}, {"rr", 2},     {"fr", 2},
        {"ffr", 1}, {"pr", 2},   {"pir", 1}, {"rpifc", 1}, {"pq", 2},         {"piq", 1},    {"e", 1},      {"ef", 1},
        {"ec", 2},  {"ei", 1},   {"eir", 1}, {"ee", 2},    {"ep", 2},         {"pe", 2},     {"pie", 1},    {"re", 1},
        {"rce", 2}, {"ce", 1},   {"er", 2},  {"u", 2},     {"ucrf", 2},       {"uu", 2},     {"crfcpu", 2}, {"ufu", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (passes_of(cases[i].operations) != cases[i].passes)
            print_message("%s\n", cases[i].operations);
        assert_int_equal(passes_of(cases[i].operations), cases[i].passes);
    }
}

/* From the weights themselves. */
static void needed_of(uint32_t in, uint32_t out, mr_filter filter, uint32_t depth, mr_rect window, uint32_t *first,
                      uint32_t *end)
{
    size_t nbytes;
    mr__resample_axis axis;
    mr__resample_side side = mr__resample_side_whole(in, out, filter, depth);
    assert_true(mr__resample_axis_nbytes(&side, &nbytes));
    void *memory = aligned_alloc(64, (nbytes + 63) / 64 * 64);
    assert_true(mr__resample_axis_init(&axis, &side, memory));
    *first = in;
    *end = 0;
    for (uint32_t i = window.x; i < window.x + window.width; i++) {
        if (axis.count[i] == 0)
            continue;
        *first = axis.first[i] < *first ? axis.first[i] : *first;
        *end = axis.first[i] + axis.count[i] > *end ? axis.first[i] + axis.count[i] : *end;
    }
    free(memory);
}

static void regions_are_what_the_weights_say(void **state)
{
    (void)state;
    seed = 5;
    for (int i = 0; i < 20000; i++) {
        static const mr_filter filters[] = {MR_FILTER_BILINEAR, MR_FILTER_BOX, MR_FILTER_HAMMING, MR_FILTER_BICUBIC,
                                            MR_FILTER_LANCZOS};
        uint32_t in = 1 + below(below(4) == 0 ? 600 : 40), out = 1 + below(below(4) == 0 ? 300 : 40), first, end;
        mr__chain chain;
        mr__detail detail;
        mr_filter filter = filters[below(5)];
        mr__chain_init(&chain, in + 7, 1, false, NULL);
        assert_int_equal(mr__chain_crop(&chain, (mr_rect){5, 0, in, 1}, &detail), 0);
        assert_int_equal(mr__chain_resize(&chain, out, 1, filter, &detail), 0);
        mr_rect window = picture_random_rect(&seed, out, 1);
        assert_int_equal(mr__chain_crop(&chain, window, &detail), 0);
        mr_rect region = mr__pass_region(&chain.pass[0]);
        if (in == out)
            continue;
        needed_of(in, out, filter, 16, window, &first, &end);
        assert_int_equal(region.x, 5 + first);
        assert_int_equal(region.width, end - first);
        needed_of(in, out, filter, 8, window, &first, &end);
        assert_true(region.x <= 5 + first && region.x + region.width >= 5 + end);
    }
}

/* A column of numbers says by itself which of them nearest takes. */
static void regions_of_nearest_are_what_it_takes(void **state)
{
    (void)state;
    mr_resizer *resizer;
    assert_int_equal(mr_resizer_new(NULL, &resizer), 0);
    seed = 6;
    for (int i = 0; i < 3000; i++) {
        uint32_t in = 1 + below(256), out = 1 + below(300), first = in, end = 0;
        mr_rect window = picture_random_rect(&seed, 1, out);
        mr__pass pass = {.crop = {0, 0, 1, in}, .to_width = 1, .to_height = out, .filter = MR_FILTER_NEAREST};
        pass.window = window;
        for (uint32_t depth = 8; depth <= 16; depth += 8) {
            mr_image from;
            assert_int_equal(mr_image_init(&from, 1, in, 1, depth, NULL), 0);
            for (uint32_t y = 0; y < in; y++)
                if (depth == 8)
                    ((uint8_t *)from.pixels)[y] = (uint8_t)y;
                else
                    ((uint16_t *)from.pixels)[y] = (uint16_t)y;
            mr_image to = plain_resize(resizer, &from, 1, out, MR_FILTER_NEAREST);
            for (uint32_t y = window.y; y < window.y + window.height; y++) {
                uint32_t taken = depth == 8 ? ((uint8_t *)to.pixels)[y] : ((uint16_t *)to.pixels)[y];
                first = taken < first ? taken : first;
                end = taken >= end ? taken + 1 : end;
            }
            mr_image_fini(&from, NULL);
            mr_image_fini(&to, NULL);
        }
        mr_rect region = mr__pass_region(&pass);
        assert_int_equal(region.y, first);
        assert_int_equal(region.height, end - first);
    }
    mr_resizer_free(resizer);
}

static void what_is_too_much_is_refused(void **state)
{
    (void)state;
    static const uint32_t pad[4] = {0, 0, 1, 0}, huge[4] = {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
    static const uint8_t fill[4];
    mr__chain chain;
    mr__detail detail;
    mr__chain_init(&chain, 0x7fffffff, 0x7fffffff, false, NULL);
    assert_int_equal(mr__chain_pad(&chain, huge, MR_BORDER_FILL, fill, &detail), MR_ELIMIT);
    assert_int_equal(mr__chain_crop(&chain, (mr_rect){0x7ffffff0, 0, 16, 1}, &detail), MR_EARGUMENT);
    assert_int_equal(mr__chain_crop(&chain, (mr_rect){0xfffffff0, 0, 16, 1}, &detail), MR_EARGUMENT);
    assert_int_equal(mr__chain_crop(&chain, (mr_rect){0, 0, 0, 1}, &detail), MR_EARGUMENT);
    assert_int_equal(mr__chain_crop(&chain, (mr_rect){0x7fffffef, 0, 16, 16384}, &detail), 0);
    assert_int_equal(mr__chain_resize(&chain, 16385, 1, MR_FILTER_BILINEAR, &detail), MR_ELIMIT);
    assert_contains(detail.text, "16385 x 1");
    assert_int_equal(mr__chain_resize(&chain, 16384, 1, MR_FILTER_BILINEAR, &detail), 0);
    assert_int_equal(mr__chain_pad(&chain, pad, MR_BORDER_FILL, fill, &detail), MR_ELIMIT);
    assert_contains(detail.text, "16385");
    for (int i = 1; i < MR__STAGES_MAX; i++)
        assert_int_equal(mr__chain_resize(&chain, 16 + i % 2, 1, MR_FILTER_BILINEAR, &detail), 0);
    assert_int_equal(mr__chain_flip(&chain, true, false, &detail), 0);
    mr__chain kept = chain;
    assert_int_equal(mr__chain_resize(&chain, 20, 1, MR_FILTER_BILINEAR, &detail), MR_ELIMIT);
    assert_contains(detail.text, "32 passes");
    assert_int_equal(add_user(&chain, &users[0], user_draws, &detail), MR_ELIMIT);
    assert_memory_equal(&chain, &kept, sizeof chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_chains_change_nothing),     cmocka_unit_test(what_can_be_one_pass_is),
        cmocka_unit_test(regions_are_what_the_weights_say), cmocka_unit_test(regions_of_nearest_are_what_it_takes),
        cmocka_unit_test(what_is_too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
