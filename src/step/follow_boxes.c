// SPDX-License-Identifier: Apache-2.0
/*
 * Boxes, as torchvision moves BoundingBoxes of format XYXY: in float, cut to the image after everything but a resize
 * and a flip.
 */
#include "step/follow.h"

#include <math.h>
#include <string.h>

static float cut(float value, float most)
{
    return value < 0.0f ? 0.0f : value > most ? most : value;
}

static void cut_box(float box[4], uint32_t width, uint32_t height)
{
    for (size_t i = 0; i < 4; i++)
        box[i] = cut(box[i], (float)(i % 2 == 0 ? width : height));
}

static void shift_box(float box[4], float x, float y)
{
    for (size_t i = 0; i < 4; i++)
        box[i] += i % 2 == 0 ? x : y;
}

static void scale_box(const mr__move *move, float box[4])
{
    float x = (float)((double)move->to_width / move->width), y = (float)((double)move->to_height / move->height);
    for (size_t i = 0; i < 4; i++)
        box[i] *= i % 2 == 0 ? x : y;
}

static void flip_box(const mr__move *move, float box[4])
{
    const float side[2] = {(float)move->width, (float)move->height};
    for (size_t i = 0; i < 2; i++) {
        float low = box[i], high = box[i + 2];
        if (!move->u.flip[i])
            continue;
        box[i] = side[i] - high;
        box[i + 2] = side[i] - low;
    }
}

/* What encloses the four corners where they have gone. */
static void warp_box(const mr__move *move, const mr__line_up *line_up, float box[4])
{
    const float corners[4][2] = {{box[0], box[1]}, {box[2], box[1]}, {box[2], box[3]}, {box[0], box[3]}};
    for (size_t i = 0; i < 4; i++) {
        float point[2] = {corners[i][0], corners[i][1]};
        mr__follow_point(line_up, point);
        for (size_t k = 0; k < 2; k++) {
            box[k] = i == 0 || point[k] < box[k] ? point[k] : box[k];
            box[k + 2] = i == 0 || point[k] > box[k + 2] ? point[k] : box[k + 2];
        }
    }
    shift_box(box, -line_up->by[0], -line_up->by[1]);
    cut_box(box, move->to_width, move->to_height);
}

static void move_box(const mr__move *move, float box[4])
{
    mr__line_up line_up;
    switch (move->kind) {
    case MR__MOVE_CROP:
        shift_box(box, -(float)move->u.crop.x, -(float)move->u.crop.y);
        cut_box(box, move->to_width, move->to_height);
        break;
    case MR__MOVE_RESIZE:
        scale_box(move, box);
        break;
    case MR__MOVE_FLIP:
        flip_box(move, box);
        break;
    case MR__MOVE_PAD:
        shift_box(box, (float)move->u.pad.sides[0], (float)move->u.pad.sides[1]);
        cut_box(box, move->to_width, move->to_height);
        break;
    case MR__MOVE_AFFINE:
    case MR__MOVE_ROTATE:
    case MR__MOVE_PERSPECTIVE:
        mr__follow_line_up(move, &line_up);
        warp_box(move, &line_up, box);
        break;
    default:
        break;
    }
}

void mr__follow_finite(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            memset(values, 0, count * sizeof *values);
            return;
        }
}

static void end_rotated(const mr__move *move, mr__place *place)
{
    mr__follow_finite(place->corners, 8);
    mr__corners_box(place->corners, move->to_width, move->to_height, place->box);
}

static void move_place(const mr__move *move, mr__place *place)
{
    if ((place->flags & MR__PLACE_ROTATED) != 0) {
        mr__follow_corners(move, place);
        end_rotated(move, place);
    } else if ((place->flags & MR__PLACE_BOX) != 0) {
        move_box(move, place->box);
        mr__follow_finite(place->box, 4);
    }
}

/*
 * An elastic move, of all places at once. Of a box it takes the pixels right of and below the corners, which are in
 * place->corners meanwhile; of a rotated one that of the middle, which is in place->box.
 */
static void begin_bend(mr__place *place)
{
    const float *box = place->box;
    if ((place->flags & MR__PLACE_ROTATED) != 0)
        mr__corners_middle(place->corners, place->box);
    else if ((place->flags & MR__PLACE_BOX) != 0)
        for (size_t i = 0; i < 4; i++) {
            place->corners[2 * i] = ceilf(box[i == 1 || i == 2 ? 2 : 0]);
            place->corners[2 * i + 1] = ceilf(box[i >= 2 ? 3 : 1]);
        }
}

static float *find_point(void *places, size_t i)
{
    mr__place *place = (mr__place *)places + i / 4;
    if ((place->flags & MR__PLACE_ROTATED) != 0)
        return i % 4 == 0 ? place->box : NULL;
    return (place->flags & MR__PLACE_BOX) != 0 ? place->corners + 2 * (i % 4) : NULL;
}

static void end_bend(const mr__move *move, mr__place *place)
{
    float *box = place->box;
    if ((place->flags & MR__PLACE_ROTATED) != 0) {
        mr__corners_bend(move, place->box, place->corners);
        end_rotated(move, place);
    } else if ((place->flags & MR__PLACE_BOX) != 0) {
        for (size_t i = 0; i < 8; i++) {
            float at = place->corners[i];
            size_t k = i % 2;
            box[k] = i < 2 || at < box[k] ? at : box[k];
            box[k + 2] = i < 2 || at > box[k + 2] ? at : box[k + 2];
        }
        cut_box(box, move->to_width, move->to_height);
        mr__follow_finite(box, 4);
        memset(place->corners, 0, sizeof place->corners);
    }
}

static int bend_places(const mr__move *move, mr__follow_room room, mr__place *places, size_t count, mr__detail *detail)
{
    for (size_t i = 0; i < count; i++)
        begin_bend(&places[i]);
    int result = mr__follow_bend(move, room, find_point, places, 4 * count, detail);
    for (size_t i = 0; i < count && result == 0; i++)
        end_bend(move, &places[i]);
    return result;
}

/*
 * Whether torchvision's SanitizeBoundingBoxes keeps it. Of a rotated box it takes for the second side the root of
 * (y2 - y3)^2 + (x3 - x4)^2, which is not its length; so that the same boxes are kept, so is it here.
 */
static bool is_sane(const mr__move *move, const mr__place *place)
{
    bool rotated = (place->flags & MR__PLACE_ROTATED) != 0;
    const float *at = rotated ? place->corners : place->box;
    float width = place->box[2] - place->box[0], height = place->box[3] - place->box[1];
    if (rotated) {
        float a = at[0] - at[2], b = at[1] - at[3], c = at[3] - at[5], d = at[4] - at[6];
        width = sqrtf(a * a + b * b);
        height = sqrtf(c * c + d * d);
    }
    for (size_t i = 0; i < (rotated ? 8 : 4); i++)
        if (!(at[i] >= 0.0f && at[i] <= (float)(i % 2 == 0 ? move->width : move->height)))
            return false;
    return (double)width >= move->u.sanitize.min_side && (double)height >= move->u.sanitize.min_side &&
           (double)(width * height) >= move->u.sanitize.min_area;
}

bool mr__follow_has_middle(const mr_rect *rect, const float box[4])
{
    float x = 0.5f * (box[0] + box[2]), y = 0.5f * (box[1] + box[3]);
    return (float)rect->x < x && x < (float)(rect->x + rect->width) && (float)rect->y < y &&
           y < (float)(rect->y + rect->height);
}

/* Looks at a box, which stays where it is. False: it is left out. */
static bool look_at(const mr__move *move, mr__place *place)
{
    if ((place->flags & (MR__PLACE_BOX | MR__PLACE_ROTATED)) == 0)
        return true;
    if (move->kind == MR__MOVE_SANITIZE)
        return is_sane(move, place);
    if (!mr__follow_has_middle(&move->u.crop, place->box)) {
        memset(place->box, 0, sizeof place->box);
        memset(place->corners, 0, sizeof place->corners);
    }
    return true;
}

int mr__follow_places(const mr__move *move, mr__follow_room room, mr__place *places, size_t *count, mr__detail *detail)
{
    bool still = move->kind == MR__MOVE_SANITIZE || move->kind == MR__MOVE_MIDDLES;
    size_t left = 0;
    if (move->kind == MR__MOVE_ELASTIC)
        return bend_places(move, room, places, *count, detail);
    for (size_t i = 0; i < *count; i++) {
        if (!still)
            move_place(move, &places[i]);
        if (still && !look_at(move, &places[i]))
            continue;
        if (left != i)
            places[left] = places[i];
        left++;
    }
    *count = left;
    return 0;
}
