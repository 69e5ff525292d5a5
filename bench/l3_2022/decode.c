// SPDX-License-Identifier: Apache-2.0
#include "l3_2022.h"

#include <string.h>

static uint32_t get_u16(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8;
}

static uint32_t get_u32(const uint8_t *from)
{
    return get_u16(from) | get_u16(from + 2) << 16;
}

const uint8_t *l3_2022_row(const uint8_t *from, size_t nbytes, size_t file_nbytes, uint8_t *room)
{
    if (file_nbytes >= nbytes + L3_2022_SLACK)
        return from;
    memset(room, 0, L3_2022_ROOM);
    memcpy(room, from, nbytes);
    return room;
}

static void unpack_c(const uint8_t *from, uint32_t bits, uint32_t count, uint8_t *to)
{
    uint32_t mask = (1u << bits) - 1;
    for (uint32_t x = 0, bit = 12; x < count; x++, bit += bits)
        to[x] = (uint8_t)(get_u16(from + bit / 8) >> bit % 8 & mask);
}

static bool plane_c(const uint8_t *from, size_t nbytes, size_t file_nbytes, uint32_t width, uint32_t height,
                    uint8_t *to)
{
    uint8_t room[L3_2022_ROOM], delta[L3_2022_SIDE_MAX], above[L3_2022_SIDE_MAX + 2] = {0};
    for (uint32_t y = 0; y < height; y++, to += L3_2022_SIDE_MAX) {
        if (nbytes < 2)
            return false;
        uint32_t bits = from[0] & 15, row_nbytes = (12 + bits * width + 7) / 8;
        uint32_t base = get_u16(from) >> 4 & 255;
        if (bits > 8 || row_nbytes > nbytes)
            return false;
        unpack_c(l3_2022_row(from, row_nbytes, file_nbytes, room), bits, width, delta);
        if (y == 0)
            for (uint32_t x = 0; x < width; x++)
                to[x] = (uint8_t)(base + delta[x]);
        else
            for (uint32_t x = 0; x < width; x++)
                to[x] = (uint8_t)(l3_2022_predict(above[x], above[x + 1], above[x + 2]) + base + delta[x]);
        memcpy(above + 1, to, width);
        from += row_nbytes;
        nbytes -= row_nbytes;
        file_nbytes -= row_nbytes;
    }
    return nbytes == 0;
}

static void weave_c(const uint8_t *r, const uint8_t *g, const uint8_t *b, uint32_t width, uint8_t *rgb)
{
    for (uint32_t x = 0; x < width; x++) {
        rgb[3 * x] = r[x];
        rgb[3 * x + 1] = g[x];
        rgb[3 * x + 2] = b[x];
    }
}

const l3_2022_kernels l3_2022_portable = {plane_c, weave_c};

bool l3_2022_read(l3_2022_layout *layout, const void *file, size_t nbytes)
{
    const uint8_t *bytes = file;
    l3_2022_layout l = {0};
    if (nbytes < L3_2022_HEADER || memcmp(bytes, "LLL.", 4) != 0)
        return false;
    l.width = get_u32(bytes + 4);
    l.height = get_u32(bytes + 8);
    l.side = bytes[12];
    if (l.width == 0 || l.height == 0 || l.width > INT32_MAX || l.height > INT32_MAX || l.side == 0 ||
        l.side > L3_2022_SIDE_MAX)
        return false;
    l.across = (l.width + l.side - 1) / l.side;
    l.patches = l.across * ((l.height + l.side - 1) / l.side);
    l.lengths = bytes + L3_2022_HEADER;
    l.end = bytes + nbytes;
    if ((nbytes - L3_2022_HEADER) / 6 < l.patches)
        return false;
    const uint8_t *at = l.lengths + 6 * l.patches;
    for (size_t i = 0; i < 3 * l.patches; i++) {
        size_t length = get_u16(l.lengths + 2 * i);
        if (i % l.patches == 0)
            l.plane[i / l.patches] = at;
        if (length > (size_t)(l.end - at))
            return false;
        at += length;
    }
    *layout = l;
    return at == l.end;
}

bool l3_2022_decode(const l3_2022_kernels *kernels, const void *bytes, size_t nbytes, const mr_image *to)
{
    uint8_t planes[3][L3_2022_SIDE_MAX][L3_2022_SIDE_MAX];
    l3_2022_layout r;
    if (!l3_2022_read(&r, bytes, nbytes) || r.width != to->width || r.height != to->height || to->channels != 3 ||
        to->depth != 8)
        return false;
    for (size_t i = 0; i < r.patches; i++) {
        uint32_t x = (uint32_t)(i % r.across) * r.side, y = (uint32_t)(i / r.across) * r.side;
        uint32_t width = to->width - x < r.side ? to->width - x : r.side;
        uint32_t height = to->height - y < r.side ? to->height - y : r.side;
        for (size_t channel = 0; channel < 3; channel++) {
            size_t length = get_u16(r.lengths + 2 * (channel * r.patches + i));
            const uint8_t *from = r.plane[channel];
            if (!kernels->plane(from, length, (size_t)(r.end - from), width, height, planes[channel][0]))
                return false;
            r.plane[channel] += length;
        }
        for (uint32_t row = 0; row < height; row++) {
            uint8_t *out = (uint8_t *)to->pixels + to->stride * (ptrdiff_t)(y + row) + (size_t)x * 3;
            kernels->weave(planes[0][row], planes[1][row], planes[2][row], width, out);
        }
    }
    return true;
}
