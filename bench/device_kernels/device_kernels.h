// SPDX-License-Identifier: Apache-2.0
/* What kernels of a device take beside the host's own code for the same, an image. */
#ifndef BENCH_DEVICE_KERNELS_H
#define BENCH_DEVICE_KERNELS_H

#include "common.h"
#include "stand.h"

enum { KERNELS = MR__KERNEL_GUEST + 1 };

/* One thing that both do. */
typedef struct row {
    char name[96];
    /* Of each round, an image: */
    double host_ns[ROUNDS_MAX], portable_ns[ROUNDS_MAX]; /* by the best instruction sets, and without */
    double write_ns[ROUNDS_MAX];                         /* the host's part of the device's way */
    double device_ns[ROUNDS_MAX];
    double kernel_ns[KERNELS]; /* of all rounds */
    double kernel_images;
    bool missing; /* the device leaves it to the host */
} row;

/* Images in memory: as stored, and their pixels. */
typedef struct shelf {
    item_set files;
    mr_image *pixels; /* of each */
    size_t count;
    double megapixels; /* of an image */
} shelf;

typedef struct session {
    stand st;
    shelf shelf;
    unsigned rounds;
    size_t batch;
} session;

/* An image is left to the host. */
#define ROW_MISSING 1

/* Puts image i on the tape: 0; ROW_MISSING; ends the program when it fails. MR_ENOMEM: not on this tape. */
typedef int put_image(void *user, session *s, size_t i);

/* All images on the device, in batches; out_nbytes of each. False: it leaves some to the host. */
bool time_device(session *s, row *r, unsigned round, put_image *put, void *user, size_t out_nbytes);

void run_decoders(session *s);
void run_recipes(session *s);

void print_head(const char *what);
void print_row(const session *s, row *r);
_Noreturn void give_up(const char *what, const char *why);

#endif
