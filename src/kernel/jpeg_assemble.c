// SPDX-License-Identifier: Apache-2.0
#include "kernel/jpeg_assemble.h"

#include "base/size.h"

#include <string.h>

enum { FACTOR_MAX = 4, SIDE_MAX = 65535, BLOCK = 8 };

/* Before the first sum of a line: the neighbour on its left, and alignment. */
enum { SUM_FRONT = 32 };

static bool is_frame_sane(const mr__jpeg_frame *frame)
{
    if (frame->width == 0 || frame->height == 0 || frame->width > SIDE_MAX || frame->height > SIDE_MAX)
        return false;
    if (frame->parts != 1 && frame->parts != 3)
        return false;
    for (uint32_t k = 0; k < frame->parts; k++)
        if (frame->h[k] < 1 || frame->v[k] < 1 || frame->h[k] > FACTOR_MAX || frame->v[k] > FACTOR_MAX)
            return false;
    return true;
}

static uint32_t most(const uint8_t *factors, uint32_t count)
{
    uint32_t result = 0;
    for (uint32_t k = 0; k < count; k++)
        result = factors[k] > result ? factors[k] : result;
    return result;
}

/*
 * A reduced image has blocks of `least` samples. A component that would then have to be upsampled is reduced less
 * instead, as long as twice its size divides the image's evenly both ways.
 */
static uint32_t part_size(uint32_t least, uint32_t h, uint32_t v, uint32_t h_most, uint32_t v_most)
{
    uint32_t size = least;
    while (size < BLOCK && h_most * least % (h * size * 2) == 0 && v_most * least % (v * size * 2) == 0)
        size *= 2;
    return size;
}

/* Blending needs more than one sample a block and, across, more than two columns; where it cannot be, boxes are. */
static mr__jpeg_rise choose_rise(const mr__jpeg_part *part, bool blends)
{
    bool blends_across = blends && part->width > 2;
    if (part->across == 1 && part->down == 1)
        return MR__JPEG_RISE_NONE;
    if (part->across == 2 && part->down == 1 && blends_across)
        return MR__JPEG_RISE_H2V1;
    if (part->across == 1 && part->down == 2 && blends)
        return MR__JPEG_RISE_H1V2;
    if (part->across == 2 && part->down == 2 && blends_across)
        return MR__JPEG_RISE_H2V2;
    return MR__JPEG_RISE_BOX;
}

bool mr__jpeg_layout_init(mr__jpeg_layout *layout, const mr__jpeg_frame *frame, uint32_t reduce)
{
    if (!is_frame_sane(frame) || (reduce != 1 && reduce != 2 && reduce != 4 && reduce != 8))
        return false;
    uint32_t least = BLOCK / reduce, h_most = most(frame->h, frame->parts), v_most = most(frame->v, frame->parts);
    mr__jpeg_layout made = {.parts = frame->parts, .rgb = frame->parts == 3 && frame->rgb};
    made.width = mr__ceil_div(frame->width, reduce);
    made.height = mr__ceil_div(frame->height, reduce);
    for (uint32_t k = 0; k < frame->parts; k++) {
        mr__jpeg_part *part = &made.part[k];
        uint32_t size = part_size(least, frame->h[k], frame->v[k], h_most, v_most);
        uint32_t h = frame->h[k] * size / least, v = frame->v[k] * size / least;
        if ((h_most % h != 0 || v_most % v != 0) && !(frame->luma_only && k != 0))
            return false;
        part->size = (uint8_t)size;
        part->idct = size == 8 ? 0 : size == 4 ? 1 : size == 2 ? 2 : 3;
        part->across = (uint8_t)(h_most / h);
        part->down = (uint8_t)(v_most / v);
        part->width = mr__ceil_div(frame->width * frame->h[k] * size, h_most * BLOCK);
        part->height = mr__ceil_div(frame->height * frame->v[k] * size, v_most * BLOCK);
        part->blocks_w = mr__ceil_div(part->width, size);
        part->blocks_h = mr__ceil_div(part->height, size);
        part->rise = choose_rise(part, least > 1);
    }
    *layout = made;
    return true;
}

/* Of pixels first to last, the samples of which they are made: the first and the last of them. */
typedef struct span {
    uint32_t first, last;
} span;

static span samples_of(span pixels, uint32_t times, bool blends, uint32_t size)
{
    span s = {pixels.first / times, pixels.last / times};
    if (blends) {
        s.first -= pixels.first % 2 == 0 && s.first > 0;
        s.last += pixels.last % 2 == 1 && s.last < size - 1;
    }
    return s;
}

static bool blends_across(const mr__jpeg_part *part)
{
    return part->rise == MR__JPEG_RISE_H2V1 || part->rise == MR__JPEG_RISE_H2V2;
}

static bool blends_down(const mr__jpeg_part *part)
{
    return part->rise == MR__JPEG_RISE_H1V2 || part->rise == MR__JPEG_RISE_H2V2;
}

static span columns_of(const mr__jpeg_part *part, mr_rect region)
{
    span pixels = {region.x, region.x + region.width - 1};
    return samples_of(pixels, part->across, blends_across(part), part->width);
}

mr_rect mr__jpeg_layout_samples(const mr__jpeg_layout *layout, uint32_t part, mr_rect region)
{
    const mr__jpeg_part *p = &layout->part[part];
    span pixels = {region.y, region.y + region.height - 1};
    span x = columns_of(p, region), y = samples_of(pixels, p->down, blends_down(p), p->height);
    return (mr_rect){x.first, y.first, x.last - x.first + 1, y.last - y.first + 1};
}

mr_rect mr__jpeg_layout_blocks(const mr__jpeg_layout *layout, uint32_t part, mr_rect region)
{
    mr_rect s = mr__jpeg_layout_samples(layout, part, region);
    uint32_t size = layout->part[part].size;
    uint32_t x = s.x / size, y = s.y / size;
    return (mr_rect){x, y, (s.x + s.width - 1) / size - x + 1, (s.y + s.height - 1) / size - y + 1};
}

/* A line of the work area holds `width` bytes, or sums of two pixels each with what stands around them. */
static size_t line_nbytes(uint32_t width)
{
    return ((size_t)width + 2 * SUM_FRONT + 2 * MR__JPEG_SLACK + 63) / 64 * 64;
}

enum { LINES = 3 }; /* of each part: two of sums, one of bytes */

size_t mr__jpeg_assemble_nbytes(uint32_t width)
{
    return MR__JPEG_PARTS_MAX * LINES * line_nbytes(width);
}

/* One part on its way to the size of the image. */
typedef struct climb {
    const mr__jpeg_pixels *kernels;
    const mr__jpeg_part *part;
    const mr__jpeg_samples *from;
    uint32_t pixels;   /* of a row */
    uint32_t skip;     /* pixels of the first sample that lie before the region */
    uint32_t at, last; /* the samples under the region's first and last pixel */
    span columns;      /* those and their neighbours */
    int16_t *sums[2];  /* by the parity of the row; they point at the sum of `at` */
    uint8_t *bytes;
} climb;

static climb start_climb(const mr__jpeg_pixels *kernels, const mr__jpeg_part *part, const mr__jpeg_samples *from,
                         mr_rect region, uint8_t *lines)
{
    size_t nbytes = line_nbytes(region.width);
    return (climb){
        .kernels = kernels,
        .part = part,
        .from = from,
        .pixels = region.width,
        .skip = region.x % part->across,
        .at = region.x / part->across,
        .last = (region.x + region.width - 1) / part->across,
        .columns = columns_of(part, region),
        .sums = {(int16_t *)(void *)lines + SUM_FRONT, (int16_t *)(void *)(lines + nbytes) + SUM_FRONT},
        .bytes = lines + 2 * nbytes,
    };
}

static const uint8_t *sample_at(const climb *c, uint32_t x, uint32_t y)
{
    uint32_t row = y - c->from->top;
    if (c->from->ring != 0)
        row %= c->from->ring;
    return c->from->samples + (ptrdiff_t)row * c->from->stride + (x - c->from->left);
}

/* The line of sums for row `y` of the image. The image's edge is its own neighbour. */
static const int16_t *make_sums(const climb *c, uint32_t y)
{
    const mr__jpeg_part *part = c->part;
    int16_t *sums = c->sums[y % 2];
    uint32_t x = c->columns.first, count = c->columns.last - x + 1;
    int16_t *to = sums - (c->at - x);
    if (part->rise == MR__JPEG_RISE_H2V2)
        c->kernels->sum(sample_at(c, x, y / 2), sample_at(c, x, mr__jpeg_far(y, part->height)), to, count);
    else
        c->kernels->quadruple(sample_at(c, x, y), to, count);
    if (c->at == 0)
        sums[-1] = sums[0];
    if (c->last == part->width - 1)
        sums[c->last - c->at + 1] = sums[c->last - c->at];
    return sums;
}

static mr__jpeg_bias bias_of(const mr__jpeg_part *part)
{
    return part->rise == MR__JPEG_RISE_H2V2 ? MR__JPEG_BIAS_H2V2 : MR__JPEG_BIAS_H2V1;
}

/* The bytes for row `y` of the image, from the region's first column on. */
static const uint8_t *make_bytes(const climb *c, uint32_t y)
{
    const mr__jpeg_part *part = c->part;
    uint32_t x = c->at;
    switch (part->rise) {
    case MR__JPEG_RISE_NONE:
        return sample_at(c, x, y);
    case MR__JPEG_RISE_BOX:
        if (part->across == 1)
            return sample_at(c, x, y / part->down);
        c->kernels->repeat(sample_at(c, x, y / part->down), part->across, c->skip, c->bytes, c->pixels);
        break;
    case MR__JPEG_RISE_H1V2:
        c->kernels->between(sample_at(c, x, y / 2), sample_at(c, x, mr__jpeg_far(y, part->height)),
                            y % 2 == 0 ? MR__JPEG_H1V2_ABOVE : MR__JPEG_H1V2_BELOW, c->bytes, c->pixels);
        break;
    default:
        c->kernels->widen(make_sums(c, y), bias_of(part), c->skip, c->bytes, c->pixels);
        break;
    }
    return c->bytes;
}

static uint8_t *row_of(const mr_image *to, uint32_t y)
{
    return (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride;
}

static void assemble_one(const climb *c, uint32_t y, const mr_image *to)
{
    for (uint32_t r = 0; r < to->height; r++) {
        const uint8_t *bytes = make_bytes(c, y + r);
        if (to->channels == 1)
            memcpy(row_of(to, r), bytes, to->width);
        else
            c->kernels->thrice(bytes, row_of(to, r), to->width);
    }
}

static void assemble_three(const climb c[3], bool rgb, uint32_t y, const mr_image *to)
{
    for (uint32_t r = 0; r < to->height; r++) {
        const uint8_t *bytes[3];
        for (size_t k = 0; k < 3; k++)
            bytes[k] = make_bytes(&c[k], y + r);
        if (rgb)
            c->kernels->interleave(bytes[0], bytes[1], bytes[2], row_of(to, r), to->width);
        else
            c->kernels->ycc(bytes[0], bytes[1], bytes[2], row_of(to, r), to->width);
    }
}

/*
 * The usual 4:2:0 and 4:2:2: colour straight from the sums. They are made a row ahead, as loads that straddle stores
 * which are still under way would wait for them.
 */
static void assemble_widened(const climb c[3], uint32_t y, const mr_image *to)
{
    const int16_t *cb = make_sums(&c[1], y), *cr = make_sums(&c[2], y);
    for (uint32_t r = 0; r < to->height; r++) {
        const int16_t *next_cb = cb, *next_cr = cr;
        if (r + 1 < to->height) {
            next_cb = make_sums(&c[1], y + r + 1);
            next_cr = make_sums(&c[2], y + r + 1);
        }
        c->kernels->ycc_widen(make_bytes(&c[0], y + r), cb, cr, bias_of(c[1].part), c[1].skip, row_of(to, r),
                              to->width);
        cb = next_cb;
        cr = next_cr;
    }
}

void mr__jpeg_assemble(const mr__jpeg_pixels *kernels, const mr__jpeg_layout *layout, const mr__jpeg_samples *parts,
                       mr_rect region, void *work, const mr_image *to)
{
    climb c[MR__JPEG_PARTS_MAX];
    uint32_t count = to->channels == 1 ? 1 : layout->parts;
    for (uint32_t k = 0; k < count; k++)
        c[k] = start_climb(kernels, &layout->part[k], &parts[k], region,
                           (uint8_t *)work + k * LINES * line_nbytes(region.width));
    if (count == 1)
        assemble_one(c, region.y, to);
    else if (!layout->rgb && blends_across(c[1].part) && c[1].part->rise == c[2].part->rise)
        assemble_widened(c, region.y, to);
    else
        assemble_three(c, layout->rgb, region.y, to);
}
