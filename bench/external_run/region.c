// SPDX-License-Identifier: Apache-2.0
/* Where published gains are attainable: the closed forms inverted, and played. Nothing is fitted to a headline. */
#include "external.h"

#include <math.h>
#include <stdio.h>

enum { BATCHES = 48, HOST = 4, BATCH = 500, EXTERNAL = 20, LOCAL = 4 };

#define CORE_S 0.008

static double gain_of(const point *p, way_of way)
{
    return play(WAY_CPU, p, BATCHES).iteration_s / play(way, p, BATCHES).iteration_s - 1;
}

/* A gain, and how far it is from the one that was asked for, as times of an iteration. */
static void compare_gain(report *r, double gain, double found)
{
    report_share(r, found);
    r->compared++;
    r->apart += !(fabs((1 + found) / (1 + gain) - 1) <= 2 * AGREES); // of two simulations
}

static void show_gain(report *r, double gain, double behind, double slowing, way_of way)
{
    bool waits = way == WAY_EXCLUSIVE;
    double speed = waits ? exclusive_speed(gain, behind) : overlapped_speed(gain, behind, slowing);
    report_share(r, gain);
    report_number(r, behind, 1);
    report_text(r, waits ? "exclusive" : slowing > 0 ? "overlapped, d = 0.1" : "overlapped, d = 0");
    report_share(r, behind - 1);
    report_number(r, speed, 2);
    report_number(r, speed * HOST, 1);
    if (isfinite(speed)) {
        point p = {.batch = BATCH, .cores = HOST, .speed = speed * HOST, .slowing = slowing, .costs = COSTS_EVEN};
        p.core_s = BATCH * CORE_S;
        p.step_s = p.core_s / (HOST * behind);
        compare_gain(r, gain, gain_of(&p, way));
        report_share(r, waits ? gain_of(&p, WAY_FUSION) : INFINITY);
    } else {
        report_text(r, "-");
        report_text(r, "-");
    }
    report_row(r);
}

void show_gains(report *r)
{
    static const char *const columns[] = {"gain [paper: 16 to 285 %]", "C/(W t)",           "mode",
                                          "gain of an endless S",      "S/W needed",        "S where W = 4",
                                          "`auto` simulated",          "`fusion` simulated"};
    static const double gains[] = {0.16, 0.5, 1, 2.85}, behind[] = {1.2, 1.5, 2, 4, 5, 8, 11.2};
    report_table(r, "Where +16 to +285 % over CPU only is attainable",
                 "With p = C/(W t), which says how far preparation is behind training, and s = S/W. Predicted: "
                 "exclusive, 1 + g = p (1 + s)/(p + s): needs p > 1 + g and s >= p g/(p - 1 - g); overlapped, 1 + g = "
                 "min(p/(1 + d), 1 + s): p >= (1 + g)(1 + d) and s >= g are enough, and a larger s where p is less, as "
                 "it disturbs for a shorter time. Assumed: W = 4, batch 500, all of p, s "
                 "and d; p = 11.2 is [proto]'s 2.978/0.266 with PyTorch's loader, if that is C/W over t.",
                 columns, 8);
    for (unsigned i = 0; i < 4; i += r->quick ? 3 : 1)
        for (unsigned j = 0; j < 7; j += r->quick ? 3 : 1) {
            show_gain(r, gains[i], behind[j], 0, WAY_EXCLUSIVE);
            show_gain(r, gains[i], behind[j], 0.1, WAY_OVERLAPPED);
        }
}

/* One row: with a share of the external cores, and the accelerator that makes up for the others. */
static void show_share(report *r, double share, double ratio, way_of way)
{
    bool waits = way == WAY_EXCLUSIVE;
    point p = {.batch = BATCH, .slowing = 0.1, .costs = COSTS_EVEN, .core_s = BATCH * CORE_S};
    double target = p.core_s / EXTERNAL, speed = share / (1 - 1 / ratio);
    p.step_s = target / ratio;
    p.cores = (uint32_t)(EXTERNAL * (1 - share) + 0.5);
    if (!waits) // a gain of C/W over T
        speed = overlapped_speed(1 / (1 - share) - 1, ratio / (1 - share), p.slowing) * (1 - share);
    report_share(r, -share);
    report_number(r, ratio, 2);
    report_text(r, waits ? "exclusive" : "overlapped, d = 0.1");
    report_number(r, speed, 2);
    report_number(r, speed * EXTERNAL, 1);
    report_number(r, target, 4);
    point servers = p;
    servers.cores = LOCAL;
    servers.remote = EXTERNAL - LOCAL;
    report_number(r, play(WAY_REMOTE, &servers, BATCHES).iteration_s, 4);
    if (isfinite(speed)) {
        p.speed = speed * EXTERNAL;
        double found = play(way, &p, BATCHES).iteration_s;
        report_number(r, found, 4);
        if (waits)
            report_number(r, play(WAY_FUSION, &p, BATCHES).iteration_s, 4);
        else
            report_text(r, "-");
        r->compared++;
        r->apart += !(fabs(found / target - 1) <= AGREES);
    } else {
        report_text(r, "-");
        report_text(r, "-");
    }
    report_row(r);
}

void show_fewer(report *r)
{
    static const char *const columns[] = {"CPUs [paper: -50 to -60 %]",
                                          "T/t",
                                          "mode",
                                          "S over the CPUs of external servers, needed",
                                          "S where they are 20",
                                          "T predicted",
                                          "T, external servers simulated",
                                          "T, `auto` simulated",
                                          "T, `fusion` simulated"};
    static const double ratios[] = {1, 1.05, 1.1, 1.5, 2, 4}, shares[] = {0.5, 0.6};
    report_table(r, "Where 50 to 60 % fewer CPUs than external servers are attainable",
                 "External servers need V = C/T CPUs in all (and some more to receive). Predicted: exclusive saves the "
                 "share f = (S/V)(1 - t/T) of them, so needs S/V = f/(1 - t/T): nothing is saved at the trainer's own "
                 "speed, T = t. Overlapped saves f = S/V where T >= t (1 + d), and needs a larger S between t and "
                 "that. Assumed: V = 20 of which 4 are here, a "
                 "link that does not bind, batch 500; that the paper counts all CPUs, and by `similar speed` means T.",
                 columns, 9);
    for (unsigned i = 0; i < 2; i += r->quick ? 2 : 1)
        for (unsigned j = 0; j < 6; j += r->quick ? 3 : 1) {
            show_share(r, shares[i], ratios[j], WAY_EXCLUSIVE);
            show_share(r, shares[i], ratios[j], WAY_OVERLAPPED);
        }
}
