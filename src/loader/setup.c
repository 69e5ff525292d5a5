// SPDX-License-Identifier: Apache-2.0
#include "loader/setup.h"

#include "base/limits.h"
#include <stdio.h>
#include <string.h>

enum { READ_DEPTH = 64, READ_DEPTH_MAX = 4096 };

int mr__tell_detail(const mr__detail *detail, int code, char *text, size_t nbytes)
{
    if (text != NULL && nbytes != 0)
        snprintf(text, nbytes, "%s", code != 0 ? detail->text : "");
    return code;
}

static int find_form(mr_dataset *dataset, const char *name, size_t length, uint32_t *number, mr__detail *detail)
{
    char word[64];
    mr_dataset_form first = {.struct_size = sizeof first};
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
    if (length < sizeof word && mr_dataset_find_form(dataset, word, number) == 0)
        return 0;
    (void)mr_dataset_get_form(dataset, 0, &first);
    return mr__fail(detail, MR_EARGUMENT, "the dataset has no form \"%s\": its first one is \"%s\"", word,
                    first.name != NULL ? first.name : "");
}

/* Forms that are mixed give the same pixels: a reduced one does not. */
static int check_mixed(const mr_dataset *dataset, const mr__forms *forms, mr__detail *detail)
{
    for (uint32_t i = 0; forms->count > 1 && i < forms->count; i++) {
        mr_dataset_form form = {.struct_size = sizeof form};
        (void)mr_dataset_get_form(dataset, forms->numbers[i], &form);
        if (form.max_side != 0 || form.short_side != 0)
            return mr__fail(detail, MR_EARGUMENT,
                            "the form \"%s\" has other pixels than the images came with, and cannot be mixed",
                            form.name);
    }
    return 0;
}

/* Of a name, or of several joined by "+". */
static int choose_forms(mr_dataset *dataset, const char *names, mr__forms *forms, mr__detail *detail)
{
    *forms = (mr__forms){.count = 1};
    for (uint32_t i = 0; names != NULL; i++) {
        size_t length = strcspn(names, "+");
        if (i == MR__FORMS_MAX)
            return mr__fail(detail, MR_EARGUMENT, "more than %d forms are to be mixed", MR__FORMS_MAX);
        int result = find_form(dataset, names, length, &forms->numbers[i], detail);
        if (result != 0)
            return result;
        forms->count = i + 1;
        names = names[length] == '+' ? names + length + 1 : NULL;
    }
    return check_mixed(dataset, forms, detail);
}

uint32_t mr__forms_pick(const mr__forms *forms, const mr_dataset *dataset, uint64_t ordinal)
{
    uint32_t first = (uint32_t)(ordinal % forms->count);
    for (uint32_t i = 0; forms->count > 1 && i < forms->count; i++) {
        uint32_t number = forms->numbers[(first + i) % forms->count];
        mr_record record = {.struct_size = sizeof record};
        if (mr_dataset_record(dataset, ordinal, number, &record) == 0 && record.state == MR_RECORD_PRESENT)
            return number;
    }
    return forms->numbers[first];
}

/* Bytes of a stored image, about. */
static size_t mean_record(const mr_dataset *dataset, uint32_t form)
{
    mr_dataset_form f = {.struct_size = sizeof f};
    if (mr_dataset_get_form(dataset, form, &f) != 0 || f.samples == 0)
        return 0;
    return (size_t)(f.nbytes / f.samples);
}

/* What is asked for beside images. */
static int take_targets(mr__work *work, const mr_loader_options *o, uint32_t form, mr__detail *detail)
{
    mr_dataset_form f = {.struct_size = sizeof f};
    if ((o->targets & ~(uint32_t)(MR_TARGET_BOXES | MR_TARGET_KEYPOINTS | MR_TARGET_MASK | MR_TARGET_MASKS)) != 0)
        return mr__fail(detail, MR_EARGUMENT, "targets of %u: there are boxes (1), keypoints (2) and a mask (4)",
                        o->targets);
    if (o->mask_member != NULL && strlen(o->mask_member) >= sizeof work->mask_member)
        return mr__fail(detail, MR_EARGUMENT, "the mask's member \"%.20s...\" has a name of more than %zu bytes",
                        o->mask_member, sizeof work->mask_member - 1);
    work->asked = o->targets;
    snprintf(work->mask_member, sizeof work->mask_member, "%s", o->mask_member != NULL ? o->mask_member : "");
    work->reduced = mr_dataset_get_form(work->dataset, form, &f) == 0 && (f.max_side != 0 || f.short_side != 0);
    return 0;
}

/* What is read for it: a step that looks at boxes does so whether or not anybody else wants them, or pixels would
 * depend on it. */
static uint32_t targets_read(const mr__work *work)
{
    for (size_t i = 0; i < work->recipe->count; i++)
        if (work->recipe->steps[i].kind == MR_STEP_IOUCROP)
            return work->asked | MR_TARGET_BOXES;
    return work->asked;
}

/* Nobody has said what half a box is. */
static int check_mixing(const mr__work *work, mr__detail *detail)
{
    for (size_t i = 0; work->asked != 0 && i < work->recipe->count; i++) {
        mr_step_kind kind = work->recipe->steps[i].kind;
        if (kind == MR_STEP_MIXUP || kind == MR_STEP_CUTMIX)
            return mr__fail(detail, MR_EARGUMENT,
                            "%s mixes images and their labels, and no boxes, keypoints or masks: leave it out, or ask "
                            "for no targets",
                            kind == MR_STEP_MIXUP ? "mixup" : "cutmix");
    }
    return 0;
}

static int take_recipe(mr__work *work, const mr_recipe *recipe, mr_recipe **copy, mr__detail *detail)
{
    mr_output output = {.struct_size = sizeof output};
    int result = mr__recipe_copy(recipe, &work->hooks, copy);
    if (result != 0)
        return mr__fail(detail, result, "the recipe: %s", mr_error_text(result));
    result = mr_recipe_output(*copy, &output);
    if (result != 0)
        return mr__fail(detail, result, "the recipe: %s", mr_recipe_detail(*copy));
    work->recipe = *copy;
    work->needs = mr__recipe_needs(*copy);
    return mr__recipe_finish(*copy, &work->finish, detail);
}

int mr__work_init(mr__work *work, const mr_hooks *hooks, mr_dataset *dataset, const mr_recipe *recipe,
                  const mr_loader_options *o, mr_recipe **copy, mr__forms *forms, mr__detail *detail)
{
    *work = (mr__work){.hooks = *hooks, .dataset = dataset, .check_all = o->check_all, .reading = o->reading};
    if (dataset == NULL || recipe == NULL)
        return mr__fail(detail, MR_EARGUMENT, "a loader needs a dataset and a recipe");
    if (mr_dataset_count(dataset) == 0)
        return mr__fail(detail, MR_EARGUMENT, "the dataset has no samples, or was not opened");
    if ((unsigned)o->reading > MR_READ_AHEAD || (unsigned)o->pinning > MR_PIN_CORES ||
        (unsigned)o->bad > MR_BAD_REPLACE || (unsigned)o->keep > MR_KEEP_DEVICE)
        return mr__fail(detail, MR_EARGUMENT, "reading, pinning, bad or keep is a number that stands for nothing");
    if (mr__limits_init(&work->limits, o->limits) != 0)
        return mr__fail(detail, MR_EARGUMENT, "the limits have a struct_size that cannot be");
    work->limits.struct_size = sizeof work->limits;
    work->read_depth = o->read_depth != 0 ? o->read_depth : READ_DEPTH;
    if (work->read_depth > READ_DEPTH_MAX)
        return mr__fail(detail, MR_EARGUMENT, "a read depth of %u: at most %d", work->read_depth, READ_DEPTH_MAX);
    int result = choose_forms(dataset, o->form, forms, detail);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < forms->count; i++) {
        size_t nbytes = mean_record(dataset, forms->numbers[i]);
        work->record_nbytes = nbytes > work->record_nbytes ? nbytes : work->record_nbytes;
    }
    result = take_targets(work, o, forms->numbers[0], detail);
    if (result == 0)
        result = take_recipe(work, recipe, copy, detail);
    if (result != 0)
        return result;
    work->targets = targets_read(work);
    return check_mixing(work, detail);
}
