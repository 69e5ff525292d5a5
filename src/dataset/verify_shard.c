// SPDX-License-Identifier: Apache-2.0
#include "dataset/verify.h"

#include "dataset/place.h"
#include "kernel/hash.h"
#include <string.h>

enum { WINDOW_NBYTES = 4 << 20 };

/* A shard on its way through. */
typedef struct passage {
    mr__verify *v;
    mr__verify_unit *unit;
    size_t shard;
    const mr__manifest_file *says; /* dataset.json */
    const mr__index *index;        /* NULL: there is none to be trusted */
    mr__hasher whole;
    mr__hasher part;   /* of a record that goes beyond the window */
    uint64_t position; /* of the next record */
    mr__record record;
    bool more; /* there is a next record */
} passage;

static void take_next(passage *p, uint64_t position)
{
    uint64_t count = p->index->head.samples;
    for (; position < count; position++)
        if (mr__index_record(p->index, position, &p->record) && p->record.state == MR_RECORD_PRESENT &&
            p->record.nbytes != 0)
            break;
    p->position = position;
    p->more = position < count;
}

static void compare(passage *p, uint64_t hash)
{
    atomic_fetch_add(&p->v->records, 1);
    if (hash != p->record.hash)
        mr__verify_add(p->v, p->unit, p->v->first[p->shard] + p->position, MR_ECORRUPT,
                       "its %llu bytes at byte %llu are not those that were packed",
                       (unsigned long long)p->record.nbytes, (unsigned long long)p->record.offset);
    take_next(p, p->position + 1);
}

/* The records that lie in these bytes, or a part of them does. */
static void pass_records(passage *p, const uint8_t *bytes, uint64_t at, size_t nbytes)
{
    uint64_t end = at + nbytes;
    while (p->more && p->record.offset < end) {
        uint64_t seed = mr__record_seed(p->shard, p->position), record_end = p->record.offset + p->record.nbytes;
        uint64_t from = p->record.offset > at ? p->record.offset : at, to = record_end < end ? record_end : end;
        if (from == p->record.offset && to == record_end) {
            compare(p, mr__hash_seeded_by(bytes + (from - at), (size_t)(to - from), seed, p->v->cpu));
            continue;
        }
        if (from == p->record.offset)
            mr__hasher_init_seeded(&p->part, seed);
        if (to > from)
            mr__hasher_add_by(&p->part, bytes + (from - at), (size_t)(to - from), p->v->cpu);
        if (to != record_end)
            return;
        compare(p, mr__hasher_value(&p->part));
    }
}

static void note_lost(passage *p)
{
    while (p->more) {
        mr__verify_add(p->v, p->unit, p->v->first[p->shard] + p->position, MR_ETRUNCATED,
                       "the shard ends before byte %llu, where it should end",
                       (unsigned long long)(p->record.offset + p->record.nbytes));
        take_next(p, p->position + 1);
    }
}

static int pass(passage *p, const mr__file *file, mr__buffer *buffer)
{
    mr__verify *v = p->v;
    mr__hasher_init(&p->whole);
    for (uint64_t at = 0; at < file->nbytes;) {
        size_t got;
        if (atomic_load(&v->stop))
            return MR_ECLOSED;
        int error = mr__file_read(file, at, buffer->bytes, WINDOW_NBYTES, &got);
        if (error != 0 || got == 0) {
            mr__verify_add(v, p->unit, UINT64_MAX, MR_EIO, "cannot be read at byte %llu: %s", (unsigned long long)at,
                           error != 0 ? mr__errno_text(error).text : "it was cut while it was read");
            break;
        }
        mr__hasher_add_by(&p->whole, buffer->bytes, got, v->cpu);
        if (p->index != NULL)
            pass_records(p, buffer->bytes, at, got);
        at += got;
        atomic_fetch_add(&v->done_nbytes, got);
        atomic_fetch_add(&v->nbytes, got);
    }
    return 0;
}

static int verify_tar(passage *p, uint32_t form, mr__buffer *buffer)
{
    mr__verify *v = p->v;
    char path[MR__PATH_MAX];
    mr__file file;
    size_t before = p->unit->damage_count;
    mr__shard_name(path, sizeof path, v->folder, v->m.forms[form].of.name, p->shard, "tar");
    int error = mr__file_open(&file, path);
    if (error != 0) {
        p->unit->missing = true;
        mr__verify_add(v, p->unit, UINT64_MAX, MR_EIO, "%s: no sample from %llu to %llu can be read in this form",
                       mr__errno_text(error).text, (unsigned long long)v->first[p->shard],
                       (unsigned long long)v->first[p->shard + 1] - 1);
        return 0;
    }
    if (file.nbytes != p->says->nbytes)
        mr__verify_add(v, p->unit, UINT64_MAX, file.nbytes < p->says->nbytes ? MR_ETRUNCATED : MR_ECORRUPT,
                       "%llu bytes long, but %llu were written", (unsigned long long)file.nbytes,
                       (unsigned long long)p->says->nbytes);
    int result = pass(p, &file, buffer);
    if (result == 0 && p->index != NULL)
        note_lost(p);
    bool differs = mr__hasher_value(&p->whole) != p->says->hash;
    if (result == 0 && differs && p->index != NULL && file.nbytes == p->says->nbytes)
        result = mr__verify_locate(v, p->unit, p->index, p->shard, form, &file);
    if (result == 0 && differs && p->unit->damage_count == before)
        mr__verify_add(
            v, p->unit, UINT64_MAX, MR_ECORRUPT,
            "its hash is not that in dataset.json, though all that it holds is as it was packed: the hash in "
            "dataset.json is of another file");
    atomic_fetch_add(&v->files, 1);
    mr__file_close(&file);
    return result;
}

/* What is wrong with an index; NULL in *index when it cannot be used. */
static void verify_index(passage *p, uint32_t form, mr__index *index)
{
    mr__verify *v = p->v;
    char path[MR__PATH_MAX];
    mr__detail detail;
    mr__detail_clear(&detail);
    mr__shard_name(path, sizeof path, v->folder, v->m.forms[form].of.name, p->shard, "mrx");
    int result = mr__index_open(index, path, &detail);
    if (result == 0) {
        atomic_fetch_add(&v->files, 1);
        atomic_fetch_add(&v->nbytes, index->nbytes);
        result = mr__index_check(index, path, &detail);
        if (result == 0 && (index->nbytes != p->says->index_nbytes ||
                            mr__hash_by(index->bytes, index->nbytes, v->cpu) != p->says->index_hash))
            result = mr__fail(&detail, MR_ECORRUPT, "%s: its hash is not that in dataset.json", path);
        if (result == 0 && index->head.samples != v->m.shard_samples[p->shard])
            result = mr__fail(&detail, MR_ECORRUPT, "%s: another number of samples than in dataset.json", path);
        if (result != 0)
            mr__index_close(index);
    }
    p->unit->index_damaged = result != 0;
    size_t before = p->unit->damage_count;
    if (result != 0)
        mr__verify_add(v, p->unit, UINT64_MAX, result,
                       "the index is damaged: no sample from %llu to %llu can be read in this form: %s",
                       (unsigned long long)v->first[p->shard], (unsigned long long)v->first[p->shard + 1] - 1,
                       detail.text);
    if (p->unit->damage_count != before)
        p->unit->damages[before].of_index = true;
}

int mr__verify_shard(mr__verify *v, size_t shard, uint32_t form, mr__buffer *buffer)
{
    size_t number = shard * v->m.form_count + form;
    mr__index index = {0};
    passage p = {.v = v, .unit = &v->units[number], .shard = shard, .says = &v->m.files[number]};
    if (mr__buffer_reserve(buffer, &v->hooks, WINDOW_NBYTES) != 0)
        return MR_ENOMEM;
    verify_index(&p, form, &index);
    if (!p.unit->index_damaged) {
        p.index = &index;
        take_next(&p, 0);
    }
    int result = verify_tar(&p, form, buffer);
    mr__index_close(&index);
    return result;
}
