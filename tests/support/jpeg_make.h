// SPDX-License-Identifier: Apache-2.0
/*
 * JPEG files from samples, not pixels: any sampling factors, also those that do not divide each other, any script of
 * scans, samples no RGB image has. By libjpeg alone, without Millrace.
 */
#ifndef TESTS_SUPPORT_JPEG_MAKE_H
#define TESTS_SUPPORT_JPEG_MAKE_H

#include "jpeg_plain.h"

typedef enum make_look {
    MAKE_MIXED,     /* slopes, edges and noise */
    MAKE_SMOOTH,    /* few coefficients */
    MAKE_NOISE,     /* all of them */
    MAKE_EXTREME,   /* 0 and 255 by chance: sums that overflow, pixels that are clamped */
    MAKE_SATURATED, /* 0 and 255 in patches, with edges anywhere */
    MAKE_STRIPES,   /* 0 and 255 in rows or columns: single coefficients as large as they get */
    MAKE_BLACK,
    MAKE_WHITE,
    MAKE_LOOKS
} make_look;

typedef enum make_script {
    MAKE_ONE,        /* sequential, one scan */
    MAKE_SEPARATE,   /* sequential, a scan for each component */
    MAKE_BACKWARD,   /* the same, the last first */
    MAKE_LUMA_APART, /* sequential, the first alone, then the others together */
    MAKE_DEFAULT,    /* libjpeg's own progressive script */
    MAKE_SPECTRAL,   /* progressive, bands alone */
    MAKE_APPROXIMATION,
    MAKE_DC_FIRST, /* progressive, then all else at once */
    MAKE_DC_APART, /* the same, and the DC of each component apart */
    MAKE_MANY,     /* 64 scans and more */
    MAKE_SCRIPTS
} make_script;

typedef struct make_recipe {
    uint32_t width;
    uint32_t height;
    plain_space space;
    uint8_t factors[4]; /* 0x21: two across, one down; 0 is 0x11 */
    uint8_t ids[4];     /* of the components; 0: libjpeg's */
    make_look look;
    make_script script;
    int quality;       /* 0: 85 */
    bool coarse;       /* quantisers above 255 may be */
    bool optimised;    /* Huffman tables of its own */
    bool long_codes;   /* Huffman codes as long as they get, the longest for what is frequent */
    bool arithmetic;   /* coding */
    int restart;       /* MCUs from one restart marker to the next; 0: none */
    bool restart_rows; /* the same in rows of MCUs */
    bool no_adobe;
    bool no_jfif;
    uint8_t orientation; /* EXIF; 0: none */
    uint64_t seed;
} make_recipe;

/* Whether JPEG allows it: no more than ten blocks in an MCU. */
bool make_fits(const make_recipe *recipe);

/* free() the bytes. */
picture_file make_jpeg(const make_recipe *recipe);

/* One line about it, into `text`. */
const char *make_text(const make_recipe *recipe, char *text, size_t nbytes);

/* Where the frame header's marker (SOF) stands, to change it. */
size_t make_frame_at(const picture_file *file);

#endif
