// SPDX-License-Identifier: Apache-2.0
/*
 * Padding blocks that an encoder made otherwise than by repeating the DC before. Each is written as: how many usual
 * ones come before it, its DC less the usual one, how many other coefficients it has, and for each its distance from
 * the one before and its value.
 */
#include "codec/jpeg/origin.h"

#include <string.h>

/* Goes over a plane's padding blocks row by row. */
typedef struct padding {
    const mr__jpeg_plane *plane;
    uint32_t x, y;
    int16_t *block;
    int16_t usual; /* its DC, if it is a usual one */
} padding;

/* The next one; `p` is clear before the first. */
static bool next_block(padding *p, const mr__jpeg_plane *plane)
{
    if (p->plane == NULL)
        p->x = plane->blocks_w;
    else
        p->x++;
    p->plane = plane;
    while (p->y < plane->padded_h && p->x >= plane->padded_w) {
        p->y++;
        p->x = p->y < plane->blocks_h ? plane->blocks_w : 0;
    }
    if (p->y >= plane->padded_h)
        return false;
    p->block = plane->blocks + ((size_t)p->y * plane->padded_w + p->x) * 64;
    p->usual = p->x % plane->h != 0 ? p->block[-64] : p->block[((ptrdiff_t)plane->h - 1 - plane->padded_w) * 64];
    return true;
}

static bool is_usual(const padding *p)
{
    uint32_t others = 0;
    for (uint32_t k = 1; k < 64; k++)
        others |= (uint16_t)p->block[k];
    return others == 0 && p->block[0] == p->usual;
}

static int add_block(mr__origin_bytes *to, const padding *p, uint64_t skipped)
{
    uint32_t count = 0, last = 0;
    for (uint32_t k = 1; k < 64; k++)
        count += p->block[k] != 0;
    int result = mr__origin_add_number(to, skipped);
    if (result == 0)
        result = mr__origin_add_signed(to, p->block[0] - p->usual);
    if (result == 0)
        result = mr__origin_add_number(to, count);
    for (uint32_t k = 1; result == 0 && k < 64; k++) {
        if (p->block[k] == 0)
            continue;
        result = mr__origin_add_number(to, k - last - 1);
        if (result == 0)
            result = mr__origin_add_signed(to, p->block[k]);
        last = k;
    }
    return result;
}

int mr__origin_blocks_make(const mr__jpeg_coefficients *c, const bool coded[MR__JPEG_PLANE_MAX], mr__origin_bytes *to)
{
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < c->components; i++) {
        padding p = {0};
        while (next_block(&p, &c->plane[i])) {
            if (!coded[i] || is_usual(&p)) {
                skipped++;
                continue;
            }
            int result = add_block(to, &p, skipped);
            if (result != 0)
                return result;
            skipped = 0;
        }
    }
    return 0;
}

/* One block's numbers; false when they are not as they should be. */
static bool take_block(mr__origin_span *from, padding *p)
{
    int32_t value;
    uint64_t count, gap, k = 0;
    if (!mr__origin_take_signed(from, &value) || value < -65535 || value > 65535 ||
        !mr__origin_take_number(from, &count) || count > 63)
        return false;
    p->block[0] = (int16_t)(p->usual + value);
    bool fits = p->block[0] == p->usual + value;
    for (; fits && count != 0; count--) {
        fits = mr__origin_take_number(from, &gap) && gap < 63 && k + gap + 1 < 64 &&
               mr__origin_take_signed(from, &value) && value == (int16_t)value && value != 0;
        if (fits)
            p->block[k += gap + 1] = (int16_t)value;
    }
    return fits;
}

int mr__origin_blocks_fill(mr__call *call, mr__jpeg_coefficients *c, mr__origin_span from)
{
    uint64_t skip = UINT64_MAX;
    bool fits = from.next == from.end || mr__origin_take_number(&from, &skip);
    for (uint32_t i = 0; i < c->components; i++) {
        padding p = {0};
        while (fits && next_block(&p, &c->plane[i])) {
            memset(p.block, 0, 64 * sizeof *p.block);
            p.block[0] = p.usual;
            if (skip-- != 0)
                continue;
            fits = take_block(&from, &p);
            skip = UINT64_MAX;
            if (fits && from.next != from.end)
                fits = mr__origin_take_number(&from, &skip);
        }
    }
    if (!fits || from.next != from.end)
        return mr__call_fail(call, MR_ECORRUPT, "damaged origin of a JPEG: its padding blocks make no sense");
    return 0;
}
