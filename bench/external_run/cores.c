// SPDX-License-Identifier: Apache-2.0
/*
 * Cores for a target. From [proto]: batches of 500, t = 0.266 s, an iteration of 2.978 s with PyTorch's loader.
 * Assumed: that 4 workers, of which [proto] speaks elsewhere, were busy all that time (C = 11.9 core seconds), S, d,
 * and all of the network.
 */
#include "external.h"

#include <math.h>
#include <stdio.h>

enum { BATCHES = 48, BATCHES_AUTO = 600, LOCAL = 4 };

static point proto_point(double speed)
{
    return (point){.batch = 500,
                   .cores = LOCAL,
                   .speed = speed,
                   .core_s = LOCAL * 2.978,
                   .step_s = 0.266,
                   .slowing = 0.1,
                   .costs = COSTS_EVEN};
}

static point with_network(point p)
{
    p.link_nbytes = 602112; // 224 x 224 x 3 of float32
    p.link_gbs = 3.125;     // 25 Gb/s
    p.launch_s = 0.0002;
    p.receive_s = 0.00025; // copied twice, by the system and into its slot
    return p;
}

static double whole(uint32_t cores)
{
    return cores == UINT32_MAX ? INFINITY : cores;
}

/* Cores of all machines: remote ones come on top of those here. */
static double all_cores(way_of way, const point *p, double cores)
{
    point at = *p;
    if (way != WAY_REMOTE || !isfinite(cores))
        return cores;
    at.remote = (uint32_t)cores;
    return LOCAL + cores + receiving_cores(&at);
}

static void show_way(report *r, way_of way, point p, double ratio)
{
    double target = ratio * p.step_s, alone = whole(full_cores(WAY_CPU, &p, target));
    if (way == WAY_REMOTE)
        p = with_network(p);
    report_number(r, p.speed, 0);
    report_number(r, ratio, 2);
    report_text(r, way_name(way));
    double fraction = plain_cores(way, &p, target);
    uint32_t expected = full_cores(way, &p, target);
    report_number(r, way == WAY_REMOTE && isfinite(fraction) ? LOCAL + fraction : fraction, 1);
    report_number(r, all_cores(way, &p, whole(expected)), way == WAY_REMOTE ? 1 : 0);
    uint32_t found = play_cores(way, &p, target, way == WAY_AUTO ? BATCHES_AUTO : BATCHES);
    double all = all_cores(way, &p, whole(found));
    report_number(r, all, way == WAY_REMOTE ? 1 : 0);
    report_share(r, all / alone - 1);
    report_row(r);
    if (way == WAY_AUTO || way == WAY_FUSION)
        return;
    r->compared++;
    r->apart += found != expected;
}

void show_cores(report *r)
{
    static const char *const columns[] = {"S",
                                          "T/t",
                                          "way",
                                          "cores predicted, scheduling.md",
                                          "whole cores predicted, in full",
                                          "whole cores simulated",
                                          "against CPU only"};
    static const double speeds[] = {8, 16}, ratios[] = {1, 1.1, 1.5, 2, 3};
    report_table(r, "Cores needed at equal speed",
                 "[proto]: batch 500, t = 0.266 s, 2.978 s an iteration with PyTorch's loader. Assumed: C = 4 x "
                 "2.978 core seconds (4 workers, always busy), S, d = 0.1; for remote CPUs 4 cores here, 25 Gb/s, "
                 "602,112 bytes and "
                 "0.25 ms of a core here for each sample that comes, 0.2 ms a submission.\nPredicted: whole cores as "
                 "the closed form says (a target is reached within 1 %); at T = t exclusive use saves nothing. A host "
                 "has one core at least.",
                 columns, 7);
    for (unsigned i = r->quick ? 1 : 0; i < 2; i++)
        for (unsigned j = 0; j < 5; j += r->quick ? 3 : 1)
            for (way_of way = WAY_CPU; way < WAYS; way++)
                if (!r->quick || way != WAY_AUTO)
                    show_way(r, way, proto_point(speeds[i]), ratios[j]);
}

/* T(n) = max(P/n, t) + c of the prototype's authors, from n = 1 and 2. */
void show_threads(report *r)
{
    static const char *const columns[] = {
        "host threads",        "measured [proto], s",          "fitted on 1 and 2 [ours], s",
        "with t of the fit's", "max(P/n, t) simulated, and c", "away from measured"};
    static const double threads[] = {1, 2, 4, 8}, measured[] = {1.710, 0.903, 0.499, 0.357},
                        trained[] = {0.257, 0.259, 0.263, 0.266};
    double work = 2 * (measured[0] - measured[1]), rest = measured[0] - work, early = (trained[0] + trained[1]) / 2;
    char text[400];
    snprintf(text, sizeof text,
             "ResNet-18, batch 500, DALI [proto]. T(n) = max(P/n, t) + c through n = 1 and 2: P = %.3f, c = %.3f s. "
             "Predicted: 0.4995 at n = 4, 0.362 at n = 8 with the step that was measured there (0.266), 0.354 with "
             "that of n = 1 and 2 (0.258).",
             work, rest);
    report_table(r, "The authors' own threads", text, columns, 6);
    for (unsigned i = 0; i < 4; i++) {
        point p = {.batch = 500, .cores = (uint32_t)threads[i], .core_s = work, .step_s = trained[i]};
        report_number(r, threads[i], 0);
        report_number(r, measured[i], 3);
        report_number(r, full_iteration(WAY_CPU, &p) + rest, 4);
        report_number(r, fmax(work / threads[i], early) + rest, 4);
        p.costs = COSTS_EVEN;
        double simulated = play(WAY_CPU, &p, BATCHES).iteration_s + rest;
        report_number(r, simulated, 4);
        report_share(r, simulated / measured[i] - 1);
        report_row(r);
    }
}
