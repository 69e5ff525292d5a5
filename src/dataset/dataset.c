// SPDX-License-Identifier: Apache-2.0
#include "dataset/dataset.h"

#include "base/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

const char *mr_layout_name(mr_layout layout)
{
    switch (layout) {
    case MR_LAYOUT_PACKED:
        return "packed";
    case MR_LAYOUT_TAR:
        return "tar";
    case MR_LAYOUT_TFRECORD:
        return "tfrecord";
    case MR_LAYOUT_RECORDIO:
        return "recordio";
    case MR_LAYOUT_CIFAR:
        return "cifar";
    case MR_LAYOUT_LIST:
        return "list";
    case MR_LAYOUT_FOLDER:
        return "folder";
    default:
        return "auto";
    }
}

char *mr__text_copy(const mr_hooks *hooks, const char *text)
{
    size_t nbytes = strlen(text) + 1;
    char *copy = mr__alloc(hooks, nbytes);
    return copy != NULL ? memcpy(copy, text, nbytes) : NULL;
}

char *mr__text_format(const mr_hooks *hooks, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length >= 0 ? mr__alloc(hooks, (size_t)length + 1) : NULL;
    if (text != NULL)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

/*
 * Descriptors have the lowest number that is free: while that is in the lower half of what the process may have open,
 * shards stay open. So all datasets of a process together leave it the other half.
 */
static int lower_half(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1 << 20)
        return 1 << 19;
    return (int)(limit.rlim_cur / 2);
}

static int copy_options(mr_dataset *d, const mr_dataset_options *given)
{
    mr_dataset_options *o = &d->options;
    if (!mr__struct_copy(o, sizeof *o, given))
        return MR_EARGUMENT;
    const char *folder = o->index_folder, *list = o->list;
    o->index_folder = o->list = NULL; /* what is there from here on is freed */
    if ((unsigned)o->layout > MR_LAYOUT_FOLDER || (unsigned)o->index > MR_INDEX_NONE ||
        (unsigned)o->broken > MR_BROKEN_SKIP)
        return MR_EARGUMENT;
    if (folder != NULL && (o->index_folder = mr__text_copy(&d->hooks, folder)) == NULL)
        return MR_ENOMEM;
    if (list != NULL && (o->list = mr__text_copy(&d->hooks, list)) == NULL)
        return MR_ENOMEM;
    return 0;
}

int mr_dataset_new(const mr_dataset_options *options, mr_dataset **out)
{
    mr_dataset_options copy;
    mr_hooks hooks;
    if (out == NULL || !mr__struct_copy(&copy, sizeof copy, options) || mr__hooks_init(&hooks, copy.hooks) != 0)
        return MR_EARGUMENT;
    mr_dataset *d = mr__alloc_zero(&hooks, sizeof *d);
    if (d == NULL)
        return MR_ENOMEM;
    d->hooks = hooks;
    d->references = 1;
    d->cpu = mr__cpu_detect();
    int result = copy_options(d, options);
    if (result == 0)
        result = mr__mutex_init(&d->lock);
    d->lock_ready = result == 0;
    d->fd_end = lower_half();
    if (result != 0) {
        mr_dataset_free(d);
        return result;
    }
    *out = d;
    return 0;
}

int mr__dataset_reserve(mr_dataset *d, size_t shards, uint32_t forms)
{
    if (shards > MR__SHARD_MAX)
        return mr__fail(&d->detail, MR_ELIMIT, "%zu shards: more than %d, the most a dataset can have", shards,
                        MR__SHARD_MAX);
    d->first = mr__alloc_array(&d->hooks, shards + 1, sizeof *d->first);
    d->shards = mr__alloc_array(&d->hooks, shards * forms + 1, sizeof *d->shards);
    if (d->first == NULL || d->shards == NULL)
        return mr__fail(&d->detail, MR_ENOMEM, "out of memory for %zu shards", shards);
    d->shard_count = shards;
    d->form_count = forms;
    for (size_t i = 0; i < shards * forms; i++)
        atomic_init(&d->shards[i].fd, -1);
    return 0;
}

void mr__dataset_unreserve(mr_dataset *d)
{
    for (size_t i = 0; d->shards != NULL && i < d->shard_count * d->form_count; i++)
        mr__shard_fini(&d->shards[i], &d->hooks);
    mr__free(&d->hooks, d->shards);
    mr__free(&d->hooks, d->first);
    mr__free(&d->hooks, d->root);
    for (uint64_t i = 0; d->classes != NULL && i < d->class_count; i++)
        mr__free(&d->hooks, d->classes[i]);
    mr__free(&d->hooks, d->classes);
    d->shards = NULL;
    d->first = NULL;
    d->root = NULL;
    d->classes = NULL;
    d->shard_count = d->form_count = 0;
    d->samples = d->class_count = d->nbytes = d->problems = 0;
    d->indexed_now = false;
}

void mr__dataset_ref(mr_dataset *d)
{
    atomic_fetch_add_explicit(&d->references, 1, memory_order_relaxed);
}

void mr_dataset_free(mr_dataset *d)
{
    if (d == NULL || atomic_fetch_sub_explicit(&d->references, 1, memory_order_acq_rel) != 1)
        return;
    mr__dataset_unreserve(d);
    mr__free(&d->hooks, atomic_load(&d->key_map));
    mr__free(&d->hooks, (void *)d->options.index_folder);
    mr__free(&d->hooks, (void *)d->options.list);
    if (d->lock_ready)
        mr__mutex_fini(&d->lock);
    mr_hooks hooks = d->hooks;
    mr__free(&hooks, d);
}

const char *mr_dataset_detail(const mr_dataset *d)
{
    return d != NULL ? d->detail.text : "";
}

uint64_t mr_dataset_count(const mr_dataset *d)
{
    return d != NULL ? d->samples : 0;
}

/* In a folder every sample is one; behind them stands the list, in which their members are. */
static uint64_t file_count(const mr_dataset *d)
{
    if (d->layout != MR_LAYOUT_FOLDER)
        return d->shard_count * d->form_count;
    return d->samples + (d->options.list != NULL);
}

int mr_dataset_get_info(const mr_dataset *d, mr_dataset_info *info)
{
    if (d == NULL || info == NULL || !d->opened)
        return MR_EARGUMENT;
    mr_dataset_info ours = {.struct_size = sizeof ours,
                            .layout = d->layout,
                            .samples = d->samples,
                            .shards = d->shard_count,
                            .files = file_count(d),
                            .classes = d->class_count,
                            .forms = d->form_count,
                            .problems = d->problems,
                            .nbytes = d->nbytes,
                            .fingerprint = d->fingerprint,
                            .indexed_now = d->indexed_now};
    return mr__struct_give(info, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

int mr_dataset_get_form(const mr_dataset *d, uint32_t number, mr_dataset_form *form)
{
    if (d == NULL || form == NULL || number >= d->form_count)
        return MR_EARGUMENT;
    const mr__dataset_form *f = &d->forms[number];
    mr_dataset_form ours = {.struct_size = sizeof ours,
                            .name = f->name,
                            .form = f->form,
                            .max_side = f->max_side,
                            .short_side = f->short_side,
                            .samples = f->samples,
                            .nbytes = f->nbytes};
    return mr__struct_give(form, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

int mr_dataset_find_form(const mr_dataset *d, const char *name, uint32_t *number)
{
    if (d == NULL || name == NULL || number == NULL)
        return MR_EARGUMENT;
    for (uint32_t i = 0; i < d->form_count; i++)
        if (strcmp(d->forms[i].name, name) == 0) {
            *number = i;
            return 0;
        }
    return MR_EARGUMENT;
}

const char *mr_dataset_class(const mr_dataset *d, uint64_t number)
{
    const char *name;
    size_t nbytes;
    if (d == NULL || number >= d->class_count)
        return "";
    if (d->classes != NULL)
        return d->classes[number];
    return mr__index_class(&d->shards[0].index, number, &name, &nbytes) ? name : "";
}

bool mr__dataset_place(const mr_dataset *d, uint64_t ordinal, size_t *shard, uint64_t *position)
{
    if (ordinal >= d->samples)
        return false;
    size_t low = 0, high = d->shard_count; /* the last shard whose first sample is not behind it */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (d->first[middle] <= ordinal)
            low = middle;
        else
            high = middle;
    }
    *shard = low;
    *position = ordinal - d->first[low];
    return true;
}

int mr__dataset_at(const mr_dataset *d, uint64_t ordinal, uint32_t form, mr__shard **shard, uint64_t *position)
{
    size_t n;
    if (d == NULL || form >= d->form_count || !mr__dataset_place(d, ordinal, &n, position))
        return MR_EARGUMENT;
    *shard = &d->shards[form * d->shard_count + n];
    if (atomic_load_explicit(&(*shard)->loaded, memory_order_acquire))
        return 0;
    return mr__shard_load((mr_dataset *)d, *shard, NULL);
}

size_t mr_dataset_file(const mr_dataset *d, uint64_t number, char *path, size_t nbytes)
{
    const char *key;
    size_t key_nbytes;
    int length;
    if (d == NULL || !d->opened || (path == NULL && nbytes != 0) || number >= file_count(d))
        return 0;
    if (d->layout != MR_LAYOUT_FOLDER)
        length = snprintf(path, nbytes, "%s", d->shards[number].path);
    else if (number == d->samples)
        length = snprintf(path, nbytes, "%s", d->options.list);
    else if (mr__index_key(&d->shards[0].index, number, &key, &key_nbytes))
        length = snprintf(path, nbytes, "%s/%s", d->root, key);
    else
        return 0;
    return length > 0 ? (size_t)length : 0;
}

int mr__dataset_any(const mr_dataset *d, uint64_t ordinal, mr__shard **shard, uint64_t *position)
{
    int result = mr__dataset_at(d, ordinal, 0, shard, position);
    for (uint32_t f = 1; result != 0 && result != MR_EARGUMENT && f < d->form_count; f++)
        if (mr__dataset_at(d, ordinal, f, shard, position) == 0)
            return 0;
    return result;
}

int mr_dataset_sample(const mr_dataset *d, uint64_t ordinal, mr_sample *sample)
{
    mr__shard *shard;
    uint64_t position;
    if (sample == NULL)
        return MR_EARGUMENT;
    int result = mr__dataset_any(d, ordinal, &shard, &position);
    if (result != 0)
        return result;
    mr_sample ours = {.struct_size = sizeof ours,
                      .ordinal = ordinal,
                      .shard = (uint64_t)(shard - d->shards) % d->shard_count,
                      .position = position,
                      .members = mr__dataset_members(d, ordinal, NULL)};
    if (!mr__index_key(&shard->index, position, &ours.key, &ours.key_nbytes) ||
        !mr__index_label(&shard->index, position, &ours.label))
        return MR_ECORRUPT;
    return mr__struct_give(sample, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

int mr__dataset_label(const mr_dataset *d, uint64_t ordinal, mr_label *label)
{
    mr__shard *shard;
    uint64_t position;
    int result = mr__dataset_any(d, ordinal, &shard, &position);
    return result != 0 ? result : mr__index_label(&shard->index, position, label) ? 0 : MR_ECORRUPT;
}

int mr_dataset_record(const mr_dataset *d, uint64_t ordinal, uint32_t form, mr_record *record)
{
    mr__shard *shard;
    uint64_t position;
    mr__record r;
    if (record == NULL)
        return MR_EARGUMENT;
    int result = mr__dataset_at(d, ordinal, form, &shard, &position);
    if (result != 0)
        return result;
    mr_record ours = {.struct_size = sizeof ours};
    if (!mr__index_record(&shard->index, position, &r) ||
        !mr__index_row_index(&shard->index, position, &ours.row_index, &ours.row_index_nbytes))
        return MR_ECORRUPT;
    bool folder = d->layout == MR_LAYOUT_FOLDER;
    ours.state = (mr_record_state)r.state;
    ours.form = (mr_form)r.form;
    ours.width = r.width;
    ours.height = r.height;
    ours.channels = r.channels;
    ours.depth = r.depth;
    ours.orientation = r.orientation;
    ours.has_hash = r.has_hash;
    ours.hash = r.hash;
    ours.offset = folder ? 0 : r.offset;
    ours.nbytes = r.nbytes;
    ours.file = folder ? ordinal : (uint64_t)(shard - d->shards);
    return mr__struct_give(record, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

/* Members stand with the first form that has the sample. Indexes of the others are not even loaded. */
uint32_t mr__dataset_members(const mr_dataset *d, uint64_t ordinal, uint32_t *form)
{
    mr__shard *shard;
    uint64_t position;
    mr__record record;
    for (uint32_t f = 0; f < d->form_count; f++) {
        if (mr__dataset_at(d, ordinal, f, &shard, &position) != 0 ||
            !mr__index_record(&shard->index, position, &record) || record.state == MR_RECORD_ABSENT)
            continue;
        if (form != NULL)
            *form = f;
        return mr__index_member_count(&shard->index, position);
    }
    return 0;
}

int mr_dataset_member(const mr_dataset *d, uint64_t ordinal, uint32_t number, mr_member *member)
{
    mr__shard *shard;
    uint64_t position;
    uint32_t form = 0;
    mr__member m;
    if (d == NULL || member == NULL || number >= mr__dataset_members(d, ordinal, &form))
        return MR_EARGUMENT;
    int result = mr__dataset_at(d, ordinal, form, &shard, &position);
    if (result != 0)
        return result;
    if (!mr__index_member(&shard->index, position, number, &m))
        return MR_ECORRUPT;
    mr_member ours = {.struct_size = sizeof ours,
                      .name = m.name,
                      .file = d->layout == MR_LAYOUT_FOLDER ? d->samples : (uint64_t)(shard - d->shards),
                      .offset = m.offset,
                      .nbytes = m.nbytes};
    return mr__struct_give(member, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

int mr_dataset_get_problem(const mr_dataset *d, uint64_t number, mr_dataset_problem *problem)
{
    if (d == NULL || problem == NULL)
        return MR_EARGUMENT;
    for (size_t n = 0; n < d->shard_count; n++) {
        mr__shard *shard = &d->shards[n];
        if (mr__shard_load((mr_dataset *)d, shard, NULL) != 0)
            continue;
        uint64_t count = mr__index_problem_count(&shard->index);
        if (number >= count) {
            number -= count;
            continue;
        }
        mr_dataset_problem ours = {.struct_size = sizeof ours, .file = n, .ordinal = UINT64_MAX};
        uint32_t position;
        if (!mr__index_problem(&shard->index, number, &position, &ours.code, &ours.text))
            return MR_ECORRUPT;
        if (position != MR__INDEX_NO_POSITION)
            ours.ordinal = d->first[n] + position;
        if (d->layout == MR_LAYOUT_FOLDER)
            ours.file = ours.ordinal;
        return mr__struct_give(problem, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
    }
    return MR_EARGUMENT;
}
