// SPDX-License-Identifier: Apache-2.0
/*
 * L3 on a tape. decode_l3.c reads the head with the codec's own code and goes to the file of its mode; that one opens
 * the tiles that the region touches (mr__l3_tile_open: their hashes are checked, with the errors of the host's
 * decoder), puts them on the tape, and calls kernels.
 */
#ifndef MR_DEVICE_TAPE_DECODE_L3_H
#define MR_DEVICE_TAPE_DECODE_L3_H

#include "codec/l3/l3.h"
#include "device/tape/decode.h"

/* For the table. */
mr__tape_decode_form mr__tape_decode_l3;

/*
 * As mr__tape_decode_form, for one mode. The head is read, the file's length is right, and where all of the image is
 * asked for, its tail too. `offsets` are those of mr__l3_head_offsets. Both are the decoder's, and stay until its next
 * call.
 */
typedef int mr__tape_decode_l3_mode(mr__tape_writer *writer, const mr__tape_source *source, const mr__l3_head *head,
                                    const uint64_t *offsets, mr__sheet *sheet, mr__detail *detail);

mr__tape_decode_l3_mode mr__tape_decode_l3_pixel;
mr__tape_decode_l3_mode mr__tape_decode_l3_dct;

/* A call of the source's decoder on its bytes, for the codec's functions; what goes wrong is said in `detail`. */
mr__call mr__tape_l3_call(const mr__tape_source *source, mr__detail *detail);

#endif
