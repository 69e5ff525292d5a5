// SPDX-License-Identifier: Apache-2.0
/*
 * The last tasks that were done: who did them, when, what they were believed to take, and why they were put there. A
 * ring: the oldest are forgotten. report/trace.h writes it for people.
 *
 * Threads: one at a time: the loader's lock.
 * Ownership: mr__trace_free frees it.
 * Limits: `capacity` marks.
 */
#ifndef MR_MEASURE_TRACE_H
#define MR_MEASURE_TRACE_H

#include <millrace/hooks.h>
#include <stddef.h>
#include <stdint.h>

enum { MR__TRACE_MAX = 1 << 22, MR__MARK_SUBSTITUTE = 255 };

typedef struct mr__mark {
    uint64_t begun_ns, busy_ns; /* of mr__task */
    uint64_t sent_ns, seen_ns;  /* when it was given to its device, and came back */
    uint64_t predicted_ns;      /* with its share of the launch; UINT64_MAX: nobody did */
    uint64_t ordinal, epoch, batch;
    uint64_t pick; /* which submission of its device */
    uint32_t form;
    uint16_t lane;
    uint8_t device;
    uint8_t reason; /* mr__reason, or MR__MARK_SUBSTITUTE */
    uint8_t mishap; /* mr__mishap: why it went to another device then; MR__MISHAPS: it did not */
    int16_t code;
    uint16_t fused; /* jobs of the submission */
} mr__mark;

typedef struct mr__trace mr__trace;

int mr__trace_new(const mr_hooks *hooks, size_t capacity, mr__trace **out);
void mr__trace_free(mr__trace *trace); /* NULL is accepted */
void mr__trace_add(mr__trace *trace, const mr__mark *mark);

/* How many there are, and the i-th of them, the oldest first; how many were forgotten. */
size_t mr__trace_count(const mr__trace *trace);
const mr__mark *mr__trace_at(const mr__trace *trace, size_t i);
uint64_t mr__trace_forgotten(const mr__trace *trace);

#endif
