// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#define ROUNDS 10

/* Multipliers the authors chose by search; the key grows by the golden ratio and by sqrt(3) - 1, as 32-bit fractions.
 */
#define MULTIPLIER_0 0xd2511f53u
#define MULTIPLIER_1 0xcd9e8d57u
#define WEYL_0       0x9e3779b9u
#define WEYL_1       0xbb67ae85u

void mr__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0;
        uint64_t p1 = (uint64_t)MULTIPLIER_1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
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
