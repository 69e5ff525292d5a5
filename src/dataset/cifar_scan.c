// SPDX-License-Identifier: Apache-2.0
/*
 * The binary files of CIFAR-10 and CIFAR-100: records of one length, one after the other.
 *
 *     CIFAR-10   1 byte: class; 3072 bytes: planes of red, green, blue, 32 x 32
 *     CIFAR-100  1 byte: coarse class; 1 byte: fine class; 3072 bytes likewise
 *
 * The label of CIFAR-100 is the fine class; the coarse one is a member, "coarse", of one byte. Such pixels are no
 * stored form that a decoder reads: the record is `planar`, and who reads it makes the raw form of it (cifar.h).
 */
#include "dataset/cifar.h"
#include "dataset/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 512, CLASSES_MAX = 100 }; /* records that are looked at together */

typedef struct kind {
    const char *name;
    unsigned labels; /* bytes before the pixels; the last is the label */
    unsigned classes, coarse;
    const char *names; /* the file with the classes */
} kind;

static const kind kinds[] = {
    {"CIFAR-10", 1, 10, 0, "batches.meta.txt"},
    {"CIFAR-100", 2, 100, 20, "fine_label_names.txt"},
};

static uint64_t record_nbytes(const kind *k)
{
    return k->labels + MR__CIFAR_NBYTES;
}

/* By the name that the file has in the published archives. */
static const kind *kind_by_name(const char *path)
{
    const char *name = mr__path_name(path);
    static const char *const ten[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                      "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
    for (size_t i = 0; i < sizeof ten / sizeof *ten; i++)
        if (strcmp(name, ten[i]) == 0)
            return &kinds[0];
    return strcmp(name, "train.bin") == 0 || strcmp(name, "test.bin") == 0 ? &kinds[1] : NULL;
}

/* By the length, where the name says nothing: NULL also where both fit. */
static const kind *kind_by_length(uint64_t nbytes)
{
    bool ten = nbytes % record_nbytes(&kinds[0]) == 0, hundred = nbytes % record_nbytes(&kinds[1]) == 0;
    return ten == hundred ? NULL : &kinds[ten ? 0 : 1];
}

typedef struct reading {
    mr__scan *scan;
    mr__window window;
    const kind *kind;
    uint64_t number; /* of the record */
    char names[CLASSES_MAX][64];
    unsigned name_count;
} reading;

/* Names, one a line; empty lines are none. More than there can be, or a long one: it is another file. */
static int read_names(reading *r, mr__lines *lines, bool *good)
{
    const char *line;
    size_t nbytes;
    int more;
    *good = true;
    while ((more = mr__lines_next(lines, &line, &nbytes)) > 0) {
        if (nbytes == 0)
            continue;
        *good = *good && r->name_count < r->kind->classes && nbytes < sizeof r->names[0] &&
                memchr(line, '\0', nbytes) == NULL;
        if (!*good)
            return 0;
        memcpy(r->names[r->name_count], line, nbytes);
        r->names[r->name_count++][nbytes] = '\0';
    }
    *good = more != MR_ELIMIT && r->name_count == r->kind->classes;
    return more == MR_ELIMIT ? 0 : more;
}

static int add_classes(reading *r)
{
    int result = 0;
    for (unsigned i = 0; result == 0 && i < r->name_count; i++)
        result = mr__index_add_class(r->scan->to, r->names[i], strlen(r->names[i]));
    return result;
}

/* The names of the classes, from the file beside it. None is no error. */
static int read_classes(reading *r)
{
    char *path;
    mr__file file;
    bool good = false;
    int result = mr__path_beside(r->scan->hooks, r->scan->path, r->kind->names, &path);
    if (result != 0)
        return result;
    int error = mr__file_open(&file, path);
    if (error == 0) {
        mr__lines lines = {.window = {.file = &file, .hooks = r->scan->hooks}};
        result = read_names(r, &lines, &good);
        mr__window_fini(&lines.window);
        mr__file_close(&file);
    }
    mr__free(r->scan->hooks, path);
    if (error == ENOENT || error == ENOTDIR)
        return 0;
    if (error != 0 || result == MR_EIO)
        return mr__fail(r->scan->detail, MR_EIO, "%s: %s beside it cannot be read", r->scan->path, r->kind->names);
    if (result == 0 && !good)
        return mr__scan_broken(r->scan, MR_EFORMAT, "%s beside it has not the names of %u classes, one a line",
                               r->kind->names, r->kind->classes);
    return result != 0 ? result : add_classes(r);
}

static int add_sample(reading *r, uint64_t at, const uint8_t labels[2])
{
    const kind *k = r->kind;
    char key[MR__NUMBERED_NBYTES], what[64];
    unsigned fine = labels[k->labels - 1];
    mr__member coarse = {.name = "coarse", .name_nbytes = 6, .offset = at, .nbytes = 1};
    mr__draft draft = {.key = key};
    snprintf(what, sizeof what, "record %llu at byte %llu", (unsigned long long)r->number, (unsigned long long)at);
    if (fine >= k->classes || (k->labels == 2 && labels[0] >= k->coarse))
        return mr__scan_broken(r->scan, MR_ECORRUPT, "damaged %s file: %s is of class %u%s; there are %u", k->name,
                               what, fine >= k->classes ? fine : labels[0], fine >= k->classes ? "" : " (coarse)",
                               fine >= k->classes ? k->classes : k->coarse);
    draft.key_nbytes = mr__key_numbered(key, r->scan->path, ".bin", r->number);
    draft.record = (mr__record){.offset = at + k->labels,
                                .nbytes = MR__CIFAR_NBYTES,
                                .form = MR_FORM_RAW,
                                .width = MR__CIFAR_SIDE,
                                .height = MR__CIFAR_SIDE,
                                .channels = 3,
                                .depth = 8,
                                .orientation = 1,
                                .planar = true};
    draft.label = (mr_label){.kind = MR_LABEL_INT, .integer = fine};
    draft.members = &coarse;
    draft.member_count = k->labels == 2;
    return mr__scan_add(r->scan, NULL, &draft, what);
}

/* As many records as are looked at together, or as are left. */
static int read_batch(reading *r, uint64_t count)
{
    uint64_t each = record_nbytes(r->kind), at = r->number * each;
    size_t most = count - r->number < BATCH ? (size_t)(count - r->number) : BATCH, got;
    const uint8_t *bytes = mr__window_get(&r->window, at, most * (size_t)each, &got);
    if (bytes == NULL)
        return mr__scan_io(r->scan, &r->window);
    if (got < most * each)
        return mr__fail(r->scan->detail, MR_ETRUNCATED, "%s: it was cut while it was read", r->scan->path);
    int result = 0;
    for (size_t i = 0; result == 0 && i < most; i++, r->number++)
        result = add_sample(r, at + i * each, bytes + i * each);
    return result != 0 ? result : mr__scan_seen(r->scan, most * each);
}

static int read_all(reading *r)
{
    uint64_t nbytes = r->scan->file->nbytes, each = record_nbytes(r->kind), count = nbytes / each;
    int result = mr__scan_seen(r->scan, 0);
    if (result == 0)
        result = read_classes(r);
    while (result == 0 && r->number < count)
        result = read_batch(r, count);
    if (result == 0 && nbytes % each != 0)
        result =
            mr__scan_broken(r->scan, MR_ETRUNCATED,
                            "truncated %s file: record %llu at byte %llu should end at byte %llu, the file ends at "
                            "%llu",
                            r->kind->name, (unsigned long long)count, (unsigned long long)(count * each),
                            (unsigned long long)((count + 1) * each), (unsigned long long)nbytes);
    return result;
}

static int scan_file(mr__scan *scan)
{
    reading r = {.scan = scan, .window = {.file = scan->file, .hooks = scan->hooks}};
    mr__detail_clear(scan->detail);
    r.kind = kind_by_name(scan->path);
    if (r.kind == NULL)
        r.kind = kind_by_length(scan->file->nbytes);
    if (r.kind == NULL)
        return mr__fail(
            scan->detail, MR_EFORMAT,
            "%s: neither its name (data_batch_1.bin, test_batch.bin; train.bin, test.bin) nor its length of "
            "%llu bytes says which CIFAR it is of",
            scan->path, (unsigned long long)scan->file->nbytes);
    int result = read_all(&r);
    mr__window_fini(&r.window);
    return mr__scan_end(scan, result);
}

static bool probe(const char *path, const uint8_t *bytes, size_t nbytes, uint64_t file_nbytes)
{
    (void)bytes;
    (void)nbytes;
    const kind *k = kind_by_name(path);
    return k != NULL && file_nbytes != 0 && file_nbytes % record_nbytes(k) == 0;
}

const mr__scanner mr__scanner_cifar = {.layout = MR_LAYOUT_CIFAR,
                                       .probe = probe,
                                       .scan = scan_file,
                                       .beside = {"batches.meta.txt", "fine_label_names.txt"}};
