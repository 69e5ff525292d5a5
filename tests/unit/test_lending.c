// SPDX-License-Identifier: Apache-2.0
/* Who lends cores to whom: small cases against all there are, and ranks under a virtual clock. */
#include "test.h"

#include "route/lending.h"

#include <math.h>
#include <string.h>

#define MS 1e6

/* Numbers that are the same in each run. */
typedef struct dice {
    uint64_t state;
} dice;

static uint64_t roll(dice *d, uint64_t below)
{
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (d->state >> 33) % below;
}

static double roll_unit(dice *d)
{
    return (double)roll(d, 1 << 20) / (1 << 20);
}

enum { JOBS = 4, CORES = 8 };

typedef struct group {
    mr__lending_job jobs[JOBS];
    mr__lending_core cores[CORES], spare[CORES];
    mr__lending l;
} group;

static void make_group(group *g, size_t jobs, const uint32_t *homes, size_t cores)
{
    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < cores; i++)
        g->cores[i] = (mr__lending_core){.home = homes[i], .to = homes[i]};
    g->l = (mr__lending){g->jobs, jobs, g->cores, cores};
}

static mr__lending_job job_of(double work, double batch, double sample, uint32_t reserve)
{
    return (mr__lending_job){
        .known = true, .work_ns = work, .batch_ns = batch, .sample_ns = sample, .reserve = reserve};
}

static size_t decide(group *g)
{
    return mr__lending_decide(&g->l, g->spare);
}

static void dear_and_cheap_are_ready_together(void **state)
{
    (void)state;
    group g;
    make_group(&g, 2, (const uint32_t[]){0, 1}, 2);
    g.jobs[0] = job_of(300 * MS, 300 * MS, 1 * MS, 0);
    g.jobs[1] = job_of(100 * MS, 100 * MS, 1 * MS, 0);
    assert_true(fabs(mr__lending_latest(&g.l) - 300 * MS) < 1);
    assert_int_equal(decide(&g), 1);
    assert_int_equal(g.cores[1].to, 0);
    assert_true(fabs(g.cores[1].until_ns - 100 * MS) < 1);
    assert_true(fabs(mr__lending_ready(&g.l, 0) - 200 * MS) < 1 && fabs(mr__lending_ready(&g.l, 1) - 200 * MS) < 1);
    assert_int_equal(decide(&g), 0); // there is nothing more to gain
    // Half a loan later; then the cheap one was cheaper than was thought, and waits for nobody.
    g.jobs[0].work_ns = 200 * MS;
    g.cores[1].until_ns = 50 * MS;
    assert_int_equal(decide(&g), 0);
    g.jobs[1].reserve = 1;
    assert_int_equal(decide(&g), 1);
    assert_true(g.cores[1].to == 0 && g.cores[1].until_ns >= 100 * MS);
    // Its trainer took that batch: its core comes home in time.
    g.jobs[1].reserve = 0;
    assert_int_equal(decide(&g), 1);
    assert_true(fabs(mr__lending_latest(&g.l) - 150 * MS) < 1);
    // The dear one has nothing more to do.
    g.jobs[0].reserve = MR__LENDING_IDLE;
    assert_true(decide(&g) >= 1);
    assert_int_equal(g.cores[1].to, 1);
    assert_int_equal(g.cores[0].to, 1);
}

static void small_gains_move_nothing(void **state)
{
    (void)state;
    group g;
    make_group(&g, 2, (const uint32_t[]){0, 1}, 2);
    g.jobs[0] = g.jobs[1] = job_of(100 * MS, 100 * MS, 1 * MS, 0);
    assert_int_equal(decide(&g), 0); // alike
    g.jobs[1].work_ns = 20 * MS;
    assert_int_equal(decide(&g), 0); // 40 ms could be gained, but the next batch may be the other way round
    g.jobs[1].reserve = MR__LENDING_IDLE;
    assert_int_equal(decide(&g), 1); // there is no next batch
    make_group(&g, 2, (const uint32_t[]){0, 1}, 2);
    g.jobs[0] = job_of(100 * MS, 100 * MS, 1 * MS, 0);
    g.jobs[1] = job_of(100 * MS, 80 * MS, 1 * MS, 0);
    const double floor = MR__LENDING_SHARE * 100 * MS + MR__LENDING_SAMPLES * MS;
    g.jobs[1].work_ns = 100 * MS - 2 * floor + 1;
    assert_int_equal(decide(&g), 0); // half the difference is what can be gained
    g.jobs[1].work_ns = 100 * MS - 2 * floor - 1;
    assert_int_equal(decide(&g), 1);
    make_group(&g, 2, (const uint32_t[]){0, 1}, 2);
    g.jobs[0] = job_of(300 * MS, 300 * MS, 1 * MS, 0);
    g.jobs[1] = job_of(100 * MS, 100 * MS, 1 * MS, 0);
    g.jobs[1].known = false;
    assert_int_equal(decide(&g), 0); // who knows
    g.jobs[1].known = true;
    g.jobs[0].sample_ns = g.jobs[1].sample_ns = 60 * MS;
    assert_int_equal(decide(&g), 0); // a sample is too long for it
}

static void the_same_socket_goes_first(void **state)
{
    (void)state;
    group g;
    make_group(&g, 3, (const uint32_t[]){0, 0, 1, 1, 2, 2}, 6);
    for (size_t i = 0; i < 6; i++)
        g.cores[i].socket = i == 2 || i == 3;
    g.jobs[0] = job_of(800 * MS, 800 * MS, 1 * MS, 0);
    g.jobs[1] = job_of(10 * MS, 10 * MS, 1 * MS, 1);
    g.jobs[2] = job_of(20 * MS, 20 * MS, 1 * MS, 1);
    assert_true(decide(&g) >= 2);
    assert_true(g.cores[4].to == 0 && g.cores[5].to == 0); // those of job 2, on its socket, ...
    for (uint32_t i = 0; i < 6; i++)
        g.cores[i].to = g.cores[i].home;
    g.jobs[0].work_ns = 230 * MS; // ... and only they, where two are enough
    g.jobs[2] = g.jobs[1] = job_of(0, 10 * MS, 1 * MS, MR__LENDING_IDLE);
    assert_true(decide(&g) >= 1);
    size_t near = (g.cores[4].to == 0) + (g.cores[5].to == 0), far = (g.cores[2].to == 0) + (g.cores[3].to == 0);
    assert_true(near == 2 && near >= far);
}

/* The best of all fixed assignments, where everyone keeps what he has for ever. */
static double best_fixed(const group *g)
{
    group t = *g;
    t.l = (mr__lending){t.jobs, g->l.job_count, t.cores, g->l.core_count};
    size_t ways = 1;
    double best = INFINITY;
    for (size_t i = 0; i < t.l.core_count; i++)
        ways *= t.l.job_count;
    for (size_t way = 0; way < ways; way++) {
        size_t rest = way;
        for (size_t i = 0; i < t.l.core_count; i++, rest /= t.l.job_count) {
            t.cores[i].to = (uint32_t)(rest % t.l.job_count);
            t.cores[i].until_ns = INFINITY;
        }
        double latest = mr__lending_latest(&t.l);
        best = latest < best ? latest : best;
    }
    return best;
}

/* What a move has to gain at most, in such a group. */
static double most_hysteresis(const group *g)
{
    double most = 0, least = INFINITY, dearest = 0;
    for (size_t j = 0; j < g->l.job_count; j++) {
        size_t cores = 0;
        for (size_t i = 0; i < g->l.core_count; i++)
            cores += g->cores[i].home == j;
        least = fmin(least, g->jobs[j].batch_ns / (double)cores);
        dearest = fmax(dearest, g->jobs[j].batch_ns / (double)cores);
    }
    double share = dearest <= MR__LENDING_ALIKE * least ? MR__LENDING_ALIKE_SHARE : MR__LENDING_SHARE;
    for (size_t j = 0; j < g->l.job_count; j++)
        most = fmax(most, share * g->jobs[j].batch_ns + MR__LENDING_SAMPLES * g->jobs[j].sample_ns);
    return most;
}

static void roll_group(dice *d, group *g)
{
    size_t jobs = 2 + roll(d, 2), cores = jobs + roll(d, 6 - jobs);
    uint32_t homes[CORES];
    for (size_t i = 0; i < cores; i++)
        homes[i] = (uint32_t)(i < jobs ? i : roll(d, jobs));
    make_group(g, jobs, homes, cores);
    for (size_t j = 0; j < jobs; j++) {
        double batch = (20 + 400 * roll_unit(d)) * MS;
        uint32_t reserve = roll(d, 8) == 0 ? MR__LENDING_IDLE : (uint32_t)roll(d, 2);
        g->jobs[j] = job_of(batch * roll_unit(d), batch, batch / 256, reserve);
    }
    for (size_t i = 0; i < cores; i++) {
        g->cores[i].socket = (uint32_t)roll(d, 2);
        if (roll(d, 3) == 0) {
            g->cores[i].to = (uint32_t)roll(d, jobs);
            g->cores[i].until_ns = 100 * MS * roll_unit(d);
        }
    }
}

static void no_assignment_is_better(void **state)
{
    (void)state;
    dice d = {1};
    group g, before;
    size_t moved = 0, gained = 0;
    for (int i = 0; i < (test_quick() ? 300 : 5000); i++) {
        roll_group(&d, &g);
        before = g;
        before.l = (mr__lending){before.jobs, g.l.job_count, before.cores, g.l.core_count};
        double was = mr__lending_latest(&before.l), fixed = best_fixed(&g);
        moved += decide(&g) != 0;
        double is = mr__lending_latest(&g.l);
        if (!(is <= fixed + most_hysteresis(&g) + 1))
            fail_msg("case %d: ready at %g ms, but %g by a fixed assignment", i, is / MS, fixed / MS);
        assert_true(is <= was + 1);
        for (size_t c = 0; c < g.l.core_count; c++)
            g.cores[c].to = g.cores[c].home;
        assert_true(is <= mr__lending_latest(&g.l) + 1);
        gained += is < was - 1;
    }
    assert_true(moved > 100 && gained > 100);
}

/* Ranks under a virtual clock: cores do a sample at a time, and all trainers take a batch when all have one. */
enum { BATCH = 128, SLOTS = 3, STEPS = 60 };

typedef struct rank {
    double cost, spread; /* of a sample, ns */
    double known;        /* what it thinks a sample costs */
    uint64_t begun, done, taken, posted;
    double ready; /* since the step began */
} rank;

typedef struct world {
    group g;
    rank ranks[JOBS];
    double busy[CORES]; /* until when */
    int doing[CORES];   /* whose sample; -1: nothing */
    double until[CORES];
    double now, began, steps, spread, loan_count;
    bool lends;
    dice d;
} world;

static uint32_t reserve_of(const rank *r)
{
    return (uint32_t)(r->done / BATCH - r->taken);
}

static void post_all(world *w)
{
    if (!w->lends)
        return;
    for (size_t j = 0; j < w->g.l.job_count; j++) {
        rank *r = &w->ranks[j];
        bool idle = r->done >= (r->taken + SLOTS) * BATCH;
        double left = (double)(BATCH - r->done % BATCH);
        w->g.jobs[j] = (mr__lending_job){.known = r->known > 0,
                                         .work_ns = r->known * left,
                                         .batch_ns = r->known * BATCH,
                                         .sample_ns = r->known,
                                         .reserve = idle ? MR__LENDING_IDLE : reserve_of(r)};
    }
    for (size_t i = 0; i < w->g.l.core_count; i++) {
        mr__lending_core *c = &w->g.cores[i];
        c->until_ns = w->until[i] - w->now;
        if (c->until_ns <= 0)
            c->to = c->home;
    }
    w->loan_count += (double)decide(&w->g);
    for (size_t i = 0; i < w->g.l.core_count; i++)
        w->until[i] = w->now + w->g.cores[i].until_ns;
}

/* Every core that is free takes a sample of whoever has it. */
static void start_samples(world *w)
{
    for (size_t i = 0; i < w->g.l.core_count; i++) {
        const mr__lending_core *c = &w->g.cores[i];
        uint32_t who = c->to != c->home && w->now < w->until[i] ? c->to : c->home;
        rank *r = &w->ranks[who];
        if (w->doing[i] >= 0 || r->begun >= (r->taken + SLOTS) * BATCH)
            continue;
        r->begun++;
        w->doing[i] = (int)who;
        w->busy[i] = w->now + r->cost * (1 + r->spread * (2 * roll_unit(&w->d) - 1));
    }
}

/* All trainers take one, when all can. */
static bool take_step(world *w)
{
    double first = INFINITY, last = 0;
    for (size_t j = 0; j < w->g.l.job_count; j++) {
        if (reserve_of(&w->ranks[j]) == 0)
            return false;
        first = fmin(first, w->ranks[j].ready);
        last = fmax(last, w->ranks[j].ready);
    }
    w->spread += last - first;
    w->steps++;
    w->began = w->now;
    for (size_t j = 0; j < w->g.l.job_count; j++) {
        w->ranks[j].taken++;
        w->ranks[j].ready = 0; // if it has the next one already
    }
    post_all(w);
    return true;
}

static void end_sample(world *w, size_t core)
{
    uint32_t who = (uint32_t)w->doing[core];
    rank *r = &w->ranks[who];
    bool expired = w->g.cores[core].to == who && w->g.cores[core].home != who && w->now >= w->until[core];
    w->doing[core] = -1;
    r->done++;
    r->known = r->known == 0 ? r->cost : r->known;
    if (r->done % BATCH == 0 && reserve_of(r) == 1)
        r->ready = w->now - w->began;
    if (r->done % BATCH == 0 || expired)
        post_all(w);
}

/* Steps a second. */
static void run_world(world *w)
{
    while (w->steps < STEPS) {
        while (take_step(w)) {
        }
        start_samples(w);
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < w->g.l.core_count; i++)
            if (w->doing[i] >= 0 && (next == SIZE_MAX || w->busy[i] < w->busy[next]))
                next = i;
        assert_true(next != SIZE_MAX);
        w->now = w->busy[next];
        end_sample(w, next);
    }
}

static world make_world(const double *costs, size_t ranks, size_t cores_each, double spread, bool lends)
{
    world w;
    uint32_t homes[CORES];
    memset(&w, 0, sizeof w);
    for (size_t i = 0; i < ranks * cores_each; i++)
        homes[i] = (uint32_t)(i / cores_each);
    make_group(&w.g, ranks, homes, ranks * cores_each);
    for (size_t j = 0; j < ranks; j++)
        w.ranks[j] = (rank){.cost = costs[j], .spread = spread};
    for (size_t i = 0; i < CORES; i++)
        w.doing[i] = -1;
    w.lends = lends;
    w.d.state = 7;
    return w;
}

typedef struct outcome {
    double step_ns, spread_ns, ideal_ns, loans;
} outcome;

static outcome run(const double *costs, size_t ranks, size_t cores_each, double spread, bool lends)
{
    world w = make_world(costs, ranks, cores_each, spread, lends);
    w.g.l = (mr__lending){w.g.jobs, ranks, w.g.cores, ranks * cores_each};
    run_world(&w);
    double sum = 0;
    for (size_t j = 0; j < ranks; j++)
        sum += costs[j] * BATCH;
    return (outcome){w.now / w.steps, w.spread / w.steps, sum / (double)(ranks * cores_each), w.loan_count};
}

static void a_dear_rank_is_helped(void **state)
{
    (void)state;
    static const double costs[] = {6 * MS, 2 * MS};
    outcome without = run(costs, 2, 1, 0.5, false), with = run(costs, 2, 1, 0.5, true);
    print_message("3 to 1: %.1f ms a step without lending, %.1f with, pooled ideal %.1f; spread %.1f to %.1f ms\n",
                  without.step_ns / MS, with.step_ns / MS, with.ideal_ns / MS, without.spread_ns / MS,
                  with.spread_ns / MS);
    assert_true(with.ideal_ns / with.step_ns >= 0.95);
    assert_true(with.spread_ns <= 0.2 * without.spread_ns);
    assert_true(without.step_ns / with.step_ns >= 1.4);
    static const double four[] = {9 * MS, 1 * MS, 3 * MS, 3 * MS};
    without = run(four, 4, 2, 0.5, false);
    with = run(four, 4, 2, 0.5, true);
    assert_true(with.ideal_ns / with.step_ns >= 0.95);
    assert_true(with.spread_ns <= 0.2 * without.spread_ns);
}

static void equal_ranks_lose_nothing(void **state)
{
    (void)state;
    static const double costs[] = {3 * MS, 3 * MS, 3 * MS, 3 * MS};
    for (size_t ranks = 2; ranks <= 4; ranks += 2) {
        outcome without = run(costs, ranks, 2, 0.5, false), with = run(costs, ranks, 2, 0.5, true);
        print_message("%zu equal ranks: %.2f ms a step without lending, %.2f with; %.0f changes in %d steps\n", ranks,
                      without.step_ns / MS, with.step_ns / MS, with.loans, STEPS);
        assert_true(without.step_ns / with.step_ns >= 0.99);
    }
    outcome still = run(costs, 2, 1, 0, true);
    assert_true(still.loans == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dear_and_cheap_are_ready_together),
        cmocka_unit_test(small_gains_move_nothing),
        cmocka_unit_test(the_same_socket_goes_first),
        cmocka_unit_test(no_assignment_is_better),
        cmocka_unit_test(a_dear_rank_is_helped),
        cmocka_unit_test(equal_ranks_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
