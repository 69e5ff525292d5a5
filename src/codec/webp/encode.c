// SPDX-License-Identifier: Apache-2.0
/*
 * Encoding without libwebp's threads, so that the same image gives the same bytes. Effort is libwebp's method for lossy
 * pictures: 1 to 9 are 0 1 2 3 4 4 5 6 6; and its lossless preset of the same number for lossless ones. Lossless
 * keeps the colours under transparent pixels. Alpha that is opaque everywhere is not stored: libwebp sees to that.
 */
#include "codec/webp/webp.h"

#include "base/size.h"
#include "codec/exif.h"

#include <errno.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>

/*
 * How many histograms libwebp 1.2 makes for lossless data: one for a square of pixels, which is the larger the smaller
 * the method, and at least so large that there are no more than 2600.
 */
static uint64_t count_histograms(uint32_t width, uint32_t height, int method)
{
    int bits = method < 5 ? 7 - method : 2;
    uint64_t count;
    do {
        count = (uint64_t)mr__ceil_div(width, 1u << bits) * mr__ceil_div(height, 1u << bits);
        bits++;
    } while (count > 2600);
    return count;
}

/*
 * What libwebp 1.2 takes at its peak. Lossless (alpha is always): hash chains and references, 45 bytes a pixel as
 * measured on photographs and noise, with a third more; 1 MB of tables, doubled; and each histogram twice, with 3.4 KB
 * and 5.3 KB for the largest colour cache. When that is decoded again to check it, less: a histogram has become one
 * group of prefix codes at most, of 16.5 KB. Lossy: 25 bytes a pixel as measured, with a third more.
 */
static uint64_t lossless_nbytes(uint32_t width, uint32_t height, int method)
{
    uint64_t histograms = count_histograms(width, height, method) * 2 * (3400 + 5300);
    return (uint64_t)width * height * 60 + histograms + (2 << 20);
}

static uint64_t encode_nbytes(const mr_image *image, const WebPConfig *config)
{
    uint64_t lossless = lossless_nbytes(image->width, image->height, config->method);
    if (config->lossless)
        return lossless;
    return (uint64_t)image->width * image->height * 34 + (1 << 20) + (image->channels % 2 == 0 ? lossless : 0);
}

/* Where libwebp's output goes. */
typedef struct sink {
    mr__call *call;
    mr__buffer *out;
    size_t nbytes;
    int result;     /* of the last write */
    bool ran_short; /* an allocation of libwebp's may have failed */
} sink;

static int write_bytes(const uint8_t *bytes, size_t nbytes, const WebPPicture *picture)
{
    sink *s = picture->custom_ptr;
    if (mr__buffer_grow(s->out, s->call->hooks, s->nbytes, s->nbytes + nbytes) != 0) {
        s->result = mr__call_no_memory(s->call);
        return 0;
    }
    memcpy(s->out->bytes + s->nbytes, bytes, nbytes);
    s->nbytes += nbytes;
    return 1;
}

static bool make_config(WebPConfig *config, const mr_encode_options *options)
{
    static const uint8_t method[10] = {4, 0, 1, 2, 3, 4, 4, 5, 6, 6};
    if (!WebPConfigInit(config))
        return false;
    config->thread_level = 0;
    if (options->lossless) {
        config->exact = 1;
        return WebPConfigLosslessPreset(config, (int)options->effort) != 0;
    }
    config->quality = (float)options->quality;
    config->method = method[options->effort];
    return true;
}

static uint32_t argb_of(const uint8_t *pixel, uint32_t channels)
{
    uint32_t r = pixel[0], g = channels >= 3 ? pixel[1] : r, b = channels >= 3 ? pixel[2] : r;
    uint32_t a = channels % 2 == 0 ? pixel[channels - 1] : 255;
    return a << 24 | r << 16 | g << 8 | b;
}

static const uint8_t *row_of(const mr_image *image, uint32_t y)
{
    return (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

static void fill_row(uint32_t *argb, const uint8_t *row, uint32_t channels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        argb[i] = argb_of(row + (size_t)i * channels, channels);
}

/* Whether RGBA rows, one after the other, are the image in the bits of `mask`. */
static bool is_image(const uint8_t *rgba, const mr_image *image, uint32_t mask)
{
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = row_of(image, y);
        for (uint32_t x = 0; x < image->width; x++, rgba += 4)
            if (((argb_of(rgba, 4) ^ argb_of(row + (size_t)x * image->channels, image->channels)) & mask) != 0)
                return false;
    }
    return true;
}

/*
 * libwebp's lossless writer (1.2 at least), which alpha goes through too, forgets that it ran out of memory and hands
 * over what it has. So what was written while an allocation failed is decoded again: all of a lossless picture must be
 * there, or all alpha of a lossy one. The memory for that is charged with the encoding, which is over by now.
 */
static int check_written(mr__call *call, const sink *s, const mr_image *image, bool lossless)
{
    int width = 0, height = 0;
    uint8_t *rgba = WebPDecodeRGBA(s->out->bytes, s->nbytes, &width, &height);
    bool good = rgba != NULL && width == (int)image->width && height == (int)image->height &&
                is_image(rgba, image, lossless ? 0xffffffff : 0xff000000);
    WebPFree(rgba);
    if (good)
        return 0;
    return mr__call_fail(call, MR_ENOMEM, "out of memory: libwebp had too little to encode, and wrote a damaged WebP");
}

static int fail_encode(mr__call *call, const sink *s, WebPEncodingError error)
{
    if (s->result != 0)
        return s->result;
    switch (error) {
    case VP8_ENC_OK: // libwebp does not always say why; what it leaves out is this
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
        return mr__call_fail(call, MR_ENOMEM, "out of memory: libwebp had too little to encode");
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
    case VP8_ENC_ERROR_FILE_TOO_BIG:
        return mr__call_fail(call, MR_EUNSUPPORTED, "the image is too much for one WebP: try a lower quality");
    default:
        return mr__call_fail(call, MR_EINTERNAL, "libwebp could not encode: its error %d", (int)error);
    }
}

/*
 * Encodes, and notes whether memory ran short, which libwebp does not always tell. errno does: POSIX has malloc leave
 * ENOMEM there when it fails. glibc may leave it also when it found memory on a second way, so this is a suspicion and
 * no more. Nor can the suspicion be spared and everything be checked: where the decoder runs out of memory, libwebp
 * 1.2.4 as Debian 12 has it frees a wild pointer.
 */
static bool run(const WebPConfig *config, WebPPicture *picture, sink *s)
{
    int before = errno;
    errno = 0;
    bool ok = WebPEncode(config, picture) != 0;
    s->ran_short = errno == ENOMEM;
    errno = before;
    return ok;
}

/* The picture alone, as a simple WebP file, into s->out. */
static int encode_picture(mr__call *call, const mr_image *image, const WebPConfig *config, sink *s)
{
    WebPPicture picture;
    if (!WebPPictureInit(&picture))
        return mr__call_fail(call, MR_EINTERNAL, "WebP: libwebp is of another version than its header");
    picture.use_argb = 1;
    picture.width = (int)image->width;
    picture.height = (int)image->height;
    picture.writer = write_bytes;
    picture.custom_ptr = s;
    int result = 0;
    if (!WebPPictureAlloc(&picture)) {
        result = fail_encode(call, s, picture.error_code);
    } else {
        for (uint32_t y = 0; y < image->height; y++)
            fill_row(picture.argb + (size_t)y * (size_t)picture.argb_stride, row_of(image, y), image->channels,
                     image->width);
        if (!run(config, &picture, s))
            result = fail_encode(call, s, picture.error_code);
    }
    WebPPictureFree(&picture);
    return result;
}

static int fail_mux(mr__call *call, WebPMuxError error)
{
    if (error == WEBP_MUX_MEMORY_ERROR)
        return mr__call_fail(call, MR_ENOMEM, "out of memory: libwebp had too little to add metadata");
    return mr__call_fail(call, MR_EINTERNAL, "libwebp could not add metadata: its error %d", (int)error);
}

/* The encoded picture with its metadata, into *data, which libwebp allocates. */
static WebPMuxError mux(const WebPData *picture, const mr_encode_options *options, WebPData *data)
{
    uint8_t tiff[MR__EXIF_NBYTES];
    mr__exif_write(tiff, options->orientation);
    WebPData exif = {tiff, sizeof tiff}, icc = {options->icc, options->icc_nbytes};
    WebPMux *mux = WebPMuxCreate(picture, 0);
    if (mux == NULL)
        return WEBP_MUX_MEMORY_ERROR;
    WebPMuxError error = WEBP_MUX_OK;
    if (options->icc_nbytes != 0)
        error = WebPMuxSetChunk(mux, "ICCP", &icc, 0);
    if (error == WEBP_MUX_OK && options->orientation != 1)
        error = WebPMuxSetChunk(mux, "EXIF", &exif, 0);
    if (error == WEBP_MUX_OK)
        error = WebPMuxAssemble(mux, data);
    WebPMuxDelete(mux);
    return error;
}

static int add_metadata(mr__call *call, const sink *s, const mr_encode_options *options, mr__buffer *out,
                        size_t *out_nbytes)
{
    WebPData picture = {s->out->bytes, s->nbytes}, data;
    WebPDataInit(&data);
    // The mux holds all of it once more.
    int result = mr__call_charge(call, (uint64_t)s->nbytes + options->icc_nbytes + 4096);
    if (result != 0)
        return result;
    WebPMuxError error = mux(&picture, options, &data);
    if (error != WEBP_MUX_OK)
        return fail_mux(call, error);
    result = mr__call_reserve(call, out, data.size);
    if (result == 0) {
        memcpy(out->bytes, data.bytes, data.size);
        *out_nbytes = data.size;
    }
    WebPDataClear(&data);
    return result;
}

static int check_image(mr__call *call, const mr_image *image, const mr_encode_options *options)
{
    if (image->depth != 8)
        return mr__call_fail(call, MR_EUNSUPPORTED, "WebP has 8 bits, the image has %u", image->depth);
    if (image->width > WEBP_MAX_DIMENSION || image->height > WEBP_MAX_DIMENSION)
        return mr__call_fail(call, MR_EUNSUPPORTED, "WebP is at most %d x %d, the image is %u x %u", WEBP_MAX_DIMENSION,
                             WEBP_MAX_DIMENSION, image->width, image->height);
    if (options->icc_nbytes > INT32_MAX)
        return mr__call_fail(call, MR_EUNSUPPORTED, "WebP has no room for an ICC profile of %zu bytes",
                             options->icc_nbytes);
    return 0;
}

int mr__webp_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                    size_t *out_nbytes)
{
    mr__webp_state *state = call->state;
    WebPConfig config;
    int result = check_image(call, image, options);
    if (result != 0)
        return result;
    if (!make_config(&config, options))
        return mr__call_fail(call, MR_EINTERNAL, "WebP: libwebp is of another version than its header");
    result = mr__call_charge(call, encode_nbytes(image, &config));
    if (result != 0)
        return result;
    bool metadata = options->orientation != 1 || options->icc_nbytes != 0;
    sink s = {.call = call, .out = metadata ? &state->scratch : out};
    result = encode_picture(call, image, &config, &s);
    if (result == 0 && s.ran_short && (options->lossless || image->channels % 2 == 0))
        result = check_written(call, &s, image, options->lossless);
    if (result != 0)
        return result;
    if (metadata)
        return add_metadata(call, &s, options, out, out_nbytes);
    *out_nbytes = s.nbytes;
    return 0;
}
