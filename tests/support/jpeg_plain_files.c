// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "jpeg_plain.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

plain_bytes plain_copy(const void *bytes, size_t nbytes)
{
    plain_bytes copy = {malloc(nbytes != 0 ? nbytes : 1), nbytes};
    if (copy.bytes == NULL)
        abort();
    if (nbytes != 0)
        memcpy(copy.bytes, bytes, nbytes);
    return copy;
}

plain_bytes plain_read(const char *path)
{
    plain_bytes file = {0};
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return file;
    long end = fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    rewind(in);
    if (end > 0) {
        file = (plain_bytes){malloc((size_t)end), (size_t)end};
        if (file.bytes == NULL || fread(file.bytes, 1, file.nbytes, in) != file.nbytes)
            abort();
    }
    fclose(in);
    return file;
}

/* The source's root is two folders above this file, which the build compiles by its full path. */
static void shared_path(char *path, size_t nbytes, const char *folder)
{
    const char *given = getenv("MILLRACE_SHARED"), *slash = strrchr(__FILE__, '/');
    if (given != NULL)
        snprintf(path, nbytes, "%s/%s", given, folder);
    else
        snprintf(path, nbytes, "%.*s/../../../shared/%s", slash != NULL ? (int)(slash - __FILE__) : 0, __FILE__,
                 folder);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

size_t plain_each_shared(const char *folder, void (*each)(const char *path, void *arg), void *arg)
{
    char root[1024];
    char *roots[] = {root, NULL};
    size_t count = 0;
    shared_path(root, sizeof root, folder);
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info != FTS_F)
            continue;
        each(entry->fts_path, arg);
        count++;
    }
    if (walk != NULL)
        fts_close(walk);
    return count;
}
