// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "failure.h"
#include "json.h"
#include "parallel.h"
#include "quantity.h"
#include "source.h"
#include "text.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LABELS "labels.tsv"

/* The longest key that leaves room for an ending. */
enum { FAULTS_KEPT = 1000, EXISTING_TOLD = 10, KEY_MAX = PATH_MAX - 300 };

static const option options_unpack[] = {
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, out),
     .argument = "FOLDER",
     .help = "The folder to write into, which is made if it is not there"},
    {.name = "form",
     .letter = 'F',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, form),
     .argument = "NAME",
     .help = "Take this form; samples that do not have it are passed over",
     .initial = "the first that each sample has",
     .described = true},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, force),
     .help = "Replace files that are there"},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print the report as a JSON object, with all that could not be written"},
    {0},
};

typedef struct fault {
    uint64_t ordinal;
    int code;
    bool existing; /* it is there already: of these there are as many as files when all is unpacked twice */
    char *text;
} fault;

/* What a worker has of its own. */
typedef struct hand {
    mr_reader *reader;
    tree tree;
} hand;

typedef struct job {
    const settings *s;
    const source *src;
    const progress *progress;
    uint32_t form; /* asked for */
    int root;
    hand *hands;
    uint8_t *endings; /* of each sample's file, 1 + number; 0: not written */
    atomic_uint_fast64_t files, nbytes, labels, absent, refused, failed, existing;
    pthread_mutex_t lock; /* of the faults */
    fault *faults;        /* the first of each kind: files that are there hide no damage */
    size_t fault_count, kept[2];
} job;

static const char *const endings[] = {"bin", "jpg", "png", "webp", "ppm", "raw", "l3"}; /* by mr_form */

static void keep_fault(job *j, uint64_t ordinal, int code, bool existing, const char *text)
{
    atomic_fetch_add(&j->failed, 1);
    atomic_fetch_add(&j->existing, existing);
    pthread_mutex_lock(&j->lock);
    if (j->kept[existing] < FAULTS_KEPT) {
        j->kept[existing]++;
        j->faults[j->fault_count++] = (fault){ordinal, code, existing, strdup(text)};
    }
    pthread_mutex_unlock(&j->lock);
}

__attribute__((format(printf, 4, 5))) static void fail(job *j, uint64_t ordinal, int code, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep_fault(j, ordinal, code, false, text);
}

/* `key` may be NULL. */
static void fail_existing(job *j, uint64_t ordinal, const char *key, const char *path)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s is there already; --force replaces it", key != NULL ? key : "",
             key != NULL ? ": " : "", path);
    keep_fault(j, ordinal, MR_EIO, true, text);
}

/*
 * The key as the name of a file without its ending. In a packed dataset %2E and %25 of the base name are undone; a "./"
 * or a second slash, as tar has them, changes nothing of the name and is left out. The rest is tree_fault's.
 */
static void name_of(const job *j, const char *key, char out[PATH_MAX])
{
    const char *slash = strrchr(key, '/'), *base = slash != NULL ? slash + 1 : key;
    size_t used = 0;
    for (const char *p = key; *p != '\0' && used < PATH_MAX - 1; p++) {
        bool begins = p > key ? p[-1] == '/' : true;
        if (begins && p[0] == '.' && p[1] == '/') {
            p++;
            continue;
        }
        if (begins && p > key && p[0] == '/')
            continue;
        bool coded = j->src->info.layout == MR_LAYOUT_PACKED && p >= base && p[0] == '%' && p[1] == '2' &&
                     (p[2] == 'E' || p[2] == '5');
        out[used++] = !coded ? *p : p[2] == 'E' ? '.' : '%';
        p += coded ? 2 : 0;
    }
    out[used] = '\0';
}

/* A folder's keys are names of files already. */
static void path_of(const job *j, const char *key, const char *ending, char out[PATH_MAX])
{
    char name[PATH_MAX];
    name_of(j, key, name);
    if (j->src->info.layout == MR_LAYOUT_FOLDER)
        snprintf(out, PATH_MAX, "%s", name);
    else
        snprintf(out, PATH_MAX, "%.*s.%s", KEY_MAX, name, ending);
}

/* A good record, the form it is in, or why there is none. False: nothing to write. */
static bool choose_record(job *j, uint64_t ordinal, uint32_t *form)
{
    mr_record record = {.struct_size = sizeof record};
    uint32_t from = j->s->form != NULL ? j->form : 0, to = j->s->form != NULL ? j->form + 1 : j->src->info.forms;
    bool refused = false;
    for (*form = from; *form < to; ++*form) {
        if (mr_dataset_record(j->src->dataset, ordinal, *form, &record) != 0 || record.state == MR_RECORD_PRESENT)
            return true; /* the reader says what is wrong with a damaged one */
        refused = refused || record.state == MR_RECORD_REFUSED;
    }
    atomic_fetch_add(refused ? &j->refused : &j->absent, 1);
    return false;
}

static bool write_file(job *j, hand *h, const mr_sample *sample, const char *path, const void *bytes, size_t nbytes)
{
    const char *why = strcmp(path, LABELS) == 0 ? "that name is for the labels" : tree_fault(path);
    if (why != NULL) {
        fail(j, sample->ordinal, MR_EUNSUPPORTED, "%s: not written, its name cannot be used: %s", sample->key, why);
        return false;
    }
    int error = tree_write(&h->tree, path, bytes, nbytes, j->s->force);
    if (error == EEXIST)
        fail_existing(j, sample->ordinal, sample->key, path);
    else if (error == ELOOP || error == ENOTDIR)
        fail(j, sample->ordinal, MR_EIO, "%s: a folder of %s is a file or a link, and is not followed", sample->key,
             path);
    else if (error != 0)
        fail(j, sample->ordinal, MR_EIO, "%s: %s: %s", sample->key, path, strerror(error));
    if (error != 0)
        return false;
    atomic_fetch_add(&j->files, 1);
    atomic_fetch_add(&j->nbytes, nbytes);
    return true;
}

static void write_members(job *j, hand *h, const mr_sample *sample)
{
    char name[PATH_MAX], path[PATH_MAX];
    const void *bytes;
    size_t nbytes;
    mr_member member = {.struct_size = sizeof member};
    name_of(j, sample->key, name);
    for (uint32_t i = 0; i < sample->members; i++) {
        int result = mr_dataset_member(j->src->dataset, sample->ordinal, i, &member);
        if (result == 0)
            result = mr_reader_member(h->reader, sample->ordinal, i, &bytes, &nbytes);
        if (result != 0) {
            fail(j, sample->ordinal, result, "%s", mr_reader_detail(h->reader));
            continue;
        }
        snprintf(path, sizeof path, "%.*s.%.*s", KEY_MAX, name, NAME_MAX + 1, member.name);
        write_file(j, h, sample, path, bytes, nbytes);
    }
}

static void write_sample(void *user, unsigned worker, size_t index)
{
    job *j = user;
    hand *h = &j->hands[worker];
    mr_sample sample = {.struct_size = sizeof sample};
    uint32_t form;
    const void *bytes;
    size_t nbytes;
    char path[PATH_MAX];
    if (progress_is_stopped(j->progress))
        return;
    int result = mr_dataset_sample(j->src->dataset, index, &sample);
    if (result != 0) {
        fail(j, index, result, "sample %zu: the index is damaged where it has it", index);
        return;
    }
    if (sample.key_nbytes > KEY_MAX) {
        fail(j, index, MR_EUNSUPPORTED, "sample %zu: not written, its key is too long for a file", index);
        return;
    }
    if (choose_record(j, index, &form)) {
        result = mr_reader_record(h->reader, index, form, &bytes, &nbytes);
        if (result != 0) {
            fail(j, index, result, "%s", mr_reader_detail(h->reader));
            return;
        }
        mr_form kind = mr_form_probe(bytes, nbytes);
        unsigned number = (size_t)kind < sizeof endings / sizeof *endings ? (unsigned)kind : 0;
        path_of(j, sample.key, endings[number], path);
        if (!write_file(j, h, &sample, path, bytes, nbytes))
            return;
        j->endings[index] = (uint8_t)(number + 1);
        atomic_fetch_add(&j->labels, sample.label.kind != MR_LABEL_NONE);
    }
    if (sample.members != 0)
        write_members(j, h, &sample);
}

static void fill(void *user, mr_progress *now)
{
    job *j = user;
    now->unit = "samples";
    now->out_nbytes = now->in_nbytes = atomic_load(&j->nbytes);
    now->refused = atomic_load(&j->refused);
}

/* Path and label of every file that was written, in the order of the dataset. */
static void put_labels(FILE *stream, void *user)
{
    const job *j = user;
    char path[PATH_MAX];
    mr_sample sample = {.struct_size = sizeof sample};
    for (uint64_t i = 0; i < j->src->info.samples && !ferror(stream); i++) {
        if (j->endings[i] == 0 || mr_dataset_sample(j->src->dataset, i, &sample) != 0 ||
            sample.label.kind == MR_LABEL_NONE)
            continue;
        char *label = source_label(j->src, &sample.label);
        path_of(j, sample.key, endings[j->endings[i] - 1], path);
        put_escaped(stream, path);
        fputc('\t', stream);
        put_escaped(stream, label != NULL ? label : "");
        fputc('\n', stream);
        free(label);
    }
}

static void write_labels(job *j)
{
    tree t;
    if (atomic_load(&j->labels) == 0)
        return;
    tree_init(&t, j->root, UINT_MAX);
    int error = tree_write_stream(&t, LABELS, put_labels, j, j->s->force);
    if (error == EEXIST)
        fail_existing(j, UINT64_MAX, NULL, LABELS);
    else if (error != 0)
        fail(j, UINT64_MAX, MR_EIO, "%s/" LABELS ": %s", j->s->out, strerror(error));
    tree_fini(&t);
}

static int compare_faults(const void *a, const void *b)
{
    const fault *x = a, *y = b;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static void put(const job *j)
{
    uint64_t absent = atomic_load(&j->absent), refused = atomic_load(&j->refused), failed = atomic_load(&j->failed);
    printf("Wrote %s file%s (%s) of %s sample%s into ", count_text(atomic_load(&j->files)).text,
           plural(atomic_load(&j->files)), bytes_text(atomic_load(&j->nbytes)).text,
           count_text(j->src->info.samples).text, plural(j->src->info.samples));
    put_escaped(stdout, j->s->out);
    if (absent != 0)
        printf("; %s without this form", count_text(absent).text);
    if (refused != 0)
        printf("; %s refused when it was packed", count_text(refused).text);
    if (failed != 0)
        printf("; %s could not be written", count_text(failed).text);
    putchar('\n');
}

static void put_json(const job *j)
{
    json out = {.stream = stdout};
    json_open(&out, NULL, '{');
    json_name(&out, j->s->out);
    json_number(&out, "samples", j->src->info.samples);
    json_number(&out, "files", atomic_load(&j->files));
    json_number(&out, "nbytes", atomic_load(&j->nbytes));
    json_number(&out, "absent", atomic_load(&j->absent));
    json_number(&out, "refused", atomic_load(&j->refused));
    json_number(&out, "failed", atomic_load(&j->failed));
    json_open(&out, "bad", '[');
    for (size_t i = 0; i < j->fault_count; i++) {
        json_line(&out);
        json_open(&out, NULL, '{');
        if (j->faults[i].ordinal != UINT64_MAX)
            json_number(&out, "ordinal", j->faults[i].ordinal);
        json_error(&out, j->faults[i].code, j->faults[i].text != NULL ? j->faults[i].text : "");
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_close(&out, '}');
    putchar('\n');
}

/* All that went wrong, as far as it was kept; of files that are there the first ones, and how many they are. */
static void tell_faults(const job *j)
{
    uint64_t existing = atomic_load(&j->existing), others = atomic_load(&j->failed) - existing;
    size_t told = 0;
    for (size_t i = 0; i < j->fault_count; i++) {
        const fault *f = &j->faults[i];
        if (!f->existing || told++ < EXISTING_TOLD)
            complain(NULL, "%s", f->text != NULL ? f->text : mr_error_text(f->code));
    }
    if (others > j->kept[false])
        complain(NULL, "and %s more that could not be written", count_text(others - j->kept[false]).text);
    if (existing > EXISTING_TOLD)
        complain(NULL, "and %s more file%s there already; --force replaces what is there",
                 count_text(existing - EXISTING_TOLD).text, existing == EXISTING_TOLD + 1 ? " is" : "s are");
}

static int finish(job *j)
{
    qsort(j->faults, j->fault_count, sizeof *j->faults, compare_faults);
    tell_faults(j);
    if (progress_is_stopped(j->progress))
        complain(NULL, "unpack: stopped; with --force the same command writes all of it again");
    else if (j->s->json)
        put_json(j);
    else
        put(j);
    return atomic_load(&j->failed) == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int work(job *j, progress *p, unsigned threads)
{
    unsigned ready = 0;
    size_t count = (size_t)j->src->info.samples;
    int result = EXIT_BAD_INPUT;
    j->hands = calloc(threads, sizeof *j->hands);
    j->faults = calloc(2 * FAULTS_KEPT, sizeof *j->faults);
    j->endings = calloc(count + 1, 1);
    while (j->hands != NULL && ready < threads && mr_reader_new(j->src->dataset, &j->hands[ready].reader) == 0) {
        tree_init(&j->hands[ready].tree, j->root, ready);
        ready++;
    }
    if (ready == threads && j->faults != NULL && j->endings != NULL) {
        parallel_run_told(p, fill, "unpacking", threads, count, write_sample, j);
        progress_finish(p);
        if (!progress_is_stopped(p))
            write_labels(j);
        result = finish(j);
    } else {
        failed(j->s, MR_ENOMEM, NULL, "%s", mr_error_text(MR_ENOMEM));
    }
    for (unsigned i = 0; i < ready; i++) {
        mr_reader_free(j->hands[i].reader);
        tree_fini(&j->hands[i].tree);
    }
    for (size_t i = 0; i < j->fault_count; i++)
        free(j->faults[i].text);
    free(j->hands);
    free(j->faults);
    free(j->endings);
    return result;
}

static int unpack(const settings *s, const source *src, progress *p)
{
    job j = {.s = s, .src = src, .progress = p};
    unsigned threads = s->threads != 0 ? s->threads : mr_threads_default();
    if (s->form != NULL && !source_form(src, s, &j.form))
        return EXIT_BAD_INPUT;
    if ((mkdir(s->out, 0777) != 0 && errno != EEXIST) ||
        (j.root = open(s->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        return failed(s, MR_EIO, s->out, "%s", strerror(errno));
    }
    if (threads > src->info.samples)
        threads = src->info.samples != 0 ? (unsigned)src->info.samples : 1;
    pthread_mutex_init(&j.lock, NULL);
    int result = work(&j, p, threads);
    pthread_mutex_destroy(&j.lock);
    close(j.root);
    return result;
}

static int run(const settings *s, char **paths, size_t count)
{
    source src;
    progress p;
    if (s->out == NULL) {
        complain(NULL, "unpack: --out is missing: millrace unpack DATASET... -o FOLDER");
        return EXIT_USAGE;
    }
    progress_init(&p, s->progress);
    progress_hold(&p);
    int result = source_open(&src, s, &p, paths, count);
    if (result == EXIT_GOOD) {
        result = unpack(s, &src, &p);
        source_close(&src);
    }
    progress_fini(&p);
    return result;
}

const command command_unpack = {
    .name = "unpack",
    .operands = "DATASET... -o FOLDER",
    .summary = "Write each sample of a dataset as a file",
    .text =
        (const char *const[]){
            "Writes the stored bytes of every sample, unchanged, to a file in FOLDER called like its key, with the "
            "ending of its form, in the folders that the key names; other members that are stored with it stand "
            "beside it. " LABELS " in FOLDER has a line for each sample with a label: the path, a tab, the label.",
            "Every checksum is compared; a sample that is damaged, or has a name that cannot be one of a file inside "
            "of "
            "FOLDER, is told of and not written, and the exit code is 1. Links in FOLDER are not followed. What is "
            "there is not replaced without --force.",
            NULL},
    .groups = (const option_group[]){{"Options", options_unpack},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples = (const example[]){{"millrace unpack train -o images", "A folder of images again"},
                                  {"millrace unpack train -o images --form l3", "All of them as L3"},
                                  {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
