// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

#include <webp/decode.h>

static peer_result decode(const void *bytes, size_t nbytes, const mr_image *to)
{
    int width, height;
    if (to->depth != 8 || to->channels < 3 || to->stride < 0 || !WebPGetInfo(bytes, nbytes, &width, &height) ||
        width != (int)to->width || height != (int)to->height)
        return PEER_FAILED;
    size_t room = (size_t)to->stride * to->height;
    uint8_t *made = to->channels == 3 ? WebPDecodeRGBInto(bytes, nbytes, to->pixels, room, (int)to->stride)
                                      : WebPDecodeRGBAInto(bytes, nbytes, to->pixels, room, (int)to->stride);
    return made != NULL ? PEER_DECODED : PEER_FAILED;
}

const bench_peer peer_libwebp = {"libwebp", MR_FORM_WEBP, decode, NULL};
