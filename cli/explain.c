// SPDX-License-Identifier: Apache-2.0
/* What a recipe is, and what it does to an image, pass by pass. */
#include "failure.h"
#include "json.h"
#include "quantity.h"
#include "recipe.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const option options_recipe[] = {
    {.name = "size",
     .letter = 's',
     .kind = OPTION_SIZE,
     .offset = offsetof(settings, size),
     .argument = "WxH",
     .help = "Of the image that it is explained for",
     .initial = "500x375"},
    OPTION_SEED_OF_DRAWS,
    {.name = "epoch",
     .letter = 'e',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, repeat),
     .argument = "N",
     .help = "With the random numbers of epoch N",
     .initial = "0",
     .max = UINT32_MAX},
    {.name = "sample",
     .kind = OPTION_SEED,
     .offset = offsetof(settings, ordinal),
     .argument = "N",
     .help = "And of the sample with this ordinal",
     .initial = "0"},
    OPTION_NO_FUSE,
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print a JSON object"},
    {0},
};

/* The lines, to be freed; NULL, after a word on it, where there are none. */
static char *lines_of(const settings *s, mr_recipe *recipe)
{
    uint64_t sample = s->ordinal;
    uint32_t w = s->size.width, h = s->size.height, epoch = s->repeat;
    size_t length = mr_recipe_explain(recipe, w, h, s->seed, epoch, sample, NULL, 0);
    char *text = length != 0 ? malloc(length + 1) : NULL;
    if (text != NULL)
        mr_recipe_explain(recipe, w, h, s->seed, epoch, sample, text, length + 1);
    else if (length != 0)
        failed(s, MR_ENOMEM, NULL, "%s", mr_error_text(MR_ENOMEM));
    else
        failed_detail(s, MR_EARGUMENT, "recipe", mr_recipe_detail(recipe));
    return text;
}

static void put_json(const settings *s, mr_recipe *recipe, const mr_output *o, char *lines)
{
    json j = {.stream = stdout};
    json_open(&j, NULL, '{');
    json_text(&j, "recipe", mr_recipe_text(recipe));
    json_hash(&j, "hash", mr_recipe_hash(recipe));
    json_open(&j, "output", '{');
    json_number(&j, "width", o->width);
    json_number(&j, "height", o->height);
    json_number(&j, "channels", o->channels);
    json_text(&j, "dtype", mr_dtype_name(o->dtype));
    json_text(&j, "layout", mr_batch_layout_name(o->layout));
    json_number(&j, "sample_nbytes", o->sample_nbytes);
    json_close(&j, '}');
    json_bool(&j, "fused", !s->no_fuse);
    json_number(&j, "width", s->size.width);
    json_number(&j, "height", s->size.height);
    json_number(&j, "seed", s->seed);
    json_number(&j, "epoch", s->repeat);
    json_number(&j, "sample", s->ordinal);
    json_open(&j, "passes", '[');
    for (char *rest = NULL, *line = strtok_r(lines, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        json_line(&j);
        json_text(&j, NULL, line);
    }
    json_close(&j, ']');
    json_close(&j, '}');
    putchar('\n');
}

static void put_text(const settings *s, mr_recipe *recipe, const mr_output *o, const char *lines)
{
    printf("recipe   ");
    put_escaped(stdout, mr_recipe_text(recipe));
    printf("\nhash     %016" PRIx64 "\noutput   %" PRIu32 " x %" PRIu32 ", %" PRIu32 " channel%s, %s, %s: %zu bytes\n",
           mr_recipe_hash(recipe), o->width, o->height, o->channels, plural(o->channels), mr_dtype_name(o->dtype),
           mr_batch_layout_name(o->layout), o->sample_nbytes);
    printf("\nof an image of %" PRIu32 " x %" PRIu32 ", sample #%" PRIu64 " in epoch %" PRIu32 " with seed %" PRIu64
           "%s:\n\n%s",
           s->size.width, s->size.height, s->ordinal, s->repeat, s->seed, s->no_fuse ? ", nothing fused" : "", lines);
}

static int run(const settings *given, char **operands, size_t count)
{
    settings s = *given;
    mr_recipe *recipe = NULL;
    mr_output output;
    (void)count;
    s.recipe = operands[0];
    if (s.size.width == 0)
        s.size = (mr_rect){.width = 500, .height = 375};
    int result = recipe_read(&command_recipe, &s, &recipe, &output);
    if (result != EXIT_GOOD)
        return result;
    char *lines = lines_of(&s, recipe);
    if (lines == NULL || mr_recipe_text(recipe) == NULL)
        result = EXIT_BAD_INPUT;
    else if (s.json)
        put_json(&s, recipe, &output, lines);
    else
        put_text(&s, recipe, &output, lines);
    free(lines);
    mr_recipe_free(recipe);
    return result;
}

const command command_recipe = {
    .name = "recipe",
    .operands = "RECIPE",
    .summary = "Tell what a recipe does: its shortest text, its hash, and pass by pass what becomes of an image",
    .text =
        (const char *const[]){
            "Reads a recipe, and prints its shortest text, the hash by which reports know it, and what it gives. Then "
            "what is done to an image of --size with the random numbers of one sample: which part is decoded, each "
            "pass over the pixels, and which steps were fused into it. doc/steps.md has all steps.",
            NULL},
    .groups = (const option_group[]){{"Options", options_recipe}, {"Help", options_common}, {NULL, NULL}},
    .examples =
        (const example[]){
            {"millrace recipe 'rrc(224) flip brightness(0.4) posterize(4) normalize(imagenet)'", "What is fused?"},
            {"millrace recipe 'short(256) center(224)' --size 640x480", "Which part of such an image is decoded?"},
            {NULL, NULL}},
    .operand_min = 1,
    .operand_max = 1,
    .operand = OPERAND_FILE,
    .run = run,
};
