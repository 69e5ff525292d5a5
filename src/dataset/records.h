// SPDX-License-Identifier: Apache-2.0
/* What the scanners of record files share: keys, lines of text, and what an image is. */
#ifndef MR_DATASET_RECORDS_H
#define MR_DATASET_RECORDS_H

#include "dataset/key_set.h"
#include "dataset/scan.h"

/* A reader takes no larger one, so an index has none. */
#define MR__RECORD_NBYTES_MAX (UINT64_C(1) << 30)

enum {
    MR__KEY_NBYTES_MAX = 4096,
    MR__LABEL_VALUES_MAX = 1 << 20,    /* numbers, or bytes of a text */
    MR__LINE_NBYTES_MAX = 1 << 16,     /* of a text file, with its end */
    MR__PROBE_NBYTES = 32,             /* of an image, to see its form */
    MR__NUMBERED_NBYTES = 256 + 1 + 21 /* see mr__key_numbered */
};

/*
 * The key of a sample that has none of its own: "train-00000-of-01024/000000012". The first part is the file's name,
 * at most 256 bytes of it, without `ending` or another of that list, which are separated by spaces.
 */
size_t mr__key_numbered(char key[MR__NUMBERED_NBYTES], const char *path, const char *endings, uint64_t number);

/* What stands behind the last slash. */
const char *mr__path_name(const char *path);
bool mr__text_ends_with(const char *text, const char *ending);

/*
 * The path of another name in the folder of `path`. MR_ENOMEM; on success it is to be freed with mr__free.
 */
int mr__path_beside(const mr_hooks *hooks, const char *path, const char *name, char **out);

/* Lines of a text file. All zero but `window` is before the first. */
typedef struct mr__lines {
    mr__window window;
    uint64_t at;
    uint64_t number; /* of the line that was given last, from 1 */
} mr__lines;

/*
 * The next line without its end (a newline, a carriage return before it); it stays until the next call. 1: there is
 * one; 0: there are no more; MR_EIO, MR_ENOMEM: see lines->window; MR_ELIMIT: it is longer than MR__LINE_NBYTES_MAX.
 */
int mr__lines_next(mr__lines *lines, const char **line, size_t *nbytes);

/* A whole number in decimal, nothing but digits (and a minus); false where it is none or does not fit. */
bool mr__text_u64(const char *text, size_t nbytes, uint64_t *value);
bool mr__text_i64(const char *text, size_t nbytes, int64_t *value);

/* Digits alone, with or without a sign. One that does not fit 64 bits is a name, and no number: a float would keep some
 * of its digits, and be that of others too. */
bool mr__text_is_whole(const char *text, size_t nbytes);

/* The form of an image by its first bytes. False: reading failed (mr__scan_io). */
bool mr__scan_form(mr__window *window, uint64_t offset, uint64_t nbytes, uint8_t *form);

/* Adds to what was seen, and MR_ECLOSED with a detail once it is to stop. */
int mr__scan_seen(mr__scan *scan, uint64_t nbytes);

/*
 * What a scan ends with. Out of memory comes from many places without a word: the words are these. (The detail is
 * empty when a scan begins.)
 */
int mr__scan_end(mr__scan *scan, int result);

/* A sample whose key was there already is broken, others are added; `what` names it: "record 12 at byte 345". `keys`
 * may be NULL, where there cannot be two. */
int mr__scan_add(mr__scan *scan, mr__key_set *keys, const mr__draft *draft, const char *what);

#endif
