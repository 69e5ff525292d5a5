// SPDX-License-Identifier: Apache-2.0
/*
 * The C library's allocator as the codec libraries see it, by the linker's --wrap and their static archives: counted
 * and failed by the armed heap, together with our hooks. Nothing is armed outside a check, so that libFuzzer itself
 * is left alone.
 */
#include "wrap.h"

#include <errno.h>
#include <string.h>

void *__real_malloc(size_t nbytes);
void *__real_calloc(size_t count, size_t nbytes);
void *__real_realloc(void *block, size_t nbytes);
void __real_free(void *block);
void *__wrap_malloc(size_t nbytes);
void *__wrap_calloc(size_t count, size_t nbytes);
void *__wrap_realloc(void *block, size_t nbytes);
void __wrap_free(void *block);

static _Thread_local fuzz_heap *armed;

void fuzz_wrap_arm(fuzz_heap *heap)
{
    armed = heap;
}

/* As malloc refuses. */
static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

static void *took(void *block)
{
    if (block != NULL && armed != NULL)
        fuzz_heap_took(armed, block);
    return block;
}

void *__wrap_malloc(size_t nbytes)
{
    if (armed == NULL)
        return __real_malloc(nbytes);
    if (!fuzz_heap_grants_library(armed))
        return refuse();
    void *block = took(__real_malloc(nbytes));
    if (block != NULL)
        memset(block, armed->fill, nbytes);
    return block;
}

void *__wrap_calloc(size_t count, size_t nbytes)
{
    if (armed != NULL && !fuzz_heap_grants_library(armed))
        return refuse();
    return took(__real_calloc(count, nbytes));
}

void *__wrap_realloc(void *block, size_t nbytes)
{
    if (armed != NULL && !fuzz_heap_grants_library(armed))
        return refuse();
    if (armed != NULL && block != NULL)
        fuzz_heap_gives(armed, block);
    return took(__real_realloc(block, nbytes));
}

void __wrap_free(void *block)
{
    if (block != NULL && armed != NULL)
        fuzz_heap_gives(armed, block);
    __real_free(block);
}
