// SPDX-License-Identifier: Apache-2.0
/*
 * From the samples of a channel to the residuals of its blocks: lifting and prefix prediction, forwards. The words are
 * those of doc/format-l3.md, "Pixel mode".
 */
#ifndef MR_CODEC_L3_PIXEL_FORWARD_H
#define MR_CODEC_L3_PIXEL_FORWARD_H

#include "codec/l3/pixel.h"
#include "codec/l3/pixel_blocks.h"

/* Room before the first and behind the last sample of a row, in samples. */
enum { MR__L3_FORWARD_MARGIN = 32 };

/* A channel: w x h samples of 1 or 2 bytes, rows `pitch` samples apart, with margins that may be overwritten. */
typedef struct mr__l3_samples {
    void *samples;
    size_t pitch;
    unsigned w, h;
} mr__l3_samples;

/* Its residuals, in the order of the format. */
typedef struct mr__l3_residuals {
    uint64_t *low;  /* blocks */
    uint64_t *high; /* of 16-bit samples */
    uint8_t *selectors;
    size_t groups;   /* filled in, as is the next */
    size_t selected; /* how many have selectors */
} mr__l3_residuals;

/* How selectors are chosen: by the block's exact cost with so many layers, or, with `cost` NULL, by magnitude. */
typedef struct mr__l3_forward_choice {
    unsigned (*cost)(const uint64_t block[4], unsigned layers);
    unsigned layers;
} mr__l3_forward_choice;

typedef struct mr__l3_forward {
    /* By bytes of a sample less one. `work` has mr__l3_forward_work_nbytes bytes. */
    void (*lift[2])(const mr__l3_samples *channel, unsigned levels, const mr__l3_forward_choice *choice, void *work,
                    mr__l3_residuals *out);
    /* Every `step`-th row of groups, from the first: 1 for all of them, more for an estimate. */
    void (*prefix[2])(const mr__l3_samples *channel, unsigned step, const mr__l3_forward_choice *choice, void *work,
                      mr__l3_residuals *out);
} mr__l3_forward;

void mr__l3_forward_init(mr__l3_forward *table, mr__cpu_flags cpu);
void mr__l3_forward_init_avx2(mr__l3_forward *table, mr__cpu_flags cpu);

/* Working memory for a channel of at most w x h, and the most groups that its residuals can have. */
size_t mr__l3_forward_work_nbytes(unsigned w, unsigned h, unsigned sample_nbytes);
size_t mr__l3_forward_groups_max(unsigned w, unsigned h);

#endif
