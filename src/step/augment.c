// SPDX-License-Identifier: Apache-2.0
/*
 * Passes before the last, and those with a user's step, go to canvases in memory: two, by turns, as what a pass reads
 * is not needed when it is done.
 */
#include "step/augment.h"

#include "base/size.h"
#include "step/fuse.h"

struct mr__augment {
    const mr_hooks *hooks;
    mr_output output;
    uint32_t depth;
    mr__finisher last, between;
    mr__fuser fuser;
    mr__buffer canvases[2], scratch;
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
    *out = a;
    return 0;
}

void mr__augment_trim(mr__augment *a)
{
    mr__fuser_fini(&a->fuser);
    mr__buffer_fini(&a->canvases[0], a->hooks);
    mr__buffer_fini(&a->canvases[1], a->hooks);
    mr__buffer_fini(&a->scratch, a->hooks);
}

void mr__augment_free(mr__augment *a)
{
    if (a == NULL)
        return;
    mr__augment_trim(a);
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

/* An image of this size in one of the two canvases. */
static int make_canvas(mr__augment *a, mr__buffer *buffer, uint32_t width, uint32_t height, mr_image *image,
                       mr__detail *detail)
{
    *image = (mr_image){width, height, a->output.channels, a->depth, 0, NULL};
    size_t row = mr_image_row_nbytes(image), nbytes;
    if (!mr__size_mul(row, height, &nbytes) || nbytes > PTRDIFF_MAX ||
        mr__buffer_reserve(buffer, a->hooks, nbytes) != 0)
        return mr__fail(detail, MR_ENOMEM, "out of memory: there was too little for %u x %u pixels between two steps",
                        width, height);
    image->stride = (ptrdiff_t)row;
    image->pixels = buffer->bytes;
    return 0;
}

/* `from` becomes what the step made of it. */
static int run_user(mr__augment *a, const mr__pass *pass, mr__buffer *buffer, mr_image *from, mr__detail *detail)
{
    const mr_user_step *user = pass->user;
    mr_image to;
    uint32_t width = user->width != 0 ? user->width : from->width;
    uint32_t height = user->height != 0 ? user->height : from->height;
    int result = make_canvas(a, buffer, width, height, &to, detail);
    if (result != 0)
        return result;
    if (user->memory_nbytes > PTRDIFF_MAX ||
        mr__buffer_reserve(&a->scratch, a->hooks, (size_t)user->memory_nbytes) != 0)
        return mr__fail(detail, MR_ENOMEM, "out of memory: user step %s asks for %llu bytes", user->name,
                        (unsigned long long)user->memory_nbytes);
    result = user->run(user->user, from, &to, pass->user_draws, a->scratch.bytes);
    if (result != 0)
        return mr__fail(detail, MR_EARGUMENT, "user step %s gave %d", user->name, result);
    *from = to;
    return 0;
}

/* A pass whose result stays in memory, with the user's step behind it. */
static int run_between(mr__augment *a, const mr__pass *pass, mr_rect region, mr_image *image, size_t *turn,
                       mr__detail *detail)
{
    mr_image canvas;
    int result = make_canvas(a, &a->canvases[*turn], pass->canvas_width, pass->canvas_height, &canvas, detail);
    if (result != 0)
        return result;
    mr__canvas to = {&a->between, canvas.pixels, canvas.width, canvas.height};
    result = mr__fuse(&a->fuser, pass, region, image, &to, detail);
    if (result != 0)
        return result;
    *image = canvas;
    *turn ^= 1;
    if (pass->user == NULL)
        return 0;
    result = run_user(a, pass, &a->canvases[*turn], image, detail);
    *turn ^= 1;
    return result;
}

/* One that does nothing but finish. */
static mr__pass plain_pass(const mr_image *image)
{
    mr__pass pass = {.width = image->width, .height = image->height};
    pass.crop = pass.window = (mr_rect){0, 0, image->width, image->height};
    pass.to_width = pass.canvas_width = image->width;
    pass.to_height = pass.canvas_height = image->height;
    return pass;
}

static int run_last(mr__augment *a, const mr__pass *pass, mr_rect region, const mr_image *image, void *slot,
                    mr__detail *detail)
{
    mr__canvas canvas = slot_canvas(a, slot);
    if (pass->canvas_width != a->output.width || pass->canvas_height != a->output.height)
        return mr__fail(detail, MR_EINTERNAL, "a recipe came to %u x %u, and not to %u x %u", pass->canvas_width,
                        pass->canvas_height, a->output.width, a->output.height);
    return mr__fuse(&a->fuser, pass, region, image, &canvas, detail);
}

/* The part of an image that a pass looks at; none where all is border. */
static int cut(const mr__pass *pass, mr_image *image, mr_rect *region, mr__detail *detail)
{
    mr_image whole = *image;
    *region = mr__pass_region(pass);
    if (pass->window.width == 0 || pass->window.height == 0 || mr_image_crop(&whole, *region, image) == 0)
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
    size_t turn = 0;
    int result = check_part(a, region, part, detail);
    for (size_t i = 0; i < chain->count && result == 0; i++) {
        const mr__pass *pass = &chain->pass[i];
        if (i != 0)
            result = cut(pass, &image, &region, detail);
        if (result == 0 && i + 1 == chain->count && pass->user == NULL)
            return run_last(a, pass, region, &image, slot, detail);
        if (result == 0)
            result = run_between(a, pass, region, &image, &turn, detail);
    }
    if (result != 0)
        return result;
    mr__pass pass = plain_pass(&image);
    return run_last(a, &pass, pass.crop, &image, slot, detail);
}
