// SPDX-License-Identifier: Apache-2.0
/* What the files of a unit's decoder and encoder give each other. */
#ifndef MR_CODEC_L3_DCT_UNIT_ISA_H
#define MR_CODEC_L3_DCT_UNIT_ISA_H

#include "codec/l3/dct_unit.h"

/* From residuals to DC coefficients, times factor. The first lane holds anything. */
void mr__l3_unit_predict_c(int16_t dc[64], int16_t seed, unsigned predictor, uint16_t factor);

typedef struct mr__l3_unit_encoder {
    size_t (*encode)(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to);
} mr__l3_unit_encoder;

void mr__l3_unit_encoder_init(mr__l3_unit_encoder *table, mr__cpu_flags cpu);

/* Put into the table what these processors do better, as far as the flags allow. */
void mr__l3_unit_kernels_init_avx2_slowpdep(mr__l3_unit_kernels *table, mr__cpu_flags cpu);
void mr__l3_unit_kernels_init_avx2(mr__l3_unit_kernels *table, mr__cpu_flags cpu);
void mr__l3_unit_encoder_init_avx2_slowpdep(mr__l3_unit_encoder *table, mr__cpu_flags cpu);
void mr__l3_unit_encoder_init_avx2(mr__l3_unit_encoder *table, mr__cpu_flags cpu);
void mr__l3_unit_kernels_init_avx512(mr__l3_unit_kernels *table, mr__cpu_flags cpu);
void mr__l3_unit_kernels_init_neon(mr__l3_unit_kernels *table, mr__cpu_flags cpu);

#endif
