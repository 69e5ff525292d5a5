// SPDX-License-Identifier: Apache-2.0
/*
 * The eight EXIF orientations as three bits: the shown pixel (x, y) is the stored pixel (sx, sy), where (sx, sy) is (y,
 * x) if the orientation turns and (x, y) if not, then sx is counted from the right if it mirrors, sy from below if it
 * flips.
 */
#ifndef MR_CODEC_ORIENT_H
#define MR_CODEC_ORIENT_H

#include <millrace/image.h>

/* Whether width and height change places: 5 to 8. */
static inline bool mr__orientation_turns(uint32_t o)
{
    return o >= 5;
}

static inline bool mr__orientation_mirrors(uint32_t o)
{
    return o == 2 || o == 3 || o == 7 || o == 8;
}

static inline bool mr__orientation_flips(uint32_t o)
{
    return o == 3 || o == 4 || o == 6 || o == 7;
}

/* The part of the stored width x height image that is shown as `shown`. */
mr_rect mr__orientation_to_stored(uint32_t orientation, mr_rect shown, uint32_t width, uint32_t height);

#endif
