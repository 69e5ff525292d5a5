// SPDX-License-Identifier: Apache-2.0
/* The turns of Millrace: a loader that nobody slows down, and preparers that share nothing. */
#define _GNU_SOURCE
#include "loader_race.h"

#include <millrace/loader.h>
#include <stdlib.h>

enum { DETAIL_NBYTES = 512 };

/* What a turn works on. The process ends with the turn, so that nothing is freed. */
typedef struct bench_set {
    mr_dataset *dataset;
    mr_recipe *recipe;
    mr_output output;
    mr_loader_options options;
    double opened_ns; /* when */
} bench_set;

static void open_set(bench_set *s, const options *o, const contest *c, const racer *r, figures *f)
{
    char path[PATH_NBYTES];
    const char *paths[] = {path};
    path_in(o, r->path, path);
    double begin = wall_ns();
    if (mr_dataset_new(NULL, &s->dataset) != 0)
        need(NULL);
    if (mr_dataset_open(s->dataset, paths, 1) != 0)
        fail("%s", mr_dataset_detail(s->dataset));
    s->opened_ns = wall_ns();
    f->open_s = (s->opened_ns - begin) / 1e9;
    if (mr_recipe_new(NULL, &s->recipe) != 0)
        need(NULL);
    s->output.struct_size = sizeof s->output;
    if (mr_recipe_parse(s->recipe, c->recipe) != 0 || mr_recipe_output(s->recipe, &s->output) != 0)
        fail("%s: %s", c->recipe, mr_recipe_detail(s->recipe));
    s->options = (mr_loader_options){.struct_size = sizeof s->options,
                                     .batch = o->batch,
                                     .seed = o->seed,
                                     .epochs = c->epochs,
                                     .order = c->validation ? MR_ORDER_SEQUENTIAL : MR_ORDER_SHUFFLED,
                                     .has_rank = true,
                                     .world = 1,
                                     .drop_last = true,
                                     .threads = r->threads};
}

/* The next batch is given back at once. Its samples, or 0 at the end. */
static uint64_t take_batch(mr_loader *loader)
{
    mr_batch *batch = NULL;
    if (mr_loader_next(loader, &batch) != 0)
        fail("%s", mr_loader_detail(loader));
    uint64_t samples = batch != NULL ? batch->count : 0;
    mr_batch_release(batch);
    return samples;
}

void turn_loader(const options *o, const contest *c, const racer *r, figures *f)
{
    mr_loader_stats stats = {.struct_size = sizeof stats};
    bench_set s = {.dataset = NULL};
    char detail[DETAIL_NBYTES];
    mr_loader *loader = NULL;
    open_set(&s, o, c, r, f);
    uint64_t samples = whole_batches(o, mr_dataset_count(s.dataset)) * c->epochs;
    if (mr_loader_new(s.dataset, s.recipe, &s.options, &loader, detail, sizeof detail) != 0)
        fail("%s", detail);
    samples -= take_batch(loader);
    f->first_s = (wall_ns() - s.opened_ns) / 1e9;
    double wall = wall_ns(), core = process_ns();
    while (f->samples < samples) {
        uint64_t taken = take_batch(loader);
        if (taken == 0)
            fail("%s: the loader ended after %llu samples", r->name, (unsigned long long)f->samples);
        f->samples += taken;
    }
    f->wall_s = (wall_ns() - wall) / 1e9;
    f->core_s = (process_ns() - core) / 1e9;
    if (take_batch(loader) != 0)
        fail("%s: the loader gives more than its epochs have", r->name);
    if (mr_loader_get_stats(loader, &stats) == 0)
        f->from_disk = stats.reads_waited;
    mr_loader_free(loader);
}

/* One thread's. */
typedef struct preparing {
    mr_preparer *preparer;
    const uint64_t *order;
    uint64_t count; /* samples of an epoch */
} preparing;

static bool prepare(void *worker, uint64_t number, void *to)
{
    const preparing *p = worker;
    uint64_t epoch = number / p->count;
    if (mr_preparer_run(p->preparer, p->order[number % p->count], epoch, 0, to) == 0)
        return true;
    fprintf(stderr, "loader: %s\n", mr_preparer_detail(p->preparer));
    return false;
}

void turn_preparers(const options *o, const contest *c, const racer *r, figures *f)
{
    bench_set s = {.dataset = NULL};
    char detail[DETAIL_NBYTES];
    crew all;
    open_set(&s, o, c, r, f);
    uint64_t count = whole_batches(o, mr_dataset_count(s.dataset));
    const uint64_t *order = order_new(mr_dataset_count(s.dataset), !c->validation, o->seed);
    preparing *workers = need(calloc(r->threads, sizeof *workers));
    crew_init(&all, o, r->threads, s.output.sample_nbytes);
    all.work = prepare;
    for (unsigned t = 0; t < r->threads; t++) {
        workers[t] = (preparing){.order = order, .count = count};
        all.workers[t] = &workers[t];
        if (mr_preparer_new(s.dataset, s.recipe, &s.options, &workers[t].preparer, detail, sizeof detail) != 0)
            fail("%s", detail);
    }
    crew_measure(&all, o, count * c->epochs, s.opened_ns, f);
    for (unsigned t = 0; t < r->threads; t++)
        mr_preparer_free(workers[t].preparer);
}
