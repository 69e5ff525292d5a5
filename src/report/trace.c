// SPDX-License-Identifier: Apache-2.0
#include "report/trace.h"

#include "base/text.h"
#include "dataset/folder_name.h"
#include "loader/loader.h"
#include "source/disk.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <millrace/version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCHES_PID = 100, LANES_OF_PID = 10000, FLUSH_NBYTES = 1 << 16, DETAIL_PATH = 120 };

/* A batch, as far as its tasks are remembered. */
typedef struct lot {
    uint64_t epoch, number;
    uint64_t begun_ns, ended_ns;
    uint32_t tasks, lost, row;
} lot;

typedef struct writer {
    const mr__trace_report *report;
    const mr__mark *marks;
    uint32_t *order; /* of marks; behind them room for sorting */
    uint32_t *lot_of;
    lot *lots;
    uint32_t lot_count, row_count;
    uint32_t *lot_order; /* of lots; room as above */
    uint64_t first_ns;
    mr__publication file;
    mr__text text;
    bool any; /* event was written */
} writer;

/* 1. Where everything lies. */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int order_by_lane(const void *context, uint32_t a, uint32_t b)
{
    const mr__mark *x = (const mr__mark *)context + a, *y = (const mr__mark *)context + b;
    if (x->device != y->device || x->lane != y->lane)
        return by_number((uint32_t)x->device << 16 | x->lane, (uint32_t)y->device << 16 | y->lane);
    return x->begun_ns != y->begun_ns ? by_number(x->begun_ns, y->begun_ns) : by_number(x->pick, y->pick);
}

static int order_by_batch(const void *context, uint32_t a, uint32_t b)
{
    const mr__mark *x = (const mr__mark *)context + a, *y = (const mr__mark *)context + b;
    return x->epoch != y->epoch ? by_number(x->epoch, y->epoch) : by_number(x->batch, y->batch);
}

static int order_by_begin(const void *context, uint32_t a, uint32_t b)
{
    const lot *lots = context;
    return by_number(lots[a].begun_ns, lots[b].begun_ns);
}

static int order_by_end(const void *context, uint32_t a, uint32_t b)
{
    const lot *lots = context;
    return by_number(lots[a].ended_ns, lots[b].ended_ns);
}

static void sort(uint32_t *items, size_t count, mr__name_order *order, const void *context)
{
    for (uint32_t i = 0; i < count; i++)
        items[i] = i;
    mr__name_sort(items, items + count, count, order, context);
}

static bool is_lost(const mr__mark *m)
{
    return m->mishap != MR__MISHAPS;
}

static bool same_submission(const mr__mark *a, const mr__mark *b)
{
    return a->device == b->device && a->lane == b->lane && a->pick == b->pick;
}

/*
 * Tasks that began together were done one behind the other, each for its share. Those that never came to an end had
 * the lane until they were given back.
 */
static void lay_out(const writer *w, mr__mark *marks)
{
    for (size_t i = 0, end; i < w->report->count; i = end) {
        mr__mark *first = &marks[w->order[i]];
        uint64_t begun = first->begun_ns, at = begun;
        for (end = i + 1; end < w->report->count; end++) {
            const mr__mark *next = &marks[w->order[end]];
            if (!same_submission(first, next) || next->begun_ns != begun)
                break;
        }
        uint64_t held = first->seen_ns > begun ? first->seen_ns - begun : 0;
        for (size_t k = i; k < end; k++) {
            mr__mark *m = &marks[w->order[k]];
            if (m->code == MR_EDEVICE && m->busy_ns == 0)
                m->busy_ns = held * (k - i + 1) / (end - i) - held * (k - i) / (end - i);
            m->begun_ns = at;
            at += m->busy_ns;
        }
    }
}

/* Which batches there are; w->order is by them. */
static void find_lots(writer *w)
{
    for (size_t i = 0; i < w->report->count; i++) {
        const mr__mark *m = &w->marks[w->order[i]];
        lot *its = w->lot_count != 0 ? &w->lots[w->lot_count - 1] : NULL;
        if (its == NULL || its->epoch != m->epoch || its->number != m->batch) {
            its = &w->lots[w->lot_count++];
            *its = (lot){.epoch = m->epoch, .number = m->batch, .begun_ns = m->begun_ns};
        }
        w->lot_of[w->order[i]] = w->lot_count - 1;
        its->begun_ns = m->begun_ns < its->begun_ns ? m->begun_ns : its->begun_ns;
        its->ended_ns = m->begun_ns + m->busy_ns > its->ended_ns ? m->begun_ns + m->busy_ns : its->ended_ns;
        its->tasks++;
        its->lost += is_lost(m);
    }
}

/* Batches overlap: each is put on the first row that is free. `ends` has room for as many rows as there are batches. */
static void find_rows(writer *w, uint64_t *ends)
{
    sort(w->lot_order, w->lot_count, order_by_begin, w->lots);
    for (uint32_t i = 0; i < w->lot_count; i++) {
        lot *its = &w->lots[w->lot_order[i]];
        while (its->row < w->row_count && ends[its->row] > its->begun_ns)
            its->row++;
        w->row_count += its->row == w->row_count;
        ends[its->row] = its->ended_ns;
    }
}

static int arrange(writer *w, const mr__trace_report *r)
{
    size_t room = r->count + 1;
    uint64_t *ends = mr__alloc_array(r->hooks, room, sizeof *ends);
    w->order = mr__alloc_array(r->hooks, room, 2 * sizeof *w->order);
    w->lot_of = mr__alloc_array(r->hooks, room, sizeof *w->lot_of);
    w->lots = mr__alloc_array(r->hooks, room, sizeof *w->lots);
    w->lot_order = mr__alloc_array(r->hooks, room, 2 * sizeof *w->lot_order);
    bool all = ends != NULL && w->order != NULL && w->lot_of != NULL && w->lots != NULL && w->lot_order != NULL;
    if (all) {
        sort(w->order, r->count, order_by_lane, r->marks);
        lay_out(w, r->marks);
        sort(w->order, r->count, order_by_batch, r->marks);
        find_lots(w);
        find_rows(w, ends);
        sort(w->order, r->count, order_by_lane, r->marks);
        w->first_ns = r->count != 0 ? UINT64_MAX : 0;
        for (size_t i = 0; i < r->count; i++)
            w->first_ns = r->marks[i].begun_ns < w->first_ns ? r->marks[i].begun_ns : w->first_ns;
    }
    mr__free(r->hooks, ends);
    return all ? 0 : MR_ENOMEM;
}

static void forget(writer *w)
{
    const mr_hooks *hooks = w->report->hooks;
    mr__free(hooks, w->order);
    mr__free(hooks, w->lot_of);
    mr__free(hooks, w->lots);
    mr__free(hooks, w->lot_order);
    mr__text_fini(&w->text);
}

/* 2. Words and numbers. */

/* Microseconds, exactly: the point whatever the locale. */
static void add_us(writer *w, const char *name, uint64_t ns)
{
    mr__text_addf(&w->text, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void add_string(writer *w, const char *name, const char *value)
{
    mr__text_addf(&w->text, ",\"%s\":", name);
    mr__text_add_json(&w->text, value, strlen(value));
}

/* By how much it took longer, as a share of what it was believed to take. */
static void add_error(writer *w, uint64_t predicted_ns, uint64_t actual_ns)
{
    double share = ((double)actual_ns - (double)predicted_ns) / (double)predicted_ns;
    mr__text_add_z(&w->text, ",\"error\":");
    mr__text_add_f64(&w->text, share < 1e6 ? (double)(int64_t)(share * 1000 + (share < 0 ? -0.5 : 0.5)) / 1000 : 1e6);
}

static void flush(writer *w)
{
    if (w->text.code == 0 && w->text.nbytes != 0)
        (void)mr__publication_write(&w->file, w->text.buffer.bytes, w->text.nbytes);
    if (w->text.code == 0)
        mr__text_clear(&w->text);
}

/* Begins an event: what follows is ,"name":value and its end. */
static void open_event(writer *w, char phase, uint32_t pid, uint32_t tid)
{
    if (w->text.nbytes > FLUSH_NBYTES)
        flush(w);
    mr__text_addf(&w->text, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, w->any ? ",\n" : "", phase, pid,
                  tid);
    w->any = true;
}

static void add_times(writer *w, uint64_t begun_ns, uint64_t took_ns, bool has_length)
{
    add_us(w, "ts", begun_ns - w->first_ns);
    if (has_length)
        add_us(w, "dur", took_ns);
}

/* The viewers' own names of colours: batches that follow each other differ, and what was lost stands out. */
static void add_colour(writer *w, uint64_t batch, bool lost)
{
    static const char *const colours[] = {"thread_state_running", "rail_animation", "thread_state_iowait",
                                          "rail_response",        "rail_idle",      "olive"};
    add_string(w, "cname", lost ? "terrible" : colours[batch % (sizeof colours / sizeof *colours)]);
}

/* 3. Events. */

static uint32_t pid_of(const mr__mark *m)
{
    return m->device + 1u;
}

static uint32_t tid_of(const mr__mark *m)
{
    return pid_of(m) * LANES_OF_PID + m->lane;
}

static void name_process(writer *w, uint32_t pid, const char *name, uint32_t place)
{
    open_event(w, 'M', pid, 0);
    mr__text_add_z(&w->text, ",\"name\":\"process_name\",\"args\":{\"name\":");
    mr__text_add_json(&w->text, name, strlen(name));
    mr__text_add_z(&w->text, "}}");
    open_event(w, 'M', pid, 0);
    mr__text_addf(&w->text, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}", place);
}

static void name_thread(writer *w, uint32_t pid, uint32_t place, const char *name, const char *what)
{
    uint32_t tid = pid * LANES_OF_PID + place;
    char full[128];
    snprintf(full, sizeof full, "%.80s%s %" PRIu32, name, what, place);
    open_event(w, 'M', pid, tid);
    mr__text_add_z(&w->text, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    mr__text_add_json(&w->text, full, strlen(full));
    mr__text_add_z(&w->text, "}}");
    open_event(w, 'M', pid, tid);
    mr__text_addf(&w->text, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}", place);
}

static void write_names(writer *w)
{
    const mr__trace_report *r = w->report;
    name_process(w, BATCHES_PID, "batches", 0);
    for (uint32_t row = 0; row < w->row_count; row++)
        name_thread(w, BATCHES_PID, row, "batches", ", row");
    for (uint32_t d = 0; d < r->device_count; d++) {
        name_process(w, d + 1, r->names[d], d + 1);
        for (uint32_t lane = 0; lane < r->lanes[d]; lane++)
            name_thread(w, d + 1, lane, r->names[d], " lane");
    }
}

static void write_lot(writer *w, uint32_t number)
{
    const lot *its = &w->lots[number];
    open_event(w, 'X', BATCHES_PID, BATCHES_PID * LANES_OF_PID + its->row);
    add_times(w, its->begun_ns, its->ended_ns - its->begun_ns, true);
    mr__text_addf(&w->text, ",\"name\":\"batch %" PRIu64 "\",\"cat\":\"batch\",\"bind_id\":\"0x%" PRIx32 "\"",
                  its->number, number + 1);
    mr__text_add_z(&w->text, ",\"flow_out\":true");
    add_colour(w, its->number, false);
    mr__text_addf(&w->text,
                  ",\"args\":{\"epoch\":%" PRIu64 ",\"batch\":%" PRIu64 ",\"tasks\":%" PRIu32 ",\"given_back\":%" PRIu32
                  "}}",
                  its->epoch, its->number, its->tasks, its->lost);
}

/* How many batches somebody is at. */
static void write_counter(writer *w)
{
    uint32_t *begins = w->lot_order, *ends = w->order; // of which both halves are free by now
    uint32_t b = 0, e = 0;
    sort(begins, w->lot_count, order_by_begin, w->lots);
    sort(ends, w->lot_count, order_by_end, w->lots);
    while (e < w->lot_count) {
        uint64_t at = w->lots[ends[e]].ended_ns;
        if (b < w->lot_count && w->lots[begins[b]].begun_ns < at)
            at = w->lots[begins[b]].begun_ns;
        while (b < w->lot_count && w->lots[begins[b]].begun_ns == at)
            b++;
        while (e < b && w->lots[ends[e]].ended_ns == at)
            e++;
        open_event(w, 'C', BATCHES_PID, 0);
        add_times(w, at, 0, false);
        mr__text_addf(&w->text, ",\"name\":\"batches under way\",\"args\":{\"batches\":%" PRIu32 "}}", b - e);
    }
}

static const char *reason_of(const mr__mark *m)
{
    return m->reason == MR__MARK_SUBSTITUTE ? "in the place of a bad sample" : mr__reason_text((mr__reason)m->reason);
}

static void add_times_taken(writer *w, const mr__mark *m, uint64_t predicted_ns, uint64_t actual_ns)
{
    bool ended = m->code != MR_EDEVICE;
    if (predicted_ns != UINT64_MAX)
        add_us(w, "predicted_us", predicted_ns);
    if (ended)
        add_us(w, "actual_us", actual_ns);
    if (ended && predicted_ns != UINT64_MAX && predicted_ns != 0)
        add_error(w, predicted_ns, actual_ns);
    add_string(w, "reason", reason_of(m));
    mr__text_addf(&w->text, ",\"fused\":%u", (unsigned)m->fused);
}

static void write_task(writer *w, const mr__mark *m)
{
    mr_sample sample = {.struct_size = sizeof sample};
    mr_dataset_form form = {.struct_size = sizeof form};
    const mr_dataset *dataset = w->report->dataset;
    bool instant = is_lost(m) && m->busy_ns == 0; // nobody had begun it
    open_event(w, instant ? 'i' : 'X', pid_of(m), tid_of(m));
    add_times(w, m->begun_ns, m->busy_ns, !instant);
    mr__text_addf(&w->text, ",\"name\":\"sample %" PRIu64 "%s\",\"cat\":\"%s\"", m->ordinal,
                  is_lost(m) ? ", given back" : "", is_lost(m) ? "given back" : "task");
    if (instant)
        mr__text_add_z(&w->text, ",\"s\":\"t\"");
    else
        mr__text_addf(&w->text, ",\"bind_id\":\"0x%" PRIx32 "\",\"flow_in\":true", w->lot_of[m - w->marks] + 1);
    add_colour(w, m->batch, is_lost(m));
    mr__text_addf(&w->text, ",\"args\":{\"epoch\":%" PRIu64 ",\"batch\":%" PRIu64 ",\"sample\":%" PRIu64, m->epoch,
                  m->batch, m->ordinal);
    if (dataset != NULL && mr_dataset_sample(dataset, m->ordinal, &sample) == 0) {
        mr__text_add_z(&w->text, ",\"key\":");
        mr__text_add_json(&w->text, sample.key, sample.key_nbytes);
    }
    if (dataset != NULL && mr_dataset_get_form(dataset, m->form, &form) == 0)
        add_string(w, "form", form.name);
    add_times_taken(w, m, m->predicted_ns, m->busy_ns);
    if (m->code != 0)
        add_string(w, "code", mr_error_name(m->code));
    if (is_lost(m))
        add_string(w, "mishap", mr__mishap_text((mr__mishap)m->mishap));
    mr__text_add_z(&w->text, "}}");
}

/* Tasks of a submission that follow each other, and so what they have in common. */
typedef struct span {
    const mr__mark *first;
    size_t count;
    uint32_t lost;
    uint64_t predicted_ns, took_ns, seen_ns;
} span;

static span span_of(const writer *w, size_t from, size_t until)
{
    const mr__mark *last = &w->marks[w->order[until - 1]];
    span s = {.first = &w->marks[w->order[from]], .count = until - from};
    s.took_ns = last->begun_ns + last->busy_ns - s.first->begun_ns;
    s.seen_ns = last->seen_ns;
    for (size_t i = from; i < until; i++) {
        const mr__mark *m = &w->marks[w->order[i]];
        bool known = m->predicted_ns != UINT64_MAX && s.predicted_ns != UINT64_MAX;
        s.predicted_ns = known ? s.predicted_ns + m->predicted_ns : UINT64_MAX;
        s.lost += is_lost(m);
    }
    return s;
}

/* The slice that those of its tasks lie in. */
static void write_submission(writer *w, const span *s)
{
    const mr__mark *m = s->first;
    open_event(w, 'X', pid_of(m), tid_of(m));
    add_times(w, m->begun_ns, s->took_ns, true);
    mr__text_addf(&w->text, ",\"name\":\"%zu samples", s->count);
    if (s->lost != 0)
        mr__text_addf(&w->text, ", %" PRIu32 " given back", s->lost);
    mr__text_add_z(&w->text, "\",\"cat\":\"submission\"");
    add_colour(w, m->batch, s->lost == s->count);
    mr__text_addf(&w->text,
                  ",\"args\":{\"epoch\":%" PRIu64 ",\"batch\":%" PRIu64 ",\"submission\":%" PRIu64
                  ",\"tasks\":%zu,\"given_back\":%" PRIu32,
                  m->epoch, m->batch, m->pick, s->count, s->lost);
    add_times_taken(w, m, s->predicted_ns, s->took_ns);
    mr__text_add_z(&w->text, "}}");
}

/* What a device had, from when it was sent there until it was given back: on a track of its own, for it may overlap. */
static void write_loss(writer *w, const span *s)
{
    const mr__mark *m = s->first;
    uint64_t sent = m->sent_ns > w->first_ns ? m->sent_ns : w->first_ns;
    uint64_t seen = s->seen_ns > sent ? s->seen_ns : sent;
    for (int end = 0; end < 2; end++) {
        open_event(w, end ? 'e' : 'b', pid_of(m), tid_of(m));
        add_us(w, "ts", (end ? seen : sent) - w->first_ns);
        mr__text_addf(&w->text, ",\"name\":\"given back\",\"cat\":\"given back\",\"id\":\"%u.%" PRIu64 "\"",
                      (unsigned)m->device, m->pick);
        mr__text_addf(&w->text, ",\"args\":{\"epoch\":%" PRIu64 ",\"batch\":%" PRIu64 ",\"samples\":%" PRIu32 "}}",
                      m->epoch, m->batch, s->lost);
    }
}

static void write_tasks(writer *w)
{
    const size_t count = w->report->count;
    for (size_t i = 0, end; i < count; i = end) {
        const mr__mark *last = &w->marks[w->order[i]];
        for (end = i + 1; end < count; end++) {
            const mr__mark *next = &w->marks[w->order[end]];
            if (!same_submission(last, next) || next->begun_ns != last->begun_ns + last->busy_ns)
                break;
            last = next;
        }
        span s = span_of(w, i, end);
        if (s.count > 1 && s.took_ns != 0)
            write_submission(w, &s);
        if (s.lost != 0)
            write_loss(w, &s);
        for (size_t k = i; k < end; k++)
            write_task(w, &w->marks[w->order[k]]);
    }
}

/* 4. The file. */

static void write_all(writer *w)
{
    const mr__trace_report *r = w->report;
    mr__text_add_z(&w->text, "{\"traceEvents\":[\n");
    write_names(w);
    for (uint32_t i = 0; i < w->lot_count; i++)
        write_lot(w, i);
    write_tasks(w);
    write_counter(w);
    mr__text_addf(&w->text, "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"millrace\":\"%s\"", mr_version_text());
    add_string(w, "policy", r->policy != NULL ? r->policy : "");
    if (r->beside != NULL)
        add_string(w, "beside", r->beside);
    mr__text_addf(&w->text, ",\"tasks\":%zu,\"forgotten\":%" PRIu64 ",\"simulated\":%s", r->count, r->forgotten,
                  r->simulated ? "true,\"note\":\"times are of a simulated machine\"" : "false");
    mr__text_add_z(&w->text, "}}\n");
    flush(w);
}

int mr__trace_report_write(mr__trace_report *r, const char *path, mr__detail *detail)
{
    writer w = {.report = r, .marks = r->marks};
    mr__text_init(&w.text, r->hooks);
    int result = arrange(&w, r);
    if (result != 0) {
        forget(&w);
        return mr__fail(detail, result, "out of memory for a trace of %zu tasks", r->count);
    }
    char real[PATH_MAX];
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) { // a device or a pipe would be replaced
        forget(&w);
        return mr__fail(detail, MR_EIO, "the trace %.*s was not written: there is something that is no file",
                        DETAIL_PATH, path);
    }
    if (realpath(path, real) != NULL) // a link stays one
        path = real;
    int error = mr__publication_begin(&w.file, &mr__disk_real, r->hooks, path);
    if (error == 0) {
        write_all(&w);
        result = w.text.code;
        if (result != 0)
            mr__publication_abandon(&w.file);
        else
            error = mr__publication_finish(&w.file);
    }
    forget(&w);
    if (error != 0)
        return mr__fail(detail, error == ENOMEM ? MR_ENOMEM : MR_EIO, "the trace %.*s was not written: %s", DETAIL_PATH,
                        path, mr__errno_text(error).text);
    return result == 0 ? 0 : mr__fail(detail, result, "out of memory for a trace of %zu tasks", r->count);
}

/* What is remembered, as it is now. The mutex is held. */
static int copy_marks(mr_loader *l, mr__trace_report *r, mr__detail *detail)
{
    const mr__trace *trace = l->team.trace;
    mr_loader_stats s = {.struct_size = sizeof s};
    if (trace == NULL)
        return mr__fail(detail, MR_EARGUMENT, "nothing is remembered for a trace: ask for it in the loader's options");
    r->count = mr__trace_count(trace);
    r->forgotten = mr__trace_forgotten(trace);
    r->marks = mr__alloc_array(r->hooks, r->count + 1, sizeof *r->marks);
    if (r->marks == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a trace of %zu tasks", r->count);
    for (size_t i = 0; i < r->count; i++)
        r->marks[i] = *mr__trace_at(trace, i);
    mr__team_fill(l, &s);
    r->policy = s.policy;
    r->beside = s.beside;
    r->simulated = s.simulated || l->device->type->advance != NULL; // of "sim", too, time is its own
    r->device_count = s.device_count;
    for (uint32_t d = 0; d < s.device_count; d++) {
        r->names[d] = s.devices[d].name;
        r->lanes[d] = s.devices[d].lanes;
    }
    return 0;
}

int mr_loader_write_trace(mr_loader *l, const char *path)
{
    mr__detail detail = {0};
    int result = path != NULL ? mr__loader_here(l) : MR_EARGUMENT;
    if (result != 0)
        return result;
    mr__trace_report r = {.hooks = &l->hooks, .dataset = l->dataset};
    mr__mutex_lock(&l->mutex);
    result = copy_marks(l, &r, &detail);
    mr__mutex_unlock(&l->mutex);
    if (result == 0)
        result = mr__trace_report_write(&r, path, &detail); // without the mutex: a disk may be slow
    mr__free(&l->hooks, r.marks);
    if (result == 0)
        return 0;
    mr__mutex_lock(&l->mutex);
    l->detail = detail;
    mr__mutex_unlock(&l->mutex);
    return result;
}
