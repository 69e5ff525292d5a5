// SPDX-License-Identifier: Apache-2.0
/* The portable encoder of a unit, and the choice of encoders. */
#include "codec/l3/dct_unit_isa.h"
#include "codec/l3/dct_unit_write.h"

static size_t encode_c(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to)
{
    return encode_unit(blocks, pitch, columns, rows, to);
}

void mr__l3_unit_encoder_init(mr__l3_unit_encoder *table, mr__cpu_flags cpu)
{
    table->encode = encode_c;
    (void)cpu;
#if defined(__x86_64__)
    mr__l3_unit_encoder_init_avx2_slowpdep(table, cpu);
    mr__l3_unit_encoder_init_avx2(table, cpu);
#endif
}

size_t mr__l3_unit_encode(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to,
                          mr__cpu_flags cpu)
{
    mr__l3_unit_encoder table;
    mr__l3_unit_encoder_init(&table, cpu);
    return table.encode(blocks, pitch, columns, rows, to);
}
