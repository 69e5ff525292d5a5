// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "file.h"
#include "interrupt.h"
#include "paint.h"
#include "parallel.h"
#include "quantity.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SIDE = 8192, FORM_MAX = 16 };

static const option options_generate[] = {
    {.name = "count",
     .letter = 'n',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, count),
     .argument = "N",
     .help = "Make N images",
     .initial = "48",
     .min = 1,
     .max = 10000000},
    {.name = "seed",
     .letter = 's',
     .kind = OPTION_SEED,
     .offset = offsetof(settings, seed),
     .argument = "S",
     .help = "The same seed gives the same pixels, on every machine",
     .initial = "1"},
    {.name = "size",
     .kind = OPTION_SIZE,
     .offset = offsetof(settings, size),
     .argument = "WxH",
     .help = "Make all of this size",
     .initial = "varied, around 500x375"},
    {.name = "forms",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, forms),
     .argument = "LIST",
     .help = "The forms to write, with their shares",
     .initial = "jpeg=10,png=3,webp=3"},
    {.name = "classes",
     .letter = 'c',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, classes),
     .argument = "N",
     .help = "Spread them over N folders: land, table, leaves, street, and over again",
     .initial = "4",
     .min = 1,
     .max = 10000},
    {.name = "threads",
     .letter = 't',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, threads),
     .argument = "N",
     .help = "Work on N threads",
     .initial = "as many as this process may use",
     .min = 1,
     .max = 4096},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, force),
     .help = "Write into DIR even if there is something in it"},
    {0},
};

/* The forms and their shares. */
typedef struct mixture {
    mr_form form[FORM_MAX];
    uint32_t share[FORM_MAX];
    size_t count;
    uint64_t all;
} mixture;

typedef struct job {
    const settings *s;
    const char *folder;
    mixture mix;
    textures *textures;
    mr_encoder **encoders; /* one a thread */
    atomic_uint_fast64_t made[FORM_MAX], nbytes;
    atomic_flag failed; /* the first failure is told, the rest would be the same */
    atomic_int result;
    interrupts held; /* Ctrl-C waits until every image that was begun is whole */
} job;

static const char *const scene_names[SCENE_COUNT] = {"land", "table", "leaves", "street"};

/* "jpeg=10,png=3,webp": a share that is not given is 1. */
static bool read_mixture(const char *text, mixture *mix)
{
    *mix = (mixture){0};
    while (*text != '\0') {
        char item[32], *end;
        size_t length = strcspn(text, ",");
        if (length >= sizeof item || mix->count == FORM_MAX)
            return false;
        memcpy(item, text, length);
        item[length] = '\0';
        char *sign = strchr(item, '=');
        unsigned long share = 1;
        if (sign != NULL) {
            *sign = '\0';
            share = strtoul(sign + 1, &end, 10);
            if (sign[1] < '0' || sign[1] > '9' || *end != '\0' || share > 1000000)
                return false;
        }
        mix->form[mix->count] = mr_form_from_name(item);
        if (mix->form[mix->count] == MR_FORM_NONE)
            return false;
        mix->share[mix->count++] = (uint32_t)share;
        mix->all += share;
        text += length + (text[length] == ',');
    }
    return mix->all != 0;
}

/* Which form image `index` has: spread evenly, so that any run of images has about the shares asked for. */
static size_t form_of(const mixture *mix, size_t index)
{
    /* A step that has no divisor in common with the sum visits every place of a round once. */
    uint64_t step = mix->all * 618 / 1000 + 1, place;
    for (;; step++) {
        uint64_t a = step, b = mix->all;
        while (b != 0) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    place = index % mix->all * step % mix->all;
    size_t form = 0;
    while (place >= mix->share[form])
        place -= mix->share[form++];
    return form;
}

/* Half are 500 x 375, some stand upright, the rest is around that, as in ImageNet. */
static void choose_size(const settings *s, uint64_t key, uint32_t *width, uint32_t *height)
{
    dice d = {.key = dice_hash(key, 99)};
    int kind = dice_between(&d, 0, 9);
    *width = 500;
    *height = 375;
    if (s->size.width != 0) {
        *width = s->size.width;
        *height = s->size.height;
    } else if (kind == 5 || kind == 6) {
        *width = 375;
        *height = 500;
    } else if (kind > 6) {
        *width = (uint32_t)dice_between(&d, 320, 640);
        *height = *width * (uint32_t)dice_between(&d, 60, 110) / 100;
    }
}

static void fail(job *j, const char *path, const char *text)
{
    if (!atomic_flag_test_and_set(&j->failed))
        complain(path, "%s", text);
    atomic_store(&j->result, EXIT_BAD_INPUT);
}

static void path_of_class(const job *j, unsigned class, char *path, size_t nbytes)
{
    unsigned round = class / SCENE_COUNT;
    if (round == 0)
        snprintf(path, nbytes, "%s/%s", j->folder, scene_names[class % SCENE_COUNT]);
    else
        snprintf(path, nbytes, "%s/%s%u", j->folder, scene_names[class % SCENE_COUNT], round + 1);
}

static void write_image(job *j, unsigned worker, size_t index, const mr_image *image)
{
    char path[PATH_MAX], folder[PATH_MAX - 64];
    size_t which = form_of(&j->mix, index);
    mr_encode_options options = {.struct_size = sizeof options, .form = j->mix.form[which]};
    const void *bytes;
    size_t nbytes;
    path_of_class(j, (unsigned)(index % j->s->classes), folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%05zu.%s", folder, index, mr_form_name(options.form));
    if (mr_encoder_encode(j->encoders[worker], image, &options, &bytes, &nbytes) != 0) {
        fail(j, path, mr_encoder_detail(j->encoders[worker]));
        return;
    }
    int number = file_write(path, bytes, nbytes);
    if (number != 0) {
        fail(j, path, strerror(number));
        return;
    }
    atomic_fetch_add(&j->made[which], 1);
    atomic_fetch_add(&j->nbytes, nbytes);
}

static void make_image(void *user, unsigned worker, size_t index)
{
    job *j = user;
    uint64_t key = dice_hash(j->s->seed, index + 1);
    mr_image image;
    uint32_t width, height;
    if (interrupts_wait(&j->held))
        atomic_store(&j->result, EXIT_BAD_INPUT);
    if (atomic_load(&j->result) != EXIT_GOOD)
        return;
    choose_size(j->s, key, &width, &height);
    if (mr_image_init(&image, width, height, 3, 8, NULL) != 0) {
        fail(j, NULL, mr_error_text(MR_ENOMEM));
        return;
    }
    if (scene_paint(j->textures, (unsigned)(index % j->s->classes), key, &image))
        write_image(j, worker, index, &image);
    else
        fail(j, NULL, mr_error_text(MR_ENOMEM));
    mr_image_fini(&image, NULL);
}

static int is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int make_folders(const job *j)
{
    char path[PATH_MAX];
    struct dirent **entries;
    if (mkdir(j->folder, 0777) != 0 && errno != EEXIST) {
        complain(j->folder, "%s", strerror(errno));
        return EXIT_BAD_INPUT;
    }
    int count = scandir(j->folder, &entries, is_entry, NULL);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count < 0) {
        complain(j->folder, "%s", strerror(errno));
        return EXIT_BAD_INPUT;
    }
    free(entries);
    if (count > 0 && !j->s->force) {
        complain(j->folder, "there is something in it already; --force writes there all the same");
        return EXIT_BAD_INPUT;
    }
    for (unsigned class = 0; class < j->s->classes && class < j->s->count; class ++) {
        path_of_class(j, class, path, sizeof path);
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            complain(path, "%s", strerror(errno));
            return EXIT_BAD_INPUT;
        }
    }
    return EXIT_GOOD;
}

static void tell(job *j)
{
    unsigned classes = j->s->classes < j->s->count ? j->s->classes : j->s->count;
    printf("Made %" PRIu32 " image%s with seed %" PRIu64 " in %u class%s under ", j->s->count, plural(j->s->count),
           j->s->seed, classes, classes == 1 ? "" : "es");
    put_escaped(stdout, j->folder);
    fputs(":", stdout);
    for (size_t i = 0; i < j->mix.count; i++)
        printf("%s %" PRIuFAST64 " %s", i > 0 ? "," : "", atomic_load(&j->made[i]), mr_form_name(j->mix.form[i]));
    printf("; %.1f MB\n", (double)atomic_load(&j->nbytes) * 1e-6);
}

static int generate(job *j, unsigned threads)
{
    unsigned ready = 0;
    j->textures = malloc(sizeof *j->textures);
    j->encoders = calloc(threads, sizeof(mr_encoder *));
    while (j->encoders != NULL && ready < threads && mr_encoder_new(NULL, &j->encoders[ready]) == 0)
        ready++;
    if (ready == threads && j->textures != NULL && textures_init(j->textures, j->s->seed)) {
        interrupts_hold(&j->held);
        parallel_run("painting", threads, j->s->count, make_image, j);
        interrupts_release(&j->held);
    } else
        fail(j, NULL, mr_error_text(MR_ENOMEM));
    for (unsigned i = 0; i < ready; i++)
        mr_encoder_free(j->encoders[i]);
    free(j->encoders);
    free(j->textures);
    return atomic_load(&j->result);
}

static int run(const settings *s, char **operands, size_t count)
{
    (void)count;
    job j = {.s = s, .folder = operands[0], .failed = ATOMIC_FLAG_INIT};
    unsigned threads = s->threads != 0 ? s->threads : mr_threads_default();
    if (!read_mixture(s->forms, &j.mix)) {
        complain(NULL, "generate: --forms cannot be '%s' (it is written like jpeg=10,png=3,webp=3)", s->forms);
        return EXIT_USAGE;
    }
    if (s->size.width > MAX_SIDE || s->size.height > MAX_SIDE ||
        (s->size.width != 0 && (s->size.width < 8 || s->size.height < 8))) {
        complain(NULL, "generate: --size has to be from 8x8 to %dx%d", MAX_SIDE, MAX_SIDE);
        return EXIT_USAGE;
    }
    int result = make_folders(&j);
    if (result == EXIT_GOOD)
        result = generate(&j, threads < s->count ? threads : s->count);
    if (result == EXIT_GOOD)
        tell(&j);
    return result;
}

const command command_generate = {
    .name = "generate",
    .operands = "DIR",
    .summary = "Make a small set of photographic-looking images",
    .text =
        (const char *const[]){
            "Paints pictures with the statistics of photographs (1/f texture, gradients, things that hide each other, "
            "sensor noise) and writes them into DIR, a folder for each class. The pixels depend on the seed alone: not "
            "on "
            "the machine, nor on the threads. In a lossless form they are stored as painted.",
            "Without --force it refuses a DIR that has something in it.", NULL},
    .groups = (const option_group[]){{"Options", options_generate}, {"Help", options_common}, {NULL, NULL}},
    .examples =
        (const example[]){
            {"millrace generate demo && millrace decode demo", "Something to decode, and how fast it goes"},
            {"millrace generate --count=1000 --forms=png --size=512x512 --seed=7 set", "A thousand PNGs of one size"},
            {NULL, NULL}},
    .operand_min = 1,
    .operand_max = 1,
    .operand = OPERAND_FOLDER,
    .run = run,
};
