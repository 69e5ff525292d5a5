// SPDX-License-Identifier: Apache-2.0
/* libpng as the reference for PNG, and files made for tests: by libpng where they are right, by hand where not. */
#ifndef TESTS_SUPPORT_PNG_REFERENCE_H
#define TESTS_SUPPORT_PNG_REFERENCE_H

#include "picture.h"

/* Appends bytes, or a chunk with its right checksum. */
void png_append(picture_file *file, const void *bytes, size_t nbytes);
void png_append_chunk(picture_file *file, const char *type, const void *bytes, size_t nbytes);

/* A signature and IHDR. */
void png_begin(picture_file *file, uint32_t width, uint32_t height, uint8_t bit_depth, uint8_t color_type,
               uint8_t interlace);

/* An IDAT with `nbytes` of rows, compressed by zlib. */
void png_append_rows(picture_file *file, const void *rows, size_t nbytes);

/* The offset of the first chunk of a type, or of the `nth` one after it (from 0); SIZE_MAX when there is none. */
size_t png_find(const picture_file *file, const char *type, size_t nth);

/* Corrects the checksum of every chunk as far as the chunks can be followed. */
void png_fix_checksums(picture_file *file);

/* What png_make makes. Zero is: filters that libpng chooses, no transparency, one IDAT of 8 KiB at most. */
typedef struct png_spec {
    uint32_t width, height;
    int bit_depth, color_type;
    bool interlaced;
    bool transparent;    /* with a tRNS chunk */
    int filters;         /* PNG_FILTER_... of libpng, 0: all */
    int level;           /* of zlib, 0: 6 */
    size_t idat_nbytes;  /* the most an IDAT holds; 0: libpng's own */
    int palette_entries; /* 0: as many as the depth allows */
    uint32_t seed;
} png_spec;

/* A PNG of soft gradients with some noise, written by libpng. */
picture_file png_make(const png_spec *spec);

/* Decodes with libpng: png_set_expand, 16 bits kept, in the machine's byte order. False where libpng refuses. */
bool png_reference_decode(const void *bytes, size_t nbytes, mr_image *out);

#endif
