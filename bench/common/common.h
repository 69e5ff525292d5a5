// SPDX-License-Identifier: Apache-2.0
/* What the benchmark programs share: images in memory, regions, clocks, medians. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <millrace/codec.h>
#include <stdio.h>

#define ROUNDS_MAX 99
#define KINDS      9

/* One stored image, with the shape of its whole decode. */
typedef struct item {
    char *path;
    uint8_t *bytes;
    size_t nbytes;
    mr_form form;
    mr_image shape;
    unsigned kind; /* of those that a race tells apart, below KINDS */
    void *index;   /* a JPEG's row index; NULL: none */
    size_t index_nbytes;
    bool left_out;
} item;

typedef struct item_set {
    item *items;
    size_t count;
    size_t unreadable; /* files that are no image, or a broken one */
} item_set;

/* Reads every image of a file or folder, in the order of names. Exits when there is no memory. */
void set_add(item_set *set, mr_decoder *decoder, const char *path);
void set_free(item_set *set);

/* A decoder under a MILLRACE_CPU of its own; empty: as the environment says. */
mr_decoder *decoder_under(const char *mask, mr_jpeg_choice jpeg);

/* The memory, or the end of the program when it is NULL. */
void *need(void *memory);

/* The number an argument holds; ends the program, with a word, when it is none from least to most. */
unsigned long long number_from_text(const char *text, unsigned long long least, unsigned long long most);

/* The part of a width x height image for this image and round: a pure function. */
mr_rect region_draw(uint64_t seed, uint64_t image, uint64_t round, uint32_t width, uint32_t height);

/* Nanoseconds of this thread's processor, of all threads' processors, and of the clock on the wall. */
double thread_ns(void);
double process_ns(void);
double wall_ns(void);

/* Sorts the values. */
double median(double *values, size_t count);
double quantile(double *values, size_t count, double share);

/* A view of pixels without gaps: the shape of an image, the size of a part of it. */
mr_image part_image(const mr_image *shape, mr_rect part, void *pixels);

/* Where this thread may run. */
typedef struct places {
    bool known;
    unsigned char mask[128];
} places;

/* Keeps this thread on the processor it is on, and lets it go again where it could run before. */
void pin_thread(places *before);
void unpin_thread(const places *before);

/* Freed memory stays with the process, so that who allocates for every image does not pay for new pages each time. */
void keep_freed_memory(void);

/* The last-level cache in bytes, or a large guess. */
size_t cache_nbytes(void);

#endif
