// SPDX-License-Identifier: Apache-2.0
/*
 * Tasks go to devices that do nothing, and come back in the order they went: what is left is the crew and its
 * scheduler. Told: what jobs cost is given; learning: the cost model predicts it, and learns from each.
 */
#include "sched_run.h"

#include "common.h"
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 3, DEVICES = 2, LANES_MAX = 64, MEAN_NS = 5000000 };

typedef struct idler {
    mr__device device; /* first */
    uint32_t lanes, group;
} idler;

static mr__device_info tell_info(const mr__device *device)
{
    const idler *i = (const idler *)device;
    return (mr__device_info){.lanes = i->lanes, .depth = i->lanes, .group = i->group};
}

static const mr__device_type type = {.name = "idler", .info = tell_info};

typedef struct shop {
    idler idlers[DEVICES];
    mr__device *devices[DEVICES];
    mr__crew *crew;
    uint32_t batch, per_job;
    mr__task *tasks; /* of each slot */
    bool learns;
    uint64_t now_ns;
    mr__gift sent[LANES_MAX + 1]; /* a ring */
    size_t head, tail;
    uint32_t open[SLOTS];
    uint64_t opened, done;
    mr__features *features;
} shop;

static const char *const names[DEVICES] = {"cpu", "acc"};
static const uint64_t launches_ns[DEVICES] = {0, 300000};

static double cost_of(uint64_t number)
{
    return 1e6 + (double)(number * 2654435761u % 4096) * 2e3;
}

static void open_batch(shop *s, uint32_t slot)
{
    uint32_t batch, count = 0;
    mr__job *jobs = mr__crew_open(s->crew, &batch);
    mr__task *tasks = s->tasks + (size_t)slot * s->batch;
    for (uint32_t i = 0; i < s->batch; i += s->per_job, count++) {
        double ns = cost_of(s->opened + i) * (s->per_job > 1 ? 0.1 : 1);
        for (uint32_t k = i; k < i + s->per_job; k++)
            tasks[k] = (mr__task){.ordinal = k, .batch = &s->open[slot], .busy_ns = (uint64_t)ns / s->per_job};
        for (uint32_t k = i; k + 1 < i + s->per_job; k++)
            tasks[k].next = &tasks[k + 1];
        jobs[count].first = &tasks[i];
        jobs[count].count = s->per_job;
        jobs[count].stored_nbytes = (uint64_t)ns;
        jobs[count].need_nbytes = 0;
        jobs[count].ns[0] = (float)ns;
        jobs[count].ns[1] = (float)(ns / 8);
        s->features[count] = (mr__features){0};
        s->features[count].ns[MR__WORK_DECODED] = (float)ns;
        s->features[count].ns[MR__WORK_SHRUNK] = (float)ns / 3;
    }
    s->open[slot] = s->batch;
    s->opened += s->batch;
    mr__crew_add(s->crew, batch, count, s->features, NULL, s->now_ns);
}

/* What was sent first comes back. */
static void give_back(shop *s)
{
    mr__gift gift = s->sent[s->head % (LANES_MAX + 1)];
    s->now_ns += MEAN_NS / s->idlers[0].lanes; // about as fast as lanes would be
    s->head++;
    uint32_t *open = gift.first->batch;
    for (mr__task *task = gift.first; task != NULL; task = task->next)
        task->busy_ns = gift.device == 0 ? task->busy_ns : task->busy_ns / 8 + launches_ns[1] / gift.count;
    mr__task *settled;
    size_t count = mr__crew_done(s->crew, gift.first, s->now_ns, &settled);
    *open -= (uint32_t)count;
    s->done += count;
}

static double play_shop(shop *s, uint64_t tasks)
{
    double begun = process_ns();
    uint64_t from = s->done;
    while (s->done - from < tasks) {
        for (uint32_t i = 0; i < SLOTS; i++)
            if (s->open[i] == 0)
                open_batch(s, i);
        mr__gift gift;
        while (mr__crew_next(s->crew, s->now_ns, &gift))
            s->sent[s->tail++ % (LANES_MAX + 1)] = gift;
        (void)mr__crew_wake_ns(s->crew, s->now_ns);
        give_back(s);
    }
    return (process_ns() - begun) / (double)(s->done - from);
}

static double measure(const options *o, uint32_t lanes, uint32_t per_job, bool learns)
{
    shop s = {.batch = per_job > 1 ? 32 * 128 : 240, .per_job = per_job, .learns = learns};
    mr_hooks hooks;
    must(mr__hooks_init(&hooks, NULL), "hooks", "");
    s.idlers[0] = (idler){{&type}, lanes - 1, 1};
    s.idlers[1] = (idler){{&type}, 1, 64};
    for (uint32_t i = 0; i < DEVICES; i++)
        s.devices[i] = &s.idlers[i].device;
    mr__crew_options crew = {.hooks = &hooks,
                             .devices = s.devices,
                             .names = names,
                             .launch_ns = launches_ns,
                             .device_count = DEVICES,
                             .batches = SLOTS,
                             .jobs = s.batch / per_job,
                             .told = !learns};
    must(mr__crew_new(&crew, &s.crew), "crew", "");
    s.tasks = calloc((size_t)SLOTS * s.batch, sizeof *s.tasks);
    s.features = calloc(s.batch, sizeof *s.features);
    must(s.tasks != NULL && s.features != NULL ? 0 : MR_ENOMEM, "tasks", "");
    double ns = play_shop(&s, o->tasks);
    mr__crew_free(s.crew);
    free(s.features);
    free(s.tasks);
    return ns;
}

static void print_overhead(const options *o, const char *what, uint32_t lanes, double ns)
{
    if (o->json)
        printf("{\"table\":\"overhead\",\"what\":\"%s\",\"lanes\":%u,\"ns\":%.1f}\n", what, lanes, ns);
    else
        printf("%-32s %4u lanes %8.2f us a task %12.0f tasks/s\n", what, lanes, ns / 1e3, 1e9 / ns);
    fflush(stdout);
}

void run_overhead(const options *o)
{
    static const uint32_t lanes[] = {2, 16, 64};
    static play p;
    bool kept = true;
    predict(o, "overhead",
            "a task of its own costs <= 5 us of one core, one of 32 that go together <= 0.5 us, at 64 lanes too: more\n"
            "    than 100,000 tasks a second (C9); and a simulation does 10^6 tasks a second");
    for (uint32_t row = 0; row < 12; row++) {
        static const char *const what[] = {"one sample, told", "32 tiny samples, told", "one sample, learning",
                                           "32 tiny samples, learning"};
        uint32_t kind = row % 2 + 2 * (row / 6);
        if (o->row != 0 && o->row != row + 1)
            continue;
        double ns = measure(o, lanes[row / 2 % 3], kind % 2 == 0 ? 1 : 32, kind >= 2);
        print_overhead(o, what[kind], lanes[row / 2 % 3], ns);
        kept = kept && ns <= (kind % 2 == 0 ? 5000 : 500);
    }
    if (o->row != 0)
        return;
    if (!o->quick)
        judge(o, "overhead", "C9", kept);
    play_init(&p, o, 4, 4, MR__LOAD_LIGHT, 240, 100);
    p.rig.batches = o->tasks / 240 + 1;
    double begun = process_ns();
    play_run(&p, 0);
    double ns = process_ns() - begun;
    print_overhead(o, "simulated, auto, told", 5, ns / (double)p.result.tasks);
}
