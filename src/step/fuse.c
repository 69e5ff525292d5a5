// SPDX-License-Identifier: Apache-2.0
#include "step/fuse.h"

#include "base/size.h"
#include "step/resize.h"

void mr__fuser_init(mr__fuser *fuser, const mr_hooks *hooks, mr__cpu_flags cpu)
{
    fuser->hooks = hooks;
    fuser->work = fuser->premultiplied = (mr__buffer){NULL, 0};
    mr__resample_init(&fuser->kernels, cpu);
    mr__axis_cache_init(&fuser->axes, hooks, &fuser->kernels);
}

void mr__fuser_fini(mr__fuser *fuser)
{
    mr__axis_cache_trim(&fuser->axes);
    mr__buffer_fini(&fuser->work, fuser->hooks);
    mr__buffer_fini(&fuser->premultiplied, fuser->hooks);
}

/* Who takes the rows of a window: they are finished, flipped and placed. */
typedef struct placing {
    const mr__finisher *finisher;
    mr__resample_alpha *unpremultiply; /* NULL: there is nothing to be undone */
    uint8_t *first;                    /* where row 0 goes */
    ptrdiff_t step;                    /* to the next one */
    size_t plane;
    uint32_t width;
    bool flip;
} placing;

static placing placing_of(const mr__pass *pass, const mr__canvas *canvas)
{
    mr__canvas_steps s = mr__canvas_steps_of(canvas);
    placing p = {.finisher = canvas->finisher, .plane = s.plane, .width = pass->window.width, .flip = pass->flip_x};
    p.first = canvas->bytes + pass->y * s.row + pass->x * s.pixel;
    p.step = (ptrdiff_t)s.row;
    if (pass->flip_y) {
        p.first += (pass->window.height - 1) * s.row;
        p.step = -p.step;
    }
    return p;
}

static void place_row(const placing *p, uint32_t y, const uint8_t *row)
{
    p->finisher->run(p->finisher, row, p->width, p->flip, p->first + (ptrdiff_t)y * p->step, p->plane);
}

static void take_row(void *taker, uint32_t y, uint8_t *row)
{
    const placing *p = taker;
    if (p->unpremultiply != NULL)
        p->unpremultiply(row, p->finisher->channels, row, p->width);
    place_row(p, y, row);
}

mr__resample_side mr__pass_side(const mr__pass *pass, uint32_t depth, mr_rect region, bool x)
{
    if (x)
        return (mr__resample_side){pass->crop.width,   pass->to_width,          pass->filter, depth, pass->window.x,
                                   pass->window.width, region.x - pass->crop.x, region.width};
    return (mr__resample_side){pass->crop.height,   pass->to_height,         pass->filter, depth, pass->window.y,
                               pass->window.height, region.y - pass->crop.y, region.height};
}

/* Columns and rows of the part that the window has where a side is not resized. */
static int crop_part(const mr__pass *pass, mr_rect region, const mr_image *part, mr_image *out)
{
    mr_rect r = {0, 0, region.width, region.height};
    if (pass->crop.width == pass->to_width) {
        r.x = pass->crop.x + pass->window.x - region.x;
        r.width = pass->window.width;
    }
    if (pass->crop.height == pass->to_height) {
        r.y = pass->crop.y + pass->window.y - region.y;
        r.height = pass->window.height;
    }
    return mr_image_crop(part, r, out);
}

static const uint8_t *row_at(const mr_image *image, size_t y)
{
    return (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

static int fail_memory(mr__detail *detail)
{
    return mr__fail(detail, MR_ENOMEM, "out of memory: there was too little to augment an image");
}

static int take_nearest(mr__fuser *fuser, const mr__pass *pass, mr_rect region, const mr_image *part, const placing *p,
                        mr__detail *detail)
{
    size_t pixel = mr_image_pixel_nbytes(part), width = pass->window.width, height = pass->window.height;
    mr__resample_side x = mr__pass_side(pass, part->depth, region, true),
                      y = mr__pass_side(pass, part->depth, region, false);
    if (mr__buffer_reserve(&fuser->work, fuser->hooks, (width + height) * sizeof(uint32_t) + width * pixel) != 0)
        return fail_memory(detail);
    uint32_t *columns = (void *)fuser->work.bytes, *rows = columns + width;
    uint8_t *row = (void *)(rows + height);
    mr__resize_nearest_middles(x.in, x.out, x.depth, x.begin, x.count, columns);
    mr__resize_nearest_middles(y.in, y.out, y.depth, y.begin, y.count, rows);
    for (size_t i = 0; i < width; i++)
        columns[i] -= x.origin;
    for (size_t i = 0; i < height; i++)
        rows[i] -= y.origin;
    /* They are in order. What is before the region has become a large number. */
    if (columns[0] >= x.span || columns[width - 1] >= x.span || rows[0] >= y.span || rows[height - 1] >= y.span)
        return mr__fail(detail, MR_EINTERNAL, "a pass was given too little of its source");
    for (uint32_t i = 0; i < height; i++) {
        mr__resize_nearest_row(row_at(part, rows[i]), columns, pixel, row, width);
        place_row(p, i, row);
    }
    return 0;
}

/* The color of what is transparent must not count: a copy with color times alpha. */
static int premultiply(mr__fuser *fuser, mr_image *from, mr__detail *detail)
{
    mr_image copy = *from;
    size_t nbytes;
    copy.stride = (ptrdiff_t)mr_image_row_nbytes(from);
    if (!mr__size_mul((size_t)copy.stride, copy.height, &nbytes) ||
        mr__buffer_reserve(&fuser->premultiplied, fuser->hooks, nbytes) != 0)
        return fail_memory(detail);
    copy.pixels = fuser->premultiplied.bytes;
    for (uint32_t y = 0; y < copy.height; y++)
        fuser->kernels.premultiply(row_at(from, y), copy.channels, (uint8_t *)copy.pixels + (ptrdiff_t)y * copy.stride,
                                   copy.width);
    *from = copy;
    return 0;
}

/* NULL: this side stays as it is. */
static int get_axis(mr__fuser *fuser, mr__resample_side side, uint32_t channels, mr__detail *detail,
                    const mr__resample_axis **axis)
{
    mr__axis_key key = {side, channels};
    *axis = NULL;
    int result = side.in == side.out ? 0 : mr__axis_cache_get(&fuser->axes, &key, detail, axis);
    return result == MR_ENOMEM ? fail_memory(detail) : result;
}

static int resample(mr__fuser *fuser, const mr__pass *pass, mr_rect region, const mr_image *from, placing *p,
                    mr__detail *detail)
{
    bool alpha = from->depth == 8 && from->channels % 2 == 0;
    mr__resampling r = {.kernels = &fuser->kernels, .from = *from, .to = *from};
    size_t nbytes;
    int result = get_axis(fuser, mr__pass_side(pass, from->depth, region, true), from->channels, detail, &r.x);
    if (result == 0)
        result = get_axis(fuser, mr__pass_side(pass, from->depth, region, false), 0, detail, &r.y);
    if (result == 0 && alpha)
        result = premultiply(fuser, &r.from, detail);
    if (result != 0)
        return result;
    r.down_first = mr__resample_goes_down_first(pass->crop.width, pass->crop.height, pass->to_width, pass->to_height);
    r.to.width = pass->window.width;
    r.to.height = pass->window.height;
    if (p->finisher->as_is && !p->flip && !alpha) { /* rows are made where they are to be */
        r.to.pixels = p->first;
        r.to.stride = p->step;
    } else {
        p->unpremultiply = alpha ? fuser->kernels.unpremultiply : NULL;
        r.take = take_row;
        r.taker = p;
    }
    if (!mr__resampling_nbytes(&r, &nbytes))
        return mr__fail(detail, MR_ELIMIT, "from %u x %u to %u x %u: more memory than can be addressed", from->width,
                        from->height, r.to.width, r.to.height);
    if (mr__buffer_reserve(&fuser->work, fuser->hooks, nbytes) != 0)
        return fail_memory(detail);
    mr__resampling_run(&r, fuser->work.bytes);
    return 0;
}

static int make_window(mr__fuser *fuser, const mr__pass *pass, mr_rect region, const mr_image *part,
                       const mr__canvas *canvas, mr__detail *detail)
{
    placing p = placing_of(pass, canvas);
    bool same = pass->crop.width == pass->to_width && pass->crop.height == pass->to_height;
    mr_image from;
    if (!same && pass->filter == MR_FILTER_NEAREST)
        return take_nearest(fuser, pass, region, part, &p, detail);
    if (crop_part(pass, region, part, &from) != 0)
        return mr__fail(detail, MR_EINTERNAL, "a pass was given too little of its source");
    if (!same)
        return resample(fuser, pass, region, &from, &p, detail);
    for (uint32_t y = 0; y < from.height; y++)
        place_row(&p, y, row_at(&from, y));
    return 0;
}

int mr__fuse(mr__fuser *fuser, const mr__pass *pass, mr_rect region, const mr_image *part, const mr__canvas *canvas,
             mr__detail *detail)
{
    if (pass->window.width == 0 || pass->window.height == 0) {
        mr__fuse_fill(canvas, pass->fill);
        return 0;
    }
    int result = make_window(fuser, pass, region, part, canvas, detail);
    if (result == 0)
        mr__fuse_border(pass, canvas);
    canvas->finisher->end();
    return result;
}
