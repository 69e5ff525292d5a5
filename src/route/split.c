// SPDX-License-Identifier: Apache-2.0
/* What jobs of a batch that is split have to do yet. Device 0 is the host, and device 1 the accelerator. */
#include "route/policy.h"

#include <math.h>

bool mr__sched_split(mr__sched *s, uint32_t batch)
{
    mr__lot *lot = &s->lots[batch];
    lot->split = s->station_count == 2 && s->policy->pick_cut != NULL;
    for (int k = 0; k < MR__CUTS; k++)
        lot->share[k] = s->options.cut.fixed ? s->options.cut.share[k] : 0;
    return lot->split;
}

/* How long the accelerator has to do with a job that crosses at a cut; INFINITY: it can never. */
static float crossing_ns(const mr__sched *s, const mr__job *job, uint8_t cut)
{
    uint64_t room = s->stations[1].device.memory_nbytes;
    return room != 0 && job->need_nbytes > room ? INFINITY : mr__cut_way_ns(&job->ways[cut]);
}

void mr__job_renew(const mr__sched *s, mr__job *job)
{
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
