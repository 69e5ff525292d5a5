// SPDX-License-Identifier: Apache-2.0
/*
 * The report of a run: a line of JSON for each shard that was verified, written when it was. A run with the report of
 * one that was stopped passes over what is in it, unless lengths or times of the files have changed since. A report
 * that has all shards is of a run that came to its end: everything is read again. The first line says which dataset; a
 * line that was cut by a crash is the last, and its shard is verified again.
 */
#include "base/hash.h"
#include "base/json.h"
#include "dataset/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REPORT_NBYTES_MAX = 1 << 30 };

static int fail(mr__verify *v, int error)
{
    return mr__fail(&v->detail, error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s: %s", v->options.report,
                    mr__errno_text(error).text);
}

/* A line that could not be written costs time at the next run, no more. */
static void write_line(mr__verify *v, const mr__text *line)
{
    for (size_t done = 0; line->code == 0 && done < line->nbytes;) {
        ssize_t now = write(v->report_fd, line->buffer.bytes + done, line->nbytes - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return;
        done += (size_t)now;
    }
}

static void put_head(const mr__verify *v, mr__text *t)
{
    mr__text_addf(t, "{\"plan\": \"%016llx\", \"fingerprint\": \"%016llx\", \"shards\": %zu}\n",
                  (unsigned long long)v->m.plan, (unsigned long long)v->m.fingerprint, v->m.shard_count);
}

/* What the two files of a unit are known by: lengths and times. Others than those that were verified are read again. */
static uint64_t files_of(const mr__verify *v, size_t number)
{
    static const char *const endings[] = {"tar", "mrx"};
    uint64_t of[4] = {0};
    for (size_t i = 0; i < 2; i++) {
        char path[MR__PATH_MAX];
        mr__file file;
        mr__shard_name(path, sizeof path, v->folder, v->m.forms[number % v->m.form_count].of.name,
                       number / v->m.form_count, endings[i]);
        if (mr__file_open(&file, path) != 0)
            continue;
        of[2 * i] = file.nbytes + 1;
        of[2 * i + 1] = (uint64_t)file.mtime_ns;
        mr__file_close(&file);
    }
    return mr__hash(of, sizeof of);
}

static void put_unit(const mr__verify *v, size_t number, mr__text *t)
{
    const mr__verify_unit *unit = &v->units[number];
    mr__text_addf(
        t, "{\"shard\": %zu, \"form\": \"%s\", \"files\": \"%016llx\", \"index_damaged\": %s, \"missing\": %s, ",
        number / v->m.form_count, v->m.forms[number % v->m.form_count].of.name, (unsigned long long)files_of(v, number),
        unit->index_damaged ? "true" : "false", unit->missing ? "true" : "false");
    mr__text_add_z(t, "\"findings\": [");
    for (size_t i = 0; i < unit->damage_count; i++) {
        const mr__damage *d = &unit->damages[i];
        mr__text_addf(t, "%s{\"ordinal\": %lld, \"code\": %d, \"index\": %s, \"around\": %s, \"text\": ",
                      i != 0 ? ", " : "", d->ordinal == UINT64_MAX ? -1LL : (long long)d->ordinal, d->code,
                      d->of_index ? "true" : "false", d->around ? "true" : "false");
        mr__text_add_json(t, d->text, strlen(d->text));
        mr__text_add_z(t, "}");
    }
    mr__text_add_z(t, "]}\n");
}

void mr__verify_report_add(mr__verify *v, size_t number)
{
    mr__text line;
    if (v->report_fd < 0 || atomic_load(&v->no_memory)) /* the latter: some damage may not have been noted */
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
    bool of_index = false, around = false;
    char text[4096] = ""; /* what mr__verify_add has room for, every letter escaped */
    for (mr__json_token name; (name = mr__json_next(json)).kind == MR__JSON_NAME;) {
        mr__json_token value = mr__json_next(json);
        size_t nbytes = 0;
        if (mr__json_is(name, "ordinal"))
            mr__json_i64(value, &ordinal);
        else if (mr__json_is(name, "code"))
            mr__json_i64(value, &code);
        else if (mr__json_is(name, "index"))
            of_index = value.kind == MR__JSON_TRUE;
        else if (mr__json_is(name, "around"))
            around = value.kind == MR__JSON_TRUE;
        else if (mr__json_is(name, "text") && value.nbytes < sizeof text && mr__json_unescape(value, text, &nbytes))
            text[nbytes] = '\0';
        else if (!mr__json_skip(json, value))
            return false;
    }
    size_t before = unit->damage_count;
    mr__verify_add(v, unit, ordinal < 0 ? UINT64_MAX : (uint64_t)ordinal, (int)code, "%s", text);
    if (unit->damage_count != before) {
        unit->damages[before].of_index = of_index;
        unit->damages[before].around = around;
    }
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
    char files[17] = "";
    if (mr__json_next(&json).kind != MR__JSON_OBJECT)
        return;
    for (mr__json_token name; (name = mr__json_next(&json)).kind == MR__JSON_NAME;) {
        mr__json_token value = mr__json_next(&json);
        if (mr__json_is(name, "shard"))
            mr__json_u64(value, &shard);
        else if (mr__json_is(name, "form"))
            form = form_of(v, value);
        else if (mr__json_is(name, "files") && value.nbytes == 16)
            memcpy(files, value.text, 16);
        else if (mr__json_is(name, "index_damaged"))
            damaged = value.kind == MR__JSON_TRUE;
        else if (mr__json_is(name, "missing"))
            missing = value.kind == MR__JSON_TRUE;
        else if (mr__json_is(name, "findings") && value.kind == MR__JSON_ARRAY) {
            if (shard >= v->m.shard_count || form >= v->m.form_count)
                return;
            size_t number = (size_t)shard * v->m.form_count + form;
            mr__verify_unit *unit = &v->units[number];
            char are[17];
            snprintf(are, sizeof are, "%016llx", (unsigned long long)files_of(v, number));
            if (strcmp(are, files) != 0 || unit->from_report || !read_findings(v, unit, &json))
                return;
            unit->from_report = unit->done = true;
            unit->index_damaged = damaged;
            unit->missing = missing;
            v->report.files_before++;
        }
    }
}

/* Reads what an earlier run wrote; *end is where its last whole line ends. */
static int read_lines(mr__verify *v, const char *text, size_t nbytes, size_t *end)
{
    mr__text head;
    const char *newline;
    bool same = true;
    mr__text_init(&head, &v->hooks);
    put_head(v, &head);
    *end = 0;
    while (same && (newline = memchr(text + *end, '\n', nbytes - *end)) != NULL) {
        size_t length = (size_t)(newline - (text + *end)) + 1;
        if (*end == 0)
            same = head.code == 0 && length == head.nbytes && memcmp(text, head.buffer.bytes, length) == 0;
        else
            read_unit(v, text + *end, length);
        *end += length;
    }
    if (*end == 0 && nbytes != 0) /* a first line that was cut; anything else is not ours to overwrite */
        same = head.code == 0 && nbytes < head.nbytes && memcmp(text, head.buffer.bytes, nbytes) == 0;
    bool no_memory = head.code != 0;
    mr__text_fini(&head);
    if (no_memory)
        return fail(v, ENOMEM);
    return same ? 0
                : mr__fail(&v->detail, MR_EARGUMENT, "%s is of another dataset: give another name, or remove it",
                           v->options.report);
}

static int read_report(mr__verify *v, size_t *end)
{
    mr__file file;
    mr__buffer text = {0};
    size_t got = 0;
    int error = mr__file_open(&file, v->options.report), result = 0;
    if (error == 0 && file.nbytes > REPORT_NBYTES_MAX)
        error = EFBIG;
    if (error == 0 && mr__buffer_reserve(&text, &v->hooks, (size_t)file.nbytes + 1) != 0)
        error = ENOMEM;
    if (error == 0)
        error = mr__file_read(&file, 0, text.bytes, (size_t)file.nbytes, &got);
    if (error == 0)
        result = read_lines(v, (const char *)text.bytes, got, end);
    mr__buffer_fini(&text, &v->hooks);
    mr__file_close(&file);
    return error != 0 ? fail(v, error) : result;
}

static void forget(mr__verify *v)
{
    for (size_t i = 0; i < v->m.shard_count * v->m.form_count; i++) {
        mr__verify_unit *unit = &v->units[i];
        for (size_t k = 0; k < unit->damage_count; k++)
            mr__free(&v->hooks, unit->damages[k].text);
        mr__free(&v->hooks, unit->damages);
        *unit = (mr__verify_unit){0};
    }
    v->report.files_before = 0;
}

int mr__verify_report_open(mr__verify *v)
{
    mr__text head;
    size_t end = 0;
    v->report_fd = -1;
    if (v->options.report == NULL)
        return 0;
    v->report_fd = open(v->options.report, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (v->report_fd < 0)
        return fail(v, errno);
    int result = read_report(v, &end);
    if (result != 0)
        return result;
    if (v->report.files_before == v->m.shard_count * v->m.form_count) {
        forget(v); /* that run came to its end: this is another */
        end = 0;
    }
    if (ftruncate(v->report_fd, (off_t)end) != 0 || lseek(v->report_fd, 0, SEEK_END) < 0)
        return fail(v, errno);
    mr__text_init(&head, &v->hooks);
    put_head(v, &head);
    if (end == 0)
        write_line(v, &head);
    result = head.code != 0 ? fail(v, ENOMEM) : 0;
    mr__text_fini(&head);
    return result;
}

void mr__verify_report_close(mr__verify *v)
{
    if (v->report_fd >= 0)
        close(v->report_fd);
    v->report_fd = -1;
}
