// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/size.h"

#include <millrace/image.h>
#include <string.h>

#define SIDE_MAX 0x7fffffffu

static bool is_shape(const mr_image *image)
{
    return image->width >= 1 && image->width <= SIDE_MAX && image->height >= 1 && image->height <= SIDE_MAX &&
           image->channels >= 1 && image->channels <= 4 && (image->depth == 8 || image->depth == 16);
}

size_t mr_image_pixel_nbytes(const mr_image *image)
{
    return (size_t)image->channels * (image->depth / 8);
}

size_t mr_image_row_nbytes(const mr_image *image)
{
    return (size_t)image->width * mr_image_pixel_nbytes(image);
}

bool mr_image_is_valid(const mr_image *image)
{
    if (image == NULL || !is_shape(image) || image->pixels == NULL)
        return false;
    size_t stride = image->stride < 0 ? (size_t)0 - (size_t)image->stride : (size_t)image->stride;
    size_t span;
    if (image->depth == 16 && ((uintptr_t)image->pixels | stride) % 2 != 0)
        return false;
    return stride >= mr_image_row_nbytes(image) && mr__size_mul(stride, image->height, &span) && span <= PTRDIFF_MAX;
}

int mr_image_init(mr_image *image, uint32_t width, uint32_t height, uint32_t channels, uint32_t depth,
                  const mr_hooks *hooks)
{
    mr_image made = {.width = width, .height = height, .channels = channels, .depth = depth};
    mr_hooks h;
    size_t nbytes;
    if (image == NULL || !is_shape(&made) || mr__hooks_init(&h, hooks) != 0)
        return MR_EARGUMENT;
    if (!mr__size_mul(mr_image_row_nbytes(&made), height, &nbytes) || nbytes > PTRDIFF_MAX)
        return MR_ENOMEM;
    made.stride = (ptrdiff_t)mr_image_row_nbytes(&made);
    made.pixels = mr__alloc(&h, nbytes);
    if (made.pixels == NULL)
        return MR_ENOMEM;
    *image = made;
    return 0;
}

void mr_image_fini(mr_image *image, const mr_hooks *hooks)
{
    mr_hooks h;
    if (image == NULL || mr__hooks_init(&h, hooks) != 0)
        return;
    mr__free(&h, image->pixels);
    *image = (mr_image){0};
}

static uint8_t *row_at(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

int mr_image_crop(const mr_image *image, mr_rect rect, mr_image *out)
{
    if (out == NULL || !mr_image_is_valid(image))
        return MR_EARGUMENT;
    bool inside = rect.width >= 1 && rect.height >= 1 && rect.x < image->width && rect.y < image->height &&
                  rect.width <= image->width - rect.x && rect.height <= image->height - rect.y;
    if (!inside)
        return MR_EARGUMENT;
    mr_image view = *image;
    view.width = rect.width;
    view.height = rect.height;
    view.pixels = row_at(image, rect.y) + (size_t)rect.x * mr_image_pixel_nbytes(image);
    *out = view;
    return 0;
}

mr_image mr_image_upside_down(const mr_image *image)
{
    if (image == NULL)
        return (mr_image){0};
    mr_image view = *image;
    if (!mr_image_is_valid(image))
        return view;
    view.pixels = row_at(image, image->height - 1);
    view.stride = -image->stride;
    return view;
}

static bool same_shape(const mr_image *a, const mr_image *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels && a->depth == b->depth;
}

int mr_image_copy(const mr_image *from, const mr_image *to)
{
    if (!mr_image_is_valid(from) || !mr_image_is_valid(to) || !same_shape(from, to))
        return MR_EARGUMENT;
    size_t nbytes = mr_image_row_nbytes(from);
    for (uint32_t y = 0; y < from->height; y++)
        memcpy(row_at(to, y), row_at(from, y), nbytes);
    return 0;
}

/* 16-bit samples are hashed as little-endian bytes, which on a little-endian machine they are. */
static void hash_row(mr__hasher *hasher, const uint8_t *row, size_t nbytes, bool swap)
{
    if (!swap) {
        mr__hasher_add(hasher, row, nbytes);
        return;
    }
    for (size_t i = 0; i < nbytes; i += 2) {
        uint16_t sample;
        uint8_t le[2];
        memcpy(&sample, row + i, 2);
        mr__store_le16(le, sample);
        mr__hasher_add(hasher, le, 2);
    }
}

uint64_t mr_image_hash(const mr_image *image)
{
    uint8_t head[16];
    mr__store_le32(head, image->width);
    mr__store_le32(head + 4, image->height);
    mr__store_le32(head + 8, image->channels);
    mr__store_le32(head + 12, image->depth);
    bool swap = image->depth == 16 && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    mr__hasher_add(&hasher, head, sizeof head);
    for (uint32_t y = 0; y < image->height; y++)
        hash_row(&hasher, row_at(image, y), mr_image_row_nbytes(image), swap);
    return mr__hasher_value(&hasher);
}
