// SPDX-License-Identifier: Apache-2.0
/* soak [OPTION...] DATASET: many epochs, with what this process holds after each hundred of them. See bench/README.md.
 */
#define _GNU_SOURCE
#include "common.h"

#include <dirent.h>
#include <limits.h>
#include <malloc.h>
#include <millrace/loader.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DETAIL_NBYTES = 512 };

typedef struct options {
    const char *dataset, *recipe, *form;
    unsigned long long epochs, every, batch, threads, slack_nbytes;
} options;

/* What the process holds. */
typedef struct holding {
    double rss_nbytes;
    unsigned descriptors, threads;
} holding;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "soak: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

static unsigned count_entries(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        fail("%s cannot be read", path);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2; // "." and ".."
}

/*
 * The fewest of some looks: a file of a folder that a thread is just reading is open at that moment, and another one at
 * the next; what is never closed is in all of them.
 */
static unsigned count_descriptors(void)
{
    unsigned fewest = UINT_MAX;
    for (int i = 0; i < 50; i++) {
        unsigned count = count_entries("/proc/self/fd") - 1; // without the one that is looked with
        fewest = count < fewest ? count : fewest;
        usleep(200);
    }
    return fewest;
}

static holding look(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
        fail("there is no /proc/self/statm");
    fclose(file);
    return (holding){.rss_nbytes = (double)pages * (double)sysconf(_SC_PAGESIZE),
                     .descriptors = count_descriptors(),
                     .threads = count_entries("/proc/self/task")};
}

static mr_dataset *open_dataset(const options *o)
{
    mr_dataset *dataset = NULL;
    if (mr_dataset_new(NULL, &dataset) != 0)
        need(NULL);
    if (mr_dataset_open(dataset, &o->dataset, 1) != 0)
        fail("%s", mr_dataset_detail(dataset));
    return dataset;
}

static mr_loader *open_loader(const options *o, mr_dataset *dataset, uint64_t epoch, uint64_t epochs)
{
    char detail[DETAIL_NBYTES];
    mr_loader *loader = NULL;
    mr_recipe *recipe = NULL;
    mr_loader_options with = {.struct_size = sizeof with,
                              .batch = (uint32_t)o->batch,
                              .threads = (uint32_t)o->threads,
                              .form = o->form,
                              .epoch = epoch,
                              .epochs = epochs,
                              .has_rank = true,
                              .world = 1};
    if (mr_recipe_new(NULL, &recipe) != 0)
        need(NULL);
    if (mr_recipe_parse(recipe, o->recipe) != 0)
        fail("%s: %s", o->recipe, mr_recipe_detail(recipe));
    if (mr_loader_new(dataset, recipe, &with, &loader, detail, sizeof detail) != 0)
        fail("%s", detail);
    mr_recipe_free(recipe);
    return loader;
}

/* Up to the last batch of an epoch. */
static void run_epoch(mr_loader *loader)
{
    bool last = false;
    while (!last) {
        mr_batch *batch = NULL;
        if (mr_loader_next(loader, &batch) != 0)
            fail("%s", mr_loader_detail(loader));
        if (batch == NULL)
            fail("the loader ended within an epoch");
        last = batch->last;
        mr_batch_release(batch);
    }
}

/*
 * The lines of the second half are held against the first of them. The first half is for what is kept to be used again
 * and has a bound: tables of weights for the last sizes of random parts, each place as large as its largest so far.
 */
static bool note(const options *o, const char *how, unsigned long long epochs, holding *first)
{
    malloc_trim(0); // what is free is nobody's
    holding now = look();
    bool early = epochs * 2 < o->epochs;
    if (!early && first->rss_nbytes == 0)
        *first = now;
    bool flat = early || (now.rss_nbytes <= first->rss_nbytes + (double)o->slack_nbytes &&
                          now.descriptors == first->descriptors && now.threads == first->threads);
    printf("| %s | %llu | %.2f | %u | %u | %s |\n", how, epochs, now.rss_nbytes / 1e6, now.descriptors, now.threads,
           early  ? "-"
           : flat ? "yes"
                  : "NO");
    fflush(stdout);
    return flat;
}

static bool soak_one_loader(const options *o)
{
    holding first = {0};
    bool flat = true;
    mr_dataset *dataset = open_dataset(o);
    mr_loader *loader = open_loader(o, dataset, 0, 0);
    for (unsigned long long epoch = 1; epoch <= o->epochs; epoch++) {
        run_epoch(loader);
        if (epoch % o->every == 0)
            flat &= note(o, "one loader", epoch, &first);
    }
    mr_loader_free(loader);
    mr_dataset_free(dataset);
    return flat;
}

/* Half of them are stopped in the middle. */
static bool soak_many_loaders(const options *o)
{
    holding first = {0};
    bool flat = true;
    for (unsigned long long epoch = 1; epoch <= o->epochs; epoch++) {
        mr_dataset *dataset = open_dataset(o);
        mr_loader *loader = open_loader(o, dataset, epoch, epoch % 2);
        run_epoch(loader);
        if (epoch % 4 == 0)
            mr_loader_stop(loader);
        mr_loader_free(loader);
        mr_dataset_free(dataset);
        if (epoch % o->every == 0)
            flat &= note(o, "dataset and loader anew", epoch, &first);
    }
    return flat;
}

static void usage(FILE *file)
{
    fprintf(file, "usage: soak [OPTION...] DATASET\n"
                  "  --epochs N     [1000]\n"
                  "  --every N      epochs between two lines [100]\n"
                  "  --recipe TEXT  [rrc(64) flip normalize(imagenet)]\n"
                  "  --form NAME    [the first]\n"
                  "  --batch N      [8]\n"
                  "  --threads N    [2]\n"
                  "  --slack KB     that memory may grow in the second half [1024]\n");
}

static bool parse_option(options *o, const char *name, const char *value)
{
    if (strcmp(name, "--epochs") == 0)
        o->epochs = number_from_text(value, 1, 100000000);
    else if (strcmp(name, "--every") == 0)
        o->every = number_from_text(value, 1, 100000000);
    else if (strcmp(name, "--batch") == 0)
        o->batch = number_from_text(value, 1, 65536);
    else if (strcmp(name, "--threads") == 0)
        o->threads = number_from_text(value, 1, 1024);
    else if (strcmp(name, "--slack") == 0)
        o->slack_nbytes = number_from_text(value, 0, 100000000) << 10;
    else if (strcmp(name, "--recipe") == 0)
        o->recipe = value;
    else if (strcmp(name, "--form") == 0)
        o->form = value;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    options o = {.recipe = "rrc(64) flip normalize(imagenet)",
                 .epochs = 1000,
                 .every = 100,
                 .batch = 8,
                 .threads = 2,
                 .slack_nbytes = 1 << 20};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        }
        if (i + 1 < argc && parse_option(&o, argv[i], argv[i + 1])) {
            i++;
        } else if (argv[i][0] != '-' && o.dataset == NULL) {
            o.dataset = argv[i];
        } else {
            usage(stderr);
            return 2;
        }
    }
    if (o.dataset == NULL || o.every > o.epochs) {
        usage(stderr);
        return 2;
    }
    printf("| how | epochs | resident MB | descriptors | threads | flat |\n");
    printf("| --- | ---: | ---: | ---: | ---: | --- |\n");
    bool flat = soak_one_loader(&o);
    flat &= soak_many_loaders(&o);
    if (!flat)
        fprintf(stderr, "soak: something grows\n");
    return flat ? 0 : 1;
}
