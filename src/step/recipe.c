// SPDX-License-Identifier: Apache-2.0
#include "step/recipe.h"

#include "step/recipe_words.h"
#include "step/step.h"

#include <string.h>

const char *mr_dtype_name(mr_dtype dtype)
{
    static const char *const names[] = {"auto", "u8", "f32", "f16", "bf16"};
    return (unsigned)dtype < sizeof names / sizeof *names ? names[dtype] : "none";
}

size_t mr_dtype_nbytes(mr_dtype dtype)
{
    static const uint8_t nbytes[] = {0, 1, 4, 2, 2};
    return (unsigned)dtype < sizeof nbytes / sizeof *nbytes ? nbytes[dtype] : 0;
}

const char *mr_batch_layout_name(mr_batch_layout layout)
{
    return layout == MR_NCHW ? "nchw" : layout == MR_NHWC ? "nhwc" : "none";
}

int mr_recipe_new(const mr_hooks *hooks, mr_recipe **out)
{
    mr_hooks h;
    if (out == NULL || mr__hooks_init(&h, hooks) != 0)
        return MR_EARGUMENT;
    mr_recipe *made = mr__alloc_zero(&h, sizeof *made);
    if (made == NULL)
        return MR_ENOMEM;
    made->hooks = h;
    *out = made;
    return 0;
}

static void free_name(mr_recipe *recipe, size_t number)
{
    mr__free(&recipe->hooks, (char *)(uintptr_t)recipe->users[number].name); /* our own copy: nobody else writes it */
    recipe->users[number].name = NULL;
}

void mr_recipe_free(mr_recipe *recipe)
{
    if (recipe == NULL)
        return;
    mr_hooks hooks = recipe->hooks;
    for (size_t i = 0; i < MR_RECIPE_STEPS_MAX; i++) {
        free_name(recipe, i);
        mr__policy_table_free(recipe->tables[i], &hooks);
    }
    mr__buffer_fini(&recipe->text, &hooks);
    mr__free(&hooks, recipe);
}

/* What is given for one channel is for all: so both ways to say it are one. */
static void spread_one(mr_step *step)
{
    for (size_t i = 1; i < 4; i++)
        if (step->mean[i] != 0 || step->std[i] != 0)
            return;
    for (size_t i = 1; i < 4; i++) {
        step->mean[i] = step->mean[0];
        step->std[i] = step->std[0];
    }
}

int mr__step_settle(mr_step *step, mr__detail *detail)
{
    const mr__step_type *type = mr__step_type_of(step->kind);
    mr__params params = mr__params_of(step->kind);
    mr_step kept = {.struct_size = sizeof kept, .kind = step->kind};
    if (type == NULL)
        return mr__fail(detail, MR_EARGUMENT, "no step has the number %u", (unsigned)step->kind);
    for (size_t i = 0; i < params.count; i++) {
        mr__value value = mr__param_get(step, &params.list[i]);
        mr__param_put(&kept, &params.list[i], &value);
    }
    if (step->kind == MR_STEP_USER)
        kept.user = step->user;
    if (step->kind == MR_STEP_AUTOAUG) {
        kept.policy = step->path != NULL ? MR_AUTOAUG_FILE : step->policy;
        kept.path = step->path;
    }
    if (step->kind == MR_STEP_SHORT)
        kept.height = step->height; /* to be told that it has none */
    if (step->kind == MR_STEP_NORMALIZE)
        spread_one(&kept);
    int code = type->settle(&kept, detail);
    if (code == 0 && type->sometimes)
        code = mr__step_settle_chance(&kept, 1, detail);
    for (size_t i = 0; i < params.count && code == 0; i++)
        code = mr__param_check(&kept, &params.list[i], type->name, detail);
    if (code == 0)
        *step = kept;
    return code;
}

/* Into the place behind the last step, which does not count yet; the name is still the caller's. */
static int copy_user(mr_recipe *recipe, const mr_user_step *given)
{
    mr_user_step *user = &recipe->users[recipe->count];
    if (given == NULL)
        return mr__fail(&recipe->detail, MR_EARGUMENT, "user: the step's function is missing");
    if (!mr__struct_copy(user, sizeof *user, given))
        return mr__fail(&recipe->detail, MR_EARGUMENT,
                        "user: struct_size is not set, or a field that this version does not have is");
    return 0;
}

static int copy_name(mr_recipe *recipe, const char *name)
{
    size_t nbytes = strlen(name) + 1; /* a word: it is settled */
    char *copy = mr__alloc(&recipe->hooks, nbytes);
    recipe->users[recipe->count].name = copy;
    if (copy == NULL)
        return mr__fail(&recipe->detail, MR_ENOMEM, "out of memory for the name of a step");
    memcpy(copy, name, nbytes);
    return 0;
}

static void put_table(mr_recipe *recipe, size_t number, mr__policy_table *table, const char **path)
{
    mr__policy_table_free(recipe->tables[number], &recipe->hooks); /* of a text that came to nothing */
    recipe->tables[number] = table;
    *path = table->path;
}

int mr__recipe_take_table(mr_recipe *recipe, size_t number, const char **path, size_t nbytes, mr__detail *detail)
{
    char name[MR__TABLE_PATH_NBYTES_MAX + 1];
    mr__policy_table *table;
    for (size_t i = 0; i < nbytes; i++)
        if ((unsigned char)(*path)[i] < ' ' || (*path)[i] == '"')
            return mr__fail(detail, MR_EARGUMENT, "the name of a file has a quote or a control character");
    if (nbytes == 0 || nbytes > MR__TABLE_PATH_NBYTES_MAX)
        return mr__fail(detail, MR_EARGUMENT, "the name of a file has 1 to %d bytes, not %zu",
                        MR__TABLE_PATH_NBYTES_MAX, nbytes);
    memcpy(name, *path, nbytes);
    name[nbytes] = '\0';
    int code = mr__policy_table_load(name, &recipe->hooks, &table, detail);
    if (code == 0)
        put_table(recipe, number, table, path);
    return code;
}

/* The table that another recipe has. */
static int copy_table(mr_recipe *recipe, const mr__policy_table *known, const char **path)
{
    mr__policy_table *table = mr__policy_table_copy(known, &recipe->hooks);
    if (table == NULL)
        return mr__fail(&recipe->detail, MR_ENOMEM, "out of memory for a table of %zu bytes", known->nbytes);
    put_table(recipe, recipe->count, table, path);
    return 0;
}

/* The last place is filled but does not count yet. */
static int count_last(mr_recipe *recipe)
{
    recipe->count++;
    if (mr__recipe_write(recipe) == 0)
        return 0;
    recipe->count--;
    return mr__fail(&recipe->detail, MR_ENOMEM, "out of memory for the text of %zu steps", recipe->count + 1);
}

static int add_user(mr_recipe *recipe, mr_step step)
{
    mr_user_step *user = &recipe->users[recipe->count];
    int code = copy_user(recipe, step.user);
    step.user = user;
    if (code == 0)
        code = mr__step_settle(&step, &recipe->detail);
    if (code != 0) {
        user->name = NULL; /* the caller's */
        return code;
    }
    code = copy_name(recipe, user->name);
    if (code != 0)
        return code;
    recipe->steps[recipe->count] = step;
    code = count_last(recipe);
    if (code != 0)
        free_name(recipe, recipe->count);
    return code;
}

static bool has_chance(mr_step_kind kind)
{
    mr__params params = mr__params_of(kind);
    for (size_t i = 0; i < params.count; i++)
        if (params.list[i].kind == MR__VALUE_CHANCE)
            return true;
    return false;
}

/* `known`: its table, where another recipe has it; NULL: it is read, if there is one. */
static int add_step(mr_recipe *recipe, const mr_step *step, const mr__policy_table *known)
{
    mr_step given = *step;
    if (recipe->count == MR_RECIPE_STEPS_MAX)
        return mr__fail(&recipe->detail, MR_ELIMIT, "a recipe has at most %d steps", MR_RECIPE_STEPS_MAX);
    if (given.kind == MR_STEP_USER)
        return add_user(recipe, given);
    int code = mr__step_settle(&given, &recipe->detail);
    if (code == 0 && known != NULL)
        code = copy_table(recipe, known, &given.path);
    else if (code == 0 && given.path != NULL)
        code = mr__recipe_take_table(recipe, recipe->count, &given.path, strlen(given.path), &recipe->detail);
    if (code != 0)
        return code;
    recipe->steps[recipe->count] = given;
    return count_last(recipe);
}

int mr_recipe_add(mr_recipe *recipe, const mr_step *step)
{
    mr_step given;
    if (recipe == NULL || step == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&recipe->detail);
    if (!mr__struct_copy(&given, sizeof given, step))
        return mr__fail(&recipe->detail, MR_EARGUMENT,
                        "step: struct_size is not set, or a field that this version does not have is");
    if (has_chance(given.kind) && !given.has_chance && given.chance != 0)
        return mr__fail(&recipe->detail, MR_EARGUMENT, "%s: a chance is given, but has_chance is not set",
                        mr__step_type_of(given.kind)->name);
    if (given.kind == MR_STEP_RANDAUG && !given.has_magnitude && given.magnitude != 0)
        return mr__fail(&recipe->detail, MR_EARGUMENT, "randaug: a magnitude is given, but has_magnitude is not set");
    return add_step(recipe, &given, NULL);
}

int mr_recipe_set_fusing(mr_recipe *recipe, bool fuse)
{
    if (recipe == NULL)
        return MR_EARGUMENT;
    recipe->apart = !fuse;
    return 0;
}

size_t mr_recipe_count(const mr_recipe *recipe)
{
    return recipe != NULL ? recipe->count : 0;
}

int mr_recipe_step(const mr_recipe *recipe, size_t number, mr_step *step)
{
    if (recipe == NULL || step == NULL || number >= recipe->count)
        return MR_EARGUMENT;
    return mr__struct_give(step, &recipe->steps[number], sizeof *step) ? 0 : MR_EARGUMENT;
}

const char *mr_recipe_text(mr_recipe *recipe)
{
    if (recipe == NULL)
        return NULL;
    return recipe->text.bytes != NULL ? (const char *)recipe->text.bytes : "";
}

const char *mr_recipe_detail(const mr_recipe *recipe)
{
    return recipe != NULL ? recipe->detail.text : "";
}

size_t mr_recipe_error_at(const mr_recipe *recipe)
{
    return recipe != NULL ? recipe->error_at : 0;
}

/* What changes how numbers are written, not which pixels. */
static bool is_finish(const mr_step *step)
{
    return step->kind == MR_STEP_NORMALIZE || step->kind == MR_STEP_LAYOUT || step->kind == MR_STEP_DTYPE;
}

int mr__recipe_copy(const mr_recipe *recipe, const mr_hooks *hooks, mr_recipe **out)
{
    mr_recipe *made;
    int code = mr_recipe_new(hooks, &made);
    if (code != 0)
        return code;
    made->apart = recipe->apart;
    for (size_t i = 0; i < recipe->count && code == 0; i++)
        code = add_step(made, &recipe->steps[i], recipe->steps[i].path != NULL ? recipe->tables[i] : NULL);
    if (code == 0)
        *out = made;
    else
        mr_recipe_free(made);
    return code;
}

static int add_visible(mr_recipe *to, const mr_recipe *from)
{
    to->apart = from->apart;
    const mr_step layout = {.struct_size = sizeof layout, .kind = MR_STEP_LAYOUT, .layout = MR_NHWC};
    const mr_step dtype = {.struct_size = sizeof dtype, .kind = MR_STEP_DTYPE, .dtype = MR_U8};
    int code = 0;
    for (size_t i = 0; i < from->count && code == 0; i++) {
        mr_step step = from->steps[i];
        if (is_finish(&step))
            continue;
        if (step.kind == MR_STEP_CONVERT)
            step.depth = 8; /* u8 has no room for more */
        code = add_step(to, &step, from->steps[i].path != NULL ? from->tables[i] : NULL);
    }
    if (code == 0)
        code = mr_recipe_add(to, &layout);
    return code == 0 ? mr_recipe_add(to, &dtype) : code;
}

/* Steps that draw keep their streams: those are counted by steps that draw, and none that is left out does. */
int mr_recipe_visible(const mr_recipe *recipe, mr_recipe **out)
{
    mr_recipe *made;
    if (recipe == NULL || out == NULL)
        return MR_EARGUMENT;
    int code = mr_recipe_new(&recipe->hooks, &made);
    if (code != 0)
        return code;
    code = add_visible(made, recipe);
    if (code == 0)
        *out = made;
    else
        mr_recipe_free(made);
    return code;
}
