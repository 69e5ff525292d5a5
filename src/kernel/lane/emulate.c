// SPDX-License-Identifier: Apache-2.0
/*
 * A team's lanes are contexts of one thread: a lane runs until it comes to a collective word, then the next one does,
 * and when all are there, all go on. Lanes that are alone are a loop.
 */
#include "kernel/lane/emulate.h"

#include "kernel/lane/all.h"

#include <string.h>
#include <ucontext.h>

enum { STACK_NBYTES = 256 << 10, ALLOTS_MAX = 16 };

#define FUNCTION(name, lanes) mr__kernel_##name,
static mr__kernel_function *const functions[] = {MR__KERNELS(FUNCTION)};
#undef FUNCTION

/* One lane of a team. */
typedef struct fiber {
    ucontext_t context;
    uint8_t *stack;
    int line;        /* that it waits at; 0: it has not begun, or has ended */
    bool ended;      /* */
    uint32_t allots; /* that it has come to */
    uint32_t given;  /* what it gave to the word it waits at */
} fiber;

struct mr__gang {
    const mr__emulation *emulation;
    mr__kernel kernel;
    uint32_t group, list;
    uint8_t *arena, *out;
    ucontext_t outside;
    uint32_t running; /* the lane that is */
    fiber fibers[MR__TEAM_LANES];
    uint32_t words[MR__TEAM_LANES]; /* what all have given, while they go on */
    void *allots[ALLOTS_MAX];
    size_t allot_nbytes[ALLOTS_MAX];
    bool no_memory;
    uint64_t random;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* 0 to n - 1, shuffled unless the seed is 0. */
static void deal(uint64_t *random, bool shuffled, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; shuffled && i > 1; i--) {
        uint32_t j = (uint32_t)(next_random(random) % i), was = order[i - 1];
        order[i - 1] = order[j];
        order[j] = was;
    }
}

/* 1. What kernels call. */

static fiber *fiber_of(mr_lane lane)
{
    return &lane.gang->fibers[lane.id];
}

/* Gives n, and comes back when all lanes have given theirs. */
static void meet(mr_lane lane, uint32_t n, int line)
{
    fiber *f = fiber_of(lane);
    f->given = n;
    f->line = line;
    (void)swapcontext(&f->context, &lane.gang->outside);
}

void *mr__gang_allot(mr_lane lane, size_t nbytes, int line)
{
    mr__gang *g = lane.gang;
    uint32_t number = fiber_of(lane)->allots++;
    if (number >= ALLOTS_MAX || (g->allots[number] != NULL && g->allot_nbytes[number] != nbytes))
        g->no_memory = true;
    else if (g->allots[number] == NULL && (g->allots[number] = mr__alloc(g->emulation->hooks, nbytes)) != NULL) {
        memset(g->allots[number], 0xa5, nbytes); // nobody may count on zeros
        g->allot_nbytes[number] = nbytes;
    }
    if (number >= ALLOTS_MAX || g->allots[number] == NULL)
        g->no_memory = true;
    if (g->no_memory)
        for (;;)
            meet(lane, 0, -line); // it cannot go on; run_team sees why
    return g->allots[number];
}

void mr__gang_barrier(mr_lane lane, int line)
{
    meet(lane, 0, line);
}

uint32_t mr__gang_ballot(mr_lane lane, bool yes, int line)
{
    uint32_t all = 0;
    meet(lane, yes, line);
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        all |= lane.gang->words[i] << i;
    return all;
}

uint32_t mr__gang_scan(mr_lane lane, uint32_t n, int line)
{
    uint32_t sum = 0;
    meet(lane, n, line);
    for (uint32_t i = 0; i < lane.id; i++)
        sum += lane.gang->words[i];
    return sum;
}

uint32_t mr__gang_sum(mr_lane lane, uint32_t n, int line)
{
    uint32_t sum = 0;
    meet(lane, n, line);
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        sum += lane.gang->words[i];
    return sum;
}

uint32_t mr__gang_shuffle(mr_lane lane, uint32_t n, uint32_t from, int line)
{
    meet(lane, n, line);
    return lane.gang->words[from & (MR__TEAM_LANES - 1)];
}

/* 2. A team. */

/* A context's function has ints for arguments: a pointer takes two. */
static void run_lane(unsigned high, unsigned low)
{
    mr__gang *g = (mr__gang *)((uintptr_t)high << 16 << 16 | (uintptr_t)low);
    mr_lane lane = {g->running, g};
    mr__kernel_function *function = g->kernel == MR__KERNEL_GUEST ? g->emulation->guest : functions[g->kernel];
    function(lane, g->group, g->arena, g->out, g->list);
    fiber *f = fiber_of(lane);
    f->line = 0;
    f->ended = true;
    (void)swapcontext(&f->context, &g->outside);
}

static void begin_lanes(mr__gang *g)
{
    uintptr_t at = (uintptr_t)g;
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++) {
        fiber *f = &g->fibers[i];
        f->line = 0;
        f->ended = false;
        f->allots = 0;
        (void)getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->stack;
        f->context.uc_stack.ss_size = STACK_NBYTES;
        f->context.uc_link = NULL;
        makecontext(&f->context, (void (*)(void))run_lane, 2, (unsigned)(at >> 16 >> 16), (unsigned)at);
    }
}

/* From one collective word to the next. */
static void run_stretch(mr__gang *g)
{
    uint32_t order[MR__TEAM_LANES];
    deal(&g->random, g->emulation->seed != 0, order, MR__TEAM_LANES);
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++) {
        g->running = order[i];
        (void)swapcontext(&g->outside, &g->fibers[order[i]].context);
    }
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        g->words[i] = g->fibers[i].given;
}

static int check_lanes(const mr__gang *g, mr__detail *detail)
{
    if (g->no_memory)
        return mr__fail(detail, MR_ENOMEM, "out of memory for the lanes of kernel %s", mr__kernel_name(g->kernel));
    for (uint32_t i = 1; i < MR__TEAM_LANES; i++)
        if (g->fibers[i].line != g->fibers[0].line || g->fibers[i].ended != g->fibers[0].ended)
            return mr__fail(detail, MR_EINTERNAL,
                            "kernel %s has diverged: lane 0 is at line %d, lane %u at line %d (0: it has ended)",
                            mr__kernel_name(g->kernel), g->fibers[0].line, i, g->fibers[i].line);
    return 0;
}

static int run_team(mr__gang *g, mr__detail *detail)
{
    int result = 0;
    begin_lanes(g);
    while (result == 0 && !g->fibers[0].ended) {
        run_stretch(g);
        result = check_lanes(g, detail);
    }
    for (size_t i = 0; i < ALLOTS_MAX; i++) {
        mr__free(g->emulation->hooks, g->allots[i]);
        g->allots[i] = NULL;
    }
    return result;
}

static void gang_free(mr__gang *g)
{
    const mr_hooks *hooks = g->emulation->hooks;
    for (uint32_t i = 0; i < MR__TEAM_LANES; i++)
        mr__free(hooks, g->fibers[i].stack);
    mr__free(hooks, g);
}

static mr__gang *gang_new(const mr__emulation *emulation)
{
    mr__gang *g = mr__alloc_zero(emulation->hooks, sizeof *g);
    bool all = g != NULL;
    if (g == NULL)
        return NULL;
    g->emulation = emulation;
    g->random = emulation->seed;
    for (uint32_t i = 0; i < MR__TEAM_LANES && all; i++)
        all = (g->fibers[i].stack = mr__alloc(emulation->hooks, STACK_NBYTES)) != NULL;
    if (!all)
        gang_free(g);
    return all ? g : NULL;
}

/* 3. Launches. */

static int run_group(mr__gang *g, uint32_t group, mr__detail *detail)
{
    uint32_t order[MR__ALONE_LANES], lanes = mr__kernel_lanes(g->kernel);
    g->group = group;
    if (lanes == MR__TEAM_LANES)
        return run_team(g, detail);
    deal(&g->random, g->emulation->seed != 0, order, lanes);
    for (uint32_t i = 0; i < lanes; i++)
        functions[g->kernel]((mr_lane){order[i], g}, group, g->arena, g->out, g->list);
    return 0;
}

static int run_launch(mr__gang *g, const mr__launch *launch, mr__detail *detail)
{
    int result = 0;
    uint32_t *order = NULL;
    bool shuffled = g->emulation->seed != 0;
    if (launch->kernel == MR__KERNEL_GUEST && g->emulation->guest == NULL)
        return mr__fail(detail, MR_EUNSUPPORTED, "a tape has a kernel that nobody brought along");
    if (shuffled && (order = mr__alloc_array(g->emulation->hooks, launch->groups, sizeof *order)) == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory to emulate %u groups", launch->groups);
    if (shuffled)
        deal(&g->random, true, order, launch->groups);
    g->kernel = launch->kernel;
    g->list = launch->list;
    for (uint32_t i = 0; i < launch->groups && result == 0; i++)
        result = run_group(g, shuffled ? order[i] : i, detail);
    mr__free(g->emulation->hooks, order);
    return result;
}

int mr__emulate(const mr__emulation *emulation, const mr__launch *launches, size_t count, uint8_t *arena, uint8_t *out,
                mr__detail *detail)
{
    int result = 0;
    mr__gang *g = gang_new(emulation);
    if (g == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory to emulate a device");
    g->arena = arena;
    g->out = out;
    for (size_t i = 0; i < count && result == 0; i++)
        result = run_launch(g, &launches[i], detail);
    gang_free(g);
    return result;
}
