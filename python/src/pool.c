// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

void *mr_py_pool_take(mr_py_pool *pool)
{
    void *handle = NULL;
    for (size_t i = 0; i < MR_PY_POOL_PLACES && handle == NULL; i++)
        handle = atomic_exchange(&pool->places[i], NULL);
    return handle;
}

void *mr_py_pool_give(mr_py_pool *pool, void *handle)
{
    for (size_t i = 0; i < MR_PY_POOL_PLACES; i++) {
        void *nothing = NULL;
        if (atomic_compare_exchange_strong(&pool->places[i], &nothing, handle))
            return NULL;
    }
    return handle;
}
