// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "image.h"
#include "parallel.h"
#include "report.h"
#include "text.h"
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    uint64_t other_files;
} bench;

typedef struct job {
    const settings *s;
    const file_list *list;
    bench *benches;
    bad_file *outcome; /* of each file, code 0 when good; written in the first round alone */
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
    const char *dot = strrchr(file->path, '.'), *slash = strrchr(file->path, '/');
    bool ending = dot != NULL && (slash == NULL || dot > slash) && mr_form_from_name(dot + 1) != MR_FORM_NONE;
    return o->code == MR_EFORMAT && !file->named && !ending;
}

static void note_failure(job *j, bench *b, size_t index)
{
    const found_file *file = &j->list->files[index];
    if (is_other(file, &b->o)) {
        b->other_files++;
        return;
    }
    j->outcome[index].text = strdup(b->o.error);
    j->outcome[index].code = b->o.code;
}

/* Reads and decodes one file, into nothing: the decoder keeps the pixels until the next. */
static void decode_file(void *user, unsigned worker, size_t index)
{
    job *j = user;
    bench *b = &j->benches[worker];
    size_t file = index % j->list->count;
    mr_image image;
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    int result = opened_read(&b->o, j->list->files[file].path);
    uint64_t read = clock_ns(CLOCK_MONOTONIC), core = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (result == 0)
        result = opened_decode(&b->o, j->s, &image);
    if (result != 0) {
        if (index < j->list->count)
            note_failure(j, b, file);
        return;
    }
    const tally one = {
        .images = 1,
        .stored_nbytes = b->o.in.nbytes,
        .pixels = (uint64_t)image.width * image.height,
        .pixel_nbytes = (uint64_t)mr_image_row_nbytes(&image) * image.height,
        .warnings = mr_decoder_warnings(b->o.decoder),
        .read_ns = read - start,
        .decode_ns = clock_ns(CLOCK_MONOTONIC) - read,
        .core_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - core,
    };
    tally_add(&b->forms[(unsigned)mr_form_probe(b->o.in.bytes, b->o.in.nbytes) % FORM_COUNT], &one);
}

static void sum_up(const job *j, report *r)
{
    for (unsigned i = 0; i < r->threads; i++) {
        r->other_files += j->benches[i].other_files;
        for (size_t form = 0; form < FORM_COUNT; form++) {
            tally_add(&r->forms[form], &j->benches[i].forms[form]);
            tally_add(&r->total, &j->benches[i].forms[form]);
        }
    }
    for (size_t i = 0; i < j->list->count; i++)
        if (j->outcome[i].code != 0) {
            j->outcome[r->bad_count] = j->outcome[i];
            j->outcome[r->bad_count++].path = j->list->files[i].path;
        }
    r->bad = j->outcome;
}

static void complain_of_bad(const report *r)
{
    for (size_t i = 0; i < r->bad_count && i < BAD_SHOWN; i++)
        complain(r->bad[i].path, "%s", r->bad[i].text != NULL ? r->bad[i].text : mr_error_text(r->bad[i].code));
    if (r->bad_count > BAD_SHOWN)
        complain(NULL, "and %zu more bad files (--json lists all)", r->bad_count - BAD_SHOWN);
}

static int decode_all(job *j, unsigned threads)
{
    report r = {.threads = threads, .repeat = j->s->repeat, .files = j->list->count};
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    parallel_run("decoding", threads, j->list->count * j->s->repeat, decode_file, j);
    r.wall_ns = clock_ns(CLOCK_MONOTONIC) - start;
    sum_up(j, &r);
    complain_of_bad(&r);
    if (j->s->json)
        report_put_json(&r);
    else
        report_put(&r);
    for (size_t i = 0; i < r.bad_count; i++)
        free((char *)r.bad[i].text);
    return r.bad_count == 0 && j->list->failed == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int run_list(const settings *s, const file_list *list)
{
    unsigned threads = s->threads != 0 ? s->threads : mr_threads_default(), ready = 0;
    job j = {.s = s, .list = list};
    int result = EXIT_BAD_INPUT;
    if (threads > list->count * s->repeat)
        threads = (unsigned)(list->count * s->repeat);
    j.benches = calloc(threads, sizeof *j.benches);
    j.outcome = calloc(list->count, sizeof *j.outcome);
    while (j.benches != NULL && ready < threads && opened_init(&j.benches[ready].o, s, NULL))
        ready++;
    if (ready == threads && j.outcome != NULL)
        result = decode_all(&j, threads);
    else
        complain(NULL, "%s", mr_error_text(MR_ENOMEM));
    for (unsigned i = 0; i < ready; i++)
        opened_fini(&j.benches[i].o);
    free(j.outcome);
    free(j.benches);
    return result;
}

static int run(const settings *s, char **paths, size_t count)
{
    file_list list = {0};
    bool good = true;
    int result = EXIT_BAD_INPUT;
    for (size_t i = 0; i < count && good; i++)
        good = file_list_add(&list, paths[i]);
    if (!good)
        complain(NULL, "%s", mr_error_text(MR_ENOMEM));
    else if (list.count != 0)
        result = run_list(s, &list);
    else if (list.failed == 0)
        complain(NULL, "decode: no files there");
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
                              "and is none, or is damaged, is a bad file: the first ten are listed, all are counted, "
                              "and the exit code is 1.",
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
