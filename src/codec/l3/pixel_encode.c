// SPDX-License-Identifier: Apache-2.0
/* An image in pixel mode: its tiles, by as many threads as may be, the file around them, and the proof that it decodes
 * to the image. */
#include "codec/l3/pixel_encode.h"
#include "base/pool.h"
#include "base/size.h"
#include "codec/l3/state.h"

#include <string.h>

/* Tiles are encoded a band at a time, so that working memory is bounded by this many of them. */
enum { BAND_TILES = 256, THREAD_TILES = 8, THREADS_MAX = 256, PROOF_NBYTES = 1 << 22 };

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
    size_t band_tiles;
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
    for (size_t first = 0; first < count; first += e->band_tiles) {
        piece pieces[BAND_TILES];
        size_t n = count - first < e->band_tiles ? count - first : e->band_tiles;
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

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The size of tiles: see pixel_encode.h. */
static void choose_tiles(mr__l3_head *head)
{
    head->tile_width = MR__L3_TILE_W;
    head->tile_height = MR__L3_TILE_H;
    if (head->width > MR__L3_TILE_W_MAX)
        return;
    head->tile_width = 32;
    while (head->tile_width < head->width)
        head->tile_width *= 2;
    head->tile_height = smaller(MR__L3_TILE_PIXELS / head->tile_width, 1024);
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
                            .has_icc = options->icc != NULL && options->icc_nbytes != 0};
    choose_tiles(&e->head);
    mr__l3_head_complete(&e->head);
    e->plan.tile_w = smaller(e->head.tile_width, image->width);
    e->plan.tile_h = smaller(e->head.tile_height, image->height);
    e->memory_nbytes = mr__l3_tile_work_nbytes(&e->plan);
    e->tile_nbytes_max = mr__l3_tile_nbytes_max(&e->plan);
}

/* Working memory for so many threads, in the state's buffers. */
static int reserve_for(encoding *e, mr__l3_encode_state *state, size_t threads)
{
    const size_t count = mr__l3_tile_count(&e->head);
    e->band_tiles = smaller((uint32_t)(count < BAND_TILES ? count : BAND_TILES), (uint32_t)threads * THREAD_TILES);
    int result = mr__call_reserve(e->call, &state->index, count * 2 * sizeof(uint32_t));
    if (result == 0)
        result =
            mr__call_reserve(e->call, &state->work, threads * e->memory_nbytes + e->band_tiles * e->tile_nbytes_max);
    if (result != 0)
        return result;
    e->lengths = (uint32_t *)(void *)state->index.bytes;
    e->hashes = e->lengths + count;
    e->memory = state->work.bytes;
    e->band = e->memory + threads * e->memory_nbytes;
    return 0;
}

/* The same; where the limit has no room for all of them, for fewer. */
static int reserve(encoding *e, mr__l3_encode_state *state, size_t *threads)
{
    int result = reserve_for(e, state, *threads);
    while (result == MR_ELIMIT && *threads > 1) {
        mr__detail_clear(e->call->detail);
        *threads /= 2;
        result = reserve_for(e, state, *threads);
    }
    return result;
}

/* Whether the strip is that part of the image. */
static bool is_same(const mr_image *image, const mr_image *strip, mr_rect part)
{
    const size_t row_nbytes = mr_image_row_nbytes(strip), pixel_nbytes = (size_t)image->channels * (image->depth / 8);
    for (uint32_t i = 0; i < part.height; i++) {
        const uint8_t *want = (const uint8_t *)image->pixels + (ptrdiff_t)(part.y + i) * image->stride;
        const uint8_t *got = (const uint8_t *)strip->pixels + (ptrdiff_t)i * strip->stride;
        if (memcmp(want + part.x * pixel_nbytes, got, row_nbytes) != 0)
            return false;
    }
    return true;
}

/* Decodes a part of what was made, which is whole tiles, and compares it with the image. */
static int prove_part(mr__call *call, const mr_image *image, const uint64_t *offsets, mr_rect part, uint8_t *pixels)
{
    mr_image strip = {.width = part.width,
                      .height = part.height,
                      .channels = image->channels,
                      .depth = image->depth,
                      .pixels = pixels};
    strip.stride = (ptrdiff_t)mr_image_row_nbytes(&strip);
    const mr__request request = {.region = part, .reduce = 1};
    int result = mr__l3_pixel_decode(call, &mr__l3_state_of(call)->head, offsets, &request, &strip);
    if (result == 0 && !is_same(image, &strip, part))
        result = mr__call_fail(call, MR_EINTERNAL, "L3 encoder: rows from %u on do not come back", part.y);
    return result;
}

/* All of it, some tiles of a row of them at a time, so that the memory for it stays small. */
static int prove(encoding *e, mr__l3_encode_state *state, const uint8_t *bytes, size_t nbytes)
{
    mr__call call = *e->call;
    const mr_image *image = e->image;
    const uint64_t *offsets = NULL;
    const size_t tile_nbytes = e->tile_nbytes_max;
    size_t columns = tile_nbytes < PROOF_NBYTES ? PROOF_NBYTES / tile_nbytes : 1;
    columns = columns < e->head.tiles_x ? columns : e->head.tiles_x;
    call.bytes = bytes;
    call.nbytes = nbytes;
    int result = mr__call_reserve(&call, &state->work, columns * tile_nbytes);
    if (result == 0)
        result = mr__l3_open(&call, &offsets);
    const uint32_t step = (uint32_t)columns * e->head.tile_width;
    for (uint32_t row = 0; result == 0 && row < e->head.tiles_y; row++)
        for (uint32_t column = 0; result == 0 && column < e->head.tiles_x; column += (uint32_t)columns) {
            const uint32_t x = column * e->head.tile_width, y = row * e->head.tile_height;
            const mr_rect part = {x, y, smaller(step, image->width - x),
                                  smaller(e->head.tile_height, image->height - y)};
            result = prove_part(&call, image, offsets, part, state->work.bytes);
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
    int result = reserve(&e, state, &threads);
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
