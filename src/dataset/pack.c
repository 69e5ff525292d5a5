// SPDX-License-Identifier: Apache-2.0
/*
 * Packing, from its options to dataset.json. What was done before is found by looking: a shard whose indexes are there,
 * whole and of this plan, is done.
 *
 * Invariants
 * 1. dataset.json is written last: whoever finds it finds all it names.
 * 2. Nothing that was published is written again.
 */
#include "dataset/pack.h"

#include "base/limits.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int copy_options(mr_packer *p, const mr_pack_options *given)
{
    mr_pack_options *o = &p->options;
    if (!mr__struct_copy(o, sizeof *o, given) || mr__limits_init(&p->limits, o->limits) != 0)
        return MR_EARGUMENT;
    bool parts = o->parts == 0 ? o->part != 0 : o->part >= o->parts;
    if (parts || o->form_count > MR__FORM_MAX || (o->form_count != 0 && o->forms == NULL) ||
        (unsigned)o->alignment > MR_ALIGN_PAGE || o->max_bad > MR__SHARE_ALL ||
        (o->pillow != 0 && o->pillow != 12 && o->pillow != 13) || (unsigned)o->filter > MR_FILTER_LANCZOS)
        return MR_EARGUMENT;
    for (size_t i = 0; i < o->form_count; i++)
        if (!mr__struct_copy(&p->forms[i], sizeof p->forms[i], &o->forms[i]))
            return MR_EARGUMENT;
    o->forms = p->forms;
    o->limits = &p->limits;
    p->limits.struct_size = sizeof p->limits;
    for (size_t i = 0; i < o->form_count; i++)
        p->forms[i].struct_size = sizeof p->forms[i];
    return 0;
}

int mr_packer_new(const mr_pack_options *options, mr_packer **out)
{
    mr_pack_options copy;
    mr_hooks hooks;
    if (out == NULL || !mr__struct_copy(&copy, sizeof copy, options) || mr__hooks_init(&hooks, copy.hooks) != 0)
        return MR_EARGUMENT;
    mr_packer *p = mr__alloc_zero(&hooks, sizeof *p);
    if (p == NULL)
        return MR_ENOMEM;
    p->hooks = hooks;
    p->disk = &mr__disk_real;
    int result = copy_options(p, options);
    if (result != 0) {
        mr_packer_free(p);
        return result;
    }
    *out = p;
    return 0;
}

void mr_packer_free(mr_packer *p)
{
    if (p == NULL)
        return;
    mr_hooks hooks = p->hooks;
    mr__free(&hooks, p);
}

const char *mr_packer_detail(const mr_packer *p)
{
    return p != NULL ? p->detail.text : "";
}

void mr__packer_set_disk(mr_packer *p, const mr__disk *disk)
{
    p->disk = disk;
}

void mr__manifest_file_name(char *name, size_t nbytes, uint32_t part, uint32_t parts)
{
    if (parts != 0)
        snprintf(name, nbytes, "part-%u-of-%u.json", part, parts);
    else
        snprintf(name, nbytes, MR__MANIFEST_NAME);
}

int mr__pack_path(mr_packer *p, char path[MR__PATH_MAX], const char *folder, const char *name)
{
    if (snprintf(path, MR__PATH_MAX, "%s/%s", folder, name) < MR__PATH_MAX)
        return 0;
    return mr__fail(&p->detail, MR_EARGUMENT, "%.100s...: too long a name", folder);
}

void mr__pack_tidy(mr_packer *p, const char *folder)
{
    char path[MR__PATH_MAX];
    if (mr__pack_path(p, path, folder, MR__PLAN_NAME) == 0)
        p->disk->remove(p->disk, path);
}

static int fail_disk(mr_packer *p, const char *path, int error)
{
    return mr__fail(&p->detail, error == ENOMEM ? MR_ENOMEM : MR_EIO, "%s: %s", path, mr__errno_text(error).text);
}

/* Whether the path still names what is open. */
static bool is_still(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* Two runs at once would take each other's temporary files away; parts may run side by side. */
static int lock(mr__pack_job *job, int *fd)
{
    mr_packer *p = job->packer;
    char name[64], path[MR__PATH_MAX];
    snprintf(name, sizeof name, p->options.parts != 0 ? ".lock-%u-of-%u" : ".lock", p->options.part, p->options.parts);
    int result = mr__pack_path(p, path, job->folder, name);
    if (result != 0)
        return result;
    for (;;) { /* once more when who had it removed it between open and lock */
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (*fd < 0)
            return fail_disk(p, path, errno);
        if (flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            return mr__fail(&p->detail, MR_EIO, "%s is being packed by another process", job->folder);
        if (is_still(*fd, path))
            return 0;
        close(*fd);
    }
}

static void unlock(mr__pack_job *job, int fd)
{
    char name[64], path[MR__PATH_MAX];
    const mr_pack_options *o = &job->packer->options;
    if (fd < 0)
        return;
    snprintf(name, sizeof name, o->parts != 0 ? ".lock-%u-of-%u" : ".lock", o->part, o->parts);
    if (mr__pack_path(job->packer, path, job->folder, name) == 0)
        unlink(path);
    close(fd);
}

/* Whether there is anything in the folder that is not hidden. */
static int look_whether_empty(mr__pack_job *job)
{
    DIR *folder = opendir(job->folder);
    struct dirent *entry;
    int result = 0;
    if (folder == NULL)
        return fail_disk(job->packer, job->folder, errno);
    while (result == 0 && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            result = mr__fail(&job->packer->detail, MR_EARGUMENT,
                              "%s is not empty (%.60s), and not a dataset that is being packed: choose another folder",
                              job->folder, entry->d_name);
    closedir(folder);
    return result;
}

static int read_text(mr_packer *p, const char *path, mr__buffer *text, size_t *nbytes)
{
    mr__file file;
    int error = mr__file_open(&file, path);
    if (error == 0 && (file.nbytes > 1 << 20 || mr__buffer_reserve(text, &p->hooks, (size_t)file.nbytes + 1) != 0))
        error = ENOMEM;
    if (error == 0)
        error = mr__file_read(&file, 0, text->bytes, (size_t)file.nbytes, nbytes);
    mr__file_close(&file);
    return error;
}

static int refuse_other_plan(mr__pack_job *job)
{
    return mr__fail(&job->packer->detail, MR_EARGUMENT,
                    "%s was begun from another source or with other options: give those, choose another folder, or "
                    "remove it (its " MR__PLAN_NAME " says what it was begun with)",
                    job->folder);
}

/* The plan in the folder is this one, or it becomes it. */
static int settle_plan(mr__pack_job *job, mr__text *text)
{
    mr_packer *p = job->packer;
    char path[MR__PATH_MAX];
    mr__buffer was = {0};
    const char *plan;
    size_t nbytes, was_nbytes = 0;
    int result = mr__text_finish(text, &plan, &nbytes);
    if (result == 0)
        result = mr__pack_path(p, path, job->folder, MR__PLAN_NAME);
    if (result != 0)
        return result;
    int error = read_text(p, path, &was, &was_nbytes);
    if (error == 0 && (was_nbytes != nbytes || memcmp(was.bytes, plan, nbytes) != 0))
        result = refuse_other_plan(job);
    else if (error == ENOENT) {
        result = job->begun ? 0 : look_whether_empty(job);
        error = result == 0 ? mr__disk_publish(p->disk, &p->hooks, path, plan, nbytes) : 0;
    } else if (error == 0) /* whoever wrote it may have failed before its name was made to last */
        error = p->disk->sync_folder(p->disk, job->folder);
    mr__buffer_fini(&was, &p->hooks);
    return result == 0 && error != 0 ? fail_disk(p, path, error) : result;
}

/* Parts that begin at once look for the plan one after the other. A file system without such locks does without. */
static int settle_plan_alone(mr__pack_job *job, mr__text *text)
{
    int fd = open(job->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
    int result = settle_plan(job, text);
    if (fd >= 0)
        close(fd);
    return result;
}

static int make_folders(mr__pack_job *job)
{
    char path[MR__PATH_MAX];
    mr_packer *p = job->packer;
    for (uint32_t i = 0; i < job->plan.form_count; i++) {
        int result = mr__pack_path(p, path, job->folder, job->plan.forms[i].is.of.name);
        if (result != 0)
            return result;
        int error = p->disk->make_folder(p->disk, path);
        if (error != 0)
            return fail_disk(p, path, error);
    }
    int error = p->disk->sync_folder(p->disk, job->folder);
    return error != 0 ? fail_disk(p, job->folder, error) : 0;
}

int mr__pack_open_index(mr__index *index, const char *folder, const char *form, size_t shard, uint64_t plan,
                        mr__detail *detail)
{
    char path[MR__PATH_MAX], data[MR__PATH_MAX];
    mr__file file;
    mr__shard_name(path, sizeof path, folder, form, shard, "mrx");
    mr__shard_name(data, sizeof data, folder, form, shard, "tar");
    int result = mr__index_open(index, path, detail);
    if (result != 0)
        return result;
    result = mr__index_check(index, path, detail);
    if (result == 0 && (index->head.made_of != plan || index->head.shard != shard))
        result = mr__fail(detail, MR_ECORRUPT, "%s is of another plan or shard", path);
    int error = result == 0 ? mr__file_open(&file, data) : 0;
    if (result == 0 && (error != 0 || file.nbytes != index->head.data_nbytes))
        result = mr__fail(detail, MR_ECORRUPT, "%s: %s", data,
                          error != 0 ? mr__errno_text(error).text : "not as long as its index says");
    if (result == 0)
        mr__file_close(&file);
    else
        mr__index_close(index);
    return result;
}

/* Whether a shard is there in all its forms; what it refused counts. */
static bool is_done(mr__pack_job *job, size_t shard)
{
    const mr__pack_plan *plan = &job->plan;
    uint64_t bad = 0;
    for (uint32_t i = plan->form_count; i-- != 0;) { /* the first form, which has the problems, last */
        mr__index index;
        mr__detail detail;
        if (mr__pack_open_index(&index, job->folder, plan->forms[i].is.of.name, shard, plan->hash, &detail) != 0)
            return false;
        bool fits = index.head.samples == plan->first[shard + 1] - plan->first[shard];
        if (i == 0 && fits)
            bad = mr__pack_quarantine_add_index(&job->quarantine, plan->source_layout, &index, plan->first[shard]);
        mr__index_close(&index);
        if (!fits)
            return false;
    }
    job->bad += bad;
    return true;
}

static int find_todo(mr__pack_job *job, size_t **list)
{
    size_t *todo = mr__alloc_array(&job->packer->hooks, job->end - job->begin + 1, sizeof *todo);
    if (todo == NULL)
        return mr__fail(&job->packer->detail, MR_ENOMEM, "out of memory");
    for (size_t shard = job->begin; shard < job->end; shard++)
        if (!is_done(job, shard))
            todo[job->todo_count++] = shard;
    job->todo = *list = todo;
    job->packer->report.shards = job->end - job->begin;
    job->packer->report.shards_found = job->end - job->begin - job->todo_count;
    return 0;
}

/* Everything of the manifest that does not come from the indexes. */
static int describe(mr__pack_job *job, mr__manifest *m)
{
    const mr__pack_plan *plan = &job->plan;
    mr__manifest_init(m, &job->packer->hooks);
    m->part = plan->options.part;
    m->parts = plan->options.parts;
    m->first_shard = job->begin;
    m->total_shards = plan->shard_count;
    m->plan = plan->hash;
    m->source_layout = plan->source_layout;
    m->source_fingerprint = plan->source_fingerprint;
    m->form_count = plan->form_count;
    for (uint32_t i = 0; i < plan->form_count; i++)
        m->forms[i] = plan->forms[i].is;
    int result = 0;
    for (uint64_t i = 0; i < job->source->class_count && result == 0; i++) {
        const char *name = mr_dataset_class(job->source, i);
        result = mr__manifest_add_class(m, name, strlen(name));
    }
    return result != 0 ? mr__fail(&job->packer->detail, result, "out of memory for the classes") : 0;
}

static int finish(mr__pack_job *job, int ran)
{
    mr__manifest m;
    mr_packer *p = job->packer;
    mr__detail why = p->detail;
    int result = describe(job, &m);
    if (result == 0 && ran == 0)
        result = mr__pack_finish(p, &m, job->folder, job->begin, job->end);
    else if (result == 0) { /* too many bad ones: at least they can be looked at */
        mr__pack_quarantine_publish(p, job->folder, &job->quarantine);
        p->detail = why;
        result = ran;
    }
    mr__manifest_fini(&m);
    if (result == 0 && p->options.parts == 0)
        mr__pack_tidy(p, job->folder);
    return result;
}

/* Whether a file is there, and as long as it was written: that it holds the right bytes is for verify to say. */
static bool is_there(const mr__pack_job *job, const char *form, uint64_t shard, const char *ending, uint64_t nbytes)
{
    char path[MR__PATH_MAX];
    struct stat status;
    mr__shard_name(path, sizeof path, job->folder, form, shard, ending);
    return stat(path, &status) == 0 && (uint64_t)status.st_size == nbytes;
}

static bool is_all_there(const mr__pack_job *job, const mr__manifest *m)
{
    for (size_t i = 0; i < m->shard_count * m->form_count; i++) {
        const char *form = m->forms[i % m->form_count].of.name;
        uint64_t shard = m->first_shard + i / m->form_count;
        if (!is_there(job, form, shard, "tar", m->files[i].nbytes) ||
            !is_there(job, form, shard, "mrx", m->files[i].index_nbytes))
            return false;
    }
    return true;
}

/* Whether this very dataset, or part, is there and complete. One that lost files since gets them again. */
static int look_whether_complete(mr__pack_job *job, bool *complete)
{
    mr_packer *p = job->packer;
    char name[64], path[MR__PATH_MAX];
    mr__manifest m;
    mr__manifest_file_name(name, sizeof name, p->options.part, p->options.parts);
    int result = mr__pack_path(p, path, job->folder, name);
    if (result != 0 || access(path, F_OK) != 0)
        return result;
    mr__manifest_init(&m, &p->hooks);
    result = mr__manifest_load(&m, path, &p->detail);
    if (result != 0)
        return result;
    job->begun = m.plan == job->plan.hash;
    *complete = job->begun && is_all_there(job, &m);
    if (!job->begun)
        result = mr__fail(&p->detail, MR_EARGUMENT,
                          "%s is a packed dataset from another source or with other options, and those are never "
                          "changed: choose another folder",
                          job->folder);
    p->report.samples = m.samples;
    p->report.refused = m.refused;
    p->report.shards = p->report.shards_found = m.shard_count;
    for (size_t i = 0; i < m.shard_count * m.form_count; i++)
        p->report.out_nbytes += m.files[i].nbytes + m.files[i].index_nbytes;
    mr__manifest_fini(&m);
    return result;
}

/* A run that was stopped behind its last step left the plan, and perhaps a name that does not last yet. */
static int take_complete(mr__pack_job *job)
{
    mr_packer *p = job->packer;
    int error = p->disk->sync_folder(p->disk, job->folder);
    if (error != 0)
        return fail_disk(p, job->folder, error);
    if (p->options.parts == 0)
        mr__pack_tidy(p, job->folder);
    p->report.was_complete = true;
    return 0;
}

static int pack_locked(mr__pack_job *job, mr__text *text)
{
    mr_packer *p = job->packer;
    bool complete = false;
    size_t *todo = NULL;
    int result = look_whether_complete(job, &complete);
    if (result == 0 && complete)
        return take_complete(job);
    if (result == 0)
        result = settle_plan_alone(job, text);
    if (result == 0)
        result = make_folders(job);
    if (result == 0)
        result = find_todo(job, &todo);
    if (result == 0) {
        result = mr__pack_run(job);
        if (result == 0 || result == MR_ELIMIT)
            result = finish(job, result);
    }
    mr__free(&p->hooks, todo);
    return result;
}

static int pack(mr__pack_job *job)
{
    mr_packer *p = job->packer;
    mr__text text;
    int fd = -1;
    mr__text_init(&text, &p->hooks);
    int result = mr__pack_plan_init(&job->plan, job->source, &p->options, &p->hooks, &p->detail);
    if (result == 0 && p->options.budget_nbytes != 0)
        result = mr__pack_budget(job);
    if (result == 0 && (result = mr__pack_plan_text(&job->plan, &text)) != 0)
        mr__fail(&p->detail, result, "out of memory for the plan");
    if (result == 0) {
        mr__pack_plan_part(&job->plan, &job->begin, &job->end);
        uint64_t samples = job->plan.first[job->end] - job->plan.first[job->begin]; /* each part has its own share */
        job->bad_max = samples * (uint64_t)p->options.max_bad / MR__SHARE_ALL;
        int error = p->disk->make_folder(p->disk, job->folder);
        result = error != 0 ? fail_disk(p, job->folder, error) : lock(job, &fd);
    }
    if (result == 0) {
        result = pack_locked(job, &text);
        unlock(job, fd);
    } else if (fd >= 0)
        close(fd);
    mr__text_fini(&text);
    mr__pack_plan_fini(&job->plan);
    return result;
}

int mr_packer_run(mr_packer *p, mr_dataset *source, const char *folder, mr_pack_report *report)
{
    if (p == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&p->detail);
    if (source == NULL || folder == NULL || !source->opened)
        return mr__fail(&p->detail, MR_EARGUMENT, "a source that is open and a folder are needed");
    if (source->samples == 0)
        return mr__fail(&p->detail, MR_EARGUMENT, "there are no samples to pack");
    p->report = (mr_pack_report){.struct_size = sizeof p->report};
    mr__pack_job job = {.packer = p, .source = source, .folder = folder};
    mr__text_init(&job.quarantine, &p->hooks);
    int result = pack(&job);
    mr__text_fini(&job.quarantine);
    return mr__pack_end(p, result, report);
}

int mr__pack_end(mr_packer *p, int result, mr_pack_report *report)
{
    if (result == 0)
        mr__detail_clear(&p->detail);
    else if (p->detail.text[0] == '\0')
        mr__fail(&p->detail, result, "%s", mr_error_text(result));
    if (result == 0 && report != NULL && !mr__struct_give(report, &p->report, sizeof p->report))
        return mr__fail(&p->detail, MR_EARGUMENT, "the report has no struct_size");
    return result;
}
