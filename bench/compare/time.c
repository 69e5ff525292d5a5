// SPDX-License-Identifier: Apache-2.0
/* Times the racers in turn. Time is that of this thread's processor, which it stays on. */
#include "compare.h"

#include <stdlib.h>

static mr_rect part_of(const contest *c, size_t i, series s, unsigned round, const options *o)
{
    const mr_image *shape = &c->slots[i].shape;
    if (s == REGIONS)
        return region_draw(o->seed, i % c->pictures, round, shape->width, shape->height);
    return (mr_rect){0, 0, shape->width, shape->height};
}

static void run(const racer *r, const slot *s, mr_rect part)
{
    mr_image to = part_image(&s->shape, part, s->out);
    r->decode(r, s, part, &to); // which was seen to succeed
}

/* One racer over all slots. */
static double pass_ns(const contest *c, const racer *r, const mr_rect *parts)
{
    double start = thread_ns();
    for (size_t i = 0; i < c->slot_count; i++)
        run(r, &c->slots[i], parts[i]);
    return (thread_ns() - start) / (double)c->slot_count;
}

/* In turns: who was first comes last in the next round. */
static void time_series(contest *c, series s, const options *o)
{
    mr_rect *parts = need(malloc(c->slot_count * sizeof *parts));
    for (unsigned round = 0; round < o->rounds; round++) {
        double nbytes = 0;
        for (size_t i = 0; i < c->slot_count; i++) {
            parts[i] = part_of(c, i, s, round, o);
            nbytes += (double)parts[i].width * parts[i].height * (double)mr_image_pixel_nbytes(&c->slots[i].shape);
        }
        c->nbytes[s][round] = nbytes / (double)c->slot_count;
        for (size_t k = 0; k < c->racer_count; k++) {
            racer *r = &c->racer[(k + round) % c->racer_count];
            if (r->runs[s])
                r->ns[s][round] = pass_ns(c, r, parts);
        }
    }
    free(parts);
}

/* The image whose bytes for a pixel, in the coding that ratios are of, are in the middle. */
static const slot *typical(const contest *c)
{
    double *rates = need(malloc(c->pictures * sizeof *rates));
    const slot *best = &c->slots[0];
    size_t k = c->coding_count > 1 ? 1 : 0;
    for (size_t i = 0; i < c->pictures; i++)
        rates[i] = (double)c->slots[i].stored[k].nbytes / (double)c->slots[i].stored[0].nbytes;
    double middle = quantile(rates, c->pictures, 0.5);
    for (size_t i = 0; i < c->pictures; i++)
        if ((double)c->slots[i].stored[k].nbytes / (double)c->slots[i].stored[0].nbytes == middle)
            best = &c->slots[i];
    free(rates);
    return best;
}

/* Often enough that the clock and the first, cold time do not matter. */
static double hot_ns(const racer *r, const slot *s, mr_rect all)
{
    const double enough = 2e7;
    double start = thread_ns();
    run(r, s, all);
    double once = thread_ns() - start;
    unsigned times = once > enough ? 1 : (unsigned)(enough / (once + 1)) + 1;
    start = thread_ns();
    for (unsigned i = 0; i < times; i++)
        run(r, s, all);
    return (thread_ns() - start) / times;
}

static void time_hot(contest *c, const options *o)
{
    const slot *s = typical(c);
    mr_rect all = {0, 0, s->shape.width, s->shape.height};
    for (unsigned round = 0; round < o->rounds; round++) {
        c->nbytes[HOT][round] = (double)s->stored[0].nbytes;
        for (size_t k = 0; k < c->racer_count; k++) {
            racer *r = &c->racer[(k + round) % c->racer_count];
            if (r->runs[HOT])
                r->ns[HOT][round] = hot_ns(r, s, all);
        }
    }
}

void time_racers(contest *c, const options *o)
{
    places before;
    pin_thread(&before);
    time_series(c, DISTINCT, o);
    if (c->is_jpeg)
        time_series(c, REGIONS, o);
    time_hot(c, o);
    unpin_thread(&before);
}

double racer_mb_per_s(const contest *c, const racer *r, series s)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < c->rounds; i++)
        values[i] = c->nbytes[s][i] * 1e3 / r->ns[s][i];
    return median(values, c->rounds);
}

double racer_ms(const contest *c, const racer *r, series s)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < c->rounds; i++)
        values[i] = r->ns[s][i] / 1e6;
    return median(values, c->rounds);
}

double racer_times(const contest *c, const racer *r, const racer *than, series s)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < c->rounds; i++)
        values[i] = than->ns[s][i] / r->ns[s][i];
    return median(values, c->rounds);
}
