// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels that are wrong, each in one way, for tests of those who look for that: the emulator, sanitizers, Oclgrind.
 * The arena has words; `list` is 1.
 */
#ifndef TESTS_SUPPORT_LANE_WRONG_H
#define TESTS_SUPPORT_LANE_WRONG_H

#include "kernel/lane/lane.h"

#define WORDS ((MR_GLOBAL uint32_t *)arena)

MR_KERNEL(skips_a_barrier)
{
    MR_TEAM;
    if (lane.id != 3)
        mr_barrier(lane);
    WORDS[group * 32 + lane.id] = mr_sum(lane, list);
}

MR_KERNEL(ends_early)
{
    MR_TEAM;
    if (group == 2 && lane.id == 31)
        return;
    mr_barrier(lane);
    WORDS[group * 32 + lane.id] = list;
}

MR_KERNEL(ends_late)
{
    MR_TEAM;
    for (uint32_t i = 0; i < lane.id / 31; i++)
        mr_barrier(lane);
    WORDS[group * 32 + lane.id] = list;
}

/* Nobody may count on zeros in shared memory, or on what the group before left. */
MR_KERNEL(counts_on_zeros)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, row, 32);
    WORDS[group * 32 + lane.id] = row[lane.id] + list;
    row[lane.id] = 0;
}

/* It takes what its neighbour wrote, without a barrier between. */
MR_KERNEL(races_in_a_team)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, row, 32);
    row[lane.id] = list;
    mr_barrier(lane);
    row[lane.id] = lane.id;
    WORDS[group * 32 + lane.id] = row[(lane.id + 1) % 32];
}

/* The same, with the barrier. */
MR_KERNEL(waits_in_a_team)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, row, 32);
    row[lane.id] = list;
    mr_barrier(lane);
    row[lane.id] = lane.id;
    mr_barrier(lane);
    WORDS[group * 32 + lane.id] = row[(lane.id + 1) % 32];
}

MR_KERNEL(races_alone)
{
    MR_ALONE;
    WORDS[group * 64 + lane.id] = list + lane.id;
    if (lane.id == 6)
        WORDS[group * 64 + 7] = 0;
}

MR_KERNEL(races_between_groups)
{
    MR_TEAM;
    WORDS[group * 31 + lane.id] = list + group;
}

MR_KERNEL(races_between_lone_groups)
{
    MR_ALONE;
    WORDS[group * 63 + lane.id] = list + group;
}

MR_KERNEL(leaves_shared_memory)
{
    MR_TEAM;
    MR_ALLOT(uint32_t, row, 31);
    row[lane.id] = list;
    mr_barrier(lane);
    WORDS[group * 32 + lane.id] = row[0];
}

/* Its own variables, after others ran. */
MR_KERNEL(leaves_its_variables)
{
    MR_TEAM;
    uint32_t own[4] = {0};
    uint32_t *volatile at = own; /* of which the compiler knows nothing */
    mr_barrier(lane);
    at[4 * list] = list;
    mr_barrier(lane);
    WORDS[group * 32 + lane.id] = own[lane.id & 3];
}

/* The arena has 4096 bytes. */
MR_KERNEL(leaves_the_arena)
{
    MR_ALONE;
    if (lane.id < 1 + list)
        WORDS[1023 + lane.id] = group;
}

#endif
