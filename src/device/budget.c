// SPDX-License-Identifier: Apache-2.0
#include "device/budget.h"

void mr__budget_init(mr__budget *b, uint64_t limit_nbytes)
{
    *b = (mr__budget){.limit_nbytes = limit_nbytes};
}

mr__room mr__budget_take(mr__budget *b, uint64_t nbytes)
{
    if (nbytes > b->limit_nbytes || nbytes == UINT64_MAX) {
        b->never++;
        return MR__ROOM_NEVER;
    }
    if (b->taken_nbytes > b->limit_nbytes - nbytes) {
        b->refused++;
        return MR__ROOM_NOT_NOW;
    }
    b->taken_nbytes += nbytes;
    b->taken_count++;
    if (b->taken_nbytes > b->peak_nbytes)
        b->peak_nbytes = b->taken_nbytes;
    return MR__ROOM_TAKEN;
}

bool mr__budget_give(mr__budget *b, uint64_t nbytes)
{
    if (b->taken_count == 0 || nbytes > b->taken_nbytes || (b->taken_count == 1 && nbytes != b->taken_nbytes))
        return false;
    b->taken_nbytes -= nbytes;
    b->taken_count--;
    return true;
}

void mr__budget_limit(mr__budget *b, uint64_t nbytes)
{
    b->shrunk += nbytes < b->limit_nbytes;
    b->limit_nbytes = nbytes;
}

uint64_t mr__budget_over(const mr__budget *b)
{
    return b->taken_nbytes > b->limit_nbytes ? b->taken_nbytes - b->limit_nbytes : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void mr__budget_read(mr__budget *b, const mr__device_memory *memory, uint64_t held_nbytes, uint64_t cap_nbytes)
{
    uint64_t limit = cap_nbytes != 0 ? cap_nbytes : MR__BUDGET_ANY;
    if (memory->budget_nbytes != 0)
        limit = smaller(limit, memory->budget_nbytes);
    if (memory->total_nbytes != 0) { // a device that says its size also says what is free, be it 0
        uint64_t held = smaller(held_nbytes, b->taken_nbytes);
        uint64_t open = smaller(memory->free_nbytes, memory->total_nbytes);
        limit = smaller(limit, smaller(memory->total_nbytes, open + smaller(held, UINT64_MAX - open)));
    }
    mr__budget_limit(b, limit);
}
