// SPDX-License-Identifier: Apache-2.0
/*
 * Every byte of a packed dataset, compared with its hashes. A unit is one shard in one form: its index and its tar,
 * read once from beginning to end, by one thread. What was found is told at the end, in the dataset's order, when it is
 * known which forms of a damaged sample are whole.
 *
 *     verify.c         units on all threads, the dataset's own files, what is told
 *     verify_shard.c   one unit
 *     verify_locate.c  where in it the damage is, outside of images
 *     verify_report.c  the file that lets a run go on where another stopped
 */
#include "dataset/verify.h"

#include "base/hash.h"
#include "dataset/parallel.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add_to_list(mr__verify *v, mr__damage **to, size_t *count, const mr__damage *damage)
{
    size_t used = *count * sizeof *damage;
    mr__buffer buffer = {(uint8_t *)*to, used};
    if (*count % 64 == 0) { /* room comes in steps */
        buffer.capacity = used;
        if (mr__buffer_grow(&buffer, &v->hooks, used, used + 64 * sizeof *damage) != 0) {
            atomic_store(&v->no_memory, true);
            mr__free(&v->hooks, damage->text);
            return;
        }
        *to = (mr__damage *)(void *)buffer.bytes;
    }
    (*to)[(*count)++] = *damage;
}

void mr__verify_add(mr__verify *v, mr__verify_unit *unit, uint64_t ordinal, int code, const char *format, ...)
{
    mr__damage damage = {.ordinal = ordinal, .code = code};
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    damage.text = mr__text_copy(&v->hooks, text);
    if (damage.text == NULL)
        atomic_store(&v->no_memory, true);
    else
        add_to_list(v, &unit->damages, &unit->damage_count, &damage);
}

void mr__verify_add_around(mr__verify *v, mr__verify_unit *unit, uint64_t ordinal, int code, const char *text)
{
    size_t before = unit->damage_count;
    mr__verify_add(v, unit, ordinal, code, "%s", text);
    if (unit->damage_count != before)
        unit->damages[before].around = true;
}

static mr__verify_unit *unit_of(const mr__verify *v, size_t shard, uint32_t form)
{
    return &v->units[shard * v->m.form_count + form];
}

static int verify_number(void *arg, size_t number, size_t worker)
{
    mr__verify *v = arg;
    mr__verify_unit *unit = &v->units[number];
    if (unit->from_report) {
        atomic_fetch_add(&v->done_nbytes, v->m.files[number].nbytes);
        return 0;
    }
    int result =
        mr__verify_shard(v, number / v->m.form_count, (uint32_t)(number % v->m.form_count), &v->buffers[worker]);
    if (result == 0) {
        unit->done = true;
        mr__verify_report_add(v, number);
    }
    return result;
}

static bool tell(void *arg)
{
    mr__verify *v = arg;
    uint64_t done = atomic_load(&v->done_nbytes);
    const mr_progress progress = {
        .verb = "verifying", .unit = "bytes", .done = done, .total = v->total_nbytes, .in_nbytes = done};
    return v->options.progress(v->options.progress_user, &progress);
}

static void give(mr__verify *v, const mr_finding *finding)
{
    v->report.findings++;
    if (v->options.found != NULL)
        v->options.found(v->options.found_user, finding);
}

/* The samples of a shard in which something was found. */
typedef struct weighing {
    mr__verify *v;
    size_t shard;
    uint64_t count;
    uint16_t *whole; /* of each sample: a bit for each form that is there, and whole */
    uint16_t *hurt;  /* and for each that is not whole */
    bool *refused;   /* when it was packed */
    mr__index keys;  /* of a form that has a whole one */
    bool keyed;
} weighing;
_Static_assert(MR__FORM_MAX <= 16, "a bit for each form");

static void mark_damaged(const weighing *w, uint32_t form)
{
    const mr__verify_unit *unit = unit_of(w->v, w->shard, form);
    for (size_t i = 0; i < unit->damage_count; i++) {
        uint64_t position = unit->damages[i].ordinal - w->v->first[w->shard];
        if (unit->damages[i].ordinal != UINT64_MAX && !unit->damages[i].around && position < w->count)
            w->hurt[position] |= (uint16_t)(1 << form);
    }
}

/* Where the index is damaged or the tar is gone, all samples are hurt that may have had the form. */
static void weigh_form(weighing *w, uint32_t form)
{
    const mr__verify_unit *unit = unit_of(w->v, w->shard, form);
    uint16_t bit = (uint16_t)(1 << form);
    mr__index index = {0};
    mr__detail detail;
    char path[MR__PATH_MAX];
    mr__shard_name(path, sizeof path, w->v->folder, w->v->m.forms[form].of.name, w->shard, "mrx");
    bool known = !unit->index_damaged && mr__index_open(&index, path, &detail) == 0;
    mark_damaged(w, form);
    for (uint64_t i = 0; i < w->count; i++) {
        mr__record record = {.state = MR_RECORD_PRESENT};
        if (known && !mr__index_record(&index, i, &record))
            record.state = MR_RECORD_ABSENT;
        if (!known || unit->missing)
            w->hurt[i] |= record.state == MR_RECORD_PRESENT ? bit : 0;
        if (record.state == MR_RECORD_PRESENT && (w->hurt[i] & bit) == 0)
            w->whole[i] |= bit;
        w->refused[i] |= record.state == MR_RECORD_REFUSED;
    }
    if (known && !w->keyed) {
        w->keys = index;
        w->keyed = true;
    } else
        mr__index_close(&index);
}

static int weigh(weighing *w)
{
    const mr_hooks *hooks = &w->v->hooks;
    w->whole = mr__alloc_array(hooks, (size_t)w->count + 1, sizeof *w->whole);
    w->hurt = mr__alloc_array(hooks, (size_t)w->count + 1, sizeof *w->hurt);
    w->refused = mr__alloc_array(hooks, (size_t)w->count + 1, sizeof *w->refused);
    if (w->whole == NULL || w->hurt == NULL || w->refused == NULL)
        return mr__fail(&w->v->detail, MR_ENOMEM, "out of memory");
    for (uint32_t f = 0; f < w->v->m.form_count; f++)
        weigh_form(w, f);
    for (uint64_t i = 0; i < w->count; i++) {
        bool hurt = w->hurt[i] != 0 && !w->refused[i];
        w->v->report.damaged_samples += hurt;
        w->v->report.lost_samples += hurt && w->whole[i] == 0;
    }
    return 0;
}

static void name_survivors(const weighing *w, uint64_t position, char *text, size_t nbytes)
{
    size_t used = 0;
    for (uint32_t f = 0; f < w->v->m.form_count && position < w->count; f++)
        if ((w->whole[position] >> f & 1) != 0 && used < nbytes)
            used +=
                (size_t)snprintf(text + used, nbytes - used, "%s%s", used != 0 ? " " : "", w->v->m.forms[f].of.name);
}

static void give_damage(const weighing *w, uint32_t form, const mr__damage *damage)
{
    mr__verify *v = w->v;
    char path[MR__PATH_MAX], survivors[MR__FORM_MAX * MR__FORM_NAME_NBYTES] = "";
    bool sample = damage->ordinal != UINT64_MAX;
    uint64_t position = damage->ordinal - v->first[w->shard];
    const char *key = NULL;
    size_t nbytes;
    mr__shard_name(path, sizeof path, v->folder, v->m.forms[form].of.name, w->shard, damage->of_index ? "mrx" : "tar");
    if (sample)
        name_survivors(w, position, survivors, sizeof survivors);
    if (!sample || !w->keyed || !mr__index_key(&w->keys, position, &key, &nbytes))
        key = NULL;
    const mr_finding finding = {.struct_size = sizeof finding,
                                .code = damage->code,
                                .path = path,
                                .form = v->m.forms[form].of.name,
                                .ordinal = damage->ordinal,
                                .key = key,
                                .survivors = survivors,
                                .text = damage->text};
    give(v, &finding);
}

static int tell_shard(mr__verify *v, size_t shard)
{
    weighing w = {.v = v, .shard = shard, .count = v->m.shard_samples[shard]};
    int result = weigh(&w);
    for (uint32_t f = 0; f < v->m.form_count && result == 0; f++)
        for (size_t i = 0; i < unit_of(v, shard, f)->damage_count; i++)
            give_damage(&w, f, &unit_of(v, shard, f)->damages[i]);
    mr__index_close(&w.keys);
    mr__free(&v->hooks, w.whole);
    mr__free(&v->hooks, w.hurt);
    mr__free(&v->hooks, w.refused);
    return result;
}

static int tell_findings(mr__verify *v)
{
    int result = 0;
    for (size_t shard = 0; shard < v->m.shard_count && result == 0; shard++) {
        bool any = false;
        for (uint32_t f = 0; f < v->m.form_count; f++)
            any |= unit_of(v, shard, f)->damage_count != 0;
        result = any ? tell_shard(v, shard) : 0;
    }
    return result;
}

static void give_own(mr__verify *v, int code, const char *path, const char *text)
{
    const mr_finding finding = {.struct_size = sizeof finding,
                                .code = code,
                                .path = path,
                                .ordinal = UINT64_MAX,
                                .survivors = "",
                                .text = text};
    give(v, &finding);
}

static int verify_quarantine(mr__verify *v)
{
    char path[MR__PATH_MAX];
    mr__file file;
    mr__buffer text = {0};
    size_t got = 0;
    if (!v->m.has_quarantine)
        return 0;
    snprintf(path, sizeof path, "%s/" MR__QUARANTINE_NAME, v->folder);
    int error = mr__file_open(&file, path);
    if (error == 0 && (file.nbytes != v->m.quarantine_nbytes || file.nbytes > SIZE_MAX / 2))
        give_own(v, MR_ECORRUPT, path, "not as long as dataset.json says");
    else if (error == 0) {
        error = mr__buffer_reserve(&text, &v->hooks, (size_t)file.nbytes + 1) != 0
                    ? ENOMEM
                    : mr__file_read(&file, 0, text.bytes, (size_t)file.nbytes, &got);
        if (error == 0 && mr__hash(text.bytes, got) != v->m.quarantine_hash)
            give_own(v, MR_ECORRUPT, path, "its hash is not that in dataset.json");
        v->report.files++;
        v->report.nbytes += got;
    }
    if (error != 0 && error != ENOMEM)
        give_own(v, MR_EIO, path, mr__errno_text(error).text);
    mr__buffer_fini(&text, &v->hooks);
    mr__file_close(&file);
    return error == ENOMEM ? mr__fail(&v->detail, MR_ENOMEM, "%s: out of memory", path) : 0;
}

static int make_units(mr__verify *v, size_t threads)
{
    size_t count = v->m.shard_count * v->m.form_count;
    v->units = mr__alloc_array(&v->hooks, count + 1, sizeof *v->units);
    v->first = mr__alloc_array(&v->hooks, v->m.shard_count + 1, sizeof *v->first);
    v->buffers = mr__alloc_array(&v->hooks, threads, sizeof *v->buffers);
    if (v->units == NULL || v->first == NULL || v->buffers == NULL)
        return mr__fail(&v->detail, MR_ENOMEM, "out of memory");
    v->buffer_count = threads;
    for (size_t i = 0; i < v->m.shard_count; i++)
        v->first[i + 1] = v->first[i] + v->m.shard_samples[i];
    for (size_t i = 0; i < count; i++)
        v->total_nbytes += v->m.files[i].nbytes;
    return 0;
}

static int run(mr__verify *v)
{
    mr__parallel loop = {.hooks = &v->hooks,
                         .threads = v->options.threads,
                         .count = v->m.shard_count * v->m.form_count,
                         .work = verify_number,
                         .arg = v,
                         .tick = v->options.progress != NULL ? tell : NULL,
                         .stop = &v->stop};
    int result = make_units(v, mr__parallel_threads(&loop));
    if (result == 0)
        result = mr__verify_report_open(v);
    if (result == 0 && (result = mr__parallel_run(&loop)) != 0)
        mr__fail(&v->detail, result, "%s", result == MR_ECLOSED ? "stopped" : mr_error_text(result));
    if (result == 0 && atomic_load(&v->no_memory))
        result = mr__fail(&v->detail, MR_ENOMEM, "out of memory for all that is damaged");
    mr__verify_report_close(v);
    return result;
}

/* dataset.json, and if that is whole everything it names. */
static int verify(mr__verify *v)
{
    char path[MR__PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" MR__MANIFEST_NAME, v->folder) >= (int)sizeof path)
        return mr__fail(&v->detail, MR_EARGUMENT, "too long a name");
    int result = mr__manifest_load(&v->m, path, &v->detail);
    if (result == MR_EIO || result == MR_ENOMEM || result == MR_EUNSUPPORTED)
        return result;
    v->report.files++;
    if (result != 0) {
        give_own(v, result, path, v->detail.text);
        return 0;
    }
    result = run(v);
    if (result != 0)
        return result;
    result = verify_quarantine(v);
    return result == 0 ? tell_findings(v) : result;
}

static void fini(mr__verify *v)
{
    size_t count = v->units != NULL ? v->m.shard_count * v->m.form_count : 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < v->units[i].damage_count; k++)
            mr__free(&v->hooks, v->units[i].damages[k].text);
        mr__free(&v->hooks, v->units[i].damages);
    }
    for (size_t i = 0; i < v->buffer_count && v->buffers != NULL; i++)
        mr__buffer_fini(&v->buffers[i], &v->hooks);
    mr__free(&v->hooks, v->units);
    mr__free(&v->hooks, v->first);
    mr__free(&v->hooks, v->buffers);
    mr__manifest_fini(&v->m);
}

int mr_dataset_verify(const char *folder, const mr_verify_options *options, mr_verify_report *report, char *detail_text,
                      size_t detail_nbytes)
{
    mr__verify v = {.folder = folder, .cpu = mr__cpu_detect(), .report_fd = -1};
    if (folder == NULL || !mr__struct_copy(&v.options, sizeof v.options, options) ||
        mr__hooks_init(&v.hooks, v.options.hooks) != 0)
        return MR_EARGUMENT;
    v.report.struct_size = sizeof v.report;
    mr__manifest_init(&v.m, &v.hooks);
    int result = mr__mutex_init(&v.lock);
    if (result != 0)
        return result;
    result = verify(&v);
    v.report.files += atomic_load(&v.files);
    v.report.nbytes += atomic_load(&v.nbytes);
    v.report.records = atomic_load(&v.records);
    if (detail_text != NULL && detail_nbytes != 0)
        snprintf(detail_text, detail_nbytes, "%s", result != 0 ? v.detail.text : "");
    if (result == 0 && report != NULL && !mr__struct_give(report, &v.report, sizeof v.report))
        result = MR_EARGUMENT;
    fini(&v);
    mr__mutex_fini(&v.lock);
    return result;
}
