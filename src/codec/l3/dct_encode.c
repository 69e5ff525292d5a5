// SPDX-License-Identifier: Apache-2.0
/* Coefficients to tiles: a row of tiles is a part of the work. */
#include "codec/l3/dct_recode.h"

#include "base/bytes.h"

/* More than any tile takes. */
enum { TILE_NBYTES_MAX = MR__L3_DCT_UNITS_MAX * (2 + MR__L3_UNIT_NBYTES_MAX) };

/* Where a unit's first block is. */
static const int16_t *blocks_of(const mr__jpeg_plane *plane, const mr__l3_dct_place *unit)
{
    size_t x = (size_t)unit->x * MR__L3_UNIT_BLOCKS, y = (size_t)unit->y * MR__L3_UNIT_BLOCKS;
    return plane->blocks + (y * plane->padded_w + x) * 64;
}

/* Writes a tile and tells its length; 0 when a coefficient is out of the format's range. */
static size_t encode_tile(const mr__l3_dct_job *job, uint32_t x, uint32_t y, uint8_t *to)
{
    mr__l3_dct_place units[MR__L3_DCT_UNITS_MAX];
    unsigned count = mr__l3_dct_units(&job->head, x, y, units);
    size_t nbytes = 2 * (size_t)(count - 1);
    for (unsigned i = 0; i < count; i++) {
        const mr__jpeg_plane *plane = &job->coefficients.plane[units[i].component];
        size_t length = mr__l3_unit_encode(blocks_of(plane, &units[i]), plane->padded_w, units[i].columns,
                                           units[i].rows, to + nbytes, job->call->cpu);
        if (length == 0)
            return 0;
        if (i + 1 < count)
            mr__store_le16(to + 2 * i, (uint16_t)length);
        nbytes += length;
    }
    return nbytes;
}

static void encode_row(mr__l3_dct_part *part, mr__l3_dct_worker *worker)
{
    mr__l3_dct_job *job = part->job;
    uint32_t y = part->number;
    part->at = worker->tiles_nbytes;
    for (uint32_t x = 0; x < job->head.tiles_x; x++) {
        size_t used = worker->tiles_nbytes, tile = (size_t)y * job->head.tiles_x + x;
        if (mr__buffer_grow(&worker->tiles, part->call.hooks, used, used + TILE_NBYTES_MAX) != 0) {
            part->result = mr__call_no_memory(&part->call);
            return;
        }
        uint8_t *to = worker->tiles.bytes + used;
        size_t nbytes = encode_tile(job, x, y, to);
        if (nbytes == 0) {
            part->result = mr__call_fail(&part->call, MR_EUNSUPPORTED,
                                         "a coefficient of the JPEG is out of the range of L3's DCT mode, in the tile "
                                         "in column %u, row %u",
                                         x, y);
            return;
        }
        job->lengths[tile] = (uint32_t)nbytes;
        job->hashes[tile] = mr__l3_tile_hash(to, nbytes, job->call->cpu);
        worker->tiles_nbytes += nbytes;
        part->nbytes += nbytes;
    }
}

int mr__l3_dct_encode(mr__l3_dct_job *job)
{
    mr__l3_dct_recoder *r = job->recoder;
    size_t tiles = mr__l3_tile_count(&job->head); // at most 2^20
    int result = mr__call_reserve(job->call, &r->index, tiles * 2 * sizeof *job->lengths);
    if (result != 0)
        return result;
    job->lengths = (uint32_t *)r->index.bytes;
    job->hashes = job->lengths + tiles;
    for (size_t i = 0; i < r->workers; i++)
        r->worker[i].tiles_nbytes = 0;
    return mr__l3_dct_parts_run(job, job->call, encode_row, job->head.tiles_y);
}
