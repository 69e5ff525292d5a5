// SPDX-License-Identifier: Apache-2.0
/*
 * The raw form: a header of 64 bytes, the pixels, an ICC profile. doc/format-raw.md is the format; the order of checks
 * here is the order there.
 */
#include "base/bytes.h"
#include "base/hash.h"
#include "base/size.h"
#include "codec/codec.h"

#include <string.h>

enum {
    AT_VERSION = 8,
    AT_CHANNELS = 10,
    AT_DEPTH = 11,
    AT_ORIENTATION = 12,
    AT_RESERVED_A = 13,
    AT_WIDTH = 16,
    AT_HEIGHT = 20,
    AT_ICC = 24,
    AT_RESERVED_B = 32,
    AT_HASH = 56,
    HEAD_NBYTES = 64,
    VERSION = 1
};
#define SIDE_MAX 0x7fffffffu

static const uint8_t magic[8] = {0x8a, 'M', 'R', 'R', '\r', '\n', 0x1a, '\n'};

static bool probe(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* The first byte in [from, to) that is not zero, or `to`. */
static size_t find_set(const uint8_t *bytes, size_t from, size_t to)
{
    while (from < to && bytes[from] == 0)
        from++;
    return from;
}

static int check_reserved(mr__call *call)
{
    size_t at = find_set(call->bytes, AT_RESERVED_A, AT_WIDTH);
    if (at == AT_WIDTH)
        at = find_set(call->bytes, AT_RESERVED_B, AT_HASH);
    if (at != AT_HASH)
        return mr__call_fail(call, MR_ECORRUPT, "damaged raw image: the reserved byte %zu is %u, not 0", at,
                             call->bytes[at]);
    return 0;
}

static int check_ranges(mr__call *call, const mr_info *info)
{
    if (info->channels < 1 || info->channels > 4)
        return mr__call_fail(call, MR_ECORRUPT, "damaged raw image: %u channels at byte %d; it can be 1 to 4",
                             info->channels, AT_CHANNELS);
    if (info->depth != 8 && info->depth != 16)
        return mr__call_fail(call, MR_ECORRUPT, "damaged raw image: depth %u at byte %d; it can be 8 or 16",
                             info->depth, AT_DEPTH);
    if (info->orientation < 1 || info->orientation > 8)
        return mr__call_fail(call, MR_ECORRUPT, "damaged raw image: orientation %u at byte %d; it can be 1 to 8",
                             info->orientation, AT_ORIENTATION);
    if (info->width < 1 || info->width > SIDE_MAX || info->height < 1 || info->height > SIDE_MAX)
        return mr__call_fail(call, MR_ECORRUPT, "damaged raw image: size %u x %u at byte %d; each can be 1 to 2^31-1",
                             info->width, info->height, AT_WIDTH);
    return 0;
}

static int read_info(mr__call *call, mr_info *info)
{
    const uint8_t *b = call->bytes;
    if (call->nbytes < HEAD_NBYTES)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated raw image: the header ends at byte %d, the data at %zu",
                             HEAD_NBYTES, call->nbytes);
    if (mr__load_le64(b + AT_HASH) != mr__hash(b, AT_HASH))
        return mr__call_fail(call, MR_ECORRUPT, "damaged raw image: the header's hash at byte %d does not match",
                             AT_HASH);
    uint32_t version = mr__load_le16(b + AT_VERSION);
    if (version != VERSION)
        return mr__call_fail(call, MR_EUNSUPPORTED, "raw image of version %u at byte %d; only %d is known", version,
                             AT_VERSION, VERSION);
    info->width = mr__load_le32(b + AT_WIDTH);
    info->height = mr__load_le32(b + AT_HEIGHT);
    info->channels = b[AT_CHANNELS];
    info->depth = b[AT_DEPTH];
    info->orientation = b[AT_ORIENTATION];
    info->color = info->channels <= 2 ? MR_COLOR_GRAY : MR_COLOR_RGB;
    info->lossless = true;
    info->has_icc = mr__load_le64(b + AT_ICC) != 0;
    int result = check_reserved(call);
    return result != 0 ? result : check_ranges(call, info);
}

/* Where the parts of the file end, by its header. */
typedef struct layout {
    size_t row_nbytes;
    size_t pixels_end;
    size_t end;
} layout;

static int find_layout(mr__call *call, uint32_t width, uint32_t height, layout *out)
{
    uint64_t icc = mr__load_le64(call->bytes + AT_ICC);
    size_t pixel = (size_t)call->bytes[AT_CHANNELS] * (call->bytes[AT_DEPTH] / 8);
    bool fits = mr__size_mul(width, pixel, &out->row_nbytes) &&
                mr__size_mul_add(out->row_nbytes, height, HEAD_NBYTES, &out->pixels_end) && icc <= SIZE_MAX &&
                mr__size_add(out->pixels_end, (size_t)icc, &out->end);
    if (!fits)
        return mr__call_fail(call, MR_ELIMIT, "raw image of %u x %u with a profile of %llu bytes: no file is so long",
                             width, height, (unsigned long long)icc);
    return 0;
}

/* A wrong length is an error, or, when damage is accepted, a warning. */
static int check_length(mr__call *call, const layout *l, bool accept)
{
    if (call->nbytes == l->end)
        return 0;
    bool is_short = call->nbytes < l->end;
    const char *what = is_short ? "truncated" : "damaged";
    if (accept) {
        mr__call_warn(call, "%s raw image: it ends at byte %zu, and should at byte %zu", what, call->nbytes, l->end);
        return 0;
    }
    return mr__call_fail(call, is_short ? MR_ETRUNCATED : MR_ECORRUPT,
                         "%s raw image: it ends at byte %zu, and should at byte %zu", what, call->nbytes, l->end);
}

static int holds(mr__call *call, const mr_info *info)
{
    layout l = {0};
    int result = find_layout(call, info->width, info->height, &l);
    return result != 0 ? result : check_length(call, &l, false);
}

static bool is_big_endian(void)
{
    return __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
}

/* Copies a row; on a big-endian machine its 16-bit samples change order, which is the same in both directions. */
static void copy_row(uint8_t *to, const uint8_t *from, size_t nbytes, uint32_t depth)
{
    if (depth == 8 || !is_big_endian()) {
        memcpy(to, from, nbytes);
        return;
    }
    for (size_t i = 0; i < nbytes; i += 2) {
        to[i] = from[i + 1];
        to[i + 1] = from[i];
    }
}

static int decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    layout l = {0};
    int result = find_layout(call, request->info->width, request->info->height, &l);
    if (result == 0)
        result = check_length(call, &l, request->accept_damaged);
    if (result != 0)
        return result;
    size_t pixel = mr_image_pixel_nbytes(to), nbytes = mr_image_row_nbytes(to);
    for (uint32_t y = 0; y < to->height; y++) {
        uint8_t *row = (uint8_t *)to->pixels + (ptrdiff_t)y * to->stride;
        size_t at = HEAD_NBYTES + (request->region.y + y) * l.row_nbytes + request->region.x * pixel;
        size_t have = at < call->nbytes ? call->nbytes - at : 0;
        // Only whole samples: half of one would be another number.
        have = have < nbytes ? have - have % (to->depth / 8) : nbytes;
        if (have != 0)
            copy_row(row, call->bytes + at, have, to->depth);
        memset(row + have, 0, nbytes - have);
    }
    return 0;
}

static bool view(mr__call *call, const mr__request *request, mr_image *image)
{
    layout l = {0};
    if (image->depth != 8 || find_layout(call, request->info->width, request->info->height, &l) != 0 ||
        call->nbytes != l.end || l.row_nbytes > PTRDIFF_MAX)
        return false;
    size_t at = HEAD_NBYTES + request->region.y * l.row_nbytes + request->region.x * mr_image_pixel_nbytes(image);
    image->stride = (ptrdiff_t)l.row_nbytes;
    image->pixels = (void *)(call->bytes + at); // not to be written to
    return true;
}

static uint64_t ranges_head(uint32_t width, uint32_t height)
{
    (void)width;
    (void)height;
    return HEAD_NBYTES;
}

/* From the region's first byte to its last. */
static bool ranges_of(const uint8_t *head, size_t head_nbytes, uint64_t nbytes, mr_rect region, mr__range *range)
{
    mr__detail detail;
    mr__call call = {.name = "raw", .bytes = head, .nbytes = head_nbytes, .detail = &detail};
    mr_info info = {0};
    layout l = {0};
    if (!probe(head, head_nbytes) || read_info(&call, &info) != 0 ||
        find_layout(&call, info.width, info.height, &l) != 0 || l.end != nbytes)
        return false;
    if (region.x >= info.width || region.width > info.width - region.x || region.y >= info.height ||
        region.height > info.height - region.y)
        return false;
    size_t pixel = (size_t)info.channels * (info.depth / 8);
    range->offset = HEAD_NBYTES + region.y * l.row_nbytes + region.x * pixel;
    range->nbytes = (region.height - 1) * l.row_nbytes + region.width * pixel;
    return true;
}

static int read_icc(mr__call *call, mr__buffer *buffer, size_t *nbytes)
{
    layout l = {0};
    int result = find_layout(call, mr__load_le32(call->bytes + AT_WIDTH), mr__load_le32(call->bytes + AT_HEIGHT), &l);
    if (result == 0)
        result = check_length(call, &l, false);
    if (result == 0)
        result = mr__call_reserve(call, buffer, l.end - l.pixels_end);
    if (result != 0)
        return result;
    *nbytes = l.end - l.pixels_end;
    memcpy(buffer->bytes, call->bytes + l.pixels_end, *nbytes);
    return 0;
}

static void write_header(uint8_t *b, const mr_image *image, const mr_encode_options *options)
{
    memset(b, 0, HEAD_NBYTES);
    memcpy(b, magic, sizeof magic);
    mr__store_le16(b + AT_VERSION, VERSION);
    b[AT_CHANNELS] = (uint8_t)image->channels;
    b[AT_DEPTH] = (uint8_t)image->depth;
    b[AT_ORIENTATION] = (uint8_t)options->orientation;
    mr__store_le32(b + AT_WIDTH, image->width);
    mr__store_le32(b + AT_HEIGHT, image->height);
    mr__store_le64(b + AT_ICC, options->icc_nbytes);
    mr__store_le64(b + AT_HASH, mr__hash(b, AT_HASH));
}

static int encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                  size_t *out_nbytes)
{
    size_t row_nbytes = mr_image_row_nbytes(image), nbytes;
    bool fits = mr__size_mul_add(row_nbytes, image->height, HEAD_NBYTES, &nbytes) &&
                mr__size_add(nbytes, options->icc_nbytes, &nbytes);
    if (!fits)
        return mr__call_fail(call, MR_ELIMIT, "a raw image of %u x %u does not fit the address space", image->width,
                             image->height);
    int result = mr__call_reserve(call, out, nbytes);
    if (result != 0)
        return result;
    uint8_t *at = out->bytes;
    write_header(at, image, options);
    at += HEAD_NBYTES;
    for (uint32_t y = 0; y < image->height; y++, at += row_nbytes)
        copy_row(at, (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride, row_nbytes, image->depth);
    if (options->icc_nbytes != 0)
        memcpy(at, options->icc, options->icc_nbytes);
    *out_nbytes = nbytes;
    return 0;
}

const mr__codec mr__codec_raw = {.form = MR_FORM_RAW,
                                 .name = "raw",
                                 .endings = "raw mrraw",
                                 .probe = probe,
                                 .info = read_info,
                                 .icc = read_icc,
                                 .holds = holds,
                                 .ranges_head = ranges_head,
                                 .ranges_of = ranges_of,
                                 .decode = decode,
                                 .view = view,
                                 .encode = encode};
