// SPDX-License-Identifier: Apache-2.0
#include "grid.h"
#include "failure.h"
#include "letters.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Cells are as large as what the recipe gives: larger ones are reduced, smaller ones enlarged by a whole number. */
enum { CELL_MIN = 96, CELL_MAX = 320, MARGIN = 6, CAPTION = LETTER_HEIGHT + 2, SHEET_MAX = 1 << 15 };

static const uint8_t ground = 236; /* gray: neither black nor white hides in it */
static const uint8_t ink[3] = {40, 40, 40}, dim[3] = {110, 110, 110};

/* What making a sheet takes. */
typedef struct printer {
    grid *g;
    mr_preparer *preparer;
    mr_reader *reader;
    mr_decoder *decoder;
    mr_resizer *resizer;
    mr_output output;
    mr_image made, rgb;     /* what the recipe gave, and in color */
    uint32_t width, height; /* of a cell */
    bool orient;
    char detail[1024];
} printer;

static void choose_cell(printer *p)
{
    uint32_t w = p->output.width, h = p->output.height, longer = w > h ? w : h;
    uint32_t times = longer < CELL_MIN ? (CELL_MIN + longer - 1) / longer : 1;
    mr_resize_max_side(w * times, h * times, CELL_MAX, &p->width, &p->height);
}

/* The left top corner of a cell; column 0 is the stored image. */
static uint32_t cell_x(const printer *p, uint32_t column)
{
    return MARGIN + column * (p->width + MARGIN) + (column > 0 ? MARGIN : 0);
}

static uint32_t cell_y(const printer *p, uint32_t row)
{
    return MARGIN + 2 * CAPTION + row * (p->height + CAPTION + MARGIN);
}

static int refuse(printer *p, int code, const char *detail)
{
    snprintf(p->detail, sizeof p->detail, "%s", detail != NULL && detail[0] != '\0' ? detail : mr_error_text(code));
    return code;
}

static int make_sheet(printer *p)
{
    grid *g = p->g;
    uint64_t width = cell_x(p, g->columns + 1), height = cell_y(p, g->count);
    if (width > SHEET_MAX || height > SHEET_MAX)
        return refuse(p, MR_ELIMIT, "a sheet that large is not made: fewer --rows or --columns");
    int code = mr_image_init(&g->image, (uint32_t)width, (uint32_t)height, 3, 8, NULL);
    if (code != 0)
        return refuse(p, code, NULL);
    memset(g->image.pixels, ground, (size_t)g->image.stride * g->image.height);
    letters_put(&g->image, MARGIN, MARGIN, (uint32_t)width - 2 * MARGIN, ink, g->recipe);
    letters_put(&g->image, cell_x(p, 0), MARGIN + CAPTION, p->width, dim, "as stored");
    for (uint32_t i = 0; i < g->columns; i++) {
        char title[48];
        snprintf(title, sizeof title, "epoch %" PRIu64, g->s->epoch + i);
        letters_put(&g->image, cell_x(p, i + 1), MARGIN + CAPTION, p->width, dim, title);
    }
    return 0;
}

/* An RGB image into a cell, as large as fits, in its middle. */
static int put_cell(printer *p, const mr_image *from, uint32_t column, uint32_t row)
{
    uint32_t w = from->width, h = from->height;
    bool wide = (uint64_t)w * p->height >= (uint64_t)h * p->width;
    uint64_t to_w = wide ? p->width : ((uint64_t)w * p->height + h / 2) / h;
    uint64_t to_h = wide ? ((uint64_t)h * p->width + w / 2) / w : p->height;
    to_w = to_w == 0 ? 1 : to_w;
    to_h = to_h == 0 ? 1 : to_h;
    /* Enlarged, dots stay dots: nothing is shown that is not there. */
    mr_resize_options options = {.struct_size = sizeof options};
    options.filter = to_w > w ? MR_FILTER_NEAREST : MR_FILTER_BILINEAR;
    mr_rect place = {cell_x(p, column) + (p->width - (uint32_t)to_w) / 2,
                     cell_y(p, row) + (p->height - (uint32_t)to_h) / 2, (uint32_t)to_w, (uint32_t)to_h};
    mr_image to;
    int code = mr_image_crop(&p->g->image, place, &to);
    if (code == 0)
        code = mr_resizer_resize(p->resizer, from, &options, &to);
    return code == 0 ? 0 : refuse(p, code, mr_resizer_detail(p->resizer));
}

/* The form that --form names, else the first that the sample has. */
static uint32_t form_of(const printer *p, uint64_t ordinal)
{
    const grid *g = p->g;
    mr_dataset_form form = {.struct_size = sizeof form};
    mr_record record = {.struct_size = sizeof record};
    for (uint32_t i = 0; i < g->src->info.forms; i++)
        if (g->s->form != NULL
                ? mr_dataset_get_form(g->src->dataset, i, &form) == 0 && strcmp(form.name, g->s->form) == 0
                : mr_dataset_record(g->src->dataset, ordinal, i, &record) == 0 && record.state == MR_RECORD_PRESENT)
            return i;
    return 0;
}

static int put_stored(printer *p, uint32_t row)
{
    uint64_t ordinal = p->g->rows[row].sample.ordinal;
    mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 3, .depth = 8, .orient = p->orient};
    mr_image whole;
    const void *bytes;
    size_t nbytes;
    int code = mr_reader_record(p->reader, ordinal, form_of(p, ordinal), &bytes, &nbytes);
    if (code != 0)
        return refuse(p, code, mr_reader_detail(p->reader));
    code = mr_decoder_decode(p->decoder, bytes, nbytes, &hints, &whole);
    if (code == 0)
        return put_cell(p, &whole, 0, row);
    const char *detail = mr_decoder_detail(p->decoder);
    snprintf(p->detail, sizeof p->detail, "%s: %s", p->g->rows[row].sample.key,
             detail[0] != '\0' ? detail : mr_error_text(code));
    return code;
}

static int put_made(printer *p, uint32_t row, uint32_t column)
{
    const grid *g = p->g;
    int code =
        mr_preparer_run(p->preparer, g->rows[row].sample.ordinal, g->s->epoch + column, g->s->repeat, p->made.pixels);
    if (code != 0)
        return refuse(p, code, mr_preparer_detail(p->preparer));
    code = mr_image_convert(&p->made, &p->rgb);
    return code == 0 ? put_cell(p, &p->rgb, column + 1, row) : refuse(p, code, NULL);
}

static int put_row(printer *p, uint32_t row)
{
    char caption[512];
    const grid_row *r = &p->g->rows[row];
    int code = put_stored(p, row);
    for (uint32_t i = 0; code == 0 && i < p->g->columns; i++)
        code = put_made(p, row, i);
    snprintf(caption, sizeof caption, "%s%s%s", r->sample.key, r->label[0] != '\0' ? "  " : "", r->label);
    letters_put(&p->g->image, MARGIN, cell_y(p, row) + p->height + 1, p->g->image.width - 2 * MARGIN, ink, caption);
    return code;
}

static int begin(printer *p, const mr_recipe *visible)
{
    const grid *g = p->g;
    mr_step first = {.struct_size = sizeof first};
    mr_loader_options options = {.struct_size = sizeof options, .seed = g->s->seed, .form = g->s->form};
    p->orient = mr_recipe_count(visible) > 0 && mr_recipe_step(visible, 0, &first) == 0 && first.kind == MR_STEP_ORIENT;
    int code = mr_preparer_new(g->src->dataset, visible, &options, &p->preparer, p->detail, sizeof p->detail);
    if (code != 0)
        return code;
    code = mr_reader_new(g->src->dataset, &p->reader);
    if (code == 0)
        code = mr_decoder_new(NULL, &p->decoder);
    if (code == 0)
        code = mr_resizer_new(NULL, &p->resizer);
    if (code == 0)
        code = mr_image_init(&p->made, p->output.width, p->output.height, p->output.channels, 8, NULL);
    if (code == 0)
        code = mr_image_init(&p->rgb, p->output.width, p->output.height, 3, 8, NULL);
    if (code != 0)
        return refuse(p, code, NULL);
    choose_cell(p);
    return make_sheet(p);
}

static void end(printer *p)
{
    mr_preparer_free(p->preparer);
    mr_reader_free(p->reader);
    mr_decoder_free(p->decoder);
    mr_resizer_free(p->resizer);
    mr_image_fini(&p->made, NULL);
    mr_image_fini(&p->rgb, NULL);
}

/* From the beginning, the middle and the end alike. */
static int choose_rows(grid *g)
{
    uint64_t samples = g->src->info.samples;
    g->count = samples < g->s->rows ? (uint32_t)samples : g->s->rows;
    g->columns = g->s->columns;
    if (g->count == 0)
        return failed(g->s, MR_EARGUMENT, g->src->name, "has no samples");
    g->rows = calloc(g->count, sizeof *g->rows);
    for (uint32_t i = 0; g->rows != NULL && i < g->count; i++) {
        grid_row *r = &g->rows[i];
        r->sample.struct_size = sizeof r->sample;
        int code = mr_dataset_sample(g->src->dataset, i * samples / g->count, &r->sample);
        if (code != 0)
            return failed_detail(g->s, code, g->src->name, mr_dataset_detail(g->src->dataset));
        r->label = source_label(g->src, &r->sample.label);
        if (r->label == NULL)
            return failed(g->s, MR_ENOMEM, g->src->name, "%s", mr_error_text(MR_ENOMEM));
    }
    return g->rows != NULL ? EXIT_GOOD : failed(g->s, MR_ENOMEM, g->src->name, "%s", mr_error_text(MR_ENOMEM));
}

int grid_make(grid *g, const mr_recipe *visible, const mr_output *output)
{
    printer p = {.g = g, .output = *output};
    int result = choose_rows(g);
    if (result != EXIT_GOOD)
        return result;
    uint32_t row = 0;
    int code = begin(&p, visible);
    for (; code == 0 && row < g->count; row++) {
        int of_row = put_row(&p, row);
        if (of_row == MR_ENOMEM)
            code = of_row;
        else if (of_row != 0) {
            result = failed_detail(g->s, of_row, g->rows[row].sample.key, p.detail);
            g->bad++;
        }
    }
    end(&p);
    if (code != 0)
        return failed_detail(g->s, code, g->rows[row > 0 ? row - 1 : 0].sample.key, p.detail);
    return g->bad == g->count ? result : EXIT_GOOD;
}

void grid_fini(grid *g)
{
    for (uint32_t i = 0; g->rows != NULL && i < g->count; i++)
        free(g->rows[i].label);
    free(g->rows);
    mr_image_fini(&g->image, NULL);
}
