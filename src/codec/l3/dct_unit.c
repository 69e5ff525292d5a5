// SPDX-License-Identifier: Apache-2.0
/* The portable decoder of a unit, and the choice of decoders. */
#include "codec/l3/dct_unit_isa.h"
#include "codec/l3/dct_unit_parse.h"

/* 64 bits are a matrix of 8 x 8: transposed. */
static uint64_t transpose_bits(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

/* Eight planes of the eight lanes from 8 * row on: a byte for each lane, the first lane's lowest. */
static uint64_t join_planes(const uint64_t plane[8], unsigned row)
{
    uint64_t x = 0;
    for (unsigned p = 0; p < 8; p++)
        x |= (plane[p] >> 8 * row & 255) << 8 * p;
    return transpose_bits(x);
}

/* The magnitude and the sign of each lane, put together; without a branch, which nobody could foresee. */
static void spread_band(int16_t to[64], const unit_work *w, unsigned z, uint16_t factor)
{
    const uint64_t *plane = w->plane[z] + first_plane(w, z);
    unsigned sign_bit = sign_plane(w, z) - first_plane(w, z);
    uint32_t sizes = (1u << sign_bit) - 1;
    for (unsigned row = 0; row < 8; row++) {
        uint64_t low = join_planes(plane, row), high = sign_bit == SIGN_WIDE ? join_planes(plane + 8, row) : 0;
        for (unsigned x = 0; x < 8; x++, low >>= 8, high >>= 8) {
            uint32_t both = (uint32_t)(low & 255) | (uint32_t)(high & 255) << 8;
            uint32_t sign = both >> sign_bit;
            to[8 * row + x] = (int16_t)(uint16_t)((((both & sizes) ^ (0 - sign)) + sign) * factor);
        }
    }
}

void mr__l3_unit_predict_c(int16_t dc[64], int16_t seed, unsigned predictor, uint16_t factor)
{
    dc[0] = seed;
    for (unsigned lane = 1; lane < 64; lane++) {
        unsigned x = lane % 8, y = lane / 8;
        int left = x > 0 ? dc[lane - 1] : 0, above = y > 0 ? dc[lane - 8] : 0;
        int corner = x > 0 && y > 0 ? dc[lane - 9] : 0;
        int guess = mr__unit_guess(predictor, x, y, left, above, corner);
        dc[lane] = (int16_t)(uint16_t)(dc[lane] + guess);
    }
    for (unsigned lane = 0; lane < 64; lane++)
        dc[lane] = (int16_t)(uint16_t)((uint32_t)dc[lane] * factor);
}

static const char *decode_c(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows,
                            const uint16_t quant[64], unsigned bands)
{
    unit_work work;
    const char *why = parse_unit(&work, bytes, nbytes, mr__unit_grid(columns, rows));
    if (why != NULL)
        return why;
    uint64_t wanted = mr__unit_low_bits(bands);
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
    mr__l3_unit_kernels_init_avx2_slowpdep(table, cpu);
    mr__l3_unit_kernels_init_avx2(table, cpu);
    mr__l3_unit_kernels_init_avx512(table, cpu);
#elif defined(__aarch64__)
    mr__l3_unit_kernels_init_neon(table, cpu);
#endif
}
