// SPDX-License-Identifier: Apache-2.0
/* One sample as training saw it. */
#include "failure.h"
#include "file.h"
#include "grid.h"
#include "json.h"
#include "quantity.h"
#include "recipe.h"
#include "source.h"
#include "text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const option options_show[] = {
    OPTION_RECIPE,
    {.name = "epoch",
     .letter = 'e',
     .kind = OPTION_SEED,
     .offset = offsetof(settings, epoch),
     .argument = "N",
     .help = "As it was in epoch N",
     .initial = "0"},
    OPTION_SEED_OF_DRAWS,
    {.name = "repeat",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, repeat),
     .argument = "N",
     .help = "The N-th time in a row, from 0, of an epoch with --order=repeated",
     .initial = "0",
     .max = 1 << 16},
    OPTION_STORED_FORM,
    OPTION_NO_FUSE,
    {.name = "grid",
     .letter = 'g',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, grid),
     .help =
         "A contact sheet in place of one sample: samples from all of the dataset, one below the other, as they are "
         "stored and beside that as they were in one epoch after the other"},
    {.name = "rows",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, rows),
     .argument = "N",
     .help = "Samples of a --grid",
     .initial = "6",
     .min = 1,
     .max = 1000},
    {.name = "columns",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, columns),
     .argument = "N",
     .help = "Epochs of a --grid, from --epoch on",
     .initial = "5",
     .min = 1,
     .max = 1000},
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, out),
     .argument = "FILE",
     .help = "Write the image to FILE, in the form that its name ends in; - is standard output, as PNG",
     .initial = "nowhere: only what would be written is told",
     .described = true},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print what was done as a JSON object"},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, force),
     .help = "Write to standard output even if it is a terminal"},
    {0},
};

typedef struct showing {
    const settings *s;
    source src;
    mr_sample sample;
    mr_recipe *recipe, *visible;
    mr_output output; /* of the visible one: u8, nhwc */
    mr_image image;
    uint64_t hash;
} showing;

static bool is_piped(const settings *s)
{
    return s->out != NULL && strcmp(s->out, "-") == 0;
}

static mr_form form_of(const settings *s)
{
    const char *ending = is_piped(s) ? "png" : ending_of(s->out);
    return ending != NULL ? mr_form_from_name(ending) : MR_FORM_NONE;
}

static int check(const settings *s, size_t operands)
{
    static const char *const of_grid[] = {"rows", "columns"};
    for (size_t i = 0; i < sizeof of_grid / sizeof *of_grid; i++)
        if (!s->grid && option_is_given(&command_show, s, of_grid[i])) {
            complain(NULL, "show: --%s is for --grid", of_grid[i]);
            return EXIT_USAGE;
        }
    if (!s->grid && operands < 2) {
        complain(NULL, "show: KEY is missing: millrace show [OPTION]... DATASET... KEY (or --grid, for many)");
        return EXIT_USAGE;
    }
    if (s->out == NULL)
        return EXIT_GOOD;
    if (form_of(s) == MR_FORM_NONE)
        complain(NULL, "show: no form is known by the ending of '%s' (.png, for example)", s->out);
    else if (is_piped(s) && s->json)
        complain(NULL, "show: --json and the image cannot both go to standard output: --out=FILE");
    else if (is_piped(s) && !s->force && isatty(STDOUT_FILENO))
        complain(NULL, "show: standard output is a terminal, which cannot show an image; redirect it, or --out=FILE "
                       "(--force writes all the same)");
    else
        return EXIT_GOOD;
    return EXIT_USAGE;
}

/* The pixels, by the very way that a loader goes. */
static int prepare(showing *h)
{
    char detail[1024] = "";
    mr_preparer *preparer = NULL;
    mr_loader_options options = {.struct_size = sizeof options, .seed = h->s->seed, .form = h->s->form};
    int code = mr_preparer_new(h->src.dataset, h->visible, &options, &preparer, detail, sizeof detail);
    if (code == 0)
        code = mr_image_init(&h->image, h->output.width, h->output.height, h->output.channels, 8, NULL);
    if (code == 0) {
        code = mr_preparer_run(preparer, h->sample.ordinal, h->s->epoch, h->s->repeat, h->image.pixels);
        if (code != 0)
            snprintf(detail, sizeof detail, "%s", mr_preparer_detail(preparer));
    }
    mr_preparer_free(preparer);
    return code == 0 ? EXIT_GOOD : failed_detail(h->s, code, h->sample.key, detail);
}

static int write_image(const settings *s, const mr_image *image)
{
    const char *name = is_piped(s) ? "standard output" : s->out;
    mr_encode_options options = {.struct_size = sizeof options, .form = form_of(s)};
    mr_encoder *encoder = NULL;
    const void *bytes;
    size_t nbytes;
    options.lossless = options.form == MR_FORM_WEBP; /* what training saw, and no less */
    int code = mr_encoder_new(NULL, &encoder), result = EXIT_GOOD;
    if (code == 0)
        code = mr_encoder_encode(encoder, image, &options, &bytes, &nbytes);
    if (code != 0)
        result = failed(s, code, name, "%s", encoder != NULL ? mr_encoder_detail(encoder) : mr_error_text(code));
    else {
        int error = file_write(s->out, bytes, nbytes);
        if (error != 0)
            result = failed(s, MR_EIO, name, "%s", strerror(error));
    }
    mr_encoder_free(encoder);
    return result;
}

static void put_json(showing *h)
{
    json j = {.stream = stdout};
    const char *recipe = mr_recipe_text(h->recipe);
    json_open(&j, NULL, '{');
    json_named(&j, "dataset", h->src.name);
    json_number(&j, "ordinal", h->sample.ordinal);
    json_named(&j, "key", h->sample.key);
    source_put_label(&j, &h->src, &h->sample.label);
    json_text(&j, "recipe", recipe != NULL ? recipe : h->s->recipe);
    json_number(&j, "epoch", h->s->epoch);
    json_number(&j, "seed", h->s->seed);
    json_number(&j, "repeat", h->s->repeat);
    json_number(&j, "width", h->image.width);
    json_number(&j, "height", h->image.height);
    json_number(&j, "channels", h->image.channels);
    json_hash(&j, "hash", h->hash);
    if (h->s->out != NULL)
        json_named(&j, "out", h->s->out);
    else
        json_null(&j, "out");
    json_close(&j, '}');
    putchar('\n');
}

static void put_text(const showing *h)
{
    char *label = source_label(&h->src, &h->sample.label);
    put_escaped(stdout, h->sample.key);
    printf(" (#%" PRIu64 "%s", h->sample.ordinal, label != NULL && label[0] != '\0' ? ", " : "");
    put_escaped(stdout, label != NULL ? label : "");
    free(label);
    printf(") in epoch %" PRIu64 " with seed %" PRIu64 ": %" PRIu32 " x %" PRIu32 ", %" PRIu32
           " channel%s, %016" PRIx64,
           h->s->epoch, h->s->seed, h->image.width, h->image.height, h->image.channels, plural(h->image.channels),
           h->hash);
    if (h->s->out != NULL) {
        fputs(" > ", stdout);
        put_escaped(stdout, h->s->out);
    } else
        fputs(" (-o FILE.png writes it)", stdout);
    putchar('\n');
}

static void put_grid_json(const showing *h, const grid *g)
{
    json j = {.stream = stdout};
    json_open(&j, NULL, '{');
    json_named(&j, "dataset", h->src.name);
    json_text(&j, "recipe", g->recipe);
    json_number(&j, "epoch", h->s->epoch);
    json_number(&j, "epochs", g->columns);
    json_number(&j, "seed", h->s->seed);
    json_number(&j, "width", g->image.width);
    json_number(&j, "height", g->image.height);
    json_hash(&j, "hash", mr_image_hash(&g->image));
    json_open(&j, "samples", '[');
    for (uint32_t i = 0; i < g->count; i++) {
        json_line(&j);
        json_open(&j, NULL, '{');
        json_number(&j, "ordinal", g->rows[i].sample.ordinal);
        json_named(&j, "key", g->rows[i].sample.key);
        source_put_label(&j, &h->src, &g->rows[i].sample.label);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (h->s->out != NULL)
        json_named(&j, "out", h->s->out);
    else
        json_null(&j, "out");
    json_close(&j, '}');
    putchar('\n');
}

static void put_grid_text(const showing *h, const grid *g)
{
    put_escaped(stdout, h->src.name);
    printf(": %" PRIu32 " sample%s in %" PRIu32 " epoch%s from %" PRIu64 " on with seed %" PRIu64 ": %" PRIu32
           " x %" PRIu32 ", %016" PRIx64,
           g->count, plural(g->count), g->columns, plural(g->columns), h->s->epoch, h->s->seed, g->image.width,
           g->image.height, mr_image_hash(&g->image));
    if (h->s->out != NULL) {
        fputs(" > ", stdout);
        put_escaped(stdout, h->s->out);
    } else
        fputs(" (-o FILE.png writes it)", stdout);
    putchar('\n');
}

static int show_grid(showing *h)
{
    const char *text = mr_recipe_text(h->recipe);
    grid g = {.s = h->s, .src = &h->src, .recipe = text != NULL ? text : h->s->recipe};
    int result = grid_make(&g, h->visible, &h->output);
    if (result == EXIT_GOOD && h->s->out != NULL)
        result = write_image(h->s, &g.image);
    if (result == EXIT_GOOD && !is_piped(h->s)) {
        if (h->s->json)
            put_grid_json(h, &g);
        else
            put_grid_text(h, &g);
    }
    grid_fini(&g);
    return result == EXIT_GOOD && g.bad != 0 ? EXIT_BAD_INPUT : result;
}

static int show_sample(showing *h, const char *key)
{
    if (!source_find(&h->src, h->s, key, &h->sample))
        return EXIT_BAD_INPUT;
    int result = prepare(h);
    if (result == EXIT_GOOD && h->s->out != NULL)
        result = write_image(h->s, &h->image);
    if (result != EXIT_GOOD || is_piped(h->s))
        return result;
    h->hash = mr_image_hash(&h->image);
    if (h->s->json)
        put_json(h);
    else
        put_text(h);
    return EXIT_GOOD;
}

/* `key` NULL: a sheet. */
static int show(showing *h, const char *key)
{
    uint32_t form;
    if (h->s->form != NULL && !source_form(&h->src, h->s, &form))
        return EXIT_BAD_INPUT;
    int code = mr_recipe_visible(h->recipe, &h->visible);
    if (code == 0)
        code = mr_recipe_output(h->visible, &h->output);
    if (code != 0)
        return failed_detail(h->s, code, "--recipe", h->visible != NULL ? mr_recipe_detail(h->visible) : "");
    return key != NULL ? show_sample(h, key) : show_grid(h);
}

static int run(const settings *s, char **operands, size_t count)
{
    showing h = {.s = s};
    progress p;
    int result = check(s, count);
    if (result == EXIT_GOOD)
        result = recipe_read(&command_show, s, &h.recipe, &h.output);
    if (result != EXIT_GOOD)
        return result;
    progress_init(&p, s->progress);
    progress_hold(&p);
    result = source_open(&h.src, s, &p, operands, s->grid ? count : count - 1);
    progress_fini(&p);
    if (result == EXIT_GOOD) {
        result = show(&h, s->grid ? NULL : operands[count - 1]);
        mr_image_fini(&h.image, NULL);
        mr_recipe_free(h.visible);
        source_close(&h.src);
    }
    mr_recipe_free(h.recipe);
    return result;
}

const command command_show = {
    .name = "show",
    .operands = "DATASET... KEY",
    .summary = "Write a sample as an image, exactly as training saw it, or many on a sheet",
    .text =
        (const char *const[]){
            "Takes one sample through the recipe with the random numbers that it had in an epoch of a run with this "
            "seed, and writes the image: without its normalize, and as bytes, so that it can be looked at. KEY is its "
            "key as millrace ls prints it, or # and its ordinal ('#12', in quotes for the shell's sake).",
            "With --grid there is no KEY: some samples of the dataset become one image, a row for each, first as it is "
            "stored and then as it was in one epoch after the other: a recipe is looked at before it is trained with.",
            "Seed and epoch are those of millrace feed, or of the program's loader; batches, ranks and threads do not "
            "matter.",
            NULL},
    .groups = (const option_group[]){{"Options", options_show},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples =
        (const example[]){
            {"millrace show train n01440764/n01440764_18 --recipe 'rrc(224) flip' --epoch 7 -o out.png",
             "What became of it in epoch 7?"},
            {"millrace show --grid train --recipe 'rrc(224) flip randaug(2, 9)' -o grid.png",
             "What does this recipe do to my images?"},
            {"millrace show train '#0' --recipe 'short(256) center(224)' -o - | display", "The first one, at once"},
            {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
