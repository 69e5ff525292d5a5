// SPDX-License-Identifier: Apache-2.0
#include "plain_chain.h"

#include "test.h"

#include <string.h>

static mr_image image_like(const mr_image *image, uint32_t width, uint32_t height)
{
    mr_image made;
    assert_int_equal(mr_image_init(&made, width, height, image->channels, image->depth, NULL), 0);
    return made;
}

static uint8_t *pixel(const mr_image *image, uint32_t x, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride + x * mr_image_pixel_nbytes(image);
}

mr_image plain_crop(const mr_image *image, mr_rect rect)
{
    mr_image part, made = image_like(image, rect.width, rect.height);
    assert_int_equal(mr_image_crop(image, rect, &part), 0);
    assert_int_equal(mr_image_copy(&part, &made), 0);
    return made;
}

mr_image plain_resize(mr_resizer *resizer, const mr_image *image, uint32_t width, uint32_t height, mr_filter filter)
{
    mr_image made = image_like(image, width, height);
    mr_resize_options options = {.struct_size = sizeof options, .filter = filter};
    assert_int_equal(mr_resizer_resize(resizer, image, &options, &made), 0);
    return made;
}

mr_image plain_flip(const mr_image *image, bool x, bool y)
{
    mr_image made = image_like(image, image->width, image->height);
    for (uint32_t j = 0; j < made.height; j++)
        for (uint32_t i = 0; i < made.width; i++)
            memcpy(pixel(&made, i, j), pixel(image, x ? made.width - 1 - i : i, y ? made.height - 1 - j : j),
                   mr_image_pixel_nbytes(image));
    return made;
}

/* Which pixel of a side of `n` stands at place `at`, which may lie outside; -1: the fill. */
static int64_t source_of(int64_t at, int64_t n, mr_border border)
{
    if (at >= 0 && at < n)
        return at;
    switch (border) {
    case MR_BORDER_EDGE:
        return at < 0 ? 0 : n - 1;
    case MR_BORDER_REFLECT:
        return at < 0 ? -at : 2 * (n - 1) - at;
    case MR_BORDER_SYMMETRIC:
        return at < 0 ? -1 - at : 2 * n - 1 - at;
    default:
        return -1;
    }
}

static void put_fill(const mr_image *image, uint32_t x, uint32_t y, const uint8_t fill[4])
{
    uint8_t *to = pixel(image, x, y);
    for (uint32_t c = 0; c < image->channels; c++) {
        uint16_t wide = (uint16_t)(fill[c] * 257);
        if (image->depth == 16)
            memcpy(to + (size_t)2 * c, &wide, 2);
        else
            to[c] = fill[c];
    }
}

/* `image` may have no pixels. */
static mr_image place(const mr_image *image, uint32_t x, uint32_t y, uint32_t width, uint32_t height, mr_border border,
                      const uint8_t fill[4])
{
    mr_image made = image_like(image, width, height);
    for (uint32_t j = 0; j < height; j++)
        for (uint32_t i = 0; i < width; i++) {
            int64_t from_x = source_of((int64_t)i - x, image->width, border);
            int64_t from_y = source_of((int64_t)j - y, image->height, border);
            if (from_x < 0 || from_y < 0)
                put_fill(&made, i, j, fill);
            else
                memcpy(pixel(&made, i, j), pixel(image, (uint32_t)from_x, (uint32_t)from_y),
                       mr_image_pixel_nbytes(image));
        }
    return made;
}

mr_image plain_pad(const mr_image *image, const uint32_t pad[4], mr_border border, const uint8_t fill[4])
{
    return place(image, pad[0], pad[1], image->width + pad[0] + pad[2], image->height + pad[1] + pad[3], border, fill);
}

mr_image plain_user(const mr_image *image, const mr_user_step *user, const uint32_t *draws)
{
    mr_image made = image_like(image, user->width != 0 ? user->width : image->width,
                               user->height != 0 ? user->height : image->height);
    assert_int_equal(user->run(user->user, image, &made, draws, NULL), 0);
    return made;
}

/* A copy in which every pixel outside of the region is another. */
static mr_image spoil_outside(const mr_image *image, mr_rect region)
{
    mr_image made = image_like(image, image->width, image->height);
    for (uint32_t y = 0; y < made.height; y++)
        for (uint32_t x = 0; x < made.width; x++) {
            bool inside = x - region.x < region.width && y - region.y < region.height;
            for (size_t i = 0; i < mr_image_pixel_nbytes(image); i++)
                pixel(&made, x, y)[i] = inside ? pixel(image, x, y)[i] : (uint8_t)(pixel(image, x, y)[i] ^ 0xa5);
        }
    return made;
}

static mr_image run_pass(mr_resizer *resizer, const mr__pass *pass, const mr_image *source)
{
    mr_image spoilt = spoil_outside(source, mr__pass_region(pass));
    mr_image crop = plain_crop(&spoilt, pass->crop);
    mr_image resized = plain_resize(resizer, &crop, pass->to_width, pass->to_height, pass->filter);
    mr_image flipped = resized;
    flipped.width = flipped.height = 0;
    if (pass->window.width != 0) {
        mr_image window = plain_crop(&resized, pass->window);
        flipped = plain_flip(&window, pass->flip_x, pass->flip_y);
        mr_image_fini(&window, NULL);
    }
    mr_image made =
        place(&flipped, pass->x, pass->y, pass->canvas_width, pass->canvas_height, pass->border, pass->fill);
    if (flipped.width != 0)
        mr_image_fini(&flipped, NULL);
    mr_image_fini(&resized, NULL);
    mr_image_fini(&crop, NULL);
    mr_image_fini(&spoilt, NULL);
    return made;
}

/* The whole source of a pass, of which only a part was made: the rest is noise, as nobody may look at it. */
static mr_image fill_up(mr_image *part, const mr__pass *pass)
{
    mr_image whole = image_like(part, pass->width, pass->height);
    assert_int_equal(part->width, pass->from.width);
    assert_int_equal(part->height, pass->from.height);
    for (uint32_t y = 0; y < whole.height; y++)
        for (uint32_t x = 0; x < whole.width; x++) {
            bool there = x - pass->from.x < part->width && y - pass->from.y < part->height;
            for (size_t i = 0; i < mr_image_pixel_nbytes(part); i++)
                pixel(&whole, x, y)[i] = there ? pixel(part, x - pass->from.x, y - pass->from.y)[i] : (uint8_t)(x ^ y);
        }
    mr_image_fini(part, NULL);
    return whole;
}

mr_image plain_chain(mr_resizer *resizer, const mr__chain *chain, const mr_image *image)
{
    mr_image now = plain_crop(image, (mr_rect){0, 0, image->width, image->height});
    for (size_t i = 0; i < chain->count; i++) {
        const mr__pass *pass = &chain->pass[i];
        mr_image source = i != 0 ? fill_up(&now, pass) : now, next = run_pass(resizer, pass, &source);
        mr_image_fini(&source, NULL);
        now = next;
        for (size_t k = 0; k < pass->ops; k++) {
            const mr__op *op = &chain->op[pass->op + k];
            assert_int_equal(op->kind, MR__OP_USER);
            next = plain_user(&now, op->u.user.step, op->u.user.draws);
            mr_image_fini(&now, NULL);
            now = next;
        }
    }
    return now;
}
