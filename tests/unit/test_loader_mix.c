// SPDX-License-Identifier: Apache-2.0
/* mixup and cutmix in batches: what was mixed with what, the same however it is dealt out, and in the way of nothing.
 */
#define _GNU_SOURCE // usleep
#include "test.h"

#include "loader/mix.h"
#include "loading.h"
#include "pack_make.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 59, CLASSES = 3, SEED = 5 };

#define OPTIONS .struct_size = sizeof(mr_loader_options)
#define BOTH    "rrc(20) flip mixup(0.4) normalize(imagenet) cutmix"

static test_folder folder;
static mr_dataset *good, *bad;

static void write_images(const char *to, bool spoiled)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        char name[64];
        picture_file file = pack_image(PACK_PNG_3, 25 + (uint32_t)i % 7, 23, i);
        if (spoiled && i % 10 == 3)
            file.nbytes /= 2;
        snprintf(name, sizeof name, "%s/%c/%03zu.png", to, "abc"[i % CLASSES], i);
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
}

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    write_images("good", false);
    write_images("bad", true);
    good = pack_open(&folder, "good", MR_LAYOUT_FOLDER);
    bad = pack_open(&folder, "bad", MR_LAYOUT_FOLDER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(good);
    mr_dataset_free(bad);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options plain(uint32_t batch)
{
    return (mr_loader_options){OPTIONS, .batch = batch, .seed = SEED, .epochs = 2, .threads = 3};
}

static mr_loader_options dealt(uint32_t batch, uint32_t rank, uint32_t world)
{
    mr_loader_options o = plain(batch);
    o.has_rank = true;
    o.rank = rank;
    o.world = world;
    return o;
}

/* The hash of all ranks together. */
static uint64_t hash_of(mr_dataset *dataset, const char *recipe, mr_loader_options o, uint32_t world)
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < world; rank++) {
        o.has_rank = true;
        o.rank = rank;
        o.world = world;
        loading_sum one = loading_all(dataset, recipe, &o);
        assert_int_equal(one.result, 0);
        sum += one.hash;
    }
    return sum;
}

/* Which sample stands where: as a loader of everything in one batch says. */
static void read_order(uint64_t epoch, uint64_t ordinals[SAMPLES])
{
    mr_loader_options o = plain(SAMPLES);
    o.epoch = epoch;
    mr_loader *loader = loading_new(good, "center(4)", &o);
    mr_batch *b;
    assert_int_equal(mr_loader_next(loader, &b), 0);
    memcpy(ordinals, b->ordinals, SAMPLES * sizeof *ordinals);
    mr_loader_free(loader);
}

/* Samples as they are before they are mixed. */
typedef struct plain_samples {
    mr_preparer *preparer;
    mr__mixing mixing;
    uint64_t order[SAMPLES];
    uint8_t *own, *other;
} plain_samples;

static void plain_samples_init(plain_samples *p, const char *text, const mr_output *output)
{
    char detail[240];
    mr_loader_options o = plain(1);
    mr_recipe *recipe = loading_recipe(text);
    assert_int_equal(mr_preparer_new(good, recipe, &o, &p->preparer, detail, sizeof detail), 0);
    mr__mixing_init(&p->mixing, recipe, output, 0);
    mr_recipe_free(recipe);
    p->own = malloc(output->sample_nbytes);
    p->other = malloc(output->sample_nbytes);
}

static void plain_samples_fini(plain_samples *p)
{
    mr_preparer_free(p->preparer);
    free(p->own);
    free(p->other);
}

/* By pixels, one after the other. */
static void mix_plainly(plain_samples *p, const mr_batch *b, const mr_batch_mix *mix)
{
    const mr_output *o = &b->output;
    size_t number = mr_dtype_nbytes(o->dtype), pixels = (size_t)o->width * o->height, numbers = pixels * o->channels;
    mr__mix_weights w = mr__mix_weights_of(mix->weight);
    if (mix->kind == MR_STEP_MIXUP)
        p->mixing.kernel(p->own, p->other, numbers, &w);
    for (size_t n = 0; mix->kind == MR_STEP_CUTMIX && n < numbers; n++) {
        size_t pixel = o->layout == MR_NHWC ? n / o->channels : n % pixels;
        size_t x = pixel % o->width, y = pixel / o->width;
        if (x >= mix->box.x && x - mix->box.x < mix->box.width && y >= mix->box.y && y - mix->box.y < mix->box.height)
            memcpy(p->own + n * number, p->other + n * number, number);
    }
}

static void check_place(plain_samples *p, const mr_batch *b, uint32_t place, uint64_t global, const mr_batch_mix *mix)
{
    uint64_t left = SAMPLES - b->position, count = left < global ? left : global, position = b->positions[place];
    uint64_t partner =
        mix->kind == MR_STEP_NONE ? position : b->position + mr__mix_partner(position - b->position, count);
    assert_int_equal(b->ordinals[place], p->order[position]);
    assert_int_equal(mix->ordinals[place], p->order[partner]);
    mr_sample sample = {.struct_size = sizeof sample};
    assert_int_equal(mr_dataset_sample(good, p->order[partner], &sample), 0);
    assert_int_equal(mix->partners[place], sample.label.integer);
    assert_int_equal(mr_preparer_run(p->preparer, p->order[position], b->epoch, 0, p->own), 0);
    assert_int_equal(mr_preparer_run(p->preparer, p->order[partner], b->epoch, 0, p->other), 0);
    mix_plainly(p, b, mix);
    size_t nbytes = b->output.sample_nbytes;
    assert_memory_equal((const uint8_t *)b->images + place * nbytes, p->own, nbytes);
}

/* Returns how many batches were mixed by each. */
static void check_loader(const char *recipe, uint32_t batch, uint32_t rank, uint32_t world, uint32_t kinds[3])
{
    mr_loader_options o = dealt(batch, rank, world);
    mr_loader *loader = loading_new(good, recipe, &o);
    plain_samples p;
    mr_batch *b;
    for (uint64_t n = 0; mr_loader_next(loader, &b) == 0 && b != NULL; n++) {
        mr_batch_mix mix = {.struct_size = sizeof mix};
        if (n == 0)
            plain_samples_init(&p, recipe, &b->output);
        read_order(b->epoch, p.order);
        assert_int_equal(mr_batch_get_mix(b, &mix), 0);
        mr__mix_choice drawn = mr__mix_draw(&p.mixing, SEED, b->epoch, b->position);
        assert_true(drawn.kind == mix.kind && drawn.weight == mix.weight);
        kinds[mix.kind == MR_STEP_NONE ? 0 : mix.kind == MR_STEP_MIXUP ? 1 : 2]++;
        for (uint32_t i = 0; i < b->count; i++)
            check_place(&p, b, i, (uint64_t)batch * world, &mix);
        for (uint32_t i = b->count; i < b->size; i++)
            assert_true(mix.partners[i] == -1 && mix.ordinals[i] == UINT64_MAX);
        mr_batch_release(b);
    }
    plain_samples_fini(&p);
    mr_loader_free(loader);
}

static void samples_are_mixed_as_they_say(void **state)
{
    (void)state;
    static const char *const recipes[] = {
        BOTH,
        "rrc(20) mixup(1, chance=0.5) cutmix(0.3, chance=0.9)",
        "rrc(21) mixup dtype(f16) layout(nhwc)",
        "rrc(20x9) cutmix dtype(bf16) normalize(imagenet)",
        "convert(gray) rrc(7) cutmix mixup layout(nhwc)",
    };
    uint32_t kinds[3] = {0};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        for (uint32_t world = 1; world <= 3; world++)
            check_loader(recipes[i], 4 + (uint32_t)i % 3, world - 1, world, kinds);
    assert_true(kinds[0] != 0 && kinds[1] > 10 && kinds[2] > 10);
}

static void worlds_and_threads_do_not_matter(void **state)
{
    (void)state;
    static const uint32_t globals[] = {12, 6, 30};
    for (size_t i = 0; i < 3; i++)
        for (int drop = 0; drop < 2; drop++) {
            uint32_t global = globals[i];
            mr_loader_options o = plain(global);
            o.drop_last = drop != 0;
            uint64_t wanted = hash_of(good, BOTH, o, 1);
            for (uint32_t world = 1; world <= 6; world++)
                for (uint32_t threads = 1; global % world == 0 && threads <= 4; threads += 3) {
                    o.batch = global / world;
                    o.threads = threads;
                    assert_true(hash_of(good, BOTH, o, world) == wanted);
                }
            o.batch = global;
            o.device = "sim";
            assert_true(hash_of(good, BOTH, o, 1) == wanted);
            assert_true(hash_of(good, "rrc(20) flip mixup(0.5) normalize(imagenet) cutmix", o, 1) != wanted);
        }
}

/* A guest that is bad is what it is on its own rank. */
static void bad_samples_do_not_depend_on_the_world(void **state)
{
    (void)state;
    for (int policy = MR_BAD_SKIP; policy <= MR_BAD_REPLACE; policy++) {
        mr_loader_options o = plain(12);
        o.bad = (mr_bad_policy)policy;
        uint64_t wanted = hash_of(bad, BOTH, o, 1);
        for (uint32_t world = 2; world <= 4; world++) {
            uint64_t met = 0;
            o.batch = 12 / world;
            assert_true(hash_of(bad, BOTH, o, world) == wanted);
            for (uint32_t rank = 0; rank < world; rank++) {
                mr_loader_options one = dealt(12 / world, rank, world);
                one.bad = o.bad;
                mr_loader_stats stats = {.struct_size = sizeof stats};
                mr_loader *loader = loading_new(bad, BOTH, &one);
                loading_run(loader, UINT64_MAX);
                assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
                met += stats.bad;
                mr_loader_free(loader);
            }
            assert_int_equal(met, 2 * 6); // two epochs; guests are not counted twice
        }
    }
    mr_loader_options o = plain(12);
    assert_int_not_equal(loading_all(bad, BOTH, &o).result, 0);
}

/* Nor do they count towards the most that there may be. */
static void guests_are_not_in_the_budget(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++) {
        mr_loader_options o = dealt(3, rank, 4);
        uint64_t own = 0;
        mr_batch *b;
        o.epochs = 1;
        o.bad = MR_BAD_REPLACE;
        mr_loader *loader = loading_new(bad, BOTH, &o);
        while (mr_loader_next(loader, &b) == 0 && b != NULL) {
            for (uint32_t i = 0; i < b->count; i++)
                own += b->mask[i] == MR_MASK_REPLACED;
            mr_batch_release(b);
        }
        mr_loader_free(loader);
        o.bad_max = own;
        if (own != 0)
            assert_int_equal(loading_all(bad, BOTH, &o).result, 0);
        o.bad_max = own - 1;
        if (own > 1)
            assert_int_equal(loading_all(bad, BOTH, &o).result, MR_ELIMIT);
    }
}

/* A black sample is mixed like any other, and stays masked; its label counts for nothing. */
static void soft_labels_are_weights(void **state)
{
    (void)state;
    mr_loader_options o = plain(10);
    o.bad = MR_BAD_REPLACE;
    mr_loader *loader = loading_new(bad, BOTH, &o);
    mr_batch *b;
    float rows[10][CLASSES];
    while (mr_loader_next(loader, &b) == 0 && b != NULL) {
        mr_batch_mix mix = {.struct_size = sizeof mix};
        assert_int_equal(mr_batch_get_mix(b, &mix), 0);
        memset(rows, 0xff, sizeof rows);
        assert_int_equal(mr_batch_soft_labels(b, CLASSES, &rows[0][0]), 0);
        for (uint32_t i = 0; i < b->size; i++)
            for (int64_t c = 0; c < CLASSES; c++) {
                bool own = b->labels[i] == c, other = mix.partners[i] == c;
                float wanted = (other ? (float)(1.0 - mix.weight) : 0.0f) + (own ? (float)mix.weight : 0.0f);
                assert_true(rows[i][c] == wanted);
                assert_true(b->mask[i] != MR_MASK_REPLACED || b->labels[i] == -1);
            }
        assert_int_equal(mr_batch_soft_labels(b, CLASSES - 1, &rows[0][0]), MR_EARGUMENT);
        mr_batch_release(b);
    }
    mr_loader_free(loader);
    loader = loading_new(good, "center(8)", &o);
    assert_int_equal(mr_loader_next(loader, &b), 0);
    mr_batch_mix mix = {.struct_size = sizeof mix};
    assert_int_equal(mr_batch_get_mix(b, &mix), 0);
    assert_true(mix.kind == MR_STEP_NONE && mix.weight == 1.0 && mix.partners == b->labels);
    assert_int_equal(mr_batch_soft_labels(b, CLASSES, &rows[0][0]), 0);
    for (uint32_t i = 0; i < b->size; i++)
        for (int64_t c = 0; c < CLASSES; c++)
            assert_true(rows[i][c] == (b->labels[i] == c ? 1.0f : 0.0f));
    assert_int_equal(mr_batch_get_mix(NULL, &mix), MR_EARGUMENT);
    assert_int_equal(mr_batch_soft_labels(b, 3, NULL), MR_EARGUMENT);
    mr_loader_free(loader);
}

/* From any batch on, in any world. */
static void going_on_gives_the_same(void **state)
{
    (void)state;
    mr_loader_options o = plain(12);
    uint64_t wanted = loading_all(good, BOTH, &o).hash;
    for (uint64_t first = 1; first < 9; first += 2) {
        char text[1024];
        mr_loader *loader = loading_new(good, BOTH, &o);
        uint64_t sum = loading_run(loader, first).hash;
        mr_loader_state(loader, text, sizeof text);
        mr_loader_stop(loader);
        assert_int_equal(mr_loader_restore(loader, text), 0);
        sum += loading_run(loader, 1).hash;
        mr_loader_state(loader, text, sizeof text);
        mr_loader_free(loader);
        for (uint32_t rank = 0; rank < 4; rank++) {
            mr_loader_options one = dealt(3, rank, 4);
            loader = loading_new(good, BOTH, &one);
            assert_int_equal(mr_loader_restore(loader, text), 0);
            sum += loading_run(loader, UINT64_MAX).hash;
            mr_loader_free(loader);
        }
        assert_true(sum == wanted);
    }
}

typedef struct stopper {
    mr_loader *loader;
    atomic_bool over;
} stopper;

static void *stop_at_random(void *arg)
{
    stopper *s = arg;
    while (!atomic_load(&s->over)) {
        usleep(150);
        mr_loader_stop(s->loader);
    }
    return NULL;
}

/* Stops, restores and ends come at any time, while a batch is mixed too. */
static void nothing_is_in_the_way_of_the_end(void **state)
{
    (void)state;
    enum { ROUNDS = 60 };
    char begin[1024];
    mr_loader_options o = dealt(7, 1, 2);
    o.epochs = 0;
    stopper s = {.loader = loading_new(good, "resize(96) mixup cutmix dtype(f32)", &o)};
    mr_loader_state(s.loader, begin, sizeof begin);
    uint64_t wanted = loading_run(s.loader, 3).hash;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop_at_random, &s), 0);
    for (int i = 0; i < (test_quick() ? ROUNDS / 4 : ROUNDS); i++) {
        loading_sum sum = {0};
        assert_int_equal(mr_loader_restore(s.loader, begin), 0);
        sum = loading_run(s.loader, 3);
        assert_true(sum.result == MR_ECLOSED || (sum.result == 0 && sum.hash == wanted));
    }
    atomic_store(&s.over, true);
    pthread_join(thread, NULL);
    assert_int_equal(mr_loader_restore(s.loader, begin), 0);
    assert_true(loading_run(s.loader, 3).hash == wanted);
    mr_loader_free(s.loader);
    for (int i = 0; i < 20; i++) { // freed while it is at work
        mr_loader *loader = loading_new(good, "resize(96) mixup cutmix dtype(f32)", &o);
        mr_batch *b;
        assert_int_equal(mr_loader_next(loader, &b), 0);
        mr_loader_free(loader);
    }
}

static void memory_is_counted_and_stays(void **state)
{
    (void)state;
    loading_counter c = {0};
    mr_hooks hooks = loading_hooks(&c);
    mr_loader_options o = dealt(5, 0, 2);
    uint64_t held[2];
    for (uint32_t i = 0; i < 2; i++) {
        mr_loader_stats stats = {.struct_size = sizeof stats};
        o.hooks = &hooks;
        o.threads = 2;
        o.epochs = 40;
        o.batch = 5 + i; // of 6 and whole batches nobody needs guests
        o.drop_last = i == 1;
        mr_loader *loader = loading_new(good, "resize(40) mixup(0.3) cutmix", &o);
        assert_int_equal(loading_run(loader, 120).batches, 120);
        unsigned before = atomic_load(&c.allocated);
        loading_run(loader, UINT64_MAX);
        assert_int_equal(atomic_load(&c.allocated), before);
        assert_int_equal(mr_loader_get_stats(loader, &stats), 0);
        held[i] = stats.memory_nbytes;
        mr_loader_free(loader);
    }
    assert_true(held[0] > held[1]); // 3 slots of 10 samples, and not of 6
    char detail[240];
    mr_recipe *recipe = loading_recipe("resize(4000) mixup");
    mr_loader *loader;
    o = dealt(3, 0, 2);
    o.memory_nbytes = (uint64_t)8 * 48000000 + ((uint64_t)96 << 20); // two slots would fit, but for guests
    assert_int_equal(mr_loader_new(good, recipe, &o, &loader, detail, sizeof detail), MR_ELIMIT);
    mr_recipe_free(recipe);
}

static void recipes_say_what_cannot_be(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"mixup(-1)", "alpha"},
        {"mixup(1e9)", "alpha"},
        {"mixup(1, chance=2)", "chance"},
    };
    mr_recipe *recipe;
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(mr_recipe_parse(recipe, wrong[i][0]), MR_EARGUMENT);
        assert_contains(mr_recipe_detail(recipe), wrong[i][1]);
    }
    mr_recipe_free(recipe);
    static const char *const misplaced[][2] = {
        {"resize(8) mixup flip", "mixup"},
        {"resize(8) mixup mixup(0.2)", "twice"},
        {"cutmix resize(8)", "cutmix"},
    };
    for (size_t i = 0; i < sizeof misplaced / sizeof *misplaced; i++) {
        mr_output output = {.struct_size = sizeof output};
        recipe = loading_recipe(misplaced[i][0]);
        assert_int_equal(mr_recipe_output(recipe, &output), MR_EARGUMENT);
        assert_contains(mr_recipe_detail(recipe), misplaced[i][1]);
        mr_recipe_free(recipe);
    }
    recipe = loading_recipe("resize(8) mixup(1.0, chance=1) dtype(f32) cutmix(0.2, chance=0.5)");
    assert_string_equal(mr_recipe_text(recipe), "resize(8) mixup dtype(f32) cutmix(0.2, 0.5)");
    mr_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_mixed_as_they_say),
        cmocka_unit_test(worlds_and_threads_do_not_matter),
        cmocka_unit_test(bad_samples_do_not_depend_on_the_world),
        cmocka_unit_test(guests_are_not_in_the_budget),
        cmocka_unit_test(soft_labels_are_weights),
        cmocka_unit_test(going_on_gives_the_same),
        cmocka_unit_test(nothing_is_in_the_way_of_the_end),
        cmocka_unit_test(memory_is_counted_and_stays),
        cmocka_unit_test(recipes_say_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
