// SPDX-License-Identifier: Apache-2.0
/* Orders for ops (step/op.h): one function a kind, one table (ops.c). */
#ifndef MR_DEVICE_TAPE_OPS_H
#define MR_DEVICE_TAPE_OPS_H

#include "device/tape/chain.h"
#include "kernel/lane/pass.h"

/*
 * Calls for ops[0], and for as many behind it as are done with it: *took has 1 and is the callee's to change. *sheet
 * has the pixels of ops[0].from, and becomes those of its result (of the last one's `to`). MR_ENOMEM need not be looked
 * for: whoever calls asks the tape. MR_EUNSUPPORTED with detail where this one cannot be done here.
 */
typedef int mr__tape_lay(mr__tape_writer *writer, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                         mr__detail *detail);

typedef struct mr__tape_op_type {
    mr__tape_lay *lay; /* NULL: there is no kernel */
    bool doubles;      /* it takes a device with numbers of 64 bits */
} mr__tape_op_type;

extern const mr__tape_op_type mr__tape_op_types[MR__OP_KINDS];

mr__tape_lay mr__tape_lay_color; /* tables, saturation, hue, grayscale, permute */
mr__tape_lay mr__tape_lay_erase, mr__tape_lay_noise, mr__tape_lay_sharpness, mr__tape_lay_blur;

/* Places: op_warp.c, ... */
mr__tape_lay mr__tape_lay_warp, mr__tape_lay_elastic, mr__tape_lay_jpeg;

/* Branches: op_augmix.c. */
mr__tape_lay mr__tape_lay_augmix;

/* Groups of a kernel that makes a sheet, a lane a pixel. */
static inline uint64_t mr__tape_groups(const mr__sheet *to)
{
    return MR__CANVAS_GROUPS(to->width, (uint64_t)to->height);
}

/* A byte a channel, the first lowest, as orders have it. */
static inline uint32_t mr__tape_fill(const uint8_t fill[4])
{
    return (uint32_t)fill[0] | (uint32_t)fill[1] << 8 | (uint32_t)fill[2] << 16 | (uint32_t)fill[3] << 24;
}

#endif
