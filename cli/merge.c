// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "failure.h"
#include "packing.h"
#include "progress.h"
#include "text.h"

#include <stdio.h>

static const option options_merge[] = {
    PACKING_OUT,
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
     .help = "Print the report as a JSON object"},
    OPTION_PROGRESS,
    {0},
};

static int merge(const settings *s, char **parts, size_t count, progress *p)
{
    const mr_pack_form original = {.struct_size = sizeof original};
    mr_pack_options options = {.struct_size = sizeof options,
                               .forms = &original,
                               .form_count = 1,
                               .threads = s->threads,
                               .progress = progress_hook,
                               .progress_user = p};
    mr_pack_report report = {.struct_size = sizeof report};
    mr_packer *packer = NULL;
    double start = packing_clock();
    int result = mr_packer_new(&options, &packer);
    if (result == 0)
        result = mr_packer_merge(packer, (const char *const *)parts, count, s->out, &report);
    progress_finish(p);
    const char *detail = mr_packer_detail(packer);
    if (result == MR_ECLOSED && progress_is_stopped(p))
        complain(NULL, "merge: stopped; the same command goes on where it stopped");
    else if (result != 0)
        failed_detail(s, result, s->out, detail);
    else
        packing_put(s, "Merged", &report, packing_clock() - start);
    mr_packer_free(packer);
    return result == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int run(const settings *s, char **parts, size_t count)
{
    progress p;
    if (s->out == NULL) {
        complain(NULL, "merge: --out is missing: millrace merge PART... -o DST");
        return EXIT_USAGE;
    }
    progress_init(&p, s->progress);
    progress_hold(&p);
    int result = merge(s, parts, count, &p);
    progress_fini(&p);
    return result;
}

const command command_merge = {
    .name = "merge",
    .operands = "PART... -o DST",
    .summary = "Join the parts of a dataset that was packed in parts",
    .text =
        (const char *const[]){
            "Makes one packed dataset in the folder DST of all its parts, which millrace pack --part made; DST may be "
            "one of them. Every checksum is compared first. The result equals, byte for byte, what one run without "
            "--part makes. Shards are moved where that is possible, so that the parts are empty afterwards, and copied "
            "where it is not.",
            NULL},
    .groups = (const option_group[]){{"Options", options_merge}, {"Help", options_common}, {NULL, NULL}},
    .examples = (const example[]){{"millrace merge part0 part1 part2 part3 -o train", "Four parts become one dataset"},
                                  {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FOLDER,
    .run = run,
};
