// SPDX-License-Identifier: Apache-2.0
#include "source.h"
#include "failure.h"
#include "image.h"
#include "quantity.h"
#include "text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { PROBLEMS_TOLD = 5 };

const option options_source[] = {
    {.name = "layout",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, layout),
     .argument = "LAYOUT",
     .help = "How samples are stored: packed (by millrace), folder, tar (WebDataset), tfrecord, recordio, cifar, list; "
             "auto finds out",
     .initial = "auto",
     .words = "auto packed folder tar tfrecord recordio cifar list"},
    {.name = "list",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, list),
     .argument = "FILE",
     .help = "The samples, a line each: of a folder the path and the label; of layout list the place, the length and "
             "the label"},
    {.name = "index-place",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, index_place),
     .argument = "WHERE",
     .help = "Where the index of what is not packed is kept: in the user's cache folder, beside the data, or nowhere "
             "(none)",
     .initial = "cache",
     .words = "cache beside none"},
    {.name = "index-folder",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, index_folder),
     .argument = "DIR",
     .help = "Keep the index in DIR instead of the user's cache folder"},
    {.name = "rebuild",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, rebuild),
     .help = "Make the index anew, though there is one"},
    {.name = "broken",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, broken),
     .argument = "WORD",
     .help = "What to do with a broken member, a second sample of one key, a shard that ends early: fail, or skip it "
             "and tell",
     .initial = "fail",
     .words = "fail skip"},
    {.name = "threads",
     .letter = 't',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, threads),
     .argument = "N",
     .help = "Work on N threads; the result is the same for any number",
     .initial = "as many as this process may use",
     .min = 1,
     .max = 4096},
    OPTION_PROGRESS,
    {0},
};

static bool is(const char *word, const char *wanted)
{
    return word != NULL && strcmp(word, wanted) == 0;
}

static mr_layout layout_of(const settings *s)
{
    for (int layout = MR_LAYOUT_PACKED; layout <= MR_LAYOUT_FOLDER; layout++)
        if (is(s->layout, mr_layout_name((mr_layout)layout)))
            return (mr_layout)layout;
    return MR_LAYOUT_AUTO;
}

static mr_dataset_options options_of(const settings *s, progress *p)
{
    return (mr_dataset_options){
        .struct_size = sizeof(mr_dataset_options),
        .layout = layout_of(s),
        .index = is(s->index_place, "beside") ? MR_INDEX_BESIDE
                 : is(s->index_place, "none") ? MR_INDEX_NONE
                                              : MR_INDEX_CACHE,
        .index_folder = s->index_folder,
        .broken = is(s->broken, "skip") ? MR_BROKEN_SKIP : MR_BROKEN_FAIL,
        .list = s->list,
        .threads = s->threads,
        .rebuild = s->rebuild,
        .progress = progress_hook,
        .progress_user = p,
    };
}

static int check(const settings *s)
{
    if (s->index_folder != NULL && !is(s->index_place, "cache")) {
        complain(NULL, "--index-folder is for --index-place=cache, not for %s", s->index_place);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

/* How many problems there are, and the first ones: info --json has all. */
static void tell_problems(const source *src)
{
    mr_dataset_problem problem = {.struct_size = sizeof problem};
    for (uint64_t i = 0; i < src->info.problems && i < PROBLEMS_TOLD; i++)
        if (mr_dataset_get_problem(src->dataset, i, &problem) == 0)
            remark(src->name, "%s", problem.text);
    if (src->info.problems > PROBLEMS_TOLD)
        remark(src->name, "and %" PRIu64 " more of the kind: millrace info --json lists all",
               src->info.problems - PROBLEMS_TOLD);
}

int source_open(source *src, const settings *s, progress *p, char **paths, size_t count)
{
    mr_dataset_options options = options_of(s, p);
    *src = (source){.name = paths[0], .info.struct_size = sizeof src->info};
    int usage = check(s);
    if (usage != EXIT_GOOD)
        return usage;
    int result = mr_dataset_new(&options, &src->dataset);
    if (result == 0)
        result = mr_dataset_open(src->dataset, (const char *const *)paths, count);
    if (result == 0)
        result = mr_dataset_get_info(src->dataset, &src->info);
    progress_finish(p);
    if (result == 0) {
        if (src->info.layout != MR_LAYOUT_PACKED) /* there they are the refused ones, which packing told of */
            tell_problems(src);
        return EXIT_GOOD;
    }
    const char *detail = mr_dataset_detail(src->dataset);
    if (result == MR_ECLOSED && progress_is_stopped(p))
        complain(NULL, "stopped while the index was made; nothing of it is kept");
    else
        failed_detail(s, result, src->name, detail);
    if ((result == MR_ECORRUPT || result == MR_ETRUNCATED) && options.broken == MR_BROKEN_FAIL &&
        !source_is_packed(src->name) && strstr(detail, "--broken=skip") == NULL)
        remark(src->name, "--broken=skip leaves out what is broken, and tells of it");
    source_close(src);
    return EXIT_BAD_INPUT;
}

void source_close(source *src)
{
    mr_dataset_free(src->dataset);
    src->dataset = NULL;
}

static bool ends_in(const char *name, size_t length, const char *ending)
{
    size_t nbytes = strlen(ending);
    return length > nbytes && strncasecmp(name + length - nbytes, ending, nbytes) == 0;
}

/* What shards are called, compressed ones too, of which the library says what to do; others need --layout. */
static bool has_shard_name(const char *path)
{
    static const char *const endings[] = {".tar", ".rec", ".tfrecord", ".tfrecords", ".bin", ".tgz", ".tbz2", ".txz"};
    static const char *const packings[] = {".gz", ".zst", ".bz2", ".xz", ".lz4"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (strstr(name, ".tfrecord-") != NULL)
        return true;
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (ends_in(name, length, packings[i])) {
            length -= strlen(packings[i]);
            break;
        }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_in(name, length, endings[i]))
            return true;
    return false;
}

enum { HEAD_NBYTES = 64 };

static size_t read_head(const char *path, uint8_t bytes[HEAD_NBYTES])
{
    FILE *file = fopen(path, "rb");
    size_t nbytes = file != NULL ? fread(bytes, 1, HEAD_NBYTES, file) : 0;
    if (file != NULL)
        fclose(file);
    return nbytes;
}

/* Content goes before the name. */
static bool is_image(const char *path)
{
    uint8_t bytes[HEAD_NBYTES];
    return mr_form_probe(bytes, read_head(path, bytes)) != MR_FORM_NONE;
}

/* By gzip, zstd, bzip2, xz or lz4. */
static bool is_compressed(const char *path)
{
    static const char *const magics[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd", "BZh", "\3757zXZ", "\x04\x22\x4d\x18"};
    uint8_t bytes[HEAD_NBYTES];
    size_t nbytes = read_head(path, bytes);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (nbytes >= strlen(magics[i]) && memcmp(bytes, magics[i], strlen(magics[i])) == 0)
            return true;
    return false;
}

static bool is_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

int source_explain(const char *path, char *text, size_t nbytes)
{
    mr_dataset_options options = {.struct_size = sizeof options, .layout = MR_LAYOUT_TAR, .index = MR_INDEX_NONE};
    mr_dataset *dataset = NULL;
    bool shard = source_is_shard(path), compressed = is_regular(path) && is_compressed(path);
    if (shard && !compressed)
        snprintf(text, nbytes,
                 "not an image, but called like a shard of a dataset: millrace ls reads it, and info and index do "
                 "without images beside it");
    if (!compressed)
        return shard ? MR_EFORMAT : 0;
    if (shard)
        options.layout = MR_LAYOUT_AUTO;
    int result = mr_dataset_new(&options, &dataset);
    if (result == 0)
        result = mr_dataset_open(dataset, &path, 1);
    const char *detail = mr_dataset_detail(dataset);
    size_t length = strlen(path);
    if (strncmp(detail, path, length) == 0 && strncmp(detail + length, ": ", 2) == 0)
        detail += length + 2; /* which the caller has */
    if (result != 0)
        snprintf(text, nbytes, "%s", detail[0] != '\0' ? detail : mr_error_text(result));
    mr_dataset_free(dataset);
    return result;
}

bool source_is_shard(const char *path)
{
    return is_regular(path) && has_shard_name(path) && !is_image(path);
}

static bool is_dataset(const settings *s, const char *path)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return false;
    if (layout_of(s) != MR_LAYOUT_AUTO || s->list != NULL)
        return true;
    if (stat(path, &status) != 0)
        return strchr(path, '{') != NULL;
    return S_ISDIR(status.st_mode) || source_is_shard(path);
}

bool source_is_dataset(const settings *s, char **paths, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count && all; i++)
        all = is_dataset(s, paths[i]);
    return all;
}

bool source_is_packed(const char *folder)
{
    char path[PATH_MAX];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/dataset.json", folder);
    return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool source_form(const source *src, const settings *s, uint32_t *number)
{
    char names[512] = "";
    mr_dataset_form form = {.struct_size = sizeof form};
    if (mr_dataset_find_form(src->dataset, s->form, number) == 0)
        return true;
    for (uint32_t i = 0; mr_dataset_get_form(src->dataset, i, &form) == 0; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", form.name);
    }
    failed(s, MR_EARGUMENT, src->name, "has no form '%s' (one of: %s)", s->form, names);
    return false;
}

bool source_find(const source *src, const settings *s, const char *key, mr_sample *sample)
{
    uint64_t ordinal;
    bool number = key[0] == '#' && number_read(key + 1, UINT64_MAX, &ordinal);
    if (!number && mr_dataset_find(src->dataset, key, &ordinal) != 0) {
        failed(s, MR_EARGUMENT, src->name, "has no sample with the key '%s' (millrace ls lists them)", key);
        return false;
    }
    *sample = (mr_sample){.struct_size = sizeof *sample};
    int result = mr_dataset_sample(src->dataset, ordinal, sample);
    if (result == MR_EARGUMENT)
        failed(s, result, src->name, "has %s sample%s, so there is no %s", count_text(src->info.samples).text,
               plural(src->info.samples), key);
    else if (result != 0)
        failed(s, result, src->name, "the index is damaged where it has sample %s", key);
    return result == 0;
}

/* The name of the class that a label is the number of; NULL: none. */
static const char *class_of(const source *src, const mr_label *label)
{
    if (label->kind != MR_LABEL_INT || label->integer < 0 || (uint64_t)label->integer >= src->info.classes)
        return NULL;
    return mr_dataset_class(src->dataset, (uint64_t)label->integer);
}

/* Values stand unaligned. */
static int64_t integer_at(const mr_label *label, size_t i)
{
    int64_t value;
    memcpy(&value, (const char *)label->values + i * sizeof value, sizeof value);
    return value;
}

static double real_at(const mr_label *label, size_t i)
{
    double value;
    memcpy(&value, (const char *)label->values + i * sizeof value, sizeof value);
    return value;
}

static void put_values(FILE *stream, const mr_label *label)
{
    for (size_t i = 0; i < label->count; i++) {
        if (label->kind == MR_LABEL_INTS)
            fprintf(stream, "%s%" PRId64, i > 0 ? " " : "", integer_at(label, i));
        else if (label->kind == MR_LABEL_FLOATS)
            fprintf(stream, "%s%.17g", i > 0 ? " " : "", real_at(label, i));
        else
            fprintf(stream, "%02x", ((const unsigned char *)label->values)[i]);
    }
}

static void put_label(FILE *stream, const source *src, const mr_label *label)
{
    const char *class = class_of(src, label);
    if (class != NULL)
        fputs(class, stream);
    else if (label->kind == MR_LABEL_INT)
        fprintf(stream, "%" PRId64, label->integer);
    else if (label->kind == MR_LABEL_FLOAT)
        fprintf(stream, "%.17g", label->real);
    else if (label->kind == MR_LABEL_TEXT)
        fwrite(label->values, 1, label->count, stream);
    else if (label->kind != MR_LABEL_NONE)
        put_values(stream, label);
}

char *source_label(const source *src, const mr_label *label)
{
    char *text = NULL;
    size_t nbytes = 0;
    FILE *stream = open_memstream(&text, &nbytes);
    if (stream == NULL)
        return NULL;
    put_label(stream, src, label);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

void source_put_label(json *j, const source *src, const mr_label *label)
{
    const char *class = class_of(src, label);
    bool list = label->kind == MR_LABEL_INTS || label->kind == MR_LABEL_FLOATS;
    char *text = NULL;
    if (list)
        json_open(j, "label", '[');
    for (size_t i = 0; list && i < label->count; i++) {
        if (label->kind == MR_LABEL_INTS)
            json_integer(j, NULL, integer_at(label, i));
        else
            json_double(j, NULL, real_at(label, i));
    }
    if (list)
        json_close(j, ']');
    else if (label->kind == MR_LABEL_INT)
        json_integer(j, "label", label->integer);
    else if (label->kind == MR_LABEL_FLOAT)
        json_double(j, "label", label->real);
    else if (label->kind == MR_LABEL_NONE || (text = source_label(src, label)) == NULL)
        json_null(j, "label");
    else
        json_text(j, "label", text);
    free(text);
    if (class != NULL)
        json_text(j, "class", class);
}

void source_put_problems(json *j, const source *src)
{
    mr_dataset_problem problem = {.struct_size = sizeof problem};
    json_open(j, "problems", '[');
    for (uint64_t i = 0; i < src->info.problems && mr_dataset_get_problem(src->dataset, i, &problem) == 0; i++) {
        json_line(j);
        json_open(j, NULL, '{');
        if (problem.ordinal != UINT64_MAX)
            json_number(j, "ordinal", problem.ordinal);
        json_text(j, "code", mr_error_name(problem.code));
        json_text(j, "text", problem.text);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void source_index_place(const source *src, const settings *s, char *text, size_t nbytes)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (src->info.layout == MR_LAYOUT_PACKED)
        snprintf(text, nbytes, "beside each shard, part of the dataset");
    else if (is(s->index_place, "none"))
        snprintf(text, nbytes, "nowhere: it is made anew each time");
    else if (is(s->index_place, "beside"))
        snprintf(text, nbytes, "%s%s", src->name,
                 src->info.layout == MR_LAYOUT_FOLDER ? "/.millrace.mrx"
                 : src->info.files == 1               ? ".mrx"
                                                      : ".mrx, and so on");
    else if (s->index_folder != NULL)
        snprintf(text, nbytes, "%s", s->index_folder);
    else if (cache != NULL && cache[0] == '/')
        snprintf(text, nbytes, "%s/millrace/index", cache);
    else
        snprintf(text, nbytes, "%s/.cache/millrace/index", home != NULL ? home : "~");
}
