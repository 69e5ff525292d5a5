// SPDX-License-Identifier: Apache-2.0
#include "index_make.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/rng.h"

#include <stdio.h>
#include <string.h>

static void make_record(mr__record *record, const index_case *of, mr__rng *rng)
{
    *record = (mr__record){.state = (uint8_t)(mr__rng_below(rng, 5) == 0 ? mr__rng_below(rng, 3) : 0)};
    if (record->state != MR_RECORD_PRESENT)
        return;
    record->offset = mr__rng_below(rng, INDEX_DATA_NBYTES / 2);
    record->nbytes = mr__rng_below(rng, INDEX_DATA_NBYTES / 2);
    if (of->layout == MR_LAYOUT_FOLDER) {
        record->offset = (uint64_t)mr__rng_u32(rng) << 32 | mr__rng_u32(rng);
        record->nbytes |= (uint64_t)mr__rng_below(rng, 256) << 32;
    }
    record->form = (uint8_t)mr__rng_below(rng, 7);
    record->orientation = (uint8_t)mr__rng_below(rng, 9);
    record->channels = (uint8_t)mr__rng_below(rng, 5);
    if (record->channels != 0) {
        record->depth = mr__rng_below(rng, 2) == 0 ? 8 : 16;
        record->width = 1 + mr__rng_below(rng, UINT32_MAX);
        record->height = 1 + mr__rng_below(rng, 1000);
    }
    record->has_hash = mr__rng_below(rng, 2) == 0;
    record->hash = record->has_hash ? (uint64_t)mr__rng_u32(rng) << 32 | mr__rng_u32(rng) : 0;
    record->pixel_mode = mr__rng_below(rng, 2) == 0;
    record->planar = mr__rng_below(rng, 2) == 0;
    record->parts = mr__rng_below(rng, 2) == 0;
}

static void make_label(index_sample *sample, mr__rng *rng)
{
    mr_label *label = &sample->draft.label;
    *label = (mr_label){.kind = (mr_label_kind)mr__rng_below(rng, 7)};
    for (size_t i = 0; i < sizeof sample->values; i++)
        sample->values[i] = (uint8_t)(1 + mr__rng_below(rng, 255));
    if (label->kind == MR_LABEL_INT) {
        label->integer = (int64_t)mr__rng_u32(rng) - INT32_MAX;
    } else if (label->kind == MR_LABEL_FLOAT) {
        label->real = mr__rng_float(rng);
    } else if (label->kind != MR_LABEL_NONE) {
        label->count = mr__rng_below(rng, label->kind <= MR_LABEL_FLOATS ? 9 : 65);
        label->values = label->count != 0 ? sample->values : NULL;
        if (label->kind == MR_LABEL_BYTES)
            sample->values[0] = 0;
    }
}

static void make_members(index_sample *sample, mr__rng *rng)
{
    static const char *const names[] = {"json", "seg.png", "txt", "cls", "", "a", "b", "c", "d", "e", "f", "depth.exr"};
    for (size_t i = 0; i < 4; i++) {
        const char *name = names[mr__rng_below(rng, sizeof names / sizeof *names)];
        sample->members[i] = (mr__member){.name = name, .name_nbytes = strlen(name)};
        sample->members[i].offset = mr__rng_below(rng, INDEX_DATA_NBYTES / 2);
        sample->members[i].nbytes = mr__rng_below(rng, INDEX_DATA_NBYTES / 2);
    }
    sample->draft.members = sample->members;
    sample->draft.member_count = mr__rng_below(rng, 5);
}

void index_sample_make(index_sample *sample, const index_case *of, uint32_t position)
{
    mr__rng rng;
    mr__rng_init(&rng, of->seed, 0, position, 0);
    memset(sample, 0, sizeof *sample);
    make_record(&sample->draft.record, of, &rng);
    make_label(sample, &rng);
    if (of->members && mr__rng_below(&rng, 2) == 0)
        make_members(sample, &rng);
    for (size_t i = 0; i < sizeof sample->row_index; i++)
        sample->row_index[i] = (uint8_t)mr__rng_u32(&rng);
    if (of->rows && mr__rng_below(&rng, 2) == 0) {
        sample->draft.row_index = sample->row_index;
        sample->draft.row_index_nbytes = mr__rng_below(&rng, 65);
    }
    snprintf(sample->key, sizeof sample->key, "%.*s.%u", (int)mr__rng_below(&rng, 16), "train/n01440764_", position);
    sample->draft.key = sample->key;
    sample->draft.key_nbytes = strlen(sample->key);
}

const char *index_text(char text[32], const char *what, uint32_t i)
{
    snprintf(text, 32, "%s %.*u", what, (int)(i % 5), i);
    return text;
}

const char *index_folder(char text[32], uint32_t i)
{
    return i == 0 ? "" : index_text(text, "folder", i);
}

mr__index_head index_head(const index_case *of)
{
    mr__index_head head = {.layout = of->layout, .made_of = of->seed};
    if (of->layout != MR_LAYOUT_FOLDER)
        head.data_nbytes = INDEX_DATA_NBYTES;
    if (of->layout != MR_LAYOUT_PACKED) {
        head.data_mtime_ns = -5;
    } else {
        head.shard = 3;
        head.data_hash = 77;
    }
    return head;
}

int index_make(const index_case *of, const mr_hooks *hooks, mr__index_build *build, const uint8_t **bytes,
               size_t *nbytes)
{
    mr__index_head head = index_head(of);
    index_sample sample;
    char text[32];
    int error = 0;
    mr__index_build_init(build, hooks);
    for (uint32_t i = 0; i < of->classes && error == 0; i++) {
        index_text(text, "class", i);
        error = mr__index_add_class(build, text, strlen(text));
    }
    for (uint32_t i = 0; i < of->folders && error == 0; i++)
        error = mr__index_add_folder(build, index_folder(text, i), -(int64_t)i);
    for (uint32_t i = 0; i < of->samples && error == 0; i++) {
        index_sample_make(&sample, of, i);
        error = mr__index_add(build, &sample.draft);
    }
    for (uint32_t i = 0; i < of->problems && error == 0; i++)
        error = mr__index_add_problem(build, i % 2 == 0 ? MR__INDEX_NO_POSITION : i / 2, -1 - (int)i, "%s",
                                      index_text(text, "problem", i));
    return error != 0 ? error : mr__index_build_finish(build, &head, bytes, nbytes);
}

void index_seal(uint8_t *bytes, size_t nbytes)
{
    if (nbytes < MR__INDEX_HEAD_NBYTES)
        return;
    uint32_t sections = mr__load_le32(bytes + 12);
    if (sections > MR__INDEX_SECTION_MAX || sections * (size_t)32 > nbytes - MR__INDEX_HEAD_NBYTES)
        return;
    for (uint32_t i = 0; i < sections; i++) {
        uint8_t *entry = bytes + MR__INDEX_HEAD_NBYTES + i * (size_t)MR__INDEX_ENTRY_NBYTES;
        uint64_t place = mr__load_le64(entry + 8), length = mr__load_le64(entry + 16);
        if (place <= nbytes && length <= nbytes - place)
            mr__store_le64(entry + 24, mr__hash(bytes + place, (size_t)length));
    }
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    mr__hasher_add(&hasher, bytes, 120);
    mr__hasher_add(&hasher, bytes + MR__INDEX_HEAD_NBYTES, sections * (size_t)MR__INDEX_ENTRY_NBYTES);
    mr__store_le64(bytes + 120, mr__hasher_value(&hasher));
}

static uint64_t read_sample(const mr__index *index, uint64_t position)
{
    mr__record record;
    mr_label label;
    mr__member member;
    const char *key;
    const void *row;
    size_t nbytes;
    uint64_t sum = 0, found;
    if (mr__index_record(index, position, &record))
        sum += record.offset + record.nbytes + record.width;
    if (mr__index_key(index, position, &key, &nbytes)) {
        sum += mr__hash(key, nbytes + 1);
        if (mr__index_find(index, key, nbytes, &found))
            sum += found;
    }
    if (mr__index_label(index, position, &label) && label.count != 0)
        sum += mr__hash(label.values, label.count * (label.kind <= MR_LABEL_FLOATS ? 8 : 1));
    if (mr__index_row_index(index, position, &row, &nbytes) && nbytes != 0)
        sum += mr__hash(row, nbytes);
    uint32_t count = mr__index_member_count(index, position);
    for (uint32_t i = 0; i <= count; i++)
        if (mr__index_member(index, position, i, &member))
            sum += member.offset + member.nbytes + mr__hash(member.name, member.name_nbytes + 1);
    return sum;
}

uint64_t index_read_all(const mr__index *index)
{
    enum { MOST = 1000 }; /* a damaged count may be anything */
    uint64_t sum = 0;
    const char *text;
    size_t nbytes;
    for (uint64_t i = 0; i <= index->head.samples && i < MOST; i++)
        sum += read_sample(index, i);
    sum += read_sample(index, UINT32_MAX) + read_sample(index, UINT64_MAX);
    for (uint64_t i = 0; i <= mr__index_class_count(index) && i < MOST; i++)
        if (mr__index_class(index, i, &text, &nbytes))
            sum += mr__hash(text, nbytes + 1);
    for (uint64_t i = 0; i <= mr__index_folder_count(index) && i < MOST; i++) {
        int64_t mtime_ns;
        if (mr__index_folder(index, i, &text, &mtime_ns))
            sum += strlen(text) + (uint64_t)mtime_ns;
    }
    for (uint64_t i = 0; i <= mr__index_problem_count(index) && i < MOST; i++) {
        uint32_t position;
        int code;
        if (mr__index_problem(index, i, &position, &code, &text))
            sum += strlen(text) + position + (uint64_t)code;
    }
    return sum + mr__hash(mr__index_key_map(index), (size_t)index->head.samples * 8);
}
