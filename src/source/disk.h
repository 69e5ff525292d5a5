// SPDX-License-Identifier: Apache-2.0
/*
 * The file system as writers see it: all that changes what is stored goes through this table, so that a test can stand
 * between and fail, tear or lose any of it. Results are 0 or an errno.
 *
 * What is published appears whole or not at all: written under a temporary name beside its place, synced, renamed,
 * closed, and the folder synced. A failed sync is a failure: nothing says what of it is stored.
 *
 * Threads: any, several at once; a file by one at a time.
 * Ownership: a file is its creator's until close, which frees it also when it fails.
 * Limits: those of the file system.
 */
#ifndef MR_SOURCE_DISK_H
#define MR_SOURCE_DISK_H

#include <millrace/hooks.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr__disk mr__disk;
typedef struct mr__disk_file mr__disk_file;

struct mr__disk {
    void *state; /* the implementation's */
    /* With those on the way to it, made to last; one that is there is no error. */
    int (*make_folder)(const mr__disk *disk, const char *path);
    /* Emptied if it is there; EBUSY while another has it open from here. A link is not followed: ELOOP. */
    int (*create)(const mr__disk *disk, const char *path, mr__disk_file **out);
    int (*write)(const mr__disk *disk, mr__disk_file *file, const void *bytes,
                 size_t nbytes); /* all of it, at the end */
    int (*sync)(const mr__disk *disk, mr__disk_file *file);
    int (*close)(const mr__disk *disk, mr__disk_file *file);
    int (*rename)(const mr__disk *disk, const char *from, const char *to);
    int (*sync_folder)(const mr__disk *disk, const char *path);
    int (*remove)(const mr__disk *disk, const char *path); /* a file that is not there is no error */
};

/* The one that is really there. */
extern const mr__disk mr__disk_real;

/* A file on its way to being published. All zero is none. */
typedef struct mr__publication {
    const mr__disk *disk;
    mr__disk_file *file;
    char *path;      /* where it will appear; the temporary name is made from it */
    char *temporary; /* "FOLDER/.NAME.tmp" */
    char *folder;
    int error; /* of a write: finish fails with it, too */
    mr_hooks hooks;
} mr__publication;

/* ENOMEM like any other; EBUSY while another publishes the same path. After a failure there is nothing to abandon. */
int mr__publication_begin(mr__publication *p, const mr__disk *disk, const mr_hooks *hooks, const char *path);
int mr__publication_write(mr__publication *p, const void *bytes, size_t nbytes);

/*
 * Sync, rename, close, sync of the folder. After a failure the temporary file is removed as far as that is possible. A
 * failure after the rename (EIO of close, of the folder's sync) leaves the new file in its place, whole.
 */
int mr__publication_finish(mr__publication *p);

/* Removes the temporary file. One that was finished, abandoned or never begun is accepted. */
void mr__publication_abandon(mr__publication *p);

/* All of it at once. */
int mr__disk_publish(const mr__disk *disk, const mr_hooks *hooks, const char *path, const void *bytes, size_t nbytes);

#endif
