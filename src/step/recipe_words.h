// SPDX-License-Identifier: Apache-2.0
/*
 * The words of a recipe's text: which parameters each step has, and what they are called. Reading, writing and the
 * handle all go by this one table, so that what is written reads back.
 *
 * A parameter's value is a few numbers, whatever its field is: every field's type fits a double.
 */
#ifndef MR_STEP_RECIPE_WORDS_H
#define MR_STEP_RECIPE_WORDS_H

#include "base/error.h"

#include <millrace/recipe.h>

enum { MR__VALUE_NUMBERS = MR_RECIPE_LIST_MAX };

typedef enum mr__value_kind {
    MR__VALUE_SIZE,   /* 224, 320x240 */
    MR__VALUE_SIDE,   /* 256 */
    MR__VALUE_RANGE,  /* 0.08..1 */
    MR__VALUE_CHANCE, /* 0.5 */
    MR__VALUE_SIDES,  /* 4, 4/2, 1/2/3/4 */
    MR__VALUE_FILL,   /* 0, 124/116/104 */
    MR__VALUE_MEAN,   /* 0.5, 0.485/0.456/0.406 */
    MR__VALUE_STD,
    MR__VALUE_DEPTH,
    MR__VALUE_REAL,    /* 0.5, 0.1/0.2: as many as there are fields, or one for all of them */
    MR__VALUE_WHOLE,   /* 9, 5/3: likewise */
    MR__VALUE_QUALITY, /* 50, 20..80: whole numbers */
    MR__VALUE_SPREAD,  /* 0.4: so far from the middle on both sides; 0.6..1.4 */
    MR__VALUE_SHEAR,   /* 10: -10..10 along x; -5..5; -5..5/0..10: along x and y */
    MR__VALUE_LIST,    /* 480/512/544 */
    MR__VALUE_PATH,    /* "table.json" */
    MR__VALUE_PRESET,  /* from here on words */
    MR__VALUE_FILTER,
    MR__VALUE_BORDER,
    MR__VALUE_CHANNELS,
    MR__VALUE_LAYOUT,
    MR__VALUE_DTYPE,
    MR__VALUE_SAMPLING,
    MR__VALUE_SWITCH,
    MR__VALUE_POLICY
} mr__value_kind;

typedef struct mr__param {
    const char *name;
    mr__value_kind kind;
    bool plain;  /* may be given without its name; such ones come first */
    bool needed; /* has no default */
    size_t at;   /* of its first field in an mr_step */

    /* Of kinds from REAL to LIST: */
    size_t most;      /* fields, or numbers in a list */
    double low, high; /* what numbers are between, both ends included */
    double middle;    /* SPREAD: 0, or 1 of factors, which are not negative */
    bool positive;    /* 0 stands for the default, and so cannot be said */
    size_t flag;      /* of the bool that says it is given, where 0 is no default; 0: there is none */
} mr__param;

typedef struct mr__params {
    const mr__param *list;
    size_t count;
} mr__params;

/* None for a kind that has none, or that there is not. */
mr__params mr__params_of(mr_step_kind kind);

typedef struct mr__value {
    double numbers[MR__VALUE_NUMBERS];
    size_t count; /* 0: not given */
} mr__value;

/*
 * Sets the fields; fewer numbers than there are fields mean what they mean in a text, none the default. False: so many
 * make no sense here.
 */
bool mr__param_put(mr_step *step, const mr__param *param, const mr__value *value);

/*
 * That a settled step has numbers that a text could have: MR_EARGUMENT with detail, whose first word is `name`.
 */
int mr__param_check(const mr_step *step, const mr__param *param, const char *name, mr__detail *detail);

/* All the fields. A preset: its number, or none where mean and std are those of no preset. */
mr__value mr__param_get(const mr_step *step, const mr__param *param);

bool mr__value_equal(const mr__value *a, const mr__value *b);

/* The numberth word of a kind that has words, and what it stands for; NULL behind the last. */
const char *mr__word_at(mr__value_kind kind, size_t number, uint32_t *value);

/* How many letters are wrong, left out, too many or exchanged with their neighbour; case does not count. */
size_t mr__word_distance(const char *a, size_t a_nbytes, const char *b);

/* Whether that is little enough to be a slip. */
bool mr__word_is_near(size_t distance, size_t nbytes);

/* What others call a step or a parameter, in our words; NULL: nothing is known of it. Case and "_" do not count. */
const char *mr__word_elsewhere(const char *word, size_t nbytes);

#endif
