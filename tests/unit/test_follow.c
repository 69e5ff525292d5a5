// SPDX-License-Identifier: Apache-2.0
/* Boxes, rotated boxes, keypoints and masks on random scenes, beside what torchvision made of them. */
#include "test.h"

#ifndef FOLLOW_GOLDEN
#define FOLLOW_GOLDEN "../golden/follow_golden.h"
#endif
#include FOLLOW_GOLDEN

#include "failing.h"
#include "step/elastic.h"
#include "step/recipe.h"
#include "step/step.h"
#include "step/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A sample with a scene's objects: its boxes, its rotated ones, and one with all of its keypoints and no box. */
enum { OBJECTS = SCENE_BOXES + SCENE_ROTATED + 1 };

typedef struct objects {
    float boxes[4 * OBJECTS], rotated[5 * OBJECTS], areas[OBJECTS], points[3 * SCENE_POINTS];
    int64_t categories[OBJECTS];
    uint8_t flags[OBJECTS];
    size_t starts[OBJECTS + 1];
    mr_annotation_view view;
} objects;

static void set_objects(objects *o, const scene *s)
{
    size_t count = SCENE_BOXES + s->rotated_count + 1;
    memset(o, 0, sizeof *o);
    memcpy(o->boxes, s->boxes, sizeof s->boxes);
    memcpy(o->rotated + 5 * SCENE_BOXES, s->rotated, 5 * s->rotated_count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        o->flags[i] = i < SCENE_BOXES ? MR_OBJECT_BOX : i < count - 1 ? MR_OBJECT_ROTATED : MR_OBJECT_CROWD;
        o->categories[i] = (int64_t)(100 + i);
        o->areas[i] = (float)i * 0.5f;
    }
    o->starts[count] = SCENE_POINTS;
    for (size_t i = 0; i < SCENE_POINTS; i++) {
        o->points[3 * i] = s->points[2 * i];
        o->points[3 * i + 1] = s->points[2 * i + 1];
        o->points[3 * i + 2] = (float)(i % 3);
    }
    o->view = (mr_annotation_view){.struct_size = sizeof o->view,
                                   .count = count,
                                   .boxes = o->boxes,
                                   .categories = o->categories,
                                   .areas = o->areas,
                                   .flags = o->flags,
                                   .keypoint_starts = o->starts,
                                   .keypoints = o->points,
                                   .keypoint_count = SCENE_POINTS,
                                   .rotated = o->rotated};
}

static mr_rect rect_of(const double *given)
{
    return (mr_rect){(uint32_t)given[0], (uint32_t)given[1], (uint32_t)given[2], (uint32_t)given[3]};
}

static void set_move(mr__move *move, const scene *s, size_t number)
{
    const double *given = s->moves[number].given;
    const uint32_t *sides = s->moves[number].sides;
    *move = (mr__move){.kind = (mr__move_kind)s->moves[number].kind,
                       .width = sides[0],
                       .height = sides[1],
                       .to_width = sides[2],
                       .to_height = sides[3]};
    switch (move->kind) {
    case MR__MOVE_CROP:
    case MR__MOVE_MIDDLES:
        move->u.crop = rect_of(given);
        break;
    case MR__MOVE_FLIP:
        move->u.flip[0] = given[0] != 0;
        move->u.flip[1] = given[1] != 0;
        break;
    case MR__MOVE_PAD:
        for (size_t i = 0; i < 4; i++)
            move->u.pad.sides[i] = (uint32_t)given[i];
        move->u.pad.border = (mr_border)given[4];
        break;
    case MR__MOVE_AFFINE:
        move->u.affine = (mr__affine){.degrees = given[0],
                                      .translate = {given[1], given[2]},
                                      .scale = given[3],
                                      .shear = {given[4], given[5]},
                                      .has_center = given[6] != 0,
                                      .center = {given[7], given[8]}};
        break;
    case MR__MOVE_ROTATE:
        move->u.rotate.degrees = given[0];
        move->u.rotate.expand = given[1] != 0;
        move->u.rotate.has_center = given[2] != 0;
        move->u.rotate.center[0] = given[3];
        move->u.rotate.center[1] = given[4];
        break;
    case MR__MOVE_PERSPECTIVE:
        memcpy(move->u.perspective.c, given, sizeof move->u.perspective.c);
        break;
    case MR__MOVE_SANITIZE:
        move->u.sanitize.min_side = given[0];
        move->u.sanitize.min_area = given[1];
        break;
    default:
        break;
    }
}

static void set_moves(mr__follow *follow, const scene *s)
{
    mr__follow_init(follow);
    for (size_t i = 0; i < s->count; i++) {
        mr__move move;
        set_move(&move, s, i);
        assert_int_equal(mr__follow_note(follow, &move, NULL), 0);
    }
}

static mr_image scene_mask(uint32_t width, uint32_t height)
{
    mr_image mask = {width, height, 1, 8, (ptrdiff_t)width, malloc((size_t)width * height)};
    assert_non_null(mask.pixels);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            ((uint8_t *)mask.pixels)[(size_t)y * width + x] =
                (uint8_t)(((x * 2654435761u + y * 40503u) >> 7) ^ (x * y));
    return mask;
}

static uint64_t fnv(const mr_image *mask)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < (size_t)mask->width * mask->height; i++)
        hash = (hash ^ ((const uint8_t *)mask->pixels)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The largest differences there were, of all scenes. */
typedef struct errors {
    double boxes, corners, points;
} errors;

/* Not inlined: GCC 12 for aarch64 gives up on the loop where its length is known. */
__attribute__((noinline)) static double apart(const float *a, const float *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static void fail_scene(size_t number, const char *what, const float *is, const float *wanted, size_t count)
{
    print_error("scene %zu: %s are", number, what);
    for (size_t i = 0; i < count; i++)
        print_error(" %g", (double)is[i]);
    print_error(", and not");
    for (size_t i = 0; i < count; i++)
        print_error(" %g", (double)wanted[i]);
    print_error("\n");
}

static void check_objects(mr__target *target, const scene *s, size_t number, errors *most)
{
    const mr__place *places = (const mr__place *)target->work.bytes;
    assert_int_equal(target->count, s->kept + s->kept_rotated + 1);
    for (size_t i = 0; i < target->count - 1; i++) {
        bool rotated = i >= s->kept;
        size_t origin = rotated ? SCENE_BOXES + s->keep_rotated[i - s->kept] : s->keep[i];
        assert_int_equal(target->origins[i], origin);
        assert_int_equal(target->categories[i], 100 + origin);
        assert_true(target->areas[i] == (float)origin * 0.5f);
        assert_int_equal(target->flags[i], rotated ? MR_OBJECT_ROTATED : MR_OBJECT_BOX);
        const float *is = rotated ? places[i].corners : target->boxes + 4 * i;
        const float *wanted = rotated ? s->to_corners + 8 * (i - s->kept) : s->to_boxes + 4 * i;
        double error = apart(is, wanted, rotated ? 8 : 4), *mine = rotated ? &most->corners : &most->boxes;
        *mine = fmax(*mine, error);
        if (!(error <= 1e-3))
            fail_scene(number, rotated ? "corners" : "boxes", is, wanted, rotated ? 8 : 4);
    }
    for (size_t i = 0; i < SCENE_POINTS; i++) {
        const float *is = target->keypoints + 3 * i, *wanted = s->to_points + 2 * i;
        double error = apart(is, wanted, 2);
        most->points = fmax(most->points, error);
        if (!(error <= 1e-3))
            fail_scene(number, "keypoints", is, wanted, 2);
        assert_true(is[2] == (float)(i % 3));
    }
}

static void check_mask(mr__target *target, const mr__follow *follow, const scene *s, size_t number)
{
    const uint32_t *to = s->count != 0 ? s->moves[s->count - 1].sides + 2 : &s->width;
    mr_image mask = scene_mask(s->width, s->height), made = scene_mask(to[0], to[1]);
    assert_int_equal(mr__target_mask(target, follow, &mask, &made, NULL), 0);
    if (fnv(&made) != s->mask)
        print_error("scene %zu: another mask\n", number);
    assert_true(fnv(&made) == s->mask);
    free(mask.pixels);
    free(made.pixels);
}

static void follow_scene(mr__target *target, const scene *s, size_t number, errors *most)
{
    static objects o;
    static mr__follow follow;
    set_objects(&o, s);
    set_moves(&follow, s);
    assert_int_equal(mr__target_set(target, &o.view, s->width, s->height, NULL), 0);
    assert_int_equal(mr__target_follow(target, &follow, NULL), 0);
    check_objects(target, s, number, most);
    check_mask(target, &follow, s, number);
}

static void scenes_are_torchvisions(void **state)
{
    (void)state;
    mr__target target;
    errors most = {0};
    assert_int_equal(mr__target_init(&target, NULL), 0);
    for (size_t i = 0; i < COUNT(scenes); i++)
        follow_scene(&target, &scenes[i], i, &most);
    mr__target_fini(&target);
    print_message("boxes within %.2g pixels, corners of rotated ones %.2g, keypoints %.2g\n", most.boxes, most.corners,
                  most.points);
    assert_true(most.boxes <= 1e-3 && most.corners <= 1e-3 && most.points <= 1e-3);
}

/* What a step does to an image with these draws: the size that comes out, and the moves. */
static mr__follow *resolve(mr_step step, const uint32_t *draws, uint32_t width, uint32_t height, mr__follow *follow,
                           mr__chain *chain)
{
    const mr__step_type *type = mr__step_type_of(step.kind);
    assert_non_null(type);
    step.struct_size = sizeof step;
    assert_int_equal(mr__step_settle(&step, NULL), 0);
    mr__chain_init(chain, width, height, false, follow);
    assert_int_equal(type->resolve(&step, draws, chain, NULL), 0);
    return follow;
}

static void steps_draw_as_torchvision(void **state)
{
    (void)state;
    static mr__follow follow;
    static mr__chain chain;
    for (size_t i = 0; i < COUNT(step_cases); i++) {
        const struct step_case *c = &step_cases[i];
        mr_step step = {.kind = (mr_step_kind)c->kind};
        uint32_t size[2], wanted[2] = {c->wanted[0], c->wanted[1]};
        if (step.kind == MR_STEP_SCALEJITTER) {
            step.width = 512;
            step.height = 300;
        }
        if (step.kind == MR_STEP_SHORTS) {
            const double list[] = {480, 512, 544, 37};
            memcpy(step.list, list, sizeof list);
            step.list_count = 4;
            step.max_side = 700;
        }
        step.has_chance = step.kind == MR_STEP_ZOOMOUT;
        step.chance = 1.0;
        mr__follow_init(&follow);
        resolve(step, c->draws, c->width, c->height, &follow, &chain);
        mr__chain_size(&chain, &size[0], &size[1]);
        if (step.kind == MR_STEP_ZOOMOUT) {
            assert_int_equal(follow.count, 1);
            assert_memory_equal(follow.moves[0].u.pad.sides, c->wanted, sizeof c->wanted);
            wanted[0] = c->width + c->wanted[0] + c->wanted[2];
            wanted[1] = c->height + c->wanted[1] + c->wanted[3];
        }
        assert_memory_equal(size, wanted, sizeof size);
    }
}

static void parts_by_boxes_are_torchvisions(void **state)
{
    (void)state;
    static mr__follow follow;
    static mr__chain chain;
    for (size_t i = 0; i < COUNT(iou_cases); i++) {
        const struct iou_case *c = &iou_cases[i];
        mr__place places[3], work[3];
        for (size_t k = 0; k < 3; k++) {
            places[k] = (mr__place){.flags = MR__PLACE_BOX, .object = (uint32_t)k};
            memcpy(places[k].box, c->boxes[k], sizeof places[k].box);
        }
        mr__follow_init(&follow);
        follow.places = places;
        follow.place_count = 3;
        follow.work = work;
        resolve((mr_step){.kind = MR_STEP_IOUCROP}, c->draws, c->width, c->height, &follow, &chain);
        if (c->wanted[2] == 0) {
            assert_int_equal(follow.count, 0);
            continue;
        }
        assert_int_equal(follow.count, 2);
        assert_int_equal(follow.moves[0].kind, MR__MOVE_MIDDLES);
        assert_memory_equal(&follow.moves[0].u.crop, c->wanted, sizeof c->wanted);
        assert_int_equal(follow.moves[1].kind, MR__MOVE_CROP);
        assert_memory_equal(&follow.moves[1].u.crop, c->wanted, sizeof c->wanted);
    }
}

/* A middle on the edge of a part is not inside. */
static void middles_are_inside(void **state)
{
    (void)state;
    const mr__move move = {MR__MOVE_MIDDLES, 40, 30, 40, 30, {.crop = {10, 5, 20, 15}}};
    const struct {
        float x, y;
        bool inside;
    } middles[] = {{10, 12, false},   {10.25f, 12, true}, {29.75f, 12, true}, {30, 12, false}, {12, 5, false},
                   {12, 5.25f, true}, {12, 19.75f, true}, {12, 20, false},    {9, 12, false},  {12, 25, false}};
    for (size_t i = 0; i < COUNT(middles); i++) {
        float x = middles[i].x, y = middles[i].y;
        mr__place place = {.flags = MR__PLACE_BOX, .box = {x - 2, y - 3, x + 2, y + 3}};
        size_t count = 1;
        assert_int_equal(mr__follow_places(&move, (mr__follow_room){.hooks = NULL}, &place, &count, NULL), 0);
        assert_int_equal(count, 1);
        assert_true((place.box[2] != 0) == middles[i].inside);
    }
}

/* Without boxes there is nothing to look at; with options that no part has, it comes to an end. */
static void parts_without_boxes(void **state)
{
    (void)state;
    static mr__follow follow;
    static mr__chain chain;
    const uint32_t draws[2] = {1, 2};
    mr_step step = {.kind = MR_STEP_IOUCROP};
    mr__follow_init(&follow);
    resolve(step, draws, 100, 80, &follow, &chain);
    assert_int_equal(follow.count, 0);
    resolve(step, draws, 100, 80, NULL, &chain);
    mr__place place = {.flags = MR__PLACE_BOX, .box = {10, 10, 11, 11}}, work;
    follow.places = &place;
    follow.place_count = 1;
    follow.work = &work;
    step.list[0] = 0.99;
    step.list_count = 1;
    resolve(step, draws, 100, 80, &follow, &chain);
    assert_int_equal(follow.count, 0);
    resolve(step, draws, 1, 1, &follow, &chain);
}

/* A recipe, from its text: what stays of the objects is where the moves took them, and the mask has the result's size.
 */
static void run_recipe(mr__target *target, const char *text, uint64_t key, const objects *o, uint32_t width,
                       uint32_t height)
{
    static mr__follow follow;
    static mr__chain chain;
    uint32_t draws[256], size[2];
    mr_recipe *recipe;
    mr__detail detail = {0};
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    if (mr_recipe_parse(recipe, text) != 0)
        fail_msg("%s: %s", text, mr_recipe_detail(recipe));
    assert_true(mr__recipe_draw_count(recipe) <= COUNT(draws));
    mr__recipe_draw(recipe, 1, 0, key, draws);
    assert_int_equal(mr__target_set(target, &o->view, width, height, &detail), 0);
    mr__follow_init(&follow);
    mr__target_show(target, &follow);
    if (mr__recipe_resolve(recipe, draws, width, height, &follow, &chain, &detail) != 0)
        fail_msg("%s: %s", text, detail.text);
    mr__chain_size(&chain, &size[0], &size[1]);
    assert_int_equal(mr__target_follow(target, &follow, &detail), 0);
    if (follow.count != 0) {
        assert_int_equal(target->width, size[0]);
        assert_int_equal(target->height, size[1]);
    }
    mr_image mask = scene_mask(width, height), made = scene_mask(size[0], size[1]);
    assert_int_equal(mr__target_mask(target, &follow, &mask, &made, &detail), 0);
    free(mask.pixels);
    free(made.pixels);
    mr_recipe_free(recipe);
}

static const char *const recipes[] = {
    "rrc(64) flip sanitize",
    "resize(80x70) elastic(60, sigma=3) rotate(45, expand=yes) resize(64) sanitize",
    "rotate(30) affine(20, translate=0.1/0.1, scale=0.8..1.2, shear=5) perspective(0.4, chance=1) sanitize",
    "zoomout ioucrop shorts(40/48/56, max=90) flip pad(to=90) sanitize",
    "scalejitter(64, scale=0.5..2) crop(64, pad=70) sanitize(side=2, area=9)",
    "zoomout(1..2, chance=1, fill=9) vflip center(300) resize(33x77)",
    "ioucrop(options=0.5/0.9, trials=3, scale=0.1..0.5, ratio=0.2..5) resize(64)",
};

static void recipes_take_objects_along(void **state)
{
    (void)state;
    mr__target target;
    objects o;
    size_t left = 0, all = 0;
    assert_int_equal(mr__target_init(&target, NULL), 0);
    for (size_t r = 0; r < COUNT(recipes); r++)
        for (uint64_t key = 0; key < 40; key++) {
            const scene *s = &scenes[key % COUNT(scenes)];
            set_objects(&o, s);
            run_recipe(&target, recipes[r], key, &o, s->width, s->height);
            for (size_t i = 0; r < 5 && i + 1 < target.count; i++) {
                const float *box = target.boxes + 4 * i;
                assert_true(box[0] >= 0 && box[2] <= (float)target.width && box[0] <= box[2]);
                assert_true(box[1] >= 0 && box[3] <= (float)target.height && box[1] <= box[3]);
            }
            left += target.count;
            all += o.view.count;
        }
    assert_true(left > all / 4 && left < all);
    mr__target_fini(&target);
}

/* Of a sample the keypoints of objects that are left out go with them. */
static void keypoints_stay_with_their_objects(void **state)
{
    (void)state;
    static mr__follow follow;
    const float boxes[] = {0, 0, 10, 10, 5, 5, 0.5f, 10, 20, 20, 10, 10};
    const float points[] = {1, 1, 1, 2, 2, 2, 3, 3, 0, 4, 4, 1}, areas[3] = {1, 2, 3}, rotated[15] = {0};
    const int64_t categories[] = {7, 8, 9};
    const uint8_t flags[] = {MR_OBJECT_BOX | MR_OBJECT_AREA, MR_OBJECT_BOX, MR_OBJECT_BOX | MR_OBJECT_CROWD};
    const size_t starts[] = {0, 1, 3, 4};
    const mr_annotation_view view = {sizeof view, 3, boxes, categories, areas, flags, starts,
                                     points,      4, 0,     0,          false, 0,     rotated};
    mr__target target;
    assert_int_equal(mr__target_init(&target, NULL), 0);
    assert_int_equal(mr__target_set(&target, &view, 40, 30, NULL), 0);
    const mr__move flip = {MR__MOVE_FLIP, 40, 30, 40, 30, {.flip = {true, false}}};
    const mr__move sanitize = {MR__MOVE_SANITIZE, 40, 30, 40, 30, {.sanitize = {1, 1}}};
    mr__follow_init(&follow);
    mr__follow_note(&follow, &flip, NULL);
    mr__follow_note(&follow, &sanitize, NULL);
    assert_int_equal(mr__target_follow(&target, &follow, NULL), 0);
    assert_int_equal(target.count, 2);
    const float to[] = {30, 0, 40, 10, 10, 20, 20, 30}, to_points[] = {38, 1, 1, 35, 4, 1};
    assert_memory_equal(target.boxes, to, sizeof to);
    assert_int_equal(target.keypoint_count, 2);
    assert_memory_equal(target.keypoints, to_points, sizeof to_points);
    assert_int_equal(target.keypoint_starts[1], 1);
    assert_int_equal(target.keypoint_starts[2], 2);
    assert_int_equal(target.categories[1], 9);
    assert_int_equal(target.origins[1], 2);
    assert_true(target.areas[1] == 3);
    assert_int_equal(target.flags[1], MR_OBJECT_BOX | MR_OBJECT_CROWD);
    assert_int_equal(mr__target_set(&target, NULL, 40, 30, NULL), 0);
    assert_int_equal(mr__target_follow(&target, &follow, NULL), 0);
    assert_int_equal(target.count, 0);
    assert_int_equal(target.keypoint_count, 0);
    mr__target_fini(&target);
}

/* Numbers that JSON may have, and moves that lose them. */
static void extreme_numbers_are_harmless(void **state)
{
    (void)state;
    static objects o;
    static mr__follow follow;
    mr__target target;
    assert_int_equal(mr__target_init(&target, NULL), 0);
    const float values[] = {0, -0.0f, 1e-40f, -1, 3e38f, -3e38f, 1e20f, 16384, 0.5f};
    for (size_t n = 0; n < 400; n++) {
        const scene *s = &scenes[n % COUNT(scenes)];
        set_objects(&o, s);
        for (size_t i = 0; i < COUNT(o.boxes); i++)
            o.boxes[i] = values[(n * 7 + i * (n + 3)) % COUNT(values)];
        for (size_t i = 0; i < COUNT(o.rotated); i++)
            o.rotated[i] = values[(n * 5 + i * (n + 1)) % COUNT(values)];
        for (size_t i = 0; i < COUNT(o.points); i++)
            o.points[i] = values[(n + i) % COUNT(values)];
        set_moves(&follow, s);
        for (size_t i = 0; i < follow.count && n % 3 == 0; i++)
            if (follow.moves[i].kind == MR__MOVE_PERSPECTIVE)
                memset(follow.moves[i].u.perspective.c, 0, (n % 2 == 0 ? 8 : 2) * sizeof(double));
            else if (follow.moves[i].kind == MR__MOVE_AFFINE)
                follow.moves[i].u.affine.scale = n % 2 == 0 ? 1e-300 : 1e300;
        assert_int_equal(mr__target_set(&target, &o.view, s->width, s->height, NULL), 0);
        assert_int_equal(mr__target_follow(&target, &follow, NULL), 0);
        for (size_t i = 0; i < 4 * target.count; i++)
            assert_true(isfinite(target.boxes[i]));
        const uint32_t *to = s->count != 0 ? s->moves[s->count - 1].sides + 2 : &s->width;
        mr_image mask = scene_mask(s->width, s->height), made = scene_mask(to[0], to[1]);
        assert_int_equal(mr__target_mask(&target, &follow, &mask, &made, NULL), 0);
        free(mask.pixels);
        free(made.pixels);
    }
    mr__target_fini(&target);
}

/* Pixels of several bytes go where those of one do. */
static void masks_of_all_kinds(void **state)
{
    (void)state;
    static mr__follow follow;
    mr__target target;
    assert_int_equal(mr__target_init(&target, NULL), 0);
    for (size_t n = 0; n < COUNT(scenes); n++) {
        const scene *s = &scenes[n];
        const uint32_t *to = s->count != 0 ? s->moves[s->count - 1].sides + 2 : &s->width;
        uint32_t channels = 1 + (uint32_t)n % 4, depth = n % 3 == 0 ? 16 : 8;
        size_t nbytes = channels * depth / 8;
        mr_image one = scene_mask(s->width, s->height), to_one = scene_mask(to[0], to[1]), mask, made;
        assert_int_equal(mr_image_init(&mask, s->width, s->height, channels, depth, NULL), 0);
        assert_int_equal(mr_image_init(&made, to[0], to[1], channels, depth, NULL), 0);
        for (uint32_t y = 0; y < s->height; y++)
            for (size_t i = 0; i < s->width * nbytes; i++)
                ((uint8_t *)mask.pixels + (ptrdiff_t)y * mask.stride)[i] =
                    (uint8_t)(((uint8_t *)one.pixels)[y * s->width + i / nbytes] * (1 + i % nbytes));
        set_moves(&follow, s);
        assert_int_equal(mr__target_mask(&target, &follow, &one, &to_one, NULL), 0);
        assert_int_equal(mr__target_mask(&target, &follow, &mask, &made, NULL), 0);
        for (uint32_t y = 0; y < to[1]; y++)
            for (size_t i = 0; i < to[0] * nbytes; i++)
                assert_int_equal(((uint8_t *)made.pixels + (ptrdiff_t)y * made.stride)[i],
                                 (uint8_t)(((uint8_t *)to_one.pixels)[y * to[0] + i / nbytes] * (1 + i % nbytes)));
        free(one.pixels);
        free(to_one.pixels);
        mr_image_fini(&mask, NULL);
        mr_image_fini(&made, NULL);
    }
    mr__target_fini(&target);
}

static void sizes_are_compared(void **state)
{
    (void)state;
    static objects o;
    static mr__follow follow;
    mr__target target;
    mr__detail detail = {0};
    const scene *s = &scenes[0];
    assert_int_equal(mr__target_init(&target, NULL), 0);
    set_objects(&o, s);
    set_moves(&follow, s);
    assert_int_equal(mr__target_set(&target, &o.view, s->width + 1, s->height, &detail), 0);
    assert_int_equal(mr__target_follow(&target, &follow, &detail), MR_EARGUMENT);
    assert_non_null(strstr(detail.text, "where the image is"));
    mr_image mask = scene_mask(s->width, s->height), made = scene_mask(3, 3), rgb = made;
    assert_int_equal(mr__target_mask(&target, &follow, &mask, &made, &detail), MR_EARGUMENT);
    assert_non_null(strstr(detail.text, "room for a mask of 3 x 3"));
    assert_int_equal(mr__target_mask(&target, &follow, &made, &mask, &detail), MR_EARGUMENT);
    rgb.channels = 3;
    rgb.width = 1;
    assert_int_equal(mr__target_mask(&target, &follow, &mask, &rgb, &detail), MR_EARGUMENT);
    free(mask.pixels);
    free(made.pixels);
    mr__target_fini(&target);
}

/* An image that is bent by the nearest pixels is bent as its mask is. */
static void elastic_masks_go_as_images(void **state)
{
    (void)state;
    static mr__follow follow;
    static mr__chain chain;
    enum { WIDTH = 61, HEIGHT = 47 };
    static uint8_t bent[WIDTH * HEIGHT];
    mr_recipe *recipe;
    mr_applier *applier;
    mr__target target;
    uint32_t draws[64];
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    assert_int_equal(mr_recipe_parse(recipe, "convert(gray) resize(61x47) elastic(90, sigma=3, filter=nearest)"), 0);
    assert_int_equal(mr_applier_new(recipe, NULL, &applier), 0);
    assert_int_equal(mr__target_init(&target, NULL), 0);
    for (uint64_t key = 0; key < 6; key++) {
        mr_image mask = scene_mask(WIDTH, HEIGHT), made = scene_mask(WIDTH, HEIGHT);
        assert_int_equal(mr_applier_run(applier, &mask, 5, 0, key, bent), 0);
        mr__recipe_draw(recipe, 5, 0, key, draws);
        mr__follow_init(&follow);
        assert_int_equal(mr__recipe_resolve(recipe, draws, WIDTH, HEIGHT, &follow, &chain, NULL), 0);
        assert_int_equal(follow.count, 1);
        assert_int_equal(mr__target_mask(&target, &follow, &mask, &made, NULL), 0);
        assert_memory_equal(made.pixels, bent, sizeof bent);
        assert_memory_not_equal(made.pixels, mask.pixels, sizeof bent);
        free(mask.pixels);
        free(made.pixels);
    }
    mr__target_fini(&target);
    mr_applier_free(applier);
    mr_recipe_free(recipe);
}

/* torchvision's elastic_keypoints and elastic_bounding_boxes: where the pixel of a point goes, displaced the other way.
 */
static void bend_as_torchvision(const float *field, const uint32_t size[2], float x, float y, float to[2])
{
    const float at[2] = {x, y};
    size_t pixel[2];
    for (size_t k = 0; k < 2; k++)
        pixel[k] = at[k] < 0 ? 0 : at[k] >= (float)size[k] ? size[k] - 1 : (size_t)at[k];
    for (size_t k = 0; k < 2; k++) {
        double side = size[k], middle = (2.0 * (double)pixel[k] + 1.0) / side - 1.0;
        double displaced = (double)field[2 * (pixel[1] * size[0] + pixel[0]) + k];
        to[k] = (float)((middle - displaced + 1.0) * 0.5 * side - 0.5);
    }
}

static void elastic_points_go_by_the_field(void **state)
{
    (void)state;
    const uint32_t size[2] = {61, 47};
    mr__move move = {.kind = MR__MOVE_ELASTIC, .width = 61, .height = 47, .to_width = 61, .to_height = 47};
    move.u.elastic = (mr__elastic){.alpha = {200, 90}, .sigma = {2, 3}, .key = {11, 12}};
    float *field = malloc(sizeof(float) * 2 * 61 * 47), *dx = malloc(sizeof(float) * 2 * 61);
    mr_rect all = {0, 0, 61, 47};
    mr__elastic_field rows;
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    void *memory = mr__alloc(&hooks, mr__elastic_field_nbytes(&move.u.elastic, all));
    mr__elastic_field_init(&rows, &move.u.elastic, 61, 47, all, 0, memory);
    for (size_t y = 0; y < 47; y++) {
        mr__elastic_field_row(&rows, dx, dx + 61);
        for (size_t x = 0; x < 61; x++) {
            field[2 * (y * 61 + x)] = dx[x];
            field[2 * (y * 61 + x) + 1] = dx[61 + x];
        }
    }
    mr__buffer buffer = {0};
    mr__follow_room room = {.hooks = &hooks, .buffer = &buffer};
    float points[][3] = {{10.7f, 20.2f, 1}, {-3, 4.9f, 2}, {60.99f, 46.5f, 0}, {99, 1e9f, 1}, {0, 0, 2}};
    float wanted[5][2];
    for (size_t i = 0; i < 5; i++)
        bend_as_torchvision(field, size, points[i][0], points[i][1], wanted[i]);
    assert_int_equal(mr__follow_points(&move, room, points[0], 5, NULL), 0);
    for (size_t i = 0; i < 5; i++)
        assert_true(apart(points[i], wanted[i], 2) < 1e-4);
    mr__place place = {.flags = MR__PLACE_BOX, .box = {10.2f, 12.0f, 30.5f, 40.1f}};
    float corner[4][2], box[4];
    bend_as_torchvision(field, size, 11, 12, corner[0]);
    bend_as_torchvision(field, size, 31, 12, corner[1]);
    bend_as_torchvision(field, size, 31, 41, corner[2]);
    bend_as_torchvision(field, size, 11, 41, corner[3]);
    for (size_t k = 0; k < 2; k++) {
        box[k] = fminf(fminf(corner[0][k], corner[1][k]), fminf(corner[2][k], corner[3][k]));
        box[k + 2] = fmaxf(fmaxf(corner[0][k], corner[1][k]), fmaxf(corner[2][k], corner[3][k]));
    }
    size_t count = 1;
    assert_int_equal(mr__follow_places(&move, room, &place, &count, NULL), 0);
    assert_true(apart(place.box, box, 4) < 1e-4);
    mr__place turned = {.flags = MR__PLACE_ROTATED};
    const float rotated[5] = {30.5f, 20.5f, 12, 8, 30};
    float to[2], back[5];
    mr__corners_of_rotated(rotated, turned.corners);
    bend_as_torchvision(field, size, 31, 21, to);
    assert_int_equal(mr__follow_places(&move, room, &turned, &count, NULL), 0);
    mr__rotated_of_corners(turned.corners, back);
    assert_true(apart(back, to, 2) < 1e-3 && apart(back + 2, rotated + 2, 3) < 1e-3);
    mr__buffer_fini(&buffer, &hooks);
    mr__free(&hooks, memory);
    free(field);
    free(dx);
}

static int run_all(mr__target *target, const mr_hooks *hooks)
{
    static objects o;
    mr__detail detail = {0};
    static mr__follow follow;
    int result = mr__target_init(target, hooks);
    for (size_t i = 0; i < COUNT(scenes) && result == 0; i += 7) {
        const scene *s = &scenes[i];
        const uint32_t *to = s->count != 0 ? s->moves[s->count - 1].sides + 2 : &s->width;
        mr_image mask = scene_mask(s->width, s->height), made = scene_mask(to[0], to[1]);
        set_objects(&o, s);
        set_moves(&follow, s);
        result = mr__target_set(target, &o.view, s->width, s->height, &detail);
        if (result == 0)
            result = mr__target_follow(target, &follow, &detail);
        if (result == 0)
            result = mr__target_mask(target, &follow, &mask, &made, &detail);
        free(mask.pixels);
        free(made.pixels);
    }
    return result;
}

static int run_and_end(const mr_hooks *hooks, void *arg)
{
    mr__target target;
    (void)arg;
    int result = run_all(&target, hooks);
    mr__target_fini(&target);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    failing_run(run_and_end, NULL);
}

static void memory_is_kept(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    mr__target target, kept;
    failing_begin(0, false);
    assert_int_equal(run_all(&target, &hooks), 0);
    size_t before = failing_now().attempts;
    for (size_t i = 0; i < COUNT(scenes); i += 7) {
        static objects o;
        static mr__follow follow;
        set_objects(&o, &scenes[i]);
        set_moves(&follow, &scenes[i]);
        assert_int_equal(mr__target_set(&target, &o.view, scenes[i].width, scenes[i].height, NULL), 0);
        assert_int_equal(mr__target_follow(&target, &follow, NULL), 0);
        check_mask(&target, &follow, &scenes[i], i);
    }
    assert_int_equal(failing_now().attempts, before);
    mr__target_fini(&target);
    assert_int_equal(failing_end().live_blocks, 0);
    memset(&kept, 0, sizeof kept);
    mr__target_fini(&kept);
}

static void check_refused(mr_step step, const char *says)
{
    mr__detail detail = {0};
    step.struct_size = sizeof step;
    assert_int_equal(mr__step_settle(&step, &detail), MR_EARGUMENT);
    if (strstr(detail.text, says) == NULL)
        fail_msg("%s", detail.text);
}

static void parameters_are_checked(void **state)
{
    (void)state;
    check_refused((mr_step){.kind = MR_STEP_SCALEJITTER}, "scalejitter to 0 x 0");
    check_refused((mr_step){.kind = MR_STEP_SCALEJITTER, .width = 9, .scale_low = 2, .scale_high = 1}, "scale=2..1");
    check_refused((mr_step){.kind = MR_STEP_SCALEJITTER, .width = 9, .scale_low = NAN, .scale_high = 1}, "scale=");
    check_refused((mr_step){.kind = MR_STEP_ZOOMOUT, .side = {0.5, 2}}, "side=0.5..2");
    check_refused((mr_step){.kind = MR_STEP_ZOOMOUT, .has_chance = true, .chance = 2}, "a chance of 2");
    check_refused((mr_step){.kind = MR_STEP_SHORTS}, "0 sizes");
    check_refused((mr_step){.kind = MR_STEP_SHORTS, .list = {480.5}, .list_count = 1}, "480.5");
    check_refused((mr_step){.kind = MR_STEP_SHORTS, .list = {480}, .list_count = 17}, "shorts to 0");
    check_refused((mr_step){.kind = MR_STEP_SHORTS, .list = {480}, .list_count = 1, .max_side = 20000}, "max=20000");
    check_refused((mr_step){.kind = MR_STEP_IOUCROP, .list = {-1}, .list_count = 1}, "an option of -1");
    check_refused((mr_step){.kind = MR_STEP_IOUCROP, .trials = 5000}, "5000 trials");
    check_refused((mr_step){.kind = MR_STEP_IOUCROP, .scale_low = 0.5, .scale_high = 1.5}, "scale=0.5..1.5");
    check_refused((mr_step){.kind = MR_STEP_SANITIZE, .min_side = 0.5}, "side=0.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_are_torchvisions),
        cmocka_unit_test(steps_draw_as_torchvision),
        cmocka_unit_test(parts_by_boxes_are_torchvisions),
        cmocka_unit_test(middles_are_inside),
        cmocka_unit_test(parts_without_boxes),
        cmocka_unit_test(recipes_take_objects_along),
        cmocka_unit_test(keypoints_stay_with_their_objects),
        cmocka_unit_test(extreme_numbers_are_harmless),
        cmocka_unit_test(masks_of_all_kinds),
        cmocka_unit_test(elastic_masks_go_as_images),
        cmocka_unit_test(elastic_points_go_by_the_field),
        cmocka_unit_test(sizes_are_compared),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(memory_is_kept),
        cmocka_unit_test(parameters_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
