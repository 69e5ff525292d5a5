// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/scan_work.h"

enum { VISITS_LEAST = 12, SCANS_PER_VISIT = 8, BLOCKS_PER_BYTE = 64, BLOCKS_FREE = 1 << 22 };

/* UINT64_MAX where it does not fit: more than any scans can be. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int mr__scan_work_add(mr__call *call, mr__scan_work *work, uint64_t blocks, size_t at)
{
    uint64_t visits = call->limits->scans / SCANS_PER_VISIT;
    visits = visits < VISITS_LEAST ? VISITS_LEAST : visits;
    uint64_t most = add(multiply(work->image, visits), multiply(call->nbytes, BLOCKS_PER_BYTE));
    work->visited = add(work->visited, blocks);
    work->scans++;
    if (work->visited <= add(most, BLOCKS_FREE))
        return 0;
    return mr__call_fail(
        call, MR_ELIMIT,
        "JPEG of %llu scans, near byte %zu, whose work is out of proportion: %llu blocks, where an image "
        "of %llu in %zu bytes may have %llu (limits.scans)",
        (unsigned long long)work->scans, at, (unsigned long long)work->visited, (unsigned long long)work->image,
        call->nbytes, (unsigned long long)add(most, BLOCKS_FREE));
}
