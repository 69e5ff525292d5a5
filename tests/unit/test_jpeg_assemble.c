// SPDX-License-Identifier: Apache-2.0
/* The back end as a whole, from coefficients to pixels, held against libjpeg-turbo's own decode. */
#include "test.h"

#include "jpeg_backend.h"
#include "jpeg_plain.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr__jpeg_pixels portable, best;

static int open_kernels(void **state)
{
    (void)state;
    mr__jpeg_pixels_init(&portable, 0);
    mr__jpeg_pixels_init(&best, mr__cpu_detect());
    return 0;
}

/* A target with a gap behind each row, all filled with a value that must stay there. */
typedef struct target {
    uint8_t *bytes;
    size_t nbytes;
    mr_image image;
} target;

enum { GAP = 5, CANARY = 0xc3 };

static target open_target(mr_rect region, uint32_t channels)
{
    size_t row = (size_t)region.width * channels;
    target t = {.nbytes = (row + GAP) * region.height - GAP};
    t.bytes = malloc(t.nbytes); // exactly: what is written beyond it is seen by a sanitizer
    assert_non_null(t.bytes);
    memset(t.bytes, CANARY, t.nbytes);
    t.image = (mr_image){region.width, region.height, channels, 8, (ptrdiff_t)(row + GAP), t.bytes};
    return t;
}

static void check_gaps(const target *t, const char *what)
{
    size_t row = (size_t)t->image.width * t->image.channels;
    for (size_t y = 0; y + 1 < t->image.height; y++)
        for (size_t i = row; i < row + GAP; i++)
            if (t->bytes[y * (row + GAP) + i] != CANARY)
                fail_msg("%s: row %zu was written beyond its end", what, y);
}

static void check_part(const mr__jpeg_pixels *kernels, const backend_source *source, const mr__jpeg_layout *layout,
                       backend_way way, mr_rect region, const mr_image *whole, const char *what)
{
    mr_image wanted;
    target t = open_target(region, whole->channels);
    char text[200];
    snprintf(text, sizeof text, "%s, %s, way %d, %u x %u at %u, %u", what, kernels == &best ? "best" : "portable", way,
             region.width, region.height, region.x, region.y);
    backend_decode(kernels, source, layout, way, region, &t.image);
    assert_int_equal(mr_image_crop(whole, region, &wanted), 0);
    picture_compare(&t.image, &wanted, text);
    check_gaps(&t, text);
    free(t.bytes);
}

/* The whole and some regions, at one reduction. */
static void check_reduced(const picture_file *file, const backend_source *source, uint32_t reduce, uint32_t regions,
                          uint64_t *random, const char *what)
{
    mr_image whole;
    mr__jpeg_layout layout;
    uint32_t channels = source->frame.parts == 3 && picture_random_below(random, 8) != 0 ? 3 : 1;
    if (source->frame.parts == 1 && picture_random_below(random, 2) == 0)
        channels = 3;
    if (source->frame.rgb)
        channels = 3;
    assert_true(plain_decode(file->bytes, file->nbytes, reduce, channels, &whole) >= 0);
    assert_true(mr__jpeg_layout_init(&layout, &source->frame, reduce));
    assert_int_equal(layout.width, whole.width);
    assert_int_equal(layout.height, whole.height);
    char text[150];
    snprintf(text, sizeof text, "%s at 1/%u", what, reduce);
    mr_rect region = {0, 0, whole.width, whole.height};
    for (uint32_t i = 0; i <= regions; i++) {
        backend_way way = (backend_way)picture_random_below(random, 3);
        check_part(&portable, source, &layout, way, region, &whole, text);
        check_part(&best, source, &layout, way, region, &whole, text);
        region = picture_random_rect(random, whole.width, whole.height);
    }
    mr_image_fini(&whole, NULL);
}

static void check_file(const picture_file *file, uint32_t regions, uint64_t *random, const char *what)
{
    backend_source source;
    assert_true(backend_read(file, &source));
    for (uint32_t reduce = 1; reduce <= 8; reduce *= 2)
        check_reduced(file, &source, reduce, regions, random, what);
    backend_free(&source);
}

static const struct {
    const char *name;
    plain_space space;
    uint8_t factors[4];
} kinds[] = {
    {"gray", PLAIN_GRAY, {0x11}},
    {"gray with factors", PLAIN_GRAY, {0x22}},
    {"4:4:4", PLAIN_YCC, {0x11}},
    {"4:2:2", PLAIN_YCC, {0x21}},
    {"4:2:0", PLAIN_YCC, {0x22}},
    {"4:4:0", PLAIN_YCC, {0x12}},
    {"4:1:1", PLAIN_YCC, {0x41}},
    {"4:1:0", PLAIN_YCC, {0x42}},
    {"1x4", PLAIN_YCC, {0x14}},
    {"2x4", PLAIN_YCC, {0x24}},
    {"3x1", PLAIN_YCC, {0x31}},
    {"1x3", PLAIN_YCC, {0x13}},
    {"3x2", PLAIN_YCC, {0x32}},
    {"2x2, 2x1, 1x2", PLAIN_YCC, {0x22, 0x21, 0x12}},
    {"2x2, 1x1, 2x2", PLAIN_YCC, {0x22, 0x11, 0x22}},
    {"4x2, 2x1, 1x2", PLAIN_YCC, {0x41, 0x21, 0x11}},
    {"less luma", PLAIN_YCC, {0x11, 0x22, 0x22}},
    {"less luma across", PLAIN_YCC, {0x11, 0x21, 0x21}},
    {"RGB", PLAIN_RGB, {0x11}},
    {"RGB 4:2:0", PLAIN_RGB, {0x22}},
    {"RGB of all kinds", PLAIN_RGB, {0x12, 0x22, 0x21}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void check_kind(size_t kind, uint32_t width, uint32_t height, uint64_t *random)
{
    static const int qualities[] = {1, 30, 75, 90, 100};
    plain_recipe recipe = {
        .width = width, .height = height, .space = kinds[kind].space, .seed = picture_random(random)};
    recipe.quality = qualities[picture_random_below(random, 5)];
    memcpy(recipe.factors, kinds[kind].factors, sizeof recipe.factors);
    picture_file file = plain_encode(&recipe);
    char what[100];
    snprintf(what, sizeof what, "%s, %u x %u, quality %d", kinds[kind].name, width, height, recipe.quality);
    check_file(&file, 2, random, what);
    free(file.bytes);
}

static void every_small_size(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (uint32_t side = 1; side <= 40; side += test_quick() ? 3 : 1) {
            check_kind(kind, side, 1 + picture_random_below(&random, 40), &random);
            check_kind(kind, 1 + picture_random_below(&random, 40), side, &random);
        }
}

static void larger_sizes(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < (test_quick() ? 1 : 4); i++)
            check_kind(kind, 41 + picture_random_below(&random, 300), 41 + picture_random_below(&random, 200), &random);
}

/* Every region of a small image; the context of blending is what may go wrong. */
static void every_region(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x11, 0x21, 0x22, 0x12, 0x41};
    enum { WIDTH = 19, HEIGHT = 10 };
    for (size_t i = 0; i < sizeof factors; i++) {
        plain_recipe recipe = {.width = WIDTH, .height = HEIGHT, .space = PLAIN_YCC, .factors = {factors[i]}};
        picture_file file = plain_encode(&recipe);
        backend_source source;
        mr__jpeg_layout layout;
        mr_image whole;
        assert_true(backend_read(&file, &source));
        assert_true(mr__jpeg_layout_init(&layout, &source.frame, 1));
        assert_int_equal(plain_decode(file.bytes, file.nbytes, 1, 3, &whole), 0);
        for (uint32_t n = 0; n < WIDTH * WIDTH * HEIGHT * HEIGHT; n += test_quick() ? 7 : 1) {
            mr_rect r = {n % WIDTH, n / WIDTH % HEIGHT, 1 + n / WIDTH / HEIGHT % WIDTH, 1 + n / WIDTH / HEIGHT / WIDTH};
            if (r.x + r.width <= WIDTH && r.y + r.height <= HEIGHT)
                check_part(&best, &source, &layout, BACKEND_ROWS, r, &whole, "every region");
        }
        mr_image_fini(&whole, NULL);
        backend_free(&source);
        free(file.bytes);
    }
}

/* What no encoder makes: libjpeg-turbo's x86 kernels wrap and saturate in their own way, and so do ours. */
static void wild_coefficients(void **state)
{
    (void)state;
#if defined(__x86_64__)
    static const uint8_t factors[] = {0, 0, 0x11, 0x22};
    uint64_t random = 3;
    for (uint32_t i = 0; i < (test_quick() ? 40 : 200); i++) {
        picture_file file = backend_wild(1 + picture_random_below(&random, 100), 1 + picture_random_below(&random, 60),
                                         factors[i % 4], i);
        char what[40];
        snprintf(what, sizeof what, "wild file %u", i);
        check_file(&file, 1, &random, what);
        free(file.bytes);
    }
#else
    skip(); // other processors' libjpeg-turbo gives other pixels there; ours are compared with portable C
#endif
}

/* Any stride, also bottom up. */
static void any_target(void **state)
{
    (void)state;
    plain_recipe recipe = {.width = 70, .height = 37, .space = PLAIN_YCC, .factors = {0x22}};
    picture_file file = plain_encode(&recipe);
    backend_source source;
    mr__jpeg_layout layout;
    mr_image whole;
    assert_true(backend_read(&file, &source));
    assert_true(mr__jpeg_layout_init(&layout, &source.frame, 1));
    assert_int_equal(plain_decode(file.bytes, file.nbytes, 1, 3, &whole), 0);
    mr_rect all = {0, 0, 70, 37};
    target t = open_target(all, 3);
    mr_image turned = mr_image_upside_down(&t.image), wanted = mr_image_upside_down(&whole);
    backend_decode(&best, &source, &layout, BACKEND_UNITS, all, &turned);
    picture_compare(&t.image, &wanted, "upside down");
    check_gaps(&t, "upside down");
    free(t.bytes);
    mr_image_fini(&whole, NULL);
    backend_free(&source);
    free(file.bytes);
}

static void frames_that_are_refused(void **state)
{
    (void)state;
    const mr__jpeg_frame good = {.width = 9, .height = 9, .parts = 3, .h = {2, 1, 1}, .v = {2, 1, 1}};
    mr__jpeg_frame bad[8];
    mr__jpeg_layout layout = {.width = 77};
    for (size_t i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].width = 0;
    bad[1].height = 0;
    bad[2].width = 65536;
    bad[3].parts = 2;
    bad[4].parts = 4;
    bad[5].h[1] = 0;
    bad[6].v[2] = 5;
    bad[7].h[0] = 3, bad[7].h[1] = 2; // not a whole number of pixels a sample
    for (size_t i = 0; i < 8; i++)
        assert_false(mr__jpeg_layout_init(&layout, &bad[i], 1));
    assert_false(mr__jpeg_layout_init(&layout, &good, 0));
    assert_false(mr__jpeg_layout_init(&layout, &good, 3));
    assert_false(mr__jpeg_layout_init(&layout, &good, 16));
    assert_int_equal(layout.width, 77);
    assert_true(mr__jpeg_layout_init(&layout, &good, 8));
}

/* The need is no more than one sample around what lies under the region, and 64-pixel units are found exactly. */
static void what_a_region_needs(void **state)
{
    (void)state;
    const mr__jpeg_frame frame = {.width = 500, .height = 375, .parts = 3, .h = {2, 1, 1}, .v = {2, 1, 1}};
    mr__jpeg_layout layout;
    assert_true(mr__jpeg_layout_init(&layout, &frame, 1));
    mr_rect region = {128, 127, 64, 2}, y = mr__jpeg_layout_samples(&layout, 0, region);
    mr_rect cb = mr__jpeg_layout_samples(&layout, 1, region), blocks = mr__jpeg_layout_blocks(&layout, 1, region);
    assert_memory_equal(&y, &region, sizeof y);
    assert_memory_equal(&cb, (&(mr_rect){63, 63, 34, 2}), sizeof cb);
    assert_memory_equal(&blocks, (&(mr_rect){7, 7, 6, 2}), sizeof blocks);
    cb = mr__jpeg_layout_samples(&layout, 2, (mr_rect){0, 0, 500, 375});
    assert_memory_equal(&cb, (&(mr_rect){0, 0, 250, 188}), sizeof cb);
    cb = mr__jpeg_layout_samples(&layout, 2, (mr_rect){129, 131, 1, 1});
    assert_memory_equal(&cb, (&(mr_rect){64, 65, 2, 2}), sizeof cb);
}

typedef struct tally {
    uint64_t random;
    size_t seen, checked;
} tally;

static void check_real(const char *path, const picture_file *file, void *arg)
{
    tally *t = arg;
    backend_source source;
    bool common = file->nbytes < 200000;
    if (t->seen++ % (test_quick() ? 40 : 8) != 0 || !common || mr_form_probe(file->bytes, file->nbytes) != MR_FORM_JPEG)
        return;
    if (!backend_read(file, &source))
        return;
    check_reduced(file, &source, 1, 2, &t->random, path);
    check_reduced(file, &source, 2u << picture_random_below(&t->random, 3), 1, &t->random, path);
    backend_free(&source);
    t->checked++;
}

static void real_images(void **state)
{
    (void)state;
    tally t = {.random = 4};
    if (shared_each("data/imagenet", "", check_real, &t) == 0)
        skip();
    print_message("%zu of %zu images\n", t.checked, t.seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size),    cmocka_unit_test(larger_sizes),
        cmocka_unit_test(every_region),        cmocka_unit_test(wild_coefficients),
        cmocka_unit_test(any_target),          cmocka_unit_test(frames_that_are_refused),
        cmocka_unit_test(what_a_region_needs), cmocka_unit_test(real_images),
    };
    return cmocka_run_group_tests(tests, open_kernels, NULL);
}
