// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include "peer.h"

#include <stdio.h>
#include <string.h>

/* The library may warn where we do (bytes before a marker, say): the pixels are the same all the same. */
static void hold_against(tally *t, const bench_peer *peer, const char *path, const uint8_t *bytes, size_t nbytes,
                         const mr_image *ours)
{
    mr_image theirs;
    if (mr_image_init(&theirs, ours->width, ours->height, ours->channels, ours->depth, NULL) != 0)
        return;
    memset(theirs.pixels, 0x77, mr_image_row_nbytes(&theirs) * theirs.height);
    if (peer->decode(bytes, nbytes, &theirs) != PEER_FAILED) {
        t->compared++;
        if (mr_image_hash(&theirs) != mr_image_hash(ours)) {
            t->different++;
            fprintf(stderr, "replay: %s: other pixels than %s gives\n", path, peer->name);
        }
    }
    mr_image_fini(&theirs, NULL);
}

/* What we refuse but the library takes is counted and named: it may be a limit of ours, or a mistake. */
static void note_refusal(tally *t, const bench_peer *peer, mr_decoder *decoder, const char *path, const uint8_t *bytes,
                         size_t nbytes)
{
    mr_image shape;
    char detail[240];
    snprintf(detail, sizeof detail, "%s", mr_decoder_detail(decoder));
    if (mr_decoder_shape(decoder, bytes, nbytes, NULL, &shape) != 0 || shape.width > (1u << 24) / shape.height)
        return;
    if (mr_image_init(&shape, shape.width, shape.height, shape.channels, shape.depth, NULL) != 0)
        return;
    if (peer->decode(bytes, nbytes, &shape) == PEER_DECODED) {
        t->refused++;
        printf("replay: %s: %s; %s takes it\n", path, detail, peer->name);
    }
    mr_image_fini(&shape, NULL);
}

void compare_with_peer(tally *t, const char *path, const uint8_t *bytes, size_t nbytes)
{
    const bench_peer *peer = peer_of_form(mr_form_probe(bytes, nbytes));
    mr_decoder *decoder;
    mr_image ours;
    if (mr_decoder_new(NULL, &decoder) != 0)
        return;
    int result = mr_decoder_decode(decoder, bytes, nbytes, NULL, &ours);
    if (result == 0)
        t->decoded++;
    if (peer != NULL && result == 0)
        hold_against(t, peer, path, bytes, nbytes, &ours);
    else if (peer != NULL)
        note_refusal(t, peer, decoder, path, bytes, nbytes);
    mr_decoder_free(decoder);
}
