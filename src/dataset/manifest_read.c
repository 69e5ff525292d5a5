// SPDX-License-Identifier: Apache-2.0
/*
 * Reads dataset.json. The hash at its end is checked first, so that damage is told from a file that somebody wrote, and
 * wrote wrong; then every member by a table, strictly.
 */
#include "dataset/manifest.h"

#include "base/hash.h"
#include "base/json.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "hash": "0123456789abcdef"\n}\n */
enum { HASH_AT = 9, HASH_DIGITS = 16, TAIL_NBYTES = HASH_AT + HASH_DIGITS + 1 + 3 };

typedef struct reading {
    mr__json json;
    mr__manifest *m;
    const char *name; /* of the file */
    mr__detail *detail;
    char member[32];      /* that is being read */
    char ignorable[1024]; /* names, each with a space before and behind it */
    bool is_part;
    uint32_t seen; /* a bit for each of the table's */
} reading;

static int fail(reading *r, const char *what)
{
    if (r->json.problem != NULL)
        return mr__fail(r->detail, MR_ECORRUPT, "%s: not JSON at byte %zu: %s", r->name, r->json.at, r->json.problem);
    return mr__fail(r->detail, MR_ECORRUPT, "%s: \"%s\" at byte %zu: %s", r->name, r->member, r->json.at, what);
}

static int no_memory(reading *r, int code)
{
    if (code == MR_ELIMIT)
        return mr__fail(r->detail, code, "%s: \"%s\": there are more than Millrace can have", r->name, r->member);
    return mr__fail(r->detail, code, "%s: out of memory", r->name);
}

static int read_number(reading *r, uint64_t *value)
{
    mr__json_token token = mr__json_next(&r->json);
    return token.kind == MR__JSON_NUMBER && mr__json_u64(token, value) ? 0 : fail(r, "not a whole number");
}

static int read_u32(reading *r, uint32_t *value)
{
    uint64_t wide;
    int result = read_number(r, &wide);
    if (result != 0)
        return result;
    if (wide > UINT32_MAX)
        return fail(r, "too large a number");
    *value = (uint32_t)wide;
    return 0;
}

static int read_hash(reading *r, uint64_t *value)
{
    mr__json_token token = mr__json_next(&r->json);
    uint64_t sum = 0;
    if (token.kind != MR__JSON_TEXT || token.nbytes != HASH_DIGITS)
        return fail(r, "not 16 hexadecimal digits");
    for (size_t i = 0; i < HASH_DIGITS; i++) {
        const char *digit = strchr("0123456789abcdef", token.text[i]);
        if (digit == NULL || *digit == '\0')
            return fail(r, "not 16 hexadecimal digits in lower case");
        sum = sum << 4 | (uint64_t)(strchr("0123456789abcdef", *digit) - "0123456789abcdef");
    }
    *value = sum;
    return 0;
}

/* A text without anything unusual in it, into `out`. */
static int read_word(reading *r, char *out, size_t nbytes)
{
    mr__json_token token = mr__json_next(&r->json);
    if (token.kind != MR__JSON_TEXT || token.escaped || token.nbytes == 0 || token.nbytes >= nbytes)
        return fail(r, "not a word that could stand here");
    for (size_t i = 0; i < token.nbytes; i++)
        if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.", token.text[i]) == NULL)
            return fail(r, "not a word that could stand here");
    memcpy(out, token.text, token.nbytes);
    out[token.nbytes] = '\0';
    return 0;
}

typedef int member_reader(reading *r, void *to);

typedef struct member {
    const char *name;
    member_reader *read;
    bool optional;
} member;

static void set_member(reading *r, mr__json_token name)
{
    size_t nbytes = name.nbytes < sizeof r->member ? name.nbytes : sizeof r->member - 1;
    for (size_t i = 0; i < nbytes; i++) /* it goes into a message */
        r->member[i] = (char)((unsigned char)name.text[i] < ' ' ? '?' : name.text[i]);
    r->member[nbytes] = '\0';
}

static bool is_ignorable(const reading *r, mr__json_token name)
{
    char padded[sizeof r->member + 2];
    if (name.nbytes >= sizeof r->member)
        return false;
    snprintf(padded, sizeof padded, " %s ", r->member);
    return strstr(r->ignorable, padded) != NULL;
}

/* The members of an object whose { was read. */
static int read_members(reading *r, const member *table, void *to)
{
    uint32_t seen = 0;
    for (;;) {
        mr__json_token name = mr__json_next(&r->json);
        if (name.kind == MR__JSON_OBJECT_END)
            break;
        if (name.kind != MR__JSON_NAME)
            return fail(r, "not an object");
        size_t i = 0;
        set_member(r, name);
        while (table[i].name != NULL && !mr__json_is(name, table[i].name))
            i++;
        if (table[i].name == NULL) {
            if (!is_ignorable(r, name))
                return fail(r, "not a member that Millrace knows");
            if (!mr__json_skip(&r->json, mr__json_next(&r->json)))
                return fail(r, "not JSON");
            continue;
        }
        if ((seen >> i & 1) != 0)
            return fail(r, "is there twice");
        seen |= UINT32_C(1) << i;
        int result = table[i].read(r, to);
        if (result != 0)
            return result;
    }
    for (size_t i = 0; table[i].name != NULL; i++)
        if (!table[i].optional && (seen >> i & 1) == 0)
            return mr__fail(r->detail, MR_ECORRUPT, "%s: \"%s\" is missing", r->name, table[i].name);
    return 0;
}

static int read_object(reading *r, const member *table, void *to)
{
    if (mr__json_next(&r->json).kind != MR__JSON_OBJECT)
        return fail(r, "not an object");
    return read_members(r, table, to);
}

/* The elements of an array; each is read by `read`, which is given the token it begins with. */
static int read_array(reading *r, int (*read)(reading *r, mr__json_token token))
{
    if (mr__json_next(&r->json).kind != MR__JSON_ARRAY)
        return fail(r, "not an array");
    for (;;) {
        mr__json_token token = mr__json_next(&r->json);
        if (token.kind == MR__JSON_ARRAY_END)
            return 0;
        int result = token.kind == MR__JSON_BAD ? fail(r, "") : read(r, token);
        if (result != 0)
            return result;
    }
}

static int refuse_feature(reading *r, mr__json_token token)
{
    return mr__fail(r->detail, MR_EUNSUPPORTED, "%s asks for the feature \"%.*s\", which a newer Millrace has", r->name,
                    token.nbytes < 60 ? (int)token.nbytes : 60, token.text != NULL ? token.text : "");
}

static int note_ignorable(reading *r, mr__json_token token)
{
    size_t used = strlen(r->ignorable);
    if (token.kind != MR__JSON_TEXT || token.escaped || token.nbytes + 3 > sizeof r->ignorable - used)
        return fail(r, "not names of features");
    snprintf(r->ignorable + used, sizeof r->ignorable - used, " %.*s ", (int)token.nbytes, token.text);
    return 0;
}

static int read_format(reading *r, void *to)
{
    char word[32];
    (void)to;
    int result = read_word(r, word, sizeof word);
    if (result != 0)
        return result;
    r->is_part = strcmp(word, "millrace-part") == 0;
    if (r->is_part || strcmp(word, "millrace-dataset") == 0)
        return 0;
    return mr__fail(r->detail, MR_EFORMAT, "%s: not a dataset of Millrace: its format is \"%s\"", r->name, word);
}

static int read_version(reading *r, void *to)
{
    uint64_t version;
    (void)to;
    int result = read_number(r, &version);
    if (result == 0 && version != MR__MANIFEST_VERSION)
        result = mr__fail(r->detail, MR_EUNSUPPORTED, "%s: version %llu: a newer Millrace wrote it; this one reads %d",
                          r->name, (unsigned long long)version, MR__MANIFEST_VERSION);
    return result;
}

static int read_required(reading *r, void *to)
{
    (void)to;
    return read_array(r, refuse_feature);
}

static int read_ignorable(reading *r, void *to)
{
    (void)to;
    return read_array(r, note_ignorable);
}

static int read_part(reading *r, void *to)
{
    return read_u32(r, &((mr__manifest *)to)->part);
}

static int read_parts(reading *r, void *to)
{
    return read_u32(r, &((mr__manifest *)to)->parts);
}

static int read_first_shard(reading *r, void *to)
{
    return read_number(r, &((mr__manifest *)to)->first_shard);
}

static int read_shard_count(reading *r, void *to)
{
    return read_number(r, &((mr__manifest *)to)->total_shards);
}

static int read_samples(reading *r, void *to)
{
    return read_number(r, &((mr__manifest *)to)->samples);
}

static int read_refused(reading *r, void *to)
{
    return read_number(r, &((mr__manifest *)to)->refused);
}

static int read_plan(reading *r, void *to)
{
    return read_hash(r, &((mr__manifest *)to)->plan);
}

static int read_fingerprint(reading *r, void *to)
{
    return read_hash(r, &((mr__manifest *)to)->fingerprint);
}

static int read_source_layout(reading *r, void *to)
{
    char word[16];
    mr__manifest *m = to;
    int result = read_word(r, word, sizeof word);
    for (mr_layout layout = MR_LAYOUT_PACKED; result == 0 && layout <= MR_LAYOUT_FOLDER; layout++)
        if (strcmp(word, mr_layout_name(layout)) == 0) {
            m->source_layout = layout;
            return 0;
        }
    return result != 0 ? result : fail(r, "no layout that Millrace knows");
}

static int read_source_fingerprint(reading *r, void *to)
{
    return read_hash(r, &((mr__manifest *)to)->source_fingerprint);
}

static int read_source(reading *r, void *to)
{
    static const member table[] = {
        {"layout", read_source_layout, false}, {"fingerprint", read_source_fingerprint, false}, {NULL, NULL, false}};
    return read_object(r, table, to);
}

static int read_quarantine_nbytes(reading *r, void *to)
{
    return read_number(r, &((mr__manifest *)to)->quarantine_nbytes);
}

static int read_quarantine_hash(reading *r, void *to)
{
    return read_hash(r, &((mr__manifest *)to)->quarantine_hash);
}

static int read_quarantine(reading *r, void *to)
{
    static const member table[] = {
        {"nbytes", read_quarantine_nbytes, false}, {"hash", read_quarantine_hash, false}, {NULL, NULL, false}};
    ((mr__manifest *)to)->has_quarantine = true;
    return read_object(r, table, to);
}

static int read_form_name(reading *r, void *to)
{
    mr__manifest_form *f = to;
    int result = read_word(r, f->of.name, sizeof f->of.name);
    if (result == 0 && (f->of.name[0] == '.' || strchr(f->of.name, '.') != NULL))
        result = fail(r, "no name of a form");
    return result;
}

static int read_form_form(reading *r, void *to)
{
    char word[16];
    mr__manifest_form *f = to;
    int result = read_word(r, word, sizeof word);
    f->of.form = result == 0 ? mr_form_from_name(word) : MR_FORM_NONE;
    if (result == 0 && f->of.form == MR_FORM_NONE && strcmp(word, "any") != 0)
        result =
            mr__fail(r->detail, MR_EUNSUPPORTED, "%s: the form \"%s\" is none that this Millrace knows", r->name, word);
    return result;
}

static int read_max_side(reading *r, void *to)
{
    return read_u32(r, &((mr__manifest_form *)to)->of.max_side);
}

static int read_short_side(reading *r, void *to)
{
    return read_u32(r, &((mr__manifest_form *)to)->of.short_side);
}

static int read_filter(reading *r, void *to)
{
    mr__manifest_form *f = to;
    return read_word(r, f->filter, sizeof f->filter);
}

static int read_pillow(reading *r, void *to)
{
    return read_u32(r, &((mr__manifest_form *)to)->pillow);
}

static int read_alignment(reading *r, void *to)
{
    mr__manifest_form *f = to;
    int result = read_u32(r, &f->alignment);
    return result == 0 && f->alignment != 512 && f->alignment != 4096 ? fail(r, "neither 512 nor 4096") : result;
}

static int read_form_samples(reading *r, void *to)
{
    return read_number(r, &((mr__manifest_form *)to)->of.samples);
}

static int read_form_nbytes(reading *r, void *to)
{
    return read_number(r, &((mr__manifest_form *)to)->of.nbytes);
}

static int read_form(reading *r, mr__json_token token)
{
    static const member table[] = {{"name", read_form_name, false},      {"form", read_form_form, false},
                                   {"max_side", read_max_side, true},    {"short_side", read_short_side, true},
                                   {"filter", read_filter, true},        {"pillow", read_pillow, true},
                                   {"alignment", read_alignment, false}, {"samples", read_form_samples, false},
                                   {"nbytes", read_form_nbytes, false},  {NULL, NULL, false}};
    mr__manifest *m = r->m;
    if (token.kind != MR__JSON_OBJECT)
        return fail(r, "not an object");
    if (m->form_count == MR__FORM_MAX)
        return no_memory(r, MR_ELIMIT);
    int result = read_members(r, table, &m->forms[m->form_count]);
    for (uint32_t i = 0; i < m->form_count && result == 0; i++)
        if (strcmp(m->forms[i].of.name, m->forms[m->form_count].of.name) == 0)
            result = fail(r, "two forms of one name");
    m->form_count += result == 0;
    return result;
}

static int read_forms(reading *r, void *to)
{
    (void)to;
    int result = read_array(r, read_form);
    return result == 0 && r->m->form_count == 0 ? fail(r, "there is none") : result;
}

static int read_class(reading *r, mr__json_token token)
{
    size_t nbytes = token.nbytes;
    if (token.kind != MR__JSON_TEXT)
        return fail(r, "not a text");
    int code = mr__manifest_add_class(r->m, token.text, token.nbytes);
    if (code != 0)
        return no_memory(r, code);
    char *name = r->m->classes[r->m->class_count - 1];
    if (!mr__json_unescape(token, name, &nbytes) || memchr(name, 0, nbytes) != NULL)
        return fail(r, "not a name");
    name[nbytes] = '\0';
    return 0;
}

static int read_classes(reading *r, void *to)
{
    (void)to;
    return read_array(r, read_class);
}

static int read_file_nbytes(reading *r, void *to)
{
    return read_number(r, &((mr__manifest_file *)to)->nbytes);
}

static int read_file_hash(reading *r, void *to)
{
    return read_hash(r, &((mr__manifest_file *)to)->hash);
}

static int read_index_nbytes(reading *r, void *to)
{
    return read_number(r, &((mr__manifest_file *)to)->index_nbytes);
}

static int read_index_hash(reading *r, void *to)
{
    return read_hash(r, &((mr__manifest_file *)to)->index_hash);
}

typedef struct shard_draft {
    uint64_t samples;
    mr__manifest_file files[MR__FORM_MAX];
} shard_draft;

static int read_shard_samples(reading *r, void *to)
{
    return read_number(r, &((shard_draft *)to)->samples);
}

static int read_shard_files(reading *r, void *to)
{
    static const member table[] = {{"nbytes", read_file_nbytes, false},
                                   {"hash", read_file_hash, false},
                                   {"index_nbytes", read_index_nbytes, false},
                                   {"index_hash", read_index_hash, false},
                                   {NULL, NULL, false}};
    shard_draft *draft = to;
    if (mr__json_next(&r->json).kind != MR__JSON_ARRAY)
        return fail(r, "not an array");
    for (uint32_t f = 0; f < r->m->form_count; f++) {
        int result = read_object(r, table, &draft->files[f]);
        if (result != 0)
            return result;
    }
    return mr__json_next(&r->json).kind == MR__JSON_ARRAY_END ? 0 : fail(r, "not one for each form");
}

static int read_shard(reading *r, mr__json_token token)
{
    static const member table[] = {
        {"samples", read_shard_samples, false}, {"files", read_shard_files, false}, {NULL, NULL, false}};
    shard_draft draft = {0};
    if (token.kind != MR__JSON_OBJECT)
        return fail(r, "not an object");
    int result = read_members(r, table, &draft);
    if (result != 0)
        return result;
    int code = mr__manifest_add_shard(r->m, draft.samples, draft.files);
    return code != 0 ? no_memory(r, code) : 0;
}

static int read_shards(reading *r, void *to)
{
    (void)to;
    if (r->m->form_count == 0) /* they say how many files a shard has */
        return fail(r, "stands before the forms");
    return read_array(r, read_shard);
}

static int read_end(reading *r, void *to)
{
    uint64_t hash; /* compared already */
    (void)to;
    return read_hash(r, &hash);
}

/* What members say must agree with each other. */
static int check_sums(reading *r)
{
    mr__manifest *m = r->m;
    uint64_t sum = 0;
    for (size_t i = 0; i < m->shard_count; i++) {
        if (m->shard_samples[i] > MR__INDEX_SAMPLE_MAX - sum)
            return mr__fail(r->detail, MR_ELIMIT, "%s: more than %llu samples", r->name,
                            (unsigned long long)MR__INDEX_SAMPLE_MAX);
        sum += m->shard_samples[i];
    }
    if (sum != m->samples || m->refused > sum)
        return mr__fail(r->detail, MR_ECORRUPT, "%s: its shards have %llu samples, but it says %llu", r->name,
                        (unsigned long long)sum, (unsigned long long)m->samples);
    if (r->is_part != (m->parts != 0) || (r->is_part && m->part >= m->parts))
        return mr__fail(r->detail, MR_ECORRUPT, "%s: it does not say which part it is", r->name);
    if (!r->is_part)
        m->total_shards = m->shard_count;
    if (m->first_shard > m->total_shards || m->shard_count > m->total_shards - m->first_shard)
        return mr__fail(r->detail, MR_ECORRUPT, "%s: it has shards beyond the last", r->name);
    return 0;
}

static int read_all(reading *r)
{
    static const member table[] = {{"format", read_format, false},
                                   {"version", read_version, false},
                                   {"required", read_required, false},
                                   {"ignorable", read_ignorable, false},
                                   {"part", read_part, true},
                                   {"parts", read_parts, true},
                                   {"first_shard", read_first_shard, true},
                                   {"shard_count", read_shard_count, true},
                                   {"samples", read_samples, false},
                                   {"refused", read_refused, false},
                                   {"plan", read_plan, false},
                                   {"source", read_source, false},
                                   {"fingerprint", read_fingerprint, false},
                                   {"forms", read_forms, false},
                                   {"classes", read_classes, false},
                                   {"quarantine", read_quarantine, true},
                                   {"shards", read_shards, false},
                                   {"hash", read_end, false},
                                   {NULL, NULL, false}};
    int result = read_object(r, table, r->m);
    if (result == 0 && mr__json_next(&r->json).kind != MR__JSON_END)
        result = fail(r, "something stands behind the end");
    return result == 0 ? check_sums(r) : result;
}

/* Whether the last line is there, and the hash in it that of all before. */
static int check_tail(reading *r, const char *text, size_t nbytes)
{
    char tail[TAIL_NBYTES + 1];
    if (nbytes < TAIL_NBYTES)
        return mr__fail(r->detail, MR_ETRUNCATED, "%s: %zu bytes are no dataset.json", r->name, nbytes);
    size_t before = nbytes - TAIL_NBYTES;
    snprintf(tail, sizeof tail, "\"hash\": \"%016llx\"\n}\n", (unsigned long long)mr__hash(text, before));
    if (memcmp(text + before, tail, TAIL_NBYTES) == 0)
        return 0;
    bool whole = memcmp(text + before, tail, HASH_AT) == 0;
    return mr__fail(r->detail, whole ? MR_ECORRUPT : MR_ETRUNCATED,
                    whole ? "%s is damaged, or was changed by hand: its hash is not that of its text"
                          : "%s does not end with its hash: it was cut, damaged, or changed by hand",
                    r->name);
}

int mr__manifest_read(mr__manifest *m, const char *text, size_t nbytes, const char *name, mr__detail *detail)
{
    reading r = {.json = mr__json_init(text, nbytes), .m = m, .name = name, .detail = detail};
    int result = check_tail(&r, text, nbytes);
    if (result == 0)
        result = read_all(&r);
    if (result != 0)
        mr__manifest_fini(m);
    return result;
}

int mr__manifest_load(mr__manifest *m, const char *path, mr__detail *detail)
{
    mr__file file;
    mr__buffer buffer = {0};
    size_t got = 0;
    int error = mr__file_open(&file, path);
    if (error != 0)
        return mr__fail(detail, MR_EIO, "%s: %s", path, mr__errno_text(error).text);
    int result = 0;
    if (file.nbytes > MR__MANIFEST_NBYTES_MAX)
        result = mr__fail(detail, MR_ELIMIT, "%s: more than 1 GiB", path);
    else if (mr__buffer_reserve(&buffer, m->hooks, (size_t)file.nbytes + 1) != 0)
        result = mr__fail(detail, MR_ENOMEM, "%s: out of memory", path);
    else if ((error = mr__file_read(&file, 0, buffer.bytes, (size_t)file.nbytes, &got)) != 0)
        result = mr__fail(detail, MR_EIO, "%s: %s", path, mr__errno_text(error).text);
    else
        result = mr__manifest_read(m, (const char *)buffer.bytes, got, path, detail);
    mr__buffer_fini(&buffer, m->hooks);
    mr__file_close(&file);
    return result;
}
