// SPDX-License-Identifier: Apache-2.0
/* quarantine.jsonl: what was refused, out of the problems that indexes have. */
#include "dataset/pack.h"

#include <string.h>

void mr__pack_quarantine_add(mr__text *to, uint64_t ordinal, const char *key, size_t key_nbytes, int code,
                             const char *error)
{
    if (ordinal != UINT64_MAX) {
        mr__text_addf(to, "{\"ordinal\": %llu, \"key\": ", (unsigned long long)ordinal);
        mr__text_add_json(to, key, key_nbytes);
    } else
        mr__text_add_z(to, "{\"ordinal\": null, \"key\": null");
    mr__text_addf(to, ", \"code\": \"%s\", \"error\": ", mr_error_name(code));
    mr__text_add_json(to, error, strlen(error));
    mr__text_add_z(to, "}\n");
}

/* Whether the sample's name in the index was made of this key. */
static bool is_made_of(mr__text *scratch, mr_layout layout, const char *name, const char *key, size_t key_nbytes)
{
    char copy[512];
    const char *made;
    size_t nbytes;
    bool same = false;
    if (key_nbytes >= sizeof copy)
        return false;
    memcpy(copy, key, key_nbytes);
    copy[key_nbytes] = '\0';
    for (int ending = 1; ending >= 0 && !same; ending--) {
        mr__text_clear(scratch);
        mr__pack_name(scratch, layout, copy, ending != 0);
        if (mr__text_finish(scratch, &made, &nbytes) == 0)
            same = strncmp(name, made, nbytes) == 0 && (name[nbytes] == '\0' || strncmp(name + nbytes, "%23", 3) == 0);
    }
    return same;
}

/* The text of a problem is the key in the source, ": ", and what is wrong. Either may have ": " in it. */
static size_t find_key(mr__text *scratch, mr_layout layout, const mr__index *index, uint32_t position, const char *text)
{
    const char *colon = strstr(text, ": "), *first = colon, *name;
    size_t nbytes;
    if (!mr__index_key(index, position, &name, &nbytes))
        colon = NULL;
    for (; colon != NULL; colon = strstr(colon + 1, ": "))
        if (is_made_of(scratch, layout, name, text, (size_t)(colon - text)))
            return (size_t)(colon - text);
    return first != NULL ? (size_t)(first - text) : 0;
}

uint64_t mr__pack_quarantine_add_index(mr__text *to, mr_layout layout, const mr__index *index, uint64_t first_ordinal)
{
    uint64_t count = mr__index_problem_count(index), refused = 0;
    mr__text scratch;
    mr__text_init(&scratch, to->hooks);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t position;
        int code;
        const char *text;
        if (!mr__index_problem(index, i, &position, &code, &text))
            continue;
        bool sample = position != MR__INDEX_NO_POSITION;
        size_t key = sample ? find_key(&scratch, layout, index, position, text) : 0;
        mr__pack_quarantine_add(to, sample ? first_ordinal + position : UINT64_MAX, text, key, code,
                                key != 0 ? text + key + 2 : text);
        refused += sample;
    }
    mr__text_fini(&scratch);
    return refused;
}

int mr__pack_quarantine_publish(mr_packer *p, const char *folder, mr__text *t)
{
    const char *text;
    size_t nbytes;
    int result = mr__text_finish(t, &text, &nbytes);
    return result == 0 && nbytes != 0 ? mr__pack_publish(p, folder, MR__QUARANTINE_NAME, text, nbytes) : result;
}
