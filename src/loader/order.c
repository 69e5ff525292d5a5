// SPDX-License-Identifier: Apache-2.0
#include "loader/order.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/rng.h"
#include "loader/weights.h"

#include <inttypes.h>

enum { BLOCK_DEFAULT = 256, WINDOW_BLOCKS_DEFAULT = 16, REPEATS_DEFAULT = 3 };

/* Streams of MR__RNG_STEP_SHUFFLE. */
enum { STREAM_ALL = 0, STREAM_INSIDE = 1 };

/* Of what mr__order_hash says: another order from the same options needs another number. */
enum { ORDER_VERSION = 1 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int init_windows(mr__order *order, const mr_loader_options *options)
{
    order->block = least(options->block != 0 ? options->block : BLOCK_DEFAULT, order->samples);
    order->window = options->window != 0 ? options->window : WINDOW_BLOCKS_DEFAULT * order->block;
    order->window = least(order->window, order->samples);
    return 0;
}

/* Each drawn position has random numbers of its own, keyed behind those of the samples. */
static int init_weights(mr__order *order, const mr_loader_options *options, mr__detail *detail)
{
    order->positions = options->draws != 0 ? options->draws : order->samples;
    if (order->positions > MR__RNG_SAMPLE_MAX - order->samples)
        return mr__fail(detail, MR_EARGUMENT,
                        "a weighted order of %" PRIu64 " draws from %" PRIu64
                        " samples: together they must be below 2^48",
                        order->positions, order->samples);
    if (options->weights == NULL)
        return mr__fail(detail, MR_EARGUMENT, "a weighted order needs weights, one for each of %" PRIu64 " samples",
                        order->samples);
    return mr__weights_init(order, options->weights, detail);
}

static int init_repeats(mr__order *order, const mr_loader_options *options, mr__detail *detail)
{
    order->repeats = options->repeats != 0 ? options->repeats : REPEATS_DEFAULT;
    if (order->samples > MR__RNG_SAMPLE_MAX / order->repeats)
        return mr__fail(detail, MR_EARGUMENT,
                        "%" PRIu64 " samples repeated %" PRIu32 " times: their product must be below 2^48",
                        order->samples, order->repeats);
    return 0;
}

int mr__order_init(mr__order *order, const mr_hooks *hooks, const mr_loader_options *options, uint64_t samples,
                   mr__detail *detail)
{
    *order = (mr__order){
        .hooks = *hooks,
        .kind = options->order,
        .seed = options->seed,
        .samples = samples,
        .positions = samples,
        .repeats = 1,
    };
    if (samples == 0)
        return mr__fail(detail, MR_EARGUMENT, "the dataset has no samples: there is nothing to order");
    if (samples > MR__RNG_SAMPLE_MAX)
        return mr__fail(detail, MR_EARGUMENT, "%" PRIu64 " samples: an order has fewer than 2^48", samples);
    switch (options->order) {
    case MR_ORDER_SHUFFLED:
    case MR_ORDER_SEQUENTIAL:
        return 0;
    case MR_ORDER_WINDOWED:
        return init_windows(order, options);
    case MR_ORDER_WEIGHTED:
        return init_weights(order, options, detail);
    case MR_ORDER_REPEATED:
        return init_repeats(order, options, detail);
    }
    return mr__fail(detail, MR_EARGUMENT, "order %d: there is no such order", (int)options->order);
}

void mr__order_fini(mr__order *order)
{
    mr__weights_fini(order);
}

/* Where the short block stands, so that all behind it can be found by arithmetic. */
static void init_windowed(mr__epoch_order *of)
{
    const mr__order *o = of->order;
    uint64_t blocks = (o->samples + o->block - 1) / o->block;
    mr__shuffle_init(&of->all, blocks, o->seed, of->epoch, STREAM_ALL);
    of->missing = blocks * o->block - o->samples;
    of->short_at = mr__shuffle_find(&of->all, blocks - 1, 0) * o->block;
    of->behind = of->short_at + o->block - of->missing;
    of->last_window = (o->samples - 1) / o->window;
    mr__shuffle_init(&of->inside, o->window, o->seed, of->epoch, STREAM_INSIDE);
    mr__shuffle_init(&of->inside_last, o->samples - of->last_window * o->window, o->seed, of->epoch, STREAM_INSIDE);
}

void mr__epoch_order_init(mr__epoch_order *of, const mr__order *order, uint64_t epoch)
{
    *of = (mr__epoch_order){.order = order, .epoch = (uint32_t)epoch};
    if (order->kind == MR_ORDER_WINDOWED)
        init_windowed(of);
    else if (order->kind == MR_ORDER_SHUFFLED || order->kind == MR_ORDER_REPEATED)
        mr__shuffle_init(&of->all, order->samples, order->seed, of->epoch, STREAM_ALL);
}

static uint64_t windowed_at(const mr__epoch_order *of, uint64_t position)
{
    const mr__order *o = of->order;
    uint64_t window = position / o->window;
    const mr__shuffle *inside = window == of->last_window ? &of->inside_last : &of->inside;
    uint64_t at = window * o->window + mr__shuffle_at(inside, position - window * o->window, window);
    // Behind the short block all stands as if it had been whole, had there been its missing samples too.
    if (at >= of->behind)
        at += of->missing;
    return mr__shuffle_at(&of->all, at / o->block, 0) * o->block + at % o->block;
}

mr__order_place mr__order_at(const mr__epoch_order *of, uint64_t position)
{
    const mr__order *o = of->order;
    uint64_t ordinal = position;
    switch (o->kind) {
    case MR_ORDER_SEQUENTIAL:
        break;
    case MR_ORDER_SHUFFLED:
        ordinal = mr__shuffle_at(&of->all, position, 0);
        break;
    case MR_ORDER_WINDOWED:
        ordinal = windowed_at(of, position);
        break;
    case MR_ORDER_WEIGHTED:
        return (mr__order_place){mr__weights_draw(o, of->epoch, position), o->samples + position};
    case MR_ORDER_REPEATED:
        ordinal = mr__shuffle_at(&of->all, position / o->repeats, 0);
        return (mr__order_place){ordinal, mr__order_key(o->samples, ordinal, (uint32_t)(position % o->repeats))};
    }
    return (mr__order_place){ordinal, ordinal};
}

uint64_t mr__order_key(uint64_t samples, uint64_t ordinal, uint32_t repeat)
{
    return ordinal + repeat * samples;
}

/* Each attempt has a block of its own. */
uint64_t mr__order_substitute(uint64_t seed, uint64_t epoch, uint64_t position, uint32_t attempt, uint64_t samples)
{
    mr__rng rng;
    mr__rng_init(&rng, seed, (uint32_t)epoch, position, MR__RNG_STEP_SUBSTITUTE);
    rng.counter[0] = attempt;
    uint64_t high = mr__rng_u32(&rng);
    return mr__scale_u64(high << 32 | mr__rng_u32(&rng), samples);
}

static void hash_u64(mr__hasher *hasher, uint64_t value)
{
    uint8_t bytes[8];
    mr__store_le64(bytes, value);
    mr__hasher_add(hasher, bytes, sizeof bytes);
}

uint64_t mr__order_hash(const mr__order *order)
{
    mr__hasher hasher;
    const uint64_t values[] = {ORDER_VERSION,    (uint64_t)order->kind, order->seed,   order->samples,
                               order->positions, order->block,          order->window, order->repeats};
    mr__hasher_init(&hasher);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        hash_u64(&hasher, values[i]);
    for (uint64_t i = 0; order->accept != NULL && i < order->samples; i++) {
        hash_u64(&hasher, order->accept[i]);
        hash_u64(&hasher, order->other[i]);
    }
    return mr__hasher_value(&hasher);
}
