// SPDX-License-Identifier: Apache-2.0
/*
 * Where the pipeline is cut: in which state samples cross the link to an accelerator.
 *
 *     stored    its stored bytes cross; the accelerator decodes, and does the steps
 *     decoded   a host lane decodes, pixels cross, the accelerator does the steps
 *     done      a host lane does all; what it made crosses, if the accelerator is where batches are wanted
 *
 * Which is best depends on the link, on how scarce host lanes are beside the accelerator, and on sizes: a JPEG of
 * 110 kB is 1.2 MB decoded, 151 kB when it is done as bytes and 602 kB as floats. All here is ours.
 *
 * A sample that crosses at cut k takes h_k of a host lane, d_k of an accelerator's lane and l_k of the link. With W
 * host lanes, L lanes and C copies at once, a batch of n samples of which the share x_k crosses at cut k takes
 *
 *     T(x) = max( (H + n x.h) / W,  (D + n x.d) / L,  (K + n x.l) / C ),    x_k >= 0,  sum of x = 1
 *
 * where H, D and K are what is under way already. No order of work can be quicker, and for more than a few samples a
 * good one comes close, so the best mix is the x of least T. T is the largest of three planes over a triangle: its
 * least value is at a corner of the triangle, on an edge where two of the planes meet, or inside where all three do.
 * These are 3 + 3 x 3 + 1 points, each in closed form: the least of them is the answer. (At another point either one
 * plane alone is the largest, and one can walk downhill on it; or two are, and one can walk downhill along the line
 * where they meet.)
 *
 * Pure functions: threads, ownership and limits: none.
 */
#ifndef MR_ROUTE_CUT_H
#define MR_ROUTE_CUT_H

#include <stdbool.h>

typedef enum mr__cut { MR__CUT_STORED, MR__CUT_DECODED, MR__CUT_DONE, MR__CUTS } mr__cut;

/* "stored". */
const char *mr__cut_name(mr__cut cut);

/* What a lane of the accelerator does while its samples cross the link. */
typedef enum mr__copying {
    MR__COPYING_BEFORE, /* waits: a sample takes it the copy and then the work */
    MR__COPYING_WITHIN, /* a sample takes it the longer of both */
    MR__COPYING_BESIDE  /* works on others: the link is busy by itself */
} mr__copying;

/* Of a sample, in the mean. */
typedef struct mr__cut_costs {
    double host_decode_ns, host_steps_ns;
    double device_decode_ns, device_steps_ns; /* INFINITY: it cannot */
    double launch_ns;                         /* its share of a submission to the accelerator */
    double stored_nbytes, decoded_nbytes, done_nbytes;
    double link_gbs; /* 1e9 bytes a second; 0: nothing to cross */
    mr__copying copying;
    bool
        at_host; /* batches are wanted in the host's memory: what the accelerator made crosses back, not what others did
                  */
} mr__cut_costs;

/* What a sample takes of each resource when it crosses at a cut. */
typedef struct mr__cut_way {
    float host_ns, device_ns, link_ns;
} mr__cut_way;

void mr__cut_ways(const mr__cut_costs *costs, mr__cut_way ways[MR__CUTS]);

/* How long a lane of the accelerator has to do with such a sample; 0: nothing crosses. */
float mr__cut_way_ns(const mr__cut_way *way);

enum { MR__CUT_HOST, MR__CUT_DEVICE, MR__CUT_LINK, MR__CUT_RESOURCES };

typedef struct mr__cut_problem {
    mr__cut_way ways[MR__CUTS]; /* of a sample, in the mean */
    double count;               /* samples */
    double lanes[MR__CUT_RESOURCES];
    double ahead_ns[MR__CUT_RESOURCES]; /* what all lanes together have to do before */
    unsigned allowed;                   /* 1 << cut; 0: all */
} mr__cut_problem;

typedef struct mr__cut_plan {
    double ns; /* until all is done; INFINITY: it cannot be */
    double share[MR__CUTS];
} mr__cut_plan;

/* T(x): how long a batch takes that is dealt out so. */
double mr__cut_time_ns(const mr__cut_problem *problem, const double share[MR__CUTS]);

/* The best shares; of equally good ones, those with the fewest cuts. */
mr__cut_plan mr__cut_choose(const mr__cut_problem *problem);

/* The best when what crosses to be worked on there crosses at this cut, and host lanes do the others. */
mr__cut_plan mr__cut_at(const mr__cut_problem *problem, mr__cut cut);

/* What is to be tried, instead of what is best. Zero: the best of all. */
typedef struct mr__cut_rule {
    unsigned allowed; /* 1 << cut; 0: all */
    bool fixed;       /* these shares, whatever they cost: */
    double share[MR__CUTS];
} mr__cut_rule;

#endif
