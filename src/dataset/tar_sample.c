// SPDX-License-Identifier: Apache-2.0
#include "dataset/tar_sample.h"

#include "base/size.h"
#include "dataset/tar_label.h"

#include <string.h>

enum { ENDING_MAX = 16, PROBE_NBYTES = 32 };

#define RECORD_NBYTES_MAX ((UINT64_C(1) << 40) - 1)

mr__tar_words mr__tar_show(const char *text, size_t nbytes)
{
    enum { SHOWN = 80 };
    mr__tar_words words = {.text = ""};
    size_t n = 0, from = nbytes > SHOWN ? nbytes - SHOWN : 0;
    if (from != 0) {
        memcpy(words.text, "...", 3);
        n = 3;
    }
    for (size_t i = from; i < nbytes; i++)
        words.text[n++] = (uint8_t)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
    return words;
}

/* A path, taken apart. */
typedef struct parts {
    size_t key_nbytes;
    const char *name; /* not in lower case yet */
    size_t name_nbytes;
} parts;

/* "__NAME__", or that and a slash: what webdataset keeps for itself. */
static bool is_meta(const char *path, size_t nbytes)
{
    const char *slash = memchr(path, '/', nbytes);
    size_t first = slash != NULL ? (size_t)(slash - path) : nbytes;
    return first >= 4 && memcmp(path, "__", 2) == 0 && memcmp(path + first - 2, "__", 2) == 0;
}

/* False: to be passed over. */
static bool split_path(const char *path, size_t nbytes, parts *p)
{
    size_t base = nbytes;
    while (base != 0 && path[base - 1] != '/')
        base--;
    const char *dot = memchr(path + base, '.', nbytes - base);
    if (dot == NULL || dot == path + base || dot + 1 == path + nbytes || is_meta(path, nbytes))
        return false;
    p->key_nbytes = (size_t)(dot - path);
    p->name = dot + 1;
    p->name_nbytes = nbytes - p->key_nbytes - 1;
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Whether the name is `word`, or ends in a dot and `word`. */
static bool ends_in(const char *name, size_t nbytes, const char *word)
{
    size_t n = strlen(word);
    return nbytes >= n && memcmp(name + nbytes - n, word, n) == 0 && (nbytes == n || name[nbytes - n - 1] == '.');
}

/* By its name: one of an image, and not of a mask. */
static bool is_image(const char *name, size_t nbytes)
{
    char ending[ENDING_MAX];
    size_t n = 0;
    while (n < nbytes && name[nbytes - n - 1] != '.')
        n++;
    if (n >= sizeof ending)
        return false;
    memcpy(ending, name + nbytes - n, n);
    ending[n] = '\0';
    if (memchr(ending, '\0', n) != NULL || mr_form_from_name(ending) == MR_FORM_NONE)
        return false;
    size_t before = n < nbytes ? nbytes - n - 1 : 0;
    return !ends_in(name, before, "seg") && !ends_in(name, before, "mask");
}

static bool is_label(const char *name, size_t nbytes)
{
    return nbytes == 3 && memcmp(name, "cls", 3) == 0;
}

bool mr__tar_name_counts(const char *path, size_t nbytes)
{
    enum { LOOKED_AT = 32 }; /* of its end: enough for an ending, and for what makes a mask of it */
    char name[LOOKED_AT] = "";
    parts p;
    if (!split_path(path, nbytes, &p))
        return false;
    size_t n = p.name_nbytes < sizeof name ? p.name_nbytes : sizeof name;
    for (size_t i = 0; i < n; i++)
        name[i] = lower(p.name[p.name_nbytes - n + i]);
    return is_image(name, n) || is_label(name, p.name_nbytes);
}

static int fail_memory(const mr__tar_sample *s)
{
    return mr__fail(s->scan->detail, MR_ENOMEM, "%s: out of memory for its index", s->scan->path);
}

void mr__tar_sample_drop(mr__tar_sample *s)
{
    s->begun = s->has_image = s->has_label = s->full = false;
    s->key_nbytes = s->names_nbytes = s->count = 0;
    s->record = (mr__record){.offset = 0};
    s->label = (mr_label){.kind = MR_LABEL_NONE};
}

void mr__tar_sample_fini(mr__tar_sample *s)
{
    const mr_hooks *hooks = s->scan->hooks;
    mr__buffer_fini(&s->key, hooks);
    mr__buffer_fini(&s->label_text, hooks);
    mr__buffer_fini(&s->label_values, hooks);
    mr__buffer_fini(&s->names, hooks);
    mr__key_set_fini(&s->keys, hooks);
}

static int begin(mr__tar_sample *s, const char *key, size_t nbytes)
{
    mr__tar_sample_drop(s);
    if (mr__buffer_reserve(&s->key, s->scan->hooks, nbytes) != 0)
        return fail_memory(s);
    memcpy(s->key.bytes, key, nbytes);
    s->key_nbytes = nbytes;
    s->begun = true;
    return 0;
}

/* Which key is to be added: one that is there already is broken, and *there true. */
static int check_key(mr__tar_sample *s, bool *there)
{
    const char *key = (const char *)s->key.bytes;
    int result = mr__key_set_add(&s->keys, s->scan->hooks, key, s->key_nbytes, there);
    if (result == MR_ENOMEM)
        return fail_memory(s);
    if (result != 0)
        return mr__fail(s->scan->detail, result, "%s: its keys were made to collide", s->scan->path);
    if (!*there)
        return 0;
    return mr__scan_broken(s->scan, MR_ECORRUPT,
                           "the key \"%s\" comes a second time: members of one sample have to follow each other, and "
                           "samples to differ",
                           mr__tar_show(key, s->key_nbytes).text);
}

static int add(mr__tar_sample *s)
{
    mr__draft draft = {.key = (const char *)s->key.bytes, .key_nbytes = s->key_nbytes};
    for (size_t i = 0; i < s->count; i++) {
        const mr__tar_entry *entry = &s->entries[i];
        if (entry->member)
            s->members[draft.member_count++] = (mr__member){.name = (const char *)s->names.bytes + entry->name_at,
                                                            .name_nbytes = entry->name_nbytes,
                                                            .offset = entry->offset,
                                                            .nbytes = entry->nbytes};
    }
    draft.record = s->record;
    draft.label = s->label;
    draft.members = s->members;
    int result = mr__index_add(s->scan->to, &draft);
    if (result == MR_ENOMEM)
        return fail_memory(s);
    if (result != 0)
        return mr__fail(s->scan->detail, result, "%s: sample \"%s\" does not go into an index: %s", s->scan->path,
                        mr__tar_show(draft.key, draft.key_nbytes).text, mr_error_text(result));
    return 0;
}

int mr__tar_sample_finish(mr__tar_sample *s)
{
    bool there = false;
    int result = 0;
    if (!s->begun)
        return 0;
    if (!s->has_image)
        result = mr__scan_broken(s->scan, MR_ECORRUPT, "sample \"%s\" has no image, only \"%s\"%s",
                                 mr__tar_show((const char *)s->key.bytes, s->key_nbytes).text,
                                 mr__tar_show((const char *)s->names.bytes, s->entries[0].name_nbytes).text,
                                 s->count > 1 ? " and others" : "");
    else if ((result = check_key(s, &there)) == 0 && !there)
        result = add(s);
    mr__tar_sample_drop(s);
    return result;
}

/* Lower-cased, behind those that are kept; it is not counted yet. */
static int put_name(mr__tar_sample *s, const char *name, size_t nbytes)
{
    if (mr__buffer_grow(&s->names, s->scan->hooks, s->names_nbytes, s->names_nbytes + nbytes) != 0)
        return fail_memory(s);
    for (size_t i = 0; i < nbytes; i++)
        s->names.bytes[s->names_nbytes + i] = (uint8_t)lower(name[i]);
    return 0;
}

static bool has_name(const mr__tar_sample *s, const char *name, size_t nbytes)
{
    for (size_t i = 0; i < s->count; i++) {
        const mr__tar_entry *entry = &s->entries[i];
        if (entry->name_nbytes == nbytes && memcmp(s->names.bytes + entry->name_at, name, nbytes) == 0)
            return true;
    }
    return false;
}

/* The window's bytes stay only until the next call: text is copied. */
static int take_label(mr__tar_sample *s, mr__window *window, const mr__tar_entry *entry)
{
    size_t got;
    const uint8_t *bytes = mr__window_get(window, entry->offset, (size_t)entry->nbytes, &got);
    if (bytes == NULL)
        return mr__scan_io(s->scan, window);
    if (got < entry->nbytes)
        return mr__fail(s->scan->detail, MR_ETRUNCATED, "%s: became shorter while it was scanned", s->scan->path);
    if (mr__buffer_reserve(&s->label_text, s->scan->hooks, got + 1) != 0) /* an empty one has a place too */
        return fail_memory(s);
    memcpy(s->label_text.bytes, bytes, got);
    if (mr__tar_label_read(s->label_text.bytes, got, &s->label_values, s->scan->hooks, &s->label) != 0)
        return fail_memory(s);
    s->has_label = true;
    return 0;
}

static int take_image(mr__tar_sample *s, mr__window *window, const mr__tar_entry *entry)
{
    size_t got, wanted = entry->nbytes < PROBE_NBYTES ? (size_t)entry->nbytes : PROBE_NBYTES;
    const uint8_t *bytes = mr__window_get(window, entry->offset, wanted, &got);
    if (bytes == NULL)
        return mr__scan_io(s->scan, window);
    s->record = (mr__record){.offset = entry->offset, .nbytes = entry->nbytes};
    s->record.form = (uint8_t)mr_form_probe(bytes, got);
    s->has_image = true;
    return 0;
}

/* What a member is; one that is too large or too many is broken, and *left_out true. */
static int take_entry(mr__tar_sample *s, mr__window *window, mr__tar_entry *entry, bool *left_out)
{
    const char *key = (const char *)s->key.bytes, *name = (const char *)s->names.bytes + entry->name_at;
    bool image = !s->has_image && is_image(name, entry->name_nbytes);
    bool label = is_label(name, entry->name_nbytes);
    *left_out = true;
    if (image && entry->nbytes > RECORD_NBYTES_MAX)
        return mr__scan_broken(s->scan, MR_ELIMIT, "the image of sample \"%s\" has %llu bytes: 2^40 or more",
                               mr__tar_show(key, s->key_nbytes).text, (unsigned long long)entry->nbytes);
    if (label && entry->nbytes > MR__TAR_LABEL_MAX)
        return mr__scan_broken(s->scan, MR_ELIMIT, "the cls of sample \"%s\" has %llu bytes: more than %d",
                               mr__tar_show(key, s->key_nbytes).text, (unsigned long long)entry->nbytes,
                               MR__TAR_LABEL_MAX);
    if (!image && !label && s->count == MR__MEMBER_MAX + (size_t)s->has_image + (size_t)s->has_label) {
        bool again = s->full;
        s->full = true;
        return again ? 0
                     : mr__scan_broken(s->scan, MR_ELIMIT, "sample \"%s\" has more than %d members beside its image",
                                       mr__tar_show(key, s->key_nbytes).text, MR__MEMBER_MAX);
    }
    *left_out = false;
    entry->member = !image && !label;
    if (image)
        return take_image(s, window, entry);
    return label ? take_label(s, window, entry) : 0;
}

static int turn_to(mr__tar_sample *s, const char *key, size_t nbytes)
{
    bool same = s->begun && s->key_nbytes == nbytes && memcmp(s->key.bytes, key, nbytes) == 0;
    return same ? 0 : mr__tar_sample_finish(s);
}

int mr__tar_sample_turn(mr__tar_sample *s, const char *path, size_t path_nbytes)
{
    parts p;
    return split_path(path, path_nbytes, &p) ? turn_to(s, path, p.key_nbytes) : 0;
}

int mr__tar_sample_take(mr__tar_sample *s, mr__window *window, const char *path, size_t path_nbytes, uint64_t offset,
                        uint64_t nbytes)
{
    parts p;
    bool left_out;
    int result = 0;
    if (!split_path(path, path_nbytes, &p))
        return 0;
    if ((result = turn_to(s, path, p.key_nbytes)) != 0 || (!s->begun && (result = begin(s, path, p.key_nbytes)) != 0))
        return result;
    if ((result = put_name(s, p.name, p.name_nbytes)) != 0)
        return result;
    if (has_name(s, (const char *)s->names.bytes + s->names_nbytes, p.name_nbytes))
        return mr__scan_broken(s->scan, MR_ECORRUPT, "a second \"%s\" before byte %llu",
                               mr__tar_show(path, path_nbytes).text, (unsigned long long)offset);
    mr__tar_entry entry = {
        .name_at = s->names_nbytes, .name_nbytes = p.name_nbytes, .offset = offset, .nbytes = nbytes};
    result = take_entry(s, window, &entry, &left_out);
    if (result != 0 || left_out)
        return result;
    s->entries[s->count++] = entry;
    s->names_nbytes += p.name_nbytes;
    return 0;
}
