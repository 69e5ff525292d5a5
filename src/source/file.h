// SPDX-License-Identifier: Apache-2.0
/* A file that is read at places. Results are 0 or an errno; a short read is no error: `got` says what there was. */
#ifndef MR_SOURCE_FILE_H
#define MR_SOURCE_FILE_H

#include "base/memory.h"
#include <stdint.h>

/*
 * Threads: any number may read at once; open and close alone.
 * Ownership: mr__file_close closes it; one that is not open (fd -1) is accepted.
 * Limits: none of its own; a read never waits for more than the file has.
 */
typedef struct mr__file {
    int fd; /* -1: not open */
    uint64_t nbytes;
    int64_t mtime_ns; /* modulo 2^64: good for telling whether it changed */
} mr__file;

#define MR__FILE_NONE ((mr__file){.fd = -1})

/* A regular file or a block device; EISDIR, ESPIPE for others. Sets all of *file, also after a failure. */
int mr__file_open(mr__file *file, const char *path);

void mr__file_close(mr__file *file);

/* Whether reads pass by the page cache from here on: in whole blocks of MR__FILE_BLOCK, in the file and in memory.
 * EINVAL where the file system does not do that. */
enum { MR__FILE_BLOCK = 4096 };
int mr__file_set_direct(const mr__file *file, bool direct);

/* Whether both are the same file. */
bool mr__file_is(const mr__file *file, const mr__file *other);

/* Reads until there are nbytes or the file ends. */
int mr__file_read(const mr__file *file, uint64_t offset, void *bytes, size_t nbytes, size_t *got);

/*
 * Looks at a file from its beginning to its end, without reading what is passed over. All zero but `file` and `hooks`
 * is a fresh one.
 *
 * Threads: one at a time.
 * Ownership: mr__window_fini frees its memory; the file stays its opener's.
 * Limits: its memory is the most that was asked for at once, 64 KiB at least.
 */
typedef struct mr__window {
    const mr__file *file;
    const mr_hooks *hooks;
    mr__buffer buffer;
    uint64_t at; /* of the first byte in it */
    size_t nbytes;
    int error; /* errno of the last read that failed; MR__WINDOW_NOMEM */
} mr__window;

enum { MR__WINDOW_NOMEM = -1 };

/*
 * The bytes from `offset` on, `nbytes` of them, or fewer where the file ends (*got says how many, 0 behind its end).
 * They stay until the next call. NULL: reading failed (window->error) or there is no memory for so many.
 */
const uint8_t *mr__window_get(mr__window *window, uint64_t offset, size_t nbytes, size_t *got);

void mr__window_fini(mr__window *window);

#endif
