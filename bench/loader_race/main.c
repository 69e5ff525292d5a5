// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "loader_race.h"

#include <millrace/system.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TRAIN      "rrc(224) flip normalize(imagenet)"
#define TRAIN_U8   "rrc(224) flip dtype(u8)"
#define VALIDATION "short(256) center(224) normalize(imagenet)"
#define CIFAR      "crop(32, pad=4) flip normalize(cifar10)"
#define CIFAR_FILE "data_batch_1.bin"

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "loader: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

void path_in(const options *o, const char *name, char path[PATH_NBYTES])
{
    if (snprintf(path, PATH_NBYTES, "%s/%s", o->data, name) >= PATH_NBYTES)
        fail("%s: too long a name", o->data);
}

static void usage(FILE *file)
{
    fprintf(file, "usage: loader [OPTION...] DATA (which bench/loader makes)\n"
                  "  --tables LIST      of train, train-u8, validation, overhead, cifar [all]\n"
                  "  --rounds N         how often everyone takes a turn [5]\n"
                  "  --threads N        [all cores]\n"
                  "  --batch N          [256]\n"
                  "  --cifar-epochs N   of a turn over the CIFAR file [8]\n"
                  "  --cifar-records N  in that file, where it has to be made [50000]\n"
                  "  --seed N           [1]\n"
                  "  --json             a JSON object instead of text\n");
}

static bool parse_number(options *o, const char *name, const char *value)
{
    if (strcmp(name, "--rounds") == 0)
        o->rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX);
    else if (strcmp(name, "--threads") == 0)
        o->threads = (unsigned)number_from_text(value, 1, 1024);
    else if (strcmp(name, "--batch") == 0)
        o->batch = (unsigned)number_from_text(value, 1, 65536);
    else if (strcmp(name, "--cifar-epochs") == 0)
        o->cifar_epochs = (unsigned)number_from_text(value, 1, 1000);
    else if (strcmp(name, "--cifar-records") == 0)
        o->cifar_records = number_from_text(value, 1, 10000000);
    else if (strcmp(name, "--seed") == 0)
        o->seed = number_from_text(value, 0, UINT64_MAX);
    else
        return false;
    return true;
}

static void parse(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--json") == 0) {
            o->json = true;
        } else if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(name, "--tables") == 0) {
            o->tables = value;
            i++;
        } else if (parse_number(o, name, value)) {
            i++;
        } else if (name[0] != '-' && o->data == NULL) {
            o->data = name;
        } else {
            usage(stderr);
            exit(2);
        }
    }
    if (o->data == NULL) {
        usage(stderr);
        exit(2);
    }
}

/* Whether the name is one of those with commas between. */
static bool wanted(const char *tables, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = tables; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return tables == NULL;
}

static void add(contest *c, const char *name, racer_kind kind, const char *path, unsigned threads, double aim)
{
    c->racers[c->count++] = (racer){.name = name, .kind = kind, .path = path, .threads = threads, .aim = aim};
}

/* The loop, and the loader over all that is stored. */
static void fill_race(const options *o, contest *c, double jpeg_aim, double l3_aim)
{
    add(c, "plain loop, folder JPEG", RACER_LOOP, "files.txt", o->threads, 0);
    add(c, "folder JPEG", RACER_LOADER, "folder", o->threads, jpeg_aim);
    add(c, "packed JPEG, row index", RACER_LOADER, "jpeg", o->threads, jpeg_aim);
    add(c, "packed JPEG, no row index", RACER_LOADER, "jpeg-plain", o->threads, jpeg_aim);
    add(c, "packed L3", RACER_LOADER, "l3", o->threads, l3_aim);
    add(c, "packed raw", RACER_LOADER, "raw", o->threads, 0);
    add(c, "packed WebP, quality 90", RACER_LOADER, "webp", o->threads, 0);
}

static void fill_overhead(const options *o, contest *c, const char *path)
{
    add(c, "loader", RACER_LOADER, path, o->threads, 0.95);
    add(c, "stages alone", RACER_PREPARERS, path, o->threads, 0);
    add(c, "loader, one thread", RACER_LOADER, path, 1, 1.9);
    add(c, "stages alone, one thread", RACER_PREPARERS, path, 1, 0);
    c->overhead = true;
}

static void fill_all(const options *o, contest c[CONTESTS])
{
    c[0] = (contest){.table = "train", .title = "training, f32", .recipe = TRAIN, .epochs = 1};
    c[1] = (contest){.table = "train-u8", .title = "training, u8", .recipe = TRAIN_U8, .epochs = 1, .bytes = true};
    c[2] = (contest){.table = "validation", .title = "validation, f32", .recipe = VALIDATION, .epochs = 1};
    c[2].validation = true;
    fill_race(o, &c[0], 2, 4);
    fill_race(o, &c[1], 2, 5);
    fill_race(o, &c[2], 0, 0);
    c[3] = (contest){.table = "overhead", .title = "packed JPEG, row index", .recipe = TRAIN, .epochs = 1, .us_aim = 5};
    c[4] = (contest){.table = "overhead", .title = "packed L3", .recipe = TRAIN, .epochs = 1, .us_aim = 5};
    c[5] = (contest){.table = "cifar", .title = "CIFAR", .recipe = CIFAR, .epochs = o->cifar_epochs, .us_aim = 0.5};
    fill_overhead(o, &c[3], "jpeg");
    fill_overhead(o, &c[4], "l3");
    fill_overhead(o, &c[5], CIFAR_FILE);
}

int main(int argc, char **argv)
{
    static contest all[CONTESTS], chosen[CONTESTS];
    options o = {.rounds = 5,
                 .threads = mr_threads_default(),
                 .batch = 256,
                 .cifar_epochs = 8,
                 .cifar_records = 50000,
                 .seed = 1};
    size_t count = 0;
    parse(&o, argc, argv);
    fill_all(&o, all);
    for (size_t i = 0; i < CONTESTS; i++)
        if (wanted(o.tables, all[i].table))
            chosen[count++] = all[i];
    if (count == 0)
        fail("%s: no table has this name", o.tables);
    if (wanted(o.tables, "cifar")) {
        char path[PATH_NBYTES];
        path_in(&o, CIFAR_FILE, path);
        make_cifar(path, o.cifar_records);
    }
    for (size_t i = 0; i < count; i++)
        contest_run(&o, &chosen[i]);
    if (o.json)
        print_json(&o, chosen, count);
    else
        print_text(&o, chosen, count);
    return 0;
}
