// SPDX-License-Identifier: Apache-2.0
/*
 * Feeds a training loop for two epochs: random crops of 224 x 224, normalised, in batches of 32. The "model" is the
 * mean of what it sees. Stopped and run again, it goes on where it was.
 *
 *     cc examples/train.c -o train $(pkg-config --cflags --libs millrace)
 *     ./train photos state.json
 */
#include <millrace/millrace.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static double mean_of(const mr_batch *batch)
{
    const float *values = batch->images;
    size_t count = batch->count * batch->output.sample_nbytes / sizeof *values;
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count != 0 ? sum / (double)count : 0.0;
}

/* Where the last run stopped, if there was one. */
static int restore(mr_loader *loader, const char *path)
{
    char text[1024];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return mr_loader_restore(loader, text);
}

static void save(mr_loader *loader, const char *path)
{
    char text[1024];
    FILE *file = fopen(path, "w");
    if (file == NULL || mr_loader_state(loader, text, sizeof text) >= sizeof text || fputs(text, file) < 0)
        fprintf(stderr, "%s cannot be written\n", path);
    if (file != NULL)
        fclose(file);
}

static int train(mr_loader *loader, const char *state)
{
    mr_batch *batch = NULL;
    int result = restore(loader, state);
    while (result == 0 && !interrupted && (result = mr_loader_next(loader, &batch)) == 0 && batch != NULL) {
        printf("epoch %llu batch %llu: %u images, mean %.3f\n", (unsigned long long)batch->epoch,
               (unsigned long long)batch->number, batch->count, mean_of(batch));
        mr_batch_release(batch);
    }
    if (result != 0)
        fprintf(stderr, "%s: %s\n", mr_error_name(result), mr_loader_detail(loader));
    else
        save(loader, state);
    return result;
}

static int run(mr_dataset *dataset, mr_recipe *recipe, const char *folder, const char *state)
{
    mr_loader_options options = {.struct_size = sizeof options, .batch = 32, .seed = 1, .epochs = 2};
    mr_loader *loader;
    char detail[240];
    if (mr_dataset_open(dataset, &folder, 1) != 0) {
        fprintf(stderr, "%s\n", mr_dataset_detail(dataset));
        return 1;
    }
    if (mr_recipe_parse(recipe, "rrc(224) flip normalize(imagenet)") != 0) {
        fprintf(stderr, "%s\n", mr_recipe_detail(recipe));
        return 1;
    }
    if (mr_loader_new(dataset, recipe, &options, &loader, detail, sizeof detail) != 0) {
        fprintf(stderr, "%s\n", detail);
        return 1;
    }
    int result = train(loader, state);
    mr_loader_free(loader);
    return result != 0;
}

int main(int argc, char **argv)
{
    mr_dataset *dataset = NULL;
    mr_recipe *recipe = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: train FOLDER STATE\n");
        return 2;
    }
    signal(SIGINT, on_interrupt);
    int failed = mr_dataset_new(NULL, &dataset) != 0 || mr_recipe_new(NULL, &recipe) != 0 ||
                 run(dataset, recipe, argv[1], argv[2]) != 0;
    mr_recipe_free(recipe);
    mr_dataset_free(dataset);
    return failed;
}
