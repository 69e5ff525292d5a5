// SPDX-License-Identifier: Apache-2.0
/* What tests of codecs share: made-up images, encoding and decoding that must work, comparing. */
#ifndef TESTS_SUPPORT_PICTURE_H
#define TESTS_SUPPORT_PICTURE_H

#include <millrace/millrace.h>
#include <stdbool.h>

/* The next number of a sequence that the seed in *state begins; the same on every machine. */
uint32_t picture_random(uint64_t *state);

/* A number from 0 to n - 1. */
uint32_t picture_random_below(uint64_t *state, uint32_t n);

/* Noise. Golden values depend on it: it is what Pillow was given. */
void picture_noise(uint8_t *bytes, size_t nbytes, uint32_t seed);

/* A made-up image: slopes, edges and some noise; alpha has transparent, opaque and half-way parts. mr_image_fini it. */
mr_image picture_make(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth, uint64_t seed);

/* A random part of a width x height image. */
mr_rect picture_random_rect(uint64_t *state, uint32_t width, uint32_t height);

/* Whether size, channels, depth and every pixel are the same. */
bool picture_same(const mr_image *a, const mr_image *b);

/* Whether `part` is that region of `whole`. */
bool picture_is_part(const mr_image *whole, mr_rect region, const mr_image *part);

/* How many rows from the top are the same. */
uint32_t picture_same_rows(const mr_image *a, const mr_image *b);

/* Whether all rows from `y` on are zero. */
bool picture_is_zero_from(const mr_image *image, uint32_t y);

/* Fails the test, and says where, unless both are the same; `what` begins the sentence. */
void picture_compare(const mr_image *got, const mr_image *wanted, const char *what);

/* Stored bytes of a test's own; free() them. */
typedef struct picture_file {
    uint8_t *bytes;
    size_t nbytes;
} picture_file;

/* Encodes, which must succeed, with an encoder of its own or with this one. */
picture_file picture_encode(const mr_image *image, const mr_encode_options *options);
picture_file picture_encode_with(mr_encoder *with, const mr_image *image, const mr_encode_options *options);

/* An exact copy of a part of the bytes, so that a sanitizer sees what is read beyond it. */
picture_file picture_copy(const void *bytes, size_t nbytes);

/* Decodes with a decoder of its own, which must succeed; mr_image_fini the result. */
mr_image picture_decode(const void *bytes, size_t nbytes, const mr_decode_hints *hints);

/*
 * Decodes, whatever comes of it; on success every pixel is read, on failure there must be a detail. For damaged data.
 * Returns the code.
 */
int picture_try(mr_decoder *with, const void *bytes, size_t nbytes, const mr_decode_hints *hints);

#endif
