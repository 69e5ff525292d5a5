// SPDX-License-Identifier: Apache-2.0
/*
 * Ours: the largest job that is left goes to the fastest lane; a slower lane takes the largest job that it ends well
 * before the batch will, or that the faster ones would only get to later; and leaves alone what others will have done
 * sooner. Picks of a device with a launch are fused until launching is 5 % of their time, and get smaller towards the
 * end of the batch. It is longest-first-to-earliest-finisher and the two-ended queue in one: with equal lanes it is the
 * former, with one that is much faster the latter, and as nothing is planned nothing has to be stolen when a
 * prediction was wrong. bench/sched has it beside both, and doc/policies.md says what was measured.
 */
#include "route/policy.h"

#include <math.h>

/* A slow lane takes what it ends in this share of the time that the batch has left: predictions err by factors. */
static const double WELL_BEFORE = 0.5;

/* And in this, where its device brings so much of the speed of all, and its launch takes so much of a usual job. */
static const double BEFORE = 0.85, BRINGS_MUCH = 0.1, CHEAP_LAUNCH = 0.25;

/* A fused pick takes at most the time that the batch has left, on a slow device divided by this. */
static const double PARTS = 1.3;

/* Devices this much slower than the fastest count as fast. */
static const double ABOUT = 0.99;

/* Jobs that a device that declines looks at each time it is asked, on average. */
enum { LOOKS = 16 };

typedef struct view {
    mr__sched *sched;
    mr__lot *lot;
    uint32_t device;
    uint64_t now_ns;
    bool fast;
    double end_ns;     /* until the batch is done */
    double without_ns; /* and without this lane; < 0: not yet asked for */
    uint32_t fastest;  /* of the other devices */
    double fast_free_ns, fast_speed;
    double margin; /* a slow lane does more than its time elsewhere in this share of the wait for it elsewhere */
} view;

static bool is_open(const view *v, uint32_t device)
{
    return mr__station_is_open(&v->sched->stations[device], v->now_ns);
}

/*
 * A device that brings little, or whose launch is most of what a job takes, risks the batch's time for little: if it
 * takes something that costs more than predicted, all wait for it.
 */
static double find_margin(const view *v)
{
    const mr__sched *s = v->sched;
    const mr__station *st = &s->stations[v->device];
    double all = 0, its = st->speed * st->device.lanes;
    for (uint32_t d = 0; d < s->station_count; d++)
        if (is_open(v, d))
            all += s->stations[d].speed * s->stations[d].device.lanes;
    bool cheap = st->device.launch_ns * st->speed <= CHEAP_LAUNCH * s->mean_work;
    return cheap && its >= BRINGS_MUCH * all ? BEFORE : WELL_BEFORE;
}

static view look(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns)
{
    view v = {.sched = s, .lot = lot, .device = device, .now_ns = now_ns, .without_ns = -1, .fastest = UINT32_MAX};
    double best = 0;
    for (uint32_t d = 0; d < s->station_count; d++)
        if (d != device && is_open(&v, d) && s->stations[d].speed > best) {
            best = s->stations[d].speed;
            v.fastest = d;
        }
    v.fast = s->stations[device].speed >= ABOUT * best;
    v.end_ns = mr__sched_pour_ns(s, lot, UINT32_MAX, now_ns);
    if (v.fastest != UINT32_MAX) {
        const mr__station *st = &s->stations[v.fastest];
        v.fast_free_ns = mr__station_free_ns(st, now_ns);
        v.fast_speed = st->speed * st->device.lanes;
        v.margin = find_margin(&v);
    }
    return v;
}

static double without_ns(view *v)
{
    if (v->without_ns < 0)
        v->without_ns = mr__sched_pour_ns(v->sched, v->lot, v->device, v->now_ns);
    return v->without_ns;
}

static double launch_ns(const view *v, uint32_t device)
{
    return v->sched->stations[device].device.launch_ns;
}

/* When the fastest other device would have done the job, if it did what is larger (so much work) before. */
static double elsewhere_ns(const view *v, const mr__job *job, double larger)
{
    if (v->fastest == UINT32_MAX || isinf(job->ns[v->fastest]))
        return INFINITY;
    return v->fast_free_ns + larger / v->fast_speed + job->ns[v->fastest] + launch_ns(v, v->fastest);
}

/* Whether a lane takes this job, and why. */
static bool suits(view *v, const mr__job *job, double larger, mr__reason *why)
{
    double here = job->ns[v->device] + launch_ns(v, v->device), there = elsewhere_ns(v, job, larger);
    if (v->fast) {
        *why = MR__REASON_LARGEST;
        return here <= there || here <= without_ns(v);
    }
    double own = v->fastest != UINT32_MAX ? job->ns[v->fastest] : 0;
    bool sooner = here <= there && here - own <= v->margin * (there - own);
    *why = sooner ? MR__REASON_SOONER : MR__REASON_FITS;
    return sooner || (here <= WELL_BEFORE * v->end_ns && here <= without_ns(v));
}

/*
 * What does not suit as the smallest, as a rule does not suit as another. So if it does not, and going through all
 * found nothing just now, nothing is looked at for a while: that a device declines must not cost what its work would.
 */
static bool may_rest(view *v, const mr__pick *pick)
{
    mr__station *st = &v->sched->stations[v->device];
    uint32_t last = mr__lot_last(v->lot);
    mr__reason why;
    if (st->rest == 0 || last >= v->lot->count)
        return false;
    const mr__job *job = mr__lot_job(v->lot, last);
    if (mr__sched_takes(v->sched, v->device, job, pick) && suits(v, job, v->lot->work - job->work, &why))
        return false;
    st->rest--;
    return true;
}

/* The place of the first job that the lane takes; lot->count: none. */
static uint32_t find_first(view *v, const mr__pick *pick, mr__reason *why)
{
    double larger = 0;
    uint32_t looked = 0;
    mr__lot *lot = v->lot;
    if (may_rest(v, pick))
        return lot->count;
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count; at = mr__lot_next(lot, at + 1), looked++) {
        const mr__job *job = mr__lot_job(lot, at);
        if (mr__sched_takes(v->sched, v->device, job, pick) && suits(v, job, larger, why))
            return at;
        larger += job->work;
    }
    v->sched->stations[v->device].rest = looked / LOOKS;
    return lot->count;
}

/* More jobs for a pick, until it is worth its launch. */
static void fuse(view *v, uint32_t at, mr__pick *pick)
{
    const mr__sched_device *d = &v->sched->stations[v->device].device;
    mr__lot *lot = v->lot;
    double ns = mr__pick_ns(v->sched, pick, NULL), most = v->fast ? v->end_ns : v->end_ns / PARTS;
    most = most < 2 * d->launch_ns ? 2 * d->launch_ns : most;
    most = most > without_ns(v) ? without_ns(v) : most;
    if (most > (double)v->sched->stations[v->device].room_ns)
        most = (double)v->sched->stations[v->device].room_ns;
    for (at = mr__lot_next(lot, at + 1); at < lot->count && pick->count < d->group; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        if (d->launch_ns <= MR__LAUNCH_SHARE * (ns - d->launch_ns))
            return;
        if (ns + job->ns[v->device] > most || !mr__sched_takes(v->sched, v->device, job, pick))
            continue;
        mr__pick_add(pick, job);
        ns += job->ns[v->device];
    }
}

static bool pick_auto(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    view v = look(s, lot, device, now_ns);
    uint32_t at = find_first(&v, pick, &pick->reason);
    if (at == lot->count)
        return false;
    mr__pick_add(pick, mr__lot_job(lot, at));
    if (s->stations[device].device.group > 1)
        fuse(&v, at, pick);
    return true;
}

const mr__policy mr__policy_auto = {
    .name = "auto",
    .summary = "every device, the largest to the fastest, by predicted cost",
    .grain = 1,
    .key = MR__KEY_WORK,
    .shown = true,
    .pick = pick_auto,
    .pick_cut = mr__policy_pick_cut,
};
