// SPDX-License-Identifier: Apache-2.0
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The folders above, so that a link cannot lead in a circle. */
typedef struct above {
    const struct above *next;
    dev_t device;
    ino_t inode;
} above;

static bool add_file(file_list *list, const char *path, bool named, int error)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 64;
        found_file *files = realloc(list->files, capacity * sizeof *files);
        if (files == NULL)
            return false;
        list->files = files;
        list->capacity = capacity;
    }
    char *copy = strdup(path);
    if (copy == NULL)
        return false;
    list->files[list->count++] = (found_file){copy, named, error};
    return true;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static char *join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    bool slash = length != 0 && folder[length - 1] != '/';
    char *path = malloc(length + slash + strlen(name) + 1);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, length);
    if (slash)
        path[length++] = '/';
    memcpy(path + length, name, strlen(name) + 1);
    return path;
}

static bool add(file_list *list, const char *path, bool named, const above *up);

static bool add_folder(file_list *list, const char *path, bool named, const above *up)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, compare_names);
    bool good = true;
    if (count < 0)
        return add_file(list, path, named, errno);
    for (int i = 0; i < count; i++) {
        char *entry = good ? join(path, entries[i]->d_name) : NULL;
        good = entry != NULL && add(list, entry, false, up);
        free(entry);
        free(entries[i]);
    }
    free(entries);
    return good;
}

static bool add(file_list *list, const char *path, bool named, const above *up)
{
    struct stat status;
    if (named && strcmp(path, "-") == 0)
        return add_file(list, path, named, 0);
    if (stat(path, &status) != 0)
        return add_file(list, path, named, errno);
    if (!S_ISDIR(status.st_mode))
        return named || S_ISREG(status.st_mode) ? add_file(list, path, named, 0) : true;
    for (const above *a = up; a != NULL; a = a->next)
        if (a->device == status.st_dev && a->inode == status.st_ino)
            return true;
    const above here = {up, status.st_dev, status.st_ino};
    return add_folder(list, path, named, &here);
}

bool file_list_add(file_list *list, const char *path)
{
    return add(list, path, true, NULL);
}

void file_list_fini(file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i].path);
    free(list->files);
    *list = (file_list){0};
}
