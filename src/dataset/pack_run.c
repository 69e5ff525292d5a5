// SPDX-License-Identifier: Apache-2.0
/*
 * The pipeline of packing. The caller's thread submits reads, and writes samples in their order; workers take what was
 * read and make the forms; one thread publishes a full shard while the next is being written.
 *
 * Invariants
 * 1. Slot number i % depth has sample number i of those that are to do: from submit until it is written, and no other.
 * 2. For each read in flight there is one ticket, and a worker takes a ticket before it takes a read: it never waits
 * for reads that nobody submitted.
 * 3. Nothing but the order of samples decides on bytes: not who made them, nor when.
 */
#include "dataset/pack.h"

#include "base/clock.h"
#include "base/pool.h"
#include "base/thread.h"
#include <millrace/system.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { DEPTH_MIN = 16, DEPTH_PER_THREAD = 8, BAD_MORE = 100, TICK_NS = 200 * 1000 * 1000 };

/* A place in the samples that are to do. */
typedef struct cursor {
    size_t number;    /* of samples passed */
    size_t todo;      /* which of job->todo */
    uint64_t ordinal; /* the next one */
} cursor;

typedef struct pipeline {
    mr__pack_job *job;
    mr__read_ahead *ahead;
    mr__pack_slot *slots;
    size_t depth;
    mr__mutex lock;
    mr__condition work, done;
    bool ready; /* lock and conditions are made */
    size_t tickets;
    bool closing;
    int failed; /* what ends the run, from a worker */
    mr__pack_worker *workers;
    mr__thread *threads;
    size_t thread_count, started;
    cursor submitted, written;
    uint64_t total;            /* samples to do */
    mr__shard_write shards[2]; /* one is written, the other published */
    unsigned current;
    mr__pool *publisher;
    int publish_result;
    char first_bad[128];
} pipeline;

/* A worker, and where it belongs. */
typedef struct hand {
    pipeline *p;
    mr__pack_worker *worker;
} hand;

static bool take_ticket(pipeline *p, bool *closing)
{
    mr__mutex_lock(&p->lock);
    while (p->tickets == 0 && !p->closing)
        mr__condition_wait(&p->work, &p->lock, MR__FOR_EVER);
    bool got = p->tickets != 0;
    p->tickets -= got;
    *closing = p->closing;
    mr__mutex_unlock(&p->lock);
    return got;
}

static void finish_slot(pipeline *p, mr__pack_slot *slot, int result)
{
    mr__mutex_lock(&p->lock);
    slot->done = true;
    if (result != 0 && p->failed == 0) {
        p->failed = result;
        p->job->packer->detail = slot->detail;
    }
    mr__condition_wake_all(&p->done);
    mr__mutex_unlock(&p->lock);
}

static void work(void *arg)
{
    hand *h = arg;
    mr__read *read;
    bool closing;
    while (take_ticket(h->p, &closing) && mr__read_ahead_take(h->p->ahead, &read) == 0) {
        mr__pack_slot *slot = read->user;
        if (closing) /* nobody waits for it any more */
            mr__fetch_leave(&slot->fetch);
        else
            finish_slot(h->p, slot, mr__pack_sample(h->worker, slot));
    }
}

static bool cursor_at_end(const pipeline *p, const cursor *c)
{
    return c->todo == p->job->todo_count;
}

static void cursor_step(const pipeline *p, cursor *c)
{
    const mr__pack_plan *plan = &p->job->plan;
    c->number++;
    c->ordinal++;
    if (c->ordinal == plan->first[p->job->todo[c->todo] + 1] && ++c->todo < p->job->todo_count)
        c->ordinal = plan->first[p->job->todo[c->todo]];
}

/* The next sample is read; one whose record cannot even be found is done at once, and refused. */
static int submit(pipeline *p)
{
    mr__pack_slot *slot = &p->slots[p->submitted.number % p->depth];
    mr_dataset *source = p->job->source;
    uint32_t form;
    slot->ordinal = p->submitted.ordinal;
    slot->shard = p->job->todo[p->submitted.todo];
    slot->done = false;
    slot->code = 0;
    slot->nbytes = 0;
    mr__detail_clear(&slot->detail);
    mr__source_nbytes(source, slot->ordinal, &form);
    int result = mr__fetch_begin(source, &slot->fetch, slot->ordinal, form, &slot->detail);
    slot->reading = result == 0;
    slot->code = result;
    cursor_step(p, &p->submitted);
    if (result != 0) {
        slot->done = true;
        if (result != MR_ENOMEM && result != MR_EIO)
            return 0;
        p->job->packer->detail = slot->detail;
        return result;
    }
    const mr__fetch *f = &slot->fetch;
    slot->read = (mr__read){.path = f->path,
                            .file = f->path == NULL ? &f->file : NULL,
                            .offset = f->offset,
                            .nbytes = (size_t)f->nbytes,
                            .buffer = slot->read.buffer,
                            .user = slot};
    if (f->path != NULL)
        slot->read.nbytes = MR__FETCH_NBYTES_MAX;
    result = mr__read_ahead_submit(p->ahead, &slot->read);
    if (result != 0)
        return result;
    mr__mutex_lock(&p->lock);
    p->tickets++;
    mr__condition_wake_one(&p->work);
    mr__mutex_unlock(&p->lock);
    return 0;
}

static bool tell(pipeline *p)
{
    const mr_pack_options *o = &p->job->packer->options;
    const mr_progress progress = {.verb = "packing",
                                  .unit = "samples",
                                  .done = p->written.number,
                                  .total = p->total,
                                  .in_nbytes = p->job->packer->report.in_nbytes,
                                  .out_nbytes =
                                      atomic_load(&p->shards[0].out_nbytes) + atomic_load(&p->shards[1].out_nbytes),
                                  .refused = p->job->bad};
    return o->progress == NULL || o->progress(o->progress_user, &progress);
}

/* Waits for a slot, and tells how far it is. */
static int wait_for(pipeline *p, const mr__pack_slot *slot)
{
    int result = 0;
    mr__mutex_lock(&p->lock);
    while (!slot->done && p->failed == 0 && result == 0) {
        int waited = mr__condition_wait(&p->done, &p->lock, mr__clock_deadline_ns(TICK_NS));
        mr__mutex_unlock(&p->lock);
        if (waited == MR_ETIMEOUT && !tell(p))
            result = MR_ECLOSED;
        mr__mutex_lock(&p->lock);
    }
    if (result == 0)
        result = p->failed;
    mr__mutex_unlock(&p->lock);
    return result;
}

/* A few more than may be are looked at, so that whoever has to look at them sees them together. */
static int check_bad(const pipeline *p, uint64_t more)
{
    const mr__pack_job *job = p->job;
    if (job->bad <= job->bad_max + more)
        return 0;
    return mr__fail(&job->packer->detail, MR_ELIMIT,
                    "bad images: %llu%s, and %llu of %llu may be (max_bad): " MR__QUARANTINE_NAME " lists them%s%s",
                    (unsigned long long)job->bad, more != 0 ? " so far" : "", (unsigned long long)job->bad_max,
                    (unsigned long long)job->plan.samples, p->first_bad[0] != '\0' ? "; the first: " : "",
                    p->first_bad);
}

static void note_bad(pipeline *p, const mr__pack_slot *slot)
{
    mr_sample sample = {.struct_size = sizeof sample};
    p->job->bad++;
    if (mr_dataset_sample(p->job->source, slot->ordinal, &sample) != 0)
        return;
    if (p->first_bad[0] == '\0')
        snprintf(p->first_bad, sizeof p->first_bad, "%.40s: %.80s", sample.key, slot->detail.text);
    mr__pack_quarantine_add(&p->job->quarantine, slot->ordinal, sample.key, sample.key_nbytes, slot->code,
                            slot->detail.text);
}

static void publish(void *arg, size_t worker)
{
    pipeline *p = arg;
    (void)worker;
    p->publish_result = mr__shard_write_finish(&p->shards[!p->current]);
}

/* The shard is full: another thread publishes it, once that has done so with the one before. */
static int hand_over(pipeline *p)
{
    mr__pool_wait(p->publisher);
    if (p->publish_result != 0) {
        p->job->packer->detail = p->shards[!p->current].detail;
        return p->publish_result;
    }
    p->current = !p->current;
    return mr__pool_add(p->publisher, publish, p);
}

static int write_slot(pipeline *p, mr__pack_slot *slot)
{
    mr__shard_write *to = &p->shards[p->current];
    const mr__pack_plan *plan = &p->job->plan;
    size_t shard = p->job->todo[p->written.todo];
    int result = 0;
    if (p->written.ordinal == plan->first[shard])
        result = mr__shard_write_begin(to, shard);
    if (result == 0)
        result = mr__shard_write_add(to, slot);
    if (result != 0)
        p->job->packer->detail = to->detail;
    for (uint32_t i = 0; i < plan->form_count && slot->code == 0; i++)
        p->job->packer->report.absent +=
            slot->forms[i].record.state == MR_RECORD_ABSENT && mr__pack_plan_chooses(plan, i, slot->ordinal);
    p->job->packer->report.in_nbytes += slot->nbytes;
    if (slot->code != 0)
        note_bad(p, slot);
    bool full = p->written.ordinal + 1 == plan->first[shard + 1];
    cursor_step(p, &p->written);
    if (result == 0 && full)
        result = hand_over(p);
    return result == 0 ? check_bad(p, BAD_MORE) : result;
}

static int run(pipeline *p)
{
    int result = 0;
    uint64_t told_ns = mr__clock_monotonic_ns();
    while (!cursor_at_end(p, &p->submitted) && p->submitted.number < p->depth && result == 0)
        result = submit(p);
    while (!cursor_at_end(p, &p->written) && result == 0) {
        mr__pack_slot *slot = &p->slots[p->written.number % p->depth];
        result = wait_for(p, slot);
        if (result != 0)
            break;
        result = write_slot(p, slot);
        if (result == 0 && !cursor_at_end(p, &p->submitted))
            result = submit(p);
        if (mr__clock_monotonic_ns() - told_ns > TICK_NS) {
            told_ns = mr__clock_monotonic_ns();
            if (!tell(p) && result == 0)
                result = MR_ECLOSED;
        }
    }
    return result;
}

/* No sample is begun any more. */
static void close_work(pipeline *p)
{
    if (!p->ready)
        return;
    mr__mutex_lock(&p->lock);
    p->closing = true;
    mr__condition_wake_all(&p->work);
    mr__mutex_unlock(&p->lock);
}

/* What is in flight is read to its end, whatever became of the run: its memory is about to go. */
static void stop(pipeline *p)
{
    if (!p->ready)
        return;
    close_work(p);
    for (size_t i = 0; i < p->started; i++)
        mr__thread_join(&p->threads[i]);
}

static int start_workers(pipeline *p, hand *hands)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        hands[i] = (hand){p, &p->workers[i]};
        int result = mr__pack_worker_init(&p->workers[i], &p->job->plan, p->job->source);
        if (result != 0)
            return result;
        result = mr__thread_start(&p->threads[i], "mr-pack", work, &hands[i]);
        if (result != 0)
            return p->started != 0 ? 0 : result; /* fewer do it as well */
        p->started++;
    }
    return 0;
}

static int make_shards(pipeline *p)
{
    mr__pack_job *job = p->job;
    int result = 0;
    for (size_t i = 0; i < 2 && result == 0; i++)
        result = mr__shard_write_init(&p->shards[i], &job->plan, job->packer->disk, job->folder, job->source);
    return result;
}

/* Each read may have a file open; a quarter of what the process may have is for them. */
static size_t files_allowed(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur / 4 > 1 ? (size_t)(limit.rlim_cur / 4) : 1;
}

static int make(pipeline *p, hand **hands)
{
    const mr_hooks *hooks = &p->job->packer->hooks;
    unsigned asked = p->job->packer->options.threads;
    p->thread_count = asked != 0 ? asked : mr_threads_default();
    p->depth = p->thread_count * DEPTH_PER_THREAD > DEPTH_MIN ? p->thread_count * DEPTH_PER_THREAD : DEPTH_MIN;
    if (p->depth > files_allowed())
        p->depth = files_allowed();
    p->slots = mr__alloc_array(hooks, p->depth, sizeof *p->slots);
    p->workers = mr__alloc_array(hooks, p->thread_count, sizeof *p->workers);
    p->threads = mr__alloc_array(hooks, p->thread_count, sizeof *p->threads);
    *hands = mr__alloc_array(hooks, p->thread_count, sizeof **hands);
    if (p->slots == NULL || p->workers == NULL || p->threads == NULL || *hands == NULL)
        return MR_ENOMEM;
    int result = mr__mutex_init(&p->lock);
    if (result == 0)
        result = mr__condition_init(&p->work);
    if (result == 0)
        result = mr__condition_init(&p->done);
    p->ready = result == 0;
    if (result == 0)
        result = mr__read_ahead_new(hooks, MR__READ_AHEAD_AUTO, p->depth, &p->ahead);
    if (result == 0)
        result = mr__pool_new(hooks, "mr-publish", 1, 1, &p->publisher);
    if (result == 0)
        result = make_shards(p);
    return result == 0 ? start_workers(p, *hands) : result;
}

static void unmake(pipeline *p, hand *hands)
{
    const mr_hooks *hooks = &p->job->packer->hooks;
    stop(p);
    mr__pool_free(p->publisher);
    mr__read_ahead_free(p->ahead);
    for (size_t i = 0; i < p->depth && p->slots != NULL; i++)
        mr__pack_slot_fini(&p->slots[i], hooks);
    for (size_t i = 0; i < p->thread_count && p->workers != NULL; i++)
        mr__pack_worker_fini(&p->workers[i]);
    for (size_t i = 0; i < 2; i++)
        mr__shard_write_fini(&p->shards[i]);
    if (p->ready) {
        mr__condition_fini(&p->done);
        mr__condition_fini(&p->work);
        mr__mutex_fini(&p->lock);
    }
    mr__free(hooks, p->slots);
    mr__free(hooks, p->workers);
    mr__free(hooks, p->threads);
    mr__free(hooks, hands);
}

/* The last shard is being published: whether that went well is known when it is. */
static int wait_for_publisher(pipeline *p)
{
    mr__pool_wait(p->publisher);
    if (p->publish_result != 0)
        p->job->packer->detail = p->shards[!p->current].detail;
    return p->publish_result;
}

int mr__pack_run(mr__pack_job *job)
{
    pipeline p = {.job = job};
    hand *hands = NULL;
    if (job->todo_count == 0)
        return check_bad(&p, 0);
    for (size_t i = 0; i < job->todo_count; i++)
        p.total += job->plan.first[job->todo[i] + 1] - job->plan.first[job->todo[i]];
    p.submitted.ordinal = p.written.ordinal = job->plan.first[job->todo[0]];
    mr__detail_clear(&job->packer->detail);
    int result = make(&p, &hands);
    if (result == 0)
        result = run(&p);
    if (result != 0)
        close_work(&p);
    if (p.publisher != NULL) {
        int published = wait_for_publisher(&p);
        result = result == 0 || result == MR_ECLOSED ? published != 0 ? published : result : result;
    }
    if (result == 0)
        result = check_bad(&p, 0);
    tell(&p);
    unmake(&p, hands);
    if (result != 0 && job->packer->detail.text[0] == '\0')
        mr__fail(&job->packer->detail, result, "%s", result == MR_ECLOSED ? "stopped" : mr_error_text(result));
    return result;
}
