// SPDX-License-Identifier: Apache-2.0
/*
 * Invariants of a file that is being published:
 * 1. Nothing changes at its place before the rename, and the rename comes after a sync that succeeded.
 * 2. The temporary file is open, and by that locked (disk.c), until it is renamed or removed: another who wants to
 *    publish at the same place meets the lock or a fresh file, never this one.
 * 3. After the rename the temporary name is nobody's, and is not touched again.
 */
#include "base/memory.h"
#include "base/size.h"
#include "source/disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = ".", suffix[] = ".tmp";

/* A copy of text[0..length), with room for `more` letters. */
static char *copy(const mr_hooks *hooks, const char *text, size_t length, size_t more)
{
    size_t nbytes;
    if (!mr__size_add(length, more + 1, &nbytes))
        return NULL;
    char *made = mr__alloc_zero(hooks, nbytes);
    if (made != NULL)
        memcpy(made, text, length);
    return made;
}

static bool make_names(mr__publication *p, const char *path)
{
    size_t length = strlen(path), name = length;
    while (name > 0 && path[name - 1] != '/')
        name--;
    size_t folder = name > 1 ? name - 1 : name; // the "/" of "/NAME" is the folder itself
    size_t more = sizeof prefix + sizeof suffix - 2;
    p->path = copy(&p->hooks, path, length, 0);
    p->folder = name == 0 ? copy(&p->hooks, ".", 1, 0) : copy(&p->hooks, path, folder, 0);
    p->temporary = copy(&p->hooks, path, name, length - name + more);
    if (p->path == NULL || p->folder == NULL || p->temporary == NULL)
        return false;
    snprintf(p->temporary + name, length - name + more + 1, "%s%s%s", prefix, path + name, suffix);
    return true;
}

/* Frees what it holds; the file is closed already. */
static void forget(mr__publication *p)
{
    mr_hooks hooks = p->hooks;
    mr__free(&hooks, p->path);
    mr__free(&hooks, p->temporary);
    mr__free(&hooks, p->folder);
    *p = (mr__publication){0};
}

int mr__publication_begin(mr__publication *p, const mr__disk *disk, const mr_hooks *hooks, const char *path)
{
    *p = (mr__publication){.disk = disk};
    if (mr__hooks_init(&p->hooks, hooks) != 0)
        return EINVAL;
    size_t length = strlen(path);
    int error = 0;
    if (length == 0 || path[length - 1] == '/')
        error = EISDIR; // the name of a folder, or none
    else if (!make_names(p, path))
        error = ENOMEM;
    else
        error = disk->create(disk, p->temporary, &p->file);
    if (error != 0) {
        p->file = NULL;
        forget(p);
    }
    return error;
}

int mr__publication_write(mr__publication *p, const void *bytes, size_t nbytes)
{
    if (p->error == 0)
        p->error = p->disk->write(p->disk, p->file, bytes, nbytes);
    return p->error; // after a failure nobody knows where the next byte would stand
}

int mr__publication_finish(mr__publication *p)
{
    const mr__disk *disk = p->disk;
    int error = p->error;
    if (error == 0)
        error = disk->sync(disk, p->file);
    if (error == 0)
        error = disk->rename(disk, p->temporary, p->path);
    if (error != 0) {
        mr__publication_abandon(p);
        return error;
    }
    error = disk->close(disk, p->file);
    int synced = disk->sync_folder(disk, p->folder); // also after a failed close: what is there is to stay
    forget(p);
    return error != 0 ? error : synced;
}

void mr__publication_abandon(mr__publication *p)
{
    if (p->file == NULL)
        return;
    p->disk->remove(p->disk, p->temporary); // where that fails, the next who publishes here empties it
    p->disk->close(p->disk, p->file);
    forget(p);
}

int mr__disk_publish(const mr__disk *disk, const mr_hooks *hooks, const char *path, const void *bytes, size_t nbytes)
{
    mr__publication p;
    int error = mr__publication_begin(&p, disk, hooks, path);
    if (error != 0)
        return error;
    error = mr__publication_write(&p, bytes, nbytes);
    if (error != 0) {
        mr__publication_abandon(&p);
        return error;
    }
    return mr__publication_finish(&p);
}
