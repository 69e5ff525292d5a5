// SPDX-License-Identifier: Apache-2.0
/*
 * A unit of L3's DCT mode (doc/format-l3.md, "Units"; kernel/l3_unit.h) by a team: from its bytes to a strip of 64
 * blocks (jpeg_pixels.h).
 *
 * First a lane has two bands, and all go through the parts one by one, in one loop. What a band takes of a part is a
 * number that its mode and earlier parts give, and where that begins is a sum over the bands before it: a scan a part,
 * and one a level, both bands of a lane in its halves of 16 bits. Nothing but groups is deposited: a band is kept as
 * where its bits begin, and planes as they are stored, for places among the lanes of the segment, or among those that
 * the level before left. Then a lane has two blocks. Of each band it finds its own bits by rank: how many before it are
 * set in the plane that leads to them. It looks at as many levels as its coefficient has.
 *
 * Whatever the bytes are: reads begin inside the unit or at its end (mr__unit_bits), offsets are less than what 64
 * bands of 64 lanes can take, and a unit whose parts do not end in its last byte is refused before a coefficient is
 * made of it.
 */
#ifndef MR_KERNEL_LANE_L3_UNIT_H
#define MR_KERNEL_LANE_L3_UNIT_H

#include "kernel/l3_unit.h"
#include "kernel/lane/jpeg_pixels.h"

/* Bytes behind a unit that are read, and not used. */
#define MR__UNIT_SLACK 16u

/* Room for the numbers of a unit. */
#define MR__UNIT_COEF_NBYTES 8192u

typedef struct mr__unit_at {
    uint32_t at, nbytes; /* `at` is a multiple of 4 */
    uint32_t columns, rows;
    uint32_t bands; /* that are wanted, in zigzag order: 1 to 64 */
} mr__unit_at;

typedef struct mr__order_l3_unit {
    uint32_t status;
    uint32_t units;  /* place of their list */
    uint32_t strips; /* and that of what becomes of them: mr__strip */
    uint32_t coef;   /* MR__UNIT_COEF_NBYTES for each */
} mr__order_l3_unit;

/* Parts, in their order: bits of one kind, band after band. */
enum {
    MR__PART_DENSE,                                    /* quotients of 1 at least */
    MR__PART_RAW,                                      /* bit 0; the others follow */
    MR__PART_GROUPS = MR__PART_RAW + MR__UNIT_RAW_MAX, /* flags */
    MR__PART_GROUPED,                                  /* the lanes of groups */
    MR__PART_LISTS,                                    /* positions */
    MR__PART_SIGNS,
    MR__PART_LEVEL, /* 2; the others follow */
    MR__PART_ESCAPES = MR__PART_LEVEL + MR__UNIT_LEVELS + 1 - 2,
    MR__PART_WRONG, /* no bits: bands with positions that cannot be */
    MR__PARTS
};

/* A unit that is being read. */
typedef struct mr__unit {
    MR_GLOBAL const uint32_t *words;
    uint32_t nbits, at;          /* the next bit */
    MR_SHARED uint64_t *lanes;   /* by segment */
    MR_SHARED uint64_t *first;   /* by band: quotient 1 at least, by place among the lanes */
    MR_SHARED uint64_t *nonzero; /* the same: not 0 */
    MR_SHARED uint32_t *begin;   /* by part */
    MR_SHARED uint16_t *offset;  /* by part and band: bits from there on; escapes, and not their bits */
} mr__unit;

/* One band of a lane. */
typedef struct mr__unit_band {
    uint32_t mode, lanes; /* how many it has */
    uint64_t first;       /* before: lanes of groups that are not all zero */
    uint64_t nonzero;
    uint32_t reached; /* lanes whose quotient is as much as the level before */
    uint32_t wrong;
} mr__unit_band;

/* n bits from bit `at`. */
MR_INLINE uint64_t mr__unit_bits(const mr__unit *u, uint32_t at, uint32_t n)
{
    uint32_t from = at < u->nbits ? at : u->nbits, word = from / 32, shift = from % 32;
    uint64_t low = u->words[word] | (uint64_t)u->words[word + 1] << 32;
    return (low >> shift | (uint64_t)u->words[word + 2] << 1 << (63 - shift)) & mr__unit_low_bits(n);
}

MR_INLINE uint32_t mr__unit_bit(const mr__unit *u, uint32_t at)
{
    return u->words[at / 32] >> at % 32 & 1;
}

/* The lowest bits, each at the place of the next bit that is set in the mask. */
MR_INLINE uint64_t mr__unit_deposit(uint64_t bits, uint64_t mask)
{
    uint64_t to = 0;
    for (; mask != 0; mask &= mask - 1, bits >>= 1)
        to |= (bits & 1) != 0 ? mask & (0 - mask) : 0;
    return to;
}

/* From flags of 16 groups to their lanes. */
MR_INLINE uint64_t mr__unit_open(uint64_t flags)
{
    flags = (flags | flags << 24) & 0x000000ff000000ffu;
    flags = (flags | flags << 12) & 0x000f000f000f000fu;
    flags = (flags | flags << 6) & 0x0303030303030303u;
    flags = (flags | flags << 3) & 0x1111111111111111u;
    return flags * 15;
}

/* How many bits n - 1 has; n to 64. */
MR_INLINE uint32_t mr__unit_position_nbits(uint32_t n)
{
    uint32_t most = n > 1 ? n - 1 : 0;
    most |= most >> 1;
    most |= most >> 2;
    most |= most >> 4;
    return mr_count32(most);
}

/* Head and modes. False: they cannot be. All lanes say the same. */
MR_INLINE bool mr__unit_head(mr__unit *u, uint32_t nbytes, mr__unit_band band[2], uint32_t id)
{
    uint32_t head = u->words[0], last = head & 63, head_nbytes = MR__UNIT_HEAD_NBYTES + last / 2 + 1;
    if (nbytes == 0 || nbytes < head_nbytes)
        return false;
    u->nbits = 8 * nbytes;
    u->at = 8 * head_nbytes;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t z = id + 32 * i;
        mr__unit_band none = {z <= last ? u->words[1 + z / 8] >> z % 8 * 4 & 15 : MR__MODE_EMPTY, 0, 0, 0, 0, 0};
        band[i] = none;
    }
    uint32_t end = 8 * MR__UNIT_HEAD_NBYTES + 4 * last, mode = u->words[end / 32] >> end % 32 & 15;
    bool reserved = last % 2 == 0 && (u->words[(end + 4) / 32] >> (end + 4) % 32 & 15) != 0;
    bool narrows = (head >> 8 & 255) >> mr__unit_segment_of[last] != 0;
    return !reserved && !narrows && (last == 0 || mode != MR__MODE_EMPTY);
}

/* The bands that are not empty, and DC. */
MR_INLINE uint64_t mr__unit_there(const mr__unit *u)
{
    uint32_t last = u->words[0] & 63;
    uint64_t there = 0;
    for (uint32_t i = 0; i <= last / 8; i++) {
        uint32_t modes = u->words[1 + i], any = (modes | modes >> 1 | modes >> 2 | modes >> 3) & 0x11111111u;
        any = (any | any >> 3) & 0x03030303u; // four bits of each mode to one
        any = (any | any >> 6) & 0x000f000fu;
        there |= (uint64_t)((any | any >> 12) & 255) << 8 * i;
    }
    return (there & mr__unit_low_bits(last + 1)) | 1;
}

/* Which lanes each segment has, and how many each band: those of the one before, or only some of them. */
MR_INLINE void mr__unit_lanes(mr__unit *u, uint64_t grid, mr__unit_band band[2], uint32_t id)
{
    uint32_t narrows = u->words[0] >> 8 & 255;
    uint64_t lanes = grid & ~(uint64_t)1; // the first block's DC is the seed
    for (uint32_t s = 0; s < MR__UNIT_SEGMENTS; s++) {
        lanes = s == 1 ? grid : lanes;
        if (s != 0 && (narrows >> (s - 1) & 1) != 0) {
            uint32_t n = mr_count64(lanes);
            lanes = mr__unit_deposit(mr__unit_bits(u, u->at, n), lanes);
            u->at += n;
        }
        if (id == 0)
            u->lanes[s] = lanes;
        for (uint32_t i = 0; i < 2; i++)
            band[i].lanes = mr__unit_segment_of[id + 32 * i] == s ? mr_count64(lanes) : band[i].lanes;
    }
}

/* How many bits a band has of a part; of escapes, how many of them. */
MR_INLINE uint32_t mr__unit_takes(uint32_t part, const mr__unit_band *band)
{
    bool groups = band->mode == MR__MODE_GROUPS_OF_ONES || band->mode == MR__MODE_GROUPS;
    bool list = band->mode >= MR__MODE_LIST && band->mode < MR__MODE_LIST + MR__UNIT_LIST_MAX;
    if (part < MR__PART_GROUPS) // raw bits are those of modes behind the first dense one
        return band->mode >= MR__MODE_DENSE + part - MR__PART_DENSE ? band->lanes : 0;
    if (part == MR__PART_GROUPS)
        return groups ? mr__unit_groups(band->lanes) : 0;
    if (part == MR__PART_GROUPED)
        return groups ? mr_count64(band->first) : 0;
    if (part == MR__PART_LISTS)
        return list ? band->mode * mr__unit_position_nbits(band->lanes) : 0;
    if (part == MR__PART_SIGNS)
        return mr_count64(band->nonzero);
    return part == MR__PART_WRONG ? band->wrong : band->reached;
}

/* One to four lanes by their positions, which differ and are lanes. */
MR_INLINE uint64_t mr__unit_listed(uint64_t bits, mr__unit_band *band)
{
    uint32_t each = mr__unit_position_nbits(band->lanes);
    uint64_t lanes = 0;
    for (uint32_t k = 0; k < band->mode; k++, bits >>= each)
        lanes |= (uint64_t)1 << (bits & mr__unit_low_bits(each));
    lanes &= mr__unit_low_bits(band->lanes);
    band->wrong = mr_count64(lanes) != band->mode ? 1 : 0;
    return lanes;
}

/* What a band learns from its n bits of a part. */
MR_INLINE void mr__unit_learn(uint32_t part, mr__unit_band *band, uint64_t bits, uint32_t n)
{
    if (part < MR__PART_GROUPS) {
        band->first = part == MR__PART_DENSE ? bits : band->first;
        band->nonzero |= bits;
    } else if (part == MR__PART_GROUPS && n != 0) {
        band->first = mr__unit_open(bits) & mr__unit_low_bits(band->lanes);
    } else if (part == MR__PART_GROUPED && n != 0) {
        band->first = band->nonzero = mr__unit_deposit(bits, band->first);
    } else if (part == MR__PART_LISTS && band->mode <= MR__UNIT_LIST_MAX && band->mode != MR__MODE_EMPTY) {
        band->first = band->nonzero = mr__unit_listed(bits, band);
    } else if (part == MR__PART_SIGNS) {
        band->reached = band->mode >= MR__MODE_GROUPS ? mr_count64(band->first) : 0;
    } else if (part >= MR__PART_LEVEL && part < MR__PART_ESCAPES) {
        band->reached = mr_count64(bits);
    }
}

/* Parts that have no bits because one before them has none: raw bits, and levels, until no lane is left. */
MR_INLINE uint32_t mr__unit_next(uint32_t part, uint32_t all)
{
    if (all != 0)
        return part + 1;
    if (part < MR__PART_GROUPS)
        return MR__PART_GROUPS;
    return part >= MR__PART_LEVEL && part < MR__PART_ESCAPES ? MR__PART_ESCAPES : part + 1;
}

/*
 * All parts, of bands `lane.id` and 32 more. False: a band was wrong. All lanes say the same. What there is of a part
 * is 4,096 at most: 16 bits for the sum of each half.
 */
MR_INLINE bool mr__unit_parts(mr_lane lane, mr__unit *u, mr__unit_band band[2])
{
    uint32_t all = 0;
    for (uint32_t part = MR__PART_DENSE; part < MR__PARTS; part = mr__unit_next(part, all)) {
        uint32_t low = mr__unit_takes(part, &band[0]), high = mr__unit_takes(part, &band[1]);
        uint32_t both = low | high << 16, before = mr_scan(lane, both), sums = mr_shuffle(lane, before + both, 31);
        uint32_t offset[2] = {before & 0xffff, (sums & 0xffff) + (before >> 16)};
        all = (sums & 0xffff) + (sums >> 16);
        if (lane.id == 0)
            u->begin[part] = u->at;
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t n = i == 0 ? low : high;
            u->offset[part * 64 + lane.id + 32 * i] = (uint16_t)offset[i];
            mr__unit_learn(part, &band[i], mr__unit_bits(u, u->at + offset[i], n), n);
        }
        u->at += part == MR__PART_ESCAPES ? 16 * all : part == MR__PART_WRONG ? 0 : all;
    }
    return all == 0;
}

/* The unit ends where its bytes end, and bits that fill the last byte are 0. */
MR_INLINE bool mr__unit_ends(const mr__unit *u)
{
    return u->at <= u->nbits && u->nbits - u->at < 8 && mr__unit_bits(u, u->at, u->nbits - u->at) == 0;
}

/* Where the bits of a band begin in a part. */
MR_INLINE uint32_t mr__unit_place(const mr__unit *u, uint32_t part, uint32_t z)
{
    return u->begin[part] + u->offset[part * 64 + z];
}

/* The coefficient of band z that stands at a place among its lanes. */
MR_INLINE int32_t mr__unit_value(const mr__unit *u, uint32_t z, uint32_t place)
{
    uint32_t mode = u->words[1 + z / 8] >> z % 8 * 4 & 15, raws = mode > MR__MODE_DENSE ? mode - MR__MODE_DENSE : 0;
    uint64_t before = mr__unit_low_bits(place), first = u->first[z], nonzero = u->nonzero[z];
    if ((nonzero >> place & 1) == 0)
        return 0;
    uint32_t quotient = (uint32_t)(first >> place & 1), rank = mr_count64(first & before), low = 0;
    bool goes_on = quotient != 0 && mode >= MR__MODE_GROUPS;
    for (uint32_t level = 2; level <= MR__UNIT_LEVELS && goes_on; level++) {
        uint64_t reached = mr__unit_bits(u, mr__unit_place(u, MR__PART_LEVEL + level - 2, z), rank + 1);
        goes_on = (reached >> rank & 1) != 0;
        rank = mr_count64(reached & mr__unit_low_bits(rank));
        quotient += goes_on ? 1 : 0;
    }
    for (uint32_t r = 0; r < raws; r++)
        low |= mr__unit_bit(u, mr__unit_place(u, MR__PART_RAW + r, z) + place) << r;
    uint32_t size = quotient << raws | low;
    if (quotient == MR__UNIT_LEVELS)
        size = (uint32_t)mr__unit_bits(
            u, u->begin[MR__PART_ESCAPES] + 16 * (u->offset[MR__PART_ESCAPES * 64 + z] + rank), 16);
    bool negative = mr__unit_bit(u, mr__unit_place(u, MR__PART_SIGNS, z) + mr_count64(nonzero & before)) != 0;
    return negative ? -(int32_t)size : (int32_t)size;
}

/* The same of block number `block`; 0 where the band does not have it. */
MR_INLINE int16_t mr__unit_block(const mr__unit *u, uint32_t z, uint32_t block)
{
    uint64_t lanes = u->lanes[mr__unit_segment_of[z]];
    if ((lanes >> block & 1) == 0)
        return 0;
    return (int16_t)mr__unit_value(u, z, mr_count64(lanes & mr__unit_low_bits(block)));
}

/*
 * From differences to DC: a lane has a column, and goes down it one row behind the lane on its left, so that all that
 * it is predicted by is there.
 */
MR_INLINE void mr__unit_predict(mr_lane lane, uint32_t head, MR_SHARED int16_t *dc)
{
    uint32_t predictor = head >> 6 & 3, x = lane.id;
    if (x == 0)
        dc[0] = (int16_t)(head >> 16);
    for (uint32_t step = 1; step < 15; step++) {
        uint32_t y = step - x, at = 8 * y + x;
        mr_barrier(lane);
        if (x < 8 && step >= x && y < 8) {
            int32_t left = x > 0 ? dc[at - 1] : 0, above = y > 0 ? dc[at - 8] : 0;
            int32_t corner = x > 0 && y > 0 ? dc[at - 9] : 0;
            dc[at] = (int16_t)(uint16_t)(dc[at] + mr__unit_guess(predictor, x, y, left, above, corner));
        }
    }
    mr_barrier(lane);
}

/* All that comes before coefficients. False: these bytes are no unit. All lanes say the same. */
MR_INLINE bool mr__unit_parse(mr_lane lane, mr__unit *u, MR_GLOBAL const mr__unit_at *unit)
{
    mr__unit_band band[2];
    if (!mr__unit_head(u, unit->nbytes, band, lane.id))
        return false;
    mr__unit_lanes(u, mr__unit_grid(unit->columns, unit->rows), band, lane.id);
    bool good = mr__unit_parts(lane, u, band);
    for (uint32_t i = 0; i < 2; i++) {
        u->first[lane.id + 32 * i] = band[i].first;
        u->nonzero[lane.id + 32 * i] = band[i].nonzero;
    }
    return good && mr__unit_ends(u);
}

/* All coefficients but DC go where they belong; the differences of DC to `dc`. */
MR_INLINE void mr__unit_write(mr_lane lane, const mr__unit *u, uint64_t there, MR_GLOBAL int16_t *to,
                              MR_SHARED int16_t *dc)
{
    for (uint32_t z = 0; z < 64; z++) {
        if (z != 0 && (there >> z & 1) == 0)
            continue;
        for (uint32_t block = lane.id; block < 64; block += 32) {
            int16_t value = mr__unit_block(u, z, block);
            if (z == 0)
                dc[block] = value;
            else
                to[block] = value;
        }
        to += 64;
    }
}

MR_KERNEL(l3_unit)
{
    MR_TEAM;
    MR_ALLOT(uint64_t, lanes, MR__UNIT_SEGMENTS);
    MR_ALLOT(uint64_t, first, 64);
    MR_ALLOT(uint64_t, nonzero, 64);
    MR_ALLOT(uint32_t, begin, MR__PARTS);
    MR_ALLOT(uint16_t, offset, MR__PARTS * 64);
    MR_ALLOT(int16_t, dc, 64);
    MR_GLOBAL const mr__order_l3_unit *o = MR_ORDER(mr__order_l3_unit);
    MR_GLOBAL const mr__unit_at *unit = (MR_GLOBAL const mr__unit_at *)(arena + o->units) + MR_ITEM;
    MR_GLOBAL mr__strip *strip = (MR_GLOBAL mr__strip *)(arena + o->strips) + MR_ITEM;
    mr__unit u;
    u.words = (MR_GLOBAL const uint32_t *)(arena + unit->at);
    u.nbits = u.at = 0;
    u.lanes = lanes;
    u.first = first;
    u.nonzero = nonzero;
    u.begin = begin;
    u.offset = offset;
    uint32_t coef = o->coef + MR_ITEM * MR__UNIT_COEF_NBYTES;
    bool good = mr__unit_parse(lane, &u, unit);
    uint64_t there = good ? mr__unit_there(&u) & mr__unit_low_bits(unit->bands) : 0;
    if (lane.id == 0) {
        strip->there = strip->wide = there;
        strip->at = coef;
    }
    if (!good) {
        if (lane.id == 0)
            MR_REFUSE(o->status);
        return;
    }
    MR_GLOBAL int16_t *to = (MR_GLOBAL int16_t *)(arena + coef);
    mr_barrier(lane);
    mr__unit_write(lane, &u, there, to, dc);
    mr_barrier(lane);
    mr__unit_predict(lane, u.words[0], dc);
    to[lane.id] = dc[lane.id];
    to[lane.id + 32] = dc[lane.id + 32];
}

#endif
