// SPDX-License-Identifier: Apache-2.0
/*
 * MXNet's RecordIO (.rec) with an image in each record, as im2rec writes it.
 *
 *     u32  magic, 0xced7230a
 *     u32  upper 3 bits: part (0 whole; 1 first, 2 middle, 3 last of several); lower 29 bits: length of the payload
 *          payload, and zeros up to a multiple of 4
 *
 * A payload that has the magic in it, at a multiple of 4, is cut there into parts, and the magic left out between them.
 * So the magic at a multiple of 4 begins a part wherever it is: behind damage the next whole record is looked for by
 * it. And the image of a record of several parts does not stand in the file in one piece: the index has the place of
 * the whole record, `parts`, and who reads it puts it together (recordio_join.h). By chance that is one image of 100 kB
 * in 170,000.
 *
 * The payload of a record: u32 flag, f32 label, u64 id, u64 id2; then, where flag is not 0, that many f32 which are the
 * label instead; then the image. All little-endian.
 *
 * An .idx beside the file has lines "key<TAB>place of the record": keys are taken from it, nothing else. The order
 * stays the file's.
 */
#include "base/bytes.h"
#include "base/size.h"
#include "dataset/recordio_join.h"
#include "dataset/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IDX_LINES ((size_t)1 << 26) /* 2 GiB of entries */

enum {
    HEAD_NBYTES = MR__RECORDIO_HEAD_NBYTES,
    LABEL_HEAD_NBYTES = MR__RECORDIO_LABEL_NBYTES,
    WHOLE = MR__RECORDIO_WHOLE,
    FIRST = MR__RECORDIO_FIRST,
    MIDDLE = MR__RECORDIO_MIDDLE,
    LAST = MR__RECORDIO_LAST,
    PIECE_NBYTES = 1 << 16
};

/* A line of the .idx. */
typedef struct entry {
    uint64_t place;  /* of a record */
    uint64_t number; /* of the line */
    uint64_t key;    /* where it begins in the keys */
    uint32_t key_nbytes;
} entry;

typedef struct idx {
    char *path;
    mr__buffer entries, keys; /* by place, once sorted */
    size_t count, keys_nbytes;
    size_t next; /* the first that is not before the record that is being read */
} idx;

typedef struct reading {
    mr__scan *scan;
    mr__window window;
    mr__key_set keys;
    mr__buffer label;
    mr__buffer joined; /* the beginning of a payload that is in parts */
    idx idx;
    uint64_t at, number; /* of the record that is being read */
    unsigned part;
    uint64_t nbytes;        /* of its payload, put together */
    uint64_t record_nbytes; /* in parts: from the first one's head to the last one's end */
} reading;

typedef struct place {
    char text[64];
} place;

static place place_of(const reading *r)
{
    place p;
    snprintf(p.text, sizeof p.text, "record %llu at byte %llu", (unsigned long long)r->number,
             (unsigned long long)r->at);
    return p;
}

static entry *entry_at(const idx *x, size_t i)
{
    return (entry *)(void *)x->entries.bytes + i;
}

static int add_line(reading *r, const char *line, size_t nbytes, uint64_t number)
{
    idx *x = &r->idx;
    const char *tab = memchr(line, '\t', nbytes);
    size_t key = tab != NULL ? (size_t)(tab - line) : 0, end;
    uint64_t at;
    if (key == 0 || key > MR__KEY_NBYTES_MAX || memchr(line, '\0', key) != NULL ||
        !mr__text_u64(tab + 1, nbytes - key - 1, &at))
        return mr__scan_broken(r->scan, MR_EFORMAT, "%s: line %llu is no key, a tab and the place of a record", x->path,
                               (unsigned long long)number);
    if (x->count == IDX_LINES)
        return mr__fail(r->scan->detail, MR_ELIMIT, "%s: more than 2^26 lines", x->path);
    if (!mr__size_add(x->keys_nbytes, key, &end) ||
        mr__buffer_grow(&x->keys, r->scan->hooks, x->keys_nbytes, end) != 0 ||
        mr__buffer_grow(&x->entries, r->scan->hooks, x->count * sizeof(entry), (x->count + 1) * sizeof(entry)) != 0)
        return MR_ENOMEM;
    memcpy(x->keys.bytes + x->keys_nbytes, line, key);
    *entry_at(x, x->count++) = (entry){at, number, x->keys_nbytes, (uint32_t)key};
    x->keys_nbytes = end;
    return 0;
}

static bool is_before(const entry *a, const entry *b)
{
    return a->place != b->place ? a->place < b->place : a->number < b->number;
}

/* Moves the entry at `i` down to where the heap of the first `count` is one again. */
static void sift(const idx *x, size_t i, size_t count)
{
    entry moving = *entry_at(x, i);
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && is_before(entry_at(x, child), entry_at(x, child + 1)))
            child++;
        if (!is_before(&moving, entry_at(x, child)))
            break;
        *entry_at(x, i) = *entry_at(x, child);
    }
    *entry_at(x, i) = moving;
}

/* Heap sort: no memory, and no order that makes it slow. Most files are in order already. */
static void sort_entries(const idx *x)
{
    size_t i = 1;
    while (i < x->count && is_before(entry_at(x, i - 1), entry_at(x, i)))
        i++;
    if (i >= x->count)
        return;
    for (i = x->count / 2; i-- > 0;)
        sift(x, i, x->count);
    for (i = x->count - 1; i > 0; i--) {
        entry top = *entry_at(x, 0);
        *entry_at(x, 0) = *entry_at(x, i);
        *entry_at(x, i) = top;
        sift(x, 0, i);
    }
}

static int read_lines(reading *r, mr__lines *lines)
{
    const char *line;
    size_t nbytes;
    int more, result = 0;
    while (result == 0 && (more = mr__lines_next(lines, &line, &nbytes)) != 0) {
        if (more == MR_ELIMIT)
            return mr__fail(r->scan->detail, MR_ELIMIT, "%s: line %llu is too long: is it an .idx?", r->idx.path,
                            (unsigned long long)lines->number);
        if (more < 0)
            return mr__fail(r->scan->detail, more, "%s: reading it failed", r->idx.path);
        if (nbytes != 0)
            result = add_line(r, line, nbytes, lines->number);
        if (result == 0 && lines->number % 4096 == 0)
            result = mr__scan_seen(r->scan, 0);
    }
    return result;
}

/* The path with .idx where .rec is, or behind it. */
static int name_idx(reading *r)
{
    const char *path = r->scan->path;
    size_t nbytes = strlen(path);
    if (mr__text_ends_with(path, ".rec"))
        nbytes -= 4;
    if ((r->idx.path = mr__alloc(r->scan->hooks, nbytes + 5)) == NULL)
        return MR_ENOMEM;
    memcpy(r->idx.path, path, nbytes);
    memcpy(r->idx.path + nbytes, ".idx", 5);
    return 0;
}

/* None is no error. */
static int read_idx(reading *r)
{
    mr__file file;
    int result = name_idx(r);
    int error = result == 0 ? mr__file_open(&file, r->idx.path) : 0;
    if (result != 0 || error == ENOENT || error == ENOTDIR)
        return result;
    if (error != 0)
        return mr__fail(r->scan->detail, MR_EIO, "%s: it is there and cannot be read (error %d)", r->idx.path, error);
    mr__lines lines = {.window = {.file = &file, .hooks = r->scan->hooks}};
    result = read_lines(r, &lines);
    mr__window_fini(&lines.window);
    mr__file_close(&file);
    sort_entries(&r->idx);
    return result;
}

/* Lines that stand for a place before `at` stand for no record; UINT64_MAX: all that are left. */
static int pass_lines(reading *r, uint64_t at)
{
    int result = 0;
    for (; result == 0 && r->idx.next < r->idx.count; r->idx.next++) {
        const entry *line = entry_at(&r->idx, r->idx.next);
        if (line->place >= at && at != UINT64_MAX)
            break;
        result = mr__scan_broken(r->scan, MR_ECORRUPT,
                                 "%s: line %llu says that a record begins at byte %llu, where none does", r->idx.path,
                                 (unsigned long long)line->number, (unsigned long long)line->place);
    }
    return result;
}

/* The line of this record, if there is one. A second one for it is broken. */
static int find_line(reading *r, const entry **found)
{
    *found = NULL;
    int result = pass_lines(r, r->at);
    if (result != 0 || r->idx.next == r->idx.count || entry_at(&r->idx, r->idx.next)->place != r->at)
        return result;
    *found = entry_at(&r->idx, r->idx.next++);
    for (; result == 0 && r->idx.next < r->idx.count && entry_at(&r->idx, r->idx.next)->place == r->at; r->idx.next++)
        result = mr__scan_broken(r->scan, MR_ECORRUPT, "%s: lines %llu and %llu stand for the same record", r->idx.path,
                                 (unsigned long long)(*found)->number,
                                 (unsigned long long)entry_at(&r->idx, r->idx.next)->number);
    return result;
}

static bool is_whole(float value)
{
    const float most = 9007199254740992.0f; /* 2^53: beyond it a float says nothing of units */
    return value >= -most && value <= most && (float)(int64_t)value == value;
}

static float load_float(const uint8_t *bytes)
{
    uint32_t bits = mr__load_le32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Several numbers: whole ones where all are. The window has the floats, which stay while nothing is read. */
static int make_labels(reading *r, const uint8_t *floats, size_t count, mr_label *label)
{
    bool whole = true;
    if (mr__buffer_reserve(&r->label, r->scan->hooks, 8 * count) != 0)
        return MR_ENOMEM;
    for (size_t i = 0; i < count; i++)
        whole = whole && is_whole(load_float(floats + 4 * i));
    for (size_t i = 0; i < count; i++) {
        float value = load_float(floats + 4 * i);
        double wide = value;
        uint64_t bits = whole ? (uint64_t)(int64_t)value : 0;
        if (!whole)
            memcpy(&bits, &wide, sizeof bits);
        mr__store_le64(r->label.bytes + 8 * i, bits);
    }
    *label = (mr_label){.kind = whole ? MR_LABEL_INTS : MR_LABEL_FLOATS, .values = r->label.bytes, .count = count};
    return 0;
}

static int read_head(reading *r, uint64_t at, bool *there, unsigned *part, uint64_t *nbytes)
{
    size_t got;
    const uint8_t *head = mr__window_get(&r->window, at, HEAD_NBYTES, &got);
    if (head == NULL)
        return mr__scan_io(r->scan, &r->window);
    *part = 0;
    *nbytes = 0;
    *there = got == HEAD_NBYTES && mr__recordio_head(head, part, nbytes);
    return 0;
}

/* The first `most` bytes of a payload in parts, into `joined`; *got where it, or the file, has fewer. */
static int join_begin(reading *r, size_t most, size_t *got)
{
    uint64_t at = r->at, nbytes;
    unsigned part = FIRST;
    *got = 0;
    if (mr__buffer_reserve(&r->joined, r->scan->hooks, most + 4) != 0)
        return MR_ENOMEM;
    for (bool first = true, there; *got < most && (first || part != LAST); first = false) {
        size_t n;
        int result = read_head(r, at, &there, &part, &nbytes);
        if (result != 0 || !there)
            return result;
        if (!first) {
            mr__store_le32(r->joined.bytes + *got, MR__RECORDIO_MAGIC);
            *got += 4;
        }
        size_t wanted = *got >= most ? 0 : nbytes < most - *got ? (size_t)nbytes : most - *got;
        const uint8_t *bytes = mr__window_get(&r->window, at + HEAD_NBYTES, wanted, &n);
        if (bytes == NULL)
            return mr__scan_io(r->scan, &r->window);
        if (n != 0)
            memcpy(r->joined.bytes + *got, bytes, n);
        *got += n;
        at += HEAD_NBYTES + mr__recordio_padded(nbytes);
    }
    *got = *got < most ? *got : most;
    return 0;
}

/* Bytes of the payload, as mr__window_get gives them, however it is stored. */
static int get_payload(reading *r, uint64_t offset, size_t nbytes, const uint8_t **bytes, size_t *got)
{
    if (r->part == WHOLE) {
        *bytes = mr__window_get(&r->window, r->at + HEAD_NBYTES + offset, nbytes, got);
        return *bytes != NULL ? 0 : mr__scan_io(r->scan, &r->window);
    }
    int result = join_begin(r, (size_t)offset + nbytes, got);
    *got = *got > offset ? *got - (size_t)offset : 0;
    *bytes = *got != 0 ? r->joined.bytes + offset : r->joined.bytes;
    return result;
}

typedef struct header {
    uint32_t flag;
    float label;
    uint64_t id;
} header;

/* From the payload's head to where the image begins. *good: it makes sense. */
static int read_label(reading *r, header *h, mr__draft *draft, bool *good)
{
    const uint8_t *bytes;
    size_t got;
    int result = get_payload(r, 0, LABEL_HEAD_NBYTES, &bytes, &got);
    if (result != 0)
        return result;
    *good = false;
    if (r->nbytes < LABEL_HEAD_NBYTES || got < LABEL_HEAD_NBYTES)
        return mr__scan_broken(r->scan, MR_ECORRUPT, "%s has %llu bytes, less than the head of an image record",
                               place_of(r).text, (unsigned long long)r->nbytes);
    *h = (header){mr__load_le32(bytes), load_float(bytes + 4), mr__load_le64(bytes + 8)};
    uint64_t labels = UINT64_C(4) * h->flag;
    if (labels >= r->nbytes - LABEL_HEAD_NBYTES)
        return mr__scan_broken(r->scan, MR_ECORRUPT, "%s has %llu bytes and %u labels: there is no room for an image",
                               place_of(r).text, (unsigned long long)r->nbytes, h->flag);
    if (h->flag > MR__LABEL_VALUES_MAX)
        return mr__scan_broken(r->scan, MR_ELIMIT, "%s has %u labels; a sample can have %d", place_of(r).text, h->flag,
                               MR__LABEL_VALUES_MAX);
    *good = true;
    if (h->flag == 0) {
        bool whole = is_whole(h->label);
        draft->label = (mr_label){.kind = whole ? MR_LABEL_INT : MR_LABEL_FLOAT};
        draft->label.integer = whole ? (int64_t)h->label : 0;
        draft->label.real = whole ? 0 : h->label;
        return 0;
    }
    result = get_payload(r, LABEL_HEAD_NBYTES, (size_t)labels, &bytes, &got);
    if (result != 0)
        return result;
    *good = got == labels;
    return *good
               ? make_labels(r, bytes, h->flag, &draft->label)
               : mr__scan_broken(r->scan, MR_ETRUNCATED, "the file was cut in %s while it was read", place_of(r).text);
}

/* Where the image is, or the record that it is in, and its form. */
static int place_image(reading *r, const header *h, mr__record *record)
{
    uint64_t at = LABEL_HEAD_NBYTES + UINT64_C(4) * h->flag, nbytes = r->nbytes - at;
    const uint8_t *bytes;
    size_t got;
    int result = get_payload(r, at, nbytes < MR__PROBE_NBYTES ? (size_t)nbytes : MR__PROBE_NBYTES, &bytes, &got);
    if (result != 0)
        return result;
    record->form = (uint8_t)mr_form_probe(bytes, got);
    record->parts = r->part != WHOLE;
    record->offset = record->parts ? r->at : r->at + HEAD_NBYTES + at;
    record->nbytes = record->parts ? r->record_nbytes : nbytes;
    return 0;
}

static int add_sample(reading *r)
{
    header h = {0};
    mr__draft draft = {0};
    const entry *line;
    bool good = false;
    char number[24];
    int result = find_line(r, &line);
    if (result == 0)
        result = read_label(r, &h, &draft, &good);
    if (result == 0 && good)
        result = place_image(r, &h, &draft.record);
    if (result != 0 || !good)
        return result;
    snprintf(number, sizeof number, "%llu", (unsigned long long)h.id);
    draft.key = line != NULL ? (const char *)r->idx.keys.bytes + line->key : number;
    draft.key_nbytes = line != NULL ? line->key_nbytes : strlen(number);
    return mr__scan_add(r->scan, &r->keys, &draft, place_of(r).text);
}

/* The next place from `at` on where a record begins, or the file's end. */
static int find_record(reading *r, uint64_t *at)
{
    uint64_t from = (*at + 3) / 4 * 4;
    for (;;) {
        size_t got;
        const uint8_t *bytes = mr__window_get(&r->window, from, PIECE_NBYTES, &got);
        if (bytes == NULL)
            return mr__scan_io(r->scan, &r->window);
        for (size_t i = 0; i + HEAD_NBYTES <= got; i += 4)
            if (mr__load_le32(bytes + i) == MR__RECORDIO_MAGIC && mr__load_le32(bytes + i + 4) >> 29 <= FIRST) {
                *at = from + i;
                return 0;
            }
        if (got < PIECE_NBYTES) {
            *at = r->scan->file->nbytes;
            return 0;
        }
        from += PIECE_NBYTES - 4; // the last 4 bytes may be a magic whose other half comes next
        int result = mr__scan_seen(r->scan, 0);
        if (result != 0)
            return result;
    }
}

/* Where the part that begins at `at` ends; false: behind the end of the file. The padding of the last may be missing.
 */
static bool find_end(const reading *r, uint64_t at, uint64_t nbytes, uint64_t *end)
{
    uint64_t left = r->scan->file->nbytes - at - HEAD_NBYTES;
    if (nbytes > left)
        return false;
    uint64_t padded = mr__recordio_padded(nbytes);
    *end = at + HEAD_NBYTES + (padded < left ? padded : left);
    return true;
}

/* What is wrong with the part at *at, which then goes to the next record. */
static int say_bad_part(reading *r, uint64_t *at, bool there, unsigned part)
{
    bool cut = r->scan->file->nbytes - *at < HEAD_NBYTES || (there && (part == MIDDLE || part == LAST));
    int result = find_line(r, &(const entry *){NULL}); // its line is right, its image is not
    if (result == 0)
        result = mr__scan_broken(
            r->scan, cut ? MR_ETRUNCATED : MR_ECORRUPT, "%s is stored in parts, and the one at byte %llu %s",
            place_of(r).text, (unsigned long long)*at, cut ? "goes on behind the end of the file" : "is none of them");
    return result != 0 ? result : find_record(r, at);
}

/* The other parts of a record: *at goes from the end of the first behind the last. *good: all are there. */
static int pass_parts(reading *r, uint64_t *at, bool *good)
{
    unsigned part = FIRST;
    *good = false;
    while (part != LAST) {
        bool there;
        uint64_t nbytes, end;
        int result = read_head(r, *at, &there, &part, &nbytes);
        if (result == 0)
            result = mr__scan_seen(r->scan, 0);
        if (result != 0)
            return result;
        if (!there || (part != MIDDLE && part != LAST) || !find_end(r, *at, nbytes, &end))
            return say_bad_part(r, at, there, part);
        r->nbytes += 4 + nbytes;
        r->record_nbytes = *at + HEAD_NBYTES + nbytes - r->at;
        *at = end;
    }
    *good = r->record_nbytes <= MR__RECORD_NBYTES_MAX;
    int result = *good ? 0 : find_line(r, &(const entry *){NULL});
    return *good || result != 0
               ? result
               : mr__scan_broken(r->scan, MR_ELIMIT, "%s has %llu bytes; a record of more than 1 GiB is refused",
                                 place_of(r).text, (unsigned long long)r->record_nbytes);
}

/* One record; `at` goes behind it, or behind what is broken. */
static int read_record(reading *r)
{
    bool there;
    uint64_t end;
    int result = read_head(r, r->at, &there, &r->part, &r->nbytes);
    if (result != 0)
        return result;
    if (there && r->part <= FIRST && find_end(r, r->at, r->nbytes, &end)) {
        bool good = true;
        if (r->part == FIRST)
            result = pass_parts(r, &end, &good);
        if (result == 0 && good)
            result = add_sample(r);
        r->at = end;
        return result;
    }
    bool cut = r->scan->file->nbytes - r->at < HEAD_NBYTES || (there && r->part <= FIRST);
    if (cut)
        result = mr__scan_broken(r->scan, MR_ETRUNCATED,
                                 "truncated RecordIO file: %s should go on behind byte %llu, "
                                 "where the file ends",
                                 place_of(r).text, (unsigned long long)r->scan->file->nbytes);
    else
        result = mr__scan_broken(r->scan, r->at == 0 ? MR_EFORMAT : MR_ECORRUPT,
                                 "damaged RecordIO file: %s does not begin with %s%s", place_of(r).text,
                                 there ? "its first part" : "the magic number",
                                 mr__scan_skips(r->scan, "; the next one is looked for"));
    uint64_t from = r->at + (there ? HEAD_NBYTES : 4);
    if (result == 0)
        result = find_record(r, &from);
    r->at = from;
    return result;
}

static int read_all(reading *r)
{
    int result = mr__scan_seen(r->scan, 0);
    if (result == 0)
        result = read_idx(r);
    while (result == 0 && r->at < r->scan->file->nbytes) {
        uint64_t begin = r->at;
        result = read_record(r);
        r->number++;
        if (result == 0)
            result = mr__scan_seen(r->scan, r->at - begin);
    }
    return result != 0 ? result : pass_lines(r, UINT64_MAX);
}

static int scan_file(mr__scan *scan)
{
    reading r = {.scan = scan, .window = {.file = scan->file, .hooks = scan->hooks}};
    mr__detail_clear(scan->detail);
    int result = read_all(&r);
    mr__key_set_fini(&r.keys, scan->hooks);
    mr__free(scan->hooks, r.idx.path);
    mr__buffer_fini(&r.idx.entries, scan->hooks);
    mr__buffer_fini(&r.idx.keys, scan->hooks);
    mr__buffer_fini(&r.label, scan->hooks);
    mr__buffer_fini(&r.joined, scan->hooks);
    mr__window_fini(&r.window);
    return mr__scan_end(scan, result);
}

static bool probe(const char *path, const uint8_t *bytes, size_t nbytes, uint64_t file_nbytes)
{
    (void)path;
    (void)file_nbytes;
    return nbytes >= HEAD_NBYTES && mr__load_le32(bytes) == MR__RECORDIO_MAGIC &&
           mr__load_le32(bytes + 4) >> 29 <= FIRST;
}

const mr__scanner mr__scanner_recordio = {
    .layout = MR_LAYOUT_RECORDIO, .probe = probe, .scan = scan_file, .beside = {".idx"}};
