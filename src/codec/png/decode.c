// SPDX-License-Identifier: Apache-2.0
#include "codec/png/png.h"

#include "base/size.h"
#include "codec/png/inflate.h"

#include <string.h>

enum { FILTER_NONE = 0, FILTER_SUB = 1, FILTER_UP = 2, FILTER_AVERAGE = 3, FILTER_PAETH = 4, FILTER_COUNT = 5 };

enum {
    RING_ROWS = 8 /* those undone at once, and the one above */,
    DECOMPRESSOR_NBYTES = 16 << 10 /* about what libdeflate allocates */
};

static uint8_t filter_of(const mr__pass *pass, uint32_t y)
{
    return pass->raw[(size_t)y * pass->pitch];
}

static const uint8_t *row_of(const mr__pass *pass, uint32_t y)
{
    return pass->raw + (size_t)y * pass->pitch + 1;
}

uint32_t mr__pass_count(const mr__pass *pass, uint32_t y, uint32_t end)
{
    uint32_t run = 0;
    while (run < MR__UNFILTER_ROWS_MAX && run < end - y && filter_of(pass, y + run) == FILTER_PAETH)
        run++;
    return run == 4 ? 4 : run >= 2 ? 2 : 1;
}

static void undo_paeth(const mr__pass *pass, const mr__unfilter *kernels, uint32_t y, uint32_t count,
                       uint8_t *const to[], const uint8_t *above, size_t used)
{
    const uint8_t *from[MR__UNFILTER_ROWS_MAX];
    for (uint32_t i = 0; i < count; i++)
        from[i] = row_of(pass, y + i);
    mr__unfilter_rows *const *kernel = count == 4 ? kernels->paeth_quad : kernels->paeth_pair;
    kernel[pass->pixel](to, from, above, used);
}

void mr__pass_undo(const mr__pass *pass, const mr__unfilter *kernels, uint32_t y, uint32_t count, uint8_t *const to[],
                   const uint8_t *above, size_t used)
{
    const uint8_t *from = row_of(pass, y);
    if (count > 1) {
        undo_paeth(pass, kernels, y, count, to, above, used);
        return;
    }
    switch (filter_of(pass, y)) {
    case FILTER_SUB:
        kernels->sub[pass->pixel](to[0], from, above, used);
        break;
    case FILTER_UP:
        kernels->up(to[0], from, above, used);
        break;
    case FILTER_AVERAGE:
        kernels->average[pass->pixel](to[0], from, above, used);
        break;
    case FILTER_PAETH:
        kernels->paeth[pass->pixel](to[0], from, above, used);
        break;
    default:
        memcpy(to[0], from, used);
    }
}

/* A region's first rows need what is above them, but not beyond a row whose filter does not look up. */
static uint32_t first_row(const mr__pass *pass, uint32_t y)
{
    while (y > 0 && filter_of(pass, y) > FILTER_SUB)
        y--;
    return y;
}

void mr__png_decode_plain(const mr__png_state *state, const mr__pass *pass, const mr__ring *ring, mr__expand *expand,
                          mr_rect region, const mr_image *to)
{
    size_t used = (size_t)mr__png_row_nbytes(expand->png, region.x + region.width);
    bool direct = expand->plain && region.x == 0;
    uint32_t end = region.y + region.height;
    const uint8_t *above = ring->zeros;
    for (uint32_t y = first_row(pass, region.y), count; y < end; y += count) {
        uint8_t *target[MR__UNFILTER_ROWS_MAX], *pixels[MR__UNFILTER_ROWS_MAX];
        count = mr__pass_count(pass, y, end);
        for (uint32_t i = 0; i < count; i++) {
            bool wanted = y + i >= region.y;
            pixels[i] = wanted ? (uint8_t *)to->pixels + (ptrdiff_t)(y + i - region.y) * to->stride : NULL;
            target[i] = direct && wanted ? pixels[i] : ring->rows + (y + i) % RING_ROWS * ring->pitch;
        }
        mr__pass_undo(pass, &state->unfilter, y, count, target, above, used);
        for (uint32_t i = 0; i < count; i++)
            if (pixels[i] != NULL && pixels[i] != target[i])
                mr__expand_row(expand, pixels[i], target[i], region.x, region.width);
        above = target[count - 1];
    }
}

/* Rows with unknown filters: how many, and the first of them. */
typedef struct unknown {
    uint64_t count;
    uint32_t row;
    uint8_t filter;
} unknown;

/* Takes unknown filters of a pass for none. */
static void mend_filters(const mr__pass *pass, unknown *u)
{
    for (uint32_t y = 0; y < pass->height; y++) {
        uint8_t filter = filter_of(pass, y);
        if (filter < FILTER_COUNT)
            continue;
        if (u->count++ == 0) {
            u->row = y;
            u->filter = filter;
        }
        pass->raw[(size_t)y * pass->pitch] = FILTER_NONE;
    }
}

/* Unknown filters are damage that neither checksum has seen: the writer's own. */
static int check_filters(mr__call *call, const mr__png *png, const mr__pass *pass, size_t count, bool accept_damaged)
{
    unknown u = {0};
    for (size_t i = 0; i < count; i++)
        mend_filters(&pass[i], &u);
    if (u.count == 0)
        return 0;
    if (!accept_damaged)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged PNG: row %u has the unknown filter %u, in the image data from byte %zu on", u.row,
                             u.filter, png->data_at);
    mr__call_warn(call,
                  "PNG: %llu rows have unknown filters, the first of them row %u with filter %u, in the image data "
                  "from byte %zu on; taken for none",
                  (unsigned long long)u.count, u.row, u.filter, png->data_at);
    return 0;
}

static int get_decompressor(mr__call *call, mr__png_state *state)
{
    int result = mr__call_charge(call, DECOMPRESSOR_NBYTES);
    if (result != 0 || state->decompressor != NULL)
        return result;
    state->decompressor = libdeflate_alloc_decompressor();
    if (state->decompressor == NULL)
        return mr__call_fail(call, MR_ENOMEM, "out of memory: no room for libdeflate's decompressor");
    return 0;
}

static int measure_passes(mr__call *call, const mr__png *png, mr__pass pass[7], size_t *count, size_t *raw_nbytes)
{
    if (mr__png_passes(png, pass, count, raw_nbytes))
        return 0;
    return mr__call_fail(call, MR_ELIMIT, "png of %u x %u does not fit the address space", png->width, png->height);
}

/* Where damage is accepted this is not asked, and the memory limit has to do. */
int mr__png_holds(mr__call *call, const mr_info *info)
{
    mr__png png;
    mr__pass pass[7];
    size_t count, raw_nbytes, nbytes;
    (void)info;
    int result = mr__png_parse(call, false, &png);
    if (result == 0)
        result = measure_passes(call, &png, pass, &count, &raw_nbytes);
    if (result != 0)
        return result;
    nbytes = mr__png_data_nbytes(call, &png);
    if (raw_nbytes / MR__DEFLATE_RATIO_MAX > nbytes)
        return mr__call_fail(call, MR_ETRUNCATED,
                             "truncated PNG: %zu bytes of image data from byte %zu on cannot hold %u x %u pixels",
                             nbytes, png.data_at, png.width, png.height);
    return 0;
}

/* Gathers and inflates all passes into state->raw. */
static int inflate_passes(mr__call *call, const mr__png *png, bool accept_damaged, mr__pass pass[7], size_t *count)
{
    mr__png_state *state = call->state;
    mr__png_data data;
    size_t raw_nbytes;
    int result = measure_passes(call, png, pass, count, &raw_nbytes);
    if (result == 0)
        result = mr__png_gather(call, png, accept_damaged, &state->data, &data);
    if (result == 0)
        result = get_decompressor(call, state);
    if (result == 0)
        result = mr__call_reserve(call, &state->raw, raw_nbytes);
    if (result == 0)
        result = mr__png_inflate(call, state->decompressor, &data, accept_damaged, state->raw.bytes, raw_nbytes);
    uint8_t *raw = state->raw.bytes;
    for (size_t i = 0; result == 0 && i < *count; i++) {
        pass[i].raw = raw;
        raw += pass[i].pitch * pass[i].height;
    }
    return result != 0 ? result : check_filters(call, png, pass, *count, accept_damaged);
}

static int make_ring(mr__call *call, mr__png_state *state, size_t row_nbytes, mr__ring *ring)
{
    size_t pitch, nbytes;
    if (!mr__size_add(row_nbytes, MR__ALIGN - 1, &pitch) ||
        !mr__size_mul(pitch & ~(MR__ALIGN - 1), RING_ROWS + 1, &nbytes))
        return mr__call_fail(call, MR_ELIMIT, "png: a row does not fit the address space");
    int result = mr__call_reserve(call, &state->rows, nbytes);
    if (result != 0)
        return result;
    ring->pitch = pitch & ~(MR__ALIGN - 1);
    ring->rows = state->rows.bytes;
    memset(state->rows.bytes + RING_ROWS * ring->pitch, 0, ring->pitch);
    ring->zeros = state->rows.bytes + RING_ROWS * ring->pitch;
    return 0;
}

int mr__png_decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    mr__png_state *state = call->state;
    mr__png png;
    mr__pass pass[7];
    mr__ring ring;
    mr__expand expand;
    size_t count;
    int result = mr__png_parse(call, false, &png); // info has said what is odd
    if (result == 0)
        result = inflate_passes(call, &png, request->accept_damaged, pass, &count);
    if (result == 0)
        result = make_ring(call, state, (size_t)mr__png_row_nbytes(&png, png.width), &ring);
    if (result == 0)
        result = mr__expand_init(&expand, call, &png, to->channels, to->depth, &state->pixels);
    if (result != 0)
        return result;
    if (request->values)
        mr__expand_values(&expand);
    if (png.interlaced)
        mr__png_decode_adam7(state, pass, &ring, &expand, request->region, to);
    else
        mr__png_decode_plain(state, pass, &ring, &expand, request->region, to);
    if (expand.out_of_range)
        mr__call_warn(call, "PNG: pixels beyond the palette's %zu entries, shown black", png.palette.nbytes / 3);
    return 0;
}
