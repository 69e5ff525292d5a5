// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "dataset/dataset.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* $XDG_CACHE_HOME must be absolute, says its specification; others are passed over. */
static char *cache_folder(mr_dataset *d)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (d->options.index_folder != NULL)
        return mr__text_copy(&d->hooks, d->options.index_folder);
    if (cache != NULL && cache[0] == '/')
        return mr__text_format(&d->hooks, "%s/millrace/index", cache);
    if (home != NULL && home[0] == '/')
        return mr__text_format(&d->hooks, "%s/.cache/millrace/index", home);
    return mr__text_copy(&d->hooks, "/tmp/millrace-index");
}

static char *in_cache(mr_dataset *d, const char *path, int *error)
{
    char absolute[PATH_MAX];
    if (realpath(path, absolute) == NULL) {
        *error = errno;
        return NULL;
    }
    char *folder = cache_folder(d);
    char *result = NULL;
    if (folder != NULL)
        result = mr__text_format(&d->hooks, "%s/%016llx-%.100s.mrx", folder,
                                 (unsigned long long)mr__hash(absolute, strlen(absolute)), last_part(absolute));
    mr__free(&d->hooks, folder);
    return result;
}

char *mr__cache_path(mr_dataset *d, const char *path, bool folder, int *error)
{
    *error = 0;
    if (d->options.index == MR_INDEX_NONE)
        return NULL;
    char *result = d->options.index == MR_INDEX_CACHE
                       ? in_cache(d, path, error)
                       : mr__text_format(&d->hooks, folder ? "%s/.millrace.mrx" : "%s.mrx", path);
    if (result == NULL && *error == 0)
        *error = ENOMEM;
    return result;
}
