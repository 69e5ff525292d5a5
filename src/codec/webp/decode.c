// SPDX-License-Identifier: Apache-2.0
/*
 * Pixels are libwebp's with its default options: fancy upsampling, no dithering, as `dwebp -nodither` and Pillow give
 * them.
 *
 * 1. A part of a lossy picture is decoded with one more pixel of context at each side that is not the picture's: there
 *    the upsampling of chroma looks at one neighbour. libwebp moves the left and upper side to even numbers by itself.
 *    A lossless picture needs neither. In both, libwebp stops below the last row.
 *    Alpha under the horizontal filter is the exception: its first column depends on the rows above, which libwebp
 *    (1.2.4 at least) forgets when it decodes a part of compressed alpha. Such a part begins at the top.
 * 2. RGB of a lossy picture with alpha is decoded without looking at its ALPH chunk.
 * 3. Damage that is accepted gives the rows from the top that decode when no more are asked for, and zeros below. So a
 *    part is again what the whole has there.
 */
#include "codec/webp/webp.h"

#include "base/size.h"

#include <limits.h>
#include <string.h>
#include <webp/decode.h>

/* One decode of one picture. */
typedef struct job {
    mr__call *call;
    const mr__webp_picture *picture;
    const uint8_t *bytes; /* what libwebp gets, as far as there is data */
    size_t nbytes;
    bool alpha; /* ALPH is among it */
} job;

static job make_job(mr__call *call, const mr__webp_picture *p, uint32_t channels)
{
    bool skip_alpha = channels == 3 && p->alpha.nbytes != 0;
    size_t end = p->chunks.at + p->chunks.nbytes;
    size_t at = skip_alpha ? p->pixels.at - 8 : p->chunks.at;
    if (end > call->nbytes)
        end = call->nbytes;
    return (job){call, p, call->bytes + at, end - at, p->alpha.nbytes != 0 && !skip_alpha};
}

/*
 * The most memory that VP8L data of `nbytes` can make libwebp 1.2 take for width x height pixels: the pixels and 17
 * rows as ARGB; images of transforms and of prefix codes, one pixel for 4 x 4 each, three at most; and the tables of
 * each group of prefix codes, up to 5004 entries of 4 bytes and 600 bytes about them. A group takes 20 bits at least
 * and one pixel of the image of prefix codes; 65536 is the most. Real files have a few groups: this is a bound, not a
 * guess, because a small hostile file can have them all.
 */
static uint64_t lossless_nbytes(uint32_t width, uint32_t height, size_t nbytes)
{
    uint64_t pixels = (uint64_t)width * height;
    uint64_t blocks = (uint64_t)mr__ceil_div(width, 4) * mr__ceil_div(height, 4);
    uint64_t groups = (uint64_t)nbytes * 8 / 20 + 1;
    if (groups > blocks)
        groups = blocks;
    if (groups > 65536)
        groups = 65536;
    return pixels * 4 + (uint64_t)width * 17 * 4 + blocks * 3 * 4 + groups * (5004 * 4 + 600) + (256 << 10);
}

/* Lossy: some rows (below 128 bytes a column in 1.2), and the whole of alpha, twice while it is made. */
static uint64_t lossy_nbytes(const job *j)
{
    const mr__webp_picture *p = j->picture;
    uint64_t nbytes = (uint64_t)p->width * 128 + (64 << 10);
    if (j->alpha)
        nbytes += (uint64_t)p->width * p->height + lossless_nbytes(p->width, p->height, p->alpha.nbytes);
    return nbytes;
}

static int charge(const job *j)
{
    const mr__webp_picture *p = j->picture;
    return mr__call_charge(j->call,
                           p->lossless ? lossless_nbytes(p->width, p->height, p->pixels.nbytes) : lossy_nbytes(j));
}

static mr_rect add_context(mr_rect r, uint32_t width, uint32_t height)
{
    uint32_t right = r.x + r.width, below = r.y + r.height;
    uint32_t x = r.x != 0 ? (r.x - 1) & ~1u : 0, y = r.y != 0 ? (r.y - 1) & ~1u : 0;
    // Seen from an even side, the last column looks to the right only if it is odd.
    if (right % 2 == 0 && right < width)
        right++;
    if (below % 2 == 0 && below < height)
        below++;
    return (mr_rect){x, y, right - x, below - y};
}

/* Whether alpha is compressed (bits 0 and 1 of its first byte) and under the horizontal filter (bits 2 and 3). */
static bool alpha_needs_top(const job *j)
{
    return j->alpha && (j->call->bytes[j->picture->alpha.at] & 0x0f) == 0x05;
}

/* What libwebp has to decode so that `region` is what the whole has there. */
static mr_rect find_part(const job *j, mr_rect region)
{
    if (j->picture->lossless)
        return region;
    mr_rect part = add_context(region, j->picture->width, j->picture->height);
    if (alpha_needs_top(j))
        part = (mr_rect){part.x, 0, part.width, part.y + part.height};
    return part;
}

static bool same_rect(mr_rect a, mr_rect b)
{
    return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/* libwebp counts bytes of its output in int. */
static bool spans_int(const mr_image *image)
{
    size_t stride = image->stride < 0 ? (size_t)0 - (size_t)image->stride : (size_t)image->stride;
    return stride <= INT_MAX / image->height;
}

static void describe_output(WebPDecBuffer *output, const mr_image *to)
{
    output->colorspace = to->channels == 4 ? MODE_RGBA : MODE_RGB;
    output->is_external_memory = 1;
    output->width = (int)to->width;
    output->height = (int)to->height;
    output->u.RGBA.rgba = to->pixels;
    output->u.RGBA.stride = (int)to->stride;
    output->u.RGBA.size =
        (size_t)(to->stride < 0 ? -to->stride : to->stride) * (to->height - 1) + mr_image_row_nbytes(to);
}

/* An image in the scratch buffer. */
static int make_scratch(mr__call *call, uint32_t width, uint32_t height, uint32_t channels, mr_image *out)
{
    mr__webp_state *state = call->state;
    mr_image image = {.width = width, .height = height, .channels = channels, .depth = 8};
    image.stride = (ptrdiff_t)mr_image_row_nbytes(&image);
    int result = mr__call_reserve(call, &state->scratch, (size_t)image.stride * height);
    image.pixels = state->scratch.bytes;
    if (result == 0)
        *out = image;
    return result;
}

static void ask_for(WebPDecoderConfig *config, const job *j, mr_rect part, const mr_image *to)
{
    config->options.use_cropping = part.width != j->picture->width || part.height != j->picture->height;
    config->options.crop_left = (int)part.x;
    config->options.crop_top = (int)part.y;
    config->options.crop_width = (int)part.width;
    config->options.crop_height = (int)part.height;
    describe_output(&config->output, to);
}

static VP8StatusCode run(const job *j, mr_rect part, const mr_image *to)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return VP8_STATUS_INVALID_PARAM;
    ask_for(&config, j, part, to);
    VP8StatusCode status = WebPDecode(j->bytes, j->nbytes, &config);
    WebPFreeDecBuffer(&config.output);
    return status;
}

static bool is_damage(VP8StatusCode status)
{
    return status == VP8_STATUS_BITSTREAM_ERROR || status == VP8_STATUS_NOT_ENOUGH_DATA ||
           status == VP8_STATUS_SUSPENDED;
}

/* libwebp says neither where nor what; we know at least which chunk. */
static int fail_status(const job *j, VP8StatusCode status)
{
    const mr__webp_picture *p = j->picture;
    const char *tag = p->lossless ? "VP8L" : j->alpha ? "ALPH and VP8" : "VP8";
    size_t at = (size_t)(j->bytes - j->call->bytes), end = at + j->nbytes;
    switch (status) {
    case VP8_STATUS_USER_ABORT: // nobody aborts: this is libwebp short of memory for its output
    case VP8_STATUS_OUT_OF_MEMORY:
        return mr__call_fail(j->call, MR_ENOMEM, "out of memory: libwebp had too little for %u x %u pixels", p->width,
                             p->height);
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return mr__call_fail(j->call, MR_ETRUNCATED,
                             "truncated WebP: the %s data from byte %zu ends too early, at byte %zu", tag, at, end);
    case VP8_STATUS_BITSTREAM_ERROR:
        return mr__call_fail(j->call, MR_ECORRUPT, "damaged WebP: the %s data from byte %zu to %zu does not decode",
                             tag, at, end);
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return mr__call_fail(j->call, MR_EUNSUPPORTED, "WebP: libwebp does not support the %s data from byte %zu", tag,
                             at);
    default:
        return mr__call_fail(j->call, MR_EINTERNAL,
                             "WebP: libwebp refused our request for the %s data at byte %zu: status %d", tag, at,
                             (int)status);
    }
}

/* Decodes the first `rows` rows of a picture that may be cut, into an image of its whole size; *ok: all of them. */
static int try_rows(const job *j, uint32_t rows, const mr_image *whole, bool *ok, uint32_t *emitted)
{
    mr_rect part = find_part(j, (mr_rect){0, 0, whole->width, rows});
    mr_image target = *whole;
    WebPDecoderConfig config;
    int last = 0;
    target.height = part.height;
    if (!WebPInitDecoderConfig(&config))
        return fail_status(j, VP8_STATUS_INVALID_PARAM);
    ask_for(&config, j, part, &target);
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
    if (decoder == NULL)
        return fail_status(j, VP8_STATUS_OUT_OF_MEMORY);
    VP8StatusCode status = WebPIUpdate(decoder, j->bytes, j->nbytes);
    if (WebPIDecGetRGB(decoder, &last, NULL, NULL, NULL) == NULL)
        last = 0;
    WebPIDelete(decoder);
    WebPFreeDecBuffer(&config.output);
    *ok = (uint32_t)last == part.height; // not by status: here libwebp goes on below the part, and may fail there
    *emitted = (uint32_t)last;
    return is_damage(status) || status == VP8_STATUS_OK ? 0 : fail_status(j, status);
}

/*
 * The greatest number of rows that decode when no more are asked for. What libwebp emits before it stops is fewer: it
 * works on bands of rows. So that a part without damage, which decodes by itself, is also in the whole, the number is
 * searched for, from what was emitted; the band is below 40 rows, which only makes the search short.
 */
static int find_rows(const job *j, const mr_image *whole, uint32_t *rows)
{
    uint32_t low = 0, high = whole->height, probe, emitted, ignored;
    bool ok;
    int result = try_rows(j, high, whole, &ok, &emitted);
    for (int i = 0; result == 0 && low + 1 < high; i++) {
        probe = i == 0 ? emitted : i == 1 ? emitted + 40 : low + (high - low) / 2;
        if (probe <= low || probe >= high)
            probe = low + (high - low) / 2;
        result = try_rows(j, probe, whole, &ok, &ignored);
        *(ok ? &low : &high) = probe;
    }
    *rows = low;
    return result;
}

/* Rows from the top as far as they decode, the others zero. */
static int decode_damaged(const job *j, mr_rect region, const mr_image *to)
{
    mr_image whole = {0}, part;
    uint32_t rows = 0, ignored;
    bool ok = true;
    int result = make_scratch(j->call, j->picture->width, j->picture->height, to->channels, &whole);
    if (result == 0)
        result = find_rows(j, &whole, &rows);
    if (result == 0 && rows != 0)
        result = try_rows(j, rows, &whole, &ok, &ignored);
    if (result != 0)
        return result;
    if (!ok)
        return mr__call_fail(j->call, MR_EINTERNAL, "WebP: %u rows decoded once, but not again", rows);
    for (uint32_t y = rows; y < whole.height; y++)
        memset((uint8_t *)whole.pixels + (ptrdiff_t)y * whole.stride, 0, mr_image_row_nbytes(&whole));
    mr__call_warn(j->call, "damaged WebP: %u of %u rows were decoded", rows, j->picture->height);
    result = mr_image_crop(&whole, region, &part);
    return result != 0 ? result : mr_image_copy(&part, to);
}

/* Decodes a part of the picture, in its own coordinates. */
static int decode_picture(const job *j, mr_rect region, bool accept_damaged, const mr_image *to)
{
    mr_rect part = find_part(j, region);
    bool direct = same_rect(part, region) && spans_int(to);
    mr_image target = *to, inner;
    int result = charge(j);
    if (result == 0 && !direct)
        result = make_scratch(j->call, part.width, part.height, to->channels, &target);
    if (result != 0)
        return result;
    VP8StatusCode status = run(j, part, &target);
    bool damage =
        status == VP8_STATUS_BITSTREAM_ERROR || status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED;
    if (damage && accept_damaged)
        return decode_damaged(j, region, to);
    if (status != VP8_STATUS_OK)
        return fail_status(j, status);
    if (direct)
        return 0;
    result =
        mr_image_crop(&target, (mr_rect){region.x - part.x, region.y - part.y, region.width, region.height}, &inner);
    return result != 0 ? result : mr_image_copy(&inner, to);
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The region of the canvas: the part of the first frame that lies in it, transparent black around. */
static int decode_canvas(const job *j, const mr__webp_file *file, mr_rect r, bool accept_damaged, const mr_image *to)
{
    uint32_t left = max_u32(r.x, file->x), right = min_u32(r.x + r.width, file->x + file->picture.width);
    uint32_t top = max_u32(r.y, file->y), below = min_u32(r.y + r.height, file->y + file->picture.height);
    bool empty = left >= right || top >= below;
    if (empty || right - left != r.width || below - top != r.height)
        for (uint32_t y = 0; y < to->height; y++)
            memset((uint8_t *)to->pixels + (ptrdiff_t)y * to->stride, 0, mr_image_row_nbytes(to));
    if (empty)
        return 0;
    mr_image inner;
    mr_rect place = {left - r.x, top - r.y, right - left, below - top};
    int result = mr_image_crop(to, place, &inner);
    if (result != 0)
        return result;
    mr_rect part = {left - file->x, top - file->y, place.width, place.height};
    return decode_picture(j, part, accept_damaged, &inner);
}

int mr__webp_decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    mr__webp_file file;
    int result = mr__webp_walk(call, &file);
    if (result != 0)
        return result;
    if (file.stated_end > call->nbytes && !request->accept_damaged)
        return mr__call_fail(call, MR_ETRUNCATED,
                             "truncated WebP: the file says it ends at byte %zu, the data at byte %zu", file.stated_end,
                             call->nbytes);
    job j = make_job(call, &file.picture, to->channels);
    uint32_t warnings = call->warnings;
    result = decode_canvas(&j, &file, request->region, request->accept_damaged, to);
    if (result == 0 && file.stated_end > call->nbytes && call->warnings == warnings)
        mr__call_warn(call, "truncated WebP: the file says it ends at byte %zu, the data at byte %zu", file.stated_end,
                      call->nbytes);
    return result;
}
