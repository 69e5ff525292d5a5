// SPDX-License-Identifier: Apache-2.0
/*
 * Parts into one dataset. Each shard is looked for where it is: in the folder of the whole, or in that of its part; it
 * is verified there, and then moved, or copied where the two are on different file systems. So a merge that was stopped
 * goes on when it is called again.
 */
#include "dataset/pack.h"

#include "base/hash.h"
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
            mr__hasher_add(&hasher, g->buffer.bytes, got);
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

/* Where a file of a part is now, and where it is to be. */
typedef struct journey {
    char source[MR__PATH_MAX], target[MR__PATH_MAX];
    bool there;
    uint64_t nbytes, hash;
} journey;

typedef int step(merging *g, const part *from, const journey *j);

static int check_file(merging *g, const part *from, const journey *j)
{
    const char *is = j->there ? j->target : j->source;
    int error = pass_file(g, is, j->nbytes, j->hash, NULL);
    if (error == EBADMSG)
        return mr__fail(&g->packer->detail, MR_ECORRUPT,
                        "%s is damaged: its hash is not that in %s; pack this part again", is, from->name);
    return error != 0 ? fail_path(g->packer, is, error) : 0;
}

static int bring_file(merging *g, const part *from, const journey *j)
{
    mr_packer *p = g->packer;
    (void)from;
    if (j->there)
        return 0;
    int error = p->disk->rename(p->disk, j->source, j->target);
    if (error == EXDEV)
        error = copy_file(g, j->source, j->target, j->nbytes, j->hash);
    return error != 0 ? fail_path(p, j->target, error) : 0;
}

static int step_file(merging *g, const part *from, step *do_it, const char *form, size_t shard, const char *ending,
                     journey *j)
{
    if (mr__shard_name(j->source, sizeof j->source, from->folder, form, shard, ending) >= (int)sizeof j->source ||
        mr__shard_name(j->target, sizeof j->target, g->folder, form, shard, ending) >= (int)sizeof j->target)
        return mr__fail(&g->packer->detail, MR_EARGUMENT, "%.100s...: too long a name", from->folder);
    j->there = access(j->target, F_OK) == 0;
    return do_it(g, from, j);
}

/* The tar before its index, as packing does it. */
static int step_part(merging *g, const part *from, step *do_it)
{
    const mr__manifest *m = &from->m;
    journey j;
    for (size_t i = 0; i < m->shard_count; i++)
        for (uint32_t f = 0; f < m->form_count; f++) {
            const mr__manifest_file *file = &m->files[i * m->form_count + f];
            size_t shard = (size_t)m->first_shard + i;
            j.nbytes = file->nbytes;
            j.hash = file->hash;
            int result = step_file(g, from, do_it, m->forms[f].of.name, shard, "tar", &j);
            j.nbytes = file->index_nbytes;
            j.hash = file->index_hash;
            if (result == 0)
                result = step_file(g, from, do_it, m->forms[f].of.name, shard, "mrx", &j);
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

static int sync_forms(merging *g, const char *folder)
{
    mr_packer *p = g->packer;
    const mr__manifest *m = &g->parts[0].m;
    char path[MR__PATH_MAX];
    for (uint32_t f = 0; f < m->form_count; f++) {
        int result = mr__pack_path(p, path, folder, m->forms[f].of.name);
        int error = result == 0 ? p->disk->sync_folder(p->disk, path) : 0;
        if (result != 0 || (error != 0 && error != ENOENT))
            return result != 0 ? result : fail_path(p, path, error);
    }
    return 0;
}

/* A move is in both folders: one that lasts in neither, or in one, would leave a dataset.json without its shards. */
static int sync_folders(merging *g)
{
    mr_packer *p = g->packer;
    int result = sync_forms(g, g->folder);
    for (size_t i = 0; i < g->count && result == 0; i++)
        result = sync_forms(g, g->parts[i].folder);
    int error = result == 0 ? p->disk->sync_folder(p->disk, g->folder) : 0;
    return error != 0 ? fail_path(p, g->folder, error) : result;
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
        if (g->parts[i].folder == NULL)
            continue;
        if (mr__pack_path(g->packer, path, g->parts[i].folder, MR__PLAN_NAME) == 0)
            disk->remove(disk, path);
        if (mr__pack_path(g->packer, path, g->parts[i].folder, g->parts[i].name) == 0)
            disk->remove(disk, path);
    }
}

static int step_parts(merging *g, step *do_it)
{
    mr_packer *p = g->packer;
    int result = 0;
    for (size_t i = 0; i < g->count && result == 0; i++) {
        const mr_progress progress = {
            .verb = "merging", .unit = "parts", .done = i, .total = g->count, .in_nbytes = p->report.in_nbytes};
        if (p->options.progress != NULL && !p->options.progress(p->options.progress_user, &progress))
            return mr__fail(&p->detail, MR_ECLOSED, "stopped");
        result = step_part(g, &g->parts[i], do_it);
    }
    return result;
}

/* Every hash is checked before anything is moved. */
static int merge(merging *g)
{
    mr_packer *p = g->packer;
    int result = step_parts(g, check_file);
    int error = result == 0 ? p->disk->make_folder(p->disk, g->folder) : 0;
    if (result == 0)
        result = error != 0 ? fail_path(p, g->folder, error) : make_folders(g);
    if (result == 0)
        result = step_parts(g, bring_file);
    if (result == 0)
        result = sync_folders(g);
    if (result == 0)
        result = finish(g);
    if (result == 0)
        tidy(g);
    return result;
}

/*
 * The dataset of an earlier merge, which was stopped before or while it tidied up: what is left of its parts goes.
 * Another one is never changed.
 */
static int take_complete(merging *g, const mr__manifest *m)
{
    mr_packer *p = g->packer;
    char path[MR__PATH_MAX];
    for (size_t i = 0; i < g->count; i++)
        if (g->parts[i].folder != NULL && g->parts[i].m.plan != m->plan)
            return mr__fail(&p->detail, MR_EARGUMENT,
                            "%s is a packed dataset from another source or with other options, and those are never "
                            "changed: choose another folder",
                            g->folder);
    p->report.was_complete = true;
    p->report.samples = m->samples;
    p->report.refused = m->refused;
    p->report.shards = p->report.shards_found = m->shard_count;
    for (size_t i = 0; i < m->shard_count * m->form_count; i++)
        p->report.out_nbytes += m->files[i].nbytes + m->files[i].index_nbytes;
    /* Who wrote it may have been stopped before its name was to last, and what is left of the parts is all there is. */
    int error = p->disk->sync_folder(p->disk, g->folder);
    if (error != 0)
        return fail_path(p, g->folder, error);
    if (mr__pack_path(p, path, g->folder, MR__PLAN_NAME) == 0)
        p->disk->remove(p->disk, path); /* its part may be gone already */
    tidy(g);
    return 0;
}

static int merge_folders(merging *g, const char *const *folders, size_t count)
{
    mr_packer *p = g->packer;
    char path[MR__PATH_MAX];
    mr__manifest m;
    int result = mr__pack_path(p, path, g->folder, MR__MANIFEST_NAME);
    if (result != 0)
        return result;
    bool complete = access(path, F_OK) == 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = find_parts(g, folders[i]);
        if (complete && result == MR_EFORMAT) /* it had one: see take_complete */
            result = 0;
    }
    if (result != 0)
        return result;
    if (!complete) {
        result = check_parts(g);
        return result == 0 ? merge(g) : result;
    }
    mr__manifest_init(&m, &p->hooks);
    result = mr__manifest_load(&m, path, &p->detail);
    if (result == 0)
        result = take_complete(g, &m);
    mr__manifest_fini(&m);
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
    p->report = (mr_pack_report){.struct_size = sizeof p->report};
    int result = merge_folders(&g, folders, count);
    for (size_t i = 0; i < g.count; i++)
        if (g.parts[i].folder != NULL)
            mr__manifest_fini(&g.parts[i].m);
    mr__free(&p->hooks, g.parts);
    mr__buffer_fini(&g.buffer, &p->hooks);
    if (result == 0 && report != NULL && !mr__struct_give(report, &p->report, sizeof p->report))
        return MR_EARGUMENT;
    if (result == 0)
        mr__detail_clear(&p->detail);
    return result;
}
