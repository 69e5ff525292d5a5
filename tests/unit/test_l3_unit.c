// SPDX-License-Identifier: Apache-2.0
/*
 * Units of L3's DCT mode: every encoder writes the same bytes, every decoder and the plain reference read them alike,
 * whatever is in them. All reads are from bytes that end, with their slack, before a page that is not there.
 */
#include "test.h"

#include "codec/l3/dct_unit.h"
#include "l3_reference_unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint8_t natural_of[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                       12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                       35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                       58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static const char *const levels[] = {"portable", "sse41", "avx2-slowpdep", "avx2", "avx512", "neon"};
enum { LEVELS = sizeof levels / sizeof *levels, ROOM = 65536 };

static mr__cpu_flags flags_of(size_t level)
{
    mr__cpu_flags mask = 0;
    assert_true(mr__cpu_mask_from_text(levels[level], &mask));
    return mr__cpu_detect() & mask;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* The unit's bytes, noise for slack, and then nothing. */
static uint8_t *room_end;

static int open_room(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), nbytes = ROOM + page;
    uint8_t *room = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + ROOM, page, PROT_NONE) != 0)
        return -1;
    room_end = room + ROOM;
    return 0;
}

static const uint8_t *in_room(const uint8_t *bytes, size_t nbytes, uint64_t noise)
{
    uint8_t *at = room_end - MR__L3_UNIT_SLACK - nbytes;
    for (size_t i = 0; i < MR__L3_UNIT_SLACK; i++)
        at[nbytes + i] = (uint8_t)next_random(&noise);
    memcpy(at, bytes, nbytes);
    return at;
}

typedef struct guarded_unit {
    uint64_t before[8];
    mr__l3_unit unit;
    uint64_t after[8];
} guarded_unit;

/* Decodes with one kernel; fails the test if it writes beside the unit. */
static const char *decode(size_t level, guarded_unit *to, const uint8_t *bytes, size_t nbytes, unsigned columns,
                          unsigned rows, const uint16_t quant[64], unsigned bands)
{
    mr__l3_unit_kernels table;
    mr__l3_unit_kernels_init(&table, flags_of(level));
    memset(to, 0x5a, sizeof *to);
    const char *why = table.decode(&to->unit, in_room(bytes, nbytes, level), nbytes, columns, rows, quant, bands);
    for (size_t i = 0; i < 8; i++)
        assert_true(to->before[i] == UINT64_C(0x5a5a5a5a5a5a5a5a) && to->after[i] == to->before[i]);
    return why;
}

/* The unit is these coefficients (by zigzag index) times quant, as far as its first `bands` go. */
static bool same(const mr__l3_unit *unit, int16_t coef[64][64], unsigned columns, unsigned rows,
                 const uint16_t quant[64], unsigned bands)
{
    for (unsigned z = 0; z < bands; z++)
        for (unsigned y = 0; y < rows; y++)
            for (unsigned x = 0; x < columns; x++) {
                unsigned lane = 8 * y + x, at = natural_of[z];
                int16_t wanted = (int16_t)(uint16_t)((uint32_t)coef[z][lane] * quant[z]);
                int16_t is = (unit->bands >> at & 1) != 0 ? unit->coef[at][lane] : 0;
                if (is != wanted)
                    return false;
            }
    for (unsigned z = bands; z < 64; z++)
        if ((unit->bands >> natural_of[z] & 1) != 0)
            return false;
    return (unit->bands & 1) != 0;
}

/* All kernels and the reference say the same of these bytes; whether they are a unit, which is then in `coef`. */
static bool agree(const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows, int16_t coef[64][64],
                  uint64_t *seed)
{
    static guarded_unit to;
    uint16_t quant[64];
    for (unsigned z = 0; z < 64; z++)
        quant[z] = (uint16_t)(1 + next_random(seed) % (next_random(seed) % 8 == 0 ? 65535 : 99));
    bool good = l3_reference_unit(coef, bytes, nbytes, columns, rows);
    const char *first = NULL;
    for (size_t level = 0; level < LEVELS; level++) {
        unsigned bands = next_random(seed) % 2 == 0 ? 64 : 1 + (unsigned)next_random(seed) % 64;
        const char *why = decode(level, &to, bytes, nbytes, columns, rows, quant, bands);
        if ((why == NULL) != good)
            fail_msg("%s says '%s', the reference %s", levels[level], why != NULL ? why : "good",
                     good ? "accepts" : "refuses");
        first = level == 0 ? why : first;
        if (why != NULL && strcmp(why, first) != 0)
            fail_msg("%s says '%s', C '%s'", levels[level], why, first);
        if (good && !same(&to.unit, coef, columns, rows, quant, bands))
            fail_msg("%s differs from the reference", levels[level]);
    }
    return good;
}

/* Kinds of content, from nothing to noise. */
enum {
    KIND_ZERO,
    KIND_DC,
    KIND_SPARSE,
    KIND_ONES,
    KIND_PHOTO,
    KIND_DENSE,
    KIND_LANES,
    KIND_EXTREME,
    KIND_NOISE,
    KINDS
};

static int16_t signed_random(uint64_t *seed, unsigned range)
{
    return (int16_t)((int)(next_random(seed) % (2 * range + 1)) - (int)range);
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
        return next_random(seed) % 97 == 0 ? signed_random(seed, 3) : 0;
    case KIND_ONES:
        return next_random(seed) % (2 + z) == 0 ? signed_random(seed, 1) : 0;
    case KIND_PHOTO: {
        unsigned range = 600 / (1 + z * z) + 1;
        int16_t v = signed_random(seed, range);
        return z == 0 ? (int16_t)(v + 40 * (int)(lane % 8)) : next_random(seed) % (1 + z / 4) == 0 ? v : 0;
    }
    case KIND_DENSE:
        return signed_random(seed, 1u << next_random(seed) % 9);
    case KIND_LANES:
        return (lanes >> lane & 1) != 0 && next_random(seed) % 3 == 0 ? signed_random(seed, 20 / (1 + z / 8) + 1) : 0;
    case KIND_EXTREME:
        return extremes[next_random(seed) % (sizeof extremes / sizeof *extremes)];
    default:
        return (int16_t)next_random(seed);
    }
}

typedef struct sample {
    int16_t coef[64][64]; /* by zigzag index and lane; 0 outside the grid */
    uint8_t bytes[MR__L3_UNIT_NBYTES_MAX];
    size_t nbytes;
} sample;

/* Makes coefficients, and their bytes with every encoder. */
static void make(sample *s, unsigned kind, unsigned columns, unsigned rows, uint64_t *seed)
{
    static int16_t blocks[8 * 11 * 64];
    static uint8_t other[MR__L3_UNIT_NBYTES_MAX];
    size_t pitch = columns + next_random(seed) % 4;
    uint64_t lanes = next_random(seed) * next_random(seed) & next_random(seed) << 30;
    memset(s->coef, 0, sizeof s->coef);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        blocks[i] = (int16_t)next_random(seed);
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < columns; x++)
            for (unsigned z = 0; z < 64; z++) {
                int16_t v = random_coef(kind, z, lanes, 8 * y + x, seed);
                s->coef[z][8 * y + x] = v;
                blocks[(y * pitch + x) * 64 + z] = v;
            }
    for (size_t level = 0; level < LEVELS; level++) {
        size_t n = mr__l3_unit_encode(blocks, pitch, columns, rows, level == 0 ? s->bytes : other, flags_of(level));
        if (level == 0)
            s->nbytes = n;
        else if (n != s->nbytes || memcmp(other, s->bytes, n) != 0)
            fail_msg("%s writes other bytes than C", levels[level]);
    }
    assert_in_range(s->nbytes, 5, MR__L3_UNIT_NBYTES_MAX);
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    static sample s;
    static int16_t coef[64][64];
    uint64_t seed = 1;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned grid = 0; grid < 64; grid++)
            for (unsigned try = 0; try < (test_quick() ? 1u : 6u); try++) {
                unsigned columns = grid % 8 + 1, rows = grid / 8 + 1;
                make(&s, kind, columns, rows, &seed);
                if (!agree(s.bytes, s.nbytes, columns, rows, coef, &seed))
                    fail_msg("kind %u, %u x %u: refused", kind, columns, rows);
                if (memcmp(coef, s.coef, sizeof coef) != 0)
                    fail_msg("kind %u, %u x %u: comes out otherwise", kind, columns, rows);
            }
}

static void a_missing_or_an_extra_byte_is_found(void **state)
{
    (void)state;
    static sample s;
    static int16_t coef[64][64];
    uint64_t seed = 2;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        make(&s, kind, 8, 8, &seed);
        s.bytes[s.nbytes] = 0;
        assert_false(agree(s.bytes, s.nbytes + 1, 8, 8, coef, &seed));
        size_t step = s.nbytes < 500 ? 1 : s.nbytes / 100;
        for (size_t n = 0; n < s.nbytes; n += step)
            assert_false(agree(s.bytes, n, 8, 8, coef, &seed));
    }
}

/* Bits flipped, bytes changed, the end cut: some of it is still a unit, but the same one to everybody. */
static void damage(sample *s, uint64_t *seed)
{
    unsigned times = 1 + (unsigned)next_random(seed) % 4;
    for (unsigned i = 0; i < times; i++) {
        // Most of what decides about the rest stands in front.
        size_t within = next_random(seed) % 2 == 0 && s->nbytes > 40 ? 40 : s->nbytes;
        size_t at = next_random(seed) % within;
        if (next_random(seed) % 2 == 0)
            s->bytes[at] ^= (uint8_t)(1u << next_random(seed) % 8);
        else
            s->bytes[at] = (uint8_t)next_random(seed);
    }
    if (next_random(seed) % 8 == 0)
        s->nbytes = 1 + next_random(seed) % s->nbytes;
}

static void all_say_the_same_of_damage(void **state)
{
    (void)state;
    static sample s;
    static int16_t coef[64][64];
    uint64_t seed = 3;
    unsigned good = 0, tries = test_quick() ? 1000 : 6000;
    for (unsigned i = 0; i < tries; i++) {
        unsigned columns = 1 + (unsigned)next_random(&seed) % 8, rows = 1 + (unsigned)next_random(&seed) % 8;
        make(&s, i % KINDS, columns, rows, &seed);
        damage(&s, &seed);
        good += agree(s.bytes, s.nbytes, columns, rows, coef, &seed);
    }
    assert_in_range(good, tries / 50, tries / 2);
}

/* The length at which noise is neither too short nor too long for what its head asks for; 0 if there is none. */
static size_t fit(const uint8_t *bytes, size_t nbytes, unsigned columns, unsigned rows)
{
    static guarded_unit to;
    static const uint16_t quant[64];
    size_t least = 1, most = nbytes;
    while (least <= most) {
        size_t middle = (least + most) / 2;
        const char *why = decode(0, &to, bytes, middle, columns, rows, quant, 64);
        if (why != NULL && (strstr(why, "shorter") != NULL || strstr(why, "inside") != NULL))
            least = middle + 1;
        else if (why != NULL && strstr(why, "longer") != NULL)
            most = middle - 1;
        else
            return middle;
    }
    return 0;
}

/* Noise cut to its length, with its padding cleared bit by bit: much of it is a unit then, and like no encoder's. */
static void all_say_the_same_of_noise(void **state)
{
    (void)state;
    static uint8_t bytes[MR__L3_UNIT_NBYTES_MAX];
    static int16_t coef[64][64];
    uint64_t seed = 4;
    unsigned good = 0, tries = test_quick() ? 200 : 1500;
    for (unsigned i = 0; i < tries; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            uint64_t r = next_random(&seed);
            bytes[k] = (uint8_t)(i % 3 == 0 ? r | r >> 8 | r >> 16 : i % 3 == 1 ? r & r >> 8 : r);
        }
        bytes[0] = (uint8_t)(next_random(&seed) % (i % 2 == 0 ? 64 : 8));
        bytes[1] = i % 4 == 0 && bytes[0] > 35 ? bytes[1] : 0;
        if (bytes[0] % 2 == 0)
            bytes[4 + bytes[0] / 2] &= 15;
        unsigned columns = 1 + (unsigned)next_random(&seed) % 8, rows = 1 + (unsigned)next_random(&seed) % 8;
        size_t nbytes = fit(bytes, sizeof bytes, columns, rows);
        for (unsigned bit = 8; nbytes != 0 && bit-- > 0;) {
            good += agree(bytes, nbytes, columns, rows, coef, &seed);
            bytes[nbytes - 1] &= (uint8_t)((1u << bit) - 1);
        }
    }
    assert_in_range(good, tries / 10, 8 * tries);
}

/* Units by hand, from the text of the format. */
static const struct by_hand {
    const char *what;
    unsigned columns, rows;
    uint8_t bytes[24];
    size_t nbytes;
    const char *why; /* NULL: good */
} by_hand[] = {
    {"one block, DC -2", 1, 1, {0x00, 0, 0xfe, 0xff, 0x00}, 5, NULL},
    {"no bytes", 1, 1, {0}, 0, "no bytes"},
    {"half a head", 1, 1, {0x00, 0, 1, 0}, 4, "inside its head"},
    {"modes cut", 1, 1, {0x03, 0, 1, 0, 0x11}, 5, "inside its head"},
    {"the upper half of the last mode", 1, 1, {0x00, 0, 1, 0, 0x10}, 5, "reserved"},
    {"narrowing behind the last band", 1, 1, {0x00, 1, 1, 0, 0x00}, 5, "reserved"},
    {"narrowing of segment 2 with last 2", 1, 1, {0x02, 2, 1, 0, 0x10, 0x01, 0}, 7, "reserved"},
    {"an empty last band", 1, 1, {0x01, 0, 1, 0, 0x00}, 5, "last band"},
    // Band 1 is a list of one: no bits of position, one of sign.
    {"a list in one lane", 1, 1, {0x01, 0, 1, 0, 0x10, 0x01}, 6, NULL},
    {"a bit behind the end", 1, 1, {0x01, 0, 1, 0, 0x10, 0x03}, 6, "behind its end"},
    {"a byte behind the end", 1, 1, {0x01, 0, 1, 0, 0x10, 0x01, 0}, 7, "longer"},
    {"no byte for the sign", 1, 1, {0x01, 0, 1, 0, 0x10}, 5, "shorter"},
    // Three lanes: positions take two bits.
    {"position 2 of 3", 3, 1, {0x01, 0, 1, 0, 0x10, 0x02}, 6, NULL},
    {"position 3 of 3", 3, 1, {0x01, 0, 1, 0, 0x10, 0x03}, 6, "position"},
    {"positions 1 and 2", 3, 1, {0x01, 0, 1, 0, 0x20, 0x09}, 6, NULL},
    {"positions 2 and 1", 3, 1, {0x01, 0, 1, 0, 0x20, 0x06}, 6, NULL},
    {"position 1 twice", 3, 1, {0x01, 0, 1, 0, 0x20, 0x05}, 6, "position"},
    {"two in one lane", 1, 1, {0x01, 0, 1, 0, 0x20, 0x00}, 6, "position"},
    {"a list without lanes", 2, 1, {0x01, 1, 1, 0, 0x10, 0x00}, 6, "position"},
    {"groups without lanes", 2, 1, {0x01, 1, 1, 0, 0x60, 0x00}, 6, NULL},
    {"an open group with nothing in it", 2, 1, {0x01, 0, 1, 0, 0x60, 0x01}, 6, NULL},
    {"a dense band of zeros", 2, 1, {0x01, 0, 1, 0, 0x80, 0x00}, 6, NULL},
};

static void units_by_hand(void **state)
{
    (void)state;
    static guarded_unit to;
    static int16_t coef[64][64];
    uint16_t quant[64];
    uint64_t seed = 5;
    for (unsigned z = 0; z < 64; z++)
        quant[z] = 1;
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        const struct by_hand *u = &by_hand[i];
        bool good = agree(u->bytes, u->nbytes, u->columns, u->rows, coef, &seed);
        const char *why = decode(0, &to, u->bytes, u->nbytes, u->columns, u->rows, quant, 64);
        if (good != (u->why == NULL) || (why != NULL && strstr(why, u->why) == NULL))
            fail_msg("%s: %s", u->what, why != NULL ? why : "accepted");
    }
}

/*
 * The bytes are the format: a change of one is another version. A unit of 2 x 2 blocks, made by hand:
 * DC 100 103 / 101 105, band 1: 0 -1 0 0, band 2: 5 -3 0 20.
 */
static void the_bytes_are_these(void **state)
{
    (void)state;
    static const int16_t dc[4] = {100, 103, 101, 105}, one[4] = {0, -1, 0, 0}, two[4] = {5, -3, 0, 20};
    static int16_t blocks[4 * 64], coef[64][64];
    uint8_t bytes[MR__L3_UNIT_NBYTES_MAX];
    uint64_t seed = 6;
    for (size_t i = 0; i < 4; i++) {
        blocks[64 * i] = dc[i];
        blocks[64 * i + 1] = one[i];
        blocks[64 * i + 2] = two[i];
    }
    /*
     * last 2, predictor 2: residuals of lanes 1, 8, 9: 3, 1, 105 - (103 + 101 - 100) = 1. Modes: band 0 dense with one
     * raw bit (8), band 1 a list of one (1), band 2 dense with two raw bits (9). Bits, the first on the left:
     * Planes: band 0, quotients 1 0 0: 100; band 2, quotients 1 0 0 5: 1001. Bit 0 of 3 1 1: 111, of 5 3 0 20: 1100;
     * bit 1 of 5 3 0 20: 0100. Positions: band 1, position 1 of 4 lanes: 10. Signs: band 0: 000; band 1: 1; band 2
     * (lanes 0, 1, 9): 010. Level 2: band 0: 0, band 2 (lanes 0 and 9): 01. Levels 3, 4, 5: 1. Level 6: 0.
     */
    static const uint8_t wanted[] = {0x82, 0, 100, 0, 0x18, 0x09, 0xc9, 0x8f, 0x84, 0xe2, 0x01};
    size_t nbytes = mr__l3_unit_encode(blocks, 2, 2, 2, bytes, 0);
    assert_int_equal(nbytes, sizeof wanted);
    assert_memory_equal(bytes, wanted, sizeof wanted);
    assert_true(agree(wanted, sizeof wanted, 2, 2, coef, &seed));
    assert_int_equal(coef[0][9], 105);
    assert_int_equal(coef[2][9], 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(a_missing_or_an_extra_byte_is_found),
        cmocka_unit_test(all_say_the_same_of_damage),
        cmocka_unit_test(all_say_the_same_of_noise),
        cmocka_unit_test(units_by_hand),
        cmocka_unit_test(the_bytes_are_these),
    };
    return cmocka_run_group_tests(tests, open_room, NULL);
}
