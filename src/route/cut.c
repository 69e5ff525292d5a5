// SPDX-License-Identifier: Apache-2.0
#include "route/cut.h"

#include <math.h>

/* A mix of more cuts has to be better by so much: what is equal is not to depend on rounding. */
static const double CLEARLY = 1e-9;

const char *mr__cut_name(mr__cut cut)
{
    static const char *const names[] = {"stored", "decoded", "done"};
    return (unsigned)cut < MR__CUTS ? names[cut] : "";
}

/* 1. What a sample takes. */

static mr__cut_way make_way(const mr__cut_costs *c, double host_ns, double work_ns, double nbytes)
{
    double link = c->link_gbs > 0 ? nbytes / c->link_gbs : 0, device = work_ns + c->launch_ns;
    mr__cut_way way = {.host_ns = (float)host_ns};
    if (c->copying == MR__COPYING_BEFORE)
        device += link;
    else if (c->copying == MR__COPYING_WITHIN)
        device = (work_ns > link ? work_ns : link) + c->launch_ns;
    else
        way.link_ns = (float)link;
    way.device_ns = (float)device;
    return way;
}

void mr__cut_ways(const mr__cut_costs *c, mr__cut_way ways[MR__CUTS])
{
    double back = c->at_host ? c->done_nbytes : 0, decode = c->host_decode_ns;
    double steps = c->device_steps_ns;
    ways[MR__CUT_STORED] = make_way(c, 0, c->device_decode_ns + steps, c->stored_nbytes + back);
    ways[MR__CUT_DECODED] = make_way(c, decode, steps, c->decoded_nbytes + back);
    ways[MR__CUT_DONE] = make_way(c, decode + c->host_steps_ns, 0, c->done_nbytes);
    if (c->at_host)
        ways[MR__CUT_DONE].device_ns = ways[MR__CUT_DONE].link_ns = 0;
}

float mr__cut_way_ns(const mr__cut_way *way)
{
    return way->device_ns > way->link_ns ? way->device_ns : way->link_ns;
}

/* 2. The program. */

static double takes_ns(const mr__cut_way *way, int resource)
{
    return resource == MR__CUT_HOST ? way->host_ns : resource == MR__CUT_DEVICE ? way->device_ns : way->link_ns;
}

/* How long each resource is busy if all samples cross at one cut: the planes' heights at the corners. */
typedef struct heights {
    double at[MR__CUT_RESOURCES][MR__CUTS];
    bool allowed[MR__CUTS];
} heights;

static heights measure(const mr__cut_problem *p)
{
    heights h;
    for (int k = 0; k < MR__CUTS; k++) {
        h.allowed[k] = p->allowed == 0 || (p->allowed >> k & 1) != 0;
        for (int r = 0; r < MR__CUT_RESOURCES; r++) {
            double ns = p->ahead_ns[r] + p->count * takes_ns(&p->ways[k], r);
            h.at[r][k] = ns > 0 ? ns / p->lanes[r] : 0; // no lanes, and nothing for them: no time
            h.allowed[k] = h.allowed[k] && isfinite(h.at[r][k]);
        }
    }
    return h;
}

static double time_of(const heights *h, const double share[MR__CUTS])
{
    double most = 0;
    for (int r = 0; r < MR__CUT_RESOURCES; r++) {
        double ns = 0;
        for (int k = 0; k < MR__CUTS; k++)
            if (share[k] > 0)
                ns += share[k] * h->at[r][k];
        most = ns > most ? ns : most;
    }
    return most;
}

double mr__cut_time_ns(const mr__cut_problem *p, const double share[MR__CUTS])
{
    heights h = measure(p);
    return time_of(&h, share);
}

static void consider(const heights *h, const double share[MR__CUTS], mr__cut_plan *best)
{
    double ns = time_of(h, share);
    if (!(ns < best->ns * (1 - CLEARLY)) && !(isinf(best->ns) && isfinite(ns)))
        return;
    best->ns = ns;
    for (int k = 0; k < MR__CUTS; k++)
        best->share[k] = share[k];
}

/* Where the planes of two resources meet on the edge between two cuts. */
static void try_edge(const heights *h, int a, int b, mr__cut_plan *best)
{
    for (int r = 0; r < MR__CUT_RESOURCES; r++)
        for (int q = r + 1; q < MR__CUT_RESOURCES; q++) {
            double at_a = h->at[r][a] - h->at[q][a], at_b = h->at[r][b] - h->at[q][b];
            if (!(at_a * at_b < 0))
                continue;
            double share[MR__CUTS] = {0};
            share[a] = at_b / (at_b - at_a);
            share[b] = 1 - share[a];
            consider(h, share, best);
        }
}

/* Where all three meet: x.u = x.v = 0, so x is along the cross product of both, whose sum has to be 1. */
static void try_inside(const heights *h, mr__cut_plan *best)
{
    double u[MR__CUTS], v[MR__CUTS], share[MR__CUTS], sum = 0;
    for (int k = 0; k < MR__CUTS; k++) {
        u[k] = h->at[MR__CUT_HOST][k] - h->at[MR__CUT_DEVICE][k];
        v[k] = h->at[MR__CUT_DEVICE][k] - h->at[MR__CUT_LINK][k];
    }
    for (int k = 0; k < MR__CUTS; k++) {
        int i = (k + 1) % MR__CUTS, j = (k + 2) % MR__CUTS;
        share[k] = u[i] * v[j] - u[j] * v[i];
        sum += share[k];
    }
    if (sum == 0)
        return;
    bool inside = true;
    for (int k = 0; k < MR__CUTS; k++) {
        share[k] /= sum;
        inside = inside && share[k] > 0 && share[k] < 1;
    }
    if (inside)
        consider(h, share, best);
}

mr__cut_plan mr__cut_choose(const mr__cut_problem *p)
{
    mr__cut_plan best = {.ns = INFINITY};
    heights h = measure(p);
    for (int k = MR__CUTS; k-- != 0;) {
        double share[MR__CUTS] = {0};
        share[k] = 1;
        if (h.allowed[k])
            consider(&h, share, &best);
    }
    for (int a = 0; a < MR__CUTS; a++)
        for (int b = a + 1; b < MR__CUTS; b++)
            if (h.allowed[a] && h.allowed[b])
                try_edge(&h, a, b, &best);
    if (h.allowed[MR__CUT_STORED] && h.allowed[MR__CUT_DECODED] && h.allowed[MR__CUT_DONE])
        try_inside(&h, &best);
    return best;
}

mr__cut_plan mr__cut_at(const mr__cut_problem *p, mr__cut cut)
{
    mr__cut_problem only = *p;
    only.allowed = 1u << cut | 1u << MR__CUT_DONE;
    return mr__cut_choose(&only);
}
