// SPDX-License-Identifier: Apache-2.0
/*
 * libjpeg used plainly, as its manual says, beside and without Millrace: JPEG files of every kind, and the decode that
 * ours is held against.
 */
#ifndef TESTS_SUPPORT_JPEG_PLAIN_H
#define TESTS_SUPPORT_JPEG_PLAIN_H

#include "picture.h"

typedef enum plain_space { PLAIN_GRAY, PLAIN_YCC, PLAIN_RGB, PLAIN_CMYK, PLAIN_YCCK } plain_space;

typedef struct plain_recipe {
    uint32_t width;
    uint32_t height;
    plain_space space;
    uint8_t factors[4]; /* 0x21: two across, one down; 0 is 0x11 */
    int quality;        /* 0: 85 */
    int restart;        /* MCUs from one restart marker to the next; 0: none */
    bool progressive;
    bool separate;   /* a scan for each component */
    bool arithmetic; /* the coding */
    bool unrefined;  /* progressive, and the last scans missing: libjpeg smooths */
    bool flat;       /* all samples in the middle, and the shortest codes: blocks of two bits */
    bool no_adobe;
    bool no_jfif;
    uint64_t seed;
} plain_recipe;

/* Made-up pixels, as the recipe says; free() the bytes. */
picture_file plain_encode(const plain_recipe *recipe);

/*
 * libjpeg's default decode at 1/reduce to 1 (gray), 3 (RGB) or 4 (CMYK as stored) channels, with an end marker put
 * behind the data where it ends too early. Returns how many warnings it gave, or -1 when it failed. mr_image_fini *out.
 */
int plain_decode(const uint8_t *bytes, size_t nbytes, uint32_t reduce, uint32_t channels, mr_image *out);

/*
 * The same of a file of four components, to the RGB that Pillow makes of it: it takes the samples for inverted, with or
 * without Adobe's marker.
 */
int plain_decode_cmyk(const uint8_t *bytes, size_t nbytes, uint32_t reduce, mr_image *out);

/* Whether libjpeg can do arithmetic coding. */
bool plain_has_arithmetic(void);

#endif
