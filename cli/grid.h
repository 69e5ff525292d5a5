// SPDX-License-Identifier: Apache-2.0
/* A contact sheet: some samples of a dataset as they are stored, and beside each what a recipe makes of it. */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include "source.h"

/* One sample of the sheet. */
typedef struct grid_row {
    mr_sample sample;
    char *label; /* "": none */
} grid_row;

typedef struct grid {
    const settings *s;
    const source *src;
    const char *recipe; /* its text */
    grid_row *rows;
    uint32_t count;   /* of the rows: no more than there are samples */
    uint32_t columns; /* of what the recipe made: one for each epoch */
    uint32_t bad;     /* rows whose sample could not be shown: of these the cells stay empty */
    mr_image image;   /* 8-bit RGB */
} grid;

/*
 * Makes the sheet of `visible` (mr_recipe_visible), which gives `output`: --rows samples, evenly from the dataset, in
 * --columns epochs from --epoch on. EXIT_GOOD, or the exit code after a word on it; grid_fini in either case. A bad
 * sample is told of, and costs its row; where all are bad, there is no sheet.
 */
int grid_make(grid *g, const mr_recipe *visible, const mr_output *output);
void grid_fini(grid *g);

#endif
