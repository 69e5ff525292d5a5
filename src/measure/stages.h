// SPDX-License-Identifier: Apache-2.0
/*
 * What one thread did with its time. Each thread has one of its own and is the only one that writes to it; whoever
 * wants to know adds them up meanwhile.
 */
#ifndef MR_MEASURE_STAGES_H
#define MR_MEASURE_STAGES_H

#include "measure/histogram.h"
#include <millrace/loader.h>

typedef enum mr__stage_id {
    MR__AT_READ, /* from the source, without waiting */
    MR__AT_DECODE,
    MR__AT_AUGMENT,
    MR__AT_ORDER, /* order, draws, dispatch, mixing, completion: what the loader does itself */
    MR__AT_WAIT,  /* for reads */
    MR__AT_IDLE,  /* for a free slot, or the consumer */
    MR__AT_COUNT
} mr__stage_id;

typedef struct mr__stage_meter {
    atomic_uint_least64_t ns, count, nbytes;
    mr__histogram times;
} mr__stage_meter;

typedef struct mr__thread_meter {
    mr__stage_meter stage[MR__AT_COUNT];
    atomic_uint_least64_t reads_cached, reads_waited, read_depth_sum, stored_nbytes;
} mr__thread_meter;

/* `count` samples went through in `ns` together. */
void mr__stage_add(mr__thread_meter *meter, mr__stage_id stage, uint64_t ns, uint64_t count, uint64_t nbytes);

/* The consumer's side; written under the loader's lock. */
typedef struct mr__consumer_meter {
    uint64_t wait_ns, stalls, samples, batches, ready_sum, asked;
    mr__histogram waits;
} mr__consumer_meter;

void mr__consumer_add(mr__consumer_meter *meter, uint64_t wait_ns, uint64_t ready, uint64_t samples);

/*
 * Adds up what `threads` meters have and fills the stages, reads, waits, consumer's fields and the bottleneck of
 * *stats; the rest of it is the caller's, and `seconds` it has filled in before.
 */
void mr__measure_sum(const mr__thread_meter *const *meters, size_t threads, const mr__consumer_meter *consumer,
                     mr_loader_stats *stats);

/*
 * Which resource binds, by where threads and the consumer spent their time (doc/design.md, "What binds"):
 * consumer: it waited less than 2 % of the time, and threads lay idle; storage: threads waited for reads more than they
 * worked; cores: else; none: less than 32 samples.
 */
const char *mr__measure_bottleneck(const mr_loader_stats *stats);

#endif
