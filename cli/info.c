// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "listing.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum { COLUMNS = 11 };

/* The table is printed when all its rows are there, each column as wide as it has to be. */
typedef struct row {
    char cell[COLUMNS][24];
    const char *name;
} row;

typedef struct table {
    row *rows;
    size_t count, capacity;
} table;

static const row head = {{"form", "size", "ch", "bits", "color", "chroma", "prog", "orient", "icc", "frames", "bytes"},
                         "name"};
static const char numeric[COLUMNS] = {0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1}; /* to the right */

static void set_cells(row *r, const mr_info *i, uint64_t nbytes)
{
    const char *const words[COLUMNS] = {
        [0] = mr_form_name(i->form),
        [4] = mr_color_name(i->color),
        [5] = i->subsampling == MR_SUBSAMPLING_NONE ? "-" : mr_subsampling_name(i->subsampling),
        [6] = i->progressive ? "yes" : "-",
        [8] = i->has_icc ? "yes" : "-",
    };
    const uint64_t numbers[COLUMNS] = {
        [2] = i->channels, [3] = i->depth, [7] = i->orientation, [9] = i->frames, [10] = nbytes};
    for (size_t c = 0; c < COLUMNS; c++)
        if (words[c] != NULL)
            snprintf(r->cell[c], sizeof r->cell[c], "%s", words[c]);
        else
            snprintf(r->cell[c], sizeof r->cell[c], "%" PRIu64, numbers[c]);
    snprintf(r->cell[1], sizeof r->cell[1], "%" PRIu32 "x%" PRIu32, i->width, i->height);
}

static bool add_row(void *to, const finding *found, const char *name)
{
    table *t = to;
    if (t->count == t->capacity) {
        size_t capacity = t->capacity * 2 + 16;
        row *rows = realloc(t->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return false;
        t->rows = rows;
        t->capacity = capacity;
    }
    row *r = &t->rows[t->count++];
    set_cells(r, &found->info, found->nbytes);
    r->name = name;
    return true;
}

static void put_row(const row *r, const int width[COLUMNS])
{
    for (size_t c = 0; c < COLUMNS; c++)
        printf("%*s  ", numeric[c] ? width[c] : -width[c], r->cell[c]);
    put_escaped(stdout, r->name);
}

static void put_table(const table *t)
{
    terminal to = terminal_of(stdout);
    int width[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) {
        width[c] = (int)strlen(head.cell[c]);
        for (size_t i = 0; i < t->count; i++)
            width[c] = (int)strlen(t->rows[i].cell[c]) > width[c] ? (int)strlen(t->rows[i].cell[c]) : width[c];
    }
    fputs(style_of(&to, STYLE_BOLD), stdout);
    put_row(&head, width);
    printf("%s\n", style_of(&to, STYLE_NONE));
    for (size_t i = 0; i < t->count && !ferror(stdout); i++) {
        put_row(&t->rows[i], width);
        putchar('\n');
    }
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
    table t = {0};
    const listing headers = {.look = look, .put_line = add_row, .put_json = put_json, .to = &t};
    int result = listing_run(&headers, s, names, count);
    if (t.count != 0)
        put_table(&t);
    free(t.rows);
    return result;
}

const command command_info = {
    .name = "info",
    .operands = "FILE...",
    .summary = "Tell what the headers of images say",
    .text =
        (const char *const[]){
            "Prints a table with a line for each file: its form, its size as stored, the channels and bits a decode "
            "gives, how the colors are stored, chroma subsampling, whether it is progressive or interlaced, its EXIF "
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
