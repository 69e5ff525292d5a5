// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "image.h"
#include "parallel.h"
#include "report.h"
#include "text.h"
#include "walk.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { BAD_SHOWN = 10 };

static const option options_decode[] = {
    {.name = "threads",
     .letter = 't',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, threads),
     .argument = "N",
     .help = "Decode on N threads",
     .initial = "as many as this process may use",
     .min = 1,
     .max = 4096},
    {.name = "repeat",
     .letter = 'n',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, repeat),
     .argument = "N",
     .help = "Decode everything N times",
     .initial = "1",
     .min = 1,
     .max = 1000000},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print the report as a JSON object, with all bad files"},
    {0},
};

/* One thread's decoder and sums; nothing is shared. */
typedef struct bench {
    opened o;
    tally forms[FORM_COUNT];
    tally failed;
    uint64_t other_files;
} bench;

/* What is wrong with a file, told by the first round in which something was. */
typedef struct outcome {
    atomic_int code; /* 0: nothing */
    char *text;
} outcome;

typedef struct job {
    const settings *s;
    const file_list *list;
    bench *benches;
    outcome *outcomes; /* one a file */
} job;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A file met in a folder that neither looks nor is called like an image is none, and no error. */
static bool is_other(const found_file *file, const opened *o)
{
    return o->code == MR_EFORMAT && !file->named && mr_form_from_name(ending_of(file->path)) == MR_FORM_NONE;
}

static void note_failure(job *j, bench *b, size_t index)
{
    size_t number = index % j->list->count;
    outcome *out = &j->outcomes[number];
    int none = 0;
    if (is_other(&j->list->files[number], &b->o))
        b->other_files += index < j->list->count; /* once, not in each round */
    else if (atomic_compare_exchange_strong(&out->code, &none, b->o.code))
        out->text = strdup(b->o.error);
}

/* Into nothing: the decoder keeps the pixels until the next. The times are told whatever comes of it. */
static int decode(opened *o, const settings *s, const found_file *file, tally *out)
{
    mr_image image;
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    int result = file->error != 0 ? opened_fail(o, file->error) : opened_read(o, file->path);
    uint64_t read = clock_ns(CLOCK_MONOTONIC), core = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (result == 0)
        result = opened_decode(o, s, &image);
    *out = (tally){.read_ns = read - start,
                   .decode_ns = clock_ns(CLOCK_MONOTONIC) - read,
                   .core_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - core};
    if (result != 0)
        return result;
    out->images = 1;
    out->stored_nbytes = o->in.nbytes;
    out->pixels = (uint64_t)image.width * image.height;
    out->pixel_nbytes = (uint64_t)mr_image_row_nbytes(&image) * image.height;
    out->warnings = mr_decoder_warnings(o->decoder);
    out->warned_images = out->warnings != 0;
    return 0;
}

static void decode_file(void *user, unsigned worker, size_t index)
{
    job *j = user;
    bench *b = &j->benches[worker];
    tally one;
    if (decode(&b->o, j->s, &j->list->files[index % j->list->count], &one) == 0) {
        tally_add(&b->forms[(unsigned)mr_form_probe(b->o.in.bytes, b->o.in.nbytes) % FORM_COUNT], &one);
    } else {
        tally_add(&b->failed, &one);
        note_failure(j, b, index);
    }
}

/* The bad files, in the order of the list; NULL when there is no memory. */
static bad_file *gather_bad(const job *j, size_t *count)
{
    bad_file *bad = calloc(j->list->count + 1, sizeof *bad);
    *count = 0;
    for (size_t i = 0; i < j->list->count && bad != NULL; i++) {
        int code = atomic_load(&j->outcomes[i].code);
        if (code != 0)
            bad[(*count)++] = (bad_file){j->list->files[i].path, code, j->outcomes[i].text};
    }
    return bad;
}

static void sum_up(const job *j, report *r)
{
    for (unsigned i = 0; i < r->threads; i++) {
        r->other_files += j->benches[i].other_files;
        tally_add(&r->failed, &j->benches[i].failed);
        for (size_t form = 0; form < FORM_COUNT; form++) {
            tally_add(&r->forms[form], &j->benches[i].forms[form]);
            tally_add(&r->total, &j->benches[i].forms[form]);
        }
    }
}

static void complain_of_bad(const report *r)
{
    for (size_t i = 0; i < r->bad_count && i < BAD_SHOWN; i++)
        complain(r->bad[i].path, "%s", bad_file_text(&r->bad[i]));
    if (r->bad_count > BAD_SHOWN)
        complain(NULL, "and %zu more bad files (--json lists all)", r->bad_count - BAD_SHOWN);
}

static int decode_all(job *j, unsigned threads)
{
    report r = {.threads = threads, .repeat = j->s->repeat, .files = j->list->count};
    r.accept_damaged = j->s->hints.accept_damaged;
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    parallel_run("decoding", threads, j->list->count * j->s->repeat, decode_file, j);
    r.wall_ns = clock_ns(CLOCK_MONOTONIC) - start;
    sum_up(j, &r);
    bad_file *bad = gather_bad(j, &r.bad_count);
    if (bad == NULL) {
        complain(NULL, "%s", mr_error_text(MR_ENOMEM));
        return EXIT_BAD_INPUT;
    }
    r.bad = bad;
    complain_of_bad(&r);
    if (j->s->json)
        report_put_json(&r);
    else if (r.files != 0)
        report_put(&r);
    free(bad);
    return r.bad_count == 0 && r.files != 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static unsigned count_threads(const settings *s, const file_list *list)
{
    size_t threads = s->threads != 0 ? s->threads : mr_threads_default(), most = list->count * s->repeat;
    return (unsigned)(threads < most ? threads : most != 0 ? most : 1);
}

static int run_list(const settings *s, const file_list *list)
{
    unsigned threads = count_threads(s, list), ready = 0;
    job j = {.s = s, .list = list};
    int result = EXIT_BAD_INPUT;
    j.benches = calloc(threads, sizeof *j.benches);
    j.outcomes = calloc(list->count + 1, sizeof *j.outcomes);
    while (j.benches != NULL && ready < threads && opened_init(&j.benches[ready].o, s, NULL))
        ready++;
    if (ready == threads && j.outcomes != NULL)
        result = decode_all(&j, threads);
    else if (j.benches == NULL || j.outcomes == NULL) /* else it is told already */
        complain(NULL, "%s", mr_error_text(MR_ENOMEM));
    for (unsigned i = 0; i < ready; i++)
        opened_fini(&j.benches[i].o);
    for (size_t i = 0; i < list->count && j.outcomes != NULL; i++)
        free(j.outcomes[i].text);
    free(j.outcomes);
    free(j.benches);
    return result;
}

/* Standard input cannot be read a second time. */
static int check_stdin(const settings *s, char **paths, size_t count)
{
    size_t times = 0;
    for (size_t i = 0; i < count; i++)
        times += strcmp(paths[i], "-") == 0 ? s->repeat : 0;
    if (times <= 1)
        return EXIT_GOOD;
    complain(NULL, "decode: '-' can be read only once%s", s->repeat > 1 ? ", so not with --repeat" : "");
    return EXIT_USAGE;
}

/* A row index is of one JPEG. */
static int check_index(const settings *s, char **paths, size_t count)
{
    struct stat status;
    if (s->index == NULL || (count == 1 && !(stat(paths[0], &status) == 0 && S_ISDIR(status.st_mode))))
        return EXIT_GOOD;
    complain(NULL, "decode: --index is for one JPEG, not for %s", count == 1 ? "a folder" : "several files");
    return EXIT_USAGE;
}

static int run(const settings *s, char **paths, size_t count)
{
    file_list list = {0};
    bool good = true;
    int result = check_stdin(s, paths, count);
    if (result == EXIT_GOOD)
        result = check_index(s, paths, count);
    if (result != EXIT_GOOD)
        return result;
    result = EXIT_BAD_INPUT;
    for (size_t i = 0; i < count && good; i++)
        good = file_list_add(&list, paths[i]);
    if (good && list.count == 0)
        complain(count == 1 ? paths[0] : NULL, "there are no files in %s", count == 1 ? "it" : "these folders");
    if (good)
        result = run_list(s, &list);
    else
        complain(NULL, "%s", mr_error_text(MR_ENOMEM));
    file_list_fini(&list);
    return result;
}

const command command_decode = {
    .name = "decode",
    .operands = "PATH...",
    .summary = "Decode all images in files and folders, and report how fast",
    .text =
        (const char *const[]){"Reads and decodes every image found in the files and folders named (folders with all "
                              "that is in them), on all "
                              "cores, throws the pixels away and ends with a report. A rate 'per core' is over the "
                              "processor's time spent "
                              "in decoding; MB are millions of bytes of pixels. Reading is told apart from decoding.",
                              "In folders, hidden entries and files that are no images are passed over; a file that is "
                              "called like an image "
                              "and is none, or is damaged, or cannot be read, is a bad file: the first ten are listed, "
                              "all are counted, and the exit code is 1.",
                              NULL},
    .groups =
        (const option_group[]){
            {"Options", options_decode}, {"How to decode", options_hints}, {"Help", options_common}, {NULL, NULL}},
    .examples = (const example[]){{"millrace decode ~/imagenet/val", "How fast does this machine decode a folder?"},
                                  {"millrace decode --threads=1 --repeat=5 photos", "On one core, five times"},
                                  {"millrace decode --json photos | jq .total.core_ms_per_image", "For a script"},
                                  {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
