// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // O_PATH
#include "dataset/folder_list.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "dataset/folder_name.h"
#include "dataset/folder_walk.h"
#include "dataset/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A label that stands for a class: `count` is its number. */
enum { KIND_CLASS = 255, CHUNK = 1024, READ_NBYTES = 1 << 15 };

typedef struct scan {
    mr__list list;
    int root_fd;
    atomic_size_t next; /* line whose file is looked at next */
    bool root_misses;   /* a file that the root itself should have */
} scan;

static int order_by_text(const void *context, uint32_t a, uint32_t b)
{
    const mr__list *list = context;
    const mr__list_line *lines = mr__list_lines(list);
    return mr__name_compare(mr__list_word(list, lines[a].values), mr__list_word(list, lines[b].values));
}

/* Gives each distinct text, in their order, a number; *order are the lines with a text, sorted by it. */
static int number_texts(mr__list *list, const uint32_t *order, size_t count)
{
    mr__list_line *lines = mr__list_lines(list);
    const char *last = NULL;
    uint32_t number = 0;
    for (size_t i = 0; i < count; i++) {
        mr__list_line *line = &lines[order[i]];
        const char *text = mr__list_word(list, line->values);
        if (last == NULL || strcmp(last, text) != 0) {
            int code = mr__index_add_class(list->notes.to, text, strlen(text));
            if (code != 0)
                return mr__folder_failed(&list->notes, code);
            number += last != NULL;
            last = text;
        }
        line->kind = KIND_CLASS;
        line->count = number;
    }
    return 0;
}

static int make_classes(mr__list *list)
{
    const mr_hooks *hooks = list->notes.options->hooks;
    size_t made = 0;
    if (list->texts == 0)
        return 0;
    if (list->numbers != 0) {
        int code = mr__index_add_problem(list->notes.to, MR__INDEX_NO_POSITION, MR_EFORMAT,
                                         "%s: %zu labels are text and %zu are numbers, so text makes no classes",
                                         mr__name_end(list->notes.options->list), list->texts, list->numbers);
        return code != 0 ? mr__folder_failed(&list->notes, code) : 0;
    }
    uint32_t *order = mr__alloc_array(hooks, list->texts, 2 * sizeof *order);
    if (order == NULL)
        return mr__folder_failed(&list->notes, MR_ENOMEM);
    for (size_t i = 0; i < list->count; i++)
        if (mr__list_lines(list)[i].kind == MR_LABEL_TEXT)
            order[made++] = (uint32_t)i;
    mr__name_sort(order, order + made, made, order_by_text, list);
    int code = number_texts(list, order, made);
    mr__free(hooks, order);
    return code;
}

/* Marks lines whose path another line before has. A table of lines by the hash of their paths. */
static int find_twins(mr__list *list)
{
    const mr_hooks *hooks = list->notes.options->hooks;
    mr__list_line *lines = mr__list_lines(list);
    size_t places = 16;
    while (places < 2 * list->count)
        places *= 2;
    uint32_t *table = mr__alloc_array(hooks, places, sizeof *table); /* number of the line and 1; 0 is free */
    if (table == NULL)
        return mr__folder_failed(&list->notes, MR_ENOMEM);
    for (size_t i = 0; i < list->count; i++) {
        const char *path = mr__list_word(list, lines[i].path);
        size_t at = (size_t)mr__hash(path, strlen(path)) & (places - 1);
        while (table[at] != 0 && strcmp(mr__list_word(list, lines[table[at] - 1].path), path) != 0)
            at = (at + 1) & (places - 1);
        lines[i].twice = table[at] != 0;
        if (table[at] == 0)
            table[at] = (uint32_t)i + 1;
    }
    mr__free(hooks, table);
    return 0;
}

static void stat_lines(void *arg, size_t worker)
{
    scan *s = arg;
    const mr__folder_scan_options *options = s->list.notes.options;
    (void)worker;
    for (;;) {
        size_t first = atomic_fetch_add(&s->next, CHUNK), i = first;
        if (first >= s->list.count || mr__folder_stopped(options))
            return;
        for (; i < s->list.count && i < first + CHUNK; i++) {
            mr__list_line *line = &mr__list_lines(&s->list)[i];
            line->error = (uint16_t)mr__walk_stat(s->root_fd, mr__list_word(&s->list, line->path), &line->nbytes,
                                                  &line->mtime_ns);
        }
        if (options->seen != NULL)
            atomic_fetch_add_explicit(options->seen, i - first, memory_order_relaxed);
    }
}

static int stat_all(scan *s)
{
    const mr__folder_scan_options *options = s->list.notes.options;
    mr__pool *pool;
    unsigned threads = options->threads > 1 ? options->threads : 0;
    int code = mr__pool_new(options->hooks, "scan", threads, threads, &pool);
    if (code != 0)
        return mr__folder_failed(&s->list.notes, code);
    for (unsigned i = 0; i < threads || i < 1; i++)
        (void)mr__pool_add(pool, stat_lines, s);
    mr__pool_free(pool);
    return mr__folder_stopped(options) ? mr__folder_failed(&s->list.notes, MR_ECLOSED) : 0;
}

/* The nearest folder that is there, of those that a missing file should be in: "" is the root. */
static bool nearest_folder(const scan *s, const mr__list_line *line, char path[PATH_MAX], int64_t *mtime_ns)
{
    const char *file = mr__list_word(&s->list, line->path);
    size_t nbytes = strlen(file);
    if (line->error == 0 || nbytes >= PATH_MAX)
        return false;
    memcpy(path, file, nbytes + 1);
    do {
        char *slash = strrchr(path, '/');
        *(slash != NULL ? slash : path) = '\0';
    } while (path[0] != '\0' && !mr__walk_folder_time(s->root_fd, path, mtime_ns));
    return true;
}

static int note_root(scan *s)
{
    mr__index_build *to = s->list.notes.to;
    char buffer[READ_NBYTES] __attribute__((aligned(16))), path[PATH_MAX];
    int64_t mtime_ns = 0;
    uint64_t names = 0;
    for (size_t i = 0; i < s->list.count && !s->root_misses; i++)
        s->root_misses = nearest_folder(s, &mr__list_lines(&s->list)[i], path, &mtime_ns) && path[0] == '\0';
    mr__walk_folder_time(s->root_fd, "", &mtime_ns);
    if (!s->root_misses)
        return mr__index_add_folder(to, "", mtime_ns);
    if (mr__walk_root_names(s->root_fd, buffer, sizeof buffer, &names) != 0)
        names = 0;
    int code = mr__index_add_folder(to, "", mtime_ns);
    return code != 0 ? code : mr__index_add_folder(to, "/names", (int64_t)names);
}

static int note_list(scan *s)
{
    mr__index_build *to = s->list.notes.to;
    char path[6 + PATH_MAX] = "/list";
    if (realpath(s->list.notes.options->list, path + 5) == NULL)
        return MR_EIO;
    int code = mr__index_add_folder(to, path, s->list.mtime_ns);
    memcpy(path, "/size", 5);
    return code != 0 ? code : mr__index_add_folder(to, path, (int64_t)s->list.nbytes);
}

/* So that a change is seen: the list, and where files were missing. */
static int note_times(scan *s)
{
    char path[PATH_MAX], last[PATH_MAX] = "";
    int64_t mtime_ns;
    int code = note_root(s);
    if (code == 0)
        code = note_list(s);
    for (size_t i = 0; i < s->list.count && code == 0; i++) {
        if (!nearest_folder(s, &mr__list_lines(&s->list)[i], path, &mtime_ns) || strcmp(path, last) == 0)
            continue;
        memcpy(last, path, strlen(path) + 1);
        if (path[0] != '\0')
            code = mr__index_add_folder(s->list.notes.to, path, mtime_ns);
    }
    return code;
}

static mr_label label_of(const mr__list *list, const mr__list_line *line)
{
    const char *values = mr__list_word(list, line->values);
    mr_label label = {.kind = (mr_label_kind)line->kind, .values = values, .count = line->count};
    uint64_t bits;
    if (line->kind == KIND_CLASS)
        return (mr_label){.kind = MR_LABEL_INT, .integer = line->count};
    if (line->kind != MR_LABEL_INT && line->kind != MR_LABEL_FLOAT)
        return label;
    bits = mr__load_le64((const uint8_t *)values);
    label = (mr_label){.kind = label.kind};
    if (label.kind == MR_LABEL_INT)
        label.integer = (int64_t)bits;
    else
        memcpy(&label.real, &bits, sizeof bits);
    return label;
}

static mr_form form_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot != NULL ? mr_form_from_name(dot + 1) : MR_FORM_NONE;
}

static int add_line(const mr__list *list, const mr__list_line *line)
{
    const mr__folder_notes *notes = &list->notes;
    const char *path = mr__list_word(list, line->path), *name = mr__name_end(path);
    if (line->twice)
        return mr__folder_broken(notes, MR_ECORRUPT, "%s: twice in the list, again in line %u", name, line->number);
    if (line->error != 0)
        return mr__folder_broken(notes, MR_EIO, "%s (line %u of the list): %s", name, line->number,
                                 mr__errno_text(line->error).text);
    if (line->nbytes > MR__INDEX_IMAGE_MAX)
        return mr__folder_broken(notes, MR_ELIMIT, "%s: %llu bytes are more than an image may have", name,
                                 (unsigned long long)line->nbytes);
    const mr__member member = {.name = "json", .name_nbytes = 4, .offset = line->at, .nbytes = line->line_nbytes};
    const mr__draft draft = {
        .key = path,
        .key_nbytes = strlen(path),
        .record = {.offset = (uint64_t)line->mtime_ns, .nbytes = line->nbytes, .form = (uint8_t)form_of(path)},
        .label = label_of(list, line),
        .members = list->json ? &member : NULL,
        .member_count = list->json,
    };
    int code = mr__index_add(notes->to, &draft);
    return code != 0 ? mr__folder_failed(notes, code) : 0;
}

static int scan_list(scan *s)
{
    mr__list *list = &s->list;
    int code = mr__list_read(list);
    if (code == 0 && list->count >= UINT32_MAX / 2)
        code = mr__folder_failed(&list->notes, MR_ELIMIT);
    if (code != 0 || (code = make_classes(list)) != 0 || (code = find_twins(list)) != 0 || (code = stat_all(s)) != 0)
        return code;
    if ((code = note_times(s)) != 0)
        return mr__folder_failed(&list->notes, code);
    for (size_t i = 0; i < list->count && code == 0; i++)
        code = add_line(list, &mr__list_lines(list)[i]);
    if (code == 0 && list->notes.to->samples == 0)
        return mr__fail(list->notes.detail, MR_EFORMAT, "%s: no line of the list is an image that is there",
                        mr__name_end(list->notes.options->list));
    return code;
}

int mr__folder_scan_list(const mr__folder_notes *notes)
{
    const mr__folder_scan_options *options = notes->options;
    scan s = {.list = {.notes = *notes}, .root_fd = open(options->root, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (s.root_fd < 0)
        return mr__fail(notes->detail, MR_EIO, "%s: the folder cannot be read: %s", mr__name_end(options->root),
                        mr__errno_text(errno).text);
    atomic_init(&s.next, 0);
    mr__text_init(&s.list.words, options->hooks);
    int code = scan_list(&s);
    mr__list_fini(&s.list);
    close(s.root_fd);
    return code;
}
