// SPDX-License-Identifier: Apache-2.0
/*
 * A type of accelerator for tests, "twin": threads of the host that have memory of their own, and give what they made
 * when it is whole. So it can be abandoned, and be all that accelerators are.
 */
#ifndef TESTS_SUPPORT_TWIN_H
#define TESTS_SUPPORT_TWIN_H

#include "device/device.h"

/* What the machine has of them. Bit i is of number i. */
typedef struct twin_setup {
    uint32_t count;
    uint32_t hosts;      /* are the host's own cores */
    uint32_t broken;     /* are listed, and cannot be used */
    uint32_t failing;    /* look well, and cannot be opened */
    bool absent;         /* there is no library for them */
    bool lacks_png;      /* they take no PNG */
    mr_step_kind lacks;  /* nor this step; NONE: they do all */
    uint64_t memory;     /* of each; 0: 1 GB */
    uint32_t lost_after; /* so many tasks, and all come back from then on; 0: never */
    bool late;           /* batches that stay with them are there a while later, and a thread of their own says so */
    uint32_t send_fails; /* what is sent there does not come, from so many pieces on; 0: it does */
    uint32_t sent;       /* counts */
    uint32_t opened;     /* counts */
    uint64_t asked;      /* memory that the last one was told to keep to */
    bool alone;          /* and that it is alone */
} twin_setup;

extern twin_setup twin_make;
extern const mr__device_type twin_device;

#endif
