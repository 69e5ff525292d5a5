// SPDX-License-Identifier: Apache-2.0
/*
 * Every byte of an index. What is in the sections is looked at before their hashes are: a hash says that a section is
 * damaged, its contents often say which sample. Invariant: an index that passes is the one that mr__index_build_finish
 * makes of the drafts in it, but for sections that are not known here.
 */
#include "dataset/index_file.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

typedef struct check {
    const mr__index *index;
    const char *name;
    mr__detail *detail;
} check;

static int fail_section(const check *c, uint32_t section, const char *what)
{
    return mr__fail(c->detail, MR_ECORRUPT, "%s: section %u (%s) of the index is damaged: %s", c->name, section,
                    mr__section_name(section), what);
}

static int fail_thing(const check *c, uint32_t section, uint64_t number, const char *what)
{
    return mr__fail(c->detail, MR_ECORRUPT, "%s: section %u (%s) of the index is damaged at number %llu: %s", c->name,
                    section, mr__section_name(section), (unsigned long long)number, what);
}

static int fail_sample(const check *c, uint32_t section, uint64_t position, const char *what)
{
    enum { MOST = 60 };
    const char *key = "?";
    size_t nbytes = 1;
    mr__index_key(c->index, position, &key, &nbytes);
    return mr__fail(c->detail, MR_ECORRUPT, "%s: section %u (%s) of the index is damaged at sample %llu, '%.*s': %s",
                    c->name, section, mr__section_name(section), (unsigned long long)position,
                    nbytes < MOST ? (int)nbytes : MOST, key, what);
}

/* What a head has that its layout does not. */
static int check_head(const check *c)
{
    const mr__index_head *head = &c->index->head;
    bool packed = head->layout == MR_LAYOUT_PACKED;
    if ((!packed && (head->shard != 0 || head->data_hash != 0)) || (packed && head->data_mtime_ns != 0))
        return mr__fail(c->detail, MR_ECORRUPT, "%s: the head of the index has what its layout does not", c->name);
    return 0;
}

static const uint8_t *entry_of(const mr__index *index, uint32_t number)
{
    return index->bytes + MR__INDEX_HEAD_NBYTES + number * (size_t)MR__INDEX_ENTRY_NBYTES;
}

static int check_gaps(const check *c)
{
    const mr__index *index = c->index;
    uint32_t sections = mr__load_le32(index->bytes + 12);
    uint64_t at = (uint64_t)(entry_of(index, sections) - index->bytes);
    for (uint32_t i = 0; i < sections; i++) {
        uint64_t place = mr__load_le64(entry_of(index, i) + 8);
        for (; at < place; at++)
            if (index->bytes[at] != 0)
                return mr__fail(c->detail, MR_ECORRUPT, "%s: byte %llu of the index, between sections, is not 0",
                                c->name, (unsigned long long)at);
        at += mr__load_le64(entry_of(index, i) + 16);
    }
    return 0;
}

static int check_hashes(const check *c)
{
    const mr__index *index = c->index;
    uint32_t sections = mr__load_le32(index->bytes + 12);
    for (uint32_t i = 0; i < sections; i++) {
        const uint8_t *entry = entry_of(index, i);
        size_t nbytes = (size_t)mr__load_le64(entry + 16);
        if (mr__hash(index->bytes + mr__load_le64(entry + 8), nbytes) != mr__load_le64(entry + 24))
            return fail_section(c, mr__load_le32(entry), "its hash does not match");
    }
    return 0;
}

static int check_keys(const check *c)
{
    for (uint64_t i = 0; i < c->index->head.samples; i++) {
        const char *key;
        size_t nbytes;
        if (!mr__index_key(c->index, i, &key, &nbytes))
            return fail_sample(c, MR__SECTION_KEYS, i, "the place of its key is impossible, or no zero ends it");
        if (memchr(key, 0, nbytes) != NULL)
            return fail_sample(c, MR__SECTION_KEYS, i, "there is a zero in its key");
    }
    return 0;
}

/* Ascending without equals, and each position with its own hash: so every position is there once. */
static int check_map(const check *c)
{
    const uint8_t *map = mr__index_key_map(c->index);
    for (uint64_t i = 0, last = 0; i < c->index->head.samples; i++) {
        uint64_t entry = mr__load_le64(map + 8 * i), position = entry & UINT32_MAX;
        const char *key;
        size_t nbytes;
        if (i != 0 && entry <= last)
            return fail_thing(c, MR__SECTION_KEY_MAP, i, "it is not above the one before it");
        if (!mr__index_key(c->index, position, &key, &nbytes))
            return fail_thing(c, MR__SECTION_KEY_MAP, i, "there is no such sample");
        if (mr__hash(key, nbytes) >> 32 != entry >> 32)
            return fail_sample(c, MR__SECTION_KEY_MAP, position, "its key has another hash");
        last = entry;
    }
    return 0;
}

static int check_records(const check *c)
{
    const uint8_t *record = c->index->sections[MR__SECTION_RECORDS].bytes;
    for (uint64_t i = 0; i < c->index->head.samples; i++, record += MR__INDEX_RECORD_NBYTES) {
        const char *fault = mr__record_fault(&c->index->head, record);
        if (fault != NULL)
            return fail_sample(c, MR__SECTION_RECORDS, i, fault);
    }
    return 0;
}

/* Values stand one after the other, in the order of the samples. */
static int check_labels(const check *c)
{
    const uint8_t *record = c->index->sections[MR__SECTION_RECORDS].bytes;
    uint64_t end = 0;
    for (uint64_t i = 0; i < c->index->head.samples; i++, record += MR__INDEX_RECORD_NBYTES) {
        uint64_t place, nbytes, bits = mr__load_le64(record + 32);
        mr_label label;
        if (!mr__label_extent(record, &place, &nbytes) || !mr__index_label(c->index, i, &label))
            return fail_sample(c, MR__SECTION_RECORDS, i, "its label lies outside of the section of labels");
        bool fits = label.kind == MR_LABEL_INT || label.kind == MR_LABEL_FLOAT;
        if (nbytes == 0 && !fits && bits != 0)
            return fail_sample(c, MR__SECTION_RECORDS, i, "a label without values has a place");
        if (nbytes != 0 && place != end)
            return fail_sample(c, MR__SECTION_RECORDS, i, "its label does not stand behind the one before it");
        if (nbytes != 0 && label.kind == MR_LABEL_TEXT && memchr(label.values, 0, label.count) != NULL)
            return fail_sample(c, MR__SECTION_LABELS, i, "there is a zero in its text");
        end += nbytes;
    }
    bool there = c->index->sections[MR__SECTION_LABELS].bytes != NULL;
    if (end != c->index->sections[MR__SECTION_LABELS].nbytes || there != (end != 0))
        return fail_section(c, MR__SECTION_LABELS, "it is not as long as all labels");
    return 0;
}

/* Names appear in the order of their numbers, each at least once. */
static int check_members(const check *c)
{
    uint64_t names = 0, members = 0;
    for (uint64_t i = 0; i < c->index->head.samples && c->index->sections[MR__SECTION_MEMBERS].bytes != NULL; i++) {
        const uint8_t *starts = c->index->sections[MR__SECTION_MEMBERS].bytes;
        const uint8_t *entries = starts + 8 * (c->index->head.samples + 1);
        uint64_t first = mr__load_le64(starts + 8 * i), next = mr__load_le64(starts + 8 * i + 8);
        uint32_t count = mr__index_member_count(c->index, i);
        if (first > next || next - first != count)
            return fail_sample(c, MR__SECTION_MEMBERS, i, "the number of its members is impossible");
        for (uint32_t k = 0; k < count; k++) {
            const uint8_t *entry = entries + MR__MEMBER_NBYTES * (first + k);
            mr__member member;
            if (!mr__index_member(c->index, i, k, &member))
                return fail_sample(c, MR__SECTION_MEMBERS, i, "a member lies beyond the data, or has no name");
            if (mr__load_le32(entry + 24) > names || mr__load_le32(entry + 28) > MR__MEMBER_HASHED ||
                (!member.has_hash && member.hash != 0))
                return fail_sample(c, MR__SECTION_MEMBERS, i, "a member has a wrong number");
            names += mr__load_le32(entry + 24) == names;
        }
        members += count;
    }
    bool there = c->index->sections[MR__SECTION_NAMES].bytes != NULL;
    if ((c->index->sections[MR__SECTION_MEMBERS].bytes != NULL) != (members != 0))
        return fail_section(c, MR__SECTION_MEMBERS, "there are none in it");
    if (c->index->sections[MR__SECTION_NAMES].count != names || there != (names != 0))
        return fail_section(c, MR__SECTION_NAMES, "there are others than the members have");
    return 0;
}

/* A list of texts that begins with their number. */
static int check_texts(const check *c, uint32_t section)
{
    const uint8_t *bytes = c->index->sections[section].bytes;
    if (bytes == NULL)
        return 0;
    uint64_t count = c->index->sections[section].count, left = c->index->sections[section].nbytes - 8 - 8 * (count + 1);
    const uint8_t *texts = bytes + 8 + 8 * (count + 1);
    if (count == 0)
        return fail_section(c, section, "there are none in it");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t place, nbytes;
        if (!mr__places_get(bytes + 8, count, left, i, &place, &nbytes) || nbytes == 0)
            return fail_thing(c, section, i, "its place is impossible");
        if (memchr(texts + place, 0, (size_t)nbytes) != texts + place + nbytes - 1)
            return fail_thing(c, section, i, "it does not end with its first zero");
    }
    return 0;
}

static int check_problems(const check *c)
{
    uint64_t count = mr__index_problem_count(c->index), end = 0;
    const uint8_t *bytes = c->index->sections[MR__SECTION_PROBLEMS].bytes;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *entry = bytes + 8 + MR__PROBLEM_NBYTES * i;
        const char *text;
        uint32_t position, nbytes = mr__load_le32(entry + 16);
        int code;
        if (!mr__index_problem(c->index, i, &position, &code, &text) || strlen(text) != nbytes)
            return fail_thing(c, MR__SECTION_PROBLEMS, i, "its text is not where it must be");
        if (mr__load_le64(entry + 8) != end || mr__load_le32(entry + 20) != 0)
            return fail_thing(c, MR__SECTION_PROBLEMS, i, "it does not stand behind the one before it");
        if (code >= 0 || (position != MR__INDEX_NO_POSITION && position >= c->index->head.samples))
            return fail_thing(c, MR__SECTION_PROBLEMS, i, "there is no such code, or no such sample");
        end += (uint64_t)nbytes + 1;
    }
    if (bytes != NULL &&
        (count == 0 || 8 + MR__PROBLEM_NBYTES * count + end != c->index->sections[MR__SECTION_PROBLEMS].nbytes))
        return fail_section(c, MR__SECTION_PROBLEMS, "it is not as long as all texts");
    return 0;
}

static int check_folders(const check *c)
{
    uint64_t count = mr__index_folder_count(c->index), end = 0;
    const uint8_t *bytes = c->index->sections[MR__SECTION_FOLDERS].bytes;
    for (uint64_t i = 0; i < count; i++) {
        const char *path;
        int64_t mtime_ns;
        if (!mr__index_folder(c->index, i, &path, &mtime_ns) ||
            mr__load_le64(bytes + 8 + MR__FOLDER_NBYTES * i + 8) != end)
            return fail_thing(c, MR__SECTION_FOLDERS, i, "its name is not where it must be");
        if (i == 0 && path[0] != '\0')
            return fail_thing(c, MR__SECTION_FOLDERS, i, "the first is not the dataset's own");
        end += strlen(path) + 1;
    }
    if (bytes != NULL &&
        (count == 0 || 8 + MR__FOLDER_NBYTES * count + end != c->index->sections[MR__SECTION_FOLDERS].nbytes))
        return fail_section(c, MR__SECTION_FOLDERS, "it is not as long as all names");
    return 0;
}

static int check_row_indexes(const check *c)
{
    uint64_t samples = c->index->head.samples, there = c->index->sections[MR__SECTION_ROW_INDEXES].nbytes;
    for (uint64_t i = 0; i < samples; i++) {
        const void *bytes;
        size_t nbytes;
        if (!mr__index_row_index(c->index, i, &bytes, &nbytes))
            return fail_sample(c, MR__SECTION_ROW_INDEXES, i, "the place of its row index is impossible");
    }
    if (there == 8 * (samples + 1))
        return fail_section(c, MR__SECTION_ROW_INDEXES, "there are none in it");
    return 0;
}

static int check_fingerprint(const check *c)
{
    uint64_t fingerprint;
    if (!mr__index_fingerprint(c->index, &fingerprint) || fingerprint != c->index->head.fingerprint)
        return mr__fail(c->detail, MR_ECORRUPT, "%s: the index has another fingerprint than its samples", c->name);
    return 0;
}

int mr__index_check(const mr__index *index, const char *name, mr__detail *detail)
{
    static int (*const checks[])(const check *) = {check_head,    check_gaps,       check_keys,    check_records,
                                                   check_labels,  check_map,        check_members, check_problems,
                                                   check_folders, check_row_indexes};
    mr__index again; // the head, which may have changed since it was opened
    check c = {&again, mr__name_end(name), detail};
    mr__index_read_ahead(index, true);
    int error = mr__index_init(&again, index->bytes, index->nbytes, name, detail);
    for (size_t i = 0; i < sizeof checks / sizeof *checks && error == 0; i++)
        error = checks[i](&c);
    if (error == 0)
        error = check_texts(&c, MR__SECTION_NAMES);
    if (error == 0)
        error = check_texts(&c, MR__SECTION_CLASSES);
    if (error == 0)
        error = check_hashes(&c);
    if (error == 0)
        error = check_fingerprint(&c);
    mr__index_read_ahead(index, false);
    return error;
}
