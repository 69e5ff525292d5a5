// SPDX-License-Identifier: Apache-2.0
#include "audit.h"
#include "command.h"
#include "failure.h"
#include "image.h"
#include "json.h"
#include "parallel.h"
#include "source.h"
#include "text.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const option options_verify[] = {
    {.name = "threads",
     .letter = 't',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, threads),
     .argument = "N",
     .help = "Check on N threads",
     .initial = "as many as this process may use",
     .min = 1,
     .max = 4096},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print a JSON object, with all bad files, and for each packed dataset what was found"},
    {.name = "report",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, report),
     .argument = "FILE",
     .help = "Keep in FILE what of a packed dataset was verified, so that a run that was stopped goes on"},
    OPTION_PROGRESS,
    OPTION_JPEG,
    {.name = "no-limits",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_limits),
     .help = "Lift the limits on pixels, bytes, scans and memory: only for files you trust"},
    {0},
};

/* What came of a file; each is written by the one thread that checked it. */
typedef struct verdict {
    enum { GOOD, BAD, OTHER } kind;
    int code;
    char *text; /* NULL when there was no memory for it */
    uint64_t nbytes;
} verdict;

typedef struct job {
    const file_list *list;
    opened *readers; /* one a thread */
    verdict *verdicts;
} job;

/* A file met in a folder that neither looks nor is called like an image is none, and no error. */
static bool is_other(const found_file *file, const opened *o)
{
    return o->code == MR_EFORMAT && !file->named && mr_form_from_name(ending_of(file->path)) == MR_FORM_NONE;
}

static void check_file(void *user, unsigned worker, size_t index)
{
    job *j = user;
    opened *o = &j->readers[worker];
    const found_file *file = &j->list->files[index];
    verdict *v = &j->verdicts[index];
    int result = file->error != 0 ? opened_fail(o, file->error) : opened_read(o, file->path);
    if (result == 0)
        result = opened_verify(o);
    if (result == 0) {
        v->nbytes = o->in.nbytes;
        return;
    }
    v->kind = is_other(file, o) ? OTHER : BAD;
    v->code = o->code;
    v->text = strdup(o->error);
}

typedef struct sums {
    size_t count[3]; /* by kind */
    uint64_t nbytes; /* of the good ones */
} sums;

static const char *text_of(const verdict *v)
{
    return v->text != NULL ? v->text : mr_error_text(v->code);
}

/* Every bad file is told of: none of them may be missed. */
static sums sum_up(const job *j)
{
    sums s = {0};
    for (size_t i = 0; i < j->list->count; i++) {
        const verdict *v = &j->verdicts[i];
        s.count[v->kind]++;
        s.nbytes += v->nbytes;
        if (v->kind == BAD)
            complain(j->list->files[i].path, "%s", text_of(v));
    }
    return s;
}

static void put(const sums *s)
{
    printf("%zu good (%.1f MB), %zu bad", s->count[GOOD], (double)s->nbytes * 1e-6, s->count[BAD]);
    if (s->count[OTHER] != 0)
        printf("; %zu other file%s passed over", s->count[OTHER], s->count[OTHER] == 1 ? "" : "s");
    putchar('\n');
}

static void put_json(json *out, const job *j, const sums *s)
{
    json_number(out, "files", j->list->count);
    json_number(out, "good", s->count[GOOD]);
    json_number(out, "good_bytes", s->nbytes);
    json_number(out, "other", s->count[OTHER]);
    json_open(out, "bad", '[');
    for (size_t i = 0; i < j->list->count; i++) {
        const verdict *v = &j->verdicts[i];
        if (v->kind != BAD)
            continue;
        json_line(out);
        json_open(out, NULL, '{');
        json_name(out, j->list->files[i].path);
        json_error(out, v->code, text_of(v));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static int check_all(const settings *s, job *j, unsigned threads, json *out)
{
    progress p;
    progress_init(&p, s->progress);
    parallel_run_told(&p, NULL, "checking", threads, j->list->count, check_file, j);
    progress_fini(&p);
    sums all = sum_up(j);
    if (out != NULL)
        put_json(out, j, &all);
    else
        put(&all);
    return all.count[BAD] == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int run_list(const settings *s, const file_list *list, json *out)
{
    size_t most = list->count, wanted = s->threads != 0 ? s->threads : mr_threads_default();
    unsigned threads = (unsigned)(wanted < most ? wanted : most), ready = 0;
    job j = {.list = list, .readers = calloc(threads, sizeof(opened)), .verdicts = calloc(most, sizeof(verdict))};
    int result = EXIT_BAD_INPUT;
    while (j.readers != NULL && ready < threads && opened_init(&j.readers[ready], s, NULL))
        ready++;
    if (ready == threads && j.verdicts != NULL)
        result = check_all(s, &j, threads, out);
    else if (j.readers == NULL || j.verdicts == NULL) /* else it is told already */
        complain(NULL, "%s", mr_error_text(MR_ENOMEM));
    for (unsigned i = 0; i < ready; i++)
        opened_fini(&j.readers[i]);
    for (size_t i = 0; i < most && j.verdicts != NULL; i++)
        free(j.verdicts[i].text);
    free(j.verdicts);
    free(j.readers);
    return result;
}

static int run_images(const settings *s, char **paths, size_t count, json *out)
{
    file_list list = {0};
    bool good = true;
    int result = EXIT_BAD_INPUT;
    for (size_t i = 0; i < count && good; i++)
        good = file_list_add(&list, paths[i]);
    const char *why = !good             ? mr_error_text(MR_ENOMEM)
                      : list.count != 0 ? NULL
                      : count == 1      ? "there are no files in it"
                                        : "there are no files in these folders";
    if (why == NULL)
        result = run_list(s, &list, out);
    else
        complain(good && count == 1 ? paths[0] : NULL, "%s", why);
    if (why != NULL && out != NULL)
        json_error(out, good ? MR_EARGUMENT : MR_ENOMEM, why);
    file_list_fini(&list);
    return result;
}

/* Moves packed datasets to the front, in their order. How many they are; SIZE_MAX after a word on what is half of one.
 */
static size_t sort_out(const settings *s, char **paths, size_t count)
{
    size_t packed = 0;
    for (size_t i = 0; i < count; i++) {
        char *path = paths[i];
        bool whole = source_is_packed(path);
        const char *why = whole ? NULL : audit_unfinished(path);
        if (why != NULL) {
            failed(s, MR_EUNSUPPORTED, path, "%s", why);
            return SIZE_MAX;
        }
        if (!whole && source_is_shard(path))
            remark(path,
                   "seems to be a shard of a dataset: millrace pack checks every image of one, and info reads it");
        if (!whole)
            continue;
        memmove(paths + packed + 1, paths + packed, (i - packed) * sizeof *paths);
        paths[packed++] = path;
    }
    return packed;
}

static int run_both(const settings *s, char **paths, size_t count, size_t packed, json *out)
{
    int result = EXIT_GOOD;
    if (packed < count)
        result = run_images(s, paths + packed, count - packed, out);
    if (packed != 0 && out != NULL)
        json_open(out, "datasets", '[');
    for (size_t i = 0; i < packed; i++)
        if (audit_run(s, paths[i], out) != EXIT_GOOD)
            result = EXIT_BAD_INPUT;
    if (packed != 0 && out != NULL)
        json_close(out, ']');
    return result;
}

static int run(const settings *s, char **paths, size_t count)
{
    json out = {.stream = stdout};
    size_t packed = sort_out(s, paths, count);
    if (packed == SIZE_MAX)
        return EXIT_BAD_INPUT;
    if (s->report != NULL && packed != 1) {
        complain(NULL, "verify: --report is for one packed dataset, and there are %zu among these", packed);
        return EXIT_USAGE;
    }
    if (!s->json)
        return run_both(s, paths, count, packed, NULL);
    json_open(&out, NULL, '{');
    int result = run_both(s, paths, count, packed, &out);
    json_close(&out, '}');
    putchar('\n');
    return result;
}

const command command_verify = {
    .name = "verify",
    .operands = "PATH...",
    .summary = "Check that images and packed datasets are whole",
    .text =
        (const char *const[]){
            "Checks every image found in the files and folders named (folders with all that is in them), on all cores: "
            "every checksum that its form has, that all of it decodes without damage, and its ICC profile. L3 has a "
            "checksum over its head, each tile and each section, so that any changed bit is found, and the tile named.",
            "Of a packed dataset (a folder with a dataset.json) every byte is read and every checksum compared: of "
            "each "
            "record, each shard and index, and of the dataset's own files. Every damaged sample is named, with the "
            "forms in which it is whole. --report lets a run that was stopped go on.",
            "Each bad file is told of; the exit code is 1 when there is one. In folders, hidden entries and files that "
            "are no images are passed over.",
            NULL},
    .groups = (const option_group[]){{"Options", options_verify}, {"Help", options_common}, {NULL, NULL}},
    .examples =
        (const example[]){{"millrace verify photo.l3", "Is it as it was written?"},
                          {"millrace verify --report train.report train", "A packed dataset, of any size"},
                          {"millrace verify --json ~/imagenet | jq -r '.bad[].name'", "What is to be fetched anew"},
                          {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
