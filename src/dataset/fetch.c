// SPDX-License-Identifier: Apache-2.0
#include "dataset/fetch.h"
#include "dataset/index_file.h"

#include "dataset/cifar.h"
#include "dataset/place.h"
#include "dataset/recordio_join.h"
#include "kernel/hash.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

void mr__fetch_fini(mr__fetch *f, const mr_hooks *hooks)
{
    mr__buffer_fini(&f->name, hooks);
    mr__buffer_fini(&f->wrapped, hooks);
}

static int aim(mr_dataset *d, mr__fetch *f, uint64_t ordinal, uint32_t form, mr__detail *detail)
{
    size_t n, key_nbytes;
    if (form >= d->form_count || !mr__dataset_place(d, ordinal, &n, &f->position))
        return mr__fail(detail, MR_EARGUMENT, "no form %u of sample %llu: there are %u forms of %llu samples", form,
                        (unsigned long long)ordinal, d->form_count, (unsigned long long)d->samples);
    f->shard = &d->shards[form * d->shard_count + n];
    f->ordinal = ordinal;
    f->path = NULL;
    f->file = MR__FILE_NONE;
    f->shard_path = f->shard->path;
    int result = mr__shard_load(d, f->shard, detail);
    if (result == 0 && !mr__index_key(&f->shard->index, f->position, &f->key, &key_nbytes))
        result = mr__fail(detail, MR_ECORRUPT, "sample %llu: its index is damaged: %s", (unsigned long long)ordinal,
                          f->shard->index_path != NULL ? f->shard->index_path : "made in memory");
    return result;
}

static int check_length(const mr__fetch *f, mr__detail *detail)
{
    uint64_t end = f->shard->expected.data_nbytes;
    if (f->nbytes > MR__FETCH_NBYTES_MAX)
        return mr__fail(detail, MR_ELIMIT, "%s: %llu bytes, more than 1 GiB, the most a record can have", f->key,
                        (unsigned long long)f->nbytes);
    if (f->shard->path != NULL && (f->offset > end || f->nbytes > end - f->offset))
        return mr__fail(detail, MR_ECORRUPT, "%s: its index says that it ends behind the end of %s", f->key,
                        mr__name_end(f->shard->path));
    return 0;
}

/* An index is never trusted: it may not lead out of the folder it is of. */
static bool leads_out(const char *key)
{
    for (const char *part = key; part != NULL; part = strchr(part, '/')) {
        part += *part == '/' && part != key;
        if (*part == '/' || (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')))
            return true;
    }
    return false;
}

static int name_file(mr_dataset *d, mr__fetch *f, mr__detail *detail)
{
    if (leads_out(f->key))
        return mr__fail(detail, MR_ECORRUPT, "%s: its index names a file outside of %s", f->key, d->root);
    size_t nbytes = strlen(d->root) + strlen(f->key) + 2;
    if (mr__buffer_reserve(&f->name, &d->hooks, nbytes) != 0)
        return mr__fail(detail, MR_ENOMEM, "%s: out of memory", f->key);
    snprintf((char *)f->name.bytes, nbytes, "%s/%s", d->root, f->key);
    f->path = (const char *)f->name.bytes;
    f->offset = 0;
    return 0;
}

int mr__fetch_begin(mr_dataset *d, mr__fetch *f, uint64_t ordinal, uint32_t form, mr__detail *detail)
{
    int result = aim(d, f, ordinal, form, detail);
    if (result != 0)
        return result;
    if (!mr__index_record(&f->shard->index, f->position, &f->record))
        return mr__fail(detail, MR_ECORRUPT, "%s: its record in the index is damaged", f->key);
    if (f->record.state != MR_RECORD_PRESENT)
        return mr__fail(detail, MR_EUNSUPPORTED, "%s %s", f->key,
                        f->record.state == MR_RECORD_ABSENT
                            ? "has no such form"
                            : "was refused when the dataset was packed: quarantine.jsonl says why");
    f->offset = f->record.offset;
    f->nbytes = f->record.nbytes;
    result = check_length(f, detail);
    if (result != 0)
        return result;
    return f->shard->path != NULL ? mr__shard_file(d, f->shard, &f->file, detail) : name_file(d, f, detail);
}

/* In a folder, members are lines of its list. */
static int open_list(mr_dataset *d, mr__fetch *f, mr__detail *detail)
{
    const char *list = d->options.list;
    if (list == NULL)
        return mr__fail(detail, MR_ECORRUPT, "%s: its index has members, but no list was given", f->key);
    int error = mr__file_open(&f->file, list);
    if (error != 0)
        return mr__fail(detail, MR_EIO, "%s: %s: %s", f->key, mr__name_end(list), mr__errno_text(error).text);
    if (f->file.nbytes == d->list.nbytes && f->file.mtime_ns == d->list.mtime_ns)
        return 0;
    mr__file_close(&f->file);
    return mr__fail(detail, MR_ECORRUPT, "%s: %s was changed while it was in use: open the dataset again", f->key,
                    mr__name_end(list));
}

int mr__fetch_begin_member(mr_dataset *d, mr__fetch *f, uint64_t ordinal, uint32_t number, mr__detail *detail)
{
    mr__member member;
    uint32_t form = 0, count = mr__dataset_members(d, ordinal, &form);
    int result = aim(d, f, ordinal, form, detail);
    if (result != 0)
        return result;
    if (number >= count)
        return mr__fail(detail, MR_EARGUMENT, "%s has %u members: there is no number %u", f->key, count, number);
    if (!mr__index_member(&f->shard->index, f->position, number, &member))
        return mr__fail(detail, MR_ECORRUPT, "%s: its members in the index are damaged", f->key);
    f->record = (mr__record){.hash = member.hash, .has_hash = member.has_hash};
    f->offset = member.offset;
    f->nbytes = member.nbytes;
    result = check_length(f, detail);
    if (result != 0)
        return result;
    return f->shard->path != NULL ? mr__shard_file(d, f->shard, &f->file, detail) : open_list(d, f, detail);
}

static const char *file_name(const mr_dataset *d, const mr__fetch *f)
{
    return f->path != NULL ? f->path : f->shard->path != NULL ? f->shard->path : d->options.list;
}

/* What a file was when the folder was scanned is in the index: whether it still is. One that has grown is EFBIG. */
static bool is_changed(const mr__fetch *f, const mr__fetched *is)
{
    return f->path != NULL && (is->error == 0 || is->error == EFBIG) &&
           (is->file_nbytes != f->nbytes || (uint64_t)is->file_mtime_ns != f->record.offset);
}

bool mr__fetch_renew(mr__fetch *f, const mr__fetched *is)
{
    if (!is_changed(f, is) || is->file_nbytes > MR__FETCH_NBYTES_MAX)
        return false;
    f->nbytes = is->file_nbytes;
    f->record.offset = (uint64_t)is->file_mtime_ns;
    return true;
}

static int check_read(const mr_dataset *d, mr__fetch *f, const mr__fetched *is, uint64_t offset, uint64_t nbytes,
                      mr__detail *detail)
{
    const char *name = file_name(d, f);
    bool changed = is_changed(f, is);
    f->unread = is->error != 0 || changed;
    if (changed)
        return mr__fail(
            detail, MR_ECORRUPT,
            "%s has changed since its folder was indexed: make the index anew (millrace index --rebuild, in Python "
            "rebuild=True)",
            mr__name_end(name));
    if (is->error != 0)
        return mr__fail(detail, is->error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s: %s", mr__name_end(name),
                        mr__errno_text(is->error).text);
    if (is->got != nbytes)
        return mr__fail(detail, MR_ETRUNCATED, "%s: %s ends at byte %llu, in the middle of it", f->key,
                        mr__name_end(name), (unsigned long long)(f->offset + offset + is->got));
    return 0;
}

static int check_hash(const mr_dataset *d, const mr__fetch *f, const mr__fetched *is, mr__detail *detail)
{
    uint64_t seed = mr__record_seed(f->shard->expected.shard, f->position);
    if (!f->record.has_hash || mr__hash_seeded_by(is->bytes, is->got, seed, d->cpu) == f->record.hash)
        return 0;
    return mr__fail(detail, MR_ECORRUPT,
                    "%s: its %llu bytes at byte %llu of %s are not those that were packed (the hash differs)", f->key,
                    (unsigned long long)f->nbytes, (unsigned long long)f->offset, mr__name_end(f->shard->path));
}

static int wrap_planes(const mr_dataset *d, mr__fetch *f, const mr__fetched *is, const void **bytes, size_t *nbytes,
                       mr__detail *detail)
{
    size_t wrapped;
    if (is->got != MR__CIFAR_NBYTES)
        return mr__fail(detail, MR_ECORRUPT, "%s: %zu bytes are no image of CIFAR", f->key, is->got);
    int result = mr__cifar_wrap(is->bytes, d->cpu, &d->hooks, &f->wrapped, &wrapped);
    if (result != 0)
        return mr__fail(detail, result, "%s: %s", f->key, mr_error_text(result));
    *bytes = f->wrapped.bytes;
    *nbytes = wrapped;
    return 0;
}

static int join_parts(const mr_dataset *d, mr__fetch *f, const mr__fetched *is, const void **bytes, size_t *nbytes,
                      mr__detail *detail)
{
    size_t offset, joined;
    int result = mr__recordio_join(is->bytes, is->got, &d->hooks, &f->wrapped, &offset, &joined);
    if (result == MR_ENOMEM)
        return mr__fail(detail, result, "%s: out of memory for its %zu bytes", f->key, is->got);
    if (result != 0)
        return mr__fail(detail, result, "%s: the %zu bytes at byte %llu of %s are no record in parts", f->key, is->got,
                        (unsigned long long)f->offset, file_name(d, f));
    *bytes = f->wrapped.bytes + offset;
    *nbytes = joined;
    return 0;
}

int mr__fetch_part(mr_dataset *d, mr__fetch *f, const mr__fetched *is, uint64_t offset, size_t nbytes,
                   mr__detail *detail)
{
    return check_read(d, f, is, offset, nbytes, detail);
}

void mr__fetch_leave(mr__fetch *f)
{
    if (f->file.fd >= 0 && f->shard_path != NULL)
        mr__shard_release(f->shard, &f->file);
    else
        mr__file_close(&f->file);
    f->file = MR__FILE_NONE;
}

bool mr__fetch_row_index(const mr__fetch *f, const void **bytes, size_t *nbytes)
{
    return mr__index_row_index(&f->shard->index, f->position, bytes, nbytes);
}

int mr__fetch_end(mr_dataset *d, mr__fetch *f, const mr__fetched *is, const void **bytes, size_t *nbytes,
                  mr__detail *detail)
{
    int result = check_read(d, f, is, 0, f->nbytes, detail);
    if (result == 0)
        result = check_hash(d, f, is, detail);
    mr__fetch_leave(f);
    if (result != 0)
        return result;
    if (f->record.parts)
        return join_parts(d, f, is, bytes, nbytes, detail);
    if (f->record.planar)
        return wrap_planes(d, f, is, bytes, nbytes, detail);
    *bytes = is->bytes;
    *nbytes = is->got;
    return 0;
}
