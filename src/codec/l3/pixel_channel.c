// SPDX-License-Identifier: Apache-2.0
/* One channel of a tile: which predictor, how many layers, and its planes. */
#include "base/bytes.h"
#include "codec/l3/pixel_encode.h"

#include <string.h>

enum {
    PREDICT_CONSTANT = 0,
    PREDICT_LIFTING = 1,
    PREDICT_PREFIX = 2,
    LEVELS = 3,
    SAMPLE_STEP = 4, /* of rows of groups that an estimate looks at */
    /*
     * What has to be won, in percent, before the default preset takes what decodes slower: prefix prediction in place
     * of lifting, six layers in place of three.
     */
    PREFIX_GAIN = 7,
    LAYERS_GAIN = 4
};

static bool is_constant(const mr__l3_samples *c, unsigned sample_nbytes)
{
    const uint8_t *first = c->samples;
    for (unsigned y = 0; y < c->h; y++) {
        const uint8_t *row = first + y * c->pitch * sample_nbytes;
        if (memcmp(row, first, sample_nbytes) != 0 ||
            memcmp(row, row + sample_nbytes, (size_t)(c->w - 1) * sample_nbytes) != 0)
            return false;
    }
    return true;
}

static size_t store_constant(const mr__l3_samples *c, unsigned sample_nbytes, mr__l3_coded *out)
{
    out->method = PREDICT_CONSTANT;
    out->low_nbytes = sample_nbytes;
    out->high_nbytes = 0;
    if (sample_nbytes == 1)
        out->bytes[0] = *(const uint8_t *)c->samples;
    else
        mr__store_le16(out->bytes, *(const uint16_t *)c->samples);
    return sample_nbytes;
}

/* Bits that the residuals take with so many layers, headers and selectors included; headers are chosen. */
static uint64_t choose_headers(const mr__l3_pixel_plan *plan, const mr__l3_residuals *r, unsigned layers,
                               uint8_t *headers)
{
    uint64_t bits = plan->blocks.choose(r->low, r->groups, layers, headers) + r->groups * 16 + r->selected * 8;
    if (plan->sample_nbytes == 2)
        bits += plan->blocks.choose(r->high, r->groups, layers, headers + 2 * r->groups) + r->groups * 16;
    return bits;
}

/* A predictor's residuals and what it takes to store them. */
typedef struct trial {
    unsigned predictor;
    unsigned layers;
    uint64_t bits;
    unsigned at; /* which of work's residuals */
    uint8_t *headers;
} trial;

static mr__l3_forward_choice choice_of(const mr__l3_pixel_plan *plan)
{
    if (plan->preset != MR_L3_SMALL)
        return (mr__l3_forward_choice){NULL, 0};
    return (mr__l3_forward_choice){plan->blocks.cost, 6};
}

/* Layers by preset; the default takes six where three would be a good deal longer. */
static void choose_layers(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, trial *t)
{
    const mr__l3_residuals *r = &work->residuals[t->at];
    t->layers = plan->preset == MR_L3_FAST ? 0 : plan->preset == MR_L3_SMALL ? 6 : 3;
    t->headers = work->headers[t->at];
    t->bits = choose_headers(plan, r, t->layers, t->headers);
    if (plan->preset != MR_L3_DEFAULT)
        return;
    uint64_t six = choose_headers(plan, r, 6, work->headers[2]);
    if (six * 100 < t->bits * (100 - LAYERS_GAIN)) {
        *t = (trial){t->predictor, 6, six, t->at, work->headers[2]};
        work->headers[2] = work->headers[t->at];
        work->headers[t->at] = t->headers;
    }
}

static trial try_lifting(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const mr__l3_samples *channel)
{
    trial t = {PREDICT_LIFTING, 0, 0, 0, NULL};
    mr__l3_forward_choice choice = choice_of(plan);
    plan->forward.lift[plan->sample_nbytes - 1](channel, LEVELS, &choice, work->forward, &work->residuals[0]);
    choose_layers(plan, work, &t);
    return t;
}

/* Whether prefix prediction looks better than `lifting` on a part of the channel. */
static bool is_prefix_promising(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const mr__l3_samples *channel,
                                const trial *lifting)
{
    if (plan->preset != MR_L3_DEFAULT)
        return plan->preset == MR_L3_SMALL;
    mr__l3_forward_choice choice = choice_of(plan);
    mr__l3_residuals *r = &work->residuals[1];
    plan->forward.prefix[plan->sample_nbytes - 1](channel, SAMPLE_STEP, &choice, work->forward, r);
    uint64_t bits = choose_headers(plan, r, lifting->layers, work->headers[1]);
    unsigned rows = (channel->h + 3) / 4, looked_at = (rows + SAMPLE_STEP - 1) / SAMPLE_STEP;
    return bits * rows * 100 < lifting->bits * looked_at * (100 - PREFIX_GAIN);
}

/* With as many layers as lifting has. */
static trial try_prefix(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const mr__l3_samples *channel,
                        unsigned layers)
{
    trial t = {PREDICT_PREFIX, layers, 0, 1, work->headers[1]};
    mr__l3_forward_choice choice = choice_of(plan);
    plan->forward.prefix[plan->sample_nbytes - 1](channel, 1, &choice, work->forward, &work->residuals[1]);
    t.bits = choose_headers(plan, &work->residuals[1], layers, work->headers[1]);
    return t;
}

static size_t write_planes(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const trial *t, mr__l3_coded *out)
{
    const mr__l3_residuals *r = &work->residuals[t->at];
    const uint8_t *headers = t->headers;
    unsigned levels = t->predictor == PREDICT_LIFTING ? LEVELS : 0;
    out->method = (uint8_t)(t->predictor | t->layers / 3 << 2 | levels << 4);
    out->low_nbytes =
        plan->blocks.write(r->low, r->groups, t->layers, headers, r->selectors, r->selected, out->bytes, work->scratch);
    out->high_nbytes = 0;
    if (plan->sample_nbytes == 2)
        out->high_nbytes = plan->blocks.write(r->high, r->groups, t->layers, headers + 2 * r->groups, NULL, 0,
                                              out->bytes + out->low_nbytes, work->scratch);
    return out->low_nbytes + out->high_nbytes;
}

size_t mr__l3_channel_encode(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const mr__l3_samples *channel,
                             mr__l3_coded *out)
{
    if (is_constant(channel, plan->sample_nbytes))
        return store_constant(channel, plan->sample_nbytes, out);
    trial best = try_lifting(plan, work, channel);
    if (is_prefix_promising(plan, work, channel, &best)) {
        trial prefix = try_prefix(plan, work, channel, best.layers);
        if (prefix.bits < best.bits)
            best = prefix;
    }
    return write_planes(plan, work, &best, out);
}
