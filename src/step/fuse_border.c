// SPDX-License-Identifier: Apache-2.0
/*
 * Borders are made of finished numbers: to finish is to look at one pixel at a time, so that a copy of a pixel can be
 * taken after it as well as before.
 */
#include "step/fuse.h"

#include <string.h>

mr__canvas_steps mr__canvas_steps_of(const mr__canvas *canvas)
{
    const mr__finisher *f = canvas->finisher;
    bool planes = f->layout == MR_NCHW;
    mr__canvas_steps s = {.pixel = planes ? f->number_nbytes : f->number_nbytes * f->channels};
    s.row = s.pixel * canvas->width;
    s.plane = planes ? s.row * canvas->height : 0;
    s.planes = planes ? f->channels : 1;
    return s;
}

/* `count` times the same few bytes. Borders at the sides are a few pixels wide, and their numbers mostly float. */
static void repeat(uint8_t *to, const uint8_t *pixel, size_t nbytes, size_t count)
{
    size_t end = nbytes * count, done = nbytes;
    if (count == 0)
        return;
    if (nbytes == 4) {
        for (size_t at = 0; at < end; at += 4)
            memcpy(to + at, pixel, 4);
        return;
    }
    memcpy(to, pixel, nbytes);
    for (; done < end; done *= 2)
        memcpy(to + done, to, done < end - done ? done : end - done);
}

/* One pixel of this color, finished: its planes one behind the other. */
static void finish_color(const mr__finisher *f, const uint8_t color[4], uint8_t to[16])
{
    uint16_t wide[4];
    for (size_t c = 0; c < 4; c++)
        wide[c] = (uint16_t)(color[c] * 257u);
    f->run(f, f->depth == 16 ? (const void *)wide : color, 1, false, to, f->number_nbytes);
}

void mr__fuse_fill(const mr__canvas *canvas, const uint8_t color[4])
{
    mr__canvas_steps s = mr__canvas_steps_of(canvas);
    uint8_t pixel[16];
    finish_color(canvas->finisher, color, pixel);
    for (uint32_t p = 0; p < s.planes; p++)
        repeat(canvas->bytes + p * s.plane, pixel + p * s.pixel, s.pixel, (size_t)canvas->width * canvas->height);
}

static void fill_around(const mr__pass *pass, uint8_t *plane, const mr__canvas_steps *s, const uint8_t *pixel)
{
    size_t width = pass->canvas_width, right = pass->x + pass->window.width, below = pass->y + pass->window.height;
    repeat(plane, pixel, s->pixel, pass->y * width);
    for (size_t y = pass->y; y < below; y++) {
        repeat(plane + y * s->row, pixel, s->pixel, pass->x);
        repeat(plane + y * s->row + right * s->pixel, pixel, s->pixel, width - right);
    }
    repeat(plane + below * s->row, pixel, s->pixel, (pass->canvas_height - below) * width);
}

/* The place in a row of `n` that stands for place `i` outside of it: as numpy's pad has it. */
static size_t stand_in(mr_border border, int64_t i, uint32_t n)
{
    if (border == MR_BORDER_EDGE || n == 1)
        return i < 0 ? 0 : i < n ? (size_t)i : n - 1;
    int64_t turn = border == MR_BORDER_REFLECT ? 2 * ((int64_t)n - 1) : 2 * (int64_t)n;
    int64_t at = (i % turn + turn) % turn;
    if (at < n)
        return (size_t)at;
    return (size_t)(border == MR_BORDER_REFLECT ? turn - at : turn - 1 - at);
}

static void mirror_around(const mr__pass *pass, uint8_t *plane, const mr__canvas_steps *s)
{
    uint32_t left = pass->x, top = pass->y, width = pass->window.width, height = pass->window.height;
    for (size_t y = top; y < (size_t)top + height; y++)
        for (size_t x = 0; x < pass->canvas_width; x++) {
            if (x == left)
                x += width;
            if (x == pass->canvas_width)
                break;
            size_t from = left + stand_in(pass->border, (int64_t)x - left, width);
            memcpy(plane + y * s->row + x * s->pixel, plane + y * s->row + from * s->pixel, s->pixel);
        }
    for (size_t y = 0; y < pass->canvas_height; y++) {
        size_t from = top + stand_in(pass->border, (int64_t)y - top, height);
        if (from != y)
            memcpy(plane + y * s->row, plane + from * s->row, s->row);
    }
}

void mr__fuse_border(const mr__pass *pass, const mr__canvas *canvas)
{
    mr__canvas_steps s = mr__canvas_steps_of(canvas);
    uint8_t pixel[16];
    if (pass->window.width == pass->canvas_width && pass->window.height == pass->canvas_height)
        return;
    finish_color(canvas->finisher, pass->fill, pixel);
    for (uint32_t p = 0; p < s.planes; p++) {
        if (pass->border == MR_BORDER_FILL)
            fill_around(pass, canvas->bytes + p * s.plane, &s, pixel + p * s.pixel);
        else
            mirror_around(pass, canvas->bytes + p * s.plane, &s);
    }
}
