// SPDX-License-Identifier: Apache-2.0
/*
 * Any file, by a list of where its images are: a text file with a line for each,
 *
 *     OFFSET LENGTH [LABEL]
 *
 * in bytes, separated by spaces or tabs. The label is the rest of the line: a whole number, a number with a point or an
 * exponent, or any other text (a whole number that does not fit 64 bits is one); without one the sample has none. Empty
 * lines, and lines whose first letter is #, are passed over. The key of a sample is its number among the others,
 * "000000012": a line that is wrong keeps its own.
 */
#define _GNU_SOURCE // strtod_l

#include "dataset/records.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_NBYTES_MAX = 64 }; /* of a label that is taken for a number with a point */

typedef struct reading {
    mr__scan *scan;
    mr__window window; /* of the data */
    mr__lines lines;
    locale_t plain; /* the C locale: a point is a point */
    uint64_t number;
} reading;

typedef struct text {
    const char *bytes;
    size_t nbytes;
} text;

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static text trim(text t)
{
    while (t.nbytes != 0 && is_space(t.bytes[0])) {
        t.bytes++;
        t.nbytes--;
    }
    while (t.nbytes != 0 && is_space(t.bytes[t.nbytes - 1]))
        t.nbytes--;
    return t;
}

/* Takes the first word off a trimmed text. */
static text take_word(text *t)
{
    text word = {t->bytes, 0};
    while (word.nbytes < t->nbytes && !is_space(word.bytes[word.nbytes]))
        word.nbytes++;
    *t = trim((text){t->bytes + word.nbytes, t->nbytes - word.nbytes});
    return word;
}

static size_t count_digits(const char *at)
{
    size_t n = 0;
    while (at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

/* A sign, digits with or without a point among them, an exponent: no name of a class looks like that by chance. */
static bool is_number(const char *at)
{
    at += *at == '-' || *at == '+';
    size_t before = count_digits(at);
    at += before;
    bool point = *at == '.';
    at += point;
    size_t behind = point ? count_digits(at) : 0;
    at += behind;
    if (before + behind == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        size_t digits = count_digits(at);
        if (digits == 0)
            return false;
        at += digits;
    }
    return *at == '\0';
}

static mr_label make_label(const reading *r, text t)
{
    mr_label label = {.kind = MR_LABEL_NONE};
    char number[NUMBER_NBYTES_MAX + 1];
    if (t.nbytes == 0)
        return label;
    bool whole = mr__text_is_whole(t.bytes, t.nbytes), plus = whole && t.bytes[0] == '+';
    if (mr__text_i64(t.bytes + plus, t.nbytes - plus, &label.integer)) {
        label.kind = MR_LABEL_INT;
        return label;
    }
    if (!whole && t.nbytes <= NUMBER_NBYTES_MAX) {
        memcpy(number, t.bytes, t.nbytes);
        number[t.nbytes] = '\0';
        if (is_number(number))
            return (mr_label){.kind = MR_LABEL_FLOAT, .real = strtod_l(number, NULL, r->plain)};
    }
    return (mr_label){.kind = MR_LABEL_TEXT, .values = t.bytes, .count = t.nbytes};
}

static int say_wrong(reading *r, int code, const char *what)
{
    return mr__scan_broken(r->scan, code, "%s: line %llu: %s", r->scan->list, (unsigned long long)r->lines.number,
                           what);
}

static int add_sample(reading *r, uint64_t offset, uint64_t nbytes, text label)
{
    char key[24], what[64];
    mr__draft draft = {.key = key, .record = {.offset = offset, .nbytes = nbytes}, .label = make_label(r, label)};
    if (!mr__scan_form(&r->window, offset, nbytes, &draft.record.form))
        return mr__scan_io(r->scan, &r->window);
    draft.key_nbytes = (size_t)snprintf(key, sizeof key, "%09llu", (unsigned long long)r->number);
    snprintf(what, sizeof what, "the sample of line %llu of the list", (unsigned long long)r->lines.number);
    return mr__scan_add(r->scan, NULL, &draft, what);
}

static int read_line(reading *r, text line)
{
    text rest = trim(line);
    uint64_t offset, nbytes;
    char what[160];
    if (rest.nbytes == 0 || rest.bytes[0] == '#')
        return 0;
    text first = take_word(&rest), second = take_word(&rest);
    int result;
    if (memchr(line.bytes, '\0', line.nbytes) != NULL)
        result = say_wrong(r, MR_EFORMAT, "there is a zero in it: the list is no text");
    else if (!mr__text_u64(first.bytes, first.nbytes, &offset) || !mr__text_u64(second.bytes, second.nbytes, &nbytes))
        result = say_wrong(r, MR_EFORMAT, "it does not begin with an offset and a length, two whole numbers");
    else if (nbytes == 0)
        result = say_wrong(r, MR_EFORMAT, "an image of 0 bytes");
    else if (offset > r->scan->file->nbytes || nbytes > r->scan->file->nbytes - offset) {
        snprintf(what, sizeof what, "%llu bytes from byte %llu on are not in the data, which has %llu",
                 (unsigned long long)nbytes, (unsigned long long)offset, (unsigned long long)r->scan->file->nbytes);
        result = say_wrong(r, MR_ETRUNCATED, what);
    } else if (nbytes > MR__RECORD_NBYTES_MAX)
        result = say_wrong(r, MR_ELIMIT, "a record of more than 1 GiB is refused");
    else
        result = add_sample(r, offset, nbytes, rest);
    r->number++;
    return result;
}

static int read_all(reading *r)
{
    text line;
    int more, result = mr__scan_seen(r->scan, 0);
    while (result == 0 && (more = mr__lines_next(&r->lines, &line.bytes, &line.nbytes)) != 0) {
        if (more == MR_ELIMIT)
            return mr__fail(r->scan->detail, MR_ELIMIT, "%s: line %llu is longer than 64 KiB: is it a list?",
                            r->scan->list, (unsigned long long)r->lines.number);
        if (more < 0)
            return mr__fail(r->scan->detail, more, "%s: reading it failed: %s", r->scan->list, mr_error_text(more));
        result = read_line(r, line);
        if (result == 0)
            result = mr__scan_seen(r->scan, 0);
    }
    // Not byte by byte: lines may stand for any part of the data, in any order.
    return result != 0 ? result : mr__scan_seen(r->scan, r->scan->file->nbytes);
}

static int scan_file(mr__scan *scan)
{
    mr__file list;
    mr__detail_clear(scan->detail);
    if (scan->list == NULL)
        return mr__fail(scan->detail, MR_EARGUMENT, "%s: the file with the lines \"offset length label\" is not given",
                        scan->path);
    if (mr__file_open(&list, scan->list) != 0)
        return mr__fail(scan->detail, MR_EIO, "%s: the list cannot be opened", scan->list);
    reading r = {.scan = scan, .window = {.file = scan->file, .hooks = scan->hooks}};
    r.lines.window = (mr__window){.file = &list, .hooks = scan->hooks};
    r.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    int result = r.plain != (locale_t)0 ? read_all(&r) : MR_ENOMEM;
    if (r.plain != (locale_t)0)
        freelocale(r.plain);
    mr__window_fini(&r.lines.window);
    mr__window_fini(&r.window);
    mr__file_close(&list);
    return mr__scan_end(scan, result);
}

/* Nobody sees it by the data. */
static bool probe(const char *path, const uint8_t *bytes, size_t nbytes, uint64_t file_nbytes)
{
    (void)path;
    (void)bytes;
    (void)nbytes;
    (void)file_nbytes;
    return false;
}

const mr__scanner mr__scanner_list = {.layout = MR_LAYOUT_LIST, .probe = probe, .scan = scan_file};
