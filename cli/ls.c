// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "json.h"
#include "quantity.h"
#include "source.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns are as wide as the first lines ask for: nothing is kept of millions of samples. */
enum { LOOKED_AT = 500, WIDEST = 60 };

static const option options_ls[] = {
    {.name = "forms",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, with_forms),
     .help = "Tell the forms that each sample has, with their bytes"},
    {.name = "long",
     .letter = 'l',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, in_full),
     .help = "Tell also its ordinal, its shard, width, height, channels and bits where they are known, and its other "
             "members"},
    {.name = "from",
     .kind = OPTION_SEED,
     .offset = offsetof(settings, first),
     .argument = "N",
     .help = "Begin with sample N",
     .initial = "0"},
    {.name = "limit",
     .letter = 'n',
     .kind = OPTION_SEED,
     .offset = offsetof(settings, limit),
     .argument = "N",
     .help = "List N samples at most",
     .initial = "all"},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print one JSON array, an object a line for each sample, with all of it"},
    {0},
};

typedef struct lister {
    const settings *s;
    const source *src;
    bool padded; /* on a terminal; else a tab between columns */
    int key_width, label_width;
} lister;

static const char *const state_names[] = {"present", "absent", "refused"};

/* The name of a form that may differ: of a packed original, or of what is stored elsewhere. */
static const char *kind_of(const mr_dataset_form *form, const mr_record *record)
{
    return form->form == MR_FORM_NONE && record->form != MR_FORM_NONE ? mr_form_name(record->form) : form->name;
}

static void put_text(const char *text, int width)
{
    char *line = NULL;
    size_t nbytes = 0;
    FILE *stream = open_memstream(&line, &nbytes);
    if (stream == NULL)
        return;
    put_escaped(stream, text);
    if (fclose(stream) == 0) {
        fwrite(line, 1, nbytes, stdout);
        if ((size_t)width > nbytes)
            printf("%*s", width - (int)nbytes, "");
    }
    free(line);
}

static void put_gap(const lister *l)
{
    fputs(l->padded ? "  " : "\t", stdout);
}

static void put_forms(const lister *l, uint64_t ordinal)
{
    mr_dataset_form form = {.struct_size = sizeof form};
    mr_record record = {.struct_size = sizeof record};
    const char *lead = "";
    put_gap(l);
    for (uint32_t i = 0; mr_dataset_get_form(l->src->dataset, i, &form) == 0; i++) {
        int result = mr_dataset_record(l->src->dataset, ordinal, i, &record);
        if (result == 0 && record.state == MR_RECORD_ABSENT)
            continue;
        fputs(lead, stdout);
        lead = " ";
        if (result != 0)
            printf("%s=damaged", form.name);
        else if (record.state == MR_RECORD_REFUSED)
            printf("%s=refused", form.name);
        else
            printf("%s=%" PRIu64, kind_of(&form, &record), record.nbytes);
    }
}

/* Of the first form that the sample has. */
static void put_shape(const lister *l, const mr_sample *sample)
{
    mr_record record = {.struct_size = sizeof record};
    bool known = false;
    for (uint32_t i = 0; i < l->src->info.forms && !known; i++)
        known = mr_dataset_record(l->src->dataset, sample->ordinal, i, &record) == 0 &&
                record.state == MR_RECORD_PRESENT && record.width != 0;
    put_gap(l);
    printf("%*" PRIu64, l->padded ? 9 : 0, sample->ordinal);
    put_gap(l);
    printf("%*" PRIu64, l->padded ? 5 : 0, sample->shard);
    put_gap(l);
    if (known)
        printf("%" PRIu32 "x%" PRIu32 " %" PRIu32 "x%" PRIu32 "bit", record.width, record.height, record.channels,
               record.depth);
    else
        putchar('-');
    mr_member member = {.struct_size = sizeof member};
    for (uint32_t i = 0; i < sample->members && mr_dataset_member(l->src->dataset, sample->ordinal, i, &member) == 0;
         i++) {
        fputs(i == 0 ? (l->padded ? "  " : "\t") : " ", stdout);
        put_escaped(stdout, member.name);
    }
}

static void put_line(const lister *l, const mr_sample *sample)
{
    char *label = source_label(l->src, &sample->label);
    bool more = l->s->in_full || l->s->with_forms;
    put_text(sample->key, l->key_width);
    put_gap(l);
    put_text(label != NULL && label[0] != '\0' ? label : "-", more ? l->label_width : 0);
    free(label);
    if (l->s->with_forms || l->s->in_full)
        put_forms(l, sample->ordinal);
    if (l->s->in_full)
        put_shape(l, sample);
    putchar('\n');
}

static void put_json_forms(json *j, const lister *l, uint64_t ordinal)
{
    mr_dataset_form form = {.struct_size = sizeof form};
    mr_record record = {.struct_size = sizeof record};
    json_open(j, "forms", '{');
    for (uint32_t i = 0; mr_dataset_get_form(l->src->dataset, i, &form) == 0; i++) {
        json_open(j, form.name, '{');
        int result = mr_dataset_record(l->src->dataset, ordinal, i, &record);
        json_text(j, "state", result == 0 ? state_names[record.state] : "damaged");
        if (result == 0 && record.state == MR_RECORD_PRESENT) {
            json_text(j, "form", mr_form_name(record.form));
            json_number(j, "nbytes", record.nbytes);
            json_number(j, "width", record.width);
            json_number(j, "height", record.height);
            json_number(j, "channels", record.channels);
            json_number(j, "depth", record.depth);
        }
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void put_object(json *j, const lister *l, const mr_sample *sample)
{
    mr_member member = {.struct_size = sizeof member};
    json_line(j);
    json_open(j, NULL, '{');
    json_number(j, "ordinal", sample->ordinal);
    json_named(j, "key", sample->key);
    source_put_label(j, l->src, &sample->label);
    json_number(j, "shard", sample->shard);
    put_json_forms(j, l, sample->ordinal);
    json_open(j, "members", '[');
    for (uint32_t i = 0; i < sample->members && mr_dataset_member(l->src->dataset, sample->ordinal, i, &member) == 0;
         i++) {
        json_open(j, NULL, '{');
        json_name(j, member.name);
        json_number(j, "nbytes", member.nbytes);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void measure(lister *l, uint64_t end)
{
    mr_sample sample = {.struct_size = sizeof sample};
    for (uint64_t i = l->s->first; i < end && i - l->s->first < LOOKED_AT; i++) {
        if (mr_dataset_sample(l->src->dataset, i, &sample) != 0)
            continue;
        char *label = source_label(l->src, &sample.label);
        int length = (int)strnlen(label != NULL ? label : "", WIDEST);
        l->label_width = length > l->label_width ? length : l->label_width;
        length = (int)(sample.key_nbytes < WIDEST ? sample.key_nbytes : WIDEST);
        l->key_width = length > l->key_width ? length : l->key_width;
        free(label);
    }
}

static int list(lister *l)
{
    uint64_t count = l->src->info.samples, damaged = 0;
    uint64_t from = l->s->first < count ? l->s->first : count;
    uint64_t most = option_is_given(&command_ls, l->s, "limit") ? l->s->limit : count;
    uint64_t end = most < count - from ? from + most : count;
    json j = {.stream = stdout};
    l->padded = terminal_of(stdout).is_terminal;
    if (l->padded)
        measure(l, end);
    if (l->s->json)
        json_open(&j, NULL, '[');
    for (uint64_t i = from; i < end && !ferror(stdout); i++) {
        mr_sample sample = {.struct_size = sizeof sample};
        int result = mr_dataset_sample(l->src->dataset, i, &sample);
        if (result != 0 && damaged++ == 0)
            complain(l->src->name, "the index is damaged: sample %" PRIu64 " and perhaps others cannot be listed", i);
        if (result == 0 && l->s->json)
            put_object(&j, l, &sample);
        else if (result == 0)
            put_line(l, &sample);
    }
    if (l->s->json)
        fputs("\n]\n", stdout);
    return damaged == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int run(const settings *s, char **paths, size_t count)
{
    source src;
    progress p;
    progress_init(&p, s->progress);
    progress_hold(&p);
    int result = source_open(&src, s, &p, paths, count);
    progress_fini(&p);
    if (result != EXIT_GOOD)
        return result;
    lister l = {.s = s, .src = &src};
    result = list(&l);
    source_close(&src);
    return result;
}

const command command_ls = {
    .name = "ls",
    .operands = "DATASET...",
    .summary = "List the samples of a dataset",
    .text =
        (const char *const[]){
            "Prints a line for each sample, in the dataset's order: its key and its label (the name of its class, "
            "where it has one; '-' where there is none). Between columns there is a tab, or on a terminal as many "
            "spaces as make them even. Only the index is read.",
            "DATASET is a folder (of images, or packed) or the files of one dataset: tar shards and the like, also "
            "with braces ('train-{000000..000146}.tar').",
            NULL},
    .groups = (const option_group[]){{"Options", options_ls},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples = (const example[]){{"millrace ls --limit 10 --forms train", "The first ten, with their forms"},
                                  {"millrace ls train | cut -f 2 | sort | uniq -c", "How many of each class?"},
                                  {"millrace ls --json train | jq -r '.[] | select(.forms.l3.state == \"absent\").key'",
                                   "Those without l3"},
                                  {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .may_be_cut = true,
    .run = run,
};
