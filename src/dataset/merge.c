// SPDX-License-Identifier: Apache-2.0
/*
 * Parts into one dataset. Each shard is looked for where it is: in the folder of the whole, or in that of its part; it
 * is verified there, and then moved, or copied where the two are on different file systems. So a merge that was stopped
 * goes on when it is called again.
 */
#include "dataset/pack.h"

#include "base/hash.h"
#include "dataset/parallel.h"
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

/* A file that belongs to the whole. */
typedef struct piece {
    const part *from;
    const char *form;
    size_t shard;
    const char *ending;
    uint64_t nbytes, hash;
} piece;

typedef struct merging {
    mr_packer *packer;
    const char *folder;
    part *parts; /* by number */
    size_t count;
    mr__buffer *buffers; /* one for each thread */
    size_t buffer_count;
    piece *pieces; /* in the order in which they are published: a tar before its index */
    size_t piece_count;
    mr__detail *details; /* one for each thread */
    atomic_uint_least64_t read_nbytes;
    uint64_t total_nbytes;
    atomic_bool stop;
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
static int pass_file(merging *g, const char *path, const piece *is, mr__buffer *buffer, mr__publication *to)
{
    mr__file file;
    mr__hasher hasher;
    mr__cpu_flags cpu = mr__cpu_detect();
    size_t got = 0;
    int error = mr__file_open(&file, path);
    if (error != 0)
        return error;
    mr__hasher_init(&hasher);
    if (mr__buffer_reserve(buffer, &g->packer->hooks, COPY_NBYTES) != 0)
        error = ENOMEM;
    else if (file.nbytes != is->nbytes)
        error = EBADMSG;
    for (uint64_t at = 0; at < is->nbytes && error == 0; at += got) {
        error = mr__file_read(&file, at, buffer->bytes, COPY_NBYTES, &got);
        if (error == 0 && (got == 0 || atomic_load(&g->stop)))
            error = got == 0 ? EBADMSG : ECANCELED;
        if (error == 0)
            mr__hasher_add_by(&hasher, buffer->bytes, got, cpu);
        if (error == 0 && to != NULL)
            error = mr__publication_write(to, buffer->bytes, got);
        atomic_fetch_add(&g->read_nbytes, got);
    }
    mr__file_close(&file);
    return error == 0 && mr__hasher_value(&hasher) != is->hash ? EBADMSG : error;
}

static int copy_file(merging *g, const char *from, const char *to, const piece *is)
{
    mr__publication publication;
    int error = mr__publication_begin(&publication, g->packer->disk, &g->packer->hooks, to);
    if (error != 0)
        return error;
    error = pass_file(g, from, is, &g->buffers[0], &publication);
    if (error == 0)
        return mr__publication_finish(&publication);
    mr__publication_abandon(&publication);
    return error;
}

/* Where it is now: in the whole already, or still in its part. */
static bool find_piece(const merging *g, const piece *is, char source[MR__PATH_MAX], char target[MR__PATH_MAX])
{
    mr__shard_name(source, MR__PATH_MAX, is->from->folder, is->form, is->shard, is->ending);
    mr__shard_name(target, MR__PATH_MAX, g->folder, is->form, is->shard, is->ending);
    return access(target, F_OK) == 0;
}

static int check_piece(void *arg, size_t number, size_t worker)
{
    merging *g = arg;
    const piece *is = &g->pieces[number];
    char source[MR__PATH_MAX], target[MR__PATH_MAX];
    const char *path = find_piece(g, is, source, target) ? target : source;
    int error = pass_file(g, path, is, &g->buffers[worker], NULL);
    if (error == ECANCELED)
        return MR_ECLOSED;
    if (error == EBADMSG)
        return mr__fail(&g->details[worker], MR_ECORRUPT,
                        "%s is damaged: its hash is not that in %s; remove it and pack this part again", path,
                        is->from->name);
    return error != 0 ? mr__fail(&g->details[worker], error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s: %s", path,
                                 mr__errno_text(error).text)
                      : 0;
}

static bool tell(void *arg)
{
    merging *g = arg;
    const mr_pack_options *o = &g->packer->options;
    uint64_t done = atomic_load(&g->read_nbytes);
    const mr_progress progress = {
        .verb = "merging", .unit = "bytes", .done = done, .total = g->total_nbytes, .in_nbytes = done};
    return o->progress(o->progress_user, &progress);
}

/* Every hash, before anything is moved. */
static int check_pieces(merging *g)
{
    mr_packer *p = g->packer;
    const mr__parallel loop = {.hooks = &p->hooks,
                               .threads = p->options.threads,
                               .count = g->piece_count,
                               .work = check_piece,
                               .arg = g,
                               .tick = p->options.progress != NULL ? tell : NULL,
                               .stop = &g->stop};
    g->buffer_count = mr__parallel_threads(&loop);
    g->buffers = mr__alloc_array(&p->hooks, g->buffer_count, sizeof *g->buffers);
    g->details = mr__alloc_array(&p->hooks, g->buffer_count, sizeof *g->details);
    int result = g->buffers != NULL && g->details != NULL ? mr__parallel_run(&loop) : MR_ENOMEM;
    if (result != 0)
        mr__fail(&p->detail, result, "%s", result == MR_ECLOSED ? "stopped" : mr_error_text(result));
    for (size_t i = 0; g->details != NULL && i < g->buffer_count && result != 0; i++)
        if (g->details[i].text[0] != '\0')
            p->detail = g->details[i];
    p->report.in_nbytes = atomic_load(&g->read_nbytes);
    return result;
}

static int bring_piece(merging *g, const piece *is)
{
    mr_packer *p = g->packer;
    char source[MR__PATH_MAX], target[MR__PATH_MAX];
    if (find_piece(g, is, source, target))
        return 0;
    int error = p->disk->rename(p->disk, source, target);
    if (error == EXDEV)
        error = copy_file(g, source, target, is);
    return error != 0 ? fail_path(p, source, error) : 0;
}

static void list_part(merging *g, const part *from)
{
    const mr__manifest *m = &from->m;
    for (size_t i = 0; i < m->shard_count; i++)
        for (uint32_t f = 0; f < m->form_count; f++) {
            const mr__manifest_file *file = &m->files[i * m->form_count + f];
            piece is = {from, m->forms[f].of.name, (size_t)m->first_shard + i, "tar", file->nbytes, file->hash};
            g->pieces[g->piece_count++] = is;
            is.ending = "mrx";
            is.nbytes = file->index_nbytes;
            is.hash = file->index_hash;
            g->pieces[g->piece_count++] = is;
            g->total_nbytes += file->nbytes + file->index_nbytes;
        }
}

static int list_pieces(merging *g)
{
    const mr__manifest *m = &g->parts[0].m;
    size_t longest = strlen(g->folder);
    g->pieces = mr__alloc_array(&g->packer->hooks, (size_t)m->total_shards * m->form_count * 2 + 1, sizeof *g->pieces);
    if (g->pieces == NULL)
        return mr__fail(&g->packer->detail, MR_ENOMEM, "out of memory for %llu shards",
                        (unsigned long long)m->total_shards);
    for (size_t i = 0; i < g->count; i++) {
        size_t nbytes = strlen(g->parts[i].folder);
        longest = nbytes > longest ? nbytes : longest;
        list_part(g, &g->parts[i]);
    }
    if (longest + MR__FORM_NAME_NBYTES + 32 > MR__PATH_MAX)
        return mr__fail(&g->packer->detail, MR_EARGUMENT, "too long a name of a folder");
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
        mr__pack_tidy(g->packer, g->parts[i].folder);
        if (mr__pack_path(g->packer, path, g->parts[i].folder, g->parts[i].name) == 0)
            disk->remove(disk, path);
    }
}

static int merge(merging *g)
{
    mr_packer *p = g->packer;
    int result = list_pieces(g);
    if (result == 0)
        result = check_pieces(g);
    int error = result == 0 ? p->disk->make_folder(p->disk, g->folder) : 0;
    if (error != 0)
        result = fail_path(p, g->folder, error);
    if (result == 0)
        result = make_folders(g);
    for (size_t i = 0; i < g->piece_count && result == 0; i++)
        result = bring_piece(g, &g->pieces[i]);
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

static void fini(merging *g)
{
    const mr_hooks *hooks = &g->packer->hooks;
    for (size_t i = 0; i < g->count; i++)
        if (g->parts[i].folder != NULL)
            mr__manifest_fini(&g->parts[i].m);
    for (size_t i = 0; g->buffers != NULL && i < g->buffer_count; i++)
        mr__buffer_fini(&g->buffers[i], hooks);
    mr__free(hooks, g->parts);
    mr__free(hooks, g->buffers);
    mr__free(hooks, g->details);
    mr__free(hooks, g->pieces);
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
    fini(&g);
    return mr__pack_end(p, result, report);
}
