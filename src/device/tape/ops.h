// SPDX-License-Identifier: Apache-2.0
/* Orders for ops (step/op.h): one function a kind, one table (ops.c). */
#ifndef MR_DEVICE_TAPE_OPS_H
#define MR_DEVICE_TAPE_OPS_H

#include "device/tape/chain.h"

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

#endif
