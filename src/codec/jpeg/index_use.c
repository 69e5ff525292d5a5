// SPDX-License-Identifier: Apache-2.0
/*
 * An index is believed because it names the very bytes it was made for: their length and hash, checked with every use.
 * What it says is still taken for hostile. A reader that begins somewhere in the file is as safe as one that begins at
 * its beginning; and rows that it passes must be where the index has them.
 */
#include "codec/jpeg/index.h"

#include "kernel/hash.h"

#define MAKE_AGAIN "make it again (mr_decoder_index, millrace index)"

static int fail_index(mr__call *call, const char *what)
{
    return mr__call_fail(call, MR_ECORRUPT, "row index of a JPEG: it %s; " MAKE_AGAIN, what);
}

static int check_bytes(mr__call *call, const mr__request *request)
{
    mr__jpeg_index index;
    const char *wrong = mr__jpeg_index_read(&index, request->index, request->index_nbytes);
    if (wrong != NULL)
        return fail_index(call, wrong);
    if (index.key.nbytes != call->nbytes || index.key.hash != mr__hash_by(call->bytes, call->nbytes, call->cpu))
        return fail_index(call, "is of another JPEG, or this one has changed since");
    return 0;
}

int mr__jpeg_index_check(mr__call *call, mr__request *request)
{
    if (request->index_nbytes == 0)
        request->index = NULL;
    int result = request->index != NULL ? check_bytes(call, request) : 0;
    if (result != 0 && request->accept_damaged) {
        mr__call_warn(call, "%s. It is not used", call->detail->text);
        mr__detail_clear(call->detail);
        request->index = NULL;
        request->index_nbytes = 0;
        result = 0;
    }
    return result;
}

bool mr__jpeg_place_move(mr__jpeg_place *p, const mr__jpeg_reader *r, uint64_t *at)
{
    uint64_t bits = mr__bits_taken(&r->bits, r->data);
    if (bits > (uint64_t)r->data_nbytes * 8)
        return false;
    if (p->from != r->from)
        *p = (mr__jpeg_place){.from = r->from, .at = r->from};
    const uint8_t *bytes = r->call->bytes;
    size_t n = (size_t)(bits / 8) - p->taken;
    p->taken += n;
    while (n != 0) { // each ff has a zero behind it: otherwise the interval would have ended
        const uint8_t *ff = memchr(bytes + p->at, 0xff, n);
        size_t plain = ff != NULL ? (size_t)(ff - (bytes + p->at)) + 1 : n;
        n -= plain;
        p->at += plain + (ff != NULL);
    }
    *at = (uint64_t)p->at * 8 + bits % 8;
    return true;
}

/* Whether all positions follow each other inside the file, and there are as many as the image has rows for. */
static bool fits(const mr__jpeg_index *index, const mr__jpeg_reader *r, size_t data_at)
{
    mr__jpeg_row row = {.at = (uint64_t)data_at * 8};
    uint64_t before = row.at, end = (uint64_t)r->call->nbytes * 8;
    bool good = index->components == r->scan->count && index->count == (r->scan->mcus_h - 1) / index->step;
    for (uint32_t i = 1; good && i <= index->count; i++) {
        mr__jpeg_index_next(index, i, &row);
        good = row.at > before && row.at < end;
        before = row.at;
    }
    return good;
}

/* Whether a row begins with a restart. */
static bool begins_interval(const mr__jpeg_reader *r, uint32_t row)
{
    return r->scan->restart != 0 && (uint64_t)row * r->scan->mcus_w % r->scan->restart == 0;
}

/* A row that begins with a restart is entered behind its marker, with predictors of 0. */
static bool is_behind_marker(const mr__jpeg_reader *r, const mr__jpeg_row *row, uint32_t interval)
{
    size_t at = (size_t)(row->at / 8);
    const uint8_t *bytes = r->call->bytes;
    bool zero = row->at % 8 == 0;
    for (uint32_t i = 0; i < r->scan->count; i++)
        zero &= row->before[i] == 0;
    return zero && bytes[at - 2] == 0xff && bytes[at - 1] == MR__JPEG_RST0 + (interval - 1) % 8;
}

/* Where the reader need not look: behind the byte in which the first row begins that is not needed. */
static size_t find_until(const mr__jpeg_index *index, mr__jpeg_row row, uint32_t number, uint32_t end, size_t nbytes)
{
    while (number <= index->count && (uint64_t)(number - 1) * index->step < end)
        mr__jpeg_index_next(index, number++, &row);
    size_t at = (size_t)(row.at / 8);
    bool found = (uint64_t)(number - 1) * index->step >= end;
    return found && nbytes - at > 2 ? at + 2 : nbytes;
}

static int enter(mr__jpeg_guide *g, mr__jpeg_reader *r, const mr__jpeg_row *row)
{
    uint64_t mcus = (uint64_t)g->row * r->scan->mcus_w;
    g->interval = r->scan->restart != 0 ? (uint32_t)(mcus / r->scan->restart) : 0;
    g->left = r->scan->restart != 0 ? r->scan->restart - (uint32_t)(mcus % r->scan->restart) : 0;
    if (begins_interval(r, g->row) && !is_behind_marker(r, row, g->interval))
        return fail_index(r->call, "has a row behind a restart marker that is not there");
    mr__jpeg_reader_take(r, (size_t)(row->at / 8));
    mr__bits_fill(&r->bits);
    mr__bits_drop(&r->bits, (uint32_t)(row->at % 8));
    memcpy(r->before, row->before, sizeof r->before);
    return 0;
}

int mr__jpeg_guide_begin(mr__jpeg_guide *g, mr__jpeg_reader *r, const mr__request *request, size_t data_at,
                         uint32_t first, uint32_t end)
{
    *g = (mr__jpeg_guide){.left = r->scan->restart, .next = UINT32_MAX};
    if (request->index == NULL) {
        mr__jpeg_reader_take(r, data_at);
        return 0;
    }
    const char *wrong = mr__jpeg_index_read(&g->index, request->index, request->index_nbytes);
    if (wrong != NULL || !fits(&g->index, r, data_at))
        return fail_index(r->call, wrong != NULL ? wrong : "has rows that this JPEG cannot have");
    const mr__jpeg_index *index = &g->index;
    mr__jpeg_row row = {.at = (uint64_t)data_at * 8};
    uint32_t number = 1;
    for (; number <= index->count && number * index->step <= first; number++)
        mr__jpeg_index_next(index, number, &row);
    r->until = find_until(index, row, number, end, r->call->nbytes);
    g->expected = row;
    if (number <= index->count) {
        g->next = number * index->step;
        mr__jpeg_index_next(index, number, &g->expected);
    }
    g->row = (number - 1) * index->step;
    if (g->row != 0)
        return enter(g, r, &row);
    mr__jpeg_reader_take(r, data_at);
    return 0;
}

/* How the reader has the row that it is about to read; a restart before it has not been read yet. */
static bool find_row(mr__jpeg_guide *g, const mr__jpeg_reader *r, mr__jpeg_row *row)
{
    *row = (mr__jpeg_row){.at = 0};
    if (!begins_interval(r, g->next)) {
        memcpy(row->before, r->before, sizeof row->before);
        return mr__jpeg_place_move(&g->place, r, &row->at);
    }
    row->at = (uint64_t)(mr__jpeg_reader_marker(r) + 1) * 8;
    return true;
}

int mr__jpeg_guide_compare(mr__jpeg_guide *g, const mr__jpeg_reader *r)
{
    mr__jpeg_row row;
    uint32_t number = g->next / g->index.step + 1;
    bool same = find_row(g, r, &row) && row.at == g->expected.at;
    if (!same || memcmp(row.before, g->expected.before, r->scan->count * sizeof *row.before) != 0)
        return fail_index(r->call, "differs from what is read");
    g->next = number <= g->index.count ? number * g->index.step : UINT32_MAX;
    if (number <= g->index.count)
        mr__jpeg_index_next(&g->index, number, &g->expected);
    return 0;
}

int mr__jpeg_guide_fail(const mr__jpeg_guide *g, mr__call *call, int result)
{
    if (g->index.count == 0 || (result != MR_ECORRUPT && result != MR_ETRUNCATED))
        return result;
    return fail_index(call, "leads to what is no row of this JPEG");
}
