// SPDX-License-Identifier: Apache-2.0
#include "packing.h"
#include "json.h"
#include "quantity.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double packing_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The dataset as it now is; NULL for a part, which is none yet. */
static mr_dataset *open_packed(const settings *s)
{
    mr_dataset_options options = {.struct_size = sizeof options, .layout = MR_LAYOUT_PACKED};
    mr_dataset *dataset = NULL;
    if (s->part[1] > 1 || mr_dataset_new(&options, &dataset) != 0)
        return NULL;
    if (mr_dataset_open(dataset, (const char *const[]){s->out}, 1) == 0)
        return dataset;
    mr_dataset_free(dataset);
    return NULL;
}

static void put_forms(const mr_dataset *dataset)
{
    terminal t = terminal_of(stdout);
    mr_dataset_form form = {.struct_size = sizeof form};
    int width = 4;
    for (uint32_t i = 0; mr_dataset_get_form(dataset, i, &form) == 0; i++)
        width = (int)strlen(form.name) > width ? (int)strlen(form.name) : width;
    printf("\n  %s%-*s  %13s  %10s  %10s%s\n", style_of(&t, STYLE_BOLD), width, "form", "samples", "bytes", "mean",
           style_of(&t, STYLE_NONE));
    for (uint32_t i = 0; mr_dataset_get_form(dataset, i, &form) == 0; i++)
        printf("  %-*s  %13s  %10s  %10s\n", width, form.name, count_text(form.samples).text,
               bytes_text(form.nbytes).text, bytes_text(form.samples != 0 ? form.nbytes / form.samples : 0).text);
}

/* What is not as a person might take it for granted. */
static void put_notes(const settings *s, const mr_pack_report *r)
{
    terminal t = terminal_of(stdout);
    if (r->refused != 0) {
        printf("  %s%s bad image%s kept out%s, listed in ", style_of(&t, STYLE_YELLOW), count_text(r->refused).text,
               plural(r->refused), style_of(&t, STYLE_NONE));
        put_escaped(stdout, s->out);
        puts("/quarantine.jsonl");
    }
    if (r->absent != 0)
        printf("  %s record%s left out: the image came in another form than theirs, or is beyond a share or the "
               "budget\n",
               count_text(r->absent).text, plural(r->absent));
    if (r->pixel_mode != 0)
        printf("  %s JPEG%s of a rare kind: l3 has the pixels, and not the JPEG\n", count_text(r->pixel_mode).text,
               plural(r->pixel_mode));
    if (s->part[1] > 1)
        printf("  this is part %" PRIu32 " of %" PRIu32 " (from 0): millrace merge joins them\n", s->part[0],
               s->part[1]);
}

static void put(const settings *s, const char *verb, const mr_pack_report *r, double seconds)
{
    terminal t = terminal_of(stdout);
    mr_dataset *dataset = open_packed(s);
    if (r->was_complete) {
        put_escaped(stdout, s->out);
        printf(" is complete already: %s sample%s in %s shard%s, %s\n", count_text(r->samples).text, plural(r->samples),
               count_text(r->shards).text, plural(r->shards), bytes_text(r->out_nbytes).text);
    } else {
        printf("%s%s %s sample%s%s into ", style_of(&t, STYLE_BOLD), verb, count_text(r->samples).text,
               plural(r->samples), style_of(&t, STYLE_NONE));
        put_escaped(stdout, s->out);
        printf(": %s shard%s, %s in, %s out, %.2f s", count_text(r->shards).text, plural(r->shards),
               bytes_text(r->in_nbytes).text, bytes_text(r->out_nbytes).text, seconds);
        if (r->in_nbytes != 0 && seconds > 0)
            printf(" (%s/s in)", bytes_text((uint64_t)((double)r->in_nbytes / seconds)).text);
        putchar('\n');
    }
    if (r->shards_found != 0 && !r->was_complete)
        printf("  went on: %s shard%s had been finished by an earlier run\n", count_text(r->shards_found).text,
               plural(r->shards_found));
    put_notes(s, r);
    if (dataset != NULL)
        put_forms(dataset);
    mr_dataset_free(dataset);
}

static void put_json_forms(json *j, const mr_dataset *dataset)
{
    mr_dataset_form form = {.struct_size = sizeof form};
    json_open(j, "forms", '[');
    for (uint32_t i = 0; mr_dataset_get_form(dataset, i, &form) == 0; i++) {
        json_line(j);
        json_open(j, NULL, '{');
        json_name(j, form.name);
        json_number(j, "samples", form.samples);
        json_number(j, "nbytes", form.nbytes);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_json(const settings *s, const mr_pack_report *r, double seconds)
{
    json j = {.stream = stdout};
    mr_dataset *dataset = open_packed(s);
    json_open(&j, NULL, '{');
    json_name(&j, s->out);
    json_number(&j, "samples", r->samples);
    json_number(&j, "refused", r->refused);
    json_number(&j, "absent", r->absent);
    json_number(&j, "pixel_mode", r->pixel_mode);
    json_number(&j, "shards", r->shards);
    json_number(&j, "shards_found", r->shards_found);
    json_bool(&j, "was_complete", r->was_complete);
    json_number(&j, "in_nbytes", r->in_nbytes);
    json_number(&j, "out_nbytes", r->out_nbytes);
    json_real(&j, "seconds", seconds);
    if (s->part[1] > 1) {
        json_number(&j, "part", s->part[0]);
        json_number(&j, "parts", s->part[1]);
    }
    if (dataset != NULL)
        put_json_forms(&j, dataset);
    json_close(&j, '}');
    putchar('\n');
    mr_dataset_free(dataset);
}

void packing_put(const settings *s, const char *verb, const mr_pack_report *report, double seconds)
{
    if (s->json)
        put_json(s, report, seconds);
    else
        put(s, verb, report, seconds);
}
