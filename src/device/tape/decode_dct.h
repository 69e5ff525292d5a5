// SPDX-License-Identifier: Apache-2.0
/*
 * What JPEG and L3's DCT mode have in common on a tape: from strips of coefficients to the pixels of a region. Which
 * blocks a region needs, and how components come to the size of the image, is the host's own (kernel/jpeg_assemble.h).
 */
#ifndef MR_DEVICE_TAPE_DECODE_DCT_H
#define MR_DEVICE_TAPE_DECODE_DCT_H

#include "device/tape/chain.h"
#include "kernel/jpeg_assemble.h"

/* A component: its strips lie in a grid that covers the blocks that are needed. */
typedef struct mr__tape_dct_part {
    mr_rect blocks;         /* that the region needs */
    uint32_t left, top;     /* the first strip's first block */
    uint32_t wide, high;    /* blocks of a strip */
    uint32_t across, count; /* strips of a row, and in all */
    uint32_t strips;        /* place of their list; the caller's */
    const uint16_t *quant;  /* in zigzag order; the caller's */
} mr__tape_dct_part;

typedef struct mr__tape_dct {
    const mr__jpeg_layout *layout;
    mr_rect region; /* of the image that `layout` describes */
    uint32_t parts; /* 1 or 3, which are the sheet's channels */
    mr__tape_dct_part part[MR__JPEG_PARTS_MAX];
} mr__tape_dct;

/* What the region needs. `layout` stays. */
void mr__tape_dct_init(mr__tape_dct *dct, const mr__jpeg_layout *layout, uint32_t parts, mr_rect region);

/* The grid of a component's strips of wide x high blocks, which begins at this block. */
void mr__tape_dct_grid(mr__tape_dct *dct, uint32_t part, uint32_t wide, uint32_t high, uint32_t left, uint32_t top);

/* The number of the strip that the block in column x and row y of its component is in. */
static inline uint32_t mr__tape_dct_number(const mr__tape_dct_part *part, uint32_t x, uint32_t y)
{
    return (y - part->top) / part->high * part->across + (x - part->left) / part->wide;
}

/*
 * The call that makes the region's pixels of samples: of each component those of these blocks, whose room is left. One
 * component, or three.
 */
mr__sheet mr__tape_dct_pixels(mr__tape *tape, const mr__jpeg_layout *layout, uint32_t parts, mr_rect region,
                              const mr_rect blocks[MR__JPEG_PARTS_MAX], const mr__sheet samples[MR__JPEG_PARTS_MAX]);

/* Calls that make samples and then pixels of them. Room `coef` that strips are in is left on the way (NULL: none is).
 */
mr__sheet mr__tape_dct_lay(mr__tape *tape, const mr__tape_dct *dct, const mr__sheet *coef);

#endif
