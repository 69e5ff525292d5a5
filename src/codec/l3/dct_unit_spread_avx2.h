// SPDX-License-Identifier: Apache-2.0
/*
 * From bit planes to coefficients, after dct_unit_parse.h, for all versions with AVX2. What turns the planes of one
 * band is another header's.
 */
#ifndef MR_CODEC_L3_DCT_UNIT_SPREAD_AVX2_H
#define MR_CODEC_L3_DCT_UNIT_SPREAD_AVX2_H

#include "codec/l3/dct_unit_words_avx2.h"
// after the words
#include "codec/l3/dct_unit_parse.h"
#ifdef UNIT_AVX512
#include "codec/l3/dct_unit_planes_avx512.h"
#else
#include "codec/l3/dct_unit_planes_avx2.h"
#endif

#include <string.h>

/* DC is multiplied after its prediction is undone. */
UNIT_INLINE uint16_t factor_of(const uint16_t quant[64], unsigned z)
{
    return z == 0 ? 1 : quant[z];
}

/* By kind of band, so that no branch depends on the next one. */
UNIT_INLINE void spread_bands(mr__l3_unit *unit, const unit_work *w, const uint16_t quant[64], uint64_t wanted)
{
    uint64_t wide = 0, there = 1;
    for (unsigned m = MR__MODE_DENSE + RAW_NARROW_MAX + 1; m < MR__MODES; m++)
        wide |= w->by_mode[m];
    for (uint64_t set = w->filled & ~w->leveled & wanted; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), to = unit_natural[z];
        const uint64_t *plane = w->plane[z];
        there |= UINT64_C(1) << to;
        spread_ones(unit->coef[to], plane[PLANE_QUOTIENT], plane[PLANE_QUOTIENT + SIGN_NARROW], factor_of(quant, z));
    }
    for (uint64_t set = w->leveled & ~wide & wanted; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), to = unit_natural[z];
        there |= UINT64_C(1) << to;
        spread_narrow(unit->coef[to], w->plane[z] + first_plane(w, z), factor_of(quant, z));
    }
    for (uint64_t set = wide & wanted; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), to = unit_natural[z];
        there |= UINT64_C(1) << to;
        spread_wide(unit->coef[to], w->plane[z] + first_plane(w, z), factor_of(quant, z));
    }
    unit->bands = there;
}

/* Sums from the left. */
UNIT_INLINE __m128i sum_row(__m128i x)
{
    x = _mm_add_epi16(x, _mm_slli_si128(x, 2));
    x = _mm_add_epi16(x, _mm_slli_si128(x, 4));
    return _mm_add_epi16(x, _mm_slli_si128(x, 8));
}

/* mr__l3_unit_predict_c, a row at a time. */
UNIT_INLINE void predict_rows(int16_t dc[64], int16_t seed, unsigned predictor, uint16_t factor)
{
    __m128i scale = _mm_set1_epi16((int16_t)factor), *row = (__m128i *)dc;
    __m128i above = sum_row(_mm_insert_epi16(_mm_load_si128(row), seed, 0));
    _mm_store_si128(row, _mm_mullo_epi16(above, scale));
    for (unsigned y = 1; y < 8; y++) {
        __m128i x = _mm_load_si128(row + y);
        if (predictor == MR__PREDICT_ABOVE)
            x = _mm_add_epi16(x, above);
        else if (predictor == MR__PREDICT_PLANE)
            x = _mm_add_epi16(sum_row(x), above);
        else {
            __m128i slope = _mm_srai_epi16(_mm_sub_epi16(above, _mm_slli_si128(above, 2)), 1);
            slope = predictor == MR__PREDICT_LEFT ? _mm_setzero_si128() : slope;
            x = sum_row(_mm_add_epi16(x, _mm_blend_epi16(slope, above, 1)));
        }
        above = x;
        _mm_store_si128(row + y, _mm_mullo_epi16(x, scale));
    }
}

UNIT_INLINE const char *decode_unit(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, uint64_t grid,
                                    const uint16_t quant[64], unsigned bands)
{
    unit_work work;
    const char *why = parse_unit(&work, bytes, nbytes, grid);
    if (why != NULL)
        return why;
    uint64_t wanted = mr__unit_low_bits(bands);
    if ((work.filled & 1) == 0)
        memset(unit->coef[0], 0, sizeof unit->coef[0]);
    spread_bands(unit, &work, quant, wanted);
    work.escaped &= wanted;
    if (work.escaped != 0)
        write_escapes(unit, &work, quant);
    predict_rows(unit->coef[0], work.seed, work.predictor, quant[0]);
    return NULL;
}

#endif
