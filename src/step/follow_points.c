// SPDX-License-Identifier: Apache-2.0
/*
 * Keypoints, as torchvision moves KeyPoints: points of pixels' middles for a flip (W - 1 - x), of the plane for the
 * rest.
 */
#include "step/follow.h"

#include <math.h>

static void move_point(const mr__move *move, const mr__line_up *line_up, float point[2])
{
    switch (move->kind) {
    case MR__MOVE_CROP:
        point[0] -= (float)move->u.crop.x;
        point[1] -= (float)move->u.crop.y;
        break;
    case MR__MOVE_RESIZE:
        point[0] *= (float)((double)move->to_width / move->width);
        point[1] *= (float)((double)move->to_height / move->height);
        break;
    case MR__MOVE_FLIP:
        point[0] = move->u.flip[0] ? (float)(move->width - 1) - point[0] : point[0];
        point[1] = move->u.flip[1] ? (float)(move->height - 1) - point[1] : point[1];
        break;
    case MR__MOVE_PAD:
        point[0] += (float)move->u.pad.sides[0];
        point[1] += (float)move->u.pad.sides[1];
        break;
    case MR__MOVE_AFFINE:
    case MR__MOVE_ROTATE:
    case MR__MOVE_PERSPECTIVE:
        mr__follow_point(line_up, point);
        point[0] -= line_up->by[0];
        point[1] -= line_up->by[1];
        break;
    default:
        break;
    }
}

static float *find_point(void *points, size_t i)
{
    return (float *)points + 3 * i;
}

int mr__follow_points(const mr__move *move, mr__follow_room room, float *points, size_t count, mr__detail *detail)
{
    mr__line_up line_up = {.perspective = false};
    if (move->kind == MR__MOVE_AFFINE || move->kind == MR__MOVE_ROTATE || move->kind == MR__MOVE_PERSPECTIVE)
        mr__follow_line_up(move, &line_up);
    if (move->kind == MR__MOVE_ELASTIC) {
        int result = mr__follow_bend(move, room, find_point, points, count, detail);
        if (result != 0)
            return result;
    }
    for (size_t i = 0; i < count; i++) {
        float *point = points + 3 * i;
        move_point(move, &line_up, point);
        if (!isfinite(point[0]) || !isfinite(point[1]))
            point[0] = point[1] = 0.0f;
    }
    return 0;
}
