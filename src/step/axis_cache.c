// SPDX-License-Identifier: Apache-2.0
#include "step/axis_cache.h"

void mr__axis_cache_init(mr__axis_cache *cache, const mr_hooks *hooks, const mr__resample *kernels)
{
    *cache = (mr__axis_cache){.hooks = hooks, .kernels = kernels};
}

void mr__axis_cache_trim(mr__axis_cache *cache)
{
    for (size_t i = 0; i < MR__AXIS_PLACES; i++) {
        mr__buffer_fini(&cache->places[i].weights, cache->hooks);
        mr__buffer_fini(&cache->places[i].table, cache->hooks);
        cache->used[i] = 0;
    }
}

static bool same_key(const mr__axis_key *a, const mr__axis_key *b)
{
    const mr__resample_side *s = &a->side, *t = &b->side;
    return s->in == t->in && s->out == t->out && s->filter == t->filter && s->depth == t->depth &&
           s->begin == t->begin && s->count == t->count && s->origin == t->origin && s->span == t->span &&
           a->channels == b->channels;
}

static uint32_t hash_key(const mr__axis_key *key)
{
    const mr__resample_side *s = &key->side;
    const uint32_t parts[] = {s->in,     s->out,  (uint32_t)s->filter, s->depth, s->begin, s->count,
                              s->origin, s->span, key->channels};
    uint32_t hash = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]) * 0x9e3779b1u + (hash >> 15);
    return hash;
}

static bool has(const mr__axis_cache *cache, size_t i, const mr__axis_key *key, uint32_t hash)
{
    return cache->hashes[i] == hash && cache->used[i] != 0 && same_key(&cache->places[i].key, key);
}

/* The place that has the axis; MR__AXIS_PLACES: none. */
static size_t find_place(const mr__axis_cache *cache, const mr__axis_key *key, uint32_t hash)
{
    size_t guess = cache->guesses[hash % MR__AXIS_GUESSES];
    if (has(cache, guess, key, hash))
        return guess;
    for (size_t i = 0; i < MR__AXIS_PLACES; i++)
        if (has(cache, i, key, hash))
            return i;
    return MR__AXIS_PLACES;
}

static size_t oldest_place(const mr__axis_cache *cache)
{
    size_t oldest = 0;
    for (size_t i = 1; i < MR__AXIS_PLACES; i++)
        oldest = cache->used[i] < cache->used[oldest] ? i : oldest;
    return oldest;
}

/* By steps, so that a place that gets a somewhat larger axis than it had has room for it. */
static int reserve(const mr__axis_cache *cache, mr__buffer *buffer, size_t nbytes)
{
    const size_t step = 8192;
    return mr__buffer_reserve(buffer, cache->hooks,
                              nbytes <= SIZE_MAX - step ? (nbytes + step - 1) / step * step : nbytes);
}

static int make_axis(mr__axis_cache *cache, mr__axis_place *p, const mr__axis_key *key, mr__detail *detail)
{
    const mr__resample_side *side = &key->side;
    size_t nbytes;
    if (!mr__resample_axis_nbytes(side, &nbytes))
        return mr__fail(detail, MR_ELIMIT, "a side of %u pixels to %u: too many weights", side->in, side->out);
    if (reserve(cache, &p->weights, nbytes) != 0)
        return MR_ENOMEM;
    if (!mr__resample_axis_init(&p->axis, side, p->weights.bytes))
        return mr__fail(detail, MR_EINTERNAL, "a side of %u pixels to %u, of which %u from %u on are there: too few",
                        side->in, side->out, side->span, side->origin);
    if (cache->kernels->table_nbytes == NULL || side->depth == 16)
        return 0;
    if (reserve(cache, &p->table, cache->kernels->table_nbytes(&p->axis, key->channels)) != 0)
        return MR_ENOMEM;
    cache->kernels->table_init(&p->axis, key->channels, p->table.bytes);
    return 0;
}

int mr__axis_cache_get(mr__axis_cache *cache, const mr__axis_key *key, mr__detail *detail,
                       const mr__resample_axis **out)
{
    uint32_t hash = hash_key(key);
    size_t i = find_place(cache, key, hash);
    cache->calls++;
    if (i == MR__AXIS_PLACES) {
        i = oldest_place(cache);
        cache->used[i] = 0;
        int result = make_axis(cache, &cache->places[i], key, detail);
        if (result != 0)
            return result;
        cache->hashes[i] = hash;
        cache->places[i].key = *key;
    }
    cache->used[i] = cache->calls;
    cache->guesses[hash % MR__AXIS_GUESSES] = (uint16_t)i;
    *out = &cache->places[i].axis;
    return 0;
}
