// SPDX-License-Identifier: Apache-2.0
/* Single samples, as a loader makes them. */
#include "device/prepare.h"
#include "loader/order.h"
#include "loader/setup.h"

struct mr_preparer {
    mr_hooks hooks;
    mr_recipe *recipe;
    mr__work work;
    mr__hands hands;
    mr__errand errand;
    mr__task task;
    mr__forms forms;
    uint64_t seed;
    uint32_t *draws;
    mr__task_targets targets;
    uint8_t *mask;
};

void mr_preparer_free(mr_preparer *p)
{
    if (p == NULL)
        return;
    mr_hooks hooks = p->hooks;
    mr__hands_fini(&p->hands);
    if (p->work.dataset != NULL)
        mr__errand_fini(&p->errand, &p->work);
    mr_recipe_free(p->recipe);
    mr__task_targets_fini(&p->targets, &hooks);
    mr__free(&hooks, p->mask);
    mr__free(&hooks, p->draws);
    mr__free(&hooks, p);
}

static int build_targets(mr_preparer *p, mr__detail *detail)
{
    const mr_output *o = &p->work.finish.output;
    if (p->work.targets == 0)
        return 0;
    if ((p->work.asked & MR_TARGET_MASK) != 0) {
        p->mask = mr__alloc_array(&p->hooks, o->width, o->height);
        if (p->mask == NULL)
            return mr__fail(detail, MR_ENOMEM, "out of memory for a mask");
    }
    p->task.targets = &p->targets;
    return mr__task_targets_init(&p->targets, &p->hooks, p->mask);
}

static int build(mr_preparer *p, mr_dataset *dataset, const mr_recipe *recipe, const mr_loader_options *o,
                 mr__detail *detail)
{
    int result = mr__work_init(&p->work, &p->hooks, dataset, recipe, o, &p->recipe, &p->forms, detail);
    if (result != 0)
        return result;
    p->seed = o->seed;
    p->draws = mr__alloc_array(&p->hooks, mr__recipe_draw_count(p->recipe) + 1, sizeof *p->draws);
    if (p->draws == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a preparer");
    result = build_targets(p, detail);
    return result == 0 ? mr__hands_init(&p->hands, &p->work, detail) : result;
}

int mr_preparer_new(mr_dataset *dataset, const mr_recipe *recipe, const mr_loader_options *options, mr_preparer **out,
                    char *detail, size_t detail_nbytes)
{
    mr_loader_options o;
    mr_hooks hooks;
    mr__detail why = {0};
    if (out == NULL || !mr__struct_copy(&o, sizeof o, options) || mr__hooks_init(&hooks, o.hooks) != 0)
        return mr__tell_detail(&why, mr__fail(&why, MR_EARGUMENT, "the preparer's options or hooks make no sense"),
                               detail, detail_nbytes);
    mr_preparer *p = mr__alloc_zero(&hooks, sizeof *p);
    if (p == NULL)
        return mr__tell_detail(&why, mr__fail(&why, MR_ENOMEM, "out of memory"), detail, detail_nbytes);
    p->hooks = hooks;
    int result = build(p, dataset, recipe, &o, &why);
    if (result != 0)
        mr_preparer_free(p);
    else
        *out = p;
    return mr__tell_detail(&why, result, detail, detail_nbytes);
}

int mr_preparer_run(mr_preparer *p, uint64_t ordinal, uint64_t epoch, uint32_t repeat, void *to)
{
    if (p == NULL || to == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&p->task.detail);
    uint64_t samples = mr_dataset_count(p->work.dataset);
    if (epoch > UINT32_MAX || ordinal >= samples)
        return mr__fail(&p->task.detail, MR_EARGUMENT, "sample %llu of epoch %llu: there are %llu samples, 2^32 epochs",
                        (unsigned long long)ordinal, (unsigned long long)epoch, (unsigned long long)samples);
    if (p->task.targets != NULL)
        mr__task_targets_clear(p->task.targets, &p->work.finish.output);
    mr__recipe_draw(p->recipe, p->seed, (uint32_t)epoch, mr__order_key(samples, ordinal, repeat), p->draws);
    p->task.ordinal = ordinal;
    p->task.form = mr__forms_pick(&p->forms, p->work.dataset, ordinal);
    p->task.draws = p->draws;
    p->task.slot = to;
    return mr__prepare(&p->hands, &p->errand, &p->task);
}

int mr_preparer_get_targets(const mr_preparer *p, mr_targets *targets)
{
    if (p == NULL || targets == NULL || p->work.asked == 0)
        return MR_EARGUMENT;
    mr_targets ours = mr__task_targets_view(&p->targets, p->work.asked, &p->work.finish.output);
    return mr__struct_give(targets, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

const char *mr_preparer_detail(const mr_preparer *p)
{
    return p != NULL ? p->task.detail.text : "";
}
