// SPDX-License-Identifier: Apache-2.0
/*
 * From text, as doc/recipe.md has it:
 *
 *     recipe    = [space] [step {space step}] [space]
 *     step      = word ["(" [parameter {"," parameter}] ")"]
 *     parameter = [word "="] value        those without a name first
 *
 * Invariants
 * 1. `at` is at most nbytes, and never goes back but to the beginning of the word it stands behind.
 * 2. Nothing counts before all of it is read: recipe->count changes at the end.
 */
#include "base/json.h"
#include "base/utf8.h"
#include "step/recipe.h"
#include "step/recipe_words.h"
#include "step/step.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_NBYTES_MAX = 65536, QUOTED_MAX = 24 };

typedef struct parser {
    mr_recipe *recipe;
    const char *text;
    size_t nbytes, at;
    size_t count; /* of steps, with those read so far */
} parser;

/* A word of the text. */
typedef struct word {
    const char *text;
    size_t nbytes, at;
} word;

/* Some text of the outside, to be shown. */
typedef struct quoted {
    char text[QUOTED_MAX + 8];
} quoted;

/* Persons count characters, and from 1. */
static size_t character_of(const parser *p, size_t at)
{
    size_t characters = 1;
    for (size_t i = 0; i < at; characters++) {
        size_t nbytes = mr__utf8_nbytes((const uint8_t *)p->text + i, p->nbytes - i);
        i += nbytes != 0 ? nbytes : 1;
    }
    return characters;
}

__attribute__((format(printf, 3, 4))) static int wrong(parser *p, size_t at, const char *format, ...)
{
    mr__detail what;
    va_list args;
    va_start(args, format);
    vsnprintf(what.text, sizeof what.text, format, args);
    va_end(args);
    p->recipe->error_at = at;
    return mr__fail(&p->recipe->detail, MR_EARGUMENT, "at character %zu: %s", character_of(p, at), what.text);
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The byte so far ahead; -1 behind the end. */
static int peek(const parser *p, size_t ahead)
{
    return ahead < p->nbytes - p->at ? (unsigned char)p->text[p->at + ahead] : -1;
}

static void skip_space(parser *p)
{
    while (is_space(peek(p, 0)))
        p->at++;
}

/* Printable ASCII alone, and not much of it. */
static quoted quote(const char *text, size_t nbytes)
{
    quoted q;
    size_t shown = nbytes < QUOTED_MAX ? nbytes : QUOTED_MAX, n = 0;
    q.text[n++] = '"';
    for (size_t i = 0; i < shown; i++)
        q.text[n++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    memcpy(q.text + n, nbytes > shown ? "...\"" : "\"", nbytes > shown ? 5 : 2);
    return q;
}

/* What stands there. */
static quoted quote_here(const parser *p)
{
    quoted q;
    int c = peek(p, 0);
    if (c < 0)
        snprintf(q.text, sizeof q.text, "the end");
    else if (c < ' ' || c > '~')
        snprintf(q.text, sizeof q.text, "the byte 0x%02x", (unsigned)c);
    else
        snprintf(q.text, sizeof q.text, "\"%c\"", c);
    return q;
}

static word read_word(parser *p)
{
    word w = {p->text + p->at, 0, p->at};
    while (is_letter(peek(p, 0)) || (w.nbytes != 0 && is_digit(peek(p, 0)))) {
        p->at++;
        w.nbytes++;
    }
    return w;
}

static bool word_is(word w, const char *text)
{
    return strlen(text) == w.nbytes && memcmp(w.text, text, w.nbytes) == 0;
}

/* Words that may have been meant: those of one place. The text lists them. */
typedef struct choice {
    word given;
    const char *best;
    size_t distance;
    char list[136];
    size_t nbytes;
    bool more; /* than the list has room for */
} choice;

static choice choose(word given)
{
    return (choice){.given = given, .distance = SIZE_MAX};
}

static void offer(choice *c, const char *text)
{
    const char *known = mr__word_elsewhere(c->given.text, c->given.nbytes);
    size_t distance = mr__word_distance(c->given.text, c->given.nbytes, text);
    if (known != NULL && strcmp(known, text) == 0)
        distance = 0;
    if (distance < c->distance && (distance == 0 || mr__word_is_near(distance, c->given.nbytes))) {
        c->best = text;
        c->distance = distance;
    }
    int n = snprintf(c->list + c->nbytes, sizeof c->list - c->nbytes, "%s%s", c->nbytes != 0 ? ", " : "", text);
    if (n > 0 && (size_t)n < sizeof c->list - c->nbytes && !c->more) {
        c->nbytes += (size_t)n;
    } else {
        c->list[c->nbytes] = '\0';
        c->more = true;
    }
}

/* `problem` ends where the suggestion begins. */
static int wrong_word(parser *p, const choice *c, const char *problem)
{
    if (c->best != NULL)
        return wrong(p, c->given.at, "%s: did you mean \"%s\"?", problem, c->best);
    return wrong(p, c->given.at, "%s: there %s %s%s", problem, strchr(c->list, ',') != NULL ? "are" : "is", c->list,
                 c->more ? ", ... (doc/steps.md)" : "");
}

/* A number with its digits as JSON has them, but for what follows: "1..4" begins with 1. False: there is none. */
static bool read_number(parser *p, double *value)
{
    size_t n = peek(p, 0) == '-', digits = n;
    while (is_digit(peek(p, n)))
        n++;
    if (n == digits)
        return false;
    if (peek(p, n) == '.' && is_digit(peek(p, n + 1)))
        for (n++; is_digit(peek(p, n));)
            n++;
    size_t sign = peek(p, n + 1) == '-' || peek(p, n + 1) == '+';
    if ((peek(p, n) == 'e' || peek(p, n) == 'E') && is_digit(peek(p, n + 1 + sign)))
        for (n += 1 + sign; is_digit(peek(p, n));)
            n++;
    mr__json_token token = {.kind = MR__JSON_NUMBER, .text = p->text + p->at, .nbytes = n, .at = p->at};
    if (!mr__json_f64(token, value))
        return false;
    p->at += n;
    return true;
}

/* What numbers of a kind are between; `low` itself counts. */
typedef struct bounds {
    double low, high;
    bool whole, fraction; /* 3/4 is one number */
} bounds;

static bounds bounds_of(const mr__param *param)
{
    switch (param->kind) {
    case MR__VALUE_WHOLE:
    case MR__VALUE_QUALITY:
        return (bounds){param->low, param->high, true, false};
    case MR__VALUE_REAL:
    case MR__VALUE_SPREAD:
    case MR__VALUE_SHEAR:
    case MR__VALUE_LIST:
        return (bounds){param->low, param->high, false, param->most == 1};
    case MR__VALUE_SIZE:
    case MR__VALUE_SIDE:
        return (bounds){1, MR_RECIPE_SIDE_MAX, true, false};
    case MR__VALUE_SIDES:
        return (bounds){0, MR_RECIPE_SIDE_MAX, true, false};
    case MR__VALUE_FILL:
        return (bounds){0, 255, true, false};
    case MR__VALUE_DEPTH:
        return (bounds){0, 255, true, false};
    case MR__VALUE_CHANCE:
        return (bounds){0, 1, false, true};
    case MR__VALUE_STD:
    case MR__VALUE_MEAN:
        return (bounds){-(double)FLT_MAX, (double)FLT_MAX, false, false};
    default:
        return (bounds){0, (double)FLT_MAX, false, true};
    }
}

static int check_number(parser *p, size_t at, const char *name, double value, const bounds *b)
{
    quoted shown = quote(p->text + at, p->at - at);
    if (b->whole && value != floor(value))
        return wrong(p, at, "%s is a whole number, not %s", name, shown.text);
    if (value >= b->low && value <= b->high)
        return 0;
    if (b->high < 65536)
        return wrong(p, at, "%s is from %g to %g, not %s", name, b->low, b->high, shown.text);
    if (b->low == 0 && value < 0)
        return wrong(p, at, "%s cannot be negative, as is %s", name, shown.text);
    return wrong(p, at, "%s is too large", shown.text);
}

static int read_one(parser *p, const mr__param *param, double *value)
{
    bounds b = bounds_of(param);
    size_t at = p->at;
    double below;
    if (!read_number(p, value))
        return wrong(p, p->at, "%s is a number, not %s", param->name, quote_here(p).text);
    if (b.fraction && peek(p, 0) == '/') {
        p->at++;
        if (!read_number(p, &below))
            return wrong(p, p->at, "a number is wanted below \"/\", not %s", quote_here(p).text);
        if (below == 0)
            return wrong(p, at, "%s divides by 0", quote(p->text + at, p->at - at).text);
        *value /= below;
    }
    int code = check_number(p, at, param->name, *value, &b);
    if (code == 0 && param->kind == MR__VALUE_STD && (float)*value == 0)
        return wrong(p, at, "std is what is divided by: it cannot be 0");
    return code;
}

/* Passes over what stands between two numbers of this kind; false: the value ends here. */
static bool skip_between(parser *p, const mr__param *param, size_t count)
{
    mr__value_kind kind = param->kind;
    bool range = kind == MR__VALUE_RANGE || kind == MR__VALUE_SPREAD || kind == MR__VALUE_QUALITY ||
                 (kind == MR__VALUE_SHEAR && count != 2);
    if (range ? peek(p, 0) != '.' || peek(p, 1) != '.' : peek(p, 0) != (kind == MR__VALUE_SIZE ? 'x' : '/'))
        return false;
    p->at += range ? 2 : 1;
    return true;
}

static size_t most_numbers(const mr__param *param)
{
    switch (param->kind) {
    case MR__VALUE_REAL:
    case MR__VALUE_WHOLE:
    case MR__VALUE_QUALITY:
    case MR__VALUE_SPREAD:
    case MR__VALUE_SHEAR:
    case MR__VALUE_LIST:
        return param->most;
    case MR__VALUE_SIDE:
    case MR__VALUE_CHANCE:
    case MR__VALUE_DEPTH:
        return 1;
    case MR__VALUE_SIZE:
    case MR__VALUE_RANGE:
        return 2;
    default:
        return 4;
    }
}

/* Those that have ends, of which the second is not below the first. */
static int check_ends(parser *p, size_t at, const mr__param *param, const mr__value *value)
{
    bool ends = param->kind == MR__VALUE_RANGE || param->kind == MR__VALUE_SPREAD || param->kind == MR__VALUE_SHEAR ||
                param->kind == MR__VALUE_QUALITY;
    for (size_t i = 1; ends && i < value->count; i += 2)
        if (value->numbers[i] < value->numbers[i - 1])
            return wrong(p, at, "%s ends before it begins: %s", param->name, quote(p->text + at, p->at - at).text);
    bool all_0 = true;
    for (size_t i = 0; i < value->count; i++)
        all_0 = all_0 && value->numbers[i] == 0;
    if (all_0 && param->positive)
        return wrong(p, at, "%s has to be more than 0", param->name);
    if (all_0 && param->kind == MR__VALUE_SPREAD && value->count == 2 && !param->needed)
        return wrong(p, at, "%s=0..0 says that there is none: leave it out", param->name);
    if (param->kind == MR__VALUE_SHEAR && value->count == 1 && peek(p, 0) == '/')
        return wrong(p, at, "%s along x and along y are two ranges: -5..5/0..10", param->name);
    bool spread = param->kind == MR__VALUE_SPREAD || param->kind == MR__VALUE_SHEAR;
    if (spread && value->count == 1 && value->numbers[0] < 0)
        return wrong(p, at, "%s is so far on both sides, and not negative: -5..5 is a range", param->name);
    if (param->kind == MR__VALUE_RANGE && value->numbers[value->count - 1] <= 0)
        return wrong(p, at, "%s has to be more than 0", param->name);
    return 0;
}

static int read_numbers(parser *p, const mr__param *param, mr__value *value)
{
    size_t at = p->at;
    do {
        if (value->count == most_numbers(param))
            return wrong(p, at, "%s has at most %zu number%s", param->name, value->count, value->count == 1 ? "" : "s");
        int code = read_one(p, param, &value->numbers[value->count]);
        if (code != 0)
            return code;
        value->count++;
    } while (skip_between(p, param, value->count));
    if (param->kind == MR__VALUE_DEPTH && value->numbers[0] != 8 && value->numbers[0] != 16)
        return wrong(p, at, "depth is 8 or 16, not %s", quote(p->text + at, p->at - at).text);
    return check_ends(p, at, param, value);
}

/* "table.json": any bytes but " and those below the space. */
static int read_path(parser *p, mr_step *step, const mr__param *param)
{
    size_t at = p->at + 1, nbytes = 0;
    if (peek(p, 0) != '"')
        return wrong(p, p->at, "%s is a name in quotes, not %s", param->name, quote_here(p).text);
    while (peek(p, 1 + nbytes) >= ' ' && peek(p, 1 + nbytes) != '"')
        nbytes++;
    if (peek(p, 1 + nbytes) != '"')
        return wrong(p, p->at, "the quote at the end of %s is missing", param->name);
    if (nbytes == 0)
        return wrong(p, p->at, "%s has an empty name", param->name);
    mr__detail detail = {{0}};
    step->policy = MR_AUTOAUG_FILE;
    step->path = p->text + at;
    int code =
        p->count < MR_RECIPE_STEPS_MAX ? mr__recipe_take_table(p->recipe, p->count, &step->path, nbytes, &detail) : 0;
    if (code != 0)
        wrong(p, at, "%s", detail.text);
    p->at += nbytes + 2;
    return code;
}

static int read_word_value(parser *p, const mr__param *param, mr__value *value)
{
    const char *text;
    uint32_t stands_for;
    char problem[96];
    choice c = choose(read_word(p));
    if (c.given.nbytes == 0)
        return wrong(p, p->at, "%s is a word, not %s", param->name, quote_here(p).text);
    for (size_t i = 0; (text = mr__word_at(param->kind, i, &stands_for)) != NULL; i++) {
        if (word_is(c.given, text)) {
            *value = (mr__value){{stands_for}, 1};
            return 0;
        }
        offer(&c, text);
    }
    snprintf(problem, sizeof problem, "no %s is called %s", param->name, quote(c.given.text, c.given.nbytes).text);
    return wrong_word(p, &c, problem);
}

/* Which parameter is next: by its name, or without one in its turn. The text stands before its value then. */
typedef struct turn {
    const char *step;
    mr__params params;
    uint32_t given;     /* bit n: parameter n */
    size_t means, stds; /* numbers of these */
    bool named;         /* one was: from there on all are */
} turn;

static int find_named(parser *p, const turn *t, word name, size_t *number)
{
    char problem[120];
    choice c = choose(name);
    for (size_t i = 0; i < t->params.count; i++) {
        if (word_is(name, t->params.list[i].name)) {
            *number = i;
            return 0;
        }
        offer(&c, t->params.list[i].name);
    }
    quoted shown = quote(name.text, name.nbytes);
    if (t->params.count == 0)
        return wrong(p, name.at, "%s has no parameters: remove %s", t->step, shown.text);
    snprintf(problem, sizeof problem, "%s has no parameter %s", t->step, shown.text);
    return wrong_word(p, &c, problem);
}

/* A value without a name that has no turn: maybe a word says what it is. */
static int wrong_turn(parser *p, const turn *t)
{
    const char *text;
    uint32_t stands_for;
    size_t at = p->at;
    word w = read_word(p);
    p->at = at;
    for (size_t i = 0; i < t->params.count; i++)
        for (size_t k = 0; (text = mr__word_at(t->params.list[i].kind, k, &stands_for)) != NULL; k++)
            if (word_is(w, text))
                return wrong(p, at, "did you mean \"%s=%s\"?", t->params.list[i].name, text);
    if (t->params.count == 0)
        return wrong(p, at, "%s has no parameters", t->step);
    if (t->named)
        return wrong(p, at, "values without a name come before those with one");
    return wrong(p, at, "%s has no more values without a name: write \"NAME=\" before it", t->step);
}

static int find_plain(parser *p, const turn *t, size_t *number)
{
    size_t i = 0;
    while (i < t->params.count && (t->given >> i & 1) != 0)
        i++;
    if (t->named || i == t->params.count || !t->params.list[i].plain)
        return wrong_turn(p, t);
    *number = i;
    return 0;
}

static int find_param(parser *p, turn *t, size_t *number)
{
    size_t at = p->at;
    word name = read_word(p);
    skip_space(p);
    if (name.nbytes == 0 || peek(p, 0) != '=') {
        p->at = at;
        return find_plain(p, t, number);
    }
    p->at++;
    skip_space(p);
    int code = find_named(p, t, name, number);
    if (code == 0 && (t->given >> *number & 1) != 0)
        return wrong(p, at, "%s is given twice", t->params.list[*number].name);
    t->named = true;
    return code;
}

static int wrong_count(parser *p, size_t at, const mr__param *param, size_t count)
{
    if (param->kind == MR__VALUE_SIDES)
        return wrong(p, at, "%s is one number, two (sideways and up) or four (left/top/right/bottom), not %zu",
                     param->name, count);
    if (param->kind == MR__VALUE_SHEAR)
        return wrong(p, at, "%s is one number, a range, or a range along x and one along y: -5..5/0..10", param->name);
    return wrong(p, at, "%s is one number or %zu, not %zu", param->name, param->most, count);
}

static int read_value(parser *p, mr_step *step, turn *t, const mr__param *param)
{
    mr__value value = {{0}, 0};
    size_t at = p->at;
    if (param->kind == MR__VALUE_PATH)
        return read_path(p, step, param);
    int code = param->kind >= MR__VALUE_PRESET ? read_word_value(p, param, &value) : read_numbers(p, param, &value);
    if (code == 0 && !mr__param_put(step, param, &value))
        return wrong_count(p, at, param, value.count);
    if (param->kind == MR__VALUE_MEAN)
        t->means = value.count;
    if (param->kind == MR__VALUE_STD)
        t->stds = value.count;
    return code;
}

static int read_param(parser *p, mr_step *step, turn *t)
{
    size_t number = 0, at = p->at;
    if (peek(p, 0) == ',' || peek(p, 0) == ')')
        return wrong(p, at, "a value is wanted, not %s", quote_here(p).text);
    if (peek(p, 0) < 0)
        return wrong(p, at, "\")\" is missing: %s has no end", t->step);
    int code = find_param(p, t, &number);
    if (code == 0)
        code = read_value(p, step, t, &t->params.list[number]);
    if (code != 0)
        return code;
    t->given |= UINT32_C(1) << number;
    if (step->kind == MR_STEP_AUTOAUG && (t->given & 3) == 3)
        return wrong(p, at, "autoaug takes a table by its name or from a file, not both");
    if (step->kind == MR_STEP_NORMALIZE && (t->given & 1) != 0 && (t->given & 6) != 0)
        return wrong(p, at, "a preset says mean and std: give it or them");
    return 0;
}

/* From behind "(" to behind ")". */
static int read_params(parser *p, mr_step *step, turn *t)
{
    skip_space(p);
    if (peek(p, 0) == ')') {
        p->at++;
        return 0;
    }
    for (;;) {
        skip_space(p);
        int code = read_param(p, step, t);
        if (code != 0)
            return code;
        skip_space(p);
        int c = peek(p, 0);
        if (c < 0)
            return wrong(p, p->at, "\")\" is missing: %s has no end", t->step);
        if (c != ',' && c != ')')
            return wrong(p, p->at, "\",\" or \")\" is wanted, not %s", quote_here(p).text);
        p->at++;
        if (c == ')')
            return 0;
    }
}

/* Something that would be right there. */
static const char *example_of(const mr__param *param)
{
    switch (param->kind) {
    case MR__VALUE_LAYOUT:
        return "nchw";
    case MR__VALUE_DTYPE:
        return "f32";
    case MR__VALUE_SPREAD:
        return param->high > 360 && param->middle == 0 ? "30" : param->high == 0.5 ? "0.1" : "0.4";
    case MR__VALUE_SHEAR:
        return "10";
    case MR__VALUE_REAL:
        return param->most == 2 ? "0.1/0.1" : "2";
    case MR__VALUE_WHOLE:
        return param->high == 8 ? "4" : param->high == 256 ? "128" : "5";
    case MR__VALUE_QUALITY:
        return "20..80";
    case MR__VALUE_RANGE:
        return "0.8..1.2";
    case MR__VALUE_LIST:
        return "480/512/544";
    default:
        return "224";
    }
}

static int check_needed(parser *p, const mr_step *step, const turn *t, size_t at)
{
    for (size_t i = 0; i < t->params.count; i++)
        if (t->params.list[i].needed && (t->given >> i & 1) == 0) {
            return wrong(p, at, "%s needs its %s: %s(%s)", t->step, t->params.list[i].name, t->step,
                         example_of(&t->params.list[i]));
        }
    if (step->kind == MR_STEP_PAD && (t->given & 3) == 0)
        return wrong(p, at, "pad needs a width or what to pad to: pad(4), pad(to=512)");
    if (step->kind == MR_STEP_NORMALIZE && (t->given & 1) == 0 && (t->given & 6) != 6)
        return wrong(p, at, "normalize needs a preset, or mean and std: normalize(imagenet)");
    return 0;
}

/* One number is for as many channels as the other list has. */
static int fit_means(parser *p, mr_step *step, const turn *t, size_t at)
{
    size_t count = t->means > t->stds ? t->means : t->stds;
    if (t->means != t->stds && t->means != 1 && t->stds != 1)
        return wrong(p, at, "normalize has a mean of %zu channels and an std of %zu", t->means, t->stds);
    for (size_t i = count; count > 1 && i < 4; i++)
        step->mean[i] = step->std[i] = 0;
    return 0;
}

static int find_step(parser *p, word name, const mr__step_type **type)
{
    char problem[96];
    choice c = choose(name);
    if (word_is(name, "user"))
        return wrong(p, name.at, "a user's step is a function: it has no text, mr_recipe_add adds it");
    for (size_t i = 0; i < mr__step_type_count; i++) {
        if (mr__step_types[i]->kind == MR_STEP_USER)
            continue;
        if (word_is(name, mr__step_types[i]->name)) {
            *type = mr__step_types[i];
            return 0;
        }
        offer(&c, mr__step_types[i]->name);
    }
    snprintf(problem, sizeof problem, "no step is called %s", quote(name.text, name.nbytes).text);
    return wrong_word(p, &c, problem);
}

/* What is there where a step should begin, or a space. */
static int wrong_between(parser *p)
{
    int c = peek(p, 0);
    if (c == '(')
        return wrong(p, p->at, "\"(\" without a step's name right before it");
    if (c == ')')
        return wrong(p, p->at, "\")\" without \"(\"");
    if (c == ',' || c == '|' || c == ';' || is_letter(c))
        return wrong(p, p->at, "steps are separated by spaces");
    return wrong(p, p->at, "a step is wanted, not %s", quote_here(p).text);
}

static int read_step(parser *p)
{
    const mr__step_type *type = NULL;
    mr__detail detail = {{0}};
    word name = read_word(p);
    if (name.nbytes == 0)
        return wrong_between(p);
    int code = find_step(p, name, &type);
    if (code != 0)
        return code;
    if (p->count == MR_RECIPE_STEPS_MAX) {
        wrong(p, name.at, "a recipe has at most %d steps", MR_RECIPE_STEPS_MAX);
        return MR_ELIMIT;
    }
    mr_step step = {.struct_size = sizeof step, .kind = type->kind};
    turn t = {.step = type->name, .params = mr__params_of(type->kind)};
    if (peek(p, 0) == '(') {
        p->at++;
        code = read_params(p, &step, &t);
    }
    if (code == 0)
        code = check_needed(p, &step, &t, name.at);
    if (code == 0)
        code = fit_means(p, &step, &t, name.at);
    if (code != 0)
        return code;
    code = mr__step_settle(&step, &detail);
    if (code != 0) {
        wrong(p, name.at, "%s", detail.text);
        return code;
    }
    p->recipe->steps[p->count++] = step;
    return 0;
}

static int read_steps(parser *p)
{
    for (skip_space(p); p->at < p->nbytes; skip_space(p)) {
        int code = read_step(p);
        if (code != 0)
            return code;
        if (p->at < p->nbytes && !is_space(peek(p, 0)))
            return wrong_between(p);
    }
    return 0;
}

int mr_recipe_parse(mr_recipe *recipe, const char *text)
{
    if (recipe == NULL || text == NULL)
        return MR_EARGUMENT;
    parser p = {.recipe = recipe, .text = text, .count = recipe->count};
    size_t before = recipe->count;
    mr__detail_clear(&recipe->detail);
    recipe->error_at = 0;
    p.nbytes = strnlen(text, TEXT_NBYTES_MAX + 1);
    if (p.nbytes > TEXT_NBYTES_MAX) {
        recipe->error_at = TEXT_NBYTES_MAX;
        return mr__fail(&recipe->detail, MR_ELIMIT, "a recipe's text has at most %d bytes", TEXT_NBYTES_MAX);
    }
    int code = read_steps(&p);
    if (code != 0)
        return code;
    recipe->count = p.count;
    if (mr__recipe_write(recipe) == 0)
        return 0;
    recipe->count = before;
    return mr__fail(&recipe->detail, MR_ENOMEM, "out of memory for the text of %zu steps", p.count);
}
