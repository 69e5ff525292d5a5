// SPDX-License-Identifier: Apache-2.0
/*
 * Parts into one dataset. Each shard is looked for where it is: in the folder of the whole, or in that of its part; it
 * is verified there, and then moved, or copied where the two are on different file systems. So a merge that was stopped
 * goes on when it is called again.
 */
#include "dataset/pack.h"

#include "kernel/hash.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COPY_NBYTES = 4 << 20, PART_MAX = 65536 };

typedef struct part {
    mr__manifest m;
    const char *folder;
    char name[64]; /* of its file */
} part;

typedef struct merging {
    mr_packer *packer;
    const char *folder;
    part *parts; /* by number */
    size_t count;
    mr__buffer buffer;
} merging;

static int fail_path(mr_packer *p, const char *path, int error)
{
    return mr__fail(&p->detail, error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s: %s", path, mr__errno_text(error).text);
}

/* Loads one part's file and puts it in its place. */
static int add_part(merging *g, const char *folder, const char *name)
{
    mr_packer *p = g->packer;
    char path[MR__PATH_MAX];
    mr__manifest m;
    int result = mr__pack_path(p, path, folder, name);
    if (result != 0)
        return result;
    mr__manifest_init(&m, &p->hooks);
    result = mr__manifest_load(&m, path, &p->detail);
    if (result != 0)
        return result;
    if (g->parts == NULL && m.parts != 0 && m.parts <= PART_MAX) {
        g->parts = mr__alloc_array(&p->hooks, m.parts, sizeof *g->parts);
        g->count = g->parts != NULL ? m.parts : 0;
    }
    if (g->parts == NULL)
        result = mr__fail(&p->detail, MR_ENOMEM, "%s: out of memory for %u parts", path, m.parts);
    else if (m.parts != g->count)
        result = mr__fail(&p->detail, MR_EARGUMENT, "%s is of %u parts, others are of %zu", path, m.parts, g->count);
    else if (g->parts[m.part].folder != NULL)
        result = mr__fail(&p->detail, MR_EARGUMENT, "part %u is there twice: in %.60s and in %.60s", m.part,
                          g->parts[m.part].folder, folder);
    if (result != 0) {
        mr__manifest_fini(&m);
        return result;
    }
    part *to = &g->parts[m.part];
    to->m = m;
    to->folder = folder;
    snprintf(to->name, sizeof to->name, "%.63s", name);
    return 0;
}

/* "part-2-of-8.json": what it says inside counts. */
static bool is_part_name(const char *name)
{
    size_t nbytes = strlen(name);
    return nbytes > 10 && nbytes < sizeof((part *)NULL)->name && strncmp(name, "part-", 5) == 0 &&
           strcmp(name + nbytes - 5, ".json") == 0;
}

static int find_parts(merging *g, const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int result = 0, found = 0;
    if (folder == NULL)
        return fail_path(g->packer, path, errno);
    while (result == 0 && (entry = readdir(folder)) != NULL)
        if (is_part_name(entry->d_name)) {
            result = add_part(g, path, entry->d_name);
            found++;
        }
    closedir(folder);
    if (result == 0 && found == 0)
        result = mr__fail(&g->packer->detail, MR_EFORMAT, "%s: there is no finished part in it (millrace pack --part)",
                          path);
    return result;
}

static bool same_forms(const mr__manifest *a, const mr__manifest *b)
{
    if (a->form_count != b->form_count)
        return false;
    for (uint32_t i = 0; i < a->form_count; i++)
        if (strcmp(a->forms[i].of.name, b->forms[i].of.name) != 0)
            return false;
    return true;
}

/* All parts are there, of one plan, and their shards follow each other. */
static int check_parts(const merging *g)
{
    mr_packer *p = g->packer;
    const mr__manifest *first = &g->parts[0].m;
    uint64_t next = 0;
    for (size_t i = 0; i < g->count; i++) {
        const mr__manifest *m = &g->parts[i].m;
        if (g->parts[i].folder == NULL)
            return mr__fail(&p->detail, MR_EARGUMENT, "part %zu of %zu is missing", i, g->count);
        if (m->plan != first->plan || m->total_shards != first->total_shards || !same_forms(m, first))
            return mr__fail(&p->detail, MR_EARGUMENT, "part %zu was packed from another source or with other options",
                            i);
        if (m->first_shard != next)
            return mr__fail(&p->detail, MR_ECORRUPT, "part %zu begins with shard %llu, and not with %llu", i,
                            (unsigned long long)m->first_shard, (unsigned long long)next);
        next += m->shard_count;
    }
    if (next != first->total_shards)
        return mr__fail(&p->detail, MR_ECORRUPT, "%llu shards of %llu", (unsigned long long)next,
                        (unsigned long long)first->total_shards);
    return 0;
}

/* Goes through a file, hashing, and writes it to `to` unless that is NULL. Results are 0 or an errno; EBADMSG: the
 * hash. */
static int pass_file(merging *g, const char *path, uint64_t nbytes, uint64_t hash, mr__publication *to)
{
    mr__file file;
    mr__hasher hasher;
    mr__cpu_flags cpu = mr__cpu_detect();
    size_t got = 0;
    int error = mr__file_open(&file, path);
    if (error != 0)
        return error;
    mr__hasher_init(&hasher);
    error = file.nbytes != nbytes                                                 ? EBADMSG
            : mr__buffer_reserve(&g->buffer, &g->packer->hooks, COPY_NBYTES) != 0 ? ENOMEM
                                                                                  : 0;
    for (uint64_t at = 0; at < nbytes && error == 0; at += got) {
        error = mr__file_read(&file, at, g->buffer.bytes, COPY_NBYTES, &got);
        if (error == 0 && got == 0)
            error = EBADMSG;
        if (error == 0)
            mr__hasher_add_by(&hasher, g->buffer.bytes, got, cpu);
        if (error == 0 && to != NULL)
            error = mr__publication_write(to, g->buffer.bytes, got);
        g->packer->report.in_nbytes += got;
    }
    mr__file_close(&file);
    return error == 0 && mr__hasher_value(&hasher) != hash ? EBADMSG : error;
}

static int copy_file(merging *g, const char *from, const char *to, uint64_t nbytes, uint64_t hash)
{
    mr__publication publication;
    int error = mr__publication_begin(&publication, g->packer->disk, &g->packer->hooks, to);
    if (error != 0)
        return error;
    error = pass_file(g, from, nbytes, hash, &publication);
    if (error == 0)
        return mr__publication_finish(&publication);
    mr__publication_abandon(&publication);
    return error;
}

static int bring_file(merging *g, const part *from, const char *form, size_t shard, const char *ending, uint64_t nbytes,
                      uint64_t hash)
{
    mr_packer *p = g->packer;
    char source[MR__PATH_MAX], target[MR__PATH_MAX];
    if (mr__shard_name(source, sizeof source, from->folder, form, shard, ending) >= (int)sizeof source ||
        mr__shard_name(target, sizeof target, g->folder, form, shard, ending) >= (int)sizeof target)
        return mr__fail(&p->detail, MR_EARGUMENT, "%.100s...: too long a name", from->folder);
    bool there = access(target, F_OK) == 0;
    const char *is = there ? target : source;
    int error = pass_file(g, is, nbytes, hash, NULL);
    if (error == EBADMSG)
        return mr__fail(&p->detail, MR_ECORRUPT, "%s is damaged: its hash is not that in %s; pack this part again", is,
                        from->name);
    if (error == 0 && !there) {
        error = p->disk->rename(p->disk, source, target);
        if (error == EXDEV)
            error = copy_file(g, source, target, nbytes, hash);
    }
    return error != 0 ? fail_path(p, is, error) : 0;
}

/* The tar before its index, as packing does it. */
static int bring_part(merging *g, const part *from)
{
    const mr__manifest *m = &from->m;
    for (size_t i = 0; i < m->shard_count; i++)
        for (uint32_t f = 0; f < m->form_count; f++) {
            const mr__manifest_file *file = &m->files[i * m->form_count + f];
            size_t shard = (size_t)m->first_shard + i;
            int result = bring_file(g, from, m->forms[f].of.name, shard, "tar", file->nbytes, file->hash);
            if (result == 0)
                result = bring_file(g, from, m->forms[f].of.name, shard, "mrx", file->index_nbytes, file->index_hash);
            if (result != 0)
                return result;
        }
    return 0;
}

static int make_folders(merging *g)
{
    mr_packer *p = g->packer;
    const mr__manifest *m = &g->parts[0].m;
    char path[MR__PATH_MAX];
    for (uint32_t f = 0; f < m->form_count; f++) {
        int result = mr__pack_path(p, path, g->folder, m->forms[f].of.name);
        if (result != 0)
            return result;
        int error = p->disk->make_folder(p->disk, path);
        if (error != 0)
            return fail_path(p, path, error);
    }
    return 0;
}

static int sync_folders(merging *g)
{
    mr_packer *p = g->packer;
    const mr__manifest *m = &g->parts[0].m;
    char path[MR__PATH_MAX];
    for (uint32_t f = 0; f < m->form_count; f++) {
        int result = mr__pack_path(p, path, g->folder, m->forms[f].of.name);
        int error = result == 0 ? p->disk->sync_folder(p->disk, path) : 0;
        if (result != 0 || error != 0)
            return result != 0 ? result : fail_path(p, path, error);
    }
    int error = p->disk->sync_folder(p->disk, g->folder);
    return error != 0 ? fail_path(p, g->folder, error) : 0;
}

static int finish(merging *g)
{
    mr_packer *p = g->packer;
    const mr__manifest *from = &g->parts[0].m;
    mr__manifest m;
    int result = 0;
    mr__manifest_init(&m, &p->hooks);
    m.plan = from->plan;
    m.source_layout = from->source_layout;
    m.source_fingerprint = from->source_fingerprint;
    m.total_shards = from->total_shards;
    m.form_count = from->form_count;
    for (uint32_t i = 0; i < m.form_count; i++) {
        m.forms[i] = from->forms[i];
        m.forms[i].of.samples = m.forms[i].of.nbytes = 0;
    }
    for (uint64_t i = 0; i < from->class_count && result == 0; i++)
        result = mr__manifest_add_class(&m, from->classes[i], strlen(from->classes[i]));
    if (result != 0)
        mr__fail(&p->detail, result, "out of memory");
    else
        result = mr__pack_finish(p, &m, g->folder, 0, (size_t)from->total_shards);
    mr__manifest_fini(&m);
    return result;
}

/* What told of parts is of no use any more; the whole is there. */
static void tidy(merging *g)
{
    char path[MR__PATH_MAX];
    const mr__disk *disk = g->packer->disk;
    for (size_t i = 0; i < g->count; i++) {
        if (mr__pack_path(g->packer, path, g->parts[i].folder, g->parts[i].name) == 0)
            disk->remove(disk, path);
        if (mr__pack_path(g->packer, path, g->parts[i].folder, MR__PLAN_NAME) == 0)
            disk->remove(disk, path);
    }
}

static int merge(merging *g)
{
    mr_packer *p = g->packer;
    int error = p->disk->make_folder(p->disk, g->folder);
    int result = error != 0 ? fail_path(p, g->folder, error) : make_folders(g);
    for (size_t i = 0; i < g->count && result == 0; i++) {
        const mr_progress progress = {
            .verb = "merging", .unit = "parts", .done = i, .total = g->count, .in_nbytes = p->report.in_nbytes};
        if (p->options.progress != NULL && !p->options.progress(p->options.progress_user, &progress))
            result = mr__fail(&p->detail, MR_ECLOSED, "stopped");
        if (result == 0)
            result = bring_part(g, &g->parts[i]);
    }
    if (result == 0)
        result = sync_folders(g);
    if (result == 0)
        result = finish(g);
    if (result == 0)
        tidy(g);
    return result;
}

int mr_packer_merge(mr_packer *p, const char *const *folders, size_t count, const char *folder, mr_pack_report *report)
{
    if (p == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&p->detail);
    if (folders == NULL || count == 0 || folder == NULL)
        return mr__fail(&p->detail, MR_EARGUMENT, "folders of parts, and one for the whole, are needed");
    merging g = {.packer = p, .folder = folder};
    int result = 0;
    p->report = (mr_pack_report){.struct_size = sizeof p->report};
    for (size_t i = 0; i < count && result == 0; i++)
        result = find_parts(&g, folders[i]);
    if (result == 0)
        result = check_parts(&g);
    if (result == 0)
        result = merge(&g);
    for (size_t i = 0; i < g.count; i++)
        if (g.parts[i].folder != NULL)
            mr__manifest_fini(&g.parts[i].m);
    mr__free(&p->hooks, g.parts);
    mr__buffer_fini(&g.buffer, &p->hooks);
    if (result == 0 && report != NULL && !mr__struct_give(report, &p->report, sizeof p->report))
        return MR_EARGUMENT;
    return result;
}
