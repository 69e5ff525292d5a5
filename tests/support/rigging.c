// SPDX-License-Identifier: Apache-2.0
#include "rigging.h"

#include "base/hash.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

rigging *rigging_new(uint32_t w, double s, mr__load_kind kind, uint32_t batch, uint64_t batches)
{
    rigging *r = calloc(1, sizeof *r);
    assert_non_null(r);
    mr__load_pair(&r->hardware, w, s, 300000);
    r->load = (mr__load){.kind = kind, .seed = 7, .off = 0.3};
    r->options = (mr__rig_options){.policy = &mr__policy_auto, .batch = batch, .batches = batches, .apart = true};
    return r;
}

static void tell_sample(void *user, uint64_t number, mr__rig_sample *sample)
{
    const rigging *r = user;
    mr__load_sample(&r->load, number + r->offset, sample);
    if (r->large != 0 && number % r->large == 0)
        sample->need_nbytes = r->large_nbytes;
}

static void on_delivered(void *user, uint64_t batch, uint64_t opened_ns, uint64_t ready_ns)
{
    rigging *r = user;
    assert_true(batch < RIGGING_BATCHES);
    r->opened_ns[batch] = opened_ns;
    r->ready_ns[batch] = ready_ns;
}

/* Tasks of a pick are told one after the other. */
static void note_pick(rigging *r, uint64_t batch, const mr__sight *sight)
{
    rigging_pick *last = r->pick_count != 0 ? &r->picks[r->pick_count - 1] : NULL;
    const mr__pick *pick = sight->pick;
    if (last == NULL || last->begun_ns != pick->begun_ns || last->device != pick->device || last->batch != batch ||
        pick->count == 1) {
        assert_true(r->pick_count < RIGGING_PICKS);
        last = &r->picks[r->pick_count++];
        *last = (rigging_pick){batch, pick->begun_ns, pick->device, pick->count, 0, pick->reason};
    }
    last->predicted_ns += sight->predicted_ns;
}

static void on_seen(void *user, const mr__sight *sight)
{
    rigging *r = user;
    uint64_t batch = sight->task->ordinal / r->options.batch;
    uint64_t seen[] = {r->hash,           sight->task->ordinal, sight->task->begun_ns,        sight->task->busy_ns,
                       sight->task->lane, sight->pick->device,  (uint64_t)sight->pick->reason};
    mr__rig_sample sample;
    r->hash = mr__hash(seen, sizeof seen);
    tell_sample(r, sight->task->ordinal, &sample);
    if (sight->task->code == 0)
        r->work_ns[batch][sight->pick->device] += sample.core_ns;
    if (sight->pick->device != 0 && r->pick_count < RIGGING_PICKS)
        note_pick(r, batch, sight);
}

void rigging_run(rigging *r)
{
    mr__detail detail = {0};
    mr__rig_options o = r->options;
    o.hardware = &r->hardware;
    o.sample = tell_sample;
    o.delivered = on_delivered;
    o.seen = on_seen;
    o.user = r;
    memset(r->work_ns, 0, sizeof r->work_ns);
    r->pick_count = 0;
    r->hash = 0;
    if (mr__rig_run(&o, &r->result, &detail) != 0)
        fail_msg("%s", detail.text);
    assert_int_equal(r->result.tasks, o.batch * o.batches);
    assert_int_equal(r->result.again, 0);
    assert_int_equal(r->result.failed, 0);
}

void rigging_fault(rigging *r, uint32_t device, mr__fault fault)
{
    mr__hardware_device *d = &r->hardware.devices[device];
    d->faults[d->fault_count++] = fault;
}

double rigging_span(const rigging *r, uint64_t batch)
{
    return (double)(r->ready_ns[batch] - r->opened_ns[batch]);
}

double rigging_share(const rigging *r, uint64_t batch, uint32_t device)
{
    double all = 0;
    for (uint32_t d = 0; d < MR__SCHED_DEVICES_MAX; d++)
        all += r->work_ns[batch][d];
    return all > 0 ? r->work_ns[batch][device] / all : 0;
}

double rigging_seconds_by(rigging *r, const char *policy)
{
    const mr__policy *own = r->options.policy;
    r->options.policy = mr__policy_of(policy);
    rigging_run(r);
    r->options.policy = own;
    return r->result.seconds;
}
