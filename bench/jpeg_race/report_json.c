// SPDX-License-Identifier: Apache-2.0
#include "jpeg_race.h"

#include <millrace/system.h>
#include <millrace/version.h>

static void text(FILE *file, const char *name, const char *value)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', file);
        fputc((unsigned char)*value < ' ' ? ' ' : *value, file);
    }
    fputs("\"", file);
}

static void print_figures(FILE *file, const contest *c, const race_racer *r, unsigned kind)
{
    double range[2], times = race_times(&c->race, r, c->reference, kind, range);
    fprintf(file, "\"ms\": %.5f, \"mb_per_s\": %.2f, \"times\": %.4f, \"lowest\": %.4f, \"highest\": %.4f",
            race_ms(&c->race, r, kind), race_mb_per_s(&c->race, r, kind), times, range[0], range[1]);
}

static void print_racer(FILE *file, const contest *c, const race_racer *r)
{
    bool first = true;
    fputs("\n      {", file);
    text(file, "name", r->name);
    fprintf(file, ", \"exact\": %s, ", r->inexact ? "false" : "true");
    print_figures(file, c, r, KINDS);
    fputs(", \"samplings\": {", file);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (c->race.images_of[kind] == 0)
            continue;
        fprintf(file, "%s\"%s\": {", first ? "" : ", ", kind != 0 ? mr_subsampling_name((mr_subsampling)kind) : "gray");
        print_figures(file, c, r, kind);
        fprintf(file, ", \"images\": %zu}", c->race.images_of[kind]);
        first = false;
    }
    fputs("}, \"rounds_ns\": [", file);
    for (unsigned i = 0; i < c->race.rounds; i++) {
        double ns = 0;
        for (unsigned kind = 0; kind < KINDS; kind++)
            ns += r->ns[kind][i];
        fprintf(file, "%s%.0f", i == 0 ? "" : ", ", ns);
    }
    fputs("]}", file);
}

static void print_contest(FILE *file, const contest *c)
{
    double target = mode_facts_of[c->mode].target;
    bool first = true;
    fputs("\n    {", file);
    text(file, "set", c->set);
    fprintf(file, ", \"mode\": \"%s\", \"images\": %zu, \"left_out\": %zu, \"different\": %zu",
            mode_facts_of[c->mode].name, c->race.images, c->race.left_out, c->race.different);
    if (c->mode == INDEX)
        fprintf(file, ", \"indexed\": %zu", c->indexed);
    if (c->note[0] != '\0') {
        fputs(", ", file);
        text(file, "note", c->note);
        fputs("}", file);
        return;
    }
    if (target != 0)
        fprintf(file, ", \"target\": %.2f, \"met\": %s", target, target_met(c) ? "true" : "false");
    fputs(", \"racers\": [", file);
    for (size_t k = 0; k < c->race.racer_count; k++) {
        if (c->race.racer[k]->untimed)
            continue;
        fputs(first ? "" : ",", file);
        print_racer(file, c, c->race.racer[k]);
        first = false;
    }
    fputs("]}", file);
}

void report_json(FILE *file, const contests *all, const options *o)
{
    char cpu[256];
    mr_cpu_text(cpu, sizeof cpu);
    fprintf(file, "{\n  \"version\": \"%s\",\n  \"cpu\": \"%s\",\n  \"rounds\": %u,\n  \"seed\": %llu,\n",
            mr_version_text(), cpu, o->rounds, (unsigned long long)o->seed);
    fputs("  \"libraries\": [", file);
    for (size_t i = 0; i < o->library_count; i++)
        fprintf(file, "%s\"%s\"", i == 0 ? "" : ", ", o->library[i].name);
    fputs("],\n  \"contests\": [", file);
    for (size_t i = 0; i < all->count; i++) {
        fputs(i == 0 ? "" : ",", file);
        print_contest(file, all->list[i]);
    }
    fputs("\n  ]\n}\n", file);
}
