// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/size.h"
#include "codec/pnm/pnm.h"

#include <string.h>

/* round(v * full / maxval), halves up: v <= maxval <= 65535, so that 32 bits hold v * full + maxval / 2. */
static uint32_t scale(uint32_t v, uint32_t maxval)
{
    uint32_t full = maxval < 256 ? 255 : 65535;
    return (v * full + maxval / 2) / maxval;
}
_Static_assert(65535ull * 65535 + 65535 / 2 <= UINT32_MAX, "scale needs no more than 32 bits");

/* One decode: what the row readers share. */
typedef struct job {
    mr__call *call;
    const mr__pnm_header *header;
    const mr__request *request;
    const mr_image *to;
    bool clipped;       /* a sample above maxval was accepted */
    uint8_t table[256]; /* scale() of 8-bit samples */
} job;

static uint8_t *row_of(const job *j, uint32_t y)
{
    return (uint8_t *)j->to->pixels + (ptrdiff_t)y * j->to->stride;
}

static void put(uint8_t *row, size_t i, uint32_t depth, uint32_t value)
{
    if (depth == 8)
        row[i] = (uint8_t)value;
    else
        ((uint16_t *)(void *)row)[i] = (uint16_t)value;
}

/* A sample above maxval: an error, or, with accept_damaged, maxval and one warning. */
static int exceed(job *j, uint32_t sample, size_t at)
{
    if (!j->request->accept_damaged)
        return mr__call_fail(j->call, MR_ECORRUPT, "damaged PNM: the sample at byte %zu is %u, above the maxval %u", at,
                             sample, j->header->maxval);
    if (!j->clipped)
        mr__call_warn(j->call, "damaged PNM: the sample at byte %zu is %u, above the maxval %u", at, sample,
                      j->header->maxval);
    j->clipped = true;
    return 0;
}

/* Samples from `at` in the data into a row, `count` of them. */
static int read_row8(job *j, size_t at, uint8_t *row, size_t count)
{
    const uint8_t *from = j->call->bytes + at;
    uint32_t maxval = j->header->maxval;
    if (maxval == 255) {
        memcpy(row, from, count);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t sample = from[i];
        int result = sample > maxval ? exceed(j, sample, at + i) : 0;
        if (result != 0)
            return result;
        row[i] = j->table[sample];
    }
    return 0;
}

static int read_row16(job *j, size_t at, uint8_t *bytes, size_t count)
{
    const uint8_t *from = j->call->bytes + at;
    uint16_t *row = (uint16_t *)(void *)bytes;
    uint32_t maxval = j->header->maxval;
    if (maxval == 65535) {
        for (size_t i = 0; i < count; i++)
            row[i] = mr__load_be16(from + 2 * i);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t sample = mr__load_be16(from + 2 * i);
        int result = sample > maxval ? exceed(j, sample, at + 2 * i) : 0;
        if (result != 0)
            return result;
        row[i] = (uint16_t)scale(sample > maxval ? maxval : sample, maxval);
    }
    return 0;
}

static void read_row_bits(const uint8_t *from, uint32_t x, uint8_t *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t bit = x + i;
        row[i] = (from[bit / 8] >> (7 - bit % 8) & 1) != 0 ? 0 : 255;
    }
}

/* Where the pixels of a binary file lie. */
typedef struct layout {
    size_t sample_nbytes; /* 0 for bits */
    size_t row_nbytes;
    size_t end;
} layout;

static int find_layout(mr__call *call, const mr__pnm_header *h, layout *l)
{
    size_t samples = (size_t)h->width * h->channels;
    l->sample_nbytes = h->bits ? 0 : mr__pnm_depth(h) / 8;
    l->row_nbytes = h->bits ? mr__ceil_div(h->width, 8) : samples * l->sample_nbytes;
    if (!mr__size_mul_add(l->row_nbytes, h->height, h->raster, &l->end))
        return mr__call_fail(call, MR_ELIMIT, "PNM of %u x %u: it does not fit the address space", h->width, h->height);
    return 0;
}

static int check_short(mr__call *call, const layout *l)
{
    if (call->nbytes >= l->end)
        return 0;
    return mr__call_fail(call, MR_ETRUNCATED, "truncated PNM: the pixels end at byte %zu, the data at %zu", l->end,
                         call->nbytes);
}

static int check_length(mr__call *call, const layout *l, bool accept)
{
    if (call->nbytes > l->end)
        mr__call_warn(call, "PNM: data after the image, from byte %zu to %zu", l->end, call->nbytes);
    if (!accept)
        return check_short(call, l);
    if (call->nbytes < l->end)
        mr__call_warn(call, "truncated PNM: the pixels end at byte %zu, the data at %zu", l->end, call->nbytes);
    return 0;
}

/*
 * A sample of text is a digit and white space after it, or a digit alone in P1. Where only the last white space is
 * missing, decode says so.
 */
static int check_text(mr__call *call, const mr__pnm_header *h)
{
    size_t sample_nbytes = h->bits ? 1 : 2, row_nbytes = (size_t)h->width * h->channels * sample_nbytes, end;
    if (mr__size_mul_add(row_nbytes, h->height, h->raster, &end) && call->nbytes >= end - (sample_nbytes - 1))
        return 0;
    return mr__call_fail(call, MR_ETRUNCATED,
                         "truncated PNM: the text of %u x %u pixels from byte %zu on cannot end at byte %zu", h->width,
                         h->height, h->raster, call->nbytes);
}

int mr__pnm_holds(mr__call *call, const mr_info *info)
{
    mr__pnm_header header;
    layout l = {0};
    (void)info;
    int result = mr__pnm_parse(call, &header);
    if (result == 0 && header.text)
        return check_text(call, &header);
    if (result == 0)
        result = find_layout(call, &header, &l);
    return result != 0 ? result : check_short(call, &l);
}

/* One row of a binary file, as far as there is data; the rest zero. */
static int read_binary_row(job *j, const layout *l, uint32_t y)
{
    size_t count = (size_t)j->to->width * j->to->channels, nbytes = mr_image_row_nbytes(j->to);
    size_t first = (size_t)j->request->region.x * j->to->channels;
    size_t begin = j->header->raster + (j->request->region.y + y) * l->row_nbytes;
    size_t here = begin < j->call->nbytes ? j->call->nbytes - begin : 0;
    size_t have = l->sample_nbytes == 0 ? here * 8 : here / l->sample_nbytes;
    have = have > first ? have - first : 0;
    uint8_t *row = row_of(j, y);
    if (have < count)
        memset(row, 0, nbytes);
    else
        have = count;
    if (have == 0)
        return 0;
    if (l->sample_nbytes == 0) {
        read_row_bits(j->call->bytes + begin, j->request->region.x, row, have);
        return 0;
    }
    size_t at = begin + first * l->sample_nbytes;
    return l->sample_nbytes == 1 ? read_row8(j, at, row, have) : read_row16(j, at, row, have);
}

static int read_binary(job *j)
{
    layout l = {0};
    int result = find_layout(j->call, j->header, &l);
    if (result == 0)
        result = check_length(j->call, &l, j->request->accept_damaged);
    for (uint32_t y = 0; result == 0 && y < j->to->height; y++)
        result = read_binary_row(j, &l, y);
    return result;
}

/* Bits of P1 need no white space between them. */
static mr__pnm_found read_bit(mr__pnm_cursor *c, uint32_t *bit, size_t *at)
{
    int byte = mr__pnm_next(c);
    while (mr__pnm_is_space(byte))
        byte = mr__pnm_next(c);
    *at = byte < 0 ? c->nbytes : c->at - 1;
    if (byte < 0)
        return MR__PNM_END;
    if (byte != '0' && byte != '1')
        return MR__PNM_JUNK;
    *bit = byte == '1' ? 0 : 1; // turned here: 1 is black
    return MR__PNM_NUMBER;
}

/*
 * A number that ends with the data may have gone on: 2 may be what is left of 250. An error, or, with accept_damaged, a
 * warning. Bits have one digit.
 */
static int check_cut(job *j, const mr__pnm_cursor *c)
{
    static const char text[] = "truncated PNM: the last sample ends with the data at byte %zu: without white space "
                               "after it, it may have lost digits";
    if (!c->cut)
        return 0;
    if (!j->request->accept_damaged)
        return mr__call_fail(j->call, MR_ETRUNCATED, text, c->nbytes);
    mr__call_warn(j->call, text, c->nbytes);
    return 0;
}

/* The next sample of a text file, scaled. *stopped: damage was accepted, and nothing can be read from here on. */
static int read_sample(job *j, mr__pnm_cursor *c, uint32_t *out, bool *stopped)
{
    uint32_t sample = 0, maxval = j->header->maxval;
    size_t at;
    mr__pnm_found found = j->header->bits ? read_bit(c, &sample, &at) : mr__pnm_number(c, &sample, &at);
    if (found == MR__PNM_NUMBER || found == MR__PNM_HUGE) {
        if (found == MR__PNM_HUGE)
            sample = UINT32_MAX;
        int result = sample > maxval ? exceed(j, sample, at) : check_cut(j, c);
        *stopped = found == MR__PNM_HUGE;
        *out = scale(sample > maxval ? maxval : sample, maxval);
        return result;
    }
    bool end = found == MR__PNM_END;
    *stopped = true;
    if (!j->request->accept_damaged)
        return mr__call_fail(j->call, end ? MR_ETRUNCATED : MR_ECORRUPT, "%s PNM: expected a sample at byte %zu",
                             end ? "truncated" : "damaged", at);
    if (!c->cut) // else it has been said
        mr__call_warn(j->call, "%s PNM: expected a sample at byte %zu", end ? "truncated" : "damaged", at);
    return 0;
}

static void warn_of_rest(job *j, const mr__pnm_cursor *c)
{
    size_t at = c->at;
    while (at < c->nbytes && mr__pnm_is_space(c->bytes[at]))
        at++;
    if (at < c->nbytes)
        mr__call_warn(j->call, "PNM: data after the image, from byte %zu to %zu", at, c->nbytes);
}

/* One row of a text file; only samples in [first, end) are wanted, into `row`, which is NULL above the region. */
static int read_text_row(job *j, mr__pnm_cursor *c, uint8_t *row, bool *stopped)
{
    size_t count = (size_t)j->header->width * j->header->channels;
    size_t first = (size_t)j->request->region.x * j->header->channels;
    size_t end = first + (size_t)j->to->width * j->header->channels;
    for (size_t i = 0; i < count && !*stopped; i++) {
        uint32_t value = 0;
        int result = read_sample(j, c, &value, stopped);
        if (result != 0)
            return result;
        if (row != NULL && i >= first && i < end)
            put(row, i - first, j->to->depth, *stopped ? 0 : value);
    }
    return 0;
}

/* Text has to be read from its beginning, but not beyond the last row wanted. */
static int read_text(job *j)
{
    mr__pnm_cursor c = {.bytes = j->call->bytes, .nbytes = j->call->nbytes, .at = j->header->raster};
    uint32_t top = j->request->region.y, below = top + j->to->height;
    bool stopped = false;
    for (uint32_t y = 0; y < below; y++) {
        uint8_t *row = y >= top ? row_of(j, y - top) : NULL;
        if (row != NULL && j->request->accept_damaged)
            memset(row, 0, mr_image_row_nbytes(j->to));
        int result = read_text_row(j, &c, row, &stopped);
        if (result != 0)
            return result;
    }
    if (!stopped && below == j->header->height)
        warn_of_rest(j, &c);
    return 0;
}

int mr__pnm_decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    mr__pnm_header header;
    int result = mr__pnm_parse(call, &header);
    if (result != 0)
        return result;
    job j = {.call = call, .header = &header, .request = request, .to = to};
    for (uint32_t v = 0; v < 256 && header.maxval < 256; v++)
        j.table[v] = (uint8_t)scale(v < header.maxval ? v : header.maxval, header.maxval);
    return header.text ? read_text(&j) : read_binary(&j);
}
