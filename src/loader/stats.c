// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.h"

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0.0;
}

/* With the loader's lock held. */
static void fill(mr_loader *l, mr_loader_stats *s)
{
    uint64_t now_ns = mr__team_now_ns(l);
    s->seconds = l->begun ? seconds_between(l->begun_ns, now_ns) : 0.0;
    s->first_batch_seconds =
        l->first_ns != 0 ? (double)l->making_ns * 1e-9 + seconds_between(l->begun_ns, l->first_ns) : 0.0;
    s->threads = l->info.lanes;
    s->slots = l->slot_count;
    s->rank = l->ranks.rank;
    s->world = l->ranks.world;
    s->memory_nbytes = atomic_load(&l->meter.live_nbytes);
}

int mr_loader_get_stats(mr_loader *l, mr_loader_stats *stats)
{
    mr_loader_stats s = {.struct_size = sizeof s};
    int result = stats != NULL ? mr__loader_here(l) : MR_EARGUMENT;
    if (result != 0)
        return result;
    uint64_t core_ns = mr__team_core_ns(l);
    mr__mutex_lock(&l->mutex);
    fill(l, &s);
    s.core_seconds = (double)core_ns / 1e9;
    mr__measure_sum(l->team.meters, l->team.meter_count, &l->consumer, &s);
    mr__team_fill(l, &s);
    mr__mutex_unlock(&l->mutex);
    mr__share_stats(l, &s);
    mr__mutex_lock(&l->bad.mutex);
    s.bad = l->bad.met;
    s.substitutes = l->bad.substitutes;
    s.unlisted = l->bad.unlisted;
    mr__mutex_unlock(&l->bad.mutex);
    return mr__struct_give(stats, &s, sizeof s) ? 0 : MR_EARGUMENT;
}
