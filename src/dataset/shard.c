// SPDX-License-Identifier: Apache-2.0
#include "dataset/dataset.h"
#include "dataset/index_file.h"

#include "base/log.h"
#include "source/disk.h"
#include <errno.h>
#include <string.h>

/* An index that is whole but not of this shard would give every sample another one's bytes. */
static int compare(const mr__shard *shard, mr__detail *detail)
{
    const mr__index_head *is = &shard->index.head, *expected = &shard->expected;
    const char *what = is->layout != expected->layout             ? "is not one of a packed dataset"
                       : is->samples != expected->samples         ? "has another number of samples"
                       : is->shard != expected->shard             ? "is of another shard"
                       : is->data_nbytes != expected->data_nbytes ? "is of a shard of another length"
                       : is->data_hash != expected->data_hash     ? "is of a shard with another hash"
                       : is->made_of != expected->made_of         ? "was packed by another plan"
                                                                  : NULL;
    if (what == NULL)
        return 0;
    return mr__fail(detail, MR_ECORRUPT, "%s %s than dataset.json says", shard->index_path, what);
}

static int load(mr__shard *shard, mr__detail *detail)
{
    int result = mr__index_open(&shard->index, shard->index_path, detail);
    if (result != 0)
        return result;
    result = compare(shard, detail);
    if (result != 0)
        mr__index_close(&shard->index);
    return result;
}

int mr__shard_load(mr_dataset *d, mr__shard *shard, mr__detail *detail)
{
    mr__detail own;
    int result = 0;
    if (atomic_load_explicit(&shard->loaded, memory_order_acquire))
        return 0;
    int failed = detail == NULL ? atomic_load_explicit(&shard->failed, memory_order_relaxed) : 0;
    if (failed != 0) /* who wants to know why has it tried again */
        return failed;
    mr__mutex_lock(&d->lock);
    if (!atomic_load_explicit(&shard->loaded, memory_order_relaxed)) {
        result = load(shard, detail != NULL ? detail : &own);
        atomic_store_explicit(&shard->loaded, result == 0, memory_order_release);
        atomic_store_explicit(&shard->failed, result == MR_ENOMEM ? 0 : result, memory_order_relaxed);
    }
    mr__mutex_unlock(&d->lock);
    if (result != 0 && detail == NULL)
        mr__log(&d->hooks, MR_LOG_ERROR, "%s", own.text);
    return result;
}

void mr__shard_take(mr__shard *shard, const mr__index *index)
{
    shard->index = *index;
    shard->expected = index->head;
    atomic_store_explicit(&shard->loaded, true, memory_order_release);
}

/* Into memory of the shard: where there is no place to keep it, or it cannot be written. */
static int keep_in_memory(mr_dataset *d, mr__shard *shard, const uint8_t *bytes, size_t nbytes, mr__detail *detail)
{
    mr__index index;
    const char *name = shard->path != NULL ? shard->path : d->root;
    shard->memory = mr__alloc(&d->hooks, nbytes);
    if (shard->memory == NULL)
        return mr__fail(detail, MR_ENOMEM, "%s: out of memory for its index of %zu bytes", name, nbytes);
    memcpy(shard->memory, bytes, nbytes);
    int result = mr__index_init(&index, shard->memory, nbytes, name, detail);
    if (result == 0)
        mr__shard_take(shard, &index);
    return result;
}

static int publish(mr_dataset *d, const char *path, const uint8_t *bytes, size_t nbytes)
{
    char folder[MR__PATH_MAX];
    const char *slash = strrchr(path, '/');
    int error = 0;
    if (slash != NULL && slash != path && (size_t)(slash - path) < sizeof folder) {
        memcpy(folder, path, (size_t)(slash - path));
        folder[slash - path] = '\0';
        error = mr__disk_real.make_folder(&mr__disk_real, folder);
    }
    return error != 0 ? error : mr__disk_publish(&mr__disk_real, &d->hooks, path, bytes, nbytes);
}

/* Once for all shards: where one cannot be written, the others cannot either. */
static void tell_unwritten(mr_dataset *d, const mr__shard *shard, int error, const mr__detail *detail)
{
    if (error == EBUSY)
        mr__log(&d->hooks, MR_LOG_INFO, "%s is being written by another: kept in memory", shard->index_path);
    else if (!atomic_exchange(&d->warned, true))
        mr__log(&d->hooks, MR_LOG_WARNING, "%s cannot be written (%s): the index is made anew each time",
                shard->index_path, error != 0 ? mr__errno_text(error).text : detail->text);
}

int mr__shard_keep(mr_dataset *d, mr__shard *shard, const uint8_t *bytes, size_t nbytes, mr__detail *detail)
{
    mr__index index;
    int error = shard->index_path != NULL ? publish(d, shard->index_path, bytes, nbytes) : ENOENT;
    if (error == 0 && mr__index_open(&index, shard->index_path, detail) == 0) {
        /* Another who was slower, and scans in another way, may have put his in its place. */
        if (index.nbytes == nbytes && memcmp(index.bytes, bytes, MR__INDEX_HEAD_NBYTES) == 0) {
            mr__shard_take(shard, &index);
            return 0;
        }
        mr__index_close(&index);
    } else if (shard->index_path != NULL)
        tell_unwritten(d, shard, error, detail);
    return keep_in_memory(d, shard, bytes, nbytes, detail);
}

void mr__shard_fini(mr__shard *shard, const mr_hooks *hooks)
{
    mr__file file = {.fd = atomic_load(&shard->fd)};
    mr__file_close(&file);
    mr__index_close(&shard->index);
    mr__free(hooks, shard->memory);
    mr__free(hooks, shard->path);
    mr__free(hooks, shard->index_path);
}

static int refuse_changed(const mr__shard *shard, const mr__file *file, mr__detail *detail)
{
    const mr__index_head *head = &shard->expected;
    if (file->nbytes != head->data_nbytes)
        return mr__fail(detail, file->nbytes < head->data_nbytes ? MR_ETRUNCATED : MR_ECORRUPT,
                        "%s: %llu bytes, but its index is of %llu: it was changed, or not copied whole",
                        mr__name_end(shard->path), (unsigned long long)file->nbytes,
                        (unsigned long long)head->data_nbytes);
    if (head->layout != MR_LAYOUT_PACKED && file->mtime_ns != head->data_mtime_ns)
        return mr__fail(detail, MR_ECORRUPT, "%s was changed while it was in use: open the dataset again",
                        mr__name_end(shard->path));
    return 0;
}

int mr__shard_file(mr_dataset *d, mr__shard *shard, mr__file *file, mr__detail *detail)
{
    int kept = atomic_load_explicit(&shard->fd, memory_order_acquire);
    *file = (mr__file){kept, shard->expected.data_nbytes, shard->expected.data_mtime_ns};
    if (kept >= 0)
        return 0;
    int error = mr__file_open(file, shard->path);
    if (error != 0)
        return mr__fail(detail, MR_EIO, "%s: %s", mr__name_end(shard->path), mr__errno_text(error).text);
    int result = refuse_changed(shard, file, detail);
    if (result != 0) {
        mr__file_close(file);
        return result;
    }
    if (file->fd >= d->fd_end) /* used once, and closed by release */
        return 0;
    int expected = -1;
    if (!atomic_compare_exchange_strong(&shard->fd, &expected, file->fd)) {
        mr__file_close(file); /* another thread was first */
        *file = (mr__file){expected, shard->expected.data_nbytes, shard->expected.data_mtime_ns};
    }
    return 0;
}

void mr__shard_release(mr__shard *shard, mr__file *file)
{
    if (file->fd != atomic_load_explicit(&shard->fd, memory_order_relaxed))
        mr__file_close(file);
}
