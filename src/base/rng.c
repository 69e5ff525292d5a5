// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#include "base/philox.h"

void mr__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    mr__philox_block(counter, key, out);
}

void mr__rng_init(mr__rng *rng, uint64_t seed, uint32_t epoch, uint64_t sample, uint32_t step)
{
    *rng = (mr__rng){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, (uint32_t)sample, (uint32_t)(sample >> 32 & 0xffff) | step << 16, epoch},
    };
}

uint32_t mr__rng_u32(mr__rng *rng)
{
    if (rng->left == 0) {
        mr__philox(rng->counter, rng->key, rng->block);
        rng->counter[0]++;
        rng->left = 4;
    }
    return rng->block[4 - rng->left--];
}

uint32_t mr__rng_below(mr__rng *rng, uint32_t n)
{
    uint64_t high = mr__rng_u32(rng), low = mr__rng_u32(rng);
    // x n = high n 2^32 + low n; only what low n carries into the upper word counts.
    return (uint32_t)((high * n + (low * n >> 32)) >> 32);
}

float mr__rng_float(mr__rng *rng)
{
    return (float)(mr__rng_u32(rng) >> 8) * 0x1p-24f;
}
