// SPDX-License-Identifier: Apache-2.0
/*
 * malloc and its kin, as the linker's --wrap calls them: third-party libraries allocate past our hooks, and have to
 * fail too. Blocks that were allocated while nobody watched, or inside the C library, are passed on untouched.
 */
#include "failing.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

void *__real_malloc(size_t nbytes);
void *__real_calloc(size_t count, size_t nbytes);
void *__real_realloc(void *block, size_t nbytes);
void __real_free(void *block);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);

void *__wrap_malloc(size_t nbytes);
void *__wrap_calloc(size_t count, size_t nbytes);
void *__wrap_realloc(void *block, size_t nbytes);
void __wrap_free(void *block);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

void *__wrap_malloc(size_t nbytes)
{
    if (failing_refuses())
        return refuse();
    void *block = __real_malloc(nbytes);
    if (block != NULL)
        failing_add(block, nbytes, FAILING_LIBRARY);
    return block;
}

void *__wrap_calloc(size_t count, size_t nbytes)
{
    if (failing_refuses())
        return refuse();
    void *block = __real_calloc(count, nbytes);
    if (block != NULL)
        failing_add(block, count * nbytes, FAILING_LIBRARY);
    return block;
}

void *__wrap_realloc(void *block, size_t nbytes)
{
    if (block == NULL)
        return __wrap_malloc(nbytes);
    if (failing_refuses())
        return refuse();
    // Struck off before it is given back: another thread may be handed the same address at once.
    size_t before = 0;
    bool known = failing_remove(block, FAILING_LIBRARY, &before);
    void *moved = __real_realloc(block, nbytes);
    if (known && (moved != NULL || nbytes != 0))
        failing_add(moved != NULL ? moved : block, moved != NULL ? nbytes : before, FAILING_LIBRARY);
    return moved;
}

void __wrap_free(void *block)
{
    size_t nbytes;
    if (block != NULL)
        failing_remove(block, FAILING_LIBRARY, &nbytes);
    __real_free(block);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    return failing_refuses_thread() ? EAGAIN : __real_pthread_create(thread, attributes, run, arg);
}
