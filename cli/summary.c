// SPDX-License-Identifier: Apache-2.0
#include "summary.h"
#include "failure.h"
#include "json.h"
#include "quantity.h"
#include "source.h"
#include "text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sides up to here are counted one by one; class numbers without names likewise. */
enum { SIDE_COUNT = 65536, CLASS_COUNT = 65536, BUCKETS = 64, BAR_CELLS = 32, QUANTILES = 5 };

static const double quantiles[QUANTILES] = {0, 0.05, 0.5, 0.95, 1};
static const char *const quantile_names[QUANTILES] = {"least", "5%", "median", "95%", "most"};

/* What a walk over all samples finds, in memory that does not grow with them. */
typedef struct counts {
    uint32_t form;              /* whose records are counted */
    uint64_t *widths, *heights; /* how many have so many pixels */
    uint64_t *classes;          /* how many are of the class */
    uint64_t class_count;       /* that there is room for */
    uint64_t shaped;            /* samples with a known size */
    uint64_t records, absent, refused, damaged;
    uint64_t buckets[BUCKETS]; /* records of 2^n to 2^(n + 1) - 1 bytes */
    uint64_t unlabelled, other_labels;
    uint64_t members;
} counts;

static bool counts_init(counts *c, const source *src, uint32_t form)
{
    *c = (counts){.form = form, .class_count = src->info.classes > CLASS_COUNT ? src->info.classes : CLASS_COUNT};
    c->widths = calloc(SIDE_COUNT, sizeof *c->widths);
    c->heights = calloc(SIDE_COUNT, sizeof *c->heights);
    c->classes = calloc((size_t)c->class_count, sizeof *c->classes);
    return c->widths != NULL && c->heights != NULL && c->classes != NULL;
}

static void counts_fini(counts *c)
{
    free(c->widths);
    free(c->heights);
    free(c->classes);
}

static unsigned bucket_of(uint64_t nbytes)
{
    unsigned bucket = 0;
    while (nbytes > 1) {
        nbytes >>= 1;
        bucket++;
    }
    return bucket;
}

static void count_record(counts *c, const mr_record *r)
{
    c->absent += r->state == MR_RECORD_ABSENT;
    c->refused += r->state == MR_RECORD_REFUSED;
    if (r->state != MR_RECORD_PRESENT)
        return;
    c->records++;
    c->buckets[bucket_of(r->nbytes)]++;
    if (r->width == 0)
        return;
    c->shaped++;
    c->widths[r->width < SIDE_COUNT ? r->width : SIDE_COUNT - 1]++;
    c->heights[r->height < SIDE_COUNT ? r->height : SIDE_COUNT - 1]++;
}

static void count_sample(counts *c, const mr_sample *sample)
{
    const mr_label *label = &sample->label;
    c->members += sample->members;
    if (label->kind == MR_LABEL_NONE)
        c->unlabelled++;
    else if (label->kind == MR_LABEL_INT && label->integer >= 0 && (uint64_t)label->integer < c->class_count)
        c->classes[label->integer]++;
    else
        c->other_labels++;
}

static void count_all(counts *c, const source *src)
{
    mr_sample sample = {.struct_size = sizeof sample};
    mr_record record = {.struct_size = sizeof record};
    for (uint64_t i = 0; i < src->info.samples; i++) {
        if (mr_dataset_sample(src->dataset, i, &sample) != 0 ||
            mr_dataset_record(src->dataset, i, c->form, &record) != 0) {
            c->damaged++;
            continue;
        }
        count_sample(c, &sample);
        count_record(c, &record);
    }
}

static uint32_t quantile(const uint64_t *sides, uint64_t count, double q)
{
    uint64_t rank = (uint64_t)(q * (double)(count - 1) + 0.5), seen = 0;
    for (uint32_t side = 0; side < SIDE_COUNT; side++) {
        seen += sides[side];
        if (seen > rank)
            return side;
    }
    return SIDE_COUNT - 1;
}

/* The classes that have samples, and those with the fewest and the most. */
typedef struct extremes {
    uint64_t used, least, most; /* class numbers */
} extremes;

static extremes find_extremes(const counts *c, const source *src)
{
    extremes e = {0};
    for (uint64_t i = 0; i < c->class_count; i++) {
        if (c->classes[i] == 0 && i >= src->info.classes)
            continue;
        if (e.used == 0)
            e.least = e.most = i;
        e.used++;
        e.least = c->classes[i] < c->classes[e.least] ? i : e.least;
        e.most = c->classes[i] > c->classes[e.most] ? i : e.most;
    }
    return e;
}

static void put_class(const source *src, const counts *c, const char *what, uint64_t number)
{
    printf("; %s ", what);
    if (number < src->info.classes)
        put_escaped(stdout, mr_dataset_class(src->dataset, number));
    else
        printf("%" PRIu64, number);
    printf(" (%s)", count_text(c->classes[number]).text);
}

static void put_labels(const source *src, const counts *c)
{
    extremes e = find_extremes(c, src);
    fputs("  classes      ", stdout);
    if (e.used == 0) {
        puts(c->other_labels != 0 ? "none: labels are not class numbers" : "none: there are no labels");
        return;
    }
    fputs(count_text(e.used).text, stdout);
    if (c->classes[e.least] == c->classes[e.most]) {
        printf("; %s sample%s in each", count_text(c->classes[e.least]).text, plural(c->classes[e.least]));
    } else {
        put_class(src, c, "fewest", e.least);
        put_class(src, c, "most", e.most);
    }
    if (c->unlabelled != 0)
        printf("; %s without a label", count_text(c->unlabelled).text);
    putchar('\n');
}

static void put_sizes(const counts *c)
{
    fputs("  sizes        ", stdout);
    if (c->shaped == 0) {
        puts("not known before the images are read (pack finds them out)");
        return;
    }
    for (size_t i = 0; i < QUANTILES; i++)
        printf("%s%s %" PRIu32, i > 0 ? ", " : "width: ", quantile_names[i],
               quantile(c->widths, c->shaped, quantiles[i]));
    fputs("\n               ", stdout);
    for (size_t i = 0; i < QUANTILES; i++)
        printf("%s%s %" PRIu32, i > 0 ? ", " : "height: ", quantile_names[i],
               quantile(c->heights, c->shaped, quantiles[i]));
    putchar('\n');
}

static void put_forms(const terminal *t, const source *src)
{
    mr_dataset_form form = {.struct_size = sizeof form};
    int width = 6;
    for (uint32_t i = 0; mr_dataset_get_form(src->dataset, i, &form) == 0; i++)
        width = (int)strlen(form.name) > width ? (int)strlen(form.name) : width;
    printf("\n  %s%-*s  %13s  %10s  %10s%s\n", style_of(t, STYLE_BOLD), width, "form", "samples", "bytes", "mean",
           style_of(t, STYLE_NONE));
    for (uint32_t i = 0; mr_dataset_get_form(src->dataset, i, &form) == 0; i++)
        printf("  %-*s  %13s  %10s  %10s\n", width, form.name, count_text(form.samples).text,
               bytes_text(form.nbytes).text, bytes_text(form.samples != 0 ? form.nbytes / form.samples : 0).text);
}

static void bucket_text(unsigned bucket, char out[16])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    snprintf(out, 16, "%u %s", 1u << bucket % 10, units[bucket / 10]);
}

static void put_histogram(const terminal *t, const source *src, const counts *c)
{
    mr_dataset_form form = {.struct_size = sizeof form};
    unsigned first = 0, last = BUCKETS - 1;
    uint64_t most = 0;
    if (c->records == 0 || mr_dataset_get_form(src->dataset, c->form, &form) != 0)
        return;
    while (c->buckets[first] == 0)
        first++;
    while (c->buckets[last] == 0)
        last--;
    for (unsigned i = first; i <= last; i++)
        most = c->buckets[i] > most ? c->buckets[i] : most;
    printf("\n  %sbytes of a sample as %s%s\n", style_of(t, STYLE_BOLD), form.name, style_of(t, STYLE_NONE));
    for (unsigned i = first; i <= last; i++) {
        char from[16], to[16];
        bucket_text(i, from);
        bucket_text(i + 1, to);
        printf("  %8s to %8s  %s", from, to, style_of(t, STYLE_GREEN));
        put_bar(stdout, t->utf8, (double)c->buckets[i] / (double)most, BAR_CELLS);
        printf("%s %s\n", style_of(t, STYLE_NONE), count_text(c->buckets[i]).text);
    }
}

static void put(const settings *s, const source *src, const counts *c)
{
    terminal t = terminal_of(stdout);
    const mr_dataset_info *i = &src->info;
    char place[PATH_MAX + 64];
    source_index_place(src, s, place, sizeof place);
    fputs(style_of(&t, STYLE_BOLD), stdout);
    put_escaped(stdout, src->name);
    printf("%s: %s sample%s, %s, in %s file%s (%s)\n", style_of(&t, STYLE_NONE), count_text(i->samples).text,
           plural(i->samples), bytes_text(i->nbytes).text, count_text(i->files).text, plural(i->files),
           mr_layout_name(i->layout));
    put_labels(src, c);
    put_sizes(c);
    if (c->members != 0)
        printf("  members      %s beside the images\n", count_text(c->members).text);
    if (c->refused != 0)
        printf("  %srefused%s      %s bad image%s, kept out when it was packed: quarantine.jsonl lists them\n",
               style_of(&t, STYLE_YELLOW), style_of(&t, STYLE_NONE), count_text(c->refused).text, plural(c->refused));
    if (i->problems != 0 && i->layout != MR_LAYOUT_PACKED)
        printf("  %sproblems%s     %s, left out: --json lists them\n", style_of(&t, STYLE_YELLOW),
               style_of(&t, STYLE_NONE), count_text(i->problems).text);
    if (c->damaged != 0)
        printf("  %sdamaged%s      the index of %s sample%s: %s\n", style_of(&t, STYLE_RED), style_of(&t, STYLE_NONE),
               count_text(c->damaged).text, plural(c->damaged),
               i->layout == MR_LAYOUT_PACKED ? "millrace verify says more" : "--rebuild makes it anew");
    printf("  shards       %s\n  fingerprint  %016" PRIx64 "\n  index        ", count_text(i->shards).text,
           i->fingerprint);
    put_escaped(stdout, place);
    puts(i->indexed_now && strcmp(s->index_place, "none") != 0 ? " (made just now)" : "");
    put_forms(&t, src);
    put_histogram(&t, src, c);
}

static void put_json_side(json *j, const char *key, const uint64_t *sides, uint64_t count)
{
    static const char *const names[QUANTILES] = {"min", "p5", "p50", "p95", "max"};
    json_open(j, key, '{');
    for (size_t i = 0; i < QUANTILES; i++)
        json_number(j, names[i], quantile(sides, count, quantiles[i]));
    json_close(j, '}');
}

static void put_json_forms(json *j, const source *src)
{
    mr_dataset_form form = {.struct_size = sizeof form};
    json_open(j, "forms", '[');
    for (uint32_t i = 0; mr_dataset_get_form(src->dataset, i, &form) == 0; i++) {
        json_line(j);
        json_open(j, NULL, '{');
        json_name(j, form.name);
        json_text(j, "form", form.form == MR_FORM_NONE ? "any" : mr_form_name(form.form));
        json_number(j, "max_side", form.max_side);
        json_number(j, "short_side", form.short_side);
        json_number(j, "samples", form.samples);
        json_number(j, "nbytes", form.nbytes);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_json_classes(json *j, const source *src, const counts *c)
{
    json_open(j, "classes", '[');
    for (uint64_t i = 0; i < c->class_count; i++) {
        if (c->classes[i] == 0 && i >= src->info.classes)
            continue;
        json_line(j);
        json_open(j, NULL, '{');
        json_number(j, "number", i);
        if (i < src->info.classes)
            json_name(j, mr_dataset_class(src->dataset, i));
        json_number(j, "samples", c->classes[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_json_buckets(json *j, const counts *c)
{
    json_open(j, "histogram", '[');
    for (unsigned i = 0; i < BUCKETS; i++)
        if (c->buckets[i] != 0) {
            json_open(j, NULL, '{');
            json_number(j, "from_nbytes", i > 0 ? UINT64_C(1) << i : 0);
            json_number(j, "records", c->buckets[i]);
            json_close(j, '}');
        }
    json_close(j, ']');
}

static void put_json(const settings *s, const source *src, const counts *c)
{
    json j = {.stream = stdout};
    const mr_dataset_info *i = &src->info;
    char place[PATH_MAX + 64];
    source_index_place(src, s, place, sizeof place);
    json_open(&j, NULL, '{');
    json_name(&j, src->name);
    json_text(&j, "layout", mr_layout_name(i->layout));
    json_number(&j, "samples", i->samples);
    json_number(&j, "refused", c->refused);
    json_number(&j, "damaged", c->damaged);
    json_number(&j, "shards", i->shards);
    json_number(&j, "files", i->files);
    json_number(&j, "nbytes", i->nbytes);
    json_hash(&j, "fingerprint", i->fingerprint);
    json_text(&j, "index", place);
    json_bool(&j, "indexed_now", i->indexed_now);
    json_number(&j, "members", c->members);
    json_number(&j, "unlabelled", c->unlabelled);
    json_number(&j, "other_labels", c->other_labels);
    put_json_forms(&j, src);
    if (c->shaped != 0) {
        put_json_side(&j, "width", c->widths, c->shaped);
        put_json_side(&j, "height", c->heights, c->shaped);
    }
    put_json_buckets(&j, c);
    put_json_classes(&j, src, c);
    source_put_problems(&j, src);
    json_close(&j, '}');
    putchar('\n');
}

static int tell(const settings *s, const source *src)
{
    counts c;
    uint32_t form = 0;
    int result = EXIT_BAD_INPUT;
    if (s->form != NULL && !source_form(src, s, &form))
        return EXIT_BAD_INPUT;
    if (counts_init(&c, src, form)) {
        count_all(&c, src);
        if (s->json)
            put_json(s, src, &c);
        else
            put(s, src, &c);
        result = c.damaged == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
    } else {
        failed(s, MR_ENOMEM, NULL, "%s", mr_error_text(MR_ENOMEM));
    }
    counts_fini(&c);
    return result;
}

int summary_run(const settings *s, char **paths, size_t count)
{
    source src;
    progress p;
    progress_init(&p, s->progress);
    progress_hold(&p);
    int result = source_open(&src, s, &p, paths, count);
    progress_fini(&p);
    if (result != EXIT_GOOD)
        return result;
    result = tell(s, &src);
    source_close(&src);
    return result;
}
