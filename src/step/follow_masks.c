// SPDX-License-Identifier: Apache-2.0
/*
 * Masks, as torchvision moves Mask: every pixel is one of the mask's, or 0.
 *
 * Crops, resizes, flips and borders take columns and rows: which ones, is kept for each column and row of the result,
 * and of neighbouring moves pixels are touched once. What turns or bends has a pass of its own.
 */
#include "step/follow_masks.h"

#include "base/size.h"
#include "kernel/grid.h"

#include <math.h>
#include <string.h>

#define NONE UINT32_MAX

static int reserve(mr__mask_run *run, mr__buffer *buffer, size_t nbytes)
{
    if (mr__buffer_reserve(buffer, run->room.hooks, nbytes) == 0)
        return 0;
    return mr__fail(run->detail, MR_ENOMEM, "a mask that follows its image: out of memory for %zu bytes", nbytes);
}

/* Columns, and behind them rows, of the result of the moves so far: which they are of run->from. */
static uint32_t *lines_of(const mr__mask_run *run, size_t number)
{
    return (uint32_t *)run->maps[number].bytes;
}

static int begin_lines(mr__mask_run *run, uint32_t width, uint32_t height)
{
    int result = reserve(run, &run->maps[0], ((size_t)width + height) * sizeof(uint32_t));
    if (result != 0)
        return result;
    uint32_t *lines = lines_of(run, 0);
    for (uint32_t i = 0; i < width; i++)
        lines[i] = i;
    for (uint32_t i = 0; i < height; i++)
        lines[width + i] = i;
    run->width = width;
    run->height = height;
    run->moved = false;
    return 0;
}

/* torch's nearest: i in / out in float, rounded down. */
static uint32_t nearest(uint32_t i, uint32_t in, uint32_t out)
{
    float at = (float)i * ((float)in / (float)out);
    uint32_t line = (uint32_t)at;
    return in == out ? i : line < in ? line : in - 1;
}

/* Where line i of a bordered side comes from, `before` lines having been put before the first of `size`. */
static uint32_t border_line(mr_border border, uint32_t i, uint32_t before, uint32_t size)
{
    if (i >= before && i - before < size)
        return i - before;
    if (border == MR_BORDER_FILL)
        return NONE;
    bool low = i < before;
    uint32_t beyond = low ? before - i - 1 : i - before - size; /* 0: next to the side */
    uint32_t back = border == MR_BORDER_EDGE ? 0 : border == MR_BORDER_REFLECT ? beyond + 1 : beyond;
    back = back < size ? back : size - 1;
    return low ? back : size - 1 - back;
}

/* Line i after a move along an axis (0: x) of this side: which line it was before. */
static uint32_t line_before(const mr__move *move, size_t axis, uint32_t i)
{
    uint32_t in = axis == 0 ? move->width : move->height, out = axis == 0 ? move->to_width : move->to_height;
    switch (move->kind) {
    case MR__MOVE_CROP:
        return i + (axis == 0 ? move->u.crop.x : move->u.crop.y);
    case MR__MOVE_RESIZE:
        return nearest(i, in, out);
    case MR__MOVE_FLIP:
        return move->u.flip[axis] ? in - 1 - i : i;
    default:
        return border_line(move->u.pad.border, i, move->u.pad.sides[axis], in);
    }
}

static int move_lines(mr__mask_run *run, const mr__move *move)
{
    int result = reserve(run, &run->maps[1], ((size_t)move->to_width + move->to_height) * sizeof(uint32_t));
    if (result != 0)
        return result;
    const uint32_t *from = lines_of(run, 0);
    uint32_t *to = lines_of(run, 1);
    for (uint32_t i = 0; i < move->to_width; i++) {
        uint32_t line = line_before(move, 0, i);
        to[i] = line < run->width ? from[line] : NONE;
    }
    for (uint32_t i = 0; i < move->to_height; i++) {
        uint32_t line = line_before(move, 1, i);
        to[move->to_width + i] = line < run->height ? from[run->width + line] : NONE;
    }
    mr__buffer old = run->maps[0];
    run->maps[0] = run->maps[1];
    run->maps[1] = old;
    run->width = move->to_width;
    run->height = move->to_height;
    run->moved = true;
    return 0;
}

static uint8_t *row_of(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

/* NULL: there is none. Most masks have a byte for each, which is no call then. */
static inline void take_pixel(uint8_t *to, const uint8_t *from, size_t nbytes)
{
    if (nbytes == 1)
        *to = from != NULL ? *from : 0;
    else if (from == NULL)
        memset(to, 0, nbytes);
    else
        memcpy(to, from, nbytes);
}

static void take_columns(const uint8_t *from, const uint32_t *columns, size_t nbytes, uint8_t *to, uint32_t n)
{
    for (uint32_t x = 0; x < n; x++)
        take_pixel(to + x * nbytes, columns[x] != NONE ? from + columns[x] * nbytes : NULL, nbytes);
}

static void take_lines(const mr__mask_run *run, const mr_image *to)
{
    const uint32_t *columns = lines_of(run, 0), *rows = columns + run->width;
    size_t nbytes = mr_image_pixel_nbytes(to), row_nbytes = nbytes * to->width;
    for (uint32_t y = 0; y < to->height; y++) {
        if (rows[y] == NONE)
            memset(row_of(to, y), 0, row_nbytes);
        else if (y > 0 && rows[y] == rows[y - 1])
            memcpy(row_of(to, y), row_of(to, y - 1), row_nbytes);
        else
            take_columns(row_of(&run->from, rows[y]), columns, nbytes, row_of(to, y), to->width);
    }
}

/* Memory for an image of this size that run->from is not in. */
static int make_room(mr__mask_run *run, uint32_t width, uint32_t height, mr_image *image)
{
    size_t nbytes, pixel_nbytes = mr_image_pixel_nbytes(&run->from);
    mr__buffer *buffer = &run->pixels[run->from.pixels == run->pixels[0].bytes ? 1 : 0];
    *image = (mr_image){width, height, run->from.channels, run->from.depth, (ptrdiff_t)(width * pixel_nbytes), NULL};
    if (!mr__size_mul((size_t)width * pixel_nbytes, height, &nbytes))
        return mr__fail(run->detail, MR_ELIMIT, "a mask of %u x %u is too large", width, height);
    int result = reserve(run, buffer, nbytes);
    image->pixels = buffer->bytes;
    return result;
}

/* Does the moves that stand in lines. */
static int settle_lines(mr__mask_run *run)
{
    mr_image made;
    if (!run->moved)
        return 0;
    int result = make_room(run, run->width, run->height, &made);
    if (result != 0)
        return result;
    take_lines(run, &made);
    run->from = made;
    return begin_lines(run, made.width, made.height);
}

/* Pillow's and torchvision's short cut: turned by quarters, counterclockwise; 4: by no such angle. */
static uint32_t quarters_of(const mr__move *move)
{
    double degrees = fmod(move->u.rotate.degrees, 360.0);
    degrees = degrees < 0.0 ? degrees + 360.0 : degrees;
    if (move->u.rotate.has_center)
        return 4;
    if (degrees == 0.0 || degrees == 180.0)
        return degrees == 0.0 ? 0 : 2;
    if (!move->u.rotate.expand && move->width != move->height)
        return 4;
    return degrees == 90.0 ? 1 : degrees == 270.0 ? 3 : 4;
}

static void turn_quarters(const mr_image *from, uint32_t quarters, const mr_image *to)
{
    size_t nbytes = mr_image_pixel_nbytes(to);
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            uint32_t at_x = quarters == 1 ? from->width - 1 - y : quarters == 2 ? from->width - 1 - x : y;
            uint32_t at_y = quarters == 1 ? x : quarters == 2 ? from->height - 1 - y : from->height - 1 - x;
            memcpy(row_of(to, y) + x * nbytes, row_of(from, at_y) + at_x * nbytes, nbytes);
        }
}

/* torchvision's grids for tensors: an affine one is seen from the middle of the image. */
static void affine_grid(const mr__move *move, mr__grid *grid)
{
    bool affine = move->kind == MR__MOVE_AFFINE;
    const double *given = affine ? move->u.affine.center : move->u.rotate.center;
    bool has_center = affine ? move->u.affine.has_center : move->u.rotate.has_center;
    double center[2] = {has_center ? given[0] - (double)move->width * 0.5 : 0.0,
                        has_center ? given[1] - (double)move->height * 0.5 : 0.0};
    double matrix[6];
    mr__move turned = *move;
    if (!affine) {
        double degrees = fmod(move->u.rotate.degrees, 360.0);
        turned.u.rotate.degrees = degrees < 0.0 ? degrees + 360.0 : degrees;
    }
    mr__follow_matrix(&turned, true, center, matrix);
    for (size_t i = 0; i < 6; i++)
        grid->m[i] = (float)matrix[i] / (i < 3 ? grid->half_width : grid->half_height);
}

static void perspective_grid(const mr__move *move, mr__grid *grid)
{
    for (size_t i = 0; i < 8; i++) {
        float by = i < 3 ? grid->half_width : i < 6 ? grid->half_height : 1.0f;
        grid->m[i] = (float)move->u.perspective.c[i] / by;
    }
}

static void take_grid(const mr_image *from, const mr__grid *grid, bool perspective, const mr_image *to)
{
    size_t nbytes = mr_image_pixel_nbytes(to);
    float x0 = perspective ? 0.5f : (float)((1.0 - to->width) * 0.5);
    float y0 = perspective ? 0.5f : (float)((1.0 - to->height) * 0.5);
    for (uint32_t y = 0; y < to->height; y++) {
        uint8_t *row = row_of(to, y);
        for (uint32_t x = 0; x < to->width; x++, row += nbytes) {
            int32_t at[2];
            if (perspective)
                mr__grid_perspective(grid, x0 + (float)x, y0 + (float)y, at);
            else
                mr__grid_affine(grid, x0 + (float)x, y0 + (float)y, at);
            bool inside = at[0] >= 0 && at[1] >= 0;
            take_pixel(row, inside ? row_of(from, (uint32_t)at[1]) + (size_t)at[0] * nbytes : NULL, nbytes);
        }
    }
}

static void warp(const mr_image *from, const mr__move *move, const mr_image *to)
{
    mr__grid grid = {.half_width = (float)(0.5 * move->width),
                     .half_height = (float)(0.5 * move->height),
                     .width = (int32_t)move->width,
                     .height = (int32_t)move->height};
    uint32_t quarters = move->kind == MR__MOVE_ROTATE ? quarters_of(move) : 4;
    if (quarters != 4) {
        turn_quarters(from, quarters, to);
        return;
    }
    if (move->kind == MR__MOVE_PERSPECTIVE)
        perspective_grid(move, &grid);
    else
        affine_grid(move, &grid);
    take_grid(from, &grid, move->kind == MR__MOVE_PERSPECTIVE, to);
}

/* Straight into the result when nothing comes after it. */
static int do_warp(mr__mask_run *run, const mr__move *move, bool is_last)
{
    mr_image made = run->to;
    if (move->kind == MR__MOVE_ROTATE && quarters_of(move) == 0)
        return 0;
    int result = settle_lines(run);
    if (result == 0 && !is_last)
        result = make_room(run, move->to_width, move->to_height, &made);
    if (result != 0)
        return result;
    if (move->kind == MR__MOVE_ELASTIC)
        result = mr__follow_bend_mask(run, move, &made);
    else
        warp(&run->from, move, &made);
    if (result != 0)
        return result;
    run->from = made;
    return begin_lines(run, made.width, made.height);
}

static bool is_warp(const mr__move *move)
{
    return move->kind == MR__MOVE_AFFINE || move->kind == MR__MOVE_ROTATE || move->kind == MR__MOVE_PERSPECTIVE ||
           move->kind == MR__MOVE_ELASTIC;
}

static bool is_still(const mr__move *move)
{
    return move->kind == MR__MOVE_SANITIZE || move->kind == MR__MOVE_MIDDLES;
}

int mr__follow_mask(mr__mask_run *run, const mr__move *moves, size_t count)
{
    int result = begin_lines(run, run->from.width, run->from.height);
    while (count > 0 && is_still(&moves[count - 1]))
        count--;
    for (size_t i = 0; i < count && result == 0; i++)
        if (is_warp(&moves[i]))
            result = do_warp(run, &moves[i], i == count - 1);
        else if (!is_still(&moves[i]))
            result = move_lines(run, &moves[i]);
    if (result == 0 && run->from.pixels != run->to.pixels)
        take_lines(run, &run->to);
    return result;
}
