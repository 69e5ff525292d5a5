// SPDX-License-Identifier: Apache-2.0
#include "file.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int input_open(input *in, const char *path)
{
    struct stat status;
    in->nbytes = 0;
    in->ended = false;
    in->regular = false;
    in->file_nbytes = 0;
    in->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0)
        return errno;
    if (fstat(in->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    off_t at = lseek(in->fd, 0, SEEK_CUR); /* somebody may have read from standard input already */
    in->regular = true;
    in->file_nbytes = at < status.st_size ? (uint64_t)(status.st_size - at) : 0;
    return 0;
}

/* Room for one byte more than is asked, so that the end is seen without growing. */
static int reserve(input *in, size_t nbytes)
{
    if (nbytes < in->capacity)
        return 0;
    size_t capacity = nbytes + 1 < in->capacity * 2 ? in->capacity * 2 : nbytes + 1;
    uint8_t *bytes = realloc(in->bytes, capacity);
    if (bytes == NULL)
        return ENOMEM;
    in->bytes = bytes;
    in->capacity = capacity;
    return 0;
}

int input_fill(input *in, size_t nbytes)
{
    while (!in->ended && in->nbytes < nbytes) {
        /* A regular file says how much is to come; from a pipe, as it comes. */
        size_t want = in->nbytes + (64 << 10);
        if (in->file_nbytes > want)
            want = in->file_nbytes < SIZE_MAX / 2 ? (size_t)in->file_nbytes : SIZE_MAX / 2;
        if (want > nbytes)
            want = nbytes;
        int result = reserve(in, want);
        if (result != 0)
            return result;
        size_t room = (nbytes < in->capacity ? nbytes : in->capacity) - in->nbytes;
        ssize_t got = read(in->fd, in->bytes + in->nbytes, room < SSIZE_MAX ? room : SSIZE_MAX);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        in->ended = got == 0;
        in->nbytes += (size_t)got;
    }
    if (in->nbytes > in->file_nbytes)
        in->file_nbytes = in->nbytes;
    return 0;
}

void input_close(input *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
}

void input_fini(input *in)
{
    free(in->bytes);
    *in = (input){0};
}

enum { CHUNK_NBYTES = 1 << 20 };

/* EINTR when an interrupt waits; `held` may be NULL. */
static int write_all(int fd, const void *bytes, size_t nbytes, const interrupts *held)
{
    const char *p = bytes;
    while (nbytes != 0) {
        if (held != NULL && interrupts_wait(held))
            return EINTR;
        ssize_t done = write(fd, p, nbytes < CHUNK_NBYTES ? nbytes : CHUNK_NBYTES);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        p += done;
        nbytes -= (size_t)done;
    }
    return 0;
}

static int write_direct(const char *path, const void *bytes, size_t nbytes)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno;
    int result = write_all(fd, bytes, nbytes, NULL);
    if (close(fd) != 0 && result == 0)
        result = errno;
    return result;
}

/* Fills the temporary file and gives it its name; what is left of it after a failure is removed. */
static int write_temporary(int fd, const char *temporary, const char *path, const mode_t *mode, const void *bytes,
                           size_t nbytes, const interrupts *held)
{
    int result = write_all(fd, bytes, nbytes, held);
    if (result == 0 && mode != NULL && fchmod(fd, *mode & 0777) != 0)
        result = errno;
    if (close(fd) != 0 && result == 0)
        result = errno;
    if (result == 0 && rename(temporary, path) != 0)
        result = errno;
    if (result != 0)
        unlink(temporary);
    return result;
}

/* Beside the file, so that the rename stays within one file system. */
static int write_renamed(const char *path, const mode_t *mode, const void *bytes, size_t nbytes)
{
    char temporary[PATH_MAX];
    interrupts held;
    int result = 0;
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary)
        return ENAMETOOLONG;
    interrupts_hold(&held); /* so that Ctrl-C does not leave it behind */
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        result = errno;
    else
        result = write_temporary(fd, temporary, path, mode, bytes, nbytes, &held);
    interrupts_release(&held);
    return result;
}

int file_write(const char *path, const void *bytes, size_t nbytes)
{
    struct stat status;
    if (strcmp(path, "-") == 0) /* past stdio, so that a failure is told once: by who called this */
        return write_all(STDOUT_FILENO, bytes, nbytes, NULL);
    if (stat(path, &status) != 0)
        return write_renamed(path, NULL, bytes, nbytes);
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode))
        return write_direct(path, bytes, nbytes);
    /* A link stays a link: the file it leads to is replaced. */
    char *real = realpath(path, NULL);
    if (real == NULL)
        return errno;
    int result = write_renamed(real, &status.st_mode, bytes, nbytes);
    free(real);
    return result;
}

bool file_is_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
