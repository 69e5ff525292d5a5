// SPDX-License-Identifier: Apache-2.0
/* A table in Markdown for each mode: a line a set, and for each sampling of a set that has several. */
#include "jpeg_race.h"

#include <millrace/system.h>
#include <millrace/version.h>

/* The first contest of a mode that was run: all have the same racers. */
static const contest *first_of(const contests *all, mode m)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i]->mode == m && all->list[i]->note[0] == '\0')
            return all->list[i];
    return NULL;
}

static void print_head(FILE *file, const contest *c)
{
    const bench_race *race = &c->race;
    fprintf(file, "\n| set | images |");
    for (size_t k = 0; k < race->racer_count; k++)
        if (!race->racer[k]->untimed)
            fprintf(file, " %s, ms | MB/s |", race->racer[k]->name);
    for (size_t k = 0; k < race->racer_count; k++)
        if (race->racer[k]->decoder != NULL)
            fprintf(file, " %s: times | of the rounds |", race->racer[k]->name);
    fprintf(file, "%s\n| --- | ---: |", mode_facts_of[c->mode].target != 0 ? " target | met |" : "");
    for (size_t k = 0; k < race->racer_count; k++)
        fprintf(file, "%s%s", race->racer[k]->untimed ? "" : " ---: | ---: |",
                race->racer[k]->decoder != NULL ? " ---: | ---: |" : "");
    fprintf(file, "%s\n", mode_facts_of[c->mode].target != 0 ? " ---: | --- |" : "");
}

static void print_line(FILE *file, const contest *c, unsigned kind)
{
    const bench_race *race = &c->race;
    double target = mode_facts_of[c->mode].target;
    if (kind == KINDS)
        fprintf(file, "| %s | %zu |", c->set, race->images);
    else
        fprintf(file, "| %s, %s | %zu |", c->set, kind != 0 ? mr_subsampling_name((mr_subsampling)kind) : "gray",
                race->images_of[kind]);
    for (size_t k = 0; k < race->racer_count; k++)
        if (!race->racer[k]->untimed)
            fprintf(file, " %.3f | %.0f |", race_ms(race, race->racer[k], kind),
                    race_mb_per_s(race, race->racer[k], kind));
    for (size_t k = 0; k < race->racer_count; k++) {
        double range[2];
        if (race->racer[k]->decoder == NULL)
            continue;
        double times = race_times(race, race->racer[k], c->reference, kind, range);
        fprintf(file, " %.2f | %.2f-%.2f |", times, range[0], range[1]);
    }
    if (target != 0 && kind == KINDS)
        fprintf(file, " %.2f | %s |", target, target_met(c) ? "yes" : "no");
    else if (target != 0)
        fprintf(file, " | |");
    fputc('\n', file);
}

static void print_lines(FILE *file, const contest *c)
{
    unsigned kinds = 0;
    print_line(file, c, KINDS);
    for (unsigned kind = 0; kind < KINDS; kind++)
        kinds += c->race.images_of[kind] != 0;
    for (unsigned kind = 0; kinds > 1 && kind < KINDS; kind++)
        if (c->race.images_of[kind] != 0)
            print_line(file, c, kind);
}

static void print_notes(FILE *file, const contests *all, mode m)
{
    bool any = false;
    for (size_t i = 0; i < all->count; i++) {
        const contest *c = all->list[i];
        if (c->mode != m)
            continue;
        if (c->note[0] != '\0')
            fprintf(file, "%s%s: %s\n", any ? "" : "\n", c->set, c->note);
        else if (c->race.left_out != 0)
            fprintf(file, "%s%s: %zu left out, which not all decode (CMYK, damaged, ...)\n", any ? "" : "\n", c->set,
                    c->race.left_out);
        else if (m == INDEX && c->indexed < c->race.images)
            fprintf(file, "%s%s: %zu of %zu have an index\n", any ? "" : "\n", c->set, c->indexed, c->race.images);
        else
            continue;
        any = true;
    }
}

static void print_mode(FILE *file, const contests *all, mode m)
{
    const contest *first = first_of(all, m);
    fprintf(file, "\n### %s\n", mode_facts_of[m].text);
    if (first != NULL)
        print_head(file, first);
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i]->mode == m && all->list[i]->note[0] == '\0')
            print_lines(file, all->list[i]);
    print_notes(file, all, m);
    if (first != NULL && mode_facts_of[m].regions)
        fprintf(file, "\nTimes are of libjpeg's own crop, whose columns at the edges are not exact: not compared.\n");
}

void report_text(FILE *file, const contests *all, const options *o)
{
    char cpu[256];
    size_t different = 0;
    mr_cpu_text(cpu, sizeof cpu);
    for (size_t i = 0; i < all->count; i++)
        different += all->list[i]->race.different;
    fprintf(file,
            "millrace %s, %s; one thread, medians of %u rounds\n"
            "times: how many times as fast as %s; beside it the lowest and the highest round\n"
            "images with other pixels: %zu\n",
            mr_version_text(), cpu, o->rounds, o->library[0].name, different);
    if (o->library_count == 1)
        fprintf(file, "no other libjpeg-turbo than the linked one takes part\n");
    for (mode m = 0; m < MODES; m++)
        if (o->modes[m])
            print_mode(file, all, m);
}
