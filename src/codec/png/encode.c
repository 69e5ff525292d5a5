// SPDX-License-Identifier: Apache-2.0
/*
 * Writing PNG. Each row takes the filter whose bytes, read as signed, have the least sum of absolute values: the
 * specification's own advice. The same image and options give the same bytes on every processor.
 */
#include "codec/png/png.h"

#include "base/bytes.h"
#include "base/size.h"
#include "codec/exif.h"

#include <libdeflate.h>
#include <string.h>

/*
 * Rows are filtered in blocks, so that compilers see loops of a constant length and make vectors of them. A row in
 * working memory has zeros before it, where the first pixel's left neighbour is looked for, and after it up to a whole
 * block.
 */
enum { BLOCK = 64, MARGIN = 64, FILTERS = 5 };

/* The effort 1 to 9 as a level of libdeflate, 1 to 12; those above 9 take many times as long. */
static const int levels[10] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 12};

/* About what libdeflate allocates for the level; it goes by malloc, past the hooks. */
static uint64_t compressor_nbytes(int level)
{
    return level >= 10 ? 10u << 20 : 2u << 20;
}

static int get_compressor(mr__call *call, mr__png_state *state, int level)
{
    int result = mr__call_charge(call, compressor_nbytes(level));
    if (result != 0 || (state->compressor != NULL && state->compressor_level == level))
        return result;
    if (state->compressor != NULL)
        libdeflate_free_compressor(state->compressor);
    state->compressor = libdeflate_alloc_compressor(level);
    state->compressor_level = level;
    if (state->compressor == NULL)
        return mr__call_fail(call, MR_ENOMEM, "out of memory: no room for libdeflate's compressor");
    return 0;
}

/* Branchless, so that it becomes vector code. */
static inline uint8_t predict(int left, int above, int corner)
{
    int to_left = above - corner, to_above = left - corner, to_corner = to_left + to_above;
    to_left = to_left < 0 ? -to_left : to_left;
    to_above = to_above < 0 ? -to_above : to_above;
    to_corner = to_corner < 0 ? -to_corner : to_corner;
    int other = to_above <= to_corner ? above : corner;
    int nearest = to_above <= to_corner ? to_above : to_corner;
    return (uint8_t)(to_left <= nearest ? left : other);
}

/* One block of a row by each filter that predicts; `at` points into the row, `above` into the one above. */
static void filter_block(uint8_t *const out[FILTERS], const uint8_t *at, const uint8_t *above, size_t pixel)
{
    const uint8_t *left = at - pixel, *corner = above - pixel;
    for (int i = 0; i < BLOCK; i++)
        out[0][i] = at[i];
    for (int i = 0; i < BLOCK; i++)
        out[1][i] = (uint8_t)(at[i] - left[i]);
    for (int i = 0; i < BLOCK; i++)
        out[2][i] = (uint8_t)(at[i] - above[i]);
    for (int i = 0; i < BLOCK; i++)
        out[3][i] = (uint8_t)(at[i] - (left[i] + above[i]) / 2);
    for (int i = 0; i < BLOCK; i++)
        out[4][i] = (uint8_t)(at[i] - predict(left[i], above[i], corner[i]));
}

static uint64_t weigh(const uint8_t *bytes, size_t nbytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < nbytes; i++)
        sum += bytes[i] < 128 ? bytes[i] : 256u - bytes[i];
    return sum;
}

/* The rows the filter works on, in state->rows. */
typedef struct work {
    uint8_t *row[2];       /* this one and the one above, in turn */
    uint8_t *out[FILTERS]; /* by each filter */
} work;

static int make_work(mr__call *call, mr__png_state *state, size_t row_nbytes, work *w)
{
    size_t pitch = row_nbytes + MARGIN + BLOCK, nbytes;
    if (!mr__size_mul(pitch, 2 + FILTERS, &nbytes))
        return mr__call_fail(call, MR_ELIMIT, "png: a row does not fit the address space");
    int result = mr__call_reserve(call, &state->rows, nbytes);
    if (result != 0)
        return result;
    memset(state->rows.bytes, 0, nbytes);
    for (size_t i = 0; i < 2; i++)
        w->row[i] = state->rows.bytes + i * pitch + MARGIN;
    for (size_t i = 0; i < FILTERS; i++)
        w->out[i] = state->rows.bytes + (2 + i) * pitch;
    return 0;
}

static void load_row(uint8_t *to, const mr_image *image, uint32_t y, size_t row_nbytes)
{
    const uint8_t *from = (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
    if (image->depth == 8) {
        memcpy(to, from, row_nbytes);
        return;
    }
    const uint16_t *samples = (const uint16_t *)(const void *)from;
    for (size_t i = 0; i < row_nbytes / 2; i++)
        mr__store_be16(to + 2 * i, samples[i]);
}

static void filter_row(const work *w, uint32_t y, size_t row_nbytes, size_t pixel, uint8_t *raw)
{
    const uint8_t *row = w->row[y % 2], *above = w->row[(y + 1) % 2];
    for (size_t i = 0; i < row_nbytes; i += BLOCK) {
        uint8_t *out[FILTERS];
        for (size_t f = 0; f < FILTERS; f++)
            out[f] = w->out[f] + i;
        filter_block(out, row + i, above + i, pixel);
    }
    size_t best = 0;
    uint64_t least = UINT64_MAX;
    for (size_t f = 0; f < FILTERS; f++) {
        uint64_t weight = weigh(w->out[f], row_nbytes);
        if (weight < least) {
            least = weight;
            best = f;
        }
    }
    raw[0] = (uint8_t)best;
    memcpy(raw + 1, w->out[best], row_nbytes);
}

static int filter_image(mr__call *call, mr__png_state *state, const mr_image *image, size_t *raw_nbytes)
{
    size_t row_nbytes = mr_image_row_nbytes(image);
    work w;
    if (!mr__size_mul(row_nbytes + 1, image->height, raw_nbytes))
        return mr__call_fail(call, MR_ELIMIT, "png: the image does not fit the address space");
    int result = mr__call_reserve(call, &state->raw, *raw_nbytes);
    if (result == 0)
        result = make_work(call, state, row_nbytes, &w);
    if (result != 0)
        return result;
    for (uint32_t y = 0; y < image->height; y++) {
        load_row(w.row[y % 2], image, y, row_nbytes);
        filter_row(&w, y, row_nbytes, mr_image_pixel_nbytes(image), state->raw.bytes + y * (row_nbytes + 1));
    }
    return 0;
}

/* Finishes a chunk whose bytes are already in place at to + 8; returns what follows it. */
static uint8_t *close_chunk(uint8_t *to, const char *type, size_t nbytes)
{
    mr__store_be32(to, (uint32_t)nbytes);
    memcpy(to + 4, type, 4);
    mr__store_be32(to + 8 + nbytes, libdeflate_crc32(0, to + 4, nbytes + 4));
    return to + MR__PNG_CHUNK_NBYTES + nbytes;
}

static uint8_t *write_header(uint8_t *to, const mr_image *image)
{
    static const uint8_t color_types[5] = {0, MR__PNG_GRAY, MR__PNG_GRAY_ALPHA, MR__PNG_RGB, MR__PNG_RGB_ALPHA};
    memcpy(to, MR__PNG_SIGNATURE, MR__PNG_SIGNATURE_NBYTES);
    to += MR__PNG_SIGNATURE_NBYTES;
    uint8_t *bytes = to + 8;
    mr__store_be32(bytes, image->width);
    mr__store_be32(bytes + 4, image->height);
    bytes[8] = (uint8_t)image->depth;
    bytes[9] = color_types[image->channels];
    memset(bytes + 10, 0, 3);
    return close_chunk(to, "IHDR", 13);
}

static const char icc_name[] = "ICC profile"; /* with its zero */

/* What a reader, ours too, asks of a profile before it believes it. */
static bool is_profile(const uint8_t *icc, size_t nbytes)
{
    return nbytes >= 128 && mr__load_be32(icc) == nbytes;
}

/* What must have room besides the image data: all the chunks and, in full, what the profile may compress to. */
static size_t bound_others(struct libdeflate_compressor *compressor, const mr_encode_options *o)
{
    size_t icc = o->icc != NULL ? sizeof icc_name + 1 + libdeflate_zlib_compress_bound(compressor, o->icc_nbytes) : 0;
    return MR__PNG_SIGNATURE_NBYTES + 5 * MR__PNG_CHUNK_NBYTES + 13 + MR__EXIF_NBYTES + icc;
}

static uint8_t *write_metadata(uint8_t *to, struct libdeflate_compressor *compressor, const mr_encode_options *o)
{
    if (o->icc != NULL) {
        uint8_t *bytes = to + 8;
        memcpy(bytes, icc_name, sizeof icc_name);
        bytes += sizeof icc_name;
        *bytes++ = 0; // the method: deflate
        size_t room = libdeflate_zlib_compress_bound(compressor, o->icc_nbytes);
        bytes += libdeflate_zlib_compress(compressor, o->icc, o->icc_nbytes, bytes, room);
        to = close_chunk(to, "iCCP", (size_t)(bytes - (to + 8)));
    }
    if (o->orientation > 1) {
        mr__exif_write(to + 8, o->orientation);
        to = close_chunk(to, "eXIf", MR__EXIF_NBYTES);
    }
    return to;
}

int mr__png_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                   size_t *out_nbytes)
{
    mr__png_state *state = call->state;
    size_t raw_nbytes = 0;
    if (options->progressive)
        return mr__call_fail(call, MR_EUNSUPPORTED, "png: writing interlaced images is not supported");
    if (options->icc != NULL && !is_profile(options->icc, options->icc_nbytes))
        return mr__call_fail(call, MR_EARGUMENT,
                             "png: icc is not a profile, which has 128 bytes or more and begins with its size");
    int result = get_compressor(call, state, levels[options->effort]);
    if (result == 0)
        result = filter_image(call, state, image, &raw_nbytes);
    if (result != 0)
        return result;
    size_t room = libdeflate_zlib_compress_bound(state->compressor, raw_nbytes);
    if (room > INT32_MAX || options->icc_nbytes > INT32_MAX / 2)
        return mr__call_fail(call, MR_EUNSUPPORTED, "png: more data than one chunk holds, 2^31-1 bytes");
    size_t nbytes = room + bound_others(state->compressor, options);
    result = mr__call_reserve(call, out, nbytes);
    if (result != 0)
        return result;
    uint8_t *to = write_header(out->bytes, image);
    to = write_metadata(to, state->compressor, options);
    size_t packed = libdeflate_zlib_compress(state->compressor, state->raw.bytes, raw_nbytes, to + 8, room);
    to = close_chunk(to, "IDAT", packed);
    to = close_chunk(to, "IEND", 0);
    *out_nbytes = (size_t)(to - out->bytes);
    return 0;
}
