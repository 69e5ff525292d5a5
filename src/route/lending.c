// SPDX-License-Identifier: Apache-2.0
#include "route/lending.h"

#include <math.h>
#include <string.h>

/* The reserve of the poorest job that has something to do. */
static uint32_t poorest(const mr__lending *l)
{
    uint32_t least = MR__LENDING_IDLE;
    for (size_t j = 0; j < l->job_count; j++)
        if (l->jobs[j].known && l->jobs[j].reserve < least)
            least = l->jobs[j].reserve;
    return least;
}

/* What a job has to do until it is ready. */
static double urgent_work(const mr__lending *l, uint32_t job, uint32_t least)
{
    const mr__lending_job *j = &l->jobs[job];
    return j->known && j->reserve == least && least != MR__LENDING_IDLE && j->work_ns > 0 ? j->work_ns : 0;
}

/* From when to when a job has a core. */
static bool has_core(const mr__lending_core *c, uint32_t job, double *from, double *to)
{
    *from = 0;
    *to = INFINITY;
    if (c->to == job && c->home == job)
        return true;
    if (c->to == job)
        *to = c->until_ns;
    else if (c->home == job)
        *from = c->until_ns;
    else
        return false;
    return true;
}

/* Core time that a job has until then; *next is when its number of cores changes. */
static double time_until(const mr__lending *l, uint32_t job, double at, double *next, double *rate)
{
    double sum = 0, from, to;
    *next = INFINITY;
    *rate = 0;
    for (size_t i = 0; i < l->core_count; i++) {
        if (!has_core(&l->cores[i], job, &from, &to))
            continue;
        if (at > from)
            sum += (at < to ? at : to) - from;
        *rate += at >= from && at < to;
        if (from > at && from < *next)
            *next = from;
        if (to > at && to < *next)
            *next = to;
    }
    return sum;
}

static double ready_with(const mr__lending *l, uint32_t job, double work)
{
    double at = 0, next, rate;
    while (work > 0) {
        double left = work - time_until(l, job, at, &next, &rate);
        if (rate > 0 && at + left / rate <= next)
            return at + left / rate;
        if (isinf(next))
            return INFINITY;
        at = next;
    }
    return 0;
}

double mr__lending_ready(const mr__lending *l, uint32_t job)
{
    return ready_with(l, job, urgent_work(l, job, poorest(l)));
}

static uint32_t last_job(const mr__lending *l, uint32_t least, double *latest)
{
    uint32_t last = 0;
    *latest = 0;
    for (uint32_t j = 0; j < l->job_count; j++) {
        double ready = ready_with(l, j, urgent_work(l, j, least));
        if (ready > *latest) {
            last = j;
            *latest = ready;
        }
    }
    return last;
}

double mr__lending_latest(const mr__lending *l)
{
    double latest;
    (void)last_job(l, poorest(l), &latest);
    return latest;
}

/* A batch of the job, on its own cores alone. */
static double alone_ns(const mr__lending *l, uint32_t job)
{
    size_t cores = 0;
    for (size_t i = 0; i < l->core_count; i++)
        cores += l->cores[i].home == job;
    return l->jobs[job].batch_ns / (double)(cores != 0 ? cores : 1);
}

/* All have something to do, and about as much in each batch. */
static bool are_alike(const mr__lending *l)
{
    double least = INFINITY, most = 0;
    for (uint32_t j = 0; j < l->job_count; j++)
        if (l->jobs[j].reserve == MR__LENDING_IDLE)
            return false;
    for (uint32_t j = 0; j < l->job_count; j++)
        if (l->jobs[j].known) {
            least = fmin(least, alone_ns(l, j));
            most = fmax(most, alone_ns(l, j));
        }
    return most <= MR__LENDING_ALIKE * least;
}

/* What moves have to gain: the dearest batch and sample of those in a hurry count. */
static double hysteresis(const mr__lending *l, uint32_t least)
{
    double most = 0, share = are_alike(l) ? MR__LENDING_ALIKE_SHARE : MR__LENDING_SHARE;
    for (uint32_t j = 0; j < l->job_count; j++) {
        const mr__lending_job *job = &l->jobs[j];
        double one = share * alone_ns(l, j) + MR__LENDING_SAMPLES * job->sample_ns;
        if (urgent_work(l, j, least) > 0 && one > most)
            most = one;
    }
    return most;
}

static bool takes_part(const mr__lending *l, const mr__lending_core *c)
{
    return c->home < l->job_count && l->jobs[c->home].known;
}

static void send_home(mr__lending_core *c)
{
    c->to = c->home;
    c->until_ns = 0;
}

/* The time in which all would be done if work flowed like water. */
static double pooled_ns(const mr__lending *l, uint32_t least)
{
    double work = 0, cores = 0;
    for (uint32_t j = 0; j < l->job_count; j++)
        work += urgent_work(l, j, least);
    for (size_t i = 0; i < l->core_count; i++)
        cores += takes_part(l, &l->cores[i]);
    return cores > 0 ? work / cores : 0;
}

/* A plan that is being made: who can give how much core time and who lacks it (a minus), and the sockets of each. */
typedef struct planning {
    mr__lending plan;
    const mr__lending_core *before;
    uint32_t least;
    double by;
    double open_ns[MR__LENDING_JOBS_MAX];
    uint64_t sockets[MR__LENDING_JOBS_MAX];
} planning;

static uint64_t socket_bit(const mr__lending_core *c)
{
    return UINT64_C(1) << (c->socket % 64);
}

/* All home. */
static void begin_plan(planning *p)
{
    p->by = pooled_ns(&p->plan, p->least);
    for (uint32_t j = 0; j < p->plan.job_count; j++) {
        p->open_ns[j] = -urgent_work(&p->plan, j, p->least);
        p->sockets[j] = 0;
    }
    for (size_t i = 0; i < p->plan.core_count; i++) {
        mr__lending_core *c = &p->plan.cores[i];
        send_home(c);
        if (!takes_part(&p->plan, c))
            continue;
        p->open_ns[c->home] += p->by;
        p->sockets[c->home] |= socket_bit(c);
    }
}

typedef struct loan {
    size_t core;
    uint32_t to;
    double length, goodness;
} loan;

/* Same socket first; then where it is already, so that less moves; then the longest. */
static double rate_loan(const planning *p, size_t core, uint32_t to, double length)
{
    const double near = 1e18, there = 5e17;
    bool is_near = (p->sockets[to] & socket_bit(&p->plan.cores[core])) != 0;
    return length + (is_near ? near : 0) + (p->before[core].to == to ? there : 0);
}

/* The best loan to a job that the plan has not got yet. */
static loan find_loan(const planning *p, uint32_t to)
{
    loan best = {.goodness = 0};
    double lacks = -p->open_ns[to], floor = MR__LENDING_SAMPLES * p->plan.jobs[to].sample_ns;
    for (size_t i = 0; i < p->plan.core_count; i++) {
        const mr__lending_core *c = &p->plan.cores[i];
        if (c->to != c->home || c->home == to || !takes_part(&p->plan, c))
            continue;
        double length = fmin(fmin(p->open_ns[c->home], lacks), p->by);
        double goodness = rate_loan(p, i, to, length);
        if (length > floor && length > 0 && goodness > best.goodness)
            best = (loan){i, to, length, goodness};
    }
    return best;
}

/* The job that lacks most, of those that somebody can still lend to; the loan is good for nothing if there is none. */
static loan find_next(const planning *p)
{
    loan best = {.goodness = 0};
    double most = 0;
    for (uint32_t to = 0; to < p->plan.job_count; to++) {
        if (-p->open_ns[to] <= most)
            continue;
        loan one = find_loan(p, to);
        if (one.goodness <= 0)
            continue;
        best = one;
        most = -p->open_ns[to];
    }
    return best;
}

/* From all home, the loans that let everyone be ready at the same time. */
static void make_plan(planning *p)
{
    begin_plan(p);
    for (;;) {
        loan next = find_next(p);
        if (next.goodness <= 0)
            return;
        mr__lending_core *c = &p->plan.cores[next.core];
        bool spare = urgent_work(&p->plan, c->home, p->least) <= 0; // in no hurry, while a prediction may be short
        c->to = next.to;
        c->until_ns = spare ? 2 * next.length : next.length;
        p->open_ns[c->home] -= next.length;
        p->open_ns[c->to] += next.length;
    }
}

/*
 * A core has one loan at a time, so that where few cores are shared by many a plan can miss what water could do by
 * much. Then whole cores go to who would be last, one by one, while that helps.
 */
static void improve_plan(planning *p)
{
    double latest, tried;
    for (size_t turn = 0; turn < p->plan.core_count; turn++) {
        uint32_t last = last_job(&p->plan, p->least, &latest);
        size_t best = SIZE_MAX;
        if (latest <= (1 + MR__LENDING_SHARE) * p->by)
            return;
        for (size_t i = 0; i < p->plan.core_count; i++) {
            mr__lending_core *c = &p->plan.cores[i], was = *c;
            if (!takes_part(&p->plan, c))
                continue;
            *c = (mr__lending_core){.home = c->home, .to = last, .until_ns = 2 * latest, .socket = c->socket};
            (void)last_job(&p->plan, p->least, &tried);
            *c = was;
            if (tried < latest) {
                latest = tried;
                best = i;
            }
        }
        if (best == SIZE_MAX)
            return;
        p->plan.cores[best].to = last;
        p->plan.cores[best].until_ns = 2 * latest;
    }
}

/* A core whose borrower has nothing urgent to do with it, or is not there, goes home. */
static size_t recall_unused(mr__lending *l, uint32_t least)
{
    size_t count = 0;
    for (size_t i = 0; i < l->core_count; i++) {
        mr__lending_core *c = &l->cores[i];
        bool lent = c->to != c->home, used = c->to < l->job_count && urgent_work(l, c->to, least) > 0;
        if (lent && (!used || !takes_part(l, c))) {
            send_home(c);
            count++;
        }
    }
    return count;
}

/* A long loan is cut, and made again when it ends. */
static size_t adopt(mr__lending *l, const mr__lending_core *cores)
{
    size_t changed = 0;
    for (size_t i = 0; i < l->core_count; i++) {
        double until = fmin(cores[i].until_ns, MR__LENDING_LOAN_NS);
        changed += l->cores[i].to != cores[i].to || (cores[i].to != cores[i].home && until != l->cores[i].until_ns);
        l->cores[i].to = cores[i].to;
        l->cores[i].until_ns = until;
    }
    return changed;
}

size_t mr__lending_decide(mr__lending *l, mr__lending_core *spare)
{
    planning p = {{l->jobs, l->job_count, spare, l->core_count}, l->cores, poorest(l), 0, {0}, {0}};
    if (l->core_count == 0 || l->job_count > MR__LENDING_JOBS_MAX)
        return 0;
    size_t changed = recall_unused(l, p.least);
    double now = mr__lending_latest(l);
    memcpy(spare, l->cores, l->core_count * sizeof *spare);
    make_plan(&p);
    improve_plan(&p);
    double then = mr__lending_latest(&p.plan);
    if (now - then > hysteresis(l, p.least) || (isinf(now) && !isinf(then)))
        return changed + adopt(l, spare);
    for (size_t i = 0; i < l->core_count; i++)
        send_home(&spare[i]);
    if (mr__lending_latest(&p.plan) < now)
        changed += adopt(l, spare);
    return changed;
}
