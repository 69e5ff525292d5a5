// SPDX-License-Identifier: Apache-2.0
#include "lane_shim_run.h"

#include "base/sanitize.h"
#include "lane_shim.h"

/* Lanes take turns in one thread: whoever comes back from a word is the one that runs. TSan is not to look at that. */
static mr_lane running;
static uint32_t running_group;

MR__UNWATCHED static mr_lane begin(void)
{
    return running;
}

MR__UNWATCHED static void end(mr_lane lane, uint32_t group)
{
    running = lane;
    running_group = group;
}

MR__UNWATCHED unsigned shim_id(void)
{
    return running.id;
}

MR__UNWATCHED unsigned shim_group(void)
{
    return running_group;
}

void shim_barrier(void)
{
    mr_lane lane = begin();
    uint32_t group = shim_group();
    mr_barrier(lane);
    end(lane, group);
}

unsigned shim_sum(unsigned n)
{
    mr_lane lane = begin();
    uint32_t group = shim_group(), sum = mr_sum(lane, n);
    end(lane, group);
    return sum;
}

unsigned shim_scan(unsigned n)
{
    mr_lane lane = begin();
    uint32_t group = shim_group(), sum = mr_scan(lane, n);
    end(lane, group);
    return sum;
}

unsigned shim_shuffle(unsigned n, unsigned from)
{
    mr_lane lane = begin();
    uint32_t group = shim_group(), got = mr_shuffle(lane, n, from);
    end(lane, group);
    return got;
}

void *shim_allot(unsigned long nbytes)
{
    return mr__gang_allot(begin(), nbytes, __LINE__);
}

void shim_run(shim_kernel *kernel, bool team, mr_lane lane, uint32_t group, uint8_t *arena, uint8_t *out, uint32_t list)
{
    end(lane, group);
    kernel(arena, out, list, team ? shim_allot(MR__KERNEL_WORDS_NBYTES) : NULL);
}
