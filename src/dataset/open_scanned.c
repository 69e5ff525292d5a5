// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/log.h"
#include "dataset/dataset.h"
#include "dataset/index_file.h"
#include "dataset/parallel.h"
#include "source/disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Grows when a scanner would give another index for the same file: what is kept from before is then made anew. */
enum { SCAN_VERSION = 1 };

/* One file of several. */
typedef struct file_job {
    mr__shard *shard;
    mr__detail detail;
    int result;
    bool made; /* its index was not there */
    uint64_t made_of;
} file_job;

typedef struct open_job {
    mr_dataset *d;
    const mr__scanner *scanner;
    file_job *files;
    size_t count;
    atomic_uint_least64_t seen_nbytes;
    uint64_t made_of;
    atomic_bool stop;
} open_job;

static uint64_t how_scanned(const mr_dataset *d, mr_layout layout)
{
    uint64_t how[4] = {SCAN_VERSION, layout, d->options.broken, 0};
    mr__file list;
    if (d->options.list != NULL && mr__file_open(&list, d->options.list) == 0) {
        uint64_t of[3] = {mr__hash(d->options.list, strlen(d->options.list)), list.nbytes, (uint64_t)list.mtime_ns};
        how[3] = mr__hash(of, sizeof of);
        mr__file_close(&list);
    }
    return mr__hash(how, sizeof how);
}

/* The part of the path that a file beside it shares. */
static size_t shared_nbytes(const char *path, const char *beside)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    if (beside[0] != '.')
        return (size_t)(name - path);
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot, ".rec") == 0 ? (size_t)(dot - path) : strlen(path);
}

/* The same with what other files the scanner reads are. */
static uint64_t how_made(const open_job *o, const char *path)
{
    enum { FILES = sizeof o->scanner->beside / sizeof *o->scanner->beside };
    uint64_t how[1 + 2 * FILES] = {o->made_of};
    for (size_t i = 0; i < FILES && o->scanner->beside[i] != NULL; i++) {
        char name[MR__PATH_MAX];
        mr__file file;
        int shared = (int)shared_nbytes(path, o->scanner->beside[i]);
        if (snprintf(name, sizeof name, "%.*s%s", shared, path, o->scanner->beside[i]) >= (int)sizeof name ||
            mr__file_open(&file, name) != 0)
            continue;
        how[1 + 2 * i] = file.nbytes + 1;
        how[2 + 2 * i] = (uint64_t)file.mtime_ns;
        mr__file_close(&file);
    }
    return o->scanner->beside[0] != NULL ? mr__hash(how, sizeof how) : o->made_of;
}

static bool is_current(const open_job *o, const file_job *job, const mr__index *index, const mr__file *file)
{
    const mr__index_head *head = &index->head;
    return head->layout == o->scanner->layout && head->data_nbytes == file->nbytes &&
           head->data_mtime_ns == file->mtime_ns && head->made_of == job->made_of;
}

/* Whether there was an index that can be used. What is wrong with one that cannot is not the user's trouble: it is made
 * anew. */
static bool find_index(const open_job *o, const file_job *job, const mr__file *file)
{
    mr__shard *shard = job->shard;
    mr__index index;
    mr__detail detail;
    if (shard->index_path == NULL || o->d->options.rebuild || access(shard->index_path, F_OK) != 0)
        return false;
    if (mr__index_open(&index, shard->index_path, &detail) != 0) {
        mr__log(&o->d->hooks, MR_LOG_INFO, "%s: made anew", detail.text);
        return false;
    }
    if (!is_current(o, job, &index, file)) {
        mr__index_close(&index);
        return false;
    }
    mr__shard_take(shard, &index);
    return true;
}

static int finish(open_job *o, file_job *job, const mr__file *file, mr__index_build *build)
{
    const uint8_t *bytes;
    size_t nbytes;
    const mr__index_head head = {.layout = o->scanner->layout,
                                 .data_nbytes = file->nbytes,
                                 .data_mtime_ns = file->mtime_ns,
                                 .made_of = job->made_of};
    int result = mr__index_build_finish(build, &head, &bytes, &nbytes);
    if (result != 0)
        return mr__fail(&job->detail, result, "%s: its index cannot be made: %s", mr__name_end(job->shard->path),
                        mr_error_text(result));
    return mr__shard_keep(o->d, job->shard, bytes, nbytes, &job->detail);
}

static int make_index(open_job *o, file_job *job, const mr__file *file)
{
    mr__index_build build;
    mr__index_build_init(&build, &o->d->hooks);
    mr__scan scan = {.hooks = &o->d->hooks,
                     .detail = &job->detail,
                     .path = job->shard->path,
                     .file = file,
                     .broken = o->d->options.broken,
                     .list = o->d->options.list,
                     .to = &build,
                     .seen_nbytes = &o->seen_nbytes,
                     .stop = &o->stop};
    int result = o->scanner->scan(&scan);
    if (result == 0)
        result = finish(o, job, file, &build);
    else if (job->detail.text[0] == '\0')
        mr__fail(&job->detail, result, "%s: %s", mr__name_end(job->shard->path), mr_error_text(result));
    mr__index_build_fini(&build);
    job->made = result == 0;
    return result;
}

static int open_file(void *arg, size_t number, size_t worker)
{
    open_job *o = arg;
    file_job *job = &o->files[number];
    mr__file file;
    (void)worker;
    int error = mr__file_open(&file, job->shard->path);
    if (error != 0)
        return job->result =
                   mr__fail(&job->detail, MR_EIO, "%s: %s", mr__name_end(job->shard->path), mr__errno_text(error).text);
    job->made_of = how_made(o, job->shard->path);
    if (find_index(o, job, &file))
        atomic_fetch_add(&o->seen_nbytes, file.nbytes);
    else
        job->result = make_index(o, job, &file);
    mr__file_close(&file);
    return job->result;
}

static bool tell(void *arg)
{
    open_job *o = arg;
    const mr_dataset_options *options = &o->d->options;
    const mr_progress progress = {.verb = "indexing",
                                  .unit = "bytes",
                                  .done = atomic_load(&o->seen_nbytes),
                                  .in_nbytes = atomic_load(&o->seen_nbytes)};
    return options->progress == NULL || options->progress(options->progress_user, &progress);
}

static int name_shards(open_job *o, char *const *paths)
{
    mr_dataset *d = o->d;
    for (size_t i = 0; i < o->count; i++) {
        int error;
        mr__shard *shard = &d->shards[i];
        o->files[i].shard = shard;
        shard->path = mr__text_copy(&d->hooks, paths[i]);
        shard->index_path = mr__cache_path(d, paths[i], false, &error);
        if (shard->path == NULL || error == ENOMEM)
            return mr__fail(&d->detail, MR_ENOMEM, "out of memory");
        if (error != 0)
            return mr__fail(&d->detail, MR_EIO, "%s: %s", mr__name_end(paths[i]), mr__errno_text(error).text);
    }
    return 0;
}

static int run_jobs(open_job *o)
{
    mr_dataset *d = o->d;
    const mr__parallel loop = {.hooks = &d->hooks,
                               .threads = d->options.threads,
                               .count = o->count,
                               .work = open_file,
                               .arg = o,
                               .tick = d->options.progress != NULL ? tell : NULL,
                               .stop = &o->stop};
    int result = mr__parallel_run(&loop);
    for (size_t i = 0; i < o->count && result != 0; i++)
        if (o->files[i].result == result) {
            d->detail = o->files[i].detail;
            return result;
        }
    if (result != 0)
        mr__fail(&d->detail, result, "%s", mr_error_text(result));
    return result;
}

void mr__dataset_sum_up(mr_dataset *d)
{
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    d->samples = d->problems = d->nbytes = 0;
    for (size_t n = 0; n < d->shard_count; n++) {
        const mr__index *index = &d->shards[n].index;
        d->first[n] = d->samples;
        d->samples += index->head.samples;
        d->problems += mr__index_problem_count(index);
        d->nbytes += index->head.data_nbytes;
        mr__hasher_add(&hasher, &index->head.fingerprint, sizeof index->head.fingerprint);
    }
    d->first[d->shard_count] = d->samples;
    d->fingerprint = mr__hasher_value(&hasher);
    d->class_count = mr__index_class_count(&d->shards[0].index);
    d->forms[0] = (mr__dataset_form){.name = "stored", .samples = d->samples, .nbytes = d->nbytes};
}

int mr__dataset_open_scanned(mr_dataset *d, const mr__scanner *scanner, char *const *paths, size_t count)
{
    open_job o = {.d = d, .scanner = scanner, .count = count, .made_of = how_scanned(d, scanner->layout)};
    int result = mr__dataset_reserve(d, count, 1);
    if (result != 0)
        return result;
    o.files = mr__alloc_array(&d->hooks, count, sizeof *o.files);
    if (o.files == NULL)
        return mr__fail(&d->detail, MR_ENOMEM, "out of memory for %zu shards", count);
    result = name_shards(&o, paths);
    if (result == 0)
        result = run_jobs(&o);
    for (size_t i = 0; i < count; i++)
        d->indexed_now |= o.files[i].made;
    mr__free(&d->hooks, o.files);
    if (result != 0)
        return result;
    mr__dataset_sum_up(d);
    if (d->samples > MR__INDEX_SAMPLE_MAX)
        return mr__fail(&d->detail, MR_ELIMIT, "%llu samples: more than 2^32 - 1, the most a dataset can have",
                        (unsigned long long)d->samples);
    return 0;
}
