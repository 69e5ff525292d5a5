// SPDX-License-Identifier: Apache-2.0
#include "codec/orient.h"

#include <string.h>

mr_rect mr__orientation_to_stored(uint32_t o, mr_rect shown, uint32_t width, uint32_t height)
{
    mr_rect r = shown;
    if (mr__orientation_turns(o))
        r = (mr_rect){shown.y, shown.x, shown.height, shown.width};
    if (mr__orientation_mirrors(o))
        r.x = width - r.x - r.width;
    if (mr__orientation_flips(o))
        r.y = height - r.y - r.height;
    return r;
}

/* One shown row: pixels of `nbytes` gathered from `from`, `step` bytes apart. */
static void gather_row(uint8_t *to, const uint8_t *from, ptrdiff_t step, uint32_t count, size_t nbytes)
{
    for (uint32_t i = 0; i < count; i++, to += nbytes, from += step)
        memcpy(to, from, nbytes);
}

int mr_image_orient(const mr_image *from, uint32_t o, const mr_image *to)
{
    bool turns = mr__orientation_turns(o);
    bool fits = o >= 1 && o <= 8 && mr_image_is_valid(from) && mr_image_is_valid(to) &&
                from->channels == to->channels && from->depth == to->depth &&
                to->width == (turns ? from->height : from->width) && to->height == (turns ? from->width : from->height);
    if (!fits)
        return MR_EARGUMENT;
    ptrdiff_t nbytes = (ptrdiff_t)mr_image_pixel_nbytes(from);
    ptrdiff_t step_x = nbytes, step_y = from->stride;
    const uint8_t *origin = from->pixels;
    if (mr__orientation_mirrors(o)) {
        origin += (ptrdiff_t)(from->width - 1) * nbytes;
        step_x = -step_x;
    }
    if (mr__orientation_flips(o)) {
        origin += (ptrdiff_t)(from->height - 1) * from->stride;
        step_y = -step_y;
    }
    ptrdiff_t along = turns ? step_y : step_x, across = turns ? step_x : step_y;
    for (uint32_t y = 0; y < to->height; y++)
        gather_row((uint8_t *)to->pixels + (ptrdiff_t)y * to->stride, origin + (ptrdiff_t)y * across, along, to->width,
                   (size_t)nbytes);
    return 0;
}
