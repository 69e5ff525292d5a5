// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <webp/decode.h>

static bool decode(const void *bytes, size_t nbytes, const mr_image *to)
{
    int width, height;
    if (to->depth != 8 || to->channels < 3 || to->stride < 0 || !WebPGetInfo(bytes, nbytes, &width, &height) ||
        width != (int)to->width || height != (int)to->height)
        return false;
    size_t room = (size_t)to->stride * to->height;
    if (to->channels == 3)
        return WebPDecodeRGBInto(bytes, nbytes, to->pixels, room, (int)to->stride) != NULL;
    return WebPDecodeRGBAInto(bytes, nbytes, to->pixels, room, (int)to->stride) != NULL;
}

const bench_peer peer_libwebp = {"libwebp", MR_FORM_WEBP, decode, NULL};
