// SPDX-License-Identifier: Apache-2.0
/* Chains beside a naive way: the public resizer, then pixel by pixel. */
#include "test.h"

#include "failing.h"
#include "guard.h"
#include "picture.h"
#include "step/augment.h"
#include "step/finish.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

static mr_image image_of(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth)
{
    mr_image image;
    assert_int_equal(mr_image_init(&image, width, height, channels, depth, NULL), 0);
    return image;
}

static uint8_t *pixel_at(const mr_image *image, uint32_t x, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride + x * mr_image_pixel_nbytes(image);
}

/* The place in 0..n-1 that stands for `i`, step by step. */
static uint32_t walk_back(mr_border border, int64_t i, uint32_t n)
{
    if (n == 1)
        return 0;
    while (i < 0 || i >= n) {
        if (border == MR_BORDER_EDGE)
            i = i < 0 ? 0 : n - 1;
        else if (border == MR_BORDER_REFLECT)
            i = i < 0 ? -i : 2 * ((int64_t)n - 1) - i;
        else
            i = i < 0 ? -i - 1 : 2 * (int64_t)n - 1 - i;
    }
    return (uint32_t)i;
}

static void put_fill(const mr__pass *pass, const mr_image *canvas, uint32_t x, uint32_t y)
{
    for (uint32_t c = 0; c < canvas->channels; c++) {
        if (canvas->depth == 16)
            ((uint16_t *)(void *)pixel_at(canvas, x, y))[c] = (uint16_t)(pass->fill[c] * 257);
        else
            pixel_at(canvas, x, y)[c] = pass->fill[c];
    }
}

/* The canvas pixel by pixel, each looked for in the resized image. */
static void place_naively(const mr__pass *pass, const mr_image *resized, const mr_image *canvas)
{
    for (uint32_t y = 0; y < canvas->height; y++)
        for (uint32_t x = 0; x < canvas->width; x++) {
            int64_t i = (int64_t)x - pass->x, j = (int64_t)y - pass->y;
            bool inside = i >= 0 && i < pass->window.width && j >= 0 && j < pass->window.height;
            if (!inside && pass->border == MR_BORDER_FILL) {
                put_fill(pass, canvas, x, y);
                continue;
            }
            uint32_t u = walk_back(pass->border, i, pass->window.width);
            uint32_t v = walk_back(pass->border, j, pass->window.height);
            u = pass->window.x + (pass->flip_x ? pass->window.width - 1 - u : u);
            v = pass->window.y + (pass->flip_y ? pass->window.height - 1 - v : v);
            memcpy(pixel_at(canvas, x, y), pixel_at(resized, u, v), mr_image_pixel_nbytes(canvas));
        }
}

static mr_image pass_naively(const mr__pass *pass, const mr_image *source)
{
    mr_resizer *resizer = NULL;
    mr_image crop, resized = image_of(pass->to_width, pass->to_height, source->channels, source->depth);
    mr_image canvas = image_of(pass->canvas_width, pass->canvas_height, source->channels, source->depth);
    mr_resize_options how = {sizeof how, pass->filter, MR_RESIZE_PILLOW_13};
    assert_int_equal(mr_image_crop(source, pass->crop, &crop), 0);
    assert_int_equal(mr_resizer_new(NULL, &resizer), 0);
    assert_int_equal(mr_resizer_resize(resizer, &crop, &how, &resized), 0);
    place_naively(pass, &resized, &canvas);
    mr_image_fini(&resized, NULL);
    mr_resizer_free(resizer);
    return canvas;
}

/* By the portable finisher, a pixel at a time. */
static uint8_t *finish_naively(const mr__finish *finish, const mr_image *canvas)
{
    mr__finisher f;
    mr__finisher_init(&f, finish, 0);
    size_t number = f.number_nbytes, count = (size_t)canvas->width * canvas->height;
    uint8_t *out = malloc(finish->output.sample_nbytes), one[16];
    assert_non_null(out);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *pixel = pixel_at(canvas, (uint32_t)(i % canvas->width), (uint32_t)(i / canvas->width));
        f.run(&f, pixel, 1, false, one, number);
        for (size_t c = 0; c < f.channels; c++)
            memcpy(out + (f.layout == MR_NCHW ? c * count + i : i * f.channels + c) * number, one + c * number, number);
    }
    return out;
}

static mr__finish random_finish(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth)
{
    mr__finish f = {.depth = depth};
    mr_dtype dtype = (mr_dtype)(MR_U8 + below(4));
    size_t number = dtype == MR_U8 ? 1 : dtype == MR_F32 ? 4 : 2;
    f.output = (mr_output){sizeof f.output, width, height, channels, (mr_batch_layout)below(2), dtype, 0};
    f.output.sample_nbytes = number * width * height * channels;
    f.normalize = dtype != MR_U8 && below(2);
    for (size_t c = 0; c < 4; c++) {
        f.mean[c] = 0.4f + 0.03f * (float)c;
        f.std[c] = 0.2f + 0.01f * (float)c;
    }
    return f;
}

static uint32_t random_side(void)
{
    uint32_t kind = below(8);
    return 1 + (kind == 0 ? below(300) : kind < 4 ? below(80) : below(16));
}

/* A pass over a source of this size; a border of another kind than fill has the whole window. */
static mr__pass random_pass(uint32_t width, uint32_t height)
{
    mr__pass p = {.width = width, .height = height};
    p.crop = picture_random_rect(&seed, width, height);
    p.to_width = below(3) == 0 ? p.crop.width : random_side();
    p.to_height = below(3) == 0 ? p.crop.height : random_side();
    p.filter = (mr_filter)below(6);
    p.border = (mr_border)below(4);
    p.window = (mr_rect){0, 0, p.to_width, p.to_height};
    if (p.border == MR_BORDER_FILL && below(2))
        p.window = picture_random_rect(&seed, p.to_width, p.to_height);
    p.flip_x = below(2);
    p.flip_y = below(4) == 0;
    p.x = below(2) * below(40);
    p.y = below(2) * below(40);
    p.canvas_width = p.x + p.window.width + below(2) * below(40);
    p.canvas_height = p.y + p.window.height + below(2) * below(40);
    for (size_t c = 0; c < 4; c++)
        p.fill[c] = (uint8_t)below(256);
    return p;
}

static mr_hooks plain_hooks(void)
{
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    return hooks;
}

/* Runs a chain on a guarded copy of the part that it needs, into exactly as much memory as it should write. */
static void check_chain(mr__augment *augment, const mr__chain *chain, const mr_image *source, size_t nbytes,
                        const uint8_t *wanted)
{
    mr_rect region = mr__pass_region(&chain->pass[0]);
    mr__detail detail = {""};
    mr_image part, guarded;
    guard g;
    bool any = region.width != 0 && region.height != 0;
    uint8_t *slot = NULL;
    assert_int_equal(posix_memalign((void **)&slot, below(2) ? 64 : 8, nbytes), 0);
    memset(slot, 0x5a, nbytes);
    if (any) {
        assert_int_equal(mr_image_crop(source, region, &part), 0);
        guarded = guard_image(&g, &part, below(2));
        assert_int_equal(mr_image_copy(&part, &guarded), 0);
    } else {
        guarded = (mr_image){region.width, region.height, source->channels, source->depth, 0, NULL};
    }
    int result = mr__augment_run(augment, chain, &guarded, slot, &detail);
    if (result != 0)
        print_message("%s: %s\n", mr_error_name(result), detail.text);
    assert_int_equal(result, 0);
    assert_memory_equal(slot, wanted, nbytes);
    free(slot);
    if (any)
        guard_free(&g);
}

static void check_on_both(const mr__finish *finish, const mr__chain *chain, const mr_image *source,
                          const mr_image *canvas)
{
    mr_hooks hooks = plain_hooks();
    uint8_t *wanted = finish_naively(finish, canvas);
    for (int portable = 0; portable < 2; portable++) {
        mr__augment *augment = NULL;
        assert_int_equal(mr__augment_new(&hooks, portable ? 0 : mr__cpu_detect(), finish, &augment), 0);
        check_chain(augment, chain, source, finish->output.sample_nbytes, wanted);
        check_chain(augment, chain, source, finish->output.sample_nbytes, wanted);
        mr__augment_free(augment);
    }
    free(wanted);
}

static mr_image random_source(void)
{
    static const uint32_t channels[] = {1, 3, 3, 3, 4};
    mr_image source = image_of(random_side(), random_side(), channels[below(5)], below(6) == 0 ? 16 : 8);
    picture_noise(source.pixels, mr_image_row_nbytes(&source) * source.height, picture_random(&seed));
    return source;
}

static void one_pass_equals_the_naive_way(void **state)
{
    (void)state;
    for (int i = 0; i < (test_quick() ? 200 : 2000); i++) {
        mr_image source = random_source();
        mr__chain chain = {.count = 1};
        chain.pass[0] = random_pass(source.width, source.height);
        mr_image canvas = pass_naively(&chain.pass[0], &source);
        mr__finish finish = random_finish(canvas.width, canvas.height, source.channels, source.depth);
        check_on_both(&finish, &chain, &source, &canvas);
        mr_image_fini(&canvas, NULL);
        mr_image_fini(&source, NULL);
    }
}

/* Exchanges the sides where it says so, and adds a draw to every byte. */
static int turn_about(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    size_t nbytes = mr_image_pixel_nbytes(from);
    assert_ptr_equal(user, &seed);
    assert_true((uintptr_t)scratch % 64 == 0);
    memset(scratch, 0, 100);
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++)
            for (size_t b = 0; b < nbytes; b++)
                pixel_at(to, x, y)[b] = (uint8_t)(pixel_at(from, x % from->width, y % from->height)[b] + draws[0]);
    return 0;
}

static mr_image user_naively(const mr__op *op, mr_image *from)
{
    uint8_t scratch[128] __attribute__((aligned(64)));
    mr_image to = image_of(op->to_width, op->to_height, from->channels, from->depth);
    turn_about(&seed, from, &to, op->u.user.draws, scratch);
    mr_image_fini(from, NULL);
    return to;
}

/* The op of a user's step behind a pass. */
static const mr__op *add_user(mr__chain *chain, mr__pass *pass, const mr_user_step *user, const uint32_t *draws)
{
    mr__op *op = &chain->op[chain->op_count];
    *op = (mr__op){.kind = MR__OP_USER, .u.user = {user, draws}};
    op->width = pass->canvas_width;
    op->height = pass->canvas_height;
    op->to_width = user->width != 0 ? user->width : op->width;
    op->to_height = user->height != 0 ? user->height : op->height;
    op->from = (mr_rect){0, 0, op->width, op->height};
    op->to = (mr_rect){0, 0, op->to_width, op->to_height};
    pass->op = (uint32_t)chain->op_count++;
    pass->ops = 1;
    return op;
}

static mr__pass idle_pass(uint32_t width, uint32_t height)
{
    mr_rect all = {0, 0, width, height};
    return (mr__pass){.width = width,
                      .height = height,
                      .from = all,
                      .crop = all,
                      .window = all,
                      .to_width = width,
                      .to_height = height,
                      .canvas_width = width,
                      .canvas_height = height};
}

/* Up to four passes, some of them with a step of the program's, also the last. */
static void chains_equal_the_naive_way(void **state)
{
    (void)state;
    const mr_user_step steps[2] = {
        {.struct_size = sizeof steps[0], .name = "same", .memory_nbytes = 100, .user = &seed, .run = turn_about},
        {.struct_size = sizeof steps[0],
         .name = "other",
         .memory_nbytes = 100,
         .width = 13,
         .height = 21,
         .user = &seed,
         .run = turn_about}};
    const uint32_t draws[1] = {77};
    for (int i = 0; i < (test_quick() ? 60 : 600); i++) {
        mr_image source = random_source(), image = image_of(source.width, source.height, source.channels, source.depth);
        mr__chain chain = {.count = 1 + below(4)};
        assert_int_equal(mr_image_copy(&source, &image), 0);
        for (size_t p = 0; p < chain.count; p++) {
            mr__pass *pass = &chain.pass[p];
            *pass = random_pass(image.width, image.height);
            mr_image next = pass_naively(pass, &image);
            mr_image_fini(&image, NULL);
            image = next;
            if (below(3) == 0)
                image = user_naively(add_user(&chain, pass, &steps[below(2)], draws), &image);
        }
        if (chain.pass[chain.count - 1].ops != 0)
            chain.pass[chain.count++] = idle_pass(image.width, image.height);
        mr__finish finish = random_finish(image.width, image.height, source.channels, source.depth);
        check_on_both(&finish, &chain, &source, &image);
        mr_image_fini(&image, NULL);
        mr_image_fini(&source, NULL);
    }
}

/* A crop of 269 x 267 to 224, window whole: the usual one, all widths around it and both orders of passes. */
static void usual_crops_equal_the_naive_way(void **state)
{
    (void)state;
    for (uint32_t side = 60; side < 700; side += test_quick() ? 67 : 13) {
        mr_image source = image_of(side + 1, 700 - side, 3, 8);
        picture_noise(source.pixels, mr_image_row_nbytes(&source) * source.height, side);
        mr__chain chain = {.count = 1};
        mr__pass *p = &chain.pass[0];
        *p = (mr__pass){.width = source.width, .height = source.height, .to_width = 224, .to_height = 224};
        p->crop = (mr_rect){1, 0, source.width - 1, source.height};
        p->window = (mr_rect){0, 0, 224, 224};
        p->canvas_width = p->canvas_height = 224;
        p->flip_x = side % 2;
        mr_image canvas = pass_naively(p, &source);
        mr__finish finish = random_finish(224, 224, 3, 8);
        check_on_both(&finish, &chain, &source, &canvas);
        mr_image_fini(&canvas, NULL);
        mr_image_fini(&source, NULL);
    }
}

static void an_empty_window_is_all_border(void **state)
{
    (void)state;
    mr_image source = image_of(4, 4, 3, 8), canvas = image_of(9, 5, 3, 8);
    mr__chain chain = {.count = 1};
    mr__pass *p = &chain.pass[0];
    *p = (mr__pass){.width = 4, .height = 4, .crop = {0, 0, 4, 4}, .to_width = 4, .to_height = 4};
    p->canvas_width = 9;
    p->canvas_height = 5;
    memcpy(p->fill, (uint8_t[4]){10, 20, 30, 40}, 4);
    for (uint32_t i = 0; i < 45; i++)
        put_fill(p, &canvas, i % 9, i / 9);
    for (int i = 0; i < 20; i++) {
        mr__finish finish = random_finish(9, 5, 3, 8);
        check_on_both(&finish, &chain, &source, &canvas);
    }
    mr_image_fini(&source, NULL);
    mr_image_fini(&canvas, NULL);
}

static void blank_is_black_finished(void **state)
{
    (void)state;
    mr_hooks hooks = plain_hooks();
    for (int i = 0; i < 40; i++) {
        mr_image black = image_of(1 + below(20), 1 + below(20), 3, 8);
        memset(black.pixels, 0, mr_image_row_nbytes(&black) * black.height);
        mr__finish finish = random_finish(black.width, black.height, 3, 8);
        uint8_t *wanted = finish_naively(&finish, &black), *slot = malloc(finish.output.sample_nbytes);
        mr__augment *augment = NULL;
        assert_non_null(slot);
        assert_int_equal(mr__augment_new(&hooks, mr__cpu_detect(), &finish, &augment), 0);
        mr__augment_blank(augment, slot);
        assert_memory_equal(slot, wanted, finish.output.sample_nbytes);
        mr__augment_free(augment);
        free(wanted);
        free(slot);
        mr_image_fini(&black, NULL);
    }
}

static int refuse(void *user, const mr_image *from, const mr_image *to, const uint32_t *draws, void *scratch)
{
    (void)from;
    (void)to;
    (void)draws;
    (void)scratch;
    return *(const int *)user;
}

static void what_goes_wrong_is_said(void **state)
{
    (void)state;
    mr_hooks hooks = plain_hooks();
    mr_image source = image_of(4, 4, 3, 8), other = image_of(4, 3, 3, 8);
    int gives = MR_ECORRUPT;
    const mr_user_step step = {.struct_size = sizeof step, .name = "blur", .user = &gives, .run = refuse};
    mr__chain chain = {.count = 2, .pass = {idle_pass(4, 4), idle_pass(4, 4)}};
    mr__pass *p = &chain.pass[0];
    (void)add_user(&chain, p, &step, NULL);
    mr__finish finish = random_finish(4, 4, 3, 8);
    mr__augment *augment = NULL;
    mr__detail detail = {""};
    uint8_t slot[4 * 4 * 3 * 4];
    mr__augment_free(NULL);
    assert_int_equal(mr__augment_new(&hooks, mr__cpu_detect(), &finish, &augment), 0);
    assert_int_equal(mr__augment_run(augment, &chain, &source, slot, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "user step blur gave -6");
    gives = 5;
    assert_int_equal(mr__augment_run(augment, &chain, &source, slot, &detail), MR_EARGUMENT);
    p->ops = 0;
    assert_int_equal(mr__augment_run(augment, &chain, &source, slot, &detail), 0);
    assert_int_equal(mr__augment_run(augment, &chain, &other, slot, &detail), MR_EINTERNAL);
    chain.pass[1].canvas_width = 5;
    assert_int_equal(mr__augment_run(augment, &chain, &source, slot, &detail), MR_EINTERNAL);
    mr__augment_free(augment);
    mr_image_fini(&source, NULL);
    mr_image_fini(&other, NULL);
}

/* Sizes that were seen lately cost no allocation. */
static void the_steady_state_allocates_nothing(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr_image source = picture_make(200, 200, 4, 8, 1);
    mr__finish finish = random_finish(64, 64, 4, 8);
    mr__augment *augment = NULL;
    mr__detail detail = {""};
    uint8_t *slot = malloc(finish.output.sample_nbytes);
    assert_non_null(slot);
    failing_begin(0, false);
    assert_int_equal(mr__augment_new(&hooks, mr__cpu_detect(), &finish, &augment), 0);
    size_t attempts = 0;
    for (uint32_t i = 0; i < 300; i++) {
        mr__chain chain = {.count = 2};
        chain.pass[0] = (mr__pass){.width = 200, .height = 200, .crop = {0, 0, 200 - i % 60, 140 + i % 60}};
        chain.pass[0].to_width = chain.pass[0].to_height = 70;
        chain.pass[0].window = (mr_rect){0, 0, 70, 70};
        chain.pass[0].canvas_width = chain.pass[0].canvas_height = 70;
        chain.pass[1] = chain.pass[0];
        chain.pass[1].crop = (mr_rect){0, 0, 70, 70};
        chain.pass[1].to_width = chain.pass[1].to_height = chain.pass[1].canvas_width = chain.pass[1].canvas_height =
            64;
        chain.pass[1].window = (mr_rect){0, 0, 64, 64};
        mr_rect region = mr__pass_region(&chain.pass[0]);
        mr_image part;
        assert_int_equal(mr_image_crop(&source, region, &part), 0);
        assert_int_equal(mr__augment_run(augment, &chain, &part, slot, &detail), 0);
        attempts = i == 200 ? failing_now().attempts : attempts;
    }
    assert_int_equal(failing_now().attempts, attempts);
    mr__augment_free(augment);
    assert_int_equal(failing_end().live_blocks, 0);
    free(slot);
    mr_image_fini(&source, NULL);
}

/* More sizes than are kept, by one and the same: axes are made in places that had others. */
static void more_sizes_than_are_kept(void **state)
{
    (void)state;
    mr_hooks hooks = plain_hooks();
    mr_image source = picture_make(1000, 3, 3, 8, 1);
    mr__finish finish = random_finish(9, 2, 3, 8);
    mr__augment *augment = NULL;
    assert_int_equal(mr__augment_new(&hooks, mr__cpu_detect(), &finish, &augment), 0);
    for (uint32_t i = 0; i < 2000; i++) {
        mr__chain chain = {.count = 1};
        mr__pass *p = &chain.pass[0];
        *p = (mr__pass){.width = 1000, .height = 3, .to_width = 9, .to_height = 2};
        p->crop = (mr_rect){0, 0, 1000 - i * 7 % 990, 3};
        p->window = (mr_rect){0, 0, 9, 2};
        p->canvas_width = 9;
        p->canvas_height = 2;
        mr_image canvas = pass_naively(p, &source);
        uint8_t *wanted = finish_naively(&finish, &canvas);
        check_chain(augment, &chain, &source, finish.output.sample_nbytes, wanted);
        free(wanted);
        mr_image_fini(&canvas, NULL);
    }
    mr__augment_free(augment);
    mr_image_fini(&source, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_equals_the_naive_way),
        cmocka_unit_test(chains_equal_the_naive_way),
        cmocka_unit_test(usual_crops_equal_the_naive_way),
        cmocka_unit_test(an_empty_window_is_all_border),
        cmocka_unit_test(blank_is_black_finished),
        cmocka_unit_test(what_goes_wrong_is_said),
        cmocka_unit_test(the_steady_state_allocates_nothing),
        cmocka_unit_test(more_sizes_than_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
