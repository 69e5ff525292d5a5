// SPDX-License-Identifier: Apache-2.0
/*
 * A part of a lossy picture is decoded with one more pixel of context at each side that is not the picture's: there the
 * upsampling of chroma looks at one neighbour. libwebp moves the left and upper side to even numbers by itself. A
 * lossless picture needs neither. In both, libwebp stops below the last row.
 *
 * Alpha under the horizontal filter is the exception: its first column depends on the rows above, which libwebp (1.2.4
 * at least) forgets when it decodes a part of compressed alpha. Such a part begins at the top.
 */
#include "codec/webp/job.h"

#include "base/size.h"

mr__webp_job mr__webp_job_make(mr__call *call, const mr__webp_picture *p, bool alpha)
{
    bool skip_alpha = !alpha && p->alpha.nbytes != 0;
    size_t end = p->chunks.at + p->chunks.nbytes;
    size_t at = skip_alpha ? p->pixels.at - 8 : p->chunks.at;
    if (end > call->nbytes)
        end = call->nbytes;
    return (mr__webp_job){call, p, call->bytes + at, end - at, p->alpha.nbytes != 0 && !skip_alpha};
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
static uint64_t lossy_nbytes(const mr__webp_job *j)
{
    const mr__webp_picture *p = j->picture;
    uint64_t nbytes = (uint64_t)p->width * 128 + (64 << 10);
    if (j->alpha)
        nbytes += (uint64_t)p->width * p->height + lossless_nbytes(p->width, p->height, p->alpha.nbytes);
    return nbytes;
}

static uint64_t work_nbytes(const mr__webp_job *j)
{
    const mr__webp_picture *p = j->picture;
    return p->lossless ? lossless_nbytes(p->width, p->height, p->pixels.nbytes) : lossy_nbytes(j);
}

int mr__webp_job_charge(const mr__webp_job *j)
{
    return mr__call_charge(j->call, work_nbytes(j));
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
static bool alpha_needs_top(const mr__webp_job *j)
{
    return j->alpha && (j->call->bytes[j->picture->alpha.at] & 0x0f) == 0x05;
}

mr_rect mr__webp_job_part(const mr__webp_job *j, mr_rect region)
{
    if (j->picture->lossless)
        return region;
    mr_rect part = add_context(region, j->picture->width, j->picture->height);
    if (alpha_needs_top(j))
        part = (mr_rect){part.x, 0, part.width, part.y + part.height};
    return part;
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

void mr__webp_job_ask(const mr__webp_job *j, mr_rect part, const mr_image *to, WebPDecoderConfig *config)
{
    config->options.use_cropping = part.width != j->picture->width || part.height != j->picture->height;
    config->options.crop_left = (int)part.x;
    config->options.crop_top = (int)part.y;
    config->options.crop_width = (int)part.width;
    config->options.crop_height = (int)part.height;
    describe_output(&config->output, to);
}

bool mr__webp_job_is_damage(VP8StatusCode status)
{
    return status == VP8_STATUS_BITSTREAM_ERROR || status == VP8_STATUS_NOT_ENOUGH_DATA ||
           status == VP8_STATUS_SUSPENDED;
}

bool mr__webp_job_hides_shortage(const mr__webp_job *j)
{
    return j->picture->lossless || j->alpha;
}

int mr__webp_job_check_memory(const mr__webp_job *j)
{
    // From the allocator that libwebp uses. The hooks' is another, of which libwebp knows nothing.
    void *block = WebPMalloc((size_t)work_nbytes(j));
    WebPFree(block);
    return block != NULL ? 0 : mr__webp_job_fail(j, VP8_STATUS_OUT_OF_MEMORY);
}

/* libwebp says neither where nor what; we know at least which chunk. */
int mr__webp_job_fail(const mr__webp_job *j, VP8StatusCode status)
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

int mr__webp_scratch(mr__call *call, uint32_t width, uint32_t height, uint32_t channels, mr_image *out)
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
