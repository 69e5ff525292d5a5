// SPDX-License-Identifier: Apache-2.0
/*
 * Our side of bench/steps: a process that stays, and is told by standard input what to time, so that race.py can take
 * turns with the peers in processes of theirs. Each order is a line, and so is its answer:
 *
 *     images WIDTH HEIGHT COUNT         and then their bytes, RGB: they replace the ones before
 *     time RUNS RECIPE                  "ok NANOSECONDS" of processor time of all runs, over the images in turn
 *     load SAMPLES DATASET<tab>RECIPE   "ok NANOSECONDS SAMPLES" of a loader on one thread, after its first batch
 *     kernels                           "ok NAMES" of the instructions that are used
 *
 * or "error" and a sentence. A recipe is kept until another comes, and has had a run before it is timed.
 */
#include "common.h"

#include <inttypes.h>
#include <millrace/millrace.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_NBYTES = 8192, BATCH = 64 };

typedef struct race {
    mr_image *images;
    size_t count;
    char text[LINE_NBYTES];
    mr_recipe *recipe;
    mr_applier *applier;
    void *out;
    uint64_t key; /* a new sample for every run */
} race;

static void answer_error(const char *detail)
{
    fputs("error ", stdout);
    for (; *detail != '\0'; detail++)
        putchar(*detail == '\n' ? ' ' : *detail);
    putchar('\n');
}

static void forget_images(race *r)
{
    for (size_t i = 0; i < r->count; i++)
        mr_image_fini(&r->images[i], NULL);
    free(r->images);
    r->images = NULL;
    r->count = 0;
}

static void forget_recipe(race *r)
{
    mr_applier_free(r->applier);
    mr_recipe_free(r->recipe);
    free(r->out);
    r->applier = NULL;
    r->recipe = NULL;
    r->out = NULL;
    r->text[0] = '\0';
}

static bool read_images(race *r, const char *line)
{
    uint32_t width, height, count;
    if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu32, &width, &height, &count) != 3)
        return false;
    forget_images(r);
    r->images = need(calloc(count, sizeof *r->images));
    for (; r->count < count; r->count++) {
        mr_image *image = &r->images[r->count];
        if (mr_image_init(image, width, height, 3, 8, NULL) != 0)
            return false;
        size_t nbytes = mr_image_row_nbytes(image) * height;
        if (fread(image->pixels, 1, nbytes, stdin) != nbytes)
            return false;
    }
    puts("ok");
    return true;
}

static int read_recipe(const char *text, mr_recipe **recipe, mr_output *output)
{
    int code = mr_recipe_new(NULL, recipe);
    if (code == 0)
        code = mr_recipe_parse(*recipe, text);
    return code != 0 ? code : mr_recipe_output(*recipe, output);
}

static bool take_recipe(race *r, const char *text)
{
    mr_output output = {.struct_size = sizeof output};
    if (r->applier != NULL && strcmp(r->text, text) == 0)
        return true;
    forget_recipe(r);
    int code = read_recipe(text, &r->recipe, &output);
    if (code == 0)
        code = mr_applier_new(r->recipe, NULL, &r->applier);
    if (code != 0) {
        answer_error(r->recipe != NULL ? mr_recipe_detail(r->recipe) : mr_error_text(code));
        forget_recipe(r);
        return false;
    }
    r->out = need(aligned_alloc(64, (output.sample_nbytes + 63) / 64 * 64));
    memset(r->out, 1, output.sample_nbytes);
    snprintf(r->text, sizeof r->text, "%s", text);
    return true;
}

static bool run_all(race *r, uint64_t runs)
{
    for (uint64_t i = 0; i < runs; i++, r->key++)
        if (mr_applier_run(r->applier, &r->images[r->key % r->count], 1, 0, r->key, r->out) != 0) {
            answer_error(mr_applier_detail(r->applier));
            return false;
        }
    return true;
}

static bool time_recipe(race *r, const char *line)
{
    uint64_t runs;
    int used = 0;
    if (sscanf(line, "%" SCNu64 " %n", &runs, &used) != 1 || used == 0 || r->count == 0)
        return false;
    bool is_new = strcmp(r->text, line + used) != 0;
    if (!take_recipe(r, line + used) || (is_new && !run_all(r, r->count)))
        return true;
    double begin = process_ns();
    if (run_all(r, runs))
        printf("ok %.0f\n", process_ns() - begin);
    return true;
}

/* Takes batches until there were so many samples; how many there were. */
static uint64_t take_batches(mr_loader *loader, uint64_t samples)
{
    uint64_t taken = 0;
    mr_batch *batch;
    while (taken < samples && mr_loader_next(loader, &batch) == 0 && batch != NULL) {
        taken += batch->count;
        mr_batch_release(batch);
    }
    return taken;
}

static bool load_from(mr_dataset *dataset, mr_recipe *recipe, uint64_t samples)
{
    char detail[512] = "";
    mr_loader *loader = NULL;
    mr_loader_options options = {.struct_size = sizeof options,
                                 .batch = BATCH,
                                 .seed = 1,
                                 .epochs = 0,
                                 .has_rank = true,
                                 .world = 1,
                                 .drop_last = true,
                                 .threads = 1};
    if (mr_loader_new(dataset, recipe, &options, &loader, detail, sizeof detail) != 0) {
        answer_error(detail);
        return true;
    }
    take_batches(loader, 1);
    double begin = process_ns();
    uint64_t taken = take_batches(loader, samples);
    double spent = process_ns() - begin;
    if (taken >= samples)
        printf("ok %.0f %" PRIu64 "\n", spent, taken);
    else
        answer_error(mr_loader_detail(loader));
    mr_loader_free(loader);
    return true;
}

static bool load(char *line)
{
    uint64_t samples;
    int used = 0;
    mr_dataset *dataset = NULL;
    mr_recipe *recipe = NULL;
    mr_output output = {.struct_size = sizeof output};
    char *tab = strchr(line, '\t');
    if (tab == NULL || sscanf(line, "%" SCNu64 " %n", &samples, &used) != 1 || used == 0)
        return false;
    *tab = '\0';
    const char *path = line + used;
    bool good = true;
    if (mr_dataset_new(NULL, &dataset) != 0 || mr_dataset_open(dataset, &path, 1) != 0)
        answer_error(dataset != NULL ? mr_dataset_detail(dataset) : "out of memory");
    else if (read_recipe(tab + 1, &recipe, &output) != 0)
        answer_error(recipe != NULL ? mr_recipe_detail(recipe) : "out of memory");
    else
        good = load_from(dataset, recipe, samples);
    mr_recipe_free(recipe);
    mr_dataset_free(dataset);
    return good;
}

static bool tell_kernels(void)
{
    char text[256];
    mr_cpu_text(text, sizeof text);
    printf("ok %s\n", text[0] != '\0' ? text : "portable");
    return true;
}

int main(void)
{
    static race r;
    static char line[LINE_NBYTES];
    bool good = true;
    while (good && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "images ", 7) == 0)
            good = read_images(&r, line + 7);
        else if (strncmp(line, "time ", 5) == 0)
            good = time_recipe(&r, line + 5);
        else if (strncmp(line, "load ", 5) == 0)
            good = load(line + 5);
        else
            good = strcmp(line, "kernels") == 0 && tell_kernels();
        fflush(stdout);
    }
    if (!good)
        fprintf(stderr, "steps: this is no order: %s\n", line);
    forget_recipe(&r);
    forget_images(&r);
    return good ? 0 : 2;
}
