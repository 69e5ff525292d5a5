// SPDX-License-Identifier: Apache-2.0
/*
 * Rotated boxes, as torchvision moves BoundingBoxes of format XYXYXYXY, cut to the image by its soft clamping: to the
 * smallest box of the same angle that encloses what the image has of it.
 *
 * All of it is in float and in torchvision's order of operations: where a side is nearly upright, slopes are so large
 * that another order would give other boxes.
 */
#include "step/follow.h"
#include "step/real.h"

#include <math.h>
#include <string.h>

#define PI   3.14159265358979323846
#define PI_F ((float)PI)

static float cos_of(float angle)
{
    return (float)mr__real_cos((double)angle);
}

static float sin_of(float angle)
{
    return (float)mr__real_sin((double)angle);
}

/* The angle of a direction, from -pi to pi; 0 where there is none. */
static float angle_of(float y, float x)
{
    double high = fabs((double)y), wide = fabs((double)x);
    if (high == 0.0 && wide == 0.0)
        return 0.0f;
    double angle = high > wide ? 0.5 * PI - mr__real_atan(wide / high) : mr__real_atan(high / wide);
    angle = x < 0.0f ? PI - angle : angle;
    return (float)(y < 0.0f ? -angle : angle);
}

/* An annotation may say any number of degrees. */
static float radians_of(float degrees)
{
    degrees = fabsf(degrees) < 50000.0f ? degrees : fmodf(degrees, 360.0f);
    return degrees * PI_F / 180.0f;
}

void mr__corners_of_rotated(const float rotated[5], float corners[8])
{
    float angle = radians_of(rotated[4]), cos = cos_of(angle), sin = sin_of(angle);
    float w = rotated[2], h = rotated[3], half_w = fabsf(w / 2.0f), half_h = fabsf(h / 2.0f);
    float x = rotated[0] - half_w * cos - half_h * sin, y = rotated[1] + half_w * sin - half_h * cos;
    const float made[8] = {
        x, y, x + w * cos, y - w * sin, x + (w * cos + h * sin), y - (w * sin - h * cos), x + h * sin, y + h * cos};
    memcpy(corners, made, sizeof made);
}

void mr__rotated_of_corners(const float c[8], float rotated[5])
{
    float angle = angle_of(c[1] - c[3], c[2] - c[0]);
    float a = c[2] - c[0], b = c[3] - c[1], d = c[4] - c[2], e = c[5] - c[3];
    float w = sqrtf(a * a + b * b), h = sqrtf(d * d + e * e);
    rotated[2] = w;
    rotated[3] = h;
    rotated[4] = angle / PI_F * 180.0f;
    angle = radians_of(rotated[4]);
    rotated[0] = c[0] + w / 2.0f * cos_of(angle) + h / 2.0f * sin_of(angle);
    rotated[1] = c[1] - w / 2.0f * sin_of(angle) + h / 2.0f * cos_of(angle);
}

void mr__corners_box(const float corners[8], uint32_t width, uint32_t height, float box[4])
{
    const float most[2] = {(float)width, (float)height};
    for (size_t k = 0; k < 2; k++) {
        float low = corners[k], high = corners[k];
        for (size_t i = 2 + k; i < 8; i += 2) {
            low = corners[i] < low ? corners[i] : low;
            high = corners[i] > high ? corners[i] : high;
        }
        box[k] = low < 0.0f ? 0.0f : low > most[k] ? most[k] : low;
        box[k + 2] = high < 0.0f ? 0.0f : high > most[k] ? most[k] : high;
    }
}

/* A parallelogram becomes a rectangle with the same longer diagonal. */
static void square_up(float c[8])
{
    float x = (c[0] + c[4]) / 2.0f, y = (c[1] + c[5]) / 2.0f;
    float ax = c[2] - c[0], ay = c[3] - c[1], bx = c[6] - c[0], by = c[7] - c[1];
    float a = sqrtf(ax * ax + ay * ay), b = sqrtf(bx * bx + by * by);
    float turn_a = angle_of(-ay, ax), turn_b = angle_of(-by, bx);
    float between = turn_a - turn_b, sign = between > PI_F / 2.0f ? -1.0f : 1.0f;
    float cos = cos_of(between), sin = sin_of(between);
    float w = a < b ? a * sin : a + b * cos * sign, h = a > b ? b * sin : b + a * cos * sign;
    float turn = b > a ? turn_b + PI_F / 2.0f : turn_a;
    float wc = w / 2.0f * cos_of(turn), ws = w / 2.0f * sin_of(turn);
    float hc = h / 2.0f * cos_of(turn), hs = h / 2.0f * sin_of(turn);
    const float made[8] = {x - wc - hs, y - hc + ws, x + wc - hs, y - hc - ws,
                           x + wc + hs, y + hc - ws, x - wc + hs, y + hc + ws};
    memcpy(c, made, sizeof made);
}

/* torch's isclose with its default tolerances. */
static bool is_close(float a, float b)
{
    float apart = fabsf(a - b);
    return a == b || (isfinite(apart) && apart <= 1e-8f + fabsf(1e-5f * b));
}

/* torch's clamp: what is no number stays so. */
static float clamp(float value, float low, float high)
{
    if (isnan(value) || isnan(low) || isnan(high))
        return NAN;
    value = value > low ? value : low;
    return value < high ? value : high;
}

/* The corner that lies furthest to the left; of two, the upper one. */
static size_t leftmost(const float c[8])
{
    float x_max = 0.0f, y_max = 0.0f, least = 0.0f;
    size_t at = 0;
    for (size_t i = 0; i < 4; i++) {
        x_max = fabsf(c[2 * i]) > x_max ? fabsf(c[2 * i]) : x_max;
        y_max = fabsf(c[2 * i + 1]) > y_max ? fabsf(c[2 * i + 1]) : y_max;
    }
    for (size_t i = 0; i < 4; i++) {
        float rank = c[2 * i + 1] / y_max + c[2 * i] / x_max * 100.0f;
        if (isnan(rank))
            return i;
        if (i == 0 || rank < least) {
            least = rank;
            at = i;
        }
    }
    return at;
}

/* Corner `first` becomes the first one. */
static void begin_with(float c[8], size_t first)
{
    float old[8];
    memcpy(old, c, sizeof old);
    for (size_t i = 0; i < 8; i++)
        c[i] = old[(2 * first + i) % 8];
}

/* The lines through neighbouring corners, y = a x + b. */
static void lines_of(const float c[8], float a[4], float b[4])
{
    for (size_t i = 0; i < 4; i++) {
        size_t next = (i + 1) % 4;
        a[i] = (c[2 * next + 1] - c[2 * i + 1]) / (c[2 * next] - c[2 * i]);
        b[i] = c[2 * i + 1] - a[i] * c[2 * i];
    }
}

/* Lines that meet where those of a box leave the image at its left side. False: they do not. */
static bool cut_lines(const float c[8], const float original[8], float height, float made[8])
{
    float a[4], b[4], unused[4], m[4];
    lines_of(c, a, b);
    lines_of(original, unused, m);
    b[0] = clamp(clamp(b[1], b[0], b[2]), 0.0f, height);
    b[3] = clamp(clamp(b[2], b[1], b[3]), 0.0f, height);
    for (size_t i = 0; i < 4; i++)
        b[i] = clamp(b[i], m[i % 2], m[i % 2 + 2]);
    for (size_t i = 0; i < 4; i++) {
        size_t before = (i + 3) % 4;
        made[2 * i] = -(b[i] - b[before]) / (a[i] - a[before]);
        made[2 * i + 1] = a[i] * made[2 * i] + b[i];
        if (isnan(made[2 * i]) || isnan(made[2 * i + 1]))
            return false;
    }
    return true;
}

/* Cuts at the left side of the image. The first corner is the leftmost. */
static void cut_left(float c[8], const float original[8], float height)
{
    float made[8];
    bool upright = is_close(c[1], c[3]) || is_close(c[5], c[7]);
    bool nothing = c[0] <= 0.0f && c[2] <= 0.0f && c[4] <= 0.0f && c[6] <= 0.0f;
    if (nothing || is_close(c[1], c[7]) || is_close(c[3], c[5]) || (upright && is_close(c[0], c[2]))) {
        memset(c, 0, 8 * sizeof *c);
    } else if (upright) {
        c[0] = c[0] < 0.0f ? 0.0f : c[0];
        c[6] = c[6] < 0.0f ? 0.0f : c[6];
    } else if (c[0] < 0.0f && cut_lines(c, original, height, made)) {
        memcpy(c, made, sizeof made);
    }
}

static void turn_frame(float c[8], float width)
{
    for (size_t i = 0; i < 8; i += 2) {
        float x = c[i];
        c[i] = c[i + 1];
        c[i + 1] = width - x;
    }
}

/* Side after side, each turned to the left. That corners are put back by going on in the same direction, so that some
 * end up opposite of where they were, is torchvision's way. */
static void cut_corners(float c[8], uint32_t width, uint32_t height)
{
    float original[8], side[2] = {(float)width, (float)height};
    memcpy(original, c, sizeof original);
    for (size_t i = 0; i < 4; i++) {
        size_t first = leftmost(c);
        begin_with(c, first);
        begin_with(original, first);
        cut_left(c, original, side[(i + 1) % 2]);
        begin_with(c, first);
        begin_with(original, first);
        turn_frame(c, side[i % 2]);
        turn_frame(original, side[i % 2]);
    }
}

static void shift(float c[8], float x, float y)
{
    for (size_t i = 0; i < 8; i++)
        c[i] += i % 2 == 0 ? x : y;
}

/* The second corner is the first one of a mirror image. */
static void flip(float c[8], size_t axis, float side)
{
    float old[8];
    for (size_t i = axis; i < 8; i += 2)
        c[i] = side - c[i];
    memcpy(old, c, sizeof old);
    for (size_t i = 0; i < 8; i++)
        c[i] = old[i ^ 2];
}

static void warp(const mr__move *move, float c[8])
{
    mr__line_up line_up;
    mr__follow_line_up(move, &line_up);
    for (size_t i = 0; i < 8; i += 2)
        mr__follow_point(&line_up, c + i);
    square_up(c);
    shift(c, -line_up.by[0], -line_up.by[1]);
    cut_corners(c, move->to_width, move->to_height);
}

void mr__corners_middle(const float c[8], float middle[2])
{
    float rotated[5];
    mr__rotated_of_corners(c, rotated);
    middle[0] = ceilf(rotated[0]);
    middle[1] = ceilf(rotated[1]);
}

void mr__corners_bend(const mr__move *move, const float middle[2], float c[8])
{
    float rotated[5];
    mr__rotated_of_corners(c, rotated);
    rotated[0] = middle[0];
    rotated[1] = middle[1];
    mr__corners_of_rotated(rotated, c);
    cut_corners(c, move->to_width, move->to_height);
}

void mr__follow_corners(const mr__move *move, mr__place *place)
{
    float *c = place->corners;
    switch (move->kind) {
    case MR__MOVE_CROP:
        shift(c, -(float)move->u.crop.x, -(float)move->u.crop.y);
        square_up(c);
        cut_corners(c, move->to_width, move->to_height);
        break;
    case MR__MOVE_RESIZE:
        for (size_t i = 0; i < 8; i++)
            c[i] *= i % 2 == 0 ? (float)((double)move->to_width / move->width)
                               : (float)((double)move->to_height / move->height);
        square_up(c);
        cut_corners(c, move->to_width, move->to_height);
        break;
    case MR__MOVE_FLIP:
        if (move->u.flip[0])
            flip(c, 0, (float)move->width);
        if (move->u.flip[1])
            flip(c, 1, (float)move->height);
        break;
    case MR__MOVE_PAD:
        shift(c, (float)move->u.pad.sides[0], (float)move->u.pad.sides[1]);
        cut_corners(c, move->to_width, move->to_height);
        break;
    case MR__MOVE_AFFINE:
    case MR__MOVE_ROTATE:
    case MR__MOVE_PERSPECTIVE:
        warp(move, c);
        break;
    default:
        break;
    }
}
