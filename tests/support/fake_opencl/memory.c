// SPDX-License-Identifier: Apache-2.0
/*
 * On a discrete device a buffer's bytes are the device's own, and what is mapped is a copy. On others they are where
 * the host sees them, and are the program's own where it gave them.
 *
 * Canaries are before and behind. Under ASan nobody may touch them at all.
 */
#include "fake.h"

#include "base/sanitize.h"

enum { CANARY_NBYTES = 4096, GARBAGE_NBYTES = 64 << 10 };

static const uint8_t canary = 0xc5, fresh = 0xcd, stale = 0xee;

static bool is_discrete(void)
{
    return fake.settings.kind == FAKE_DISCRETE;
}

/* New memory with canaries; the block's beginning is 64-byte aligned, so that the bytes are. */
static bool make_block(cl_mem mem)
{
    size_t nbytes = (mem->nbytes + 63) / 64 * 64;
    mem->block = aligned_alloc(64, nbytes + 2 * CANARY_NBYTES);
    if (mem->block == NULL)
        return false;
    mem->data = mem->block + CANARY_NBYTES;
    memset(mem->block, canary, CANARY_NBYTES);
    memset(mem->data, fresh, mem->nbytes);
    memset(mem->data + mem->nbytes, canary, nbytes - mem->nbytes + CANARY_NBYTES);
    mr__poison(mem->block, CANARY_NBYTES);
    mr__poison(mem->data + mem->nbytes, nbytes - mem->nbytes + CANARY_NBYTES);
    return true;
}

cl_mem fake_mem_new(cl_context context, cl_bitfield flags, size_t nbytes, void *host, cl_int *error)
{
    if ((host != NULL) != ((flags & CL_MEM_USE_HOST_PTR) != 0))
        *error = FAKE_INVALID_HOST_PTR;
    else if (nbytes == 0 || nbytes > (uint64_t)fake.settings.alloc)
        *error = CL_INVALID_BUFFER_SIZE;
    else if (fake.memory_used + nbytes > (uint64_t)fake.settings.memory)
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (*error != CL_SUCCESS)
        return NULL;
    cl_mem mem = fake_make(FAKE_MEM, sizeof *mem);
    if (mem == NULL) {
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    mem->context = context;
    mem->flags = flags;
    mem->nbytes = nbytes;
    mem->host = mem->data = host;
    if ((host == NULL || is_discrete()) && !make_block(mem)) {
        mem->object.refs = 0;
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    if (host != NULL && mem->block != NULL)
        memcpy(mem->data, host, nbytes);
    fake.memory_used += nbytes;
    return mem;
}

static bool is_whole(const uint8_t *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        if (bytes[i] != canary)
            return false;
    return true;
}

void fake_mem_check(cl_mem mem, const char *when)
{
#if defined(MR__ASAN)
    (void)mem;
    (void)when;
    (void)is_whole;
#else
    size_t rest = (mem->nbytes + 63) / 64 * 64 - mem->nbytes + CANARY_NBYTES;
    if (mem->block == NULL)
        return;
    if (!is_whole(mem->block, CANARY_NBYTES))
        fake_wrong("something was written before buffer %u (%s)", mem->object.number, when);
    if (!is_whole(mem->data + mem->nbytes, rest))
        fake_wrong("something was written behind buffer %u (%s)", mem->object.number, when);
    memset(mem->block, canary, CANARY_NBYTES); // it is said once
    memset(mem->data + mem->nbytes, canary, rest);
#endif
}

void fake_mem_drop(cl_mem mem)
{
    if (mem->data == NULL)
        return;
    if (mem->block != NULL) {
        fake_mem_check(mem, "by its end");
        mr__unpoison(mem->block, (mem->nbytes + 63) / 64 * 64 + 2 * CANARY_NBYTES);
    }
    fake.memory_used -= mem->nbytes;
    free(mem->block);
    free(mem->shadow);
    mem->block = mem->data = mem->shadow = NULL;
}

void *fake_map_pointer(cl_mem mem, size_t at)
{
    if (!is_discrete())
        return mem->data + at;
    if (mem->host != NULL)
        return mem->host + at;
    size_t off = fake.settings.misaligned ? 32 : 0;
    if (mem->shadow == NULL)
        mem->shadow = aligned_alloc(64, (mem->nbytes + 63) / 64 * 64 + 64);
    return mem->shadow != NULL ? mem->shadow + off + at : NULL;
}

/* What is to be written anew is garbage until it is: its ends at least, as the rest takes time. */
static void spoil(uint8_t *to, size_t nbytes)
{
    size_t part = nbytes < GARBAGE_NBYTES ? nbytes : GARBAGE_NBYTES;
    memset(to, stale, part);
    memset(to + nbytes - part, stale, part);
}

void fake_map_copy(cl_mem mem, const fake_map *map)
{
    if ((map->flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0)
        spoil(map->to, map->nbytes);
    else if (map->to != mem->data + map->at)
        memcpy(map->to, mem->data + map->at, map->nbytes);
}

void fake_unmap_copy(cl_mem mem, const fake_map *map)
{
    bool written = (map->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
    if (written && map->to != mem->data + map->at)
        memcpy(mem->data + map->at, map->to, map->nbytes);
}
