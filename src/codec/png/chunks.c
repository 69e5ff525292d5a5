// SPDX-License-Identifier: Apache-2.0
#include "codec/png/chunks.h"

#include "base/bytes.h"

#include <libdeflate.h>
#include <string.h>

/* One chunk. `nbytes` has been held against the file's end. */
typedef struct chunk {
    size_t at; /* offset of its length field */
    const uint8_t *type;
    const uint8_t *bytes;
    uint32_t nbytes;
} chunk;

#define NAME_FORMAT      "%.4s"
#define NAME_ARGUMENT(c) (const char *)(c)->type

static bool is(const chunk *c, const char *type)
{
    return memcmp(c->type, type, 4) == 0;
}

static bool is_critical(const chunk *c)
{
    return (c->type[0] & 0x20) == 0;
}

static bool is_name(const uint8_t *type)
{
    for (int i = 0; i < 4; i++)
        if (!((type[i] | 0x20) >= 'a' && (type[i] | 0x20) <= 'z'))
            return false;
    return true;
}

static size_t end_of(const chunk *c)
{
    return c->at + MR__PNG_CHUNK_NBYTES + c->nbytes;
}

/* What stands at an offset. */
typedef enum sight { SIGHT_CHUNK, SIGHT_CUT, SIGHT_NO_CHUNK } sight;

/* Looks at a chunk without a word. A chunk that the file's end cuts has the bytes up to there. */
static sight look(const mr__call *call, size_t at, chunk *c)
{
    size_t left = call->nbytes - at;
    *c = (chunk){.at = at};
    if (left < 8)
        return SIGHT_CUT;
    c->type = call->bytes + at + 4;
    c->bytes = call->bytes + at + 8;
    c->nbytes = mr__load_be32(call->bytes + at);
    if (!is_name(c->type) || c->nbytes > INT32_MAX)
        return SIGHT_NO_CHUNK;
    if (left - 8 >= (size_t)c->nbytes + 4)
        return SIGHT_CHUNK;
    if (c->nbytes > left - 8)
        c->nbytes = (uint32_t)(left - 8);
    return SIGHT_CUT;
}

static int next_chunk(mr__call *call, size_t at, chunk *c)
{
    switch (look(call, at, c)) {
    case SIGHT_CHUNK:
        return 0;
    case SIGHT_NO_CHUNK:
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: expected a chunk at byte %zu", at);
    case SIGHT_CUT:
        break;
    }
    if (c->type == NULL)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated PNG: expected a chunk at byte %zu", at);
    return mr__call_fail(call, MR_ETRUNCATED, "truncated PNG: chunk " NAME_FORMAT " at byte %zu is not whole",
                         NAME_ARGUMENT(c), at);
}

static bool checksum_matches(const chunk *c)
{
    return libdeflate_crc32(0, c->type, (size_t)c->nbytes + 4) == mr__load_be32(c->bytes + c->nbytes);
}

static int check_critical(mr__call *call, const chunk *c)
{
    if (checksum_matches(c))
        return 0;
    return mr__call_fail(call, MR_ECORRUPT,
                         "damaged PNG: the checksum of chunk " NAME_FORMAT " at byte %zu does not match",
                         NAME_ARGUMENT(c), c->at);
}

/* The parser's state, until the image data. */
typedef struct parser {
    mr__call *call;
    mr__png *png;
    bool warn;
} parser;

static int ignore(const parser *p, const chunk *c, const char *why)
{
    if (p->warn)
        mr__call_warn(p->call, "PNG: chunk " NAME_FORMAT " at byte %zu is ignored: %s", NAME_ARGUMENT(c), c->at, why);
    return 0;
}

static bool depth_fits(uint32_t color_type, uint32_t depth)
{
    switch (color_type) {
    case MR__PNG_GRAY:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case MR__PNG_PALETTE:
        return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case MR__PNG_RGB:
    case MR__PNG_GRAY_ALPHA:
    case MR__PNG_RGB_ALPHA:
        return depth == 8 || depth == 16;
    default:
        return false;
    }
}

static int read_header(mr__call *call, const chunk *c, mr__png *png)
{
    size_t at = c->at + 8;
    if (is(c, "CgBI"))
        return mr__call_fail(call, MR_EUNSUPPORTED,
                             "a CgBI file (Apple's variant of PNG, chunk CgBI at byte %zu) is not supported", c->at);
    if (!is(c, "IHDR") || c->nbytes != 13)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: expected chunk IHDR of 13 bytes at byte %zu", c->at);
    int result = check_critical(call, c);
    if (result != 0)
        return result;
    *png = (mr__png){.width = mr__load_be32(c->bytes),
                     .height = mr__load_be32(c->bytes + 4),
                     .bit_depth = c->bytes[8],
                     .color_type = c->bytes[9],
                     .interlaced = c->bytes[12] == 1,
                     .frames = 1};
    if (png->width == 0 || png->height == 0 || png->width > INT32_MAX || png->height > INT32_MAX)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: a size of %u x %u at byte %zu", png->width, png->height,
                             at);
    if (!depth_fits(png->color_type, png->bit_depth))
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: bit depth %u with colour type %u at byte %zu",
                             png->bit_depth, png->color_type, at + 8);
    if (c->bytes[10] != 0 || c->bytes[11] != 0 || c->bytes[12] > 1)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged PNG: unknown compression, filter or interlace method (%u, %u, %u) at byte %zu",
                             c->bytes[10], c->bytes[11], c->bytes[12], at + 10);
    return 0;
}

static int read_palette(const parser *p, const chunk *c)
{
    mr__png *png = p->png;
    if (png->palette.bytes != NULL)
        return mr__call_fail(p->call, MR_ECORRUPT, "damaged PNG: a second chunk PLTE at byte %zu", c->at);
    if (png->color_type != MR__PNG_PALETTE) { // a suggestion at most, and so no more than an ancillary chunk
        if (png->color_type == MR__PNG_GRAY || png->color_type == MR__PNG_GRAY_ALPHA)
            return ignore(p, c, "a gray image has no palette");
        return checksum_matches(c) ? 0 : ignore(p, c, "its checksum does not match");
    }
    int result = check_critical(p->call, c);
    if (result != 0)
        return result;
    if (c->nbytes == 0 || c->nbytes % 3 != 0 || c->nbytes > 3 * 256)
        return mr__call_fail(p->call, MR_ECORRUPT, "damaged PNG: chunk PLTE at byte %zu has %u bytes", c->at,
                             c->nbytes);
    size_t most = (size_t)3 << png->bit_depth;
    png->palette = (mr__span){c->bytes, c->nbytes < most ? c->nbytes : most};
    return 0;
}

static int read_transparency(const parser *p, const chunk *c)
{
    mr__png *png = p->png;
    if (png->transparency.bytes != NULL)
        return ignore(p, c, "it is the second");
    bool fits = png->color_type == MR__PNG_GRAY      ? c->nbytes == 2
                : png->color_type == MR__PNG_RGB     ? c->nbytes == 6
                : png->color_type == MR__PNG_PALETTE ? c->nbytes >= 1 && c->nbytes <= png->palette.nbytes / 3
                                                     : false;
    if (!fits)
        return ignore(p, c, "it does not fit the image");
    png->transparency = (mr__span){c->bytes, c->nbytes};
    return 0;
}

static int read_ancillary(const parser *p, const chunk *c)
{
    mr__png *png = p->png;
    if (!checksum_matches(c))
        return ignore(p, c, "its checksum does not match");
    if (is(c, "tRNS"))
        return read_transparency(p, c);
    if (is(c, "iCCP") && png->icc.bytes == NULL)
        png->icc = (mr__span){c->bytes, c->nbytes};
    else if (is(c, "eXIf") && png->exif.bytes == NULL)
        png->exif = (mr__span){c->bytes, c->nbytes};
    else if (is(c, "acTL") && c->nbytes == 8 && mr__load_be32(c->bytes) != 0)
        png->frames = mr__load_be32(c->bytes);
    return 0;
}

static int read_chunk(const parser *p, const chunk *c)
{
    if (is(c, "PLTE"))
        return read_palette(p, c);
    if (!is_critical(c))
        return read_ancillary(p, c);
    if (is(c, "IHDR"))
        return mr__call_fail(p->call, MR_ECORRUPT, "damaged PNG: a second chunk IHDR at byte %zu", c->at);
    if (is(c, "IEND"))
        return mr__call_fail(p->call, MR_ECORRUPT, "damaged PNG: no image data before chunk IEND at byte %zu", c->at);
    return mr__call_fail(p->call, MR_EUNSUPPORTED, "PNG with an unknown critical chunk, " NAME_FORMAT " at byte %zu",
                         NAME_ARGUMENT(c), c->at);
}

int mr__png_parse(mr__call *call, bool warn, mr__png *png)
{
    chunk c;
    size_t at = MR__PNG_SIGNATURE_NBYTES;
    if (call->nbytes < at)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated PNG: its signature ends at byte %zu, the data at byte %zu",
                             at, call->nbytes);
    if (memcmp(call->bytes, MR__PNG_SIGNATURE, at) != 0)
        return mr__call_fail(
            call, MR_ECORRUPT,
            "damaged PNG: its signature is broken at byte 4, as by a transfer that converts line ends");
    int result = next_chunk(call, at, &c);
    if (result == 0)
        result = read_header(call, &c, png);
    parser p = {call, png, warn};
    while (result == 0) {
        at = end_of(&c);
        // What a cut-off IDAT is worth, mr__png_gather decides.
        if (look(call, at, &c) != SIGHT_NO_CHUNK && c.type != NULL && is(&c, "IDAT"))
            break;
        result = next_chunk(call, at, &c);
        if (result == 0)
            result = read_chunk(&p, &c);
    }
    if (result != 0)
        return result;
    png->data_at = at;
    if (png->color_type == MR__PNG_PALETTE && png->palette.bytes == NULL)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: no chunk PLTE before chunk IDAT at byte %zu", at);
    return 0;
}

void mr__png_find_exif(const mr__call *call, mr__png *png)
{
    chunk c;
    for (size_t at = png->data_at; png->exif.bytes == NULL && look(call, at, &c) == SIGHT_CHUNK; at = end_of(&c)) {
        if (is(&c, "IEND"))
            return;
        if (is(&c, "eXIf") && checksum_matches(&c))
            png->exif = (mr__span){c.bytes, c.nbytes};
    }
}

size_t mr__png_data_nbytes(const mr__call *call, const mr__png *png)
{
    chunk c;
    size_t nbytes = 0;
    for (size_t at = png->data_at;; at = end_of(&c)) {
        sight s = look(call, at, &c);
        if (s == SIGHT_NO_CHUNK || c.type == NULL || !is(&c, "IDAT"))
            return nbytes;
        nbytes += c.nbytes;
        if (s == SIGHT_CUT)
            return nbytes;
    }
}

/* Fails, or warns where damage is accepted. */
static int damage(mr__call *call, bool accept, int result)
{
    if (!accept || result == 0 || (result != MR_ECORRUPT && result != MR_ETRUNCATED))
        return result;
    mr__call_warn(call, "%s", call->detail->text);
    mr__detail_clear(call->detail);
    return 0;
}

/* The run of IDAT chunks: how many, how many bytes, and where it ends. */
typedef struct run {
    size_t count;
    size_t nbytes;
    size_t end;
    bool cut;
} run;

static int measure_run(mr__call *call, const mr__png *png, bool accept_damaged, run *r)
{
    *r = (run){.end = png->data_at};
    for (;;) {
        chunk c;
        sight s = look(call, r->end, &c);
        if (s == SIGHT_NO_CHUNK || c.type == NULL || !is(&c, "IDAT"))
            return 0;
        r->count++;
        r->nbytes += c.nbytes;
        if (s == SIGHT_CUT) {
            r->cut = true;
            r->end = call->nbytes;
            return damage(call, accept_damaged, next_chunk(call, c.at, &c));
        }
        int result = damage(call, accept_damaged, check_critical(call, &c));
        if (result != 0)
            return result;
        r->end = end_of(&c);
    }
}

/* What comes behind the image data touches no pixel: a word about it is enough. */
static void check_rest(mr__call *call, size_t at)
{
    chunk c;
    for (;; at = end_of(&c)) {
        if (look(call, at, &c) != SIGHT_CHUNK) {
            mr__call_warn(call, "PNG: expected a chunk at byte %zu; chunk IEND is missing", at);
            return;
        }
        if (!checksum_matches(&c))
            mr__call_warn(call, "PNG: the checksum of chunk " NAME_FORMAT " at byte %zu does not match",
                          NAME_ARGUMENT(&c), at);
        if (is(&c, "IEND"))
            break;
        if (is_critical(&c))
            mr__call_warn(call, "PNG: chunk " NAME_FORMAT " at byte %zu comes too late", NAME_ARGUMENT(&c), at);
    }
    if (end_of(&c) != call->nbytes)
        mr__call_warn(call, "PNG: %zu bytes after its end at byte %zu", call->nbytes - end_of(&c), end_of(&c));
}

int mr__png_gather(mr__call *call, const mr__png *png, bool accept_damaged, mr__buffer *buffer, mr__png_data *data)
{
    run r;
    chunk c;
    int result = measure_run(call, png, accept_damaged, &r);
    if (result != 0)
        return result;
    *data = (mr__png_data){.png = png, .cut = r.cut};
    if (!r.cut)
        check_rest(call, r.end);
    look(call, png->data_at, &c);
    if (r.count == 1) {
        data->span = (mr__span){c.bytes, c.nbytes};
        return 0;
    }
    result = mr__call_reserve(call, buffer, r.nbytes);
    if (result != 0)
        return result;
    data->span = (mr__span){buffer->bytes, r.nbytes};
    uint8_t *to = buffer->bytes;
    for (size_t i = 0; i < r.count; i++) {
        memcpy(to, c.bytes, c.nbytes);
        to += c.nbytes;
        if (i + 1 < r.count)
            look(call, end_of(&c), &c);
    }
    return 0;
}

size_t mr__png_data_offset(const mr__call *call, const mr__png *png, size_t at)
{
    chunk c;
    look(call, png->data_at, &c);
    while (at >= c.nbytes && end_of(&c) < call->nbytes) {
        at -= c.nbytes;
        chunk next;
        if (look(call, end_of(&c), &next) == SIGHT_NO_CHUNK || next.type == NULL || !is(&next, "IDAT"))
            return c.at + 8 + c.nbytes;
        c = next;
    }
    return c.at + 8 + (at < c.nbytes ? at : c.nbytes);
}

uint32_t mr__png_samples(const mr__png *png)
{
    switch (png->color_type) {
    case MR__PNG_RGB:
        return 3;
    case MR__PNG_GRAY_ALPHA:
        return 2;
    case MR__PNG_RGB_ALPHA:
        return 4;
    default:
        return 1;
    }
}

uint64_t mr__png_row_nbytes(const mr__png *png, uint32_t width)
{
    return ((uint64_t)width * mr__png_samples(png) * png->bit_depth + 7) / 8;
}
