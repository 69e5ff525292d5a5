// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // preadv2
#include "base/size.h"
#include "source/read_ahead_kind.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What is first taken for a file that does not say how long it is. */
enum { UNKNOWN_NBYTES = 4096 };

/* One byte more than is allowed, where its coming shows that there is too much. */
static size_t one_too_many(const mr__read *read)
{
    return read->nbytes < SIZE_MAX ? read->nbytes + 1 : SIZE_MAX;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* No more than the file has: what is asked for may be a lie, and memory is taken for it. */
static size_t what_there_is(const mr__read *read, uint64_t file_nbytes)
{
    uint64_t left = read->offset < file_nbytes ? file_nbytes - read->offset : 0;
    return left < read->nbytes ? (size_t)left : read->nbytes;
}

static int want_path(mr__read *read)
{
    int error = mr__file_open(&read->opened, read->path);
    if (error != 0)
        return error;
    read->file_nbytes = read->opened.nbytes;
    read->file_mtime_ns = read->opened.mtime_ns;
    if (read->part) {
        read->wanted = what_there_is(read, read->file_nbytes);
        return 0;
    }
    if (read->file_nbytes > read->nbytes)
        return EFBIG;
    read->to_end = read->file_nbytes == 0;
    read->wanted = read->to_end ? smaller(UNKNOWN_NBYTES, one_too_many(read)) : (size_t)read->file_nbytes;
    return 0;
}

static uint64_t offset_of(const mr__read *read)
{
    return read->path != NULL && !read->part ? 0 : read->offset;
}

/* Where what `at` counts from stands in a buffer for direct reads: so that blocks of the file are blocks of memory. */
static uint8_t *place_blocks(const mr__read *read, const mr__buffer *buffer)
{
    size_t up = -(uintptr_t)buffer->bytes % MR__FILE_BLOCK;
    return buffer->bytes + up + (offset_of(read) - read->at) % MR__FILE_BLOCK;
}

static int make_room_for_blocks(mr__read *read, const mr_hooks *hooks, size_t nbytes)
{
    if (!mr__size_add(nbytes, 3 * MR__FILE_BLOCK, &nbytes)) // before it, between its start and a block, behind it
        return ENOMEM;
    if (nbytes > read->buffer.capacity) {
        mr__buffer fresh = {0};
        if (read->at == 0)
            mr__buffer_fini(&read->buffer, hooks);
        if (mr__buffer_reserve(&fresh, hooks, nbytes) != 0)
            return ENOMEM;
        if (read->at != 0 && read->buffer.bytes != NULL && read->whole != NULL) {
            size_t have = read->buffer.capacity - (size_t)(read->whole - read->buffer.bytes);
            memcpy(place_blocks(read, &fresh), read->whole, smaller(read->at, have));
        }
        mr__buffer_fini(&read->buffer, hooks);
        read->buffer = fresh;
    }
    read->whole = place_blocks(read, &read->buffer);
    return 0;
}

/* Makes the buffer long enough for what is wanted, and `bytes` point into it. */
static int make_room(mr__read *read, const mr_hooks *hooks)
{
    size_t nbytes;
    if (!mr__size_add(read->at, read->wanted, &nbytes))
        return ENOMEM;
    if (nbytes < read->room)
        nbytes = read->room;
    int result;
    if (read->direct)
        result = make_room_for_blocks(read, hooks, nbytes);
    else if (read->at == 0)
        result = mr__buffer_reserve(&read->buffer, hooks, nbytes);
    else
        result = mr__buffer_grow(&read->buffer, hooks, smaller(read->at, read->buffer.capacity), nbytes);
    if (result != 0)
        return ENOMEM;
    if (!read->direct)
        read->whole = read->buffer.bytes;
    read->bytes = read->whole != NULL ? read->whole + read->at : NULL;
    return 0;
}

/* Whether it is read in blocks: what says no is no error. */
static bool begin_blocks(mr__read *read)
{
    if (read->path == NULL && (read->file_path == NULL || mr__file_open(&read->opened, read->file_path) != 0 ||
                               !mr__file_is(&read->opened, read->file))) {
        mr__file_close(&read->opened);
        return false;
    }
    if (read->to_end || mr__file_set_direct(&read->opened, true) != 0)
        return false;
    read->lead = offset_of(read) % MR__FILE_BLOCK;
    return true;
}

/* The rest is read as ever. */
static void end_blocks(mr__read *read)
{
    read->in_blocks = false;
    mr__file_set_direct(&read->opened, false);
}

bool mr__read_begin(mr__read *read, const mr_hooks *hooks)
{
    if (read->begun)
        return true;
    read->bytes = NULL;
    read->got = 0;
    read->file_nbytes = 0;
    read->file_mtime_ns = 0;
    read->opened = MR__FILE_NONE;
    read->begun = true;
    read->to_end = false;
    read->lead = 0;
    read->error = 0;
    if (read->path != NULL)
        read->error = want_path(read);
    else
        read->wanted = what_there_is(read, read->file->nbytes);
    if (read->error == 0)
        read->error = make_room(read, hooks);
    bool more = read->error == 0 && read->wanted != 0;
    read->in_blocks = more && read->direct && begin_blocks(read);
    read->direct_refused = more && read->direct && !read->in_blocks;
    return more;
}

mr__read_piece mr__read_next(const mr__read *read)
{
    size_t left = read->lead + read->wanted - read->got;
    if (read->in_blocks) // there is room for one more, and `wanted` is no more than a file has
        left = (left + MR__FILE_BLOCK - 1) / MR__FILE_BLOCK * MR__FILE_BLOCK;
    return (mr__read_piece){
        .fd = read->opened.fd >= 0 || read->path != NULL ? read->opened.fd : read->file->fd,
        .bytes = read->bytes - read->lead + read->got,
        .nbytes = smaller(left, MR__READ_PIECE_MAX),
        .offset = offset_of(read) - read->lead + read->got,
    };
}

/* What was wanted is there, and the file may go on. */
static bool widen(mr__read *read, const mr_hooks *hooks)
{
    size_t before = (size_t)(read->whole - read->buffer.bytes), used = before + read->at + read->got;
    if (read->got > read->nbytes)
        read->error = EFBIG;
    else if (used == SIZE_MAX || mr__buffer_grow(&read->buffer, hooks, used, used + 1) != 0)
        read->error = ENOMEM;
    if (read->error != 0)
        return false;
    read->whole = read->buffer.bytes + before;
    read->bytes = read->whole + read->at;
    read->wanted = smaller(read->buffer.capacity - before - read->at, one_too_many(read));
    return read->wanted > read->got;
}

bool mr__read_more(mr__read *read, const mr_hooks *hooks, int64_t result)
{
    if (result == -EINVAL && read->in_blocks) {
        read->direct_refused = true;
        end_blocks(read);
        return true;
    }
    if (result < 0)
        read->error = (int)-result;
    if (result <= 0)
        return false; // the file ends here, whatever it was when it was opened
    read->got += (size_t)result;
    if (read->in_blocks && read->got % MR__FILE_BLOCK != 0)
        end_blocks(read); // in the middle of one: from here no block begins
    if (read->got < read->lead + read->wanted)
        return true;
    return read->to_end && widen(read, hooks);
}

void mr__read_end(mr__read *read)
{
    if (!read->begun)
        return;
    read->begun = false;
    mr__file_close(&read->opened);
    read->got = read->got > read->lead ? smaller(read->got - read->lead, read->wanted) : 0;
    if (read->error != 0)
        read->got = 0;
}

void mr__read_rest(mr__read *read, const mr_hooks *hooks)
{
    for (bool more = true; more;) {
        mr__read_piece piece = mr__read_next(read);
        ssize_t result;
        do
            result = pread(piece.fd, piece.bytes, piece.nbytes, (off_t)piece.offset);
        while (result < 0 && errno == EINTR);
        more = mr__read_more(read, hooks, result < 0 ? -(int64_t)errno : result);
    }
    mr__read_end(read);
}

/* A file system that knows no RWF_NOWAIT, and needs none. */
static bool is_in_memory(int fd)
{
    struct statfs about;
    return fstatfs(fd, &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
}

/*
 * Whatever the kernel says but bytes is no last word here: the slow way finds out what it means. (There were kernels
 * that gave 0 for what was not in memory, and only a file that does not say how long it is needs 0 to know its end.)
 */
bool mr__read_now(mr__read *read, const mr_hooks *hooks)
{
    if (read->nowait_unsupported || read->direct)
        return false;
    bool more = mr__read_begin(read, hooks);
    while (more && !read->in_memory) {
        mr__read_piece piece = mr__read_next(read);
        struct iovec to = {piece.bytes, piece.nbytes};
        ssize_t result = preadv2(piece.fd, &to, 1, (off_t)piece.offset, RWF_NOWAIT);
        if (result < 0 && errno == EINTR)
            continue;
        if (result < 0 || (result == 0 && !read->to_end)) {
            bool unknown = result < 0 && (errno == EOPNOTSUPP || errno == ENOSYS);
            read->in_memory = unknown && is_in_memory(piece.fd);
            read->nowait_unsupported = unknown && !read->in_memory;
            if (!read->in_memory)
                return false;
        } else
            more = mr__read_more(read, hooks, result);
    }
    if (more)
        mr__read_rest(read, hooks);
    else
        mr__read_end(read);
    return true;
}

void mr__read_wait(mr__read *read, const mr_hooks *hooks)
{
    if (mr__read_begin(read, hooks))
        mr__read_rest(read, hooks);
    else
        mr__read_end(read);
}
