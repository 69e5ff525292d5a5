// SPDX-License-Identifier: Apache-2.0
/* One tile among others: where it is, whether it is whole, and how a person is told that it is not. */
#include "base/bytes.h"
#include "codec/l3/l3.h"
#include "kernel/hash.h"

uint32_t mr__l3_tile_hash(const uint8_t *bytes, size_t nbytes, mr__cpu_flags cpu)
{
    return (uint32_t)mr__hash_by(bytes, nbytes, cpu);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

mr_rect mr__l3_tile_rect(const mr__l3_head *head, size_t tile)
{
    uint32_t x = (uint32_t)(tile % head->tiles_x) * head->tile_width;
    uint32_t y = (uint32_t)(tile / head->tiles_x) * head->tile_height;
    return (mr_rect){x, y, smaller(head->tile_width, head->width - x), smaller(head->tile_height, head->height - y)};
}

#define WHERE          "L3 image: tile %zu (column %zu, row %zu) at byte %llu: "
#define WHERE_ARGS(at) tile, tile % head->tiles_x, tile / head->tiles_x, (unsigned long long)(at)

int mr__l3_tile_damage(mr__call *call, const mr__l3_head *head, size_t tile, uint64_t offset, const char *why,
                       bool accept_damaged)
{
    if (!accept_damaged)
        return mr__call_fail(call, MR_ECORRUPT, "damaged " WHERE "%s", WHERE_ARGS(offset), why);
    mr__call_warn(call, "damaged " WHERE "%s", WHERE_ARGS(offset), why);
    return 0;
}

const uint8_t *mr__l3_tile_find(const mr__call *call, const mr__l3_head *head, const uint64_t *offsets, size_t tile,
                                size_t *nbytes)
{
    uint64_t at = offsets[tile], end = offsets[tile + 1];
    if (end > call->nbytes)
        return NULL;
    *nbytes = (size_t)(end - at);
    const uint8_t *bytes = call->bytes + at;
    return mr__l3_tile_hash(bytes, *nbytes, call->cpu) == mr__load_le32(head->hashes + 4 * tile) ? bytes : NULL;
}

int mr__l3_tile_open(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, size_t tile, bool accept_damaged,
                     const uint8_t **bytes, size_t *nbytes)
{
    *bytes = mr__l3_tile_find(call, head, offsets, tile, nbytes);
    if (*bytes != NULL)
        return 0;
    *nbytes = 0;
    if (offsets[tile + 1] <= call->nbytes)
        return mr__l3_tile_damage(call, head, tile, offsets[tile], "its hash does not match", accept_damaged);
    if (!accept_damaged)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated " WHERE "the data ends at byte %zu",
                             WHERE_ARGS(offsets[tile]), call->nbytes);
    mr__call_warn(call, "truncated " WHERE "the data ends at byte %zu", WHERE_ARGS(offsets[tile]), call->nbytes);
    return 0;
}
