// SPDX-License-Identifier: Apache-2.0
/* Amounts as people write them: sizes, shares, times. */
#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "1000", "200GB", "1.5TiB" in bytes. B, kB, MB, GB, TB are powers of 1000, KiB to TiB of 1024. */
bool bytes_read(const char *text, uint64_t *out);

/* "30%" or "0.3", in millionths; no more than all. What is there but less than a millionth is one. */
bool share_read(const char *text, uint32_t *out);

/* "50ms", "1.5s", "2min", in nanoseconds. ns, us, ms, s, min and h; nothing goes without one but 0. */
bool duration_read(const char *text, uint64_t *out);

/* A decimal number of up to `max`, that fills the text. */
bool number_read(const char *text, uint64_t max, uint64_t *out);

/* "2/8": part 2 of 8, from 0. */
bool part_read(const char *text, uint32_t out[2]);

typedef struct short_text {
    char text[32];
} short_text;

/* "812 B", "1.23 MB", "200 GB": three figures. */
short_text bytes_text(uint64_t nbytes);

/* "850 ns", "12.3 us", "4.56 ms", "7.89 s": three figures. */
short_text duration_text(double seconds);

/* "0:07", "3:05", "12:34:56". */
short_text time_text(double seconds);

/* "1,281,167" */
short_text count_text(uint64_t count);

/* "s" behind what is not one. */
const char *plural(uint64_t count);

#endif
