// SPDX-License-Identifier: Apache-2.0
/* The tree of a folder of images: its folders, and the images in each, in order. For folder_scan.c. */
#ifndef MR_DATASET_FOLDER_WALK_H
#define MR_DATASET_FOLDER_WALK_H

#include "base/pool.h"
#include "base/thread.h"
#include "dataset/folder_scan.h"

/* More than any dataset has, and few enough that links to links to links end in an error and not in the night. */
enum { MR__WALK_FOLDER_MAX = 1 << 22, MR__WALK_NO_PARENT = -1 };

/* Of a file of this name in a folder that is open: 0, or an errno; what is no file is ESPIPE. */
int mr__walk_stat(int folder_fd, const char *name, uint64_t *nbytes, int64_t *mtime_ns);

/* Of a folder; "" is the one that is open. False: there is none. */
bool mr__walk_folder_time(int folder_fd, const char *path, int64_t *mtime_ns);

/* An image; 24 bytes, for there are millions. */
typedef struct mr__walk_file {
    uint64_t nbytes;
    int64_t mtime_ns;
    uint32_t name;  /* where it begins in the names of its folder */
    uint16_t error; /* errno, when its size could not be had */
    uint8_t form;
} mr__walk_file;

typedef struct mr__walk_folder {
    struct mr__walk *walk;
    int64_t parent;          /* number of the folder it is in */
    char *path;              /* relative to the root; "" is the root */
    uint64_t device, number; /* what tells folders apart, whatever their names */
    int64_t mtime_ns;
    uint64_t names_hash; /* root only: changes with any name in it but our own */
    mr__buffer names;    /* of images and folders, each with a zero behind it */
    size_t names_nbytes;
    mr__buffer files; /* mr__walk_file, sorted by name */
    size_t file_count;
    mr__buffer folders; /* uint32_t: where names of folders in it begin; as the system gave them */
    size_t folder_count;
    int error;   /* errno: it could not be read */
    int code;    /* MR_E...: the scan cannot go on */
    bool circle; /* a link to a folder that it is in */
} mr__walk_folder;

/* Images whose sizes one job asks for. */
enum { MR__WALK_CHUNK = 1024 };

/* Sizes on their way. */
typedef struct mr__walk_sizes {
    struct mr__walk_chunk *chunks;
    size_t count, added, taken;
    bool ready; /* mutex and condition are made */
    mr__mutex mutex;
    mr__condition news; /* a chunk is done */
} mr__walk_sizes;

/*
 * Threads: one at a time; it starts its own.
 * Ownership: mr__walk_fini frees all, after a failure too.
 * Limits: MR__WALK_FOLDER_MAX folders, 4 GiB of names in each.
 */
typedef struct mr__walk {
    const mr__folder_scan_options *options;
    mr__pool *pool;
    int root_fd;
    mr__buffer folders; /* pointers */
    size_t folder_count;
    mr__walk_sizes sizes;
} mr__walk;

/* MR_EIO when the root cannot be opened or read: options->root with *error. */
int mr__walk_init(mr__walk *walk, const mr__folder_scan_options *options, int *error);
void mr__walk_fini(mr__walk *walk);

/* Reads all folders, one level after the other, each level by all threads. */
int mr__walk_read(mr__walk *walk);

/*
 * Sizes and times of the images in these folders, by numbers, one behind the other. They are asked for while the caller
 * works with those that are there: _begin once, then _next for each MR__WALK_CHUNK images of a folder, its last ones
 * too, which waits for them. MR_ECLOSED when the scan was stopped.
 */
int mr__walk_sizes_begin(mr__walk *walk, const uint32_t *order, size_t count);
int mr__walk_sizes_next(mr__walk *walk);

mr__walk_folder *mr__walk_folder_at(const mr__walk *walk, size_t number); /* 0 is the root */

/* The hash of the root's names alone; 0 or an errno. `buffer` is for reading the folder. */
int mr__walk_root_names(int root_fd, void *buffer, size_t buffer_nbytes, uint64_t *names_hash);

static inline const char *mr__walk_name(const mr__walk_folder *folder, uint32_t name)
{
    return (const char *)folder->names.bytes + name;
}

static inline mr__walk_file *mr__walk_files(const mr__walk_folder *folder)
{
    return (mr__walk_file *)folder->files.bytes;
}

static inline bool mr__folder_stopped(const mr__folder_scan_options *options)
{
    return options->stop != NULL && atomic_load_explicit(options->stop, memory_order_relaxed);
}

#endif
