// SPDX-License-Identifier: Apache-2.0
/*
 * The recipe inside the house.
 *
 *     recipe.c          the handle
 *     recipe_parse.c    from text
 *     recipe_text.c     to text, and the hash
 *     recipe_words.c    what parameters are called: the table that all three go by
 *     recipe_near.c     which word may have been meant
 *     recipe_output.c   what comes out; which steps go together
 *     recipe_draw.c     random numbers, and with a size the chain of stages
 *     step_NAME.c       one step: its parameters, draws, and what it adds to a chain
 *     steps.c           the table of them
 *
 * A sample's random numbers are drawn before anything is known of its image: as many as each step asks for, from the
 * stream (seed, epoch, key, how many steps that draw stand before it). What they mean for an image of some size is
 * resolved later, by whoever has read the header. Both are pure functions.
 */
#ifndef MR_STEP_RECIPE_H
#define MR_STEP_RECIPE_H

#include "base/error.h"
#include "base/memory.h"
#include "step/chain.h"
#include "step/policy_table.h"

/* How an image is to be decoded. */
typedef struct mr__decode_needs {
    uint32_t channels, depth;
    bool orient;
} mr__decode_needs;

/* What is done to the numbers at the end. */
typedef struct mr__finish {
    mr_output output;
    uint32_t depth; /* of the samples before */
    bool normalize;
    float mean[4], std[4];
} mr__finish;

struct mr_recipe {
    mr_hooks hooks;
    mr__detail detail;
    mr_step steps[MR_RECIPE_STEPS_MAX];            /* defaults filled in */
    mr_user_step users[MR_RECIPE_STEPS_MAX];       /* of the step of that number; names are copies */
    mr__policy_table *tables[MR_RECIPE_STEPS_MAX]; /* of the step of that number, whose path is the table's */
    size_t count;
    bool apart; /* nothing is fused */
    size_t error_at;
    mr__buffer text; /* made with every change, so that to ask for it changes nothing */
};

/* Fills in the defaults of a step and checks it, whatever its kind; fields that its kind does not have become zero. */
int mr__step_settle(mr_step *step, mr__detail *detail);

/* Reads the table of a file for the step of this number; *path becomes the table's. MR_EARGUMENT, MR_EIO, MR_ELIMIT and
 * MR_ENOMEM with detail. */
int mr__recipe_take_table(mr_recipe *recipe, size_t number, const char **path, size_t nbytes, mr__detail *detail);

/* Makes the text of what is there. MR_ENOMEM: it stays as it was. */
int mr__recipe_write(mr_recipe *recipe);

/* A deep copy. */
int mr__recipe_copy(const mr_recipe *recipe, const mr_hooks *hooks, mr_recipe **out);

/* How many u32 a sample's draws are: the sum over its steps. */
size_t mr__recipe_draw_count(const mr_recipe *recipe);

/* Draws them. */
void mr__recipe_draw(const mr_recipe *recipe, uint64_t seed, uint32_t epoch, uint64_t key, uint32_t *draws);

/*
 * What is to be done to an image of this size (as it is to be shown, where the recipe orients); `follow`, if not NULL,
 * is told where pixels go. MR_EARGUMENT, MR_ELIMIT with detail: an image that is too small for a crop, too large.
 */
int mr__recipe_resolve(const mr_recipe *recipe, const uint32_t *draws, uint32_t width, uint32_t height,
                       mr__follow *follow, mr__chain *chain, mr__detail *detail);

mr__decode_needs mr__recipe_needs(const mr_recipe *recipe);

/* After mr_recipe_output has said 0. */
int mr__recipe_finish(const mr_recipe *recipe, mr__finish *finish, mr__detail *detail);

#endif
