// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // renameat2
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_NBYTES = 1 << 20 };

const char *tree_fault(const char *name)
{
    if (name[0] == '/')
        return "it begins with a slash";
    if (strlen(name) >= PATH_MAX)
        return "it is too long";
    for (const char *p = name; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return "it has a control character in it";
    while (true) {
        size_t length = strcspn(name, "/");
        if (length == 0)
            return "one of its folders, or the file, has no name";
        if (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')))
            return "one of its folders is '.' or '..'";
        if (length > NAME_MAX)
            return "one of its folders, or the file, has too long a name";
        if (name[length] == '\0')
            return NULL;
        name += length + 1;
    }
}

void tree_init(tree *t, int root, unsigned mark)
{
    *t = (tree){.root = root, .fd = -1, .mark = mark};
}

void tree_fini(tree *t)
{
    if (t->fd >= 0)
        close(t->fd);
    free(t->name);
    *t = (tree){.root = -1, .fd = -1};
}

/* Opens a folder inside another, made if it is missing. A link is no folder here. */
static int enter(int at, const char *name, int *out)
{
    if (mkdirat(at, name, 0777) != 0 && errno != EEXIST)
        return errno;
    *out = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *out >= 0 ? 0 : errno;
}

/* Goes down through the folders of a name, which is changed. */
static int descend(int root, char *folders, int *out)
{
    int at = dup(root), error = at >= 0 ? 0 : errno;
    for (char *save = NULL, *part = strtok_r(folders, "/", &save); part != NULL && error == 0;
         part = strtok_r(NULL, "/", &save)) {
        int next = -1;
        error = enter(at, part, &next);
        close(at);
        at = next;
    }
    *out = at;
    return error;
}

/* Makes t->fd the folder that the file is to be in. One after the other are mostly in the same. */
static int go_to(tree *t, const char *name, size_t length)
{
    if (t->fd >= 0 && strlen(t->name) == length && strncmp(t->name, name, length) == 0)
        return 0;
    char *kept = strndup(name, length), *folders = strndup(name, length);
    int fd = -1, error = kept != NULL && folders != NULL ? descend(t->root, folders, &fd) : ENOMEM;
    free(folders);
    if (error != 0) {
        free(kept);
        return error;
    }
    if (t->fd >= 0)
        close(t->fd);
    free(t->name);
    t->fd = fd;
    t->name = kept;
    return 0;
}

static int write_all(int fd, const void *bytes, size_t nbytes)
{
    const char *p = bytes;
    while (nbytes != 0) {
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

/* Where the file system knows no renaming that replaces nothing, a second name does it. */
static int give_name(int at, const char *temporary, const char *name, bool replace)
{
    if (replace)
        return renameat(at, temporary, at, name) == 0 ? 0 : errno;
    if (renameat2(at, temporary, at, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (linkat(at, temporary, at, name, 0) != 0)
        return errno;
    return unlinkat(at, temporary, 0) == 0 ? 0 : errno;
}

/* What is to be in a file: bytes, or what `put` prints. */
typedef struct content {
    const void *bytes;
    size_t nbytes;
    tree_put *put;
    void *user;
} content;

/* Closes the file, too. */
static int fill(int fd, const content *c)
{
    if (c->put == NULL) {
        int error = write_all(fd, c->bytes, c->nbytes);
        return close(fd) != 0 && error == 0 ? errno : error;
    }
    FILE *stream = fdopen(fd, "w");
    if (stream == NULL) {
        close(fd);
        return ENOMEM;
    }
    c->put(stream, c->user);
    bool failed = ferror(stream) != 0;
    errno = 0;
    if (fclose(stream) == 0 && !failed)
        return 0;
    return errno != 0 ? errno : EIO;
}

static int write_content(tree *t, const char *name, const content *c, bool replace)
{
    char temporary[64];
    const char *slash = strrchr(name, '/'), *base = slash != NULL ? slash + 1 : name;
    int error = tree_fault(name) != NULL ? EINVAL : go_to(t, name, slash != NULL ? (size_t)(slash - name) : 0);
    if (error != 0)
        return error;
    snprintf(temporary, sizeof temporary, ".millrace-%ld-%u.tmp", (long)getpid(), t->mark);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(t->fd, temporary, flags, 0666);
    if (fd < 0 && errno == EEXIST && unlinkat(t->fd, temporary, 0) == 0) /* of a run that was killed under our number */
        fd = openat(t->fd, temporary, flags, 0666);
    if (fd < 0)
        return errno;
    error = fill(fd, c);
    if (error == 0)
        error = give_name(t->fd, temporary, base, replace);
    if (error != 0)
        unlinkat(t->fd, temporary, 0);
    return error;
}

int tree_write(tree *t, const char *name, const void *bytes, size_t nbytes, bool replace)
{
    return write_content(t, name, &(content){.bytes = bytes, .nbytes = nbytes}, replace);
}

int tree_write_stream(tree *t, const char *name, tree_put *put, void *user, bool replace)
{
    return write_content(t, name, &(content){.put = put, .user = user}, replace);
}
