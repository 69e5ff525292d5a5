// SPDX-License-Identifier: Apache-2.0
/* Recipes out of any bytes: every step, with parameters that are often at an end of what they may be. */
#ifndef FUZZ_CHECK_STEPS_TEXT_H
#define FUZZ_CHECK_STEPS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are taken one after the other; behind the last there are zeros. */
typedef struct steps_bytes {
    const uint8_t *bytes;
    size_t nbytes;
} steps_bytes;

uint8_t steps_byte(steps_bytes *from);

enum { STEPS_TEXT_NBYTES = 4096 };

/* A recipe that gives images of one size. Not every one is accepted. */
void steps_text(steps_bytes *from, char text[STEPS_TEXT_NBYTES]);

#endif
