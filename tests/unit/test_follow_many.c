// SPDX-License-Identifier: Apache-2.0
/* Images with more objects than anybody draws by hand: what is done for all of them is done once, or comes to an end.
 */
#include "test.h"

#include "base/rng.h"
#include "step/recipe.h"
#include "step/step.h"
#include "step/target.h"

#include <stdlib.h>
#include <string.h>

/* The crop that ioucrop makes of an image where the first of `count` places is a box, and the rest are nothing. */
static bool crop_of(const uint32_t draws[2], size_t count, mr_rect *crop)
{
    static mr__follow follow;
    static mr__chain chain;
    const mr__step_type *type = mr__step_type_of(MR_STEP_IOUCROP);
    mr_step step = {.struct_size = sizeof step, .kind = MR_STEP_IOUCROP, .list = {0.85}, .list_count = 1};
    mr__place *places = calloc(2 * count, sizeof *places);
    assert_non_null(places);
    places[0] = (mr__place){.flags = MR__PLACE_BOX, .box = {200, 300, 700, 800}};
    mr__follow_init(&follow);
    follow.places = places;
    follow.place_count = count;
    follow.work = places + count;
    assert_int_equal(mr__step_settle(&step, NULL), 0);
    mr__chain_init(&chain, 1000, 1000, false, &follow);
    assert_int_equal(type->resolve(&step, draws, &chain, NULL), 0);
    free(places);
    if (follow.count != 0)
        *crop = follow.moves[0].u.crop;
    return follow.count != 0;
}

/* With 2^18 objects there are 256 parts to look at: the same ones as with one object, but no more. */
static void parts_come_to_an_end(void **state)
{
    (void)state;
    size_t found = 0, found_of_many = 0;
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t draws[2] = {i, 7};
        mr_rect crop = {0}, of_many = {0};
        bool some = crop_of(draws, 1, &crop), of_most = crop_of(draws, (size_t)1 << 18, &of_many);
        found += some;
        found_of_many += of_most;
        if (of_most)
            assert_true(some && memcmp(&crop, &of_many, sizeof crop) == 0);
    }
    print_message("%zu and %zu parts\n", found, found_of_many);
    assert_true(found > 8 && found_of_many < found - 4);
}

/* From -1/4 to 5/4 of a side, so that some are outside. */
static float draw_place(mr__rng *rng, uint32_t side)
{
    return (mr__rng_float(rng) * 1.5f - 0.25f) * (float)side;
}

static mr__move elastic_of(uint32_t width, uint32_t height, double sigma_x, double sigma_y)
{
    mr__move move = {MR__MOVE_ELASTIC, width, height, width, height, {.crop = {0, 0, 0, 0}}};
    move.u.elastic = (mr__elastic){.alpha = {200, 90}, .sigma = {sigma_x, sigma_y}, .key = {11, 12}};
    return move;
}

static float *draw_points(mr__rng *rng, const mr__move *move, size_t count)
{
    float *points = calloc(count, 3 * sizeof *points);
    assert_non_null(points);
    for (size_t i = 0; i < count; i++) {
        points[3 * i] = draw_place(rng, move->width);
        points[3 * i + 1] = draw_place(rng, move->height);
        points[3 * i + 2] = (float)(i % 3);
    }
    return points;
}

/* Boxes, rotated ones, and objects that have neither. */
static mr__place *draw_places(mr__rng *rng, const mr__move *move, size_t count)
{
    mr__place *places = calloc(count, sizeof *places);
    assert_non_null(places);
    for (size_t i = 0; i < count; i++) {
        const float x = draw_place(rng, move->width), y = draw_place(rng, move->height);
        const float rotated[5] = {x, y, 1 + 9 * mr__rng_float(rng), 1 + 9 * mr__rng_float(rng), (float)i};
        const float box[4] = {x, y, x + rotated[2], y + rotated[3]};
        places[i].object = (uint32_t)i;
        places[i].flags = i % 5 == 4 ? 0 : i % 3 == 1 ? MR__PLACE_ROTATED : MR__PLACE_BOX;
        memcpy(places[i].box, box, sizeof box);
        if (places[i].flags == MR__PLACE_ROTATED)
            mr__corners_of_rotated(rotated, places[i].corners);
    }
    return places;
}

/* All at once go where each goes alone, to the bit. */
static void check_crowd(const mr__move *move, mr__follow_room room, size_t count)
{
    mr__rng rng;
    mr__rng_init(&rng, 1, 0, count, 0);
    float *points = draw_points(&rng, move, count), *alone = malloc(count * 3 * sizeof *alone);
    mr__place *places = draw_places(&rng, move, count), *each = malloc(count * sizeof *each);
    assert_true(alone != NULL && each != NULL);
    memcpy(alone, points, count * 3 * sizeof *alone);
    memcpy(each, places, count * sizeof *each);
    size_t left = count, one = 1;
    assert_int_equal(mr__follow_points(move, room, points, count, NULL), 0);
    assert_int_equal(mr__follow_places(move, room, places, &left, NULL), 0);
    assert_int_equal(left, count);
    room.cpu = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(mr__follow_points(move, room, alone + 3 * i, 1, NULL), 0);
        assert_int_equal(mr__follow_places(move, room, &each[i], &one, NULL), 0);
    }
    assert_memory_equal(points, alone, count * 3 * sizeof *alone);
    assert_memory_equal(places, each, count * sizeof *each);
    free(points);
    free(alone);
    free(places);
    free(each);
}

static void crowds_bend_as_each_alone(void **state)
{
    (void)state;
    const mr__move moves[] = {elastic_of(61, 47, 2, 3), elastic_of(300, 200, 5, 1), elastic_of(1, 1, 0.001, 0.001)};
    const size_t counts[] = {1, 2, 7, 100, 3000};
    mr_hooks hooks;
    mr__buffer buffer = {0};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            check_crowd(&moves[i], (mr__follow_room){&hooks, &buffer, 0}, counts[k]);
            check_crowd(&moves[i], (mr__follow_room){&hooks, &buffer, mr__cpu_detect()}, counts[k]);
        }
    mr__buffer_fini(&buffer, &hooks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_to_an_end),
        cmocka_unit_test(crowds_bend_as_each_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
