// SPDX-License-Identifier: Apache-2.0
/* What policies ask of the scheduler: how long until something ends, and what a device may still take. */
#include "route/policy.h"

#include <math.h>

/* A pick that is late will take so much longer, as a share of what it took: errors of a prediction are by factors. */
static const double LATE_SHARE = 0.15;

bool mr__station_is_open(const mr__station *st, uint64_t now_ns)
{
    return st->room_ns != 0 && st->device.depth != 0 && st->aside_until_ns <= now_ns;
}

double mr__pick_left_ns(const mr__pick *pick, uint64_t now_ns)
{
    double left = pick->due_ns > now_ns ? (double)(pick->due_ns - now_ns) : 0;
    double late = LATE_SHARE * (double)(now_ns - pick->begun_ns);
    return left > late ? left : late;
}

double mr__station_free_ns(const mr__station *st, uint64_t now_ns)
{
    double least = INFINITY;
    if (st->under_way < st->device.lanes)
        return 0;
    for (uint32_t i = 0; i < st->capacity; i++) {
        if (st->picks[i].first == NULL)
            continue;
        double left = mr__pick_left_ns(&st->picks[i], now_ns);
        least = left < least ? left : least;
    }
    return least;
}

/* Lanes that are free before `by_ns`: how fast they are together, and what they do not do until they are free. */
typedef struct basin {
    double speed, missing;
} basin;

static basin fill_station(const mr__station *st, bool without, double by_ns, uint64_t now_ns)
{
    basin b = {0};
    uint32_t idle = st->under_way < st->device.lanes ? st->device.lanes - st->under_way : 0;
    if (idle != 0 && without)
        idle--;
    b.speed = idle * st->speed;
    for (uint32_t i = 0, seen = 0; seen < st->under_way; i++) {
        if (st->picks[i].first == NULL)
            continue;
        double left = mr__pick_left_ns(&st->picks[i], now_ns);
        seen++;
        if (seen > st->device.lanes)
            b.missing += left * st->speed; // it waits for a lane: one of them is free so much later
        else if (left < by_ns) {
            b.speed += st->speed;
            b.missing += left * st->speed;
        }
    }
    return b;
}

double mr__sched_pour_ns(const mr__sched *s, const mr__lot *lot, uint32_t without, uint64_t now_ns)
{
    double work = 0, by = INFINITY;
    for (uint32_t i = 0; i < s->queued; i++)
        if (s->lots[s->queue[i]].added && s->lots[s->queue[i]].number <= lot->number)
            work += s->lots[s->queue[i]].work;
    for (int round = 0; round < 8; round++) {
        basin all = {0};
        for (uint32_t d = 0; d < s->station_count; d++) {
            if (!mr__station_is_open(&s->stations[d], now_ns))
                continue;
            basin b = fill_station(&s->stations[d], d == without, by, now_ns);
            all.speed += b.speed;
            all.missing += b.missing;
        }
        double next = all.speed > 0 ? (work + all.missing) / all.speed : INFINITY;
        if (!(next < by))
            break;
        by = next;
    }
    return by;
}

uint64_t mr__sched_ready_ns(mr__sched *s, uint32_t batch, uint64_t now_ns)
{
    double ns = mr__sched_pour_ns(s, &s->lots[batch], UINT32_MAX, now_ns);
    for (uint32_t d = 0; d < s->station_count; d++)
        for (uint32_t i = 0; i < s->stations[d].capacity; i++) {
            const mr__pick *pick = &s->stations[d].picks[i];
            if (pick->first == NULL || pick->batch != batch)
                continue;
            double left = mr__pick_left_ns(pick, now_ns);
            ns = left > ns ? left : ns;
        }
    return ns < 1e18 ? now_ns + (uint64_t)ns : UINT64_MAX;
}

bool mr__sched_takes(const mr__sched *s, uint32_t device, const mr__job *job, const mr__pick *pick)
{
    const mr__station *st = &s->stations[device];
    const mr__budget *b = &st->memory;
    uint64_t over = mr__budget_over(b), room = over == 0 ? b->limit_nbytes - b->taken_nbytes : 0;
    if (b->limit_nbytes == MR__BUDGET_ANY)
        return !isinf(job->ns[device]);
    return !isinf(job->ns[device]) && pick->need_nbytes <= room && job->need_nbytes <= room - pick->need_nbytes;
}

void mr__pick_add(mr__pick *pick, mr__job *job)
{
    job->next = pick->first;
    job->taken = true;
    job->pick = pick;
    pick->first = job;
    pick->count++;
    pick->work += job->work;
    pick->need_nbytes += job->need_nbytes;
}

double mr__pick_ns(const mr__sched *s, const mr__pick *pick, const mr__job *job)
{
    double ns = s->stations[pick->device].device.launch_ns;
    for (const mr__job *j = pick->first; j != NULL; j = j->next)
        ns += j->ns[pick->device];
    return job != NULL ? ns + job->ns[pick->device] : ns;
}
