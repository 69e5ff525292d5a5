// SPDX-License-Identifier: Apache-2.0
#include "dataset/index_file.h"
#include "dataset/manifest.h"

#include <stdio.h>
#include <string.h>

static int no_memory(mr_dataset *d)
{
    return mr__fail(&d->detail, MR_ENOMEM, "%s: out of memory", mr__name_end(d->root));
}

static int take_classes(mr_dataset *d, mr__manifest *m)
{
    d->classes = mr__alloc_array(&d->hooks, (size_t)m->class_count + 1, sizeof *d->classes);
    if (d->classes == NULL)
        return no_memory(d);
    for (; d->class_count < m->class_count; d->class_count++) {
        d->classes[d->class_count] = m->classes[d->class_count];
        m->classes[d->class_count] = NULL;
    }
    return 0;
}

static int take_shard(mr_dataset *d, const mr__manifest *m, size_t n, uint32_t form)
{
    mr__shard *shard = &d->shards[form * d->shard_count + n];
    const mr__manifest_file *file = &m->files[n * m->form_count + form];
    const char *name = m->forms[form].of.name;
    shard->path = mr__text_format(&d->hooks, "%s/%s/%06zu.tar", d->root, name, n);
    shard->index_path = mr__text_format(&d->hooks, "%s/%s/%06zu.mrx", d->root, name, n);
    if (shard->path == NULL || shard->index_path == NULL)
        return no_memory(d);
    shard->expected = (mr__index_head){.layout = MR_LAYOUT_PACKED,
                                       .samples = m->shard_samples[n],
                                       .shard = n,
                                       .data_nbytes = file->nbytes,
                                       .data_hash = file->hash,
                                       .made_of = m->plan};
    d->nbytes += file->nbytes;
    return 0;
}

static int take(mr_dataset *d, mr__manifest *m)
{
    if (m->parts != 0)
        return mr__fail(&d->detail, MR_EUNSUPPORTED, "%s is part %u of %u: join all parts with millrace merge",
                        mr__name_end(d->root), m->part, m->parts);
    int result = mr__dataset_reserve(d, m->shard_count, m->form_count);
    for (uint32_t f = 0; f < m->form_count && result == 0; f++) {
        d->forms[f] = m->forms[f].of;
        for (size_t n = 0; n < m->shard_count && result == 0; n++)
            result = take_shard(d, m, n, f);
    }
    for (size_t n = 0; n < m->shard_count && result == 0; n++)
        d->first[n + 1] = d->first[n] + m->shard_samples[n];
    d->samples = m->samples;
    d->problems = m->refused;
    d->fingerprint = m->fingerprint;
    return result == 0 ? take_classes(d, m) : result;
}

int mr__dataset_open_packed(mr_dataset *d, const char *folder)
{
    mr__manifest m;
    char path[MR__PATH_MAX];
    d->root = mr__text_copy(&d->hooks, folder);
    if (d->root == NULL)
        return mr__fail(&d->detail, MR_ENOMEM, "%s: out of memory", mr__name_end(folder));
    if (snprintf(path, sizeof path, "%s/" MR__MANIFEST_NAME, folder) >= (int)sizeof path)
        return mr__fail(&d->detail, MR_EARGUMENT, "%.60s...: too long a name", folder);
    mr__manifest_init(&m, &d->hooks);
    int result = mr__manifest_load(&m, path, &d->detail);
    if (result == 0)
        result = take(d, &m);
    mr__manifest_fini(&m);
    return result;
}
