// SPDX-License-Identifier: Apache-2.0
/*
 * A team's lanes are fibers: a lane runs until it comes to a collective word, then the next one does, and when all are
 * there, all go on. Lanes that are alone are a loop.
 *
 * For TSan (base/sanitize.h), lanes that are alone are spread over a few fibers too (a fiber is a thread to it, and
 * dear), and there are several gangs, which take groups in turn. What it is told:
 *
 *     1. What was done before a launch is seen by all its lanes, and what they do, by all that comes after it.
 *     2. What lanes of a team do before a collective word is seen by those that come back from it. (One of two
 *        addresses by turns, as a lane that was there comes to the next one before others come back.)
 *     3. What a gang's groups do is seen by the next group of the same gang, which has its stacks and shared memory;
 *        and by no other gang.
 *
 * What is written here about lanes is none of its business: MR__UNWATCHED.
 */
#include "kernel/lane/emulate.h"

#include "base/sanitize.h"
#include "kernel/lane/all.h"
#include "kernel/lane/fiber.h"

#include <string.h>

#if defined(MR__TSAN)
enum { GANGS = 3, ALONE_FIBERS = 8 };
#else
enum { GANGS = 1, ALONE_FIBERS = 0 };
#endif

enum { ALLOTS_MAX = 16, SHARED_GAP = 64, SHARED_BLOCK = MR__SHARED_NBYTES + ALLOTS_MAX * 2 * SHARED_GAP };

#define FUNCTION(name, lanes) {#name, mr__kernel_##name, lanes},
static const mr__lane_kernel kernels[] = {MR__KERNELS(FUNCTION)};
#undef FUNCTION

typedef struct lane_state {
    mr__gang *gang;
    mr__fiber *fiber; /* that it is run by; of lanes that are alone, the first few have some */
    uint32_t id;
    int line; /* that it waits at; 0: it has not begun, or has ended */
    bool ended;
    uint32_t allots; /* that it has come to */
    uint32_t given;  /* what it gave to the word it waits at */
} lane_state;

/* Shared memory that a kernel asked for. */
typedef struct allot {
    uint32_t at, nbytes;
} allot;

struct mr__gang {
    const mr__emulation *emulation;
    const mr__lane_kernel *kernel;
    uint8_t *arena, *out;
    uint32_t list, group;
    lane_state lanes[MR__ALONE_LANES];
    uint32_t order[MR__ALONE_LANES]; /* that lanes run in */
    uint32_t words[MR__TEAM_LANES];  /* what all have given, while they go on */
    uint8_t *shared;
    uint32_t shared_used; /* with gaps */
    allot allots[ALLOTS_MAX];
    uint32_t allot_count;
    const char *wrong; /* what lanes have done, that no device lets them */
    int wrong_line;
    uint32_t group_count, meet_count;  /* so far: which of two addresses */
    char began, met[2], group_done[2]; /* addresses to give and take at */
};

typedef struct machine {
    const mr__emulation *emulation;
    mr__gang *gangs[GANGS];
    uint64_t dice;
} machine;

static uint64_t throw_dice(uint64_t *dice)
{
    *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *dice >> 33;
}

/* 0 to n - 1, shuffled unless the seed is 0. */
static void deal(uint64_t *dice, bool shuffled, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; shuffled && i > 1; i--) {
        uint32_t j = (uint32_t)(throw_dice(dice) % i), was = order[i - 1];
        order[i - 1] = order[j];
        order[j] = was;
    }
}

/* 1. What kernels call. */

MR__UNWATCHED static void note_wrong(mr__gang *g, const char *what, int line)
{
    if (g->wrong == NULL) {
        g->wrong = what;
        g->wrong_line = line;
    }
}

/* Gives n, and comes back when all lanes have given theirs. */
MR__UNWATCHED static void meet(mr_lane lane, uint32_t n, int line)
{
    mr__gang *g = lane.gang;
    lane_state *l = &g->lanes[lane.id];
    if (g->kernel->lanes != MR__TEAM_LANES) {
        note_wrong(g, "has lanes that are alone, and they come to a collective word", line);
        return;
    }
    char *met = &g->met[g->meet_count % 2];
    l->given = n;
    l->line = line;
    mr__sync_give(met);
    mr__fiber_wait(l->fiber);
    mr__sync_take(met);
}

/* The first lane that comes to it makes it. */
MR__UNWATCHED static bool make_allot(mr__gang *g, size_t nbytes)
{
    uint64_t takes = ((uint64_t)nbytes + 63) / 64 * 64 + SHARED_GAP;
    if (g->allot_count == ALLOTS_MAX || g->shared_used + takes > SHARED_BLOCK)
        return false;
    g->allots[g->allot_count++] = (allot){g->shared_used, (uint32_t)nbytes};
    g->shared_used += (uint32_t)takes;
    uint32_t all = 0;
    for (uint32_t i = 0; i < g->allot_count; i++)
        all += g->allots[i].nbytes;
    return all <= MR__SHARED_NBYTES;
}

MR__UNWATCHED void *mr__gang_allot(mr_lane lane, size_t nbytes, int line)
{
    mr__gang *g = lane.gang;
    uint32_t number = g->lanes[lane.id].allots++;
    if (g->kernel->lanes != MR__TEAM_LANES) {
        note_wrong(g, "has lanes that are alone, and they ask for shared memory", line);
        mr__unpoison(g->shared, SHARED_BLOCK); // that is what it ends with
        return g->shared;
    }
    if (number == g->allot_count && !make_allot(g, nbytes))
        note_wrong(g, "asks for more shared memory than every device has", line);
    else if (g->allots[number].nbytes != nbytes)
        note_wrong(g, "has lanes that ask for different shared memory", line);
    else
        mr__unpoison(g->shared + g->allots[number].at, nbytes);
    while (g->wrong != NULL)
        meet(lane, 0, line); // it cannot go on; run_group sees why
    return g->shared + g->allots[number].at;
}

void mr__gang_barrier(mr_lane lane, int line)
{
    meet(lane, 0, line);
}

MR__UNWATCHED uint32_t mr__gang_ballot(mr_lane lane, bool yes, int line)
{
    uint32_t all = 0;
    meet(lane, yes, line);
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        all |= lane.gang->words[i] << i;
    return all;
}

MR__UNWATCHED uint32_t mr__gang_scan(mr_lane lane, uint32_t n, int line)
{
    uint32_t sum = 0;
    meet(lane, n, line);
    for (uint32_t i = 0; i < lane.id && i < MR__TEAM_LANES; i++)
        sum += lane.gang->words[i];
    return sum;
}

MR__UNWATCHED uint32_t mr__gang_sum(mr_lane lane, uint32_t n, int line)
{
    uint32_t sum = 0;
    meet(lane, n, line);
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        sum += lane.gang->words[i];
    return sum;
}

MR__UNWATCHED uint32_t mr__gang_shuffle(mr_lane lane, uint32_t n, uint32_t from, int line)
{
    meet(lane, n, line);
    return lane.gang->words[from & (MR__TEAM_LANES - 1)];
}

/* 2. A group. */

/* Of lanes that are alone, fiber i runs the ith one, and every so many after it. */
MR__UNWATCHED static void run_fiber(void *arg)
{
    lane_state *l = arg;
    mr__gang *g = l->gang;
    bool team = g->kernel->lanes == MR__TEAM_LANES;
    mr__sync_take(&g->began);
    mr__sync_take(&g->group_done[1 - g->group_count % 2]);
    for (uint32_t i = l->id; i < g->kernel->lanes; i += team ? MR__TEAM_LANES : ALONE_FIBERS)
        g->kernel->run((mr_lane){team ? i : g->order[i], g}, g->group, g->arena, g->out, g->list);
    mr__sync_give(&g->group_done[g->group_count % 2]);
    l->line = 0;
    l->ended = true;
}

/* Nobody may count on zeros. Not by memset, which TSan sees. */
MR__UNWATCHED static void spoil_shared(mr__gang *g)
{
    volatile uint64_t *words = (uint64_t *)(void *)g->shared;
    mr__unpoison(g->shared, SHARED_BLOCK);
    for (uint32_t i = 0; i < g->shared_used / sizeof *words; i++)
        words[i] = UINT64_C(0xa5a5a5a5a5a5a5a5);
    mr__poison(g->shared, SHARED_BLOCK);
    g->shared_used = SHARED_GAP;
    g->allot_count = 0;
}

/* MR_ENOMEM: there is no stack for a lane. */
MR__UNWATCHED static int begin_lanes(mr__gang *g, uint32_t fibers)
{
    spoil_shared(g);
    for (uint32_t i = 0; i < MR__ALONE_LANES; i++) {
        lane_state *l = &g->lanes[i];
        *l = (lane_state){.gang = g, .fiber = l->fiber, .id = i};
        if (i >= fibers)
            continue;
        if (l->fiber == NULL && (l->fiber = mr__fiber_new(g->emulation->hooks)) == NULL)
            return MR_ENOMEM;
        mr__fiber_begin(l->fiber, run_fiber, l);
    }
    mr__sync_give(&g->began);
    return 0;
}

/* From one collective word to the next. */
MR__UNWATCHED static void run_stretch(mr__gang *g, uint64_t *dice)
{
    deal(dice, g->emulation->seed != 0, g->order, MR__TEAM_LANES);
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        (void)mr__fiber_go(g->lanes[g->order[i]].fiber);
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        g->words[i] = g->lanes[i].given;
    g->meet_count++;
}

MR__UNWATCHED static int check_lanes(const mr__gang *g, mr__detail *detail)
{
    const lane_state *first = &g->lanes[0];
    uint32_t lanes = g->kernel->lanes == MR__TEAM_LANES ? MR__TEAM_LANES : 1;
    if (g->wrong != NULL)
        return mr__fail(detail, MR_EINTERNAL, "kernel %s %s (line %d)", g->kernel->name, g->wrong, g->wrong_line);
    for (const lane_state *l = first + 1; l < first + lanes; l++)
        if (l->line != first->line || l->ended != first->ended)
            return mr__fail(detail, MR_EINTERNAL,
                            "kernel %s has diverged: lane 0 is at line %d, lane %u at line %d (0: it has ended)",
                            g->kernel->name, first->line, l->id, l->line);
    return 0;
}

MR__UNWATCHED static void run_alone(mr__gang *g, uint64_t *dice)
{
    deal(dice, g->emulation->seed != 0, g->order, MR__ALONE_LANES);
    for (int i = 0; i < ALONE_FIBERS; i++)
        (void)mr__fiber_go(g->lanes[i].fiber);
    for (uint32_t i = 0; i < MR__ALONE_LANES && ALONE_FIBERS == 0; i++)
        g->kernel->run((mr_lane){g->order[i], g}, g->group, g->arena, g->out, g->list);
}

static int run_group(mr__gang *g, uint32_t group, uint64_t *dice, mr__detail *detail)
{
    bool team = g->kernel->lanes == MR__TEAM_LANES;
    g->group = group;
    g->group_count++;
    int result = begin_lanes(g, team ? MR__TEAM_LANES : ALONE_FIBERS);
    if (result != 0)
        return mr__fail(detail, result, "out of memory for the lanes of kernel %s", g->kernel->name);
    do {
        if (team)
            run_stretch(g, dice);
        else
            run_alone(g, dice);
        result = check_lanes(g, detail);
    } while (result == 0 && team && !g->lanes[0].ended);
    return result;
}

/* 3. Gangs. */

static void gang_free(mr__gang *g)
{
    if (g == NULL)
        return;
    const mr_hooks *hooks = g->emulation->hooks;
    for (uint32_t i = 0; i < MR__ALONE_LANES; i++)
        mr__fiber_free(g->lanes[i].fiber);
    if (g->shared != NULL)
        mr__unpoison(g->shared, SHARED_BLOCK);
    mr__free(hooks, g->shared);
    mr__free(hooks, g);
}

static mr__gang *gang_new(const mr__emulation *emulation, uint8_t *arena, uint8_t *out)
{
    mr__gang *g = mr__alloc_zero(emulation->hooks, sizeof *g);
    if (g == NULL)
        return NULL;
    g->emulation = emulation;
    g->arena = arena;
    g->out = out;
    g->shared = mr__alloc(emulation->hooks, SHARED_BLOCK);
    g->shared_used = SHARED_BLOCK;
    if (g->shared != NULL)
        return g;
    gang_free(g);
    return NULL;
}

static void machine_fini(machine *m)
{
    for (size_t i = 0; i < GANGS; i++)
        gang_free(m->gangs[i]);
}

static int machine_init(machine *m, const mr__emulation *emulation, uint8_t *arena, uint8_t *out, mr__detail *detail)
{
    *m = (machine){.emulation = emulation, .dice = emulation->seed};
    for (size_t i = 0; i < GANGS; i++)
        if ((m->gangs[i] = gang_new(emulation, arena, out)) == NULL) {
            machine_fini(m);
            return mr__fail(detail, MR_ENOMEM, "out of memory to emulate a device");
        }
    return 0;
}

/* 4. Launches. */

static void begin_launch(machine *m, const mr__lane_kernel *kernel, uint32_t list)
{
    for (size_t i = 0; i < GANGS; i++) {
        m->gangs[i]->kernel = kernel;
        m->gangs[i]->list = list;
    }
}

/* Also after an error, where lanes are in their middle. */
static void end_launch(machine *m)
{
    for (size_t i = 0; i < GANGS; i++)
        for (size_t k = 0; k < 2; k++) {
            mr__sync_take(&m->gangs[i]->group_done[k]);
            mr__sync_take(&m->gangs[i]->met[k]);
        }
}

static int run_launch(machine *m, const mr__lane_kernel *kernel, uint32_t list, uint32_t groups, mr__detail *detail)
{
    int result = 0;
    uint32_t *order = NULL;
    bool shuffled = m->emulation->seed != 0;
    if (shuffled && (order = mr__alloc_array(m->emulation->hooks, groups, sizeof *order)) == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory to emulate %u groups", groups);
    if (shuffled)
        deal(&m->dice, true, order, groups);
    begin_launch(m, kernel, list);
    for (uint32_t i = 0; i < groups && result == 0; i++)
        result = run_group(m->gangs[i % GANGS], shuffled ? order[i] : i, &m->dice, detail);
    end_launch(m);
    mr__free(m->emulation->hooks, order);
    return result;
}

int mr__emulate(const mr__emulation *emulation, const mr__launch *launches, size_t count, uint8_t *arena, uint8_t *out,
                mr__detail *detail)
{
    machine m;
    int result = machine_init(&m, emulation, arena, out, detail);
    if (result != 0)
        return result;
    mr__lane_kernel guest = {"guest", emulation->guest, MR__TEAM_LANES};
    for (size_t i = 0; i < count && result == 0; i++) {
        bool is_guest = launches[i].kernel == MR__KERNEL_GUEST;
        if (is_guest && guest.run == NULL)
            result = mr__fail(detail, MR_EUNSUPPORTED, "a tape has a kernel that nobody brought along");
        else
            result = run_launch(&m, is_guest ? &guest : &kernels[launches[i].kernel], launches[i].list,
                                launches[i].groups, detail);
    }
    machine_fini(&m);
    return result;
}

int mr__emulate_function(const mr__emulation *emulation, const mr__lane_kernel *kernel, uint32_t list, uint32_t groups,
                         uint8_t *arena, uint8_t *out, mr__detail *detail)
{
    machine m;
    int result = machine_init(&m, emulation, arena, out, detail);
    if (result != 0)
        return result;
    result = run_launch(&m, kernel, list, groups, detail);
    machine_fini(&m);
    return result;
}
