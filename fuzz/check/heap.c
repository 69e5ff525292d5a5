// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <malloc.h>
#include <string.h>

static bool grants(fuzz_heap *heap)
{
    heap->calls++;
    if (heap->fail_at == 0)
        return true;
    return heap->fail_on ? heap->calls < heap->fail_at : heap->calls != heap->fail_at;
}

bool fuzz_heap_grants_library(fuzz_heap *heap)
{
    return heap->spare || grants(heap);
}

void fuzz_heap_took(fuzz_heap *heap, void *block)
{
    heap->blocks++;
    heap->nbytes += malloc_usable_size(block);
    if (heap->nbytes > heap->peak_nbytes)
        heap->peak_nbytes = heap->nbytes;
}

void fuzz_heap_gives(fuzz_heap *heap, void *block)
{
    if (heap->inside)
        return;
    heap->blocks--;
    heap->nbytes -= malloc_usable_size(block);
}

static void *take(void *user, size_t nbytes, size_t align)
{
    fuzz_heap *heap = user;
    void *block;
    FUZZ_REQUIRE(nbytes != 0, "the alloc hook was asked for nothing");
    FUZZ_REQUIRE(align != 0 && (align & (align - 1)) == 0, "the alloc hook was asked for alignment %zu", align);
    if (align < sizeof(void *))
        align = sizeof(void *);
    if (!grants(heap) || posix_memalign(&block, align, nbytes) != 0)
        return NULL;
    memset(block, heap->fill, nbytes);
    fuzz_heap_took(heap, block);
    return block;
}

static void give(void *user, void *block)
{
    if (block == NULL)
        return;
    fuzz_heap *heap = user;
    fuzz_heap_gives(heap, block);
    heap->inside = true;
    free(block);
    heap->inside = false;
}

mr_hooks fuzz_heap_hooks(fuzz_heap *heap)
{
    return (mr_hooks){.struct_size = sizeof(mr_hooks), .user = heap, .alloc = take, .free = give};
}
