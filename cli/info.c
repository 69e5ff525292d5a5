// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "listing.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

static const option options_info[] = {
    LISTING_JSON,
    {.name = "no-limits",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_limits),
     .help = "Lift the limits on bytes: only for files you trust"},
    {0},
};

static int look(opened *o, const settings *s, const char *name, finding *found)
{
    (void)s;
    int result = opened_read_info(o, name, &found->info);
    found->nbytes = o->in.file_nbytes;
    return result;
}

static void put_head(void)
{
    terminal t = terminal_of(stdout);
    printf("%s%-5s %11s  %2s %4s  %-7s  %-6s  %-5s  %6s  %-3s  %6s  %10s  %s%s\n", style_of(&t, STYLE_BOLD), "form",
           "size", "ch", "bits", "colour", "chroma", "prog", "orient", "icc", "frames", "bytes", "name",
           style_of(&t, STYLE_NONE));
}

static void put_line(const finding *found)
{
    const mr_info *i = &found->info;
    char size[24];
    snprintf(size, sizeof size, "%" PRIu32 "x%" PRIu32, i->width, i->height);
    printf("%-5s %11s  %2" PRIu32 " %4" PRIu32 "  %-7s  %-6s  %-5s  %6" PRIu32 "  %-3s  %6" PRIu32 "  %10" PRIu64 "  ",
           mr_form_name(i->form), size, i->channels, i->depth, mr_color_name(i->color),
           i->subsampling == MR_SUBSAMPLING_NONE ? "-" : mr_subsampling_name(i->subsampling),
           i->progressive ? "yes" : "-", i->orientation, i->has_icc ? "yes" : "-", i->frames, found->nbytes);
}

static void put_json(json *j, const finding *found)
{
    const mr_info *i = &found->info;
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
    json_number(j, "bytes", found->nbytes);
}

static int run(const settings *s, char **names, size_t count)
{
    const listing headers = {.look = look, .put_head = put_head, .put_line = put_line, .put_json = put_json};
    return listing_run(&headers, s, names, count);
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
