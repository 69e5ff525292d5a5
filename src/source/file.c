// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // O_DIRECT
#include "source/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a window reads at once when less is asked for: headers of small members stand close together. */
enum { WINDOW_NBYTES = 1 << 16, JUMP_NBYTES = 1 << 13 };

/* File systems have times that 64 bits of nanoseconds do not reach; what is compared for being the same may wrap. */
static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec);
}

static int look(mr__file *file)
{
    struct stat status;
    if (fstat(file->fd, &status) != 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
        return ESPIPE; // /dev/zero has no end
    off_t end = S_ISREG(status.st_mode) ? status.st_size : lseek(file->fd, 0, SEEK_END);
    if (end < 0 || fcntl(file->fd, F_SETFL, 0) != 0) // io_uring would take O_NONBLOCK for a wish to get EAGAIN
        return errno;
    file->nbytes = (uint64_t)end;
    file->mtime_ns = nanoseconds(status.st_mtim);
    return 0;
}

int mr__file_open(mr__file *file, const char *path)
{
    *file = MR__FILE_NONE;
    do
        file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe is refused, not waited for */
    while (file->fd < 0 && errno == EINTR);
    if (file->fd < 0)
        return errno;
    int error = look(file);
    if (error != 0)
        mr__file_close(file);
    return error;
}

void mr__file_close(mr__file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    *file = MR__FILE_NONE;
}

int mr__file_set_direct(const mr__file *file, bool direct)
{
    return fcntl(file->fd, F_SETFL, direct ? O_DIRECT : 0) == 0 ? 0 : errno;
}

bool mr__file_is(const mr__file *file, const mr__file *other)
{
    struct stat a, b;
    return fstat(file->fd, &a) == 0 && fstat(other->fd, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int mr__file_read(const mr__file *file, uint64_t offset, void *bytes, size_t nbytes, size_t *got)
{
    uint64_t room = offset < INT64_MAX ? INT64_MAX - offset : 0; // beyond, the kernel knows no places
    size_t done = 0, most = nbytes < room ? nbytes : (size_t)room;
    while (done < most) {
        ssize_t now = pread(file->fd, (uint8_t *)bytes + done, most - done, (off_t)(offset + done));
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return errno;
        if (now == 0)
            break;
        done += (size_t)now;
    }
    *got = done;
    return 0;
}

static int fill(mr__window *window, uint64_t offset, size_t nbytes)
{
    /* Who jumps over a payload will jump again behind the next header. */
    bool near = offset >= window->at && offset - window->at <= window->nbytes;
    size_t usual = near ? WINDOW_NBYTES : JUMP_NBYTES, most = nbytes > usual ? nbytes : usual;
    window->nbytes = 0;
    if (mr__buffer_reserve(&window->buffer, window->hooks, most) != 0)
        return MR__WINDOW_NOMEM;
    window->at = offset;
    return mr__file_read(window->file, offset, window->buffer.bytes, most, &window->nbytes);
}

const uint8_t *mr__window_get(mr__window *window, uint64_t offset, size_t nbytes, size_t *got)
{
    uint64_t left = offset < window->file->nbytes ? window->file->nbytes - offset : 0;
    size_t wanted = nbytes < left ? nbytes : (size_t)left;
    bool there = offset >= window->at && offset - window->at <= window->nbytes &&
                 window->nbytes - (size_t)(offset - window->at) >= wanted && window->buffer.bytes != NULL;
    if (!there && (window->error = fill(window, offset, wanted)) != 0)
        return NULL;
    size_t skip = (size_t)(offset - window->at), held = window->nbytes - skip;
    *got = wanted < held ? wanted : held; /* a file that was cut meanwhile has less */
    return window->buffer.bytes + skip;
}

void mr__window_fini(mr__window *window)
{
    mr__buffer_fini(&window->buffer, window->hooks);
}
