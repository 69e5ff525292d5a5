// SPDX-License-Identifier: Apache-2.0
/*
 * A budget in bytes becomes a share: samples spread evenly over the dataset are made into all forms, and their mean
 * lengths say how many of all fit. Every run and part takes the same samples, so that all have the same plan. The share
 * is an estimate; that the budget holds is seen to by quotas, which a form's shards keep to.
 */
#include "dataset/pack.h"

enum { TRIALS = 128, MARGIN_PERCENT = 2 };

typedef struct trial {
    mr__pack_worker worker;
    mr__pack_slot slot;
    mr__buffer bytes;
    double nbytes[MR__FORM_MAX]; /* summed, with what a tar and an index take around each */
    uint64_t tried, good;
} trial;

static double stored_nbytes(const mr__pack_plan_form *form, const mr__packed_form *f)
{
    double around = form->is.alignment == 4096 ? 4096 + 1024 : 512 + 256;
    return f->record.state == MR_RECORD_PRESENT ? (double)f->nbytes + around + 1024 + 48 + 64 : 112;
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
    return 0;
}

/* What is left behind the first form is for the others: the same share of each, as far as they were asked for. */
static int divide(mr__pack_job *job, const trial *t)
{
    mr__pack_plan *plan = &job->plan;
    double budget = (double)plan->options.budget_nbytes, each = (double)plan->samples / (double)t->tried;
    double first = t->nbytes[0] * each, others = 0;
    if (first > budget)
        return mr__fail(&job->packer->detail, MR_ELIMIT,
                        "the form %s alone takes about %.0f bytes, more than the budget of %.0f",
                        plan->forms[0].is.of.name, first, budget);
    for (uint32_t i = 1; i < plan->form_count; i++)
        others += t->nbytes[i] * each * ((double)plan->forms[i].share / (double)MR__SHARE_ALL);
    double fits = others > 0 ? (budget - first) * (100 - MARGIN_PERCENT) / 100 / others : 1;
    for (uint32_t i = 1; i < plan->form_count; i++) {
        mr__pack_plan_form *f = &plan->forms[i];
        double part = t->nbytes[i] * each * ((double)f->share / (double)MR__SHARE_ALL) / others;
        if (fits < 1)
            f->share = (uint64_t)((double)f->share * fits);
        f->quota_nbytes = (uint64_t)((budget - first) * part);
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
    return divide(job, &t);
}
