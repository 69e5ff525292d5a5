// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <string.h>

static uint64_t mix(uint64_t v)
{
    v ^= v >> 30;
    v *= UINT64_C(0xbf58476d1ce4e5b9);
    v ^= v >> 27;
    v *= UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

fuzz_draw fuzz_draw_init(const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes)
{
    uint64_t tail = 0;
    size_t n = nbytes < sizeof tail ? nbytes : sizeof tail;
    if (n != 0)
        memcpy(&tail, bytes + nbytes - n, n);
    return (fuzz_draw){mix(tail ^ mix(nbytes ^ mix(setting->salt + 1)))};
}

uint64_t fuzz_draw_u64(fuzz_draw *draw)
{
    draw->state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(draw->state);
}

uint32_t fuzz_draw_below(fuzz_draw *draw, uint32_t n)
{
    return (uint32_t)(fuzz_draw_u64(draw) % n);
}

mr_decode_hints fuzz_draw_hints(fuzz_draw *draw)
{
    static const uint32_t reduces[] = {0, 0, 1, 2, 4, 8};
    static const uint32_t depths[] = {0, 0, 8, 16};
    mr_decode_hints hints = {.struct_size = sizeof hints};
    if (fuzz_draw_below(draw, 2) == 0)
        return hints;
    hints.reduce = reduces[fuzz_draw_below(draw, 6)];
    hints.channels = fuzz_draw_below(draw, 3) == 0 ? 0 : fuzz_draw_below(draw, 5);
    hints.depth = depths[fuzz_draw_below(draw, 4)];
    hints.orient = fuzz_draw_below(draw, 2) == 0;
    hints.accept_damaged = fuzz_draw_below(draw, 2) == 0;
    return hints;
}

/* Small ones, large ones, and ones that lie on an edge, where the special cases are. */
static void draw_span(fuzz_draw *draw, uint32_t length, uint32_t *start, uint32_t *count)
{
    uint32_t n = 1 + fuzz_draw_below(draw, length);
    if (fuzz_draw_below(draw, 3) == 0 && n > 24)
        n = 1 + n % 24;
    uint32_t room = length - n;
    uint32_t where = fuzz_draw_below(draw, 4);
    *count = n;
    *start = where == 0 ? 0 : where == 1 ? room : fuzz_draw_below(draw, room + 1);
}

mr_rect fuzz_draw_region(fuzz_draw *draw, uint32_t width, uint32_t height)
{
    mr_rect region;
    draw_span(draw, width, &region.x, &region.width);
    draw_span(draw, height, &region.y, &region.height);
    return region;
}
