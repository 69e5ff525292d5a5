// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "dataset/dataset.h"
#include "dataset/records.h"
#include "source/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* At a time: a folder that has many more is made smaller by and by. */
enum { REMOVED_MAX = 16 };

char *mr__cache_folder(const mr_hooks *hooks, const char *name, int *error)
{
    char *folder = NULL;
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *error = 0;
    if (cache != NULL && cache[0] == '/')
        folder = mr__text_format(hooks, "%s/millrace/%s", cache, name);
    else if (home != NULL && home[0] == '/')
        folder = mr__text_format(hooks, "%s/.cache/millrace/%s", home, name);
    else
        return NULL;
    *error = folder == NULL ? ENOMEM : 0;
    return folder;
}

/* How many there are, and the one that was written longest ago. */
static size_t find_oldest(const char *folder, bool (*is_ours)(const char *name), char *oldest, size_t nbytes)
{
    DIR *files = opendir(folder);
    struct dirent *entry;
    struct timespec first = {0};
    size_t count = 0;
    while (files != NULL && (entry = readdir(files)) != NULL) {
        struct stat status;
        if (!is_ours(entry->d_name) || fstatat(dirfd(files), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        struct timespec time = status.st_mtim;
        bool earlier = time.tv_sec != first.tv_sec ? time.tv_sec < first.tv_sec : time.tv_nsec < first.tv_nsec;
        if (count++ == 0 || earlier) {
            first = time;
            snprintf(oldest, nbytes, "%s", entry->d_name);
        }
    }
    if (files != NULL)
        closedir(files);
    return count;
}

void mr__cache_trim(const mr_hooks *hooks, const char *folder, bool (*is_ours)(const char *name), size_t most)
{
    char name[256];
    for (int i = 0; i < REMOVED_MAX && find_oldest(folder, is_ours, name, sizeof name) > most; i++) {
        char *path = mr__text_format(hooks, "%s/%s", folder, name);
        int error = path != NULL ? mr__disk_real.remove(&mr__disk_real, path) : ENOMEM;
        mr__free(hooks, path);
        if (error != 0)
            return;
    }
}

static char *index_folder(mr_dataset *d, int *error)
{
    if (d->options.index_folder == NULL)
        return mr__cache_folder(&d->hooks, "index", error);
    char *folder = mr__text_copy(&d->hooks, d->options.index_folder);
    *error = folder == NULL ? ENOMEM : 0;
    return folder;
}

static char *in_cache(mr_dataset *d, const char *path, int *error)
{
    char absolute[PATH_MAX];
    if (realpath(path, absolute) == NULL) {
        *error = errno;
        return NULL;
    }
    char *folder = index_folder(d, error), *result = NULL;
    if (folder == NULL)
        return NULL;
    result = mr__text_format(&d->hooks, "%s/%016llx-%.100s.mrx", folder,
                             (unsigned long long)mr__hash(absolute, strlen(absolute)), mr__path_name(absolute));
    mr__free(&d->hooks, folder);
    *error = result == NULL ? ENOMEM : 0;
    return result;
}

char *mr__cache_path(mr_dataset *d, const char *path, bool folder, int *error)
{
    *error = 0;
    if (d->options.index == MR_INDEX_NONE)
        return NULL;
    if (d->options.index == MR_INDEX_CACHE)
        return in_cache(d, path, error);
    char *result = mr__text_format(&d->hooks, folder ? "%s/.millrace.mrx" : "%s.mrx", path);
    *error = result == NULL ? ENOMEM : 0;
    return result;
}
