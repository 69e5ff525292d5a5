// SPDX-License-Identifier: Apache-2.0
/*
 * Units of L3's DCT mode: every encoder writes the same bytes, every decoder and the plain reference read them alike,
 * whatever is in them. All reads are from bytes that end, with their slack, before a page that is not there.
 */
#include "test.h"

#include "codec/l3/dct_unit.h"
#include "l3_reference_unit.h"
#include "l3_units.h"

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
        at[nbytes + i] = (uint8_t)units_random(&noise);
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
        quant[z] = (uint16_t)(1 + units_random(seed) % (units_random(seed) % 8 == 0 ? 65535 : 99));
    bool good = l3_reference_unit(coef, bytes, nbytes, columns, rows);
    const char *first = NULL;
    for (size_t level = 0; level < LEVELS; level++) {
        unsigned bands = units_random(seed) % 2 == 0 ? 64 : 1 + (unsigned)units_random(seed) % 64;
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

/* With every encoder. */
static void make(units_sample *s, unsigned kind, unsigned columns, unsigned rows, uint64_t *seed)
{
    static uint8_t other[MR__L3_UNIT_NBYTES_MAX];
    units_make(s, kind, columns, rows, seed);
    for (size_t level = 1; level < LEVELS; level++) {
        size_t n = mr__l3_unit_encode(s->blocks, s->pitch, columns, rows, other, flags_of(level));
        if (n != s->nbytes || memcmp(other, s->bytes, n) != 0)
            fail_msg("%s writes other bytes than C", levels[level]);
    }
    assert_in_range(s->nbytes, 5, MR__L3_UNIT_NBYTES_MAX);
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    static units_sample s;
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
    static units_sample s;
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

static void all_say_the_same_of_damage(void **state)
{
    (void)state;
    static units_sample s;
    static int16_t coef[64][64];
    uint64_t seed = 3;
    unsigned good = 0, tries = test_quick() ? 1000 : 6000;
    for (unsigned i = 0; i < tries; i++) {
        unsigned columns = 1 + (unsigned)units_random(&seed) % 8, rows = 1 + (unsigned)units_random(&seed) % 8;
        make(&s, i % KINDS, columns, rows, &seed);
        units_damage(&s, &seed);
        good += agree(s.bytes, s.nbytes, columns, rows, coef, &seed);
    }
    assert_in_range(good, tries / 50, tries / 2);
}

/* Noise cut to its length, with its padding cleared bit by bit: much of it is a unit then, and like no encoder's. */
static void all_say_the_same_of_noise(void **state)
{
    (void)state;
    static units_sample s;
    static int16_t coef[64][64];
    uint64_t seed = 4;
    unsigned good = 0, tries = test_quick() ? 200 : 1500;
    for (unsigned i = 0; i < tries; i++)
        for (unsigned bit = units_noise(&s, i, &seed) ? 8 : 0; bit-- > 0;) {
            good += agree(s.bytes, s.nbytes, s.columns, s.rows, coef, &seed);
            s.bytes[s.nbytes - 1] &= (uint8_t)((1u << bit) - 1);
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
