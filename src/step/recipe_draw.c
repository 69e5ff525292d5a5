// SPDX-License-Identifier: Apache-2.0
/*
 * A step that draws has a stream of its own, numbered by how many that draw stand before it: steps that draw nothing
 * come and go without changing what the others do.
 */
#include "base/rng.h"
#include "step/recipe.h"
#include "step/step.h"

static uint32_t draws_of(const mr_step *step)
{
    const mr__step_type *type = mr__step_type_of(step->kind);
    return mr__step_draw_count(step) + (type != NULL && type->sometimes);
}

static int resolve_step(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    const mr__step_type *type = mr__step_type_of(step->kind);
    if (type == NULL || type->resolve == NULL)
        return 0;
    if (type->sometimes && !mr__step_happens(step, draws[draws_of(step) - 1]))
        return 0;
    return type->resolve(step, draws, chain, detail);
}

size_t mr__recipe_draw_count(const mr_recipe *recipe)
{
    size_t n = 0;
    for (size_t i = 0; i < recipe->count; i++)
        n += draws_of(&recipe->steps[i]);
    return n;
}

void mr__recipe_draw(const mr_recipe *recipe, uint64_t seed, uint32_t epoch, uint64_t key, uint32_t *draws)
{
    uint32_t stream = 0;
    for (size_t i = 0; i < recipe->count; i++) {
        uint32_t n = draws_of(&recipe->steps[i]);
        mr__rng rng;
        if (n == 0)
            continue;
        mr__rng_init(&rng, seed, epoch, key, stream++);
        while (n-- > 0)
            *draws++ = mr__rng_u32(&rng);
    }
}

int mr__recipe_resolve(const mr_recipe *recipe, const uint32_t *draws, uint32_t width, uint32_t height,
                       mr__follow *follow, mr__chain *chain, mr__detail *detail)
{
    if (width == 0 || height == 0)
        return mr__fail(detail, MR_EARGUMENT, "an image of %u x %u has no pixels", width, height);
    mr__chain_init(chain, width, height, recipe->apart, follow);
    for (size_t i = 0; i < recipe->count; i++) {
        const mr_step *step = &recipe->steps[i];
        chain->step = (uint32_t)i;
        chain->finished = chain->finished || step->kind == MR_STEP_NORMALIZE;
        int result = resolve_step(step, draws, chain, detail);
        if (result != 0)
            return result;
        draws += draws_of(step);
    }
    mr__chain_narrow(chain);
    return 0;
}
