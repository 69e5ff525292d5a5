// SPDX-License-Identifier: Apache-2.0
/* The parts of mr__l3_pixel_kernels_init_avx2; each fills in its kernels, given that the processor has AVX2. */
#ifndef MR_CODEC_L3_PIXEL_KERNELS_AVX2_H
#define MR_CODEC_L3_PIXEL_KERNELS_AVX2_H

#include "codec/l3/pixel_kernels.h"

void mr__l3_groups_init_avx2(mr__l3_pixel_kernels *table, mr__cpu_flags cpu);
void mr__l3_lift_init_avx2(mr__l3_pixel_kernels *table);
void mr__l3_pack_init_avx2(mr__l3_pixel_kernels *table);
void mr__l3_prefix_init_avx2(mr__l3_pixel_kernels *table);
void mr__l3_remap_init_avx2(mr__l3_pixel_kernels *table);

#endif
