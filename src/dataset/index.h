// SPDX-License-Identifier: Apache-2.0
/*
 * The index of one shard, record file or folder (doc/format-dataset.md): what stands where, mapped and never parsed.
 *
 *     index_file.h      numbers of the format
 *     index_build.c     drafts of samples, one after the other, into the parts of a file
 *     index_finish.c    the parts into the file
 *     index_open.c      maps a file and checks its head: after that nothing in it can lead out of it
 *     index_read.c      records, keys, labels, members of it
 *     index_check.c     every byte of it, for verify
 *
 * Invariants
 * 1. Every accessor checks what it reads against the section it points into. A damaged index gives false, or wrong
 *    values, never a read outside the map.
 * 2. The same drafts give the same bytes.
 * 3. A file that is mapped must not be shortened by anybody: reading behind its new end is a SIGBUS. Files are
 *    published by renaming, and replaced by it, so that a map keeps the old one.
 */
#ifndef MR_DATASET_INDEX_H
#define MR_DATASET_INDEX_H

#include "base/error.h"
#include "base/memory.h"
#include <millrace/dataset.h>

enum {
    MR__INDEX_VERSION = 1,
    MR__INDEX_HEAD_NBYTES = 128,
    MR__INDEX_ENTRY_NBYTES = 32, /* of the table of sections */
    MR__INDEX_RECORD_NBYTES = 48,
    MR__INDEX_SECTION_MAX = 64,
    MR__INDEX_KNOWN = 10, /* sections */
};

#define MR__INDEX_SAMPLE_MAX  ((uint64_t)UINT32_MAX)
#define MR__INDEX_NO_POSITION UINT32_MAX

/* A format of other people has at most this many things in one sample. */
enum { MR__MEMBER_MAX = 256 };

/* Of the file an index is of, and of what it was made. */
typedef struct mr__index_head {
    mr_layout layout;
    uint64_t required, ignorable; /* features */
    uint64_t samples;
    uint64_t shard;        /* number, in a packed dataset */
    uint64_t data_nbytes;  /* of the file that it describes; of all files in a folder */
    int64_t data_mtime_ns; /* 0 in a packed dataset */
    uint64_t data_hash;    /* XXH3-64 of it; 0 outside packed datasets */
    uint64_t made_of;      /* packed: hash of the plan; else: hash of how it was scanned */
    uint64_t fingerprint;  /* of its samples */
} mr__index_head;

/* One form of one sample, 48 bytes in the file. */
typedef struct mr__record {
    uint64_t offset; /* in a folder: mtime in ns */
    uint64_t nbytes; /* below 2^40 */
    uint64_t hash;
    uint32_t width, height;
    uint8_t form, channels, depth, orientation, state; /* 0: not known */
    bool has_hash;
    bool pixel_mode; /* an L3 in pixel mode though it came from a JPEG */
    bool planar;     /* pixels without a head, plane after plane: CIFAR */
    bool parts;      /* all of a RecordIO record that is stored in parts (recordio_join.h): the image is among them */
} mr__record;

typedef struct mr__member {
    const char *name; /* what stands behind the key and its dot */
    size_t name_nbytes;
    uint64_t offset, nbytes;
    uint64_t hash;
    bool has_hash; /* packed datasets */
} mr__member;

/*
 * A sample on its way into an index. Everything is copied. Of a record that is absent or refused nothing but the state
 * is taken; channels 0 goes with no width, height and depth.
 */
typedef struct mr__draft {
    const char *key;
    size_t key_nbytes; /* no zero among them */
    mr__record record;
    mr_label label;
    const mr__member *members;
    size_t member_count;
    const void *row_index;
    size_t row_index_nbytes;
} mr__draft;

/* Texts are at most this long, and the values of a label at most this many; all labels of an index 2^40 bytes. */
#define MR__INDEX_TEXT_MAX (((size_t)1 << 24) - 1)

enum { MR__INDEX_PART_COUNT = 18 };

/*
 * Calls return 0, MR_ENOMEM, MR_ELIMIT, or MR_EARGUMENT for what an index cannot hold: a zero in a text, a stored image
 * of 2^40 bytes, sizes half known. After these two nothing was added, and the build goes on; after MR_ENOMEM only
 * mr__index_build_fini is left to call.
 *
 * Threads: one at a time.
 * Ownership: mr__index_build_fini frees it.
 * Limits: MR__INDEX_SAMPLE_MAX samples, MR__MEMBER_MAX members in each, MR__INDEX_TEXT_MAX; MR_ELIMIT beyond.
 */
typedef struct mr__index_build {
    const mr_hooks *hooks;
    uint64_t samples, problems, classes, folders, members, names;
    uint64_t record_nbytes; /* of all images */
    struct {
        mr__buffer buffer;
        size_t used;
    } parts[MR__INDEX_PART_COUNT]; /* index_file.h */
    bool finished;
} mr__index_build;

void mr__index_build_init(mr__index_build *build, const mr_hooks *hooks);
void mr__index_build_fini(mr__index_build *build);

int mr__index_add(mr__index_build *build, const mr__draft *draft);

/* The name of the next class, from number 0 on. */
int mr__index_add_class(mr__index_build *build, const char *name, size_t nbytes);

/* A folder that was read, with its time, so that a change is seen; `path` is relative to the dataset's, whose own is ""
 * and comes first. */
int mr__index_add_folder(mr__index_build *build, const char *path, int64_t mtime_ns);

/* `position` is a sample's, or MR__INDEX_NO_POSITION. */
__attribute__((format(printf, 4, 5))) int mr__index_add_problem(mr__index_build *build, uint32_t position, int code,
                                                                const char *format, ...);

/*
 * The file, whole, once: *bytes are the build's. `head` has everything but samples and fingerprint, which are found
 * here; what its layout does not have (doc/format-dataset.md) must be 0, and so must features.
 */
int mr__index_build_finish(mr__index_build *build, const mr__index_head *head, const uint8_t **bytes, size_t *nbytes);

/*
 * An index that is mapped, or in memory.
 *
 * Threads: any number may read it.
 * Ownership: mr__index_close unmaps it (frees bytes that mr__index_take took over).
 * Limits: see above.
 */
typedef struct mr__index {
    const uint8_t *bytes;
    size_t nbytes;
    mr__index_head head;
    struct {
        const uint8_t *bytes;
        uint64_t nbytes;
        uint64_t count; /* of what is in it, where it begins with that: as it was when it was opened, and fits */
    } sections[MR__INDEX_KNOWN + 1]; /* by number of the section; what is not there has none */
    bool mapped;
    const mr_hooks *hooks; /* of bytes that were taken over */
} mr__index;

/* MR_EIO, MR_ENOMEM (no room for the map), MR_EFORMAT, MR_ETRUNCATED, MR_ECORRUPT, MR_EUNSUPPORTED, MR_ELIMIT, with the
 * file's name in the detail. */
int mr__index_open(mr__index *index, const char *path, mr__detail *detail);

/* Over bytes that somebody else has, and keeps; `name` is for the detail. */
int mr__index_init(mr__index *index, const uint8_t *bytes, size_t nbytes, const char *name, mr__detail *detail);

/* Over what mr__index_build_finish made: the bytes are the index's then, and its hooks have to stay. */
int mr__index_take(mr__index *index, mr__index_build *build, const char *name, mr__detail *detail);

void mr__index_close(mr__index *index); /* an all-zero one is accepted */

/*
 * Every byte: hashes of all sections, reserved ones and gaps, all places within `head.data_nbytes`. The detail names
 * the section and, where it is of one, the sample.
 */
int mr__index_check(const mr__index *index, const char *name, mr__detail *detail);

/* false: beyond the last, or the index is damaged there. */
bool mr__index_record(const mr__index *index, uint64_t position, mr__record *record);
bool mr__index_key(const mr__index *index, uint64_t position, const char **key, size_t *nbytes);
bool mr__index_label(const mr__index *index, uint64_t position, mr_label *label);
bool mr__index_row_index(const mr__index *index, uint64_t position, const void **bytes, size_t *nbytes); /* none: 0 */
uint32_t mr__index_member_count(const mr__index *index, uint64_t position);
bool mr__index_member(const mr__index *index, uint64_t position, uint32_t number, mr__member *member);
uint64_t mr__index_class_count(const mr__index *index);
bool mr__index_class(const mr__index *index, uint64_t number, const char **name, size_t *nbytes);
uint64_t mr__index_folder_count(const mr__index *index);
bool mr__index_folder(const mr__index *index, uint64_t number, const char **path, int64_t *mtime_ns);
uint64_t mr__index_problem_count(const mr__index *index);
bool mr__index_problem(const mr__index *index, uint64_t number, uint32_t *position, int *code, const char **text);

/* The hash of all samples that head.fingerprint has (doc/format-dataset.md). False: the index is damaged. */
bool mr__index_fingerprint(const mr__index *index, uint64_t *fingerprint);

/* By the sorted table of key hashes; of several samples with this key the first. False: there is none. */
bool mr__index_find(const mr__index *index, const char *key, size_t nbytes, uint64_t *position);

/* The table itself: head.samples numbers, ascending: the upper 32 bits of the key's XXH3-64, then the position. */
const uint8_t *mr__index_key_map(const mr__index *index);

#endif
