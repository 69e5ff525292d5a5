// SPDX-License-Identifier: Apache-2.0
#include "fake_clock.h"

static uint64_t tell(void *user)
{
    fake_clock *clock = user;
    return atomic_fetch_add(&clock->now_ns, clock->step_ns);
}

mr_hooks fake_clock_hooks(fake_clock *clock)
{
    return (mr_hooks){.struct_size = sizeof(mr_hooks), .user = clock, .now_ns = tell};
}

void fake_clock_advance(fake_clock *clock, uint64_t by_ns)
{
    atomic_fetch_add(&clock->now_ns, by_ns);
}
