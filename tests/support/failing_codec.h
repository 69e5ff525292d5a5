// SPDX-License-Identifier: Apache-2.0
/* Scenarios for failing_run: decoding and encoding, twice over, whatever came of the first time. */
#ifndef TESTS_SUPPORT_FAILING_CODEC_H
#define TESTS_SUPPORT_FAILING_CODEC_H

#include "failing.h"
#include "picture.h"

typedef struct failing_decoding {
    picture_file file;
    mr_decode_hints hints;
    uint64_t hash;     /* of the right pixels; 0: those of the first decode */
    bool profile;      /* read the profile too, */
    size_t icc_nbytes; /* which is so long */
} failing_decoding;

/* `arg` is a failing_decoding. What is decoded must be right, what fails must say so. */
int failing_decode(const mr_hooks *hooks, void *arg);

typedef struct failing_encoding {
    const mr_image *image;
    const mr_encode_options *options; /* one after the other, with one encoder */
    size_t count;
} failing_encoding;

/* `arg` is a failing_encoding. */
int failing_encode(const mr_hooks *hooks, void *arg);

#endif
