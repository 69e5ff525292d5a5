// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/origin.h"

#include "base/size.h"

#include <string.h>

enum { HAS_BITS = 1, HAS_BLOCKS = 2, FLAGS = 3 };

/* An origin before it is compressed, or after. */
typedef struct parts {
    mr__origin_bytes body;
    size_t text_nbytes;
    size_t blocks_nbytes;
    mr__jpeg_padding padding;
} parts;

static bool same_shape(const mr__jpeg_coefficients *a, const mr__jpeg_coefficients *b)
{
    bool same = a->width == b->width && a->height == b->height && a->components == b->components &&
                a->progressive == b->progressive && a->color == b->color;
    for (uint32_t i = 0; same && i < a->components; i++)
        same = a->plane[i].h == b->plane[i].h && a->plane[i].v == b->plane[i].v &&
               a->plane[i].padded_w == b->plane[i].padded_w && a->plane[i].padded_h == b->plane[i].padded_h;
    return same;
}

/* As far as the walk has got: the quantisers of each component that has had a scan. */
static bool same_quantisers(const mr__jpeg_walk *w, const mr__jpeg_coefficients *c)
{
    bool same = true;
    for (uint32_t i = 0; same && i < c->components; i++)
        if (w->known[i][0] >= 0) // before that the table's number may be any
            same =
                memcmp(w->frame->quant[w->frame->plane[i].table], c->quant[c->plane[i].table], sizeof c->quant[0]) == 0;
    return same;
}

/*
 * Once a walk has read its frame header: the blocks are those we have. It must be of their image, shape, colour and
 * quantisers, or the file would have other pixels than they.
 */
static int lend_blocks(mr__jpeg_walk *w, const mr__jpeg_coefficients *c)
{
    if (!same_shape(w->frame, c) || !same_quantisers(w, c))
        return mr__call_fail(w->call, MR_ECORRUPT, "damaged origin of a JPEG: it is of another image");
    for (uint32_t i = 0; i < c->components; i++)
        w->frame->plane[i].blocks = c->plane[i].blocks;
    return 0;
}

/* Text and padding bits: scan after scan is written and compared. */
static int make_text(mr__call *call, const mr__jpeg_coefficients *c, mr__jpeg_walk *w, mr__jpeg_sink *sink, parts *p)
{
    mr__jpeg_coefficients frame;
    mr__jpeg_counts counts;
    size_t from = 0;
    bool more = true;
    int result = mr__jpeg_walk_init(w, call, &frame);
    while (result == 0 && more) {
        result = mr__jpeg_walk_next(w, &more);
        if (!more)
            w->at = call->nbytes; // what follows the end is kept as well
        if (result == 0)
            result = lend_blocks(w, c);
        if (result == 0)
            result = mr__origin_text_make(w, from, &counts, &p->body);
        if (result != 0 || !more)
            break;
        mr__jpeg_sink_seek(sink, w->at);
        result = mr__jpeg_scan_write(w, sink);
        from = w->at = sink->at;
    }
    p->text_nbytes = p->body.nbytes;
    return result;
}

static int make_parts(mr__call *call, const mr__jpeg_coefficients *c, mr__buffer *scratch, parts *p)
{
    mr__jpeg_walk walk;
    mr__jpeg_sink sink;
    int result = mr__jpeg_sink_compare(&sink, call, scratch, &p->padding);
    if (result == 0)
        result = make_text(call, c, &walk, &sink, p);
    if (result == 0 && p->padding.zeros)
        result = mr__origin_add(&p->body, p->padding.bits.bytes, (p->padding.count + 7) / 8);
    size_t before = p->body.nbytes;
    if (result == 0)
        result = mr__origin_blocks_make(c, walk.interleaved, &p->body);
    p->blocks_nbytes = p->body.nbytes - before;
    return result;
}

static int store_parts(const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes, const parts *p,
                       mr__origin_bytes *to)
{
    uint8_t flags = (uint8_t)((p->padding.zeros ? HAS_BITS : 0) | (p->blocks_nbytes != 0 ? HAS_BLOCKS : 0));
    int result = mr__origin_add(to, &flags, 1);
    if (result == 0)
        result = mr__origin_add_number(to, p->text_nbytes);
    if (result == 0 && (flags & HAS_BITS))
        result = mr__origin_add_number(to, p->padding.count);
    if (result == 0 && (flags & HAS_BLOCKS))
        result = mr__origin_add_number(to, p->blocks_nbytes);
    return result == 0 ? mr__origin_deflate(to->call, c, icc, icc_nbytes, &p->body, to) : result;
}

int mr__jpeg_origin_make(mr__call *call, const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes,
                         mr__buffer *out, size_t *out_nbytes)
{
    parts p = {.body = {.call = call}};
    mr__origin_bytes to = {.call = call, .buffer = *out};
    mr__buffer scratch = {0};
    int result = make_parts(call, c, &scratch, &p);
    if (result == 0)
        result = store_parts(c, icc, icc_nbytes, &p, &to);
    *out = to.buffer;
    if (result == 0)
        *out_nbytes = to.nbytes;
    mr__buffer_fini(&scratch, call->hooks);
    mr__buffer_fini(&p.body.buffer, call->hooks);
    mr__buffer_fini(&p.padding.bits, call->hooks);
    return result;
}

static int fail_header(mr__call *call)
{
    return mr__call_fail(call, MR_ECORRUPT, "damaged origin of a JPEG: its header makes no sense");
}

/* Deflate makes at most 1032 bytes of one: more is a lie, told before memory is taken. */
static int check_sizes(mr__call *call, const parts *p, uint64_t bits_nbytes, size_t deflated, size_t *total)
{
    size_t limit;
    if (!mr__size_add(p->text_nbytes, p->blocks_nbytes, total) || !mr__size_add(*total, bits_nbytes, total) ||
        !mr__size_mul_add(deflated, 1032, 64, &limit) || *total > limit)
        return fail_header(call);
    if (*total > call->limits->nbytes)
        return mr__call_fail(call, MR_ELIMIT,
                             "origin of a JPEG of %zu bytes: more than %llu, the limit (limits.nbytes)", *total,
                             (unsigned long long)call->limits->nbytes);
    return 0;
}

/* The header and the body, inflated. */
static int load_parts(mr__call *call, const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes,
                      mr__origin_span from, parts *p)
{
    uint8_t flags = from.next < from.end ? *from.next++ : 255;
    uint64_t text = 0, bits = 0, blocks = 0;
    if (flags > FLAGS || !mr__origin_take_number(&from, &text) ||
        ((flags & HAS_BITS) && !mr__origin_take_number(&from, &bits)) ||
        ((flags & HAS_BLOCKS) && !mr__origin_take_number(&from, &blocks)) || bits > UINT64_MAX - 7)
        return fail_header(call);
    p->text_nbytes = (size_t)text;
    p->blocks_nbytes = (size_t)blocks;
    p->padding = (mr__jpeg_padding){.count = (size_t)bits, .zeros = (flags & HAS_BITS) != 0};
    int result = check_sizes(call, p, (bits + 7) / 8, (size_t)(from.end - from.next), &p->body.nbytes);
    if (result == 0)
        result = mr__call_reserve(call, &p->body.buffer, p->body.nbytes);
    if (result == 0)
        result = mr__origin_inflate(call, c, icc, icc_nbytes, from, p->body.buffer.bytes, p->body.nbytes);
    if (result == 0)
        p->padding.bits.bytes = p->body.buffer.bytes + p->text_nbytes; // lent
    return result;
}

/* The file, from its text and the coefficients. */
static int write_text(mr__call *call, const mr__jpeg_coefficients *c, parts *p, mr__jpeg_sink *sink)
{
    mr__call text = *call;
    mr__jpeg_coefficients frame;
    mr__jpeg_walk w;
    mr__jpeg_counts counts;
    size_t from = 0;
    bool more = true;
    text.bytes = p->body.buffer.bytes;
    text.nbytes = p->text_nbytes;
    int result = mr__jpeg_walk_init(&w, &text, &frame);
    w.stand_ins = true;
    while (result == 0 && more) {
        result = mr__jpeg_walk_next(&w, &more);
        if (!more)
            w.at = text.nbytes;
        if (result == 0)
            result = lend_blocks(&w, c);
        if (result == 0)
            result = mr__origin_text_write(&w, from, &counts, sink);
        if (result == 0 && more)
            result = mr__jpeg_scan_write(&w, sink);
        from = w.at;
    }
    return result;
}

/* What a walk says of text it says as of a file. */
static int explain(mr__call *call, int result)
{
    mr__detail said = *call->detail;
    bool is_damage = result == MR_ECORRUPT || result == MR_ETRUNCATED || result == MR_EUNSUPPORTED;
    if (!is_damage || strstr(said.text, "origin") != NULL)
        return result;
    return mr__call_fail(call, MR_ECORRUPT, "damaged origin of a JPEG: %s", said.text);
}

int mr__jpeg_origin_write(mr__call *call, mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes,
                          const uint8_t *origin, size_t origin_nbytes, mr__buffer *out, size_t *out_nbytes)
{
    parts p = {.body = {.call = call}};
    mr__jpeg_sink sink;
    int result = load_parts(call, c, icc, icc_nbytes, (mr__origin_span){origin, origin + origin_nbytes}, &p);
    if (result == 0) {
        const uint8_t *end = p.body.buffer.bytes + p.body.nbytes;
        result = mr__origin_blocks_fill(call, c, (mr__origin_span){end - p.blocks_nbytes, end});
    }
    if (result == 0)
        result = mr__jpeg_sink_write(&sink, call, out, &p.padding);
    if (result == 0)
        result = write_text(call, c, &p, &sink);
    if (result == 0 && p.padding.zeros && p.padding.used != p.padding.count)
        result = mr__call_fail(call, MR_ECORRUPT, "damaged origin of a JPEG: %zu padding bits too many",
                               p.padding.count - p.padding.used);
    if (result == 0)
        *out_nbytes = mr__jpeg_sink_nbytes(&sink);
    mr__buffer_fini(&p.body.buffer, call->hooks);
    return explain(call, result);
}
