// SPDX-License-Identifier: Apache-2.0
#include "step/follow.h"

#include "step/real.h"

#include <string.h>

void mr__follow_init(mr__follow *follow)
{
    follow->count = 0;
    follow->places = NULL;
    follow->place_count = 0;
    follow->work = NULL;
    follow->room = (mr__follow_room){.hooks = NULL};
}

int mr__follow_note(mr__follow *follow, const mr__move *move, mr__detail *detail)
{
    if (follow == NULL)
        return 0;
    if (follow->count == MR__MOVES_MAX)
        return mr__fail(detail, MR_ELIMIT, "the recipe moves pixels more than %d times, the most that boxes can follow",
                        MR__MOVES_MAX);
    follow->moves[follow->count++] = *move;
    return 0;
}

int mr__follow_look(mr__follow *follow, size_t *count, mr__detail *detail)
{
    int result = 0;
    *count = follow->place_count;
    if (*count != 0)
        memcpy(follow->work, follow->places, *count * sizeof *follow->work);
    for (size_t i = 0; i < follow->count && *count != 0 && result == 0; i++)
        result = mr__follow_places(&follow->moves[i], follow->room, follow->work, count, detail);
    return result;
}

/* A rotation is an affine move the other way round. */
static mr__affine affine_of(const mr__move *move)
{
    if (move->kind == MR__MOVE_AFFINE)
        return move->u.affine;
    return (mr__affine){.degrees = -move->u.rotate.degrees, .scale = 1.0};
}

void mr__follow_matrix(const mr__move *move, bool back, const double center[2], double m[6])
{
    mr__affine it = affine_of(move);
    double turn = mr__real_radians(it.degrees), x = mr__real_radians(it.shear[0]), y = mr__real_radians(it.shear[1]);
    double cos_y = mr__real_cos(y), tan_x = mr__real_tan(x);
    double to_x = center[0] + it.translate[0], to_y = center[1] + it.translate[1];
    double a = mr__real_cos(turn - y) / cos_y, b = -(a * tan_x + mr__real_sin(turn));
    double c = mr__real_sin(turn - y) / cos_y, d = mr__real_cos(turn) - c * tan_x;
    if (back) {
        m[0] = d / it.scale;
        m[1] = -b / it.scale;
        m[3] = -c / it.scale;
        m[4] = a / it.scale;
        m[2] = center[0] - m[0] * to_x - m[1] * to_y;
        m[5] = center[1] - m[3] * to_x - m[4] * to_y;
        return;
    }
    m[0] = a * it.scale;
    m[1] = b * it.scale;
    m[3] = c * it.scale;
    m[4] = d * it.scale;
    m[2] = to_x - m[0] * center[0] - m[1] * center[1];
    m[5] = to_y - m[3] * center[0] - m[4] * center[1];
}

static void center_of(const mr__move *move, double center[2])
{
    bool affine = move->kind == MR__MOVE_AFFINE;
    const double *given = affine ? move->u.affine.center : move->u.rotate.center;
    bool has_center = affine ? move->u.affine.has_center : move->u.rotate.has_center;
    center[0] = has_center ? given[0] : (double)move->width * 0.5;
    center[1] = has_center ? given[1] : (double)move->height * 0.5;
}

/* x' = (m0 x + m1 y + m2) / (m6 x + m7 y + 1), as torchvision turns Pillow's coefficients round. */
static void perspective_matrix(const double c[8], float m[8])
{
    double by = c[0] * c[4] - c[1] * c[3];
    const double turned[8] = {c[4] - c[5] * c[7],        c[2] * c[7] - c[1],       c[1] * c[5] - c[2] * c[4],
                              c[5] * c[6] - c[3],        c[0] - c[2] * c[6],       c[2] * c[3] - c[0] * c[5],
                              c[3] * c[7] - c[4] * c[6], c[1] * c[6] - c[0] * c[7]};
    for (size_t i = 0; i < 8; i++)
        m[i] = by != 0.0 ? (float)(turned[i] / by) : 0.0f;
}

/* By how much an expanded rotation is moved, so that all of it is right of 0 and below. */
static void expand_by(const mr__move *move, const float m[8], float by[2])
{
    float w = (float)move->width, h = (float)move->height;
    const float at[4][2] = {{0, 0}, {0, h}, {w, h}, {w, 0}};
    for (size_t i = 0; i < 4; i++) {
        float x = m[0] * at[i][0] + m[1] * at[i][1] + m[2], y = m[3] * at[i][0] + m[4] * at[i][1] + m[5];
        by[0] = i == 0 || x < by[0] ? x : by[0];
        by[1] = i == 0 || y < by[1] ? y : by[1];
    }
}

void mr__follow_line_up(const mr__move *move, mr__line_up *line_up)
{
    *line_up = (mr__line_up){.perspective = move->kind == MR__MOVE_PERSPECTIVE};
    if (line_up->perspective) {
        perspective_matrix(move->u.perspective.c, line_up->m);
        return;
    }
    double center[2], matrix[6];
    center_of(move, center);
    mr__follow_matrix(move, false, center, matrix);
    for (size_t i = 0; i < 6; i++)
        line_up->m[i] = (float)matrix[i];
    if (move->kind == MR__MOVE_ROTATE && move->u.rotate.expand)
        expand_by(move, line_up->m, line_up->by);
}

void mr__follow_point(const mr__line_up *it, float point[2])
{
    const float *m = it->m, x = point[0], y = point[1];
    point[0] = x * m[0] + y * m[1] + m[2];
    point[1] = x * m[3] + y * m[4] + m[5];
    if (it->perspective) {
        float by = x * m[6] + y * m[7] + 1.0f;
        point[0] /= by;
        point[1] /= by;
    }
}
