// SPDX-License-Identifier: Apache-2.0
/*
 * The kernels of L3's pixel mode. doc/format-l3.md, "Pixel mode", has the arithmetic; the words are from there.
 *
 * Buffers that kernels share: every row of samples or residuals has MR__L3_ROW_BEFORE bytes before its first and
 * MR__L3_ROW_BEHIND bytes behind its last sample that a kernel may read and write at will, and starts at a multiple of
 * 32 bytes. Rows of an array of w samples are finished by their maker with sample w = sample w - 1 (the "one more"),
 * which is what clamping to the last column means.
 */
#ifndef MR_CODEC_L3_PIXEL_KERNELS_H
#define MR_CODEC_L3_PIXEL_KERNELS_H

#include "cpu/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MR__L3_BLOCK_W = 8,
    MR__L3_BLOCK_H = 4,
    MR__L3_GROUP_W = 32,  /* a group: 4 blocks side by side */
    MR__L3_LAYER_MAX = 6, /* layers of masks */
    MR__L3_ROW_BEFORE = 64,
    MR__L3_ROW_BEHIND = 128,   /* behind the row rounded up to whole groups */
    MR__L3_STREAM_SLACK = 1024 /* bytes behind a tile that may be read (not used) */
};

/* Where the decoding of one plane stands. Every pointer moves on; the caller looks at the limits between calls. */
typedef struct mr__l3_stream {
    const uint8_t *headers;                     /* two bytes a group */
    const uint8_t *low;                         /* packed low bits */
    const uint8_t *masks;                       /* layer 1: four bytes for each block that has layers */
    const uint8_t *layer[MR__L3_LAYER_MAX + 1]; /* [2] to [6]: bits */
    uint64_t at[MR__L3_LAYER_MAX + 1];          /* bits of each that are used up */
    uint32_t crowd; /* for each pair of blocks its ones in layer 1, and 6 more, or-ed together: more than 57 ones set
                       MR__L3_CROWDED, and then what was decoded is refused */
} mr__l3_stream;
enum { MR__L3_CROWDED = 64 };

/*
 * Decodes `count` groups (1 to 48) that lie side by side: 4 rows of 32 * count residuals, rows `pitch` bytes apart.
 * They need not be of one grid: a row of groups of D, B and C is one call.
 */
typedef void mr__l3_groups(mr__l3_stream *stream, unsigned count, uint8_t *to, size_t pitch);

/* One row of groups of a level of lifting: everything for up to 4 rows of A and B and of C and D. */
typedef struct mr__l3_lift {
    unsigned we, wo; /* columns of A and C, of D and B */
    unsigned rows_b,
        rows_d;       /* rows of A and B here (1 to 4), of C and D (rows_b or rows_b - 1; 0 if there are none at all) */
    const void *a[5]; /* rows of A, with one more sample each; a[i + 1] is already clamped to A's last row */
    const uint8_t *rd, *rb, *rc; /* residuals of D, B, C: 4 rows each, low bytes; 8-bit samples need no more */
    const uint8_t *hd, *hb, *hc; /* of 16-bit samples: the high bytes */
    size_t pitch;                /* of all residuals */
    const uint8_t *sb, *sc;      /* selectors of B and C, a byte a group */
    void *d[5];  /* rows of D, with room like the others: d[0] is the last that the call before made (at the top: NULL,
                    and  then row 0 stands for it), d[rows_d] is made here, those between are for the call to work in */
    void *to[8]; /* rows of the level, 2 * i (A and B) and 2 * i + 1 (C and D), each finished with one more */
} mr__l3_lift;
typedef void mr__l3_lift_rows(const mr__l3_lift *lift);

/* Four rows of prefix prediction. above is the row over the first (NULL at the top). */
typedef struct mr__l3_prefix {
    unsigned w, rows;
    const void *above;
    const uint8_t *r, *h; /* residuals: low bytes, and high bytes of 16-bit samples */
    size_t pitch;
    const uint8_t *s; /* selectors, a byte a group */
    void *to[4];      /* finished with one more */
} mr__l3_prefix;
typedef void mr__l3_prefix_rows(const mr__l3_prefix *prefix);

/* One row of the base: residuals are added to the row above, or at the top (NULL) to the sample on the left. */
typedef void mr__l3_base_row(const void *above, const uint8_t *r, const uint8_t *h, unsigned w, void *to);

/*
 * n pixels from rows of channels; exactly n pixels are written. Undoes the colour transform. Unlike elsewhere, the rows
 * may start at any sample, because a region does; what lies behind the n samples may be read.
 */
typedef void mr__l3_pack_row(const void *const channel[4], unsigned n, void *to);

/* Where the values of a remapped channel go. */
typedef struct mr__l3_remap {
    uint8_t value[256]; /* 8 bits: `count` values that occur; 0 behind them */
    uint32_t count;
    uint32_t first, step; /* 16 bits */
} mr__l3_remap;

/*
 * Remaps n samples of one channel, after adding `green` (a row as well, or NULL) less half to each. False when a sample
 * is beyond the last value. Rows may start at any sample; what lies behind n samples may be read and written.
 */
typedef bool mr__l3_remap_row(const void *from, const void *green, unsigned n, const mr__l3_remap *remap, void *to);

typedef struct mr__l3_pixel_kernels {
    mr__l3_groups *groups[3];       /* without layers, with 3, with 6 */
    mr__l3_lift_rows *lift[2];      /* 8, 16 bits */
    mr__l3_base_row *base[2];       /* likewise */
    mr__l3_prefix_rows *prefix[2];  /* likewise */
    mr__l3_remap_row *remap[2];     /* likewise */
    mr__l3_pack_row *pack[2][5][2]; /* depth (8, 16), channels (1 to 4), colour (none, green subtracted) */
} mr__l3_pixel_kernels;

void mr__l3_pixel_kernels_init(mr__l3_pixel_kernels *table, mr__cpu_flags cpu);

/* What it is made of: the portable kernels, then each processor's over them. */
void mr__l3_pixel_kernels_init_c(mr__l3_pixel_kernels *table);
void mr__l3_pixel_kernels_init_avx2(mr__l3_pixel_kernels *table, mr__cpu_flags cpu);
void mr__l3_pixel_kernels_init_neon(mr__l3_pixel_kernels *table, mr__cpu_flags cpu);

#endif
