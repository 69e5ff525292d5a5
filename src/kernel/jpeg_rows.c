// SPDX-License-Identifier: Apache-2.0
#include "kernel/jpeg_rows.h"

#include <string.h>

/* Rows of samples that may be kept from one band to the next. Blending looks one sample up and one down. */
enum { KEPT_MAX = 4 };

enum { ALIGN = 64 };

bool mr__jpeg_rows_init(mr__jpeg_rows *rows, const mr__jpeg_pixels *kernels, const mr__jpeg_frame *frame,
                        uint32_t reduce, mr_rect region, const mr_image *to)
{
    *rows = (mr__jpeg_rows){.kernels = kernels, .region = region, .to = *to, .next = region.y};
    if (!mr__jpeg_layout_init(&rows->layout, frame, reduce))
        return false;
    rows->parts = to->channels == 1 ? 1 : frame->parts;
    for (uint32_t i = 0; i < rows->parts; i++)
        rows->part[i].blocks = mr__jpeg_layout_blocks(&rows->layout, i, region);
    return true;
}

static ptrdiff_t stride_of(const mr__jpeg_rows *rows, uint32_t part)
{
    size_t width = (size_t)rows->part[part].columns * rows->layout.part[part].size + MR__JPEG_SLACK;
    return (ptrdiff_t)((width + ALIGN - 1) / ALIGN * ALIGN);
}

static size_t plane_nbytes(const mr__jpeg_rows *rows, uint32_t part)
{
    uint32_t height = rows->part[part].band * rows->layout.part[part].size;
    return (height + KEPT_MAX) * (size_t)stride_of(rows, part);
}

size_t mr__jpeg_rows_nbytes(const mr__jpeg_rows *rows)
{
    size_t nbytes = mr__jpeg_assemble_nbytes(rows->region.width);
    for (uint32_t i = 0; i < rows->parts; i++)
        nbytes += plane_nbytes(rows, i);
    return nbytes;
}

void mr__jpeg_rows_place(mr__jpeg_rows *rows, uint8_t *memory)
{
    rows->work = memory;
    memory += mr__jpeg_assemble_nbytes(rows->region.width);
    for (uint32_t i = 0; i < rows->parts; i++) {
        mr__jpeg_rows_part *p = &rows->part[i];
        p->stride = stride_of(rows, i);
        p->rows = p->band * rows->layout.part[i].size;
        p->samples = memory + KEPT_MAX * p->stride;
        memory += plane_nbytes(rows, i);
    }
}

/* The rows of samples that one row of pixels needs. */
static mr_rect samples_for(const mr__jpeg_rows *rows, uint32_t part, uint32_t row)
{
    mr_rect line = {rows->region.x, row, rows->region.width, 1};
    return mr__jpeg_layout_samples(&rows->layout, part, line);
}

static bool is_row_ready(const mr__jpeg_rows *rows, uint32_t row, uint32_t band)
{
    for (uint32_t i = 0; i < rows->parts; i++) {
        mr_rect need = samples_for(rows, i, row);
        if (need.y + need.height > (band + 1) * rows->part[i].rows)
            return false;
    }
    return true;
}

/* Where the rows of pixels end that can be made once this band is there. */
static uint32_t rows_end(const mr__jpeg_rows *rows, uint32_t band)
{
    uint32_t end = rows->region.y + rows->region.height;
    uint32_t below = (band + 1) * rows->part[0].rows * rows->layout.part[0].down;
    if (below < end)
        end = below;
    while (end > rows->next && !is_row_ready(rows, end - 1, band))
        end--;
    return end;
}

static void make_pixels(mr__jpeg_rows *rows, uint32_t band, uint32_t end)
{
    mr__jpeg_samples parts[MR__JPEG_PARTS_MAX];
    for (uint32_t i = 0; i < rows->parts; i++) {
        const mr__jpeg_rows_part *p = &rows->part[i];
        parts[i] = (mr__jpeg_samples){.samples = p->samples - (ptrdiff_t)p->kept * p->stride,
                                      .stride = p->stride,
                                      .left = p->left * rows->layout.part[i].size,
                                      .top = band * p->rows - p->kept};
    }
    mr_image to = rows->to;
    to.height = end - rows->next;
    to.pixels = (uint8_t *)to.pixels + (ptrdiff_t)(rows->next - rows->region.y) * to.stride;
    mr_rect piece = {rows->region.x, rows->next, rows->region.width, to.height};
    mr__jpeg_assemble(rows->kernels, &rows->layout, parts, piece, rows->work, &to);
}

/* Moves what the next rows of pixels need of this band to the top. */
static bool keep_rows(mr__jpeg_rows *rows, uint32_t band)
{
    for (uint32_t i = 0; i < rows->parts; i++) {
        mr__jpeg_rows_part *p = &rows->part[i];
        uint32_t first = samples_for(rows, i, rows->next).y, end = (band + 1) * p->rows;
        p->kept = first < end ? end - first : 0;
        if (p->kept > KEPT_MAX || p->kept > p->rows)
            return false;
        size_t nbytes = p->kept * (size_t)p->stride;
        memcpy(p->samples - nbytes, p->samples + p->rows * (size_t)p->stride - nbytes, nbytes);
    }
    return true;
}

bool mr__jpeg_rows_finish(mr__jpeg_rows *rows, uint32_t band)
{
    uint32_t end = rows_end(rows, band);
    if (end > rows->next)
        make_pixels(rows, band, end);
    rows->next = end;
    return mr__jpeg_rows_are_done(rows) || keep_rows(rows, band);
}
