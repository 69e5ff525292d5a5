// SPDX-License-Identifier: Apache-2.0
/* Cells are printed as they come, so that a prediction is on the paper before its simulation begins. */
#include "external.h"

#include <math.h>
#include <stdio.h>

static void end_table(report *r)
{
    if (r->json && r->tables != 0)
        printf("]}");
}

static void print_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
    putchar('"');
}

void report_table(report *r, const char *name, const char *text, const char *const *columns, unsigned count)
{
    end_table(r);
    r->columns = columns;
    r->column_count = count;
    r->rows = r->cells = 0;
    if (r->json) {
        printf("%s{\"table\": ", r->tables == 0 ? "{\"tables\": [" : ", ");
        print_string(name);
        printf(", \"text\": ");
        print_string(text);
        printf(", \"rows\": [");
    } else {
        printf("%s### %s\n\n%s\n\n|", r->tables == 0 ? "" : "\n", name, text);
        for (unsigned i = 0; i < count; i++)
            printf(" %s |", columns[i]);
        printf("\n|");
        for (unsigned i = 0; i < count; i++)
            printf(" --- |");
        printf("\n");
    }
    r->tables++;
    fflush(stdout);
}

static void begin_cell(report *r)
{
    const char *column = r->columns[r->cells % r->column_count];
    if (!r->json) {
        printf("%s", r->cells == 0 ? "| " : " ");
    } else {
        printf("%s", r->cells != 0 ? ", " : r->rows == 0 ? "{" : ", {");
        print_string(column);
        printf(": ");
    }
    r->cells++;
}

static void end_cell(const report *r)
{
    if (!r->json)
        printf(" |");
    fflush(stdout);
}

void report_text(report *r, const char *text)
{
    begin_cell(r);
    if (r->json)
        print_string(text);
    else
        printf("%s", text);
    end_cell(r);
}

void report_number(report *r, double number, int digits)
{
    begin_cell(r);
    if (isfinite(number))
        printf("%.*f", r->json ? 9 : digits, number);
    else
        printf(r->json ? "null" : "never");
    end_cell(r);
}

void report_share(report *r, double share)
{
    begin_cell(r);
    if (!isfinite(share))
        printf(r->json ? "null" : "-");
    else if (r->json)
        printf("%.9f", share);
    else
        printf("%+.*f %%", fabs(share) < 0.0995 ? 2 : fabs(share) < 0.995 ? 1 : 0, share * 100);
    end_cell(r);
}

void report_part(report *r, double part)
{
    begin_cell(r);
    printf(r->json ? "%.9f" : "%.0f %%", r->json ? part : part * 100);
    end_cell(r);
}

void report_row(report *r)
{
    printf(r->json ? "}" : "\n");
    r->cells = 0;
    r->rows++;
}

void report_note(report *r, const char *text)
{
    if (!r->json)
        printf("\n%s\n", text);
}

void report_end(report *r)
{
    end_table(r);
    if (r->json)
        printf("%s, \"compared\": %u, \"apart\": %u}\n", r->tables != 0 ? "]" : "{\"tables\": []", r->compared,
               r->apart);
    else
        printf("\n%u predictions were to agree with their simulations, %u did not.\n", r->compared, r->apart);
}

outcome report_play(report *r, way_of way, const point *p, uint64_t batches, double bound)
{
    double expected = full_iteration(way, p);
    report_number(r, plain_iteration(way, p), 4);
    report_number(r, expected, 4);
    outcome o = play(way, p, batches);
    double apart = o.iteration_s / expected - 1;
    report_number(r, o.iteration_s, 4);
    report_share(r, apart);
    r->compared += bound > 0;
    r->apart += bound > 0 && !(fabs(apart) <= bound);
    return o;
}
