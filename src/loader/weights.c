// SPDX-License-Identifier: Apache-2.0
/*
 * Walker's aliases (1974; built in linear time, as Vose, 1991, but in whole numbers, so that every machine builds the
 * same table): cell i is drawn uniformly, then it is sample i with its acceptance, else sample other[i].
 *
 * Weights become whole numbers m of 62 bits at most; cell i begins with the mass m[i] x samples, and ends with the
 * total of all m, which is what each cell holds: a cell with less takes what it lacks from one with more.
 */
#include "loader/weights.h"

#include "base/rng.h"

#include <inttypes.h>
#include <math.h>

__extension__ typedef unsigned __int128 u128;

enum { WEIGHT_BITS = 62 };

/* While the table is built, a cell that is not ready has its mass (below 2^110) in its two numbers. */
#define READY (UINT64_C(1) << 63)

static u128 mass(const mr__order *o, uint64_t i)
{
    return (u128)o->other[i] << 64 | o->accept[i];
}

static void set_mass(mr__order *o, uint64_t i, u128 value)
{
    o->accept[i] = (uint64_t)value;
    o->other[i] = (uint64_t)(value >> 64);
}

static int check(const mr__order *o, const double *weights, int *exponent, mr__detail *detail)
{
    double greatest = 0;
    for (uint64_t i = 0; i < o->samples; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return mr__fail(detail, MR_EARGUMENT, "the weight of sample %" PRIu64 " is %s; give 0 or more, and finite",
                            i,
                            isnan(weights[i])   ? "not a number"
                            : isinf(weights[i]) ? "infinite"
                                                : "negative");
        if (weights[i] > greatest)
            greatest = weights[i];
    }
    if (greatest == 0)
        return mr__fail(detail, MR_EARGUMENT, "all %" PRIu64 " weights are 0: at least one must be more", o->samples);
    frexp(greatest, exponent);
    return 0;
}

/* The largest weight has WEIGHT_BITS bits, what of others is below 1 is cut off. Returns the total. */
static u128 fill(mr__order *o, const double *weights, int exponent)
{
    u128 total = 0;
    for (uint64_t i = 0; i < o->samples; i++) {
        uint64_t whole = (uint64_t)ldexp(weights[i], WEIGHT_BITS - exponent);
        total += whole;
        set_mass(o, i, (u128)whole * o->samples);
    }
    return total;
}

/* floor(part 2^64 / total), part below total: long division, a bit at a time. */
static uint64_t share_of(u128 part, u128 total)
{
    uint64_t share = 0;
    for (int bit = 0; bit < 64; bit++) {
        part <<= 1;
        share <<= 1;
        if (part >= total) {
            part -= total;
            share |= 1;
        }
    }
    return share;
}

static uint64_t next_more(const mr__order *o, uint64_t i, u128 total)
{
    while (i < o->samples && ((o->other[i] & READY) != 0 || mass(o, i) <= total))
        i++;
    return i;
}

static uint64_t next_less(const mr__order *o, uint64_t i, u128 total)
{
    while (i < o->samples && ((o->other[i] & READY) != 0 || mass(o, i) >= total))
        i++;
    return i;
}

/*
 * Two hands go up through the cells, one finds those with less, one those with more. A giver that is left with less
 * than a cell holds is next, if the first hand has passed it; else that hand comes to it. Masses are exact: when the
 * ones with less run out, so have those with more.
 */
static void balance(mr__order *o, u128 total)
{
    uint64_t less = next_less(o, 0, total), more = next_more(o, 0, total), taker = less;
    while (taker < o->samples) {
        u128 has = mass(o, taker), left = mass(o, more) - (total - has);
        o->accept[taker] = share_of(has, total);
        o->other[taker] = more | READY;
        set_mass(o, more, left);
        if (left < total && more < less) {
            taker = more;
        } else {
            less = next_less(o, less, total);
            taker = less;
        }
        if (left <= total)
            more = next_more(o, more, total);
    }
    for (uint64_t i = 0; i < o->samples; i++)
        if ((o->other[i] & READY) != 0) {
            o->other[i] &= ~READY;
        } else {
            o->accept[i] = UINT64_MAX;
            o->other[i] = i;
        }
}

int mr__weights_init(mr__order *order, const double *weights, mr__detail *detail)
{
    int exponent = 0;
    int result = check(order, weights, &exponent, detail);
    if (result != 0)
        return result;
    order->accept = mr__alloc_array(&order->hooks, order->samples, sizeof *order->accept);
    order->other = mr__alloc_array(&order->hooks, order->samples, sizeof *order->other);
    if (order->accept == NULL || order->other == NULL) {
        mr__weights_fini(order);
        return mr__fail(detail, MR_ENOMEM, "out of memory for the weights of %" PRIu64 " samples", order->samples);
    }
    balance(order, fill(order, weights, exponent));
    return 0;
}

void mr__weights_fini(mr__order *order)
{
    mr__free(&order->hooks, order->accept);
    mr__free(&order->hooks, order->other);
    order->accept = NULL;
    order->other = NULL;
}

uint64_t mr__weights_draw(const mr__order *order, uint32_t epoch, uint64_t position)
{
    mr__rng rng;
    mr__rng_init(&rng, order->seed, epoch, position, MR__RNG_STEP_WEIGHTED);
    uint64_t high = mr__rng_u32(&rng);
    uint64_t cell = mr__scale_u64(high << 32 | mr__rng_u32(&rng), order->samples);
    high = mr__rng_u32(&rng);
    return (high << 32 | mr__rng_u32(&rng)) < order->accept[cell] ? cell : order->other[cell];
}
