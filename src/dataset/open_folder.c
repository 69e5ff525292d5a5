// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/log.h"
#include "dataset/dataset.h"
#include "dataset/folder_scan.h"
#include "dataset/index_file.h"
#include "dataset/parallel.h"

#include <errno.h>
#include <limits.h>
#include <millrace/system.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Grows when a scan would give another index for the same folder. */
enum { SCAN_VERSION = 2 };

typedef struct folder_job {
    mr_dataset *d;
    atomic_uint_least64_t seen;
    atomic_bool stop;
    uint64_t made_of;
} folder_job;

static unsigned threads_of(const mr_dataset *d)
{
    return d->options.threads != 0 ? d->options.threads : mr_threads_default();
}

/* The list's size and time are in the index; which list it is of is told here. */
static uint64_t how_scanned(const mr_dataset *d)
{
    char absolute[PATH_MAX];
    const char *list = d->options.list;
    uint64_t how[4] = {SCAN_VERSION, MR_LAYOUT_FOLDER, d->options.broken, 0};
    if (list != NULL && realpath(list, absolute) != NULL)
        list = absolute;
    if (list != NULL)
        how[3] = mr__hash(list, strlen(list)) | 1;
    return mr__hash(how, sizeof how);
}

static bool find_index(const folder_job *j)
{
    mr_dataset *d = j->d;
    mr__shard *shard = &d->shards[0];
    mr__index index;
    mr__detail detail;
    if (shard->index_path == NULL || d->options.rebuild || access(shard->index_path, F_OK) != 0)
        return false;
    if (mr__index_open(&index, shard->index_path, &detail) != 0) {
        mr__log(&d->hooks, MR_LOG_INFO, "%s: made anew", detail.text);
        return false;
    }
    if (index.head.layout != MR_LAYOUT_FOLDER || index.head.made_of != j->made_of ||
        !mr__folder_is_current(&index, d->root, threads_of(d))) {
        mr__index_close(&index);
        return false;
    }
    mr__shard_take(shard, &index);
    return true;
}

static int scan(void *arg, size_t number, size_t worker)
{
    folder_job *j = arg;
    mr_dataset *d = j->d;
    const uint8_t *bytes;
    size_t nbytes;
    mr__index_build build;
    mr__index_head head = {.layout = MR_LAYOUT_FOLDER, .made_of = j->made_of};
    const mr__folder_scan_options options = {.hooks = &d->hooks,
                                             .root = d->root,
                                             .list = d->options.list,
                                             .threads = threads_of(d),
                                             .broken = d->options.broken,
                                             .seen = &j->seen,
                                             .stop = &j->stop};
    (void)number;
    (void)worker;
    mr__index_build_init(&build, &d->hooks);
    int result = mr__folder_scan(&options, &build, &d->detail);
    if (result == 0) {
        head.data_nbytes = build.record_nbytes;
        result = mr__index_build_finish(&build, &head, &bytes, &nbytes);
        if (result == 0)
            result = mr__shard_keep(d, &d->shards[0], bytes, nbytes, &d->detail);
        else
            mr__fail(&d->detail, result, "%s: its index cannot be made: %s", mr__name_end(d->root),
                     mr_error_text(result));
    }
    mr__index_build_fini(&build);
    return result;
}

static bool tell(void *arg)
{
    folder_job *j = arg;
    const mr_dataset_options *options = &j->d->options;
    const mr_progress progress = {.verb = "scanning", .unit = "files", .done = atomic_load(&j->seen)};
    return options->progress(options->progress_user, &progress);
}

/* Its size and time stay: who reads members from it sees whether it is still the same. */
static void close_list(mr__file *list)
{
    mr__file file = *list;
    mr__file_close(&file);
    list->fd = -1;
}

static int begin(folder_job *j, const char *folder)
{
    mr_dataset *d = j->d;
    int error;
    j->made_of = how_scanned(d);
    if (d->options.list != NULL && mr__file_open(&d->list, d->options.list) == 0)
        close_list(&d->list);
    int result = mr__dataset_reserve(d, 1, 1);
    if (result != 0)
        return result;
    d->root = mr__text_copy(&d->hooks, folder);
    if (d->root == NULL)
        return mr__fail(&d->detail, MR_ENOMEM, "%s: out of memory", mr__name_end(folder));
    d->shards[0].index_path = mr__cache_path(d, folder, true, &error);
    if (error != 0)
        return mr__fail(&d->detail, error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s: %s", mr__name_end(folder),
                        mr__errno_text(error).text);
    return 0;
}

static void take(mr_dataset *d)
{
    d->layout = MR_LAYOUT_FOLDER;
    mr__dataset_sum_up(d);
}

int mr__dataset_find_folder(mr_dataset *d, const char *folder, bool *found)
{
    folder_job j = {.d = d};
    int result = begin(&j, folder);
    if (result == 0 && find_index(&j)) {
        *found = true;
        take(d);
    } else
        mr__dataset_unreserve(d);
    return result;
}

int mr__dataset_scan_folder(mr_dataset *d, const char *folder)
{
    folder_job j = {.d = d};
    int result = begin(&j, folder);
    if (result == 0) {
        const mr__parallel once = {.hooks = &d->hooks,
                                   .threads = 1,
                                   .count = 1,
                                   .work = scan,
                                   .arg = &j,
                                   .tick = d->options.progress != NULL ? tell : NULL,
                                   .stop = &j.stop};
        result = mr__parallel_run(&once);
        d->indexed_now = result == 0;
    }
    if (result == 0)
        take(d);
    return result;
}
