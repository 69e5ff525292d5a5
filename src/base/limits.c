// SPDX-License-Identifier: Apache-2.0
#include "base/limits.h"

#include "base/memory.h"

int mr__limits_init(mr_limits *limits, const mr_limits *given)
{
    if (!mr__struct_copy(limits, sizeof *limits, given))
        return MR_EARGUMENT;
    if (limits->pixels == 0)
        limits->pixels = UINT64_C(1) << 28;
    if (limits->nbytes == 0)
        limits->nbytes = UINT64_C(1) << 30;
    if (limits->scans == 0)
        limits->scans = 100;
    if (limits->memory_nbytes == 0)
        limits->memory_nbytes = UINT64_C(1) << 31;
    return 0;
}
