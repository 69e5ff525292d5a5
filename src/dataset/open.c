// SPDX-License-Identifier: Apache-2.0
/* Which layout the paths are: asked for, seen by what a folder has in it, or by the first bytes of a file. */
#include "dataset/braces.h"
#include "dataset/index_file.h"
#include "dataset/manifest.h"
#include "dataset/records.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const mr__scanner *const scanners[] = {&mr__scanner_tar, &mr__scanner_tfrecord, &mr__scanner_recordio,
                                              &mr__scanner_cifar, &mr__scanner_list};

enum { SCANNER_COUNT = sizeof scanners / sizeof *scanners, PROBE_NBYTES = 4096 };

static int no_memory(mr_dataset *d)
{
    return mr__fail(&d->detail, MR_ENOMEM, "out of memory");
}

static const mr__scanner *scanner_of(mr_layout layout)
{
    for (size_t i = 0; i < SCANNER_COUNT; i++)
        if (scanners[i]->layout == layout)
            return scanners[i];
    return NULL;
}

static bool is_digits(const char *text, size_t nbytes)
{
    return nbytes != 0 && strspn(text, "0123456789") >= nbytes;
}

/* "train-00012-of-01024", as TensorFlow's tools name shards. */
static bool is_numbered(const char *name)
{
    const char *of = strstr(name, "-of-"), *number = of;
    while (number != NULL && number > name && is_digits(number - 1, 1))
        number--;
    return of != NULL && is_digits(number, (size_t)(of - number)) && is_digits(of + 4, strlen(of + 4));
}

/* The layout that files of such a name have in a folder. What is for testing has to be named, as everything else. */
static mr_layout layout_by_name(const char *name)
{
    if (name[0] == '.')
        return MR_LAYOUT_AUTO;
    if (mr__text_ends_with(name, ".tar"))
        return MR_LAYOUT_TAR;
    if (mr__text_ends_with(name, ".tfrecord") || mr__text_ends_with(name, ".tfrecords") || is_numbered(name))
        return MR_LAYOUT_TFRECORD;
    if (mr__text_ends_with(name, ".rec"))
        return MR_LAYOUT_RECORDIO;
    if (strcmp(name, "train.bin") == 0 || (strncmp(name, "data_batch_", 11) == 0 && mr__text_ends_with(name, ".bin")))
        return MR_LAYOUT_CIFAR;
    return MR_LAYOUT_AUTO;
}

/* Which layout the folder's own files have: the first in the order of mr_layout; MR_LAYOUT_AUTO when they have none. */
static mr_layout layout_of_files(DIR *folder)
{
    mr_layout layout = MR_LAYOUT_AUTO;
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        mr_layout is = layout_by_name(entry->d_name);
        if (is != MR_LAYOUT_AUTO && (layout == MR_LAYOUT_AUTO || is < layout))
            layout = is;
    }
    rewinddir(folder);
    return layout;
}

/* Their names, in order. */
static int list_files(mr_dataset *d, DIR *folder, const char *path, mr_layout layout, mr__names *out)
{
    struct dirent *entry;
    int result = 0;
    while (result == 0 && (entry = readdir(folder)) != NULL)
        if (layout_by_name(entry->d_name) == layout) {
            char *name = mr__text_format(&d->hooks, "%s/%s", path, entry->d_name);
            result = name != NULL ? mr__names_add(out, &d->hooks, name, &d->detail) : no_memory(d);
            mr__free(&d->hooks, name);
        }
    return result == 0 && mr__names_sort(out, &d->hooks) != 0 ? no_memory(d) : result;
}

/* What the folder's own files are, and unless that is MR_LAYOUT_AUTO their names. */
static int look_into(mr_dataset *d, const char *path, mr_layout wanted, mr__names *out, mr_layout *layout)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return mr__fail(&d->detail, MR_EIO, "%s: %s", mr__name_end(path), mr__errno_text(errno).text);
    *layout = wanted != MR_LAYOUT_AUTO ? wanted : layout_of_files(folder);
    int result = *layout != MR_LAYOUT_AUTO ? list_files(d, folder, path, *layout, out) : 0;
    closedir(folder);
    return result;
}

static bool has(const char *folder, const char *name)
{
    char path[MR__PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && access(path, F_OK) == 0;
}

static int open_names(mr_dataset *d, const mr__scanner *scanner, const mr__names *names)
{
    char **paths = mr__alloc_array(&d->hooks, names->count, sizeof *paths);
    if (paths == NULL)
        return no_memory(d);
    size_t i = 0;
    for (const char *name = mr__names_next(names, NULL); name != NULL; name = mr__names_next(names, name))
        paths[i++] = (char *)name;
    d->layout = scanner->layout;
    int result = mr__dataset_open_scanned(d, scanner, paths, names->count);
    mr__free(&d->hooks, paths);
    return result;
}

static int open_shards_in(mr_dataset *d, const char *folder, mr_layout wanted)
{
    mr__names names = {0};
    mr_layout layout = wanted;
    int result = look_into(d, folder, wanted, &names, &layout);
    if (result == 0 && names.count != 0)
        result = open_names(d, scanner_of(layout), &names);
    else if (result == 0 && wanted == MR_LAYOUT_AUTO)
        result = mr__dataset_scan_folder(d, folder);
    else if (result == 0)
        result = mr__fail(&d->detail, MR_EARGUMENT, "%s: there is no %s file in it", mr__name_end(folder),
                          mr_layout_name(wanted));
    mr__names_fini(&names, &d->hooks);
    return result;
}

static int open_in_folder(mr_dataset *d, const char *folder)
{
    mr_layout wanted = d->options.layout;
    bool packed = has(folder, MR__MANIFEST_NAME);
    if ((wanted == MR_LAYOUT_AUTO || wanted == MR_LAYOUT_PACKED) && !packed && has(folder, MR__PLAN_NAME))
        return mr__fail(&d->detail, MR_EFORMAT,
                        "%s: packing it was not finished, or it is a part: go on with the same millrace pack, or join "
                        "the parts with millrace merge",
                        mr__name_end(folder));
    if (wanted == MR_LAYOUT_PACKED || (wanted == MR_LAYOUT_AUTO && packed)) {
        d->layout = MR_LAYOUT_PACKED;
        return mr__dataset_open_packed(d, folder);
    }
    if (wanted == MR_LAYOUT_LIST)
        return mr__fail(&d->detail, MR_EARGUMENT, "%s is a folder: a list of offsets is over one file",
                        mr__name_end(folder));
    bool found = false, images = wanted == MR_LAYOUT_FOLDER || (wanted == MR_LAYOUT_AUTO && d->options.list != NULL);
    int result = images || wanted == MR_LAYOUT_AUTO ? mr__dataset_find_folder(d, folder, &found) : 0;
    if (result != 0 || found)
        return result;
    return images ? mr__dataset_scan_folder(d, folder) : open_shards_in(d, folder, wanted);
}

/* What a file is, by its first bytes. */
static int probe(mr_dataset *d, const char *path, const mr__scanner **scanner)
{
    uint8_t bytes[PROBE_NBYTES];
    mr__file file;
    size_t got = 0;
    int error = mr__file_open(&file, path);
    if (error == 0) {
        error = mr__file_read(&file, 0, bytes, sizeof bytes, &got);
        for (size_t i = 0; error == 0 && *scanner == NULL && i < SCANNER_COUNT; i++)
            if (scanners[i]->probe != NULL && scanners[i]->probe(path, bytes, got, file.nbytes))
                *scanner = scanners[i];
        mr__file_close(&file);
    }
    if (error != 0)
        return mr__fail(&d->detail, MR_EIO, "%s: %s", mr__name_end(path), mr__errno_text(error).text);
    if (*scanner == NULL)
        return mr__fail(&d->detail, MR_EFORMAT,
                        "%s: not a dataset that Millrace knows: a folder, or files that are tar, TFRecord, RecordIO or "
                        "CIFAR; for others give a list of offsets (layout list)",
                        mr__name_end(path));
    return 0;
}

static int open_files(mr_dataset *d, const mr__names *names)
{
    const mr__scanner *scanner = scanner_of(d->options.layout);
    const char *first = mr__names_next(names, NULL);
    if (d->options.layout == MR_LAYOUT_PACKED || d->options.layout == MR_LAYOUT_FOLDER)
        return mr__fail(&d->detail, MR_EARGUMENT, "%s is no folder, as the layout %s needs it", mr__name_end(first),
                        mr_layout_name(d->options.layout));
    if (scanner == NULL && d->options.list != NULL && names->count == 1)
        scanner = &mr__scanner_list;
    int result = scanner == NULL ? probe(d, first, &scanner) : 0;
    if (result != 0)
        return result;
    if (scanner->layout == MR_LAYOUT_LIST && (d->options.list == NULL || names->count != 1))
        return mr__fail(&d->detail, MR_EARGUMENT, "the layout list needs one file, and the list of what is in it");
    return open_names(d, scanner, names);
}

/* Names with braces; one of a file that is there with its braces stays what it is. */
static int expand(mr_dataset *d, const char *path, mr__names *names)
{
    if (access(path, F_OK) == 0)
        return mr__names_add(names, &d->hooks, path, &d->detail);
    return mr__names_expand(names, &d->hooks, path, &d->detail);
}

static int open_paths(mr_dataset *d, const char *const *paths, size_t count)
{
    mr__names names = {0};
    struct stat status;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = paths[i] != NULL ? expand(d, paths[i], &names) : MR_EARGUMENT;
    const char *first = mr__names_next(&names, NULL);
    if (result == 0 && stat(first, &status) != 0)
        result = mr__fail(&d->detail, MR_EIO, "%s: %s", mr__name_end(first), mr__errno_text(errno).text);
    if (result == 0 && S_ISDIR(status.st_mode))
        result = names.count == 1 ? open_in_folder(d, first)
                                  : mr__fail(&d->detail, MR_EARGUMENT, "%s is a folder: one at a time can be opened",
                                             mr__name_end(first));
    else if (result == 0)
        result = open_files(d, &names);
    mr__names_fini(&names, &d->hooks);
    return result;
}

int mr_dataset_open(mr_dataset *d, const char *const *paths, size_t count)
{
    if (d == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&d->detail);
    if (paths == NULL || count == 0)
        return mr__fail(&d->detail, MR_EARGUMENT, "no path was given");
    if (d->opened)
        return mr__fail(&d->detail, MR_EARGUMENT, "a dataset is opened once");
    int result = open_paths(d, paths, count);
    d->opened = result == 0;
    if (result == 0) {
        mr__detail_clear(&d->detail);
        return 0;
    }
    mr__dataset_unreserve(d);
    if (d->detail.text[0] == '\0')
        mr__fail(&d->detail, result, "%s", mr_error_text(result));
    return result;
}
