// SPDX-License-Identifier: Apache-2.0
/* What jobs will take on each device of a crew, and what is made of what they took. */
#include "route/crew_inside.h"

#include <math.h>

/* A device that is not the host is believed to be so fast, before it has shown. */
static const double BELIEVED_SPEED = 1;

/* A model that says so many times what it said, or so little, is another one; asked after so many jobs. */
static const double STRAYED = 1.2;
enum { AGAIN_AFTER = 4 };

/* Of a job's time this much at least is its own, not its launch, or nothing is learned from it. */
static const double OWN_LEAST = 0.1, OWN_FIRST = 0.02; /* of the first, of which something has to be */
static const double PICK_LEAST = 0.25;                 /* likewise, of a pick's predicted time */

/*
 * A device that does few jobs in a batch is slower than believed once those that took longer than they should did so by
 * this many sigmas together, of each of which one is chance. (Page's test.)
 */
static const double SLOWER_SIGMAS = 2, SIGMA_LEAST = 0.25;
enum { FEW_JOBS = 10 };

mr__cost *mr__crew_cost(mr__crew *c, uint32_t device, uint32_t form)
{
    return &c->costs[(size_t)device * c->options.forms + form];
}

size_t mr__crew_number(const mr__crew *c, const mr__job *job)
{
    return (size_t)(job - c->sched->job_memory);
}

/* What a job takes on a device: of one that has not done anything yet, by what the host takes. */
void mr__crew_predict(mr__crew *c, mr__job *job)
{
    size_t number = mr__crew_number(c, job);
    const mr__features *features = &c->features[number];
    double host = mr__cost_predict(mr__crew_cost(c, 0, c->forms[number]), features);
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        const mr__cost *cost = mr__crew_cost(c, d, c->forms[number]);
        double ns = d == 0 ? host : cost->samples != 0 ? mr__cost_predict(cost, features) : host / BELIEVED_SPEED;
        if (!isinf(job->ns[d]))
            job->ns[d] = (float)ns;
    }
}

/* Whether it was ever seen at work, by this run or an earlier one. */
bool mr__crew_is_known(mr__crew *c, uint32_t device)
{
    for (uint32_t f = 0; f < c->options.forms; f++)
        if (mr__crew_cost(c, device, f)->samples != 0)
            return true;
    return false;
}

/* A device is not what it was believed to be: what is left of batches under way is predicted anew. */
void mr__crew_predict_again(mr__crew *c)
{
    bool strayed = false;
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        mr__mate *m = &c->members[d];
        strayed = strayed || (m->strayed && m->learned >= AGAIN_AFTER);
    }
    if (!strayed)
        return;
    for (uint32_t i = 0; i < c->sched->queued; i++) {
        mr__lot *lot = &c->sched->lots[c->sched->queue[i]];
        for (uint32_t j = 0; lot->added && j < lot->count; j++)
            if (!lot->jobs[j].taken)
                mr__crew_predict(c, &lot->jobs[j]);
        mr__sched_changed(c->sched, c->sched->queue[i]);
    }
    for (uint32_t d = 0; d < c->options.device_count; d++) {
        c->members[d].strayed = false;
        c->members[d].learned = 0;
    }
}

/* Errors of one job say little; those of a model that is off by so much, soon, that it is wrong. */
static void compare(mr__crew *c, const mr__job *job, uint32_t device)
{
    mr__mate *m = &c->members[device];
    size_t number = mr__crew_number(c, job);
    double now = mr__cost_predict(mr__crew_cost(c, device, c->forms[number]), &c->features[number]);
    double then = job->ns[device];
    m->learned++;
    if (now > STRAYED * then || then > STRAYED * now)
        m->strayed = true;
}

/*
 * A device that gets few jobs would be believed to be as fast as it was for many batches, each of which waits for it.
 * So two or three that took far too long are enough to believe the worse, which costs little if it is wrong.
 */
static void notice_slowness(mr__mate *m, mr__cost *cost, double ratio)
{
    double sigma = mr__cost_sigma(cost) > SIGMA_LEAST ? mr__cost_sigma(cost) : SIGMA_LEAST;
    m->per_batch++;
    m->slower += log(ratio > 1e-9 ? ratio : 1e-9) - sigma;
    m->slower_log += log(ratio > 1e-9 ? ratio : 1e-9);
    m->slower_count++;
    if (m->slower > SLOWER_SIGMAS * sigma && m->per_batch < 2 * FEW_JOBS && cost->samples != 0) {
        mr__cost_rescale(cost, exp(m->slower_log / m->slower_count));
        m->strayed = true;
        m->learned = AGAIN_AFTER;
        m->slower = 0;
    }
    if (!(m->slower > 0)) {
        m->slower = m->slower_log = 0;
        m->slower_count = 0;
    }
}

void mr__crew_learn(mr__crew *c, const mr__job *job, const mr__pick *pick)
{
    if (c->options.told || job->back != NULL || job->failed)
        return;
    double launch = c->members[pick->device].launch_ns / pick->count, busy = (double)job->busy_ns;
    double own = busy - launch;
    size_t number = mr__crew_number(c, job);
    mr__cost *cost = mr__crew_cost(c, pick->device, c->forms[number]);
    double all = mr__pick_ns(c->sched, pick, NULL), launching = c->members[pick->device].launch_ns;
    if (cost->samples != 0 && (own < OWN_LEAST * busy || all - launching < PICK_LEAST * all))
        return; // it was launching, mostly: little is seen of the job itself
    own = own > OWN_FIRST * busy ? own : OWN_FIRST * busy;
    notice_slowness(&c->members[pick->device], cost, own / mr__cost_predict(cost, &c->features[number]));
    mr__cost_learn(cost, &c->features[number], own > 1 ? (uint64_t)own : 1);
    compare(c, job, pick->device);
}

/* What is taken from a device because it is too slow has taken so long at least. */
void mr__crew_learn_slowness(mr__crew *c, uint32_t device, uint64_t now_ns)
{
    const mr__station *st = &c->sched->stations[device];
    for (uint32_t i = 0; !c->options.told && i < st->capacity; i++) {
        const mr__pick *pick = &st->picks[i];
        double whole = pick->first != NULL ? mr__pick_ns(c->sched, pick, NULL) : 0;
        for (const mr__job *job = pick->first; job != NULL; job = job->next) {
            size_t number = mr__crew_number(c, job);
            mr__cost *cost = mr__crew_cost(c, device, c->forms[number]);
            double ns = (double)(now_ns - pick->begun_ns) * job->ns[device] / whole;
            double ratio = ns / mr__cost_predict(cost, &c->features[number]);
            notice_slowness(&c->members[device], cost, ratio);
            if (ratio > 1)
                mr__cost_learn(cost, &c->features[number], (uint64_t)ns);
        }
    }
}

/*
 * A host that is late is slower than was believed, and gets as much more time: nobody would do its work, if a job of a
 * model that knows nothing were taken from it again and again. Others that are late have hung.
 */
void mr__crew_learn_lateness(mr__crew *c, uint64_t now_ns)
{
    const mr__station *st = &c->sched->stations[0];
    for (uint32_t i = 0; !c->options.told && i < st->capacity; i++) {
        const mr__pick *pick = &st->picks[i];
        if (pick->first == NULL || pick->count != 1 || pick->deadline_ns > now_ns)
            continue;
        size_t number = mr__crew_number(c, pick->first);
        mr__cost_learn(mr__crew_cost(c, 0, c->forms[number]), &c->features[number], now_ns - pick->begun_ns);
        mr__crew_predict(c, pick->first);
    }
}
