// SPDX-License-Identifier: Apache-2.0
/* Numbers of the index file (doc/format-dataset.md), for the files that read and write it. */
#ifndef MR_DATASET_INDEX_FILE_H
#define MR_DATASET_INDEX_FILE_H

#include "base/bytes.h"
#include "dataset/index.h"

#define MR__INDEX_MAGIC "\x8aMRX\r\n\x1a\n"

enum {
    MR__SECTION_RECORDS = 1,
    MR__SECTION_KEYS = 2,
    MR__SECTION_KEY_MAP = 3,
    MR__SECTION_LABELS = 4,
    MR__SECTION_MEMBERS = 5,
    MR__SECTION_NAMES = 6,
    MR__SECTION_CLASSES = 7,
    MR__SECTION_PROBLEMS = 8,
    MR__SECTION_FOLDERS = 9,
    MR__SECTION_ROW_INDEXES = 10,
};

enum {
    MR__MEMBER_NBYTES = 32,
    MR__MEMBER_HASHED = 1, /* flag of a member */
    MR__PROBLEM_NBYTES = 24,
    MR__FOLDER_NBYTES = 16,
    MR__INDEX_IGNORABLE = 1,    /* flag of a section */
    MR__INDEX_HASH_AT = 120,    /* in the head */
    MR__INDEX_SECTION_AT = 64,  /* places are multiples of it */
    MR__RECORD_HASHED = 1 << 0, /* flags of a record */
    MR__RECORD_PIXEL_MODE = 1 << 1,
    MR__RECORD_PLANAR = 1 << 2,
    MR__RECORD_PARTS = 1 << 3,
};

#define MR__INDEX_IMAGE_MAX  ((UINT64_C(1) << 40) - 1) /* bytes of a stored image */
#define MR__INDEX_LABELS_MAX (UINT64_C(1) << 40)       /* bytes of all labels; a place has 40 bits */

/* What a build has of a file: sections, the places of their texts apart from the texts. */
enum {
    MR__PART_RECORDS,
    MR__PART_KEY_PLACES,
    MR__PART_KEYS,
    MR__PART_LABELS,
    MR__PART_MEMBER_STARTS,
    MR__PART_MEMBERS,
    MR__PART_NAME_PLACES,
    MR__PART_NAMES,
    MR__PART_CLASS_PLACES,
    MR__PART_CLASSES,
    MR__PART_PROBLEMS,
    MR__PART_PROBLEM_TEXTS,
    MR__PART_FOLDERS,
    MR__PART_FOLDER_NAMES,
    MR__PART_ROW_PLACES,
    MR__PART_ROW_INDEXES,
    MR__PART_NAME_TABLE, /* 4 bytes a place: 0, or 1 + the number of a name */
    MR__PART_FILE,
};
_Static_assert(MR__PART_FILE + 1 == MR__INDEX_PART_COUNT, "index.h has room for all parts");

/* Appends; *at, unless NULL, is set to the new bytes, which are zero where `bytes` is NULL. MR_ENOMEM. */
int mr__index_append(mr__index_build *build, int part, const void *bytes, size_t nbytes, uint8_t **at);

/* Fills up a part of 8-byte numbers with `value`, until it has `count`. */
int mr__index_fill(mr__index_build *build, int part, uint64_t count, uint64_t value);

/* "records", ...; "unknown" for others. */
const char *mr__section_name(uint32_t number);

/* The last letters of a name that is long, so that a detail has room for what is wrong. */
const char *mr__name_end(const char *name);

/* Whether the system is to read ahead in a mapped file also where it is large: for who reads it from end to end. */
void mr__index_read_ahead(const mr__index *index, bool all);

/* What is wrong with a record's 48 bytes, in words; NULL: nothing. */
const char *mr__record_fault(const mr__index_head *head, const uint8_t bytes[MR__INDEX_RECORD_NBYTES]);

/* Length in bytes of a label's values, 0 where the record has it all; false for a kind that does not exist. */
bool mr__label_extent(const uint8_t record[MR__INDEX_RECORD_NBYTES], uint64_t *place, uint64_t *nbytes);

/*
 * Part i of a table of count + 1 ascending places and then the bytes they point into, `left` of them; false where that
 * does not hold.
 */
bool mr__places_get(const uint8_t *places, uint64_t count, uint64_t left, uint64_t i, uint64_t *place,
                    uint64_t *nbytes);

#endif
