// SPDX-License-Identifier: Apache-2.0
#include "shared.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shared_root(void)
{
    const char *given = getenv("MILLRACE_SHARED");
    return given != NULL && given[0] != '\0' ? given : MILLRACE_SOURCE_ROOT "/../shared";
}

static bool visit_file(const char *path, shared_visit *visit, void *user)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    fseek(file, 0, SEEK_END);
    size_t nbytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(nbytes + 1);
    bool read = bytes != NULL && fread(bytes, 1, nbytes, file) == nbytes;
    fclose(file);
    if (read)
        visit(path, bytes, nbytes, user);
    free(bytes);
    return read;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);
    return n >= e && strcmp(name + n - e, ending) == 0;
}

static size_t visit_folder(const char *path, const char *ending, shared_visit *visit, void *user)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    size_t visited = 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        char below[1024];
        bool fits = (size_t)snprintf(below, sizeof below, "%s/%s", path, name) < sizeof below;
        if (fits && name[0] != '.')
            visited += visit_folder(below, ending, visit, user);
        if (fits && name[0] != '.' && ends_in(name, ending))
            visited += visit_file(below, visit, user);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return visited;
}

size_t shared_each(const char *folder, const char *ending, shared_visit *visit, void *user)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", shared_root(), folder);
    size_t visited = visit_folder(path, ending, visit, user);
    if (visited == 0)
        printf("skipped: no files in %s\n", path);
    return visited;
}
