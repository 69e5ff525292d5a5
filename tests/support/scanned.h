// SPDX-License-Identifier: Apache-2.0
/* What a scanner makes of a file, for the tests of record files; and bytes that are put together one by one. */
#ifndef TESTS_SUPPORT_SCANNED_H
#define TESTS_SUPPORT_SCANNED_H

#include "dataset/scan.h"
#include "files.h"

typedef struct scanned {
    int result;
    mr__detail detail;
    mr__index index; /* of what was added, also where the scan failed */
    mr__index_build build;
    mr_hooks hooks;
    uint64_t seen_nbytes;
} scanned;

/* Scans a file of the folder. The index it gives has been checked, every byte of it; it fails the test otherwise. */
void scanned_init(scanned *s, const mr__scanner *scanner, const test_folder *folder, const char *name,
                  mr_broken_policy broken);

/* The same with all that can be chosen; `list` is a name in the folder. Where memory runs out there is no index. */
typedef struct scanned_how {
    const mr__scanner *scanner;
    const test_folder *folder;
    const char *name, *list;
    mr_broken_policy broken;
    const mr_hooks *hooks;
    bool stop;
} scanned_how;
void scanned_init_by(scanned *s, const scanned_how *how);
void scanned_fini(scanned *s);

/* Fail the test where it is otherwise. */
void scanned_expect(const scanned *s, uint64_t samples, uint64_t problems);
void scanned_expect_key(const scanned *s, uint64_t position, const char *key);
void scanned_expect_int(const scanned *s, uint64_t position, int64_t label);
void scanned_expect_problem(const scanned *s, uint64_t number, int code, const char *part);
mr__record scanned_record(const scanned *s, uint64_t position);
mr_label scanned_label(const scanned *s, uint64_t position);
mr__member scanned_member(const scanned *s, uint64_t position, uint32_t number, const char *name);

/* Bytes that grow. */
typedef struct made_bytes {
    uint8_t data[1 << 17];
    size_t nbytes;
} made_bytes;

void bytes_add(made_bytes *b, const void *data, size_t nbytes);
void bytes_add_text(made_bytes *b, const char *text);
void bytes_add_le(made_bytes *b, uint64_t value, size_t nbytes);
void bytes_add_f32(made_bytes *b, float value);

/* What a probe takes for a JPEG: its first bytes, and noise. */
void bytes_add_jpeg(made_bytes *b, size_t nbytes);

#endif
