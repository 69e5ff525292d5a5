// SPDX-License-Identifier: Apache-2.0
#include "l3_units.h"

#include <string.h>

uint64_t units_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static int16_t signed_random(uint64_t *seed, unsigned range)
{
    return (int16_t)((int)(units_random(seed) % (2 * range + 1)) - (int)range);
}

static int16_t random_coef(unsigned kind, unsigned z, uint64_t lanes, unsigned lane, uint64_t *seed)
{
    static const int16_t extremes[] = {-32768, 32767, -32767, 2047,  -2047, 1023, -1023, 14,   15,   -15, 16,  29,
                                       30,     3839,  3840,   -3841, 1,     -1,   0,     7679, 7680, 255, 256, -128};
    switch (kind) {
    case KIND_ZERO:
        return 0;
    case KIND_DC:
        return z == 0 ? signed_random(seed, 1024) : 0;
    case KIND_SPARSE:
        return units_random(seed) % 97 == 0 ? signed_random(seed, 3) : 0;
    case KIND_ONES:
        return units_random(seed) % (2 + z) == 0 ? signed_random(seed, 1) : 0;
    case KIND_PHOTO: {
        unsigned range = 600 / (1 + z * z) + 1;
        int16_t v = signed_random(seed, range);
        return z == 0 ? (int16_t)(v + 40 * (int)(lane % 8)) : units_random(seed) % (1 + z / 4) == 0 ? v : 0;
    }
    case KIND_DENSE:
        return signed_random(seed, 1u << units_random(seed) % 9);
    case KIND_LANES:
        return (lanes >> lane & 1) != 0 && units_random(seed) % 3 == 0 ? signed_random(seed, 20 / (1 + z / 8) + 1) : 0;
    case KIND_EXTREME:
        return extremes[units_random(seed) % (sizeof extremes / sizeof *extremes)];
    default:
        return (int16_t)units_random(seed);
    }
}

void units_make(units_sample *s, unsigned kind, unsigned columns, unsigned rows, uint64_t *seed)
{
    uint64_t lanes;
    s->columns = columns;
    s->rows = rows;
    s->pitch = columns + units_random(seed) % 4;
    lanes = units_random(seed) * units_random(seed) & units_random(seed) << 30;
    memset(s->coef, 0, sizeof s->coef);
    for (size_t i = 0; i < sizeof s->blocks / sizeof *s->blocks; i++)
        s->blocks[i] = (int16_t)units_random(seed);
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < columns; x++)
            for (unsigned z = 0; z < 64; z++) {
                int16_t v = random_coef(kind, z, lanes, 8 * y + x, seed);
                s->coef[z][8 * y + x] = v;
                s->blocks[(y * s->pitch + x) * 64 + z] = v;
            }
    s->nbytes = mr__l3_unit_encode(s->blocks, s->pitch, columns, rows, s->bytes, 0);
}

void units_damage(units_sample *s, uint64_t *seed)
{
    unsigned times = 1 + (unsigned)units_random(seed) % 4;
    for (unsigned i = 0; i < times; i++) {
        // Most of what decides about the rest stands in front.
        size_t within = units_random(seed) % 2 == 0 && s->nbytes > 40 ? 40 : s->nbytes;
        size_t at = units_random(seed) % within;
        if (units_random(seed) % 2 == 0)
            s->bytes[at] ^= (uint8_t)(1u << units_random(seed) % 8);
        else
            s->bytes[at] = (uint8_t)units_random(seed);
    }
    if (units_random(seed) % 8 == 0)
        s->nbytes = 1 + units_random(seed) % s->nbytes;
}

/* The length at which noise is neither too short nor too long for what its head asks for; 0 if there is none. */
static size_t fit(const units_sample *s)
{
    static mr__l3_unit to;
    static const uint16_t quant[64];
    mr__l3_unit_kernels table;
    size_t least = 1, most = MR__L3_UNIT_NBYTES_MAX;
    mr__l3_unit_kernels_init(&table, 0);
    while (least <= most) {
        size_t middle = (least + most) / 2;
        const char *why = table.decode(&to, s->bytes, middle, s->columns, s->rows, quant, 64);
        if (why != NULL && (strstr(why, "shorter") != NULL || strstr(why, "inside") != NULL))
            least = middle + 1;
        else if (why != NULL && strstr(why, "longer") != NULL)
            most = middle - 1;
        else
            return middle;
    }
    return 0;
}

bool units_noise(units_sample *s, unsigned number, uint64_t *seed)
{
    uint8_t *bytes = s->bytes;
    for (size_t k = 0; k < sizeof s->bytes; k++) {
        uint64_t r = units_random(seed);
        bytes[k] = (uint8_t)(number % 3 == 0 ? r | r >> 8 | r >> 16 : number % 3 == 1 ? r & r >> 8 : r);
    }
    bytes[0] = (uint8_t)(units_random(seed) % (number % 2 == 0 ? 64 : 8));
    bytes[1] = number % 4 == 0 && bytes[0] > 35 ? bytes[1] : 0;
    if (bytes[0] % 2 == 0)
        bytes[4 + bytes[0] / 2] &= 15;
    s->columns = 1 + (unsigned)units_random(seed) % 8;
    s->rows = 1 + (unsigned)units_random(seed) % 8;
    s->nbytes = fit(s);
    return s->nbytes != 0;
}
