// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of steps with any parameters on an image of any small size: the recipe is refused with words, or it
 * fills all of its output and nothing else; twice the same, without memory the second time; the same fused and apart,
 * with and without the processor's instructions, whatever stood in new memory.
 */
#include "check.h"
#include "steps_text.h"

#include <string.h>

enum { GUARD_NBYTES = 64, SIDE_MOST = 48 };

/* One image and one recipe. */
typedef struct scene {
    char text[STEPS_TEXT_NBYTES];
    mr_image image;
    uint64_t seed;
} scene;

/* Flat, a ramp, noise, or few values. */
static uint8_t sample_at(unsigned kind, uint32_t i, uint32_t row, uint8_t value)
{
    uint32_t noise = (i * 2654435761U) ^ (i >> 3) * 40503U;
    switch (kind % 4) {
    case 0:
        return value;
    case 1:
        return (uint8_t)(i % row * 255 / row + value);
    case 2:
        return (uint8_t)(noise >> 13);
    default:
        return noise >> 20 & 1 ? 255 : value;
    }
}

static void scene_init(scene *s, const uint8_t *bytes, size_t nbytes)
{
    static const uint32_t sides[] = {1, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 37, 47, 48};
    steps_bytes from = {bytes, nbytes};
    uint32_t width = sides[steps_byte(&from) % 14], height = sides[steps_byte(&from) % 14];
    unsigned kind = steps_byte(&from);
    uint8_t value = steps_byte(&from);
    s->seed = steps_byte(&from);
    steps_text(&from, s->text);
    uint32_t channels = strncmp(s->text, "convert(gray)", 13) == 0 ? 1 : 3;
    FUZZ_REQUIRE(mr_image_init(&s->image, width, height, channels, 8, NULL) == 0, "no image");
    for (uint32_t i = 0; i < width * height * channels; i++)
        ((uint8_t *)s->image.pixels)[i] = sample_at(kind, i, width * channels, value);
}

static bool may_be(int result, const fuzz_heap *heap)
{
    return result == 0 || result == MR_EARGUMENT || result == MR_ELIMIT || (result == MR_ENOMEM && heap->fail_at != 0);
}

/* An applier; NULL: the recipe is refused, or memory is out. */
static mr_applier *applier_new(const scene *s, bool fuse, fuzz_heap *heap, size_t *nbytes, int *result)
{
    mr_hooks hooks = fuzz_heap_hooks(heap);
    mr_recipe *recipe = NULL;
    mr_applier *applier = NULL;
    mr_output output = {.struct_size = sizeof output};
    *result = mr_recipe_new(&hooks, &recipe);
    if (*result == 0)
        *result = mr_recipe_parse(recipe, s->text);
    if (*result == 0)
        *result = mr_recipe_set_fusing(recipe, fuse);
    if (*result == 0)
        *result = mr_recipe_output(recipe, &output);
    if (*result == 0)
        *result = mr_applier_new(recipe, &hooks, &applier);
    FUZZ_REQUIRE(may_be(*result, heap), "%s: %s", mr_error_name(*result), s->text);
    FUZZ_REQUIRE(*result == 0 || recipe == NULL || mr_recipe_detail(recipe)[0] != '\0', "%s without a word: %s",
                 mr_error_name(*result), s->text);
    mr_recipe_free(recipe);
    *nbytes = output.sample_nbytes;
    return applier;
}

/* The output in memory of its own, to be freed. A result that is not 0 has words. */
static uint8_t *run(const scene *s, mr_applier *applier, size_t nbytes, uint8_t before, fuzz_heap *heap, int *result)
{
    uint8_t *out = malloc(nbytes + GUARD_NBYTES);
    FUZZ_REQUIRE(out != NULL, "out of memory");
    memset(out, before, nbytes + GUARD_NBYTES);
    *result = mr_applier_run(applier, &s->image, s->seed, 0, s->seed, out);
    FUZZ_REQUIRE(may_be(*result, heap), "%s (%s): %s", mr_error_name(*result), mr_applier_detail(applier), s->text);
    FUZZ_REQUIRE((*result == 0) == (mr_applier_detail(applier)[0] == '\0'), "%s: \"%s\"", mr_error_name(*result),
                 mr_applier_detail(applier));
    for (size_t i = nbytes; i < nbytes + GUARD_NBYTES; i++)
        FUZZ_REQUIRE(out[i] == before, "byte %zu beyond the end is written: %s", i - nbytes, s->text);
    return out;
}

/* What else must be the same: another way to run it. */
static void check_way(const scene *s, const char *way, bool fuse, const char *mask, const uint8_t *wanted, int code)
{
    fuzz_heap heap = {.fill = 0xa5};
    size_t nbytes;
    int result;
    if (mask != NULL)
        setenv("MILLRACE_CPU", mask, 1);
    mr_applier *applier = applier_new(s, fuse, &heap, &nbytes, &result);
    if (mask != NULL)
        unsetenv("MILLRACE_CPU");
    FUZZ_REQUIRE(applier != NULL, "%s it is refused: %s", way, s->text);
    uint8_t *got = run(s, applier, nbytes, 0x33, &heap, &result);
    FUZZ_REQUIRE(result == code, "%s: %s: %s", way, mr_error_name(result), s->text);
    for (size_t i = 0; result == 0 && i < nbytes; i++)
        FUZZ_REQUIRE(got[i] == wanted[i], "%s byte %zu of %zu is %u, not %u: %u x %u, %s", way, i, nbytes, got[i],
                     wanted[i], s->image.width, s->image.height, s->text);
    free(got);
    mr_applier_free(applier);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
}

void fuzz_check_steps(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    scene s = {.seed = 0};
    fuzz_heap heap = {.fill = 0x5a};
    size_t out_nbytes;
    int code, again;
    scene_init(&s, bytes, nbytes);
    mr_applier *applier = applier_new(&s, true, &heap, &out_nbytes, &code);
    if (applier != NULL) {
        uint8_t *wanted = run(&s, applier, out_nbytes, 0, &heap, &code);
        uint64_t calls = heap.calls;
        uint8_t *second = run(&s, applier, out_nbytes, 0xff, &heap, &again);
        FUZZ_REQUIRE(again == code && (code != 0 || memcmp(second, wanted, out_nbytes) == 0), "twice is not once: %s",
                     s.text);
        FUZZ_REQUIRE(code != 0 || heap.calls == calls, "the second time takes memory: %s", s.text);
        check_way(&s, "apart", false, NULL, wanted, code);
        check_way(&s, "portable", true, "portable", wanted, code);
        free(second);
        free(wanted);
    }
    mr_applier_free(applier);
    mr_image_fini(&s.image, NULL);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
}

static void fail_at(const scene *s, uint64_t at, const uint8_t *wanted, int code)
{
    fuzz_heap heap = {.fill = 0x5a, .fail_at = at, .fail_on = at % 2 == 0};
    size_t nbytes;
    int result;
    mr_applier *applier = applier_new(s, true, &heap, &nbytes, &result);
    if (applier != NULL) {
        uint8_t *got = run(s, applier, nbytes, 0x77, &heap, &result);
        FUZZ_REQUIRE(result == MR_ENOMEM || result == code, "%s: %s", mr_error_name(result), s->text);
        heap.fail_at = 0;
        free(got);
        got = run(s, applier, nbytes, 0x77, &heap, &result);
        FUZZ_REQUIRE(result == code && (code != 0 || memcmp(got, wanted, nbytes) == 0), "with memory again: %s: %s",
                     mr_error_name(result), s->text);
        free(got);
        mr_applier_free(applier);
    }
    FUZZ_REQUIRE(heap.blocks == 0, "allocation %llu fails: %lld blocks are left: %s", (unsigned long long)at,
                 (long long)heap.blocks, s->text);
}

void fuzz_check_steps_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    scene s = {.seed = 0};
    fuzz_heap heap = {.fill = 0x5a};
    size_t out_nbytes;
    int code;
    scene_init(&s, bytes, nbytes);
    mr_applier *applier = applier_new(&s, true, &heap, &out_nbytes, &code);
    if (applier != NULL) {
        uint8_t *wanted = run(&s, applier, out_nbytes, 0, &heap, &code);
        uint64_t calls = heap.calls, first = calls > 40 ? calls - 40 : 1; /* the last ones are those of the run */
        for (uint64_t at = first; at <= calls; at++)
            fail_at(&s, at, wanted, code);
        free(wanted);
    }
    mr_applier_free(applier);
    mr_image_fini(&s.image, NULL);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
}
