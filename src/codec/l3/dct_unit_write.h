// SPDX-License-Identifier: Apache-2.0
/*
 * From blocks to a unit's bytes: the same for every instruction set but for the words of dct_unit_words.h, which the
 * file that includes this may bring its own of.
 *
 * Every choice is by exact cost in bits, and of equal ones the first is taken: the bytes do not depend on the
 * processor.
 */
#ifndef MR_CODEC_L3_DCT_UNIT_WRITE_H
#define MR_CODEC_L3_DCT_UNIT_WRITE_H

#ifndef UNIT_INLINE
#include "codec/l3/dct_unit_words.h"
#endif

typedef struct unit_choice {
    uint32_t nbits; /* but for signs, which cost the same in every mode */
    uint8_t mode;
} unit_choice;

typedef struct unit_writer {
    uint8_t *to;
    size_t nbytes;
    uint64_t held; /* bits that do not fill a word yet */
    unsigned nheld;
} unit_writer;

typedef struct unit_plan {
    unit_band band[MR__UNIT_BANDS];
    unit_choice choice[MR__UNIT_BANDS];
    uint64_t filled;
    unsigned last, predictor, narrows;
    uint64_t lanes[MR__UNIT_SEGMENTS];
    int16_t seed;
} unit_plan;

/* `n` bits, 0 to 64; those above are 0. */
UNIT_INLINE void put(unit_writer *out, uint64_t bits, unsigned n)
{
    out->held |= bits << out->nheld;
    if (out->nheld + n < 64) {
        out->nheld += n;
        return;
    }
    mr__store_le64(out->to + out->nbytes, out->held);
    out->nbytes += 8;
    out->held = out->nheld == 0 ? 0 : bits >> (64 - out->nheld);
    out->nheld = out->nheld + n - 64;
}

UNIT_INLINE size_t put_end(unit_writer *out)
{
    for (; out->nheld > 0; out->nheld = out->nheld > 8 ? out->nheld - 8 : 0, out->held >>= 8)
        out->to[out->nbytes++] = (uint8_t)out->held;
    return out->nbytes;
}

UNIT_INLINE void measure_band(unit_band *band, const int16_t from[64])
{
    unit_measure(band, from);
    band->nonzeros = unit_count(band->nonzero);
    if (band->nonzero == 0)
        return;
    unsigned nbits = 32 - (unsigned)__builtin_clz(band->all_bits);
    band->raws = nbits < MR__UNIT_RAW_MAX ? nbits + 1 : MR__UNIT_RAW_MAX + 1;
    unit_costs(band->cost, band->size, band->raws);
}

/* Lanes of those groups that are not all zero. */
UNIT_INLINE uint64_t open_groups(uint64_t nonzero, unsigned lanes)
{
    nonzero |= nonzero >> 1;
    nonzero |= nonzero >> 2;
    return (nonzero & UINT64_C(0x1111111111111111)) * 15 & mr__unit_low_bits(lanes);
}

/*
 * The cheapest mode of a band over these lanes, which are all that it has nonzero ones in; of equal ones the lowest.
 * Groups are counted last, and only if they could be cheaper: that takes an extraction.
 */
UNIT_INLINE unit_choice choose_mode(const unit_band *band, uint64_t lanes, unsigned nlanes)
{
    if (band->nonzero == 0)
        return (unit_choice){0, MR__MODE_EMPTY};
    unit_choice best = {UINT32_MAX, 0};
    bool ones = band->all_bits == 1;
    if (ones && band->nonzeros <= MR__UNIT_LIST_MAX)
        best = (unit_choice){band->nonzeros * unit_position_nbits(nlanes), (uint8_t)band->nonzeros};
    for (unsigned raw = 0; raw < band->raws; raw++) {
        uint32_t nbits = (raw + 1) * nlanes + band->cost[raw];
        if (nbits < best.nbits)
            best = (unit_choice){nbits, (uint8_t)(MR__MODE_DENSE + raw)};
    }
    uint32_t below = best.nbits + (best.mode >= MR__MODE_DENSE),
             groups = mr__unit_groups(nlanes) + (ones ? 0 : band->cost[0]);
    if (groups + band->nonzeros >= below)
        return best;
    groups += unit_count(open_groups(unit_extract(band->nonzero, lanes), nlanes));
    return groups >= below ? best : (unit_choice){groups, ones ? MR__MODE_GROUPS_OF_ONES : MR__MODE_GROUPS};
}

/* What the DC of each lane differs by from its prediction; 0 for the first, and outside the grid. */
UNIT_INLINE void predict_lanes(int16_t to[64], const int16_t dc[64], unsigned predictor, uint64_t grid)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned x = lane % 8, y = lane / 8;
        int left = x > 0 ? dc[lane - 1] : 0, above = y > 0 ? dc[lane - 8] : 0;
        int corner = x > 0 && y > 0 ? dc[lane - 9] : 0;
        int guess;
        if (y == 0)
            guess = x > 0 ? left : dc[0];
        else if (x == 0 || predictor == MR__PREDICT_ABOVE)
            guess = above;
        else if (predictor == MR__PREDICT_LEFT)
            guess = left;
        else if (predictor == MR__PREDICT_PLANE)
            guess = left + above - corner;
        else
            guess = left + ((int16_t)(uint16_t)(above - corner) >> 1);
        to[lane] = (grid >> lane & 1) != 0 ? (int16_t)(uint16_t)(dc[lane] - guess) : 0;
    }
}

UNIT_INLINE void plan_dc(unit_plan *plan, const int16_t dc[64], uint64_t grid)
{
    plan->seed = dc[0];
    plan->lanes[0] = grid & ~UINT64_C(1);
    unsigned nlanes = unit_count(plan->lanes[0]);
    for (unsigned predictor = 0; predictor < MR__PREDICTORS; predictor++) {
        _Alignas(64) int16_t residual[64];
        unit_band band;
        predict_lanes(residual, dc, predictor, grid);
        measure_band(&band, residual);
        unit_choice choice = choose_mode(&band, plan->lanes[0], nlanes);
        uint32_t nbits = choice.nbits + band.nonzeros;
        if (predictor == 0 || nbits < plan->choice[0].nbits + plan->band[0].nonzeros) {
            plan->band[0] = band;
            plan->choice[0] = choice;
            plan->predictor = predictor;
        }
    }
}

UNIT_INLINE uint32_t segment_nbits(const unit_plan *plan, unsigned s, uint64_t lanes)
{
    unsigned nlanes = unit_count(lanes);
    uint32_t nbits = 0;
    for (unsigned z = unit_segment_start[s]; z < unit_segment_start[s + 1] && z <= plan->last; z++)
        nbits += choose_mode(&plan->band[z], lanes, nlanes).nbits;
    return nbits;
}

/*
 * Where to narrow the lanes, and to which: always to those that any band from there on needs. best[t] is the cost of
 * all up to segment s when the lanes in force are those of segment t (0: the whole grid); before[t] is the segment
 * whose lanes they were narrowed from.
 */
UNIT_INLINE void plan_lanes(unit_plan *plan, uint64_t grid)
{
    unsigned segments = mr__unit_segment_of[plan->last];
    uint64_t needed[MR__UNIT_SEGMENTS] = {grid};
    uint64_t below = 0;
    for (unsigned s = segments; s > 0; s--) {
        for (unsigned z = unit_segment_start[s]; z < unit_segment_start[s + 1] && z <= plan->last; z++)
            below |= plan->band[z].nonzero;
        needed[s] = below;
    }
    uint32_t best[MR__UNIT_SEGMENTS] = {0};
    unsigned before[MR__UNIT_SEGMENTS] = {0};
    for (unsigned s = 1; s <= segments; s++) {
        best[s] = UINT32_MAX;
        for (unsigned t = 0; t < s; t++) {
            uint32_t narrowed = best[t] == UINT32_MAX ? UINT32_MAX : best[t] + unit_count(needed[t]);
            if (narrowed < best[s] && needed[s] != needed[t]) {
                best[s] = narrowed;
                before[s] = t;
            }
        }
        for (unsigned t = 0; t <= s; t++)
            if (best[t] != UINT32_MAX)
                best[t] += segment_nbits(plan, s, needed[t]);
    }
    unsigned t = 0;
    for (unsigned s = 1; s <= segments; s++)
        t = best[s] < best[t] ? s : t;
    plan->narrows = 0;
    for (unsigned s = MR__UNIT_SEGMENTS - 1; s > 0; s--) {
        plan->lanes[s] = needed[t];
        if (s == t) {
            plan->narrows |= 1u << (s - 1);
            t = before[t];
        }
    }
}

UNIT_INLINE void plan_unit(unit_plan *plan, const int16_t value[64][64], uint64_t grid)
{
    plan->last = 0;
    for (unsigned z = 1; z < MR__UNIT_BANDS; z++) {
        measure_band(&plan->band[z], value[z]);
        plan->last = plan->band[z].nonzero != 0 ? z : plan->last;
    }
    plan_dc(plan, value[0], grid);
    plan_lanes(plan, grid);
    plan->filled = plan->choice[0].mode != MR__MODE_EMPTY;
    for (unsigned z = 1; z <= plan->last; z++) {
        uint64_t lanes = plan->lanes[mr__unit_segment_of[z]];
        plan->choice[z] = choose_mode(&plan->band[z], lanes, unit_count(lanes));
        plan->filled |= (uint64_t)(plan->choice[z].mode != MR__MODE_EMPTY) << z;
    }
}

UNIT_INLINE void put_head(unit_writer *out, const unit_plan *plan, uint64_t grid)
{
    put(out, plan->last | plan->predictor << 6, 8);
    put(out, plan->narrows, 8);
    put(out, (uint16_t)plan->seed, 16);
    for (unsigned z = 0; z <= plan->last; z++)
        put(out, plan->choice[z].mode, 4);
    put(out, 0, plan->last % 2 == 0 ? 4 : 0);
    uint64_t lanes = grid;
    for (unsigned s = 1; s < MR__UNIT_SEGMENTS; s++)
        if (plan->narrows >> (s - 1) & 1) {
            put(out, unit_extract(plan->lanes[s], lanes), unit_count(lanes));
            lanes = plan->lanes[s];
        }
}

UNIT_INLINE void put_dense(unit_writer *out, const unit_plan *plan)
{
    for (unsigned r = 0; r <= MR__UNIT_RAW_MAX; r++)
        for (uint64_t set = plan->filled; set != 0; set &= set - 1) {
            unsigned z = unit_first(set), mode = plan->choice[z].mode;
            if (mode < MR__MODE_DENSE + r)
                continue;
            uint64_t lanes = plan->lanes[mr__unit_segment_of[z]];
            const uint16_t *size = plan->band[z].size;
            uint64_t plane = r == 0 ? unit_at_least(size, 1u << (mode - MR__MODE_DENSE)) : unit_bit(size, r - 1);
            put(out, unit_extract(plane, lanes), unit_count(lanes));
        }
}

UNIT_INLINE void put_groups(unit_writer *out, const unit_plan *plan)
{
    for (unsigned part = 0; part < 2; part++)
        for (uint64_t set = plan->filled; set != 0; set &= set - 1) {
            unsigned z = unit_first(set), mode = plan->choice[z].mode;
            if (mode != MR__MODE_GROUPS_OF_ONES && mode != MR__MODE_GROUPS)
                continue;
            uint64_t lanes = plan->lanes[mr__unit_segment_of[z]];
            unsigned nlanes = unit_count(lanes);
            uint64_t nonzero = unit_extract(plan->band[z].nonzero, lanes), open = open_groups(nonzero, nlanes);
            if (part == 0)
                put(out, unit_extract(open, UINT64_C(0x1111111111111111)), mr__unit_groups(nlanes));
            else
                put(out, unit_extract(nonzero, open), unit_count(open));
        }
}

UNIT_INLINE void put_lists(unit_writer *out, const unit_plan *plan)
{
    for (uint64_t set = plan->filled; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        if (plan->choice[z].mode > MR__UNIT_LIST_MAX)
            continue;
        uint64_t lanes = plan->lanes[mr__unit_segment_of[z]];
        unsigned nbits = unit_position_nbits(unit_count(lanes));
        for (uint64_t at = unit_extract(plan->band[z].nonzero, lanes); at != 0; at &= at - 1)
            put(out, unit_first(at), nbits);
    }
}

UNIT_INLINE void put_signs(unit_writer *out, const unit_plan *plan)
{
    for (uint64_t set = plan->filled; set != 0; set &= set - 1) {
        const unit_band *band = &plan->band[unit_first(set)];
        put(out, unit_extract(band->negative, band->nonzero), band->nonzeros);
    }
}

UNIT_INLINE void put_levels(unit_writer *out, const unit_plan *plan)
{
    uint64_t reached[MR__UNIT_BANDS], bands = 0;
    for (uint64_t set = plan->filled; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), mode = plan->choice[z].mode;
        if (mode < MR__MODE_GROUPS)
            continue;
        reached[z] = unit_at_least(plan->band[z].size, 1u << (mode >= MR__MODE_DENSE ? mode - MR__MODE_DENSE : 0));
        bands |= UINT64_C(1) << z;
    }
    for (unsigned level = 2; level <= MR__UNIT_LEVELS; level++)
        for (uint64_t set = bands; set != 0; set &= set - 1) {
            unsigned z = unit_first(set), mode = plan->choice[z].mode;
            uint64_t now =
                unit_at_least(plan->band[z].size, level << (mode >= MR__MODE_DENSE ? mode - MR__MODE_DENSE : 0));
            put(out, unit_extract(now, reached[z]), unit_count(reached[z]));
            reached[z] = now;
            bands ^= (uint64_t)(now == 0) << z;
        }
    for (uint64_t set = bands; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        for (uint64_t lanes = reached[z]; lanes != 0; lanes &= lanes - 1)
            put(out, plan->band[z].size[unit_first(lanes)], 16);
    }
}

UNIT_INLINE size_t encode_unit(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to)
{
    _Alignas(64) int16_t value[MR__UNIT_BANDS][64];
    unit_plan plan;
    unit_writer out = {.to = to};
    uint64_t grid = mr__unit_grid(columns, rows);
    unit_gather(value, blocks, pitch, columns, rows);
    plan_unit(&plan, (const int16_t(*)[64])value, grid);
    put_head(&out, &plan, grid);
    put_dense(&out, &plan);
    put_groups(&out, &plan);
    put_lists(&out, &plan);
    put_signs(&out, &plan);
    put_levels(&out, &plan);
    return put_end(&out);
}

#endif
