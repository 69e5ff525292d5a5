// SPDX-License-Identifier: Apache-2.0
/*
 * Regions as torchvision's RandomResizedCrop draws them: 8 to 100 % of the area, 3:4 to 4:3, ten tries, else the
 * middle. Every number is a hash of (seed, image, round, which), so that all racers see the same and a run can be
 * repeated.
 */
#include "common.h"

#include <math.h>

static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

/* In [0, 1). */
static double uniform(uint64_t key, uint64_t which)
{
    return (double)(mix(key + which * UINT64_C(0x9e3779b97f4a7c15)) >> 11) * 0x1p-53;
}

static mr_rect middle(uint32_t width, uint32_t height)
{
    uint32_t w = width, h = height;
    if ((double)width / height < 0.75)
        h = (uint32_t)lround(width / 0.75);
    else if ((double)width / height > 4.0 / 3)
        w = (uint32_t)lround(height * 4.0 / 3);
    return (mr_rect){(width - w) / 2, (height - h) / 2, w, h};
}

mr_rect region_draw(uint64_t seed, uint64_t image, uint64_t round, uint32_t width, uint32_t height)
{
    uint64_t key = mix(seed + mix(image + mix(round + 1)));
    for (uint64_t i = 0; i < 40; i += 4) {
        double area = (double)width * height * (0.08 + 0.92 * uniform(key, i));
        double ratio = exp(log(0.75) + (log(4.0 / 3) - log(0.75)) * uniform(key, i + 1));
        double w = nearbyint(sqrt(area * ratio)), h = nearbyint(sqrt(area / ratio));
        if (w < 1 || h < 1 || w > width || h > height)
            continue;
        mr_rect r = {.width = (uint32_t)w, .height = (uint32_t)h};
        r.x = (uint32_t)(uniform(key, i + 2) * (width - r.width + 1));
        r.y = (uint32_t)(uniform(key, i + 3) * (height - r.height + 1));
        return r;
    }
    return middle(width, height);
}
