// SPDX-License-Identifier: Apache-2.0
#include "dataset/records.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS_FIRST = 1024, SLOT_NBYTES = 8 };

/* The slot of this key, or the free one where it belongs. There is a free one always. */
static uint8_t *find_slot(const mr__key_set *set, const char *key, size_t nbytes)
{
    size_t mask = set->capacity - 1, i = (size_t)mr__hash(key, nbytes) & mask;
    for (;; i = (i + 1) & mask) {
        uint8_t *slot = set->slots.bytes + i * SLOT_NBYTES;
        uint64_t place = mr__load_le64(slot);
        if (place == 0)
            return slot;
        const uint8_t *text = set->texts.bytes + (place - 1);
        if (mr__load_le32(text) == nbytes && memcmp(text + 4, key, nbytes) == 0)
            return slot;
    }
}

/* Twice as many slots, and all keys into them. */
static int widen(mr__key_set *set)
{
    size_t capacity = set->capacity != 0 ? 2 * set->capacity : SLOTS_FIRST, nbytes;
    mr__buffer slots = {0};
    if (!mr__size_mul(capacity, SLOT_NBYTES, &nbytes) || mr__buffer_reserve(&slots, set->hooks, nbytes) != 0)
        return MR_ENOMEM;
    memset(slots.bytes, 0, nbytes);
    mr__buffer_fini(&set->slots, set->hooks);
    set->slots = slots;
    set->capacity = capacity;
    for (size_t at = 0; at < set->used;) {
        const uint8_t *text = set->texts.bytes + at;
        uint32_t length = mr__load_le32(text);
        mr__store_le64(find_slot(set, (const char *)text + 4, length), at + 1);
        at += 4 + (size_t)length;
    }
    return 0;
}

int mr__key_set_add(mr__key_set *set, const char *key, size_t nbytes, bool *fresh)
{
    if (2 * set->count >= set->capacity) {
        int result = widen(set);
        if (result != 0)
            return result;
    }
    uint8_t *slot = find_slot(set, key, nbytes);
    *fresh = mr__load_le64(slot) == 0;
    if (!*fresh)
        return 0;
    size_t end;
    if (nbytes > UINT32_MAX || !mr__size_add(set->used, 4 + nbytes, &end) ||
        mr__buffer_grow(&set->texts, set->hooks, set->used, end) != 0)
        return MR_ENOMEM;
    uint8_t *text = set->texts.bytes + set->used;
    mr__store_le32(text, (uint32_t)nbytes);
    if (nbytes != 0)
        memcpy(text + 4, key, nbytes);
    mr__store_le64(slot, set->used + 1);
    set->used = end;
    set->count++;
    return 0;
}

void mr__key_set_fini(mr__key_set *set)
{
    mr__buffer_fini(&set->texts, set->hooks);
    mr__buffer_fini(&set->slots, set->hooks);
    *set = (mr__key_set){.hooks = set->hooks};
}

const char *mr__path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool mr__text_ends_with(const char *text, const char *ending)
{
    size_t have = strlen(text), want = strlen(ending);
    return have >= want && memcmp(text + have - want, ending, want) == 0;
}

/* Bytes of a name before the first of these endings that it has. */
static size_t stem_nbytes(const char *name, const char *endings)
{
    size_t have = strlen(name);
    while (*endings != '\0') {
        size_t n = strcspn(endings, " ");
        if (have > n && memcmp(name + have - n, endings, n) == 0)
            return have - n;
        endings += n + (endings[n] == ' ');
    }
    return have;
}

size_t mr__key_numbered(char key[MR__NUMBERED_NBYTES], const char *path, const char *endings, uint64_t number)
{
    const char *name = mr__path_name(path);
    size_t stem = stem_nbytes(name, endings);
    int most = stem < 256 ? (int)stem : 256;
    return (size_t)snprintf(key, MR__NUMBERED_NBYTES, "%.*s/%09llu", most, name, (unsigned long long)number);
}

int mr__path_beside(const mr_hooks *hooks, const char *path, const char *name, char **out)
{
    size_t folder = (size_t)(mr__path_name(path) - path), length = strlen(name), nbytes;
    if (!mr__size_add(folder, length + 1, &nbytes) || (*out = mr__alloc(hooks, nbytes)) == NULL)
        return MR_ENOMEM;
    memcpy(*out, path, folder);
    memcpy(*out + folder, name, length + 1);
    return 0;
}

int mr__lines_next(mr__lines *lines, const char **line, size_t *nbytes)
{
    static const size_t tries[] = {256, 4096, MR__LINE_NBYTES_MAX}; // a few, so that the window mostly has it
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        size_t got;
        const uint8_t *bytes = mr__window_get(&lines->window, lines->at, tries[i], &got);
        if (bytes == NULL)
            return lines->window.error == MR__WINDOW_NOMEM ? MR_ENOMEM : MR_EIO;
        if (got == 0)
            return 0;
        const uint8_t *end = memchr(bytes, '\n', got);
        if (end == NULL && got == tries[i])
            continue;
        size_t length = end != NULL ? (size_t)(end - bytes) : got;
        lines->at += length + (end != NULL);
        lines->number++;
        *line = (const char *)bytes;
        *nbytes = length - (length != 0 && bytes[length - 1] == '\r');
        return 1;
    }
    lines->number++;
    return MR_ELIMIT;
}

bool mr__text_u64(const char *text, size_t nbytes, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < nbytes; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || sum > UINT64_MAX / 10 || sum * 10 > UINT64_MAX - digit)
            return false;
        sum = sum * 10 + digit;
    }
    if (nbytes == 0)
        return false;
    *value = sum;
    return true;
}

bool mr__text_i64(const char *text, size_t nbytes, int64_t *value)
{
    uint64_t size;
    bool minus = nbytes != 0 && text[0] == '-';
    if (!mr__text_u64(text + minus, nbytes - minus, &size) || size > (uint64_t)INT64_MAX + minus)
        return false;
    *value = minus && size != 0 ? -(int64_t)(size - 1) - 1 : (int64_t)size;
    return true;
}

bool mr__scan_form(mr__window *window, uint64_t offset, uint64_t nbytes, uint8_t *form)
{
    size_t got, most = nbytes < MR__PROBE_NBYTES ? (size_t)nbytes : MR__PROBE_NBYTES;
    const uint8_t *bytes = mr__window_get(window, offset, most, &got);
    if (bytes == NULL)
        return false;
    *form = (uint8_t)mr_form_probe(bytes, got);
    return true;
}

int mr__scan_seen(mr__scan *scan, uint64_t nbytes)
{
    if (scan->seen_nbytes != NULL)
        atomic_fetch_add_explicit(scan->seen_nbytes, nbytes, memory_order_relaxed);
    if (scan->stop != NULL && atomic_load_explicit(scan->stop, memory_order_relaxed))
        return mr__fail(scan->detail, MR_ECLOSED, "%s: stopped while its index was made", scan->path);
    return 0;
}

int mr__scan_end(mr__scan *scan, int result)
{
    if (result == 0 || scan->detail->text[0] != '\0')
        return result;
    return mr__fail(scan->detail, result, "%s: %s while its index was made", scan->path, mr_error_text(result));
}

int mr__scan_add(mr__scan *scan, mr__key_set *keys, const mr__draft *draft, const char *what)
{
    bool fresh = true;
    int result = keys != NULL ? mr__key_set_add(keys, draft->key, draft->key_nbytes, &fresh) : 0;
    if (result == 0 && !fresh)
        return mr__scan_broken(scan, MR_ECORRUPT, "%s has the key '%.*s', which an earlier one has already", what,
                               (int)(draft->key_nbytes < 100 ? draft->key_nbytes : 100), draft->key);
    if (result == 0)
        result = mr__index_add(scan->to, draft);
    if (result == 0 || result == MR_ENOMEM)
        return result;
    return mr__fail(scan->detail, result, "%s: %s cannot stand in an index: %s", scan->path, what,
                    mr_error_text(result));
}
