// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/block_read.h"
#include "codec/jpeg/scan_kernels.h"

/*
 * A little zero behind the interval: what a symbol that goes beyond the end is made of, so that its fault is the same
 * whatever was there. What follows is left from longer intervals before: reading it is a fault anyway, and only has to
 * be possible. So intervals of one MCU are cheap.
 */
static void fill_slack(mr__jpeg_reader *r)
{
    size_t end = r->data_nbytes + MR__BITS_SLACK, from = r->filled_nbytes;
    memset(r->data + r->data_nbytes, 0, 64);
    if (end <= from)
        return;
    from = from > r->data_nbytes ? from : r->data_nbytes;
    memset(r->data + from, 0, end - from);
    r->filled_nbytes = end;
}

/*
 * Copies what follows `from` up to a marker, without the zero bytes that stand behind each ff. Bytes ff before a
 * marker are fill: the marker begins at the first of them.
 */
static int take_interval(mr__jpeg_reader *r, size_t from)
{
    size_t nbytes = r->call->nbytes - from, taken = r->unstuff(r->call->bytes + from, nbytes, r->data, &r->data_nbytes);
    bool is_end = nbytes - taken < 2;
    if (is_end && !r->may_end)
        return mr__call_fail(r->call, MR_ETRUNCATED,
                             "truncated JPEG: the image data of the scan at byte %zu have no end", r->scan->at);
    r->end = is_end ? r->call->nbytes : from + taken;
    fill_slack(r);
    r->from = from;
    r->bits = (mr__bits){.next = r->data};
    r->end_run = 0;
    memset(r->before, 0, sizeof r->before);
    return 0;
}

size_t mr__jpeg_reader_offset(const mr__jpeg_reader *r, uint64_t taken)
{
    size_t at = r->from;
    for (; taken != 0 && at < r->end; taken--)
        at += r->call->bytes[at] == 0xff ? 2 : 1;
    return at;
}

int mr__jpeg_reader_fail(mr__jpeg_reader *r)
{
    uint64_t taken = mr__bits_taken(&r->bits, r->data);
    size_t at = mr__jpeg_reader_offset(r, taken / 8);
    if (taken > (uint64_t)r->data_nbytes * 8)
        r->fault = MR__JPEG_OVER;
    switch (r->fault) {
    case MR__JPEG_OVER:
        return mr__call_fail(r->call, MR_ECORRUPT,
                             "damaged JPEG: a marker at byte %zu, where image data should be (scan at byte %zu)",
                             r->end, r->scan->at);
    case MR__JPEG_BAD_RANGE:
        return mr__call_fail(r->call, MR_ECORRUPT, "damaged JPEG: a coefficient out of range before byte %zu", at);
    case MR__JPEG_STRANGE:
        return mr__call_fail(r->call, MR_EUNSUPPORTED,
                             "JPEG with coefficients that no image has, before byte %zu, which is not supported", at);
    case MR__JPEG_BAD_CODE:
        break;
    }
    return mr__call_fail(r->call, MR_ECORRUPT, "damaged JPEG: a bad Huffman code at byte %zu", at);
}

int mr__jpeg_reader_end(mr__jpeg_reader *r, size_t *left)
{
    uint64_t taken = mr__bits_taken(&r->bits, r->data), there = (uint64_t)r->data_nbytes * 8;
    r->fault = MR__JPEG_BAD_CODE;
    if (taken > there || r->end_run != 0)
        return mr__jpeg_reader_fail(r);
    *left = (size_t)((there - taken) / 8);
    return 0;
}

static int read_mcus(void *user, uint32_t x, uint32_t y, uint32_t count)
{
    mr__jpeg_reader *r = user;
    mr__jpeg_unit units[MR__JPEG_MCU_MAX];
    uint32_t n = mr__jpeg_scan_units(r->scan, r->frame, x, y, units);
    return r->read(r, units, n, count) ? 0 : mr__jpeg_reader_fail(r);
}

int mr__jpeg_reader_restart(mr__jpeg_reader *r, uint32_t number)
{
    size_t left = 0, at = r->end, end = r->call->nbytes;
    int result = mr__jpeg_reader_end(r, &left);
    if (result != 0)
        return result;
    while (at < end && r->call->bytes[at] == 0xff)
        at++;
    if (left != 0 || at == end || r->call->bytes[at] != MR__JPEG_RST0 + (number - 1) % 8)
        return mr__call_fail(r->call, MR_ECORRUPT,
                             "damaged JPEG: restart marker ff%02x is missing; image data ends at byte %zu",
                             MR__JPEG_RST0 + (number - 1) % 8, r->end - left);
    return take_interval(r, at + 1);
}

static int read_restart(void *user, uint32_t number)
{
    return mr__jpeg_reader_restart(user, number);
}

static const mr__jpeg_visitor reading = {read_mcus, read_restart};

int mr__jpeg_reader_init(mr__jpeg_reader *r, mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4],
                         bool may_end)
{
    const mr__jpeg_scan *s = &walk->scan;
    bool progressive = walk->frame->progressive;
    mr__jpeg_scans kernels;
    mr__jpeg_scans_init(&kernels, walk->call->cpu);
    *r = (mr__jpeg_reader){.call = walk->call, .scan = s, .frame = walk->frame, .data = data, .may_end = may_end};
    r->read = progressive ? mr__jpeg_read_progressive(s) : kernels.read;
    r->find = kernels.find;
    r->unstuff = kernels.unstuff;
    for (uint32_t i = 0; i < s->count; i++) {
        r->dc[i] = &tables[0][s->dc[i]];
        r->ac[i] = &tables[1][s->ac[i]];
        r->quant[i] = walk->frame->quant[walk->frame->plane[s->component[i]].table];
        for (uint32_t k = 0; k < 64; k++)
            r->careful |= r->quant[i][k] > MR__BLOCK_QUANT_MAX;
        if (s->first == 0 && s->high == 0)
            mr__huffman_reader_init(&tables[0][s->dc[i]], &walk->huffman[0][s->dc[i]],
                                    progressive ? MR__HUFFMAN_SYMBOLS : MR__HUFFMAN_DC);
        if (s->last != 0)
            mr__huffman_reader_init(&tables[1][s->ac[i]], &walk->huffman[1][s->ac[i]],
                                    progressive ? MR__HUFFMAN_SYMBOLS : MR__HUFFMAN_AC);
    }
    return take_interval(r, walk->at);
}

int mr__jpeg_scan_read(mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4])
{
    mr__jpeg_reader r;
    size_t left = 0;
    int result = mr__jpeg_reader_init(&r, walk, data, tables, false);
    if (result == 0)
        result = mr__jpeg_scan_each(&walk->scan, &reading, &r);
    if (result == 0)
        result = mr__jpeg_reader_end(&r, &left);
    // Bytes too many belong to nothing, of which the walk warns.
    walk->at = left == 0 ? r.end : mr__jpeg_reader_offset(&r, r.data_nbytes - left);
    return result;
}
