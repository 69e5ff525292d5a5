// SPDX-License-Identifier: Apache-2.0
/*
 * Where in a shard the damage is that no image's hash has found: all but the images and other members is written by
 * rule, so that it can be written again from the index and compared.
 */
#include "dataset/verify.h"

#include "dataset/pack_sample.h"
#include "dataset/place.h"
#include "dataset/tar_write.h"
#include "kernel/hash.h"
#include <stdio.h>
#include <string.h>

typedef struct search {
    mr__verify *v;
    mr__verify_unit *unit;
    const mr__index *index;
    const mr__file *file;
    uint64_t at;    /* in the tar */
    uint64_t first; /* ordinal of the shard's first sample */
    uint32_t alignment;
    mr__text name, label;
    mr__buffer expected, found;
    size_t nbytes; /* expected */
} search;

static void note(search *s, uint64_t ordinal, int code, const char *what, uint64_t at)
{
    char text[256];
    snprintf(text, sizeof text, "%s %s at byte %llu; that is not in the image", what,
             code == MR_EIO ? "cannot be read" : "is damaged", (unsigned long long)at);
    mr__verify_add_around(s->v, s->unit, ordinal, code, text);
}

/* Compares what was expected with what stands there, and moves behind it. */
static int compare(search *s, uint64_t ordinal, const char *what)
{
    size_t got = 0;
    if (mr__buffer_reserve(&s->found, &s->v->hooks, s->nbytes + 1) != 0)
        return MR_ENOMEM;
    int error = mr__file_read(s->file, s->at, s->found.bytes, s->nbytes, &got);
    if (error != 0 || got != s->nbytes)
        note(s, ordinal, MR_EIO, what, s->at);
    else if (memcmp(s->found.bytes, s->expected.bytes, s->nbytes) != 0) {
        size_t i = 0;
        while (s->found.bytes[i] == s->expected.bytes[i])
            i++;
        note(s, ordinal, MR_ECORRUPT, what, s->at + i);
    }
    s->at += s->nbytes;
    s->nbytes = 0;
    return 0;
}

static int expect_head(search *s, size_t base_nbytes, const char *ending, uint64_t nbytes, size_t alignment)
{
    const char *name;
    size_t name_nbytes;
    s->name.nbytes = base_nbytes;
    mr__text_addf(&s->name, ".%s", ending);
    int result = mr__text_finish(&s->name, &name, &name_nbytes);
    if (result == 0)
        result =
            mr__tar_write_head(&s->expected, &s->v->hooks, &s->nbytes, s->at, name, name_nbytes, nbytes, alignment);
    return result;
}

static int pass_payload(search *s, uint64_t ordinal, uint64_t nbytes, const char *what)
{
    s->at += nbytes;
    int result = mr__tar_write_padding(&s->expected, &s->v->hooks, &s->nbytes, nbytes);
    return result == 0 && s->nbytes != 0 ? compare(s, ordinal, what) : result;
}

static int pass_label(search *s, uint64_t position, size_t base_nbytes)
{
    mr_label label;
    uint64_t ordinal = s->first + position;
    if (!mr__index_label(s->index, position, &label) || label.kind == MR_LABEL_NONE)
        return 0;
    mr__text_clear(&s->label);
    mr__pack_label(&s->label, &label);
    int result = s->label.code != 0 ? s->label.code : expect_head(s, base_nbytes, "cls", s->label.nbytes, 0);
    size_t more = s->nbytes + s->label.nbytes;
    if (result == 0)
        result = mr__buffer_grow(&s->expected, &s->v->hooks, s->nbytes, more + 1);
    if (result != 0)
        return result;
    if (s->label.nbytes != 0)
        memcpy(s->expected.bytes + s->nbytes, s->label.buffer.bytes, s->label.nbytes);
    s->nbytes = more;
    result = mr__tar_write_padding(&s->expected, &s->v->hooks, &s->nbytes, s->label.nbytes);
    return result == 0 ? compare(s, ordinal, "its label (.cls)") : result;
}

static int check_member(search *s, uint64_t position, const mr__member *member)
{
    uint64_t seed = mr__record_seed(s->index->head.shard, position);
    size_t got = 0;
    char what[128];
    if (member->nbytes > MR__FETCH_NBYTES_MAX || !member->has_hash)
        return 0;
    if (mr__buffer_reserve(&s->found, &s->v->hooks, (size_t)member->nbytes + 1) != 0)
        return MR_ENOMEM;
    int error = mr__file_read(s->file, s->at, s->found.bytes, (size_t)member->nbytes, &got);
    snprintf(what, sizeof what, "its member %.80s", member->name);
    if (error != 0 || got != member->nbytes || mr__hash_seeded_by(s->found.bytes, got, seed, s->v->cpu) != member->hash)
        note(s, s->first + position, error != 0 ? MR_EIO : MR_ECORRUPT, what, s->at);
    return 0;
}

static int pass_members(search *s, uint64_t position, size_t base_nbytes)
{
    uint32_t count = mr__index_member_count(s->index, position);
    int result = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        mr__member member;
        if (!mr__index_member(s->index, position, i, &member))
            return 0;
        result = expect_head(s, base_nbytes, member.name, member.nbytes, 0);
        if (result == 0)
            result = compare(s, s->first + position, "the tar header of another member");
        if (result == 0)
            result = check_member(s, position, &member);
        if (result == 0)
            result = pass_payload(s, s->first + position, member.nbytes, "the padding behind another member");
    }
    return result;
}

static int pass_sample(search *s, uint64_t position)
{
    mr__record record;
    const char *key;
    size_t nbytes;
    if (!mr__index_record(s->index, position, &record) || !mr__index_key(s->index, position, &key, &nbytes) ||
        record.state != MR_RECORD_PRESENT)
        return 0;
    mr__text_clear(&s->name);
    mr__text_add(&s->name, key, nbytes);
    int result =
        expect_head(s, nbytes, mr__pack_ending((mr_form)record.form), record.nbytes, s->alignment == 4096 ? 4096 : 0);
    if (result == 0)
        result = compare(s, s->first + position, "its tar header");
    if (result == 0)
        result = pass_payload(s, s->first + position, record.nbytes, "the padding behind it");
    if (result == 0)
        result = pass_label(s, position, nbytes);
    return result == 0 ? pass_members(s, position, nbytes) : result;
}

int mr__verify_locate(mr__verify *v, mr__verify_unit *unit, const mr__index *index, size_t shard, uint32_t form,
                      const mr__file *file)
{
    search s = {.v = v,
                .unit = unit,
                .index = index,
                .file = file,
                .first = v->first[shard],
                .alignment = v->m.forms[form].alignment};
    int result = 0;
    mr__text_init(&s.name, &v->hooks);
    mr__text_init(&s.label, &v->hooks);
    for (uint64_t i = 0; i < index->head.samples && result == 0; i++)
        result = pass_sample(&s, i);
    if (result == 0)
        result = mr__tar_write_end(&s.expected, &v->hooks, &s.nbytes);
    if (result == 0)
        result = compare(&s, UINT64_MAX, "the end of the archive");
    mr__text_fini(&s.name);
    mr__text_fini(&s.label);
    mr__buffer_fini(&s.expected, &v->hooks);
    mr__buffer_fini(&s.found, &v->hooks);
    return result;
}
