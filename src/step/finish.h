// SPDX-License-Identifier: Apache-2.0
/*
 * The end of a recipe: rows of pixels become the numbers of a batch, as torch's ToTensor and Normalize make them:
 *
 *     v / 255, then minus mean, then divided by std; each a float32, each rounded; f16 and bf16 from that, half to even
 *
 * An 8-bit sample has 256 values, so that a table for each channel, made by just these operations, is the definition.
 * Kernels compute instead; what they compute is compared with the table when a finisher is made, for every value, and
 * one that is not equal to the last bit is not used.
 */
#ifndef MR_STEP_FINISH_H
#define MR_STEP_FINISH_H

#include "cpu/cpu.h"
#include "kernel/half.h"
#include "step/recipe.h"

typedef struct mr__finisher mr__finisher;

/*
 * `n` pixels of a row, at least one; with `flip` the last one first. `to` is where the first goes: as planes, that of
 * the first channel, the others `plane` bytes further on each. Nothing else is read or written.
 */
typedef void mr__finish_kernel(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to,
                               size_t plane);

/* Of 8-bit samples; by mr_dtype and mr_batch_layout. */
typedef struct mr__finish_kernels {
    mr__finish_kernel *of[MR_BF16 + 1][MR_NHWC + 1];
    void (*end)(void); /* after the last row of an image, before anybody else looks at it */
} mr__finish_kernels;

void mr__finish_kernels_init(mr__finish_kernels *kernels, mr__cpu_flags cpu);
void mr__finish_kernels_init_avx2(mr__finish_kernels *kernels, mr__cpu_flags cpu);
void mr__finish_kernels_init_neon(mr__finish_kernels *kernels, mr__cpu_flags cpu);

struct mr__finisher {
    mr_dtype dtype;
    mr_batch_layout layout;
    uint32_t channels, depth;
    bool as_is; /* pixels stay what they are */
    bool normalize;
    float mean[4], std[4];
    size_t number_nbytes; /* of one number */
    bool stream;          /* what it writes is more than caches should be asked to keep */
    mr__finish_kernel *run;
    void (*end)(void);

    /* For 8-bit samples: the definition, */
    float floats[4][256];
    uint16_t halves[4][256]; /* f16 or bf16 */
    /*
     * and what kernels know of it, of sample after sample in the order of pixels: mean times 2^24; 1 / std as the sum
     * of two floats, divided by 2^24. Without mean and std, 1 / 255 as such a sum.
     */
    float mean24[32], high[32], low[32];
};

void mr__finisher_init(mr__finisher *f, const mr__finish *finish, mr__cpu_flags cpu);

/* One that leaves samples as they are, in pixels: for what is kept between two passes. */
void mr__finisher_init_as_is(mr__finisher *f, uint32_t channels, uint32_t depth, mr__cpu_flags cpu);

/* The portable ones: others leave to them what is not worth more. */
mr__finish_kernel mr__finish_planes_u8_c, mr__finish_pixels_u8_c;
mr__finish_kernel mr__finish_planes_f32_c, mr__finish_pixels_f32_c;
mr__finish_kernel mr__finish_planes_half_c, mr__finish_pixels_half_c;

#endif
