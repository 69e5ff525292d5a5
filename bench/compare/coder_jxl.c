// SPDX-License-Identifier: Apache-2.0
#include "coder.h"

#ifdef CODER_JXL
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <stdlib.h>

static const JxlPixelFormat rgb8 = {.num_channels = 3, .data_type = JXL_TYPE_UINT8, .endianness = JXL_NATIVE_ENDIAN};

/* Takes all that the encoder has. */
static bool collect(JxlEncoder *encoder, size_t guess, blob *out)
{
    size_t room = guess;
    *out = (blob){malloc(room), 0};
    while (out->bytes != NULL) {
        uint8_t *next = out->bytes + out->nbytes;
        size_t left = room - out->nbytes;
        JxlEncoderStatus status = JxlEncoderProcessOutput(encoder, &next, &left);
        out->nbytes = (size_t)(next - out->bytes);
        if (status == JXL_ENC_SUCCESS)
            return true;
        uint8_t *grown = status == JXL_ENC_NEED_MORE_OUTPUT ? realloc(out->bytes, room *= 2) : NULL;
        if (grown == NULL)
            free(out->bytes);
        out->bytes = grown;
    }
    return false;
}

static bool set_up(JxlEncoder *encoder, const mr_image *image)
{
    JxlBasicInfo info;
    JxlColorEncoding srgb;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = image->width;
    info.ysize = image->height;
    info.bits_per_sample = 8;
    info.num_color_channels = 3;
    info.uses_original_profile = JXL_TRUE; // what without loss asks for
    JxlColorEncodingSetToSRGB(&srgb, JXL_FALSE);
    return JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS &&
           JxlEncoderSetColorEncoding(encoder, &srgb) == JXL_ENC_SUCCESS;
}

static bool encode(const mr_image *image, blob *out)
{
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    size_t nbytes = mr_image_row_nbytes(image) * image->height;
    bool good = false;
    if (encoder != NULL && set_up(encoder, image)) {
        JxlEncoderFrameSettings *frame = JxlEncoderFrameSettingsCreate(encoder, NULL);
        good = frame != NULL && JxlEncoderSetFrameLossless(frame, JXL_TRUE) == JXL_ENC_SUCCESS &&
               JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_EFFORT, 1) == JXL_ENC_SUCCESS &&
               JxlEncoderAddImageFrame(frame, &rgb8, image->pixels, nbytes) == JXL_ENC_SUCCESS;
        JxlEncoderCloseInput(encoder);
        good = good && collect(encoder, nbytes + 4096, out);
    }
    if (encoder != NULL)
        JxlEncoderDestroy(encoder);
    return good;
}

/* One thread: no runner is set. */
static bool decode(void *state, const blob *stored, const mr_image *to)
{
    JxlDecoder *decoder = state;
    JxlDecoderReset(decoder);
    if (JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS ||
        JxlDecoderSetInput(decoder, stored->bytes, stored->nbytes) != JXL_DEC_SUCCESS)
        return false;
    JxlDecoderCloseInput(decoder);
    if (JxlDecoderProcessInput(decoder) != JXL_DEC_NEED_IMAGE_OUT_BUFFER ||
        JxlDecoderSetImageOutBuffer(decoder, &rgb8, to->pixels, mr_image_row_nbytes(to) * to->height) !=
            JXL_DEC_SUCCESS)
        return false;
    return JxlDecoderProcessInput(decoder) == JXL_DEC_FULL_IMAGE;
}

static void *state_new(void)
{
    return JxlDecoderCreate(NULL);
}

static void state_free(void *state)
{
    if (state != NULL)
        JxlDecoderDestroy(state);
}

static const coder jxl = {.name = "JPEG XL e1",
                          .made = "libjxl, lossless, effort 1",
                          .encode = encode,
                          .decode = decode,
                          .state_new = state_new,
                          .state_free = state_free};
const coder *const coder_jxl = &jxl;
#else
const coder *const coder_jxl = NULL;
#endif
