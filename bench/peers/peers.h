// SPDX-License-Identifier: Apache-2.0
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "peer.h"

extern const bench_peer peer_libjpeg;
extern const bench_peer peer_libpng;
extern const bench_peer peer_libspng;
extern const bench_peer peer_libwebp;

static inline uint8_t *peer_row(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + image->stride * (ptrdiff_t)y;
}

#endif
