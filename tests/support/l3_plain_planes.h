// SPDX-License-Identifier: Apache-2.0
/* For l3_plain_encode.c. */
#ifndef TESTS_SUPPORT_L3_PLAIN_PLANES_H
#define TESTS_SUPPORT_L3_PLAIN_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. */
typedef struct l3_out {
    uint8_t *bytes;
    size_t nbytes, capacity;
} l3_out;

void l3_out_bytes(l3_out *out, const void *bytes, size_t nbytes);
void l3_out_number(l3_out *out, uint64_t number, unsigned nbytes); /* little-endian */

/* One channel of a tile. */
typedef struct l3_plain_plane {
    uint32_t w, h, depth;
    const uint16_t *samples;
    uint64_t *random;
} l3_plain_plane;

/* Its method and lengths go to `entry`, its planes to `body`. */
void l3_plain_channel(const l3_plain_plane *plane, l3_out *entry, l3_out *body);

#endif
