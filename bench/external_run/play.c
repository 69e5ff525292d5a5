// SPDX-License-Identifier: Apache-2.0
#include "external.h"

#include "study/rig.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GOLDEN = 0.61803398874989485;

/* Pareto's exponent: 50^(1/a) = 6.8/1.1, [proto]'s p99 over median of RandAugment. */
static const double HEAVY = 2.148;

/* Number `number` of an even spread over 0..1: any stretch of it has about the mean of all. */
static double even_of(uint64_t number)
{
    double at = (double)number * GOLDEN;
    return at - floor(at);
}

static void draw_sample(void *user, uint64_t number, mr__rig_sample *s)
{
    const point *p = user;
    double mean = p->core_s / p->batch * 1e9, factor = p->costs == COSTS_EVEN ? 0.5 + even_of(number) : 1;
    s->guess = 1;
    if (p->costs == COSTS_HEAVY) {
        factor = (HEAVY - 1) / HEAVY * pow(1 - even_of(number), -1 / HEAVY);
        s->guess = mr__hardware_factor(0.3, 1, MR__STREAM_SPREAD, 1, number);
    }
    s->core_ns = mean * factor;
    s->stored_nbytes = (uint64_t)(p->link_nbytes > 0 ? p->link_nbytes : 1e5 * factor);
}

static mr__hardware_device *add_device(mr__hardware *h, const char *name, uint32_t lanes, double speed)
{
    mr__hardware_device *d = &h->devices[h->device_count++];
    snprintf(d->name, sizeof d->name, "%s", name);
    d->lanes = lanes;
    d->speed = speed;
    return d;
}

/*
 * A link is one for all lanes of the remote device; a simulated device has one for each. So each lane has its share,
 * and takes the longer of link and work: together they do min(R/c, L/b), as they would on one link.
 */
static void make_hardware(way_of way, const point *p, mr__hardware *h)
{
    *h = (mr__hardware){.seed = 1};
    (void)add_device(h, "cpu", p->cores, 1);
    h->trainer.step_ns = (uint64_t)(p->step_s * 1e9 + 0.5);
    if (way == WAY_REMOTE && p->remote != 0) {
        mr__hardware_device *d = add_device(h, "remote", p->remote, 1);
        d->link_gbs = p->link_gbs / p->remote;
        d->link_overlaps = true;
        d->launch_ns = (uint64_t)(p->launch_s * 1e9 + 0.5);
        d->group = 16;
    } else if (way != WAY_CPU && way != WAY_REMOTE) {
        mr__hardware_device *d = add_device(h, "accelerator", 1, p->speed);
        d->kind = MR__HARDWARE_ACCELERATOR;
        d->launch_ns = (uint64_t)(p->launch_s * 1e9 + 0.5);
        d->group = 16;
        h->trainer.device = h->device_count;
        h->trainer.interference = p->slowing;
    }
}

static const char *mode_name(mr__beside_mode mode)
{
    static const char *const names[MR__BESIDE_MODES] = {"auto", "off", "exclusive", "duty", "overlapped"};
    return names[mode];
}

outcome play(way_of way, const point *p, uint64_t batches)
{
    static const mr__policy *const policies[WAYS] = {&mr__policy_intrabatch, &mr__policy_auto,   &mr__policy_auto,
                                                     &mr__policy_auto,       &mr__policy_fusion, &mr__policy_auto};
    static const mr__beside_mode modes[WAYS] = {MR__BESIDE_OFF,  MR__BESIDE_EXCLUSIVE, MR__BESIDE_OVERLAPPED,
                                                MR__BESIDE_AUTO, MR__BESIDE_EXCLUSIVE, MR__BESIDE_OFF};
    mr__hardware hardware;
    mr__rig_result result;
    mr__detail detail = {0};
    point own = *p;
    make_hardware(way, p, &hardware);
    mr__rig_options options = {.hardware = &hardware,
                               .policy = policies[way],
                               .batch = p->batch,
                               .batches = batches,
                               .beside = modes[way],
                               .learns = p->learns || (way == WAY_REMOTE && p->link_gbs > 0),
                               .sample = draw_sample,
                               .user = &own};
    if (mr__rig_run(&options, &result, &detail) != 0 || result.tasks != batches * p->batch) {
        fprintf(stderr, "external: %s: a simulation failed: %s\n", way_name(way), detail.text);
        exit(1);
    }
    return (outcome){.iteration_s = result.iteration_seconds,
                     .waits = result.wait_share,
                     .device = result.device_share[1],
                     .mode = mode_name(result.mode)};
}

static bool reaches(way_of way, const point *p, double target_s, uint32_t cores, uint64_t batches)
{
    point at = *p;
    *(way == WAY_REMOTE ? &at.remote : &at.cores) = cores;
    return play(way, &at, batches).iteration_s <= target_s * (1 + REACHES);
}

uint32_t play_cores(way_of way, const point *p, double target_s, uint64_t batches)
{
    uint32_t low = way == WAY_REMOTE ? 0 : 1, high = low + 8;
    while (high <= CORES_MAX && !reaches(way, p, target_s, high, batches)) {
        low = high + 1;
        high *= 2;
    }
    if (high > CORES_MAX)
        return UINT32_MAX;
    while (low < high) { // more cores are never slower by as much as REACHES
        uint32_t middle = low + (high - low) / 2;
        if (reaches(way, p, target_s, middle, batches))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
