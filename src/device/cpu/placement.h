// SPDX-License-Identifier: Apache-2.0
/* Which processors a thread runs on, and which memory a block lies in. */
#ifndef MR_DEVICE_CPU_PLACEMENT_H
#define MR_DEVICE_CPU_PLACEMENT_H

#include "base/error.h"
#include <millrace/loader.h>

enum { MR__PROCESSORS_MAX = 4096 };

/* The processors that threads may be put on: those of this process, and of a NUMA node where one is asked for. */
typedef struct mr__placement {
    uint16_t processor[MR__PROCESSORS_MAX];
    uint32_t count; /* 0: threads are left where they are */
    bool one_each;  /* thread n on processor n modulo count; else anywhere among them */
} mr__placement;

/* MR_EARGUMENT with detail: there is no such node, or none of its processors may be used. */
int mr__placement_init(mr__placement *placement, mr_pinning pinning, bool has_node, uint32_t node, mr__detail *detail);

/* The calling thread is number `n`. A system that refuses leaves it where it is. */
void mr__placement_apply(const mr__placement *placement, uint32_t n);

/* Reads a list such as "0-3,8,10-11" into at most MR__PROCESSORS_MAX numbers, *count of them. False: it is none. */
bool mr__processor_list(const char *text, uint16_t *processor, uint32_t *count);

/*
 * Large pages for a large block, where the system gives them on request; and its pages on a NUMA node, before they are
 * first touched. What the system refuses changes nothing.
 */
void mr__memory_advise(void *block, size_t nbytes, bool has_node, uint32_t node);

#endif
