// SPDX-License-Identifier: Apache-2.0
/* What jobs of a batch that is split have to do yet. Device 0 is the host, and device 1 the accelerator. */
#include "route/policy.h"

#include <math.h>
#include <string.h>

bool mr__sched_split(mr__sched *s, uint32_t batch)
{
    mr__lot *lot = &s->lots[batch];
    lot->split = s->station_count == 2 && s->policy->pick_cut != NULL;
    for (int k = 0; k < MR__CUTS; k++)
        lot->share[k] = s->options.cut.fixed ? s->options.cut.share[k] : 0;
    lot->stored = 0;
    memset(lot->given, 0, sizeof lot->given);
    memset(lot->sums, 0, sizeof lot->sums);
    memset(lot->ready_ns, 0, sizeof lot->ready_ns);
    return lot->split;
}

/* How long the accelerator has to do with a job that crosses at a cut; INFINITY: it can never. */
static float crossing_ns(const mr__sched *s, const mr__job *job, uint8_t cut)
{
    uint64_t room = s->stations[1].device.memory_nbytes;
    return room != 0 && job->need_nbytes > room ? INFINITY : mr__cut_way_ns(&job->ways[cut]);
}

/* What a way takes more, or less, of each resource. */
static void add_way(double *sums, const mr__cut_way *way, double sign)
{
    sums[MR__CUT_HOST] += sign * way->host_ns;
    sums[MR__CUT_DEVICE] += sign * way->device_ns;
    sums[MR__CUT_LINK] += sign * way->link_ns;
}

static void count_job(mr__lot *lot, const mr__job *job, int sign)
{
    if (job->state != MR__CUT_STORED) {
        add_way(lot->ready_ns, &job->ways[job->state], sign);
        return;
    }
    lot->stored += (uint32_t)sign;
    for (int k = 0; k < MR__CUTS; k++)
        if (!isinf(job->ways[k].device_ns)) // of what cannot be there is no sum
            add_way(lot->sums[k], &job->ways[k], sign);
        else if (sign > 0)
            lot->sums[k][MR__CUT_DEVICE] = INFINITY;
}

void mr__lot_give(mr__lot *lot, const mr__pick *pick)
{
    for (mr__job *job = pick->first; job != NULL; job = job->next) {
        if (pick->device != 0)
            job->aim = job->state;
        lot->given[job->aim] += job->state == MR__CUT_STORED;
        count_job(lot, job, -1);
    }
}

void mr__lot_leave(const mr__sched *s, mr__lot *lot, mr__job *job)
{
    count_job(lot, job, 1);
    job->aim = MR__CUT_DONE;
    job->ns[1] = crossing_ns(s, job, job->state);
    job->ns[0] = job->ways[MR__CUT_DONE].host_ns - job->ways[job->state].host_ns;
    if (job->state == MR__CUT_DONE) // there is nothing left for the host, but to keep it if nobody else is there
        job->ns[0] = isinf(job->ns[1]) ? 1 : 2 * ((float)s->stations[1].device.launch_ns + job->ns[1]);
}

bool mr__sched_is_part(const mr__sched *s, const mr__job *job)
{
    if (!s->lots[job->batch].split || job->pick->device != 0 || job->aim == job->state)
        return false;
    float crossing = crossing_ns(s, job, job->aim);
    return crossing > 0 && !isinf(crossing);
}
