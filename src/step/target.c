// SPDX-License-Identifier: Apache-2.0
#include "step/target.h"

#include "base/size.h"
#include "step/follow_masks.h"

#include <string.h>

/* target->out: which buffer has which array, and the bytes of one entry. */
enum { BOXES, ROTATED, CATEGORIES, AREAS, FLAGS, ORIGINS, STARTS, POINTS, ARRAYS };

int mr__target_init(mr__target *target, const mr_hooks *hooks)
{
    memset(target, 0, sizeof *target);
    return mr__hooks_init(&target->hooks, hooks);
}

void mr__target_fini(mr__target *target)
{
    mr__buffer *const groups[] = {&target->stored, &target->work,  &target->room,
                                  target->out,     target->pixels, target->maps};
    const size_t counts[] = {1, 1, 1, ARRAYS, 2, 2};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (size_t k = 0; k < counts[i]; k++)
            if (groups[i][k].bytes != NULL)
                mr__buffer_fini(&groups[i][k], &target->hooks);
    memset(target, 0, sizeof *target);
}

static int reserve(mr__target *target, size_t n, size_t points, mr__detail *detail)
{
    const size_t nbytes[ARRAYS] = {[BOXES] = n * 4 * sizeof(float),
                                   [ROTATED] = n * 5 * sizeof(float),
                                   [CATEGORIES] = n * sizeof(int64_t),
                                   [AREAS] = n * sizeof(float),
                                   [FLAGS] = n,
                                   [ORIGINS] = n * sizeof(size_t),
                                   [STARTS] = (n + 1) * sizeof(size_t),
                                   [POINTS] = points * 3 * sizeof(float)};
    if (n > MR_ANNOTATION_NUMBERS_MAX || points > MR_ANNOTATION_NUMBERS_MAX)
        return mr__fail(detail, MR_ELIMIT, "%zu objects with %zu keypoints: at most %d of each", n, points,
                        MR_ANNOTATION_NUMBERS_MAX);
    int result = mr__buffer_reserve(&target->stored, &target->hooks, n * sizeof(mr__place));
    if (result == 0)
        result = mr__buffer_reserve(&target->work, &target->hooks, n * sizeof(mr__place));
    for (size_t i = 0; i < ARRAYS && result == 0; i++)
        result = mr__buffer_reserve(&target->out[i], &target->hooks, nbytes[i]);
    if (result != 0)
        return mr__fail(detail, MR_ENOMEM, "out of memory for %zu objects with %zu keypoints", n, points);
    target->boxes = (float *)target->out[BOXES].bytes;
    target->rotated = (float *)target->out[ROTATED].bytes;
    target->categories = (int64_t *)target->out[CATEGORIES].bytes;
    target->areas = (float *)target->out[AREAS].bytes;
    target->flags = target->out[FLAGS].bytes;
    target->origins = (size_t *)target->out[ORIGINS].bytes;
    target->keypoint_starts = (size_t *)target->out[STARTS].bytes;
    target->keypoints = (float *)target->out[POINTS].bytes;
    return 0;
}

static mr__place *stored_places(const mr__target *target)
{
    return (mr__place *)target->stored.bytes;
}

static void set_place(const mr__target *target, const mr_annotation_view *view, size_t i)
{
    mr__place *place = &stored_places(target)[i];
    const float *box = view->boxes + 4 * i;
    *place = (mr__place){.object = (uint32_t)i};
    if ((view->flags[i] & MR_OBJECT_ROTATED) != 0 && view->rotated != NULL) {
        place->flags = MR__PLACE_ROTATED;
        mr__corners_of_rotated(view->rotated + 5 * i, place->corners);
        mr__follow_finite(place->corners, 8);
        mr__corners_box(place->corners, target->width, target->height, place->box);
    } else if ((view->flags[i] & MR_OBJECT_BOX) != 0) {
        place->flags = MR__PLACE_BOX;
        const float made[4] = {box[0], box[1], box[0] + box[2], box[1] + box[3]};
        memcpy(place->box, made, sizeof made);
        mr__follow_finite(place->box, 4);
    }
}

/* Object i of the target is that of a place; everything but where it is, is as it was stored. */
static void fill_object(mr__target *target, const mr__place *place, size_t i)
{
    memcpy(target->boxes + 4 * i, place->box, sizeof place->box);
    if ((place->flags & MR__PLACE_ROTATED) != 0)
        mr__rotated_of_corners(place->corners, target->rotated + 5 * i);
    else
        memset(target->rotated + 5 * i, 0, 5 * sizeof(float));
    target->origins[i] = place->object;
}

int mr__target_set(mr__target *target, const mr_annotation_view *view, uint32_t width, uint32_t height,
                   mr__detail *detail)
{
    size_t n = view != NULL ? view->count : 0, points = view != NULL ? view->keypoint_count : 0;
    target->count = target->keypoint_count = 0;
    int result = reserve(target, n, points, detail);
    if (result != 0)
        return result;
    target->count = n;
    target->keypoint_count = points;
    target->width = width;
    target->height = height;
    target->keypoint_starts[0] = 0;
    for (size_t i = 0; i < n; i++) {
        set_place(target, view, i);
        fill_object(target, &stored_places(target)[i], i);
        target->categories[i] = view->categories[i];
        target->areas[i] = view->areas[i];
        target->flags[i] = view->flags[i];
        target->keypoint_starts[i + 1] = view->keypoint_starts[i + 1];
    }
    if (points != 0)
        memcpy(target->keypoints, view->keypoints, points * 3 * sizeof(float));
    return 0;
}

static mr__follow_room room_of(mr__target *target)
{
    return (mr__follow_room){.hooks = &target->hooks, .buffer = &target->room, .cpu = target->cpu};
}

void mr__target_show(mr__target *target, mr__follow *follow)
{
    follow->places = stored_places(target);
    follow->place_count = target->count;
    follow->work = (mr__place *)target->work.bytes;
    follow->room = room_of(target);
}

/* Object i of the target becomes what object `from`, which is not before it, was. */
static void keep_object(mr__target *target, size_t from, size_t i)
{
    size_t start = target->keypoint_starts[from], end = target->keypoint_starts[from + 1];
    size_t at = target->keypoint_starts[i];
    target->categories[i] = target->categories[from];
    target->areas[i] = target->areas[from];
    target->flags[i] = target->flags[from];
    if (at != start && start != end)
        memmove(target->keypoints + 3 * at, target->keypoints + 3 * start, (end - start) * 3 * sizeof(float));
    target->keypoint_starts[i + 1] = at + (end - start);
}

static int check_size(const mr__follow *follow, const char *what, uint32_t width, uint32_t height, mr__detail *detail)
{
    if (follow->count == 0 || (follow->moves[0].width == width && follow->moves[0].height == height))
        return 0;
    return mr__fail(detail, MR_EARGUMENT, "%s of an image of %u x %u, where the image is %u x %u", what, width, height,
                    follow->moves[0].width, follow->moves[0].height);
}

int mr__target_follow(mr__target *target, const mr__follow *follow, mr__detail *detail)
{
    mr__place *places = (mr__place *)target->work.bytes;
    mr__follow_room room = follow->room.buffer != NULL ? follow->room : room_of(target);
    size_t left = target->count;
    int result = check_size(follow, "objects", target->width, target->height, detail);
    if (result != 0)
        return result;
    if (left != 0)
        memcpy(places, stored_places(target), left * sizeof *places);
    for (size_t i = 0; i < follow->count; i++) {
        const mr__move *move = &follow->moves[i];
        result = mr__follow_places(move, room, places, &left, detail);
        if (result == 0)
            result = mr__follow_points(move, room, target->keypoints, target->keypoint_count, detail);
        if (result != 0)
            return result;
        target->width = move->to_width;
        target->height = move->to_height;
    }
    for (size_t i = 0; i < left; i++) {
        fill_object(target, &places[i], i);
        keep_object(target, places[i].object, i);
    }
    target->count = left;
    if (target->keypoint_starts != NULL)
        target->keypoint_count = target->keypoint_starts[left];
    return 0;
}

int mr__target_mask(mr__target *target, const mr__follow *follow, const mr_image *mask, const mr_image *to,
                    mr__detail *detail)
{
    if (!mr_image_is_valid(mask) || !mr_image_is_valid(to) || mask->channels != to->channels ||
        mask->depth != to->depth)
        return mr__fail(detail, MR_EARGUMENT, "a mask that is none, or another kind of it than is wanted");
    int result = check_size(follow, "a mask", mask->width, mask->height, detail);
    if (result != 0)
        return result;
    uint32_t width = follow->count != 0 ? follow->moves[follow->count - 1].to_width : mask->width;
    uint32_t height = follow->count != 0 ? follow->moves[follow->count - 1].to_height : mask->height;
    if (to->width != width || to->height != height)
        return mr__fail(detail, MR_EARGUMENT, "room for a mask of %u x %u, where the image becomes %u x %u", to->width,
                        to->height, width, height);
    mr__mask_run run = {.pixels = target->pixels,
                        .maps = target->maps,
                        .room = room_of(target),
                        .cpu = target->cpu,
                        .detail = detail,
                        .from = *mask,
                        .to = *to};
    return mr__follow_mask(&run, follow->moves, follow->count);
}
