// SPDX-License-Identifier: Apache-2.0
#include "coder.h"
#include "peers.h"

#include <stdlib.h>
#include <webp/encode.h>

static bool encode(const mr_image *image, blob *out)
{
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer;
    if (!WebPConfigInit(&config) || !WebPConfigLosslessPreset(&config, 3) || !WebPPictureInit(&picture))
        return false;
    WebPMemoryWriterInit(&writer);
    picture.use_argb = 1;
    picture.width = (int)image->width;
    picture.height = (int)image->height;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    bool good = WebPPictureImportRGB(&picture, image->pixels, (int)image->stride) && WebPEncode(&config, &picture) &&
                blob_copy(writer.mem, writer.size, out);
    WebPPictureFree(&picture);
    WebPMemoryWriterClear(&writer);
    return good;
}

static bool decode(void *state, const blob *stored, const mr_image *to)
{
    (void)state;
    return peer_libwebp.decode(stored->bytes, stored->nbytes, to) == PEER_DECODED;
}

static const coder webp = {
    .name = "WebP lossless", .made = "libwebp, lossless preset 3 (cwebp -z 3)", .encode = encode, .decode = decode};
const coder *const coder_webp = &webp;
