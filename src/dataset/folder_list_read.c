// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/json.h"
#include "base/size.h"
#include "dataset/folder_list.h"
#include "dataset/folder_walk.h"
#include "dataset/index_file.h"
#include "dataset/records.h"
#include "source/file.h"

#include <string.h>

/* Bytes of the list, or of one line. */
typedef struct span {
    const char *text;
    size_t nbytes;
} span;

static int no_memory(const mr__list *list)
{
    return mr__folder_failed(&list->notes, MR_ENOMEM);
}

/* "the list, line 7: ", and what is wrong with it. */
static int broken_line(const mr__list *list, const mr__list_line *line, int code, const char *what)
{
    return mr__folder_broken(&list->notes, code, "%s, line %u: %s", mr__name_end(list->notes.options->list),
                             line->number, what);
}

/* Refused, whatever the policy: who wrote this list meant another folder. */
static int refuse_path(const mr__list *list, const mr__list_line *line, const char *why)
{
    return mr__fail(list->notes.detail, MR_EARGUMENT, "%s, line %u: %s; paths are relative to the dataset's folder",
                    mr__name_end(list->notes.options->list), line->number, why);
}

/* The path without what says nothing, into the words. *kept: the line has one. */
static int put_path(mr__list *list, mr__list_line *line, span path, bool *kept)
{
    size_t start = list->words.nbytes;
    line->path = start;
    if (path.nbytes != 0 && path.text[0] == '/')
        return refuse_path(list, line, "an absolute path");
    for (size_t at = 0; at < path.nbytes;) {
        const char *part = path.text + at, *slash = memchr(part, '/', path.nbytes - at);
        size_t nbytes = slash != NULL ? (size_t)(slash - part) : path.nbytes - at;
        at += nbytes + 1;
        if (nbytes == 2 && memcmp(part, "..", 2) == 0)
            return refuse_path(list, line, "a path with \"..\"");
        if (nbytes == 0 || (nbytes == 1 && part[0] == '.'))
            continue;
        if (list->words.nbytes != start)
            mr__text_add(&list->words, "/", 1);
        mr__text_add(&list->words, part, nbytes);
    }
    *kept = list->words.nbytes != start;
    mr__text_add(&list->words, "", 1);
    if (list->words.code == 0 && !*kept)
        return broken_line(list, line, MR_ECORRUPT, "no path in it");
    return 0;
}

static void put_number(mr__list *list, mr__json_token token, bool as_float)
{
    uint8_t bytes[8];
    int64_t whole = 0;
    uint64_t bits;
    double real = 0;
    if (as_float)
        mr__json_f64(token, &real);
    else
        mr__json_i64(token, &whole);
    memcpy(&bits, &real, sizeof bits);
    mr__store_le64(bytes, as_float ? bits : (uint64_t)whole);
    mr__text_add(&list->words, bytes, sizeof bytes);
}

static void begin_label(mr__list *list, mr__list_line *line, mr_label_kind kind, size_t count)
{
    line->kind = (uint8_t)kind;
    line->count = (uint32_t)count;
    line->values = list->words.nbytes;
}

static void put_text(mr__list *list, mr__list_line *line, span text)
{
    begin_label(list, line, MR_LABEL_TEXT, text.nbytes);
    mr__text_add(&list->words, text.text, text.nbytes);
    mr__text_add(&list->words, "", 1);
}

/* The next word of numbers that commas, spaces or tabs stand between. */
static bool next_word(span *rest, span *word)
{
    static const char between[] = ", \t";
    while (rest->nbytes != 0 && memchr(between, rest->text[0], 3) != NULL)
        *rest = (span){rest->text + 1, rest->nbytes - 1};
    *word = (span){rest->text, 0};
    while (word->nbytes < rest->nbytes && memchr(between, rest->text[word->nbytes], 3) == NULL)
        word->nbytes++;
    *rest = (span){rest->text + word->nbytes, rest->nbytes - word->nbytes};
    return word->nbytes != 0;
}

static bool is_whole(mr__json_token token)
{
    int64_t value;
    return mr__json_i64(token, &value);
}

static bool is_too_large(mr__json_token token)
{
    return mr__text_is_whole(token.text, token.nbytes) && !is_whole(token);
}

static bool read_number(span word, mr__json_token *token)
{
    size_t plus = word.nbytes > 1 && word.text[0] == '+' && word.text[1] != '-';
    mr__json json = mr__json_init(word.text + plus, word.nbytes - plus);
    *token = mr__json_next(&json);
    return token->kind == MR__JSON_NUMBER && mr__json_next(&json).kind == MR__JSON_END && !is_too_large(*token);
}

/* What stands behind the tab. */
static void put_label(mr__list *list, mr__list_line *line, span text)
{
    span rest = text, word;
    mr__json_token token;
    size_t count = 0;
    bool numbers = true, whole = true;
    while (numbers && next_word(&rest, &word)) {
        numbers = read_number(word, &token);
        whole = whole && numbers && is_whole(token);
        count++;
    }
    if (count == 0)
        return;
    if (!numbers) {
        put_text(list, line, text);
        return;
    }
    mr_label_kind one = whole ? MR_LABEL_INT : MR_LABEL_FLOAT, several = whole ? MR_LABEL_INTS : MR_LABEL_FLOATS;
    begin_label(list, line, count == 1 ? one : several, count);
    for (rest = text; next_word(&rest, &word) && read_number(word, &token);)
        put_number(list, token, !whole);
}

static int read_plain(mr__list *list, mr__list_line *line, span text, bool *kept)
{
    const char *tab = memchr(text.text, '\t', text.nbytes);
    size_t first = tab != NULL ? (size_t)(tab - text.text) : text.nbytes;
    if (memchr(text.text, 0, text.nbytes) != NULL)
        return broken_line(list, line, MR_ECORRUPT, "a zero byte in it");
    int code = put_path(list, line, (span){text.text, first}, kept);
    if (code == 0 && *kept && tab != NULL)
        put_label(list, line, (span){tab + 1, text.nbytes - first - 1});
    return code;
}

/* [1, 2.5]; `json` stands behind the bracket, which is `first`. */
static bool put_array(mr__list *list, mr__list_line *line, mr__json *json, mr__json_token first)
{
    mr__json again = *json;
    mr__json_token token;
    size_t count = 0;
    bool whole = true, fits = true;
    for (; (token = mr__json_next(json)).kind == MR__JSON_NUMBER; count++) {
        whole = whole && is_whole(token);
        fits = fits && !is_too_large(token);
    }
    if (token.kind != MR__JSON_ARRAY_END)
        return false;
    if (!fits) {
        put_text(list, line, (span){json->text + first.at, token.at + 1 - first.at});
        return true;
    }
    begin_label(list, line, whole ? MR_LABEL_INTS : MR_LABEL_FLOATS, count);
    for (size_t i = 0; i < count; i++)
        put_number(list, mr__json_next(&again), !whole);
    return true;
}

/* A text of JSON, unescaped, into the list's buffer of one line. False: half a surrogate pair, or a zero in it. */
static bool unescape(mr__list *list, mr__json_token token, span *text)
{
    if (mr__buffer_reserve(&list->line, list->notes.options->hooks, token.nbytes + 1) != 0) {
        list->words.code = MR_ENOMEM;
        return false;
    }
    text->text = (const char *)list->line.bytes;
    return mr__json_unescape(token, (char *)list->line.bytes, &text->nbytes) &&
           memchr(text->text, 0, text->nbytes) == NULL;
}

/* The value of "label". False: it is none that a label can be. */
static bool put_json_label(mr__list *list, mr__list_line *line, mr__json *json, mr__json_token token)
{
    span text;
    switch (token.kind) {
    case MR__JSON_NULL:
        return true;
    case MR__JSON_TRUE:
    case MR__JSON_FALSE:
        begin_label(list, line, MR_LABEL_INT, 1);
        mr__text_add(&list->words, (uint8_t[8]){token.kind == MR__JSON_TRUE}, 8);
        return true;
    case MR__JSON_NUMBER:
        if (is_too_large(token)) {
            put_text(list, line, (span){token.text, token.nbytes});
            return true;
        }
        begin_label(list, line, is_whole(token) ? MR_LABEL_INT : MR_LABEL_FLOAT, 1);
        put_number(list, token, !is_whole(token));
        return true;
    case MR__JSON_TEXT:
        if (!unescape(list, token, &text))
            return false;
        put_text(list, line, text);
        return true;
    default:
        return token.kind == MR__JSON_ARRAY && put_array(list, line, json, token);
    }
}

static bool is_one_of(mr__json_token name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (mr__json_is(name, *names))
            return true;
    return false;
}

/* One member of the object. The first of several that mean the same counts. */
static int read_member(mr__list *list, mr__list_line *line, mr__json *json, mr__json_token name, bool *kept)
{
    static const char *const paths[] = {"file_name", "path", "image", NULL}, *const labels[] = {"label", "cls", "class",
                                                                                                "target", NULL};
    mr__json_token value = mr__json_next(json);
    span text;
    if (!*kept && value.kind == MR__JSON_TEXT && is_one_of(name, paths)) {
        if (!unescape(list, value, &text))
            return broken_line(list, line, MR_ECORRUPT, "a path that is no text");
        return put_path(list, line, text, kept);
    }
    if (line->kind == MR_LABEL_NONE && is_one_of(name, labels)) {
        if (!put_json_label(list, line, json, value) && json->problem == NULL)
            return broken_line(list, line, MR_EUNSUPPORTED, "a label that is no number, numbers, or text");
        return 0;
    }
    mr__json_skip(json, value);
    return 0;
}

static int read_object(mr__list *list, mr__list_line *line, span text, bool *kept)
{
    mr__json json = mr__json_init(text.text, text.nbytes);
    uint64_t problems = list->notes.to->problems;
    mr__json_token token = mr__json_next(&json);
    bool there = false;
    if (token.kind != MR__JSON_OBJECT && json.problem == NULL)
        return broken_line(list, line, MR_ECORRUPT, "no JSON object");
    while ((token = mr__json_next(&json)).kind == MR__JSON_NAME) {
        int code = read_member(list, line, &json, token, &there);
        if (code != 0 || list->notes.to->problems != problems)
            return code;
    }
    if (token.kind != MR__JSON_BAD)
        token = mr__json_next(&json);
    if (token.kind == MR__JSON_BAD)
        return mr__folder_broken(&list->notes, MR_ECORRUPT, "%s, line %u: no JSON: %s, at its byte %zu",
                                 mr__name_end(list->notes.options->list), line->number, json.problem, json.at);
    if (!there)
        return broken_line(list, line, MR_ECORRUPT, "no \"file_name\", \"path\" or \"image\" in it");
    *kept = true;
    return 0;
}

static int add_line(mr__list *list, const mr__list_line *line)
{
    size_t used, wanted;
    if (!mr__size_mul(list->count, sizeof *line, &used) || !mr__size_add(used, sizeof *line, &wanted) ||
        mr__buffer_grow(&list->lines, list->notes.options->hooks, used, wanted) != 0)
        return no_memory(list);
    mr__list_lines(list)[list->count++] = *line;
    if (line->kind == MR_LABEL_TEXT)
        list->texts++;
    else if (line->kind != MR_LABEL_NONE)
        list->numbers++;
    return 0;
}

static bool is_blank(span text)
{
    while (text.nbytes != 0 && memchr(" \t", text.text[text.nbytes - 1], 2) != NULL)
        text.nbytes--;
    return text.nbytes == 0;
}

static int read_line(mr__list *list, size_t at, size_t nbytes, uint32_t number)
{
    mr__list_line line = {.at = at, .number = number};
    span text = {(const char *)list->bytes.bytes + at, nbytes};
    bool kept = false;
    if (text.nbytes != 0 && text.text[text.nbytes - 1] == '\r')
        text.nbytes--;
    line.line_nbytes = (uint32_t)text.nbytes;
    if (text.nbytes == 0 || (list->json && is_blank(text)))
        return 0;
    int code = list->json ? read_object(list, &line, text, &kept) : read_plain(list, &line, text, &kept);
    if (list->words.code != 0)
        return no_memory(list);
    return code == 0 && kept ? add_line(list, &line) : code;
}

static int read_lines(mr__list *list)
{
    const char *bytes = (const char *)list->bytes.bytes;
    size_t at = list->nbytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, look = at;
    while (look < list->nbytes && memchr(" \t\r\n", bytes[look], 4) != NULL)
        look++;
    list->json = look < list->nbytes && bytes[look] == '{';
    for (uint32_t number = 1; at < list->nbytes; number++) {
        const char *end = memchr(bytes + at, '\n', list->nbytes - at);
        size_t nbytes = end != NULL ? (size_t)(end - bytes) - at : list->nbytes - at;
        if (number % 1024 == 0 && mr__folder_stopped(list->notes.options))
            return mr__folder_failed(&list->notes, MR_ECLOSED);
        int code = read_line(list, at, nbytes, number);
        if (code != 0)
            return code;
        at += nbytes + 1;
    }
    return 0;
}

static int read_file(mr__list *list, const mr__file *file)
{
    const char *name = mr__name_end(list->notes.options->list);
    if (file->nbytes > MR__LIST_NBYTES_MAX)
        return mr__fail(list->notes.detail, MR_ELIMIT, "%s: a list of %llu bytes; %llu are allowed", name,
                        (unsigned long long)file->nbytes, (unsigned long long)MR__LIST_NBYTES_MAX);
    if (mr__buffer_reserve(&list->bytes, list->notes.options->hooks, (size_t)file->nbytes + 1) != 0)
        return no_memory(list);
    int error = mr__file_read(file, 0, list->bytes.bytes, (size_t)file->nbytes, &list->nbytes);
    list->mtime_ns = file->mtime_ns;
    if (error != 0)
        return mr__fail(list->notes.detail, MR_EIO, "%s: reading the list failed: %s", name,
                        mr__errno_text(error).text);
    return 0;
}

int mr__list_read(mr__list *list)
{
    mr__file file;
    int error = mr__file_open(&file, list->notes.options->list);
    if (error != 0)
        return mr__fail(list->notes.detail, MR_EIO, "%s: the list cannot be opened: %s",
                        mr__name_end(list->notes.options->list), mr__errno_text(error).text);
    int code = read_file(list, &file);
    mr__file_close(&file);
    return code != 0 ? code : read_lines(list);
}

void mr__list_fini(mr__list *list)
{
    const mr_hooks *hooks = list->notes.options->hooks;
    mr__buffer_fini(&list->bytes, hooks);
    mr__buffer_fini(&list->line, hooks);
    mr__buffer_fini(&list->lines, hooks);
    mr__text_fini(&list->words);
}
