// SPDX-License-Identifier: Apache-2.0
/*
 * Passes before the last go to canvases in memory: two, of which one is not where the image is. What a pass reads is
 * not needed when it is done.
 */
#include "step/augment.h"

#include "step/erase.h"
#include "step/fuse.h"

struct mr__augment {
    const mr_hooks *hooks;
    mr_output output;
    uint32_t depth;
    mr__finisher last, between;
    mr__fuser fuser;
    mr__op_tools *tools;
    mr__buffer canvases[2];
};

int mr__augment_new(const mr_hooks *hooks, mr__cpu_flags cpu, const mr__finish *finish, mr__augment **out)
{
    mr__augment *a = mr__alloc_zero(hooks, sizeof *a);
    if (a == NULL)
        return MR_ENOMEM;
    a->hooks = hooks;
    a->output = finish->output;
    a->depth = finish->depth;
    mr__finisher_init(&a->last, finish, cpu);
    mr__finisher_init_as_is(&a->between, finish->output.channels, finish->depth, cpu);
    mr__fuser_init(&a->fuser, hooks, cpu);
    int result = mr__op_tools_new(hooks, cpu, &a->tools);
    if (result == 0)
        *out = a;
    else
        mr__augment_free(a);
    return result;
}

void mr__augment_trim(mr__augment *a)
{
    mr__fuser_fini(&a->fuser);
    mr__buffer_fini(&a->canvases[0], a->hooks);
    mr__buffer_fini(&a->canvases[1], a->hooks);
    mr__op_tools_trim(a->tools);
}

void mr__augment_free(mr__augment *a)
{
    if (a == NULL)
        return;
    mr__augment_trim(a);
    mr__op_tools_free(a->tools);
    mr__free(a->hooks, a);
}

static mr__canvas slot_canvas(const mr__augment *a, void *slot)
{
    return (mr__canvas){&a->last, slot, a->output.width, a->output.height};
}

void mr__augment_blank(mr__augment *a, void *slot)
{
    mr__canvas canvas = slot_canvas(a, slot);
    mr__fuse_fill(&canvas, (const uint8_t[4]){0, 0, 0, 0});
}

/*
 * A pass whose result stays in memory, with its ops behind it. `borrowed`: the image is somebody else's; `last` is
 * where what the ops make is to go, if anywhere.
 */
static int run_between(mr__augment *a, const mr__chain *chain, const mr__pass *pass, mr_rect region, mr_image *image,
                       bool borrowed, const mr_image *last, mr__detail *detail)
{
    mr_image canvas;
    if (mr__pass_is_copy(pass) && pass->ops != 0 && !chain->apart)
        return mr__ops_run_between(a->tools, chain->op + pass->op, pass->ops, borrowed, last, image, detail);
    int result = mr__op_place(a->canvases, a->hooks, image, pass->canvas_width, pass->canvas_height, &canvas, detail);
    if (result != 0)
        return result;
    mr__canvas to = {&a->between, canvas.pixels, canvas.width, canvas.height};
    result = mr__fuse(&a->fuser, pass, region, image, &to, detail);
    if (result != 0)
        return result;
    *image = canvas;
    if (pass->ops == 0 || chain->apart)
        return mr__ops_run(a->tools, chain->op + pass->op, pass->ops, chain->apart, image, detail);
    return mr__ops_run_between(a->tools, chain->op + pass->op, pass->ops, false, last, image, detail);
}

/*
 * The last pass, if all that it does is to copy pixels as they are: then what the ops before it make can be made in the
 * slot itself.
 */
static bool ends_in_slot(const mr__augment *a, const mr__chain *chain, size_t number, void *slot, mr_image *image)
{
    const mr__pass *last = &chain->pass[chain->count - 1];
    bool ends = number + 2 == chain->count && chain->pass[number].ops != 0 && !chain->apart && mr__pass_is_copy(last) &&
                a->last.as_is && last->canvas_width == a->output.width && last->canvas_height == a->output.height &&
                last->from.width == a->output.width && last->from.height == a->output.height;
    *image = (mr_image){a->output.width, a->output.height, a->output.channels, a->depth, 0, slot};
    image->stride = (ptrdiff_t)mr_image_row_nbytes(image);
    return ends;
}

static void erase_finished(const mr__augment *a, const mr__chain *chain, void *slot)
{
    for (size_t i = 0; i < chain->erased_count; i++)
        mr__erase_finished(&chain->erased[i], &a->output, mr__op_cpu(a->tools), slot);
}

static int run_last(mr__augment *a, const mr__chain *chain, const mr__pass *pass, mr_rect region, const mr_image *image,
                    void *slot, mr__detail *detail)
{
    mr__canvas canvas = slot_canvas(a, slot);
    if (pass->canvas_width != a->output.width || pass->canvas_height != a->output.height)
        return mr__fail(detail, MR_EINTERNAL, "a recipe came to %u x %u, and not to %u x %u", pass->canvas_width,
                        pass->canvas_height, a->output.width, a->output.height);
    int result = mr__fuse(&a->fuser, pass, region, image, &canvas, detail);
    if (result == 0)
        erase_finished(a, chain, slot);
    return result;
}

/* The part of an image that a pass looks at, of what there is; none where all is border. */
static int cut(const mr__pass *pass, mr_image *image, mr_rect *region, mr__detail *detail)
{
    mr_image whole = *image;
    *region = mr__pass_region(pass);
    mr_rect there = {region->x - pass->from.x, region->y - pass->from.y, region->width, region->height};
    if (pass->window.width == 0 || pass->window.height == 0 || mr_image_crop(&whole, there, image) == 0)
        return 0;
    return mr__fail(detail, MR_EINTERNAL, "a pass looks for more than the %u x %u pixels that there are", whole.width,
                    whole.height);
}

static int check_part(const mr__augment *a, mr_rect region, const mr_image *part, mr__detail *detail)
{
    if (part->channels == a->output.channels && part->depth == a->depth && part->width == region.width &&
        part->height == region.height)
        return 0;
    return mr__fail(detail, MR_EINTERNAL, "augment was given %u x %u pixels of %u channels where %u x %u of %u belong",
                    part->width, part->height, part->channels, region.width, region.height, a->output.channels);
}

int mr__augment_run(mr__augment *a, const mr__chain *chain, const mr_image *part, void *slot, mr__detail *detail)
{
    mr_image image = *part;
    mr_rect region = mr__pass_region(&chain->pass[0]);
    int result = check_part(a, region, part, detail);
    for (size_t i = 0; i < chain->count && result == 0; i++) {
        const mr__pass *pass = &chain->pass[i];
        if (i != 0)
            result = cut(pass, &image, &region, detail);
        if (result == 0 && i + 1 == chain->count)
            return run_last(a, chain, pass, region, &image, slot, detail);
        if (result != 0)
            break;
        mr_image last;
        bool ends = ends_in_slot(a, chain, i, slot, &last);
        result = run_between(a, chain, pass, region, &image, i == 0, ends ? &last : NULL, detail);
        if (ends) {
            if (result == 0)
                erase_finished(a, chain, slot);
            return result;
        }
    }
    return result;
}
