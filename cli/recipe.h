// SPDX-License-Identifier: Apache-2.0
/* The recipe that --recipe gives: what feed and show begin with. */
#ifndef CLI_RECIPE_H
#define CLI_RECIPE_H

#include "command.h"

#define OPTION_RECIPE                                                                                                  \
    {                                                                                                                  \
        .name = "recipe", .letter = 'r', .kind = OPTION_TEXT, .offset = offsetof(settings, recipe), .argument = "R",   \
        .help = "The steps that each sample goes through, as 'rrc(224) flip normalize(imagenet)'"                      \
    }

#define OPTION_SEED_OF_DRAWS                                                                                           \
    {                                                                                                                  \
        .name = "seed", .kind = OPTION_SEED, .offset = offsetof(settings, seed), .argument = "N",                      \
        .help = "The seed of every random number", .initial = "0"                                                      \
    }

#define OPTION_STORED_FORM                                                                                             \
    {                                                                                                                  \
        .name = "form", .letter = 'F', .kind = OPTION_TEXT, .offset = offsetof(settings, form), .argument = "NAME",    \
        .help = "Take the images from this stored form", .initial = "the first of the dataset", .described = true      \
    }

#define OPTION_NO_FUSE                                                                                                 \
    {                                                                                                                  \
        .name = "no-fuse", .kind = OPTION_FLAG, .offset = offsetof(settings, no_fuse),                                 \
        .help = "Run every step by itself: the pixels are the same, to check that they are"                            \
    }

/*
 * Reads --recipe. EXIT_GOOD, and *out is the caller's; else the exit code, after a word on what is wrong with it: the
 * text with a mark under the character, and what the library says.
 */
int recipe_read(const command *c, const settings *s, mr_recipe **out, mr_output *output);

#endif
