// SPDX-License-Identifier: Apache-2.0
#include "codec/webp/webp.h"

#include "base/bytes.h"

#include <string.h>

enum { HEAD = 8, RIFF_HEAD = 12, VP8X_NBYTES = 10, ANMF_NBYTES = 16, VP8_HEAD = 10, VP8L_HEAD = 5 };

/* A chunk: its header at `at`, its payload, where the next one begins. */
typedef struct chunk {
    char tag[5];
    size_t at;
    mr__webp_span payload; /* as far as stated, not as far as there is data */
    size_t next;
} chunk;

/* Reads the chunk header at `at`, which must lie before `end`. */
static bool read_chunk(const uint8_t *bytes, size_t at, size_t end, chunk *c)
{
    if (end < HEAD || at > end - HEAD)
        return false;
    memcpy(c->tag, bytes + at, 4);
    c->tag[4] = '\0';
    c->at = at;
    c->payload = (mr__webp_span){at + HEAD, mr__load_le32(bytes + at + 4)};
    c->next = c->payload.at + c->payload.nbytes + (c->payload.nbytes & 1);
    return true;
}

static bool is(const chunk *c, const char *tag)
{
    return memcmp(c->tag, tag, 4) == 0;
}

static size_t data_end(const mr__call *call, const mr__webp_file *file)
{
    return call->nbytes < file->stated_end ? call->nbytes : file->stated_end;
}

/* There is no more where `what` should be: the file was cut, or never had it. */
static int fail_end(mr__call *call, const mr__webp_file *file, const char *what, size_t at)
{
    if (call->nbytes < file->stated_end)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated WebP: expected %s at byte %zu, the data ends at byte %zu",
                             what, at, call->nbytes);
    return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: expected %s at byte %zu, the file says it ends at byte %zu",
                         what, at, file->stated_end);
}

static int read_vp8(mr__call *call, const uint8_t *b, size_t at, mr__webp_picture *p)
{
    uint32_t tag = mr__load_le24(b);
    if ((tag & 1) != 0 || (tag >> 4 & 1) == 0 || (tag >> 1 & 7) > 3)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: no visible key frame of a known profile at byte %zu",
                             at);
    if (memcmp(b + 3, "\x9d\x01\x2a", 3) != 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: no VP8 start code at byte %zu", at + 3);
    if (tag >> 5 >= p->pixels.nbytes)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged WebP: the first partition at byte %zu is longer than its chunk", at);
    p->width = mr__load_le16(b + 6) & 0x3fff;
    p->height = mr__load_le16(b + 8) & 0x3fff;
    if (p->width == 0 || p->height == 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: size %u x %u at byte %zu", p->width, p->height, at + 6);
    return 0;
}

static int read_vp8l(mr__call *call, const uint8_t *b, size_t at, mr__webp_picture *p)
{
    if (b[0] != 0x2f)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: no VP8L signature at byte %zu", at);
    uint32_t bits = mr__load_le32(b + 1);
    if (bits >> 29 != 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: VP8L version %u at byte %zu; only 0 is known",
                             bits >> 29, at + 4);
    p->width = (bits & 0x3fff) + 1;
    p->height = (bits >> 14 & 0x3fff) + 1;
    p->has_alpha = (bits >> 28 & 1) != 0;
    return 0;
}

/* The header of the pixels in `c`; chunks from `first` on belong to the picture. */
static int read_pixels(mr__call *call, const mr__webp_file *file, const chunk *c, size_t first, mr__webp_picture *p)
{
    p->lossless = is(c, "VP8L");
    p->pixels = c->payload;
    if (p->lossless) {
        p->alpha = (mr__webp_span){0};
        first = c->at;
    }
    p->has_alpha = p->alpha.nbytes != 0;
    p->chunks = (mr__webp_span){first, c->payload.at + c->payload.nbytes - first};
    size_t head = p->lossless ? VP8L_HEAD : VP8_HEAD, end = data_end(call, file);
    if (c->payload.nbytes < head)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: the %s chunk at byte %zu has only %zu bytes", c->tag,
                             c->at, c->payload.nbytes);
    if (end - c->payload.at < head)
        return fail_end(call, file, "the picture's header", c->payload.at);
    const uint8_t *b = call->bytes + c->payload.at;
    return p->lossless ? read_vp8l(call, b, c->payload.at, p) : read_vp8(call, b, c->payload.at, p);
}

/* Looks for the picture from `at` up to `limit`; *next is where the chunk after it begins. */
static int find_picture(mr__call *call, const mr__webp_file *file, size_t at, size_t limit, mr__webp_picture *p,
                        size_t *next)
{
    size_t end = data_end(call, file), first = 0;
    chunk c;
    for (; read_chunk(call->bytes, at, end < limit ? end : limit, &c); at = c.next) {
        if (c.payload.nbytes > limit - c.payload.at)
            return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: the chunk at byte %zu is longer than what holds it",
                                 at);
        if (is(&c, "VP8 ") || is(&c, "VP8L")) {
            *next = c.next;
            return read_pixels(call, file, &c, first != 0 ? first : at, p);
        }
        if (is(&c, "ALPH")) {
            p->alpha = c.payload;
            first = at;
        }
    }
    return fail_end(call, file, "a VP8 or VP8L chunk", at);
}

/* A chunk beside the pictures. */
static void note_metadata(mr__webp_file *file, const chunk *c)
{
    if (is(c, "ICCP") && (file->flags & MR__WEBP_ICC) != 0 && file->icc.nbytes == 0)
        file->icc = c->payload;
    if (is(c, "EXIF") && (file->flags & MR__WEBP_EXIF) != 0 && file->exif.nbytes == 0)
        file->exif = c->payload;
}

/* The first frame: its place, its picture. */
static int read_frame(mr__call *call, mr__webp_file *file, const chunk *c)
{
    if (c->payload.nbytes < ANMF_NBYTES)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: the frame at byte %zu has only %zu bytes", c->at,
                             c->payload.nbytes);
    if (data_end(call, file) - c->payload.at < ANMF_NBYTES)
        return fail_end(call, file, "a frame's header", c->payload.at);
    const uint8_t *b = call->bytes + c->payload.at;
    file->x = mr__load_le24(b) * 2;
    file->y = mr__load_le24(b + 3) * 2;
    uint32_t width = mr__load_le24(b + 6) + 1, height = mr__load_le24(b + 9) + 1;
    size_t next, limit = c->payload.at + c->payload.nbytes;
    mr__webp_picture *p = &file->picture;
    int result = find_picture(call, file, c->payload.at + ANMF_NBYTES, limit, p, &next);
    if (result != 0)
        return result;
    bool fits = p->width == width && p->height == height && file->x < file->width && file->y < file->height &&
                width <= file->width - file->x && height <= file->height - file->y;
    if (!fits)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: the frame at byte %zu does not fit its canvas, %u x %u",
                             c->at, file->width, file->height);
    return 0;
}

/* Chunks from `at` to the end. Before the picture, one that does not fit is an error; after it, the walk ends there. */
static int walk_chunks(mr__call *call, mr__webp_file *file, size_t at)
{
    bool animated = (file->flags & MR__WEBP_ANIMATION) != 0;
    size_t end = data_end(call, file);
    chunk c;
    for (; read_chunk(call->bytes, at, end, &c); at = c.next) {
        bool frame = animated && is(&c, "ANMF");
        bool torn = c.payload.nbytes > end - c.payload.at;
        if (frame && file->frames == 0) {
            if (c.payload.nbytes > file->stated_end - c.payload.at)
                return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: the frame at byte %zu is longer than the file",
                                     at);
            int result = read_frame(call, file, &c);
            if (result != 0)
                return result;
        }
        file->frames += frame;
        if (torn) {
            file->torn_at = at;
            break;
        }
        note_metadata(file, &c);
    }
    if (animated && file->frames == 0)
        return fail_end(call, file, "a frame", file->torn_at != 0 ? file->torn_at : at);
    return 0;
}

/* A file with VP8X, without animation: metadata, the picture, metadata. */
static int walk_still(mr__call *call, mr__webp_file *file, size_t at)
{
    size_t next;
    int result = find_picture(call, file, at, file->stated_end, &file->picture, &next);
    if (result != 0)
        return result;
    if (file->picture.width != file->width || file->picture.height != file->height)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged WebP: a canvas of %u x %u, but a picture of %u x %u at byte %zu", file->width,
                             file->height, file->picture.width, file->picture.height, file->picture.pixels.at);
    file->frames = 1;
    return walk_chunks(call, file, at);
}

static int walk_extended(mr__call *call, mr__webp_file *file, const chunk *c)
{
    if (c->payload.nbytes != VP8X_NBYTES)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: the VP8X chunk at byte %zu has %zu bytes, not %d", c->at,
                             c->payload.nbytes, VP8X_NBYTES);
    if (data_end(call, file) - c->payload.at < VP8X_NBYTES)
        return fail_end(call, file, "the VP8X header", c->payload.at);
    const uint8_t *b = call->bytes + c->payload.at;
    file->extended = true;
    file->flags = b[0];
    file->width = mr__load_le24(b + 4) + 1;
    file->height = mr__load_le24(b + 7) + 1;
    if ((uint64_t)file->width * file->height > UINT32_MAX)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged WebP: a canvas of %u x %u at byte %zu; 2^32-1 pixels is the most", file->width,
                             file->height, c->payload.at + 4);
    return (file->flags & MR__WEBP_ANIMATION) != 0 ? walk_chunks(call, file, c->next) : walk_still(call, file, c->next);
}

int mr__webp_walk(mr__call *call, mr__webp_file *file)
{
    *file = (mr__webp_file){0};
    if (call->nbytes < RIFF_HEAD + HEAD)
        return mr__call_fail(call, MR_ETRUNCATED,
                             "truncated WebP: expected a chunk at byte %d, the data ends at byte %zu", RIFF_HEAD,
                             call->nbytes);
    uint32_t stated = mr__load_le32(call->bytes + 4);
    if (stated < 4 + HEAD || stated > UINT32_MAX - HEAD - 1)
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: a file of %u bytes at byte 4", stated);
    file->stated_end = (size_t)stated + HEAD;
    chunk c;
    read_chunk(call->bytes, RIFF_HEAD, file->stated_end, &c);
    if (is(&c, "VP8X"))
        return walk_extended(call, file, &c);
    if (!is(&c, "VP8 ") && !is(&c, "VP8L"))
        return mr__call_fail(call, MR_ECORRUPT, "damaged WebP: expected a VP8, VP8L or VP8X chunk at byte %d",
                             RIFF_HEAD);
    size_t next;
    int result = find_picture(call, file, RIFF_HEAD, file->stated_end, &file->picture, &next);
    file->width = file->picture.width;
    file->height = file->picture.height;
    file->frames = 1;
    return result;
}

bool mr__webp_has_alpha(const mr__webp_file *file)
{
    const mr__webp_picture *p = &file->picture;
    bool flagged = (file->flags & MR__WEBP_ALPHA) != 0;
    if ((file->flags & MR__WEBP_ANIMATION) != 0)
        return flagged || p->has_alpha || p->width != file->width || p->height != file->height;
    return p->lossless ? p->has_alpha : flagged || p->has_alpha;
}
