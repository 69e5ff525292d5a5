// SPDX-License-Identifier: Apache-2.0
#include "webp_file.h"

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
