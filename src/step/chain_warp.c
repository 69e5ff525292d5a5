// SPDX-License-Identifier: Apache-2.0
/*
 * From what is to be done to an image (turned, sheared, seen from aside) to the coefficients that Pillow is given for
 * it by torchvision, one operation after the other as there: a difference in the last place is another pixel somewhere.
 */
#include "step/follow.h"
#include "step/real.h"

#include <math.h>
#include <string.h>

static int add_warp(mr__chain *chain, const mr__warp *warp, mr__move *move, mr__detail *detail)
{
    mr__op op = {.kind = MR__OP_WARP, .to_width = move->to_width, .to_height = move->to_height};
    op.u.warp = *warp;
    int result = mr__chain_op(chain, op, detail);
    return result != 0 ? result : mr__follow_note(chain->follow, move, detail);
}

/* Of which every sampling gives the image itself. */
static bool is_identity(const double c[8])
{
    return c[0] == 1.0 && c[1] == 0.0 && c[2] == 0.0 && c[3] == 0.0 && c[4] == 1.0 && c[5] == 0.0;
}

/* Turned, scaled, sheared, moved around a center; then backwards. The part without scale has a determinant of 1. */
static void affine_coefficients(const mr__affine *affine, double cx, double cy, double c[8])
{
    double turn = mr__real_radians(affine->degrees);
    double sx = mr__real_radians(affine->shear[0]), sy = mr__real_radians(affine->shear[1]);
    double shrunk = mr__real_cos(sy), tangent = mr__real_tan(sx);
    double x = cx + affine->translate[0], y = cy + affine->translate[1];
    double m0 = mr__real_cos(turn - sy) / shrunk, m1 = -(m0 * tangent + mr__real_sin(turn));
    double m2 = mr__real_sin(turn - sy) / shrunk, m3 = mr__real_cos(turn) - m2 * tangent;
    c[0] = m3 / affine->scale;
    c[1] = -m1 / affine->scale;
    c[3] = -m2 / affine->scale;
    c[4] = m0 / affine->scale;
    c[2] = cx - c[0] * x - c[1] * y;
    c[5] = cy - c[3] * x - c[4] * y;
}

int mr__chain_affine(mr__chain *chain, const mr__affine *affine, mr_sampling sampling, const uint8_t fill[4],
                     mr__detail *detail)
{
    mr__move move = {.kind = MR__MOVE_AFFINE, .u.affine = *affine};
    mr__warp warp = {.sampling = sampling};
    mr__chain_size(chain, &move.width, &move.height);
    move.to_width = move.width;
    move.to_height = move.height;
    double cx = affine->has_center ? affine->center[0] : move.width * 0.5;
    double cy = affine->has_center ? affine->center[1] : move.height * 0.5;
    affine_coefficients(affine, cx, cy, warp.c);
    memcpy(warp.fill, fill, sizeof warp.fill);
    return is_identity(warp.c) ? 0 : add_warp(chain, &warp, &move, detail);
}

/* From 0 to 360, as Python's %. */
static double degrees_of_circle(double degrees)
{
    double rest = fmod(degrees, 360.0);
    return rest < 0.0 ? rest + 360.0 : rest;
}

/* How many quarters of a turn it is, by which Pillow transposes; 4: it is something else. */
static uint32_t quarters_of(double degrees, bool expand, uint32_t width, uint32_t height)
{
    if (degrees == 0.0 || degrees == 180.0)
        return degrees == 0.0 ? 0 : 2;
    if ((degrees == 90.0 || degrees == 270.0) && (expand || width == height))
        return degrees == 90.0 ? 1 : 3;
    return 4;
}

static void rotate_coefficients(double degrees, double cx, double cy, double c[8])
{
    double angle = -mr__real_radians(degrees), cosine = mr__real_cos(angle), sine = mr__real_sin(angle);
    c[0] = c[4] = mr__real_round_15(cosine);
    c[1] = mr__real_round_15(sine);
    c[3] = mr__real_round_15(-sine);
    c[2] = c[0] * -cx + c[1] * -cy;
    c[5] = c[3] * -cx + c[4] * -cy;
    c[2] += cx;
    c[5] += cy;
}

/* Along one axis: the side that has all corners, by a row of the coefficients. */
static double expanded_side(const double *c, double width, double height)
{
    const double at[4] = {c[2], c[0] * width + c[2], c[0] * width + c[1] * height + c[2], c[1] * height + c[2]};
    double low = at[0], high = at[0];
    for (size_t i = 1; i < 4; i++) {
        low = at[i] < low ? at[i] : low;
        high = at[i] > high ? at[i] : high;
    }
    return ceil(high) - floor(low);
}

/* To a size that has all of it; around its middle. */
static int expand_rotated(mr__move *move, double c[8], mr__detail *detail)
{
    double width = expanded_side(c, move->width, move->height),
           height = expanded_side(c + 3, move->width, move->height);
    if (!(width >= 1.0 && height >= 1.0 && width <= MR_RECIPE_SIDE_MAX && height <= MR_RECIPE_SIDE_MAX))
        return mr__fail(detail, MR_ELIMIT, "%u x %u pixels, turned and expanded, are %.0f x %.0f: sides are 1 to %d",
                        move->width, move->height, width, height, MR_RECIPE_SIDE_MAX);
    double x = -(width - move->width) / 2.0, y = -(height - move->height) / 2.0;
    c[2] = c[0] * x + c[1] * y + c[2];
    c[5] = c[3] * x + c[4] * y + c[5];
    move->to_width = (uint32_t)width;
    move->to_height = (uint32_t)height;
    return 0;
}

int mr__chain_rotate(mr__chain *chain, double degrees, bool expand, const double *center, mr_sampling sampling,
                     const uint8_t fill[4], mr__detail *detail)
{
    mr__move move = {.kind = MR__MOVE_ROTATE, .u.rotate = {.degrees = degrees, .expand = expand}};
    mr__warp warp = {.sampling = sampling};
    mr__chain_size(chain, &move.width, &move.height);
    move.to_width = move.width;
    move.to_height = move.height;
    double cx = center != NULL ? center[0] : move.width / 2.0, cy = center != NULL ? center[1] : move.height / 2.0;
    degrees = degrees_of_circle(degrees);
    memcpy(warp.fill, fill, sizeof warp.fill);
    if (center != NULL) {
        move.u.rotate.has_center = true;
        move.u.rotate.center[0] = cx;
        move.u.rotate.center[1] = cy;
    }
    uint32_t quarters = center != NULL ? 4 : quarters_of(degrees, expand, move.width, move.height);
    if (quarters == 0)
        return 0;
    if (quarters < 4) {
        move.to_width = quarters % 2 == 1 ? move.height : move.width;
        move.to_height = quarters % 2 == 1 ? move.width : move.height;
        int turned = mr__chain_turn(chain, quarters, detail);
        return turned != 0 ? turned : mr__follow_note(chain->follow, &move, detail);
    }
    rotate_coefficients(degrees, cx, cy, warp.c);
    int result = expand ? expand_rotated(&move, warp.c, detail) : 0;
    if (result != 0 || (is_identity(warp.c) && move.to_width == move.width && move.to_height == move.height))
        return result;
    return add_warp(chain, &warp, &move, detail);
}

enum { UNKNOWNS = 8 };

/* Two rows for a corner that came from x, y and went to u, v: the place u, v of the result is to give x, y. */
static void fill_equations(double rows[2][UNKNOWNS + 1], double x, double y, double u, double v)
{
    const double along[UNKNOWNS + 1] = {u, v, 1.0, 0.0, 0.0, 0.0, -x * u, -x * v, x};
    const double down[UNKNOWNS + 1] = {0.0, 0.0, 0.0, u, v, 1.0, -y * u, -y * v, y};
    memcpy(rows[0], along, sizeof along);
    memcpy(rows[1], down, sizeof down);
}

/* Brings the largest number of a column from the diagonal on to the diagonal; false: there is none. */
static bool find_pivot(double m[UNKNOWNS][UNKNOWNS + 1], size_t column)
{
    size_t best = column;
    for (size_t i = column + 1; i < UNKNOWNS; i++)
        if (fabs(m[i][column]) > fabs(m[best][column]))
            best = i;
    for (size_t j = 0; best != column && j <= UNKNOWNS; j++) {
        double kept = m[column][j];
        m[column][j] = m[best][j];
        m[best][j] = kept;
    }
    return fabs(m[column][column]) > 1e-9;
}

static bool solve(double m[UNKNOWNS][UNKNOWNS + 1], double result[UNKNOWNS])
{
    for (size_t k = 0; k < UNKNOWNS; k++) {
        if (!find_pivot(m, k))
            return false;
        for (size_t i = k + 1; i < UNKNOWNS; i++) {
            double factor = m[i][k] / m[k][k];
            for (size_t j = k; j <= UNKNOWNS; j++)
                m[i][j] -= factor * m[k][j];
        }
    }
    for (size_t k = UNKNOWNS; k-- > 0;) {
        double sum = m[k][UNKNOWNS];
        for (size_t j = k + 1; j < UNKNOWNS; j++)
            sum -= m[k][j] * result[j];
        result[k] = sum / m[k][k];
    }
    return true;
}

/*
 * Four corners, two equations each. Solved with sides of 1, so that the numbers are of one size; torchvision solves
 * with pixels, which differs by less than the float that its solution is rounded to.
 */
static bool perspective_coefficients(const mr__move *move, const int32_t corners[4][2], double c[8])
{
    double width = (double)move->width - 1.0, height = (double)move->height - 1.0;
    double m[UNKNOWNS][UNKNOWNS + 1], s[UNKNOWNS];
    if (move->width < 2 || move->height < 2)
        return false;
    for (size_t i = 0; i < 4; i++)
        fill_equations(m + 2 * i, i == 1 || i == 2 ? 1.0 : 0.0, i >= 2 ? 1.0 : 0.0, corners[i][0] / width,
                       corners[i][1] / height);
    if (!solve(m, s))
        return false;
    const double scaled[8] = {s[0], s[1] * width / height, s[2] * width, s[3] * height / width,
                              s[4], s[5] * height,         s[6] / width, s[7] / height};
    for (size_t i = 0; i < 8; i++)
        c[i] = (double)(float)scaled[i];
    return true;
}

/* Corners that are where they were, and corners of which three lie on a line (torchvision fails), leave it as it is. */
int mr__chain_perspective(mr__chain *chain, const int32_t corners[4][2], mr_sampling sampling, const uint8_t fill[4],
                          mr__detail *detail)
{
    mr__move move = {.kind = MR__MOVE_PERSPECTIVE};
    mr__warp warp = {.sampling = sampling, .perspective = true};
    mr__chain_size(chain, &move.width, &move.height);
    move.to_width = move.width;
    move.to_height = move.height;
    if (!perspective_coefficients(&move, corners, warp.c))
        return 0;
    if (is_identity(warp.c) && warp.c[6] == 0.0 && warp.c[7] == 0.0)
        return 0;
    memcpy(warp.fill, fill, sizeof warp.fill);
    memcpy(move.u.perspective.c, warp.c, sizeof warp.c);
    memcpy(move.u.perspective.corners, corners, sizeof move.u.perspective.corners);
    return add_warp(chain, &warp, &move, detail);
}
