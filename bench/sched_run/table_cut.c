// SPDX-License-Identifier: Apache-2.0
/*
 * `bench/sched --table cut`: where samples cross to the accelerator, and how long a batch takes. First what the closed
 * form of src/route/cut.h says; then a simulation of each cut by itself, of every mix on a grid, and of the scheduler,
 * which chooses for itself. All times are virtual.
 */
#include "sched_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct sizes {
    const char *name;
    double decode_ns, steps_ns; /* of a core */
    double stored, decoded, done;
} sizes;

typedef struct row {
    const sizes *of;
    mr__hardware hardware;
    mr__rig_cut cut;
    mr__cut_problem problem;
    mr__cut_plan plan;
} row;

static const sizes kinds[] = {
    {"a photo, as bytes", 3.0e6, 1.5e6, 110e3, 1200e3, 151e3},
    {"a photo, as floats", 3.0e6, 1.5e6, 110e3, 1200e3, 602e3},
    {"a crop of it, dear steps", 3.0e6, 6.0e6, 110e3, 400e3, 151e3},
};
static const double links[] = {1, 5, 25};
static const struct {
    uint32_t lanes;
    double decode, steps;
} machines[] = {{4, 8, 32}, {4, 0.5, 32}, {16, 2, 8}};

enum { ROWS = 27 };

static row make_row(uint32_t i, uint32_t batch)
{
    row r = {.of = &kinds[i / 9], .hardware = {.device_count = 2}};
    mr__hardware_device *host = &r.hardware.devices[0], *far = &r.hardware.devices[1];
    (void)snprintf(host->name, sizeof host->name, "cpu");
    (void)snprintf(far->name, sizeof far->name, "accelerator");
    host->lanes = machines[i / 3 % 3].lanes;
    far->kind = MR__HARDWARE_ACCELERATOR;
    far->link_gbs = links[i % 3];
    far->link_overlaps = true;
    r.cut.decode_speed = machines[i / 3 % 3].decode;
    r.cut.steps_speed = machines[i / 3 % 3].steps;
    mr__cut_costs costs = {.host_decode_ns = r.of->decode_ns,
                           .host_steps_ns = r.of->steps_ns,
                           .device_decode_ns = r.of->decode_ns / r.cut.decode_speed,
                           .device_steps_ns = r.of->steps_ns / r.cut.steps_speed,
                           .stored_nbytes = r.of->stored,
                           .decoded_nbytes = r.of->decoded,
                           .done_nbytes = r.of->done,
                           .link_gbs = far->link_gbs,
                           .copying = MR__COPYING_WITHIN};
    r.problem = (mr__cut_problem){.count = batch, .lanes = {host->lanes, 1, 1}};
    mr__cut_ways(&costs, r.problem.ways);
    r.plan = mr__cut_choose(&r.problem);
    return r;
}

static void draw_sample(void *user, uint64_t number, mr__rig_sample *sample)
{
    const sizes *of = user;
    (void)number;
    sample->decode_ns = of->decode_ns;
    sample->core_ns = of->decode_ns + of->steps_ns;
    sample->stored_nbytes = (uint64_t)of->stored;
    sample->decoded_nbytes = (uint64_t)of->decoded;
    sample->done_nbytes = (uint64_t)of->done;
}

/* In milliseconds; < 0: it failed, and was said. */
static double play_cut(const row *r, const mr__cut_rule *rule, uint32_t batch)
{
    sizes of = *r->of;
    mr__rig_cut cut = r->cut;
    mr__rig_result result;
    mr__detail detail = {0};
    cut.rule = *rule;
    mr__rig_options o = {.hardware = &r->hardware,
                         .policy = &mr__policy_auto,
                         .batch = batch,
                         .batches = 1,
                         .apart = true,
                         .cut = &cut,
                         .sample = draw_sample,
                         .user = &of};
    if (mr__rig_run(&o, &result, &detail) == 0)
        return result.span_seconds * 1e3;
    (void)fprintf(stderr, "bench/sched: %s\n", detail.text);
    return -1;
}

static double search(const row *r, uint32_t batch, uint32_t grid)
{
    mr__cut_rule rule = {.fixed = true};
    memcpy(rule.share, r->plan.share, sizeof rule.share);
    double best = play_cut(r, &rule, batch);
    for (uint32_t i = 0; best >= 0 && i <= grid; i++)
        for (uint32_t j = 0; i + j <= grid; j++) {
            double share[MR__CUTS] = {(double)i / grid, (double)j / grid, (double)(grid - i - j) / grid};
            memcpy(rule.share, share, sizeof share);
            double ms = play_cut(r, &rule, batch);
            best = ms < best ? ms : best;
        }
    return best;
}

static void head(FILE *out, const char *last)
{
    (void)fprintf(out, "%-25s %5s %5s %6s %5s %8s %8s %8s  %s\n", "sample", "lanes", "GB/s", "decode", "steps",
                  "stored", "decoded", "done", last);
}

static void begin_line(FILE *out, const row *r)
{
    (void)fprintf(out, "%-25s %5u %5g %6g %5g", r->of->name, r->hardware.devices[0].lanes,
                  r->hardware.devices[1].link_gbs, r->cut.decode_speed, r->cut.steps_speed);
}

static void foretell(FILE *out, const row *r)
{
    begin_line(out, r);
    for (int k = 0; k < MR__CUTS; k++)
        (void)fprintf(out, " %8.1f", mr__cut_at(&r->problem, (mr__cut)k).ns / 1e6);
    (void)fprintf(out, "  %8.1f ", r->plan.ns / 1e6);
    for (int k = 0; k < MR__CUTS; k++)
        if (r->plan.share[k] > 0)
            (void)fprintf(out, " %.0f %% %s", 100 * r->plan.share[k], mr__cut_name((mr__cut)k));
    (void)fprintf(out, "\n");
}

/* The chosen time over the best; < 0: something failed. */
static double measure(FILE *out, const row *r, uint32_t batch, uint32_t grid)
{
    begin_line(out, r);
    for (int k = 0; k < MR__CUTS; k++) {
        mr__cut_rule only = {.allowed = 1u << k | 1u << MR__CUT_DONE};
        (void)fprintf(out, " %8.1f", play_cut(r, &only, batch));
    }
    double best = search(r, batch, grid), ours = play_cut(r, &(mr__cut_rule){0}, batch);
    (void)fprintf(out, "  %8.1f %8.1f %8.3f\n", best, ours, ours / best);
    return best > 0 && ours > 0 ? ours / best : -1;
}

/* 0; 1: something failed, or the scheduler was more than 5 % behind the best. */
int sched_table_cut(FILE *out, uint32_t batch, uint32_t grid)
{
    double worst = 0;
    uint32_t within = 0;
    bool failed = false;
    (void)fprintf(
        out,
        "Where the pipeline is cut: virtual ms for a batch of %u; at `stored` and `decoded` host lanes do the "
        "others whole.\nPredicted:\n",
        batch);
    head(out, " the best, and its mix");
    for (uint32_t i = 0; i < ROWS; i++) {
        row r = make_row(i, batch);
        foretell(out, &r);
    }
    (void)fprintf(out, "Simulated:\n");
    head(out, "   brute   chosen    ratio");
    for (uint32_t i = 0; i < ROWS; i++) {
        row r = make_row(i, batch);
        double ratio = measure(out, &r, batch, grid);
        failed = failed || ratio < 0;
        within += ratio <= 1.01;
        worst = ratio > worst ? ratio : worst;
    }
    (void)fprintf(out, "chosen within 1 %% of brute force: %u of %d; the worst: %.3f\n", within, ROWS, worst);
    return failed || worst > 1.05;
}
