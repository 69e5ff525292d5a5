// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of a recipe's text, whatever the bytes: it is read, or there is an error that points into it and
 * nothing was added. What is read is written, and what is written reads back as the same steps; so of every copy. Where
 * the steps fit together, they bring an image of any size to the size they promise, or refuse it with words.
 */
#include "check.h"

#include "step/recipe.h"

#include <string.h>

enum { DRAWS = 64 * MR_RECIPE_STEPS_MAX };

static mr_recipe *recipe_new(fuzz_heap *heap)
{
    mr_recipe *made = NULL;
    mr_hooks hooks = fuzz_heap_hooks(heap);
    int result = mr_recipe_new(&hooks, &made);
    FUZZ_REQUIRE(result == 0 || (result == MR_ENOMEM && heap->fail_at != 0), "%s", mr_error_name(result));
    return result == 0 ? made : NULL;
}

static int parse(mr_recipe *recipe, const char *text)
{
    size_t count = mr_recipe_count(recipe);
    int result = mr_recipe_parse(recipe, text);
    const char *detail = mr_recipe_detail(recipe);
    FUZZ_REQUIRE((result == 0) == (detail[0] == '\0'), "%s: \"%s\"", mr_error_name(result), detail);
    FUZZ_REQUIRE(result == 0 || mr_recipe_count(recipe) == count, "%zu steps more", mr_recipe_count(recipe) - count);
    FUZZ_REQUIRE(mr_recipe_error_at(recipe) <= strlen(text), "an error at %zu", mr_recipe_error_at(recipe));
    for (const char *c = detail; *c != '\0'; c++)
        FUZZ_REQUIRE(*c >= ' ' && *c <= '~', "a detail with the byte 0x%02x", (unsigned char)*c);
    return result;
}

static void check_same(mr_recipe *a, mr_recipe *b)
{
    FUZZ_REQUIRE(mr_recipe_count(a) == mr_recipe_count(b), "%zu steps, and %zu", mr_recipe_count(a),
                 mr_recipe_count(b));
    FUZZ_REQUIRE(strcmp(mr_recipe_text(a), mr_recipe_text(b)) == 0, "%s, and %s", mr_recipe_text(a), mr_recipe_text(b));
    FUZZ_REQUIRE(mr_recipe_hash(a) == mr_recipe_hash(b), "two hashes of %s", mr_recipe_text(a));
    for (size_t i = 0; i < mr_recipe_count(a); i++) {
        mr_step one = {.struct_size = sizeof one}, other = {.struct_size = sizeof other};
        FUZZ_REQUIRE(mr_recipe_step(a, i, &one) == 0 && mr_recipe_step(b, i, &other) == 0, "step %zu", i);
        FUZZ_REQUIRE(memcmp(&one, &other, sizeof one) == 0, "step %zu of %s", i, mr_recipe_text(a));
    }
}

/* What is done to images of some sizes. */
static void check_images(const mr_recipe *recipe, const mr_output *output, fuzz_draw *draw, uint32_t *draws)
{
    for (int i = 0; i < 4; i++) {
        uint32_t width = 1 + fuzz_draw_below(draw, i < 3 ? 600 : MR_RECIPE_SIDE_MAX);
        uint32_t height = 1 + fuzz_draw_below(draw, i < 3 ? 600 : MR_RECIPE_SIDE_MAX);
        mr__detail detail = {{0}};
        mr__chain chain;
        mr__recipe_draw(recipe, fuzz_draw_u64(draw), 3, fuzz_draw_below(draw, 1000), draws);
        int result = mr__recipe_resolve(recipe, draws, width, height, NULL, &chain, &detail);
        FUZZ_REQUIRE(result == 0 || ((result == MR_EARGUMENT || result == MR_ELIMIT) && detail.text[0] != '\0'),
                     "%s: \"%s\"", mr_error_name(result), detail.text);
        if (result != 0)
            continue;
        mr__chain_size(&chain, &width, &height);
        FUZZ_REQUIRE(width == output->width && height == output->height, "%u x %u became %u x %u", output->width,
                     output->height, width, height);
    }
}

static void check_output(mr_recipe *recipe, fuzz_draw *draw)
{
    mr_output output = {.struct_size = sizeof output};
    int result = mr_recipe_output(recipe, &output);
    FUZZ_REQUIRE((result == 0) == (mr_recipe_detail(recipe)[0] == '\0'), "%s: \"%s\"", mr_error_name(result),
                 mr_recipe_detail(recipe));
    FUZZ_REQUIRE(result == 0 || result == MR_EARGUMENT || result == MR_ELIMIT, "%s", mr_error_name(result));
    if (result != 0)
        return;
    FUZZ_REQUIRE(output.sample_nbytes ==
                     (size_t)output.width * output.height * output.channels * mr_dtype_nbytes(output.dtype),
                 "%zu bytes", output.sample_nbytes);
    uint32_t *draws = malloc(DRAWS * sizeof *draws);
    FUZZ_REQUIRE(draws != NULL && mr__recipe_draw_count(recipe) <= DRAWS, "%zu draws", mr__recipe_draw_count(recipe));
    check_images(recipe, &output, draw, draws);
    free(draws);
}

static void check_copies(mr_recipe *recipe, fuzz_heap *heap)
{
    mr_hooks hooks = fuzz_heap_hooks(heap);
    mr_recipe *copy = NULL, *visible = NULL;
    FUZZ_REQUIRE(mr__recipe_copy(recipe, &hooks, &copy) == 0, "no copy of %s", mr_recipe_text(recipe));
    check_same(recipe, copy);
    mr_recipe_free(copy);
    int result = mr_recipe_visible(recipe, &visible);
    FUZZ_REQUIRE(result == 0 || (result == MR_ELIMIT && mr_recipe_count(recipe) + 2 > MR_RECIPE_STEPS_MAX), "%s",
                 mr_error_name(result));
    if (result == 0)
        FUZZ_REQUIRE(strstr(mr_recipe_text(visible), "layout(nhwc) dtype(u8)") != NULL, "%s", mr_recipe_text(visible));
    mr_recipe_free(visible);
}

/* The bytes up to the first zero. */
static char *text_of(const uint8_t *bytes, size_t nbytes)
{
    char *text = malloc(nbytes + 1);
    FUZZ_REQUIRE(text != NULL, "out of memory");
    if (nbytes != 0)
        memcpy(text, bytes, nbytes);
    text[nbytes] = '\0';
    return text;
}

void fuzz_check_recipe(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    char *text = text_of(bytes, nbytes);
    fuzz_heap heap = {.fill = 0x5a};
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    mr_recipe *recipe = recipe_new(&heap), *again = recipe_new(&heap);
    int result = parse(recipe, text);
    FUZZ_REQUIRE(result == 0 || result == MR_EARGUMENT || result == MR_ELIMIT, "%s", mr_error_name(result));
    if (result == 0) {
        FUZZ_REQUIRE(parse(again, mr_recipe_text(recipe)) == 0, "%s: %s", mr_recipe_text(recipe),
                     mr_recipe_detail(again));
        check_same(recipe, again);
        check_copies(recipe, &heap);
        check_output(recipe, &draw);
    }
    mr_recipe_free(again);
    mr_recipe_free(recipe);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    free(text);
}

void fuzz_check_recipe_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    char *text = text_of(bytes, nbytes);
    fuzz_heap heap = {.fill = 0x5a};
    mr_recipe *wanted = recipe_new(&heap);
    int result = parse(wanted, text);
    uint64_t calls = heap.calls;
    for (uint64_t at = 1; at <= calls && at <= 24; at++) {
        fuzz_heap failing = {.fill = 0x5a, .fail_at = at, .fail_on = at % 2 == 0};
        mr_recipe *recipe = recipe_new(&failing);
        if (recipe != NULL) {
            int failed = parse(recipe, text);
            FUZZ_REQUIRE(failed == MR_ENOMEM || failed == result, "%s", mr_error_name(failed));
            failing.fail_at = 0;
            if (failed == MR_ENOMEM)
                failed = parse(recipe, text);
            FUZZ_REQUIRE(failed == result, "%s after memory ran out", mr_error_name(failed));
            check_same(recipe, wanted);
            mr_recipe_free(recipe);
        }
        FUZZ_REQUIRE(failing.blocks == 0, "%lld blocks are left", (long long)failing.blocks);
    }
    mr_recipe_free(wanted);
    free(text);
}
