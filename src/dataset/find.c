// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/hash.h"
#include "dataset/dataset.h"

#include <string.h>

/*
 * The key maps of several shards become one, sorted: a merge of sorted runs, two by two. `number` is the upper half of
 * a key's hash, then the ordinal.
 */
static void merge_runs(const uint64_t *from, uint64_t *to, uint64_t begin, uint64_t middle, uint64_t end)
{
    uint64_t a = begin, b = middle;
    for (uint64_t i = begin; i < end; i++)
        to[i] = b == end || (a < middle && from[a] <= from[b]) ? from[a++] : from[b++];
}

/* Runs are [bounds[i], bounds[i + 1]). The result is in the array returned: one of the two. */
static uint64_t *merge_all(uint64_t *numbers, uint64_t *spare, uint64_t *bounds, size_t runs)
{
    while (runs > 1) {
        size_t left = 0;
        for (size_t i = 0; i < runs; i += 2) {
            uint64_t begin = bounds[i], middle = bounds[i + 1], end = i + 2 <= runs ? bounds[i + 2] : middle;
            merge_runs(numbers, spare, begin, middle, end);
            bounds[left++] = begin;
        }
        bounds[left] = bounds[runs];
        runs = left;
        uint64_t *other = numbers;
        numbers = spare;
        spare = other;
    }
    return numbers;
}

/* A shard's index in the first form where it is whole; keys are in all. NULL: in none. */
static const mr__index *index_of(mr_dataset *d, size_t n, int *result)
{
    for (uint32_t f = 0; f < d->form_count; f++) {
        mr__shard *shard = &d->shards[f * d->shard_count + n];
        int is = mr__shard_load(d, shard, NULL);
        if (is == 0)
            return &shard->index;
        if (f == 0 || is == MR_ENOMEM)
            *result = is;
    }
    return NULL;
}

/* Keys of a shard without any whole index are not found: its numbers are of no sample. */
static int gather(mr_dataset *d, uint64_t *numbers, uint64_t *bounds)
{
    for (size_t n = 0; n < d->shard_count; n++) {
        int result = 0;
        const mr__index *index = index_of(d, n, &result);
        if (result == MR_ENOMEM)
            return result;
        const uint8_t *map = index != NULL ? mr__index_key_map(index) : NULL;
        uint64_t count = d->first[n + 1] - d->first[n];
        bounds[n] = d->first[n];
        for (uint64_t i = 0; i < count; i++) /* positions become ordinals: the order within a run stays */
            numbers[d->first[n] + i] = map != NULL ? mr__load_le64(map + 8 * i) + d->first[n] : UINT64_MAX;
    }
    bounds[d->shard_count] = d->samples;
    return 0;
}

static int make_map(mr_dataset *d)
{
    uint64_t *numbers = mr__alloc_array(&d->hooks, (size_t)d->samples + 1, sizeof *numbers);
    uint64_t *spare = mr__alloc_array(&d->hooks, (size_t)d->samples + 1, sizeof *spare);
    uint64_t *bounds = mr__alloc_array(&d->hooks, d->shard_count + 2, sizeof *bounds);
    int result = numbers != NULL && spare != NULL && bounds != NULL ? gather(d, numbers, bounds) : MR_ENOMEM;
    uint64_t *sorted = result == 0 ? merge_all(numbers, spare, bounds, d->shard_count) : NULL, *none = NULL;
    if (sorted != NULL && atomic_compare_exchange_strong(&d->key_map, &none, sorted))
        mr__free(&d->hooks, sorted == numbers ? spare : numbers);
    else {
        mr__free(&d->hooks, numbers);
        mr__free(&d->hooks, spare);
    }
    mr__free(&d->hooks, bounds);
    return result;
}

static uint64_t first_not_below(const uint64_t *map, uint64_t count, uint64_t number)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (map[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int find_in_map(const mr_dataset *d, const uint64_t *map, const char *key, size_t nbytes, uint64_t *ordinal)
{
    uint64_t upper = mr__hash(key, nbytes) >> 32 << 32;
    for (uint64_t i = first_not_below(map, d->samples, upper); i < d->samples && map[i] >> 32 == upper >> 32; i++) {
        mr__shard *shard;
        uint64_t position;
        const char *is;
        size_t is_nbytes;
        if (mr__dataset_any(d, map[i] & UINT32_MAX, &shard, &position) == 0 &&
            mr__index_key(&shard->index, position, &is, &is_nbytes) && is_nbytes == nbytes &&
            memcmp(is, key, nbytes) == 0) {
            *ordinal = map[i] & UINT32_MAX;
            return 0;
        }
    }
    return MR_EARGUMENT;
}

int mr_dataset_find(mr_dataset *d, const char *key, uint64_t *ordinal)
{
    if (d == NULL || key == NULL || ordinal == NULL || !d->opened || d->samples == 0)
        return MR_EARGUMENT;
    size_t nbytes = strlen(key);
    if (d->shard_count == 1) {
        int result = 0;
        const mr__index *index = index_of(d, 0, &result);
        if (index == NULL)
            return result;
        return mr__index_find(index, key, nbytes, ordinal) ? 0 : MR_EARGUMENT;
    }
    if (atomic_load(&d->key_map) == NULL) {
        int result = make_map(d);
        if (result != 0)
            return result;
    }
    return find_in_map(d, atomic_load(&d->key_map), key, nbytes, ordinal);
}
