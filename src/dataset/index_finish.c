// SPDX-License-Identifier: Apache-2.0
#include "dataset/index_file.h"

#include "base/hash.h"
#include "base/size.h"

#include <string.h>

/* What a section is put together from: the number of its things, then one or two parts. */
typedef struct section_plan {
    uint32_t number, flags;
    bool counted;
    int first, second; /* -1: none */
} section_plan;

static const section_plan plans[] = {
    {MR__SECTION_RECORDS, 0, false, MR__PART_RECORDS, -1},
    {MR__SECTION_KEYS, 0, false, MR__PART_KEY_PLACES, MR__PART_KEYS},
    {MR__SECTION_KEY_MAP, 0, false, -1, -1},
    {MR__SECTION_LABELS, 0, false, MR__PART_LABELS, -1},
    {MR__SECTION_MEMBERS, 0, false, MR__PART_MEMBER_STARTS, MR__PART_MEMBERS},
    {MR__SECTION_NAMES, 0, true, MR__PART_NAME_PLACES, MR__PART_NAMES},
    {MR__SECTION_CLASSES, 0, true, MR__PART_CLASS_PLACES, MR__PART_CLASSES},
    {MR__SECTION_PROBLEMS, 0, true, MR__PART_PROBLEMS, MR__PART_PROBLEM_TEXTS},
    {MR__SECTION_FOLDERS, 0, true, MR__PART_FOLDERS, MR__PART_FOLDER_NAMES},
    {MR__SECTION_ROW_INDEXES, MR__INDEX_IGNORABLE, false, MR__PART_ROW_PLACES, MR__PART_ROW_INDEXES},
};
enum { PLANS = sizeof plans / sizeof *plans };

static size_t part_nbytes(const mr__index_build *build, int part)
{
    return part < 0 ? 0 : build->parts[part].used;
}

static uint64_t count_of(const mr__index_build *build, uint32_t section)
{
    switch (section) {
    case MR__SECTION_NAMES:
        return build->names;
    case MR__SECTION_CLASSES:
        return build->classes;
    case MR__SECTION_PROBLEMS:
        return build->problems;
    default:
        return build->folders;
    }
}

static bool is_there(const mr__index_build *build, const section_plan *plan)
{
    return plan->number <= MR__SECTION_KEY_MAP || part_nbytes(build, plan->first) != 0;
}

/* False where it does not fit into memory. */
static bool section_nbytes(const mr__index_build *build, const section_plan *plan, size_t *nbytes)
{
    if (plan->number == MR__SECTION_KEY_MAP)
        return mr__size_mul(build->samples, 8, nbytes);
    size_t fixed = plan->counted ? 8 : 0;
    return mr__size_add(part_nbytes(build, plan->first), part_nbytes(build, plan->second), nbytes) &&
           mr__size_add(*nbytes, fixed, nbytes);
}

/* What a head has that its layout does not: a caller that counts on it is told. */
static int check_head(const mr__index_head *head)
{
    bool packed = head->layout == MR_LAYOUT_PACKED;
    if (head->layout < MR_LAYOUT_PACKED || head->layout > MR_LAYOUT_FOLDER || head->required != 0 ||
        head->ignorable != 0)
        return MR_EARGUMENT;
    if (!packed && (head->shard != 0 || head->data_hash != 0))
        return MR_EARGUMENT;
    if (packed && head->data_mtime_ns != 0)
        return MR_EARGUMENT;
    return head->layout == MR_LAYOUT_FOLDER && head->data_nbytes != 0 ? MR_EARGUMENT : 0;
}

static int check_problems(const mr__index_build *build)
{
    const uint8_t *entries = build->parts[MR__PART_PROBLEMS].buffer.bytes;
    for (uint64_t i = 0; i < build->problems; i++) {
        uint32_t position = mr__load_le32(entries + MR__PROBLEM_NBYTES * i);
        if (position != MR__INDEX_NO_POSITION && position >= build->samples)
            return MR_EARGUMENT;
    }
    return 0;
}

/* The last place of each list, which is the end of what it points into. */
static int end_lists(mr__index_build *build)
{
    int error = mr__index_fill(build, MR__PART_KEY_PLACES, build->samples + 1, part_nbytes(build, MR__PART_KEYS));
    if (error == 0 && build->members != 0)
        error = mr__index_fill(build, MR__PART_MEMBER_STARTS, build->samples + 1, build->members);
    if (error == 0 && build->names != 0)
        error = mr__index_fill(build, MR__PART_NAME_PLACES, build->names + 1, part_nbytes(build, MR__PART_NAMES));
    if (error == 0 && build->classes != 0)
        error = mr__index_fill(build, MR__PART_CLASS_PLACES, build->classes + 1, part_nbytes(build, MR__PART_CLASSES));
    if (error == 0 && part_nbytes(build, MR__PART_ROW_INDEXES) != 0)
        error =
            mr__index_fill(build, MR__PART_ROW_PLACES, build->samples + 1, part_nbytes(build, MR__PART_ROW_INDEXES));
    return error;
}

/* Writes the table, but for hashes, and says how long the file is; nothing is written where `file` is NULL. */
static bool lay_out(const mr__index_build *build, uint8_t *file, size_t *file_nbytes, uint32_t *sections)
{
    *sections = 0;
    for (int i = 0; i < PLANS; i++)
        *sections += is_there(build, &plans[i]);
    size_t end = MR__INDEX_HEAD_NBYTES + *sections * (size_t)MR__INDEX_ENTRY_NBYTES;
    uint8_t *entry = file != NULL ? file + MR__INDEX_HEAD_NBYTES : NULL;
    for (int i = 0; i < PLANS; i++) {
        size_t nbytes, place = end;
        if (!is_there(build, &plans[i]))
            continue;
        if (!section_nbytes(build, &plans[i], &nbytes) || !mr__size_add(place, MR__INDEX_SECTION_AT - 1, &place))
            return false;
        place -= place % MR__INDEX_SECTION_AT;
        if (!mr__size_add(place, nbytes, &end))
            return false;
        if (entry != NULL) {
            mr__store_le32(entry, plans[i].number);
            mr__store_le32(entry + 4, plans[i].flags);
            mr__store_le64(entry + 8, place);
            mr__store_le64(entry + 16, nbytes);
            entry += MR__INDEX_ENTRY_NBYTES;
        }
    }
    *file_nbytes = end;
    return true;
}

/* Moves a part to its place, and gives its memory back: the file grows as the parts go. */
static uint8_t *move_part(mr__index_build *build, int part, uint8_t *to)
{
    size_t nbytes = part_nbytes(build, part);
    if (nbytes == 0)
        return to;
    memcpy(to, build->parts[part].buffer.bytes, nbytes);
    mr__buffer_fini(&build->parts[part].buffer, build->hooks);
    build->parts[part].used = 0;
    return to + nbytes;
}

/* From the least of the four upper bytes to the greatest; each pass keeps the order of the one before. */
static void sort_map(uint8_t *map, uint8_t *scratch, uint64_t count)
{
    for (int byte = 4; byte < 8; byte++) {
        uint64_t starts[256] = {0}, at = 0;
        for (uint64_t i = 0; i < count; i++)
            starts[map[8 * i + byte]]++;
        for (int i = 0; i < 256; i++) {
            uint64_t here = starts[i];
            starts[i] = at;
            at += here;
        }
        for (uint64_t i = 0; i < count; i++)
            memcpy(scratch + 8 * starts[map[8 * i + byte]]++, map + 8 * i, 8);
        uint8_t *from = map;
        map = scratch;
        scratch = from;
    }
}

static void write_map(const mr__index *index, uint8_t *map, uint8_t *scratch)
{
    for (uint64_t i = 0; i < index->head.samples; i++) {
        const char *key = NULL;
        size_t nbytes = 0;
        mr__index_key(index, i, &key, &nbytes); // of a build they are right
        mr__store_le64(map + 8 * i, mr__hash(key, nbytes) >> 32 << 32 | i);
    }
    sort_map(map, scratch, index->head.samples);
}

static void write_head(const mr__index_head *head, uint32_t sections, uint64_t nbytes, uint8_t *to)
{
    memcpy(to, MR__INDEX_MAGIC, 8);
    mr__store_le16(to + 8, MR__INDEX_VERSION);
    mr__store_le16(to + 10, (uint16_t)head->layout);
    mr__store_le32(to + 12, sections);
    mr__store_le64(to + 16, head->required);
    mr__store_le64(to + 24, head->ignorable);
    mr__store_le64(to + 32, head->samples);
    mr__store_le64(to + 40, head->shard);
    mr__store_le64(to + 48, head->data_nbytes);
    mr__store_le64(to + 56, (uint64_t)head->data_mtime_ns);
    mr__store_le64(to + 64, head->data_hash);
    mr__store_le64(to + 72, head->made_of);
    mr__store_le64(to + 80, nbytes);
    mr__store_le64(to + 88, head->fingerprint);
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    mr__hasher_add(&hasher, to, MR__INDEX_HASH_AT);
    mr__hasher_add(&hasher, to + MR__INDEX_HEAD_NBYTES, sections * (size_t)MR__INDEX_ENTRY_NBYTES);
    mr__store_le64(to + MR__INDEX_HASH_AT, mr__hasher_value(&hasher));
}

/* Everything into `file`, which has its table, but for hashes. */
static void write_file(mr__index_build *build, mr__index *index, uint8_t *file, uint8_t *scratch)
{
    uint8_t *entry = file + MR__INDEX_HEAD_NBYTES, *end = entry;
    uint32_t sections = 0;
    for (int i = 0; i < PLANS; i++)
        end += is_there(build, &plans[i]) ? MR__INDEX_ENTRY_NBYTES : 0;
    for (int i = 0; i < PLANS; i++) {
        const section_plan *plan = &plans[i];
        if (!is_there(build, plan))
            continue;
        uint8_t *section = file + mr__load_le64(entry + 8), *to = section;
        uint64_t nbytes = mr__load_le64(entry + 16);
        memset(end, 0, (size_t)(section - end));
        end = section + nbytes;
        if (plan->counted) {
            mr__store_le64(to, count_of(build, plan->number));
            to += 8;
        }
        move_part(build, plan->second, move_part(build, plan->first, to));
        index->sections[plan->number].bytes = section;
        index->sections[plan->number].nbytes = nbytes;
        if (plan->number == MR__SECTION_KEY_MAP)
            write_map(index, section, scratch);
        mr__store_le64(entry + 24, mr__hash(section, nbytes));
        entry += MR__INDEX_ENTRY_NBYTES;
        sections++;
    }
    mr__index_fingerprint(index, &index->head.fingerprint);
    write_head(&index->head, sections, index->nbytes, file);
}

int mr__index_build_finish(mr__index_build *build, const mr__index_head *head, const uint8_t **bytes, size_t *nbytes)
{
    mr__index index = {.head = *head};
    mr__buffer scratch = {0};
    uint32_t sections;
    int error = build->finished ? MR_EARGUMENT : check_head(head);
    if (error != 0 || (error = check_problems(build)) != 0 || (error = end_lists(build)) != 0)
        return error;
    mr__buffer *file = &build->parts[MR__PART_FILE].buffer;
    if (!lay_out(build, NULL, &index.nbytes, &sections) ||
        mr__buffer_reserve(&scratch, build->hooks, (size_t)build->samples * 8) != 0 ||
        mr__buffer_reserve(file, build->hooks, index.nbytes) != 0) {
        mr__buffer_fini(&scratch, build->hooks);
        return MR_ENOMEM;
    }
    memset(file->bytes, 0, MR__INDEX_HEAD_NBYTES); // the rest as it is written, when its part gives memory back
    lay_out(build, file->bytes, &index.nbytes, &sections);
    index.bytes = file->bytes;
    index.head.samples = build->samples;
    build->finished = true;
    build->parts[MR__PART_FILE].used = index.nbytes;
    write_file(build, &index, file->bytes, scratch.bytes);
    mr__buffer_fini(&scratch, build->hooks);
    *bytes = index.bytes;
    *nbytes = index.nbytes;
    return 0;
}
