// SPDX-License-Identifier: Apache-2.0
#include "shared.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *shared_root(void)
{
    const char *given = getenv("MILLRACE_SHARED");
    return given != NULL && given[0] != '\0' ? given : MILLRACE_SOURCE_ROOT "/../shared";
}

/* Exactly as long as the file, so that a sanitizer sees the first byte behind it. */
static picture_file read_file(const char *path, size_t nbytes)
{
    FILE *stream = fopen(path, "rb");
    picture_file file = {malloc(nbytes != 0 ? nbytes : 1), nbytes};
    if (stream == NULL || file.bytes == NULL || fread(file.bytes, 1, nbytes, stream) != nbytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    fclose(stream);
    return file;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);
    return n >= e && strcmp(name + n - e, ending) == 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

size_t shared_walk(const char *path, const char *ending, shared_visit *visit, void *user)
{
    char *roots[] = {(char *)path, NULL}; // which fts only reads
    size_t visited = 0;
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info != FTS_F || !ends_in(entry->fts_name, ending))
            continue;
        picture_file file = read_file(entry->fts_path, (size_t)entry->fts_statp->st_size);
        visit(entry->fts_path, &file, user);
        free(file.bytes);
        visited++;
    }
    if (walk != NULL)
        fts_close(walk);
    return visited;
}

static size_t all_visited;

size_t shared_each(const char *folder, const char *ending, shared_visit *visit, void *user)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", shared_root(), folder);
    size_t visited = shared_walk(path, ending, visit, user);
    if (visited == 0)
        printf("skipped: no files in %s\n", path);
    all_visited += visited;
    return visited;
}

int shared_status(int failed)
{
    enum { SKIPPED = 77 };
    return failed == 0 && all_visited == 0 ? SKIPPED : failed;
}
