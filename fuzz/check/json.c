// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of the JSON reader, whatever the bytes: tokens lie inside the text, it ends with END or BAD and stays
 * so, and the tokens written down again are read as the same tokens. Unescaped texts, escaped again, too.
 */
#include "check.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

static void check_place(const mr__json *json, mr__json_token token, size_t before)
{
    bool quoted = token.kind == MR__JSON_TEXT || token.kind == MR__JSON_NAME;
    FUZZ_REQUIRE(token.at <= json->nbytes && json->at <= json->nbytes, "a token at %zu", token.at);
    FUZZ_REQUIRE(token.kind == MR__JSON_BAD || token.at >= before, "back from %zu to %zu", before, token.at);
    if (token.kind == MR__JSON_BAD)
        return;
    FUZZ_REQUIRE(token.text == json->text + token.at + quoted, "text of the token at %zu", token.at);
    FUZZ_REQUIRE(token.nbytes <= json->nbytes - token.at - quoted, "%zu bytes at %zu", token.nbytes, token.at);
    FUZZ_REQUIRE(token.at + token.nbytes + 2 * (size_t)quoted == json->at, "it goes on at %zu", json->at);
    FUZZ_REQUIRE(json->depth <= MR__JSON_DEPTH, "depth %u", json->depth);
}

static bool ends(mr__json_token token)
{
    return token.kind == MR__JSON_OBJECT_END || token.kind == MR__JSON_ARRAY_END;
}

static void check_number(mr__json_token token)
{
    int64_t i;
    uint64_t u;
    double f;
    FUZZ_REQUIRE(mr__json_f64(token, &f) && f == f, "%.*s is no double", (int)token.nbytes, token.text);
    if (mr__json_i64(token, &i))
        FUZZ_REQUIRE(f == (double)i, "%.*s is %lld", (int)token.nbytes, token.text, (long long)i);
    if (mr__json_u64(token, &u))
        FUZZ_REQUIRE(f == (double)u, "%.*s is %llu", (int)token.nbytes, token.text, (unsigned long long)u);
    char copy[64];
    if (token.nbytes < sizeof copy) {
        memcpy(copy, token.text, token.nbytes);
        copy[token.nbytes] = '\0';
        double theirs = strtod(copy, NULL);
        FUZZ_REQUIRE(memcmp(&theirs, &f, sizeof f) == 0, "%s is %.17g", copy, f);
    }
}

/* Writes a text as it stands, or, where it can be, unescaped and escaped again. */
static void put_text(mr__text *to, mr__json_token token, bool anew)
{
    char *plain = malloc(token.nbytes != 0 ? token.nbytes : 1);
    size_t nbytes;
    if (plain != NULL && mr__json_unescape(token, plain, &nbytes)) {
        FUZZ_REQUIRE(nbytes <= token.nbytes, "%zu bytes became %zu", token.nbytes, nbytes);
        if (!token.escaped)
            FUZZ_REQUIRE(nbytes == token.nbytes && memcmp(plain, token.text, nbytes) == 0, "nothing was escaped");
    } else {
        FUZZ_REQUIRE(token.escaped, "nothing is escaped, but it cannot be unescaped");
        anew = false;
    }
    if (anew)
        mr__text_add_json(to, plain, nbytes);
    else
        mr__text_addf(to, "\"%.*s\"", (int)token.nbytes, token.text);
    free(plain);
}

static void put(mr__text *to, mr__json_token token, mr__json_token before, bool anew)
{
    bool first = before.kind == MR__JSON_BAD || before.kind == MR__JSON_OBJECT || before.kind == MR__JSON_ARRAY;
    if (before.kind == MR__JSON_NAME)
        mr__text_add_z(to, ":");
    else if (!first && !ends(token))
        mr__text_add_z(to, ",");
    if (token.kind == MR__JSON_TEXT || token.kind == MR__JSON_NAME)
        put_text(to, token, anew);
    else
        mr__text_add(to, token.text, token.nbytes);
}

/* Reads all of it, and writes it down. Returns whether it is JSON. */
static bool copy_tokens(const char *bytes, size_t nbytes, mr__text *to, bool anew)
{
    mr__json json = mr__json_init(bytes, nbytes);
    mr__json_token before = {.kind = MR__JSON_BAD};
    for (;;) {
        size_t at = json.at;
        mr__json_token token = mr__json_next(&json);
        check_place(&json, token, at);
        if (token.kind == MR__JSON_NUMBER)
            check_number(token);
        if (token.kind == MR__JSON_BAD || token.kind == MR__JSON_END) {
            FUZZ_REQUIRE((json.problem != NULL) == (token.kind == MR__JSON_BAD), "a problem without a word");
            FUZZ_REQUIRE(mr__json_next(&json).kind == token.kind, "it does not stay so");
            return token.kind == MR__JSON_END;
        }
        put(to, token, before, anew);
        before = token;
    }
}

static bool same_text(mr__json_token a, mr__json_token b)
{
    char *x = malloc(a.nbytes + 1), *y = malloc(b.nbytes + 1);
    size_t n = 0, m = 0;
    bool plain = x != NULL && y != NULL && mr__json_unescape(a, x, &n) && mr__json_unescape(b, y, &m);
    bool same = plain ? n == m && memcmp(x, y, n) == 0 : a.nbytes == b.nbytes && memcmp(a.text, b.text, a.nbytes) == 0;
    free(x);
    free(y);
    return same;
}

static void compare_tokens(mr__json a, mr__json b)
{
    for (;;) {
        mr__json_token one = mr__json_next(&a), other = mr__json_next(&b);
        FUZZ_REQUIRE(one.kind == other.kind, "the token at %zu is another one", one.at);
        if (one.kind == MR__JSON_END)
            return;
        if (one.kind == MR__JSON_TEXT || one.kind == MR__JSON_NAME)
            FUZZ_REQUIRE(same_text(one, other), "the text at %zu is another one", one.at);
        else
            FUZZ_REQUIRE(one.nbytes == other.nbytes && memcmp(one.text, other.text, one.nbytes) == 0,
                         "the token at %zu differs", one.at);
    }
}

static int write_again(const mr_hooks *hooks, const char *bytes, size_t nbytes, bool anew)
{
    mr__text text;
    const char *copy;
    size_t copy_nbytes;
    mr__text_init(&text, hooks);
    bool json = copy_tokens(bytes, nbytes, &text, anew);
    int result = mr__text_finish(&text, &copy, &copy_nbytes);
    if (result == 0 && json)
        compare_tokens(mr__json_init(bytes, nbytes), mr__json_init(copy, copy_nbytes));
    mr__text_fini(&text);
    return result;
}

/* Passing over the whole says the same as reading it. */
static void check_skip(const char *bytes, size_t nbytes)
{
    mr__json all = mr__json_init(bytes, nbytes), json = all;
    mr__json_token token;
    do
        token = mr__json_next(&all);
    while (token.kind != MR__JSON_BAD && token.kind != MR__JSON_END);
    bool passed = mr__json_skip(&json, mr__json_next(&json)) && mr__json_next(&json).kind == MR__JSON_END;
    FUZZ_REQUIRE(passed == (token.kind == MR__JSON_END), "skip says %d", passed);
    FUZZ_REQUIRE(passed || (json.at == all.at && json.problem == all.problem), "skip ends at %zu", json.at);
}

void fuzz_check_json(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    mr_hooks hooks;
    FUZZ_REQUIRE(mr__hooks_init(&hooks, NULL) == 0, "hooks");
    for (int anew = 0; anew < 2; anew++)
        FUZZ_REQUIRE(write_again(&hooks, (const char *)bytes, nbytes, anew != 0) == 0, "out of memory");
    check_skip((const char *)bytes, nbytes);
}

void fuzz_check_json_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    for (uint64_t at = 1; at <= 4; at++) {
        fuzz_heap heap = {.fill = 0x5a, .fail_at = at, .fail_on = at % 2 == 0};
        mr_hooks given = fuzz_heap_hooks(&heap), hooks;
        FUZZ_REQUIRE(mr__hooks_init(&hooks, &given) == 0, "hooks");
        int result = write_again(&hooks, (const char *)bytes, nbytes, true);
        FUZZ_REQUIRE(result == (heap.calls >= at ? MR_ENOMEM : 0), "%s", mr_error_name(result));
        FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    }
}
