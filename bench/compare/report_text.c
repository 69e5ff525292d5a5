// SPDX-License-Identifier: Apache-2.0
/* Tables in Markdown, to be pasted into bench/README.md as they are. */
#include "compare.h"

#include <millrace/system.h>
#include <millrace/version.h>

/* A cell with a number, or "-" where there is none. */
static void cell(FILE *file, bool is_there, const char *format, double value) __attribute__((format(printf, 3, 0)));
static void cell(FILE *file, bool is_there, const char *format, double value)
{
    fputs(" ", file);
    if (is_there)
        fprintf(file, format, value);
    else
        fputs("-", file);
    fputs(" |", file);
}

static void times_cell(FILE *file, const contest *c, const racer *r, const char *than, series s)
{
    const racer *other = find_racer(c, than, NULL);
    bool both = other != NULL && other->runs[s] && r->runs[s];
    cell(file, both, "%.2f", both ? racer_times(c, r, other, s) : 0);
}

static void speed_cell(FILE *file, const contest *c, const racer *r, series s)
{
    cell(file, r->runs[s], "%.0f", r->runs[s] ? racer_mb_per_s(c, r, s) : 0);
}

static void name_cells(FILE *file, const racer *r)
{
    fprintf(file, "| %s | %s |", r->name, r->mask[0] != '\0' ? r->mask : "-");
}

/* By the line that was timed again and again, else by the one time it was encoded. */
static void encode_cell(FILE *file, const contest *c, const coding *of)
{
    const encode_line *line = find_line(c, of->name, 1);
    double once = of->encode_ns > 0 ? c->pixel_nbytes * 1e3 / of->encode_ns : 0;
    cell(file, of->encode_ns > 0, "%.1f", line != NULL ? line_core_mb_per_s(c, line) : once);
}

static void print_pixels(FILE *file, const contest *c)
{
    const coding *png = find_coding(c, "PNG-6");
    fputs("\n| decoder | instructions | bpp | of PNG-6 | MB/s | times libpng | times millrace png | times QOI | of "
          "memcpy |"
          " hot MB/s | hot, times libpng | encoded at MB/s |\n"
          "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
          file);
    for (size_t k = 0; k < c->racer_count; k++) {
        const racer *r = &c->racer[k];
        const coding *of = &c->coding[r->coding];
        name_cells(file, r);
        cell(file, true, "%.2f", of->nbytes * 8 / c->pixels);
        cell(file, png != NULL, "%.3f", png != NULL ? of->nbytes / png->nbytes : 0);
        speed_cell(file, c, r, DISTINCT);
        times_cell(file, c, r, "libpng", DISTINCT);
        times_cell(file, c, r, "millrace png", DISTINCT);
        times_cell(file, c, r, "QOI", DISTINCT);
        times_cell(file, c, r, "memcpy", DISTINCT);
        speed_cell(file, c, r, HOT);
        times_cell(file, c, r, "libpng", HOT);
        encode_cell(file, c, of);
        fputc('\n', file);
    }
}

static void print_jpegs(FILE *file, const contest *c)
{
    fputs(
        "\n| decoder | instructions | MB/s | ms an image | times libjpeg-turbo | hot MB/s | hot, times libjpeg-turbo |"
        " regions MB/s | ms a region | times whole then crop | times its own crop |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        file);
    for (size_t k = 0; k < c->racer_count; k++) {
        const racer *r = &c->racer[k];
        name_cells(file, r);
        speed_cell(file, c, r, DISTINCT);
        cell(file, r->runs[DISTINCT], "%.3f", racer_ms(c, r, DISTINCT));
        times_cell(file, c, r, "libjpeg-turbo", DISTINCT);
        speed_cell(file, c, r, HOT);
        times_cell(file, c, r, "libjpeg-turbo", HOT);
        speed_cell(file, c, r, REGIONS);
        cell(file, r->runs[REGIONS], "%.3f", racer_ms(c, r, REGIONS));
        times_cell(file, c, r, "libjpeg-turbo", REGIONS);
        times_cell(file, c, r, "libjpeg-turbo, own crop", REGIONS);
        fputc('\n', file);
    }
}

static void print_sizes(FILE *file, const contest *c)
{
    if (c->size_count == 0)
        return;
    fputs("\n| bytes over the JPEG file's | total | mean | median | p95 | worst | images at 1.10 or less |"
          " total over the entropy-coded bytes |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
          file);
    for (size_t i = 0; i < c->size_count; i++) {
        const size_line *s = &c->size[i];
        fprintf(file, "| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.1f %% | %.3f |\n", s->name, s->total, s->mean,
                s->median, s->p95, s->worst, s->within * 100, s->entropy_total);
    }
}

static void print_lines(FILE *file, const contest *c)
{
    if (c->line_count == 0)
        return;
    fputs("\n| encoding | threads | MB/s a core | MB/s by the clock |\n| --- | ---: | ---: | ---: |\n", file);
    for (size_t i = 0; i < c->line_count; i++)
        fprintf(file, "| %s | %u | %.0f | %.0f |\n", c->line[i].name, c->line[i].threads,
                line_core_mb_per_s(c, &c->line[i]), line_wall_mb_per_s(c, &c->line[i]));
}

static void print_contest(FILE *file, const contest *c)
{
    fprintf(file, "\n### %s: %zu %s, %.1f MB of pixels, %zu cop%s of all buffers\n", c->name, c->pictures,
            c->is_jpeg ? "JPEG files" : "images", c->pixel_nbytes / 1e6, c->copies, c->copies == 1 ? "y" : "ies");
    if (c->left_out != 0)
        fprintf(file, "\n%zu left out: not 8-bit RGB%s, or not to be stored by all.\n", c->left_out,
                c->is_jpeg ? " or gray" : "");
    for (size_t i = 0; i < c->note_count; i++)
        fprintf(file, "\nNote: %s.\n", c->note[i]);
    (c->is_jpeg ? print_jpegs : print_pixels)(file, c);
    print_sizes(file, c);
    print_lines(file, c);
}

static void print_codings(FILE *file, const contest *contests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (contests[i].is_jpeg)
            continue;
        fputs("\nHow the bytes are made: ", file);
        for (size_t k = 1; k < contests[i].coding_count; k++)
            fprintf(file, "%s%s: %s", k == 1 ? "" : "; ", contests[i].coding[k].name, contests[i].coding[k].made);
        fputs(".\n", file);
        return; // the same in all
    }
}

static void print_targets(FILE *file, const contest *contests, size_t count)
{
    target targets[128];
    size_t n = list_targets(contests, count, targets, sizeof targets / sizeof *targets);
    fputs("\n### Targets\n\n| set | target | wanted | measured | met |\n| --- | --- | ---: | ---: | --- |\n", file);
    for (size_t i = 0; i < n; i++) {
        const target *t = &targets[i];
        fprintf(file, "| %s | %s | %s %.2f |", t->set, t->text, t->at_most ? "at most" : "at least", t->wanted);
        cell(file, t->is_measured, "%.3f", t->measured);
        fprintf(file, " %s |\n", !t->is_measured ? "not measured" : target_met(t) ? "yes" : "no");
    }
}

void report_text(FILE *file, const contest *contests, size_t count, const options *o)
{
    char cpu[256];
    mr_cpu_text(cpu, sizeof cpu);
    fprintf(file, "millrace %s, %s; last-level cache %.0f MB\n\n", mr_version_text(), cpu,
            (double)cache_nbytes() / 1e6);
    fprintf(file,
            "One pinned thread, median of %u rounds, in which the racers take turns. MB/s counts decoded pixels; over"
            " distinct images unless it says hot (one image over and over).\n",
            o->rounds);
    print_codings(file, contests, count);
    for (size_t i = 0; i < count; i++)
        print_contest(file, &contests[i]);
    print_targets(file, contests, count);
}
