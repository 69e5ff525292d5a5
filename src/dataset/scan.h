// SPDX-License-Identifier: Apache-2.0
/*
 * Making an index of one file of a layout that is not ours: a scanner goes through it once and adds a draft for each
 * sample, in the order of the file. One scanner a layout; open.c knows them by this table.
 */
#ifndef MR_DATASET_SCAN_H
#define MR_DATASET_SCAN_H

#include "dataset/index.h"
#include "source/file.h"
#include <stdatomic.h>

/* What a scanner is given. */
typedef struct mr__scan {
    const mr_hooks *hooks;
    mr__detail *detail;
    const char *path; /* of the file, for messages and for what stands beside it (.idx) */
    const mr__file *file;
    mr_broken_policy broken;
    const char *list; /* MR_LAYOUT_LIST: the file with the lines */
    mr__index_build *to;
    atomic_uint_least64_t *seen_nbytes; /* of the file, for progress; counted as it goes */
    const atomic_bool *stop;            /* set: end with MR_ECLOSED soon */
} mr__scan;

typedef struct mr__scanner {
    mr_layout layout;
    /* Whether the first bytes (up to 4096) of a file of this name and size belong to this layout. */
    bool (*probe)(const char *path, const uint8_t *bytes, size_t nbytes, uint64_t file_nbytes);
    /* 0, or an error whose detail says what, at which byte of which file. */
    int (*scan)(mr__scan *scan);
    /* Other files that it reads, so that their changes are seen: ".idx" with the file's name but for its ending, and
     * others in its folder. */
    const char *beside[2];
} mr__scanner;

extern const mr__scanner mr__scanner_tar, mr__scanner_tfrecord, mr__scanner_recordio, mr__scanner_cifar,
    mr__scanner_list;

/*
 * What is wrong in the file, at a byte: with MR_BROKEN_SKIP it is noted as a problem of the index and 0 comes back;
 * else it is the error, with a word on what can be done.
 */
__attribute__((format(printf, 3, 4))) int mr__scan_broken(mr__scan *scan, int code, const char *format, ...);

/* What such a text says of the consequences: they are none but with MR_BROKEN_SKIP, and then these words none. */
static inline const char *mr__scan_skips(const mr__scan *scan, const char *words)
{
    return scan->broken == MR_BROKEN_SKIP ? words : "";
}

/* Reading failed: scan->path and the errno's words; or no memory. */
int mr__scan_io(mr__scan *scan, const mr__window *window);

#endif
