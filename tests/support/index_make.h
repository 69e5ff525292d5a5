// SPDX-License-Identifier: Apache-2.0
/* Indexes for tests: samples drawn at random, the same ones for the same case, and what is read of an index. */
#ifndef TESTS_SUPPORT_INDEX_MAKE_H
#define TESTS_SUPPORT_INDEX_MAKE_H

#include "dataset/index.h"

typedef struct index_case {
    uint64_t seed;
    uint32_t samples, classes, folders, problems;
    mr_layout layout;
    bool members, rows; /* some samples have them */
} index_case;

enum { INDEX_DATA_NBYTES = 1 << 20 };

/* A draft and what it points to. */
typedef struct index_sample {
    mr__draft draft;
    char key[48];
    uint8_t values[64], row_index[64];
    mr__member members[4];
} index_sample;

void index_sample_make(index_sample *sample, const index_case *of, uint32_t position);

/* Class, folder or problem i, as text. */
const char *index_text(char text[32], const char *what, uint32_t i);
const char *index_folder(char text[32], uint32_t i); /* the first is "" */

mr__index_head index_head(const index_case *of);

/* Builds it all; an error is that of the build, which is the caller's to end in any case. */
int index_make(const index_case *of, const mr_hooks *hooks, mr__index_build *build, const uint8_t **bytes,
               size_t *nbytes);

/* Makes all hashes right that can be found in these bytes. */
void index_seal(uint8_t *bytes, size_t nbytes);

/* Calls everything that reads, also beyond the ends, and touches every byte that is given out; returns a sum of it. */
uint64_t index_read_all(const mr__index *index);

#endif
