// SPDX-License-Identifier: Apache-2.0
/* A recipe on images that are in memory already. */
#include "step/augment.h"

struct mr_applier {
    mr_hooks hooks;
    mr__detail detail;
    mr_recipe *recipe;
    mr__decode_needs needs;
    mr__finish finish;
    mr__augment *augment;
    uint32_t *draws;
    mr__chain chain;
};

void mr_applier_free(mr_applier *a)
{
    if (a == NULL)
        return;
    mr_hooks hooks = a->hooks;
    mr__augment_free(a->augment);
    mr_recipe_free(a->recipe);
    mr__free(&hooks, a->draws);
    mr__free(&hooks, a);
}

static int build(mr_applier *a, const mr_recipe *recipe, mr__detail *detail)
{
    int result = mr__recipe_finish(recipe, &a->finish, detail);
    if (result == 0)
        result = mr__recipe_copy(recipe, &a->hooks, &a->recipe);
    if (result != 0)
        return result;
    a->needs = mr__recipe_needs(recipe);
    a->draws = mr__alloc_array(&a->hooks, mr__recipe_draw_count(recipe) + 1, sizeof *a->draws);
    if (a->draws == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for the random numbers of a sample");
    return mr__augment_new(&a->hooks, mr__cpu_detect(), &a->finish, &a->augment);
}

int mr_applier_new(mr_recipe *recipe, const mr_hooks *hooks, mr_applier **out)
{
    mr_hooks h;
    if (recipe == NULL || out == NULL || mr__hooks_init(&h, hooks) != 0)
        return MR_EARGUMENT;
    mr__detail_clear(&recipe->detail);
    mr_applier *a = mr__alloc_zero(&h, sizeof *a);
    if (a == NULL)
        return mr__fail(&recipe->detail, MR_ENOMEM, "out of memory");
    a->hooks = h;
    int result = build(a, recipe, &recipe->detail);
    if (result == MR_ENOMEM && recipe->detail.text[0] == '\0')
        mr__fail(&recipe->detail, MR_ENOMEM, "out of memory for what runs a recipe");
    if (result == 0)
        *out = a;
    else
        mr_applier_free(a);
    return result;
}

static int check_image(mr_applier *a, const mr_image *image)
{
    if (image == NULL || !mr_image_is_valid(image))
        return mr__fail(&a->detail, MR_EARGUMENT, "there is no image, or its sides, stride or pixels make no sense");
    if (image->channels == a->needs.channels && image->depth == a->needs.depth)
        return 0;
    return mr__fail(&a->detail, MR_EARGUMENT, "an image of %u channels, %u bits each, where the recipe has %u of %u",
                    image->channels, image->depth, a->needs.channels, a->needs.depth);
}

int mr_applier_run(mr_applier *a, const mr_image *image, uint64_t seed, uint32_t epoch, uint64_t key, void *to)
{
    mr_image part;
    if (a == NULL || to == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&a->detail);
    int result = check_image(a, image);
    if (result != 0)
        return result;
    mr__recipe_draw(a->recipe, seed, epoch, key, a->draws);
    result = mr__recipe_resolve(a->recipe, a->draws, image->width, image->height, NULL, &a->chain, &a->detail);
    if (result == 0 && mr_image_crop(image, mr__pass_region(&a->chain.pass[0]), &part) != 0)
        result = mr__fail(&a->detail, MR_EINTERNAL, "a recipe looks for more than the image has");
    return result != 0 ? result : mr__augment_run(a->augment, &a->chain, &part, to, &a->detail);
}

const char *mr_applier_detail(const mr_applier *a)
{
    return a != NULL ? a->detail.text : "";
}
