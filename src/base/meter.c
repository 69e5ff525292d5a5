// SPDX-License-Identifier: Apache-2.0
#include "base/meter.h"

#include "base/memory.h"
#include "base/size.h"

#include <string.h>

/* Before each block stands its size, in as much room as keeps the block aligned. */
static size_t head_nbytes(size_t align)
{
    return align > MR__ALIGN ? align : MR__ALIGN;
}

/* Right before the block: its size, and where what was allocated begins. */
typedef struct head {
    size_t nbytes;
    size_t offset;
} head;

bool mr__meter_add(mr__meter *meter, uint64_t nbytes)
{
    uint64_t live = atomic_load(&meter->live_nbytes);
    do {
        if (nbytes > meter->limit_nbytes || live > meter->limit_nbytes - nbytes) {
            atomic_store(&meter->refused, true);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&meter->live_nbytes, &live, live + nbytes));
    return true;
}

void mr__meter_sub(mr__meter *meter, uint64_t nbytes)
{
    atomic_fetch_sub(&meter->live_nbytes, nbytes);
}

static void *alloc_metered(void *user, size_t nbytes, size_t align)
{
    mr__meter *meter = user;
    size_t offset = head_nbytes(align), total;
    if (!mr__size_add(nbytes, offset, &total) || !mr__meter_add(meter, nbytes))
        return NULL;
    uint8_t *bytes = meter->under.alloc(meter->under.user, total, offset);
    if (bytes == NULL) {
        mr__meter_sub(meter, nbytes);
        return NULL;
    }
    memcpy(bytes + offset - sizeof(head), &(head){nbytes, offset}, sizeof(head));
    return bytes + offset;
}

static void free_metered(void *user, void *block)
{
    mr__meter *meter = user;
    head h;
    memcpy(&h, (uint8_t *)block - sizeof h, sizeof h);
    mr__meter_sub(meter, h.nbytes);
    meter->under.free(meter->under.user, (uint8_t *)block - h.offset);
}

static void log_through(void *user, mr_log_level level, const char *text)
{
    const mr__meter *meter = user;
    meter->under.log(meter->under.user, level, text);
}

static uint64_t now_through(void *user)
{
    const mr__meter *meter = user;
    return meter->under.now_ns(meter->under.user);
}

void mr__meter_init(mr__meter *meter, const mr_hooks *under, uint64_t limit_nbytes)
{
    meter->under = *under;
    meter->limit_nbytes = limit_nbytes;
    atomic_init(&meter->live_nbytes, 0);
    atomic_init(&meter->refused, false);
}

mr_hooks mr__meter_hooks(mr__meter *meter)
{
    mr_hooks hooks = meter->under;
    hooks.user = meter;
    hooks.alloc = alloc_metered;
    hooks.free = free_metered;
    hooks.log = log_through;
    hooks.now_ns = now_through;
    return hooks;
}

uint64_t mr__meter_begin(mr__meter *meter)
{
    atomic_store(&meter->refused, false);
    return atomic_load(&meter->live_nbytes);
}

bool mr__meter_refused(const mr__meter *meter)
{
    return atomic_load(&meter->refused);
}
