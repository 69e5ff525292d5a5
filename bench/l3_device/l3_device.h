// SPDX-License-Identifier: Apache-2.0
/* What the host still has to do when a device decodes, beside what it does when it decodes itself. */
#ifndef BENCH_L3_DEVICE_H
#define BENCH_L3_DEVICE_H

#include "common.h"
#include "l3_2022.h"
#include "stand.h"

/* How an image is stored. */
typedef enum storing { AS_SOURCE, AS_L3, AS_L3_2022, AS_RAW, STORINGS } storing;

typedef struct bytes {
    uint8_t *at;
    size_t nbytes;
    mr_info info; /* not of l3-2022 */
} bytes;

typedef struct picture {
    char *path;
    mr_image shape;
    uint64_t hash; /* of the pixels that all must give */
    bytes as[STORINGS];
} picture;

typedef struct picture_set {
    const char *name;
    mr_form source; /* MR_FORM_PNG or MR_FORM_JPEG */
    picture *pictures;
    size_t count, left_out;
    double pixels; /* in all */
} picture_set;

/*
 * The images of a folder whose source is this form, 8-bit RGB, `most` of them, stored in all ways. L3 is in pixel mode
 * of a PNG, in DCT mode of a JPEG; its origin is left out.
 */
void pictures_load(picture_set *set, const char *folder, mr_form source, size_t most);
void pictures_free(picture_set *set);

/* Who decodes what. */
typedef struct way {
    const char *name;
    storing as;
    bool on_device;
    bool (*decode)(struct way *way, const picture *p, const mr_image *to); /* on the host */
    mr_decoder *decoder;                                                   /* for it, or for heads */
    bool dropped;                                                          /* it did not give the right pixels */
    /* Of each round, an image: */
    double host_ns[ROUNDS_MAX], device_ns[ROUNDS_MAX], wall_ns[ROUNDS_MAX];
} way;

enum { WAYS_MAX = 12 };

typedef struct contest {
    const picture_set *set;
    stand *stand;
    way ways[WAYS_MAX];
    size_t count;
    size_t batch;
    unsigned rounds;
    uint8_t *pixels; /* where hosts decode to: room for the largest */
    unsigned wrong;  /* ways that were dropped */
} contest;

void contest_open(contest *c, const picture_set *set, stand *st, unsigned rounds, size_t batch);
void contest_check(contest *c); /* each way gives each picture's pixels, or is dropped */
void contest_run(contest *c);
void contest_report(const contest *c);
void contest_close(contest *c);

#endif
