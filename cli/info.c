// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "image.h"
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

static const option options_info[] = {
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print one JSON array, an object a line for each file; a bad one has \"error\" in it"},
    {.name = "no-limits",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_limits),
     .help = "Lift the limits on bytes: only for files you trust"},
    {0},
};

static void put_head(const terminal *t)
{
    printf("%s%-5s %11s  %2s %4s  %-7s  %-6s  %-5s  %6s  %-3s  %6s  %10s  %s%s\n", style_of(t, STYLE_BOLD), "form",
           "size", "ch", "bits", "colour", "chroma", "prog", "orient", "icc", "frames", "bytes", "name",
           style_of(t, STYLE_NONE));
}

static void put_row(const mr_info *i, uint64_t nbytes, const char *name)
{
    char size[24];
    snprintf(size, sizeof size, "%" PRIu32 "x%" PRIu32, i->width, i->height);
    printf("%-5s %11s  %2" PRIu32 " %4" PRIu32 "  %-7s  %-6s  %-5s  %6" PRIu32 "  %-3s  %6" PRIu32 "  %10" PRIu64 "  ",
           mr_form_name(i->form), size, i->channels, i->depth, mr_color_name(i->color),
           i->subsampling == MR_SUBSAMPLING_NONE ? "-" : mr_subsampling_name(i->subsampling),
           i->progressive ? "yes" : "-", i->orientation, i->has_icc ? "yes" : "-", i->frames, nbytes);
    put_escaped(stdout, name);
    putchar('\n');
}

static void put_json(json *j, const mr_info *i, uint64_t nbytes)
{
    json_text(j, "form", mr_form_name(i->form));
    json_number(j, "width", i->width);
    json_number(j, "height", i->height);
    json_number(j, "channels", i->channels);
    json_number(j, "depth", i->depth);
    json_text(j, "color", mr_color_name(i->color));
    json_text(j, "subsampling", mr_subsampling_name(i->subsampling));
    json_bool(j, "progressive", i->progressive);
    json_bool(j, "lossless", i->lossless);
    json_number(j, "orientation", i->orientation);
    json_bool(j, "icc", i->has_icc);
    json_number(j, "frames", i->frames);
    json_number(j, "bytes", nbytes);
}

static int inform(const settings *s, opened *o, const char *name, json *j, bool *headed)
{
    mr_info info;
    int result = opened_read_info(o, name, &info);
    if (s->json) {
        json_line(j);
        json_open(j, NULL, '{');
        json_name(j, name);
        if (result == 0)
            put_json(j, &info, o->in.file_nbytes);
        else
            json_error(j, o->code, o->error);
        json_close(j, '}');
    } else if (result == 0) {
        terminal t = terminal_of(stdout);
        if (!*headed)
            put_head(&t);
        *headed = true;
        put_row(&info, o->in.file_nbytes, name);
    }
    if (result != 0)
        complain(name, "%s", o->error);
    return result == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int run(const settings *s, char **names, size_t count)
{
    opened o;
    json j = {.stream = stdout};
    bool headed = false;
    int result = EXIT_GOOD;
    if (!opened_init(&o, s, NULL))
        return EXIT_BAD_INPUT;
    if (s->json)
        json_open(&j, NULL, '[');
    for (size_t i = 0; i < count && !ferror(stdout); i++)
        if (inform(s, &o, names[i], &j, &headed) != EXIT_GOOD)
            result = EXIT_BAD_INPUT;
    if (s->json)
        fputs("\n]\n", stdout);
    opened_fini(&o);
    return result;
}

const command command_info = {
    .name = "info",
    .operands = "FILE...",
    .summary = "Tell what the headers of images say",
    .text =
        (const char *const[]){
            "Prints a table with a line for each file: its form, its size as stored, the channels and bits a decode "
            "gives, how the colours are stored, chroma subsampling, whether it is progressive or interlaced, its EXIF "
            "orientation, whether it has an ICC profile, its frames and its bytes. No pixels are decoded.",
            "The form is found by content, never by the name. In JSON a name that is not UTF-8 has U+FFFD for each bad "
            "byte, and its bytes as \"name_hex\" beside it.",
            NULL},
    .groups = (const option_group[]){{"Options", options_info}, {"Help", options_common}, {NULL, NULL}},
    .examples =
        (const example[]){{"millrace info photo.jpg scan.png", "A line for each of two files"},
                          {"millrace info --json *.jpg | jq '.[] | select(.progressive)'", "The progressive ones"},
                          {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
