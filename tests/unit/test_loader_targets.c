// SPDX-License-Identifier: Apache-2.0
/*
 * Boxes, keypoints and masks in batches. Each image has a bright rectangle, which its box, its mask and its keypoint
 * (the left top corner) tell of too, so that what follows the image can be found in it.
 */
#include "test.h"

#include "devices.h"
#include "loading.h"
#include "pack_make.h"
#include "png_reference.h"
#include "tar_file.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 24, WITHOUT_JSON = 5, WITHOUT_MASK = 6, WITHOUT_SEGMENTS = 2 };
enum { ALL = MR_TARGET_BOXES | MR_TARGET_KEYPOINTS | MR_TARGET_MASK | MR_TARGET_MASKS };

#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *scenes;

typedef struct scene {
    uint32_t width, height, class;
    mr_rect object;
} scene;

static scene scene_of(size_t i)
{
    scene s = {.width = 40 + (uint32_t)i % 5, .height = 34 + (uint32_t)i % 3, .class = 1 + (uint32_t)i % 9};
    s.object = (mr_rect){5 + (uint32_t)i % 11, 3 + (uint32_t)i % 7, 12 + (uint32_t)i % 9, 9 + (uint32_t)i % 8};
    return s;
}

static bool is_inside(mr_rect r, uint32_t x, uint32_t y)
{
    return x >= r.x && x - r.x < r.width && y >= r.y && y - r.y < r.height;
}

/* Every channel of a pixel is its class. */
static picture_file image_of(const scene *s)
{
    mr_image image = picture_make(s->width, s->height, 3, 8, 1);
    for (uint32_t y = 0; y < s->height; y++)
        for (uint32_t x = 0; x < s->width; x++)
            memset((uint8_t *)image.pixels + y * (size_t)image.stride + 3 * (size_t)x,
                   (int)(is_inside(s->object, x, y) ? s->class : 0), 3);
    picture_file file = picture_encode(&image, &(mr_encode_options){sizeof(mr_encode_options), .form = MR_FORM_PNG});
    mr_image_fini(&image, NULL);
    return file;
}

/* Classes as gray of 8 bits, or by a palette of 4 or 8 bits whose colors say nothing of them. */
static picture_file mask_of(const scene *s, uint8_t bits, uint8_t color_type)
{
    picture_file file = {0};
    uint8_t palette[48];
    size_t row = 1 + ((size_t)s->width * bits + 7) / 8;
    for (size_t i = 0; i < sizeof palette; i++)
        palette[i] = (uint8_t)(i * 37 + 11);
    png_begin(&file, s->width, s->height, bits, color_type, 0);
    if (color_type == 3)
        png_append_chunk(&file, "PLTE", palette, sizeof palette);
    if (color_type == 3)
        png_append_chunk(&file, "tRNS", palette, 2);
    uint8_t *packed = calloc(s->height, row);
    for (uint32_t y = 0; y < s->height; y++)
        for (uint32_t x = 0; x < s->width; x++)
            packed[y * row + 1 + x * bits / 8] |=
                (uint8_t)((is_inside(s->object, x, y) ? s->class : 0) << (8 - bits - x * bits % 8));
    png_append_rows(&file, packed, s->height * row);
    png_append_chunk(&file, "IEND", NULL, 0);
    free(packed);
    return file;
}

static void add_file(tar_file *tar, size_t i, const char *ending, picture_file file)
{
    char name[64];
    snprintf(name, sizeof name, "%03zu.%s", i, ending);
    tar_add(tar, name, '0', file.bytes, file.nbytes);
    free(file.bytes);
}

static void add_json(tar_file *tar, size_t i, const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "%03zu.json", i);
    tar_add_text(tar, name, text);
}

static void add_scene(tar_file *tar, size_t i)
{
    char text[512], segments[160] = "";
    scene s = scene_of(i);
    mr_rect o = s.object;
    uint32_t right = o.x + o.width, bottom = o.y + o.height;
    if (i != WITHOUT_SEGMENTS)
        snprintf(segments, sizeof segments, ", \"segmentation\": [[%u, %u, %u, %u, %u, %u, %u, %u]]", o.x, o.y, right,
                 o.y, right, bottom, o.x, bottom);
    snprintf(text, sizeof text,
             "{\"annotations\": [{\"bbox\": [%u, %u, %u, %u], \"category_id\": %u, \"keypoints\": [%u, %u, 2]%s}%s], "
             "\"width\": %u, \"height\": %u}",
             o.x, o.y, o.width, o.height, s.class, o.x, o.y, segments,
             i % 4 == 3 ? ", {\"bbox\": [0, 0, 1, 1], \"category_id\": 77, \"iscrowd\": 1}" : "", s.width, s.height);
    add_file(tar, i, "png", image_of(&s));
    if (i != WITHOUT_JSON)
        add_json(tar, i, text);
    if (i != WITHOUT_MASK)
        add_file(tar, i, "seg.png", mask_of(&s, i % 3 == 0 ? 4 : 8, i % 2 == 0 ? 3 : 0));
}

static mr_dataset *open_tar(const char *name, tar_file *tar)
{
    tar_end(tar);
    test_folder_write(&folder, name, tar->bytes, tar->nbytes);
    tar_free(tar);
    return pack_open(&folder, name, MR_LAYOUT_TAR);
}

static int setup(void **state)
{
    (void)state;
    tar_file tar = {0};
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    for (size_t i = 0; i < SAMPLES; i++)
        add_scene(&tar, i);
    scenes = open_tar("scenes.tar", &tar);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(scenes);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options plain(uint32_t targets)
{
    return (mr_loader_options){OPTIONS, .batch = 7, .seed = 3, .epochs = 1, .threads = 3, .targets = targets};
}

static mr_targets targets_of(const mr_batch *b, uint32_t place)
{
    mr_targets t = {.struct_size = sizeof t};
    assert_int_equal(mr_batch_get_targets(b, place, &t), 0);
    return t;
}

/* Where a class is, in a picture of them; empty: nowhere. */
static mr_rect find_class(const uint8_t *classes, uint32_t width, uint32_t height, size_t step)
{
    uint32_t left = width, top = height, right = 0, bottom = 0;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            if (classes[(y * width + x) * step] != 0) {
                left = x < left ? x : left;
                top = y < top ? y : top;
                right = x + 1 > right ? x + 1 : right;
                bottom = y + 1 > bottom ? y + 1 : bottom;
            }
    return right == 0 ? (mr_rect){0} : (mr_rect){left, top, right - left, bottom - top};
}

static void check_box(const mr_targets *t, mr_rect seen)
{
    const float *box = t->boxes;
    float wanted[4] = {(float)seen.x, (float)seen.y, (float)(seen.x + seen.width), (float)(seen.y + seen.height)};
    if (seen.width != 0)
        assert_memory_equal(box, wanted, sizeof wanted);
    else
        assert_true(box[0] >= box[2] || box[1] >= box[3]);
}

static void check_place(const mr_batch *b, uint32_t place)
{
    uint32_t width = b->output.width, height = b->output.height;
    const uint8_t *image = (const uint8_t *)b->images + place * b->output.sample_nbytes;
    uint64_t i = b->ordinals[place];
    scene s = scene_of(i);
    mr_targets t = targets_of(b, place);
    mr_rect seen = find_class(image, width, height, 3);
    assert_true(t.width == width && t.height == height);
    assert_int_equal(t.count, i == WITHOUT_JSON ? 0 : i % 4 == 3 ? 2 : 1);
    if (i != WITHOUT_JSON) {
        assert_int_equal(t.categories[0], s.class);
        check_box(&t, seen);
        assert_true(t.keypoint_count == 1 && t.keypoint_starts[1] == 1 && t.keypoints[2] == 2.0f);
        // torchvision flips pixels of keypoints, and edges of boxes
        bool corner = t.keypoints[0] == t.boxes[0] || t.keypoints[0] == t.boxes[2] - 1;
        assert_true(corner || seen.width < s.object.width);
    }
    if (t.count == 2)
        assert_true(t.categories[1] == 77 && (t.flags[1] & MR_OBJECT_CROWD) != 0 && t.origins[1] == 1);
    assert_true((t.mask == NULL) == (i == WITHOUT_MASK));
    for (size_t n = 0; t.mask != NULL && n < (size_t)width * height; n++)
        assert_int_equal(t.mask[n], image[3 * n]);
}

/* Steps that move pixels without a resize give mask and image the same numbers. */
static void targets_are_where_pixels_are(void **state)
{
    (void)state;
    static const char *const recipes[] = {
        "center(64) layout(nhwc)",
        "flip(1) center(30x20) layout(nhwc)",
        "crop(24, pad=6) flip vflip layout(nhwc)",
        "pad(2) crop(33x21) flip vflip pad(to=40x40) layout(nhwc)",
    };
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        mr_loader_options o = plain(ALL);
        o.epochs = 3;
        mr_loader *loader = loading_new(scenes, recipes[r], &o);
        mr_batch *b;
        while (mr_loader_next(loader, &b) == 0 && b != NULL) {
            for (uint32_t i = 0; i < b->count; i++)
                check_place(b, i);
            for (uint32_t i = b->count; i < b->size; i++)
                assert_true(targets_of(b, i).count == 0 && targets_of(b, i).mask == NULL);
            mr_targets t = {.struct_size = sizeof t};
            assert_int_equal(mr_batch_get_targets(b, b->size, &t), MR_EARGUMENT);
            mr_batch_release(b);
        }
        mr_loader_free(loader);
    }
}

static void resized_and_turned_by_hand(void **state)
{
    (void)state;
    mr_loader_options o = plain(MR_TARGET_BOXES | MR_TARGET_KEYPOINTS);
    o.order = MR_ORDER_SEQUENTIAL;
    mr_loader *loader = loading_new(scenes, "resize(80x51) flip(1)", &o);
    mr_batch *b;
    assert_int_equal(mr_loader_next(loader, &b), 0);
    for (uint32_t i = 0; i < 5; i++) {
        scene s = scene_of(i);
        mr_targets t = targets_of(b, i);
        double x = 80.0 / s.width, y = 51.0 / s.height;
        double wanted[4] = {80 - x * (s.object.x + s.object.width), y * s.object.y, 80 - x * s.object.x,
                            y * (s.object.y + s.object.height)};
        for (size_t n = 0; n < 4; n++)
            assert_true(fabs(t.boxes[n] - wanted[n]) < 1e-3);
        assert_true(t.mask == NULL);
    }
    mr_loader_free(loader);
}

/* A rectangle is the same as a polygon and as a picture of classes, wherever it goes. */
static void objects_have_masks(void **state)
{
    (void)state;
    mr_loader_options o = plain(MR_TARGET_MASK | MR_TARGET_MASKS);
    o.order = MR_ORDER_SEQUENTIAL;
    mr_loader *loader = loading_new(scenes, "flip(0.5) rotate(20) rrc(50x44, scale=0.5..1)", &o);
    mr_batch *b;
    size_t seen = 0, inside = 0;
    while (mr_loader_next(loader, &b) == 0 && b != NULL) {
        for (uint32_t i = 0; i < b->count; i++) {
            mr_targets t = targets_of(b, i);
            uint64_t ordinal = b->ordinals[i];
            assert_true((t.masks != NULL) == (ordinal != WITHOUT_JSON) && t.boxes == NULL);
            for (size_t p = 0; t.masks != NULL && t.mask != NULL && p < 50 * 44; p++) {
                bool wanted = t.mask[p] != 0 && ordinal != WITHOUT_SEGMENTS;
                assert_int_equal(t.masks[p], wanted);
                inside += wanted;
            }
            for (size_t p = 50 * 44; p < t.count * 50 * 44; p++)
                assert_int_equal(t.masks[p], 0);
            seen += t.masks != NULL && t.mask != NULL;
        }
        mr_batch_release(b);
    }
    assert_true(seen == SAMPLES - 2 && inside > 1000);
    mr_loader_free(loader);
}

/* What is not asked for is not there, and where nothing is asked for there is nothing to ask. */
static void only_what_is_asked_for(void **state)
{
    (void)state;
    static const uint32_t flags[] = {MR_TARGET_BOXES, MR_TARGET_KEYPOINTS, MR_TARGET_MASK};
    for (size_t i = 0; i < 3; i++) {
        mr_loader_options o = plain(flags[i]);
        o.order = MR_ORDER_SEQUENTIAL;
        mr_loader *loader = loading_new(scenes, "center(40)", &o);
        mr_batch *b;
        assert_int_equal(mr_loader_next(loader, &b), 0);
        mr_targets t = targets_of(b, 0);
        assert_true((t.boxes != NULL) == (i == 0) && (t.keypoints != NULL) == (i == 1) && (t.mask != NULL) == (i == 2));
        assert_true((t.categories != NULL) == (i != 2));
        mr_loader_free(loader);
    }
    mr_loader_options o = plain(0);
    mr_loader *loader = loading_new(scenes, "center(40)", &o);
    mr_batch *b;
    mr_targets t = {.struct_size = sizeof t};
    assert_int_equal(mr_loader_next(loader, &b), 0);
    assert_int_equal(mr_batch_get_targets(b, 0, &t), MR_EARGUMENT);
    mr_loader_free(loader);
}

static uint64_t hash_of(mr_loader_options o, uint32_t world)
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < world; rank++) {
        o.has_rank = true;
        o.rank = rank;
        o.world = world;
        sum += loading_all(scenes, "rrc(24) flip normalize(imagenet)", &o).hash;
    }
    return sum;
}

/* The hash has targets in it, and does not depend on who made them. */
static void the_same_for_all(void **state)
{
    (void)state;
    uint64_t without = hash_of(plain(0), 1), wanted = hash_of(plain(ALL), 1);
    assert_true(without != wanted && hash_of(plain(MR_TARGET_BOXES), 1) != wanted);
    for (uint32_t world = 1; world <= 3; world++) {
        mr_loader_options o = plain(ALL);
        o.threads = 1 + 2 * world;
        o.batch = 4 + world;
        o.reading = world == 2 ? MR_READ_AHEAD : MR_READ_AUTO;
        assert_true(hash_of(o, world) == wanted);
    }
    mr_loader_options o = plain(ALL);
    o.device = "sim";
    assert_true(hash_of(o, 1) == wanted);
    o.device = NULL;
    o.policy = "auto";
    assert_true(hash_of(o, 3) == wanted);
    o.device = devices_machine(&folder, "{\"devices\": [{\"name\": \"cpu\"}, {\"name\": \"gpu\", \"kind\": "
                                        "\"accelerator\", \"faults\": [{\"kind\": \"wrong\", \"every\": 3}]}]}");
    assert_true(hash_of(o, 1) == wanted && hash_of(o, 2) == wanted);
}

/* Steps that turn, bend and look at boxes: whatever becomes of them, it is inside, and the same by every way. */
static void other_moves_are_followed(void **state)
{
    (void)state;
    static const char recipe[] = "zoomout ioucrop flip rotate(20) perspective(0.3) resize(32) sanitize(side=2)";
    uint64_t hash = 0, objects = 0;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        mr_loader_options o = plain(ALL);
        o.epochs = 4;
        o.threads = threads;
        mr_loader *loader = loading_new(scenes, recipe, &o);
        uint64_t sum = 0;
        mr_batch *b;
        objects = 0;
        while (mr_loader_next(loader, &b) == 0 && b != NULL) {
            sum += mr_batch_hash(b);
            for (uint32_t i = 0; i < b->count; i++) {
                mr_targets t = targets_of(b, i);
                objects += t.count;
                for (size_t k = 0; k < t.count; k++) {
                    const float *box = t.boxes + 4 * k;
                    assert_true(box[0] >= 0 && box[1] >= 0 && box[2] <= 32 && box[3] <= 32);
                    assert_true(box[2] - box[0] >= 2 && box[3] - box[1] >= 2);
                }
            }
            mr_batch_release(b);
        }
        assert_true(threads == 1 || sum == hash);
        hash = sum;
        mr_loader_free(loader);
    }
    assert_true(objects > 20 && objects < (uint64_t)4 * (SAMPLES + SAMPLES / 4)); // some were too small
}

static void a_preparer_gives_the_same(void **state)
{
    (void)state;
    char detail[240];
    mr_loader_options o = plain(ALL);
    mr_recipe *recipe = loading_recipe("rrc(24) flip");
    mr_preparer *p;
    mr_batch *b;
    uint8_t image[24 * 24 * 3];
    assert_int_equal(mr_preparer_new(scenes, recipe, &o, &p, detail, sizeof detail), 0);
    mr_loader *loader = loading_new(scenes, "rrc(24) flip", &o);
    while (mr_loader_next(loader, &b) == 0 && b != NULL) {
        for (uint32_t i = 0; i < b->count; i++) {
            mr_targets t = targets_of(b, i), own = {.struct_size = sizeof own};
            assert_int_equal(mr_preparer_run(p, b->ordinals[i], b->epoch, 0, image), 0);
            assert_int_equal(mr_preparer_get_targets(p, &own), 0);
            assert_true(own.count == t.count && (own.mask == NULL) == (t.mask == NULL));
            if (t.count != 0) // else there may be no arrays
                assert_memory_equal(own.boxes, t.boxes, t.count * 4 * sizeof(float));
            if (t.mask != NULL)
                assert_memory_equal(own.mask, t.mask, sizeof image / 3);
        }
        mr_batch_release(b);
    }
    mr_loader_free(loader);
    mr_preparer_free(p);
    o.targets = 0;
    assert_int_equal(mr_preparer_new(scenes, recipe, &o, &p, detail, sizeof detail), 0);
    mr_targets own = {.struct_size = sizeof own};
    assert_int_equal(mr_preparer_get_targets(p, &own), MR_EARGUMENT);
    mr_preparer_free(p);
    mr_recipe_free(recipe);
}

static mr_preparer *preparer_of(const char *text, uint32_t targets)
{
    char detail[240];
    mr_loader_options o = plain(targets);
    mr_recipe *recipe = loading_recipe(text);
    mr_preparer *p;
    assert_int_equal(mr_preparer_new(scenes, recipe, &o, &p, detail, sizeof detail), 0);
    mr_recipe_free(recipe);
    return p;
}

/* Steps that look at boxes do so whether or not anybody else wants them. */
static void pixels_do_not_depend_on_it(void **state)
{
    (void)state;
    static const uint32_t asked[] = {0, MR_TARGET_BOXES, MR_TARGET_MASK};
    static uint8_t images[4][32 * 32 * 3];
    mr_preparer *p[4] = {NULL, NULL, NULL, preparer_of("resize(32)", 0)};
    mr_targets t = {.struct_size = sizeof t};
    size_t cropped = 0;
    for (size_t k = 0; k < 3; k++)
        p[k] = preparer_of("ioucrop(options=0) resize(32)", asked[k]);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(mr_preparer_run(p[k], i, 0, 0, images[k]), 0);
        assert_memory_equal(images[0], images[1], sizeof images[0]);
        assert_memory_equal(images[0], images[2], sizeof images[0]);
        cropped += memcmp(images[0], images[3], sizeof images[0]) != 0;
        assert_int_equal(mr_preparer_get_targets(p[0], &t), MR_EARGUMENT);
        assert_int_equal(mr_preparer_get_targets(p[2], &t), 0);
        assert_true(t.count == 0 && t.boxes == NULL && t.categories == NULL);
    }
    assert_int_equal(cropped, SAMPLES - 1); // all but the one without a json
    for (size_t k = 0; k < 4; k++)
        mr_preparer_free(p[k]);
}

/* The same in batches, where nobody can ask for them and the hash has none. */
static void batches_do_not_depend_on_it(void **state)
{
    (void)state;
    mr_loader_options o = plain(0), with = plain(MR_TARGET_BOXES);
    mr_loader *loader = loading_new(scenes, "ioucrop(options=0) resize(32)", &o), *other;
    mr_batch *b, *of_other;
    mr_targets t = {.struct_size = sizeof t};
    other = loading_new(scenes, "ioucrop(options=0) resize(32)", &with);
    while (mr_loader_next(loader, &b) == 0 && b != NULL) {
        assert_int_equal(mr_loader_next(other, &of_other), 0);
        assert_memory_equal(b->images, of_other->images, b->images_nbytes);
        assert_int_equal(mr_batch_get_targets(b, 0, &t), MR_EARGUMENT);
        assert_true(mr_batch_hash(b) != mr_batch_hash(of_other));
        mr_batch_release(b);
        mr_batch_release(of_other);
    }
    mr_loader_free(loader);
    mr_loader_free(other);
}

/* And mixed, with guests of other ranks. */
static void mixed_batches_look_at_boxes(void **state)
{
    (void)state;
    static const char *const recipes[] = {"ioucrop(options=0) resize(32) mixup", "resize(32) mixup"};
    uint64_t sums[2][4] = {{0}};
    for (size_t r = 0; r < 2; r++)
        for (uint32_t world = 1; world <= 3; world++)
            for (uint32_t rank = 0; rank < world; rank++) {
                mr_loader_options o = plain(0);
                o.batch = 6 / world;
                o.has_rank = true;
                o.rank = rank;
                o.world = world;
                sums[r][world] += loading_all(scenes, recipes[r], &o).hash;
            }
    assert_true(sums[0][1] == sums[0][2] && sums[0][1] == sums[0][3] && sums[0][1] != sums[1][1]);
}

/* Of sample 1 something is wrong: the others do not mind, and the message says whose, and what. */
static void check_bad(const char *json, const picture_file *mask, const char *words)
{
    tar_file tar = {0};
    for (size_t i = 0; i < 3; i++) {
        scene s = scene_of(i);
        if (i != 1) {
            add_scene(&tar, i);
            continue;
        }
        add_file(&tar, i, "png", image_of(&s));
        if (json != NULL)
            add_json(&tar, i, json);
        if (mask != NULL)
            add_file(&tar, i, "seg.png", picture_copy(mask->bytes, mask->nbytes));
    }
    mr_dataset *dataset = open_tar("bad.tar", &tar);
    mr_loader_options o = plain(ALL);
    mr_loader *loader = loading_new(dataset, "center(40)", &o);
    int result = loading_run(loader, UINT64_MAX).result;
    assert_true(result < 0 && result != MR_EARGUMENT); // the data is at fault, not who asked
    assert_contains(mr_loader_detail(loader), "001");
    assert_contains(mr_loader_detail(loader), words);
    mr_loader_free(loader);
    o.bad = MR_BAD_REPLACE;
    o.order = MR_ORDER_SEQUENTIAL;
    loader = loading_new(dataset, "center(40) layout(nhwc)", &o);
    mr_batch *b;
    assert_int_equal(mr_loader_next(loader, &b), 0);
    assert_int_equal(b->mask[1], MR_MASK_REPLACED);
    assert_true(targets_of(b, 1).count == 0 && targets_of(b, 1).mask == NULL);
    check_place(b, 0);
    check_place(b, 2);
    mr_loader_free(loader);
    o.bad = MR_BAD_SKIP;
    assert_int_equal(loading_all(dataset, "center(40)", &o).skipped, 1);
    mr_dataset_free(dataset);
    pack_remove(&folder, "bad.tar");
}

static void bad_targets_are_bad_samples(void **state)
{
    (void)state;
    scene s = scene_of(1), other = scene_of(2);
    picture_file wrong = mask_of(&other, 8, 0), color = image_of(&s), cut = mask_of(&s, 8, 3);
    cut.nbytes -= 30;
    check_bad("{\"annotations\": [{\"bbox\": [1, 2", NULL, "json");
    check_bad("[{\"bbox\": [1, 2, 3], \"category_id\": 1}]", NULL, "json");
    check_bad("{\"annotations\": [], \"width\": 7, \"height\": 8}", NULL, "7 x 8");
    check_bad(NULL, &wrong, "mask");
    check_bad(NULL, &color, "3 channels");
    check_bad(NULL, &cut, "mask");
    free(wrong.bytes);
    free(color.bytes);
    free(cut.bytes);
}

/* A json of so many objects, with so many keypoints each. */
static char *crowd_of(size_t objects, size_t points)
{
    char *text = malloc(64 + objects * (48 + points * 6)), *at = text;
    at += sprintf(at, "[");
    for (size_t i = 0; i < objects; i++) {
        at += sprintf(at, "%s{\"bbox\": [1, 2, 3, 4], \"keypoints\": [", i != 0 ? "," : "");
        for (size_t k = 0; k < points; k++)
            at += sprintf(at, "%s1,1,2", k != 0 ? "," : "");
        at += sprintf(at, "]}");
    }
    sprintf(at, "]");
    return text;
}

/* A sample has as many objects as are allowed, and no more. */
static void crowds_have_a_limit(void **state)
{
    (void)state;
    char *many = crowd_of(MR_TARGET_OBJECTS_MAX + 1, 0), *points = crowd_of(1, MR_TARGET_KEYPOINTS_MAX + 1);
    check_bad(many, NULL, "8193 objects");
    check_bad(points, NULL, "65537 keypoints");
    free(many);
    free(points);
    tar_file tar = {0};
    scene s = scene_of(0);
    char *most = crowd_of(MR_TARGET_OBJECTS_MAX, MR_TARGET_KEYPOINTS_MAX / MR_TARGET_OBJECTS_MAX);
    add_file(&tar, 0, "png", image_of(&s));
    add_json(&tar, 0, most);
    free(most);
    mr_dataset *dataset = open_tar("crowd.tar", &tar);
    mr_loader_options o = plain(MR_TARGET_BOXES | MR_TARGET_KEYPOINTS);
    mr_loader *loader = loading_new(dataset, "elastic resize(20)", &o);
    mr_batch *b;
    assert_int_equal(mr_loader_next(loader, &b), 0);
    mr_targets t = targets_of(b, 0);
    assert_true(t.count == MR_TARGET_OBJECTS_MAX && t.keypoint_count == MR_TARGET_KEYPOINTS_MAX);
    mr_loader_free(loader);
    mr_dataset_free(dataset);
    pack_remove(&folder, "crowd.tar");
}

/* Upright: boxes of an image that lies on its side are of the image as it is shown. */
static void coordinates_are_upright(void **state)
{
    (void)state;
    tar_file tar = {0};
    mr_image image = picture_make(20, 10, 3, 8, 1);
    mr_encode_options e = {sizeof e, .form = MR_FORM_PNG, .orientation = 6};
    add_file(&tar, 0, "png", picture_encode(&image, &e));
    add_json(&tar, 0, "{\"annotations\": [{\"bbox\": [1, 2, 5, 16]}], \"width\": 10, \"height\": 20}");
    mr_image_fini(&image, NULL);
    mr_dataset *dataset = open_tar("turned.tar", &tar);
    mr_loader_options o = plain(MR_TARGET_BOXES);
    mr_loader *loader = loading_new(dataset, "orient center(10x20)", &o);
    mr_batch *b;
    static const float wanted[4] = {1, 2, 6, 18};
    assert_int_equal(mr_loader_next(loader, &b), 0);
    assert_memory_equal(targets_of(b, 0).boxes, wanted, sizeof wanted);
    mr_loader_free(loader);
    loader = loading_new(dataset, "center(10x20)", &o);
    assert_int_equal(mr_loader_next(loader, &b), MR_ECORRUPT);
    assert_contains(mr_loader_detail(loader), "orient");
    mr_loader_free(loader);
    mr_dataset_free(dataset);
    pack_remove(&folder, "turned.tar");
}

/* A form that was made smaller: boxes and masks with it. */
static void reduced_forms_have_smaller_objects(void **state)
{
    (void)state;
    static const mr_pack_form forms[] = {{.struct_size = sizeof *forms},
                                         {.struct_size = sizeof *forms, .form = MR_FORM_RAW, .short_side = 17}};
    mr_pack_options options = {.struct_size = sizeof options, .forms = forms, .form_count = 2};
    pack_run(scenes, &folder, "packed", &options);
    mr_dataset *packed = pack_open(&folder, "packed", MR_LAYOUT_PACKED);
    mr_loader_options o = plain(ALL);
    o.order = MR_ORDER_SEQUENTIAL;
    o.batch = SAMPLES;
    for (uint32_t form = 0; form < 2; form++) {
        mr_dataset_form f = {.struct_size = sizeof f};
        assert_int_equal(mr_dataset_get_form(packed, form, &f), 0);
        o.form = f.name;
        mr_loader *loader = loading_new(packed, "resize(80x51)", &o);
        mr_batch *b;
        assert_int_equal(mr_loader_next(loader, &b), 0);
        for (uint32_t i = 0; i < SAMPLES; i++) {
            scene s = scene_of(i);
            mr_targets t = targets_of(b, i);
            assert_true(i == WITHOUT_JSON || fabs(t.boxes[0] - 80.0 * s.object.x / s.width) < 1e-3);
            assert_true(i == WITHOUT_JSON ||
                        fabs(t.boxes[3] - 51.0 * (s.object.y + s.object.height) / s.height) < 1e-3);
            assert_true(i == WITHOUT_MASK || find_class(t.mask, 80, 51, 1).width != 0);
        }
        mr_loader_free(loader);
    }
    mr_dataset_free(packed);
    pack_remove(&folder, "packed");
}

static void what_cannot_be_is_said(void **state)
{
    (void)state;
    char detail[240], name[80];
    mr_loader *loader;
    mr_recipe *recipe = loading_recipe("center(40) cutmix"), *fine = loading_recipe("center(40)");
    mr_loader_options o = plain(ALL);
    assert_int_equal(mr_loader_new(scenes, recipe, &o, &loader, detail, sizeof detail), MR_EARGUMENT);
    assert_contains(detail, "cutmix");
    o.targets = 64;
    assert_int_equal(mr_loader_new(scenes, fine, &o, &loader, detail, sizeof detail), MR_EARGUMENT);
    assert_contains(detail, "64");
    o = plain(ALL);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    o.mask_member = name;
    assert_int_equal(mr_loader_new(scenes, fine, &o, &loader, detail, sizeof detail), MR_EARGUMENT);
    o.mask_member = "other.png"; // which no sample has
    loader = loading_new(scenes, "center(40)", &o);
    mr_batch *b;
    assert_int_equal(mr_loader_next(loader, &b), 0);
    assert_true(targets_of(b, 0).mask == NULL);
    mr_loader_free(loader);
    mr_recipe_free(recipe);
    mr_recipe_free(fine);
}

static void the_steady_state_allocates_nothing(void **state)
{
    (void)state;
    loading_counter c = {0};
    mr_hooks hooks = loading_hooks(&c);
    mr_loader_options o = plain(ALL);
    o.hooks = &hooks;
    o.threads = 2;
    o.epochs = 80;
    mr_loader *loader = loading_new(scenes, "crop(24, pad=6) flip normalize(imagenet)", &o);
    assert_int_equal(loading_run(loader, 250).batches, 250);
    unsigned before = atomic_load(&c.allocated);
    loading_run(loader, UINT64_MAX);
    assert_int_equal(atomic_load(&c.allocated), before);
    mr_loader_free(loader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_where_pixels_are),
        cmocka_unit_test(resized_and_turned_by_hand),
        cmocka_unit_test(objects_have_masks),
        cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(the_same_for_all),
        cmocka_unit_test(other_moves_are_followed),
        cmocka_unit_test(a_preparer_gives_the_same),
        cmocka_unit_test(pixels_do_not_depend_on_it),
        cmocka_unit_test(batches_do_not_depend_on_it),
        cmocka_unit_test(mixed_batches_look_at_boxes),
        cmocka_unit_test(bad_targets_are_bad_samples),
        cmocka_unit_test(crowds_have_a_limit),
        cmocka_unit_test(coordinates_are_upright),
        cmocka_unit_test(reduced_forms_have_smaller_objects),
        cmocka_unit_test(what_cannot_be_is_said),
        cmocka_unit_test(the_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
