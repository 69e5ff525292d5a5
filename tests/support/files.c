// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "files.h"

#include "test.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_folder(test_folder *folder, const char *base)
{
    snprintf(folder->path, sizeof folder->path, "%s/millrace-test-XXXXXX", base);
    if (mkdtemp(folder->path) == NULL)
        fail_msg("cannot make %s: %s", folder->path, strerror(errno));
}

void test_folder_init(test_folder *folder)
{
    const char *base = getenv("TMPDIR");
    make_folder(folder, base != NULL ? base : "/tmp");
}

void test_folder_init_in_memory(test_folder *folder)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0)
        make_folder(folder, "/dev/shm");
    else
        test_folder_init(folder);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

void test_folder_fini(test_folder *folder)
{
    nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    folder->path[0] = '\0';
}

const char *test_folder_path(const test_folder *folder, const char *name, char buffer[512])
{
    assert_true((size_t)snprintf(buffer, 512, "%s/%s", folder->path, name) < 512);
    return buffer;
}

void test_folder_write(const test_folder *folder, const char *name, const void *bytes, size_t nbytes)
{
    char path[512];
    test_folder_path(folder, name, path);
    for (char *slash = path + strlen(folder->path) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            fail_msg("cannot make %s: %s", path, strerror(errno));
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file) != 0)
        fail_msg("cannot write %s: %s", path, strerror(errno));
}
