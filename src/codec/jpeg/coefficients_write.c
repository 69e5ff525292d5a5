// SPDX-License-Identifier: Apache-2.0
/* A JPEG of its own with given coefficients: one sequential scan, or one a component where an MCU would be too large.
 */
#include "codec/exif.h"
#include "codec/jpeg/scan_write.h"

#include <string.h>

#define ICC_PIECE (65533 - MR__JPEG_ICC_OVERHEAD)

typedef struct job {
    mr__call *call;
    const mr__jpeg_coefficients *c;
    mr__jpeg_sink sink;
    mr__jpeg_walk walk;
    mr__jpeg_counts counts;
} job;

/* A marker, the length of what follows, and its first part. */
static int put_segment(job *j, uint8_t marker, size_t nbytes, const void *part, size_t part_nbytes)
{
    uint8_t head[4] = {0xff, marker};
    mr__store_be16(head + 2, (uint16_t)(nbytes + 2));
    int result = mr__jpeg_sink_bytes(&j->sink, head, 4);
    return result == 0 ? mr__jpeg_sink_bytes(&j->sink, part, part_nbytes) : result;
}

/* What tells the colour: JFIF for gray and YCbCr, Adobe for RGB. */
static int put_color(job *j)
{
    static const uint8_t jfif[14] = {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    static const uint8_t adobe[12] = {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};
    int result = mr__jpeg_sink_bytes(&j->sink, (const uint8_t[2]){0xff, MR__JPEG_SOI}, 2);
    if (result != 0)
        return result;
    return j->c->color == MR__JPEG_RGB ? put_segment(j, MR__JPEG_APP14, sizeof adobe, adobe, sizeof adobe)
                                       : put_segment(j, MR__JPEG_APP0, sizeof jfif, jfif, sizeof jfif);
}

static int put_orientation(job *j)
{
    uint8_t exif[6 + MR__EXIF_NBYTES] = "Exif\0";
    if (j->c->orientation <= 1)
        return 0;
    mr__exif_write(exif + 6, j->c->orientation);
    return put_segment(j, MR__JPEG_APP1, sizeof exif, exif, sizeof exif);
}

static int put_icc(job *j, const uint8_t *icc, size_t nbytes)
{
    size_t count = (nbytes + ICC_PIECE - 1) / ICC_PIECE;
    int result = 0;
    if (count > 255)
        return mr__call_fail(j->call, MR_EUNSUPPORTED, "JPEG cannot hold an ICC profile of %zu bytes", nbytes);
    for (size_t i = 1; result == 0 && i <= count; i++) {
        size_t piece = nbytes < ICC_PIECE ? nbytes : ICC_PIECE;
        uint8_t head[MR__JPEG_ICC_OVERHEAD] = MR__JPEG_ICC_TAG;
        head[12] = (uint8_t)i;
        head[13] = (uint8_t)count;
        result = put_segment(j, MR__JPEG_APP2, sizeof head + piece, head, sizeof head);
        if (result == 0)
            result = mr__jpeg_sink_bytes(&j->sink, icc, piece);
        icc += piece;
        nbytes -= piece;
    }
    return result;
}

static bool is_wide(const uint16_t quant[64])
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < 64; i++)
        all |= quant[i];
    return all > 255;
}

/* The tables that planes use, each once. */
static int put_quantisers(job *j, bool *wide)
{
    uint32_t done = 0;
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < j->c->components; i++) {
        uint32_t number = j->c->plane[i].table;
        uint8_t bytes[1 + 128];
        size_t n = 1;
        if (done >> number & 1)
            continue;
        done |= 1u << number;
        bool is_16 = is_wide(j->c->quant[number]);
        *wide |= is_16;
        bytes[0] = (uint8_t)(is_16 << 4 | number);
        for (uint32_t k = 0; k < 64; k++) {
            if (is_16)
                bytes[n++] = (uint8_t)(j->c->quant[number][k] >> 8);
            bytes[n++] = (uint8_t)j->c->quant[number][k];
        }
        result = put_segment(j, 0xdb, n, bytes, n);
    }
    return result;
}

static int put_frame(job *j, bool wide)
{
    uint8_t bytes[6 + 3 * MR__JPEG_PLANE_MAX] = {8};
    size_t n = 6;
    mr__store_be16(bytes + 1, (uint16_t)j->c->height);
    mr__store_be16(bytes + 3, (uint16_t)j->c->width);
    bytes[5] = (uint8_t)j->c->components;
    for (uint32_t i = 0; i < j->c->components; i++) {
        const mr__jpeg_plane *p = &j->c->plane[i];
        bytes[n++] = p->id;
        bytes[n++] = (uint8_t)(p->h << 4 | p->v);
        bytes[n++] = p->table;
    }
    return put_segment(j, wide ? MR__JPEG_SOF1 : MR__JPEG_SOF0, n, bytes, n);
}

/* The tables that a scan needs, made for it: number 0 for the first component, 1 for the others. */
static int put_tables(job *j)
{
    const mr__jpeg_scan *s = &j->walk.scan;
    bool used[2] = {false};
    for (uint32_t i = 0; i < s->count; i++)
        used[s->dc[i]] = true;
    int result = mr__jpeg_scan_count(&j->walk, &j->counts);
    for (uint32_t i = 0; result == 0 && i < 4; i++) {
        uint32_t number = i / 2, table_class = i % 2;
        mr__huffman *table = &j->walk.huffman[table_class][number];
        uint8_t bytes[1 + 16 + 256] = {(uint8_t)(table_class << 4 | number)};
        if (!used[number])
            continue;
        mr__huffman_optimal(table, j->counts.of[table_class][number]);
        size_t n = 1 + mr__huffman_store(table, bytes + 1);
        result = put_segment(j, MR__JPEG_DHT, n, bytes, n);
    }
    return result;
}

/* A scan of `count` components from `first` on. */
static int put_scan(job *j, uint32_t first, uint32_t count)
{
    mr__jpeg_scan *s = &j->walk.scan;
    const mr__jpeg_plane *p = &j->c->plane[first];
    uint8_t bytes[1 + 2 * MR__JPEG_PLANE_MAX + 3] = {(uint8_t)count};
    size_t n = 1;
    *s = (mr__jpeg_scan){.at = mr__jpeg_sink_nbytes(&j->sink), .count = count, .last = 63};
    s->mcus_w = count == 1 ? p->blocks_w : p->padded_w / p->h;
    s->mcus_h = count == 1 ? p->blocks_h : p->padded_h / p->v;
    for (uint32_t i = 0; i < count; i++) {
        s->component[i] = (uint8_t)(first + i);
        s->dc[i] = s->ac[i] = first + i != 0;
        bytes[n++] = j->c->plane[first + i].id;
        bytes[n++] = (uint8_t)(s->dc[i] << 4 | s->ac[i]);
    }
    bytes[n + 1] = 63; // the coefficients 0 to 63, of all bits
    int result = put_tables(j);
    if (result == 0)
        result = put_segment(j, MR__JPEG_SOS, n + 3, bytes, n + 3);
    return result == 0 ? mr__jpeg_scan_write(&j->walk, &j->sink) : result;
}

static int put_scans(job *j)
{
    uint32_t blocks = 0, count = j->c->components;
    int result = 0;
    for (uint32_t i = 0; i < count; i++)
        blocks += (uint32_t)j->c->plane[i].h * j->c->plane[i].v;
    if (count == 1 || blocks <= MR__JPEG_MCU_MAX)
        return put_scan(j, 0, count);
    for (uint32_t i = 0; result == 0 && i < count; i++)
        result = put_scan(j, i, 1);
    return result;
}

static int put_all(job *j, const uint8_t *icc, size_t icc_nbytes)
{
    bool wide = false;
    int result = put_color(j);
    if (result == 0)
        result = put_orientation(j);
    if (result == 0)
        result = put_icc(j, icc, icc_nbytes);
    if (result == 0)
        result = put_quantisers(j, &wide);
    if (result == 0)
        result = put_frame(j, wide);
    if (result == 0)
        result = put_scans(j);
    return result == 0 ? mr__jpeg_sink_bytes(&j->sink, (const uint8_t[2]){0xff, MR__JPEG_EOI}, 2) : result;
}

int mr__jpeg_coefficients_write(mr__call *call, mr__jpeg_coefficients *coefficients, const uint8_t *icc,
                                size_t icc_nbytes, mr__buffer *out, size_t *out_nbytes)
{
    mr__jpeg_coefficients frame = *coefficients;
    job j;
    frame.progressive = false;
    mr__jpeg_coefficients_pad(&frame);
    j.call = call;
    j.c = &frame;
    j.walk = (mr__jpeg_walk){.call = call, .frame = &frame};
    int result = mr__jpeg_sink_write(&j.sink, call, out, NULL);
    if (result == 0)
        result = put_all(&j, icc, icc_nbytes);
    if (result == 0)
        *out_nbytes = mr__jpeg_sink_nbytes(&j.sink);
    return result;
}
