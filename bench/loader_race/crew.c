// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "loader_race.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RING_BATCHES = 3, HUGE_NBYTES = 2 << 20 };

typedef struct share {
    pthread_t thread;
    const crew *crew;
    void *worker;
    uint64_t first, end;
} share;

/* Large pages where the system has them, all touched: nobody pays for new pages while the clock runs. */
void crew_init(crew *c, const options *o, unsigned threads, size_t sample_nbytes)
{
    *c = (crew){.threads = threads, .sample_nbytes = sample_nbytes};
    c->ring_samples = (uint64_t)RING_BATCHES * o->batch;
    size_t nbytes = (c->ring_samples * sample_nbytes + HUGE_NBYTES - 1) / HUGE_NBYTES * HUGE_NBYTES;
    c->ring = need(aligned_alloc(HUGE_NBYTES, nbytes));
    madvise(c->ring, nbytes, MADV_HUGEPAGE);
    memset(c->ring, 1, nbytes);
    c->workers = need(calloc(threads, sizeof *c->workers));
}

static void *run_share(void *argument)
{
    const share *s = argument;
    const crew *c = s->crew;
    for (uint64_t k = s->first; k < s->end; k += c->threads)
        if (!c->work(s->worker, k, c->ring + k % c->ring_samples * c->sample_nbytes))
            return argument;
    return NULL;
}

static void crew_run(const crew *c, uint64_t first, uint64_t end)
{
    share *shares = need(calloc(c->threads, sizeof *shares));
    bool good = true;
    for (unsigned t = 0; t < c->threads; t++) {
        shares[t] = (share){.crew = c, .worker = c->workers[t], .first = first + t, .end = end};
        if (pthread_create(&shares[t].thread, NULL, run_share, &shares[t]) != 0)
            fail("a thread cannot be made");
    }
    for (unsigned t = 0; t < c->threads; t++) {
        void *failed = NULL;
        pthread_join(shares[t].thread, &failed);
        good = good && failed == NULL;
    }
    free(shares);
    if (!good)
        fail("a sample could not be prepared");
}

void crew_measure(crew *c, const options *o, uint64_t samples, double since, figures *f)
{
    crew_run(c, 0, o->batch);
    f->first_s = (wall_ns() - since) / 1e9;
    double wall = wall_ns(), core = process_ns();
    crew_run(c, o->batch, samples);
    f->wall_s = (wall_ns() - wall) / 1e9;
    f->core_s = (process_ns() - core) / 1e9;
    f->samples = samples - o->batch;
}

static uint64_t mix(uint64_t v)
{
    v += UINT64_C(0x9e3779b97f4a7c15);
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

uint64_t *order_new(uint64_t count, bool shuffled, uint64_t seed)
{
    uint64_t *order = need(calloc(count, sizeof *order));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = shuffled ? mix(seed + mix(i)) % (i + 1) : i;
        order[i] = order[at];
        order[at] = i;
    }
    return order;
}

uint64_t whole_batches(const options *o, uint64_t count)
{
    if (count < (uint64_t)o->batch * 2)
        fail("%llu samples are less than two batches of %u", (unsigned long long)count, o->batch);
    return count / o->batch * o->batch;
}
