// SPDX-License-Identifier: Apache-2.0
/*
 * From rows of blocks to the pixels of a region, a band at a time: blocks are transformed into planes as high as a
 * band, pixels are made of them, and the few rows of samples that the next pixels need as well are moved to the top. So
 * memory goes by the width of the region, and samples stay in the cache between the two steps. A band is whatever comes
 * at once: a row of MCUs of a JPEG, a row of tiles of L3.
 *
 *     mr__jpeg_rows_init      what the region needs of each part
 *     (the caller)            which columns of blocks there is room for, and how many rows of blocks a band has
 *     mr__jpeg_rows_nbytes    and mr__jpeg_rows_place: memory
 *     mr__jpeg_rows_at        for each block: where its samples go
 *     mr__jpeg_rows_finish    a band is there: pixels
 *
 * Bands are counted from the top of the image and come in order; the first is one that has blocks the region needs.
 */
#ifndef MR_KERNEL_JPEG_ROWS_H
#define MR_KERNEL_JPEG_ROWS_H

#include "kernel/jpeg_assemble.h"

typedef struct mr__jpeg_rows_part {
    mr_rect blocks;         /* that the region needs */
    uint32_t left, columns; /* of blocks that there is room for; the caller's */
    uint32_t band;          /* rows of blocks in a band; the caller's */
    uint32_t rows;          /* of samples in a band */
    uint32_t kept;          /* rows of the band before, above them */
    ptrdiff_t stride;
    uint8_t *samples; /* the first of the band at hand */
} mr__jpeg_rows_part;

typedef struct mr__jpeg_rows {
    const mr__jpeg_pixels *kernels;
    mr__jpeg_layout layout;
    mr_rect region;
    mr_image to;
    uint32_t parts; /* that are needed: one for one channel */
    uint32_t next;  /* row of pixels to be made, in the image */
    void *work;     /* of mr__jpeg_assemble */
    mr__jpeg_rows_part part[MR__JPEG_PARTS_MAX];
} mr__jpeg_rows;

/* False where mr__jpeg_layout_init is. `to` is as for mr__jpeg_assemble. */
bool mr__jpeg_rows_init(mr__jpeg_rows *rows, const mr__jpeg_pixels *kernels, const mr__jpeg_frame *frame,
                        uint32_t reduce, mr_rect region, const mr_image *to);

/* The memory for planes and work area, 64-byte aligned. A row of samples is less than 2^20 bytes: no overflow. */
size_t mr__jpeg_rows_nbytes(const mr__jpeg_rows *rows);
void mr__jpeg_rows_place(mr__jpeg_rows *rows, uint8_t *memory);

/* Where the block in column x of the component, row y of the band, goes. */
static inline uint8_t *mr__jpeg_rows_at(const mr__jpeg_rows *rows, uint32_t part, uint32_t x, uint32_t y)
{
    const mr__jpeg_rows_part *p = &rows->part[part];
    size_t size = rows->layout.part[part].size;
    return p->samples + (ptrdiff_t)(y * size) * p->stride + (x - p->left) * size;
}

/* All blocks that the region needs of this band are there. False, which cannot be, when more rows are to be kept than
 * there is room for. */
bool mr__jpeg_rows_finish(mr__jpeg_rows *rows, uint32_t band);

/* Whether all pixels are made. */
static inline bool mr__jpeg_rows_are_done(const mr__jpeg_rows *rows)
{
    return rows->next == rows->region.y + rows->region.height;
}

#endif
