// SPDX-License-Identifier: Apache-2.0
#include "peers.h"

const bench_peer *const peers[] = {
    &peer_libjpeg,
#ifdef PEER_PNG
    &peer_libpng,
#endif
#ifdef PEER_SPNG
    &peer_libspng,
#endif
    &peer_libwebp,
};
const size_t peer_count = sizeof peers / sizeof *peers;

const bench_peer *peer_of_form(mr_form form)
{
    for (size_t i = 0; i < peer_count; i++)
        if (peers[i]->form == form)
            return peers[i];
    return NULL;
}
