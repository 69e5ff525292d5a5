// SPDX-License-Identifier: Apache-2.0
/* The order in which a scan has its blocks. */
#include "codec/jpeg/scan.h"

static mr__jpeg_unit unit_at(const mr__jpeg_plane *p, uint32_t x, uint32_t y, uint32_t across, uint32_t part)
{
    return (mr__jpeg_unit){
        .block = p->blocks + ((size_t)y * p->padded_w + x) * 64, .step = 64 * across, .part = (uint8_t)part};
}

uint32_t mr__jpeg_scan_units(const mr__jpeg_scan *scan, const mr__jpeg_coefficients *frame, uint32_t x, uint32_t y,
                             mr__jpeg_unit units[MR__JPEG_MCU_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scan->count; i++) {
        const mr__jpeg_plane *p = &frame->plane[scan->component[i]];
        uint32_t across = scan->count == 1 ? 1 : p->h, down = scan->count == 1 ? 1 : p->v;
        for (uint32_t v = 0; v < down; v++)
            for (uint32_t h = 0; h < across; h++)
                units[count++] = unit_at(p, x * across + h, y * down + v, across, i);
    }
    return count;
}

int mr__jpeg_scan_each(const mr__jpeg_scan *scan, const mr__jpeg_visitor *visitor, void *user)
{
    uint32_t left = scan->restart, number = 0;
    for (uint32_t y = 0; y < scan->mcus_h; y++)
        for (uint32_t x = 0; x < scan->mcus_w;) {
            int result = 0;
            if (scan->restart != 0 && left == 0) {
                result = visitor->restart(user, ++number);
                left = scan->restart;
            }
            uint32_t count = scan->mcus_w - x;
            if (scan->restart != 0 && count > left)
                count = left;
            if (result == 0)
                result = visitor->mcus(user, x, y, count);
            if (result != 0)
                return result;
            x += count;
            left -= scan->restart != 0 ? count : 0;
        }
    return 0;
}
