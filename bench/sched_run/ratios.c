// SPDX-License-Identifier: Apache-2.0
#include "sched_run.h"

#include <math.h>
#include <stdio.h>

static const uint32_t lanes[] = {4, 2, 16}, sizes[] = {80, 240, 500};

/* C1's limit for `auto`: heavy-tailed costs, four lanes. */
static double limit_of(uint32_t batch)
{
    return batch < 240 ? 1.10 : 1.05;
}

static bool run_cell(const options *o, mr__load_kind kind, uint32_t w, uint32_t batch, double s)
{
    static play p;
    double ratios[POLICIES], seconds = 0;
    char where[64], unit[64];
    play_init(&p, o, w, s, kind, batch, o->quick ? 4 : 100);
    for (uint32_t i = 0; i < POLICIES; i++) {
        play_run(&p, i);
        ratios[i] = p.result.span_ratio;
        if (i == 0)
            seconds = p.result.span_seconds;
    }
    snprintf(where, sizeof where, "%s W %u n %u S %g", mr__load_name(kind), w, batch, s);
    snprintf(unit, sizeof unit, "%.3f", seconds * 1e9 / play_bound_with_launch(&p));
    print_row(o, "bounds", where, ratios, unit);
    return kind != MR__LOAD_HEAVY || w != 4 || ratios[0] <= limit_of(batch);
}

void run_bounds(const options *o)
{
    bool kept = true;
    predict(
        o, "bounds",
        "auto <= 1.05 of the bound for 240 and 500 heavy-tailed samples, <= 1.10 for 80, W = 4, all S (C1); fusion\n"
        "    falls behind where tasks of 4 samples are long beside the batch: small batches, S near 1 (+45 to +94 %\n"
        "    was predicted of a fixed tail); interbatch takes W + S times, intrabatch (W + S)/W, naive-device\n"
        "    (W + S)/S. Light costs at S = 16 cannot reach 1.05 of a bound that leaves the launch out: the\n"
        "    accelerator does a sample in 0.13 ms, its launch takes 0.3; the last column has one launch in the bound.");
    print_head(o, "mean time of a batch over its bound", "auto, launch in");
    for (mr__load_kind kind = 0; kind < MR__LOADS; kind++)
        for (size_t w = 0; w < (o->quick ? 1 : 3); w++)
            for (size_t n = 0; n < (o->quick ? 1 : 3); n++)
                for (size_t s = 0; s < SPEEDS; s++)
                    kept = run_cell(o, kind, lanes[w], sizes[n], speeds[s]) && kept;
    judge(o, "bounds", "C1, auto", kept);
}

/* Three slots, and somebody who takes a batch at once. */
void run_streams(const options *o)
{
    static play p;
    bool kept = true;
    predict(
        o, "streams",
        "auto >= 0.96 (W + S/1.05)/(W + S): launches take 5 % of the accelerator's time (C7), tails a little more,\n"
        "    as the next batch fills what they leave free; intrabatch W/(W + S), naive-device S/(W + S) less its "
        "launches;\n"
        "    interbatch W/(W + S) at best, and 3 slots let 3 of W lanes work; fusion between these, worst where the\n"
        "    accelerator is slow and gets the last five tasks of four");
    print_head(o, "samples x mean cost over W + S lanes", "");
    for (mr__load_kind kind = 0; kind < MR__LOADS; kind++)
        for (size_t w = 0; w < (o->quick ? 1 : 3); w++)
            for (size_t s = 0; s < SPEEDS; s += o->quick ? 3 : 1) {
                double rates[POLICIES];
                char where[64];
                play_init(&p, o, lanes[w], speeds[s], kind, 240, o->quick ? 8 : 100);
                p.rig.apart = false;
                double work = 0;
                for (uint64_t n = 0; n < p.rig.batch * p.rig.batches; n++) {
                    mr__rig_sample sample;
                    mr__load_sample(&p.load, n, &sample);
                    work += sample.core_ns / 1e9;
                }
                for (uint32_t i = 0; i < POLICIES; i++) {
                    play_run(&p, i);
                    rates[i] = work / p.result.seconds / (lanes[w] + speeds[s]);
                }
                kept = kept && rates[0] >= 0.96 * (lanes[w] + speeds[s] / 1.05) / (lanes[w] + speeds[s]);
                snprintf(where, sizeof where, "%s W %u n 240 S %g", mr__load_name(kind), lanes[w], speeds[s]);
                print_row(o, "streams", where, rates, "");
            }
    judge(o, "streams", "auto", kept);
}
