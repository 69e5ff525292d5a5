// SPDX-License-Identifier: Apache-2.0
/* An image in pixel mode: its tiles, by as many threads as may be, the file around them, and the proof that it decodes
 * to the image. */
#include "codec/l3/pixel_encode.h"
#include "base/pool.h"
#include "base/size.h"
#include "codec/l3/state.h"

#include <string.h>

/* Tiles are encoded a band at a time, so that working memory is bounded by this many of them. */
enum { BAND_TILES = 256, THREADS_MAX = 256 };

/* One image being encoded. */
typedef struct encoding {
    mr__call *call;
    const mr_image *image;
    mr__l3_pixel_plan plan;
    mr__l3_head head;
    uint32_t *lengths, *hashes; /* of all tiles */
    uint8_t *memory;            /* working memory, a piece for each thread */
    size_t memory_nbytes;
    uint8_t *band; /* the tiles of a band, each where it has room for the longest */
    size_t tile_nbytes_max;
} encoding;

/* One tile of a band, for a thread. */
typedef struct piece {
    const encoding *e;
    size_t tile, at;
} piece;

static void encode_piece(void *arg, size_t worker)
{
    const piece *p = arg;
    const encoding *e = p->e;
    mr__l3_tile_work work;
    mr__l3_tile_work_init(&work, &e->plan, e->memory + worker * e->memory_nbytes);
    uint8_t *to = e->band + p->at * e->tile_nbytes_max;
    size_t nbytes = mr__l3_tile_encode(&e->plan, &work, e->image, mr__l3_tile_rect(&e->head, p->tile), to);
    e->lengths[p->tile] = (uint32_t)nbytes;
    e->hashes[p->tile] = mr__l3_tile_hash(to, nbytes, e->call->cpu);
}

/* The tiles of a band, one after the other, behind *used bytes of *tiles. */
static int collect_band(encoding *e, size_t first, size_t count, mr__buffer *tiles, size_t *used)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += e->lengths[first + i];
    uint8_t *to = NULL;
    int result = mr__l3_append(e->call, tiles, used, sum, &to);
    for (size_t i = 0; i < count && result == 0; i++) {
        memcpy(to, e->band + i * e->tile_nbytes_max, e->lengths[first + i]);
        to += e->lengths[first + i];
    }
    return result;
}

/* Without a pool, here. */
static int encode_tiles(encoding *e, mr__pool *pool, mr__buffer *tiles, size_t *tiles_nbytes)
{
    const size_t count = mr__l3_tile_count(&e->head);
    for (size_t first = 0; first < count; first += BAND_TILES) {
        piece pieces[BAND_TILES];
        size_t n = count - first < BAND_TILES ? count - first : BAND_TILES;
        for (size_t i = 0; i < n; i++) {
            pieces[i] = (piece){e, first + i, i};
            int result = 0;
            if (pool == NULL)
                encode_piece(&pieces[i], 0);
            else
                result = mr__pool_add(pool, encode_piece, &pieces[i]);
            if (result != 0) {
                mr__pool_wait(pool);
                return mr__call_fail(e->call, result, "L3: its threads take no more work");
            }
        }
        if (pool != NULL)
            mr__pool_wait(pool);
        int result = collect_band(e, first, n, tiles, tiles_nbytes);
        if (result != 0)
            return result;
    }
    return 0;
}

/* Head, tiles and tail into *out. */
static int write_file(encoding *e, const mr_encode_options *options, const mr__buffer *tiles, size_t tiles_nbytes,
                      mr__buffer *out, size_t *out_nbytes)
{
    const mr__l3_tail tail = {.icc = options->icc, .icc_nbytes = options->icc == NULL ? 0 : options->icc_nbytes};
    uint8_t *to = NULL;
    *out_nbytes = 0;
    int result =
        mr__l3_head_write(e->call, &e->head, e->lengths, e->hashes, mr__l3_tail_nbytes(&tail), out, out_nbytes);
    if (result == 0)
        result = mr__l3_append(e->call, out, out_nbytes, tiles_nbytes, &to);
    if (result != 0)
        return result;
    memcpy(to, tiles->bytes, tiles_nbytes);
    return mr__l3_tail_write(e->call, &tail, out, out_nbytes);
}

static void plan_encoding(encoding *e, const mr_encode_options *options)
{
    const mr_image *image = e->image;
    e->plan =
        (mr__l3_pixel_plan){.preset = options->preset, .channels = image->channels, .sample_nbytes = image->depth / 8};
    mr__l3_forward_init(&e->plan.forward, e->call->cpu);
    mr__l3_block_kernels_init(&e->plan.blocks, e->call->cpu);
    mr__l3_split_init(&e->plan.split, e->call->cpu);
    e->head = (mr__l3_head){.mode = MR__L3_PIXEL,
                            .channels = image->channels,
                            .depth = image->depth,
                            .orientation = options->orientation == 0 ? 1 : options->orientation,
                            .width = image->width,
                            .height = image->height,
                            .tile_width = image->width <= MR__L3_TILE_W_MAX ? MR__L3_TILE_W_MAX : MR__L3_TILE_W,
                            .tile_height = MR__L3_TILE_H,
                            .has_icc = options->icc != NULL && options->icc_nbytes != 0};
    mr__l3_head_complete(&e->head);
    e->memory_nbytes = mr__l3_tile_work_nbytes(&e->plan);
    e->tile_nbytes_max = mr__l3_tile_nbytes_max(&e->plan);
}

/* Working memory for so many threads, in the state's buffers. */
static int reserve(encoding *e, mr__l3_encode_state *state, size_t threads)
{
    const size_t count = mr__l3_tile_count(&e->head), band = count < BAND_TILES ? count : BAND_TILES;
    int result = mr__call_reserve(e->call, &state->index, count * 2 * sizeof(uint32_t));
    if (result == 0)
        result = mr__call_reserve(e->call, &state->work, threads * e->memory_nbytes + band * e->tile_nbytes_max);
    if (result != 0)
        return result;
    e->lengths = (uint32_t *)(void *)state->index.bytes;
    e->hashes = e->lengths + count;
    e->memory = state->work.bytes;
    e->band = e->memory + threads * e->memory_nbytes;
    return 0;
}

/* Whether rows y to y + strip->height of the image are those of the strip. */
static bool is_same(const mr_image *image, const mr_image *strip, uint32_t y)
{
    const size_t row_nbytes = mr_image_row_nbytes(image);
    for (uint32_t i = 0; i < strip->height; i++) {
        const uint8_t *want = (const uint8_t *)image->pixels + (ptrdiff_t)(y + i) * image->stride;
        if (memcmp(want, (const uint8_t *)strip->pixels + (ptrdiff_t)i * strip->stride, row_nbytes) != 0)
            return false;
    }
    return true;
}

/* Decodes what was made and compares it with the image, a row of tiles at a time. */
static int prove(encoding *e, mr__l3_encode_state *state, const uint8_t *bytes, size_t nbytes)
{
    mr__call call = *e->call;
    const mr_image *image = e->image;
    const mr__l3_head *head = &mr__l3_state_of(&call)->head;
    const uint64_t *offsets = NULL;
    mr_image strip = *image;
    call.bytes = bytes;
    call.nbytes = nbytes;
    strip.stride = (ptrdiff_t)mr_image_row_nbytes(image);
    int result = mr__call_reserve(&call, &state->work, (size_t)strip.stride * MR__L3_TILE_H);
    if (result == 0)
        result = mr__l3_open(&call, &offsets);
    strip.pixels = state->work.bytes;
    for (uint32_t y = 0; result == 0 && y < image->height; y += MR__L3_TILE_H) {
        strip.height = image->height - y < MR__L3_TILE_H ? image->height - y : MR__L3_TILE_H;
        const mr__request request = {.region = {0, y, image->width, strip.height}, .reduce = 1};
        result = mr__l3_pixel_decode(&call, head, offsets, &request, &strip);
        if (result == 0 && !is_same(image, &strip, y))
            result = mr__call_fail(&call, MR_EINTERNAL, "L3 encoder: rows from %u on do not come back", y);
    }
    return result;
}

int mr__l3_pixel_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                        size_t *out_nbytes)
{
    mr__l3_encode_state *state = &mr__l3_state_of(call)->encode;
    encoding e = {.call = call, .image = image};
    if ((unsigned)options->preset > MR_L3_SMALL)
        return mr__call_fail(call, MR_EARGUMENT, "L3 has no preset %d: fast, default and small are there",
                             (int)options->preset);
    plan_encoding(&e, options);
    const size_t count = mr__l3_tile_count(&e.head);
    size_t threads = options->threads < 2 ? 1 : options->threads < THREADS_MAX ? options->threads : THREADS_MAX;
    threads = threads < count ? threads : count;
    int result = reserve(&e, state, threads);
    mr__pool *pool = NULL;
    // one thread needs no pool, and where the system has no threads to give, this one does the work
    if (result == 0 && threads > 1 && mr__pool_new(call->hooks, "l3", threads, BAND_TILES, &pool) == MR_ENOMEM)
        result = mr__call_no_memory(call);
    size_t tiles_nbytes = 0;
    if (result == 0)
        result = encode_tiles(&e, pool, &state->tiles, &tiles_nbytes);
    mr__pool_free(pool);
    if (result == 0)
        result = write_file(&e, options, &state->tiles, tiles_nbytes, out, out_nbytes);
    if (result == 0)
        result = prove(&e, state, out->bytes, *out_nbytes);
    return result;
}
