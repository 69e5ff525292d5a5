// SPDX-License-Identifier: Apache-2.0
/* compare [OPTION...] FOLDER...: L3 beside other ways to store images. See bench/README.md. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

static void usage(FILE *file)
{
    fprintf(file, "usage: compare [OPTION...] FOLDER...\n"
                  "  --rounds N    time everybody so often, report the median [5]\n"
                  "  --images N    at most so many of a folder [600]\n"
                  "  --copies N    of all buffers [as many as make four times the last-level cache]\n"
                  "  --threads N   of the encoders' second line [2]\n"
                  "  --masks LIST  the instruction sets that L3 is timed under [all that have kernels]\n"
                  "  --seed N      of the regions [1]\n"
                  "  --json        a JSON object instead of tables\n");
}

static void set_masks(options *o, const char *list)
{
    o->mask_count = 0;
    while (*list != '\0' && o->mask_count < MASKS_MAX) {
        size_t length = strcspn(list, ",");
        snprintf(o->masks[o->mask_count++], sizeof o->masks[0], "%.*s", (int)length, list);
        list += length + (list[length] == ',');
    }
}

/* Takes an option that has a value; false when there is none of that name. */
static bool take(options *o, const char *name, const char *value)
{
    if (strcmp(name, "--rounds") == 0)
        o->rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX);
    else if (strcmp(name, "--images") == 0)
        o->images = (size_t)number_from_text(value, 1, SIZE_MAX);
    else if (strcmp(name, "--copies") == 0)
        o->copies = (size_t)number_from_text(value, 1, 1000000);
    else if (strcmp(name, "--threads") == 0)
        o->threads = (unsigned)number_from_text(value, 1, 1024);
    else if (strcmp(name, "--seed") == 0)
        o->seed = number_from_text(value, 0, UINT64_MAX);
    else if (strcmp(name, "--masks") == 0)
        set_masks(o, value);
    else
        return false;
    return true;
}

/* Returns the first argument that is no option. */
static int parse(options *o, int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (take(o, argv[i], i + 1 < argc ? argv[i + 1] : "")) {
            i++;
        } else {
            usage(stderr);
            exit(2);
        }
    }
    return i;
}

/* One folder is a contest of its JPEG files and one of its other images, where it has them. */
static size_t run_folder(contest *contests, const char *path, const options *o)
{
    item_set set = {.count = 0};
    mr_decoder *decoder = NULL;
    size_t count = 0;
    if (mr_decoder_new(NULL, &decoder) != 0)
        need(NULL);
    set_add(&set, decoder, path);
    mr_decoder_free(decoder);
    if (set.unreadable != 0)
        fprintf(stderr, "compare: %zu files of %s are no image, or not readable\n", set.unreadable, path);
    for (int is_jpeg = 0; is_jpeg < 2; is_jpeg++) {
        bool ran = contest_run(&contests[count], &set, path, is_jpeg != 0, o);
        contest_free(&contests[count]);
        count += ran;
    }
    set_free(&set);
    return count;
}

int main(int argc, char **argv)
{
    options o = {.rounds = 5, .images = 600, .threads = 2, .seed = 1};
    size_t count = 0, different = 0;
    char masks[128];
    l3_masks(masks, sizeof masks);
    set_masks(&o, masks);
    int first = parse(&o, argc, argv);
    if (first == argc) {
        usage(stderr);
        return 2;
    }
    contest *contests = need(calloc(2 * (size_t)(argc - first), sizeof *contests));
    for (int i = first; i < argc; i++)
        count += run_folder(contests + count, argv[i], &o);
    (o.json ? report_json : report_text)(stdout, contests, count, &o);
    for (size_t i = 0; i < count; i++)
        different += contests[i].different;
    if (count == 0)
        fprintf(stderr, "compare: no images\n");
    free(contests);
    return different != 0 || count == 0;
}
