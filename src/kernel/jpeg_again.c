// SPDX-License-Identifier: Apache-2.0
/*
 * By rows of squares of 16 x 16 pixels (MCUs): Y, Cb and Cr of a row are made, transformed there and back where they
 * lie, and as chroma is blended with that of the row below, the pixels of a row but its last come with it, and the last
 * with the next. So two rows of MCUs are in memory, by turns.
 */
#include "kernel/jpeg_again.h"

#include "base/size.h"

#include <string.h>

enum { MCU = 16, BLOCK = 8, GROUP = 64, ROWS = 2 };

/* Samples of one part, in groups of 8 blocks: ROWS rows of MCUs. */
typedef struct plane {
    uint8_t *samples;
    ptrdiff_t stride;
    uint32_t high; /* rows of samples of a row of MCUs */
} plane;

typedef struct storing {
    const mr__jpeg_again *again;
    mr__jpeg_forward forward;
    mr__jpeg_pixels back;
    mr__jpeg_layout layout;
    mr__jpeg_quant quant[2];
    mr_rect mcus;
    plane planes[MR__JPEG_PARTS_MAX];
    int16_t *coef;
    void *work; /* of the assembly */
} storing;

bool mr__jpeg_again_layout(uint32_t width, uint32_t height, uint32_t channels, mr__jpeg_layout *layout)
{
    mr__jpeg_frame frame = {width, height, channels, .h = {2, 1, 1}, .v = {2, 1, 1}};
    return mr__jpeg_layout_init(layout, &frame, 1);
}

/* The squares that a part of three components is made of; those of one are some of them. */
static mr_rect mcus_of(uint32_t width, uint32_t height, mr_rect wanted)
{
    mr__jpeg_layout layout;
    if (!mr__jpeg_again_layout(width, height, 3, &layout))
        return (mr_rect){0, 0, 0, 0};
    return mr__jpeg_layout_blocks(&layout, 1, wanted);
}

mr_rect mr__jpeg_again_need(uint32_t width, uint32_t height, mr_rect wanted)
{
    mr_rect mcus = mcus_of(width, height, wanted), need = {mcus.x * MCU, mcus.y * MCU, mcus.width * MCU, 0};
    need.height = mcus.height * MCU;
    if (need.width > width - need.x)
        need.width = width - need.x;
    if (need.height > height - need.y)
        need.height = height - need.y;
    return need;
}

/* Bytes of a row: of whole groups, and as much more as kernels write beyond what they make. */
static size_t stride_of(size_t samples)
{
    return (samples + GROUP - 1) / GROUP * GROUP + GROUP;
}

enum { Y_ROWS = ROWS * MCU, C_ROWS = ROWS * BLOCK, COEF_NBYTES = 64 * 16 * sizeof(int16_t) };

/* A part touches at most two squares more than it is wide, and its chroma two more. */
static size_t mcus_nbytes(uint32_t mcus)
{
    return Y_ROWS * stride_of((size_t)mcus * MCU) + 2 * C_ROWS * stride_of((size_t)mcus * BLOCK) + 2 * GROUP;
}

size_t mr__jpeg_again_nbytes(uint32_t width)
{
    return COEF_NBYTES + mcus_nbytes(width / MCU + 4) + mr__jpeg_assemble_nbytes(width);
}

static void start(storing *s, const mr__jpeg_again *again, mr__cpu_flags cpu, void *work)
{
    uint8_t *at = work;
    s->again = again;
    s->mcus = mcus_of(again->width, again->height, again->wanted);
    mr__jpeg_forward_init(&s->forward, cpu);
    mr__jpeg_pixels_init(&s->back, cpu);
    mr__jpeg_quant_init(&s->quant[0], again->quality, false);
    mr__jpeg_quant_init(&s->quant[1], again->quality, true);
    s->coef = (int16_t *)work;
    s->work = at += COEF_NBYTES;
    at += mr__jpeg_assemble_nbytes(again->wanted.width);
    for (size_t k = 0; k < s->layout.parts; k++) {
        plane *p = &s->planes[k];
        p->high = k == 0 ? MCU : BLOCK;
        p->samples = at;
        p->stride = (ptrdiff_t)stride_of((size_t)s->mcus.width * p->high);
        at += (size_t)p->stride * ROWS * p->high;
    }
}

/* Row `y` of a row of MCUs. */
static uint8_t *row_of(const plane *p, uint32_t mcu, uint32_t y)
{
    return p->samples + (ptrdiff_t)(mcu % ROWS * p->high + y) * p->stride;
}

/* Pixels of row `y` of the image, or of its last one, from the first of the squares on. */
static const uint8_t *pixels_of(const storing *s, uint32_t y)
{
    const mr__jpeg_again *a = s->again;
    uint32_t last = a->height - 1, x = s->mcus.x * MCU;
    const uint8_t *row =
        (const uint8_t *)a->from.pixels + (ptrdiff_t)((y < last ? y : last) - a->there.y) * a->from.stride;
    return row + (size_t)(x - a->there.x) * a->from.channels;
}

/* From the last sample on, `to` being the width of the plane. */
static void extend(uint8_t *row, size_t from, size_t to)
{
    memset(row + from, row[from - 1], to - from);
}

/*
 * Beyond the last pixel it is repeated, and halved as all others are: the rounding by turns goes on. Of an odd number
 * of pixels half a square is left, which is one of these.
 */
static void extend_halves(const uint8_t *const rows[2], size_t n, uint8_t *cb, uint8_t *cr, size_t to)
{
    uint8_t pixels[2][12], y[2][4], halves[2][2];
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < 4; i++)
            memcpy(pixels[r] + 3 * i, rows[r] + 3 * (n - 1), 3);
    mr__jpeg_halve_c(pixels[0], pixels[1], 2, y[0], y[1], halves[0], halves[1]);
    for (size_t at = n / 2; at < to; at++) {
        cb[at] = halves[0][at % 2];
        cr[at] = halves[1][at % 2];
    }
}

/* Rows 2 i and 2 i + 1 of a row of MCUs, and row i of its chroma, from `n` pixels of each. */
static void make_three(const storing *s, uint32_t mcu, uint32_t i, size_t n)
{
    const uint8_t *const rows[2] = {pixels_of(s, mcu * MCU + 2 * i), pixels_of(s, mcu * MCU + 2 * i + 1)};
    uint8_t *y[2] = {row_of(&s->planes[0], mcu, 2 * i), row_of(&s->planes[0], mcu, 2 * i + 1)};
    uint8_t *cb = row_of(&s->planes[1], mcu, i), *cr = row_of(&s->planes[2], mcu, i);
    s->forward.halve(rows[0], rows[1], n / 2, y[0], y[1], cb, cr);
    for (size_t r = 0; r < 2; r++) {
        if (n % 2 == 1)
            y[r][n - 1] = mr__jpeg_y(rows[r] + 3 * (n - 1));
        extend(y[r], n, (size_t)s->planes[0].stride - GROUP);
    }
    extend_halves(rows, n, cb, cr, (size_t)s->planes[1].stride - GROUP);
}

static void make_one(const storing *s, uint32_t mcu, uint32_t i, size_t n)
{
    for (uint32_t r = 2 * i; r < 2 * i + 2; r++) {
        uint8_t *y = row_of(&s->planes[0], mcu, r);
        memcpy(y, pixels_of(s, mcu * MCU + r), n);
        extend(y, n, (size_t)s->planes[0].stride - GROUP);
    }
}

/* Below the image its last rows of Y, Cb and Cr are repeated: those of chroma as they came to be, from an even row. */
static void repeat_row(const storing *s, uint32_t mcu, uint32_t i)
{
    for (size_t k = 0; k < s->layout.parts; k++) {
        const plane *p = &s->planes[k];
        uint32_t high = p->high / BLOCK, at = high * i;
        for (uint32_t r = 0; r < high; r++)
            memcpy(row_of(p, mcu, at + r), row_of(p, mcu, at - 1), (size_t)p->stride);
    }
}

static void make_samples(const storing *s, uint32_t mcu)
{
    const mr__jpeg_again *a = s->again;
    uint32_t left = s->mcus.x * MCU, n = s->mcus.width * MCU;
    if (n > a->width - left)
        n = a->width - left;
    for (uint32_t i = 0; i < BLOCK; i++)
        if (mcu * MCU + 2 * i >= a->height)
            repeat_row(s, mcu, i);
        else if (s->layout.parts == 3)
            make_three(s, mcu, i, n);
        else
            make_one(s, mcu, i, n);
}

/* Where group number `i` begins, of planes that have the same quantisers. */
static uint8_t *group_at(const storing *s, size_t k, uint32_t mcu, size_t i)
{
    const plane *p = &s->planes[k];
    size_t across = (size_t)p->stride / GROUP - 1, row = i / across;
    if (k != 0 && row == 1)
        return row_of(p + 1, mcu, 0) + i % across * GROUP;
    return row_of(p, mcu, (uint32_t)row * BLOCK) + i % across * GROUP;
}

/* There and back: two rows of groups, of Y or of Cb and Cr, two groups at a time. */
static void transform(const storing *s, size_t k, uint32_t mcu)
{
    ptrdiff_t stride = s->planes[k].stride;
    size_t count = 2 * ((size_t)stride / GROUP - 1);
    for (size_t i = 0; i < count; i += 2) {
        uint8_t *at = group_at(s, k, mcu, i), *next = group_at(s, k, mcu, i + 1);
        uint64_t bands = s->forward.fdct(at, stride, next - at, &s->quant[k != 0], s->coef);
        s->back.idct[0](s->coef, 16, bands, 2, at, stride, next - at);
    }
}

/* Rows `first` to `end` - 1 of the part that is wanted. */
static void assemble(const storing *s, uint32_t first, uint32_t end)
{
    const mr__jpeg_again *a = s->again;
    mr_rect band = {a->wanted.x, a->wanted.y + first, a->wanted.width, end - first};
    mr__jpeg_samples samples[MR__JPEG_PARTS_MAX];
    mr_image rows = a->to;
    rows.height = end - first;
    rows.pixels = (uint8_t *)a->to.pixels + (ptrdiff_t)first * a->to.stride;
    for (size_t k = 0; k < s->layout.parts; k++) {
        const plane *p = &s->planes[k];
        // Rows of MCUs lie by their number, and not by that of the first one.
        samples[k] = (mr__jpeg_samples){p->samples, p->stride, s->mcus.x * p->high, 0, ROWS * p->high};
    }
    mr__jpeg_assemble(&s->back, &s->layout, samples, band, s->work, &rows);
}

void mr__jpeg_again_run(const mr__jpeg_again *again, mr__cpu_flags cpu, void *work)
{
    storing s;
    uint32_t done = 0;
    if (!mr__jpeg_again_layout(again->width, again->height, again->from.channels, &s.layout))
        return;
    start(&s, again, cpu, work);
    for (uint32_t i = 0; i < s.mcus.height; i++) {
        uint32_t mcu = s.mcus.y + i, end = again->wanted.height;
        make_samples(&s, mcu);
        transform(&s, 0, mcu);
        if (s.layout.parts == 3)
            transform(&s, 1, mcu);
        if (i + 1 < s.mcus.height)
            end = mcu * MCU + MCU - 1 <= again->wanted.y ? 0 : mcu * MCU + MCU - 1 - again->wanted.y;
        end = end < again->wanted.height ? end : again->wanted.height;
        if (end > done) {
            assemble(&s, done, end);
            done = end;
        }
    }
}
