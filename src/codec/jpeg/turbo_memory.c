// SPDX-License-Identifier: Apache-2.0
/*
 * libjpeg's memory manager, over the caller's hooks. An image's memory is one pool: taken from its newest block as long
 * as that has room, given back all at once. A pool that had to grow becomes one block of the whole size, so that a
 * second image of the same size allocates nothing.
 */
#include "codec/jpeg/turbo.h"

#include "base/size.h"

#include <string.h>

struct mr__pool_block {
    mr__pool_block *next;
    size_t capacity; /* of the bytes behind this */
    size_t used;
};

/* libjpeg leaves this type to the memory manager: the coefficients of one component. */
struct jvirt_barray_control {
    struct jvirt_barray_control *next;
    JBLOCKARRAY rows; /* NULL until realized */
    JDIMENSION row_count;
    JDIMENSION row_blocks;
    JDIMENSION defined; /* rows from 0 that were written */
    boolean pre_zero;
};

/* So that a small image is one block from the start. */
enum { BLOCK_LEAST_NBYTES = 64 * 1024 };

/* Room for the block's head that keeps what follows aligned. */
#define HEAD_NBYTES MR__ALIGN
_Static_assert(sizeof(mr__pool_block) <= HEAD_NBYTES, "the head fits");

static bool align_up(size_t nbytes, size_t *aligned)
{
    if (!mr__size_add(nbytes, MR__ALIGN - 1, aligned))
        return false;
    *aligned &= ~(MR__ALIGN - 1);
    return true;
}

static mr__pool_block *add_block(mr__pool *pool, const mr_hooks *hooks, size_t capacity)
{
    size_t nbytes;
    mr__pool_block *block = mr__size_add(capacity, HEAD_NBYTES, &nbytes) ? mr__alloc(hooks, nbytes) : NULL;
    if (block != NULL) {
        *block = (mr__pool_block){.next = pool->blocks, .capacity = capacity};
        pool->blocks = block;
    }
    return block;
}

static void fini_pool(mr__pool *pool, const mr_hooks *hooks)
{
    while (pool->blocks != NULL) {
        mr__pool_block *next = pool->blocks->next;
        mr__free(hooks, pool->blocks);
        pool->blocks = next;
    }
    pool->arrays = NULL;
}

static void reset_pool(mr__pool *pool, const mr_hooks *hooks)
{
    pool->arrays = NULL;
    mr__pool_block *block = pool->blocks;
    if (block == NULL)
        return;
    if (block->next == NULL) {
        block->used = 0;
        return;
    }
    size_t total = 0;
    for (; block != NULL; block = block->next)
        total += block->used; // they were all in memory at once
    fini_pool(pool, hooks);
    add_block(pool, hooks, total); // no harm if there is no memory for it now
}

/* Takes memory of an aligned size. */
static void *take(mr__turbo *t, size_t nbytes)
{
    mr__pool_block *block = t->pool.blocks;
    if (block == NULL || block->capacity - block->used < nbytes)
        block = add_block(&t->pool, t->call->hooks, nbytes > BLOCK_LEAST_NBYTES ? nbytes : BLOCK_LEAST_NBYTES);
    if (block == NULL)
        mr__turbo_throw(t, mr__call_no_memory(t->call));
    uint8_t *bytes = (uint8_t *)block + HEAD_NBYTES + block->used;
    block->used += nbytes;
    return bytes;
}

_Noreturn static void throw_too_big(mr__turbo *t)
{
    mr__turbo_throw(t, mr__call_fail(t->call, MR_ELIMIT, "the JPEG does not fit the address space"));
}

/* The lifetime does not matter: a pool lives as long as an image, and no table is kept for the next one. */
static void *alloc_any(j_common_ptr cinfo, int lifetime, size_t nbytes)
{
    mr__turbo *t = cinfo->client_data;
    (void)lifetime;
    if (!align_up(nbytes, &nbytes))
        throw_too_big(t);
    return take(t, nbytes);
}

/* Bytes of a list of `count` rows, `row_nbytes` each. */
static size_t rows_nbytes(mr__turbo *t, size_t row_nbytes, size_t count)
{
    size_t list_nbytes, total;
    bool fits = align_up(row_nbytes, &row_nbytes) && align_up(count * sizeof(void *), &list_nbytes) &&
                mr__size_mul_add(row_nbytes, count, list_nbytes, &total);
    if (!fits)
        throw_too_big(t);
    return total;
}

/*
 * A list of rows, one behind the other. Each starts on a cache line, and its length is a multiple of one, which is what
 * libjpeg-turbo's vector code relies on: it may read and write up to that.
 */
static void *take_rows(mr__turbo *t, size_t row_nbytes, size_t count)
{
    uint8_t **list = take(t, rows_nbytes(t, row_nbytes, count));
    size_t list_nbytes = 0, stride = 0;
    (void)align_up(count * sizeof(void *), &list_nbytes);
    (void)align_up(row_nbytes, &stride);
    uint8_t *row = (uint8_t *)list + list_nbytes;
    for (size_t i = 0; i < count; i++, row += stride)
        list[i] = row;
    return list;
}

static JSAMPARRAY alloc_sarray(j_common_ptr cinfo, int lifetime, JDIMENSION width, JDIMENSION count)
{
    mr__turbo *t = cinfo->client_data;
    (void)lifetime;
    return take_rows(t, width, count);
}

static JBLOCKARRAY alloc_barray(j_common_ptr cinfo, int lifetime, JDIMENSION width, JDIMENSION count)
{
    mr__turbo *t = cinfo->client_data;
    (void)lifetime;
    return take_rows(t, width * sizeof(JBLOCK), count);
}

static jvirt_barray_ptr request_virt_barray(j_common_ptr cinfo, int lifetime, boolean pre_zero, JDIMENSION width,
                                            JDIMENSION count, JDIMENSION access_count)
{
    mr__turbo *t = cinfo->client_data;
    (void)access_count; // it is all in memory
    jvirt_barray_ptr array = alloc_any(cinfo, lifetime, sizeof *array);
    *array = (struct jvirt_barray_control){
        .next = t->pool.arrays, .row_count = count, .row_blocks = width, .pre_zero = pre_zero};
    t->pool.arrays = array;
    return array;
}

/* All coefficient arrays at once, weighed together before the first byte is taken. */
static void realize_virt_arrays(j_common_ptr cinfo)
{
    mr__turbo *t = cinfo->client_data;
    size_t total = 0;
    for (jvirt_barray_ptr a = t->pool.arrays; a != NULL; a = a->next)
        if (a->rows == NULL &&
            !mr__size_add(total, rows_nbytes(t, a->row_blocks * sizeof(JBLOCK), a->row_count), &total))
            throw_too_big(t);
    int result = mr__call_fits(t->call, total);
    if (result != 0)
        mr__turbo_throw(t, result);
    for (jvirt_barray_ptr a = t->pool.arrays; a != NULL; a = a->next)
        if (a->rows == NULL)
            a->rows = take_rows(t, a->row_blocks * sizeof(JBLOCK), a->row_count);
}

static void clear_rows(jvirt_barray_ptr array, JDIMENSION from, JDIMENSION end)
{
    for (JDIMENSION y = from; y < end; y++)
        memset(array->rows[y], 0, array->row_blocks * sizeof(JBLOCK));
}

/* Rows are cleared when first touched, so that the header of a huge image alone costs no time. */
static JBLOCKARRAY access_virt_barray(j_common_ptr cinfo, jvirt_barray_ptr array, JDIMENSION start, JDIMENSION count,
                                      boolean writable)
{
    mr__turbo *t = cinfo->client_data;
    if (array->rows == NULL || start > array->row_count || count > array->row_count - start)
        mr__turbo_throw(t, mr__call_fail(t->call, MR_EINTERNAL, "libjpeg asked for coefficients that there are not"));
    JDIMENSION end = start + count;
    if (end > array->defined) {
        if (array->pre_zero)
            clear_rows(array, !writable && start > array->defined ? start : array->defined, end);
        if (writable)
            array->defined = end;
    }
    return array->rows + start;
}

/* Only two-pass colour quantization has virtual sample arrays, and nobody here asks for it. */
static jvirt_sarray_ptr request_virt_sarray(j_common_ptr cinfo, int lifetime, boolean pre_zero, JDIMENSION width,
                                            JDIMENSION count, JDIMENSION access_count)
{
    mr__turbo *t = cinfo->client_data;
    (void)lifetime, (void)pre_zero, (void)width, (void)count, (void)access_count;
    mr__turbo_throw(t, mr__call_fail(t->call, MR_EINTERNAL, "libjpeg asked for a sample array"));
}

static JSAMPARRAY access_virt_sarray(j_common_ptr cinfo, jvirt_sarray_ptr array, JDIMENSION start, JDIMENSION count,
                                     boolean writable)
{
    mr__turbo *t = cinfo->client_data;
    (void)array, (void)start, (void)count, (void)writable;
    mr__turbo_throw(t, mr__call_fail(t->call, MR_EINTERNAL, "libjpeg asked for a sample array"));
}

static void free_pool(j_common_ptr cinfo, int lifetime)
{
    mr__turbo *t = cinfo->client_data;
    if (lifetime == JPOOL_IMAGE)
        reset_pool(&t->pool, t->call->hooks);
}

static void self_destruct(j_common_ptr cinfo)
{
    (void)cinfo; // libjpeg's own manager is put back before its object is destroyed
}

void mr__turbo_memory_replace(mr__turbo *t, j_common_ptr cinfo)
{
    t->first_memory = cinfo->mem;
    t->memory = *cinfo->mem; // the fields that are numbers
    t->memory.alloc_small = alloc_any;
    t->memory.alloc_large = alloc_any;
    t->memory.alloc_sarray = alloc_sarray;
    t->memory.alloc_barray = alloc_barray;
    t->memory.request_virt_sarray = request_virt_sarray;
    t->memory.request_virt_barray = request_virt_barray;
    t->memory.realize_virt_arrays = realize_virt_arrays;
    t->memory.access_virt_sarray = access_virt_sarray;
    t->memory.access_virt_barray = access_virt_barray;
    t->memory.free_pool = free_pool;
    t->memory.self_destruct = self_destruct;
    cinfo->mem = &t->memory;
    t->object = cinfo;
}

void mr__turbo_reset(mr__turbo *t, j_common_ptr cinfo)
{
    if (t->object != NULL)
        jpeg_abort(t->object);
    else
        jpeg_destroy(cinfo);
    t->call = NULL;
}

void mr__turbo_fini(mr__turbo *t, const mr_hooks *hooks)
{
    if (t->object != NULL) {
        t->object->mem = t->first_memory;
        jpeg_destroy(t->object);
    }
    fini_pool(&t->pool, hooks);
}
