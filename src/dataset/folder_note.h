// SPDX-License-Identifier: Apache-2.0
/* What a scan of a folder says of what it met. For folder_*.c. */
#ifndef MR_DATASET_FOLDER_NOTE_H
#define MR_DATASET_FOLDER_NOTE_H

#include "dataset/folder_scan.h"

typedef struct mr__folder_notes {
    const mr__folder_scan_options *options;
    mr__index_build *to;
    mr__detail *detail;
} mr__folder_notes;

/* MR_BROKEN_SKIP: a problem of the index, and 0; else the error. The words say where first, then what. */
__attribute__((format(printf, 3, 4))) int mr__folder_broken(const mr__folder_notes *notes, int code, const char *format,
                                                            ...);

/* An error without words of its own, such as MR_ENOMEM: the detail has some. */
int mr__folder_failed(const mr__folder_notes *notes, int code);

/* What an errno means, for a path. */
int mr__folder_broken_by(const mr__folder_notes *notes, const char *path, const char *what, int error);

#endif
