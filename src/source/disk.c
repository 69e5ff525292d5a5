// SPDX-License-Identifier: Apache-2.0
/* The file system itself. A file is its descriptor, held in the pointer: there is nothing to allocate. */
#define _GNU_SOURCE // flock, O_NOFOLLOW, sync_file_range
#include "source/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static mr__disk_file *file_of(int fd)
{
    return (mr__disk_file *)((intptr_t)fd + 1); // 0 would be NULL
}

static int fd_of(const mr__disk_file *file)
{
    return (int)((intptr_t)file - 1);
}

static int open_patiently(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int real_sync_folder(const mr__disk *disk, const char *path)
{
    (void)disk;
    int fd = open_patiently(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return errno;
    int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return error == EINVAL ? 0 : error; // some file systems have nothing to sync of a folder, and say it so
}

/* Whether mkdir's EEXIST is what was asked for. */
static int is_folder(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno;
    return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

/* Where the folder of a path ends: the length of "a/b" in "a/b/c" and "a/b//c/"; 0 for "c", 1 for "/c". */
static size_t parent_length(const char *path)
{
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Cuts the path to its parent's; "." where it names none. */
static void cut_to_parent(char *path)
{
    size_t length = parent_length(path);
    if (length == 0)
        path[length++] = '.';
    path[length] = '\0';
}

/* One folder, whose parent is there; synced, as an entry that is lost takes with it all that is in the folder. */
static int make_one(const mr__disk *disk, const char *path)
{
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? is_folder(path) : errno;
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    cut_to_parent(parent);
    return real_sync_folder(disk, parent);
}

static int real_make_folder(const mr__disk *disk, const char *path)
{
    char now[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof now)
        return ENAMETOOLONG;
    int error = make_one(disk, path);
    // From the first level on: what is missing of the way to it is made.
    for (size_t end = 1; error == ENOENT && end < length; end++) {
        if (path[end] != '/' || path[end - 1] == '/')
            continue;
        memcpy(now, path, end);
        now[end] = '\0';
        int on_the_way = make_one(disk, now);
        if (on_the_way != 0)
            return on_the_way;
    }
    return error == ENOENT && length != 0 ? make_one(disk, path) : error;
}

/*
 * Two who write the same file at once would publish a mixture: the second is refused while the first has it open. A
 * file system without locks does without.
 */
static int lock(int fd)
{
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result != 0 && errno == EWOULDBLOCK ? EBUSY : 0;
}

/* Whether the path still names what is open: it may have been renamed or removed between open and lock. */
static bool is_still(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

static int real_create(const mr__disk *disk, const char *path, mr__disk_file **out)
{
    (void)disk;
    for (;;) {
        // Not through a link that somebody laid there, and without waiting for a pipe's reader.
        int fd = open_patiently(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            return errno;
        int error = lock(fd);
        bool still = error != 0 || is_still(fd, path);
        if (error == 0 && still && ftruncate(fd, 0) != 0)
            error = errno;
        if (error == 0 && still) {
            *out = file_of(fd);
            return 0;
        }
        close(fd);
        if (error != 0)
            return error;
    }
}

/*
 * Whenever a file has grown by so much, the kernel is asked to begin storing it: the sync at the end, which somebody
 * waits for, then has little left to do. This says nothing of success, and takes no error away from that sync.
 */
static void begin_storing(int fd, size_t nbytes)
{
    const off_t step = 8 << 20;
    off_t end = lseek(fd, 0, SEEK_CUR);
    if (end < 0 || nbytes > (size_t)end)
        return;
    off_t from = (end - (off_t)nbytes) / step * step, to = end / step * step;
    if (from < to)
        sync_file_range(fd, from, to - from, SYNC_FILE_RANGE_WRITE);
}

static int real_write(const mr__disk *disk, mr__disk_file *file, const void *bytes, size_t nbytes)
{
    (void)disk;
    for (size_t done = 0; done < nbytes;) {
        ssize_t now = write(fd_of(file), (const uint8_t *)bytes + done, nbytes - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return now < 0 ? errno : EIO;
        done += (size_t)now;
    }
    begin_storing(fd_of(file), nbytes);
    return 0;
}

/* Never tried again: the kernel forgets what it could not store, and the next sync of it succeeds. */
static int real_sync(const mr__disk *disk, mr__disk_file *file)
{
    (void)disk;
    return fsync(fd_of(file)) == 0 ? 0 : errno;
}

/* Nor this: whatever it says, the descriptor is gone, and may be another's by now. */
static int real_close(const mr__disk *disk, mr__disk_file *file)
{
    (void)disk;
    return close(fd_of(file)) == 0 ? 0 : errno;
}

static int real_rename(const mr__disk *disk, const char *from, const char *to)
{
    (void)disk;
    return rename(from, to) == 0 ? 0 : errno;
}

static int real_remove(const mr__disk *disk, const char *path)
{
    (void)disk;
    return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

const mr__disk mr__disk_real = {
    .make_folder = real_make_folder,
    .create = real_create,
    .write = real_write,
    .sync = real_sync,
    .close = real_close,
    .rename = real_rename,
    .sync_folder = real_sync_folder,
    .remove = real_remove,
};
