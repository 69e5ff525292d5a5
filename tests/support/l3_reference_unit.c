// SPDX-License-Identifier: Apache-2.0
#include "l3_reference_unit.h"

#include <string.h>

typedef struct reader {
    const uint8_t *bytes;
    size_t nbits;
    size_t at;
    bool good;
} reader;

/* n bits as a number, the first lowest. */
static unsigned get(reader *in, unsigned n)
{
    unsigned value = 0;
    for (unsigned i = 0; i < n; i++, in->at++) {
        if (in->at >= in->nbits) {
            in->good = false;
            return 0;
        }
        value |= (unsigned)(in->bytes[in->at / 8] >> in->at % 8 & 1) << i;
    }
    return value;
}

typedef struct unit {
    unsigned last, predictor;
    int seed;
    unsigned mode[64];
    bool lane[9][64]; /* by segment */
    unsigned quotient[64][64];
    unsigned raw[64][64];
    bool negative[64][64];
    bool escaped[64][64];
    unsigned escape[64][64];
} unit;

static unsigned segment_of(unsigned z)
{
    static const unsigned start[9] = {0, 1, 3, 6, 10, 15, 21, 28, 36};
    unsigned s = 8;
    while (start[s] > z)
        s--;
    return s;
}

static unsigned raw_bits(const unit *u, unsigned z)
{
    return u->mode[z] >= 7 ? u->mode[z] - 7 : 0;
}

static bool is_lane(const unit *u, unsigned z, unsigned lane)
{
    return u->lane[segment_of(z)][lane];
}

static unsigned lanes_of(const unit *u, unsigned z)
{
    unsigned n = 0;
    for (unsigned lane = 0; lane < 64; lane++)
        n += is_lane(u, z, lane);
    return n;
}

static unsigned get_head(reader *in, unit *u)
{
    u->last = get(in, 6);
    u->predictor = get(in, 2);
    unsigned narrowing = get(in, 8);
    u->seed = (int)get(in, 16);
    for (unsigned z = 0; z <= u->last; z++)
        u->mode[z] = get(in, 4);
    if (u->last % 2 == 0 && get(in, 4) != 0)
        in->good = false;
    if (u->last != 0 && u->mode[u->last] == 0)
        in->good = false;
    for (unsigned s = 1; s <= 8; s++)
        if ((narrowing >> (s - 1) & 1) != 0 && s > segment_of(u->last))
            in->good = false;
    return narrowing;
}

static void get_lanes(reader *in, unit *u, unsigned narrowing, unsigned columns, unsigned rows)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        bool there = lane % 8 < columns && lane / 8 < rows;
        u->lane[0][lane] = there && lane != 0;
        u->lane[1][lane] = there;
    }
    for (unsigned s = 1; s <= 8; s++) {
        if (s > 1)
            memcpy(u->lane[s], u->lane[s - 1], sizeof u->lane[s]);
        if ((narrowing >> (s - 1) & 1) == 0)
            continue;
        for (unsigned lane = 0; lane < 64; lane++)
            if (u->lane[s][lane])
                u->lane[s][lane] = get(in, 1) != 0;
    }
}

static void get_planes(reader *in, unit *u)
{
    for (unsigned z = 0; z < 64; z++)
        for (unsigned lane = 0; lane < 64; lane++)
            if (u->mode[z] >= 7 && is_lane(u, z, lane))
                u->quotient[z][lane] = get(in, 1);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned z = 0; z < 64; z++)
            for (unsigned lane = 0; lane < 64; lane++)
                if (raw_bits(u, z) > i && is_lane(u, z, lane))
                    u->raw[z][lane] |= get(in, 1) << i;
}

static bool is_groups(const unit *u, unsigned z)
{
    return u->mode[z] == 5 || u->mode[z] == 6;
}

static void get_groups(reader *in, unit *u)
{
    bool flag[64][16];
    for (unsigned z = 0; z < 64; z++)
        for (unsigned group = 0; is_groups(u, z) && group < (lanes_of(u, z) + 3) / 4; group++)
            flag[z][group] = get(in, 1) != 0;
    for (unsigned z = 0; z < 64; z++) {
        unsigned position = 0;
        for (unsigned lane = 0; is_groups(u, z) && lane < 64; lane++)
            if (is_lane(u, z, lane) && flag[z][position++ / 4])
                u->quotient[z][lane] = get(in, 1);
    }
}

static void get_lists(reader *in, unit *u)
{
    for (unsigned z = 0; z < 64; z++) {
        unsigned n = lanes_of(u, z), nbits = 0;
        while (n > 1 && (n - 1) >> nbits != 0)
            nbits++;
        for (unsigned i = 0; u->mode[z] <= 4 && i < u->mode[z]; i++) {
            unsigned position = get(in, nbits), lane = 0;
            for (; lane < 64; lane++)
                if (is_lane(u, z, lane) && position-- == 0)
                    break;
            if (lane == 64 || u->quotient[z][lane] != 0)
                in->good = false;
            else
                u->quotient[z][lane] = 1;
        }
    }
}

static void get_signs(reader *in, unit *u)
{
    for (unsigned z = 0; z < 64; z++)
        for (unsigned lane = 0; lane < 64; lane++)
            if (u->quotient[z][lane] != 0 || u->raw[z][lane] != 0)
                u->negative[z][lane] = get(in, 1) != 0;
}

static void get_levels(reader *in, unit *u)
{
    for (unsigned j = 2; j <= 15; j++)
        for (unsigned z = 0; z < 64; z++)
            for (unsigned lane = 0; lane < 64; lane++)
                if (u->mode[z] >= 6 && u->quotient[z][lane] == j - 1)
                    u->quotient[z][lane] += get(in, 1);
    for (unsigned z = 0; z < 64; z++)
        for (unsigned lane = 0; lane < 64; lane++)
            if (u->quotient[z][lane] == 15) {
                u->escaped[z][lane] = true;
                u->escape[z][lane] = get(in, 16);
            }
}

static void get_padding(reader *in)
{
    size_t left = in->nbits - in->at;
    if (!in->good || left > 7 || get(in, (unsigned)left) != 0)
        in->good = false;
}

/* A number modulo 2^16 as a signed one. */
static int wrap(int value)
{
    value &= 0xffff;
    return value < 0x8000 ? value : value - 0x10000;
}

static int halve(int value)
{
    return value >= 0 ? value / 2 : -((1 - value) / 2);
}

static void undo_prediction(const unit *u, int16_t dc[64], unsigned columns, unsigned rows)
{
    dc[0] = (int16_t)wrap(u->seed);
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = y == 0 ? 1 : 0; x < columns; x++) {
            int16_t *at = dc + 8 * y + x;
            int guess;
            if (y == 0)
                guess = at[-1];
            else if (x == 0 || u->predictor == 1)
                guess = at[-8];
            else if (u->predictor == 3)
                guess = at[-1];
            else if (u->predictor == 2)
                guess = at[-1] + at[-8] - at[-9];
            else
                guess = at[-1] + halve(wrap(at[-8] - at[-9]));
            *at = (int16_t)wrap(*at + guess);
        }
}

bool l3_reference_unit(int16_t coef[64][64], const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows)
{
    unit u;
    reader in = {bytes, 8 * nbytes, 0, true};
    memset(&u, 0, sizeof u);
    unsigned narrowing = get_head(&in, &u);
    get_lanes(&in, &u, narrowing, columns, rows);
    get_planes(&in, &u);
    get_groups(&in, &u);
    get_lists(&in, &u);
    get_signs(&in, &u);
    get_levels(&in, &u);
    get_padding(&in);
    for (unsigned z = 0; z < 64; z++)
        for (unsigned lane = 0; lane < 64; lane++) {
            int size = (int)((u.quotient[z][lane] << raw_bits(&u, z)) + u.raw[z][lane]);
            if (u.escaped[z][lane])
                size = (int)u.escape[z][lane];
            coef[z][lane] = (int16_t)wrap(u.negative[z][lane] ? -size : size);
        }
    undo_prediction(&u, coef[0], columns, rows);
    return in.good;
}
