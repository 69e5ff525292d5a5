// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "dataset/dataset.h"
#include "dataset/records.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * $XDG_CACHE_HOME must be absolute, says its specification; others are passed over. Who has no home has no cache either
 * (NULL, *error 0): a folder under /tmp would take indexes from anybody.
 */
static char *cache_folder(mr_dataset *d, int *error)
{
    char *folder = NULL;
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (d->options.index_folder != NULL)
        folder = mr__text_copy(&d->hooks, d->options.index_folder);
    else if (cache != NULL && cache[0] == '/')
        folder = mr__text_format(&d->hooks, "%s/millrace/index", cache);
    else if (home != NULL && home[0] == '/')
        folder = mr__text_format(&d->hooks, "%s/.cache/millrace/index", home);
    else
        return NULL;
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
    char *folder = cache_folder(d, error), *result = NULL;
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
