// SPDX-License-Identifier: Apache-2.0
#ifndef MR_BASE_MEMORY_H
#define MR_BASE_MEMORY_H

#include <millrace/hooks.h>
#include <stdbool.h>
#include <stddef.h>

/* Pixels and slots start on a cache line, which is also what XLA asks of a buffer. */
#define MR__ALIGN ((size_t)64)

/*
 * Copies a caller's struct that starts with struct_size into ours (`nbytes` long, cleared first), so that programs
 * built against older or newer headers work: what an older one does not have is zero; what a newer one has beyond ours
 * must be zero. NULL gives all zero. Returns false for a struct_size that cannot be (0, or more than
 * MR__STRUCT_NBYTES_MAX: it was not set) and for set fields we do not know.
 *
 * A field is never added inside a struct's padding at the end, which older programs leave undefined.
 */
#define MR__STRUCT_NBYTES_MAX ((size_t)4096)
bool mr__struct_copy(void *ours, size_t nbytes, const void *theirs);

/* The way back, into a struct whose struct_size the caller has set: what a newer one has beyond ours becomes zero. */
bool mr__struct_give(void *theirs, const void *ours, size_t nbytes);

/* Copies hooks and fills in the defaults, so that every hook can be called. MR_EARGUMENT for half a pair. */
int mr__hooks_init(mr_hooks *hooks, const mr_hooks *given);

/* Memory from the hook, 64-byte aligned; NULL when there is none. nbytes 0 is taken as 1. */
void *mr__alloc(const mr_hooks *hooks, size_t nbytes);

/* The same, all zero. */
void *mr__alloc_zero(const mr_hooks *hooks, size_t nbytes);

/* count * nbytes, all zero; NULL also when the product does not fit. */
void *mr__alloc_array(const mr_hooks *hooks, size_t count, size_t nbytes);

/* NULL is accepted. */
void mr__free(const mr_hooks *hooks, void *block);

/* A block that grows and is kept: working memory between calls. All zero is the empty one. */
typedef struct mr__buffer {
    uint8_t *bytes;
    size_t capacity;
} mr__buffer;

/* At least nbytes; contents are kept only if it did not have to grow. after MR_ENOMEM it is empty. */
int mr__buffer_reserve(mr__buffer *buffer, const mr_hooks *hooks, size_t nbytes);

/* The same, the first `used` bytes kept; grows by half at least, so that appending is linear. */
int mr__buffer_grow(mr__buffer *buffer, const mr_hooks *hooks, size_t used, size_t nbytes);

/* Whether a pointer is into it. */
bool mr__buffer_has(const mr__buffer *buffer, const void *at);

void mr__buffer_fini(mr__buffer *buffer, const mr_hooks *hooks);

#endif
