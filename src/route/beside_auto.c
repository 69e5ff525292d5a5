// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses a window's mode by measured iteration time. What is tried, and why in this order:
 *
 * 1. Choices are tried from the weakest use of the accelerator to the strongest. Each of them prepares at least as fast
 *    as the one before, and disturbs training at least as much. So the first under which the trainer does not wait is
 *    the last that is tried: stronger ones could only disturb more. If that is `off`, the accelerator is not used.
 * 2. Batches that were prepared ahead hide for some iterations that a weaker choice is too slow. From the weakest
 *    upward there are none as long as the trainer waits; where there are some (a look at a weaker neighbour of a choice
 *    that keeps up) more iterations are left out first, and a choice that turns out slower than its figure said is
 *    noticed as any change is.
 * 3. A figure is the median of five means of three iterations: the mean, because with batches ahead iterations differ
 *    (wait, none, none, wait) and it is their sum that counts; the median, because a checkpoint or a validation in one
 *    of them says nothing. With short steps a mean is of more, so that it has some periods of duty in it.
 * 4. Those whose figures lie within their noise get another round, and another: that costs little, since they are about
 *    as good as the best. Of choices within 1 % of the best, the weakest is taken.
 * 5. It stays until two figures in a row stray from what it
 *    was chosen for, by more than noise; then everything is tried again. What iteration time cannot show (cores came
 *    free while a stronger choice hides it) is found by trying the neighbours now and then, half as often every time.
 */
#include "route/beside.h"

#include <math.h>

/* The first iterations of a run are not like others: caches fill, a framework tunes itself. */
enum {
    WARM_UP = 8,
    SETTLE = 3,
    SETTLE_FULL = 15,
    SETTLE_LAST = 64,
    AHEAD = 4, // batches, about

    ROUNDS = 16,
    MOST = 32,
    PROOF = 2,
    PERIODS = 4,
    LOOK_FIRST = 512,
    LOOK_LAST = 8192
};

#define KEEPS_UP 0.01  /* the trainer waits for less than this share of its time */
#define LIKE     0.005 /* times that differ by less are the same */
#define STRAYS   0.05  /* a change that is worth trying everything again */

const mr__beside_choice mr__beside_choices[MR__BESIDE_CHOICES] = {
    {MR__BESIDE_OFF, 0},    {MR__BESIDE_EXCLUSIVE, 0},  {MR__BESIDE_DUTY, 0.25},
    {MR__BESIDE_DUTY, 0.5}, {MR__BESIDE_OVERLAPPED, 0},
};

static void put_in_force(mr__beside *w, uint32_t number, uint32_t settle)
{
    w->chosen.at = number;
    w->chosen.settle = settle;
    w->chosen.meter = (mr__beside_meter){0};
    w->mode = mr__beside_choices[number].mode;
    w->share = mr__beside_choices[number].share;
}

/* Everything, from the weakest on. */
static void try_all(mr__beside *w, uint32_t settle)
{
    mr__beside_auto *c = &w->chosen;
    for (size_t i = 0; i < MR__BESIDE_CHOICES; i++)
        c->figures[i] = (mr__beside_figure){0};
    c->to_try = (1u << MR__BESIDE_CHOICES) - 1;
    c->neighbours = false;
    c->round = 0;
    put_in_force(w, 0, settle);
}

void mr__beside_auto_init(mr__beside *w)
{
    w->chosen = (mr__beside_auto){.look_after = LOOK_FIRST, .proof = PROOF};
    try_all(w, WARM_UP);
}

void mr__beside_auto_restart(mr__beside *w)
{
    w->chosen.look_after = LOOK_FIRST;
    w->chosen.proof = PROOF;
    try_all(w, SETTLE);
}

static void sort(double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && values[j - 1] > values[j]; j--) {
            double t = values[j];
            values[j] = values[j - 1];
            values[j - 1] = t;
        }
}

static double median_of(const double values[MR__BESIDE_GROUPS])
{
    double sorted[MR__BESIDE_GROUPS];
    for (size_t i = 0; i < MR__BESIDE_GROUPS; i++)
        sorted[i] = values[i];
    sort(sorted, MR__BESIDE_GROUPS);
    return sorted[MR__BESIDE_GROUPS / 2];
}

/* The middle of the groups' means, and how far off it may be. */
static void sum_up(const mr__beside_meter *m, mr__beside_figure *figure, double *error)
{
    double median = median_of(m->mean_ns), away[MR__BESIDE_GROUPS];
    for (size_t i = 0; i < MR__BESIDE_GROUPS; i++)
        away[i] = fabs(m->mean_ns[i] - median);
    figure->rounds = 1;
    figure->iterations = m->iterations;
    figure->time_ns = median > 1 ? median : 1;
    figure->waited = median_of(m->waited);
    // of a normal distribution: deviation = 1.48 medians of what is away; of a median of 5: 1.25 / sqrt(5) of that
    *error = 1.48 * 1.25 / 2.236 * median_of(away) / figure->time_ns;
}

/* True: there is a figure, and the meter is empty again. */
static bool measure(mr__beside *w, uint64_t time_ns, uint64_t waited_ns, mr__beside_figure *figure, double *error)
{
    mr__beside_meter *m = &w->chosen.meter;
    m->iterations++;
    m->in_group++;
    m->group_ns += (double)time_ns;
    m->waited_ns += (double)waited_ns;
    if (m->in_group < MR__BESIDE_GROUP || m->group_ns < (double)w->options.period_ns * PERIODS)
        return false;
    m->waited[m->groups] = m->waited_ns / m->group_ns;
    m->mean_ns[m->groups++] = m->group_ns / m->in_group;
    m->in_group = 0;
    m->group_ns = m->waited_ns = 0;
    if (m->groups < MR__BESIDE_GROUPS)
        return false;
    sum_up(m, figure, error);
    *m = (mr__beside_meter){0};
    return true;
}

/* The same again: a choice's figure is of all its rounds, the last MOST of them. */
static void merge(mr__beside_figure *to, const mr__beside_figure *more)
{
    double n = to->rounds < MOST ? to->rounds : MOST;
    to->time_ns = (to->time_ns * n + more->time_ns) / (n + 1);
    to->waited = (to->waited * n + more->waited) / (n + 1);
    to->rounds = (uint32_t)n + 1;
}

/* One round's error, of all that were made of late: that of one alone is too small by chance too often. */
static void note_noise(mr__beside_auto *c, double error)
{
    c->noises = c->noises < MOST ? c->noises + 1 : MOST;
    c->noise += (error - c->noise) / c->noises;
}

/* Relative, of a figure's time: a standard deviation, about. */
static double error_of(const mr__beside_auto *c, const mr__beside_figure *figure)
{
    return c->noise / sqrt((double)figure->rounds);
}

/* The one with the least time. */
static uint32_t least_of(const mr__beside_auto *c)
{
    uint32_t least = c->at;
    for (uint32_t i = 0; i < MR__BESIDE_CHOICES; i++)
        if (c->figures[i].rounds != 0 && c->figures[i].time_ns < c->figures[least].time_ns)
            least = i;
    return least;
}

/*
 * To use the accelerator while the trainer waits disturbs nobody: where it waits, exclusive is no worse than off, and
 * what seems to say so within the noise is noise.
 */
static bool off_is_out(const mr__beside_auto *c)
{
    const mr__beside_figure *off = &c->figures[0], *exclusive = &c->figures[1];
    if (off->rounds == 0 || exclusive->rounds == 0 || off->waited < KEEPS_UP)
        return off->rounds == 0;
    double noise = 2 * (error_of(c, off) + error_of(c, exclusive));
    return exclusive->time_ns <= off->time_ns * (1 + LIKE + noise);
}

/* The weakest of those that are as good as the best; but what stands is not given up for what may be noise. */
static uint32_t best_of(const mr__beside_auto *c)
{
    uint32_t least = least_of(c), best = off_is_out(c) ? 1 : 0;
    while (best < least &&
           (c->figures[best].rounds == 0 || c->figures[best].time_ns > c->figures[least].time_ns * (1 + LIKE)))
        best++;
    if (!c->neighbours || best == c->standing)
        return best;
    const mr__beside_figure *is = &c->figures[best], *was = &c->figures[c->standing];
    double sure = error_of(c, is) + error_of(c, was);
    if (best < c->standing && is->waited < KEEPS_UP)
        return is->time_ns <= was->time_ns * (1 + LIKE + sure) ? best : c->standing;
    return is->time_ns * (1 + sure) < was->time_ns ? best : c->standing;
}

/* Those that may still be the best, if there is more than one, and to know it is worth another round; else none. */
static uint32_t contenders(const mr__beside_auto *c)
{
    uint32_t least = least_of(c), mask = 0;
    double error = error_of(c, &c->figures[least]), top = c->figures[least].time_ns * (1 + 2 * error), most = 0;
    for (uint32_t i = 0; i < MR__BESIDE_CHOICES; i++) {
        const mr__beside_figure *f = &c->figures[i];
        if (f->rounds == 0 || f->time_ns * (1 - 2 * error_of(c, f)) > top)
            continue;
        mask |= 1u << i;
        if (i != least && 2 * (error + error_of(c, f)) > most)
            most = 2 * (error + error_of(c, f));
    }
    return most > LIKE ? mask : 0;
}

/* How many iterations batches ahead hide that a choice makes the trainer wait for this share of its time. */
static uint32_t hidden(double waited)
{
    return waited * SETTLE_LAST > AHEAD ? (uint32_t)(AHEAD / waited) : SETTLE_LAST;
}

static void stay(mr__beside *w, uint32_t number)
{
    mr__beside_auto *c = &w->chosen;
    bool ahead = c->figures[c->at].waited < KEEPS_UP && c->figures[number].waited >= KEEPS_UP;
    c->strayed = 0;
    c->stayed = 0;
    c->changes += number != c->standing;
    c->standing = number;
    put_in_force(w, number, number == c->at ? 0 : ahead ? hidden(c->figures[number].waited) : SETTLE);
}

/* The next one to try, another round of those that are close, or the end of it. */
static void go_on(mr__beside *w)
{
    mr__beside_auto *c = &w->chosen;
    if (c->to_try == 0 && c->round + 1 < ROUNDS) {
        c->round++;
        c->to_try = contenders(c);
    }
    if (c->to_try == 0) {
        stay(w, best_of(c));
        return;
    }
    uint32_t next = 0;
    while ((c->to_try >> next & 1) == 0)
        next++;
    bool ahead = next < c->at && c->figures[c->at].waited < KEEPS_UP; // batches are
    put_in_force(w, next, next == c->at ? 0 : ahead ? SETTLE_FULL : SETTLE);
}

static void try_one(mr__beside *w, const mr__beside_figure *figure)
{
    mr__beside_auto *c = &w->chosen;
    mr__beside_figure *all = &c->figures[c->at];
    merge(all, figure);
    c->tries++;
    bool keeps_up = all->waited < KEEPS_UP && !c->neighbours && c->round == 0;
    if (keeps_up && all->rounds < c->proof) // to be sure
        put_in_force(w, c->at, 0);
    else {
        c->to_try = keeps_up ? 0 : c->to_try & ~(1u << c->at);
        go_on(w);
    }
}

/* Whether the weaker one is worth it, and the stronger one where the trainer waits. */
static void try_neighbours(mr__beside *w)
{
    mr__beside_auto *c = &w->chosen;
    for (size_t i = 0; i < MR__BESIDE_CHOICES; i++)
        if (i != c->at)
            c->figures[i] = (mr__beside_figure){0};
    c->to_try = c->at != 0 ? 1u << (c->at - 1) : 0;
    if (c->figures[c->at].waited >= KEEPS_UP && c->at + 1 < MR__BESIDE_CHOICES)
        c->to_try |= 1u << (c->at + 1);
    c->neighbours = true;
    c->round = 0;
    c->look_after = c->look_after < LOOK_LAST ? 2 * c->look_after : LOOK_LAST;
    go_on(w);
}

static bool strays(const mr__beside_auto *c, const mr__beside_figure *is, const mr__beside_figure *was)
{
    double by = fabs(is->time_ns / was->time_ns - 1);
    double noise = 3 * (c->noise + error_of(c, was)), some = noise > STRAYS ? noise : STRAYS;
    return by > some || (c->at == 0 && was->waited < KEEPS_UP && is->waited > 2 * KEEPS_UP);
}

static void watch(mr__beside *w, const mr__beside_figure *figure)
{
    mr__beside_auto *c = &w->chosen;
    mr__beside_figure *was = &c->figures[c->at];
    c->stayed += figure->iterations;
    c->strayed = strays(c, figure, was) ? c->strayed + 1 : 0;
    if (c->strayed == 2) {
        bool soon = c->stayed <= LOOK_FIRST / 2; // what it was chosen for was wrong
        c->look_after = soon ? c->look_after : LOOK_FIRST;
        if (was->waited < KEEPS_UP)
            c->proof = !soon ? PROOF : c->proof < ROUNDS ? 2 * c->proof : ROUNDS;
        try_all(w, SETTLE);
        return;
    }
    if (c->strayed == 0)
        merge(was, figure);
    if (c->stayed >= c->look_after && !(c->at == 0 && was->waited < KEEPS_UP))
        try_neighbours(w);
}

void mr__beside_auto_iteration(mr__beside *w, uint64_t time_ns, uint64_t waited_ns)
{
    mr__beside_auto *c = &w->chosen;
    mr__beside_figure figure;
    double error;
    if (c->settle != 0) {
        c->settle--;
        return;
    }
    if (!measure(w, time_ns, waited_ns, &figure, &error))
        return;
    note_noise(c, error);
    if (c->to_try != 0)
        try_one(w, &figure);
    else
        watch(w, &figure);
}
