// SPDX-License-Identifier: Apache-2.0
#include "sched_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1e6

enum { AUTO, INTERBATCH, INTRABATCH, NAIVE };

typedef struct useless {
    const char *name;
    double speed;
    uint64_t launch_ns, memory_nbytes;
} useless;

/* C2. */
void run_useless(const options *o)
{
    static const useless list[] = {
        {"100x slower", 0.01, 300000, 0},
        {"launch 50 ms, S 1", 1, 50000000, 0},
        {"launch 50 ms, S 16", 16, 50000000, 0},
        {"memory for one image", 4, 300000, 100},
        {"all of these, 100x", 0.01, 50000000, 100},
    };
    static play p;
    bool kept = true;
    predict(
        o, "useless",
        "auto <= 1.02 of the better of host and accelerator alone, told or learning from nothing (C2); naive-device\n"
        "    hundreds of times that at 100x slower; fusion gives the accelerator its last five tasks whatever it "
        "takes");
    print_head(o, "time over that of the better device alone", "");
    for (int learns = 0; learns < 2; learns++)
        for (mr__load_kind kind = 0; kind < MR__LOADS; kind++)
            for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
                double ratios[POLICIES];
                char where[64];
                play_init(&p, o, 4, list[i].speed, kind, 240, o->quick ? 20 : 120);
                p.hardware.devices[1].launch_ns = list[i].launch_ns;
                p.hardware.devices[1].memory_nbytes = list[i].memory_nbytes;
                p.load.need_nbytes = 100;
                p.rig.learns = learns != 0;
                p.rig.apart = false;
                for (uint32_t k = 0; k < POLICIES; k++) {
                    play_run(&p, k);
                    ratios[k] = p.result.seconds;
                }
                double best = ratios[INTRABATCH] < ratios[NAIVE] ? ratios[INTRABATCH] : ratios[NAIVE];
                for (uint32_t k = 0; k < POLICIES; k++)
                    ratios[k] /= best;
                kept = kept && ratios[AUTO] <= 1.02;
                snprintf(where, sizeof where, "%s %s, %s", mr__load_name(kind), list[i].name,
                         learns != 0 ? "learned" : "told");
                print_row(o, "useless", where, ratios, "");
            }
    judge(o, "useless", "C2, auto", kept);
}

/* C3. */
void run_freeze(const options *o)
{
    static play p;
    bool kept = true;
    predict(
        o, "freeze",
        "one lane stops for 1 s, 50 ms into a batch of 500 heavy-tailed samples: the batch is there when the lane's\n"
        "    one task is (at 1050 ms and what is left of it), or when others have done the rest, + 5 % (C3)");
    print_head(o, "ms of the batch (usually, for auto: last column)", "usually");
    for (uint32_t device = 0; device < 2; device++)
        for (size_t s = 0; s < SPEEDS; s += 2) {
            double spans[POLICIES], usual[POLICIES];
            char where[64], unit[32];
            for (uint32_t k = 0; k < POLICIES; k++) {
                play_init(&p, o, 4, speeds[s], MR__LOAD_HEAVY, 500, 0);
                p.rig.batches = 3;
                play_run(&p, k);
                usual[k] = play_span(&p, 1) / MS;
                uint64_t from = p.opened_ns[1] + 50000000;
                p.hardware.devices[device].fault_count = 1;
                p.hardware.devices[device].faults[0] =
                    (mr__fault){.kind = MR__FAULT_FREEZE, .lane = 1, .from_ns = from, .until_ns = from + 1000000000};
                play_run(&p, k);
                spans[k] = play_span(&p, 1) / MS;
            }
            double speed = device == 0 ? 1 : speeds[s], lost = 1000 * speed / (4 + speeds[s]), largest = 0;
            for (uint64_t n = 500; n < 1000; n++) {
                mr__rig_sample sample;
                mr__load_sample(&p.load, n, &sample);
                largest = sample.core_ns > largest ? sample.core_ns : largest;
            }
            double held = 1050 + largest / MS / speed;
            kept = kept && spans[AUTO] <= 1.05 * (held > usual[AUTO] + lost ? held : usual[AUTO] + lost);
            snprintf(where, sizeof where, "%s lane, S %g", device == 0 ? "a host's" : "the accelerator's", speeds[s]);
            snprintf(unit, sizeof unit, "%.0f", usual[AUTO]);
            print_row(o, "freeze", where, spans, unit);
        }
    judge(o, "freeze", "C3, auto", kept);
}

enum { STEADY = 12, AFTER = 6, SEEDS = 8 };

/* The time of three batches, three after a change, over what they take where it was always so. */
static double change(play *p, const options *o, uint32_t policy, double s, mr__load_kind kind, double factor)
{
    double took = 0, steady = 0;
    for (uint64_t seed = 1; seed <= (o->quick ? 1 : SEEDS); seed++) {
        mr__fault slow = {.kind = MR__FAULT_SLOW, .factor = factor};
        uint64_t at = factor > 0 ? STEADY : 0;
        play_init(p, o, 4, s, kind, 240, 0);
        mr__hardware_device *device = &p->hardware.devices[1];
        p->rig.batches = STEADY + AFTER;
        p->rig.learns = true;
        p->load.seed += seed;
        device->faults[0] = slow;
        device->fault_count = factor > 0;
        play_run(p, policy);
        for (uint64_t b = 3; b < AFTER; b++)
            steady += play_span(p, STEADY + b);
        if (factor > 0) {
            device->fault_count = 0;
            play_run(p, policy);
            device->faults[0].from_ns = p->opened_ns[STEADY];
            device->fault_count = 1;
        } else {
            p->offset = (uint64_t)STEADY * p->rig.batch;
            p->rig.batches = AFTER;
        }
        play_run(p, policy);
        for (uint64_t b = 3; b < AFTER; b++)
            took += play_span(p, at + b);
    }
    return took / steady;
}

/* C5. */
void run_change(const options *o)
{
    static play p;
    static const char *const names[] = {"cold start", "4x slower", "4x faster"};
    static const double factors[] = {0, 4, 0.25};
    bool kept = true;
    predict(o, "change",
            "batches 4 to 6 after a cold start, or after the accelerator became 4x slower or faster, take <= 1.05 of\n"
            "    what they take where it was always so, for auto (C5); policies that do not look at costs take 1.00");
    print_head(o, "time of batches 4 to 6 over the steady time", "");
    for (mr__load_kind kind = 0; kind < MR__LOADS; kind++)
        for (size_t i = 0; i < 3; i++)
            for (size_t s = 0; s < SPEEDS; s += 2) {
                double ratios[POLICIES];
                char where[64];
                for (uint32_t k = 0; k < POLICIES; k++)
                    ratios[k] = change(&p, o, k, speeds[s], kind, factors[i]);
                kept = kept && ratios[AUTO] <= 1.05;
                snprintf(where, sizeof where, "%s %s, S %g", mr__load_name(kind), names[i], speeds[s]);
                print_row(o, "change", where, ratios, "");
            }
    judge(o, "change", "C5, auto", kept);
}

/* C6. */
void run_dear(const options *o)
{
    static play p;
    static uint64_t usual_ns[BATCHES_MAX];
    bool kept = true;
    predict(o, "dear",
            "one sample 100x as dear, in batch 5 of a stream of 240 samples each: its batch is late by at most the\n"
            "    sample's time on the best lane (last column), later ones by its time over W + S lanes (C6); policies "
            "that\n"
            "    take it late, or on a slow lane, hold up all that follows");
    print_head(o, "ms that its batch is late", "on the best lane");
    for (size_t s = 0; s < SPEEDS; s++) {
        double late[POLICIES], after[POLICIES];
        char where[64], unit[32];
        mr__rig_sample dear;
        for (uint32_t k = 0; k < POLICIES; k++) {
            play_init(&p, o, 4, speeds[s], MR__LOAD_RANDAUG, 240, 0);
            p.rig.batches = 20;
            p.rig.apart = false;
            play_run(&p, k);
            memcpy(usual_ns, p.ready_ns, sizeof usual_ns);
            p.load.dear = UINT64_MAX;
            p.load.dear_at = 5 * 240 + 100;
            p.load.times = 100;
            mr__load_sample(&p.load, p.load.dear_at, &dear);
            play_run(&p, k);
            late[k] = ((double)p.ready_ns[5] - (double)usual_ns[5]) / MS;
            after[k] = ((double)p.ready_ns[8] - (double)usual_ns[8]) / MS;
        }
        double best = dear.core_ns / MS / (speeds[s] > 1 ? speeds[s] : 1);
        kept = kept && late[AUTO] <= 1.05 * best && after[AUTO] <= 1.1 * dear.core_ns / MS / (4 + speeds[s]) + 5;
        snprintf(unit, sizeof unit, "%.1f", best);
        snprintf(where, sizeof where, "its batch, S %g", speeds[s]);
        print_row(o, "dear", where, late, unit);
        snprintf(where, sizeof where, "three later, S %g", speeds[s]);
        print_row(o, "dear", where, after, "");
    }
    judge(o, "dear", "C6, auto", kept);
}
