// SPDX-License-Identifier: Apache-2.0
/*
 * Costs between runs: a JSON file of a few kB for each dataset, recipe and machine, "costs/DATASET-RECIPE-MACHINE.json"
 * with 16 hexadecimal digits each:
 *
 *     {"version": 1, "features": "HEX", "routes": [
 *       {"name": "jpeg@cpu", "samples": 1200, "scale": 1.02, "sigma": 0.09, "weights": [1.1, ...]}, ...]}
 *
 * Losing one costs a batch or two of learning: whatever is odd about a file, it is left unread, and written anew.
 */
#include "route/cost.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "source/disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 1, FILE_NBYTES_MAX = 1 << 18, NAME_LENGTH = 16 * 3 + 2 + 5 };

/* The routes of a file. */
typedef struct saved {
    size_t count;
    mr__cost_route routes[MR__COST_ROUTES];
} saved;

/* --- reading --- */

static bool read_weights(mr__json *json, double weight[MR__WORK_KINDS])
{
    mr__json_token token = mr__json_next(json);
    size_t count = 0;
    if (token.kind != MR__JSON_ARRAY)
        return false;
    for (token = mr__json_next(json); token.kind == MR__JSON_NUMBER; token = mr__json_next(json))
        if (count == MR__WORK_KINDS || !mr__json_f64(token, &weight[count++]))
            return false;
    return token.kind == MR__JSON_ARRAY_END && count == MR__WORK_KINDS;
}

static bool read_name(mr__json *json, char name[MR__ROUTE_NAME_NBYTES])
{
    mr__json_token token = mr__json_next(json);
    size_t nbytes;
    if (token.kind != MR__JSON_TEXT || token.nbytes >= MR__ROUTE_NAME_NBYTES ||
        !mr__json_unescape(token, name, &nbytes))
        return false;
    name[nbytes] = 0;
    return nbytes != 0 && strlen(name) == nbytes;
}

static bool read_number(mr__json *json, double *value)
{
    return mr__json_f64(mr__json_next(json), value);
}

/* Behind its {. */
static bool read_route(mr__json *json, mr__cost_route *route)
{
    double weight[MR__WORK_KINDS], scale = 0.0, sigma = 0.0;
    uint64_t samples = 0;
    unsigned seen = 0;
    bool good = true;
    mr__json_token token = mr__json_next(json);
    for (; good && token.kind == MR__JSON_NAME; token = mr__json_next(json)) {
        if (mr__json_is(token, "name"))
            good = read_name(json, route->name), seen |= 1;
        else if (mr__json_is(token, "samples"))
            good = mr__json_u64(mr__json_next(json), &samples), seen |= 2;
        else if (mr__json_is(token, "scale"))
            good = read_number(json, &scale), seen |= 4;
        else if (mr__json_is(token, "sigma"))
            good = read_number(json, &sigma), seen |= 8;
        else if (mr__json_is(token, "weights"))
            good = read_weights(json, weight), seen |= 16;
        else
            good = mr__json_skip(json, token);
        if (!good)
            return false;
    }
    if (token.kind != MR__JSON_OBJECT_END || seen != 31)
        return false;
    mr__cost_restore(&route->cost, weight, scale, sigma, samples);
    return true;
}

static bool read_routes(mr__json *json, saved *s)
{
    mr__json_token token = mr__json_next(json);
    if (token.kind != MR__JSON_ARRAY)
        return false;
    for (token = mr__json_next(json); token.kind == MR__JSON_OBJECT; token = mr__json_next(json)) {
        if (s->count == MR__COST_ROUTES || !read_route(json, &s->routes[s->count]))
            return false;
        s->count++;
    }
    return token.kind == MR__JSON_ARRAY_END;
}

static bool is_ours(mr__json *json, mr__json_token name)
{
    mr__json_token token = mr__json_next(json);
    char id[17];
    uint64_t version;
    if (mr__json_is(name, "version"))
        return mr__json_u64(token, &version) && version == VERSION;
    snprintf(id, sizeof id, "%016llx", (unsigned long long)mr__features_id());
    return token.kind == MR__JSON_TEXT && mr__json_is(token, id);
}

/* False: it is damaged, or of another version. */
static bool parse(const char *text, size_t nbytes, saved *s)
{
    mr__json json = mr__json_init(text, nbytes);
    unsigned seen = 0;
    bool good = mr__json_next(&json).kind == MR__JSON_OBJECT;
    mr__json_token token = mr__json_next(&json);
    for (; good && token.kind == MR__JSON_NAME; token = mr__json_next(&json)) {
        if (mr__json_is(token, "version"))
            good = is_ours(&json, token), seen |= 1;
        else if (mr__json_is(token, "features"))
            good = is_ours(&json, token), seen |= 2;
        else if (mr__json_is(token, "routes"))
            good = seen == 3 && read_routes(&json, s), seen |= 4;
        else
            good = mr__json_skip(&json, token);
        if (!good)
            return false;
    }
    return good && seen == 7 && token.kind == MR__JSON_OBJECT_END && mr__json_next(&json).kind == MR__JSON_END;
}

/* The file's text; *nbytes 0: there is none. */
static int read_text(const mr_hooks *hooks, const char *path, char **text, size_t *nbytes)
{
    mr__file file;
    int error = mr__file_open(&file, path);
    *text = NULL;
    *nbytes = 0;
    if (error == 0 && file.nbytes > FILE_NBYTES_MAX)
        error = EFBIG;
    if (error == 0 && file.nbytes != 0) {
        *text = mr__alloc_zero(hooks, (size_t)file.nbytes);
        error = *text != NULL ? mr__file_read(&file, 0, *text, (size_t)file.nbytes, nbytes) : ENOMEM;
    }
    mr__file_close(&file);
    return error;
}

/* What a file has; nothing, with a line in the log, where it cannot be used. */
static void read_saved(const mr_hooks *hooks, const char *path, saved *s)
{
    char *text;
    size_t nbytes;
    int error = read_text(hooks, path, &text, &nbytes);
    s->count = 0;
    if (error != 0 && error != ENOENT)
        mr__log(hooks, MR_LOG_WARNING, "%s: %s; costs are learned anew", path, mr__errno_text(error).text);
    if (error == 0 && !parse(text, nbytes, s)) {
        mr__log(hooks, MR_LOG_WARNING, "%s: damaged, or of another version; costs are learned anew", path);
        s->count = 0;
    }
    mr__free(hooks, text);
}

/* --- names --- */

/* "FOLDER/costs"; NULL: *error, or 0 where there is no cache. */
static char *folder_of(const mr_hooks *hooks, const char *folder, int *error)
{
    if (folder == NULL)
        return mr__cache_folder(hooks, "costs", error);
    char *made = mr__text_format(hooks, "%s/costs", folder);
    *error = made == NULL ? ENOMEM : 0;
    return made;
}

static char *path_of(const mr_hooks *hooks, const char *folder, const mr__cost_key *key)
{
    return mr__text_format(hooks, "%s/%016llx-%016llx-%016llx.json", folder, (unsigned long long)key->dataset,
                           (unsigned long long)key->recipe, (unsigned long long)key->machine);
}

/* Names that were given here, those of files that were never finished with them. */
static bool is_name(const char *name)
{
    if (name[0] == '.')
        return strlen(name) == 1 + NAME_LENGTH + 4 && strcmp(name + 1 + NAME_LENGTH, ".tmp") == 0;
    return strlen(name) == NAME_LENGTH && strcmp(name + NAME_LENGTH - 5, ".json") == 0;
}

/* --- writing --- */

static void write_route(mr__text *text, const mr__cost_route *route)
{
    mr__text_add_z(text, "  {\"name\": ");
    mr__text_add_json(text, route->name, strnlen(route->name, sizeof route->name));
    mr__text_addf(text, ", \"samples\": %llu, \"scale\": ", (unsigned long long)route->cost.samples);
    mr__text_add_f64(text, route->cost.scale);
    mr__text_add_z(text, ", \"sigma\": ");
    mr__text_add_f64(text, mr__cost_sigma(&route->cost));
    mr__text_add_z(text, ", \"weights\": [");
    for (size_t i = 0; i < MR__WORK_KINDS; i++) {
        mr__text_add_z(text, i == 0 ? "" : ", ");
        mr__text_add_f64(text, route->cost.weight[i]);
    }
    mr__text_add_z(text, "]}");
}

static void write_saved(mr__text *text, const saved *s)
{
    mr__text_addf(text, "{\"version\": %d, \"features\": \"%016llx\", \"routes\": [", VERSION,
                  (unsigned long long)mr__features_id());
    for (size_t i = 0; i < s->count; i++) {
        mr__text_add_z(text, i == 0 ? "\n" : ",\n");
        write_route(text, &s->routes[i]);
    }
    mr__text_add_z(text, "]}\n");
}

static mr__cost_route *find_route(saved *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strncmp(s->routes[i].name, name, MR__ROUTE_NAME_NBYTES) == 0)
            return &s->routes[i];
    return NULL;
}

/* Those that have learned something take the place of what was there. */
static void merge(saved *s, const mr__cost_route *routes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mr__cost_route *to = find_route(s, routes[i].name);
        if (routes[i].cost.samples == 0 || (to == NULL && s->count == MR__COST_ROUTES))
            continue;
        to = to != NULL ? to : &s->routes[s->count++];
        *to = routes[i];
    }
}

static int publish(const mr_hooks *hooks, const char *folder, const char *path, const saved *s)
{
    mr__text text;
    const char *bytes;
    size_t nbytes;
    int error = mr__disk_real.make_folder(&mr__disk_real, folder);
    mr__text_init(&text, hooks);
    write_saved(&text, s);
    if (error == 0)
        error = mr__text_finish(&text, &bytes, &nbytes) != 0 ? ENOMEM : 0;
    if (error == 0)
        error = mr__disk_publish(&mr__disk_real, hooks, path, bytes, nbytes);
    mr__text_fini(&text);
    return error == EBUSY ? 0 : error; // another process writes the same: one of the two is as good
}

static int save(const mr_hooks *hooks, const char *folder, const char *path, const mr__cost_route *routes, size_t count)
{
    saved *s = mr__alloc_zero(hooks, sizeof *s);
    if (s == NULL)
        return ENOMEM;
    read_saved(hooks, path, s);
    merge(s, routes, count);
    int error = s->count != 0 ? publish(hooks, folder, path, s) : 0;
    mr__free(hooks, s);
    if (error == 0)
        mr__cache_trim(hooks, folder, is_name, MR__COST_FILES);
    return error;
}

int mr__cost_save(const mr_hooks *hooks, const char *folder, const mr__cost_key *key, const mr__cost_route *routes,
                  size_t count, mr__detail *detail)
{
    int error;
    char *place = folder_of(hooks, folder, &error);
    if (place == NULL && error == 0)
        return 0; // nowhere to keep it
    char *path = place != NULL ? path_of(hooks, place, key) : NULL;
    error = path != NULL ? save(hooks, place, path, routes, count) : ENOMEM;
    int result = error == 0 ? 0 : error == ENOMEM ? MR_ENOMEM : MR_EIO;
    if (result != 0)
        mr__fail(detail, result, "%s: the costs that were learned could not be written: %s; the next run learns anew",
                 path != NULL ? path : "costs", mr__errno_text(error).text);
    mr__free(hooks, path);
    mr__free(hooks, place);
    return result;
}

size_t mr__cost_load(const mr_hooks *hooks, const char *folder, const mr__cost_key *key, mr__cost_route *routes,
                     size_t count)
{
    int error;
    char *place = folder_of(hooks, folder, &error), *path = place != NULL ? path_of(hooks, place, key) : NULL;
    saved *s = path != NULL ? mr__alloc_zero(hooks, sizeof *s) : NULL;
    size_t found = 0;
    if (s != NULL)
        read_saved(hooks, path, s);
    for (size_t i = 0; s != NULL && i < count; i++) {
        const mr__cost_route *from = find_route(s, routes[i].name);
        if (from != NULL)
            routes[i].cost = from->cost;
        found += from != NULL;
    }
    mr__free(hooks, s);
    mr__free(hooks, path);
    mr__free(hooks, place);
    return found;
}

/* --- the machine --- */

uint64_t mr__cost_machine(void)
{
    /* Lines of the first processor that tell its kind; clocks change, and others are like it. */
    static const char *const kinds[] = {"model name", "cpu family", "model\t", "CPU implementer", "CPU part"};
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];
    mr__cpu_flags flags = mr__cpu_detect();
    uint64_t hash = mr__hash(&flags, sizeof flags);
    while (file != NULL && fgets(line, sizeof line, file) != NULL && line[0] != '\n')
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strncmp(line, kinds[i], strlen(kinds[i])) == 0)
                hash = mr__hash_seeded(line, strlen(line), hash);
    if (file != NULL)
        fclose(file);
    return hash;
}
