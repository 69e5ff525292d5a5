// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes that are put on a tape one after the other, in pieces whose lengths are known only once they are written. While
 * they flow, nothing else is put.
 */
#ifndef MR_DEVICE_TAPE_FLOW_H
#define MR_DEVICE_TAPE_FLOW_H

#include "device/tape/tape.h"

typedef struct mr__tape_flow {
    mr__tape *tape;      /* the rest is 0 in the beginning */
    uint8_t *bytes;      /* of the place at hand */
    uint32_t at, nbytes; /* where that is, and how long */
    uint32_t used;
} mr__tape_flow;

/* Where up to so many bytes can be written, 16-byte aligned; NULL: there is no room, as the tape's code says. */
uint8_t *mr__tape_flow_ask(mr__tape_flow *flow, uint32_t nbytes);

/* So many have been: their place. */
uint32_t mr__tape_flow_took(mr__tape_flow *flow, uint32_t nbytes);

/* After the last: what is left is given back. */
void mr__tape_flow_end(mr__tape_flow *flow);

#endif
