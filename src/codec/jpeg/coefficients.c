// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/coefficients.h"

#include "base/size.h"
#include "codec/jpeg/scan_read.h"
#include "codec/jpeg/scan_work.h"

enum { BLOCK_NBYTES = 64 * sizeof(int16_t) };

/* The blocks of a plane beyond its pixels: see mr__jpeg_coefficients_pad. */
static void pad_plane(mr__jpeg_plane *p)
{
    for (uint32_t y = 0; y < p->padded_h; y++)
        for (uint32_t x = y < p->blocks_h ? p->blocks_w : 0; x < p->padded_w; x++) {
            int16_t *block = p->blocks + ((size_t)y * p->padded_w + x) * 64;
            const int16_t *before = x % p->h != 0 ? block - 64 : block + ((ptrdiff_t)p->h - 1 - p->padded_w) * 64;
            memset(block, 0, BLOCK_NBYTES);
            block[0] = before[0];
        }
}

void mr__jpeg_coefficients_pad(mr__jpeg_coefficients *coefficients)
{
    for (uint32_t i = 0; i < coefficients->components; i++)
        pad_plane(&coefficients->plane[i]);
}

static int reserve_blocks(mr__call *call, mr__jpeg_coefficients *c, mr__buffer *buffer)
{
    size_t total = 0, nbytes[MR__JPEG_PLANE_MAX];
    for (uint32_t i = 0; i < c->components; i++) {
        const mr__jpeg_plane *p = &c->plane[i];
        if (!mr__size_mul(p->padded_w, p->padded_h, &nbytes[i]) || !mr__size_mul(nbytes[i], BLOCK_NBYTES, &nbytes[i]) ||
            !mr__size_add(total, nbytes[i], &total))
            return mr__call_fail(call, MR_ELIMIT, "JPEG of %u x %u: its coefficients do not fit into memory", c->width,
                                 c->height);
    }
    int result = mr__call_reserve(call, buffer, total);
    if (result != 0)
        return result;
    uint8_t *next = buffer->bytes;
    for (uint32_t i = 0; i < c->components; next += nbytes[i++])
        c->plane[i].blocks = (int16_t *)(void *)next;
    return 0;
}

int mr__jpeg_coefficients_reserve(mr__call *call, mr__jpeg_coefficients_work *work)
{
    size_t tables_nbytes = 8 * sizeof(mr__huffman_reader), data_nbytes;
    bool had_tables = work->tables.bytes != NULL;
    if (!mr__size_add(call->nbytes, MR__BITS_SLACK, &data_nbytes))
        return mr__call_no_memory(call);
    int result = mr__call_reserve(call, &work->tables, tables_nbytes);
    if (result == 0 && !had_tables)
        memset(work->tables.bytes, 0, tables_nbytes);
    bool had_data = work->data.capacity >= data_nbytes;
    if (result == 0)
        result = mr__call_reserve(call, &work->data, data_nbytes);
    if (result == 0 && !had_data)
        memset(work->data.bytes, 0, data_nbytes);
    return result;
}

/* Whether the scan at which the walk stands, with those before it, is not too much work. */
static int check_work(mr__jpeg_walk *walk, mr__scan_work *done)
{
    const mr__jpeg_scan *s = &walk->scan;
    uint64_t blocks = s->count == 1 ? (uint64_t)s->mcus_w * s->mcus_h : 0;
    for (uint32_t i = 0; s->count > 1 && i < s->count; i++) {
        const mr__jpeg_plane *p = &walk->frame->plane[s->component[i]];
        blocks += (uint64_t)p->padded_w * p->padded_h;
    }
    return mr__scan_work_add(walk->call, done, blocks, s->at);
}

static int read_scans(mr__jpeg_walk *walk, mr__jpeg_coefficients_work *work)
{
    mr__huffman_reader(*tables)[4] = (void *)work->tables.bytes;
    mr__scan_work done = {0};
    for (uint32_t i = 0; i < walk->frame->components; i++)
        done.image += (uint64_t)walk->frame->plane[i].blocks_w * walk->frame->plane[i].blocks_h;
    bool more = true;
    while (more) {
        int result = check_work(walk, &done);
        if (result == 0)
            result = mr__jpeg_scan_read(walk, work->data.bytes, tables);
        if (result == 0)
            result = mr__jpeg_walk_next(walk, &more);
        if (result != 0)
            return result;
    }
    walk->frame->is_complete = true;
    for (uint32_t i = 0; i < walk->frame->components; i++) {
        if (!walk->interleaved[i])
            pad_plane(&walk->frame->plane[i]);
        for (uint32_t k = 0; k < 64; k++)
            walk->frame->is_complete &= walk->known[i][k] == 0;
    }
    return 0;
}

int mr__jpeg_coefficients_read_on(mr__jpeg_walk *walk, mr__jpeg_coefficients_work *work)
{
    int result = mr__jpeg_coefficients_reserve(walk->call, work);
    if (result == 0)
        result = reserve_blocks(walk->call, walk->frame, &work->blocks);
    return result == 0 ? read_scans(walk, work) : result;
}

int mr__jpeg_coefficients_read(mr__call *call, mr__jpeg_coefficients_work *work, mr__jpeg_coefficients *out)
{
    mr__jpeg_walk walk;
    mr__jpeg_coefficients made;
    mr_info info = {0};
    bool more;
    int result = mr__jpeg_walk_init(&walk, call, &made);
    if (result == 0)
        result = mr__jpeg_info(call, &info);
    if (result == 0)
        result = mr__jpeg_holds(call, &info);
    if (result == 0)
        result = mr__jpeg_walk_next(&walk, &more); // to a scan: the header has been read as far
    if (result == 0)
        result = mr__jpeg_coefficients_read_on(&walk, work);
    if (result != 0)
        return result;
    *out = made;
    return 0;
}

void mr__jpeg_coefficients_fini(mr__jpeg_coefficients_work *work, const mr_hooks *hooks)
{
    mr__buffer_fini(&work->blocks, hooks);
    mr__buffer_fini(&work->data, hooks);
    mr__buffer_fini(&work->tables, hooks);
}
