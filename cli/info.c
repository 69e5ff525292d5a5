// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "listing.h"
#include "source.h"
#include "summary.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const option options_info[] = {
    {.name = "tiles",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, tiles),
     .help =
         "Tell of every tile, where the form has tiles (l3): its number, place, bytes, kind, and whether it is whole"},
    {.name = "form",
     .letter = 'F',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, form),
     .argument = "NAME",
     .help = "Of a dataset: the sizes are those of this form",
     .initial = "the first",
     .described = true},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print one JSON array, an object a line for each file (a bad one has \"error\" in it); of a dataset one "
             "object"},
    {.name = "no-limits",
     .letter = 0,
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, no_limits),
     .help = "Lift the limits on bytes: only for files you trust"},
    {0},
};

/* What stands behind the tiles ends the file. */
static bool ends_early(const finding *found)
{
    const mr_tile *last = &found->tiles[found->info.tiles - 1];
    return last->offset + last->nbytes + found->info.extra_nbytes > found->nbytes;
}

/* All tiles of a file, which listing_run frees. */
static int look_at_tiles(opened *o, const char *name, finding *found)
{
    int result = opened_read(o, name);
    if (result == 0)
        result = opened_info(o, &found->info);
    if (result != 0)
        return result;
    found->nbytes = o->in.nbytes;
    found->tiles = calloc((size_t)found->info.tiles + 1, sizeof *found->tiles);
    if (found->tiles == NULL)
        return opened_fail(o, ENOMEM);
    for (uint32_t i = 0; result == 0 && (i == 0 || i < found->info.tiles); i++) { // the first also where there are none
        result = opened_tile(o, i, &found->tiles[i]);
        found->damaged += !found->tiles[i].intact;
    }
    found->truncated = result == 0 && ends_early(found);
    return result;
}

static uint32_t columns_of(const finding *found)
{
    uint32_t columns = 1;
    while (columns < found->info.tiles && found->tiles[columns].rect.y == 0)
        columns++;
    return columns;
}

static int look(opened *o, const settings *s, const char *name, finding *found)
{
    if (s->tiles)
        return look_at_tiles(o, name, found);
    int result = opened_read_info(o, name, &found->info);
    found->nbytes = o->in.file_nbytes;
    return result;
}

/* The tiles as a table of their own, under the file's name. */
static bool put_tiles(void *to, const finding *found, const char *name)
{
    (void)to;
    terminal t = terminal_of(stdout);
    uint32_t columns = columns_of(found);
    put_escaped(stdout, name);
    printf(": %" PRIu32 " tiles, %" PRIu32 " in a row\n%s%8s  %6s  %6s  %22s  %12s  %8s  %-5s  %s%s\n",
           found->info.tiles, columns, style_of(&t, STYLE_BOLD), "tile", "column", "row", "place", "at byte", "bytes",
           "whole", "kind", style_of(&t, STYLE_NONE));
    for (uint32_t i = 0; i < found->info.tiles && !ferror(stdout); i++) {
        const mr_tile *tile = &found->tiles[i];
        char place[64];
        snprintf(place, sizeof place, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 "x%" PRIu32, tile->rect.x, tile->rect.y,
                 tile->rect.width, tile->rect.height);
        printf("%8" PRIu32 "  %6" PRIu32 "  %6" PRIu32 "  %22s  %12" PRIu64 "  %8" PRIu64 "  %-5s  %s\n", i,
               i % columns, i / columns, place, tile->offset, tile->nbytes, tile->intact ? "yes" : "NO", tile->kind);
    }
    return true;
}

static void put_json_tiles(json *j, const finding *found)
{
    uint32_t columns = columns_of(found);
    json_open(j, "tile", '[');
    for (uint32_t i = 0; i < found->info.tiles; i++) {
        const mr_tile *tile = &found->tiles[i];
        json_line(j);
        json_open(j, NULL, '{');
        json_number(j, "number", i);
        json_number(j, "column", i % columns);
        json_number(j, "row", i / columns);
        json_number(j, "x", tile->rect.x);
        json_number(j, "y", tile->rect.y);
        json_number(j, "width", tile->rect.width);
        json_number(j, "height", tile->rect.height);
        json_number(j, "at", tile->offset);
        json_number(j, "bytes", tile->nbytes);
        json_text(j, "kind", tile->kind);
        json_bool(j, "whole", tile->intact);
        json_close(j, '}');
    }
    json_close(j, ']');
}

enum { COLUMNS = 14, L3_FIRST = 9, L3_LAST = 11 };

/* The table is printed when all its rows are there, each column as wide as it has to be. */
typedef struct row {
    char cell[COLUMNS][24];
    const char *name;
} row;

typedef struct table {
    row *rows;
    size_t count, capacity;
} table;

/* Those that only L3 has are left out where there is none. */
static const row head = {{"form", "size", "ch", "bits", "color", "chroma", "prog", "orient", "icc", "mode", "tiles",
                          "origin", "frames", "bytes"},
                         "name"};
static const char numeric[COLUMNS] = {0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1}; /* to the right */

static const char *mode_of(const mr_info *i)
{
    return i->form != MR_FORM_L3 ? "-" : i->lossless ? "pixel" : "dct";
}

static void set_cells(row *r, const mr_info *i, uint64_t nbytes)
{
    const char *const words[COLUMNS] = {
        [0] = mr_form_name(i->form),
        [4] = mr_color_name(i->color),
        [5] = i->subsampling == MR_SUBSAMPLING_NONE ? "-" : mr_subsampling_name(i->subsampling),
        [6] = i->progressive ? "yes" : "-",
        [8] = i->has_icc ? "yes" : "-",
        [9] = mode_of(i),
        [10] = i->tiles == 0 ? "-" : NULL,
        [11] = i->has_origin ? "yes" : "-",
    };
    const uint64_t numbers[COLUMNS] = {
        [2] = i->channels, [3] = i->depth, [7] = i->orientation, [10] = i->tiles, [12] = i->frames, [13] = nbytes};
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
        if (width[c] != 0)
            printf("%*s  ", numeric[c] ? width[c] : -width[c], r->cell[c]);
    put_escaped(stdout, r->name);
}

static void put_table(const table *t)
{
    terminal to = terminal_of(stdout);
    int width[COLUMNS];
    bool has_l3 = false;
    for (size_t i = 0; i < t->count; i++)
        has_l3 = has_l3 || strcmp(t->rows[i].cell[L3_FIRST], "-") != 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        width[c] = (int)strlen(head.cell[c]);
        for (size_t i = 0; i < t->count; i++)
            width[c] = (int)strlen(t->rows[i].cell[c]) > width[c] ? (int)strlen(t->rows[i].cell[c]) : width[c];
    }
    for (size_t c = L3_FIRST; c <= L3_LAST && !has_l3; c++)
        width[c] = 0;
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
    if (i->form == MR_FORM_L3) {
        json_text(j, "mode", mode_of(i));
        json_number(j, "tiles", i->tiles);
        json_bool(j, "origin", i->has_origin);
        json_number(j, "extra_bytes", i->extra_nbytes);
    }
    json_number(j, "bytes", found->nbytes);
    if (found->tiles != NULL)
        put_json_tiles(j, found);
}

/* EXIT_USAGE, after a word on it, where an option is not for what is asked of. */
static int check(const settings *s, const char *name, bool dataset)
{
    if (dataset && (s->tiles || s->no_limits)) {
        complain(NULL, "info: --%s is for images, and '%s' is a dataset", s->tiles ? "tiles" : "no-limits", name);
        return EXIT_USAGE;
    }
    if (!dataset && s->form != NULL) {
        complain(NULL, "info: --form is for datasets, and '%s' is none", name);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

static int run(const settings *s, char **names, size_t count)
{
    table t = {0};
    bool dataset = source_is_dataset(s, names, count);
    int usage = check(s, names[0], dataset);
    if (usage != EXIT_GOOD || dataset)
        return usage != EXIT_GOOD ? usage : summary_run(s, names, count);
    const listing headers = {.look = look, .put_line = s->tiles ? put_tiles : add_row, .put_json = put_json, .to = &t};
    int result = listing_run(&headers, s, names, count);
    if (t.count != 0)
        put_table(&t);
    free(t.rows);
    return result;
}

const command command_info = {
    .name = "info",
    .operands = "PATH...",
    .summary = "Tell what the headers of images say, or what a dataset has",
    .text =
        (const char *const[]){
            "Prints a table with a line for each file: its form, its size as stored, the channels and bits a decode "
            "gives, how the colors are stored, chroma subsampling, whether it is progressive or interlaced, its EXIF "
            "orientation, whether it has an ICC profile, its frames and its bytes. No pixels are decoded. Of L3 also "
            "its "
            "mode, the number of its tiles, and whether it has an origin: then the very JPEG it was made from can be "
            "written again.",
            "With --tiles the exit code is 1 also when a tile is damaged or the file ends early; without, nothing "
            "behind the "
            "header is looked at (verify does that).",
            "Of a dataset (a folder of images or a packed one, tar shards and the like) it tells the samples, classes, "
            "sizes, forms with their bytes, a histogram of them, its fingerprint and where its index is. Only the "
            "index is read, which is made where there is none.",
            "The form is found by content, never by the name. In JSON a name that is not UTF-8 has U+FFFD for each bad "
            "byte, and its bytes as \"name_hex\" beside it.",
            NULL},
    .groups = (const option_group[]){{"Options", options_info},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples =
        (const example[]){{"millrace info photo.jpg scan.png", "A line for each of two files"},
                          {"millrace info --json *.jpg | jq '.[] | select(.progressive)'", "The progressive ones"},
                          {"millrace info ~/imagenet/train", "What is in a dataset"},
                          {"millrace info --tiles photo.l3", "Where each tile is, and whether it is whole"},
                          {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
