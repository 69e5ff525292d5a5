// SPDX-License-Identifier: Apache-2.0
#include "webp_file.h"

#include "base/bytes.h"
#include "test.h"

#include <string.h>
#include <webp/decode.h>
#include <webp/mux.h>

mr_image webp_reference(const picture_file *file, uint32_t channels)
{
    int width, height;
    WebPBitstreamFeatures features;
    assert_int_equal(WebPGetFeatures(file->bytes, file->nbytes, &features), VP8_STATUS_OK);
    uint8_t *pixels = channels == 4 ? WebPDecodeRGBA(file->bytes, file->nbytes, &width, &height)
                                    : WebPDecodeRGB(file->bytes, file->nbytes, &width, &height);
    assert_non_null(pixels);
    mr_image image;
    assert_int_equal(mr_image_init(&image, (uint32_t)width, (uint32_t)height, channels, 8, NULL), 0);
    size_t count = (size_t)width * (size_t)height;
    memcpy(image.pixels, pixels, count * channels);
    if (channels == 4 && !features.has_alpha)
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)image.pixels)[i * 4 + 3] = 255;
    WebPFree(pixels);
    return image;
}

picture_file webp_encode(const mr_image *image, const WebPConfig *config)
{
    WebPPicture picture;
    WebPMemoryWriter writer;
    WebPMemoryWriterInit(&writer);
    assert_true(WebPPictureInit(&picture));
    picture.use_argb = 1;
    picture.width = (int)image->width;
    picture.height = (int)image->height;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    assert_true(image->channels == 4 ? WebPPictureImportRGBA(&picture, image->pixels, (int)image->stride)
                                     : WebPPictureImportRGB(&picture, image->pixels, (int)image->stride));
    assert_true(WebPEncode(config, &picture));
    picture_file file = picture_copy(writer.mem, writer.size);
    WebPMemoryWriterClear(&writer);
    WebPPictureFree(&picture);
    return file;
}

static picture_file assemble(WebPMux *mux)
{
    WebPData data;
    assert_int_equal(WebPMuxAssemble(mux, &data), WEBP_MUX_OK);
    picture_file file = picture_copy(data.bytes, data.size);
    WebPDataClear(&data);
    WebPMuxDelete(mux);
    return file;
}

picture_file webp_with_exif(const picture_file *plain, const void *exif, size_t nbytes)
{
    WebPMux *mux = WebPMuxCreate(&(WebPData){plain->bytes, plain->nbytes}, 1);
    assert_non_null(mux);
    assert_int_equal(WebPMuxSetChunk(mux, "EXIF", &(WebPData){exif, nbytes}, 1), WEBP_MUX_OK);
    return assemble(mux);
}

picture_file webp_animate(const picture_file *const frames[2], int x, int y)
{
    WebPMux *mux = WebPMuxNew();
    WebPMuxAnimParams params = {.bgcolor = 0xff00ff00, .loop_count = 1};
    assert_non_null(mux);
    for (int i = 0; i < 2; i++) {
        WebPMuxFrameInfo frame = {.bitstream = {frames[i]->bytes, frames[i]->nbytes},
                                  .x_offset = i == 0 ? x : 0,
                                  .y_offset = i == 0 ? y : 0,
                                  .duration = 100,
                                  .id = WEBP_CHUNK_ANMF,
                                  .dispose_method = WEBP_MUX_DISPOSE_NONE,
                                  .blend_method = WEBP_MUX_BLEND};
        assert_int_equal(WebPMuxPushFrame(mux, &frame, 1), WEBP_MUX_OK);
    }
    assert_int_equal(WebPMuxSetAnimationParams(mux, &params), WEBP_MUX_OK);
    return assemble(mux);
}

/* Bits from the lowest of each byte on, as VP8L has them. */
typedef struct bit_writer {
    uint8_t bytes[2048];
    size_t count;
} bit_writer;

static void write_bits(bit_writer *w, uint32_t value, int count)
{
    for (int i = 0; i < count; i++, w->count++)
        w->bytes[w->count / 8] |= (uint8_t)((value >> i & 1) << w->count % 8);
}

/* A prefix code of one symbol, 0, which takes no bits to write: simple, one symbol, of one bit. */
static void write_empty_code(bit_writer *w)
{
    write_bits(w, 1, 4);
}

/* 256 symbols of 8 bits and `rest` symbols that do not occur. */
static void write_byte_code(bit_writer *w, int rest)
{
    // The lengths' own code, in its fixed order (17 18 0 1 2 3 4 5 16 6 7 8): length 0 is "0", length 8 is "1".
    static const uint8_t lengths[12] = {[2] = 1, [11] = 1};
    write_bits(w, 0, 1);
    write_bits(w, 12 - 4, 4);
    for (int i = 0; i < 12; i++)
        write_bits(w, lengths[i], 3);
    write_bits(w, 0, 1);
    for (int i = 0; i < 256 + rest; i++)
        write_bits(w, i < 256, 1);
}

/* 16 x 16 pixels of their own numbers, in green: each block of 4 x 4 pixels gets a group of its own. */
static void write_groups_image(bit_writer *w)
{
    write_bits(w, 0, 1); // no colour cache
    write_byte_code(w, 24);
    for (int i = 0; i < 4; i++)
        write_empty_code(w);
    for (uint32_t i = 0; i < 256; i++)
        for (int bit = 7; bit >= 0; bit--) // codes are written from their highest bit
            write_bits(w, i >> bit & 1, 1);
}

picture_file webp_greedy(void)
{
    bit_writer w = {.count = 20 * 8};
    write_bits(&w, 0x2f, 8);
    write_bits(&w, 63, 14);
    write_bits(&w, 63, 14);
    write_bits(&w, 1, 4);     // alpha, version 0
    write_bits(&w, 0, 1);     // no transform
    write_bits(&w, 1, 1);     // a colour cache,
    write_bits(&w, 11, 4);    // the largest
    write_bits(&w, 1 | 0, 4); // groups, one for 4 x 4 pixels
    write_groups_image(&w);
    for (int i = 0; i < 256 * 5; i++)
        write_empty_code(&w);
    size_t nbytes = (w.count + 15) / 16 * 2;
    memcpy(w.bytes, "RIFF", 4);
    mr__store_le32(w.bytes + 4, (uint32_t)nbytes - 8);
    memcpy(w.bytes + 8, "WEBPVP8L", 8);
    mr__store_le32(w.bytes + 16, (uint32_t)nbytes - 20);
    return picture_copy(w.bytes, nbytes);
}
