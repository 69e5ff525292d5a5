// SPDX-License-Identifier: Apache-2.0
/*
 * An origin's body, compressed. The window begins filled with a dictionary: the profile that is kept elsewhere, then
 * what many files have, then the header that libjpeg would give this image.
 */
#include "codec/jpeg/origin.h"

#include <string.h>
#include <zlib.h>

enum { ICC_MAX = 24576, DICTIONARY_MAX = 32000, LEVEL = 9 };

typedef struct dictionary {
    uint8_t bytes[DICTIONARY_MAX];
    size_t nbytes;
} dictionary;

static void add(dictionary *d, const void *bytes, size_t nbytes)
{
    memcpy(d->bytes + d->nbytes, bytes, nbytes);
    d->nbytes += nbytes;
}

#define ADD_TEXT(d, text) add(d, text, sizeof(text) - 1)

/* A marker and the length of what follows. */
static void add_marker(dictionary *d, uint8_t marker, size_t nbytes)
{
    add(d, (const uint8_t[4]){0xff, marker, (uint8_t)((nbytes + 2) >> 8), (uint8_t)(nbytes + 2)}, 4);
}

/* DHT segments of the standard's tables, as libjpeg has them. */
static void add_standard(dictionary *d, uint32_t number)
{
    for (uint32_t table_class = 0; table_class < 2; table_class++) {
        mr__huffman table;
        uint8_t bytes[1 + 16 + 256] = {(uint8_t)(table_class << 4 | number)};
        mr__huffman_standard(&table, table_class, number);
        size_t nbytes = 1 + mr__huffman_store(&table, bytes + 1);
        add_marker(d, MR__JPEG_DHT, nbytes);
        add(d, bytes, nbytes);
    }
}

/* What many cameras and programs write. */
static void add_usual(dictionary *d)
{
    ADD_TEXT(d, "http://ns.adobe.com/xap/1.0/\0<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>");
    ADD_TEXT(
        d, "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">");
    ADD_TEXT(d, "<rdf:Description rdf:about=\"\"/></rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>");
    ADD_TEXT(d, "CREATOR: gd-jpeg v1.0 (using IJG JPEG v62), default quality\n");
    ADD_TEXT(d, "CREATOR: gd-jpeg v1.0 (using IJG JPEG v80), quality = 90\n");
    ADD_TEXT(d, "\xff\xec\0\x11"
                "Ducky\0\1\0\4\0\0\0"
                "d\0\0");
    ADD_TEXT(d, "\xff\xed\0\x2c"
                "Photoshop 3.0\0"
                "8BIM\3\xed\0\0\0\0\0\x10\0H\0\0\0\1\0\1\0H\0\0\0\1\0\1");
    ADD_TEXT(d, "8BIM\4\4\0\0\0\0\0\x07\x1c\2\0\0\2\0\2"
                "8BIM\4\x25");
    ADD_TEXT(d, "\xff\xe1\0\x16"
                "Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0");
    ADD_TEXT(d, "\xff\xe1"
                "Exif\0\0II*\0\x08\0\0\0");
    ADD_TEXT(d, "\xff\xe2"
                "ICC_PROFILE\0\1\1");
    ADD_TEXT(d, "\xff\xfe\0"
                "\x11"
                "Created with GIMP");
    ADD_TEXT(d, "\xff\xee\0\x0e"
                "Adobe\0d\0\0\0\0\0");
    ADD_TEXT(d, "\xff\xee\0\x0e"
                "Adobe\0d\0\0\0\0\1");
}

static const uint16_t *quantisers_of(const mr__jpeg_coefficients *c, uint32_t component)
{
    return c->quant[c->plane[component].table & 3];
}

/* The number that libjpeg would give a component's quantisers: those of a component before it, or the next. */
static uint32_t number_of(const mr__jpeg_coefficients *c, uint32_t component, bool *is_new)
{
    uint32_t numbers[MR__JPEG_PLANE_MAX] = {0}, count = 0;
    for (uint32_t i = 0; i <= component; i++) {
        uint32_t k = 0;
        while (k < i && memcmp(quantisers_of(c, k), quantisers_of(c, i), sizeof c->quant[0]) != 0)
            k++;
        *is_new = k == i;
        numbers[i] = k == i ? count++ : numbers[k];
    }
    return numbers[component];
}

static void add_quantisers(dictionary *d, const mr__jpeg_coefficients *c)
{
    for (uint32_t i = 0; i < c->components; i++) {
        bool is_new, wide = false;
        uint32_t number = number_of(c, i, &is_new);
        const uint16_t *q = quantisers_of(c, i);
        for (uint32_t k = 0; k < 64; k++)
            wide |= q[k] > 255;
        if (!is_new)
            continue;
        add_marker(d, 0xdb, wide ? 129 : 65);
        add(d, (const uint8_t[1]){(uint8_t)(wide << 4 | number)}, 1);
        for (uint32_t k = 0; k < 64; k++)
            add(d, (const uint8_t[2]){(uint8_t)(wide ? q[k] >> 8 : q[k]), (uint8_t)q[k]}, wide ? 2 : 1);
    }
}

static void add_frame(dictionary *d, const mr__jpeg_coefficients *c)
{
    add_marker(d, c->progressive ? MR__JPEG_SOF2 : MR__JPEG_SOF0, 6 + (size_t)3 * c->components);
    add(d,
        (const uint8_t[6]){8, (uint8_t)(c->height >> 8), (uint8_t)c->height, (uint8_t)(c->width >> 8),
                           (uint8_t)c->width, (uint8_t)c->components},
        6);
    for (uint32_t i = 0; i < c->components; i++) {
        const mr__jpeg_plane *p = &c->plane[i];
        bool is_new;
        add(d, (const uint8_t[3]){(uint8_t)(i + 1), (uint8_t)(p->h << 4 | p->v), (uint8_t)number_of(c, i, &is_new)}, 3);
    }
}

/* Tables that stand in, a scan of all components, the end. */
static void add_scan(dictionary *d, uint32_t components)
{
    static const uint8_t tables[] = {0x80, 0x90, 0x81, 0x91};
    for (uint32_t i = 0; i < (components == 1 ? 2 : 4); i++) {
        add_marker(d, MR__JPEG_DHT, 1);
        add(d, &tables[i], 1);
    }
    if (components == 1)
        ADD_TEXT(d, "\xff\xda\0\x08\1\1\0\0\x3f\0\xff\xd9");
    else
        ADD_TEXT(d, "\xff\xda\0\x0c\3\1\0\2\x11\3\x11\0\x3f\0\xff\xd9");
}

/* The scans of libjpeg's usual progression, of three components or of one. */
static void add_progression(dictionary *d, uint32_t components)
{
    if (components == 1) {
        ADD_TEXT(d, "\xff\xc4\0\3\x80\xff\xda\0\x08\1\1\0\0\0\1\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\1\5\2");
        ADD_TEXT(d, "\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\6\x3f\2\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\1\x3f\x21");
        ADD_TEXT(d, "\xff\xda\0\x08\1\1\0\0\0\x10\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\1\x3f\x10\xff\xd9");
        return;
    }
    ADD_TEXT(d, "\xff\xc4\0\3\x80\xff\xc4\0\3\x81\xff\xda\0\x0c\3\1\0\2\x10\3\x10\0\0\1");
    ADD_TEXT(d, "\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\1\5\2\xff\xc4\0\3\x91\xff\xda\0\x08\1\3\1\1\x3f\1");
    ADD_TEXT(d, "\xff\xc4\0\3\x91\xff\xda\0\x08\1\2\1\1\x3f\1\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\6\x3f\2");
    ADD_TEXT(d, "\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\1\x3f\x21\xff\xda\0\x0c\3\1\0\2\0\3\0\0\0\x10");
    ADD_TEXT(d, "\xff\xc4\0\3\x91\xff\xda\0\x08\1\3\1\1\x3f\x10\xff\xc4\0\3\x91\xff\xda\0\x08\1\2\1\1\x3f\x10");
    ADD_TEXT(d, "\xff\xc4\0\3\x90\xff\xda\0\x08\1\1\0\1\x3f\x10\xff\xd9");
}

static void fill_dictionary(dictionary *d, const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes)
{
    d->nbytes = 0;
    if (icc_nbytes != 0)
        add(d, icc, icc_nbytes < ICC_MAX ? icc_nbytes : ICC_MAX);
    add_usual(d);
    add_standard(d, 0);
    add_standard(d, 1);
    ADD_TEXT(d, "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\1\0H\0H\0\0");
    ADD_TEXT(d, "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0");
    add_quantisers(d, c);
    add_frame(d, c);
    if (c->progressive)
        add_progression(d, c->components);
    else
        add_scan(d, c->components);
}

static void *zlib_alloc(void *user, uInt count, uInt nbytes)
{
    return mr__alloc_array(user, count, nbytes);
}

static void zlib_free(void *user, void *block)
{
    mr__free(user, block);
}

/* zlib counts in 32 bits; a body of more is not deflated. */
static bool is_small(size_t nbytes)
{
    return nbytes < UINT32_C(1) << 30;
}

int mr__origin_deflate(mr__call *call, const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes,
                       const mr__origin_bytes *body, mr__origin_bytes *to)
{
    dictionary d;
    mr_hooks hooks = *call->hooks;
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &hooks};
    if (!is_small(body->nbytes))
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG with %zu bytes beside its image: too many for an origin",
                             body->nbytes);
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return mr__call_no_memory(call);
    fill_dictionary(&d, c, icc, icc_nbytes);
    deflateSetDictionary(&z, d.bytes, (uInt)d.nbytes);
    size_t bound = deflateBound(&z, (uLong)body->nbytes), used = to->nbytes;
    int result = 0;
    if (mr__buffer_grow(&to->buffer, call->hooks, used, used + bound) != 0)
        result = mr__call_no_memory(call);
    if (result == 0) {
        z.next_in = body->buffer.bytes;
        z.avail_in = (uInt)body->nbytes;
        z.next_out = to->buffer.bytes + used;
        z.avail_out = (uInt)bound;
        deflate(&z, Z_FINISH);
        to->nbytes = used + bound - z.avail_out;
    }
    deflateEnd(&z);
    return result;
}

int mr__origin_inflate(mr__call *call, const mr__jpeg_coefficients *c, const uint8_t *icc, size_t icc_nbytes,
                       mr__origin_span from, uint8_t *to, size_t to_nbytes)
{
    dictionary d;
    mr_hooks hooks = *call->hooks;
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &hooks};
    size_t nbytes = (size_t)(from.end - from.next);
    if (!is_small(nbytes) || !is_small(to_nbytes))
        return mr__call_fail(call, MR_ELIMIT, "origin of a JPEG of %zu bytes: more than this can be", nbytes);
    if (inflateInit2(&z, -15) != Z_OK)
        return mr__call_no_memory(call);
    fill_dictionary(&d, c, icc, icc_nbytes);
    int status = inflateSetDictionary(&z, d.bytes, (uInt)d.nbytes);
    if (status == Z_OK) {
        z.next_in = (Bytef *)(uintptr_t)from.next;
        z.avail_in = (uInt)nbytes;
        z.next_out = to;
        z.avail_out = (uInt)to_nbytes;
        status = inflate(&z, Z_FINISH);
    }
    bool is_whole = status == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0;
    inflateEnd(&z);
    if (status == Z_MEM_ERROR)
        return mr__call_no_memory(call);
    if (!is_whole)
        return mr__call_fail(call, MR_ECORRUPT, "damaged origin of a JPEG: its compressed bytes make no sense");
    return 0;
}
