// SPDX-License-Identifier: Apache-2.0
/*
 * What passes cannot do: change colors, look at neighbours, turn and bend. An op is one such thing, all its parameters
 * known, done to the canvas that a pass has made. A list of ops is run one after the other (op_run.c), but
 *
 *     tables      neighbours whose result for a sample is a table of 256 of its values are one table for each channel:
 *                 brightness, contrast, gamma, invert, posterize, solarize, equalize, autocontrast. What they have to
 *                 know of the image (contrast, equalize, autocontrast) they are told through the tables before them.
 *     parts       of what nobody looks at afterwards nothing is made (chain.h): an op is asked which part of its source
 *                 it needs for a part of its result.
 *
 * Samples have 8 bits, pixels 1 or 3 channels; a step says so in its shape. Arithmetic is in src/kernel, here is what
 * stands around it. One file each: op_NAME.c, and the table of them in ops.c.
 */
#ifndef MR_STEP_OP_H
#define MR_STEP_OP_H

#include "base/error.h"
#include "base/memory.h"
#include "cpu/cpu.h"
#include <millrace/recipe.h>
#include <stdio.h>

typedef enum mr__op_kind {
    MR__OP_USER,
    /* tables */
    MR__OP_BRIGHTNESS, /* amount: factor */
    MR__OP_CONTRAST,   /* amount: factor */
    MR__OP_GAMMA,      /* amount: gamma, more: gain */
    MR__OP_INVERT,
    MR__OP_POSTERIZE, /* whole: bits */
    MR__OP_SOLARIZE,  /* amount: threshold; policies have some between whole numbers */
    MR__OP_EQUALIZE,
    MR__OP_AUTOCONTRAST,
    /* pixels */
    MR__OP_SATURATION, /* amount: factor */
    MR__OP_HUE,        /* whole: what is added to Pillow's H, modulo 256 */
    MR__OP_GRAYSCALE,
    MR__OP_PERMUTE,   /* whole: channel c is taken from (whole >> 2 c) & 3 */
    MR__OP_ERASE,     /* rect, value or noise by key */
    MR__OP_NOISE,     /* amount: mean, more: sigma, both of 255; key; whole: 1 clipped, 0 wrapped */
    MR__OP_SHARPNESS, /* amount: factor */
    MR__OP_BLUR,      /* blur */
    MR__OP_JPEG,      /* whole: quality */
    /* places */
    MR__OP_WARP,    /* warp */
    MR__OP_ELASTIC, /* elastic */
    /* branches */
    MR__OP_AUGMIX, /* mix: the next mix.ops ops of the list are its branches', one branch after the other */
    MR__OP_KINDS
} mr__op_kind;

/* Where a pixel of the result comes from: Pillow's coefficients of AFFINE (the first six) or PERSPECTIVE. */
typedef struct mr__warp {
    double c[8];
    bool perspective;
    mr_sampling sampling; /* not AUTO */
    uint8_t fill[4];
    uint32_t
        quarter; /* 1 to 3: turned by so many quarters (counterclockwise) instead, as Pillow transposes; c unused */
} mr__warp;

typedef struct mr__elastic {
    double alpha[2], sigma[2];
    uint32_t key[2];
    mr_sampling sampling;
    uint8_t fill[4];
} mr__elastic;

typedef struct mr__blur {
    uint32_t kernel[2];
    double sigma[2];
} mr__blur;

enum { MR__BRANCHES_MAX = 10 };

typedef struct mr__mix {
    float weight[MR__BRANCHES_MAX]; /* of each branch in the result */
    float original;                 /* of the image as it was */
    uint8_t depth[MR__BRANCHES_MAX];
    uint32_t branches, ops;
} mr__mix;

typedef struct mr__erase {
    mr_rect rect;
    float value[4];
    bool noise;
    uint32_t key[2];
} mr__erase;

typedef struct mr__op {
    mr__op_kind kind;
    uint64_t steps;               /* bit i: step i of the recipe has a share in it */
    uint32_t width, height;       /* of its source */
    uint32_t to_width, to_height; /* of its result */
    mr_rect from, to;             /* of these the parts that are there and that are made: mr__chain_narrow */
    double amount, more;
    uint32_t whole;
    uint32_t key[2]; /* of random numbers by place */
    union {
        mr__warp warp;
        mr__elastic elastic;
        mr__blur blur;
        mr__mix mix;
        mr__erase erase;
        struct {
            const mr_user_step *step;
            const uint32_t *draws;
        } user;
    } u;
} mr__op;

/* What running ops keeps between images. */
typedef struct mr__op_tools mr__op_tools;

/* What an op is run on. `from` has the pixels of op->from, `to` has room for those of op->to. */
typedef struct mr__op_work {
    const mr__op *op;
    mr__op_tools *tools;
    mr_image from, to; /* the same one, where the type says in_place and not either */
    mr__detail *detail;
} mr__op_work;

/* An image that tables are made for, and the tables before. */
typedef struct mr__table_work {
    const mr__op *op;
    mr__op_tools *tools;
    const mr_image *image;
    uint8_t (*table)[256];      /* of each channel: what became of its values so far; the op puts its own on top */
    uint32_t histogram[4][256]; /* of the image as it is, before the tables */
    bool has_histogram;
} mr__table_work;

typedef struct mr__op_type {
    const char *name; /* for a person */

    /* Ops that are tables: table[c][v] = f(table[c][v]). NULL: it is none, and has `run`. */
    void (*table)(mr__table_work *work);

    int (*run)(mr__op_work *work);
    bool in_place;
    bool either; /* in place, or from one image to another of the same size */

    /*
     * The part of the source that `part` of the result needs; not empty. NULL: the same part. Ops that look at all of
     * an image give all of it.
     */
    mr_rect (*need)(const mr__op *op, mr_rect part);

    /* It fills all of its result, whatever part is looked at. */
    bool whole;

    /* More for a person: "rotated by 30 degrees", as snprintf. NULL: the name says it. */
    int (*tell)(const mr__op *op, char *text, size_t nbytes);
} mr__op_type;

extern const mr__op_type *const mr__op_types[MR__OP_KINDS]; /* NULL: not there */

/* All of the source: for `need`. */
mr_rect mr__op_need_all(const mr__op *op, mr_rect part);

/*
 * Threads: one at a time.
 * Ownership: mr__op_tools_free frees it and its scratch.
 * Limits: memory through the hooks.
 */
int mr__op_tools_new(const mr_hooks *hooks, mr__cpu_flags cpu, mr__op_tools **out);
void mr__op_tools_free(mr__op_tools *tools); /* NULL is accepted */
void mr__op_tools_trim(mr__op_tools *tools);

/*
 * Which instructions may be used, and scratch of an op while it runs: number 0 to 3 (4 to 7 for augmix, whose branches
 * have the others), 64-byte aligned, each kept for the next time. NULL: out of memory.
 */
mr__cpu_flags mr__op_cpu(const mr__op_tools *tools);
void *mr__op_scratch(mr__op_tools *tools, size_t number, size_t nbytes);

/*
 * An image like `from`, of another size, in the one of two buffers that `from` is not in. MR_ENOMEM with detail.
 */
int mr__op_place(mr__buffer places[2], const mr_hooks *hooks, const mr_image *from, uint32_t width, uint32_t height,
                 mr_image *to, mr__detail *detail);

/*
 * Runs ops on an image, which is in memory that may be written to and becomes what they make of it (in memory of the
 * tools, or where it was). `apart`: nothing is fused. MR_ENOMEM, and what a user's step gave, with detail.
 */
int mr__ops_run(mr__op_tools *tools, const mr__op *ops, size_t count, bool apart, mr_image *image, mr__detail *detail);

/*
 * The same, but `borrowed`: the image is somebody else's, and is not written to; and what the last op makes goes to
 * `last`, if not NULL, which is as large. There is at least one op.
 */
int mr__ops_run_between(mr__op_tools *tools, const mr__op *ops, size_t count, bool borrowed, const mr_image *last,
                        mr_image *image, mr__detail *detail);

/* The same for a branch of an op that has some: the image is in memory of its own. */
int mr__ops_run_branch(mr__op_tools *tools, const mr__op *ops, size_t count, bool apart, mr_image *image,
                       mr__detail *detail);

#endif
