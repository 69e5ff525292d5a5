// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "sched_run.h"

#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_cut(const options *o);

static const struct {
    const char *name, *what;
    void (*run)(const options *o);
} tables[] = {
    {"bounds", "C1: batches apart, over their bound", run_bounds},
    {"streams", "a stream of batches, over the speed of all lanes", run_streams},
    {"useless", "C2: devices that are of no use", run_useless},
    {"freeze", "C3: a lane that stops for a second", run_freeze},
    {"change", "C5: cold start, a device that becomes slower or faster", run_change},
    {"dear", "C6: one sample a hundred times as dear", run_dear},
    {"cut", "C8: where samples cross to the accelerator; as text", run_cut},
    {"overhead", "C9: what the scheduler itself takes; simulated tasks a second", run_overhead},
};

void must(int result, const char *what, const char *detail)
{
    if (result == 0)
        return;
    fprintf(stderr, "sched: %s: %s %s\n", what, mr_error_text(result), detail);
    exit(1);
}

void print_head(const options *o, const char *first, const char *more)
{
    if (o->json)
        return;
    printf("%-36s", first);
    for (uint32_t i = 0; i < POLICIES; i++)
        printf(" %12s", mr__policy_at(i)->name);
    printf(" %s\n", more);
}

void print_row(const options *o, const char *table, const char *where, const double *values, const char *more)
{
    if (!o->json)
        printf("%-36s", where);
    for (uint32_t i = 0; i < POLICIES; i++)
        if (o->json)
            printf("{\"table\":\"%s\",\"where\":\"%s\",\"policy\":\"%s\",\"value\":%.4f}\n", table, where,
                   mr__policy_at(i)->name, values[i]);
        else
            printf(values[i] < 100 ? " %12.3f" : " %12.0f", values[i]);
    if (!o->json)
        printf(" %s\n", more);
    fflush(stdout);
}

void predict(const options *o, const char *table, const char *text)
{
    if (o->json)
        printf("{\"table\":\"%s\",\"predicted\":true}\n", table);
    else
        printf("\n%s\n    predicted: %s\n", table, text);
}

/* Whether a prediction of a limit was missed: then the exit code is 1, but for --quick, whose few cells say little. */
static bool missed;

void judge(const options *o, const char *table, const char *what, bool kept)
{
    missed = missed || !kept;
    if (o->json)
        printf("{\"table\":\"%s\",\"limit\":\"%s\",\"kept\":%s}\n", table, what, kept ? "true" : "false");
    else
        printf("    %s: %s\n", what, kept ? "as predicted" : "NOT as predicted");
}

static void run_cut(const options *o)
{
    if (!o->json)
        judge(o, "cut", "chosen within 5 % of brute force",
              sched_table_cut(stdout, o->quick ? 60 : 240, o->quick ? 3 : 10) == 0);
}

static void usage(FILE *file)
{
    fprintf(file, "usage: sched [OPTION...]\n"
                  "  --table NAME  only this one; may be given once [all]\n"
                  "  --batches N   of each cell of bounds, streams and useless [100]\n"
                  "  --tasks N     of each row of overhead [400000]\n"
                  "  --row N       of overhead alone, for callgrind [all 12]\n"
                  "  --seed N      of the samples [7]\n"
                  "  --json        a line for each value\n"
                  "  --quick       a few cells of each, to see that it runs\n"
                  "tables:\n");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        fprintf(file, "  %-10s    %s\n", tables[i].name, tables[i].what);
}

static options parse(int argc, char **argv)
{
    options o = {.seed = 7, .tasks = 400000};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(name, "--json") == 0)
            o.json = true;
        else if (strcmp(name, "--quick") == 0) {
            o.quick = true;
            o.tasks = 20000;
        } else if (strcmp(name, "--table") == 0)
            o.table = value, i++;
        else if (strcmp(name, "--batches") == 0)
            o.batches = number_from_text(value, 1, BATCHES_MAX), i++;
        else if (strcmp(name, "--tasks") == 0)
            o.tasks = number_from_text(value, 1000, UINT64_C(1) << 40), i++;
        else if (strcmp(name, "--row") == 0)
            o.row = number_from_text(value, 1, 12), i++;
        else if (strcmp(name, "--seed") == 0)
            o.seed = number_from_text(value, 0, UINT64_MAX - 100), i++;
        else {
            usage(stderr);
            exit(2);
        }
    }
    return o;
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    bool any = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (o.table == NULL || strcmp(o.table, tables[i].name) == 0) {
            tables[i].run(&o);
            any = true;
        }
    if (!any) {
        usage(stderr);
        return 2;
    }
    return missed && !o.quick ? 1 : 0;
}
