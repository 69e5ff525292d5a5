// SPDX-License-Identifier: Apache-2.0
#include "kernel/noise.h"

#include "kernel/normal.h"

#include <string.h>

enum { LEVELS = 511, MIDDLE = 255, SLOT_BITS = MR__NOISE_SLOT_BITS };

/* The chance of less than `x`, of 2^32. */
static uint64_t share_below(double x, double mean, double sigma)
{
    double z = (x - mean) / sigma;
    return (uint64_t)(mr__normal_below(z) * 0x1p32 + 0.5);
}

/* Without sigma there is one number alone. */
static void weigh_one(int level, bool wrap, uint64_t weights[MR__NOISE_SLOTS])
{
    if (wrap)
        level &= 255;
    level = level < -MIDDLE ? -MIDDLE : level > MIDDLE ? MIDDLE : level;
    weights[MIDDLE + level] = UINT64_C(1) << 32;
}

/*
 * Weights of 2^32. What is cut off to d lies between d and d + 1 where d is above 0, between d - 1 and d where it is
 * below, and between -1 and 1 where it is 0. Beyond `most` all is one.
 */
static void weigh(double mean, double sigma, int most, bool wrap, uint64_t weights[MR__NOISE_SLOTS])
{
    uint64_t before = 0;
    for (int d = -most; d <= most; d++) {
        uint64_t until = d == most ? UINT64_C(1) << 32 : share_below(d < 0 ? d : d + 1, mean, sigma);
        until = until < before ? before : until; // where both are as good as nothing
        weights[MIDDLE + (wrap ? d & 255 : d)] += until - before;
        before = until;
    }
}

/*
 * Walker's way, in whole numbers: a slot has room for 2^23. One that has less is filled up from one that has more,
 * which has that much less then.
 */
static void make_slots(uint64_t weights[MR__NOISE_SLOTS], uint32_t slots[MR__NOISE_SLOTS])
{
    const uint64_t room = UINT64_C(1) << SLOT_BITS;
    uint16_t few[MR__NOISE_SLOTS], many[MR__NOISE_SLOTS];
    size_t few_count = 0, many_count = 0;
    for (uint32_t i = 0; i < MR__NOISE_SLOTS; i++) {
        slots[i] = i; // all of it to itself, by way of its alias
        if (weights[i] < room)
            few[few_count++] = (uint16_t)i;
        else if (weights[i] > room)
            many[many_count++] = (uint16_t)i;
    }
    while (few_count != 0 && many_count != 0) {
        uint16_t i = few[--few_count], from = many[many_count - 1];
        slots[i] = (uint32_t)weights[i] << 9 | from;
        weights[from] -= room - weights[i];
        if (weights[from] <= room) {
            many_count--;
            if (weights[from] < room)
                few[few_count++] = from;
        }
    }
}

void mr__noise_init(mr__noise *noise, double mean, double sigma, bool wrap, const uint32_t key[2])
{
    uint64_t weights[MR__NOISE_SLOTS] = {0};
    double reach = (mean < 0.0 ? -mean : mean) + 7.0 * sigma;
    int most = !wrap || reach < MIDDLE ? MIDDLE : reach < 32768.0 ? (int)reach + 1 : 32768;
    double whole = mean < -32768.0 ? -32768.0 : mean > 32768.0 ? 32768.0 : mean;
    noise->key[0] = key[0];
    noise->key[1] = key[1];
    noise->wrap = wrap;
    if (sigma > 0.0)
        weigh(mean, sigma, most, wrap, weights);
    else
        weigh_one((int)whole, wrap, weights);
    make_slots(weights, noise->slots);
}

static void words_c(const uint32_t key[2], uint32_t row, uint32_t group, uint32_t to[MR__NOISE_GROUP])
{
    for (uint32_t i = 0; i < MR__NOISE_BLOCKS; i++) {
        uint32_t block[4];
        mr__noise_block(key, row, group, i, block);
        for (size_t w = 0; w < 4; w++)
            to[MR__NOISE_BLOCKS * w + i] = block[w];
    }
}

static void normals_c(const uint32_t key[2], uint32_t row, uint32_t group, float to[MR__NOISE_GROUP])
{
    uint32_t words[MR__NOISE_GROUP];
    words_c(key, row, group, words);
    for (size_t i = 0; i < MR__NOISE_GROUP; i++)
        to[i] = mr__normal_of(words[i]);
}

static void add_c(const mr__noise *noise, uint32_t row, uint32_t group, uint8_t samples[MR__NOISE_GROUP])
{
    uint32_t words[MR__NOISE_GROUP];
    words_c(noise->key, row, group, words);
    for (size_t i = 0; i < MR__NOISE_GROUP; i++)
        samples[i] = mr__noised(samples[i], words[i], noise->slots[mr__noise_slot(words[i])], noise->wrap);
}

void mr__noise_kernels_init(mr__noise_kernels *table, mr__cpu_flags cpu)
{
    *table = (mr__noise_kernels){.words = words_c, .normals = normals_c, .add = add_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__noise_kernels_init_avx2(table, cpu);
#endif
}

/* Of `n` samples from `first` on, those of the first one's group. */
static size_t in_group(size_t first, size_t n)
{
    size_t left = MR__NOISE_GROUP - first % MR__NOISE_GROUP;
    return n < left ? n : left;
}

void mr__noise_add(const mr__noise_kernels *kernels, const mr__noise *noise, uint32_t row, size_t first, size_t n,
                   uint8_t *samples)
{
    uint8_t room[MR__NOISE_GROUP] = {0};
    for (size_t count; n != 0; first += count, samples += count, n -= count) {
        uint8_t *at = room + first % MR__NOISE_GROUP;
        count = in_group(first, n);
        if (count == MR__NOISE_GROUP) {
            kernels->add(noise, row, (uint32_t)(first / MR__NOISE_GROUP), samples);
            continue;
        }
        memcpy(at, samples, count);
        kernels->add(noise, row, (uint32_t)(first / MR__NOISE_GROUP), room);
        memcpy(samples, at, count);
    }
}

void mr__noise_bytes(const mr__noise_kernels *kernels, const uint32_t key[2], uint32_t row, size_t first, size_t n,
                     uint8_t *to)
{
    uint32_t words[MR__NOISE_GROUP];
    for (size_t count; n != 0; first += count, to += count, n -= count) {
        count = in_group(first, n);
        kernels->words(key, row, (uint32_t)(first / MR__NOISE_GROUP), words);
        for (size_t i = 0; i < count; i++)
            to[i] = (uint8_t)(words[first % MR__NOISE_GROUP + i] >> 24);
    }
}

void mr__noise_normals(const mr__noise_kernels *kernels, const uint32_t key[2], uint32_t row, size_t first, size_t n,
                       float *to)
{
    float room[MR__NOISE_GROUP];
    for (size_t count; n != 0; first += count, to += count, n -= count) {
        count = in_group(first, n);
        kernels->normals(key, row, (uint32_t)(first / MR__NOISE_GROUP), room);
        memcpy(to, room + first % MR__NOISE_GROUP, count * sizeof *to);
    }
}
