// SPDX-License-Identifier: Apache-2.0
#include "source/read_ahead_kind.h"

#include <errno.h>
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

static int want_path(mr__read *read)
{
    int error = mr__file_open(&read->opened, read->path);
    if (error != 0)
        return error;
    read->file_nbytes = read->opened.nbytes;
    read->file_mtime_ns = read->opened.mtime_ns;
    if (read->file_nbytes > read->nbytes)
        return EFBIG;
    read->to_end = read->file_nbytes == 0;
    read->wanted = read->to_end ? smaller(UNKNOWN_NBYTES, one_too_many(read)) : (size_t)read->file_nbytes;
    return 0;
}

/* No more than the file has: what is asked for may be a lie, and memory is taken for it. */
static int want_range(mr__read *read)
{
    uint64_t left = read->offset < read->file->nbytes ? read->file->nbytes - read->offset : 0;
    read->wanted = left < read->nbytes ? (size_t)left : read->nbytes;
    return 0;
}

bool mr__read_begin(mr__read *read, const mr_hooks *hooks)
{
    read->got = 0;
    read->file_nbytes = 0;
    read->file_mtime_ns = 0;
    read->opened = MR__FILE_NONE;
    read->to_end = false;
    read->error = read->path != NULL ? want_path(read) : want_range(read);
    if (read->error == 0 && mr__buffer_reserve(&read->buffer, hooks, read->wanted) != 0)
        read->error = ENOMEM;
    return read->error == 0 && read->wanted != 0;
}

mr__read_piece mr__read_next(const mr__read *read)
{
    bool by_path = read->path != NULL;
    return (mr__read_piece){
        .fd = by_path ? read->opened.fd : read->file->fd,
        .bytes = read->buffer.bytes + read->got,
        .nbytes = smaller(read->wanted - read->got, MR__READ_PIECE_MAX),
        .offset = (by_path ? 0 : read->offset) + read->got,
    };
}

/* The buffer is full, and the file may go on. */
static bool widen(mr__read *read, const mr_hooks *hooks)
{
    if (read->got > read->nbytes)
        read->error = EFBIG;
    else if (mr__buffer_grow(&read->buffer, hooks, read->got, smaller(read->got + 1, one_too_many(read))) != 0)
        read->error = ENOMEM;
    read->wanted = smaller(read->buffer.capacity, one_too_many(read));
    return read->error == 0 && read->wanted > read->got;
}

bool mr__read_more(mr__read *read, const mr_hooks *hooks, int64_t result)
{
    if (result < 0)
        read->error = (int)-result;
    if (result <= 0)
        return false; // the file ends here, whatever it was when it was opened
    read->got += (size_t)result;
    if (read->got < read->wanted)
        return true;
    return read->to_end && widen(read, hooks);
}

void mr__read_end(mr__read *read)
{
    mr__file_close(&read->opened);
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
