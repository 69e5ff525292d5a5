// SPDX-License-Identifier: Apache-2.0
#include "loader/share.h"

#include "device/cpu/placement.h"
#include "loader/loader.h"
#include <string.h>

enum { KNOWN_FROM = 8, WORK_NS_MAX_LOG2 = 60 };

static double bounded(uint64_t ns)
{
    return ns >> WORK_NS_MAX_LOG2 == 0 ? (double)ns : (double)(UINT64_C(1) << WORK_NS_MAX_LOG2);
}

/* The board's view, decided by the policy. What it finds on the board may be anybody's: it is checked here. */
static void judge(void *user, mr__board_view *v)
{
    mr__share *s = user;
    mr__lending l = {s->jobs, v->member_count, s->cores, v->core_count};
    for (size_t i = 0; i < v->member_count; i++) {
        const mr__board_post *m = &v->members[i];
        s->jobs[i] = (mr__lending_job){.known = m->known && m->batch_ns != 0,
                                       .work_ns = bounded(m->work_ns),
                                       .batch_ns = bounded(m->batch_ns),
                                       .sample_ns = bounded(m->sample_ns),
                                       .reserve = m->reserve};
    }
    for (size_t i = 0; i < v->core_count; i++) {
        const mr__board_loan *c = &v->cores[i];
        uint64_t left = c->until_ns > v->now_ns ? c->until_ns - v->now_ns : 0;
        s->cores[i] = (mr__lending_core){.home = c->home, .to = c->to, .until_ns = bounded(left), .socket = c->socket};
    }
    if (mr__lending_decide(&l, s->spare) == 0)
        return;
    for (size_t i = 0; i < v->core_count; i++) {
        v->cores[i].to = s->cores[i].to;
        v->cores[i].until_ns = v->now_ns + (uint64_t)(s->cores[i].until_ns > 0 ? s->cores[i].until_ns : 0);
    }
}

/* What a sample costs, from what lanes have done since it was last asked. The mutex is held. */
static void learn(mr_loader *l)
{
    mr__share *s = l->share;
    size_t count;
    uint64_t samples = 0, ns = 0;
    const mr__thread_meter *const *meters = l->device->type->meters(l->device, &count);
    for (size_t i = 0; i < count; i++) {
        samples += atomic_load_explicit(&meters[i]->stage[MR__AT_READ].count, memory_order_relaxed);
        for (int stage = MR__AT_READ; stage <= MR__AT_ORDER; stage++)
            ns += atomic_load_explicit(&meters[i]->stage[stage].ns, memory_order_relaxed);
    }
    uint64_t more = samples - s->counted, least = l->batch / 2 > KNOWN_FROM ? l->batch / 2 : KNOWN_FROM;
    if (more < (s->sample_ns > 0 ? least : KNOWN_FROM) || ns <= s->counted_ns)
        return;
    double fresh = (double)(ns - s->counted_ns) / (double)more;
    s->sample_ns = s->sample_ns > 0 ? (s->sample_ns + fresh) / 2 : fresh;
    s->counted = samples;
    s->counted_ns = ns;
}

/* How far it is. The mutex is held. */
static mr__board_post foretell(const mr_loader *l)
{
    const mr__slot *under_way = NULL;
    bool room = false;
    mr__board_post post = {.known = l->share->sample_ns > 0};
    for (uint32_t i = 0; i < l->length && under_way == NULL; i++) {
        const mr__slot *slot = l->queue[(l->first + i) % l->slot_count];
        if (slot->state == MR__SLOT_READY)
            post.reserve++;
        else
            under_way = slot;
    }
    for (uint32_t i = 0; i < l->slot_count; i++)
        room |= l->slots[i].state == MR__SLOT_FREE;
    if (l->waiting == 0)
        post.reserve++; // the one that the consumer has
    uint32_t left = under_way != NULL ? under_way->open : l->batch;
    if (under_way == NULL && (!room || l->over))
        post.reserve = MR__BOARD_IDLE;
    if (l->stopped || l->code != 0 || l->begun_ns == 0)
        post.reserve = MR__BOARD_IDLE;
    post.sample_ns = (uint64_t)l->share->sample_ns;
    post.work_ns = (uint64_t)(l->share->sample_ns * left);
    post.batch_ns = (uint64_t)(l->share->sample_ns * l->batch);
    return post;
}

static void post_and_decide(mr_loader *l, bool decide)
{
    mr__mutex_lock(&l->mutex);
    bool known = l->share->sample_ns > 0;
    if (decide || !known)
        learn(l);
    decide |= !known && l->share->sample_ns > 0;
    mr__board_post post = foretell(l);
    mr__board_post_own(l->share->board, &post);
    mr__mutex_unlock(&l->mutex);
    if (decide)
        mr__board_decide(l->share->board, judge, l->share);
}

void mr__share_post(mr_loader *l)
{
    if (l->share != NULL)
        post_and_decide(l, true);
}

void mr__share_progress(mr_loader *l, const void *slot)
{
    if (l->share == NULL)
        return;
    mr__mutex_lock(&l->mutex);
    bool ready = ((const mr__slot *)slot)->state == MR__SLOT_READY;
    mr__mutex_unlock(&l->mutex);
    post_and_decide(l, mr__board_expired(l->share->board) || ready);
}

/* Threads that are bound to processors have cores with names: those of this process, if they are as many. */
static int join(mr_loader *l, const mr_loader_options *o, uint32_t threads, mr__detail *detail)
{
    mr__placement p;
    int result = mr__placement_init(&p, MR_PIN_CORES, o->has_numa_node, o->numa_node, detail);
    if (result != 0)
        return result;
    bool named = o->pinning == MR_PIN_CORES || p.count == threads;
    mr__board_options options = {.hooks = &l->hooks,
                                 .name = o->share,
                                 .cores = threads,
                                 .processors = named ? p.processor : NULL,
                                 .processor_count = named ? p.count : 0,
                                 .judge = judge,
                                 .judge_user = l->share};
    return mr__board_join(&options, &l->share->board, detail);
}

int mr__share_init(mr_loader *l, const mr_loader_options *o, uint32_t threads, uint32_t *lanes, mr__detail *detail)
{
    *lanes = threads;
    if (o->share == NULL)
        return 0;
    const mr__device_names *named = &l->team.named;
    if (named->count != 1 || named->automatic || named->at[0].type != &mr__device_cpu)
        return mr__fail(detail, MR_EARGUMENT, "cores are shared by the device cpu, not by \"%.64s\"", o->device);
    l->share = mr__alloc_zero(&l->hooks, sizeof *l->share);
    if (l->share == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for shared cores");
    *lanes = mr__board_lanes(threads);
    return join(l, o, threads, detail);
}

void mr__share_fini(mr_loader *l)
{
    if (l->share != NULL)
        mr__board_leave(l->share->board);
    mr__free(&l->hooks, l->share);
}

void mr__share_stats(mr_loader *l, mr_loader_stats *stats)
{
    if (l->share == NULL)
        return;
    mr__board_totals t = mr__board_total(l->share->board);
    stats->cores_lent_seconds = (double)t.lent_ns / 1e9;
    stats->cores_borrowed_seconds = (double)t.borrowed_ns / 1e9;
}
