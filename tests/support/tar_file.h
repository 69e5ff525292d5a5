// SPDX-License-Identifier: Apache-2.0
/* Tar archives for tests, written without the library's code, and what its scanner makes of them. */
#ifndef TESTS_SUPPORT_TAR_FILE_H
#define TESTS_SUPPORT_TAR_FILE_H

#include "dataset/scan.h"
#include "files.h"

#include <stdbool.h>
#include <stdint.h>

/* An archive that grows. All zero is the empty one; tar_free frees it. */
typedef struct tar_file {
    uint8_t *bytes;
    size_t nbytes;
} tar_file;

/* Appends a ustar header of this type with this size, and nothing else. Returns where it begins. */
size_t tar_header(tar_file *tar, const char *name, char type, uint64_t nbytes);

/* Appends header, payload and zeros to the next block. Returns where the payload begins. */
size_t tar_add(tar_file *tar, const char *name, char type, const void *bytes, size_t nbytes);
size_t tar_add_text(tar_file *tar, const char *name, const char *text);

/* Makes the checksum of the header at a place right again. */
void tar_sign(tar_file *tar, size_t header);

void tar_add_zeros(tar_file *tar, size_t nbytes);
void tar_end(tar_file *tar); /* two blocks of zeros */
void tar_free(tar_file *tar);

/* What a scan gave. tar_scanned_free frees it. */
typedef struct tar_scanned {
    int result;
    mr__detail detail;
    mr__index index; /* when the result is 0 */
    mr_hooks hooks;
} tar_scanned;

/* Scans a file, checks all of its index (mr__index_check), and that there is a detail where it failed. */
tar_scanned tar_scan_file(const char *path, mr_broken_policy broken, const mr_hooks *hooks);

/* The same of an archive in memory; its name in messages is "test.tar". */
tar_scanned tar_scan(const tar_file *tar, mr_broken_policy broken);
tar_scanned tar_scan_bytes(const void *bytes, size_t nbytes, mr_broken_policy broken, const mr_hooks *hooks);
void tar_scanned_free(tar_scanned *scanned);

/*
 * All of an index as text, a line for each sample: KEY FORM OFFSET+NBYTES LABEL NAME@OFFSET+NBYTES..., and for each
 * problem: "! CODE TEXT". With `places` false without offsets. On the heap.
 */
char *tar_describe(const mr__index *index, bool places);

#endif
