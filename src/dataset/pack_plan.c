// SPDX-License-Identifier: Apache-2.0
#include "dataset/pack_plan.h"

#include "base/hash.h"
#include <stdio.h>
#include <string.h>

enum { ALIGNED_FROM = 32000, QUALITY = 95 };

#define SHARD_NBYTES (UINT64_C(256) << 20)

uint64_t mr__source_nbytes(mr_dataset *source, uint64_t ordinal, uint32_t *form)
{
    for (uint32_t f = 0; f < source->form_count; f++) {
        mr__shard *shard;
        uint64_t position;
        mr__record record;
        if (source->forms[f].max_side == 0 && source->forms[f].short_side == 0 &&
            mr__dataset_at(source, ordinal, f, &shard, &position) == 0 &&
            mr__index_record(&shard->index, position, &record) && record.state == MR_RECORD_PRESENT) {
            *form = f;
            return record.nbytes;
        }
    }
    *form = 0; /* asking for it will say what is wrong */
    return 0;
}

/* Boundaries are where the source's bytes reach the size asked for: forms play no part in it. */
static int cut(mr__pack_plan *plan, mr_dataset *source, uint64_t shard_nbytes, bool store)
{
    uint64_t nbytes = 0, begin = 0;
    uint32_t form;
    size_t count = 0;
    for (uint64_t i = 0; i < plan->samples; i++) {
        uint64_t more = mr__source_nbytes(source, i, &form);
        bool full = nbytes + more > shard_nbytes ||
                    (plan->options.shard_samples != 0 && i - begin >= plan->options.shard_samples);
        if (i == 0 || (full && i != begin)) {
            if (store)
                plan->first[count] = i;
            count++;
            begin = i;
            nbytes = 0;
        }
        nbytes += more;
        if (store) {
            plan->nbytes[count - 1] += more;
            plan->source_nbytes += more;
        }
    }
    if (store)
        plan->first[count] = plan->samples;
    plan->shard_count = count;
    return 0;
}

static int cut_all(mr__pack_plan *plan, mr_dataset *source, mr__detail *detail)
{
    uint64_t nbytes = plan->options.shard_nbytes;
    cut(plan, source, nbytes, false);
    if (plan->shard_count > MR__SHARD_MAX)
        return mr__fail(detail, MR_ELIMIT, "this would give %zu shards, more than %d: larger ones are needed",
                        plan->shard_count, MR__SHARD_MAX);
    plan->first = mr__alloc_array(plan->hooks, plan->shard_count + 1, sizeof *plan->first);
    plan->nbytes = mr__alloc_array(plan->hooks, plan->shard_count + 1, sizeof *plan->nbytes);
    if (plan->first == NULL || plan->nbytes == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for the plan of %zu shards", plan->shard_count);
    return cut(plan, source, nbytes, true);
}

/*
 * What a record of this form can be expected to take: for kept images, what they take; for others a guess from the
 * number of pixels (L3 and PNG half of the pixels' bytes, lossy forms a twelfth), where the source's bytes stand for
 * six times as many. It decides on alignment alone.
 */
static uint64_t expected_nbytes(const mr__pack_plan *plan, const mr__pack_plan_form *f)
{
    uint64_t mean = plan->samples != 0 ? plan->source_nbytes / plan->samples : 0, pixels = mean * 6;
    uint64_t side = f->is.of.max_side != 0 ? f->is.of.max_side : f->is.of.short_side;
    bool reduced = side != 0, lossy = f->is.of.form == MR_FORM_JPEG || f->is.of.form == MR_FORM_WEBP;
    if (reduced && side < 65536 && pixels > side * side * 4)
        pixels = side * side * 4;
    if (f->is.of.form == MR_FORM_RAW)
        return pixels;
    return !reduced && f->is.of.form != MR_FORM_L3 ? mean : lossy ? pixels / 12 : pixels / 2;
}

static void align(const mr__pack_plan *plan, mr__pack_plan_form *f)
{
    bool page = plan->options.alignment == MR_ALIGN_PAGE ||
                (plan->options.alignment == MR_ALIGN_AUTO && expected_nbytes(plan, f) >= ALIGNED_FROM);
    f->is.alignment = page ? 4096 : 512;
}

static int refuse_form(mr__detail *detail, const char *name, const char *what)
{
    return mr__fail(detail, MR_EARGUMENT, "the form %s: %s", name, what);
}

static int check_form(const mr__pack_plan *plan, const mr__pack_plan_form *f, const mr_pack_form *asked,
                      mr__detail *detail)
{
    bool sides = asked->max_side != 0 || asked->short_side != 0;
    const char *name = f->is.of.name;
    if (asked->max_side != 0 && asked->short_side != 0)
        return refuse_form(detail, name, "either its longer or its shorter side can be given, not both");
    if (asked->max_side > 65535 || asked->short_side > 65535)
        return refuse_form(detail, name, "a side of more than 65535 pixels");
    if (asked->form == MR_FORM_NONE && sides)
        return refuse_form(detail, name, "images that are reduced are made anew: in which form?");
    if (asked->form == MR_FORM_PNM)
        return refuse_form(detail, name, "PNM is not packed; raw is the form without compression");
    if ((unsigned)asked->form > MR_FORM_L3 || asked->share > MR__SHARE_ALL || asked->quality > 100 || asked->effort > 9)
        return refuse_form(detail, name, "what is asked for is not possible");
    if (plan->form_count == 0 && f->share != MR__SHARE_ALL)
        return refuse_form(detail, name, "the first form is for all samples");
    for (uint32_t i = 0; i < plan->form_count; i++)
        if (strcmp(plan->forms[i].is.of.name, name) == 0)
            return refuse_form(detail, name, "is asked for twice");
    return 0;
}

static int add_form(mr__pack_plan *plan, const mr_pack_form *given, mr__detail *detail)
{
    mr_pack_form asked;
    mr__pack_plan_form *f = &plan->forms[plan->form_count];
    if (!mr__struct_copy(&asked, sizeof asked, given))
        return mr__fail(detail, MR_EARGUMENT, "a form without its struct_size");
    const char *base = asked.form != MR_FORM_NONE ? mr_form_name(asked.form) : "original";
    if (asked.max_side != 0)
        snprintf(f->is.of.name, sizeof f->is.of.name, "%s-max%u", base, asked.max_side);
    else if (asked.short_side != 0)
        snprintf(f->is.of.name, sizeof f->is.of.name, "%s-short%u", base, asked.short_side);
    else
        snprintf(f->is.of.name, sizeof f->is.of.name, "%s", base);
    f->is.of.form = asked.form;
    f->is.of.max_side = asked.max_side;
    f->is.of.short_side = asked.short_side;
    f->share = asked.share != 0 ? asked.share : MR__SHARE_ALL;
    f->effort = asked.effort;
    if (asked.max_side != 0 || asked.short_side != 0) {
        snprintf(f->is.filter, sizeof f->is.filter, "%s", mr_filter_name(plan->options.filter));
        f->is.pillow = plan->options.pillow;
        f->quality = asked.quality != 0 ? asked.quality : QUALITY;
    }
    int result = check_form(plan, f, &asked, detail);
    plan->form_count += result == 0;
    return result;
}

int mr__pack_plan_init(mr__pack_plan *plan, mr_dataset *source, const mr_pack_options *options, const mr_hooks *hooks,
                       mr__detail *detail)
{
    const mr_pack_form original = {.struct_size = sizeof original};
    *plan = (mr__pack_plan){.hooks = hooks,
                            .cpu = mr__cpu_detect(),
                            .options = *options,
                            .source_layout = source->layout,
                            .source_fingerprint = source->fingerprint,
                            .samples = source->samples};
    if (plan->options.shard_nbytes == 0)
        plan->options.shard_nbytes = SHARD_NBYTES;
    if (plan->options.pillow == 0)
        plan->options.pillow = 13;
    if (options->form_count > MR__FORM_MAX)
        return mr__fail(detail, MR_EARGUMENT, "%zu forms: more than %d", options->form_count, MR__FORM_MAX);
    int result = options->form_count == 0 ? add_form(plan, &original, detail) : 0;
    for (size_t i = 0; i < options->form_count && result == 0; i++)
        result = add_form(plan, &options->forms[i], detail);
    if (result == 0)
        result = cut_all(plan, source, detail);
    for (uint32_t i = 0; i < plan->form_count && result == 0; i++)
        align(plan, &plan->forms[i]);
    return result;
}

void mr__pack_plan_fini(mr__pack_plan *plan)
{
    if (plan->hooks != NULL) {
        mr__free(plan->hooks, plan->first);
        mr__free(plan->hooks, plan->nbytes);
    }
    *plan = (mr__pack_plan){0};
}

static void put_form(mr__text *t, const mr__pack_plan_form *f)
{
    mr__text_addf(t,
                  "{\"name\": \"%s\", \"filter\": \"%s\", \"pillow\": %u, \"alignment\": %u, \"share\": %llu, "
                  "\"quality\": %u, \"effort\": %u, \"quota\": %llu}",
                  f->is.of.name, f->is.filter, f->is.pillow, f->is.alignment, (unsigned long long)f->share, f->quality,
                  f->effort, (unsigned long long)f->quota_nbytes);
}

int mr__pack_plan_text(mr__pack_plan *plan, mr__text *t)
{
    const char *text;
    size_t nbytes;
    mr__text_addf(
        t,
        "{\n\"format\": \"millrace-plan\",\n\"version\": 1,\n\"source\": {\"layout\": \"%s\", \"fingerprint\": "
        "\"%016llx\"},\n\"samples\": %llu,\n\"shards\": %zu,\n\"boundaries\": \"%016llx\",\n\"row_index\": "
        "%s,\n\"check\": %s,\n\"forms\": [",
        mr_layout_name(plan->source_layout), (unsigned long long)plan->source_fingerprint,
        (unsigned long long)plan->samples, plan->shard_count,
        (unsigned long long)mr__hash(plan->first, (plan->shard_count + 1) * sizeof *plan->first),
        plan->options.no_row_index ? "false" : "true", plan->options.no_check ? "false" : "true");
    for (uint32_t i = 0; i < plan->form_count; i++) {
        mr__text_add_z(t, i != 0 ? ",\n" : "\n");
        put_form(t, &plan->forms[i]);
    }
    mr__text_add_z(t, "\n]\n}\n");
    int result = mr__text_finish(t, &text, &nbytes);
    if (result == 0)
        plan->hash = mr__hash(text, nbytes);
    return result;
}

bool mr__pack_plan_chooses(const mr__pack_plan *plan, uint32_t form, uint64_t ordinal)
{
    uint64_t place = (ordinal * UINT64_C(0x9E3779B97F4A7C15)) >> 32;
    return place * MR__SHARE_ALL < plan->forms[form].share << 32;
}

void mr__pack_plan_part(const mr__pack_plan *plan, size_t *begin, size_t *end)
{
    uint64_t parts = plan->options.parts != 0 ? plan->options.parts : 1, part = plan->options.part;
    *begin = (size_t)(plan->shard_count * part / parts);
    *end = (size_t)(plan->shard_count * (part + 1) / parts);
}
