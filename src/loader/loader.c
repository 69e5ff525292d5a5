// SPDX-License-Identifier: Apache-2.0
/* From options to a loader, and its end. */
#include "loader/loader.h"

#include "base/clock.h"
#include "base/log.h"
#include "dataset/dataset.h"
#include "loader/setup.h"
#include "step/augment.h"
#include <millrace/system.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 64, BATCH_MAX = 1 << 20, SLOTS = 3, SLOTS_MAX = 1024, RING_NBYTES = 1 << 28, THREADS_MAX = 4096 };

#define TIMEOUT_NS UINT64_C(60000000000)

/* How long threads are waited for at the end; and when it is known already that one is held up. */
#define PATIENCE_NS UINT64_C(10000000000)
#define STUCK_NS    UINT64_C(1000000000)

/* What a thread has to have for itself under a cap on memory: tables of weights; and as much again for images. */
#define THREAD_NBYTES ((uint64_t)8 << 20)

static const char *from_environment(const char *name)
{
    return getenv(name);
}

static int check(const mr_loader_options *o, mr__detail *detail)
{
    if (o->batch > BATCH_MAX || o->slots > SLOTS_MAX || o->threads > THREADS_MAX)
        return mr__fail(detail, MR_EARGUMENT,
                        "a batch of %u, %u slots, %u threads: at most %d, %d and %d (zeros are defaults)", o->batch,
                        o->slots, o->threads, BATCH_MAX, SLOTS_MAX, THREADS_MAX);
    if (o->slots == 1)
        return mr__fail(detail, MR_EARGUMENT, "1 slot: at least 2, the consumer's and one that is filled meanwhile");
    if (o->epoch > UINT32_MAX || (o->epochs != 0 && o->epochs - 1 > UINT32_MAX - o->epoch))
        return mr__fail(detail, MR_EARGUMENT, "epoch %llu and %llu of them: there are 2^32",
                        (unsigned long long)o->epoch, (unsigned long long)o->epochs);
    return 0;
}

static int set_out(mr_loader *l, const mr_loader_options *o, const mr_recipe *recipe, mr__detail *detail)
{
    int result = mr__work_init(&l->work, &l->hooks, l->dataset, recipe, o, &l->recipe, &l->forms, detail);
    if (result == 0)
        result = mr__order_init(&l->order, &l->hooks, o, mr_dataset_count(l->dataset), detail);
    if (result == 0)
        result = mr__ranks_init(&l->ranks, o, from_environment, detail);
    if (result != 0)
        return result;
    l->batch = o->batch != 0 ? o->batch : BATCH;
    l->end_epoch = o->epochs != 0 ? o->epoch + o->epochs : (uint64_t)UINT32_MAX + 1;
    l->has_numa_node = o->has_numa_node;
    l->numa_node = o->numa_node;
    l->timeout_ns = o->timeout_ns != 0 ? o->timeout_ns : TIMEOUT_NS;
    l->draw_count = mr__recipe_draw_count(l->recipe);
    l->deal = (mr__deal){.positions = l->order.positions,
                         .batch = l->batch,
                         .rank = l->ranks.rank,
                         .world = l->ranks.world,
                         .drop_last = o->drop_last};
    mr__mixing_init(&l->mixing, l->recipe, &l->work.finish.output, mr__cpu_detect());
    l->guests = (l->mixing.mixup || l->mixing.cutmix) && mr__mix_has_guests(&l->deal) ? l->batch : 0;
    if (o->start > l->order.positions)
        return mr__fail(detail, MR_EARGUMENT, "start is %llu, but an epoch has %llu positions",
                        (unsigned long long)o->start, (unsigned long long)l->order.positions);
    l->epoch_batches = mr__deal_batches(&l->deal);
    mr__loader_seek(l, o->epoch, o->start);
    if (l->epoch_batches == 0)
        return mr__fail(detail, MR_EARGUMENT,
                        "an epoch has %llu samples, fewer than one batch of %u (x %u rank%s): nothing is left when "
                        "incomplete batches are dropped (drop_last); make batches smaller",
                        (unsigned long long)l->order.positions, l->batch, l->ranks.world,
                        l->ranks.world == 1 ? "" : "s");
    return 0;
}

static void fill_state(mr_loader *l)
{
    mr_dataset_info info = {.struct_size = sizeof info};
    (void)mr_dataset_get_info(l->dataset, &info);
    l->at.seed = l->order.seed;
    l->at.global_batch = (uint64_t)l->batch * l->ranks.world;
    l->at.samples = l->order.samples;
    l->at.dataset = info.fingerprint;
    l->at.recipe = mr_recipe_hash(l->recipe);
    l->at.order = mr__order_hash(&l->order);
}

/*
 * What is left of a cap when slots have theirs: a quarter for stored bytes, with so few reads ahead that each may be 16
 * times as long as is usual; the rest for threads.
 */
static void share_rest(mr__work *work, uint64_t rest, uint32_t threads)
{
    uint64_t reads = rest / 4 / (16 * ((uint64_t)work->record_nbytes + 4096)),
             deep = reads > threads ? reads - threads : 1;
    if (deep < work->read_depth)
        work->read_depth = (uint32_t)deep;
    uint64_t stored = rest / 4 / (threads + work->read_depth), image = rest / 4 * 3 / threads - THREAD_NBYTES;
    if (stored < work->limits.nbytes)
        work->cap_nbytes = stored;
    work->capped = image < work->limits.memory_nbytes;
    if (work->capped)
        work->limits.memory_nbytes = image;
}

/* Nobody said: a batch in reserve beside the consumer's and the one that is filled, unless batches are large. */
static uint32_t default_slots(size_t slot_nbytes)
{
    return slot_nbytes > RING_NBYTES / SLOTS ? SLOTS - 1 : SLOTS;
}

/* Under a cap, slots come first: as many as were asked for, or as fit. */
static int share_memory(mr_loader *l, const mr_loader_options *o, uint32_t threads, uint32_t *slots, mr__detail *detail)
{
    size_t each;
    if (!mr__slot_nbytes(l, &each))
        return mr__fail(detail, MR_ELIMIT, "a batch of %u samples is larger than memory can be", l->batch);
    *slots = o->slots != 0 ? o->slots : default_slots(each);
    if (o->memory_nbytes == 0)
        return 0;
    uint64_t for_threads = 2 * threads * THREAD_NBYTES, least = for_threads + 2 * (uint64_t)each;
    if (o->memory_nbytes < least)
        return mr__fail(detail, MR_ELIMIT,
                        "memory of %llu bytes: two slots of %zu bytes and %u threads need %llu at least",
                        (unsigned long long)o->memory_nbytes, each, threads, (unsigned long long)least);
    uint64_t fit = (o->memory_nbytes - for_threads) / each;
    if (fit < *slots && o->slots != 0)
        return mr__fail(detail, MR_ELIMIT, "memory of %llu bytes is not enough for %u slots of %zu bytes",
                        (unsigned long long)o->memory_nbytes, o->slots, each);
    *slots = fit < *slots ? (uint32_t)fit : *slots;
    share_rest(&l->work, o->memory_nbytes - *slots * (uint64_t)each, threads);
    l->meter.limit_nbytes = o->memory_nbytes;
    return 0;
}

static int make_blank(mr_loader *l, mr__detail *detail)
{
    mr__augment *augment;
    int result = mr__augment_new(&l->hooks, mr__cpu_detect(), &l->work.finish, &augment);
    if (result == 0) {
        l->blank = mr__alloc(&l->hooks, l->work.finish.output.sample_nbytes);
        if (l->blank != NULL)
            mr__augment_blank(augment, l->blank);
        mr__augment_free(augment);
        result = l->blank != NULL ? 0 : MR_ENOMEM;
    }
    return result == 0 ? 0 : mr__fail(detail, result, "a sample's memory: %s", mr_error_text(result));
}

static int make_ready(mr_loader *l, mr__detail *detail)
{
    int result = mr__mutex_init(&l->mutex);
    if (result == 0) {
        result = mr__condition_init(&l->news);
        if (result != 0)
            mr__mutex_fini(&l->mutex);
    }
    l->ready = result == 0;
    return result == 0 ? 0 : mr__fail(detail, result, "%s", mr_error_text(result));
}

static int build(mr_loader *l, const mr_loader_options *o, const mr_recipe *recipe, mr__detail *detail)
{
    uint32_t threads = o->threads != 0 ? o->threads : mr_threads_default(), slots = 0, lanes = 0;
    int result = check(o, detail);
    if (result == 0)
        result = mr__names_read(o->device, l->types, &l->team.named, detail);
    if (result == 0)
        result = set_out(l, o, recipe, detail);
    if (result == 0)
        result = mr__share_init(l, o, threads, &lanes, detail);
    if (result == 0)
        result = share_memory(l, o, lanes, &slots, detail);
    if (result == 0)
        result = make_ready(l, detail);
    if (result == 0)
        result = mr__ring_init(l, slots, detail);
    if (result == 0)
        result = make_blank(l, detail);
    if (result == 0)
        result = mr__bad_init(l, o, detail);
    if (result == 0)
        result = mr__team_open(l, o, lanes, detail);
    if (result == 0) {
        fill_state(l);
        mr__team_ready(l);
    }
    return result;
}

/* Also of one that is half built; it has no device any more. */
static void dismantle(mr_loader *l)
{
    mr__share_fini(l);
    mr_dataset_free(l->dataset);
    mr__bad_fini(l);
    mr__ring_fini(l);
    mr__free(&l->hooks, l->blank);
    mr__order_fini(&l->order);
    mr_recipe_free(l->recipe);
    if (l->ready) {
        mr__condition_fini(&l->news);
        mr__mutex_fini(&l->mutex);
    }
    mr_hooks outer = l->outer;
    mr__free(&outer, l);
}

int mr_loader_new(mr_dataset *dataset, const mr_recipe *recipe, const mr_loader_options *options, mr_loader **out,
                  char *detail, size_t detail_nbytes)
{
    return mr__loader_new(mr__device_types(), dataset, recipe, options, out, detail, detail_nbytes);
}

int mr__loader_new(const mr__device_type *const *types, mr_dataset *dataset, const mr_recipe *recipe,
                   const mr_loader_options *options, mr_loader **out, char *detail, size_t detail_nbytes)
{
    mr_loader_options o;
    mr_hooks hooks;
    mr__detail why = {0};
    if (out == NULL || !mr__struct_copy(&o, sizeof o, options) || mr__hooks_init(&hooks, o.hooks) != 0)
        return mr__tell_detail(&why, mr__fail(&why, MR_EARGUMENT, "the loader's options or hooks make no sense"),
                               detail, detail_nbytes);
    mr_loader *l = mr__alloc_zero(&hooks, sizeof *l);
    if (l == NULL)
        return mr__tell_detail(&why, mr__fail(&why, MR_ENOMEM, "out of memory"), detail, detail_nbytes);
    l->outer = hooks;
    l->bad.file = -1;
    l->pid = getpid();
    l->types = types;
    l->dataset = dataset;
    if (dataset != NULL)
        mr__dataset_ref(dataset);
    mr__meter_init(&l->meter, &hooks, UINT64_MAX);
    l->hooks = mr__meter_hooks(&l->meter);
    uint64_t began = hooks.now_ns(hooks.user);
    int result = build(l, &o, recipe, &why);
    l->making_ns = hooks.now_ns(hooks.user) - began;
    if (result != 0)
        dismantle(l);
    else
        *out = l;
    return mr__tell_detail(&why, result, detail, detail_nbytes);
}

void mr_loader_free(mr_loader *l)
{
    if (l == NULL || mr__loader_here(l) != 0)
        return;
    mr_loader_stop(l);
    uint64_t patience = l->code == MR_ETIMEOUT ? STUCK_NS : l->timeout_ns < PATIENCE_NS ? l->timeout_ns : PATIENCE_NS;
    mr__team_save(l);
    if (mr__team_close(l, mr__clock_deadline_ns(patience)))
        dismantle(l);
    else
        mr__log(&l->outer, MR_LOG_ERROR,
                "a thread of the loader is held up, by a disk that does not answer perhaps: it is left to itself");
}

const char *mr_loader_detail(const mr_loader *l)
{
    if (l == NULL)
        return "";
    return mr__loader_here(l) == 0 ? l->detail.text : mr_error_text(MR_EFORKED);
}

uint64_t mr_loader_batches(const mr_loader *l)
{
    return mr__loader_here(l) == 0 ? l->epoch_batches : 0;
}
