// SPDX-License-Identifier: Apache-2.0
/*
 * Resampling as Pillow does it, bit for bit (doc/resample.md): one pass along rows ("across"), one along columns
 * ("down"), pixels rounded between them. Weights are made in double and rounded to whole 2^-22ths for 8-bit samples,
 * whose arithmetic is then all integers; 16-bit samples are summed in double, in order.
 *
 * What is exact: kernels of all instruction sets agree on all inputs.
 */
#ifndef MR_STEP_RESAMPLE_H
#define MR_STEP_RESAMPLE_H

#include "base/memory.h"
#include "cpu/cpu.h"

#include <millrace/resize.h>

/* Weights of 8-bit samples are multiples of 2^-22. */
#define MR__RESAMPLE_BITS 22

/* Bytes behind a row that kernels may write across, and whose contents nobody needs. */
#define MR__RESAMPLE_SLACK ((size_t)32)

/* What each sample of one side's output is made of. */
typedef struct mr__resample_axis {
    uint32_t in, out;
    uint32_t taps;      /* the most source samples that one output has; at least 1 */
    size_t pitch;       /* from the weights of an output to those of the next: a multiple of 4 */
    uint32_t *first;    /* source sample, for each output; not always in order */
    uint32_t *count;    /* of source samples from there, 0 to taps; first + count is at most in */
    int32_t *weights;   /* of 8-bit samples; zeros behind the last, up to the pitch */
    double *weights16;  /* of 16-bit samples; one of the two is NULL */
    void *table;        /* what the kernels made of the weights for themselves; may be NULL */
    size_t table_extra; /* bytes that their across wants as scratch */
    int way;            /* a note of theirs */
} mr__resample_axis;

/*
 * One side of a resize, `in` samples to `out`, of which some outputs are wanted and some source samples are there. The
 * axis has no others: its in is `span`, its out `count`.
 */
typedef struct mr__resample_side {
    uint32_t in, out;
    mr_filter filter;      /* not nearest */
    uint32_t depth;        /* 8 or 16 */
    uint32_t begin, count; /* the outputs */
    uint32_t origin, span; /* the source samples */
} mr__resample_side;

/* All outputs, from all of the source. */
mr__resample_side mr__resample_side_whole(uint32_t in, uint32_t out, mr_filter filter, uint32_t depth);

/* Bytes that an axis takes; false when that does not fit. */
bool mr__resample_axis_nbytes(const mr__resample_side *side, size_t *nbytes);

/*
 * Makes an axis in so many bytes at `memory`, 64-byte aligned. It has no table yet. False: a source sample that an
 * output is made of is not there.
 */
bool mr__resample_axis_init(mr__resample_axis *axis, const mr__resample_side *side, void *memory);

/*
 * The source samples that `n` outputs from `index` on are made of, without making the weights: at least one, and maybe
 * some whose weight is 0 or is rounded to it.
 */
void mr__resample_reach(uint32_t in, uint32_t out, mr_filter filter, uint32_t index, uint32_t n, uint32_t *first,
                        uint32_t *count);

/*
 * Two rows at once, of axis->in pixels; to rows of axis->out pixels and MR__RESAMPLE_SLACK bytes. Both may be one and
 * the same. Nothing is read outside of the rows.
 */
typedef void mr__resample_across(const mr__resample_axis *axis, uint32_t channels, const uint8_t *const from[2],
                                 uint8_t *const to[2], uint8_t *scratch);

/* Output row `y` from its count[y] source rows; `n` samples each. Nothing else is read or written. */
typedef void mr__resample_down(const mr__resample_axis *axis, uint32_t y, const uint8_t *const *rows, uint8_t *to,
                               size_t n);

/*
 * 8-bit gray with alpha or RGBA, `n` pixels: color times alpha, and back. `from` may be `to`. Nothing else is read or
 * written.
 */
typedef void mr__resample_alpha(const uint8_t *from, uint32_t channels, uint8_t *to, size_t n);

typedef struct mr__resample {
    mr__resample_across *across, *across16;
    mr__resample_down *down, *down16;
    mr__resample_alpha *premultiply, *unpremultiply;
    /* The table of an axis of 8-bit samples, for across, or with 0 channels for down. NULL: none is needed. */
    size_t (*table_nbytes)(mr__resample_axis *axis, uint32_t channels); /* comes first: it may note something */
    void (*table_init)(mr__resample_axis *axis, uint32_t channels, void *memory);
} mr__resample;

void mr__resample_init(mr__resample *table, mr__cpu_flags cpu);
void mr__resample_init_avx2(mr__resample *table, mr__cpu_flags cpu);
void mr__resample_init_alpha_avx2(mr__resample *table);
void mr__resample_init_neon(mr__resample *table, mr__cpu_flags cpu);
void mr__resample_init_alpha_neon(mr__resample *table);

/* The portable ones: others leave to them what is not worth more. */
mr__resample_across mr__resample_across_u8_c;
mr__resample_down mr__resample_down_u8_c;
mr__resample_alpha mr__resample_premultiply_u8_c, mr__resample_unpremultiply_u8_c;

/* Pillow 13's rule, found by experiment: it looks at how many pixels either pass saves. */
bool mr__resample_goes_down_first(uint32_t width, uint32_t height, uint32_t to_width, uint32_t to_height);

/* Takes row `y` of a result, which it may change. */
typedef void mr__resample_taker(void *taker, uint32_t y, uint8_t *row);

/* One resize: the images differ in size alone. */
typedef struct mr__resampling {
    const mr__resample *kernels;
    const mr__resample_axis *x, *y; /* NULL: this side stays as it is; not both */
    bool down_first;
    mr_image from, to;
    mr__resample_taker *take; /* NULL: rows go to `to`. Else they are handed over in order, and to.pixels is not used */
    void *taker;
} mr__resampling;

/* Bytes of working memory; false when that does not fit. */
bool mr__resampling_nbytes(const mr__resampling *r, size_t *nbytes);

void mr__resampling_run(const mr__resampling *r, void *memory);

#endif
