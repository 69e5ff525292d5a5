// SPDX-License-Identifier: Apache-2.0
#include "dataset/pack.h"

#include "base/hash.h"
#include <errno.h>
#include <string.h>

/* What goes on while the indexes are gone through. */
typedef struct summing {
    mr_packer *packer;
    mr__manifest *m;
    const char *folder;
    mr__hasher fingerprint;
    mr__text quarantine;
    uint64_t ordinal; /* of the first sample of the shard */
} summing;

static int count_records(summing *s, const mr__index *index, uint32_t form)
{
    mr__dataset_form *f = &s->m->forms[form].of;
    mr__record record;
    for (uint64_t i = 0; i < index->head.samples; i++) {
        if (!mr__index_record(index, i, &record))
            return MR_ECORRUPT;
        if (record.state == MR_RECORD_PRESENT) {
            f->samples++;
            f->nbytes += record.nbytes;
            s->packer->report.pixel_mode += record.pixel_mode;
        }
        s->m->refused += form == 0 && record.state == MR_RECORD_REFUSED;
    }
    return 0;
}

static int add_file(summing *s, size_t shard, uint32_t form, mr__manifest_file *file, uint64_t *samples)
{
    mr_packer *p = s->packer;
    mr__index index;
    int result = mr__pack_open_index(&index, s->folder, s->m->forms[form].of.name, shard, s->m->plan, &p->detail);
    if (result != 0)
        return result;
    *file = (mr__manifest_file){index.head.data_nbytes, index.head.data_hash, index.nbytes,
                                mr__hash(index.bytes, index.nbytes)};
    if (form != 0 && index.head.samples != *samples)
        result = mr__fail(&p->detail, MR_ECORRUPT, "shard %zu has another number of samples in the form %s", shard,
                          s->m->forms[form].of.name);
    *samples = index.head.samples;
    mr__hasher_add(&s->fingerprint, &index.head.fingerprint, sizeof index.head.fingerprint);
    if (form == 0)
        mr__pack_quarantine_add_index(&s->quarantine, s->m->source_layout, &index, s->ordinal);
    if (result == 0 && (result = count_records(s, &index, form)) != 0)
        mr__fail(&p->detail, result, "shard %zu: the index of the form %s is damaged", shard,
                 s->m->forms[form].of.name);
    p->report.out_nbytes += file->nbytes + file->index_nbytes;
    mr__index_close(&index);
    return result;
}

static int add_shard(summing *s, size_t shard)
{
    mr__manifest_file files[MR__FORM_MAX];
    uint64_t samples = 0;
    int result = 0;
    for (uint32_t f = 0; f < s->m->form_count && result == 0; f++)
        result = add_file(s, shard, f, &files[f], &samples);
    if (result == 0 && (result = mr__manifest_add_shard(s->m, samples, files)) != 0)
        mr__fail(&s->packer->detail, result, "out of memory for dataset.json");
    s->m->samples += samples;
    s->ordinal += samples;
    return result;
}

int mr__pack_publish(mr_packer *p, const char *folder, const char *name, const void *bytes, size_t nbytes)
{
    char path[MR__PATH_MAX];
    int result = mr__pack_path(p, path, folder, name);
    if (result != 0)
        return result;
    int error = mr__disk_publish(p->disk, &p->hooks, path, bytes, nbytes);
    if (error == 0)
        return 0;
    return mr__fail(&p->detail, error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s cannot be written: %s", path,
                    mr__errno_text(error).text);
}

/* Parts keep theirs in the indexes: merge writes one for all. */
static int publish_quarantine(summing *s)
{
    mr__manifest *m = s->m;
    const char *text;
    size_t nbytes;
    int result = mr__text_finish(&s->quarantine, &text, &nbytes);
    if (result != 0)
        mr__fail(&s->packer->detail, result, "out of memory for " MR__QUARANTINE_NAME);
    if (result != 0 || nbytes == 0 || m->parts != 0)
        return result;
    m->has_quarantine = true;
    m->quarantine_nbytes = nbytes;
    m->quarantine_hash = mr__hash(text, nbytes);
    return mr__pack_publish(s->packer, s->folder, MR__QUARANTINE_NAME, text, nbytes);
}

/* Names that an earlier run gave, and was killed before it had synced them, are to last before dataset.json tells. */
static int sync_forms(summing *s)
{
    char path[MR__PATH_MAX];
    mr_packer *p = s->packer;
    for (uint32_t f = 0; f < s->m->form_count; f++) {
        int result = mr__pack_path(p, path, s->folder, s->m->forms[f].of.name);
        int error = result == 0 ? p->disk->sync_folder(p->disk, path) : 0;
        if (error != 0)
            result = mr__fail(&p->detail, MR_EIO, "%s cannot be synced: %s", path, mr__errno_text(error).text);
        if (result != 0)
            return result;
    }
    return 0;
}

static int publish_manifest(summing *s)
{
    mr__text t;
    const char *text;
    size_t nbytes;
    char name[64];
    mr__text_init(&t, &s->packer->hooks);
    mr__manifest_write(s->m, &t);
    mr__manifest_file_name(name, sizeof name, s->m->part, s->m->parts);
    int result = mr__text_finish(&t, &text, &nbytes);
    if (result == 0)
        result = mr__pack_publish(s->packer, s->folder, name, text, nbytes);
    else
        mr__fail(&s->packer->detail, result, "out of memory for dataset.json");
    mr__text_fini(&t);
    return result;
}

int mr__pack_finish(mr_packer *p, mr__manifest *m, const char *folder, size_t begin, size_t end)
{
    summing s = {.packer = p, .m = m, .folder = folder};
    int result = 0;
    mr__hasher_init(&s.fingerprint);
    mr__text_init(&s.quarantine, &p->hooks);
    p->report.out_nbytes = p->report.pixel_mode = 0;
    for (size_t shard = begin; shard < end && result == 0; shard++)
        result = add_shard(&s, shard);
    m->fingerprint = mr__hasher_value(&s.fingerprint);
    if (result == 0)
        result = sync_forms(&s);
    if (result == 0)
        result = publish_quarantine(&s);
    if (result == 0)
        result = publish_manifest(&s);
    p->report.samples = m->samples;
    p->report.refused = m->refused;
    p->report.shards = end - begin;
    mr__text_fini(&s.quarantine);
    return result;
}
