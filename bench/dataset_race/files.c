// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "dataset_race.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLASS_FILES = 600, CHUNK = 1 << 20 };

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        fail("%s: %s", path, strerror(errno));
}

static void write_file(const char *path, const item *it)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(it->bytes, 1, it->nbytes, file) != it->nbytes || fclose(file) != 0)
        fail("%s: %s", path, strerror(errno));
}

void write_source(const char *folder, const item_set *set, uint64_t nbytes, uint64_t count)
{
    char path[PATH_NBYTES + 64];
    uint64_t written = 0, number = 0;
    make_folder(folder);
    while (written < nbytes || number < count) {
        const item *it = &set->items[number % set->count];
        snprintf(path, sizeof path, "%s/%05llu", folder, (unsigned long long)(number / CLASS_FILES));
        if (number % CLASS_FILES == 0)
            make_folder(path);
        snprintf(path, sizeof path, "%s/%05llu/%06llu.%s", folder, (unsigned long long)(number / CLASS_FILES),
                 (unsigned long long)number, mr_form_name(it->form));
        write_file(path, it);
        written += it->nbytes;
        number++;
    }
}

/* Calls `act` with each file, in the order in which the file system has them. */
static void each_file(const char *folder, void (*act)(const FTSENT *entry, void *user), void *user)
{
    char *roots[] = {need(strdup(folder)), NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;)
        if (entry->fts_info == FTS_F)
            act(entry, user);
    if (walk != NULL)
        fts_close(walk);
    free(roots[0]);
}

static void warm_one(const FTSENT *entry, void *user)
{
    int fd = open(entry->fts_path, O_RDONLY);
    while (fd >= 0 && read(fd, user, CHUNK) > 0)
        continue;
    if (fd < 0)
        fail("%s: %s", entry->fts_path, strerror(errno));
    close(fd);
}

void warm_files(const char *folder)
{
    void *chunk = need(malloc(CHUNK));
    each_file(folder, warm_one, chunk);
    free(chunk);
}

/* Pages that were not written yet stay; callers sync before. */
static void drop_one(const FTSENT *entry, void *user)
{
    int fd = open(entry->fts_path, O_RDONLY);
    (void)user;
    if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        fail("%s: its pages cannot be dropped", entry->fts_path);
    close(fd);
}

void drop_files(const char *folder)
{
    each_file(folder, drop_one, NULL);
}

typedef struct count {
    uint64_t files, nbytes;
} count;

static void count_one(const FTSENT *entry, void *user)
{
    count *c = user;
    c->files++;
    c->nbytes += (uint64_t)entry->fts_statp->st_size;
}

uint64_t walk_files(const char *folder, uint64_t *nbytes)
{
    count c = {0, 0};
    each_file(folder, count_one, &c);
    if (nbytes != NULL)
        *nbytes = c.nbytes;
    return c.files;
}

void remove_files(const char *folder)
{
    char *roots[] = {need(strdup(folder)), NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;)
        if (entry->fts_info == FTS_DP)
            rmdir(entry->fts_accpath);
        else if (entry->fts_info != FTS_D)
            unlink(entry->fts_accpath);
    if (walk != NULL)
        fts_close(walk);
    free(roots[0]);
}
