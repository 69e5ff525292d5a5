// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "failure.h"
#include "forms.h"
#include "packing.h"
#include "progress.h"
#include "quantity.h"
#include "quarantine.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const option options_what[] = {
    PACKING_OUT,
    {.name = "forms",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, forms),
     .argument = "LIST",
     .help = "What to store, with commas between: original, jpeg, png, webp, l3, raw, each with "
             ":max-side=N, :short-side=N, :share=P%, :quality=N or :effort=N behind it",
     .initial = "original"},
    {.name = "max-side",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, max_side),
     .argument = "N",
     .help = "Reduce images until the longer side has N pixels, in every form without a side of its own",
     .min = 1,
     .max = 65535},
    {.name = "short-side",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, short_side),
     .argument = "N",
     .help = "Likewise, until the shorter side has N pixels",
     .min = 1,
     .max = 65535},
    {.name = "filter",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, filter),
     .argument = "FILTER",
     .help = "How to reduce, by Pillow's names",
     .initial = "bilinear",
     .words = "bilinear nearest box hamming bicubic lanczos"},
    {.name = "pillow",
     .kind = OPTION_CHOICE,
     .offset = offsetof(settings, pillow),
     .argument = "N",
     .help = "Reduce to the pixels of Pillow 13, or of 12 and before",
     .initial = "13",
     .words = "12 13"},
    {.name = "budget",
     .kind = OPTION_BYTES,
     .offset = offsetof(settings, budget_nbytes),
     .argument = "SIZE",
     .help = "Keep all shards within SIZE (200GB): forms behind the first get the share of samples that fits",
     .initial = "no limit"},
    {.name = "max-bad",
     .kind = OPTION_SHARE,
     .offset = offsetof(settings, max_bad),
     .argument = "P%",
     .help = "Stop when more than this share of the images is bad; fewer are kept out and listed in "
             "quarantine.jsonl",
     .initial = "0.1%"},
    {0},
};

static const option options_how[] = {
    {.name = "part",
     .kind = OPTION_PART,
     .offset = offsetof(settings, part),
     .argument = "I/N",
     .help = "Pack part I of N alone, from 0; millrace merge joins them"},
    {.name = "shard-size",
     .kind = OPTION_BYTES,
     .offset = offsetof(settings, shard_nbytes),
     .argument = "SIZE",
     .help = "Begin a new shard after SIZE of the source's bytes",
     .initial = "256MiB"},
    {.name = "shard-samples",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, shard_samples),
     .argument = "N",
     .help = "Begin one after N samples, too",
     .min = 1,
     .max = UINT32_MAX},
    {.name = "align",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, align),
     .argument = "HOW",
     .help = "Where images begin in a shard: at multiples of 512 bytes (tar), of 4096 (page), or auto: 4096 in forms "
             "of 32 kB an image and more",
     .initial = "auto",
     .words = "auto tar page"},
    {.name = "no-row-index",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_row_index),
     .help = "Keep no row indexes of JPEGs (parts of them are then decoded slower)"},
    {.name = "no-check",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_check),
     .help = "Do not decode what is stored as it came: damage behind the header is then not found"},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print the report as a JSON object"},
    {0},
};

static mr_pack_options options_of(const settings *s, const mr_pack_form *forms, size_t count, progress *p)
{
    mr_filter filter = MR_FILTER_BILINEAR;
    mr_filter_from_name(s->filter, &filter);
    return (mr_pack_options){
        .struct_size = sizeof(mr_pack_options),
        .forms = forms,
        .form_count = count,
        .shard_nbytes = s->shard_nbytes,
        .shard_samples = s->shard_samples,
        .budget_nbytes = s->budget_nbytes,
        .alignment = strcmp(s->align, "page") == 0  ? MR_ALIGN_PAGE
                     : strcmp(s->align, "tar") == 0 ? MR_ALIGN_TAR
                                                    : MR_ALIGN_AUTO,
        .no_row_index = s->no_row_index,
        .no_check = s->no_check,
        .filter = filter,
        .pillow = s->pillow == 12 ? 12 : 0,
        .part = s->part[0],
        .parts = s->part[1],
        .max_bad = s->max_bad,
        .threads = s->threads,
        .progress = progress_hook,
        .progress_user = p,
    };
}

/* The real name of a folder that may not be there yet: that of what is there of it, and the rest. */
static bool real_name(const char *path, char out[PATH_MAX])
{
    char head[PATH_MAX], real[PATH_MAX];
    size_t known = strlen(path);
    if (known == 0 || known >= sizeof head)
        return false;
    memcpy(head, path, known + 1);
    while (realpath(head, real) == NULL) {
        if (errno != ENOENT || known == 0)
            return false;
        while (known > 0 && path[known - 1] != '/') /* without its last name, and the slashes before that */
            known--;
        while (known > 1 && path[known - 1] == '/')
            known--;
        snprintf(head, sizeof head, "%.*s", known > 0 ? (int)known : 1, known > 0 ? path : ".");
    }
    const char *rest = path + known + strspn(path + known, "/");
    int written = snprintf(out, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, rest);
    return written > 0 && written < PATH_MAX;
}

/* A dataset that grows into its own source would be packed into itself. */
static int check_places(char **sources, size_t count, const char *out)
{
    char from[PATH_MAX], to[PATH_MAX];
    struct stat status;
    if (!real_name(out, to))
        return EXIT_GOOD; /* which the library will say better */
    for (size_t i = 0; i < count; i++) {
        if (stat(sources[i], &status) != 0 || !S_ISDIR(status.st_mode) || realpath(sources[i], from) == NULL)
            continue;
        size_t length = strlen(from);
        if (strncmp(to, from, length) != 0 || (to[length] != '/' && to[length] != '\0' && length > 1))
            continue;
        bool same = to[length] == '\0' || (to[length] == '/' && to[length + 1] == '\0');
        complain(out, "is %s %s, which it is to be packed from; choose a folder outside of it",
                 same ? "the same folder as" : "inside of", sources[i]);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

/* What an error leaves to be done. */
static void tell_error(const settings *s, int code, const mr_packer *packer, const progress *p)
{
    const char *detail = mr_packer_detail(packer);
    if (code == MR_ECLOSED && progress_is_stopped(p)) {
        complain(NULL, "pack: stopped; the same command goes on where it stopped");
        return;
    }
    failed_detail(s, code, s->out, detail);
    if (code == MR_ELIMIT && strstr(detail, "bad") != NULL) {
        quarantine_tell(s->out);
        remark(s->out, "the same command with a higher --max-bad goes on from here");
    }
}

static int pack(const settings *s, const source *src, const mr_pack_form *forms, size_t count, progress *p)
{
    mr_pack_options options = options_of(s, forms, count, p);
    mr_pack_report report = {.struct_size = sizeof report};
    mr_packer *packer = NULL;
    double start = packing_clock();
    int result = mr_packer_new(&options, &packer);
    if (result == 0)
        result = mr_packer_run(packer, src->dataset, s->out, &report);
    progress_finish(p);
    if (result != 0) {
        tell_error(s, result, packer, p);
        mr_packer_free(packer);
        return EXIT_BAD_INPUT;
    }
    mr_packer_free(packer);
    packing_put(s, "Packed", &report, packing_clock() - start);
    return EXIT_GOOD;
}

static int run(const settings *s, char **operands, size_t count)
{
    mr_pack_form forms[FORMS_MAX];
    size_t form_count;
    source src;
    progress p;
    if (s->out == NULL) {
        complain(NULL, "pack: --out is missing: millrace pack SRC... -o DST");
        return EXIT_USAGE;
    }
    if (!forms_read(s, forms, &form_count))
        return EXIT_USAGE;
    int result = check_places(operands, count, s->out);
    if (result != EXIT_GOOD)
        return result;
    progress_init(&p, s->progress);
    progress_hold(&p);
    result = source_open(&src, s, &p, operands, count);
    if (result == EXIT_GOOD) {
        result = pack(s, &src, forms, form_count, &p);
        source_close(&src);
    }
    progress_fini(&p);
    return result;
}

const command command_pack = {
    .name = "pack",
    .operands = "SRC... -o DST",
    .summary = "Pack a dataset into shards, in one or more forms",
    .text =
        (const char *const[]){
            "Makes a packed dataset in the folder DST of SRC: a folder of images, tar shards (WebDataset), TFRecord, "
            "RecordIO, CIFAR or list files, or a packed dataset. Every form has the same samples in the same order, in "
            "plain tar shards with an index beside each. The same source and options give the same bytes, whatever the "
            "threads, parts and interruptions.",
            "A form keeps images as they came (original), takes those that came in it (jpeg, png, webp), or holds the "
            "same pixels of every image (l3, raw). With a side images are made anew and smaller.",
            "The same command goes on where an earlier one was stopped. Every image is decoded once to see that it is "
            "whole; bad ones are kept out, keep their place in the order, and are listed in DST/quarantine.jsonl. "
            "The exit code is 0 as long as they are within --max-bad.",
            NULL},
    .groups = (const option_group[]){{"What to pack", options_what},
                                     {"How to pack it", options_how},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples =
        (const example[]){
            {"millrace pack ~/imagenet/train -o /fast/train --forms jpeg,l3", "JPEGs as they came, and each as L3"},
            {"millrace pack 'in-{000000..000146}.tar' -o out --forms jpeg:short-side=256:quality=90",
             "Tar shards to smaller images"},
            {"millrace pack train -o out --forms jpeg,l3,raw:short-side=256 --budget 200GB",
             "As much of l3 and raw as fits"},
            {"millrace pack train -o part2 --part 2/8", "One of eight parts, to be joined by merge"},
            {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
