// SPDX-License-Identifier: Apache-2.0
#include "sched_run.h"

#include <string.h>

const double speeds[] = {0.25, 0.5, 1, 2, 4, 8, 16};

static void tell_sample(void *user, uint64_t number, mr__rig_sample *sample)
{
    const play *p = user;
    mr__load_sample(&p->load, number + p->offset, sample);
}

static void on_delivered(void *user, uint64_t batch, uint64_t opened_ns, uint64_t ready_ns)
{
    play *p = user;
    if (batch < BATCHES_MAX) {
        p->opened_ns[batch] = opened_ns;
        p->ready_ns[batch] = ready_ns;
    }
}

void play_init(play *p, const options *o, uint32_t w, double s, mr__load_kind kind, uint32_t batch, uint64_t batches)
{
    memset(p, 0, sizeof *p);
    mr__load_pair(&p->hardware, w, s, 300000);
    p->load = (mr__load){.kind = kind, .seed = o->seed, .off = 0.3};
    p->rig = (mr__rig_options){.batch = batch, .batches = o->batches != 0 ? o->batches : batches, .apart = true};
}

void play_run(play *p, uint32_t policy)
{
    mr__detail detail = {0};
    mr__rig_options rig = p->rig;
    rig.hardware = &p->hardware;
    rig.policy = mr__policy_at(policy);
    rig.sample = tell_sample;
    rig.delivered = on_delivered;
    rig.user = p;
    must(mr__rig_run(&rig, &p->result, &detail), rig.policy->name, detail.text);
    bool once = p->result.tasks == rig.batch * rig.batches && p->result.again == 0 && p->result.failed == 0;
    must(once ? 0 : MR_EINTERNAL, rig.policy->name, "a task was not settled once");
}

double play_span(const play *p, uint64_t batch)
{
    return (double)(p->ready_ns[batch] - p->opened_ns[batch]);
}

double play_bound_with_launch(const play *p)
{
    const mr__hardware_device *h = p->hardware.devices;
    double sum = 0, w = h[0].lanes, s = h[1].speed, launch = (double)h[1].launch_ns;
    for (uint64_t n = 0; n < p->rig.batch * p->rig.batches; n++) {
        mr__rig_sample sample;
        mr__load_sample(&p->load, n + p->offset, &sample);
        sum += sample.core_ns;
    }
    sum /= (double)p->rig.batches;
    double with = (sum + s * launch) / (w + s), without = sum / w;
    return with < without ? with : without;
}
