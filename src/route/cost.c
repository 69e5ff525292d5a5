// SPDX-License-Identifier: Apache-2.0
/*
 * predicted = scale x sum of weight[k] x features[k]
 *
 * The weights are least squares of relative errors over the samples so far, older ones counting less and less, drawn to
 * the prior; solved by going over the weights one at a time, each set to its best given the others, or to 0 where that
 * is below. The sums that this takes (recursive least squares in its information form) are of products alone and fade
 * by a factor, so that nothing in them grows and nothing is ever inverted: the matrix with the prior on its diagonal is
 * positive definite whatever was added.
 *
 * The scale is for what changes all costs at once: a processor that is slowed down, a device that is shared. It is the
 * mean of actual over predicted, of all samples since it was found and SCALE_MEMORY at most. Where the median of the
 * last few says that it is plainly another, it begins anew from that median.
 *
 * Invariants
 * 1. weight[k] >= 0, 1/LIMIT <= scale <= LIMIT, and all numbers are finite.
 * 2. A sample moves nothing by more than if it were off by a few sigmas.
 * 3. Scale and weights strive for the same thing, that the mean of (clipped) actual over predicted be 1: two that
 * strive for different things would drift apart for ever.
 */
#include "route/cost.h"

#include <math.h>
#include <string.h>

enum {
    SHAPE_MEMORY = 2000, /* samples: the sums fade by 1 - 1/SHAPE_MEMORY each */
    SCALE_MEMORY = 60,
    SIGMA_MEMORY = 100,
};

/*
 * What a prior counts, in samples: by Bayes the variance of a sample over that of the prior. Prices are right to within
 * a factor of two or so, another device's or an earlier run's to within a third.
 */
#define TRUST      0.1
#define TRUST_LIKE 1.0

#define LIMIT       1e9
#define ACTUAL_MOST 1e15 /* ns: eleven days */
#define SIGMA_FIRST 0.5
#define SIGMA_LEAST 0.05 /* below it, what is far off is not noise but clocks */
#define SIGMA_MOST  1.0
#define SIGMAS_CLIP 3.0
#define SIGMAS_LEAP 2.5 /* of the median of MR__COST_LAST: one in some 10^5 by chance */
#define LEAP_LEAST  0.2
#define SHARE_LEAST 0.02 /* of the prior's own prediction */

static double clamp(double value, double least, double most)
{
    return value > least ? (value < most ? value : most) : least; // NaN: the least
}

void mr__cost_init(mr__cost *cost)
{
    memset(cost, 0, sizeof *cost);
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        cost->weight[i] = cost->prior[i] = 1.0;
    cost->trust = TRUST;
    cost->scale = 1.0;
    cost->variance = SIGMA_FIRST * SIGMA_FIRST;
}

void mr__cost_init_like(mr__cost *cost, const mr__cost *like, double speed)
{
    mr__cost known = *like;
    mr__cost_init(cost);
    memcpy(cost->weight, known.weight, sizeof cost->weight);
    memcpy(cost->prior, known.weight, sizeof cost->prior);
    cost->trust = known.samples != 0 ? TRUST_LIKE : TRUST;
    cost->scale = clamp(known.scale / clamp(speed, 1.0 / LIMIT, LIMIT), 1.0 / LIMIT, LIMIT);
}

void mr__cost_restore(mr__cost *cost, const double weight[MR__WORK_KINDS], double scale, double sigma, uint64_t samples)
{
    mr__cost_init(cost);
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        cost->weight[i] = cost->prior[i] = clamp(weight[i], 0.0, LIMIT);
    cost->trust = TRUST_LIKE;
    cost->scale = clamp(scale, 1.0 / LIMIT, LIMIT);
    cost->variance = clamp(sigma * sigma, SIGMA_LEAST * SIGMA_LEAST, SIGMA_MOST * SIGMA_MOST);
    cost->since = MR__COST_LAST; // the machine may be another one today: the scale is found anew soon
    cost->samples = samples;
}

static bool is_any(const mr__features *f)
{
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        if (!(f->ns[i] >= 0.0f) || isinf(f->ns[i]))
            return false;
    return true;
}

/* Without the scale. Never so near to 0 that a relative error means nothing. */
static double shape_of(const mr__cost *cost, const mr__features *f)
{
    double sum = 0.0, guess = 0.0;
    for (size_t i = 0; i < MR__WORK_KINDS; i++) {
        sum += cost->weight[i] * (double)f->ns[i];
        guess += (double)f->ns[i];
    }
    double least = guess * SHARE_LEAST;
    sum = sum > least ? sum : least;
    return sum > 1.0 ? sum : 1.0;
}

double mr__cost_predict(const mr__cost *cost, const mr__features *features)
{
    return is_any(features) ? clamp(cost->scale * shape_of(cost, features), 1.0, ACTUAL_MOST) : 1.0;
}

double mr__cost_sigma(const mr__cost *cost)
{
    return sqrt(cost->variance);
}

/* One weight after the other, each at its best given the others. */
static void solve(mr__cost *cost)
{
    for (size_t i = 0; i < MR__WORK_KINDS; i++) {
        const double *row = cost->product[i];
        if (row[i] == 0.0)
            continue; // nothing was seen of it: what is believed stays
        double rest = cost->target[i] + cost->trust * cost->prior[i];
        for (size_t k = 0; k < MR__WORK_KINDS; k++)
            rest -= row[k] * cost->weight[k];
        rest += row[i] * cost->weight[i];
        cost->weight[i] = clamp(rest / (row[i] + cost->trust), 0.0, LIMIT);
    }
}

/* Adds one sample: features as shares of what is predicted, and what these should have come to: 1, but for the error.
 */
static void add_sample(mr__cost *cost, const mr__features *f, double shape, double ratio)
{
    double share[MR__WORK_KINDS], keep = 1.0 - 1.0 / SHAPE_MEMORY;
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        share[i] = (double)f->ns[i] / shape;
    for (size_t i = 0; i < MR__WORK_KINDS; i++) {
        double *row = cost->product[i];
        for (size_t k = 0; k < MR__WORK_KINDS; k++)
            row[k] = row[k] * keep + share[i] * share[k];
        cost->target[i] = cost->target[i] * keep + share[i] * ratio;
        if (row[i] < 1e-12)
            memset(row, 0, sizeof cost->product[i]); // faded: no denormals, and the weight stays
    }
}

static double middle(const double values[MR__COST_LAST])
{
    double sorted[MR__COST_LAST];
    for (size_t i = 0; i < MR__COST_LAST; i++) {
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > values[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[i];
    }
    return sorted[MR__COST_LAST / 2];
}

/* Whether the last samples were all about as much off, by more than chance; then the scale is theirs. */
static bool leap(mr__cost *cost, double off)
{
    cost->last[cost->last_count % MR__COST_LAST] = off;
    cost->last_count = cost->last_count + 1 < 2 * MR__COST_LAST ? cost->last_count + 1 : MR__COST_LAST;
    if (cost->last_count < MR__COST_LAST)
        return false;
    double by = middle(cost->last), sigma = mr__cost_sigma(cost);
    double far = SIGMAS_LEAP * sigma > LEAP_LEAST ? SIGMAS_LEAP * sigma : LEAP_LEAST;
    if (fabs(by) < far)
        return false;
    cost->scale = clamp(cost->scale * exp(by), 1.0 / LIMIT, LIMIT);
    cost->since = MR__COST_LAST;
    cost->last_count = 0;
    return true;
}

void mr__cost_rescale(mr__cost *cost, double times)
{
    cost->scale = clamp(cost->scale * times, 1.0 / LIMIT, LIMIT);
    cost->since = MR__COST_LAST;
    cost->last_count = 0;
}

/* Of the error's square, which a single sample does not make more than it could be by chance. */
static void measure(mr__cost *cost, double off)
{
    double far = SIGMAS_CLIP * mr__cost_sigma(cost) + 0.1, gain = 1.0 / SIGMA_MEMORY;
    uint64_t n = cost->samples + 10; // what is believed at first counts as ten
    if (n < SIGMA_MEMORY)
        gain = 1.0 / (double)n;
    off = clamp(off, -far, far);
    cost->variance += (off * off - cost->variance) * gain;
}

static void follow(mr__cost *cost, double ratio)
{
    if (cost->since < SCALE_MEMORY)
        cost->since++;
    cost->scale = clamp(cost->scale * (1.0 + (ratio - 1.0) / cost->since), 1.0 / LIMIT, LIMIT);
}

void mr__cost_learn(mr__cost *cost, const mr__features *features, uint64_t actual_ns)
{
    if (!is_any(features))
        return;
    double shape = shape_of(cost, features), actual = clamp((double)actual_ns, 1.0, ACTUAL_MOST);
    if (cost->samples == 0) { // all that is known of how fast it is
        cost->samples = cost->since = 1;
        cost->scale = clamp(actual / shape, 1.0 / LIMIT, LIMIT);
        return;
    }
    double off = log(actual / (cost->scale * shape));
    double sigma = clamp(mr__cost_sigma(cost), SIGMA_LEAST, SIGMA_MOST);
    double ratio = exp(clamp(off, -SIGMAS_CLIP * sigma, SIGMAS_CLIP * sigma));
    if (cost->samples < UINT64_MAX)
        cost->samples++;
    if (leap(cost, off))
        return;
    measure(cost, off);
    add_sample(cost, features, shape, ratio);
    solve(cost);
    follow(cost, ratio);
}
