// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/block_read.h"
#include "codec/jpeg/scan_kernels.h"

/*
 * A little zero behind the interval: what a symbol that goes beyond the end is made of, so that its fault is the same
 * whatever was there. What follows is left from longer intervals before, or zero: reading it is a fault anyway, and
 * only has to be possible. So intervals of one MCU, and small images, are cheap.
 */
static void fill_slack(mr__jpeg_reader *r)
{
    memset(r->data + r->data_nbytes, 0, 64);
}

/*
 * Copies what follows `from` up to a marker, without the zero bytes that stand behind each ff. Bytes ff before a
 * marker are fill: the marker begins at the first of them. A forged index may lead to a marker that ends behind
 * `until`: then there is nothing.
 */
void mr__jpeg_reader_take(mr__jpeg_reader *r, size_t from)
{
    size_t until = r->until != 0 ? r->until : r->call->nbytes;
    size_t nbytes = from < until ? until - from : 0;
    size_t taken = r->unstuff(r->call->bytes + from, nbytes, r->data, &r->data_nbytes);
    r->end = nbytes - taken < 2 ? r->call->nbytes : from + taken;
    fill_slack(r);
    r->from = from;
    r->bits = (mr__bits){.next = r->data};
    r->end_run = 0;
    memset(r->before, 0, sizeof r->before);
}

size_t mr__jpeg_reader_offset(const mr__jpeg_reader *r, uint64_t taken)
{
    size_t at = r->from;
    for (; taken != 0 && at < r->end; taken--)
        at += r->call->bytes[at] == 0xff ? 2 : 1;
    return at;
}

size_t mr__jpeg_reader_marker(const mr__jpeg_reader *r)
{
    size_t at = r->end;
    while (at < r->call->nbytes && r->call->bytes[at] == 0xff)
        at++;
    return at;
}

/* More data is needed than there is before a marker, or the end of the file. */
static int fail_over(mr__jpeg_reader *r)
{
    size_t at = r->end, marker = mr__jpeg_reader_marker(r);
    if (marker == r->call->nbytes)
        return mr__call_fail(r->call, MR_ETRUNCATED,
                             "truncated JPEG: expected more image data at byte %zu (scan ffda at byte %zu)", at,
                             r->scan->at);
    if (r->call->bytes[marker] == 0)
        return mr__jpeg_fail_fill(r->call, at);
    return mr__call_fail(r->call, MR_ECORRUPT,
                         "damaged JPEG: marker ff%02x at byte %zu, where image data should be (scan ffda at byte %zu)",
                         r->call->bytes[marker], at, r->scan->at);
}

int mr__jpeg_reader_fail(mr__jpeg_reader *r)
{
    uint64_t taken = mr__bits_taken(&r->bits, r->data), there = (uint64_t)r->data_nbytes * 8;
    size_t at = mr__jpeg_reader_offset(r, taken / 8);
    // Where less is left than the longest code and a bit, a code is not bad but cut.
    bool is_cut = r->fault == MR__JPEG_BAD_CODE && there - taken <= MR__HUFFMAN_LENGTH_MAX;
    if (taken > there || is_cut)
        r->fault = MR__JPEG_OVER;
    switch (r->fault) {
    case MR__JPEG_OVER:
        return fail_over(r);
    case MR__JPEG_BAD_RANGE:
        return mr__call_fail(r->call, MR_EUNSUPPORTED,
                             "JPEG with a coefficient out of range before byte %zu, which is not supported", at);
    case MR__JPEG_STRANGE:
        return mr__call_fail(r->call, MR_EUNSUPPORTED,
                             "JPEG with coefficients that no image has, before byte %zu, which is not supported", at);
    case MR__JPEG_BAD_CODE:
        break;
    }
    return mr__call_fail(r->call, MR_ECORRUPT, "damaged JPEG: a bad Huffman code at byte %zu (scan ffda at byte %zu)",
                         at, r->scan->at);
}

int mr__jpeg_reader_end(mr__jpeg_reader *r, size_t *left)
{
    uint64_t taken = mr__bits_taken(&r->bits, r->data), there = (uint64_t)r->data_nbytes * 8;
    if (taken > there)
        return fail_over(r);
    if (r->end_run != 0)
        return mr__call_fail(r->call, MR_EUNSUPPORTED,
                             "JPEG with an end of %u blocks more than there are before byte %zu", r->end_run, r->end);
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

/* The marker that ends the interval is not the one that must be there. */
static int fail_restart(mr__jpeg_reader *r, uint32_t expected)
{
    size_t marker = mr__jpeg_reader_marker(r);
    if (marker == r->call->nbytes)
        return mr__call_fail(r->call, MR_ETRUNCATED, "truncated JPEG: expected restart marker ff%02x at byte %zu",
                             expected, r->end);
    if (r->call->bytes[marker] == 0)
        return fail_over(r);
    return mr__call_fail(r->call, MR_ECORRUPT,
                         "damaged JPEG: marker ff%02x at byte %zu, where restart marker ff%02x should be",
                         r->call->bytes[marker], r->end, expected);
}

int mr__jpeg_reader_restart(mr__jpeg_reader *r, uint32_t number)
{
    size_t left = 0, marker = mr__jpeg_reader_marker(r);
    uint32_t expected = MR__JPEG_RST0 + (number - 1) % 8;
    int result = mr__jpeg_reader_end(r, &left);
    if (result != 0)
        return result;
    if (marker == r->call->nbytes || r->call->bytes[marker] != expected)
        return fail_restart(r, expected);
    if (left != 0)
        mr__call_warn(r->call, "JPEG: %zu bytes too many before restart marker ff%02x at byte %zu", left, expected,
                      r->end);
    mr__jpeg_reader_take(r, marker + 1);
    return 0;
}

static int read_restart(void *user, uint32_t number)
{
    return mr__jpeg_reader_restart(user, number);
}

static const mr__jpeg_visitor reading = {read_mcus, read_restart};

static bool has_large(const uint16_t quant[64])
{
    uint16_t found = 0; // as wide as they are, so that several are looked at at once
    for (size_t k = 0; k < 64; k++)
        found |= (uint16_t)(quant[k] > MR__BLOCK_QUANT_MAX);
    return found != 0;
}

void mr__jpeg_reader_prepare(mr__jpeg_reader *r, mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4])
{
    const mr__jpeg_scan *s = &walk->scan;
    bool progressive = walk->frame->progressive;
    mr__jpeg_scans kernels;
    mr__jpeg_scans_init(&kernels, walk->call->cpu);
    *r = (mr__jpeg_reader){.call = walk->call, .scan = s, .frame = walk->frame, .data = data};
    r->read = kernels.read;
    r->unstuff = kernels.unstuff;
    for (uint32_t i = 0; i < s->count; i++) {
        r->dc[i] = &tables[0][s->dc[i]];
        r->ac[i] = &tables[1][s->ac[i]];
        r->quant[i] = walk->frame->quant[walk->frame->plane[s->component[i]].table];
        uint32_t quant = r->quant[i][0] != 0 ? r->quant[i][0] : 1;
        r->dc_least[i] = 32768 / quant;
        r->dc_range[i] = r->dc_least[i] + 32767 / quant;
        r->careful |= has_large(r->quant[i]);
        if (s->first == 0 && s->high == 0)
            mr__huffman_reader_init(&tables[0][s->dc[i]], &walk->huffman[0][s->dc[i]],
                                    progressive ? MR__HUFFMAN_SYMBOLS : MR__HUFFMAN_DC);
        if (s->last != 0)
            mr__huffman_reader_init(&tables[1][s->ac[i]], &walk->huffman[1][s->ac[i]],
                                    progressive ? MR__HUFFMAN_SYMBOLS : MR__HUFFMAN_AC);
    }
}

void mr__jpeg_reader_init(mr__jpeg_reader *r, mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4])
{
    mr__jpeg_reader_prepare(r, walk, data, tables);
    mr__jpeg_reader_take(r, walk->at);
}

int mr__jpeg_scan_read(mr__jpeg_walk *walk, uint8_t *data, mr__huffman_reader tables[2][4])
{
    mr__jpeg_reader r;
    uint32_t codes[1 << MR__BAND_BITS];
    size_t left = 0;
    mr__jpeg_reader_init(&r, walk, data, tables);
    if (walk->frame->progressive)
        r.read = mr__jpeg_read_progressive(&r, codes);
    int result = mr__jpeg_scan_each(&walk->scan, &reading, &r);
    if (result == 0)
        result = mr__jpeg_reader_end(&r, &left);
    // Bytes too many belong to nothing, of which the walk warns.
    walk->at = left == 0 ? r.end : mr__jpeg_reader_offset(&r, r.data_nbytes - left);
    return result;
}
