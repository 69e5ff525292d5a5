// SPDX-License-Identifier: Apache-2.0
#include "loader/state.h"

#include "base/json.h"
#include "base/rng.h"

#include <inttypes.h>
#include <stddef.h>

enum { VERSION = 1, HASH_DIGITS = 16 };

typedef enum field_kind { NUMBER, HASH } field_kind;

typedef struct field {
    const char *name;
    size_t offset;
    field_kind kind;
    uint64_t most;
} field;

/* In the order in which they are written. */
static const field fields[] = {
    {"seed", offsetof(mr__state, seed), NUMBER, UINT64_MAX},
    {"epoch", offsetof(mr__state, epoch), NUMBER, UINT32_MAX},
    {"position", offsetof(mr__state, position), NUMBER, MR__RNG_SAMPLE_MAX},
    {"global_batch", offsetof(mr__state, global_batch), NUMBER, UINT64_MAX},
    {"samples", offsetof(mr__state, samples), NUMBER, MR__RNG_SAMPLE_MAX},
    {"dataset", offsetof(mr__state, dataset), HASH, UINT64_MAX},
    {"recipe", offsetof(mr__state, recipe), HASH, UINT64_MAX},
    {"order", offsetof(mr__state, order), HASH, UINT64_MAX},
};

enum { FIELDS = sizeof fields / sizeof *fields };

static const uint64_t *value_of(const mr__state *state, const field *of)
{
    return (const uint64_t *)(const void *)((const char *)state + of->offset);
}

void mr__state_write(const mr__state *state, mr__text *text)
{
    mr__text_addf(text, "{\"millrace_state\": %d", VERSION);
    for (size_t i = 0; i < FIELDS; i++)
        mr__text_addf(text, fields[i].kind == HASH ? ", \"%s\": \"%016" PRIx64 "\"" : ", \"%s\": %" PRIu64,
                      fields[i].name, *value_of(state, &fields[i]));
    mr__text_add_z(text, "}");
}

typedef struct reading {
    mr__json json;
    mr__state state;
    uint32_t seen; /* a bit for each field */
    mr__detail *detail;
} reading;

static int not_json(reading *r)
{
    return mr__fail(r->detail, MR_EARGUMENT, "the state is not JSON at byte %zu: %s", r->json.at, r->json.problem);
}

/*
 * Looks for the version first, wherever it stands, since a later one may have fields that this one does not know.
 * Passes over all of the text: what comes after knows that it is JSON.
 */
static int check_version(reading *r)
{
    uint64_t version = 0, count = 0;
    mr__json_token token = mr__json_next(&r->json);
    if (token.kind != MR__JSON_OBJECT && r->json.problem == NULL)
        return mr__fail(r->detail, MR_EARGUMENT,
                        "the state is JSON, but no object: it begins with {\"millrace_state\"");
    for (token = mr__json_next(&r->json); token.kind == MR__JSON_NAME; token = mr__json_next(&r->json)) {
        bool is_version = mr__json_is(token, "millrace_state");
        mr__json_token value = mr__json_next(&r->json);
        if (is_version && (value.kind != MR__JSON_NUMBER || !mr__json_u64(value, &version)))
            return r->json.problem != NULL
                       ? not_json(r)
                       : mr__fail(r->detail, MR_EARGUMENT,
                                  "\"millrace_state\" at byte %zu of the state is not a whole number", token.at);
        count += is_version;
        if (!mr__json_skip(&r->json, value))
            return not_json(r);
    }
    mr__json_next(&r->json);
    if (r->json.problem != NULL)
        return not_json(r);
    if (count != 1)
        return mr__fail(r->detail, MR_EARGUMENT, "\"millrace_state\" is %s the state",
                        count == 0 ? "not in" : "twice in");
    if (version != VERSION)
        return mr__fail(r->detail, MR_EARGUMENT,
                        "the state is of version %" PRIu64 ", and this Millrace reads version %d: use a %s one",
                        version, VERSION, version > VERSION ? "newer" : "different");
    return 0;
}

/* 16 small hexadecimal digits. */
static bool read_hash(mr__json_token token, uint64_t *value)
{
    if (token.kind != MR__JSON_TEXT || token.nbytes != HASH_DIGITS)
        return false;
    *value = 0;
    for (size_t i = 0; i < token.nbytes; i++) {
        char c = token.text[i];
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
            return false;
        *value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static int read_field(reading *r, size_t i, mr__json_token name)
{
    const field *of = &fields[i];
    uint64_t *value = (uint64_t *)(void *)((char *)&r->state + of->offset);
    mr__json_token token = mr__json_next(&r->json);
    if ((r->seen >> i & 1) != 0)
        return mr__fail(r->detail, MR_EARGUMENT, "\"%s\" is twice in the state, again at byte %zu", of->name, name.at);
    r->seen |= UINT32_C(1) << i;
    if (of->kind == HASH)
        return read_hash(token, value) ? 0
                                       : mr__fail(r->detail, MR_EARGUMENT,
                                                  "\"%s\" at byte %zu of the state is not 16 digits of 0-9 and a-f in "
                                                  "quotes",
                                                  of->name, name.at);
    if (token.kind != MR__JSON_NUMBER || !mr__json_u64(token, value))
        return mr__fail(r->detail, MR_EARGUMENT, "\"%s\" at byte %zu of the state is not a whole number", of->name,
                        name.at);
    if (*value > of->most)
        return mr__fail(r->detail, MR_EARGUMENT, "\"%s\" at byte %zu of the state is %" PRIu64 ", more than %" PRIu64,
                        of->name, name.at, *value, of->most);
    return 0;
}

static int read_member(reading *r, mr__json_token name)
{
    if (mr__json_is(name, "millrace_state")) {
        mr__json_next(&r->json); // check_version has seen it
        return 0;
    }
    for (size_t i = 0; i < FIELDS; i++)
        if (mr__json_is(name, fields[i].name))
            return read_field(r, i, name);
    int shown = name.nbytes < 40 ? (int)name.nbytes : 40;
    while (name.nbytes > 40 && shown > 0 && ((unsigned char)name.text[shown] & 0xc0) == 0x80)
        shown--; // not in the middle of a character
    return mr__fail(r->detail, MR_EARGUMENT, "there is something unknown in the state, at byte %zu: \"%.*s\"", name.at,
                    shown, name.text);
}

int mr__state_read(mr__state *state, const char *text, size_t nbytes, mr__detail *detail)
{
    reading r = {.json = mr__json_init(text, nbytes), .detail = detail};
    int result = check_version(&r);
    r.json = mr__json_init(text, nbytes);
    mr__json_next(&r.json);
    while (result == 0) {
        mr__json_token name = mr__json_next(&r.json);
        if (name.kind != MR__JSON_NAME)
            break;
        result = read_member(&r, name);
    }
    for (size_t i = 0; i < FIELDS && result == 0; i++)
        if ((r.seen >> i & 1) == 0)
            result = mr__fail(detail, MR_EARGUMENT, "\"%s\" is not in the state", fields[i].name);
    if (result == 0)
        *state = r.state;
    return result;
}

int mr__state_compare(const mr__state *given, const mr__state *ours, mr__detail *detail)
{
    if (given->samples != ours->samples)
        return mr__fail(detail, MR_EARGUMENT,
                        "the state is of a dataset of %" PRIu64 " samples, and this one has %" PRIu64, given->samples,
                        ours->samples);
    if (given->dataset != ours->dataset)
        return mr__fail(detail, MR_EARGUMENT,
                        "the state is of another dataset: fingerprint %016" PRIx64 ", and this one has %016" PRIx64,
                        given->dataset, ours->dataset);
    if (given->recipe != ours->recipe)
        return mr__fail(detail, MR_EARGUMENT,
                        "the state is of another recipe: hash %016" PRIx64 ", and this one has %016" PRIx64,
                        given->recipe, ours->recipe);
    if (given->seed != ours->seed)
        return mr__fail(detail, MR_EARGUMENT, "the state is of seed %" PRIu64 ", and this loader has %" PRIu64,
                        given->seed, ours->seed);
    if (given->order != ours->order)
        return mr__fail(detail, MR_EARGUMENT,
                        "the state is of another order: hash %016" PRIx64 ", and this one has %016" PRIx64
                        " (kind, block, window, weights, draws, repeats)",
                        given->order, ours->order);
    return 0;
}
