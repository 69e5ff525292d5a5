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
    mr__text quarantine, name;
    uint64_t ordinal; /* of the first sample of the shard */
} summing;

void mr__pack_quarantine_add(mr__text *t, uint64_t ordinal, const char *key, size_t key_nbytes, int code,
                             const char *error)
{
    mr__text_addf(t, "{\"ordinal\": %llu, \"key\": ", (unsigned long long)ordinal);
    mr__text_add_json(t, key, key_nbytes);
    mr__text_addf(t, ", \"code\": \"%s\", \"error\": ", mr_error_name(code));
    mr__text_add_json(t, error, strlen(error));
    mr__text_add_z(t, "}\n");
}

/* Whether the sample's name in the index was made of this key. */
static bool is_made_of(summing *s, const char *name, const char *key, size_t key_nbytes)
{
    char copy[512];
    const char *made;
    size_t nbytes;
    bool same = false;
    if (key_nbytes >= sizeof copy)
        return false;
    memcpy(copy, key, key_nbytes);
    copy[key_nbytes] = '\0';
    for (int ending = 1; ending >= 0 && !same; ending--) {
        mr__text_clear(&s->name);
        mr__pack_name(&s->name, s->m->source_layout, copy, ending != 0);
        if (mr__text_finish(&s->name, &made, &nbytes) == 0)
            same = strncmp(name, made, nbytes) == 0 && (name[nbytes] == '\0' || strncmp(name + nbytes, "%23", 3) == 0);
    }
    return same;
}

/* The text of a problem is the key in the source, ": ", and what is wrong. Either may have ": " in it. */
static size_t find_key(summing *s, const mr__index *index, uint32_t position, const char *text)
{
    const char *colon = strstr(text, ": "), *first = colon, *name;
    size_t nbytes;
    if (!mr__index_key(index, position, &name, &nbytes))
        colon = NULL;
    for (; colon != NULL; colon = strstr(colon + 1, ": "))
        if (is_made_of(s, name, text, (size_t)(colon - text)))
            return (size_t)(colon - text);
    return first != NULL ? (size_t)(first - text) : 0;
}

static void add_refused(summing *s, const mr__index *index)
{
    uint64_t count = mr__index_problem_count(index);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t position;
        int code;
        const char *text;
        if (!mr__index_problem(index, i, &position, &code, &text))
            continue;
        size_t key = find_key(s, index, position, text);
        mr__pack_quarantine_add(&s->quarantine, s->ordinal + position, text, key, code,
                                key != 0 ? text + key + 2 : text);
    }
}

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
        add_refused(s, &index);
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

static int publish(mr_packer *p, const char *folder, const char *name, const void *bytes, size_t nbytes)
{
    char path[MR__PATH_MAX];
    int result = mr__pack_path(p, path, folder, name);
    if (result != 0)
        return result;
    int error = mr__disk_publish(p->disk, &p->hooks, path, bytes, nbytes);
    return error != 0 ? mr__fail(&p->detail, MR_EIO, "%s cannot be written: %s", path, mr__errno_text(error).text) : 0;
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
    return publish(s->packer, s->folder, MR__QUARANTINE_NAME, text, nbytes);
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
        result = publish(s->packer, s->folder, name, text, nbytes);
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
    mr__text_init(&s.name, &p->hooks);
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
    mr__text_fini(&s.name);
    return result;
}

int mr__pack_quarantine(mr__pack_job *job, mr__manifest *m)
{
    mr_packer *p = job->packer;
    summing s = {.packer = p, .m = m, .folder = job->folder};
    const char *text, *seen;
    size_t nbytes, seen_nbytes;
    mr__text_init(&s.quarantine, &p->hooks);
    mr__text_init(&s.name, &p->hooks);
    for (size_t shard = job->begin; shard < job->end; shard++) {
        mr__index index;
        s.ordinal = job->plan.first[shard];
        if (mr__pack_open_index(&index, job->folder, m->forms[0].of.name, shard, m->plan, &p->detail) == 0) {
            add_refused(&s, &index);
            mr__index_close(&index);
        } else if (shard == job->seen_shard && mr__text_finish(&job->seen, &seen, &seen_nbytes) == 0)
            mr__text_add(&s.quarantine, seen, seen_nbytes);
    }
    int result = mr__text_finish(&s.quarantine, &text, &nbytes);
    if (result == 0 && nbytes != 0)
        result = publish(p, job->folder, MR__QUARANTINE_NAME, text, nbytes);
    mr__text_fini(&s.quarantine);
    mr__text_fini(&s.name);
    return result;
}
