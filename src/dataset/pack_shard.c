// SPDX-License-Identifier: Apache-2.0
#include "dataset/pack_shard.h"

#include "dataset/records.h"
#include "dataset/tar_write.h"
#include "kernel/hash.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OTHER_MAX = 200, OTHER_NBYTES = OTHER_MAX + 16 }; /* letters of a member's name */

enum { PENDING_NBYTES = 1 << 20, DIRECT_NBYTES = 1 << 16 };

int mr__shard_write_init(mr__shard_write *w, const mr__pack_plan *plan, const mr__disk *disk, const char *folder,
                         mr_dataset *source)
{
    *w = (mr__shard_write){.plan = plan, .disk = disk, .folder = folder, .source = source};
    mr__text_init(&w->name, plan->hooks);
    mr__text_init(&w->label, plan->hooks);
    w->tars = mr__alloc_array(plan->hooks, plan->form_count, sizeof *w->tars);
    for (uint32_t i = 0; w->tars != NULL && i < plan->form_count; i++) {
        mr__index_build_init(&w->tars[i].index, plan->hooks);
        mr__text_init(&w->tars[i].path, plan->hooks);
    }
    return w->tars != NULL ? 0 : MR_ENOMEM;
}

void mr__shard_write_fini(mr__shard_write *w)
{
    if (w->plan == NULL)
        return;
    const mr_hooks *hooks = w->plan->hooks;
    for (uint32_t i = 0; w->tars != NULL && i < w->plan->form_count; i++) {
        mr__publication_abandon(&w->tars[i].publication);
        mr__index_build_fini(&w->tars[i].index);
        mr__buffer_fini(&w->tars[i].pending, hooks);
        mr__text_fini(&w->tars[i].path);
    }
    mr__free(hooks, w->tars);
    mr__key_set_fini(&w->names, hooks);
    mr__text_fini(&w->name);
    mr__text_fini(&w->label);
    mr__buffer_fini(&w->others, hooks);
    *w = (mr__shard_write){0};
}

static int no_memory(mr__shard_write *w)
{
    return mr__fail(&w->detail, MR_ENOMEM, "shard %zu: out of memory", w->number);
}

static const char *path_of(const mr__shard_tar *tar)
{
    return (const char *)tar->path.buffer.bytes;
}

static int fail_disk(mr__shard_write *w, const mr__shard_tar *tar, int error)
{
    if (error == ENOMEM)
        return no_memory(w);
    return mr__fail(&w->detail, MR_EIO, "%s cannot be written: %s%s", path_of(tar), mr__errno_text(error).text,
                    error == ENOSPC || error == EDQUOT ? ": make room and give the same command again, it goes on"
                                                       : "");
}

static void set_path(mr__shard_write *w, uint32_t form, const char *ending)
{
    mr__text *path = &w->tars[form].path;
    mr__text_clear(path);
    mr__text_addf(path, "%s/%s/%06zu.%s", w->folder, w->plan->forms[form].is.of.name, w->number, ending);
    mr__text_add(path, "", 1);
}

static int begin_tar(mr__shard_write *w, uint32_t form)
{
    mr__shard_tar *tar = &w->tars[form];
    set_path(w, form, "tar");
    if (tar->path.code != 0)
        return no_memory(w);
    mr__index_build_fini(&tar->index);
    mr__index_build_init(&tar->index, w->plan->hooks);
    mr__hasher_init(&tar->hasher);
    tar->position = tar->pending_nbytes = tar->rows_nbytes = 0;
    tar->quota_nbytes = 0;
    if (w->plan->forms[form].quota_nbytes != 0) /* its part by the source's bytes; never 0, which is no quota */
        tar->quota_nbytes = 1 + (uint64_t)((double)w->plan->forms[form].quota_nbytes *
                                           ((double)w->plan->nbytes[w->number] / (double)w->plan->source_nbytes));
    int error = mr__publication_begin(&tar->publication, w->disk, w->plan->hooks, path_of(tar));
    return error != 0 ? fail_disk(w, tar, error) : 0;
}

/* What in the source became no sample is told with the first shard. */
static int note_left_out(mr__shard_write *w)
{
    mr_dataset_problem problem = {.struct_size = sizeof problem};
    char file[256];
    int result = 0;
    for (uint64_t i = 0; i < w->source->problems && result == 0; i++) {
        if (mr_dataset_get_problem(w->source, i, &problem) != 0 || problem.ordinal != UINT64_MAX)
            continue;
        if (mr_dataset_file(w->source, problem.file, file, sizeof file) == 0 || w->source->layout == MR_LAYOUT_FOLDER)
            file[0] = '\0';
        const char *name = mr__path_name(file);
        result = mr__index_add_problem(&w->tars[0].index, MR__INDEX_NO_POSITION, problem.code, "%s%s%s", name,
                                       name[0] != '\0' ? ": " : "", problem.text);
    }
    return result != 0 ? no_memory(w) : 0;
}

int mr__shard_write_begin(mr__shard_write *w, size_t number)
{
    int result = 0;
    w->number = number;
    mr__key_set_fini(&w->names, w->plan->hooks);
    for (uint32_t i = 0; i < w->plan->form_count && result == 0; i++)
        result = begin_tar(w, i);
    return result == 0 && number == 0 && w->source->layout != MR_LAYOUT_PACKED ? note_left_out(w) : result;
}

static int put(mr__shard_write *w, mr__shard_tar *tar, const void *bytes, size_t nbytes)
{
    int error = mr__publication_write(&tar->publication, bytes, nbytes);
    if (error != 0)
        return fail_disk(w, tar, error);
    mr__hasher_add_by(&tar->hasher, bytes, nbytes, w->plan->cpu);
    atomic_fetch_add_explicit(&w->out_nbytes, nbytes, memory_order_relaxed);
    return 0;
}

static int flush(mr__shard_write *w, mr__shard_tar *tar)
{
    int result = tar->pending_nbytes != 0 ? put(w, tar, tar->pending.bytes, tar->pending_nbytes) : 0;
    tar->pending_nbytes = 0;
    return result;
}

static int append(mr__shard_write *w, mr__shard_tar *tar, const void *bytes, size_t nbytes)
{
    size_t used = tar->pending_nbytes;
    if (mr__buffer_grow(&tar->pending, w->plan->hooks, used, used + nbytes) != 0)
        return no_memory(w);
    memcpy(tar->pending.bytes + used, bytes, nbytes);
    tar->pending_nbytes += nbytes;
    return 0;
}

/* One member of the tar: header, payload, padding. *offset is where the payload stands. */
static int put_member(mr__shard_write *w, mr__shard_tar *tar, size_t alignment, const void *bytes, size_t nbytes,
                      uint64_t *offset)
{
    const mr_hooks *hooks = w->plan->hooks;
    size_t before = tar->pending_nbytes;
    const char *name;
    size_t name_nbytes;
    int result = mr__text_finish(&w->name, &name, &name_nbytes);
    if (result == 0)
        result = mr__tar_write_head(&tar->pending, hooks, &tar->pending_nbytes, tar->position, name, name_nbytes,
                                    nbytes, alignment);
    if (result != 0)
        return result == MR_ENOMEM ? no_memory(w)
                                   : mr__fail(&w->detail, result, "%.100s: this name cannot stand in a tar", name);
    tar->position += tar->pending_nbytes - before;
    *offset = tar->position;
    if (nbytes >= DIRECT_NBYTES) {
        result = flush(w, tar);
        if (result == 0)
            result = put(w, tar, bytes, nbytes);
    } else
        result = append(w, tar, bytes, nbytes);
    before = tar->pending_nbytes;
    if (result == 0 && mr__tar_write_padding(&tar->pending, hooks, &tar->pending_nbytes, nbytes) != 0)
        result = no_memory(w);
    tar->position += nbytes + (tar->pending_nbytes - before);
    return result == 0 && tar->pending_nbytes >= PENDING_NBYTES ? flush(w, tar) : result;
}

/* The name of the sample, unlike all others in this shard, into w->name; its length. */
static int name_sample(mr__shard_write *w, const char *key, size_t *nbytes)
{
    const char *name;
    bool there = true;
    int result = 0;
    for (unsigned attempt = 0; there && result == 0; attempt++) {
        mr__text_clear(&w->name);
        mr__pack_name(&w->name, w->plan->source_layout, key, attempt != 0);
        if (attempt > 1)
            mr__text_addf(&w->name, "%%23%zu", w->names.count + attempt - 1); /* far from those that are taken */
        result = mr__text_finish(&w->name, &name, nbytes);
        if (result == 0)
            result = mr__key_set_add(&w->names, w->plan->hooks, name, *nbytes, &there);
    }
    return result == 0 ? 0 : mr__fail(&w->detail, result, "%.100s: %s", key, mr_error_text(result));
}

static void set_ending(mr__shard_write *w, size_t base_nbytes, const char *ending)
{
    w->name.nbytes = base_nbytes;
    mr__text_addf(&w->name, ".%s", ending);
}

/* A name that leads nowhere when it is unpacked, and is not too long for that. */
static void make_safe(char out[OTHER_NBYTES], const char *name)
{
    size_t i = 0;
    for (; name[i] != '\0' && i < OTHER_MAX; i++)
        out[i] = (unsigned char)name[i] < ' ' || strchr("/\\\x7f", name[i]) != NULL ? '_' : name[i];
    if (i == 0)
        out[i++] = '_';
    out[i] = '\0';
}

/* Whether the image, the label or a member before it has this name. */
static bool is_taken(const char *name, const char *image, const mr__member *members, size_t count)
{
    bool taken = strcmp(name, image) == 0 || strcmp(name, "cls") == 0;
    for (size_t i = 0; i < count && !taken; i++)
        taken = strcmp(name, members[i].name) == 0;
    return taken;
}

/* Names of members, each its own: a second image called jpg beside the sample's becomes 2.jpg. */
static int name_others(mr__shard_write *w, const mr__pack_slot *slot, const char *image, mr__member *members)
{
    const mr__member *from = (const mr__member *)(const void *)slot->places.bytes;
    if (mr__buffer_reserve(&w->others, w->plan->hooks, slot->member_count * OTHER_NBYTES) != 0)
        return no_memory(w);
    for (size_t i = 0; i < slot->member_count; i++) {
        char *name = (char *)w->others.bytes + i * OTHER_NBYTES, safe[OTHER_NBYTES];
        make_safe(safe, from[i].name);
        snprintf(name, OTHER_NBYTES, "%s", safe);
        for (unsigned n = 2; is_taken(name, image, members, i); n++)
            snprintf(name, OTHER_NBYTES, "%u.%.*s", n, OTHER_MAX, safe);
        members[i] = from[i];
        members[i].name = name;
        members[i].name_nbytes = strlen(name);
    }
    return 0;
}

/* What else is stored with the sample; the draft's members get their names and places. */
static int put_others(mr__shard_write *w, mr__shard_tar *tar, const mr__pack_slot *slot, size_t base_nbytes,
                      const char *image, mr__member *members)
{
    const mr__member *from = (const mr__member *)(const void *)slot->places.bytes;
    int named = name_others(w, slot, image, members);
    if (named != 0)
        return named;
    for (size_t i = 0; i < slot->member_count; i++) {
        set_ending(w, base_nbytes, members[i].name);
        int result =
            put_member(w, tar, 0, slot->members.bytes + from[i].offset, (size_t)from[i].nbytes, &members[i].offset);
        if (result != 0)
            return result;
    }
    return 0;
}

/* Whether the image still fits what the budget gives this shard: with its row index, label, headers and alignment. */
static bool fits(const mr__shard_write *w, const mr__shard_tar *tar, const mr__packed_form *f)
{
    uint64_t name = w->name.nbytes > 90 ? 2 * (2048 + w->name.nbytes) : 1024;
    uint64_t more = name + f->nbytes + f->row_index_nbytes + w->label.nbytes + 1024 + 4608;
    return tar->quota_nbytes == 0 || tar->position + tar->rows_nbytes + more <= tar->quota_nbytes;
}

static int put_image(mr__shard_write *w, uint32_t form, const mr__pack_slot *slot, size_t base_nbytes, mr__draft *draft)
{
    mr__shard_tar *tar = &w->tars[form];
    const mr__packed_form *f = &slot->forms[form];
    set_ending(w, base_nbytes, mr__pack_ending((mr_form)f->record.form));
    size_t alignment = w->plan->forms[form].is.alignment == 4096 ? 4096 : 0;
    int result = put_member(w, tar, alignment, f->bytes, f->nbytes, &draft->record.offset);
    draft->row_index = slot->row_index.bytes;
    draft->row_index_nbytes = f->row_index_nbytes;
    tar->rows_nbytes += f->row_index_nbytes;
    if (result == 0 && draft->label.kind != MR_LABEL_NONE) {
        uint64_t offset;
        set_ending(w, base_nbytes, "cls");
        result = put_member(w, tar, 0, w->label.buffer.bytes, w->label.nbytes, &offset);
    }
    return result;
}

static int add_to_form(mr__shard_write *w, uint32_t form, const mr__pack_slot *slot, size_t base_nbytes,
                       const mr__draft *sample, bool *first)
{
    mr__member members[MR__MEMBER_MAX];
    mr__draft draft = *sample;
    int result = 0;
    draft.record = slot->forms[form].record;
    if (slot->code != 0)
        draft.record = (mr__record){.state = MR_RECORD_REFUSED};
    else if (draft.record.state == MR_RECORD_PRESENT && !*first && !fits(w, &w->tars[form], &slot->forms[form]))
        draft.record = (mr__record){.state = MR_RECORD_ABSENT};
    if (draft.record.state == MR_RECORD_PRESENT) {
        result = put_image(w, form, slot, base_nbytes, &draft);
        if (result == 0 && *first && slot->member_count != 0) {
            result =
                put_others(w, &w->tars[form], slot, base_nbytes, mr__pack_ending((mr_form)draft.record.form), members);
            draft.members = members;
            draft.member_count = slot->member_count;
        }
        *first = false;
    }
    if (result == 0) {
        result = mr__index_add(&w->tars[form].index, &draft);
        if (result != 0)
            mr__fail(&w->detail, result, "%.100s cannot stand in an index: %s", draft.key, mr_error_text(result));
    }
    return result;
}

int mr__shard_write_add(mr__shard_write *w, const mr__pack_slot *slot)
{
    mr_sample sample = {.struct_size = sizeof sample};
    mr__draft draft = {0};
    bool first = true;
    char key[MR__TAR_PATH_MAX];
    int result = mr_dataset_sample(w->source, slot->ordinal, &sample);
    if (result != 0)
        return mr__fail(&w->detail, result, "sample %llu: its index is damaged", (unsigned long long)slot->ordinal);
    result = name_sample(w, sample.key, &draft.key_nbytes);
    mr__text_clear(&w->label);
    mr__pack_label(&w->label, &sample.label);
    if (result == 0 && (w->label.code != 0 || draft.key_nbytes >= sizeof key))
        result = w->label.code != 0 ? no_memory(w)
                                    : mr__fail(&w->detail, MR_ELIMIT, "%.100s...: too long a key", sample.key);
    if (result != 0)
        return result;
    memcpy(key, w->name.buffer.bytes, draft.key_nbytes);
    draft.key = key;
    draft.label = sample.label;
    uint32_t position = (uint32_t)(slot->ordinal - w->plan->first[w->number]);
    for (uint32_t i = 0; i < w->plan->form_count && result == 0; i++)
        result = add_to_form(w, i, slot, draft.key_nbytes, &draft, &first);
    if (result == 0 && slot->code != 0)
        result =
            mr__index_add_problem(&w->tars[0].index, position, slot->code, "%s: %s", sample.key, slot->detail.text);
    return result;
}

static int finish_tar(mr__shard_write *w, mr__shard_tar *tar)
{
    if (mr__tar_write_end(&tar->pending, w->plan->hooks, &tar->pending_nbytes) != 0)
        return no_memory(w);
    tar->position += 2 * MR__TAR_BLOCK;
    int result = flush(w, tar);
    if (result != 0)
        return result;
    int error = mr__publication_finish(&tar->publication);
    return error != 0 ? fail_disk(w, tar, error) : 0;
}

static int finish_index(mr__shard_write *w, uint32_t form)
{
    mr__shard_tar *tar = &w->tars[form];
    const mr__index_head head = {.layout = MR_LAYOUT_PACKED,
                                 .shard = w->number,
                                 .data_nbytes = tar->position,
                                 .data_hash = mr__hasher_value(&tar->hasher),
                                 .made_of = w->plan->hash};
    const uint8_t *bytes;
    size_t nbytes;
    int result = mr__index_build_finish(&tar->index, &head, &bytes, &nbytes);
    if (result != 0)
        return mr__fail(&w->detail, result, "the index of %s cannot be made: %s", path_of(tar), mr_error_text(result));
    set_path(w, form, "mrx");
    if (tar->path.code != 0)
        return no_memory(w);
    int error = mr__disk_publish(w->disk, w->plan->hooks, path_of(tar), bytes, nbytes);
    return error != 0 ? fail_disk(w, tar, error) : 0;
}

int mr__shard_write_finish(mr__shard_write *w)
{
    int result = 0;
    for (uint32_t i = 0; i < w->plan->form_count && result == 0; i++)
        result = finish_tar(w, &w->tars[i]);
    for (uint32_t i = 0; i < w->plan->form_count && result == 0; i++)
        result = finish_index(w, i);
    return result;
}
