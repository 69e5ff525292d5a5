// SPDX-License-Identifier: Apache-2.0
/*
 * Whole policies beside torchvision on PIL images: every byte, by its hash, with given draws. augmix is the sum that
 * torchvision makes, of branches that Pillow makes; tables are done by Pillow as their authors do them.
 */
#include "test.h"

#include "../golden/policy_images_golden.h"
#include "step/augment.h"
#include "step/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = sizeof golden_images / sizeof *golden_images };

/* As policy_golden.py makes it. */
static void fill_image(mr_image *image, uint32_t seed)
{
    uint8_t *at = image->pixels;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            for (uint32_t c = 0; c < image->channels; c++) {
                seed = seed * 1664525u + 1013904223u;
                *at++ = (uint8_t)(((x / 5 * 37 + y / 4 * 59 + c * 71) & 0x7f) + (seed >> 26) + 32);
            }
}

static uint64_t fnv(const uint8_t *bytes, size_t nbytes)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < nbytes; i++)
        value = (value ^ bytes[i]) * UINT64_C(0x100000001b3);
    return value;
}

typedef struct tables {
    mr_hooks hooks;
    mr__policy_table *of[2]; /* policies, stages */
} tables;

static mr_step step_of(size_t i, const tables *t)
{
    mr__detail detail;
    mr_step step = {.struct_size = sizeof step,
                    .kind = (mr_step_kind)golden_images[i].kind,
                    .sampling = (mr_sampling)golden_images[i].sampling,
                    .policy = (mr_autoaug)golden_images[i].policy};
    if (golden_images[i].policy >= 3) {
        step.policy = MR_AUTOAUG_FILE;
        step.path = t->of[golden_images[i].policy - 3]->path;
    }
    assert_int_equal(mr__step_type_of(step.kind)->settle(&step, &detail), 0);
    return step;
}

static void resolve(size_t i, const tables *t, bool apart, mr__chain *chain)
{
    mr__detail detail = {{0}};
    mr_step step = step_of(i, t);
    mr__chain_init(chain, golden_sizes[golden_images[i].size][0], golden_sizes[golden_images[i].size][1], apart, NULL);
    if (mr__step_type_of(step.kind)->resolve(&step, golden_images[i].draws, chain, &detail) != 0)
        fail_msg("image %zu: %s", i, detail.text);
    mr__chain_narrow(chain);
}

/* What is made of it; free() it. */
static uint8_t *make(size_t i, const mr__chain *chain, mr__cpu_flags cpu, const mr_hooks *hooks, size_t *nbytes)
{
    mr__finish finish = {.depth = 8};
    mr__detail detail = {{0}};
    mr__augment *augment;
    mr_image image, part;
    uint32_t channels = golden_images[i].channels;
    finish.output = (mr_output){.struct_size = sizeof finish.output,
                                .width = golden_sizes[golden_images[i].size][0],
                                .height = golden_sizes[golden_images[i].size][1],
                                .channels = channels,
                                .layout = MR_NHWC,
                                .dtype = MR_U8};
    *nbytes = finish.output.sample_nbytes =
        (size_t)golden_sizes[golden_images[i].size][0] * golden_sizes[golden_images[i].size][1] * channels;
    void *slot = NULL;
    assert_int_equal(posix_memalign(&slot, 64, *nbytes), 0);
    assert_int_equal(mr_image_init(&image, golden_sizes[golden_images[i].size][0],
                                   golden_sizes[golden_images[i].size][1], channels, 8, NULL),
                     0);
    assert_int_equal(image.stride, mr_image_row_nbytes(&image));
    uint32_t first = (uint32_t)i;
    while (first > 0 && golden_images[first - 1].kind == golden_images[i].kind &&
           golden_images[first - 1].policy == golden_images[i].policy)
        first--;
    fill_image(&image, (uint32_t)i - first + 1);
    assert_int_equal(mr_image_crop(&image, mr__pass_region(&chain->pass[0]), &part), 0);
    assert_int_equal(mr__augment_new(hooks, cpu, &finish, &augment), 0);
    assert_int_equal(mr__augment_run(augment, chain, &part, slot, &detail), 0);
    mr__augment_free(augment);
    mr_image_fini(&image, NULL);
    return slot;
}

static size_t check(size_t i, const tables *t, bool apart, mr__cpu_flags cpu)
{
    static mr__chain chain;
    size_t nbytes;
    resolve(i, t, apart, &chain);
    uint8_t *bytes = make(i, &chain, cpu, &t->hooks, &nbytes);
    bool same = fnv(bytes, nbytes) == golden_images[i].hash;
    if (!same) {
        print_message("image %zu (step %d, policy %u):", i, (int)golden_images[i].kind, golden_images[i].policy);
        for (size_t k = 0; k < chain.op_count; k++)
            print_message(" op %d %g %u", (int)chain.op[k].kind, chain.op[k].amount, chain.op[k].whole);
        print_message("\n");
    }
    free(bytes);
    return !same;
}

static void test_images(void **state)
{
    (void)state;
    tables t;
    mr__detail detail;
    size_t wrong = 0;
    assert_int_equal(mr__hooks_init(&t.hooks, NULL), 0);
    assert_int_equal(mr__policy_table_read("a", golden_policies, strlen(golden_policies), &t.hooks, &t.of[0], &detail),
                     0);
    assert_int_equal(mr__policy_table_read("b", golden_stages, strlen(golden_stages), &t.hooks, &t.of[1], &detail), 0);
    for (size_t i = 0; i < IMAGES; i++) {
        wrong += check(i, &t, false, mr__cpu_detect());
        wrong += check(i, &t, true, mr__cpu_detect());
        wrong += check(i, &t, false, 0);
    }
    mr__policy_table_free(t.of[0], &t.hooks);
    mr__policy_table_free(t.of[1], &t.hooks);
    assert_int_equal(wrong, 0);
}

/* One of the policies, whole, on an image of any size: the same bytes fused and apart. */
static void check_alike(const char *text, uint32_t width, uint32_t height, uint32_t channels, uint64_t key)
{
    size_t nbytes = (size_t)width * height * channels;
    uint8_t *bytes[2] = {malloc(nbytes), malloc(nbytes)};
    char whole[160];
    mr_image image;
    assert_int_equal(mr_image_init(&image, width, height, channels, 8, NULL), 0);
    fill_image(&image, 1);
    snprintf(whole, sizeof whole, "convert(%s) %s resize(%ux%u, filter=nearest) layout(nhwc)",
             channels == 1 ? "gray" : "rgb", text, width, height);
    for (size_t i = 0; i < 2; i++) {
        mr_recipe *recipe;
        mr_applier *applier = NULL;
        assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
        if (mr_recipe_parse(recipe, whole) != 0 || mr_recipe_set_fusing(recipe, i == 0) != 0 ||
            mr_applier_new(recipe, NULL, &applier) != 0)
            fail_msg("%s: %s", whole, mr_recipe_detail(recipe));
        assert_int_equal(mr_applier_run(applier, &image, 3, 1, key, bytes[i]), 0);
        mr_applier_free(applier);
        mr_recipe_free(recipe);
    }
    assert_memory_equal(bytes[0], bytes[1], nbytes);
    mr_image_fini(&image, NULL);
    free(bytes[0]);
    free(bytes[1]);
}

static void test_sizes(void **state)
{
    (void)state;
    static const char *const texts[] = {"randaug",
                                        "randaug(6, 30)",
                                        "trivialaug",
                                        "autoaug",
                                        "autoaug(svhn)",
                                        "augmix",
                                        "augmix(10, width=5, alpha=0.1, filter=bicubic)"};
    static const uint32_t sizes[][2] = {{1, 1}, {1, 31}, {37, 1}, {2, 2}, {13, 7}, {101, 3}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (uint64_t key = 0; key < 12; key++)
                check_alike(texts[i], sizes[k][0], sizes[k][1], key % 4 == 3 ? 1 : 3, key);
    check_alike("augmix randaug", 7680, 33, 3, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_images), cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
