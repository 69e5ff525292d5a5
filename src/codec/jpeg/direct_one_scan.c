// SPDX-License-Identifier: Apache-2.0
/*
 * A sequential JPEG whose one scan has all components: read, transformed and made pixels a row of MCUs at a time, 16
 * MCUs at once. What is not needed is read over; nothing behind the last MCU needed is decoded.
 *
 * Invariant: strips are zero before a group of MCUs is read, because transforming clears them.
 */
#include "codec/jpeg/direct.h"

#include "codec/jpeg/index.h"

enum { GROUP = MR__JPEG_STRIP }; /* MCUs */

/* Where at most 8 blocks are side by side, two rows of them share a strip: the first row has the second as its mate. */
typedef struct mate {
    enum { ALONE, FIRST, SECOND } role;
    uint32_t part, y;
} mate;

typedef struct reading {
    mr__direct_job *job;
    mr__jpeg_reader reader;
    mr__jpeg_guide guide; /* where reading begins */
    uint32_t unit_count;
    uint32_t left;     /* MCUs to the next restart */
    uint32_t interval; /* number of the one at hand */
    mr__jpeg_read_lanes *read;
    int16_t *strip[MR__JPEG_PLANE_MAX][4][4]; /* by part, row of blocks in an MCU, and 16 columns */
    uint8_t number[MR__JPEG_PLANE_MAX][4][4]; /* of that strip, for reader.last */
    mate mate[MR__JPEG_PLANE_MAX][4];         /* of a row of blocks */
    mr__jpeg_lane lanes[GROUP * MR__JPEG_MCU_MAX];
} reading;

/* Whether blocks of two parts can be transformed together. */
static bool are_alike(const mr__direct_job *j, uint32_t a, uint32_t b)
{
    return j->frame.plane[a].table == j->frame.plane[b].table &&
           j->rows.layout.part[a].idct == j->rows.layout.part[b].idct &&
           j->rows.part[a].stride == j->rows.part[b].stride;
}

/* The row takes the second half of the strip that the row before it began, which *open tells. */
static bool join(reading *r, mate *open, uint32_t part, uint32_t y)
{
    bool is_narrow = r->job->mcus.width * mr__jpeg_across(&r->job->frame, part) <= MR__JPEG_STRIP / 2;
    is_narrow = is_narrow && r->job->sink == NULL;
    if (!is_narrow || open->role == ALONE || !are_alike(r->job, open->part, part)) {
        *open = (mate){is_narrow ? FIRST : ALONE, part, y};
        return false;
    }
    r->mate[open->part][open->y] = (mate){FIRST, part, y};
    r->mate[part][y] = (mate){SECOND, open->part, open->y};
    r->strip[part][y][0] = r->strip[open->part][open->y][0] + MR__JPEG_STRIP / 2;
    r->number[part][y][0] = r->number[open->part][open->y][0];
    open->role = ALONE;
    return true;
}

static void number_strips(reading *r)
{
    const mr__direct_job *j = r->job;
    int16_t *next = (int16_t *)(void *)j->direct->strips.bytes;
    uint8_t number = 0;
    mate open = {ALONE, 0, 0};
    for (uint32_t i = 0; i < j->rows.parts; i++)
        for (uint32_t y = 0; y < j->rows.part[i].band; y++)
            if (!join(r, &open, i, y))
                for (uint32_t x = 0; x < mr__jpeg_across(&j->frame, i); x++, next += 64 * MR__JPEG_STRIP) {
                    r->strip[i][y][x] = next;
                    r->number[i][y][x] = number++;
                }
}

/* Strips for all blocks of 16 MCUs; what no part of the result needs goes to one strip that nobody looks at. */
static int place_strips(reading *r)
{
    mr__direct_job *j = r->job;
    size_t nbytes = (MR__JPEG_STRIPS_MAX + 1) * MR__JPEG_STRIP_NBYTES;
    bool is_new = j->direct->strips.capacity < nbytes;
    int result = mr__call_reserve(j->call, &j->direct->strips, nbytes);
    if (result != 0)
        return result;
    if (is_new)
        memset(j->direct->strips.bytes, 0, nbytes);
    number_strips(r);
    return 0;
}

static mr__jpeg_lane lane_of(const reading *r, uint32_t part, uint32_t x, uint32_t y)
{
    if (part >= r->job->rows.parts)
        return (mr__jpeg_lane){(int16_t *)(void *)r->job->direct->strips.bytes +
                                   (size_t)MR__JPEG_STRIPS_MAX * 64 * MR__JPEG_STRIP,
                               (uint8_t)part, MR__JPEG_STRIPS_MAX - 1};
    uint32_t strip = x / MR__JPEG_STRIP;
    return (mr__jpeg_lane){r->strip[part][y][strip] + x % MR__JPEG_STRIP, (uint8_t)part, r->number[part][y][strip]};
}

static void make_lanes(reading *r)
{
    const mr__jpeg_coefficients *f = &r->job->frame;
    mr__jpeg_lane *lane = r->lanes;
    uint32_t mcus = r->job->mcus.width < GROUP ? r->job->mcus.width : GROUP;
    for (uint32_t m = 0; m < mcus; m++)
        for (uint32_t i = 0; i < f->components; i++) {
            uint32_t h = mr__jpeg_across(f, i), v = mr__jpeg_down(f, i);
            for (uint32_t y = 0; y < v; y++)
                for (uint32_t x = 0; x < h; x++)
                    *lane++ = lane_of(r, i, m * h + x, y);
        }
    r->unit_count = (uint32_t)(lane - r->lanes) / mcus;
}

/* The next MCUs, over restarts. Lanes are for each of them, or for one when they are not kept. */
static int read_mcus(reading *r, mr__jpeg_read_lanes *read, const mr__jpeg_lane *lanes, uint32_t count)
{
    bool keeps = read != r->job->direct->scans.skip;
    while (count != 0) {
        uint32_t n = count;
        if (r->reader.scan->restart != 0) {
            if (r->left == 0) {
                int result = mr__jpeg_reader_restart(&r->reader, ++r->interval);
                if (result != 0)
                    return result;
                r->left = r->reader.scan->restart;
            }
            n = n < r->left ? n : r->left;
            r->left -= n;
        }
        if (!read(&r->reader, lanes, r->unit_count, n))
            return mr__jpeg_reader_fail(&r->reader);
        lanes += keeps ? (size_t)n * r->unit_count : 0;
        count -= n;
    }
    return 0;
}

static int skip_mcus(reading *r, uint32_t count)
{
    return read_mcus(r, r->job->direct->scans.skip, r->lanes, count);
}

/* One strip of a row of blocks, to `to`; its mate's blocks too. */
static void transform_strip(reading *r, uint32_t part, uint32_t y, uint32_t number, size_t groups, uint8_t *to)
{
    mr__direct_job *j = r->job;
    const mr__jpeg_part *shape = &j->rows.layout.part[part];
    const mate *m = &r->mate[part][y];
    ptrdiff_t step = (ptrdiff_t)8 * shape->size;
    if (m->role == FIRST) {
        groups = 2;
        step = mr__jpeg_rows_at(&j->rows, m->part, j->rows.part[m->part].left, m->y) - to;
    }
    j->direct->pixels.strip[shape->idct](r->strip[part][y][number], r->reader.quant[part],
                                         r->reader.last[r->number[part][y][number]], groups, to,
                                         j->rows.part[part].stride, step);
}

static bool is_needed(const reading *r, uint32_t part, uint32_t band, uint32_t y)
{
    return mr__direct_needs_row(r->job, part, band * r->job->rows.part[part].band + y);
}

/* The strips of a row of blocks, from column x on. */
static int transform_row(reading *r, uint32_t part, uint32_t band, uint32_t y, uint32_t mcu, uint32_t mcus)
{
    const mate *m = &r->mate[part][y];
    int result = 0;
    if (m->role == SECOND)
        return 0;
    uint32_t h = mr__jpeg_across(&r->job->frame, part), lanes = mcus * h;
    bool needed = is_needed(r, part, band, y) || (m->role == FIRST && is_needed(r, m->part, band, m->y));
    for (uint32_t s = 0; s * MR__JPEG_STRIP < lanes && result == 0; s++) {
        uint32_t x = mcu * h + s * MR__JPEG_STRIP;
        uint8_t *last = &r->reader.last[r->number[part][y][s]];
        int16_t *coef = r->strip[part][y][s];
        if (!needed)
            memset(coef, 0, MR__JPEG_STRIP_NBYTES);
        else if (r->job->sink != NULL)
            result = mr__direct_give_strip(r->job, part, x, band * r->job->rows.part[part].band + y, coef, *last);
        else
            transform_strip(r, part, y, s, lanes - s * MR__JPEG_STRIP > 8 ? 2 : 1,
                            mr__jpeg_rows_at(&r->job->rows, part, x, y));
        *last = 0;
    }
    return result;
}

static int read_group(reading *r, uint32_t band, uint32_t mcu, uint32_t mcus)
{
    int result = read_mcus(r, r->read, r->lanes, mcus);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < r->job->rows.parts; i++)
        for (uint32_t y = 0; y < r->job->rows.part[i].band && result == 0; y++)
            result = transform_row(r, i, band, y, mcu, mcus);
    return result;
}

/* One row of MCUs: those before the region, those of it; those behind it when more is to come. */
static int read_band(reading *r, uint32_t band)
{
    const mr_rect *need = &r->job->mcus;
    uint32_t right = need->x + need->width, wide = r->reader.scan->mcus_w;
    int result = skip_mcus(r, need->x);
    for (uint32_t x = need->x; result == 0 && x < right; x += GROUP)
        result = read_group(r, band, x, right - x < GROUP ? right - x : GROUP);
    if (result == 0)
        result = mr__direct_finish_band(r->job, band);
    if (result == 0 && band + 1 < need->y + need->height)
        result = skip_mcus(r, wide - right);
    return result;
}

/* What is behind the last pixel cannot change one: whatever is wrong there is a warning, as it is with libjpeg. */
static void check_tail(reading *r, mr__jpeg_walk *walk)
{
    mr__call *call = r->job->call;
    bool more = false;
    walk->at = r->reader.end;
    if (walk->at == call->nbytes)
        mr__call_warn(call, "JPEG without an end marker: it ends at byte %zu", walk->at);
    else if (mr__jpeg_walk_next(walk, &more) != 0)
        mr__call_warn(call, "%s (after the last pixel)", call->detail->text);
    else if (more)
        mr__call_warn(call, "JPEG: another scan, at byte %zu, after the last pixel", walk->scan.at);
    mr__detail_clear(call->detail);
}

/* After the last MCU needed: has all been there? If it was the image's last, a look at what is behind it. */
static int finish(reading *r, mr__jpeg_walk *walk)
{
    const mr_rect *need = &r->job->mcus;
    const mr__jpeg_scan *s = r->reader.scan;
    uint32_t mcus_w = s->mcus_w, mcus_h = s->mcus_h;
    size_t left = 0;
    int result = mr__jpeg_reader_end(&r->reader, &left);
    if (result != 0 || need->x + need->width != mcus_w || need->y + need->height != mcus_h)
        return result;
    if (left != 0)
        mr__call_warn(r->job->call, "JPEG: %zu bytes too many of image data before byte %zu", left, r->reader.end);
    check_tail(r, walk);
    return 0;
}

/* A failure leaves something in the strips. */
static void clear_strips(reading *r)
{
    mr__buffer *strips = &r->job->direct->strips;
    if (strips->bytes != NULL)
        memset(strips->bytes, 0, (MR__JPEG_STRIPS_MAX + 1) * MR__JPEG_STRIP_NBYTES);
}

static int read_bands(reading *r, mr__jpeg_walk *walk)
{
    const mr_rect *need = &r->job->mcus;
    int result = 0;
    for (uint32_t y = r->guide.row; result == 0 && y < need->y + need->height; y++) {
        result = mr__jpeg_guide_pass(&r->guide, &r->reader, y);
        if (result == 0)
            result = y < need->y ? skip_mcus(r, r->reader.scan->mcus_w) : read_band(r, y);
    }
    return result == 0 ? finish(r, walk) : result;
}

int mr__direct_one_scan(mr__direct_job *j, mr__jpeg_walk *walk)
{
    reading r = {.job = j};
    bool dc_only = true;
    for (uint32_t i = 0; i < j->rows.parts; i++)
        dc_only &= j->rows.layout.part[i].size == 1;
    r.read = dc_only ? j->direct->scans.lanes_dc : j->direct->scans.lanes;
    int result = mr__direct_check_quantisers(j);
    if (result == 0)
        result = mr__direct_begin(j);
    if (result == 0)
        result = mr__jpeg_coefficients_reserve(j->call, &j->direct->work);
    if (result == 0)
        result = place_strips(&r);
    if (result != 0)
        return result;
    mr__jpeg_reader_prepare(&r.reader, walk, j->direct->work.data.bytes, (void *)j->direct->work.tables.bytes);
    make_lanes(&r);
    result = mr__jpeg_guide_begin(&r.guide, &r.reader, j->request, walk->at, j->mcus.y, j->mcus.y + j->mcus.height);
    r.left = r.guide.left;
    r.interval = r.guide.interval;
    if (result == 0)
        result = mr__jpeg_guide_fail(&r.guide, j->call, read_bands(&r, walk));
    if (result != 0)
        clear_strips(&r);
    return result;
}
