// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <millrace/system.h>
#include <millrace/version.h>

/* Text that comes from outside: a folder's name, a note. */
static void text(FILE *file, const char *name, const char *value)
{
    fprintf(file, "\"%s\": \"", name);
    for (const unsigned char *at = (const unsigned char *)value; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
    }
    fputc('"', file);
}

static void print_series(FILE *file, const contest *c, const racer *r)
{
    static const char *const names[SERIES] = {"distinct", "hot", "regions"};
    for (int s = 0; s < SERIES; s++) {
        if (!r->runs[s])
            continue;
        fprintf(file, ", \"%s\": {\"mb_per_s\": %.2f, \"ms\": %.5f, \"rounds_ns\": [", names[s],
                racer_mb_per_s(c, r, (series)s), racer_ms(c, r, (series)s));
        for (unsigned i = 0; i < c->rounds; i++)
            fprintf(file, "%s%.0f", i == 0 ? "" : ", ", r->ns[s][i]);
        fputs("]}", file);
    }
}

static void print_racers(FILE *file, const contest *c)
{
    fputs(",\n     \"racers\": [", file);
    for (size_t k = 0; k < c->racer_count; k++) {
        const racer *r = &c->racer[k];
        fprintf(file, "%s\n      {\"name\": \"%s\", \"instructions\": \"%s\", \"coding\": \"%s\"", k == 0 ? "" : ",",
                r->name, r->mask, c->coding[r->coding].name);
        print_series(file, c, r);
        fputs("}", file);
    }
    fputs("]", file);
}

static void print_codings(FILE *file, const contest *c)
{
    fputs(",\n     \"codings\": [", file);
    for (size_t k = 0; k < c->coding_count; k++) {
        const coding *what = &c->coding[k];
        fprintf(file, "%s\n      {\"name\": \"%s\", \"made\": \"%s\", \"nbytes\": %.0f, \"bpp\": %.4f",
                k == 0 ? "" : ",", what->name, what->made, what->nbytes, what->nbytes * 8 / c->pixels);
        if (what->encode_ns > 0)
            fprintf(file, ", \"encode_mb_per_s\": %.2f", c->pixel_nbytes * 1e3 / what->encode_ns);
        fputs("}", file);
    }
    fputs("]", file);
}

static void print_lines(FILE *file, const contest *c)
{
    fputs(",\n     \"encoding\": [", file);
    for (size_t i = 0; i < c->line_count; i++)
        fprintf(file, "%s\n      {\"name\": \"%s\", \"threads\": %u, \"core_mb_per_s\": %.2f, \"wall_mb_per_s\": %.2f}",
                i == 0 ? "" : ",", c->line[i].name, c->line[i].threads, line_core_mb_per_s(c, &c->line[i]),
                line_wall_mb_per_s(c, &c->line[i]));
    fputs("]", file);
}

static void print_sizes(FILE *file, const contest *c)
{
    fprintf(file, ",\n     \"entropy_nbytes\": %.0f, \"sizes\": [", c->jpeg_entropy_nbytes);
    for (size_t i = 0; i < c->size_count; i++) {
        const size_line *s = &c->size[i];
        fprintf(file,
                "%s\n      {\"name\": \"%s\", \"total\": %.4f, \"mean\": %.4f, \"median\": %.4f, \"p95\": %.4f,"
                " \"worst\": %.4f, \"within\": %.4f, \"entropy_total\": %.4f}",
                i == 0 ? "" : ",", s->name, s->total, s->mean, s->median, s->p95, s->worst, s->within,
                s->entropy_total);
    }
    fputs("]", file);
}

static void print_contest(FILE *file, const contest *c)
{
    fputs("\n    {", file);
    text(file, "set", c->name);
    fprintf(file,
            ", \"jpeg\": %s, \"images\": %zu, \"copies\": %zu, \"left_out\": %zu, \"different\": %zu, \"pixels\": %.0f,"
            " \"pixel_nbytes\": %.0f,\n     \"notes\": [",
            c->is_jpeg ? "true" : "false", c->pictures, c->copies, c->left_out, c->different, c->pixels,
            c->pixel_nbytes);
    for (size_t i = 0; i < c->note_count; i++) {
        fputs(i == 0 ? "{" : ", {", file);
        text(file, "text", c->note[i]);
        fputs("}", file);
    }
    fputs("]", file);
    print_codings(file, c);
    print_racers(file, c);
    print_lines(file, c);
    if (c->is_jpeg)
        print_sizes(file, c);
    fputs("}", file);
}

static void print_targets(FILE *file, const contest *contests, size_t count)
{
    target targets[128];
    size_t n = list_targets(contests, count, targets, sizeof targets / sizeof *targets);
    fputs("\n  ],\n  \"targets\": [", file);
    for (size_t i = 0; i < n; i++) {
        const target *t = &targets[i];
        fprintf(file, "%s\n    {", i == 0 ? "" : ",");
        text(file, "set", t->set);
        fprintf(file, ", \"target\": \"%s\", \"%s\": %.3f", t->text, t->at_most ? "at_most" : "at_least", t->wanted);
        if (t->is_measured)
            fprintf(file, ", \"measured\": %.4f, \"met\": %s", t->measured, target_met(t) ? "true" : "false");
        fputs("}", file);
    }
    fputs("\n  ]\n}\n", file);
}

void report_json(FILE *file, const contest *contests, size_t count, const options *o)
{
    char cpu[256];
    mr_cpu_text(cpu, sizeof cpu);
    fprintf(file, "{\n  \"version\": \"%s\",\n  \"cpu\": \"%s\",\n  \"rounds\": %u,\n  \"seed\": %llu,\n  \"sets\": [",
            mr_version_text(), cpu, o->rounds, (unsigned long long)o->seed);
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            fputs(",", file);
        print_contest(file, &contests[i]);
    }
    print_targets(file, contests, count);
}
