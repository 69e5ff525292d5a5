// SPDX-License-Identifier: Apache-2.0
/*
 * Folding. What holds of every pass, between calls:
 *
 * 1. The window lies in the resized image, and placed at x, y it lies on the canvas.
 * 2. Where nothing is resized, the window is the whole crop: what a crop leaves out is left out first.
 * 3. Where the window is the whole canvas, there is no border: it is FILL, with zeros.
 * 4. An empty window is all zero, at 0, 0, not flipped, and the border is FILL.
 * 5. The last pass has no user's step: one that is added begins the next pass.
 */
#include "step/chain.h"

#include "step/resample.h"
#include "step/resize.h"

#include <string.h>

static mr__pass *last_pass(mr__chain *chain)
{
    return &chain->pass[chain->count - 1];
}

static void init_pass(mr__pass *pass, uint32_t width, uint32_t height)
{
    mr_rect all = {0, 0, width, height};
    *pass = (mr__pass){
        .width = width,
        .height = height,
        .crop = all,
        .to_width = width,
        .to_height = height,
        .window = all,
        .canvas_width = width,
        .canvas_height = height,
    };
}

void mr__chain_init(mr__chain *chain, uint32_t width, uint32_t height)
{
    chain->count = 1;
    init_pass(chain->pass, width, height);
}

void mr__chain_size(const mr__chain *chain, uint32_t *width, uint32_t *height)
{
    *width = chain->pass[chain->count - 1].canvas_width;
    *height = chain->pass[chain->count - 1].canvas_height;
}

static int begin_pass(mr__chain *chain, uint32_t width, uint32_t height, mr__detail *detail)
{
    if (chain->count == MR__STAGES_MAX)
        return mr__fail(detail, MR_ELIMIT,
                        "the recipe needs more than %d passes over the pixels, the most there can be", MR__STAGES_MAX);
    init_pass(&chain->pass[chain->count++], width, height);
    return 0;
}

/* The next pass begins with what there is. */
static int begin_next(mr__chain *chain, mr__detail *detail)
{
    const mr__pass *pass = last_pass(chain);
    return begin_pass(chain, pass->canvas_width, pass->canvas_height, detail);
}

static bool resizes(const mr__pass *pass)
{
    return pass->to_width != pass->crop.width || pass->to_height != pass->crop.height;
}

static bool has_border(const mr__pass *pass)
{
    return pass->window.width != pass->canvas_width || pass->window.height != pass->canvas_height;
}

/* What two parts of a line have in common, as places on it; false: nothing. */
static bool overlap(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length, uint32_t *from, uint32_t *length)
{
    uint32_t end = a + a_length < b + b_length ? a + a_length : b + b_length;
    *from = a > b ? a : b;
    *length = end > *from ? end - *from : 0;
    return *length != 0;
}

/* Keeps a canvas with nothing of the image on it. */
static void keep_fill_alone(mr__pass *pass)
{
    pass->window = (mr_rect){0, 0, 0, 0};
    pass->x = pass->y = 0;
    pass->flip_x = pass->flip_y = false;
}

/* Brings a pass back to 2 and 3. */
static void tidy(mr__pass *pass)
{
    if (!has_border(pass)) {
        pass->border = MR_BORDER_FILL;
        memset(pass->fill, 0, sizeof pass->fill);
    }
    if (resizes(pass) || pass->window.width == 0)
        return;
    pass->crop.x += pass->window.x;
    pass->crop.y += pass->window.y;
    pass->crop.width = pass->to_width = pass->window.width;
    pass->crop.height = pass->to_height = pass->window.height;
    pass->window.x = pass->window.y = 0;
}

static bool lies_in_window(const mr__pass *pass, mr_rect rect)
{
    return rect.x >= pass->x && rect.y >= pass->y && rect.x + rect.width <= pass->x + pass->window.width &&
           rect.y + rect.height <= pass->y + pass->window.height;
}

/* Of a part of the canvas. A flipped window is cut at its other side. */
static void cut_pass(mr__pass *pass, mr_rect rect)
{
    mr_rect *window = &pass->window, kept;
    bool wide = overlap(rect.x, rect.width, pass->x, window->width, &kept.x, &kept.width);
    bool high = overlap(rect.y, rect.height, pass->y, window->height, &kept.y, &kept.height);
    pass->canvas_width = rect.width;
    pass->canvas_height = rect.height;
    if (!wide || !high) {
        keep_fill_alone(pass);
        return;
    }
    uint32_t left = kept.x - pass->x, top = kept.y - pass->y;
    window->x += pass->flip_x ? window->width - left - kept.width : left;
    window->y += pass->flip_y ? window->height - top - kept.height : top;
    window->width = kept.width;
    window->height = kept.height;
    pass->x = kept.x - rect.x;
    pass->y = kept.y - rect.y;
    tidy(pass);
}

int mr__chain_crop(mr__chain *chain, mr_rect rect, mr__detail *detail)
{
    mr__pass *pass = last_pass(chain);
    uint32_t width = pass->canvas_width, height = pass->canvas_height;
    if (rect.width == 0 || rect.height == 0 || rect.width > width || rect.height > height ||
        rect.x > width - rect.width || rect.y > height - rect.height)
        return mr__fail(detail, MR_EARGUMENT, "a crop of %u x %u at %u, %u does not lie in an image of %u x %u",
                        rect.width, rect.height, rect.x, rect.y, width, height);
    if (rect.width == width && rect.height == height)
        return 0;
    if (pass->border != MR_BORDER_FILL && !lies_in_window(pass, rect)) {
        int result = begin_next(chain, detail);
        if (result != 0)
            return result;
    }
    cut_pass(last_pass(chain), rect);
    return 0;
}

int mr__chain_resize(mr__chain *chain, uint32_t width, uint32_t height, mr_filter filter, mr__detail *detail)
{
    mr__pass *pass = last_pass(chain);
    if (width == 0 || height == 0 || width > MR_RECIPE_SIDE_MAX || height > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_ELIMIT, "a resize to %u x %u: sides are 1 to %d", width, height, MR_RECIPE_SIDE_MAX);
    if (pass->canvas_width == width && pass->canvas_height == height)
        return 0;
    if (resizes(pass) || pass->flip_x || pass->flip_y || has_border(pass)) {
        int result = begin_next(chain, detail);
        if (result != 0)
            return result;
        pass = last_pass(chain);
    }
    pass->to_width = pass->canvas_width = width;
    pass->to_height = pass->canvas_height = height;
    pass->filter = filter;
    pass->window = (mr_rect){0, 0, width, height};
    return 0;
}

/* The mirror image of a border is the border of the mirror image, whichever it is. */
void mr__chain_flip(mr__chain *chain, bool x, bool y)
{
    mr__pass *pass = last_pass(chain);
    if (pass->window.width == 0)
        return;
    if (x) {
        pass->flip_x = !pass->flip_x;
        pass->x = pass->canvas_width - pass->window.width - pass->x;
    }
    if (y) {
        pass->flip_y = !pass->flip_y;
        pass->y = pass->canvas_height - pass->window.height - pass->y;
    }
}

static bool takes_border(const mr__pass *pass, mr_border border, const uint8_t fill[4])
{
    if (!has_border(pass))
        return border == MR_BORDER_FILL ||
               (pass->window.width == pass->to_width && pass->window.height == pass->to_height);
    return border == MR_BORDER_FILL && pass->border == MR_BORDER_FILL &&
           memcmp(pass->fill, fill, sizeof pass->fill) == 0;
}

int mr__chain_pad(mr__chain *chain, const uint32_t pad[4], mr_border border, const uint8_t fill[4], mr__detail *detail)
{
    mr__pass *pass = last_pass(chain);
    uint64_t width = (uint64_t)pass->canvas_width + pad[0] + pad[2];
    uint64_t height = (uint64_t)pass->canvas_height + pad[1] + pad[3];
    if (width == pass->canvas_width && height == pass->canvas_height)
        return 0;
    if (width > MR_RECIPE_SIDE_MAX || height > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_ELIMIT, "%u x %u pixels with a border are %llu x %llu: sides are at most %d",
                        pass->canvas_width, pass->canvas_height, (unsigned long long)width, (unsigned long long)height,
                        MR_RECIPE_SIDE_MAX);
    if (!takes_border(pass, border, fill)) {
        int result = begin_next(chain, detail);
        if (result != 0)
            return result;
        pass = last_pass(chain);
    }
    pass->canvas_width = (uint32_t)width;
    pass->canvas_height = (uint32_t)height;
    if (pass->window.width != 0) {
        pass->x += pad[0];
        pass->y += pad[1];
    }
    pass->border = border;
    for (size_t i = 0; border == MR_BORDER_FILL && i < sizeof pass->fill; i++)
        pass->fill[i] = fill[i];
    return 0;
}

int mr__chain_user(mr__chain *chain, const mr_user_step *user, const uint32_t *draws, mr__detail *detail)
{
    mr__pass *pass = last_pass(chain);
    uint32_t width = user->width != 0 ? user->width : pass->canvas_width;
    uint32_t height = user->height != 0 ? user->height : pass->canvas_height;
    int result = begin_pass(chain, width, height, detail);
    if (result != 0)
        return result;
    pass->user = user;
    pass->user_draws = draws;
    return 0;
}

/* Along one side: what `n` outputs from `index` on need of `in` source samples. */
static void need(const mr__pass *pass, uint32_t in, uint32_t out, uint32_t *index, uint32_t *n)
{
    if (in == out)
        return;
    if (pass->filter == MR_FILTER_NEAREST)
        mr__resize_nearest_reach(in, out, *index, *n, index, n);
    else
        mr__resample_reach(in, out, pass->filter, *index, *n, index, n);
}

mr_rect mr__pass_region(const mr__pass *pass)
{
    if (pass->window.width == 0)
        return (mr_rect){pass->crop.x, pass->crop.y, 1, 1};
    mr_rect region = pass->window;
    need(pass, pass->crop.width, pass->to_width, &region.x, &region.width);
    need(pass, pass->crop.height, pass->to_height, &region.y, &region.height);
    region.x += pass->crop.x;
    region.y += pass->crop.y;
    return region;
}
