// SPDX-License-Identifier: Apache-2.0
/*
 * A table is read twice: first to see that it is one and how many entries it has, then into its block. What is wrong is
 * said with the line it stands in.
 */
#include "step/policy_table.h"

#include "base/hash.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

/* The ranges are those of Fast AutoAugment's code, as are the names; the last ones are Deep AutoAugment's. */
static const mr__table_op table_ops[] = {
    {"ShearX", MR__TABLE_PLAIN, MR__POLICY_SHEAR_X, -0.3, 0.3},
    {"ShearY", MR__TABLE_PLAIN, MR__POLICY_SHEAR_Y, -0.3, 0.3},
    {"TranslateX", MR__TABLE_PART, MR__POLICY_TRANSLATE_X, -0.45, 0.45},
    {"TranslateY", MR__TABLE_PART, MR__POLICY_TRANSLATE_Y, -0.45, 0.45},
    {"Rotate", MR__TABLE_PLAIN, MR__POLICY_ROTATE, -30.0, 30.0},
    {"AutoContrast", MR__TABLE_PLAIN, MR__POLICY_AUTO_CONTRAST, 0.0, 0.0},
    {"Invert", MR__TABLE_PLAIN, MR__POLICY_INVERT, 0.0, 0.0},
    {"Equalize", MR__TABLE_PLAIN, MR__POLICY_EQUALIZE, 0.0, 0.0},
    {"Solarize", MR__TABLE_PLAIN, MR__POLICY_SOLARIZE, 0.0, 256.0},
    {"Posterize", MR__TABLE_PLAIN, MR__POLICY_POSTERIZE, 4.0, 8.0},
    {"Contrast", MR__TABLE_PLAIN, MR__POLICY_CONTRAST, 0.1, 1.9},
    {"Color", MR__TABLE_PLAIN, MR__POLICY_COLOR, 0.1, 1.9},
    {"Brightness", MR__TABLE_PLAIN, MR__POLICY_BRIGHTNESS, 0.1, 1.9},
    {"Sharpness", MR__TABLE_PLAIN, MR__POLICY_SHARPNESS, 0.1, 1.9},
    {"Cutout", MR__TABLE_CUTOUT_PART, MR__POLICY_IDENTITY, 0.0, 0.2},
    {"CutoutAbs", MR__TABLE_CUTOUT, MR__POLICY_IDENTITY, 0.0, 20.0},
    {"Posterize2", MR__TABLE_PLAIN, MR__POLICY_POSTERIZE, 0.0, 4.0},
    {"TranslateXAbs", MR__TABLE_SHIFT, MR__POLICY_TRANSLATE_X, 0.0, 10.0},
    {"TranslateYAbs", MR__TABLE_SHIFT, MR__POLICY_TRANSLATE_Y, 0.0, 10.0},
    {"Flip", MR__TABLE_FLIP, MR__POLICY_IDENTITY, 0.0, 0.0},
    {"Identity", MR__TABLE_PLAIN, MR__POLICY_IDENTITY, 0.0, 0.0},
    {"RandFlip", MR__TABLE_RAND_FLIP, MR__POLICY_IDENTITY, 0.0, 0.0},
    {"RandCutout", MR__TABLE_RAND_CUTOUT, MR__POLICY_IDENTITY, 0.0, 0.0},
    {"RandCrop", MR__TABLE_RAND_CROP, MR__POLICY_IDENTITY, 0.0, 0.0},
    {"RandResizeCrop_imagenet", MR__TABLE_RAND_RESIZED, MR__POLICY_IDENTITY, 0.0, 0.0},
    {"RandCutout60", MR__TABLE_RAND_CUTOUT_60, MR__POLICY_IDENTITY, 0.0, 0.0},
};

enum { OPS = sizeof table_ops / sizeof *table_ops };

typedef struct reader {
    mr__json json;
    const char *path;
    mr__policy_table *table; /* NULL: it is only looked at */
    bool stages, found;
    size_t lists, entries, longest;
    double sum; /* of the weights of this stage */
    mr__detail *detail;
} reader;

mr__path_words mr__path_text(const char *path)
{
    mr__path_words words;
    size_t nbytes = strlen(path), most = sizeof words.text - 1, skip = nbytes > most ? nbytes - most : 0;
    for (size_t i = 0; i <= nbytes - skip; i++) {
        char c = path[skip + i];
        words.text[i] = (c >= ' ' && c <= '~') || c == '\0' ? c : '?';
    }
    memcpy(words.text, skip != 0 ? "..." : "", skip != 0 ? 3 : 0);
    return words;
}

static unsigned line_of(const reader *r, size_t at)
{
    unsigned line = 1;
    for (size_t i = 0; i < at && i < r->json.nbytes; i++)
        line += r->json.text[i] == '\n';
    return line;
}

static int wrong(reader *r, int code, size_t at, const char *what)
{
    return mr__fail(r->detail, code, "%s, line %u: %s", mr__path_text(r->path).text, line_of(r, at), what);
}

/* A token that is not what it should be. */
static int unlike(reader *r, mr__json_token token, const char *what)
{
    if (token.kind == MR__JSON_BAD)
        return wrong(r, MR_EARGUMENT, r->json.at, r->json.problem);
    return wrong(r, MR_EARGUMENT, token.at, what);
}

static int read_number(reader *r, mr__json_token token, double most, const char *what, double *value)
{
    if (token.kind != MR__JSON_NUMBER || !mr__json_f64(token, value) || !(*value >= 0.0 && *value <= most))
        return unlike(r, token, what);
    return 0;
}

static int find_op(reader *r, mr__json_token name, const mr__table_op **op)
{
    for (size_t i = 0; name.kind == MR__JSON_TEXT && i < OPS; i++)
        if (mr__json_is(name, table_ops[i].name)) {
            *op = &table_ops[i];
            return 0;
        }
    return unlike(r, name,
                  name.kind == MR__JSON_TEXT ? "no operation has this name (doc/steps.md lists them)"
                                             : "an operation begins with its name");
}

/* Behind the probability: a level from 0 to 1, which those may leave out that have none; and the end. */
static int read_level(reader *r, mr__table_entry *entry)
{
    mr__json_token token = mr__json_next(&r->json);
    bool none = entry->op->low == entry->op->high;
    double level = 0.0;
    if (token.kind == MR__JSON_ARRAY_END && none)
        return 0;
    int code = token.kind == MR__JSON_NULL && none
                   ? 0
                   : read_number(r, token, 1.0, "here stands a level, a number from 0 to 1", &level);
    if (code != 0)
        return code;
    if (!none)
        entry->value = level * (entry->op->high - entry->op->low) + entry->op->low + 0.0;
    token = mr__json_next(&r->json);
    return token.kind == MR__JSON_ARRAY_END ? 0 : unlike(r, token, "an operation is a name, a probability, a level");
}

static void keep_entry(reader *r, mr__table_entry entry)
{
    r->sum += entry.chance;
    if (r->stages)
        entry.chance = r->sum;
    if (r->table != NULL) {
        r->table->entry[r->entries] = entry;
        r->table->resizes = r->table->resizes || entry.op->act == MR__TABLE_RAND_RESIZED;
    }
    r->entries++;
}

static int read_entry(reader *r, mr__json_token token)
{
    mr__table_entry entry = {0};
    if (token.kind != MR__JSON_ARRAY)
        return unlike(r, token, "here stands an operation: [\"Rotate\", 0.5, 0.3]");
    int code = find_op(r, mr__json_next(&r->json), &entry.op);
    if (code == 0)
        code = read_number(r, mr__json_next(&r->json), 1.0, "here stands a probability, a number from 0 to 1",
                           &entry.chance);
    if (code == 0)
        code = read_level(r, &entry);
    if (code == 0)
        keep_entry(r, entry);
    return code;
}

/* A policy, or a stage. */
static int read_list(reader *r, mr__json_token list)
{
    size_t most = r->stages ? MR__TABLE_LISTS_MAX : MR__TABLE_OPS_MAX, before = r->entries;
    if (list.kind != MR__JSON_ARRAY)
        return unlike(r, list, "here stands a list of operations");
    r->sum = 0.0;
    for (;;) {
        mr__json_token token = mr__json_next(&r->json);
        if (token.kind == MR__JSON_ARRAY_END)
            break;
        if (r->entries - before == most)
            return wrong(r, MR_ELIMIT, token.at,
                         r->stages ? "a stage has at most 1024 choices" : "a policy has at most 16 operations");
        int code = read_entry(r, token);
        if (code != 0)
            return code;
    }
    if (r->stages && !(r->sum > 0.0))
        return wrong(r, MR_EARGUMENT, list.at, "the probabilities of this stage are all 0");
    if (r->entries - before > r->longest)
        r->longest = r->entries - before;
    if (r->table != NULL)
        r->table->end[r->lists] = (uint32_t)r->entries;
    r->lists++;
    return 0;
}

static int read_lists(reader *r, mr__json_token lists)
{
    size_t most = r->stages ? MR__TABLE_OPS_MAX : MR__TABLE_LISTS_MAX;
    if (lists.kind != MR__JSON_ARRAY)
        return unlike(r, lists, "here stands a list of lists of operations");
    r->found = true;
    for (;;) {
        mr__json_token token = mr__json_next(&r->json);
        if (token.kind == MR__JSON_ARRAY_END)
            break;
        if (r->lists == most)
            return wrong(r, MR_ELIMIT, token.at,
                         r->stages ? "there are at most 16 stages" : "there are at most 1024 policies");
        int code = read_list(r, token);
        if (code != 0)
            return code;
    }
    return r->lists != 0 ? 0 : wrong(r, MR_EARGUMENT, lists.at, "the list is empty");
}

/* {"policies": ...}, {"stages": ...}, with a comment or without. */
static int read_members(reader *r)
{
    for (;;) {
        mr__json_token name = mr__json_next(&r->json);
        int code = 0;
        if (name.kind == MR__JSON_OBJECT_END)
            return r->found ? 0 : wrong(r, MR_EARGUMENT, name.at, "there are neither policies nor stages");
        if (name.kind != MR__JSON_NAME)
            return unlike(r, name, "");
        if (mr__json_is(name, "comment")) {
            if (!mr__json_skip(&r->json, name))
                code = unlike(r, (mr__json_token){.kind = MR__JSON_BAD}, "");
        } else if ((mr__json_is(name, "policies") || mr__json_is(name, "stages")) && !r->found) {
            r->stages = mr__json_is(name, "stages");
            code = read_lists(r, mr__json_next(&r->json));
        } else {
            code = wrong(r, MR_EARGUMENT, name.at, "a table has one member, policies or stages, and perhaps a comment");
        }
        if (code != 0)
            return code;
    }
}

static int read_all(reader *r)
{
    mr__json_token token = mr__json_next(&r->json);
    int code;
    if (token.kind == MR__JSON_OBJECT)
        code = read_members(r);
    else if (token.kind == MR__JSON_ARRAY)
        code = read_lists(r, token);
    else
        code = unlike(r, token, "a table is a list of policies, or an object with policies or stages");
    if (code != 0)
        return code;
    token = mr__json_next(&r->json);
    return token.kind == MR__JSON_END ? 0 : unlike(r, token, "something follows the table");
}

/* Of what it does, and not of how it is written. */
static uint64_t hash_of(const mr__policy_table *table)
{
    mr__hasher hasher;
    const uint8_t stages = table->stages;
    mr__hasher_init(&hasher);
    mr__hasher_add(&hasher, &stages, sizeof stages);
    mr__hasher_add(&hasher, table->end, table->lists * sizeof *table->end);
    for (size_t i = 0; i < table->end[table->lists - 1]; i++) {
        const mr__table_entry *entry = &table->entry[i];
        mr__hasher_add(&hasher, entry->op->name, strlen(entry->op->name) + 1);
        mr__hasher_add(&hasher, &entry->chance, sizeof entry->chance);
        mr__hasher_add(&hasher, &entry->value, sizeof entry->value);
    }
    return mr__hasher_value(&hasher);
}

int mr__policy_table_read(const char *path, const char *text, size_t nbytes, const mr_hooks *hooks,
                          mr__policy_table **out, mr__detail *detail)
{
    reader first = {.json = mr__json_init(text, nbytes), .path = path, .detail = detail}, second = first;
    if (strlen(path) > MR__TABLE_PATH_NBYTES_MAX)
        return mr__fail(detail, MR_EARGUMENT, "the name of a table's file has more than %d bytes",
                        MR__TABLE_PATH_NBYTES_MAX);
    if (nbytes > MR__TABLE_NBYTES_MAX)
        return mr__fail(detail, MR_ELIMIT, "%s has more than %d bytes: a table has no more", mr__path_text(path).text,
                        MR__TABLE_NBYTES_MAX);
    int code = read_all(&first);
    if (code != 0)
        return code;
    size_t block = sizeof(mr__policy_table) + first.entries * sizeof(mr__table_entry);
    mr__policy_table *table = mr__alloc_zero(hooks, block);
    if (table == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a table of %zu operations", first.entries);
    table->nbytes = block;
    table->stages = first.stages;
    table->lists = (uint32_t)first.lists;
    table->longest = (uint32_t)(first.stages ? first.lists : first.longest);
    memcpy(table->path, path, strlen(path) + 1);
    second.table = table;
    code = read_all(&second);
    if (code != 0) { /* the text has changed meanwhile */
        mr__policy_table_free(table, hooks);
        return code;
    }
    table->hash = hash_of(table);
    *out = table;
    return 0;
}

mr__policy_table *mr__policy_table_copy(const mr__policy_table *table, const mr_hooks *hooks)
{
    mr__policy_table *copy = mr__alloc(hooks, table->nbytes);
    if (copy != NULL)
        memcpy(copy, table, table->nbytes);
    return copy;
}

void mr__policy_table_free(mr__policy_table *table, const mr_hooks *hooks)
{
    mr__free(hooks, table);
}

const mr__policy_table *mr__policy_table_of(const mr_step *step)
{
    if (step->path == NULL)
        return NULL;
    return (const mr__policy_table *)(const void *)(step->path - offsetof(mr__policy_table, path));
}
