// SPDX-License-Identifier: Apache-2.0
/*
 * What opening checks, a few pages of any file: head and table, that sections stand where they must, and that each is
 * as long as what it has in it asks for. index_read.c counts on nothing else.
 */
#include "dataset/index_file.h"

#include "base/hash.h"
#include "source/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NEWER "written by a newer Millrace? Read it with that one, or remove the file to have it made anew"
#define AGAIN "copy it again, or remove it to have it made anew"

const char *mr__section_name(uint32_t number)
{
    static const char *const names[] = {"unknown",          "records", "keys",     "key map", "labels",     "members",
                                        "names of members", "classes", "problems", "folders", "row indexes"};
    return names[number <= MR__INDEX_KNOWN ? number : 0];
}

const char *mr__name_end(const char *name)
{
    enum { MOST = 100 };
    size_t length = strlen(name);
    return length <= MOST ? name : name + (length - MOST);
}

/* Whether it is an index, of a version that is known, and whole. */
static int check_mark(const uint8_t *bytes, size_t nbytes, const char *name, mr__detail *detail)
{
    size_t seen = nbytes < 8 ? nbytes : 8;
    if (nbytes == 0)
        return mr__fail(detail, MR_ETRUNCATED, "%s: an empty file, no index; " AGAIN, name);
    if (memcmp(bytes, MR__INDEX_MAGIC, seen) != 0)
        return mr__fail(detail, MR_EFORMAT, "%s: no index of Millrace: its first bytes are others", name);
    if (nbytes >= 10 && mr__load_le16(bytes + 8) != MR__INDEX_VERSION)
        return mr__fail(detail, MR_EUNSUPPORTED, "%s: an index of version %u, and %u is known: " NEWER, name,
                        mr__load_le16(bytes + 8), MR__INDEX_VERSION);
    if (nbytes < MR__INDEX_HEAD_NBYTES)
        return mr__fail(detail, MR_ETRUNCATED, "%s: the index ends at byte %zu, within its head; " AGAIN, name, nbytes);
    uint64_t whole = mr__load_le64(bytes + 80);
    if (whole > nbytes)
        return mr__fail(detail, MR_ETRUNCATED, "%s: the index ends at byte %zu of %llu; " AGAIN, name, nbytes,
                        (unsigned long long)whole);
    if (whole < nbytes)
        return mr__fail(detail, MR_ECORRUPT, "%s: the file has %zu bytes, its head says %llu; " AGAIN, name, nbytes,
                        (unsigned long long)whole);
    return 0;
}

/* The hash of head and table, the table being within the file. */
static int check_hash(const uint8_t *bytes, size_t nbytes, const char *name, mr__detail *detail)
{
    uint32_t sections = mr__load_le32(bytes + 12);
    if (sections > MR__INDEX_SECTION_MAX || sections * (size_t)MR__INDEX_ENTRY_NBYTES > nbytes - MR__INDEX_HEAD_NBYTES)
        return mr__fail(detail, MR_ECORRUPT, "%s: the head of the index is damaged: %u sections; " AGAIN, name,
                        sections);
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    mr__hasher_add(&hasher, bytes, MR__INDEX_HASH_AT);
    mr__hasher_add(&hasher, bytes + MR__INDEX_HEAD_NBYTES, sections * (size_t)MR__INDEX_ENTRY_NBYTES);
    if (mr__hasher_value(&hasher) != mr__load_le64(bytes + MR__INDEX_HASH_AT))
        return mr__fail(detail, MR_ECORRUPT, "%s: the head of the index is damaged: its hash does not match; " AGAIN,
                        name);
    return 0;
}

static int read_head(const uint8_t *bytes, mr__index_head *head, const char *name, mr__detail *detail)
{
    *head = (mr__index_head){
        .layout = (mr_layout)mr__load_le16(bytes + 10),
        .required = mr__load_le64(bytes + 16),
        .ignorable = mr__load_le64(bytes + 24),
        .samples = mr__load_le64(bytes + 32),
        .shard = mr__load_le64(bytes + 40),
        .data_nbytes = mr__load_le64(bytes + 48),
        .data_mtime_ns = (int64_t)mr__load_le64(bytes + 56),
        .data_hash = mr__load_le64(bytes + 64),
        .made_of = mr__load_le64(bytes + 72),
        .fingerprint = mr__load_le64(bytes + 88),
    };
    if (head->required != 0)
        return mr__fail(detail, MR_EUNSUPPORTED, "%s: the index has features %llx that are not known: " NEWER, name,
                        (unsigned long long)head->required);
    for (int i = 96; i < MR__INDEX_HASH_AT; i++)
        if (bytes[i] != 0)
            return mr__fail(detail, MR_EUNSUPPORTED, "%s: byte %d of the index's head is reserved and not 0: " NEWER,
                            name, i);
    if (head->layout < MR_LAYOUT_PACKED || head->layout > MR_LAYOUT_FOLDER)
        return mr__fail(detail, MR_EUNSUPPORTED, "%s: the index is of layout %d, which is not known: " NEWER, name,
                        (int)head->layout);
    if (head->samples > MR__INDEX_SAMPLE_MAX)
        return mr__fail(detail, MR_ELIMIT, "%s: the index says it has %llu samples; 2^32 - 1 is the most", name,
                        (unsigned long long)head->samples);
    return 0;
}

/* Where a section is, as the table has it. */
typedef struct place {
    uint32_t number, flags;
    uint64_t place, nbytes;
} place;

static int check_entry(const place *entry, const char *name, mr__detail *detail)
{
    bool ignorable = (entry->flags & MR__INDEX_IGNORABLE) != 0;
    bool known = entry->number >= 1 && entry->number <= MR__INDEX_KNOWN;
    if ((entry->flags & ~(uint32_t)MR__INDEX_IGNORABLE) != 0)
        return mr__fail(detail, MR_EUNSUPPORTED, "%s: section %u of the index has flags %x that are not known: " NEWER,
                        name, entry->number, entry->flags);
    if (!known && !ignorable)
        return mr__fail(detail, MR_EUNSUPPORTED, "%s: section %u of the index is not known, and needed: " NEWER, name,
                        entry->number);
    if (known && ignorable != (entry->number == MR__SECTION_ROW_INDEXES))
        return mr__fail(detail, MR_ECORRUPT, "%s: section %u (%s) of the index %s be ignorable", name, entry->number,
                        mr__section_name(entry->number), ignorable ? "cannot" : "has to");
    return 0;
}

/* Every section stands right behind the one before it, at a multiple of 64, and the file ends with the last. */
static int read_table(mr__index *index, const char *name, mr__detail *detail)
{
    uint32_t sections = mr__load_le32(index->bytes + 12), last = 0;
    uint64_t end = MR__INDEX_HEAD_NBYTES + (uint64_t)sections * MR__INDEX_ENTRY_NBYTES;
    for (uint32_t i = 0; i < sections; i++) {
        const uint8_t *at = index->bytes + MR__INDEX_HEAD_NBYTES + i * (size_t)MR__INDEX_ENTRY_NBYTES;
        place now = {mr__load_le32(at), mr__load_le32(at + 4), mr__load_le64(at + 8), mr__load_le64(at + 16)};
        int error = check_entry(&now, name, detail);
        if (error != 0)
            return error;
        if (i != 0 && now.number <= last)
            return mr__fail(detail, MR_ECORRUPT, "%s: section %u of the index follows section %u", name, now.number,
                            last);
        end += (0 - end) % MR__INDEX_SECTION_AT; // at most 63 behind the file, whose length fits with room to spare
        if (now.place != end || end > index->nbytes || now.nbytes > index->nbytes - end)
            return mr__fail(detail, MR_ECORRUPT, "%s: section %u (%s) of the index is not where it must be", name,
                            now.number, mr__section_name(now.number));
        if (now.number <= MR__INDEX_KNOWN) {
            index->sections[now.number].bytes = index->bytes + end;
            index->sections[now.number].nbytes = now.nbytes;
        }
        end += now.nbytes;
        last = now.number;
    }
    if (end != index->nbytes)
        return mr__fail(detail, MR_ECORRUPT, "%s: the index does not end with its last section", name);
    return 0;
}

/* A table of count + 1 places and what they point into, things of `each` bytes, filling `nbytes`. */
static bool places_fit(const uint8_t *places, uint64_t count, uint64_t nbytes, uint64_t each)
{
    if (count >= nbytes / 8)
        return false;
    uint64_t left = nbytes - 8 * (count + 1);
    return mr__load_le64(places) == 0 && left % each == 0 && mr__load_le64(places + 8 * count) == left / each;
}

/* A section that begins with the number of its things, of `each` bytes; 0: it is a list of texts. */
static bool counted_fits(mr__index *index, int section, uint64_t each)
{
    uint64_t nbytes = index->sections[section].nbytes;
    const uint8_t *bytes = index->sections[section].bytes;
    if (bytes == NULL)
        return true;
    if (nbytes < 8)
        return false;
    uint64_t count = index->sections[section].count = mr__load_le64(bytes);
    return each == 0 ? places_fit(bytes + 8, count, nbytes - 8, 1) : count <= (nbytes - 8) / each;
}

/* The number of the first section that is not as long as what it has in it asks for; 0: none. */
static int misfit(mr__index *index)
{
    uint64_t samples = index->head.samples;
    for (int i = MR__SECTION_RECORDS; i <= MR__SECTION_KEY_MAP; i++)
        if (index->sections[i].bytes == NULL)
            return i;
    if (index->sections[MR__SECTION_RECORDS].nbytes != samples * MR__INDEX_RECORD_NBYTES)
        return MR__SECTION_RECORDS;
    if (!places_fit(index->sections[MR__SECTION_KEYS].bytes, samples, index->sections[MR__SECTION_KEYS].nbytes, 1))
        return MR__SECTION_KEYS;
    if (index->sections[MR__SECTION_KEY_MAP].nbytes != samples * 8)
        return MR__SECTION_KEY_MAP;
    if (index->sections[MR__SECTION_MEMBERS].bytes != NULL &&
        !places_fit(index->sections[MR__SECTION_MEMBERS].bytes, samples, index->sections[MR__SECTION_MEMBERS].nbytes,
                    MR__MEMBER_NBYTES))
        return MR__SECTION_MEMBERS;
    if (index->sections[MR__SECTION_ROW_INDEXES].bytes != NULL &&
        !places_fit(index->sections[MR__SECTION_ROW_INDEXES].bytes, samples,
                    index->sections[MR__SECTION_ROW_INDEXES].nbytes, 1))
        return MR__SECTION_ROW_INDEXES;
    if (!counted_fits(index, MR__SECTION_NAMES, 0))
        return MR__SECTION_NAMES;
    if (!counted_fits(index, MR__SECTION_CLASSES, 0))
        return MR__SECTION_CLASSES;
    if (!counted_fits(index, MR__SECTION_PROBLEMS, MR__PROBLEM_NBYTES))
        return MR__SECTION_PROBLEMS;
    return counted_fits(index, MR__SECTION_FOLDERS, MR__FOLDER_NBYTES) ? 0 : MR__SECTION_FOLDERS;
}

int mr__index_init(mr__index *index, const uint8_t *bytes, size_t nbytes, const char *name, mr__detail *detail)
{
    *index = (mr__index){.bytes = bytes, .nbytes = nbytes};
    name = mr__name_end(name);
    int error = check_mark(bytes, nbytes, name, detail), section;
    if (error == 0)
        error = check_hash(bytes, nbytes, name, detail);
    if (error == 0)
        error = read_head(bytes, &index->head, name, detail);
    if (error == 0)
        error = read_table(index, name, detail);
    if (error == 0 && (section = misfit(index)) != 0)
        error = mr__fail(detail, MR_ECORRUPT, "%s: section %d (%s) of the index is missing or has an impossible length",
                         name, section, mr__section_name((uint32_t)section));
    if (error != 0)
        *index = (mr__index){0};
    return error;
}

/* The map outlives the descriptor. */
static int map_file(const char *path, const uint8_t **bytes, size_t *nbytes)
{
    mr__file file;
    int error = mr__file_open(&file, path);
    if (error != 0)
        return error;
    void *map = NULL;
    if (file.nbytes > SIZE_MAX)
        error = EFBIG;
    else if (file.nbytes != 0 &&
             (map = mmap(NULL, (size_t)file.nbytes, PROT_READ, MAP_SHARED, file.fd, 0)) == MAP_FAILED)
        error = errno;
    *bytes = map;
    *nbytes = (size_t)file.nbytes;
    mr__file_close(&file);
    return error;
}

/*
 * Opening touches pages far apart, around each of which a kernel reads up to megabytes that nobody asked for; a small
 * file it may as well read whole. Later, records are read at random, all of them in the end: up to a gigabyte it is
 * best to have the file in memory soon. Beyond that it may not stay there, and each record would cost megabytes
 * (bench/index: of 100 million samples a random one takes 2.3 ms so, and 0.06 ms without reading ahead).
 */
static void advise(const uint8_t *bytes, size_t nbytes, int advice)
{
    enum { SMALL = 1 << 20 };
    if (nbytes > SMALL)
        (void)madvise((void *)(uintptr_t)bytes, nbytes, advice); // a hint: refused, all is as well
}

void mr__index_read_ahead(const mr__index *index, bool all)
{
    enum { LARGE = 1 << 30 };
    if (index->mapped)
        advise(index->bytes, index->nbytes, all || index->nbytes <= LARGE ? MADV_NORMAL : MADV_RANDOM);
}

int mr__index_open(mr__index *index, const char *path, mr__detail *detail)
{
    const uint8_t *bytes;
    size_t nbytes;
    *index = (mr__index){0};
    int error = map_file(path, &bytes, &nbytes);
    if (error != 0) {
        errno = error; // %m has its words
        return mr__fail(detail, error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s: the index cannot be opened: %m",
                        mr__name_end(path));
    }
    advise(bytes, nbytes, MADV_RANDOM);
    error = mr__index_init(index, bytes, nbytes, path, detail);
    if (error != 0 && nbytes != 0)
        munmap((void *)(uintptr_t)bytes, nbytes);
    index->mapped = error == 0;
    mr__index_read_ahead(index, false);
    return error;
}

int mr__index_take(mr__index *index, mr__index_build *build, const char *name, mr__detail *detail)
{
    mr__buffer *file = &build->parts[MR__PART_FILE].buffer;
    if (!build->finished)
        return mr__fail(detail, MR_EARGUMENT, "%s: the index is not finished", mr__name_end(name));
    int error = mr__index_init(index, file->bytes, build->parts[MR__PART_FILE].used, name, detail);
    if (error == 0) {
        index->hooks = build->hooks;
        *file = (mr__buffer){0};
        build->parts[MR__PART_FILE].used = 0;
    }
    return error;
}

void mr__index_close(mr__index *index)
{
    if (index->mapped)
        munmap((void *)(uintptr_t)index->bytes, index->nbytes);
    else if (index->hooks != NULL)
        mr__free(index->hooks, (void *)(uintptr_t)index->bytes);
    *index = (mr__index){0};
}
