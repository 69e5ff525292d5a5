// SPDX-License-Identifier: Apache-2.0
/* Memory of a crew's devices: as they say, or as the program lends it. */
#include "route/crew_inside.h"

#include <math.h>

enum { LENT_REGIONS = 16 };

/* What a device may take for jobs. */
uint64_t mr__crew_limit_of(const mr__crew *c, const mr__device_memory *memory)
{
    uint64_t cap = c->options.memory_nbytes != 0 ? c->options.memory_nbytes : MR__BUDGET_ANY;
    if (memory->total_nbytes == 0)
        return MR__BUDGET_ANY;
    return memory->budget_nbytes < cap ? memory->budget_nbytes : cap;
}

/*
 * Without a host nobody would take what fits nowhere, and the batch would wait for ever. So it counts as if it did:
 * whoever gets it does it in some other way, or says that it cannot.
 */
void mr__crew_bound_need(const mr__crew *c, mr__job *job)
{
    uint64_t most = 0;
    for (uint32_t d = 0; c->options.hostless && d < c->options.device_count; d++) {
        uint64_t its = c->sched->stations[d].memory.limit_nbytes;
        if (!isinf(job->ns[d]) && its > most)
            most = its;
    }
    if (c->options.hostless && job->need_nbytes > most)
        job->need_nbytes = most;
}

/* As it is now: a batch begins, or what is lent has changed. Lent memory is then all that there is. */
void mr__crew_read_memory(mr__crew *c, uint32_t device)
{
    mr__mate *m = &c->members[device];
    mr__device_memory memory = mr__device_read_memory(m->device);
    uint64_t limit = mr__crew_limit_of(c, &memory);
    if (m->lent != NULL) {
        mr__lent_batch(m->lent);
        uint64_t lent = mr__lent_tell(m->lent).lent_nbytes;
        limit = lent < limit ? lent : limit;
    }
    mr__sched_memory(c->sched, device, limit);
}

static mr__grant *grant_of(const mr__crew *c, const mr__pick *pick)
{
    return &c->grants[pick - c->sched->pick_memory];
}

/* A pick's memory, where the program lends some. False: there is none in one piece, and the pick is not to be. */
bool mr__crew_grant(mr__crew *c, mr__pick *pick)
{
    mr__mate *m = &c->members[pick->device];
    if (m->lent == NULL)
        return true;
    mr__grant *its = grant_of(c, pick);
    *its = (mr__grant){0};
    mr__room room = pick->need_nbytes != 0 ? mr__lent_take(m->lent, pick->need_nbytes, its) : MR__ROOM_TAKEN;
    if (room == MR__ROOM_TAKEN)
        return true;
    *its = (mr__grant){0};
    bool never = room == MR__ROOM_NEVER || c->sched->stations[pick->device].under_way == 1; // nobody gives back
    mr__sched_untake(c->sched, pick, never);
    return false;
}

/* The last job of a pick ends: what it was granted is given back, and looked at. */
void mr__crew_end_grant(mr__crew *c, const mr__pick *pick)
{
    mr__mate *m = &c->members[pick->device];
    mr__detail detail = {0};
    if (m->lent == NULL || pick->open != 1)
        return;
    mr__grant *its = grant_of(c, pick);
    if (its->memory.nbytes != 0 && mr__lent_give(m->lent, its, &detail) == MR_ECORRUPT)
        mr__crew_note(c, pick->device, MR__MISHAP_OUTSIDE);
    *its = (mr__grant){0};
}

/* Regions that have come back. */
static void note_back(mr__mate *m)
{
    uint32_t region;
    mr__lent_memory memory;
    while (mr__lent_back(m->lent, &region, &memory))
        m->back |= UINT32_C(1) << region;
}

/* 2. Memory that the program lends. */

int mr__crew_lend(mr__crew *c, uint32_t device, const mr__lent_memory *memory, uint32_t *region, mr__detail *detail)
{
    mr__mate *m = &c->members[device];
    const mr__lent_options options = {.regions = LENT_REGIONS, .grants = c->sched->stations[device].capacity};
    if (!m->can_fail || (device == 0 && !c->options.hostless))
        return mr__fail(detail, MR_EUNSUPPORTED, "%s works in the host's memory: there is nothing to lend to it",
                        m->name);
    int result = m->lent != NULL ? 0 : mr__lent_new(&c->hooks, &options, &m->lent, detail);
    if (result == 0)
        result = mr__lent_lend(m->lent, memory, region, detail);
    if (result == 0)
        m->back &= ~(UINT32_C(1) << *region);
    if (m->lent != NULL)
        mr__crew_read_memory(c, device);
    return result;
}

bool mr__crew_is_back(mr__crew *c, uint32_t device, uint32_t region)
{
    mr__mate *m = &c->members[device];
    if (m->lent == NULL || region >= LENT_REGIONS)
        return false;
    note_back(m);
    bool is = (m->back >> region & 1) != 0;
    m->back &= ~(UINT32_C(1) << region);
    return is;
}

int mr__crew_reclaim(mr__crew *c, uint32_t device, uint32_t region, bool *back, mr__detail *detail)
{
    mr__mate *m = &c->members[device];
    if (m->lent == NULL)
        return mr__fail(detail, MR_EARGUMENT, "nothing was lent to %s", m->name);
    *back = mr__crew_is_back(c, device, region);
    int result = *back ? 0 : mr__lent_reclaim(m->lent, region, back, detail);
    if (result == 0 && *back)
        (void)mr__crew_is_back(c, device, region);
    mr__crew_read_memory(c, device);
    return result;
}

uint64_t mr__crew_let_go(mr__crew *c, uint32_t device)
{
    mr__mate *m = &c->members[device];
    if (m->lent == NULL)
        return 0;
    uint64_t nbytes = mr__lent_let_go(m->lent);
    note_back(m);
    mr__crew_read_memory(c, device);
    return nbytes;
}

bool mr__crew_is_lent(const mr__crew *c)
{
    for (uint32_t d = 0; d < c->options.device_count; d++)
        if (c->members[d].lent != NULL)
            return true;
    return false;
}
