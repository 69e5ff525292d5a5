// SPDX-License-Identifier: Apache-2.0
#include "dataset/index_file.h"

#include "base/hash.h"
#include "base/size.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mr__index_build_init(mr__index_build *build, const mr_hooks *hooks)
{
    memset(build, 0, sizeof *build);
    build->hooks = hooks;
}

void mr__index_build_fini(mr__index_build *build)
{
    for (int i = 0; i < MR__INDEX_PART_COUNT; i++) {
        mr__buffer_fini(&build->parts[i].buffer, build->hooks);
        build->parts[i].used = 0;
    }
}

int mr__index_append(mr__index_build *build, int part, const void *bytes, size_t nbytes, uint8_t **at)
{
    mr__buffer *buffer = &build->parts[part].buffer;
    size_t used = build->parts[part].used, end;
    if (!mr__size_add(used, nbytes, &end) || mr__buffer_grow(buffer, build->hooks, used, end) != 0)
        return MR_ENOMEM;
    if (bytes == NULL)
        memset(buffer->bytes + used, 0, nbytes);
    else if (nbytes != 0)
        memcpy(buffer->bytes + used, bytes, nbytes);
    build->parts[part].used = end;
    if (at != NULL)
        *at = buffer->bytes + used;
    return 0;
}

static int append_number(mr__index_build *build, int part, uint64_t value)
{
    uint8_t bytes[8];
    mr__store_le64(bytes, value);
    return mr__index_append(build, part, bytes, sizeof bytes, NULL);
}

int mr__index_fill(mr__index_build *build, int part, uint64_t count, uint64_t value)
{
    int error = 0;
    while (error == 0 && build->parts[part].used / 8 < count)
        error = append_number(build, part, value);
    return error;
}

/* A text and a zero behind it; where it begins, to `places` unless that is negative. */
static int append_text(mr__index_build *build, int places, int part, const char *text, size_t nbytes)
{
    int error = places < 0 ? 0 : append_number(build, places, build->parts[part].used);
    if (error == 0)
        error = mr__index_append(build, part, text, nbytes, NULL);
    return error != 0 ? error : mr__index_append(build, part, NULL, 1, NULL);
}

static int check_text(const char *text, size_t nbytes)
{
    if (nbytes > MR__INDEX_TEXT_MAX)
        return MR_ELIMIT;
    if (nbytes != 0 && (text == NULL || memchr(text, 0, nbytes) != NULL))
        return MR_EARGUMENT;
    return 0;
}

static int check_label(const mr__index_build *build, const mr_label *label)
{
    if (label->kind <= MR_LABEL_FLOAT)
        return (int)label->kind >= 0 ? 0 : MR_EARGUMENT;
    if (label->kind > MR_LABEL_BYTES || (label->values == NULL && label->count != 0))
        return MR_EARGUMENT;
    size_t each = label->kind <= MR_LABEL_FLOATS ? 8 : 1;
    if (label->count > MR__INDEX_TEXT_MAX ||
        label->count * each > MR__INDEX_LABELS_MAX - build->parts[MR__PART_LABELS].used)
        return MR_ELIMIT;
    return label->kind == MR_LABEL_TEXT ? check_text(label->values, label->count) : 0;
}

static int check_members(const mr__draft *draft)
{
    int error = draft->member_count <= MR__MEMBER_MAX ? 0 : MR_ELIMIT;
    for (size_t i = 0; i < draft->member_count && error == 0; i++)
        error = check_text(draft->members[i].name, draft->members[i].name_nbytes);
    return error;
}

/* Into the record, and the labels where it does not fit there. */
static int put_label(mr__index_build *build, const mr_label *label, uint8_t record[MR__INDEX_RECORD_NBYTES])
{
    uint64_t bits = 0;
    int error = 0;
    if (label->kind == MR_LABEL_INT) {
        bits = (uint64_t)label->integer;
    } else if (label->kind == MR_LABEL_FLOAT) {
        memcpy(&bits, &label->real, sizeof bits);
    } else if (label->kind != MR_LABEL_NONE) {
        size_t each = label->kind <= MR_LABEL_FLOATS ? 8 : 1;
        // An empty one may stand behind the last byte there can be, where no place leads.
        bits = label->count == 0 ? 0 : (uint64_t)label->count << 40 | build->parts[MR__PART_LABELS].used;
        if (label->count != 0)
            error = mr__index_append(build, MR__PART_LABELS, label->values, label->count * each, NULL);
    }
    mr__store_le64(record + 32, bits);
    record[40] = (uint8_t)label->kind;
    return error;
}

static void put_record(const mr__record *from, uint8_t to[MR__INDEX_RECORD_NBYTES])
{
    to[41] = from->state;
    if (from->state != MR_RECORD_PRESENT)
        return;
    mr__store_le64(to, from->offset);
    mr__store_le32(to + 8, (uint32_t)from->nbytes);
    to[12] = (uint8_t)(from->nbytes >> 32);
    to[13] = from->form;
    to[14] = from->channels;
    to[15] = from->depth;
    mr__store_le32(to + 16, from->width);
    mr__store_le32(to + 20, from->height);
    mr__store_le64(to + 24, from->has_hash ? from->hash : 0);
    unsigned flags = from->has_hash ? MR__RECORD_HASHED : 0;
    flags |= from->pixel_mode ? MR__RECORD_PIXEL_MODE : 0;
    flags |= from->planar ? MR__RECORD_PLANAR : 0;
    flags |= from->parts ? MR__RECORD_PARTS : 0;
    mr__store_le16(to + 42, (uint16_t)flags);
    to[44] = from->orientation;
}

static bool is_name(const mr__index_build *build, uint64_t number, const mr__member *member)
{
    const uint8_t *places = build->parts[MR__PART_NAME_PLACES].buffer.bytes;
    uint64_t begin = mr__load_le64(places + 8 * number);
    uint64_t end =
        number + 1 < build->names ? mr__load_le64(places + 8 * number + 8) : build->parts[MR__PART_NAMES].used;
    if (end - begin - 1 != member->name_nbytes)
        return false;
    return member->name_nbytes == 0 ||
           memcmp(build->parts[MR__PART_NAMES].buffer.bytes + begin, member->name, member->name_nbytes) == 0;
}

/* The place in the table of names where this one is, or would be. */
static uint8_t *name_slot(mr__index_build *build, const mr__member *member)
{
    uint8_t *table = build->parts[MR__PART_NAME_TABLE].buffer.bytes;
    size_t mask = build->parts[MR__PART_NAME_TABLE].used / 4 - 1;
    for (size_t i = (size_t)mr__hash(member->name, member->name_nbytes) & mask;; i = (i + 1) & mask) {
        uint32_t entry = mr__load_le32(table + 4 * i);
        if (entry == 0 || is_name(build, entry - 1, member))
            return table + 4 * i;
    }
}

/* Twice as large, and at most half full, so that looking for a name always ends. */
static int widen_names(mr__index_build *build)
{
    size_t nbytes = build->parts[MR__PART_NAME_TABLE].used;
    if (build->names < nbytes / 8)
        return 0;
    int error = mr__index_append(build, MR__PART_NAME_TABLE, NULL, nbytes != 0 ? nbytes : 64, NULL);
    if (error != 0)
        return error;
    memset(build->parts[MR__PART_NAME_TABLE].buffer.bytes, 0, build->parts[MR__PART_NAME_TABLE].used);
    const uint8_t *places = build->parts[MR__PART_NAME_PLACES].buffer.bytes;
    for (uint64_t i = 0; i < build->names; i++) {
        const char *name = (const char *)build->parts[MR__PART_NAMES].buffer.bytes + mr__load_le64(places + 8 * i);
        mr__member member = {.name = name, .name_nbytes = strlen(name)};
        mr__store_le32(name_slot(build, &member), (uint32_t)i + 1);
    }
    return 0;
}

static int number_of_name(mr__index_build *build, const mr__member *member, uint32_t *number)
{
    int error = widen_names(build);
    if (error != 0)
        return error;
    uint8_t *slot = name_slot(build, member);
    *number = mr__load_le32(slot) - 1;
    if (*number != UINT32_MAX)
        return 0;
    error = append_text(build, MR__PART_NAME_PLACES, MR__PART_NAMES, member->name, member->name_nbytes);
    if (error != 0)
        return error;
    *number = (uint32_t)build->names++;
    mr__store_le32(slot, *number + 1);
    return 0;
}

/* The first members of samples are filled in up to the last sample that has any; the rest when the build is finished.
 */
static int put_members(mr__index_build *build, const mr__draft *draft)
{
    if (draft->member_count == 0)
        return 0;
    int error = mr__index_fill(build, MR__PART_MEMBER_STARTS, build->samples + 1, build->members);
    for (size_t i = 0; i < draft->member_count && error == 0; i++) {
        const mr__member *member = &draft->members[i];
        uint32_t name;
        uint8_t *to;
        if ((error = number_of_name(build, member, &name)) != 0 ||
            (error = mr__index_append(build, MR__PART_MEMBERS, NULL, MR__MEMBER_NBYTES, &to)) != 0)
            return error;
        mr__store_le64(to, member->offset);
        mr__store_le64(to + 8, member->nbytes);
        mr__store_le64(to + 16, member->has_hash ? member->hash : 0);
        mr__store_le32(to + 24, name);
        mr__store_le32(to + 28, member->has_hash ? MR__MEMBER_HASHED : 0);
        build->members++;
    }
    return error;
}

static int put_row_index(mr__index_build *build, const mr__draft *draft)
{
    if (draft->row_index_nbytes == 0)
        return 0;
    int error = mr__index_fill(build, MR__PART_ROW_PLACES, build->samples + 1, build->parts[MR__PART_ROW_INDEXES].used);
    if (error != 0)
        return error;
    return mr__index_append(build, MR__PART_ROW_INDEXES, draft->row_index, draft->row_index_nbytes, NULL);
}

static int check_draft(const mr__index_build *build, const mr__draft *draft)
{
    if (build->finished)
        return MR_EARGUMENT;
    if (build->samples == MR__INDEX_SAMPLE_MAX || build->names >= UINT32_MAX - MR__MEMBER_MAX)
        return MR_ELIMIT;
    int error = check_text(draft->key, draft->key_nbytes);
    if (error == 0 && draft->record.state == MR_RECORD_PRESENT && draft->record.nbytes > MR__INDEX_IMAGE_MAX)
        error = MR_ELIMIT;
    if (error == 0)
        error = check_label(build, &draft->label);
    return error != 0 ? error : check_members(draft);
}

int mr__index_add(mr__index_build *build, const mr__draft *draft)
{
    uint8_t record[MR__INDEX_RECORD_NBYTES] = {0};
    // Where the image is in its file is for the file to say; a folder has no such limit.
    static const mr__index_head anywhere = {.layout = MR_LAYOUT_FOLDER};
    int error = check_draft(build, draft);
    if (error != 0)
        return error;
    put_record(&draft->record, record);
    if (mr__record_fault(&anywhere, record) != NULL)
        return MR_EARGUMENT;
    if ((error = put_label(build, &draft->label, record)) != 0 || (error = put_members(build, draft)) != 0 ||
        (error = put_row_index(build, draft)) != 0)
        return error;
    error = append_text(build, MR__PART_KEY_PLACES, MR__PART_KEYS, draft->key, draft->key_nbytes);
    if (error == 0)
        error = mr__index_append(build, MR__PART_RECORDS, record, sizeof record, NULL);
    if (error != 0)
        return error;
    build->samples++;
    build->record_nbytes += draft->record.state == MR_RECORD_PRESENT ? draft->record.nbytes : 0;
    return 0;
}

int mr__index_add_class(mr__index_build *build, const char *name, size_t nbytes)
{
    int error = build->finished ? MR_EARGUMENT : check_text(name, nbytes);
    if (error == 0)
        error = append_text(build, MR__PART_CLASS_PLACES, MR__PART_CLASSES, name, nbytes);
    if (error == 0)
        build->classes++;
    return error;
}

int mr__index_add_folder(mr__index_build *build, const char *path, int64_t mtime_ns)
{
    size_t nbytes = strlen(path);
    uint8_t entry[MR__FOLDER_NBYTES];
    if (build->finished || (build->folders == 0 && nbytes != 0))
        return MR_EARGUMENT;
    mr__store_le64(entry, (uint64_t)mtime_ns);
    mr__store_le64(entry + 8, build->parts[MR__PART_FOLDER_NAMES].used);
    int error = check_text(path, nbytes);
    if (error == 0)
        error = append_text(build, -1, MR__PART_FOLDER_NAMES, path, nbytes);
    if (error == 0)
        error = mr__index_append(build, MR__PART_FOLDERS, entry, sizeof entry, NULL);
    if (error == 0)
        build->folders++;
    return error;
}

int mr__index_add_problem(mr__index_build *build, uint32_t position, int code, const char *format, ...)
{
    char text[512]; /* twice what a detail has; more is cut */
    uint8_t entry[MR__PROBLEM_NBYTES] = {0};
    if (build->finished || code >= 0)
        return MR_EARGUMENT;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mr__store_le32(entry, position);
    mr__store_le32(entry + 4, (uint32_t)code);
    mr__store_le64(entry + 8, build->parts[MR__PART_PROBLEM_TEXTS].used);
    mr__store_le32(entry + 16, (uint32_t)strlen(text));
    int error = append_text(build, -1, MR__PART_PROBLEM_TEXTS, text, strlen(text));
    if (error == 0)
        error = mr__index_append(build, MR__PART_PROBLEMS, entry, sizeof entry, NULL);
    if (error == 0)
        build->problems++;
    return error;
}
