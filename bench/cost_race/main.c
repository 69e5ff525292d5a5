// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "cost_race.h"

#include "common.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void must(int result, const char *what, const char *detail)
{
    if (result == 0)
        return;
    fprintf(stderr, "cost: %s: %s %s\n", what, mr_error_text(result), detail);
    exit(1);
}

static void usage(FILE *file)
{
    fprintf(file, "usage: cost [OPTION...] [FOLDER]\n"
                  "  --images N     that are made, from the JPEG files in FOLDER or painted [600]\n"
                  "  --samples N    that are predicted, after others were learned from [1500]\n"
                  "  --learned N    as many [500]\n"
                  "  --recipe TEXT  instead of the three\n"
                  "  --weights      what was learned, too\n"
                  "  --scratch DIR  for the set, which is removed; --keep: it stays [$TMPDIR, /tmp]\n"
                  "  --seed N       [1]\n");
}

static const char *parse(options *o, int argc, char **argv)
{
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        }
        if (strcmp(name, "--weights") == 0)
            o->weights = true;
        else if (strcmp(name, "--keep") == 0)
            o->keep = true;
        else if (strcmp(name, "--images") == 0)
            o->images = number_from_text(value, 1, 100000), i++;
        else if (strcmp(name, "--samples") == 0)
            o->samples = number_from_text(value, 1, 1000000), i++;
        else if (strcmp(name, "--learned") == 0)
            o->learned = number_from_text(value, 1, 1000000), i++;
        else if (strcmp(name, "--seed") == 0)
            o->seed = number_from_text(value, 0, UINT64_MAX), i++;
        else if (strcmp(name, "--scratch") == 0)
            o->scratch = value, i++;
        else if (strcmp(name, "--recipe") == 0)
            o->recipe = value, i++;
        else if (name[0] != '-' && folder == NULL)
            folder = name;
        else {
            usage(stderr);
            exit(2);
        }
    }
    return folder;
}

/* Packed in two forms of the same pixels. */
static mr_dataset *pack(const char *folder, const char *packed)
{
    mr_pack_form forms[] = {{.struct_size = sizeof *forms, .form = MR_FORM_JPEG},
                            {.struct_size = sizeof *forms, .form = MR_FORM_L3}};
    mr_pack_options packing = {.struct_size = sizeof packing, .forms = forms, .form_count = 2};
    mr_dataset_options plain = {.struct_size = sizeof plain, .index = MR_INDEX_NONE};
    mr_dataset *source, *dataset;
    mr_packer *packer;
    must(mr_dataset_new(&plain, &source), "dataset", "");
    must(mr_dataset_open(source, &folder, 1), folder, mr_dataset_detail(source));
    must(mr_packer_new(&packing, &packer), "packer", "");
    must(mr_packer_run(packer, source, packed, NULL), packed, mr_packer_detail(packer));
    mr_packer_free(packer);
    mr_dataset_free(source);
    must(mr_dataset_new(&plain, &dataset), "dataset", "");
    must(mr_dataset_open(dataset, &packed, 1), packed, mr_dataset_detail(dataset));
    return dataset;
}

static void clear(const char *folder)
{
    DIR *files = opendir(folder);
    struct dirent *entry;
    char path[4096];
    while (files != NULL && (entry = readdir(files)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(path) != 0)
            clear(path);
    }
    if (files != NULL)
        closedir(files);
    rmdir(folder);
}

static void measure(mr_dataset *dataset, const options *o)
{
    static const char *const recipes[] = {"rrc(224) flip normalize(imagenet)",
                                          "rrc(224) flip randaug(2,9) normalize(imagenet)",
                                          "short(256) center(224) normalize(imagenet)"};
    size_t count = o->recipe != NULL ? 1 : sizeof recipes / sizeof *recipes;
    printf("\nPredicted: with sizes the median error is at most 25 %% after %llu samples (C4), and that of bytes "
           "alone more than twice as much.\n\n"
           "| recipe | form | bytes alone [proto]: median, p90 | steps, no sizes | sizes and steps [ours] | sigma |\n"
           "| --- | --- | --- | --- | --- | --- |\n",
           (unsigned long long)o->learned);
    for (size_t i = 0; i < count; i++)
        measure_recipe(dataset, o->recipe != NULL ? o->recipe : recipes[i], o);
    printf("\nPredicted: header and features at most 0.5 us for a plain recipe, learning at most 1 us.\n\n"
           "| recipe | index, ns | features, ns | predict, ns | learn, ns |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < count; i++)
        measure_overhead(dataset, o->recipe != NULL ? o->recipe : recipes[i]);
}

int main(int argc, char **argv)
{
    options o = {.images = 600, .learned = 500, .samples = 1500, .seed = 1};
    char folder[2048], images[2100], packed[2100];
    o.scratch = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    const char *photos = parse(&o, argc, argv);
    snprintf(folder, sizeof folder, "%s/millrace-cost-XXXXXX", o.scratch);
    must(mkdtemp(folder) != NULL ? 0 : MR_EIO, folder, "");
    snprintf(images, sizeof images, "%s/images", folder);
    snprintf(packed, sizeof packed, "%s/packed", folder);
    must(mkdir(images, 0777), images, "");
    make_set(photos, images, &o);
    mr_dataset *dataset = pack(images, packed);
    places before;
    pin_thread(&before);
    measure(dataset, &o);
    mr_dataset_free(dataset);
    if (!o.keep)
        clear(folder);
    return 0;
}
