// SPDX-License-Identifier: Apache-2.0
/*
 * Everybody who can make something of an image makes it, and it is the same. A *backend* is one of them: the host with
 * some of its instruction sets, the emulator, a device. A *row* is a step or a form, a *case* one image of it with its
 * parameters; the first backend, the host's portable code, says what is right.
 */
#ifndef BENCH_DEVICE_CONFORMANCE_H
#define BENCH_DEVICE_CONFORMANCE_H

#include "opencl_play.h"

enum { BACKENDS_MAX = 16 };

typedef struct backend {
    char name[64];    /* as it stands above its column */
    const char *mask; /* of the host's instruction sets (MILLRACE_CPU); NULL: it is no host */
    bool slow;        /* is spared images of many pixels where it says so */
    playing how;      /* of all others */
    opencl_play cl;   /* of a device */
    char what[256];   /* that it is, for the list at the beginning */
    char device[64];  /* through the loader: its option */
    bool is_loaders;  /* it is OpenCL's `number`, as the loader has it */
    uint32_t number;
    /* Of the row: */
    uint64_t hash; /* of all that was made; what a backend leaves to the host counts as the host's */
    unsigned made, left, different;
} backend;

typedef struct session {
    backend backends[BACKENDS_MAX];
    size_t count;
    bool quick;
    bool oclgrind;    /* one device, which is slow */
    bool spare;       /* the next cases have many pixels: not for slow backends */
    bool spoil;       /* what the last backend makes is changed: to see that it is found */
    const char *only; /* rows with this in their name; NULL: all */
    char row[64];
    unsigned cases; /* of the row, those that the host does not refuse */
    char why[300];  /* it refused the last one */
    unsigned long rows, all_cases, all_left, all_different, told;
} session;

/* --- backends.c --- */

/* `library`: OpenCL's; NULL: as the player finds it. Emulator and devices are among them where they are wanted. */
void backends_open(session *s, const char *library, bool emulator, bool devices);
void backends_close(session *s);

/* --- table.c --- */

/*
 * Makes `what` on a backend: *hash is of the bytes that it made. MR_EUNSUPPORTED: it leaves that to the host. Any other
 * code than 0 is a difference, but of the first backend, where the case does not count.
 */
typedef int make_case(backend *b, const void *what, uint64_t *hash, mr__detail *detail);

void table_head(session *s, const char *what);
bool row_begin(session *s, const char *name); /* false: it is not asked for */
void row_try(session *s, make_case *make, const void *what, const char *label);
void row_end(session *s);

/* Ends the program: it could not be tried at all. */
_Noreturn void give_up(const char *what, const char *why);

/* --- paint.c --- */

typedef enum picture { PICTURE_MIXED, PICTURE_NOISE, PICTURE_FLAT, PICTURES } picture;

/* A pure function of its arguments; mr_image_fini it. */
mr_image paint(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth, picture what, uint64_t seed);

typedef struct size {
    uint32_t width, height;
} size;

/* --- steps.c, forms.c, loaded.c --- */

void run_steps(session *s);
void run_forms(session *s);
void run_loaded(session *s);

#endif
