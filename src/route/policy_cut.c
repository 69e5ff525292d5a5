// SPDX-License-Identifier: Apache-2.0
/*
 * Batches whose jobs may cross to the accelerator half done. No job is planned for a lane: whenever one asks, the
 * program of cut.h is solved for what is left, beside what is under way. The shares that were best first hold as long
 * as they are about as good as the best now, and the lane takes what they leave to it: so errors of predictions,
 * failures and other batches are seen as they come.
 *
 * Host lanes do first parts so that the accelerator does not run dry, and whole jobs beside that. The accelerator takes
 * what is ready to cross first, and stored samples when there is nothing. The largest goes first; a lane leaves alone
 * what it would end after the batch, if another ends it sooner.
 */
#include "route/policy.h"

#include <math.h>

/* A lane takes of its share while it is at least so many jobs. */
static const double ONE = 0.5;

/* What was planned holds until another mix of what is left would be done in this share of its time. */
static const double CLEARLY = 0.9;

/* So many lanes too few at whole jobs, and one goes there even if the accelerator runs dry for a while. */
static const double BEHIND = 1.5;

/* What an accelerator does while it would wait is to gain this share of the wait. */
static const double WORTH = 0.2;

/* Launching may be this share of a pick's time; a pick is at most the time that the batch has left, divided by this. */
static const double LAUNCH_SHARE = 0.05;
static const double PARTS = 1.3;

typedef struct view {
    const mr__sched *sched;
    mr__lot *lot;
    uint64_t now_ns;
    mr__cut_problem problem; /* of this batch and older ones: what is left of them, as it is stored */
    mr__cut_plan plan;
    double jobs[MR__CUTS]; /* the plan's shares of what is left */
    bool fixed;
} view;

static bool is_stored(const mr__job *job)
{
    return job->state == MR__CUT_STORED;
}

/* 1. What is left, and what is best. */

static void add_ahead(mr__cut_problem *p, const mr__cut_way *way)
{
    p->ahead_ns[MR__CUT_DEVICE] += way->device_ns;
    p->ahead_ns[MR__CUT_LINK] += way->link_ns;
}

static void look_at_lot(view *v, const mr__lot *lot)
{
    mr__cut_problem *p = &v->problem;
    p->count += lot->stored;
    for (int r = MR__CUT_DEVICE; r < MR__CUT_RESOURCES; r++)
        p->ahead_ns[r] += lot->ready_ns[r] > 0 ? lot->ready_ns[r] : 0; // sums of many differences are not exact
    for (int k = 0; k < MR__CUTS && lot->stored != 0; k++) {
        p->ways[k].host_ns += (float)lot->sums[k][MR__CUT_HOST];
        p->ways[k].device_ns += (float)lot->sums[k][MR__CUT_DEVICE];
        p->ways[k].link_ns += (float)lot->sums[k][MR__CUT_LINK];
    }
}

static void look_at_picks(view *v)
{
    mr__cut_problem *p = &v->problem;
    for (uint32_t d = 0; d < v->sched->station_count; d++) {
        const mr__station *st = &v->sched->stations[d];
        for (uint32_t i = 0, seen = 0; seen < st->under_way; i++) {
            const mr__pick *pick = &st->picks[i];
            if (pick->first == NULL)
                continue;
            seen++;
            p->ahead_ns[d == 0 ? MR__CUT_HOST : MR__CUT_DEVICE] += mr__pick_left_ns(pick, v->now_ns);
            for (const mr__job *job = pick->first; d == 0 && job != NULL; job = job->next)
                if (job->pick == pick && mr__sched_is_part(v->sched, job))
                    add_ahead(p, &job->ways[job->aim]);
        }
    }
}

/* A job's share of a launch, when picks are fused as much as is worth it. */
static double launch_share_ns(const mr__sched_device *d, double job_ns)
{
    double jobs = job_ns > 0 ? d->launch_ns / LAUNCH_SHARE / job_ns : d->group;
    return d->launch_ns / (jobs < 1 ? 1 : jobs < d->group ? jobs : d->group);
}

static void take_means(view *v)
{
    mr__cut_problem *p = &v->problem;
    for (int k = 0; k < MR__CUTS && p->count > 0; k++) {
        mr__cut_way *way = &p->ways[k];
        way->host_ns /= (float)p->count;
        way->device_ns /= (float)p->count;
        way->link_ns /= (float)p->count;
        if (mr__cut_way_ns(way) > 0)
            way->device_ns += (float)launch_share_ns(&v->sched->stations[1].device, mr__cut_way_ns(way));
    }
}

/* The batch's shares, less what was given of them; ns 0: there are none. */
static mr__cut_plan stick_to_plan(const view *v)
{
    mr__cut_plan plan = {0};
    double sum = 0;
    for (int k = 0; k < MR__CUTS; k++) {
        double due = v->lot->share[k] * v->lot->count - v->lot->given[k];
        plan.share[k] = due > 0 ? due : 0;
        sum += plan.share[k];
    }
    if (!(sum > 0))
        return (mr__cut_plan){.share = {[MR__CUT_DONE] = 1}};
    for (int k = 0; k < MR__CUTS; k++)
        plan.share[k] /= sum;
    plan.ns = mr__cut_time_ns(&v->problem, plan.share);
    return plan;
}

/* As planned, if that is about as good as what is best now: small changes to and fro would cost more than they gain. */
static void plan(view *v)
{
    mr__lot *lot = v->lot;
    v->plan = stick_to_plan(v);
    if (v->fixed)
        return;
    mr__cut_plan best = mr__cut_choose(&v->problem);
    bool open = mr__station_is_open(&v->sched->stations[1], v->now_ns);
    if (open && v->plan.ns > 0 && best.ns > CLEARLY * v->plan.ns)
        return;
    v->plan = best;
    for (int k = 0; k < MR__CUTS; k++)
        lot->share[k] = (lot->given[k] + best.share[k] * lot->stored) / lot->count;
}

static view look(const mr__sched *s, mr__lot *lot, uint64_t now_ns)
{
    view v = {.sched = s, .lot = lot, .now_ns = now_ns, .fixed = s->options.cut.fixed};
    v.problem.lanes[MR__CUT_HOST] = s->stations[0].device.lanes;
    v.problem.lanes[MR__CUT_DEVICE] = s->stations[1].device.lanes;
    v.problem.lanes[MR__CUT_LINK] = 1;
    v.problem.allowed = s->options.cut.allowed;
    for (uint32_t i = 0; i < s->queued; i++) {
        const mr__lot *other = &s->lots[s->queue[i]];
        if (other->added && other->split && other->number <= lot->number && (!v.fixed || other == lot))
            look_at_lot(&v, other);
    }
    look_at_picks(&v);
    take_means(&v);
    if (!mr__station_is_open(&s->stations[1], now_ns))
        v.problem.allowed = 1u << MR__CUT_DONE;
    plan(&v);
    for (int k = 0; k < MR__CUTS; k++)
        v.jobs[k] = v.plan.share[k] * v.problem.count;
    return v;
}

/* When the accelerator has done all that it will have to do. */
static double device_ns(const view *v)
{
    return v->problem.ahead_ns[MR__CUT_DEVICE] / v->problem.lanes[MR__CUT_DEVICE];
}

/* 2. The accelerator asks. */

/* When host lanes will have done the next part; INFINITY: they are not at one. */
static double next_part_ns(const view *v)
{
    const mr__station *st = &v->sched->stations[0];
    double least = INFINITY;
    for (uint32_t i = 0; i < st->capacity; i++) {
        const mr__pick *pick = &st->picks[i];
        if (pick->first == NULL || !mr__sched_is_part(v->sched, pick->first))
            continue;
        double left = mr__pick_left_ns(pick, v->now_ns);
        least = left < least ? left : least;
    }
    return least;
}

/* Whether the batch ends sooner if an accelerator that would wait for the next part does a stored sample meanwhile. */
static bool gains(const view *v, const mr__job *job)
{
    double wait = next_part_ns(v), here = v->sched->stations[1].device.launch_ns + job->ns[1];
    if (v->fixed || isinf(wait) || v->problem.allowed != 0)
        return false;
    mr__cut_problem waits = v->problem, takes = v->problem;
    waits.ahead_ns[MR__CUT_DEVICE] += wait;
    takes.ahead_ns[MR__CUT_DEVICE] += here;
    takes.count--;
    return mr__cut_choose(&takes).ns < mr__cut_choose(&waits).ns - WORTH * wait;
}

/* `larger_ns`: what host lanes would do before. */
static bool suits_device(const view *v, const mr__job *job, double larger_ns)
{
    double here = device_ns(v) + v->sched->stations[1].device.launch_ns + job->ns[1]; // parts come after it, too
    double there = mr__station_free_ns(&v->sched->stations[0], v->now_ns) + larger_ns / v->problem.lanes[MR__CUT_HOST] +
                   job->ns[0];
    if (v->fixed || !is_stored(job))
        return true;
    return here <= v->plan.ns || here <= there;
}

/* Whether the accelerator takes any more that is stored. The first that is left stands for the others. */
static bool wants_stored(const view *v, const mr__pick *pick)
{
    if (v->jobs[MR__CUT_STORED] >= ONE)
        return true;
    for (uint32_t at = mr__lot_next(v->lot, 0); pick->count == 0 && at < v->lot->count;
         at = mr__lot_next(v->lot, at + 1))
        if (is_stored(mr__lot_job(v->lot, at)))
            return gains(v, mr__lot_job(v->lot, at));
    return false;
}

/* What is ready to cross, or what is stored, into the pick, as long as it is worth it. */
static void add_some(view *v, bool stored, mr__pick *pick)
{
    const mr__station *st = &v->sched->stations[1];
    mr__lot *lot = v->lot;
    double launch = st->device.launch_ns, most = v->plan.ns / PARTS, larger = 0;
    double ns = mr__pick_ns(v->sched, pick, NULL);
    most = most < 2 * launch ? 2 * launch : most;
    most = most < (double)st->room_ns ? most : (double)st->room_ns;
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count && pick->count < st->device.group;
         at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        if (pick->count != 0 && (launch <= LAUNCH_SHARE * (ns - launch) || (stored && v->jobs[MR__CUT_STORED] < ONE)))
            return;
        double before = larger;
        larger += job->ns[0];
        if (is_stored(job) != stored || (pick->count != 0 && ns + job->ns[1] > most) ||
            !mr__sched_takes(v->sched, 1, job, pick) || !suits_device(v, job, before))
            continue;
        mr__pick_add(pick, job);
        ns += job->ns[1];
        v->jobs[MR__CUT_STORED] -= stored;
        pick->reason = stored ? MR__REASON_LARGEST : MR__REASON_PLANNED;
    }
}

/* 3. A host lane asks. */

/* Lanes that are at whole jobs; *left_ns is what they still have to do, *free_ns when the first of all is free. */
static uint32_t lanes_at_whole(const view *v, double *left_ns, double *free_ns)
{
    const mr__station *st = &v->sched->stations[0];
    uint32_t count = 0;
    *left_ns = 0;
    *free_ns = st->under_way + 1 < st->device.lanes ? 0 : INFINITY; // this one is not under way yet
    for (uint32_t i = 0, seen = 0; seen < st->under_way; i++) {
        const mr__pick *pick = &st->picks[i];
        if (pick->first == NULL)
            continue;
        double left = mr__pick_left_ns(pick, v->now_ns);
        bool whole = pick->first->aim == MR__CUT_DONE;
        seen++;
        count += whole;
        *left_ns += whole ? left : 0;
        *free_ns = left < *free_ns ? left : *free_ns;
    }
    return count;
}

/*
 * Whole jobs are the longest: they are spread over the time that is left, so many lanes at them as that takes, and are
 * not what all lanes end with. But a lane that would let the accelerator run dry for longer feeds it first.
 */
static mr__cut choose_aim(const view *v)
{
    const mr__cut_way *ways = v->problem.ways;
    double parts = v->jobs[MR__CUT_DECODED], whole = v->jobs[MR__CUT_DONE], left, next;
    if (parts < ONE || whole < ONE)
        return parts > whole ? MR__CUT_DECODED : MR__CUT_DONE;
    uint32_t lanes = lanes_at_whole(v, &left, &next);
    double wanted = (left + whole * ways[MR__CUT_DONE].host_ns) / v->plan.ns;
    double part = ways[MR__CUT_DECODED].host_ns;
    next = next < ways[MR__CUT_DONE].host_ns ? next : ways[MR__CUT_DONE].host_ns;
    bool dry = device_ns(v) < next + part && next > 0;
    bool due = lanes + ONE <= wanted && (!dry || lanes + BEHIND <= wanted);
    return due ? MR__CUT_DONE : MR__CUT_DECODED;
}

/* When a job is done that a host lane begins now. */
static double ends_ns(const view *v, const mr__job *job, mr__cut aim)
{
    double host = job->ways[aim].host_ns, crossing = mr__cut_way_ns(&job->ways[aim]), device = device_ns(v);
    if (v->problem.allowed != 0 && (v->problem.allowed >> aim & 1) == 0)
        return INFINITY;
    if (crossing > 0)
        crossing += v->sched->stations[1].device.launch_ns;
    return (crossing > 0 && device > host ? device : host) + crossing;
}

/* Whether a host lane takes the job, and what it makes of it. `larger_ns`: what the accelerator would do before. */
static bool suits_host(const view *v, const mr__job *job, double larger_ns, mr__cut *aim)
{
    mr__cut other = *aim == MR__CUT_DONE ? MR__CUT_DECODED : MR__CUT_DONE;
    double there = device_ns(v) + larger_ns / v->problem.lanes[MR__CUT_DEVICE] + job->ns[1] +
                   v->sched->stations[1].device.launch_ns;
    double here = ends_ns(v, job, *aim), instead = ends_ns(v, job, other);
    if (v->fixed || here <= v->plan.ns || (here <= there && here <= instead))
        return true;
    *aim = other;
    return instead <= v->plan.ns || instead <= there;
}

static void give_host(mr__job *job, mr__cut aim, mr__pick *pick)
{
    job->aim = (uint8_t)aim;
    job->ns[0] = job->ways[aim].host_ns - job->ways[job->state].host_ns;
    mr__pick_add(pick, job);
}

/* Nothing is left but what waits for the accelerator: the host goes on with what it ends before that would. */
static bool relieve(view *v, mr__pick *pick)
{
    mr__lot *lot = v->lot;
    double launch = v->sched->stations[1].device.launch_ns;
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count && !v->fixed; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        double crossing = mr__cut_way_ns(&job->ways[MR__CUT_DONE]);
        if (job->state != MR__CUT_DECODED || crossing >= job->ns[1] || !mr__sched_takes(v->sched, 0, job, pick) ||
            job->ns[0] + crossing + launch > device_ns(v))
            continue;
        give_host(job, MR__CUT_DONE, pick);
        pick->reason = MR__REASON_SOONER;
        return true;
    }
    return false;
}

static bool pick_host(view *v, mr__pick *pick)
{
    mr__lot *lot = v->lot;
    if (v->problem.count == 0)
        return (v->sched->options.cut.allowed == 0) && relieve(v, pick);
    if (v->jobs[MR__CUT_DECODED] + v->jobs[MR__CUT_DONE] < ONE)
        return false;
    mr__cut wanted = choose_aim(v);
    double larger = 0;
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        if (!is_stored(job))
            continue;
        mr__cut aim = wanted;
        double before = larger;
        larger += job->ns[1];
        if (!mr__sched_takes(v->sched, 0, job, pick) || !suits_host(v, job, before, &aim))
            continue;
        give_host(job, aim, pick);
        pick->reason = MR__REASON_FITS;
        return true;
    }
    return false;
}

bool mr__policy_pick_cut(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    view v = look(s, lot, now_ns);
    if (device == 0)
        return pick_host(&v, pick);
    add_some(&v, false, pick);
    if (pick->count < s->stations[1].device.group && wants_stored(&v, pick))
        add_some(&v, true, pick);
    return pick->count != 0;
}
