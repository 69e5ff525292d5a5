// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "dataset/dataset.h"
#include "dataset/records.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
