// SPDX-License-Identifier: Apache-2.0
/* What a task needs of a device's memory: never less than what doing it takes on the host. */
#include "test.h"

#include "codec/view.h"
#include "device/budget.h"
#include "device/need.h"
#include "loading.h"
#include "picture.h"
#include "step/augment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hooks that know how much is out, and how much was at most. */
typedef struct tally {
    uint64_t live, peak;
} tally;

static void *tally_alloc(void *user, size_t nbytes, size_t align)
{
    tally *t = user;
    uint8_t *block = NULL;
    size_t head = align > 64 ? align : 64;
    if (posix_memalign((void **)&block, head, nbytes + head) != 0)
        return NULL;
    memcpy(block + head - 2 * sizeof(size_t), (size_t[2]){nbytes, head}, 2 * sizeof(size_t));
    t->live += nbytes;
    t->peak = t->live > t->peak ? t->live : t->peak;
    return block + head;
}

static void tally_free(void *user, void *block)
{
    tally *t = user;
    size_t is[2];
    if (block == NULL)
        return;
    memcpy(is, (uint8_t *)block - sizeof is, sizeof is);
    t->live -= is[0];
    free((uint8_t *)block - is[1]);
}

static mr_hooks tally_hooks(tally *t)
{
    mr_hooks given = {.struct_size = sizeof given, .user = t, .alloc = tally_alloc, .free = tally_free}, hooks;
    assert_int_equal(mr__hooks_init(&hooks, &given), 0);
    return hooks;
}

/* A recipe for an image of some size. */
typedef struct plan {
    mr_recipe *recipe;
    mr__decode_needs needs;
    mr__finish finish;
    uint32_t *draws;
    mr__chain chain;
} plan;

static bool plan_init(plan *p, const char *text, uint32_t width, uint32_t height, uint64_t key)
{
    mr__detail detail;
    memset(p, 0, sizeof *p);
    p->recipe = loading_recipe(text);
    assert_int_equal(mr__recipe_finish(p->recipe, &p->finish, &detail), 0);
    p->needs = mr__recipe_needs(p->recipe);
    p->draws = calloc(mr__recipe_draw_count(p->recipe) + 1, sizeof *p->draws);
    mr__recipe_draw(p->recipe, 1, 0, key, p->draws);
    return mr__recipe_resolve(p->recipe, p->draws, width, height, NULL, &p->chain, &detail) == 0;
}

static void plan_fini(plan *p)
{
    mr_recipe_free(p->recipe);
    free(p->draws);
}

static const char *const recipes[] = {
    "rrc(64) dtype(u8) layout(nhwc)",
    "rrc(64) flip randaug(2,9) normalize(imagenet)",
    "resize(300x200) center(96) normalize(imagenet)",
    "short(80, filter=lanczos) center(64) flip dtype(u8)",
    "rrc(64) trivialaug normalize(imagenet)",
    "rrc(64) augmix normalize(imagenet)",
    "rrc(64) elastic normalize(imagenet)",
    "blur(9) rrc(64) jpeg(50) dtype(u8)",
    "pad(40) crop(128) rotate(30) resize(48) dtype(u8)",
    "convert(gray) rrc(64) dtype(u8)",
    "convert(rgba) rrc(64, filter=bicubic) dtype(u8)",
    "resize(900x700) rotate(45) blur(5) center(32) dtype(u8)",
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static const mr__need_manner plain = {0};

/* What the portable code takes to decode and augment, at its peak. */
static uint64_t measure(plan *p, const picture_file *file)
{
    tally t = {0};
    mr__detail detail;
    mr_hooks hooks = tally_hooks(&t);
    mr_decoder_options options = {sizeof options, &hooks, NULL, MR_JPEG_EITHER};
    mr_decoder *decoder;
    mr__augment *augment;
    mr_image part;
    assert_int_equal(mr_decoder_new(&options, &decoder), 0);
    assert_int_equal(mr__augment_new(&hooks, 0, &p->finish, &augment), 0);
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = mr__pass_region(&p->chain.pass[0])};
    hints.channels = p->needs.channels;
    hints.depth = p->needs.depth;
    hints.orient = p->needs.orient;
    assert_int_equal(mr__decoder_view(decoder, file->bytes, file->nbytes, &hints, &part), 0);
    void *slot = malloc(p->finish.output.sample_nbytes);
    assert_int_equal(mr__augment_run(augment, &p->chain, &part, slot, &detail), 0);
    free(slot);
    mr__augment_free(augment);
    mr_decoder_free(decoder);
    assert_true(t.live == 0);
    return t.peak;
}

typedef struct stored {
    const char *what;
    mr_encode_options options;
    uint32_t channels, depth;
} stored;

static const stored forms[] = {
    {"baseline", {.form = MR_FORM_JPEG}, 3, 8},
    {"baseline 4:4:4", {.form = MR_FORM_JPEG, .subsampling = MR_SUBSAMPLING_444}, 3, 8},
    {"progressive", {.form = MR_FORM_JPEG, .progressive = true}, 3, 8},
    {"gray", {.form = MR_FORM_JPEG}, 1, 8},
    {"png", {.form = MR_FORM_PNG}, 3, 8},
    {"png of 16 bits", {.form = MR_FORM_PNG}, 4, 16},
    {"webp", {.form = MR_FORM_WEBP}, 3, 8},
    {"lossless webp", {.form = MR_FORM_WEBP, .lossless = true}, 4, 8},
    {"raw", {.form = MR_FORM_RAW}, 3, 8},
    {"l3", {.form = MR_FORM_L3}, 3, 8},
};

static mr__need_image image_of(const stored *s, uint32_t width, uint32_t height, size_t nbytes)
{
    return (mr__need_image){.form = s->options.form,
                            .width = width,
                            .height = height,
                            .channels = s->channels,
                            .depth = s->depth,
                            .orientation = 1,
                            .one_scan = !s->options.progressive,
                            .stored_nbytes = nbytes};
}

/* Every form, every recipe, some sizes and draws. */
static void a_need_covers_what_the_host_takes(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{500, 375}, {1600, 1200}, {97, 1200}};
    double least = 1e9;
    uint64_t count = 0;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t k = 0; k < 3; k++) {
            mr_image image = picture_make(sizes[k][0], sizes[k][1], forms[f].channels, forms[f].depth, f + k);
            mr_encode_options options = forms[f].options;
            options.struct_size = sizeof options;
            options.effort = 1;
            picture_file file = picture_encode(&image, &options);
            for (size_t r = 0; r < RECIPES; r++) {
                plan p;
                if (plan_init(&p, recipes[r], image.width, image.height, 100 * k + r)) {
                    mr__need_image known = image_of(&forms[f], image.width, image.height, file.nbytes);
                    mr__need need = mr__need_of(&plain, &known, &p.needs, &p.finish.output, &p.chain);
                    uint64_t takes = measure(&p, &file);
                    double ratio = (double)need.scratch_nbytes / (double)takes;
                    least = ratio < least ? ratio : least;
                    count++;
                    if (need.scratch_nbytes < takes)
                        fail_msg("%s of %u x %u, %s: %llu bytes were taken, the account says %llu", forms[f].what,
                                 image.width, image.height, recipes[r], (unsigned long long)takes,
                                 (unsigned long long)need.scratch_nbytes);
                }
                plan_fini(&p);
            }
            free(file.bytes);
            mr_image_fini(&image, NULL);
        }
    assert_true(count > 300);
    print_message("needs are %.2f times what the host takes at least, over %llu cases\n", least,
                  (unsigned long long)count);
}

/* To know more, to be given less to do, to have a chain: none of it makes a need larger. */
static void what_is_not_known_is_the_worst(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t r = 0; r < RECIPES; r++) {
            plan p;
            if (!plan_init(&p, recipes[r], 4000, 3000, r)) {
                plan_fini(&p);
                continue;
            }
            mr__need_image known = image_of(&forms[f], 4000, 3000, 1000000), less = known;
            const mr_output *output = &p.finish.output;
            mr__need is = mr__need_of(&plain, &known, &p.needs, output, &p.chain);
            mr__need_manner whole = {.whole = true}, wide = {.align = 4096};
            mr__need all = mr__need_of(&whole, &known, &p.needs, output, &p.chain);
            mr__need none = mr__need_of(&plain, &known, &p.needs, output, NULL);
            mr__need wider = mr__need_of(&wide, &known, &p.needs, output, &p.chain);
            assert_true(is.input_nbytes == 1000000 && is.output_nbytes >= output->sample_nbytes);
            assert_true(is.scratch_nbytes <= all.scratch_nbytes && all.scratch_nbytes <= none.scratch_nbytes);
            assert_true(is.scratch_nbytes <= wider.scratch_nbytes && wider.scratch_nbytes % 4096 == 0);
            less.channels = less.depth = less.orientation = 0;
            less.one_scan = false;
            mr__need blind = mr__need_of(&plain, &less, &p.needs, output, &p.chain);
            assert_true(is.scratch_nbytes <= blind.scratch_nbytes);
            less.form = MR_FORM_NONE;
            assert_true(blind.scratch_nbytes <= mr__need_of(&plain, &less, &p.needs, output, &p.chain).scratch_nbytes);
            less.width = 0;
            mr__need unknown = mr__need_of(&plain, &less, &p.needs, output, &p.chain);
            assert_true(mr__need_sum(&unknown) == MR__NEED_UNKNOWN);
            plan_fini(&p);
        }
}

/* The host decodes, and sends what the recipe looks at. */
static void a_cut_after_decode_sends_pixels(void **state)
{
    (void)state;
    plan p;
    assert_true(plan_init(&p, "center(640) resize(64) dtype(u8)", 4000, 3000, 1));
    mr__need_image known = image_of(&forms[0], 4000, 3000, 1000000);
    mr__need_manner cut = {.pixels = true, .in_place = true};
    mr__need is = mr__need_of(&cut, &known, &p.needs, &p.finish.output, &p.chain);
    mr__need full = mr__need_of(&plain, &known, &p.needs, &p.finish.output, &p.chain);
    assert_true(is.input_nbytes == 640 * 640 * 3 && is.output_nbytes == 0);
    assert_true(is.scratch_nbytes < full.scratch_nbytes);
    plan_fini(&p);
}

/* E1: of 100 megapixels, a part fits where the whole does not; what does not fit is told before it is sent. */
static void a_part_of_a_large_image_fits(void **state)
{
    (void)state;
    mr__budget budget;
    mr__budget_init(&budget, 64 << 20);
    mr__need_image large = image_of(&forms[0], 12000, 8400, 20000000);
    plan p;
    assert_true(plan_init(&p, "center(1000) resize(224) normalize(imagenet)", 12000, 8400, 1));
    mr__need part = mr__need_of(&plain, &large, &p.needs, &p.finish.output, &p.chain);
    mr__need_manner whole = {.whole = true};
    mr__need all = mr__need_of(&whole, &large, &p.needs, &p.finish.output, &p.chain);
    assert_true(mr__need_sum(&all) > UINT64_C(12000) * 8400 * 3);
    assert_int_equal(mr__budget_take(&budget, mr__need_sum(&all)), MR__ROOM_NEVER);
    assert_int_equal(mr__budget_take(&budget, mr__need_sum(&part)), MR__ROOM_TAKEN);
    large.one_scan = false; // coefficients of all of it, until the last scan
    mr__need scans = mr__need_of(&plain, &large, &p.needs, &p.finish.output, &p.chain);
    assert_int_equal(mr__budget_take(&budget, mr__need_sum(&scans)), MR__ROOM_NEVER);
    plan_fini(&p);
}

static void sizes_that_cannot_be_do_not_wrap(void **state)
{
    (void)state;
    plan p;
    assert_true(plan_init(&p, "center(64) dtype(u8)", 100, 100, 1));
    uint64_t last = 0;
    for (uint32_t side = 1 << 10; side != 0; side <<= 1) {
        mr__need_image image = {.form = MR_FORM_PNG, .width = side, .height = side, .channels = 4, .depth = 16};
        image.stored_nbytes = UINT64_MAX / 2;
        mr__need need = mr__need_of(&plain, &image, &p.needs, &p.finish.output, NULL);
        assert_true(mr__need_sum(&need) >= last && mr__need_sum(&need) > (uint64_t)side * side);
        last = mr__need_sum(&need);
    }
    mr__need_image image = {.form = MR_FORM_NONE, .width = UINT32_MAX, .height = UINT32_MAX};
    image.stored_nbytes = UINT64_MAX;
    mr__need need = mr__need_of(&plain, &image, &p.needs, &p.finish.output, NULL);
    assert_true(mr__need_sum(&need) == UINT64_MAX);
    plan_fini(&p);
}

static void a_submission_adds_up(void **state)
{
    (void)state;
    mr__need small = {100, 10, 1000}, large = {200, 20, 5000};
    mr__need_manner side = {.submission_nbytes = 7, .align = 8}, turn = {.in_turn = true};
    mr__need_group group = {0};
    assert_true(mr__need_group_sum(&group, &side) == 0);
    mr__need_add(&group, &side, &small);
    mr__need_add(&group, &side, &large);
    mr__need_add(&group, &side, &small);
    assert_true(mr__need_group_sum(&group, &side) == 440 + 7000 + 8 && group.count == 3);
    group = (mr__need_group){0};
    mr__need_add(&group, &turn, &small);
    mr__need_add(&group, &turn, &large);
    mr__need_add(&group, &turn, &small);
    assert_true(mr__need_group_sum(&group, &turn) == 440 + 5000);
    mr__need_add(&group, &turn, &(mr__need){MR__NEED_UNKNOWN, 0, 0});
    assert_true(mr__need_group_sum(&group, &turn) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_need_covers_what_the_host_takes), cmocka_unit_test(what_is_not_known_is_the_worst),
        cmocka_unit_test(a_cut_after_decode_sends_pixels),   cmocka_unit_test(a_part_of_a_large_image_fits),
        cmocka_unit_test(sizes_that_cannot_be_do_not_wrap),  cmocka_unit_test(a_submission_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
