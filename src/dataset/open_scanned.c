// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/log.h"
#include "dataset/dataset.h"
#include "dataset/parallel.h"
#include "source/disk.h"

#include <errno.h>
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

/* What a file is known by; 0 when it is not there. */
static uint64_t identity(const char *path)
{
    mr__file file;
    if (mr__file_open(&file, path) != 0)
        return 0;
    uint64_t of[3] = {mr__hash(path, strlen(path)), file.nbytes, (uint64_t)file.mtime_ns};
    mr__file_close(&file);
    return mr__hash(of, sizeof of);
}

static uint64_t how_scanned(const mr_dataset *d, mr_layout layout)
{
    uint64_t how[4] = {SCAN_VERSION, layout, d->options.broken, 0};
    how[3] = d->options.list != NULL ? identity(d->options.list) : 0;
    return mr__hash(how, sizeof how);
}

/* The path of a file beside another: of a name, or where that begins with a dot of the same name with this ending. */
static bool name_beside(char out[MR__PATH_MAX], const char *path, const char *name, size_t name_nbytes)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t keep = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (name[0] == '.')
        keep = dot != NULL && dot > path + keep ? (size_t)(dot - path) : strlen(path);
    if (keep + name_nbytes >= MR__PATH_MAX)
        return false;
    memcpy(out, path, keep);
    memcpy(out + keep, name, name_nbytes);
    out[keep + name_nbytes] = '\0';
    return true;
}

/* With what stands beside this file and its index depends on. */
static uint64_t made_of(const open_job *o, const char *path)
{
    uint64_t all = o->made_of;
    char beside[MR__PATH_MAX];
    for (const char *name = o->scanner->beside; name != NULL && *name != '\0';) {
        size_t nbytes = strcspn(name, " ");
        uint64_t both[2] = {all, name_beside(beside, path, name, nbytes) ? identity(beside) : 0};
        all = mr__hash(both, sizeof both);
        name += nbytes + strspn(name + nbytes, " ");
    }
    return all;
}

static bool is_current(const open_job *o, const char *path, const mr__index *index, const mr__file *file)
{
    const mr__index_head *head = &index->head;
    return head->layout == o->scanner->layout && head->data_nbytes == file->nbytes &&
           head->data_mtime_ns == file->mtime_ns && head->made_of == made_of(o, path);
}

/* Whether there was an index that can be used. What is wrong with one that cannot is not the user's trouble: it is made
 * anew. */
static bool find_index(const open_job *o, mr__shard *shard, const mr__file *file)
{
    mr__index index;
    mr__detail detail;
    if (shard->index_path == NULL || o->d->options.rebuild || access(shard->index_path, F_OK) != 0)
        return false;
    if (mr__index_open(&index, shard->index_path, &detail) != 0) {
        mr__log(&o->d->hooks, MR_LOG_INFO, "%s: made anew", detail.text);
        return false;
    }
    if (!is_current(o, shard->path, &index, file)) {
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
                                 .made_of = made_of(o, job->shard->path)};
    int result = mr__index_build_finish(build, &head, &bytes, &nbytes);
    if (result != 0)
        return mr__fail(&job->detail, result, "%s: its index cannot be made: %s", job->shard->path,
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
        mr__fail(&job->detail, result, "%s: %s", job->shard->path, mr_error_text(result));
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
        return job->result = mr__fail(&job->detail, MR_EIO, "%s: %s", job->shard->path, mr__errno_text(error).text);
    if (find_index(o, job->shard, &file))
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
            return mr__fail(&d->detail, MR_EIO, "%s: %s", paths[i], mr__errno_text(error).text);
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
