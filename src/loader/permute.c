// SPDX-License-Identifier: Apache-2.0
/*
 * A Feistel network whose halves are added to, not xored (Black, Rogaway: "Ciphers with arbitrary finite domains",
 * CT-RSA 2002): index = h x low + l is a point of the smallest near-square rectangle that holds n points. Each round
 * adds to one half, modulo its size, a number made of the other half and a key, which can be taken off again, so it is
 * a permutation of the rectangle. Who lands on one of the few points beyond n goes on until back below n, which makes
 * it a permutation of [0, n).
 *
 * Rounds: with 8, and truly random round functions, every permutation of 4 is met to within 1.6 % as often as it
 * should; with 16, to 0.01 % (worked out exactly). Large n need no more than 8: what is not even there, nobody meets
 * in the life of a machine. Where both sides are odd, every round is an even permutation: 0 and 1 change places
 * half of the time, so that odd ones are as likely.
 */
#include "loader/permute.h"

#include "base/rng.h"

enum { SMALL_BELOW = 1024, ROUNDS_SMALL = MR__SHUFFLE_ROUNDS_MAX, ROUNDS = 8 };

/* SplitMix64's step between states: 2^64 over the golden ratio, made odd. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

__extension__ typedef unsigned __int128 u128;

uint64_t mr__scale_u64(uint64_t x, uint64_t n)
{
    return (uint64_t)((u128)x * n >> 64);
}

/* What SplitMix64 (Steele, Lea, Flood 2014) makes of a state, but for its last shift, which upper bits do not need. */
static inline uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
}

/* The least r with r x r >= n. */
static uint32_t root_above(uint64_t n)
{
    uint64_t r = 0;
    for (uint64_t bit = UINT64_C(1) << 24; bit != 0; bit >>= 1)
        if ((r + bit) * (r + bit) < n)
            r += bit;
    return (uint32_t)(r + 1);
}

static uint64_t draw_u64(mr__rng *rng)
{
    uint64_t high = mr__rng_u32(rng);
    return high << 32 | mr__rng_u32(rng);
}

void mr__shuffle_init(mr__shuffle *shuffle, uint64_t n, uint64_t seed, uint32_t epoch, uint32_t stream)
{
    mr__rng rng;
    mr__rng_init(&rng, seed, epoch, stream, MR__RNG_STEP_SHUFFLE);
    shuffle->n = n;
    shuffle->high = root_above(n);
    shuffle->low = (uint32_t)((n + shuffle->high - 1) / shuffle->high);
    shuffle->rounds = n < SMALL_BELOW ? ROUNDS_SMALL : ROUNDS;
    shuffle->lane_key = draw_u64(&rng);
    for (uint32_t i = 0; i < MR__SHUFFLE_ROUNDS_MAX; i++)
        shuffle->keys[i] = draw_u64(&rng);
}

static inline uint64_t add_modulo(uint64_t a, uint64_t b, uint64_t n)
{
    uint64_t sum = a + b;
    return sum >= n ? sum - n : sum;
}

static inline uint64_t subtract_modulo(uint64_t a, uint64_t b, uint64_t n)
{
    return a >= b ? a - b : a + n - b;
}

static uint64_t walk(const mr__shuffle *s, uint64_t index, uint64_t offset)
{
    uint64_t h = index / s->low, l = index % s->low;
    for (uint32_t i = 0; i < s->rounds; i += 2) {
        h = add_modulo(h, mr__scale_u64(mix(s->keys[i] + offset + l), s->high), s->high);
        l = add_modulo(l, mr__scale_u64(mix(s->keys[i + 1] + offset + h), s->low), s->low);
    }
    return h * s->low + l;
}

static uint64_t walk_back(const mr__shuffle *s, uint64_t index, uint64_t offset)
{
    uint64_t h = index / s->low, l = index % s->low;
    for (uint32_t i = s->rounds; i > 0; i -= 2) {
        l = subtract_modulo(l, mr__scale_u64(mix(s->keys[i - 1] + offset + h), s->low), s->low);
        h = subtract_modulo(h, mr__scale_u64(mix(s->keys[i - 2] + offset + l), s->high), s->high);
    }
    return h * s->low + l;
}

/* 0 and 1 change places in half of all lanes and keys, by the first bit of the offset. */
static inline uint64_t swapped(const mr__shuffle *s, uint64_t value, uint64_t offset)
{
    return value < 2 && s->n > 1 ? value ^ offset >> 63 : value;
}

uint64_t mr__shuffle_at(const mr__shuffle *shuffle, uint64_t index, uint64_t lane)
{
    uint64_t offset = mix(shuffle->lane_key + lane * GOLDEN);
    do
        index = walk(shuffle, index, offset);
    while (index >= shuffle->n);
    return swapped(shuffle, index, offset);
}

uint64_t mr__shuffle_find(const mr__shuffle *shuffle, uint64_t value, uint64_t lane)
{
    uint64_t offset = mix(shuffle->lane_key + lane * GOLDEN);
    value = swapped(shuffle, value, offset);
    do
        value = walk_back(shuffle, value, offset);
    while (value >= shuffle->n);
    return value;
}
