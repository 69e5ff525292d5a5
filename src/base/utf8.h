// SPDX-License-Identifier: Apache-2.0
#ifndef MR_BASE_UTF8_H
#define MR_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* How many of the `left` bytes (1 at least) are the first character; 0: they do not begin well (Unicode, table 3-7). */
static inline size_t mr__utf8_nbytes(const uint8_t *bytes, size_t left)
{
    uint8_t first = bytes[0], low = 0x80, high = 0xbf;
    if (first < 0x80)
        return 1;
    size_t nbytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < nbytes)
        return 0;
    if (first == 0xe0 || first == 0xf0)
        low = first == 0xe0 ? 0xa0 : 0x90; /* below, a shorter form says it */
    if (first == 0xed || first == 0xf4)
        high = first == 0xed ? 0x9f : 0x8f; /* above are surrogates, and what is beyond U+10FFFF */
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < nbytes; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    return nbytes;
}

#endif
