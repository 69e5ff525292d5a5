// SPDX-License-Identifier: Apache-2.0
/* A plain decoder of a unit of L3's DCT mode, in the order of doc/format-l3.md, "Units"; it shares no code with ours.
 */
#ifndef TESTS_L3_REFERENCE_UNIT_H
#define TESTS_L3_REFERENCE_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The coefficients of columns x rows blocks by zigzag index and lane (8 * row + column), not multiplied by anything;
 * other lanes are 0. False when the bytes are no unit.
 */
bool l3_reference_unit(int16_t coef[64][64], const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows);

#endif
