// SPDX-License-Identifier: Apache-2.0
/* The portable decoder of a unit, and the choice of decoders. */
#include "codec/l3/dct_unit_isa.h"

#include <string.h>

#define UNIT_INLINE static inline

static inline unsigned unit_count(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

static inline uint64_t unit_deposit(uint64_t bits, uint64_t mask)
{
    if (mask == ~UINT64_C(0))
        return bits;
    uint64_t to = 0;
    for (; mask != 0; mask &= mask - 1, bits >>= 1)
        to |= (0 - (bits & 1)) & (mask & (0 - mask));
    return to;
}

static inline void unit_clear(uint64_t word[16])
{
    memset(word, 0, 16 * sizeof *word);
}

static inline void unit_sort(uint8_t mode[64], const uint8_t *from, unsigned n, uint64_t by_mode[16])
{
    for (unsigned m = 0; m < 16; m++)
        by_mode[m] = 0;
    for (unsigned z = 0; z < 64; z++) {
        mode[z] = z < n ? from[z / 2] >> 4 * (z % 2) & 15 : 0;
        by_mode[mode[z]] |= UINT64_C(1) << z;
    }
}

#include "codec/l3/dct_unit_parse.h"

/* The magnitude and the sign of each lane, put together. */
static void spread_band(int16_t to[64], const unit_work *w, unsigned z, uint16_t factor)
{
    unsigned first = first_plane(w, z), sign = sign_plane(w, z);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint32_t value = 0;
        for (unsigned p = first; p < sign; p++)
            value |= (uint32_t)(w->plane[z][p] >> lane & 1) << (p - first);
        if (w->plane[z][sign] >> lane & 1)
            value = 0u - value;
        to[lane] = (int16_t)(uint16_t)(value * factor);
    }
}

void mr__l3_unit_predict_c(int16_t dc[64], int16_t seed, unsigned predictor, uint16_t factor)
{
    dc[0] = seed;
    for (unsigned lane = 1; lane < 64; lane++) {
        unsigned x = lane % 8, y = lane / 8;
        int left = x > 0 ? dc[lane - 1] : 0, above = y > 0 ? dc[lane - 8] : 0;
        int corner = x > 0 && y > 0 ? dc[lane - 9] : 0;
        int guess;
        if (y == 0)
            guess = left;
        else if (x == 0 || predictor == PREDICT_ABOVE)
            guess = above;
        else if (predictor == PREDICT_LEFT)
            guess = left;
        else if (predictor == PREDICT_PLANE)
            guess = left + above - corner;
        else
            guess = left + ((int16_t)(uint16_t)(above - corner) >> 1);
        dc[lane] = (int16_t)(uint16_t)(dc[lane] + guess);
    }
    for (unsigned lane = 0; lane < 64; lane++)
        dc[lane] = (int16_t)(uint16_t)((uint32_t)dc[lane] * factor);
}

static const char *decode_c(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows,
                            const uint16_t quant[64], unsigned bands)
{
    unit_work work;
    const char *why = parse_unit(&work, bytes, nbytes, unit_grid(columns, rows));
    if (why != NULL)
        return why;
    uint64_t wanted = unit_low_bits(bands);
    unit->bands = 1;
    if ((work.filled & 1) == 0)
        memset(unit->coef[0], 0, sizeof unit->coef[0]);
    for (uint64_t set = work.filled & wanted; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        spread_band(unit->coef[unit_natural[z]], &work, z, z == 0 ? 1 : quant[z]);
        unit->bands |= UINT64_C(1) << unit_natural[z];
    }
    work.escaped &= wanted;
    write_escapes(unit, &work, quant);
    mr__l3_unit_predict_c(unit->coef[0], work.seed, work.predictor, quant[0]);
    return NULL;
}

void mr__l3_unit_kernels_init(mr__l3_unit_kernels *table, mr__cpu_flags cpu)
{
    table->decode = decode_c;
    (void)cpu;
#if defined(__x86_64__)
    mr__l3_unit_kernels_init_avx2_nopdep(table, cpu);
    mr__l3_unit_kernels_init_avx2(table, cpu);
#endif
}
