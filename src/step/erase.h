// SPDX-License-Identifier: Apache-2.0
/* Rectangles that are filled: in pixels (op_erase.c), and behind normalize in the numbers of a batch. */
#ifndef MR_STEP_ERASE_H
#define MR_STEP_ERASE_H

#include "step/chain.h"

/* Adds it to the chain: as an op, or to what is done to the finished numbers. MR_ELIMIT with detail. */
int mr__chain_erase(mr__chain *chain, const mr__erase *erase, mr__detail *detail);

/*
 * Fills the rectangle of a finished sample with the value of each channel, or with normal numbers (in u8 with random
 * bytes), the same in either layout. What of it lies outside is left out.
 */
void mr__erase_finished(const mr__erase *erase, const mr_output *output, mr__cpu_flags cpu, void *slot);

/* A grey level: cut off to a whole number, as torch does it, and within 0 to 255. */
uint8_t mr__erase_level(float value);

/* One of a batch's numbers, as a whole number that has its bits. */
uint32_t mr__erase_bits(mr_dtype dtype, float number);

/* What the two have in common; `to` is not changed where they have nothing. */
bool mr__erase_common(mr_rect a, mr_rect b, mr_rect *to);

#endif
