// SPDX-License-Identifier: Apache-2.0
/* Which bytes of an L3 image a region needs: the run of tiles from the first it touches to the last. */
#include "codec/l3/dct.h"
#include "codec/l3/pixel_kernels.h"

#include "base/size.h"

/*
 * The longest head that our encoders write for this size: DCT mode has the most tiles (64 x 64 pixels the least), the
 * longest mode part, and 4 bytes of hash and at most 3 of length for each: six units are 123,480 bytes at most.
 */
enum { FIXED_NBYTES = 40 + 8 + MR__L3_DCT_PART_MAX, TILE_SIDE = 64, TILE_NBYTES = 4 + 3 };

uint64_t mr__l3_ranges_head(uint32_t width, uint32_t height)
{
    return FIXED_NBYTES + (uint64_t)mr__ceil_div(width, TILE_SIDE) * mr__ceil_div(height, TILE_SIDE) * TILE_NBYTES;
}

static mr_rect join(mr_rect a, mr_rect b)
{
    uint32_t left = a.x < b.x ? a.x : b.x, top = a.y < b.y ? a.y : b.y;
    uint32_t a_right = a.x + a.width, b_right = b.x + b.width, right = a_right > b_right ? a_right : b_right;
    uint32_t a_bottom = a.y + a.height, b_bottom = b.y + b.height, bottom = a_bottom > b_bottom ? a_bottom : b_bottom;
    return (mr_rect){left, top, right - left, bottom - top};
}

/* The pieces of so many pixels that cover it. */
static mr_rect cover(mr_rect region, uint32_t wide, uint32_t high)
{
    uint32_t left = region.x / wide, top = region.y / high;
    return (mr_rect){left, top, mr__ceil_div(region.x + region.width, wide) - left,
                     mr__ceil_div(region.y + region.height, high) - top};
}

/* At each size that it can be decoded at: upsampling takes a sample of the neighbour's, which is a larger part of a
 * smaller image. */
static bool find_dct_tiles(const mr__l3_head *head, mr_rect region, mr_rect *tiles)
{
    mr__jpeg_frame frame = mr__l3_dct_frame_of(head);
    for (uint32_t reduce = 1; reduce <= 8; reduce *= 2) {
        mr__jpeg_layout layout;
        if (!mr__jpeg_layout_init(&layout, &frame, reduce))
            return false;
        mr_rect these = mr__l3_dct_tiles(head, &layout, head->channels, cover(region, reduce, reduce));
        *tiles = reduce == 1 ? these : join(*tiles, these);
    }
    return true;
}

bool mr__l3_ranges_of(const uint8_t *bytes, size_t head_nbytes, uint64_t nbytes, mr_rect region, mr__range *range)
{
    mr__detail detail;
    mr__l3_head head;
    mr__call call = {.name = "l3", .bytes = bytes, .nbytes = head_nbytes, .detail = &detail};
    mr_rect tiles;
    if (mr__l3_head_read(&call, &head) != 0 || head.tail_nbytes > nbytes || head.tail_at != nbytes - head.tail_nbytes)
        return false;
    if (region.x >= head.width || region.width > head.width - region.x || region.y >= head.height ||
        region.height > head.height - region.y)
        return false;
    if (region.width == head.width && region.height == head.height)
        return false; // the whole is decoded with its tail
    if (head.mode == MR__L3_PIXEL)
        tiles = cover(region, head.tile_width, head.tile_height);
    else if (!find_dct_tiles(&head, region, &tiles))
        return false;
    size_t first = (size_t)tiles.y * head.tiles_x + tiles.x;
    size_t last = (size_t)(tiles.y + tiles.height - 1) * head.tiles_x + tiles.x + tiles.width - 1;
    uint64_t slack = head.mode == MR__L3_PIXEL ? MR__L3_STREAM_SLACK : MR__L3_UNIT_SLACK;
    uint64_t end = mr__l3_head_offset(&head, last + 1);
    range->offset = mr__l3_head_offset(&head, first);
    range->nbytes = (nbytes - end > slack ? end + slack : nbytes) - range->offset; // bytes behind a tile are loaded
    return true;
}
