// SPDX-License-Identifier: Apache-2.0
/* From a head that has been read to its tiles, for both modes. */
#include "codec/l3/state.h"

/* The offsets of the tiles of the head in the state. */
static int find_offsets(mr__call *call, const uint64_t **offsets)
{
    mr__l3_state *state = mr__l3_state_of(call);
    int result = mr__call_reserve(call, &state->offsets, (mr__l3_tile_count(&state->head) + 1) * sizeof **offsets);
    if (result != 0)
        return result;
    mr__l3_head_offsets(&state->head, (uint64_t *)state->offsets.bytes);
    *offsets = (const uint64_t *)state->offsets.bytes;
    return 0;
}

/* Whether all of the image is asked for: then all of the file is looked at, its tail too. */
static bool is_whole(const mr__l3_head *head, const mr__request *request)
{
    return request->reduce == 1 && request->region.width == head->width && request->region.height == head->height;
}

/* Pixels do not depend on the tail, so that damage to it can be accepted. */
static int check_tail(mr__call *call, const mr__l3_head *head, bool accept_damaged)
{
    mr__l3_tail tail;
    if (call->nbytes != head->tail_at + head->tail_nbytes)
        return 0; // accepted, and told already
    int result = mr__l3_tail_read(call, head, &tail);
    if (result != MR_ECORRUPT || !accept_damaged)
        return result;
    mr__call_warn(call, "%s", call->detail->text);
    mr__detail_clear(call->detail);
    return 0;
}

int mr__l3_begin(mr__call *call, const mr__request *request, const uint64_t **offsets)
{
    const mr__l3_head *head = &mr__l3_state_of(call)->head;
    int result = mr__l3_head_check_length(call, head, request->accept_damaged);
    if (result == 0)
        result = find_offsets(call, offsets);
    if (result == 0 && is_whole(head, request))
        result = check_tail(call, head, request->accept_damaged);
    return result;
}

int mr__l3_decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    const mr__l3_head *head = &mr__l3_state_of(call)->head;
    const uint64_t *offsets = NULL;
    int result = mr__l3_begin(call, request, &offsets);
    if (result != 0)
        return result;
    if (head->mode == MR__L3_PIXEL)
        return mr__l3_pixel_decode(call, head, offsets, request, to);
    return mr__l3_dct_decode(call, head, offsets, request, to);
}

int mr__l3_open(mr__call *call, const uint64_t **offsets)
{
    mr__l3_state *state = mr__l3_state_of(call);
    int result = mr__l3_head_read(call, &state->head);
    if (result == 0)
        result = mr__l3_head_check_length(call, &state->head, false);
    if (result == 0)
        result = find_offsets(call, offsets);
    return result;
}

/* What is hashed comes first: what is said of it names the place. */
static int check_hashes(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, mr__l3_tail *tail)
{
    int result = mr__l3_tail_read(call, head, tail);
    for (size_t i = 0; result == 0 && i < mr__l3_tile_count(head); i++) {
        const uint8_t *bytes;
        size_t nbytes;
        result = mr__l3_tile_open(call, head, offsets, i, false, &bytes, &nbytes);
    }
    return result;
}

int mr__l3_verify(mr__call *call)
{
    mr__l3_state *state = mr__l3_state_of(call);
    const mr__l3_head *head = &state->head;
    const uint64_t *offsets = NULL;
    mr__l3_tail tail = {0};
    int result = mr__l3_head_check_length(call, head, false);
    if (result == 0)
        result = find_offsets(call, &offsets);
    if (result == 0)
        result = check_hashes(call, head, offsets, &tail);
    if (result == 0 && tail.origin != NULL) // which reads the tiles
        return mr__l3_origin_verify(call, head, offsets, &tail);
    // a decode leaves out of a unit what no pixel comes from
    for (size_t i = 0; result == 0 && head->mode == MR__L3_DCT && i < mr__l3_tile_count(head); i++)
        result = mr__l3_dct_tile_read(call, &state->dct.decoder, head, offsets, i, NULL, NULL);
    return result;
}

int mr__l3_tile(mr__call *call, uint32_t number, mr_tile *tile)
{
    const mr__l3_head *head = &mr__l3_state_of(call)->head;
    const uint64_t *offsets = NULL;
    size_t nbytes = 0;
    int result = find_offsets(call, &offsets);
    if (result != 0)
        return result;
    const uint8_t *bytes = mr__l3_tile_find(call, head, offsets, number, &nbytes);
    tile->rect = mr__l3_tile_rect(head, number);
    tile->offset = offsets[number];
    tile->nbytes = offsets[number + 1] - offsets[number];
    tile->intact = bytes != NULL;
    if (head->mode == MR__L3_DCT)
        tile->kind = "dct";
    else
        tile->kind = bytes != NULL ? mr__l3_pixel_kind(head, bytes, nbytes) : "unknown";
    return 0;
}
