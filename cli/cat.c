// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "failure.h"
#include "file.h"
#include "json.h"
#include "quantity.h"
#include "source.h"
#include "text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const option options_cat[] = {
    {.name = "form",
     .letter = 'F',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, form),
     .argument = "NAME",
     .help = "Take this form",
     .initial = "the first that the sample has",
     .described = true},
    {.name = "member",
     .letter = 'm',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, member),
     .argument = "NAME",
     .help = "Take another thing that is stored with it: json, seg.png"},
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, out),
     .argument = "FILE",
     .help = "Write to FILE",
     .initial = "standard output",
     .described = true},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print what is known of the sample as a JSON object, and not its bytes"},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, force),
     .help = "Write to standard output even if it is a terminal"},
    {0},
};

/* The form asked for, or the first that the sample has. */
static bool find_form(const source *src, const settings *s, const mr_sample *sample, uint32_t *number)
{
    mr_record record = {.struct_size = sizeof record};
    if (s->form != NULL)
        return source_form(src, s, number);
    for (*number = 0; *number < src->info.forms; ++*number)
        if (mr_dataset_record(src->dataset, sample->ordinal, *number, &record) == 0 &&
            record.state == MR_RECORD_PRESENT)
            return true;
    *number = 0; /* whose reading says why */
    return true;
}

static bool find_member(const source *src, const settings *s, const mr_sample *sample, uint32_t *number)
{
    char names[512] = "";
    mr_member member = {.struct_size = sizeof member};
    for (*number = 0; *number < sample->members; ++*number) {
        if (mr_dataset_member(src->dataset, sample->ordinal, *number, &member) != 0)
            continue;
        if (strcmp(member.name, s->member) == 0)
            return true;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", member.name);
    }
    if (names[0] != '\0')
        complain(sample->key, "has no member '%s' (one of: %s)", s->member, names);
    else
        complain(sample->key, "has no member '%s', nor any other", s->member);
    return false;
}

static int put_bytes(const source *src, const settings *s, const mr_sample *sample)
{
    mr_reader *reader = NULL;
    uint32_t number;
    const void *bytes;
    size_t nbytes;
    const char *out = s->out != NULL ? s->out : "-";
    if (s->member != NULL ? !find_member(src, s, sample, &number) : !find_form(src, s, sample, &number))
        return EXIT_BAD_INPUT;
    int result = mr_reader_new(src->dataset, &reader);
    if (result == 0 && s->member != NULL)
        result = mr_reader_member(reader, sample->ordinal, number, &bytes, &nbytes);
    else if (result == 0)
        result = mr_reader_record(reader, sample->ordinal, number, &bytes, &nbytes);
    if (result != 0) {
        const char *detail = reader != NULL ? mr_reader_detail(reader) : "";
        complain(detail[0] != '\0' ? NULL : sample->key, "%s", detail[0] != '\0' ? detail : mr_error_text(result));
    } else {
        int error = file_write(out, bytes, nbytes);
        if (error != 0)
            complain(strcmp(out, "-") == 0 ? "standard output" : out, "%s", strerror(error));
        result = error;
    }
    mr_reader_free(reader);
    return result == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static void put_record(json *j, const source *src, const mr_sample *sample, uint32_t number)
{
    static const char *const states[] = {"present", "absent", "refused"};
    mr_dataset_form form = {.struct_size = sizeof form};
    mr_record r = {.struct_size = sizeof r};
    char path[PATH_MAX];
    if (mr_dataset_get_form(src->dataset, number, &form) != 0)
        return;
    int result = mr_dataset_record(src->dataset, sample->ordinal, number, &r);
    json_open(j, form.name, '{');
    json_text(j, "state", result == 0 ? states[r.state] : "damaged");
    if (result == 0 && r.state == MR_RECORD_PRESENT) {
        json_text(j, "form", mr_form_name(r.form));
        json_number(j, "width", r.width);
        json_number(j, "height", r.height);
        json_number(j, "channels", r.channels);
        json_number(j, "depth", r.depth);
        json_number(j, "orientation", r.orientation);
        if (r.has_hash)
            json_hash(j, "hash", r.hash);
        if (mr_dataset_file(src->dataset, r.file, path, sizeof path) < sizeof path)
            json_named(j, "file", path);
        json_number(j, "offset", r.offset);
        json_number(j, "nbytes", r.nbytes);
        json_number(j, "row_index_nbytes", r.row_index_nbytes);
    }
    json_close(j, '}');
}

static void put_json(const source *src, const mr_sample *sample)
{
    json j = {.stream = stdout};
    mr_member member = {.struct_size = sizeof member};
    json_open(&j, NULL, '{');
    json_number(&j, "ordinal", sample->ordinal);
    json_named(&j, "key", sample->key);
    source_put_label(&j, src, &sample->label);
    json_number(&j, "shard", sample->shard);
    json_number(&j, "position", sample->position);
    json_open(&j, "forms", '{');
    for (uint32_t i = 0; i < src->info.forms; i++) {
        json_line(&j);
        put_record(&j, src, sample, i);
    }
    json_close(&j, '}');
    json_open(&j, "members", '[');
    for (uint32_t i = 0; i < sample->members; i++)
        if (mr_dataset_member(src->dataset, sample->ordinal, i, &member) == 0) {
            json_line(&j);
            json_open(&j, NULL, '{');
            json_name(&j, member.name);
            json_number(&j, "offset", member.offset);
            json_number(&j, "nbytes", member.nbytes);
            json_close(&j, '}');
        }
    json_close(&j, ']');
    json_close(&j, '}');
    putchar('\n');
}

static int check(const settings *s)
{
    if (s->form != NULL && s->member != NULL) {
        complain(NULL, "cat: --form and --member cannot both be: one thing at a time");
        return EXIT_USAGE;
    }
    if (s->json && s->out != NULL) {
        complain(NULL, "cat: --json writes no bytes, so --out has nothing to do");
        return EXIT_USAGE;
    }
    bool piped = s->out == NULL || strcmp(s->out, "-") == 0;
    if (!s->json && !s->force && piped && isatty(STDOUT_FILENO)) {
        complain(NULL, "cat: standard output is a terminal, which cannot show an image; redirect it, or --out=FILE "
                       "(--force writes all the same)");
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

static int run(const settings *s, char **operands, size_t count)
{
    source src;
    progress p;
    mr_sample sample;
    int result = check(s);
    if (result != EXIT_GOOD)
        return result;
    progress_init(&p, s->progress);
    progress_hold(&p);
    result = source_open(&src, s, &p, operands, count - 1);
    progress_fini(&p);
    if (result != EXIT_GOOD)
        return result;
    if (!source_find(&src, s, operands[count - 1], &sample))
        result = EXIT_BAD_INPUT;
    else if (s->json)
        put_json(&src, &sample);
    else
        result = put_bytes(&src, s, &sample);
    source_close(&src);
    return result;
}

const command command_cat = {
    .name = "cat",
    .operands = "DATASET... KEY",
    .summary = "Write out what is stored of one sample",
    .text =
        (const char *const[]){
            "Writes the stored bytes of a sample, unchanged, to standard output or to a file: one of its forms, or "
            "another member that is stored with it. KEY is its key as millrace ls prints it, or # and its ordinal "
            "('#12', in quotes for the shell's sake). The checksum is compared where there is one.",
            "DATASET is a folder, or the files of one dataset.", NULL},
    .groups = (const option_group[]){{"Options", options_cat},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples = (const example[]){{"millrace cat train n01440764/n01440764_18 --form l3 -o fish.l3", "One as L3"},
                                  {"millrace cat train '#0' | millrace info -", "What is the first one?"},
                                  {"millrace cat train '#0' --json", "Where it is, its size, its checksum"},
                                  {NULL, NULL}},
    .operand_min = 2,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
