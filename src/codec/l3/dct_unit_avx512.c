// SPDX-License-Identifier: Apache-2.0
/* The decoder of a unit with AVX-512, GFNI and PDEP. What it gains, it gains on the way from planes to coefficients. */
#if defined(__x86_64__)

#define UNIT_FAST_PDEP
#define UNIT_AVX512
#include "codec/l3/dct_unit_spread_avx2.h"

#include "codec/l3/dct_unit_isa.h"

UNIT_TARGET static const char *decode_avx512(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns,
                                             unsigned rows, const uint16_t quant[64], unsigned bands)
{
    return decode_unit(unit, bytes, nbytes, mr__unit_grid(columns, rows), quant, bands);
}

void mr__l3_unit_kernels_init_avx512(mr__l3_unit_kernels *table, mr__cpu_flags cpu)
{
    mr__cpu_flags all = MR__CPU_AVX512 | MR__CPU_GFNI | MR__CPU_FAST_PDEP;
    if ((cpu & all) == all)
        table->decode = decode_avx512;
}

#endif
