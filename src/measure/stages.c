// SPDX-License-Identifier: Apache-2.0
#include "measure/stages.h"

#define STALL_NS ((uint64_t)1000000)

/* Too few samples to say anything; below this share of the time a wait is none. */
enum { SAMPLES_LEAST = 32 };
#define SHARE_LEAST 0.02

static uint64_t get(const atomic_uint_least64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Its thread is the only one that writes. */
static void grow(atomic_uint_least64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, get(counter) + by, memory_order_relaxed);
}

void mr__stage_add(mr__thread_meter *meter, mr__stage_id stage, uint64_t ns, uint64_t count, uint64_t nbytes)
{
    mr__stage_meter *to = &meter->stage[stage];
    grow(&to->ns, ns);
    grow(&to->count, count);
    grow(&to->nbytes, nbytes);
    if (count != 0)
        mr__histogram_add(&to->times, ns / count, count);
}

void mr__consumer_add(mr__consumer_meter *meter, uint64_t wait_ns, uint64_t ready, uint64_t samples)
{
    meter->wait_ns += wait_ns;
    meter->stalls += wait_ns > STALL_NS;
    meter->samples += samples;
    meter->batches++;
    meter->ready_sum += ready;
    meter->asked++;
    mr__histogram_add(&meter->waits, wait_ns, 1);
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static mr_stage_stats sum_stage(const mr__thread_meter *const *meters, size_t threads, mr__stage_id stage,
                                const char *name)
{
    mr__histogram times = {0};
    mr_stage_stats stats = {.name = name};
    uint64_t ns = 0;
    for (size_t i = 0; i < threads; i++) {
        const mr__stage_meter *from = &meters[i]->stage[stage];
        ns += get(&from->ns);
        stats.count += get(&from->count);
        stats.nbytes += get(&from->nbytes);
        mr__histogram_merge(&times, &from->times);
    }
    stats.seconds = seconds(ns);
    stats.p50_ns = mr__histogram_quantile(&times, 0.5);
    stats.p99_ns = mr__histogram_quantile(&times, 0.99);
    return stats;
}

static void sum_stages(const mr__thread_meter *const *meters, size_t threads, mr_loader_stats *stats)
{
    static const struct {
        mr__stage_id id;
        const char *name;
    } work[] = {{MR__AT_READ, "read"}, {MR__AT_DECODE, "decode"}, {MR__AT_AUGMENT, "augment"}, {MR__AT_ORDER, "order"}};
    stats->stage_count = sizeof work / sizeof *work;
    for (uint32_t i = 0; i < stats->stage_count; i++)
        stats->stages[i] = sum_stage(meters, threads, work[i].id, work[i].name);
    stats->thread_wait_seconds = sum_stage(meters, threads, MR__AT_WAIT, "wait").seconds;
    stats->thread_idle_seconds = sum_stage(meters, threads, MR__AT_IDLE, "idle").seconds;
}

static void sum_reads(const mr__thread_meter *const *meters, size_t threads, mr_loader_stats *stats)
{
    uint64_t depth = 0;
    stats->reads_cached = 0;
    stats->reads_waited = 0;
    stats->stored_nbytes = 0;
    for (size_t i = 0; i < threads; i++) {
        stats->reads_cached += get(&meters[i]->reads_cached);
        stats->reads_waited += get(&meters[i]->reads_waited);
        stats->stored_nbytes += get(&meters[i]->stored_nbytes);
        depth += get(&meters[i]->read_depth_sum);
    }
    stats->read_depth_mean = stats->reads_waited != 0 ? (double)depth / (double)stats->reads_waited : 0;
}

void mr__measure_sum(const mr__thread_meter *const *meters, size_t threads, const mr__consumer_meter *consumer,
                     mr_loader_stats *stats)
{
    sum_stages(meters, threads, stats);
    sum_reads(meters, threads, stats);
    stats->samples = consumer->samples;
    stats->batches = consumer->batches;
    stats->ready_mean = consumer->asked != 0 ? (double)consumer->ready_sum / (double)consumer->asked : 0;
    stats->consumer_stall_seconds = seconds(consumer->wait_ns);
    stats->consumer_stalls = consumer->stalls;
    stats->consumer_p50_ns = mr__histogram_quantile(&consumer->waits, 0.5);
    stats->consumer_p99_ns = mr__histogram_quantile(&consumer->waits, 0.99);
    stats->bottleneck = mr__measure_bottleneck(stats);
}

const char *mr__measure_bottleneck(const mr_loader_stats *stats)
{
    double work = 0;
    if (stats->samples < SAMPLES_LEAST)
        return "none";
    for (uint32_t i = 0; i < stats->stage_count && i < MR_STAGES_MAX; i++)
        work += stats->stages[i].seconds;
    double threads = work + stats->thread_wait_seconds + stats->thread_idle_seconds;
    if (stats->consumer_stall_seconds < SHARE_LEAST * stats->seconds &&
        stats->thread_idle_seconds > SHARE_LEAST * threads)
        return "consumer";
    return stats->thread_wait_seconds > work ? "storage" : "cores";
}
