// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include "base/clock.h"
#include "base/size.h"

#include <millrace/error.h>
#include <stdlib.h>
#include <string.h>

static void *heap_alloc(void *user, size_t nbytes, size_t align)
{
    (void)user;
    void *block;
    return posix_memalign(&block, align, nbytes) == 0 ? block : NULL;
}

static void heap_free(void *user, void *block)
{
    (void)user;
    free(block);
}

static void log_nothing(void *user, mr_log_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

static uint64_t clock_now(void *user)
{
    (void)user;
    return mr__clock_monotonic_ns();
}

bool mr__struct_copy(void *ours, size_t nbytes, const void *theirs)
{
    memset(ours, 0, nbytes);
    if (theirs == NULL)
        return true;
    size_t given;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given || given > MR__STRUCT_NBYTES_MAX)
        return false;
    for (size_t i = nbytes; i < given; i++)
        if (((const uint8_t *)theirs)[i] != 0)
            return false;
    memcpy(ours, theirs, given < nbytes ? given : nbytes);
    memcpy(ours, &nbytes, sizeof nbytes);
    return true;
}

bool mr__struct_give(void *theirs, const void *ours, size_t nbytes)
{
    size_t given;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given || given > MR__STRUCT_NBYTES_MAX)
        return false;
    memset(theirs, 0, given);
    memcpy(theirs, ours, given < nbytes ? given : nbytes);
    memcpy(theirs, &given, sizeof given);
    return true;
}

int mr__hooks_init(mr_hooks *hooks, const mr_hooks *given)
{
    if (!mr__struct_copy(hooks, sizeof *hooks, given) || (hooks->alloc == NULL) != (hooks->free == NULL))
        return MR_EARGUMENT;
    if (hooks->alloc == NULL) {
        hooks->alloc = heap_alloc;
        hooks->free = heap_free;
    }
    if (hooks->log == NULL) {
        hooks->log = log_nothing;
        hooks->log_level = MR_LOG_NONE;
    } else if (hooks->log_level == MR_LOG_NONE) {
        hooks->log_level = MR_LOG_WARNING;
    }
    if (hooks->now_ns == NULL)
        hooks->now_ns = clock_now;
    hooks->struct_size = sizeof *hooks;
    return 0;
}

void *mr__alloc(const mr_hooks *hooks, size_t nbytes)
{
    return hooks->alloc(hooks->user, nbytes != 0 ? nbytes : 1, MR__ALIGN);
}

void *mr__alloc_zero(const mr_hooks *hooks, size_t nbytes)
{
    void *block = mr__alloc(hooks, nbytes);
    if (block != NULL)
        memset(block, 0, nbytes);
    return block;
}

void *mr__alloc_array(const mr_hooks *hooks, size_t count, size_t nbytes)
{
    size_t total;
    return mr__size_mul(count, nbytes, &total) ? mr__alloc_zero(hooks, total) : NULL;
}

void mr__free(const mr_hooks *hooks, void *block)
{
    if (block != NULL)
        hooks->free(hooks->user, block);
}

int mr__buffer_reserve(mr__buffer *buffer, const mr_hooks *hooks, size_t nbytes)
{
    if (nbytes <= buffer->capacity)
        return 0;
    // Freed first, so that the peak is one block; what was in it is not promised.
    mr__buffer_fini(buffer, hooks);
    buffer->bytes = mr__alloc(hooks, nbytes);
    if (buffer->bytes == NULL)
        return MR_ENOMEM;
    buffer->capacity = nbytes;
    return 0;
}

int mr__buffer_grow(mr__buffer *buffer, const mr_hooks *hooks, size_t used, size_t nbytes)
{
    if (nbytes <= buffer->capacity)
        return 0;
    size_t half_more;
    if (!mr__size_add(buffer->capacity, buffer->capacity / 2, &half_more))
        return MR_ENOMEM;
    size_t capacity = nbytes > half_more ? nbytes : half_more;
    uint8_t *bytes = mr__alloc(hooks, capacity);
    if (bytes == NULL)
        return MR_ENOMEM;
    if (used != 0)
        memcpy(bytes, buffer->bytes, used);
    mr__free(hooks, buffer->bytes);
    *buffer = (mr__buffer){bytes, capacity};
    return 0;
}

bool mr__buffer_has(const mr__buffer *buffer, const void *at)
{
    return (uintptr_t)at >= (uintptr_t)buffer->bytes && (uintptr_t)at < (uintptr_t)buffer->bytes + buffer->capacity;
}

void mr__buffer_fini(mr__buffer *buffer, const mr_hooks *hooks)
{
    mr__free(hooks, buffer->bytes);
    *buffer = (mr__buffer){0};
}
