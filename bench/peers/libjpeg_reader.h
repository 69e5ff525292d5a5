// SPDX-License-Identifier: Apache-2.0
/* A libjpeg-turbo, linked or opened by its path, and a reader that keeps one context from image to image. */
#ifndef BENCH_LIBJPEG_READER_H
#define BENCH_LIBJPEG_READER_H

#include "peer.h"

#include <stdio.h>

#include <jpeglib.h>

/* The calls a reader makes. */
#define LIBJPEG_CALLS(X)                                                                                               \
    X(std_error)                                                                                                       \
    X(CreateDecompress)                                                                                                \
    X(destroy_decompress)                                                                                              \
    X(abort_decompress)                                                                                                \
    X(mem_src)                                                                                                         \
    X(read_header)                                                                                                     \
    X(start_decompress)                                                                                                \
    X(read_scanlines)                                                                                                  \
    X(read_coefficients)                                                                                               \
    X(read_raw_data)                                                                                                   \
    X(crop_scanline)                                                                                                   \
    X(skip_scanlines)                                                                                                  \
    X(finish_decompress)

#define LIBJPEG_MEMBER(call) __typeof__(&jpeg_##call) call;
typedef struct libjpeg {
    char name[48]; /* "libjpeg-turbo 2.1.5" */
    void *handle;
    LIBJPEG_CALLS(LIBJPEG_MEMBER)
} libjpeg;

/* The one this program is linked with. */
extern const libjpeg libjpeg_linked;

/* One of the same interface at a path, beside the linked one. False, with a word in `why`, when it cannot be had. */
bool libjpeg_open(libjpeg *library, const char *path, char *why, size_t why_nbytes);
void libjpeg_close(libjpeg *library);

typedef struct libjpeg_reader libjpeg_reader;

/* NULL when there is no memory, or the library expects another interface than its header has here. */
libjpeg_reader *libjpeg_reader_new(const libjpeg *library);
void libjpeg_reader_free(libjpeg_reader *reader);

/* Default settings but for the size: 1/2, 1/4, 1/8 of it when `reduce` says so. */
peer_result libjpeg_read(libjpeg_reader *reader, const void *bytes, size_t nbytes, uint32_t reduce, const mr_image *to);

/* Crops to whole iMCUs and skips rows, which is as near as libjpeg comes; the edges differ from the whole decode. */
bool libjpeg_read_region(libjpeg_reader *reader, const void *bytes, size_t nbytes, mr_rect region, const mr_image *to);

/* How far a decode goes, for who counts the instructions of its stages. */
typedef enum libjpeg_stage {
    LIBJPEG_HEADER,  /* up to the first scan */
    LIBJPEG_ENTROPY, /* all coefficients are read, and kept */
    LIBJPEG_PLANES,  /* all is transformed, without upsampling and colour */
    LIBJPEG_PIXELS
} libjpeg_stage;
bool libjpeg_read_until(libjpeg_reader *reader, const void *bytes, size_t nbytes, libjpeg_stage stage,
                        const mr_image *to);

#endif
