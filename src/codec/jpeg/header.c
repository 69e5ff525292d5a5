// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/header.h"

#include "base/bytes.h"
#include "codec/exif.h"

#include <stdio.h> // jpeglib.h wants FILE and size_t before it

#include <jpeglib.h>
#include <string.h>

/* Whether a marker stands alone, without a length. */
static bool stands_alone(uint8_t marker)
{
    return marker == MR__JPEG_TEM || (marker >= MR__JPEG_RST0 && marker <= MR__JPEG_EOI);
}

/* The next marker: FF and a byte that is neither 00 (stuffing) nor FF (fill). */
static int find_marker(mr__call *call, size_t *at, mr__jpeg_segment *segment)
{
    const uint8_t *bytes = call->bytes;
    size_t end = call->nbytes, i = *at;
    for (; i < end; i++) {
        const uint8_t *ff = memchr(bytes + i, 0xff, end - i);
        if (ff == NULL)
            break;
        i = (size_t)(ff - bytes);
        if (i + 1 < end && bytes[i + 1] != 0 && bytes[i + 1] != 0xff) {
            segment->marker = bytes[i + 1];
            segment->at = i;
            *at = i + 2;
            return 0;
        }
    }
    return mr__call_fail(call, MR_ETRUNCATED, "truncated JPEG: expected a marker at byte %zu", *at);
}

/* APPn and COM. */
static bool is_passed_over(uint8_t marker)
{
    return (marker >= MR__JPEG_APP0 && marker < MR__JPEG_JPG0) || marker == MR__JPEG_COM;
}

int mr__jpeg_next_segment(mr__call *call, size_t *at, mr__jpeg_segment *segment)
{
    int result = find_marker(call, at, segment);
    segment->bytes = NULL;
    segment->nbytes = 0;
    segment->has_no_length = false;
    if (result != 0 || stands_alone(segment->marker))
        return result;
    size_t left = call->nbytes - *at;
    if (left < 2)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated JPEG: expected the length of segment ff%02x at byte %zu",
                             segment->marker, *at);
    size_t length = mr__load_be16(call->bytes + *at);
    if (length < 2 && is_passed_over(segment->marker)) {
        segment->has_no_length = true;
        length = 2;
    }
    if (length < 2)
        return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: segment ff%02x has length %zu at byte %zu",
                             segment->marker, length, *at);
    if (length > left)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated JPEG: segment ff%02x ends at byte %zu, the data at %zu",
                             segment->marker, *at + length, call->nbytes);
    segment->bytes = call->bytes + *at + 2;
    segment->nbytes = length - 2;
    *at += length;
    return 0;
}

/* Whether a frame's kind can be decoded; arithmetic coding only where libjpeg was built with it. */
static int check_frame(mr__call *call, const mr__jpeg_segment *s)
{
    switch (s->marker) {
    case MR__JPEG_SOF0:
    case MR__JPEG_SOF1:
    case MR__JPEG_SOF2:
        return 0;
    case MR__JPEG_SOF9:
    case MR__JPEG_SOF10:
#ifdef D_ARITH_CODING_SUPPORTED
        return 0;
#else
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG with arithmetic coding (ff%02x at byte %zu) is not supported",
                             s->marker, s->at);
#endif
    case 0xc3:
    case 0xcb:
        return mr__call_fail(call, MR_EUNSUPPORTED, "lossless JPEG (ff%02x at byte %zu) is not supported", s->marker,
                             s->at);
    case MR__JPEG_JPG:
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG with an extension (ffc8 at byte %zu) is not supported",
                             s->at);
    default:
        return mr__call_fail(call, MR_EUNSUPPORTED, "hierarchical JPEG (ff%02x at byte %zu) is not supported",
                             s->marker, s->at);
    }
}

static int read_component(mr__call *call, const mr__jpeg_segment *s, size_t i, mr__jpeg_component *c)
{
    const uint8_t *p = s->bytes + 6 + 3 * i;
    *c = (mr__jpeg_component){.id = p[0], .h = p[1] >> 4, .v = p[1] & 15};
    if (c->h < 1 || c->h > 4 || c->v < 1 || c->v > 4)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged JPEG: sampling factors %u x %u (of ff%02x) at byte %zu; they can be 1 to 4", c->h,
                             c->v, s->marker, (size_t)(p + 1 - call->bytes));
    return 0;
}

static int check_size(mr__call *call, const mr__jpeg_header *h, size_t at)
{
    if (h->height == 0)
        return mr__call_fail(call, MR_EUNSUPPORTED,
                             "JPEG of height 0 (the height comes after the image) at byte %zu is not supported", at);
    if (h->width == 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: width 0 (of ff%02x) at byte %zu", h->frame, at + 2);
    if (h->width > JPEG_MAX_DIMENSION || h->height > JPEG_MAX_DIMENSION)
        return mr__call_fail(call, MR_EUNSUPPORTED,
                             "JPEG of %u x %u at byte %zu: more than %ld a side is not supported", h->width, h->height,
                             at, (long)JPEG_MAX_DIMENSION);
    return 0;
}

/* SOF: size, precision, components. */
static int read_frame(mr__call *call, const mr__jpeg_segment *s, mr__jpeg_header *h)
{
    int result = check_frame(call, s);
    if (result != 0)
        return result;
    if (h->frame != 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: a second frame header (ff%02x) at byte %zu", s->marker,
                             s->at);
    if (s->nbytes < 6 || s->nbytes != 6 + (size_t)3 * s->bytes[5])
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged JPEG: the frame header (ff%02x) at byte %zu has the wrong length", s->marker,
                             s->at);
    if (s->bytes[0] != 8)
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG of %u bits at byte %zu: only 8 bits are supported",
                             s->bytes[0], s->at + 4);
    h->frame = s->marker;
    h->height = mr__load_be16(s->bytes + 1);
    h->width = mr__load_be16(s->bytes + 3);
    result = check_size(call, h, s->at + 5);
    uint8_t count = s->bytes[5];
    if (result == 0 && count != 1 && count != 3 && count != 4)
        result = mr__call_fail(call, MR_EUNSUPPORTED,
                               "JPEG of %u components at byte %zu: only 1, 3 and 4 are supported", count, s->at + 9);
    for (size_t i = 0; result == 0 && i < count; i++)
        result = read_component(call, s, i, &h->component[i]);
    h->component_count = count;
    return result;
}

static bool starts_with(const mr__jpeg_segment *s, const char *tag, size_t tag_nbytes, size_t least)
{
    return s->nbytes >= least && memcmp(s->bytes, tag, tag_nbytes) == 0;
}

/* The application segments that matter. The lengths are those from which libjpeg knows JFIF and Adobe. */
static void read_application(const mr__jpeg_segment *s, mr__jpeg_header *h)
{
    if (s->marker == MR__JPEG_APP0 && starts_with(s, "JFIF", 5, 14)) {
        h->has_jfif = true;
    } else if (s->marker == MR__JPEG_APP14 && starts_with(s, "Adobe", 5, 12)) {
        h->has_adobe = true;
        h->adobe_transform = s->bytes[11];
    } else if (s->marker == MR__JPEG_APP1 && !h->has_exif && starts_with(s, "Exif\0", 6, 6)) {
        h->has_exif = true;
        h->orientation = mr__exif_orientation(s->bytes + 6, s->nbytes - 6);
    } else if (s->marker == MR__JPEG_APP2 && starts_with(s, MR__JPEG_ICC_TAG, 12, MR__JPEG_ICC_OVERHEAD)) {
        h->has_icc = true;
    }
}

static int read_segment(mr__call *call, const mr__jpeg_segment *s, mr__jpeg_header *h)
{
    switch (s->marker) {
    case MR__JPEG_SOI:
        return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: a second start marker (ffd8) at byte %zu", s->at);
    case MR__JPEG_EOI:
        return mr__call_fail(call, MR_ECORRUPT, "JPEG without an image: its end marker (ffd9) is at byte %zu", s->at);
    case MR__JPEG_SOS:
        if (h->frame == 0)
            return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: a scan (ffda) before the frame header, at byte %zu",
                                 s->at);
        h->scan_at = s->at;
        return 0;
    case MR__JPEG_DHT:
    case MR__JPEG_DAC:
        return 0;
    case MR__JPEG_DHP:
    case MR__JPEG_EXP:
        return check_frame(call, s);
    }
    if (s->marker >= MR__JPEG_SOF0 && s->marker <= MR__JPEG_SOF15)
        return read_frame(call, s, h);
    bool is_known = s->marker >= MR__JPEG_RST0 && (s->marker < MR__JPEG_JPG0 || s->marker == MR__JPEG_COM);
    if (!is_known && s->marker != MR__JPEG_TEM)
        return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: unknown marker ff%02x at byte %zu", s->marker, s->at);
    read_application(s, h);
    return 0;
}

int mr__jpeg_header_read(mr__call *call, mr__jpeg_header *header)
{
    *header = (mr__jpeg_header){.orientation = 1};
    size_t at = 2; // the probe has seen the start marker
    while (header->scan_at == 0) {
        mr__jpeg_segment segment;
        int result = mr__jpeg_next_segment(call, &at, &segment);
        if (result == 0)
            result = read_segment(call, &segment, header);
        if (result != 0)
            return result;
    }
    return 0;
}

/* Whether more than the first scan belongs to the image. */
static bool has_scans(const mr__jpeg_header *h, const mr__jpeg_segment *first)
{
    bool progressive = h->frame == MR__JPEG_SOF2 || h->frame == MR__JPEG_SOF10;
    return progressive || (first->nbytes != 0 && first->bytes[0] < h->component_count);
}

/* Over image data: to the marker behind it, to fill bytes in it (*is_fill), or to the end. */
static size_t pass_data(const mr__call *call, size_t at, bool *is_fill)
{
    const uint8_t *bytes = call->bytes, *ff;
    size_t end = call->nbytes;
    while (at < end && (ff = memchr(bytes + at, 0xff, end - at)) != NULL) {
        size_t begin = (size_t)(ff - bytes);
        for (at = begin + 1; at < end && bytes[at] == 0xff; at++)
            continue;
        uint8_t marker = at < end ? bytes[at] : 0;
        *is_fill = at < end && marker == 0 && at - begin > 1;
        if (*is_fill || (marker != 0 && (marker < MR__JPEG_RST0 || marker > MR__JPEG_RST7)))
            return begin;
        at++;
    }
    return end;
}

size_t mr__jpeg_find_fill(mr__call *call)
{
    mr__jpeg_header header;
    mr__jpeg_segment s = {.marker = 0};
    int result = mr__jpeg_header_read(call, &header);
    size_t at = header.scan_at;
    bool is_fill = false, goes_on = true;
    while (result == 0 && goes_on && !is_fill && s.marker != MR__JPEG_EOI) {
        result = mr__jpeg_next_segment(call, &at, &s);
        if (result == 0 && s.marker == MR__JPEG_SOS) {
            goes_on = has_scans(&header, &s);
            at = pass_data(call, at, &is_fill);
        }
    }
    mr__detail_clear(call->detail);
    return is_fill ? at : call->nbytes;
}

int mr__jpeg_fail_fill(mr__call *call, size_t at)
{
    return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: fill bytes (ffff00) in the image data at byte %zu", at);
}

size_t mr__jpeg_usable(mr__call *call)
{
    mr__jpeg_header header;
    mr__jpeg_segment s;
    int result = mr__jpeg_header_read(call, &header);
    size_t at = header.scan_at, end = call->nbytes;
    if (result == 0)
        result = mr__jpeg_next_segment(call, &at, &s);
    if (result != 0 || !has_scans(&header, &s))
        return end;
    do {
        s.marker = 0;
        result = mr__jpeg_next_segment(call, &at, &s);
        // Below the frame headers there is no segment but TEM: damage, of which we know no end.
    } while (result == 0 && s.marker != MR__JPEG_EOI && (s.marker >= MR__JPEG_SOF0 || s.marker == MR__JPEG_TEM));
    if (result == MR_ETRUNCATED && s.marker >= MR__JPEG_SOF0)
        end = s.at;
    mr__detail_clear(call->detail);
    return end;
}
