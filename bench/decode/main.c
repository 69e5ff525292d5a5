// SPDX-License-Identifier: Apache-2.0
/* decode [OPTION...] FOLDER...: how fast each codec decodes beside the plain library. See bench/README.md. */
#include "decode.h"

#include <stdlib.h>
#include <string.h>

static void usage(FILE *file)
{
    fprintf(file, "usage: decode [--rounds N] [--images N] [--region rrc] [--seed N] [--json] FOLDER...\n"
                  "  --rounds N    time every image so often, report the median [5]\n"
                  "  --images N    at most so many of each form [all]\n"
                  "  --region rrc  decode parts, drawn as RandomResizedCrop draws them\n"
                  "  --seed N      of the regions [1]\n"
                  "  --json        a JSON object instead of a table\n");
}

/* Returns the first argument that is no option. */
static int parse(options *o, int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--json") == 0) {
            o->json = true;
        } else if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(name, "--region") == 0 && strcmp(value, "rrc") == 0) {
            o->regions = true;
            i++;
        } else if (strcmp(name, "--rounds") == 0) {
            o->rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX);
            i++;
        } else if (strcmp(name, "--images") == 0) {
            o->images = (size_t)number_from_text(value, 1, SIZE_MAX);
            i++;
        } else if (strcmp(name, "--seed") == 0) {
            o->seed = number_from_text(value, 0, UINT64_MAX);
            i++;
        } else {
            usage(stderr);
            exit(2);
        }
    }
    return i;
}

int main(int argc, char **argv)
{
    static const mr_form forms[] = {MR_FORM_JPEG, MR_FORM_PNG, MR_FORM_WEBP, MR_FORM_PNM, MR_FORM_RAW};
    options o = {.rounds = 5, .images = SIZE_MAX, .seed = 1};
    item_set set = {.count = 0};
    mr_decoder *decoder = NULL;
    form_race *races = need(calloc(sizeof forms / sizeof *forms, sizeof *races));
    size_t count = 0, different = 0;
    int first = parse(&o, argc, argv);
    if (first == argc) {
        usage(stderr);
        return 2;
    }
    if (mr_decoder_new(NULL, &decoder) != 0)
        return 2;
    for (int i = first; i < argc; i++)
        set_add(&set, decoder, argv[i]);
    mr_decoder_free(decoder);
    if (set.unreadable != 0)
        fprintf(stderr, "decode: %zu files are no image, or not readable\n", set.unreadable);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        bool ran = form_race_run(&races[count], &set, forms[i], &o);
        different += races[count].race.different;
        if (ran)
            count++;
        else
            race_free(&races[count].race);
    }
    (o.json ? report_json : report_text)(stdout, races, count, &o);
    for (size_t i = 0; i < count; i++)
        race_free(&races[i].race);
    free(races);
    set_free(&set);
    if (count == 0)
        fprintf(stderr, "decode: no images to decode\n");
    return different != 0 || count == 0;
}
