// SPDX-License-Identifier: Apache-2.0
/*
 * Two classical ways, for comparison with `auto`: longest first to the earliest finisher, planned once and stolen from
 * when predictions err; and a queue with two ends, where faster devices take the large end, the host the small one, and
 * each leaves alone what would end last with it. `better` plans both for each batch, and takes the one whose predicted
 * end is earlier.
 */
#include "route/policy.h"

#include <math.h>

enum { PLAN_LONGEST, PLAN_ENDS };

static const double PARTS = 1.3;

static uint32_t station_of(const mr__sched *s, uint32_t lane)
{
    uint32_t d = 0;
    while (d + 1 < s->station_count && s->stations[d + 1].lane0 <= lane)
        d++;
    return d;
}

/* What a job adds to a lane: with its share of a launch, if picks are fused well. */
static double ns_on(const mr__sched *s, const mr__job *job, uint32_t device)
{
    double launch = s->stations[device].device.launch_ns, share = MR__LAUNCH_SHARE * job->ns[device];
    return job->ns[device] + (s->stations[device].device.group > 1 && share < launch ? share : launch);
}

/* How long a lane is still busy with what is under way. */
static double busy_ns(const mr__sched *s, uint32_t lane, uint64_t now_ns)
{
    const mr__station *st = &s->stations[station_of(s, lane)];
    double sum = 0;
    for (uint32_t i = 0; i < st->capacity; i++)
        if (st->picks[i].first != NULL && st->picks[i].lane == lane - st->lane0)
            sum += mr__pick_left_ns(&st->picks[i], now_ns);
    return sum;
}

/* And until it can begin with what is planned: never, if its device is not open. */
static double free_ns(const mr__sched *s, uint32_t lane, uint64_t now_ns)
{
    bool open = mr__station_is_open(&s->stations[station_of(s, lane)], now_ns);
    return open ? busy_ns(s, lane, now_ns) : INFINITY;
}

/* Longest first to the earliest finisher. lot->plan becomes what each lane has; returns when the last one ends. */
static double plan_longest(mr__sched *s, mr__lot *lot, uint64_t now_ns)
{
    double end = 0, begin[MR__SCHED_LANES_MAX];
    uint32_t lanes = s->lane_count < MR__SCHED_LANES_MAX ? s->lane_count : MR__SCHED_LANES_MAX;
    for (uint32_t l = 0; l < lanes; l++) {
        begin[l] = free_ns(s, l, now_ns);
        lot->plan[l] = 0;
    }
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        uint32_t best = 0;
        double first = INFINITY;
        for (uint32_t l = 0; l < lanes; l++) {
            double then = begin[l] + ns_on(s, job, station_of(s, l));
            if (then < first) {
                first = then;
                best = l;
            }
        }
        job->owner = best;
        lot->plan[best] += (float)ns_on(s, job, station_of(s, best));
        begin[best] = first;
        end = first > end ? first : end;
    }
    return end;
}

/* The end of the two-ended queue, if all goes as predicted. */
static double foresee_ends(mr__sched *s, mr__lot *lot, uint64_t now_ns)
{
    double end = 0, begin[MR__SCHED_LANES_MAX];
    uint32_t lanes = s->lane_count < MR__SCHED_LANES_MAX ? s->lane_count : MR__SCHED_LANES_MAX;
    uint32_t from = 0, to = lot->count;
    for (uint32_t l = 0; l < lanes; l++)
        begin[l] = free_ns(s, l, now_ns);
    while (from < to) {
        uint32_t best = 0;
        double first = INFINITY;
        bool host = to - from > 1;
        for (uint32_t l = 0; l < lanes; l++) {
            uint32_t d = station_of(s, l);
            double then = begin[l] + (host ? 0 : ns_on(s, mr__lot_job(lot, from), d));
            if (then < first) {
                first = then;
                best = l;
            }
        }
        uint32_t d = station_of(s, best);
        const mr__job *job = mr__lot_job(lot, d == 0 ? to - 1 : from);
        begin[best] += ns_on(s, job, d);
        end = begin[best] > end ? begin[best] : end;
        if (d == 0)
            to--;
        else
            from++;
    }
    return end;
}

static void plan_pair(mr__sched *s, mr__lot *lot, uint64_t now_ns)
{
    double longest = plan_longest(s, lot, now_ns);
    lot->planned = longest <= foresee_ends(s, lot, now_ns) ? PLAN_LONGEST : PLAN_ENDS;
}

static void plan_longest_only(mr__sched *s, mr__lot *lot, uint64_t now_ns)
{
    (void)plan_longest(s, lot, now_ns);
    lot->planned = PLAN_LONGEST;
}

static void plan_ends_only(mr__sched *s, mr__lot *lot, uint64_t now_ns)
{
    (void)s, (void)now_ns;
    lot->planned = PLAN_ENDS;
}

static bool is_full(const mr__sched *s, const mr__pick *pick)
{
    const mr__sched_device *d = &s->stations[pick->device].device;
    double ns = mr__pick_ns(s, pick, NULL);
    return pick->count >= d->group || d->launch_ns <= MR__LAUNCH_SHARE * (ns - d->launch_ns);
}

/* The longest time for a fused pick: less and less towards the end. */
static double most_ns(const mr__sched *s, const mr__lot *lot, uint32_t device, uint64_t now_ns)
{
    double most = mr__sched_pour_ns(s, lot, UINT32_MAX, now_ns) / PARTS;
    double least = 2 * s->stations[device].device.launch_ns;
    return most > least ? most : least;
}

static void unplan(const mr__sched *s, mr__lot *lot, const mr__job *job)
{
    float *plan = &lot->plan[job->owner];
    *plan -= (float)ns_on(s, job, station_of(s, job->owner));
    if (*plan < 0)
        *plan = 0;
}

static bool pick_planned(mr__sched *s, mr__lot *lot, uint32_t lane, uint64_t now_ns, mr__pick *pick)
{
    double most = most_ns(s, lot, pick->device, now_ns);
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        if (job->owner != lane || !mr__sched_takes(s, pick->device, job, pick))
            continue;
        if (pick->count != 0 && mr__pick_ns(s, pick, job) > most)
            continue;
        mr__pick_add(pick, job);
        unplan(s, lot, job);
        if (is_full(s, pick))
            break;
    }
    pick->reason = MR__REASON_PLANNED;
    return pick->count != 0;
}

/* From the lane that will end last, the job that makes both end soonest. */
static bool pick_stolen(mr__sched *s, mr__lot *lot, uint64_t now_ns, mr__pick *pick)
{
    uint32_t victim = UINT32_MAX;
    double latest = 0, best = INFINITY;
    mr__job *found = NULL;
    for (uint32_t l = 0; l < s->lane_count; l++) {
        double then = busy_ns(s, l, now_ns) + lot->plan[l];
        if (lot->plan[l] > 0 && then > latest) {
            latest = then;
            victim = l;
        }
    }
    for (uint32_t at = mr__lot_next(lot, 0); at < lot->count; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        if (job->owner != victim || !mr__sched_takes(s, pick->device, job, pick))
            continue;
        double mine = mr__pick_ns(s, pick, job), his = latest - ns_on(s, job, station_of(s, victim));
        double both = mine > his ? mine : his;
        if (both < best && both < latest) {
            best = both;
            found = job;
        }
    }
    if (found == NULL)
        return false;
    mr__pick_add(pick, found);
    unplan(s, lot, found);
    pick->reason = MR__REASON_STOLEN;
    return true;
}

/* The host from the small end, others from the large one; nobody what would end last. */
static bool pick_from_end(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    double others = mr__sched_pour_ns(s, lot, device, now_ns), most = most_ns(s, lot, device, now_ns);
    uint32_t last = mr__lot_last(lot), at = device == 0 ? last : mr__lot_next(lot, 0);
    for (; at < lot->count; at = mr__lot_next(lot, at + 1)) {
        mr__job *job = mr__lot_job(lot, at);
        double ns = mr__pick_ns(s, pick, job);
        if (!mr__sched_takes(s, device, job, pick) || (pick->count != 0 && ns > most) || ns > others)
            continue;
        mr__pick_add(pick, job);
        if (device == 0 || is_full(s, pick))
            break;
    }
    pick->reason = device == 0 ? MR__REASON_SMALL : MR__REASON_LARGEST;
    return pick->count != 0;
}

static bool pick_pair(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    uint32_t lane = s->stations[device].lane0 + pick->lane;
    if (lot->planned == PLAN_ENDS)
        return pick_from_end(s, lot, device, now_ns, pick);
    return pick_planned(s, lot, lane, now_ns, pick) || pick_stolen(s, lot, now_ns, pick);
}

const mr__policy mr__policy_longest = {
    .name = "longest",
    .summary = "longest first to the earliest finisher, with stealing",
    .grain = 1,
    .key = MR__KEY_WORK,
    .plan = plan_longest_only,
    .pick = pick_pair,
};

const mr__policy mr__policy_ends = {
    .name = "ends",
    .summary = "a queue with two ends; nobody takes what would end last",
    .grain = 1,
    .key = MR__KEY_WORK,
    .plan = plan_ends_only,
    .pick = pick_pair,
};

const mr__policy mr__policy_better = {
    .name = "better",
    .summary = "longest or ends, for each batch the one whose predicted end is earlier",
    .grain = 1,
    .key = MR__KEY_WORK,
    .plan = plan_pair,
    .pick = pick_pair,
};
