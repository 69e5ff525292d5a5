// SPDX-License-Identifier: Apache-2.0
/*
 * The policy of FusionFlow's public prototype, as scheduling.md has it [proto]: tasks of 4 samples, sorted by stored
 * bytes; the host's workers take the small end, the accelerator the large end; each worker has one task more than the
 * one it is at; into the next mini-batch it looks ahead by half; the last 5 tasks are the accelerator's alone; a
 * control loop of 1 ms deals them out; a free core takes the waiting task of a peer that is less than half through its
 * own. (That the accelerator prepares only while the trainer waits is the window's: route/beside.h.)
 *
 * Reconstructed [ours]: which peer is robbed (the first that qualifies), and that the accelerator too keeps one task
 * waiting.
 */
#include "route/policy.h"

#define TICK_NS UINT64_C(1000000)

enum { GRAIN = 4, TAIL = 5 };

/* Whether the control loop runs now: once a tick, for everybody who asks at that moment. */
static bool is_tick(mr__sched *s, uint64_t now_ns)
{
    if (now_ns != s->tick_ns && now_ns / TICK_NS > s->tick_ns / TICK_NS)
        s->tick_ns = now_ns;
    return now_ns == s->tick_ns || s->tick_ns == 0;
}

/* Half of the next mini-batch may be dealt before the one at hand is done, and nothing of others. */
static bool is_ahead(const mr__sched *s, const mr__lot *lot, uint32_t queued)
{
    const mr__lot *oldest = &s->lots[s->queue[0]];
    if (lot == oldest || oldest->undone == 0)
        return false;
    return (s->queued > 1 && lot != &s->lots[s->queue[1]]) || queued <= lot->count / 2;
}

/* How many are in the queue: left, and waiting for nobody. */
static uint32_t count_queued(const mr__sched *s, const mr__lot *lot)
{
    uint32_t queued = lot->left;
    for (uint32_t l = 0; l < s->lane_count; l++)
        queued -= s->waiting[l] != NULL && &s->lots[s->waiting[l]->batch] == lot;
    return queued;
}

/* From the device's end of the queue, `gone` of which are promised already; NULL: nothing for it. */
static mr__job *deal(mr__sched *s, mr__lot *lot, uint32_t device, uint32_t gone, const mr__pick *pick)
{
    uint32_t queued = count_queued(s, lot) - gone;
    bool only_host = s->station_count == 1;
    if (queued == 0 || is_ahead(s, lot, queued) || (device == 0 && !only_host && queued <= TAIL))
        return NULL;
    uint32_t at = device == 0 ? mr__lot_last(lot) : mr__lot_next(lot, 0);
    if (at >= lot->count || !mr__sched_takes(s, device, mr__lot_job(lot, at), pick))
        return NULL;
    return mr__lot_job(lot, at);
}

/* A task that waits behind a peer's, who is not half through the one he is at. */
static mr__job *rob(mr__sched *s, const mr__lot *lot, uint32_t device, uint32_t lane, uint64_t now_ns)
{
    const mr__station *st = &s->stations[device];
    for (uint32_t i = 0; i < st->capacity; i++) {
        const mr__pick *pick = &st->picks[i];
        mr__job **waiting = &s->waiting[st->lane0 + pick->lane], *job = *waiting;
        if (pick->first == NULL || pick->lane == lane || job == NULL || &s->lots[job->batch] != lot)
            continue;
        if (now_ns - pick->begun_ns < (pick->due_ns - pick->begun_ns) / 2) {
            *waiting = NULL;
            return job;
        }
    }
    return NULL;
}

static bool pick_fusion(mr__sched *s, mr__lot *lot, uint32_t device, uint64_t now_ns, mr__pick *pick)
{
    mr__job **waiting = &s->waiting[s->stations[device].lane0 + pick->lane], *job = *waiting;
    bool tick = is_tick(s, now_ns);
    pick->reason = MR__REASON_PLANNED;
    if (job != NULL && &s->lots[job->batch] != lot)
        return false; // of another batch: its turn comes
    *waiting = NULL;
    if (job == NULL && tick)
        job = deal(s, lot, device, 0, pick);
    if (job == NULL && tick && (job = rob(s, lot, device, pick->lane, now_ns)) != NULL)
        pick->reason = MR__REASON_STOLEN;
    if (job == NULL)
        return false;
    mr__pick_add(pick, job);
    *waiting = deal(s, lot, device, 1, pick);
    if (*waiting != NULL)
        (*waiting)->taken = true; // though left
    return true;
}

const mr__policy mr__policy_fusion = {
    .name = "fusion",
    .summary = "FusionFlow's public prototype: by stored bytes, from both ends",
    .grain = GRAIN,
    .key = MR__KEY_NBYTES,
    .tick_ns = TICK_NS,
    .shown = true,
    .pick = pick_fusion,
};
