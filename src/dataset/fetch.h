// SPDX-License-Identifier: Apache-2.0
/*
 * One record on its way out of a dataset, in two halves with the reading between them, so that whoever reads ahead
 * (pack, later the loader) and whoever reads at once (reader.c) find the same record and check the same things.
 */
#ifndef MR_DATASET_FETCH_H
#define MR_DATASET_FETCH_H

#include "dataset/dataset.h"

enum { MR__FETCH_NBYTES_MAX = 1 << 30 };

/* All zero is a fresh one; the memory is kept for the next. */
typedef struct mr__fetch {
    mr__shard *shard;
    uint64_t ordinal, position;
    const char *key;
    mr__record record;
    const char *path; /* of a file of its own; NULL: `file` */
    mr__file file;
    const char *shard_path;  /* of `file`, for who opens it again; NULL with `path`, and for a list */
    uint64_t offset, nbytes; /* to be read */
    bool unread;             /* after mr__fetch_end: it could not be read, or is not what was indexed */
    mr__buffer name;         /* the memory of `path` */
    mr__buffer wrapped;      /* of pixels that have no head, and of what is stored in parts */
} mr__fetch;

void mr__fetch_fini(mr__fetch *f, const mr_hooks *hooks);

/* Finds the record of a form, and opens the shard that has it. After 0, one mr__fetch_end or
 * mr__fetch_leave follows. */
int mr__fetch_begin(mr_dataset *d, mr__fetch *f, uint64_t ordinal, uint32_t form, mr__detail *detail);

/* The same of a member. */
int mr__fetch_begin_member(mr_dataset *d, mr__fetch *f, uint64_t ordinal, uint32_t number, mr__detail *detail);

/* What reading gave. */
typedef struct mr__fetched {
    const uint8_t *bytes;
    size_t got;
    int error;            /* errno */
    uint64_t file_nbytes; /* with `path`: of the file, when it was opened */
    int64_t file_mtime_ns;
} mr__fetched;

/*
 * A file of a folder is another one than was indexed: from now on it is this one, and has to be read again. For who
 * wants the images that there are; false: it is what it was, or could not be read.
 */
bool mr__fetch_renew(mr__fetch *f, const mr__fetched *is);

/* Checks it (all there, the file unchanged, the hash), and gives the stored bytes: these, or a copy with a head or in
 * one piece.
 */
int mr__fetch_end(mr_dataset *d, mr__fetch *f, const mr__fetched *is, const void **bytes, size_t *nbytes,
                  mr__detail *detail);

/* Whether it can be read in parts: what is stored is what mr__fetch_end would give. */
static inline bool mr__fetch_has_parts(const mr__fetch *f)
{
    return !f->record.parts && !f->record.planar;
}

/*
 * A part of it was read, of so many bytes from `offset` in the record on: checks what can be without the rest (all of
 * the part there, the file unchanged), and no hash. More may follow, in the end mr__fetch_leave; or, if all is there
 * now, mr__fetch_end.
 */
int mr__fetch_part(mr_dataset *d, mr__fetch *f, const mr__fetched *is, uint64_t offset, size_t nbytes,
                   mr__detail *detail);

/* Ends it without a look at what was read. */
void mr__fetch_leave(mr__fetch *f);

/* A reader of a dataset that is open, which keeps its memory by these hooks: for who counts what he holds. */
int mr__reader_new(mr_dataset *dataset, const mr_hooks *hooks, mr_reader **out);

/* The JPEG's row index (mr_decode_hints.index); 0 bytes where there is none. False: the index is damaged there. */
bool mr__fetch_row_index(const mr__fetch *f, const void **bytes, size_t *nbytes);

#endif
