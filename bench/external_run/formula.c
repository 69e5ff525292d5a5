// SPDX-License-Identifier: Apache-2.0
/*
 * Closed forms [ours], with t, d, C, W and S of external.h. In an iteration of T the host does W T of the work. The
 * accelerator does S (T - t) where it works only while the trainer waits, and S T where it works at all times; so
 *
 *     host alone    T = max(t, C/W)
 *     exclusive     T = max(t, (C + S t)/(W + S)), and t where C/W <= t, as then nobody waits
 *     overlapped    T = max(t (1 + d), C/(W + S))
 *
 * Where `overlapped` keeps up, the ring is full for a part of each step, and nobody prepares: the step is slowed down
 * for B = C/(W + S) of its time only. T - B + B/(1 + d) = t then, or T = t + B d/(1 + d), which is less than t (1 + d).
 *
 * Remote cores do m = min(R/(c + o), L/b) samples a second: c = C/n of a core each and o of a submission, b bytes of
 * the host's link of L. So W T + m T c = C, or
 *
 *     remote        T = max(t, C/(W + m c)), and m h more cores of the host, to receive what they made
 *
 * The prototype's policy is exclusive, and its closed form is that. What it loses on the way (tasks of 4 samples, a
 * control loop of 1 ms, and a tail that only the accelerator may do) is not in it.
 */
#include "external.h"

#include <math.h>

const char *way_name(way_of way)
{
    static const char *const names[WAYS] = {"CPU only",        "auto, exclusive",   "auto, overlapped",
                                            "auto, auto mode", "fusion, exclusive", "remote CPUs"};
    return names[way];
}

static double remote_rate(const point *p)
{
    double rate = p->remote / (p->core_s / p->batch + p->launch_s);
    double link = p->link_gbs > 0 ? p->link_gbs * 1e9 / p->link_nbytes : INFINITY;
    return rate < link ? rate : link;
}

static double remote_iteration(const point *p)
{
    return fmax(p->step_s, p->core_s / (p->cores + remote_rate(p) * p->core_s / p->batch));
}

double receiving_cores(const point *p)
{
    double rate = remote_rate(p), wanted = p->batch / p->step_s;
    return (rate < wanted ? rate : wanted) * p->receive_s;
}

/* While it waits, and a share u of the step's time (route/beside.h). 0: exclusive; 1: overlapped. */
static double duty_iteration(const point *p, double u)
{
    double step = p->step_s / (1 - u * p->slowing / (1 + p->slowing));
    return fmax(step, (p->core_s + (1 - u) * p->speed * step) / (p->cores + p->speed));
}

double plain_iteration(way_of way, const point *p)
{
    switch (way) {
    case WAY_CPU:
        return fmax(p->step_s, p->core_s / p->cores);
    case WAY_OVERLAPPED:
        return duty_iteration(p, 1);
    case WAY_REMOTE:
        return remote_iteration(p);
    case WAY_AUTO:
        return fmin(fmin(plain_iteration(WAY_EXCLUSIVE, p), duty_iteration(p, 1)),
                    fmin(duty_iteration(p, 0.25), duty_iteration(p, 0.5)));
    default:
        return duty_iteration(p, 0);
    }
}

double full_iteration(way_of way, const point *p)
{
    double plain = plain_iteration(way, p), busy = p->core_s / (p->cores + p->speed);
    switch (way) {
    case WAY_OVERLAPPED:
        return busy < p->step_s * (1 + p->slowing) ? p->step_s + busy * p->slowing / (1 + p->slowing) : plain;
    case WAY_AUTO:
        return fmin(plain, full_iteration(WAY_OVERLAPPED, p));
    default:
        return plain;
    }
}

double plain_cores(way_of way, const point *p, double target_s)
{
    double c = p->core_s / p->batch, remote;
    if (target_s < p->step_s || (way == WAY_OVERLAPPED && target_s < p->step_s * (1 + p->slowing)))
        return INFINITY;
    switch (way) {
    case WAY_CPU:
        return p->core_s / target_s;
    case WAY_OVERLAPPED:
        return fmax(0, p->core_s / target_s - p->speed);
    case WAY_REMOTE:
        remote = fmax(0, (p->core_s / target_s - p->cores) / c); // samples a second
        if (p->link_gbs > 0 && remote > p->link_gbs * 1e9 / p->link_nbytes)
            return INFINITY;
        return remote * (c + p->launch_s);
    case WAY_AUTO:
        return fmin(plain_cores(WAY_EXCLUSIVE, p, target_s), plain_cores(WAY_OVERLAPPED, p, target_s));
    default:
        return fmax(0, (p->core_s + p->speed * p->step_s) / target_s - p->speed);
    }
}

uint32_t full_cores(way_of way, const point *p, double target_s)
{
    point at = *p;
    uint32_t *cores = way == WAY_REMOTE ? &at.remote : &at.cores;
    for (*cores = way == WAY_REMOTE ? 0 : 1; *cores <= CORES_MAX; ++*cores)
        if (full_iteration(way, &at) <= target_s * (1 + REACHES))
            return *cores;
    return UINT32_MAX;
}

/* With p = C/(W t) and s = S/W: 1 + g = p (1 + s)/(p + s), so s = p g/(p - 1 - g). */
double exclusive_speed(double gain, double behind)
{
    return behind > 1 + gain ? behind * gain / (behind - 1 - gain) : INFINITY;
}

/* T/t = p/(1 + g) has to be reached: of p the accelerator is busy b, where T = t + t b d/(1 + d) or T = t b. */
double overlapped_speed(double gain, double behind, double slowing)
{
    double ratio = behind / (1 + gain), busy = ratio;
    if (!(ratio > 1) && !(ratio >= 1 && !(slowing > 0)))
        return INFINITY;
    if (ratio < 1 + slowing)
        busy = (ratio - 1) * (1 + slowing) / slowing;
    return behind / busy - 1;
}
