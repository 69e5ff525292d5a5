// SPDX-License-Identifier: Apache-2.0
/* user(NAME): a function of the program's. */
#include "step/step.h"

#include <math.h>

enum { DRAWS_MAX = 64, NAME_MAX_NBYTES = 64 };

static bool is_word(const char *name)
{
    size_t n = 0;
    for (; name != NULL && name[n] != 0; n++) {
        char c = name[n], letter = (char)(c | 0x20);
        bool good = (letter >= 'a' && letter <= 'z') || (n > 0 && ((c >= '0' && c <= '9') || c == '-')) || c == '_';
        if (!good || n == NAME_MAX_NBYTES)
            return false;
    }
    return n > 0;
}

static int settle(mr_step *step, mr__detail *detail)
{
    const mr_user_step *user = step->user;
    if (user == NULL || user->run == NULL)
        return mr__fail(detail, MR_EARGUMENT, "user: there is no function to run (mr_step.user, its run)");
    if (!is_word(user->name))
        return mr__fail(detail, MR_EARGUMENT,
                        "user: a step's name is a word of letters, digits, _ and -, at most %d of them, a letter first",
                        NAME_MAX_NBYTES);
    if (user->width > MR_RECIPE_SIDE_MAX || user->height > MR_RECIPE_SIDE_MAX)
        return mr__fail(detail, MR_EARGUMENT, "user(%s) gives %u x %u: sides are at most %d", user->name, user->width,
                        user->height, MR_RECIPE_SIDE_MAX);
    if (user->draws > DRAWS_MAX)
        return mr__fail(detail, MR_EARGUMENT, "user(%s) wants %u random numbers: at most %d", user->name, user->draws,
                        DRAWS_MAX);
    if (!(user->cost_ns >= 0.0 && isfinite(user->cost_ns)))
        return mr__fail(detail, MR_EARGUMENT, "user(%s) has a cost of %g ns: 0, not known, or more", user->name,
                        user->cost_ns);
    return 0;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    (void)detail;
    if (step->user->width != 0)
        shape->width = step->user->width;
    if (step->user->height != 0)
        shape->height = step->user->height;
    return 0;
}

static uint32_t draw_count(const mr_step *step)
{
    return step->user->draws;
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    mr__op op = {.kind = MR__OP_USER, .u.user = {step->user, draws}};
    op.to_width = step->user->width != 0 ? step->user->width : width;
    op.to_height = step->user->height != 0 ? step->user->height : height;
    return mr__chain_op(chain, op, detail);
}

const mr__step_type mr__step_user = {
    .kind = MR_STEP_USER,
    .name = "user",
    .settle = settle,
    .shape = shape_of,
    .draw_count = draw_count,
    .resolve = resolve,
};
