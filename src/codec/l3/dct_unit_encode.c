// SPDX-License-Identifier: Apache-2.0
/* The portable encoder of a unit, and the choice of encoders. */
#include "codec/l3/dct_unit_isa.h"

#include <string.h>

#define UNIT_INLINE static inline

typedef struct unit_band unit_band;

static inline unsigned unit_count(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

static inline uint64_t unit_extract(uint64_t bits, uint64_t mask)
{
    if (mask == ~UINT64_C(0))
        return bits;
    uint64_t to = 0;
    for (unsigned n = 0; mask != 0; mask &= mask - 1, n++)
        to |= (bits >> __builtin_ctzll(mask) & 1) << n;
    return to;
}

static inline void unit_gather(int16_t to[64][64], const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows)
{
    if (columns < 8 || rows < 8)
        memset(to, 0, 64 * sizeof to[0]);
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < columns; x++) {
            const int16_t *block = blocks + (y * pitch + x) * 64;
            for (unsigned z = 0; z < 64; z++)
                to[z][8 * y + x] = block[z];
        }
}

static inline void unit_measure(unit_band *band, const int16_t from[64]);

static inline uint64_t unit_at_least(const uint16_t size[64], unsigned n)
{
    uint64_t lanes = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        lanes |= (uint64_t)(size[lane] >= n) << lane;
    return lanes;
}

static inline uint64_t unit_bit(const uint16_t size[64], unsigned r)
{
    uint64_t lanes = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        lanes |= (uint64_t)(size[lane] >> r & 1) << lane;
    return lanes;
}

/* A quotient takes a bit at each level to the first that it does not reach; one that reaches the 15th, 16 more. */
static inline void unit_costs(uint32_t *cost, const uint16_t size[64], unsigned n)
{
    for (unsigned raw = 0; raw < n; raw++) {
        uint32_t nbits = 0;
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t quotient = size[lane] >> raw;
            nbits += quotient < 15 ? quotient : 14 + 16;
        }
        cost[raw] = nbits;
    }
}

#include "codec/l3/dct_unit_write.h"

static inline void unit_measure(unit_band *band, const int16_t from[64])
{
    uint64_t nonzero = 0, negative = 0;
    unsigned all_bits = 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned size = from[lane] < 0 ? 0u - (unsigned)from[lane] : (unsigned)from[lane];
        band->size[lane] = (uint16_t)size;
        all_bits |= size;
        nonzero |= (uint64_t)(size != 0) << lane;
        negative |= (uint64_t)(from[lane] < 0) << lane;
    }
    band->nonzero = nonzero;
    band->negative = negative;
    band->all_bits = all_bits;
}

static size_t encode_c(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to)
{
    return encode_unit(blocks, pitch, columns, rows, to);
}

size_t mr__l3_unit_encode(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to,
                          mr__cpu_flags cpu)
{
    mr__l3_unit_encoder table = {.encode = encode_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__l3_unit_encoder_init_avx2_nopext(&table, cpu);
    mr__l3_unit_encoder_init_avx2(&table, cpu);
#endif
    return table.encode(blocks, pitch, columns, rows, to);
}
