// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include "test.h"

#include <string.h>

static mr_image new_image(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth)
{
    mr_image image;
    assert_int_equal(mr_image_init(&image, width, height, channels, depth, NULL), 0);
    return image;
}

static uint8_t *pixel_at(const mr_image *image, uint32_t x, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride + (size_t)x * mr_image_pixel_nbytes(image);
}

/* The stored pixel that is shown at (x, y): the eight cases of the EXIF standard, written out. */
static const uint8_t *shown_pixel(const mr_image *stored, uint32_t orientation, uint32_t x, uint32_t y)
{
    uint32_t right = stored->width - 1, bottom = stored->height - 1;
    switch (orientation) {
    case 2: // mirrored
        return pixel_at(stored, right - x, y);
    case 3: // upside down, by half a turn
        return pixel_at(stored, right - x, bottom - y);
    case 4: // upside down, by a mirror below
        return pixel_at(stored, x, bottom - y);
    case 5: // rows are columns
        return pixel_at(stored, y, x);
    case 6: // to be turned clockwise
        return pixel_at(stored, y, bottom - x);
    case 7: // rows are columns, from the other corner
        return pixel_at(stored, right - y, bottom - x);
    case 8: // to be turned counterclockwise
        return pixel_at(stored, right - y, x);
    default:
        return pixel_at(stored, x, y);
    }
}

/* The whole image with the hints' size, channels and depth, as stored. */
static mr_image convert_whole(const mr_image *stored, const mr_decode_hints *hints)
{
    uint32_t n = hints->reduce > 1 ? hints->reduce : 1;
    uint32_t width = (stored->width + n - 1) / n, height = (stored->height + n - 1) / n;
    mr_image small = new_image(width, height, stored->channels, stored->depth);
    assert_int_equal(n > 1 ? mr_image_reduce(stored, n, &small) : mr_image_copy(stored, &small), 0);
    mr_image whole = new_image(width, height, hints->channels != 0 ? hints->channels : stored->channels,
                               hints->depth != 0 ? hints->depth : stored->depth);
    assert_int_equal(mr_image_convert(&small, &whole), 0);
    mr_image_fini(&small, NULL);
    return whole;
}

void reference_decode(const mr_image *stored, uint32_t orientation, const mr_decode_hints *hints, mr_image *out)
{
    uint32_t o = hints->orient ? orientation : 1;
    mr_image whole = convert_whole(stored, hints);
    mr_rect r = hints->region;
    if (r.width == 0)
        r = (mr_rect){0, 0, o >= 5 ? whole.height : whole.width, o >= 5 ? whole.width : whole.height};
    *out = new_image(r.width, r.height, whole.channels, whole.depth);
    for (uint32_t y = 0; y < r.height; y++)
        for (uint32_t x = 0; x < r.width; x++)
            memcpy(pixel_at(out, x, y), shown_pixel(&whole, o, r.x + x, r.y + y), mr_image_pixel_nbytes(out));
    mr_image_fini(&whole, NULL);
}
