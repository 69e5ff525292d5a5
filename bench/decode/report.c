// SPDX-License-Identifier: Apache-2.0
#include "decode.h"

#include <millrace/system.h>
#include <millrace/version.h>

static bool is_peer(const race_racer *r)
{
    return r->decoder == NULL && r->with != NULL;
}

static void print_race(FILE *file, const form_race *f)
{
    const bench_race *race = &f->race;
    fprintf(file, "\n%s: %zu images, %.1f MB of pixels a round", mr_form_name(f->form), race->images,
            race->pixel_nbytes[0][0] / 1e6);
    if (race->left_out != 0)
        fprintf(file, "; %zu left out, which not all decode to one shape", race->left_out);
    fprintf(file, "\n  %-34s %10s %12s %18s\n", "", "MB/s", "images/s", "millrace is");
    for (size_t k = 0; k < race->racer_count; k++) {
        const race_racer *r = race->racer[k];
        fprintf(file, "  %-34s %10.0f %12.1f", r->name, race_mb_per_s(race, r, KINDS), 1e3 / race_ms(race, r, KINDS));
        if (is_peer(r))
            fprintf(file, " %11.2fx as fast\n", race_times(race, race->racer[0], r, KINDS, NULL));
        else
            fputc('\n', file);
    }
}

void report_text(FILE *file, const form_race *races, size_t count, const options *o)
{
    char cpu[256];
    mr_cpu_text(cpu, sizeof cpu);
    fprintf(file, "millrace %s, %s\n", mr_version_text(), cpu);
    fprintf(file, "%s, one thread, median of %u rounds, racers take turns on each image\n",
            o->regions ? "regions drawn as RandomResizedCrop draws them" : "whole images", o->rounds);
    for (size_t i = 0; i < count; i++)
        print_race(file, &races[i]);
}

static void print_racer_json(FILE *file, const bench_race *race, size_t k)
{
    const race_racer *r = race->racer[k];
    fprintf(file, "%s\n      {\"name\": \"%s\", \"mb_per_s\": %.2f, \"images_per_s\": %.2f, \"ratio\": %.4f}",
            k == 0 ? "" : ",", r->name, race_mb_per_s(race, r, KINDS), 1e3 / race_ms(race, r, KINDS),
            race_times(race, race->racer[0], r, KINDS, NULL));
}

void report_json(FILE *file, const form_race *races, size_t count, const options *o)
{
    char cpu[256];
    mr_cpu_text(cpu, sizeof cpu);
    fprintf(file, "{\n  \"version\": \"%s\",\n  \"cpu\": \"%s\",\n  \"rounds\": %u,\n  \"seed\": %llu,\n",
            mr_version_text(), cpu, o->rounds, (unsigned long long)o->seed);
    fprintf(file, "  \"region\": \"%s\",\n  \"forms\": [", o->regions ? "rrc" : "none");
    for (size_t i = 0; i < count; i++) {
        const bench_race *race = &races[i].race;
        fprintf(file,
                "%s\n    {\"form\": \"%s\", \"images\": %zu, \"left_out\": %zu, \"pixel_nbytes\": %.0f, \"racers\": [",
                i == 0 ? "" : ",", mr_form_name(races[i].form), race->images, race->left_out, race->pixel_nbytes[0][0]);
        for (size_t k = 0; k < race->racer_count; k++)
            print_racer_json(file, race, k);
        fprintf(file, "]}");
    }
    fprintf(file, "\n  ]\n}\n");
}
