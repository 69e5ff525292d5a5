// SPDX-License-Identifier: Apache-2.0
/*
 * Where the pipeline is cut: the closed form against a fine grid, and what the scheduler makes of it on simulated
 * hardware against every mix of a coarser one. All times are virtual.
 */
#include "test.h"

#include "base/rng.h"
#include "study/rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double even(mr__rng *rng)
{
    return ((double)mr__rng_u32(rng) + 0.5) * 0x1p-32;
}

static double normal(mr__rng *rng)
{
    return sqrt(-2.0 * log(even(rng))) * cos(6.283185307179586 * even(rng));
}

static double between(mr__rng *rng, double low, double high)
{
    return low * pow(high / low, even(rng));
}

/* 1. The closed form. */

static mr__cut_costs photo(void)
{
    return (mr__cut_costs){.host_decode_ns = 3e6,
                           .host_steps_ns = 1e6,
                           .device_decode_ns = 1.5e6,
                           .device_steps_ns = 0.1e6,
                           .stored_nbytes = 110e3,
                           .decoded_nbytes = 1200e3,
                           .done_nbytes = 602e3,
                           .link_gbs = 1};
}

static void assert_way(mr__cut_way way, double host, double device, double link)
{
    assert_true(fabs(way.host_ns - host) < 1 && fabs(way.device_ns - device) < 1 && fabs(way.link_ns - link) < 1);
}

static void test_ways(void **state)
{
    (void)state;
    mr__cut_way ways[MR__CUTS];
    mr__cut_costs costs = photo();
    costs.launch_ns = 1e3;
    mr__cut_ways(&costs, ways);
    assert_way(ways[MR__CUT_STORED], 0, 1.6e6 + 110e3 + 1e3, 0);
    assert_way(ways[MR__CUT_DECODED], 3e6, 0.1e6 + 1200e3 + 1e3, 0);
    assert_way(ways[MR__CUT_DONE], 4e6, 602e3 + 1e3, 0);
    costs.copying = MR__COPYING_WITHIN;
    mr__cut_ways(&costs, ways);
    assert_way(ways[MR__CUT_STORED], 0, 1.6e6 + 1e3, 0);
    assert_way(ways[MR__CUT_DECODED], 3e6, 1200e3 + 1e3, 0);
    costs.copying = MR__COPYING_BESIDE;
    costs.at_host = true;
    mr__cut_ways(&costs, ways);
    assert_way(ways[MR__CUT_STORED], 0, 1.6e6 + 1e3, 110e3 + 602e3);
    assert_way(ways[MR__CUT_DECODED], 3e6, 0.1e6 + 1e3, 1200e3 + 602e3);
    assert_way(ways[MR__CUT_DONE], 4e6, 0, 0);
    assert_true(mr__cut_way_ns(&ways[MR__CUT_DECODED]) == ways[MR__CUT_DECODED].link_ns);
    assert_string_equal(mr__cut_name(MR__CUT_DECODED), "decoded");
}

/* By hand: two host lanes, steps are nearly free there, the link is wide: T = 3 n / 2 = n (1 - x) 3.5 / 2 = ... */
static void test_by_hand(void **state)
{
    (void)state;
    mr__cut_problem p = {.ways = {{0, 4e6f, 0}, {2e6f, 1e6f, 0}, {4e6f, 0, 0}}, .count = 100, .lanes = {2, 1, 1}};
    mr__cut_plan plan = mr__cut_at(&p, MR__CUT_STORED); // 4 x = 2 (1 - x)
    assert_true(fabs(plan.share[MR__CUT_STORED] - 1.0 / 3) < 1e-9 && fabs(plan.ns - 400e6 / 3) < 1);
    plan = mr__cut_at(&p, MR__CUT_DECODED); // x = x + 2 (1 - x) at x = 1
    assert_true(plan.share[MR__CUT_DECODED] == 1 && fabs(plan.ns - 100e6) < 1);
    plan = mr__cut_at(&p, MR__CUT_DONE);
    assert_true(plan.share[MR__CUT_DONE] == 1 && fabs(plan.ns - 200e6) < 1);
    plan = mr__cut_choose(&p);
    assert_true(plan.share[MR__CUT_DECODED] == 1 && fabs(plan.ns - 100e6) < 1);
    p.ways[MR__CUT_STORED].device_ns = p.ways[MR__CUT_DECODED].device_ns = INFINITY;
    plan = mr__cut_choose(&p);
    assert_true(plan.share[MR__CUT_DONE] == 1);
    p.allowed = 1u << MR__CUT_STORED;
    assert_true(isinf(mr__cut_choose(&p).ns));
}

enum { GRID = 80, PROBLEMS = 4000 };

static mr__cut_problem draw_problem(mr__rng *rng)
{
    mr__cut_costs c = {.host_decode_ns = between(rng, 1e4, 1e7),
                       .host_steps_ns = between(rng, 1e4, 1e7),
                       .launch_ns = between(rng, 1, 1e5),
                       .stored_nbytes = between(rng, 1e4, 1e6),
                       .decoded_nbytes = between(rng, 1e5, 1e7),
                       .done_nbytes = between(rng, 1e5, 1e6),
                       .link_gbs = between(rng, 0.5, 50),
                       .copying = (mr__copying)(mr__rng_u32(rng) % 3),
                       .at_host = mr__rng_u32(rng) % 4 == 0};
    c.device_decode_ns = mr__rng_u32(rng) % 16 == 0 ? INFINITY : c.host_decode_ns / between(rng, 0.1, 50);
    c.device_steps_ns = c.host_steps_ns / between(rng, 0.1, 100);
    mr__cut_problem p = {.count = 1 + mr__rng_u32(rng) % 500,
                         .lanes = {1 + mr__rng_u32(rng) % 32, 1 + mr__rng_u32(rng) % 2, 1},
                         .allowed = mr__rng_u32(rng) % 4 == 0 ? 4 | mr__rng_u32(rng) % 4 : 0};
    mr__cut_ways(&c, p.ways);
    for (int r = 0; r < MR__CUT_RESOURCES && mr__rng_u32(rng) % 2 == 0; r++)
        p.ahead_ns[r] = between(rng, 1e5, 1e8);
    return p;
}

static bool may(const mr__cut_problem *p, int cut)
{
    return (p->allowed == 0 || (p->allowed >> cut & 1) != 0) && isfinite(p->ways[cut].device_ns);
}

static double search_grid(const mr__cut_problem *p)
{
    double best = INFINITY;
    for (int i = 0; i <= (may(p, 0) ? GRID : 0); i++)
        for (int j = 0; j <= (may(p, 1) ? GRID - i : 0); j++) {
            double share[MR__CUTS] = {(double)i / GRID, (double)j / GRID, (double)(GRID - i - j) / GRID};
            double ns = mr__cut_time_ns(p, share);
            best = ns < best ? ns : best;
        }
    return best;
}

/* The closed form is as good as every point of a grid, is what it says it is, and is found at every number of cuts. */
static void test_against_grid(void **state)
{
    (void)state;
    mr__rng rng;
    int by_cuts[MR__CUTS + 1] = {0};
    mr__rng_init(&rng, 8, 0, 0, 0);
    for (int i = 0; i < PROBLEMS; i++) {
        mr__cut_problem p = draw_problem(&rng);
        mr__cut_plan plan = mr__cut_choose(&p);
        double sum = 0;
        int cuts = 0;
        for (int k = 0; k < MR__CUTS; k++) {
            assert_true(plan.share[k] >= 0 && (plan.share[k] == 0 || may(&p, k)));
            sum += plan.share[k];
            cuts += plan.share[k] > 0;
        }
        by_cuts[cuts]++;
        assert_true(fabs(sum - 1) < 1e-9 && plan.ns == mr__cut_time_ns(&p, plan.share));
        assert_true(plan.ns <= search_grid(&p) * (1 + 1e-9));
        for (int k = 0; k < MR__CUTS; k++)
            if (may(&p, k) && may(&p, MR__CUT_DONE) && p.allowed == 0)
                assert_true(plan.ns <= mr__cut_at(&p, (mr__cut)k).ns * (1 + 1e-9));
    }
    assert_true(by_cuts[1] > 100 && by_cuts[2] > 100 && by_cuts[3] > 100);
}

/* 2. The scheduler, on simulated hardware. */

typedef struct stock {
    double decode_ns, steps_ns, stored, decoded, done, spread;
    uint64_t need; /* of memory, each third sample */
    uint64_t hash; /* of when batches were ready */
} stock;

static void draw_sample(void *user, uint64_t number, mr__rig_sample *sample)
{
    const stock *s = user;
    mr__rng rng;
    mr__rng_init(&rng, 7, 0, number, 0);
    double size = exp(s->spread * normal(&rng) - s->spread * s->spread / 2);
    double luck = exp(s->spread * normal(&rng) - s->spread * s->spread / 2);
    sample->decode_ns = s->decode_ns * size;
    sample->core_ns = sample->decode_ns + s->steps_ns * luck;
    sample->stored_nbytes = (uint64_t)(s->stored * size);
    sample->decoded_nbytes = (uint64_t)(s->decoded * size);
    sample->done_nbytes = (uint64_t)s->done;
    sample->need_nbytes = number % 3 == 0 ? s->need : 0;
}

static void note_ready(void *user, uint64_t batch, uint64_t opened_ns, uint64_t ready_ns)
{
    stock *s = user;
    s->hash = (s->hash ^ batch ^ opened_ns << 20 ^ ready_ns) * UINT64_C(0x9e3779b97f4a7c15);
}

static mr__hardware machine(uint32_t lanes, double link_gbs, bool overlaps)
{
    mr__hardware h = {.seed = 1, .device_count = 2};
    strcpy(h.devices[0].name, "cpu");
    strcpy(h.devices[1].name, "accelerator");
    h.devices[0].lanes = lanes;
    h.devices[1].kind = MR__HARDWARE_ACCELERATOR;
    h.devices[1].link_gbs = link_gbs;
    h.devices[1].link_overlaps = overlaps;
    return h;
}

static mr__rig_result play(const mr__hardware *h, const mr__policy *policy, const mr__rig_cut *cut, stock *s,
                           uint32_t batch, uint64_t batches)
{
    mr__rig_result result;
    mr__detail detail = {0};
    mr__rig_options o = {.hardware = h,
                         .policy = policy,
                         .batch = batch,
                         .batches = batches,
                         .apart = batches == 1,
                         .cut = cut,
                         .sample = draw_sample,
                         .delivered = note_ready,
                         .deadline_ns = 50000000,
                         .user = s};
    s->hash = 0;
    if (mr__rig_run(&o, &result, &detail) != 0)
        fail_msg("%s", detail.text);
    assert_true(result.tasks == batch * batches && result.again == 0 && result.failed == 0);
    return result;
}

enum { SHARES = 4 };

/* The best of all mixes on a grid, and of the closed form's; and which cuts it has, as bits. */
static double search_rig(const mr__hardware *h, mr__rig_cut cut, stock *s, uint32_t batch, unsigned *cuts)
{
    const mr__hardware_device *d = &h->devices[1];
    mr__cut_costs costs = {s->decode_ns,
                           s->steps_ns,
                           s->decode_ns / cut.decode_speed,
                           s->steps_ns / cut.steps_speed,
                           0,
                           s->stored,
                           s->decoded,
                           s->done,
                           d->link_gbs,
                           d->link_overlaps ? MR__COPYING_WITHIN : MR__COPYING_BEFORE,
                           cut.at_host};
    mr__cut_problem p = {.count = batch, .lanes = {h->devices[0].lanes, 1, 1}};
    mr__cut_ways(&costs, p.ways);
    mr__cut_plan plan = mr__cut_choose(&p);
    double best = INFINITY;
    cut.rule.fixed = true;
    for (int i = 0; i <= SHARES; i++)
        for (int j = 0; i + j <= SHARES + (i == 0); j++) {
            double share[MR__CUTS] = {(double)i / SHARES, (double)j / SHARES, (double)(SHARES - i - j) / SHARES};
            memcpy(cut.rule.share, j > SHARES ? plan.share : share, sizeof share);
            double seconds = play(h, &mr__policy_auto, &cut, s, batch, 1).span_seconds;
            if (seconds >= best)
                continue;
            best = seconds;
            *cuts = 0;
            for (int k = 0; k < MR__CUTS; k++)
                *cuts |= (cut.rule.share[k] > 0) << k;
        }
    return best;
}

static const stock stocks[] = {
    {.decode_ns = 3.0e6, .steps_ns = 1.5e6, .stored = 110e3, .decoded = 1200e3, .done = 151e3},
    {.decode_ns = 3.0e6, .steps_ns = 1.5e6, .stored = 110e3, .decoded = 1200e3, .done = 602e3},
    {.decode_ns = 1.0e6, .steps_ns = 3.0e6, .stored = 600e3, .decoded = 400e3, .done = 602e3},
};

/* The scheduler's time over the best of every mix: the worst, for hosts of so many lanes; bits of which sets of cuts
 * were best. */
static double compare(const uint32_t *lanes, size_t lane_count, double spread, unsigned *seen)
{
    static const double links[] = {1, 5, 25}, decode[] = {0.5, 8}, steps[] = {1, 32};
    double worst = 0;
    for (size_t i = 0; i < 3 * lane_count * 2 * 2 * 3 * 2; i++) {
        stock s = stocks[i / 2 % 3];
        mr__hardware h = machine(lanes[i / 72], links[i / 6 % 3], i % 2 != 0);
        mr__rig_cut cut = {.decode_speed = decode[i / 18 % 2], .steps_speed = steps[i / 36 % 2]};
        unsigned cuts = 0;
        s.spread = spread;
        double best = search_rig(&h, cut, &s, 400, &cuts);
        double ours = play(&h, &mr__policy_auto, &cut, &s, 400, 1).span_seconds;
        if (ours > 1.01 * best)
            printf("%u lanes, %g GB/s, decode %g, steps %g, stock %zu: %.3f of the best\n", lanes[i / 72],
                   h.devices[1].link_gbs, cut.decode_speed, cut.steps_speed, i / 2 % 3, ours / best);
        worst = ours / best > worst ? ours / best : worst;
        *seen |= 1u << cuts;
    }
    return worst;
}

static void test_chosen_is_best(void **state)
{
    (void)state;
    static const uint32_t lanes[] = {1, 4};
    unsigned seen = 0;
    assert_true(compare(lanes, 2, 0, &seen) <= 1.01);
    /* Somewhere each of these is best: stored, decoded, both, and either of them beside what the host does whole. */
    assert_int_equal(seen & 0x6e, 0x6e);
}

/* Samples that differ, on more lanes: the means do not tell which sample is best cut where. */
static void test_chosen_is_close(void **state)
{
    (void)state;
    static const uint32_t lanes[] = {16};
    unsigned seen = 0;
    assert_true(compare(lanes, 1, 0.2, &seen) <= 1.06);
}

/* 3. What else has to hold. */

/* Without ways all is as without this: with a policy that knows nothing of cuts, to the nanosecond. */
static void test_default_is_unchanged(void **state)
{
    (void)state;
    mr__policy plain = mr__policy_auto;
    plain.pick_cut = NULL;
    for (uint32_t i = 0; i < 24; i++) {
        stock s = stocks[i % 3], t = s;
        mr__hardware h = machine(1 + i % 5, i % 2 != 0 ? 5 : 0, false);
        h.devices[1].speed = 0.25 * (1 << i % 6);
        h.devices[1].launch_ns = i % 4 * 100000;
        h.devices[1].group = 1 + i % 8;
        h.devices[1].jitter = 0.1;
        s.spread = t.spread = 0.5;
        mr__rig_result a = play(&h, &mr__policy_auto, NULL, &s, 80, 1 + i % 4);
        mr__rig_result b = play(&h, &plain, NULL, &t, 80, 1 + i % 4);
        assert_true(a.seconds == b.seconds && s.hash == t.hash && a.tally[0].jobs == b.tally[0].jobs);
        assert_int_equal(a.tally[0].parts, 0);
        mr__rig_cut cut = {.decode_speed = h.devices[1].speed, .steps_speed = h.devices[1].speed};
        h.devices[1].jitter = 0;
        b = play(&h, &plain, &cut, &t, 80, 1 + i % 4);
        assert_int_equal(b.tally[0].parts, 0); // ways are given, and the policy does not cut
    }
}

/* Batches that are wanted in the host's memory: what the host does is done, and crosses nothing. */
static void test_at_host(void **state)
{
    (void)state;
    stock s = stocks[0];
    mr__hardware h = machine(4, 5, false);
    mr__rig_cut cut = {.decode_speed = 0.01, .steps_speed = 0.01, .at_host = true};
    mr__rig_result r = play(&h, &mr__policy_auto, &cut, &s, 200, 1);
    assert_true(r.tally[0].parts == 0 && r.tally[0].jobs >= 198);
    assert_true(fabs(r.span_seconds / (200 * 4.5e-3 / 4) - 1) < 0.02);
    cut.decode_speed = cut.steps_speed = 8;
    r = play(&h, &mr__policy_auto, &cut, &s, 200, 1);
    mr__cut_costs costs = {3e6, 1.5e6, 3e6 / 8, 1.5e6 / 8, 0, 110e3, 1200e3, 151e3, 5, MR__COPYING_BEFORE, true};
    mr__cut_problem p = {.count = 200, .lanes = {4, 1, 1}};
    mr__cut_ways(&costs, p.ways);
    assert_true(r.span_seconds <= 1.03e-9 * mr__cut_choose(&p).ns);
}

/* An accelerator that cannot decode still does steps. */
static void test_no_decoder(void **state)
{
    (void)state;
    stock s = stocks[0];
    mr__hardware h = machine(4, 25, true);
    mr__rig_cut cut = {.decode_speed = 0, .steps_speed = 32};
    mr__rig_result r = play(&h, &mr__policy_auto, &cut, &s, 200, 4);
    assert_int_equal(r.tally[0].parts, 800);
    assert_true(r.seconds / 4 < 1.03 * 200 * 3e-3 / 4);
}

/* The accelerator fails in the middle, or hangs; what was half done is done by somebody, once. */
static void test_faults(void **state)
{
    (void)state;
    static const mr__fault_kind kinds[] = {MR__FAULT_LOST, MR__FAULT_HANG};
    for (uint32_t i = 0; i < 24; i++) {
        stock s = stocks[i % 3];
        mr__hardware h = machine(1 + i % 4, 5, i % 2 != 0);
        h.devices[1].fault_count = 1;
        h.devices[1].group = 1 + i % 3;
        h.devices[1].launch_ns = i % 3 * 50000;
        h.devices[1].faults[0] =
            (mr__fault){.kind = kinds[i % 2], .after = 7 * i, .back_ns = i % 5 == 0 ? 0 : UINT64_C(300000000)};
        mr__rig_cut cut = {.decode_speed = i % 3, .steps_speed = 8, .at_host = i % 7 == 0};
        mr__rig_result r = play(&h, &mr__policy_auto, &cut, &s, 60, 5);
        assert_true(r.tally[1].failures >= 1);
    }
}

/* What the accelerator has no memory for stays at the host, whole. */
static void test_memory(void **state)
{
    (void)state;
    stock s = stocks[0];
    mr__hardware h = machine(2, 25, false);
    mr__rig_cut cut = {.decode_speed = 8, .steps_speed = 32};
    h.devices[1].memory_nbytes = 1000000;
    s.need = 2000000;
    mr__rig_result r = play(&h, &mr__policy_auto, &cut, &s, 60, 4);
    assert_true(r.tally[0].jobs == 80 && r.tally[1].jobs == 160 && r.no_memory == 0);
}

/* Jobs of several samples. */
static void test_grain(void **state)
{
    (void)state;
    mr__rig_result result;
    mr__detail detail = {0};
    stock s = stocks[1];
    mr__hardware h = machine(3, 5, false);
    h.devices[1].launch_ns = 20000;
    h.devices[1].group = 4;
    mr__rig_cut cut = {.decode_speed = 1, .steps_speed = 16};
    mr__rig_options o = {.hardware = &h,
                         .policy = &mr__policy_auto,
                         .batch = 50,
                         .batches = 6,
                         .tiny = 4,
                         .cut = &cut,
                         .sample = draw_sample,
                         .user = &s};
    assert_int_equal(mr__rig_run(&o, &result, &detail), 0);
    assert_true(result.tasks == 300 && result.tally[0].parts > 0);
    h.device_count = 1;
    assert_int_equal(mr__rig_run(&o, &result, &detail), MR_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_grid),
        cmocka_unit_test(test_chosen_is_best),
        cmocka_unit_test(test_chosen_is_close),
        cmocka_unit_test(test_default_is_unchanged),
        cmocka_unit_test(test_at_host),
        cmocka_unit_test(test_no_decoder),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_grain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
