// SPDX-License-Identifier: Apache-2.0
/*
 * A budget in bytes becomes a share: samples spread evenly over the dataset are made into all forms, and their mean
 * lengths say how many of all fit. Every run and part takes the same samples, so that all have the same plan. The share
 * is an estimate; that the budget holds is seen to by quotas, which the shards of all forms but the first keep to. What
 * the first takes is known where it keeps images as they came; else it is an estimate, too.
 */
#include "dataset/pack.h"

enum { TRIALS = 128, MARGIN_PERCENT = 2 };

typedef struct trial {
    mr__pack_worker worker;
    mr__pack_slot slot;
    double nbytes[MR__FORM_MAX]; /* summed, with what a tar takes around each */
    double rows;                 /* of row indexes of the first form */
    uint64_t tried, good;
} trial;

static double stored_nbytes(const mr__pack_plan_form *form, const mr__packed_form *f)
{
    double around = form->is.alignment == 4096 ? 4096 + 1024 : 512 + 256;
    return f->record.state == MR_RECORD_PRESENT ? (double)f->nbytes + (double)f->row_index_nbytes + around : 0;
}

/* Of a member of a tar: header, payload, and a pax header where the name is long. */
static uint64_t member_nbytes(uint64_t name_nbytes, uint64_t nbytes)
{
    return (name_nbytes > 95 ? 2048 + name_nbytes : 512) + (nbytes + 511) / 512 * 512;
}

/* What samples take beside their images, in all: this is known, and not an estimate. */
typedef struct beside {
    double labels;  /* .cls, in each form */
    double members; /* in one form */
    double indexes; /* of each form, whether it has the sample or not */
    double images;  /* as they came */
} beside;

static int add_beside(mr_dataset *source, uint64_t ordinal, beside *b)
{
    mr_sample sample = {.struct_size = sizeof sample};
    uint32_t form;
    int result = mr_dataset_sample(source, ordinal, &sample);
    if (result != 0)
        return result;
    uint64_t name = sample.key_nbytes + 16, label = mr__pack_label_nbytes(&sample.label);
    b->images += (double)member_nbytes(name, mr__source_nbytes(source, ordinal, &form));
    b->labels += label != 0 ? (double)member_nbytes(name, label) : 0;
    bool numbers = sample.label.kind == MR_LABEL_INTS || sample.label.kind == MR_LABEL_FLOATS;
    b->indexes += (double)(name + 80 + sample.label.count * (numbers ? 8 : 1));
    for (uint32_t i = 0; i < sample.members; i++) {
        mr_member member = {.struct_size = sizeof member};
        result = mr_dataset_member(source, ordinal, i, &member);
        if (result != 0)
            return result;
        b->members += (double)member_nbytes(name + 32, member.nbytes) + 64;
    }
    return 0;
}

/* What the form takes that is for all: known where it keeps images as they came, else by the trials. */
static double first_nbytes(const mr__pack_plan *plan, const trial *t, const beside *b)
{
    const mr__pack_plan_form *f = &plan->forms[0];
    bool kept = f->is.of.max_side == 0 && f->is.of.short_side == 0 && f->is.of.form != MR_FORM_L3 &&
                f->is.of.form != MR_FORM_RAW;
    double each = (double)plan->samples / (double)t->tried;
    double images = kept ? b->images + t->rows * each + (f->is.alignment == 4096 ? 4608.0 * (double)plan->samples : 0)
                         : t->nbytes[0] * each;
    return images + b->labels + b->members;
}

static int try_sample(mr__pack_job *job, trial *t, uint64_t ordinal)
{
    mr__pack_slot *slot = &t->slot;
    mr_reader *reader = t->worker.reader;
    uint32_t form;
    mr__source_nbytes(job->source, ordinal, &form);
    slot->ordinal = ordinal;
    slot->reading = false;
    slot->code = mr_reader_record(reader, ordinal, form, &slot->bytes, &slot->nbytes);
    int result = mr__pack_sample(&t->worker, slot);
    t->tried++;
    if (result != 0 || slot->code != 0)
        return result;
    t->good++;
    for (uint32_t i = 0; i < job->plan.form_count; i++)
        t->nbytes[i] += stored_nbytes(&job->plan.forms[i], &slot->forms[i]);
    t->rows += (double)slot->forms[0].row_index_nbytes;
    return 0;
}

/* What is left behind the first form is for the others: the same share of each, as far as they were asked for. */
static int divide(mr__pack_job *job, const trial *t, const beside *b)
{
    mr__pack_plan *plan = &job->plan;
    double budget = (double)plan->options.budget_nbytes, each = (double)plan->samples / (double)t->tried, others = 0;
    double shard = (double)plan->shard_count * (1024 + 1024 + 200) + b->indexes; /* of each form, empty */
    double first = first_nbytes(plan, t, b) + shard * plan->form_count + 4096;
    if (first > budget)
        return mr__fail(
            &job->packer->detail, MR_ELIMIT,
            "the form %s, and the indexes of the others, take about %.0f bytes, more than the budget of %.0f",
            plan->forms[0].is.of.name, first, budget);
    for (uint32_t i = 1; i < plan->form_count; i++)
        others += (t->nbytes[i] * each + b->labels) * ((double)plan->forms[i].share / (double)MR__SHARE_ALL);
    double fits = others > 0 ? (budget - first) * (100 - MARGIN_PERCENT) / 100 / others : 1;
    for (uint32_t i = 1; i < plan->form_count; i++) {
        mr__pack_plan_form *f = &plan->forms[i];
        double part = (t->nbytes[i] * each + b->labels) * ((double)f->share / (double)MR__SHARE_ALL) / others;
        if (fits < 1)
            f->share = (uint64_t)((double)f->share * fits);
        f->quota_nbytes = 1 + (uint64_t)(others > 0 ? (budget - first) * part : 0);
    }
    return 0;
}

int mr__pack_budget(mr__pack_job *job)
{
    mr__pack_plan *plan = &job->plan;
    uint64_t count = plan->samples < TRIALS ? plan->samples : TRIALS;
    trial t = {.tried = 0};
    uint64_t shares[MR__FORM_MAX];
    if (plan->form_count < 2)
        return mr__fail(&job->packer->detail, MR_EARGUMENT,
                        "a budget is for the forms behind the first, which is for all samples: name a second one");
    for (uint32_t i = 0; i < plan->form_count; i++) { /* every trial has all forms */
        shares[i] = plan->forms[i].share;
        plan->forms[i].share = MR__SHARE_ALL;
    }
    int result = mr__pack_worker_init(&t.worker, plan, job->source);
    for (uint64_t i = 0; i < count && result == 0; i++)
        result = try_sample(job, &t, i * plan->samples / count);
    mr__pack_worker_fini(&t.worker);
    mr__pack_slot_fini(&t.slot, &job->packer->hooks);
    for (uint32_t i = 0; i < plan->form_count; i++)
        plan->forms[i].share = shares[i];
    if (result != 0)
        return mr__fail(&job->packer->detail, result, "%s", mr_error_text(result));
    if (t.good == 0)
        return mr__fail(&job->packer->detail, MR_ECORRUPT, "none of %llu images tried could be packed: %s",
                        (unsigned long long)count, t.slot.detail.text);
    beside b = {0};
    for (uint64_t i = 0; i < plan->samples && result == 0; i++)
        result = add_beside(job->source, i, &b);
    return result != 0 ? mr__fail(&job->packer->detail, result, "the index of the source is damaged")
                       : divide(job, &t, &b);
}
