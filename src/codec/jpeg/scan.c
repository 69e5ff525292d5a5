// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/scan.h"

#include "base/bytes.h"
#include "base/size.h"

#include <string.h>

enum { DNL = 0xdc, DQT = 0xdb, DRI = 0xdd };

enum { DAC_TABLES = 16 }; /* as many for DC, then as many for AC */

static size_t offset_of(const mr__jpeg_walk *w, const uint8_t *p)
{
    return (size_t)(p - w->call->bytes);
}

static int fail_length(mr__jpeg_walk *w, const mr__jpeg_segment *s, const char *what)
{
    return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: the %s (ff%02x) at byte %zu have the wrong length", what,
                         s->marker, s->at);
}

/* DQT: tables of 64 bytes or of 64 numbers of 16 bits, which is what any width but 0 means to libjpeg. */
static int read_quantisers(mr__jpeg_walk *w, const mr__jpeg_segment *s)
{
    const uint8_t *p = s->bytes, *end = p + s->nbytes;
    while (p < end) {
        uint32_t number = *p & 15, wide = *p >> 4 != 0;
        if (number > 3)
            return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: quantiser table %02x (of ffdb) at byte %zu", *p,
                                 offset_of(w, p));
        if ((size_t)(end - ++p) < 64 * (wide + 1))
            return fail_length(w, s, "quantisers");
        for (uint32_t i = 0; i < 64; i++)
            w->quant[number][i] = wide ? mr__load_be16(p + (size_t)2 * i) : p[i];
        p += 64 * (wide + 1);
        w->has_quant[number] = true;
    }
    return 0;
}

/*
 * A table whose counts cannot be, which is damage only when a scan needs it. Returns how many bytes it takes; 0: more
 * than there are.
 */
static size_t pass_impossible(mr__jpeg_walk *w, uint32_t table_class, uint32_t number, const uint8_t *p, size_t nbytes)
{
    size_t count = 0;
    if (nbytes < MR__HUFFMAN_LENGTH_MAX)
        return 0;
    for (size_t i = 0; i < MR__HUFFMAN_LENGTH_MAX; i++)
        count += p[i];
    if (count > MR__HUFFMAN_COUNT_MAX || count > nbytes - MR__HUFFMAN_LENGTH_MAX)
        return 0;
    w->huffman[table_class][number] = (mr__huffman){0};
    w->impossible[table_class][number] = true;
    return MR__HUFFMAN_LENGTH_MAX + count;
}

/* DHT. */
static int read_huffman(mr__jpeg_walk *w, const mr__jpeg_segment *s)
{
    const uint8_t *p = s->bytes, *end = p + s->nbytes;
    while (p < end) {
        uint32_t number = *p & 15, table_class = *p >> 4 & 7;
        bool stands_in = *p >= MR__JPEG_STANDS_IN;
        if (number > 3 || table_class > 1 || (stands_in && !w->stand_ins))
            return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: Huffman table %02x (of ffc4) at byte %zu", *p,
                                 offset_of(w, p));
        if (w->stands_in[table_class][number])
            return mr__call_fail(w->call, MR_ECORRUPT,
                                 "damaged JPEG: Huffman table %02x (of ffc4) comes twice, at byte %zu", *p,
                                 offset_of(w, p));
        mr__huffman *table = &w->huffman[table_class][number];
        w->stands_in[table_class][number] = stands_in;
        w->impossible[table_class][number] = false;
        if (stands_in) {
            *table = (mr__huffman){.is_there = true};
            p++;
            continue;
        }
        size_t used = mr__huffman_parse(table, p + 1, (size_t)(end - p - 1));
        if (used == 0)
            used = pass_impossible(w, table_class, number, p + 1, (size_t)(end - p - 1));
        if (used == 0)
            return mr__call_fail(w->call, MR_ECORRUPT,
                                 "damaged JPEG: the Huffman table (of ffc4) at byte %zu has the wrong length",
                                 offset_of(w, p));
        p += 1 + used;
    }
    return 0;
}

/* DAC: of no use without arithmetic coding, but libjpeg refuses one that cannot be. */
static int check_conditioning(mr__jpeg_walk *w, const mr__jpeg_segment *s)
{
    if (s->nbytes % 2 != 0)
        return fail_length(w, s, "arithmetic coding tables");
    for (const uint8_t *p = s->bytes, *end = p + s->nbytes; p < end; p += 2) {
        bool is_dc = p[0] < DAC_TABLES;
        if (p[0] >= 2 * DAC_TABLES || (is_dc && (p[1] & 15) > p[1] >> 4))
            return mr__call_fail(w->call, MR_ECORRUPT,
                                 "damaged JPEG: arithmetic coding table %02x (of ffcc) with value %02x at byte %zu",
                                 p[0], p[1], offset_of(w, p));
    }
    return 0;
}

static int read_restart(mr__jpeg_walk *w, const mr__jpeg_segment *s)
{
    if (s->nbytes != 2)
        return mr__call_fail(w->call, MR_ECORRUPT,
                             "damaged JPEG: the restart interval (ffdd) at byte %zu has the wrong length", s->at);
    w->restart = mr__load_be16(s->bytes);
    return 0;
}

/* Blocks of each plane, with and without padding. */
static void measure_planes(mr__jpeg_coefficients *f)
{
    f->hmax = f->vmax = 1;
    for (uint32_t i = 0; i < f->components; i++) {
        f->hmax = f->plane[i].h > f->hmax ? f->plane[i].h : f->hmax;
        f->vmax = f->plane[i].v > f->vmax ? f->plane[i].v : f->vmax;
    }
    uint32_t mcu_w = 8u * f->hmax, mcu_h = 8u * f->vmax;
    for (uint32_t i = 0; i < f->components; i++) {
        mr__jpeg_plane *p = &f->plane[i];
        p->blocks_w = mr__ceil_div(f->width * p->h, mcu_w);
        p->blocks_h = mr__ceil_div(f->height * p->v, mcu_h);
        p->padded_w = f->components == 1 ? p->blocks_w : mr__ceil_div(f->width, mcu_w) * p->h;
        p->padded_h = f->components == 1 ? p->blocks_h : mr__ceil_div(f->height, mcu_h) * p->v;
    }
}

/* SOF, of which mr__jpeg_header_read has checked all but this. */
static int read_frame(mr__jpeg_walk *w, const mr__jpeg_segment *s)
{
    mr__jpeg_coefficients *f = w->frame;
    if (f->components != 0)
        return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: a second frame header (ff%02x) at byte %zu",
                             s->marker, s->at);
    f->height = mr__load_be16(s->bytes + 1);
    f->width = mr__load_be16(s->bytes + 3);
    f->components = s->bytes[5];
    f->progressive = s->marker == MR__JPEG_SOF2;
    for (uint32_t i = 0; i < f->components; i++) {
        const uint8_t *p = s->bytes + 6 + (size_t)3 * i;
        f->plane[i] = (mr__jpeg_plane){.id = p[0], .h = p[1] >> 4, .v = p[1] & 15, .table = p[2]};
        for (uint32_t k = 0; k < i; k++)
            if (f->plane[k].id == p[0])
                return mr__call_fail(w->call, MR_EUNSUPPORTED,
                                     "JPEG with two components called %u, at byte %zu, is not supported", p[0],
                                     offset_of(w, p));
    }
    measure_planes(f);
    return 0;
}

/*
 * Components come in the order of the frame (T.81, B.2.3). libjpeg asks for less: not before their place in the scan,
 * and not twice.
 */
static int find_component(mr__jpeg_walk *w, const uint8_t *p, uint32_t i)
{
    mr__jpeg_scan *scan = &w->scan;
    uint32_t c = i;
    while (c < w->frame->components && w->frame->plane[c].id != p[0])
        c++;
    bool is_again = false;
    for (uint32_t k = 0; k < i; k++)
        is_again |= scan->component[k] == c;
    if (c == w->frame->components || is_again)
        return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: no component %u for the scan (ffda), at byte %zu",
                             p[0], offset_of(w, p));
    if (i != 0 && c < scan->component[i - 1])
        return mr__call_fail(w->call, MR_EUNSUPPORTED,
                             "JPEG whose scan has components out of order, at byte %zu, is not supported",
                             offset_of(w, p));
    scan->component[i] = (uint8_t)c;
    scan->dc[i] = p[1] >> 4;
    scan->ac[i] = p[1] & 15;
    return 0;
}

/* A table that a scan needs. Where a sequential image has none, it is the standard's, as in Motion JPEG. */
static int need_table(mr__jpeg_walk *w, uint32_t table_class, uint32_t number)
{
    if (number > 3)
        return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: Huffman table %u%u for the scan (ffda) at byte %zu",
                             table_class, number, w->scan.at);
    mr__huffman *table = &w->huffman[table_class][number];
    if (w->impossible[table_class][number])
        return mr__call_fail(w->call, MR_ECORRUPT,
                             "damaged JPEG: Huffman table %u%u, for the scan (ffda) at byte %zu, cannot be",
                             table_class, number, w->scan.at);
    if (!table->is_there && number < 2 && !w->frame->progressive)
        mr__huffman_standard(table, table_class, number);
    if (!table->is_there)
        return mr__call_fail(w->call, MR_ECORRUPT,
                             "damaged JPEG: no Huffman table %u%u for the scan (ffda) at byte %zu", table_class, number,
                             w->scan.at);
    for (uint32_t i = 0; table_class == 0 && i < table->count; i++)
        if (table->symbols[i] > 15)
            return mr__call_fail(w->call, MR_ECORRUPT,
                                 "damaged JPEG: Huffman table 0%u, for the scan (ffda) at byte %zu, is none for DC",
                                 number, w->scan.at);
    return 0;
}

/* Those that are not needed may have any number. */
static int need_tables(mr__jpeg_walk *w)
{
    mr__jpeg_scan *s = &w->scan;
    bool needs_dc = s->first == 0 && s->high == 0, needs_ac = s->last != 0;
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < s->count; i++) {
        if (needs_dc)
            result = need_table(w, 0, s->dc[i]);
        else
            s->dc[i] = 0;
        if (result == 0 && needs_ac)
            result = need_table(w, 1, s->ac[i]);
        else if (!needs_ac)
            s->ac[i] = 0;
    }
    return result;
}

/* The quantisers of a component are those in force at its first scan. */
static int need_quantisers(mr__jpeg_walk *w, uint32_t component)
{
    uint32_t number = w->frame->plane[component].table;
    if (number > 3 || !w->has_quant[number])
        return mr__call_fail(w->call, MR_ECORRUPT,
                             "damaged JPEG: no quantiser table %u for the scan (ffda) at byte %zu", number, w->scan.at);
    for (uint32_t i = 0; i < w->frame->components; i++)
        if (i != component && w->known[i][0] >= 0 && w->frame->plane[i].table == number &&
            memcmp(w->frame->quant[number], w->quant[number], sizeof w->quant[number]) != 0)
            return mr__call_fail(w->call, MR_EUNSUPPORTED,
                                 "JPEG whose quantiser table %u changes between components, at byte %zu, is not "
                                 "supported",
                                 number, w->scan.at);
    memcpy(w->frame->quant[number], w->quant[number], sizeof w->quant[number]);
    return 0;
}

/* Whether the parameters of a progressive scan are possible at all. */
static bool fits_progressive(const mr__jpeg_scan *s)
{
    bool is_dc = s->first == 0;
    return (is_dc ? s->last == 0 : s->last >= s->first && s->last < 64 && s->count == 1) && s->low <= 13 &&
           (s->high == 0 || s->high == s->low + 1);
}

/*
 * Whether each coefficient was known down to the right bit; then notes what becomes known. One that is known to its
 * last bit can come again: libjpeg then mixes the two.
 */
static int add_known(mr__jpeg_walk *w, const mr__jpeg_scan *s)
{
    bool fits = true, is_again = false;
    for (uint32_t i = 0; i < s->count; i++) {
        int8_t *known = w->known[s->component[i]];
        if (!w->frame->progressive) { // all 64 of them are alike
            is_again |= known[0] == 0;
            memset(known, 0, sizeof w->known[0]);
            continue;
        }
        fits &= s->first == 0 || known[0] >= 0;
        for (uint32_t k = s->first; k <= s->last; k++) {
            fits &= s->high == (known[k] < 0 ? 0 : known[k]);
            is_again |= known[k] == 0;
            known[k] = (int8_t)s->low;
        }
    }
    if (!fits)
        return mr__call_fail(w->call, MR_ECORRUPT,
                             "damaged JPEG: the scan (ffda) at byte %zu does not fit those before it", s->at);
    if (is_again)
        return mr__call_fail(w->call, MR_EUNSUPPORTED,
                             "JPEG that has coefficients twice, with the scan at byte %zu, is not supported", s->at);
    return 0;
}

/* How many MCUs there are, of how many blocks. */
static int measure_scan(mr__jpeg_walk *w)
{
    mr__jpeg_scan *s = &w->scan;
    const mr__jpeg_plane *p = &w->frame->plane[s->component[0]];
    uint32_t blocks = 0;
    s->mcus_w = s->count == 1 ? p->blocks_w : p->padded_w / p->h;
    s->mcus_h = s->count == 1 ? p->blocks_h : p->padded_h / p->v;
    s->restart = w->restart;
    for (uint32_t i = 0; i < s->count; i++) {
        p = &w->frame->plane[s->component[i]];
        blocks += s->count == 1 ? 1 : (uint32_t)p->h * p->v;
        w->interleaved[s->component[i]] |= s->count > 1;
    }
    if (blocks > MR__JPEG_MCU_MAX)
        return mr__call_fail(w->call, MR_ECORRUPT,
                             "damaged JPEG: %u blocks an MCU, of the scan (ffda) at byte %zu; 10 are the most", blocks,
                             s->at);
    return 0;
}

/* The components of SOS, then which coefficients and bits. */
static int read_scan_header(mr__jpeg_walk *w, const mr__jpeg_segment *segment)
{
    mr__jpeg_scan *s = &w->scan;
    *s = (mr__jpeg_scan){.at = segment->at, .count = segment->nbytes != 0 ? segment->bytes[0] : 0};
    const uint8_t *p = segment->bytes + 1;
    if (s->count < 1 || s->count > w->frame->components || segment->nbytes != 1 + (size_t)2 * s->count + 3)
        return mr__call_fail(w->call, MR_ECORRUPT,
                             "damaged JPEG: the scan header (ffda) at byte %zu has the wrong length", s->at);
    for (uint32_t i = 0; i < s->count; i++, p += 2) {
        int result = find_component(w, p, i);
        if (result != 0)
            return result;
    }
    s->last = 63;
    if (!w->frame->progressive) {
        if (p[0] != 0 || p[1] != 63 || p[2] != 0)
            mr__call_warn(w->call, "JPEG: a sequential scan with parameters %u, %u, %02x at byte %zu, not used", p[0],
                          p[1], p[2], offset_of(w, p));
        return 0;
    }
    s->first = p[0];
    s->last = p[1];
    s->high = p[2] >> 4;
    s->low = p[2] & 15;
    if (!fits_progressive(s))
        return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: scan parameters %u, %u, %u, %u (of ffda) at byte %zu",
                             s->first, s->last, s->high, s->low, offset_of(w, p));
    return 0;
}

static int read_scan(mr__jpeg_walk *w, const mr__jpeg_segment *segment)
{
    if (w->scans++ >= w->call->limits->scans)
        return mr__call_fail(w->call, MR_ELIMIT, "JPEG of more than %llu scans, the limit (limits.scans), at byte %zu",
                             (unsigned long long)w->call->limits->scans, segment->at);
    int result = read_scan_header(w, segment);
    mr__jpeg_scan *s = &w->scan;
    for (uint32_t i = 0; result == 0 && i < s->count; i++)
        if (w->known[s->component[i]][0] < 0)
            result = need_quantisers(w, s->component[i]);
    if (result == 0)
        result = add_known(w, s);
    if (result == 0)
        result = need_tables(w);
    return result == 0 ? measure_scan(w) : result;
}

static int read_segment(mr__jpeg_walk *w, const mr__jpeg_segment *s)
{
    switch (s->marker) {
    case DQT:
        return read_quantisers(w, s);
    case MR__JPEG_DHT:
        return read_huffman(w, s);
    case DRI:
        return read_restart(w, s);
    case MR__JPEG_SOF0:
    case MR__JPEG_SOF1:
    case MR__JPEG_SOF2:
        return read_frame(w, s);
    case MR__JPEG_SOS:
        return read_scan(w, s);
    case DNL:
        return mr__call_fail(w->call, MR_EUNSUPPORTED,
                             "JPEG with its height behind the image (ffdc at byte %zu) is not "
                             "supported",
                             s->at);
    case MR__JPEG_DAC:
        return check_conditioning(w, s);
    case MR__JPEG_APP0:
        if (s->nbytes >= 14 && memcmp(s->bytes, "JFIF", 5) == 0 && s->bytes[5] != 1)
            mr__call_warn(w->call, "JPEG: JFIF version %u.%02u at byte %zu", s->bytes[5], s->bytes[6], s->at + 9);
        return 0;
    case MR__JPEG_EOI:
    case MR__JPEG_TEM:
    case MR__JPEG_COM:
        return 0;
    }
    bool is_known = s->marker > MR__JPEG_EOI ? s->marker >= MR__JPEG_APP0 && s->marker < MR__JPEG_JPG0
                                             : s->marker >= MR__JPEG_RST0 && s->marker <= MR__JPEG_RST7;
    if (!is_known)
        return mr__call_fail(w->call, MR_ECORRUPT, "damaged JPEG: marker ff%02x at byte %zu has no business there",
                             s->marker, s->at);
    return 0;
}

/* Bytes between two segments that are not fill bytes: libjpeg passes over them with a warning. */
static void warn_of_gap(mr__jpeg_walk *w, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (w->call->bytes[i] != 0xff) {
            mr__call_warn(w->call, "JPEG: %zu bytes that belong to nothing, from byte %zu on", to - from, from);
            return;
        }
}

/* Every component must have had a scan; libjpeg takes those that had none for zeros. */
static int check_end(mr__jpeg_walk *w, size_t at)
{
    for (uint32_t i = 0; i < w->frame->components; i++)
        if (w->known[i][0] < 0)
            return mr__call_fail(w->call, MR_EUNSUPPORTED,
                                 "JPEG whose component %u has no scan before the end at byte %zu",
                                 w->frame->plane[i].id, at);
    return 0;
}

int mr__jpeg_walk_next(mr__jpeg_walk *w, bool *more)
{
    memset(w->stands_in, 0, sizeof w->stands_in);
    for (;;) {
        mr__jpeg_segment s;
        size_t from = w->at;
        int result = mr__jpeg_next_segment(w->call, &w->at, &s);
        if (result == 0 && s.has_no_length)
            result = mr__call_fail(w->call, MR_EUNSUPPORTED, "JPEG with a segment ff%02x of no length at byte %zu",
                                   s.marker, s.at);
        if (result != 0)
            return result;
        warn_of_gap(w, from, s.at);
        result = read_segment(w, &s);
        if (result != 0)
            return result;
        *more = s.marker == MR__JPEG_SOS;
        if (s.marker == MR__JPEG_EOI)
            return check_end(w, s.at);
        if (*more)
            return 0;
    }
}

static mr__jpeg_color color_of(const mr__jpeg_header *h)
{
    mr_color color = mr__jpeg_header_color(h);
    return color == MR_COLOR_GRAY ? MR__JPEG_GRAY : color == MR_COLOR_RGB ? MR__JPEG_RGB : MR__JPEG_YCBCR;
}

int mr__jpeg_walk_init(mr__jpeg_walk *w, mr__call *call, mr__jpeg_coefficients *frame)
{
    mr__jpeg_header h;
    if (call->nbytes < 2 || call->bytes[0] != 0xff || call->bytes[1] != MR__JPEG_SOI)
        return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: it does not begin with ffd8");
    int result = mr__jpeg_header_read(call, &h);
    if (result != 0)
        return result;
    if (h.frame > MR__JPEG_SOF2)
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG with arithmetic coding: its coefficients cannot be read");
    if (h.component_count > MR__JPEG_PLANE_MAX)
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG of 4 components (CMYK): its coefficients cannot be read");
    *frame = (mr__jpeg_coefficients){.color = color_of(&h), .orientation = h.orientation};
    *w = (mr__jpeg_walk){.call = call, .frame = frame, .at = 2};
    memset(w->known, -1, sizeof w->known);
    if (h.component_count == 3 && h.has_adobe && !h.has_jfif && h.adobe_transform > 1)
        mr__call_warn(call, "JPEG: Adobe's marker has colour transform %u, which is taken for 1", h.adobe_transform);
    return mr__call_check_pixels(call, h.width, h.height);
}
