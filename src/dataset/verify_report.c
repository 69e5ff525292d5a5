// SPDX-License-Identifier: Apache-2.0
/*
 * The report of a run: a line of JSON for each shard that was verified, written when it was. Another run with the same
 * report, over the same dataset, passes over what is in it. The first line says which dataset; a line that was cut by
 * a crash is the last, and its shard is verified again.
 */
#include "base/json.h"
#include "dataset/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_NBYTES_MAX = 1 << 20 };

static int fail(mr__verify *v, int error)
{
    return mr__fail(&v->detail, MR_EIO, "%s: %s", v->options.report, strerror(error));
}

static void write_line(mr__verify *v, const mr__text *line)
{
    if (line->code == 0 && fwrite(line->buffer.bytes, 1, line->nbytes, v->out) == line->nbytes)
        fflush(v->out);
}

static void put_head(const mr__verify *v, mr__text *t)
{
    mr__text_addf(t, "{\"plan\": \"%016llx\", \"fingerprint\": \"%016llx\", \"shards\": %zu}\n",
                  (unsigned long long)v->m.plan, (unsigned long long)v->m.fingerprint, v->m.shard_count);
}

static void put_unit(const mr__verify *v, size_t number, mr__text *t)
{
    const mr__verify_unit *unit = &v->units[number];
    mr__text_addf(t, "{\"shard\": %zu, \"form\": \"%s\", \"index_damaged\": %s, \"missing\": %s, \"findings\": [",
                  number / v->m.form_count, v->m.forms[number % v->m.form_count].of.name,
                  unit->index_damaged ? "true" : "false", unit->missing ? "true" : "false");
    for (size_t i = 0; i < unit->damage_count; i++) {
        const mr__damage *d = &unit->damages[i];
        mr__text_addf(t, "%s{\"ordinal\": %lld, \"code\": %d, \"text\": ", i != 0 ? ", " : "",
                      d->ordinal == UINT64_MAX ? -1LL : (long long)d->ordinal, d->code);
        mr__text_add_json(t, d->text, strlen(d->text));
        mr__text_add_z(t, "}");
    }
    mr__text_add_z(t, "]}\n");
}

void mr__verify_report_add(mr__verify *v, size_t number)
{
    mr__text line;
    if (v->out == NULL)
        return;
    mr__text_init(&line, &v->hooks);
    put_unit(v, number, &line);
    mr__mutex_lock(&v->lock);
    write_line(v, &line);
    mr__mutex_unlock(&v->lock);
    mr__text_fini(&line);
}

static bool read_finding(mr__verify *v, mr__verify_unit *unit, mr__json *json)
{
    int64_t ordinal = -1, code = MR_ECORRUPT;
    char text[512] = "";
    for (mr__json_token name; (name = mr__json_next(json)).kind == MR__JSON_NAME;) {
        mr__json_token value = mr__json_next(json);
        size_t nbytes = 0;
        if (mr__json_is(name, "ordinal"))
            mr__json_i64(value, &ordinal);
        else if (mr__json_is(name, "code"))
            mr__json_i64(value, &code);
        else if (mr__json_is(name, "text") && value.nbytes < sizeof text && mr__json_unescape(value, text, &nbytes))
            text[nbytes] = '\0';
        else if (!mr__json_skip(json, value))
            return false;
    }
    mr__verify_add(v, unit, ordinal < 0 ? UINT64_MAX : (uint64_t)ordinal, (int)code, "%s", text);
    return true;
}

static bool read_findings(mr__verify *v, mr__verify_unit *unit, mr__json *json)
{
    mr__json_token token;
    while ((token = mr__json_next(json)).kind == MR__JSON_OBJECT)
        if (!read_finding(v, unit, json))
            return false;
    return token.kind == MR__JSON_ARRAY_END;
}

/* The form's number; form_count when there is none of that name. */
static uint32_t form_of(const mr__verify *v, mr__json_token name)
{
    uint32_t f = 0;
    while (f < v->m.form_count && !mr__json_is(name, v->m.forms[f].of.name))
        f++;
    return f;
}

/* A line that was written whole; members come in the order of put_unit. */
static void read_unit(mr__verify *v, const char *line, size_t nbytes)
{
    mr__json json = mr__json_init(line, nbytes);
    uint64_t shard = UINT64_MAX;
    uint32_t form = UINT32_MAX;
    bool damaged = false, missing = false;
    if (mr__json_next(&json).kind != MR__JSON_OBJECT)
        return;
    for (mr__json_token name; (name = mr__json_next(&json)).kind == MR__JSON_NAME;) {
        mr__json_token value = mr__json_next(&json);
        if (mr__json_is(name, "shard"))
            mr__json_u64(value, &shard);
        else if (mr__json_is(name, "form"))
            form = form_of(v, value);
        else if (mr__json_is(name, "index_damaged"))
            damaged = value.kind == MR__JSON_TRUE;
        else if (mr__json_is(name, "missing"))
            missing = value.kind == MR__JSON_TRUE;
        else if (mr__json_is(name, "findings") && value.kind == MR__JSON_ARRAY) {
            if (shard >= v->m.shard_count || form >= v->m.form_count)
                return;
            mr__verify_unit *unit = &v->units[shard * v->m.form_count + form];
            if (unit->from_report || !read_findings(v, unit, &json))
                return;
            unit->from_report = unit->done = true;
            unit->index_damaged = damaged;
            unit->missing = missing;
            v->report.files_before++;
        }
    }
}

/* Reads what an earlier run wrote; *end is where its last whole line ends, 0 when it is of another dataset. */
static int read_report(mr__verify *v, FILE *file, long *end)
{
    mr__text head;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    mr__text_init(&head, &v->hooks);
    put_head(v, &head);
    bool first = true, same = false;
    *end = 0;
    while ((length = getline(&line, &capacity, file)) > 0 && line[length - 1] == '\n') {
        if (first)
            same = head.code == 0 && (size_t)length == head.nbytes && memcmp(line, head.buffer.bytes, head.nbytes) == 0;
        else if (length < LINE_NBYTES_MAX)
            read_unit(v, line, (size_t)length);
        first = false;
        if (!same)
            break;
        *end += length;
    }
    free(line);
    mr__text_fini(&head);
    if (!first && !same)
        return mr__fail(&v->detail, MR_EARGUMENT, "%s is of another dataset: give another name, or remove it",
                        v->options.report);
    return 0;
}

int mr__verify_report_open(mr__verify *v)
{
    mr__text head;
    long end = 0;
    if (v->options.report == NULL)
        return 0;
    FILE *file = fopen(v->options.report, "r+e");
    if (file == NULL && errno == ENOENT)
        file = fopen(v->options.report, "w+e");
    if (file == NULL)
        return fail(v, errno);
    int result = read_report(v, file, &end);
    if (result == 0 && (fseek(file, end, SEEK_SET) != 0 || ftruncate(fileno(file), end) != 0))
        result = fail(v, errno);
    if (result != 0) {
        fclose(file);
        return result;
    }
    v->out = file;
    mr__text_init(&head, &v->hooks);
    put_head(v, &head);
    if (end == 0)
        write_line(v, &head);
    mr__text_fini(&head);
    return 0;
}

void mr__verify_report_close(mr__verify *v)
{
    if (v->out != NULL)
        fclose(v->out);
    v->out = NULL;
}
