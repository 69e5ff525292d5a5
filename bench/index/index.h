// SPDX-License-Identifier: Apache-2.0
/* index [OPTION...]: how fast the index of a large dataset opens and is read, and what it takes of memory. */
#ifndef BENCH_INDEX_H
#define BENCH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEY_NBYTES = 23 }; /* without its zero */

/* The key of a sample, and a zero: "n00000123/000123456.jpg". */
void write_key(uint64_t position, char key[KEY_NBYTES + 1]);

/* Writes the index of so many samples, from doc/format-dataset.md alone and in little memory; exits when it cannot. */
void write_index(const char *path, uint64_t samples);

/* Times are nanoseconds, memory bytes. */
typedef struct spread {
    double p50, p99;
} spread;

typedef struct figures {
    uint64_t samples, file_nbytes;
    double check_s; /* 0: not checked */
    double open_warm_ns, open_cold_ns;
    uint64_t rss_before, rss_open, rss_read, rss_find; /* resident: before opening, and after what */
    uint64_t reads, finds, cold;
    spread read, find, read_cold, find_cold;
} figures;

typedef struct options {
    uint64_t samples, reads, finds, cold, seed;
    const char *folder;
    bool json, keep, check, random;
} options;

/* Exits when something is not as it was written. */
void measure_index(const char *path, const options *o, figures *f);

#endif
