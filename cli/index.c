// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "listing.h"
#include "quantity.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".mri"

/* Where the index says how many rows are from entry to entry, and how many entries there are. */
enum { MAGIC_NBYTES = 4, AT_STEP = 6, AT_COUNT = 8 };

static const option options_index[] = {
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, out),
     .argument = "FILE",
     .help = "Write the index of the one JPEG named to FILE, not beside it; '-' is standard output"},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print one JSON array, an object a line for each file (a bad one has \"error\" in it); of a dataset one "
             "object"},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, force),
     .help = "Replace also what is there and is no row index"},
    {.name = "no-limits",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_limits),
     .help = "Lift the limits on pixels, bytes and memory: only for files you trust"},
    {0},
};

static bool is_piped(const settings *s)
{
    return s->out != NULL && strcmp(s->out, "-") == 0;
}

static uint32_t number_at(const void *index, size_t at)
{
    const uint8_t *p = (const uint8_t *)index + at;
    return (uint32_t)(p[0] | p[1] << 8);
}

static int fail_output(opened *o, const char *path, const char *text)
{
    o->code = MR_EIO;
    snprintf(o->error, sizeof o->error, "the index cannot be written to %.200s: %s",
             strcmp(path, "-") == 0 ? "standard output" : path, text);
    return o->code;
}

/* Whether a file is there that is neither empty nor begins as an index does: somebody may need it. */
static bool is_other_file(const char *path, const void *index)
{
    struct stat status;
    uint8_t bytes[MAGIC_NBYTES];
    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return false;
    FILE *file = fopen(path, "rb");
    bool is_index = file != NULL && fread(bytes, sizeof bytes, 1, file) == 1 && memcmp(bytes, index, sizeof bytes) == 0;
    if (file != NULL)
        fclose(file);
    return !is_index;
}

/* To the file that --out names, or beside the JPEG. */
static int write_index(opened *o, const settings *s, const char *name, const void *index, size_t nbytes)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s", s->out != NULL ? s->out : name, s->out != NULL ? "" : ENDING);
    if (length < 0 || (size_t)length >= sizeof path)
        return fail_output(o, path, strerror(ENAMETOOLONG));
    if (!s->force && is_other_file(path, index))
        return fail_output(o, path, "it is there and is no row index; --force replaces it");
    int number = file_write(path, index, nbytes);
    return number != 0 ? fail_output(o, path, strerror(number)) : 0;
}

static int look(opened *o, const settings *s, const char *name, finding *found)
{
    const void *index;
    int result = opened_read(o, name);
    size_t nbytes = 0;
    if (result == 0)
        result = opened_index(o, &index, &nbytes);
    if (result == 0 && nbytes == 0)
        remark(name,
               "no row index can be had of it, and none was written: only JPEGs that Millrace decodes itself, of one "
               "sequential scan, several rows of blocks and DC values of 16 bits have one");
    if (result != 0 || nbytes == 0)
        return result;
    found->nbytes = nbytes;
    found->step = number_at(index, AT_STEP);
    found->entries = number_at(index, AT_COUNT);
    return write_index(o, s, name, index, nbytes);
}

static bool put_line(void *to, const finding *found, const char *name)
{
    const settings *s = to;
    if (found->nbytes == 0 || is_piped(s))
        return true;
    put_escaped(stdout, s->out != NULL ? s->out : name);
    printf("%s: %" PRIu64 " bytes, %" PRIu32 " entr%s, one for every ", s->out != NULL ? "" : ENDING, found->nbytes,
           found->entries, found->entries == 1 ? "y" : "ies");
    if (found->step == 1)
        puts("row of blocks but the first");
    else
        printf("%" PRIu32 " rows of blocks\n", found->step);
    return true;
}

static void put_json(json *j, const finding *found)
{
    json_number(j, "entries", found->entries);
    json_number(j, "step", found->step);
    json_number(j, "bytes", found->nbytes);
}

/* What can be wrong before anything is read. */
static int check(const settings *s, char **names, size_t count)
{
    if (s->out != NULL && count > 1) {
        complain(NULL,
                 "index: --out is for one JPEG, and there are %zu; without it each index is written beside its JPEG",
                 count);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < count && s->out == NULL; i++)
        if (strcmp(names[i], "-") == 0) {
            complain(NULL, "index: of standard input only --out says where the index goes");
            return EXIT_USAGE;
        }
    if (is_piped(s) && s->json) {
        complain(NULL, "index: --json and --out cannot both be standard output");
        return EXIT_USAGE;
    }
    if (s->out != NULL && file_is_same(names[0], s->out)) { // not with --force either: the JPEG would be lost
        complain(s->out, "is the JPEG itself, which its index would replace");
        return EXIT_BAD_INPUT;
    }
    if (is_piped(s) && isatty(STDOUT_FILENO)) {
        complain(NULL, "index: standard output is a terminal, which cannot show an index; redirect it");
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

static void put_dataset(const settings *s, const source *src)
{
    char place[PATH_MAX + 64];
    const mr_dataset_info *i = &src->info;
    source_index_place(src, s, place, sizeof place);
    put_escaped(stdout, src->name);
    printf(": %s sample%s in %s file%s (%s), %s problem%s; ", count_text(i->samples).text, plural(i->samples),
           count_text(i->files).text, plural(i->files), mr_layout_name(i->layout), count_text(i->problems).text,
           plural(i->problems));
    fputs(i->indexed_now ? "index made now: " : "index found, up to date: ", stdout);
    put_escaped(stdout, place);
    putchar('\n');
}

static void put_json_dataset(const settings *s, const source *src)
{
    json j = {.stream = stdout};
    char place[PATH_MAX + 64];
    const mr_dataset_info *i = &src->info;
    source_index_place(src, s, place, sizeof place);
    json_open(&j, NULL, '{');
    json_name(&j, src->name);
    json_text(&j, "layout", mr_layout_name(i->layout));
    json_number(&j, "samples", i->samples);
    json_number(&j, "files", i->files);
    json_text(&j, "index", place);
    json_bool(&j, "indexed_now", i->indexed_now);
    json_hash(&j, "fingerprint", i->fingerprint);
    source_put_problems(&j, src);
    json_close(&j, '}');
    putchar('\n');
}

static int index_dataset(const settings *s, char **paths, size_t count)
{
    source src;
    progress p;
    if (s->out != NULL || s->force || s->no_limits) {
        complain(NULL, "index: --%s is for JPEGs, and '%s' is a dataset: --index-place says where its index goes",
                 s->out != NULL ? "out"
                 : s->force     ? "force"
                                : "no-limits",
                 paths[0]);
        return EXIT_USAGE;
    }
    progress_init(&p, s->progress);
    progress_hold(&p);
    int result = source_open(&src, s, &p, paths, count);
    progress_fini(&p);
    if (result != EXIT_GOOD)
        return result;
    if (s->json)
        put_json_dataset(s, &src);
    else
        put_dataset(s, &src);
    source_close(&src);
    return EXIT_GOOD;
}

static int run(const settings *s, char **names, size_t count)
{
    settings copy = *s;
    const listing indexes = {.look = look, .put_line = put_line, .put_json = put_json, .to = &copy};
    if (source_is_dataset(s, names, count))
        return index_dataset(s, names, count);
    int result = check(s, names, count);
    return result == EXIT_GOOD ? listing_run(&indexes, s, names, count) : result;
}

const command command_index = {
    .name = "index",
    .operands = "PATH...",
    .summary = "Make the index of a dataset, or row indexes of JPEGs",
    .text =
        (const char *const[]){
            "Of a folder of images, tar shards and other files with many samples it makes the index of the dataset, "
            "with which opening takes milliseconds, and tells how many samples there are, what is wrong with them, "
            "and where the index is kept. What reads a dataset makes it, too, when it is missing or the data has "
            "changed; a packed dataset has its own.",
            "Of JPEGs it writes the row index of each to a file of at most 512 bytes, beside it and called like it "
            "with "
            "'" ENDING "' behind. It says where rows of blocks begin in the JPEG. With it (--index of decode, hash and "
            "convert) a part of the image is decoded without reading all that stands above it; the pixels are the "
            "same.",
            "An index belongs to the very bytes it was made of: it has their hash, and with any other file it is an "
            "error. All of the JPEG is read, and damage in it is an error, too. JPEGs of several scans (progressive "
            "ones), of one row of blocks, those that only libjpeg-turbo decodes, and other forms have no index: a note "
            "says so, nothing is written, and with --json entries, step and bytes are 0.",
            "Each use of an index costs a hash of the whole JPEG: it is of little use for parts near the top.", NULL},
    .groups = (const option_group[]){{"Options", options_index},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples = (const example[]){{"millrace index ~/imagenet/train", "So that the first training starts at once"},
                                  {"millrace index --index-place=beside 'train-{000..146}.tar'",
                                   "An index beside each shard, for everybody"},
                                  {"millrace index photo.jpg", "Writes photo.jpg" ENDING},
                                  {"millrace hash --index=photo.jpg" ENDING " --region=100,900,224x224 photo.jpg",
                                   "A part of it, read from the middle of the file"},
                                  {"millrace index --json *.jpg | jq '.[] | select(.step > 1) | .name'",
                                   "Those with too many rows to have all of them"},
                                  {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
