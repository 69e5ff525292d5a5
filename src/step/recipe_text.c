// SPDX-License-Identifier: Apache-2.0
/*
 * The shortest text leaves out what reads back all the same: whether it does is tried, by settling the step without it.
 * So the defaults stand in the steps alone.
 */
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "step/recipe.h"
#include "step/recipe_words.h"
#include "step/step.h"

#include <stdio.h>
#include <string.h>

/* One step. The longest has a path, of which there is no more than fits. */
typedef struct line {
    char text[5120];
    size_t nbytes;
} line;

static void put(line *to, const char *text)
{
    size_t nbytes = strlen(text), left = sizeof to->text - to->nbytes;
    nbytes = nbytes < left ? nbytes : left;
    memcpy(to->text + to->nbytes, text, nbytes);
    to->nbytes += nbytes;
}

/* As a fraction of small numbers where digits go on for ever: 4/3. */
static void put_real(line *to, double value)
{
    mr__digits digits = mr__digits_f64(value);
    for (int below = 2; below <= 16 && strlen(digits.text) > 8 && value > 0 && value < 100; below++) {
        int above = (int)(value * below + 0.5);
        if ((double)above / (double)below == value)
            snprintf(digits.text, sizeof digits.text, "%d/%d", above, below);
    }
    put(to, digits.text);
}

static void put_numbers(line *to, const mr__value *value, mr__value_kind kind)
{
    bool range = kind == MR__VALUE_RANGE || kind == MR__VALUE_SPREAD || kind == MR__VALUE_QUALITY;
    for (size_t i = 0; i < value->count; i++) {
        bool ends = range || (kind == MR__VALUE_SHEAR && i != 2);
        put(to, i == 0 ? "" : kind == MR__VALUE_SIZE ? "x" : ends ? ".." : "/");
        if (kind == MR__VALUE_RANGE || kind == MR__VALUE_CHANCE)
            put_real(to, value->numbers[i]);
        else if (kind == MR__VALUE_MEAN || kind == MR__VALUE_STD)
            put(to, mr__digits_f32((float)value->numbers[i]).text);
        else
            put(to, mr__digits_f64(value->numbers[i]).text);
    }
}

static void put_word(line *to, mr__value_kind kind, double value)
{
    const char *word;
    uint32_t stands_for;
    for (size_t i = 0; (word = mr__word_at(kind, i, &stands_for)) != NULL; i++)
        if ((double)stands_for == value)
            break;
    put(to, word != NULL ? word : "none");
}

static bool same_step(const mr_step *a, const mr_step *b)
{
    mr__params params = mr__params_of(a->kind);
    for (size_t i = 0; i < params.count; i++) {
        mr__value one = mr__param_get(a, &params.list[i]), other = mr__param_get(b, &params.list[i]);
        if (!mr__value_equal(&one, &other))
            return false;
    }
    return true;
}

/* Whether the step is the same with this parameter given so. */
static bool says_it(const mr_step *step, const mr__param *param, const mr__value *value)
{
    mr__detail nobody_reads;
    mr_step tried = *step;
    return mr__param_put(&tried, param, value) && mr__step_settle(&tried, &nobody_reads) == 0 &&
           same_step(step, &tried);
}

/* So far on both sides of the middle, where that says it: in as few digits as bring both ends back. */
static mr__value shortest_spread(const mr_step *step, const mr__param *param)
{
    mr__value value = mr__param_get(step, param), none = {{0}, 0}, one = {{0}, 1};
    if (!param->needed && says_it(step, param, &none))
        return none;
    char digits[40];
    snprintf(digits, sizeof digits, "%.15g", value.numbers[1] - param->middle);
    mr__json_token token = {.kind = MR__JSON_NUMBER, .text = digits, .nbytes = strlen(digits)};
    if (mr__json_f64(token, &one.numbers[0]) && one.numbers[0] >= 0 && says_it(step, param, &one))
        return one;
    if (param->kind == MR__VALUE_SHEAR) {
        value.count = 2;
        value.count = says_it(step, param, &value) ? 2 : 4;
    }
    return value;
}

/* The fewest numbers that say it; none: it need not be said, or cannot be (a preset that it is not). */
static mr__value shortest(const mr_step *step, const mr__param *param)
{
    mr__value value = mr__param_get(step, param);
    size_t all = value.count;
    if (param->kind == MR__VALUE_PRESET) {
        value.count = all != 0 && says_it(step, param, &value);
    } else if (param->kind == MR__VALUE_SPREAD || param->kind == MR__VALUE_SHEAR) {
        return shortest_spread(step, param);
    } else
        for (value.count = param->needed; value.count < all && !says_it(step, param, &value);)
            value.count++;
    return value;
}

static bool alike(const float *numbers, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (numbers[i] != numbers[0])
            return false;
    return true;
}

/* A preset says both. Without one, both are for as many channels, of which one of them may give but one number. */
static void choose_means(const mr_step *step, mr__value *values)
{
    size_t channels = 0;
    while (channels < 4 && step->std[channels] != 0)
        channels++;
    bool mean = alike(step->mean, channels), std = alike(step->std, channels) && (!mean || channels == 4);
    values[1].count = values[0].count != 0 ? 0 : mean ? 1 : channels;
    values[2].count = values[0].count != 0 ? 0 : std ? 1 : channels;
}

static void choose_values(const mr_step *step, mr__value *values, bool full)
{
    mr__params params = mr__params_of(step->kind);
    for (size_t i = 0; i < params.count; i++) {
        const mr__param *param = &params.list[i];
        values[i] = full ? mr__param_get(step, param) : shortest(step, param);
        if (full && param->kind == MR__VALUE_PRESET)
            values[i].count = 0;
    }
    if (step->kind == MR_STEP_NORMALIZE && !full)
        choose_means(step, values);
    for (size_t i = params.count; i-- > 1;) /* one that stands without its name needs those before it */
        if (params.list[i].plain && values[i].count != 0 && values[i - 1].count == 0 &&
            params.list[i - 1].kind != MR__VALUE_SPREAD)
            values[i - 1] = mr__param_get(step, &params.list[i - 1]);
}

enum { PARAMS_MAX = 8 };

/* In full it is what is in the file that counts, and not where it is. */
static void put_path(line *to, const char *before, const mr_step *step, bool full)
{
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mr__policy_table_of(step)->hash);
    put(to, before);
    put(to, "file=\"");
    put(to, full ? hash : step->path);
    put(to, "\"");
}

static void put_params(line *to, const mr_step *step, bool full)
{
    mr__params params = mr__params_of(step->kind);
    mr__value values[PARAMS_MAX] = {{{0}, 0}};
    const char *before = "(";
    bool named = false; /* as soon as one is left out, those behind it have names */
    choose_values(step, values, full);
    for (size_t i = 0; i < params.count; i++) {
        const mr__param *param = &params.list[i];
        if (param->kind == MR__VALUE_PATH && step->path != NULL) {
            put_path(to, before, step, full);
            before = ", ";
        }
        if (values[i].count == 0) {
            named = true;
            continue;
        }
        put(to, before);
        before = ", ";
        if (!param->plain || named) {
            put(to, param->name);
            put(to, "=");
        }
        if (param->kind >= MR__VALUE_PRESET)
            put_word(to, param->kind, values[i].numbers[0]);
        else
            put_numbers(to, &values[i], param->kind);
    }
    put(to, before[0] == ',' ? ")" : "");
}

static void put_step(line *to, const mr_step *step, bool full)
{
    char version[32];
    put(to, mr__step_type_of(step->kind)->name);
    if (step->kind != MR_STEP_USER) {
        put_params(to, step, full);
        return;
    }
    snprintf(version, sizeof version, ", version=%llu", (unsigned long long)step->user->version);
    put(to, "(");
    put(to, step->user->name);
    put(to, full ? version : "");
    put(to, ")");
}

int mr__recipe_write(mr_recipe *recipe)
{
    mr__text text;
    mr__text_init(&text, &recipe->hooks);
    for (size_t i = 0; i < recipe->count; i++) {
        line step = {.nbytes = 0};
        put(&step, i != 0 ? " " : "");
        put_step(&step, &recipe->steps[i], false);
        mr__text_add(&text, step.text, step.nbytes);
    }
    int code = mr__text_finish(&text, NULL, NULL);
    if (code == 0) {
        mr__buffer old = recipe->text;
        recipe->text = text.buffer;
        text.buffer = old;
    }
    mr__text_fini(&text);
    return code;
}

uint64_t mr_recipe_hash(mr_recipe *recipe)
{
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    for (size_t i = 0; recipe != NULL && i < recipe->count; i++) {
        line step = {.nbytes = 0};
        put(&step, i != 0 ? " " : "");
        put_step(&step, &recipe->steps[i], true);
        mr__hasher_add(&hasher, step.text, step.nbytes);
    }
    return mr__hasher_value(&hasher);
}
