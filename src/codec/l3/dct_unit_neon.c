// SPDX-License-Identifier: Apache-2.0
/* The decoder of a unit with NEON: bits become planes as in portable C, planes become coefficients 16 lanes at a time.
 */
#if defined(__aarch64__)

#include "codec/l3/dct_unit_isa.h"
#include "codec/l3/dct_unit_parse.h"

#include <arm_neon.h>

/* One step of a transposition of 8 x 8 bits: what is `shift` apart under the mask changes places. */
#define SWAP_BITS(x, shift, mask)                                                                                      \
    do {                                                                                                               \
        uint64x2_t t = vandq_u64(veorq_u64(x, vshrq_n_u64(x, shift)), vdupq_n_u64(mask));                              \
        (x) = veorq_u64(x, veorq_u64(t, vshlq_n_u64(t, shift)));                                                       \
    } while (0)

/* Eight planes of 64 lanes to a byte for each lane, the first plane lowest: four vectors of 16 lanes. */
static inline uint8x16x4_t join_planes(const uint64_t plane[8])
{
    static const uint8_t first[16] = {0, 8, 16, 24, 32, 40, 48, 56, 1, 9, 17, 25, 33, 41, 49, 57};
    uint8x16x4_t from = vld1q_u8_x4((const uint8_t *)plane), to;
    uint8x16_t index = vld1q_u8(first);
    for (unsigned i = 0; i < 4; i++) {
        uint64x2_t x = vreinterpretq_u64_u8(vqtbl4q_u8(from, vaddq_u8(index, vdupq_n_u8((uint8_t)(2 * i)))));
        SWAP_BITS(x, 7, UINT64_C(0x00aa00aa00aa00aa));
        SWAP_BITS(x, 14, UINT64_C(0x0000cccc0000cccc));
        SWAP_BITS(x, 28, UINT64_C(0x00000000f0f0f0f0));
        to.val[i] = vreinterpretq_u8_u64(x);
    }
    return to;
}

/* Magnitudes of 7 bits, signs in the 8th. */
static inline void spread_narrow(int16_t to[64], const uint64_t *plane, int16_t factor)
{
    uint8x16x4_t x = join_planes(plane);
    for (unsigned i = 0; i < 4; i++) {
        int8x16_t sign = vshrq_n_s8(vreinterpretq_s8_u8(x.val[i]), 7);
        int8x16_t size = vreinterpretq_s8_u8(vandq_u8(x.val[i], vdupq_n_u8(127)));
        int8x16_t value = vsubq_s8(veorq_s8(size, sign), sign);
        vst1q_s16(to + 16 * i, vmulq_n_s16(vmovl_s8(vget_low_s8(value)), factor));
        vst1q_s16(to + 16 * i + 8, vmulq_n_s16(vmovl_high_s8(value), factor));
    }
}

/* Eight lanes of magnitudes of 15 bits. */
static inline void store_wide(int16_t *to, uint8x8_t low, uint8x8_t high, int16_t factor)
{
    int16x8_t both = vreinterpretq_s16_u16(vorrq_u16(vmovl_u8(low), vshll_n_u8(high, 8)));
    int16x8_t sign = vshrq_n_s16(both, 15);
    int16x8_t size = vandq_s16(both, vdupq_n_s16(0x7fff));
    vst1q_s16(to, vmulq_n_s16(vsubq_s16(veorq_s16(size, sign), sign), factor));
}

static inline void spread_wide(int16_t to[64], const uint64_t *plane, int16_t factor)
{
    uint8x16x4_t low = join_planes(plane), high = join_planes(plane + 8);
    for (unsigned i = 0; i < 4; i++) {
        store_wide(to + 16 * i, vget_low_u8(low.val[i]), vget_low_u8(high.val[i]), factor);
        store_wide(to + 16 * i + 8, vget_high_u8(low.val[i]), vget_high_u8(high.val[i]), factor);
    }
}

static const char *decode_neon(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows,
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
        unsigned z = unit_first(set), first = first_plane(&work, z);
        int16_t *to = unit->coef[unit_natural[z]], factor = z == 0 ? 1 : (int16_t)quant[z];
        if (sign_plane(&work, z) - first == SIGN_WIDE)
            spread_wide(to, work.plane[z] + first, factor);
        else
            spread_narrow(to, work.plane[z] + first, factor);
        unit->bands |= UINT64_C(1) << unit_natural[z];
    }
    work.escaped &= wanted;
    write_escapes(unit, &work, quant);
    mr__l3_unit_predict_c(unit->coef[0], work.seed, work.predictor, quant[0]);
    return NULL;
}

void mr__l3_unit_kernels_init_neon(mr__l3_unit_kernels *table, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) != 0)
        table->decode = decode_neon;
}

#endif
