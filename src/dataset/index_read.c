// SPDX-License-Identifier: Apache-2.0
/* Every place that is followed is checked first, against the section it points into: the file is only trusted to have
 * the lengths that mr__index_init found. */
#include "dataset/index_file.h"

#include "base/hash.h"

#include <string.h>

bool mr__places_get(const uint8_t *places, uint64_t count, uint64_t left, uint64_t i, uint64_t *place, uint64_t *nbytes)
{
    if (i >= count)
        return false;
    uint64_t begin = mr__load_le64(places + 8 * i), end = mr__load_le64(places + 8 * i + 8);
    if (begin > end || end > left)
        return false;
    *place = begin;
    *nbytes = end - begin;
    return true;
}

/* Text i of a list; false also where its zero is missing. */
static bool get_text(const uint8_t *places, uint64_t count, uint64_t left, uint64_t i, const char **text,
                     size_t *nbytes)
{
    uint64_t place, length;
    if (!mr__places_get(places, count, left, i, &place, &length) || length == 0)
        return false;
    const uint8_t *bytes = places + 8 * (count + 1) + place;
    if (bytes[length - 1] != 0)
        return false;
    *text = (const char *)bytes;
    *nbytes = (size_t)length - 1;
    return true;
}

/* The same of a section that begins with the number of its texts. */
static bool get_counted_text(const mr__index *index, int section, uint64_t i, const char **text, size_t *nbytes)
{
    const uint8_t *bytes = index->sections[section].bytes;
    uint64_t count = index->sections[section].count;
    return bytes != NULL &&
           get_text(bytes + 8, count, index->sections[section].nbytes - 8 - 8 * (count + 1), i, text, nbytes);
}

static const uint8_t *record_bytes(const mr__index *index, uint64_t position)
{
    return index->sections[MR__SECTION_RECORDS].bytes + MR__INDEX_RECORD_NBYTES * position;
}

static uint64_t record_nbytes(const uint8_t record[MR__INDEX_RECORD_NBYTES])
{
    return mr__load_le32(record + 8) | (uint64_t)record[12] << 32;
}

static const char *empty_fault(const uint8_t bytes[MR__INDEX_RECORD_NBYTES])
{
    static const uint8_t zero[32];
    if (memcmp(bytes, zero, 32) != 0 || mr__load_le32(bytes + 42) != 0 || mr__load_le16(bytes + 46) != 0)
        return "it is absent or refused and not empty";
    return NULL;
}

const char *mr__record_fault(const mr__index_head *head, const uint8_t bytes[MR__INDEX_RECORD_NBYTES])
{
    uint64_t offset = mr__load_le64(bytes), nbytes = record_nbytes(bytes);
    unsigned flags = mr__load_le16(bytes + 42), channels = bytes[14], depth = bytes[15];
    uint32_t width = mr__load_le32(bytes + 16), height = mr__load_le32(bytes + 20);
    if (bytes[41] > MR_RECORD_REFUSED)
        return "its state does not exist";
    if (bytes[40] > MR_LABEL_BYTES)
        return "the kind of its label does not exist";
    if (bytes[41] != MR_RECORD_PRESENT)
        return empty_fault(bytes);
    if (bytes[13] > MR_FORM_L3)
        return "its form does not exist";
    if (channels > 4 ||
        (channels != 0 ? (depth != 8 && depth != 16) || width == 0 || height == 0 : (depth | width | height) != 0))
        return "channels, depth and size do not go together";
    if (bytes[44] > 8)
        return "its orientation does not exist";
    if (flags >= MR__RECORD_PARTS * 2 || bytes[45] != 0 || mr__load_le16(bytes + 46) != 0)
        return "bits are set that have no meaning";
    if ((flags & MR__RECORD_HASHED) == 0 && mr__load_le64(bytes + 24) != 0)
        return "there is a hash without the bit that says so";
    if (head->layout != MR_LAYOUT_FOLDER && (offset > head->data_nbytes || nbytes > head->data_nbytes - offset))
        return "it lies beyond the end of the data";
    return NULL;
}

bool mr__index_record(const mr__index *index, uint64_t position, mr__record *record)
{
    if (position >= index->head.samples)
        return false;
    const uint8_t *bytes = record_bytes(index, position);
    if (mr__record_fault(&index->head, bytes) != NULL)
        return false;
    unsigned flags = mr__load_le16(bytes + 42);
    *record = (mr__record){
        .offset = mr__load_le64(bytes),
        .nbytes = record_nbytes(bytes),
        .hash = mr__load_le64(bytes + 24),
        .width = mr__load_le32(bytes + 16),
        .height = mr__load_le32(bytes + 20),
        .form = bytes[13],
        .channels = bytes[14],
        .depth = bytes[15],
        .orientation = bytes[44],
        .state = bytes[41],
        .has_hash = (flags & MR__RECORD_HASHED) != 0,
        .pixel_mode = (flags & MR__RECORD_PIXEL_MODE) != 0,
        .planar = (flags & MR__RECORD_PLANAR) != 0,
        .parts = (flags & MR__RECORD_PARTS) != 0,
    };
    return true;
}

bool mr__index_key(const mr__index *index, uint64_t position, const char **key, size_t *nbytes)
{
    uint64_t count = index->head.samples;
    return get_text(index->sections[MR__SECTION_KEYS].bytes, count,
                    index->sections[MR__SECTION_KEYS].nbytes - 8 * (count + 1), position, key, nbytes);
}

bool mr__label_extent(const uint8_t record[MR__INDEX_RECORD_NBYTES], uint64_t *place, uint64_t *nbytes)
{
    uint64_t bits = mr__load_le64(record + 32);
    unsigned kind = record[40];
    *place = kind > MR_LABEL_FLOAT ? bits & (MR__INDEX_LABELS_MAX - 1) : 0;
    *nbytes = kind > MR_LABEL_FLOAT ? (bits >> 40) * (kind <= MR_LABEL_FLOATS ? 8 : 1) : 0;
    return kind <= MR_LABEL_BYTES;
}

bool mr__index_label(const mr__index *index, uint64_t position, mr_label *label)
{
    uint64_t place, nbytes, there = index->sections[MR__SECTION_LABELS].nbytes;
    if (position >= index->head.samples)
        return false;
    const uint8_t *record = record_bytes(index, position);
    if (!mr__label_extent(record, &place, &nbytes) || place > there || nbytes > there - place)
        return false;
    uint64_t bits = mr__load_le64(record + 32);
    *label = (mr_label){.kind = (mr_label_kind)record[40]};
    if (label->kind == MR_LABEL_INT) {
        label->integer = (int64_t)bits;
    } else if (label->kind == MR_LABEL_FLOAT) {
        memcpy(&label->real, &bits, sizeof bits);
    } else if (label->kind != MR_LABEL_NONE) {
        label->count = (size_t)(bits >> 40);
        label->values = nbytes != 0 ? index->sections[MR__SECTION_LABELS].bytes + place : NULL;
    }
    return true;
}

bool mr__index_row_index(const mr__index *index, uint64_t position, const void **bytes, size_t *nbytes)
{
    uint64_t count = index->head.samples, place = 0, length = 0,
             there = index->sections[MR__SECTION_ROW_INDEXES].nbytes;
    const uint8_t *places = index->sections[MR__SECTION_ROW_INDEXES].bytes;
    if (position >= count)
        return false;
    if (there != 0 && !mr__places_get(places, count, there - 8 * (count + 1), position, &place, &length))
        return false;
    *bytes = length != 0 ? places + 8 * (count + 1) + place : NULL;
    *nbytes = (size_t)length;
    return true;
}

/* The members of a sample: the number of the first, and how many. */
static bool get_members(const mr__index *index, uint64_t position, uint64_t *first, uint64_t *count)
{
    uint64_t samples = index->head.samples, there = index->sections[MR__SECTION_MEMBERS].nbytes;
    return there != 0 &&
           mr__places_get(index->sections[MR__SECTION_MEMBERS].bytes, samples,
                          (there - 8 * (samples + 1)) / MR__MEMBER_NBYTES, position, first, count) &&
           *count <= MR__MEMBER_MAX;
}

uint32_t mr__index_member_count(const mr__index *index, uint64_t position)
{
    uint64_t first, count;
    return get_members(index, position, &first, &count) ? (uint32_t)count : 0;
}

bool mr__index_member(const mr__index *index, uint64_t position, uint32_t number, mr__member *member)
{
    uint64_t first, count;
    mr__member found;
    if (!get_members(index, position, &first, &count) || number >= count)
        return false;
    const uint8_t *bytes = index->sections[MR__SECTION_MEMBERS].bytes + 8 * (index->head.samples + 1) +
                           MR__MEMBER_NBYTES * (first + number);
    uint64_t end = index->head.layout == MR_LAYOUT_FOLDER ? UINT64_MAX : index->head.data_nbytes;
    found.offset = mr__load_le64(bytes);
    found.nbytes = mr__load_le64(bytes + 8);
    found.hash = mr__load_le64(bytes + 16);
    found.has_hash = (mr__load_le32(bytes + 28) & MR__MEMBER_HASHED) != 0;
    if (found.offset > end || found.nbytes > end - found.offset ||
        !get_counted_text(index, MR__SECTION_NAMES, mr__load_le32(bytes + 24), &found.name, &found.name_nbytes))
        return false;
    *member = found;
    return true;
}

uint64_t mr__index_class_count(const mr__index *index)
{
    return index->sections[MR__SECTION_CLASSES].count;
}

bool mr__index_class(const mr__index *index, uint64_t number, const char **name, size_t *nbytes)
{
    return get_counted_text(index, MR__SECTION_CLASSES, number, name, nbytes);
}

/* A text of a section of entries: from `begin` to the zero before `end`, both counted from the end of the entries. */
static bool get_entry_text(const mr__index *index, int section, size_t entry_nbytes, uint64_t begin, uint64_t end,
                           const char **text)
{
    uint64_t skip = 8 + entry_nbytes * index->sections[section].count;
    uint64_t left = index->sections[section].nbytes - skip;
    const uint8_t *bytes = index->sections[section].bytes + skip;
    if (begin >= end || end > left || bytes[end - 1] != 0)
        return false;
    *text = (const char *)bytes + begin;
    return true;
}

uint64_t mr__index_folder_count(const mr__index *index)
{
    return index->sections[MR__SECTION_FOLDERS].count;
}

bool mr__index_folder(const mr__index *index, uint64_t number, const char **path, int64_t *mtime_ns)
{
    uint64_t count = index->sections[MR__SECTION_FOLDERS].count;
    if (number >= count)
        return false;
    const uint8_t *bytes = index->sections[MR__SECTION_FOLDERS].bytes + 8 + MR__FOLDER_NBYTES * number;
    uint64_t end = number + 1 < count ? mr__load_le64(bytes + MR__FOLDER_NBYTES + 8)
                                      : index->sections[MR__SECTION_FOLDERS].nbytes - 8 - MR__FOLDER_NBYTES * count;
    if (!get_entry_text(index, MR__SECTION_FOLDERS, MR__FOLDER_NBYTES, mr__load_le64(bytes + 8), end, path))
        return false;
    *mtime_ns = (int64_t)mr__load_le64(bytes);
    return true;
}

uint64_t mr__index_problem_count(const mr__index *index)
{
    return index->sections[MR__SECTION_PROBLEMS].count;
}

bool mr__index_problem(const mr__index *index, uint64_t number, uint32_t *position, int *code, const char **text)
{
    if (number >= index->sections[MR__SECTION_PROBLEMS].count)
        return false;
    const uint8_t *bytes = index->sections[MR__SECTION_PROBLEMS].bytes + 8 + MR__PROBLEM_NBYTES * number;
    uint64_t begin = mr__load_le64(bytes + 8), length = (uint64_t)mr__load_le32(bytes + 16) + 1;
    if (begin > UINT64_MAX - length ||
        !get_entry_text(index, MR__SECTION_PROBLEMS, MR__PROBLEM_NBYTES, begin, begin + length, text))
        return false;
    *position = mr__load_le32(bytes);
    *code = (int)(int32_t)mr__load_le32(bytes + 4);
    return true;
}

const uint8_t *mr__index_key_map(const mr__index *index)
{
    return index->sections[MR__SECTION_KEY_MAP].bytes;
}

/*
 * The first entry of the map whose hash is not below `hash`. Hashes are spread evenly, so a guess by the value lands
 * close, in few pages of a map that may be far larger than the memory; halving ends it, whatever is in the map.
 */
static uint64_t find_hash(const uint8_t *map, uint64_t count, uint64_t hash)
{
    enum { GUESSES = 6 };
    uint64_t low = 0, high = count, below = 0, above = UINT32_MAX; /* hashes at the ends, below <= hash <= above */
    for (int step = 0; low < high; step++) {
        uint64_t middle = low + (high - low) / 2;
        if (step < GUESSES) {
            middle = low + (hash - below) * (high - low) / (above - below + 1);
            middle = middle < high ? middle : high - 1;
        }
        uint64_t there = mr__load_le32(map + 8 * middle + 4);
        if (there < hash) {
            low = middle + 1;
            below = there;
        } else {
            high = middle;
            above = there;
        }
    }
    return low;
}

bool mr__index_find(const mr__index *index, const char *key, size_t nbytes, uint64_t *position)
{
    const uint8_t *map = mr__index_key_map(index);
    uint64_t hash = mr__hash(key, nbytes) >> 32;
    for (uint64_t i = find_hash(map, index->head.samples, hash); i < index->head.samples; i++) {
        const char *other;
        size_t other_nbytes;
        uint64_t there = mr__load_le64(map + 8 * i);
        if (there >> 32 != hash)
            return false;
        if (mr__index_key(index, there & UINT32_MAX, &other, &other_nbytes) && other_nbytes == nbytes &&
            (nbytes == 0 || memcmp(other, key, nbytes) == 0)) {
            *position = there & UINT32_MAX;
            return true;
        }
    }
    return false;
}

static bool add_sample(const mr__index *index, uint64_t position, mr__hasher *hasher)
{
    const uint8_t *record = record_bytes(index, position);
    uint8_t fixed[17], value[8];
    const char *key;
    size_t key_nbytes;
    mr_label label;
    uint64_t place, nbytes;
    if (!mr__index_key(index, position, &key, &key_nbytes) || !mr__index_label(index, position, &label) ||
        !mr__label_extent(record, &place, &nbytes))
        return false;
    mr__hasher_add(hasher, key, key_nbytes + 1);
    mr__store_le64(fixed, record_nbytes(record));
    memcpy(fixed + 8, record + 24, 8);
    fixed[16] = record[40];
    mr__hasher_add(hasher, fixed, sizeof fixed);
    mr__store_le64(value, label.kind <= MR_LABEL_FLOAT ? mr__load_le64(record + 32) : label.count);
    if (label.kind != MR_LABEL_NONE)
        mr__hasher_add(hasher, value, sizeof value);
    if (nbytes != 0)
        mr__hasher_add(hasher, label.values, (size_t)nbytes);
    return true;
}

bool mr__index_fingerprint(const mr__index *index, uint64_t *fingerprint)
{
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    for (uint64_t i = 0; i < index->head.samples; i++)
        if (!add_sample(index, i, &hasher))
            return false;
    *fingerprint = mr__hasher_value(&hasher);
    return true;
}
