// SPDX-License-Identifier: Apache-2.0
/*
 * From a unit's bytes to bit planes, band by band: the same for every instruction set but for the words of
 * dct_unit_words.h, which the file that includes this may bring its own of.
 *
 * Invariants: reads begin inside the unit or at its end, never behind it (bits_from). What is read at the end is
 * nonsense, but bounded, and the unit is refused when all parts together turn out to be longer than it. A set of bands
 * is a word with bit z for band z.
 *
 * Parts are ordered so that no loop waits for its own reads: offsets within one are sums over what is already known.
 */
#ifndef MR_CODEC_L3_DCT_UNIT_PARSE_H
#define MR_CODEC_L3_DCT_UNIT_PARSE_H

#ifndef UNIT_INLINE
#include "codec/l3/dct_unit_words.h"
#endif

/*
 * Planes of a band: those of the quotient begin at PLANE_QUOTIENT, raw ones lie below it, so that magnitudes have one
 * run of planes. Signs are the 8th of the run, or the 16th where magnitudes take more than 7 bits.
 */
enum {
    PLANE_QUOTIENT = MR__UNIT_RAW_MAX,
    PLANES = PLANE_QUOTIENT + 16,
    SIGN_NARROW = 7,
    SIGN_WIDE = 15,
    RAW_NARROW_MAX = 3
};

typedef struct unit_work {
    _Alignas(64) uint64_t plane[MR__UNIT_BANDS][PLANES];
    _Alignas(64) uint8_t mode[MR__UNIT_BANDS];
    uint64_t quotient[MR__UNIT_BANDS]; /* lanes whose quotient reaches the level at hand */
    uint64_t nonzero[MR__UNIT_BANDS];
    uint64_t by_mode[MR__MODES];        /* sets of bands */
    uint64_t lanes[MR__UNIT_SEGMENTS];  /* that a band of a segment has */
    unsigned nlanes[MR__UNIT_SEGMENTS]; /* how many */
    uint64_t filled, leveled, dense;    /* bands that are not empty; with levels; with planes for all their lanes */
    uint64_t escaped;                   /* bands with escapes: lanes in quotient[] */
    size_t escapes_at;                  /* their bits */
    const uint8_t *bytes;
    size_t nbits;
    size_t at; /* the next bit */
    int16_t seed;
    unsigned predictor;
} unit_work;

enum { POOL_LANES = 64, QUOTIENT_BITS = 4 };

/* The lowest plane of a band's magnitudes. */
UNIT_INLINE unsigned first_plane(const unit_work *w, unsigned z)
{
    return (unsigned)(PLANE_QUOTIENT - (w->mode[z] > MR__MODE_DENSE ? w->mode[z] - MR__MODE_DENSE : 0));
}

UNIT_INLINE unsigned sign_plane(const unit_work *w, unsigned z)
{
    return first_plane(w, z) + (w->mode[z] > MR__MODE_DENSE + RAW_NARROW_MAX ? SIGN_WIDE : SIGN_NARROW);
}

/* A band begins with the lanes whose quotient is 1 at least. */
UNIT_INLINE void begin_band(unit_work *w, unsigned z, uint64_t lanes)
{
    unit_clear(w->plane[z] + PLANE_QUOTIENT);
    w->plane[z][PLANE_QUOTIENT] = lanes;
    w->quotient[z] = lanes;
    w->nonzero[z] = lanes;
}

UNIT_INLINE uint64_t bits_from(const unit_work *w, size_t at)
{
    return unit_bits_at(w->bytes, at < w->nbits ? at : w->nbits);
}

/* The head and the modes. */
UNIT_INLINE const char *parse_head(unit_work *w, const uint8_t *bytes, size_t nbytes)
{
    unsigned last = bytes[0] & 63;
    size_t head_nbytes = MR__UNIT_HEAD_NBYTES + last / 2 + 1;
    if (nbytes < head_nbytes)
        return "a unit ends inside its head";
    w->bytes = bytes;
    w->nbits = 8 * nbytes;
    w->at = 8 * head_nbytes;
    w->predictor = bytes[0] >> 6;
    w->seed = (int16_t)mr__load_le16(bytes + 2);
    if ((last % 2 == 0 && bytes[head_nbytes - 1] >> 4 != 0) || bytes[1] >> mr__unit_segment_of[last] != 0)
        return "a reserved bit of a unit's head is set";
    unit_sort(w->mode, bytes + MR__UNIT_HEAD_NBYTES, last + 1, w->by_mode);
    if (last != 0 && w->mode[last] == MR__MODE_EMPTY)
        return "the last band of a unit is empty";
    w->dense = 0;
    for (unsigned m = MR__MODE_DENSE; m < MR__MODES; m++)
        w->dense |= w->by_mode[m];
    w->leveled = w->dense | w->by_mode[MR__MODE_GROUPS];
    w->filled = ~w->by_mode[MR__MODE_EMPTY];
    return NULL;
}

/* Which lanes each segment has: those of the one before, or, where the head says so, only some of them. */
UNIT_INLINE void parse_lanes(unit_work *w, uint64_t grid)
{
    unsigned narrows = w->bytes[1];
    uint64_t lanes = grid;
    w->lanes[0] = grid & ~UINT64_C(1); // the first block's DC is the seed
    w->nlanes[0] = unit_count(w->lanes[0]);
    for (unsigned s = 1; s < MR__UNIT_SEGMENTS; s++) {
        if (narrows >> (s - 1) & 1) {
            unsigned n = unit_count(lanes);
            lanes = unit_deposit(bits_from(w, w->at), lanes);
            w->at += n;
        }
        w->lanes[s] = lanes;
        w->nlanes[s] = unit_count(lanes);
    }
}

/* Dense bands: whether the quotient is 1 at least, then the raw bits from the lowest upward; by plane, then by band. */
UNIT_INLINE void parse_dense(unit_work *w)
{
    size_t at = w->at;
    for (uint64_t set = w->dense; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), s = mr__unit_segment_of[z];
        uint64_t plane = unit_deposit(bits_from(w, at), w->lanes[s]);
        at += w->nlanes[s];
        begin_band(w, z, plane);
    }
    uint64_t bands = w->dense & ~w->by_mode[MR__MODE_DENSE];
    for (unsigned r = 0; bands != 0; r++) {
        for (uint64_t set = bands; set != 0; set &= set - 1) {
            unsigned z = unit_first(set), s = mr__unit_segment_of[z];
            uint64_t plane = unit_deposit(bits_from(w, at), w->lanes[s]);
            at += w->nlanes[s];
            w->plane[z][first_plane(w, z) + r] = plane;
            w->nonzero[z] |= plane;
        }
        bands &= ~w->by_mode[MR__MODE_DENSE + 1 + r];
    }
    w->at = at;
}

/* Groups of four lanes: flags of those that are not all zero, for all bands; then the lanes of these groups. */
UNIT_INLINE void parse_groups(unit_work *w)
{
    uint64_t bands = w->by_mode[MR__MODE_GROUPS_OF_ONES] | w->by_mode[MR__MODE_GROUPS];
    size_t at = w->at;
    for (uint64_t set = bands; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), n = w->nlanes[mr__unit_segment_of[z]], groups = mr__unit_groups(n);
        uint64_t flags = bits_from(w, at) & mr__unit_low_bits(groups);
        uint64_t open = unit_deposit(flags, UINT64_C(0x1111111111111111)) * 15 & mr__unit_low_bits(n);
        at += groups;
        w->quotient[z] = open;
    }
    for (uint64_t set = bands; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        uint64_t open = w->quotient[z];
        uint64_t lanes = unit_deposit(bits_from(w, at), open);
        at += unit_count(open);
        begin_band(w, z, unit_deposit(lanes, w->lanes[mr__unit_segment_of[z]]));
    }
    w->at = at;
}

/* Lists of one to four lanes by their positions; false when one is not a lane, or comes twice. */
UNIT_INLINE bool parse_lists(unit_work *w)
{
    uint64_t bands = w->by_mode[1] | w->by_mode[2] | w->by_mode[3] | w->by_mode[4];
    size_t at = w->at;
    unsigned wrong = 0;
    for (uint64_t set = bands; set != 0; set &= set - 1) {
        unsigned z = unit_first(set), s = mr__unit_segment_of[z], count = w->mode[z];
        unsigned nbits_each = unit_position_nbits(w->nlanes[s]);
        uint64_t bits = bits_from(w, at), each = mr__unit_low_bits(nbits_each), lanes = 0;
        for (unsigned i = 0; i < MR__UNIT_LIST_MAX; i++) {
            lanes |= (uint64_t)(i < count) << (bits & each);
            bits >>= nbits_each;
        }
        at += (size_t)count * nbits_each;
        lanes = unit_deposit(lanes, w->lanes[s]);
        wrong |= unit_count(lanes) ^ count;
        begin_band(w, z, lanes);
    }
    w->at = at;
    return wrong == 0;
}

UNIT_INLINE void parse_signs(unit_work *w)
{
    size_t at = w->at;
    for (uint64_t set = w->filled; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        uint64_t nonzero = w->nonzero[z];
        w->plane[z][sign_plane(w, z)] = unit_deposit(bits_from(w, at), nonzero);
        at += unit_count(nonzero);
    }
    w->at = at;
}

/*
 * One level: for each lane whose quotient reached the level before, whether it reaches this one. The quotient's bits
 * are counted on the way, as a binary counter would: bit 0 flips at every level, bit 1 at every second, and so on.
 * Returns how many lanes reach it; `bands` becomes those that have such lanes.
 */
UNIT_INLINE unsigned parse_level(unit_work *w, unsigned level, uint64_t *bands)
{
    size_t at = w->at;
    unsigned reached = 0;
    uint64_t left = 0;
    for (uint64_t set = *bands; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        uint64_t before = w->quotient[z], *count = w->plane[z] + PLANE_QUOTIENT;
        uint64_t now = unit_deposit(bits_from(w, at), before);
        at += unit_count(before);
        w->quotient[z] = now;
        reached += unit_count(now);
        left |= (uint64_t)(now != 0) << z;
        count[0] ^= now;
        if (level % 2 == 0)
            count[1] ^= now;
        if (level % 4 == 0)
            count[2] ^= now;
        if (level % 8 == 0)
            count[3] ^= now;
    }
    w->at = at;
    *bands = left;
    return reached;
}

/*
 * The levels from where no more than 64 lanes are left, few in each of many bands: they are pooled in one word, and a
 * level is one step for all bands. flip[i] says whose bit i of the quotient differs from what it was.
 */
UNIT_INLINE unsigned parse_pool(unit_work *w, unsigned level, uint64_t bands, unsigned lanes)
{
    uint64_t pool = mr__unit_low_bits(lanes), flip[QUOTIENT_BITS] = {0};
    for (; level <= MR__UNIT_LEVELS && pool != 0; level++) {
        unsigned before = unit_count(pool);
        pool = unit_deposit(bits_from(w, w->at), pool);
        w->at += before;
        for (unsigned p = 0; p < QUOTIENT_BITS; p++)
            flip[p] ^= level % (1u << p) == 0 ? pool : 0;
    }
    unsigned at = 0;
    for (uint64_t set = bands; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        uint64_t mine = w->quotient[z], *count = w->plane[z] + PLANE_QUOTIENT;
        for (unsigned p = 0; p < QUOTIENT_BITS; p++)
            count[p] ^= unit_deposit(flip[p] >> at % 64, mine);
        w->quotient[z] = unit_deposit(pool >> at % 64, mine);
        at += unit_count(mine);
    }
    return unit_count(pool);
}

UNIT_INLINE void parse_levels(unit_work *w)
{
    uint64_t bands = w->leveled;
    unsigned level = 2, lanes = POOL_LANES + 1;
    for (; level <= MR__UNIT_LEVELS && lanes > POOL_LANES; level++)
        lanes = parse_level(w, level, &bands);
    if (level <= MR__UNIT_LEVELS && lanes != 0)
        lanes = parse_pool(w, level, bands, lanes);
    w->escaped = lanes != 0 ? bands : 0;
    w->escapes_at = w->at;
    w->at += 16 * (size_t)lanes;
}

/* The unit ends where its bytes end, and bits that fill the last byte are 0. */
UNIT_INLINE const char *parse_end(const unit_work *w)
{
    if (w->at > w->nbits)
        return "a unit is shorter than what it holds";
    size_t left = w->nbits - w->at;
    if (left >= 8)
        return "a unit is longer than what it holds";
    if (left != 0 && w->bytes[w->nbits / 8 - 1] >> (8 - left) != 0)
        return "a unit's last byte has bits behind its end";
    return NULL;
}

UNIT_INLINE const char *parse_unit(unit_work *w, const uint8_t *bytes, size_t nbytes, uint64_t grid)
{
    const char *why = nbytes == 0 ? "a unit has no bytes" : parse_head(w, bytes, nbytes);
    if (why != NULL)
        return why;
    parse_lanes(w, grid);
    parse_dense(w);
    parse_groups(w);
    bool listed = parse_lists(w);
    parse_signs(w);
    parse_levels(w);
    why = parse_end(w);
    return why == NULL && !listed ? "a position in a unit is not one of its lanes" : why;
}

/* Escapes replace the magnitudes that planes gave; `quant` is by zigzag index, and is not for DC. */
UNIT_INLINE void write_escapes(mr__l3_unit *unit, const unit_work *w, const uint16_t quant[64])
{
    size_t at = w->escapes_at;
    for (uint64_t set = w->escaped; set != 0; set &= set - 1) {
        unsigned z = unit_first(set);
        uint16_t factor = z == 0 ? 1 : quant[z];
        for (uint64_t lanes = w->quotient[z]; lanes != 0; lanes &= lanes - 1, at += 16) {
            unsigned lane = unit_first(lanes);
            uint32_t value = (uint32_t)bits_from(w, at) & 0xffff;
            if (w->plane[z][sign_plane(w, z)] >> lane & 1)
                value = 0u - value;
            unit->coef[unit_natural[z]][lane] = (int16_t)(uint16_t)(value * factor);
        }
    }
}

#endif
