// SPDX-License-Identifier: Apache-2.0
#include "cost_race.h"

#include "base/rng.h"
#include "common.h"
#include "loader/order.h"
#include "route/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 1 };

static const char *const names[MR__WORK_KINDS] = {"task", "bytes",  "passed",  "decoded", "whole",
                                                  "area", "shrunk", "made",    "table",   "color",
                                                  "near", "warp",   "sampled", "heavy",   "user"};

/* Who predicts, each from what it may know. */
enum { BY_BYTES, BY_UNSIZED, BY_ALL, PREDICTORS };

typedef struct predictor {
    mr__cost cost;
    double *errors;
} predictor;

typedef struct run {
    mr_dataset *dataset;
    mr_recipe *recipe;
    mr_preparer *preparer;
    uint32_t form;
    uint32_t *draws;
    void *slot;
    mr__chain chain;
    predictor predictors[PREDICTORS];
    size_t count; /* of errors */
} run;

static double prepare(run *r, uint64_t ordinal, uint64_t epoch)
{
    double begun = thread_ns();
    must(mr_preparer_run(r->preparer, ordinal, epoch, 0, r->slot), "prepare", mr_preparer_detail(r->preparer));
    return thread_ns() - begun;
}

static void look(run *r, uint64_t ordinal, uint64_t epoch, mr__features features[PREDICTORS])
{
    mr__header header;
    mr__recipe_draw(r->recipe, SEED, (uint32_t)epoch, mr__order_key(mr_dataset_count(r->dataset), ordinal, 0),
                    r->draws);
    must(mr__header_of(r->dataset, ordinal, r->form, &header), "the index", "");
    mr__features_of(r->recipe, r->draws, &header, &r->chain, &features[BY_ALL]);
    mr__features_of_bytes(header.nbytes, &features[BY_BYTES]);
    header = (mr__header){.nbytes = header.nbytes, .form = header.form};
    mr__features_of(r->recipe, r->draws, &header, &r->chain, &features[BY_UNSIZED]);
}

static void run_sample(run *r, uint64_t ordinal, uint64_t epoch, bool counts)
{
    mr__features features[PREDICTORS];
    look(r, ordinal, epoch, features);
    double actual = prepare(r, ordinal, epoch);
    for (size_t i = 0; i < PREDICTORS; i++) {
        predictor *p = &r->predictors[i];
        if (counts)
            p->errors[r->count] = fabs(mr__cost_predict(&p->cost, &features[i]) / actual - 1.0);
        mr__cost_learn(&p->cost, &features[i], (uint64_t)actual);
    }
    r->count += counts;
}

static void print_weights(const mr__cost *cost)
{
    printf("    learned, as multiples of the prices:");
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        if (cost->product[i][i] != 0.0)
            printf(" %s %.2f", names[i], cost->weight[i] * cost->scale);
    printf("\n");
}

static void measure_form(mr_dataset *dataset, mr_recipe *recipe, const char *form, const char *text, const options *o)
{
    run *r = need(calloc(1, sizeof *r));
    mr_loader_options loading = {.struct_size = sizeof loading, .seed = SEED, .form = form};
    mr_output output = {.struct_size = sizeof output};
    char detail[512] = "";
    uint64_t samples = mr_dataset_count(dataset);
    r->dataset = dataset;
    r->recipe = recipe;
    must(mr_dataset_find_form(dataset, form, &r->form), form, "");
    must(mr_recipe_output(recipe, &output), text, "");
    must(mr_preparer_new(dataset, recipe, &loading, &r->preparer, detail, sizeof detail), text, detail);
    r->slot = need(malloc(output.sample_nbytes));
    r->draws = need(malloc((mr__recipe_draw_count(recipe) + 1) * sizeof *r->draws));
    for (size_t i = 0; i < PREDICTORS; i++) {
        mr__cost_init(&r->predictors[i].cost);
        r->predictors[i].errors = need(malloc(o->samples * sizeof(double)));
    }
    for (uint64_t i = 0; i < samples; i++) // what is read is in memory, and what is kept is there
        prepare(r, i, 1000);
    for (uint64_t i = 0; i < o->learned + o->samples; i++)
        run_sample(r, i * 7919 % samples, i / samples, i >= o->learned);
    printf("| %s | %s |", text, form);
    for (size_t i = 0; i < PREDICTORS; i++) {
        double *errors = r->predictors[i].errors;
        printf(" %.0f, %.0f %% |", 100.0 * median(errors, r->count), 100.0 * quantile(errors, r->count, 0.9));
    }
    printf(" %.2f |\n", mr__cost_sigma(&r->predictors[BY_ALL].cost));
    if (o->weights)
        print_weights(&r->predictors[BY_ALL].cost);
    for (size_t i = 0; i < PREDICTORS; i++)
        free(r->predictors[i].errors);
    free(r->slot);
    free(r->draws);
    mr_preparer_free(r->preparer);
    free(r);
}

static mr_recipe *parse(const char *text)
{
    mr_recipe *recipe;
    must(mr_recipe_new(NULL, &recipe), "recipe", "");
    must(mr_recipe_parse(recipe, text), text, mr_recipe_detail(recipe));
    return recipe;
}

void measure_recipe(mr_dataset *dataset, const char *text, const options *o)
{
    mr_recipe *recipe = parse(text);
    measure_form(dataset, recipe, "jpeg", text, o);
    measure_form(dataset, recipe, "l3", text, o);
    mr_recipe_free(recipe);
}

enum { TURNS = 200000, DRAWN = 256 };

/* The four calls over many samples, so that nothing is foreseen; the times between them. */
static void time_calls(mr_dataset *dataset, const mr_recipe *recipe, const uint32_t *draws, double times[5])
{
    mr__chain *chain = need(malloc(sizeof *chain));
    mr__header headers[DRAWN];
    mr__features features[DRAWN];
    mr__cost cost;
    size_t each = mr__recipe_draw_count(recipe);
    uint64_t samples = mr_dataset_count(dataset);
    double sum = 0.0;
    mr__cost_init(&cost);
    times[0] = thread_ns();
    for (uint64_t i = 0; i < TURNS; i++)
        must(mr__header_of(dataset, i * 7919 % samples, 0, &headers[i % DRAWN]), "the index", "");
    times[1] = thread_ns();
    for (uint64_t i = 0; i < TURNS; i++)
        mr__features_of(recipe, draws + i % DRAWN * each, &headers[i * 7 % DRAWN], chain, &features[i % DRAWN]);
    times[2] = thread_ns();
    for (uint64_t i = 0; i < TURNS; i++)
        sum += mr__cost_predict(&cost, &features[i % DRAWN]);
    times[3] = thread_ns();
    for (uint64_t i = 0; i < TURNS; i++)
        mr__cost_learn(&cost, &features[i % DRAWN], 1000000 + i);
    times[4] = thread_ns();
    if (!(sum > 0.0)) // so that it is asked for
        must(MR_EINTERNAL, "predictions", "");
    free(chain);
}

void measure_overhead(mr_dataset *dataset, const char *text)
{
    mr_recipe *recipe = parse(text);
    size_t each = mr__recipe_draw_count(recipe);
    uint32_t *draws = need(calloc(each * DRAWN + 1, sizeof *draws));
    double times[5];
    for (uint64_t i = 0; i < DRAWN; i++)
        mr__recipe_draw(recipe, SEED, 0, i, draws + i * each);
    time_calls(dataset, recipe, draws, times);
    printf("| %s |", text);
    for (size_t i = 0; i < 4; i++)
        printf(" %.0f |", (times[i + 1] - times[i]) / TURNS);
    printf("\n");
    free(draws);
    mr_recipe_free(recipe);
}
