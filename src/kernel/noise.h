// SPDX-License-Identifier: Apache-2.0
/*
 * Random numbers by place: what is drawn for a sample of an image depends on a key, the row, and the number of the
 * sample in its row, and on nothing else. So a part of an image has the noise that it has in the whole.
 *
 * Row y is made in groups of 32 samples, 8 blocks of Philox (base/rng.h) each: sample 32 g + 8 w + i takes word w of
 * the block whose counter is 8 g + i, y, 0, 0.
 */
#ifndef MR_KERNEL_NOISE_H
#define MR_KERNEL_NOISE_H

#include "cpu/cpu.h"
#include "kernel/noise_pixel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is added to 8-bit samples: whole numbers from -255 to 255, slot i standing for i - 255. They are drawn by
 * Walker's alias method: the first 9 bits of a word choose a slot, and the other 23 whether it is this one's number (if
 * they are less than the slot's upper 23 bits) or that of its alias (the lower 9). The chances are exact to 2^-32.
 */
typedef struct mr__noise {
    uint32_t key[2];
    bool wrap; /* sums modulo 256; otherwise within 0 to 255 */
    uint32_t slots[MR__NOISE_SLOTS];
} mr__noise;

/*
 * Normal numbers cut off to whole ones towards zero, as torchvision cuts them; mean and sigma in grey levels. Where
 * sums are to wrap around, |mean| + 7 sigma is at most 2^15.
 */
void mr__noise_init(mr__noise *noise, double mean, double sigma, bool wrap, const uint32_t key[2]);

typedef struct mr__noise_kernels {
    /* The words, and normal numbers from them, of one group. */
    void (*words)(const uint32_t key[2], uint32_t row, uint32_t group, uint32_t to[MR__NOISE_GROUP]);
    void (*normals)(const uint32_t key[2], uint32_t row, uint32_t group, float to[MR__NOISE_GROUP]);

    /* Adds noise to a group. */
    void (*add)(const mr__noise *noise, uint32_t row, uint32_t group, uint8_t samples[MR__NOISE_GROUP]);
} mr__noise_kernels;

void mr__noise_kernels_init(mr__noise_kernels *table, mr__cpu_flags cpu);
void mr__noise_kernels_init_avx2(mr__noise_kernels *table, mr__cpu_flags cpu);

/* `n` samples of a row from number `first` on: noise is added, they become random bytes (the words' upper 8 bits), or
 * normal numbers. */
void mr__noise_add(const mr__noise_kernels *kernels, const mr__noise *noise, uint32_t row, size_t first, size_t n,
                   uint8_t *samples);
void mr__noise_bytes(const mr__noise_kernels *kernels, const uint32_t key[2], uint32_t row, size_t first, size_t n,
                     uint8_t *to);
void mr__noise_normals(const mr__noise_kernels *kernels, const uint32_t key[2], uint32_t row, size_t first, size_t n,
                       float *to);

#endif
