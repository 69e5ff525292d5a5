// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "l3_device.h"

#include "guest_tape.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    unsigned rounds;
    size_t images, batch;
    uint32_t arena_mib, device;
    bool sends;
} settings;

static void usage(FILE *file)
{
    fprintf(file, "usage: l3-device [OPTION...] FOLDER...\n"
                  "  --rounds N   over all images, after one that is not counted [5]\n"
                  "  --images N   of each folder and form, at most [48]\n"
                  "  --batch N    images of a tape, at most [16]\n"
                  "  --arena MIB  of the device's memory [768]\n"
                  "  --device N   of OpenCL's [0]\n"
                  "  --sends      as if its memory were not the host's\n"
                  "A folder's PNG files are one table, its JPEG files another.\n");
}

static int parse(settings *s, int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(name, "--rounds") == 0)
            s->rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX), i++;
        else if (strcmp(name, "--images") == 0)
            s->images = number_from_text(value, 1, 1000000), i++;
        else if (strcmp(name, "--batch") == 0)
            s->batch = number_from_text(value, 1, 1024), i++;
        else if (strcmp(name, "--arena") == 0)
            s->arena_mib = (uint32_t)number_from_text(value, 1, 4000), i++;
        else if (strcmp(name, "--device") == 0)
            s->device = (uint32_t)number_from_text(value, 0, 64), i++;
        else if (strcmp(name, "--sends") == 0)
            s->sends = true;
        else {
            usage(stderr);
            exit(2);
        }
    }
    return i;
}

/* Ways that were left out are errors: their number. */
static unsigned run_set(stand *st, const settings *s, const char *folder, mr_form source)
{
    picture_set set;
    contest c;
    unsigned wrong = 0;
    pictures_load(&set, folder, source, s->images);
    if (set.count != 0) {
        contest_open(&c, &set, st, s->rounds, s->batch);
        contest_check(&c);
        contest_run(&c);
        contest_report(&c);
        wrong = c.wrong;
        contest_close(&c);
    }
    pictures_free(&set);
    return wrong;
}

int main(int argc, char **argv)
{
    settings s = {.rounds = 5, .images = 48, .batch = 16, .arena_mib = 768};
    stand st;
    mr__detail detail = {0};
    unsigned wrong = 0;
    int first = parse(&s, argc, argv);
    char *text = guest_text();
    stand_options options = {.guest = text,
                             .number = s.device,
                             .arena_nbytes = s.arena_mib << 20,
                             .samples = (uint32_t)s.batch,
                             .sends = s.sends};
    if (first == argc || text == NULL) {
        usage(stderr);
        return 2;
    }
    int result = stand_open(&st, &options, true, &detail);
    if (result != 0) {
        fprintf(stderr, "l3-device: %s\n", detail.text);
        return result == MR_EUNSUPPORTED ? 77 : 2;
    }
    keep_freed_memory();
    for (int i = first; i < argc; i++)
        wrong += run_set(&st, &s, argv[i], MR_FORM_PNG) + run_set(&st, &s, argv[i], MR_FORM_JPEG);
    stand_close(&st);
    free(text);
    return wrong == 0 ? 0 : 1;
}
