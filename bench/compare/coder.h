// SPDX-License-Identifier: Apache-2.0
/* Libraries that store 8-bit RGB without loss: each encodes once, and decodes as often as it is timed. */
#ifndef BENCH_CODER_H
#define BENCH_CODER_H

#include <millrace/codec.h>
#include <stdio.h>

typedef struct blob {
    uint8_t *bytes;
    size_t nbytes;
} blob;

typedef struct coder {
    const char *name;
    const char *made;                                 /* how its bytes are made */
    bool (*encode)(const mr_image *image, blob *out); /* out->bytes are the caller's to free */
    bool (*decode)(void *state, const blob *stored, const mr_image *to);
    void *(*state_new)(void); /* what is kept from image to image; NULL: nothing */
    void (*state_free)(void *state);
} coder;

/* NULL where the library was not there to build with. */
extern const coder *const coder_libpng;
extern const coder *const coder_qoi;
extern const coder *const coder_webp;
extern const coder *const coder_jxl;
extern const coder coder_l3_2022;
const coder *coder_l3_2022_fast(void); /* NULL where the processor has no AVX2 and PDEP */

/* A copy on the heap. */
bool blob_copy(const void *bytes, size_t nbytes, blob *out);

/* How to make L3. Zero is the default of each. */
typedef enum l3_preset { L3_DEFAULT, L3_FAST, L3_SMALL } l3_preset;
typedef struct l3_how {
    l3_preset preset; /* of pixels */
    bool recode;      /* a JPEG, instead of pixels */
    bool origin;      /* with what makes the very JPEG file again */
    unsigned threads; /* 0: one */
} l3_how;

/* The instruction sets that have kernels of it and that this processor has: names of MILLRACE_CPU, with commas. */
void l3_masks(char *list, size_t room);

/* Whether this build of Millrace makes it, of pixels or of JPEG files; else why not. */
bool l3_is_there(bool recode, char *why, size_t room);

/*
 * Encodes pixels, or recodes a JPEG file, keeping its encoder (NULL at first) from call to call. The bytes are the
 * encoder's. False, with a word in *why, when it cannot.
 */
bool l3_encode(mr_encoder **encoder, const l3_how *how, const mr_image *image, const void *jpeg, size_t jpeg_nbytes,
               blob *out, const char **why);

#endif
