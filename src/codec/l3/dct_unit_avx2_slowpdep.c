// SPDX-License-Identifier: Apache-2.0
/* Decoder and encoder of a unit with AVX2, without PDEP and PEXT. */
#if defined(__x86_64__)

#include "codec/l3/dct_unit_spread_avx2.h"
#include "codec/l3/dct_unit_write.h"

#include "codec/l3/dct_unit_isa.h"

UNIT_TARGET static const char *decode_avx2(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns,
                                           unsigned rows, const uint16_t quant[64], unsigned bands)
{
    return decode_unit(unit, bytes, nbytes, mr__unit_grid(columns, rows), quant, bands);
}

UNIT_TARGET static size_t encode_avx2(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to)
{
    return encode_unit(blocks, pitch, columns, rows, to);
}

void mr__l3_unit_kernels_init_avx2_slowpdep(mr__l3_unit_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        table->decode = decode_avx2;
}

void mr__l3_unit_encoder_init_avx2_slowpdep(mr__l3_unit_encoder *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_AVX2) != 0)
        table->encode = encode_avx2;
}

#endif
