// SPDX-License-Identifier: Apache-2.0
#include "dataset/records.h"

#include "base/size.h"

#include <stdio.h>
#include <string.h>

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

bool mr__text_is_whole(const char *text, size_t nbytes)
{
    size_t sign = nbytes != 0 && (text[0] == '-' || text[0] == '+');
    for (size_t i = sign; i < nbytes; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return nbytes > sign;
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
    bool there = false;
    int result = keys != NULL ? mr__key_set_add(keys, scan->hooks, draft->key, draft->key_nbytes, &there) : 0;
    if (result == 0 && there)
        return mr__scan_broken(scan, MR_ECORRUPT, "%s has the key '%.*s', which an earlier one has already", what,
                               (int)(draft->key_nbytes < 100 ? draft->key_nbytes : 100), draft->key);
    if (result == 0)
        result = mr__index_add(scan->to, draft);
    if (result == 0 || result == MR_ENOMEM)
        return result;
    return mr__fail(scan->detail, result, "%s: %s cannot stand in an index: %s", scan->path, what,
                    mr_error_text(result));
}
