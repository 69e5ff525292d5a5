// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // O_PATH
#include "base/pool.h"
#include "dataset/folder_walk.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Folders that one job asks for: on a local disk, 64 times a microsecond. */
enum { CHUNK = 64, READ_NBYTES = 1 << 15 };

typedef struct look {
    const mr__index *index;
    int root_fd;
    atomic_uint_least64_t next;
    atomic_bool stale;
} look;

/* The root's time changes when an index is written into it, so its names decide then. */
static bool root_is_current(const look *at, int64_t then)
{
    char buffer[READ_NBYTES] __attribute__((aligned(16)));
    const char *path;
    int64_t now, names;
    uint64_t hash;
    if (!mr__walk_folder_time(at->root_fd, "", &now))
        return false;
    if (now == then || !mr__index_folder(at->index, 1, &path, &names) || strcmp(path, "/names") != 0)
        return true; /* a list's folder may change as long as its files are there */
    return mr__walk_root_names(at->root_fd, buffer, sizeof buffer, &hash) == 0 && (int64_t)hash == names;
}

static bool entry_is_current(const look *at, uint64_t number)
{
    const char *path;
    int64_t then, now;
    uint64_t nbytes;
    if (!mr__index_folder(at->index, number, &path, &then))
        return false;
    if (path[0] == '\0')
        return root_is_current(at, then);
    if (strcmp(path, "/names") == 0)
        return true;
    if (strncmp(path, "/list/", 6) == 0)
        return mr__walk_stat(AT_FDCWD, path + 5, &nbytes, &now) == 0 && now == then;
    if (strncmp(path, "/size/", 6) == 0)
        return mr__walk_stat(AT_FDCWD, path + 5, &nbytes, &now) == 0 && nbytes == (uint64_t)then;
    return path[0] != '/' && mr__walk_folder_time(at->root_fd, path, &now) && now == then;
}

static void look_at_chunk(void *arg, size_t worker)
{
    look *at = arg;
    uint64_t count = mr__index_folder_count(at->index);
    (void)worker;
    for (;;) {
        uint64_t first = atomic_fetch_add(&at->next, CHUNK);
        for (uint64_t i = first; i < first + CHUNK && i < count; i++)
            if (!entry_is_current(at, i))
                atomic_store(&at->stale, true);
        if (first >= count || atomic_load(&at->stale))
            return;
    }
}

bool mr__folder_is_current(const mr__index *index, const char *root, unsigned threads)
{
    uint64_t count = mr__index_folder_count(index);
    look at = {.index = index, .root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    mr__pool *pool = NULL;
    if (at.root_fd < 0 || count == 0) {
        if (at.root_fd >= 0)
            close(at.root_fd);
        return false; /* a scan notes the root at least */
    }
    atomic_init(&at.next, 0);
    atomic_init(&at.stale, false);
    if (count / CHUNK < threads)
        threads = (unsigned)(count / CHUNK);
    /* Without threads to be had it goes on alone. */
    if (threads > 1 && mr__pool_new(NULL, "look", threads, threads, &pool) == 0)
        for (unsigned i = 0; i < threads; i++)
            (void)mr__pool_add(pool, look_at_chunk, &at);
    look_at_chunk(&at, 0);
    mr__pool_free(pool);
    close(at.root_fd);
    return !atomic_load(&at.stale);
}
