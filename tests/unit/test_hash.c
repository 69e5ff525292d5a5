// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "kernel/hash.h"

enum { BUFFER_NBYTES = 2367 };

/* The buffer and the answers of xxHash's own sanity check. */
static void fill(uint8_t buffer[BUFFER_NBYTES])
{
    uint64_t value = 2654435761u;
    for (size_t i = 0; i < BUFFER_NBYTES; i++) {
        buffer[i] = (uint8_t)(value >> 56);
        value *= UINT64_C(11400714785074694797);
    }
}

static void the_published_answers(void **state)
{
    (void)state;
    static const struct {
        size_t nbytes;
        uint64_t plain, seeded;
    } answers[] = {
        {0, UINT64_C(0x2d06800538d394c2), UINT64_C(0xa8a6b918b2f0364a)},
        {1, UINT64_C(0xc44bdff4074eecdb), UINT64_C(0x032be332dd766ef8)},
        {6, UINT64_C(0x27b56a84cd2d7325), UINT64_C(0x84589c116ab59ab9)},
        {12, UINT64_C(0xa713daf0dfbb77e7), UINT64_C(0xe7303e1b2336de0e)},
        {24, UINT64_C(0xa3fe70bf9d3510eb), UINT64_C(0x850e80fc35bdd690)},
        {48, UINT64_C(0x397da259ecba1f11), UINT64_C(0xadc2cbaa44acc616)},
        {80, UINT64_C(0xbcdefbbb2c47c90a), UINT64_C(0xc6dd0cb699532e73)},
        {195, UINT64_C(0xcd94217ee362ec3a), UINT64_C(0xba68003d370cb3d9)},
        {403, UINT64_C(0xcdeb804d65c6dea4), UINT64_C(0x6259f6ecfd6443fd)},
        {512, UINT64_C(0x617e49599013cb6b), UINT64_C(0x3ce457de14c27708)},
        {2048, UINT64_C(0xdd59e2c3a5f038e0), UINT64_C(0x66f81670669ababc)},
        {2240, UINT64_C(0x6e73a90539cf2948), UINT64_C(0x757ba8487d1b5247)},
        {2367, UINT64_C(0xcb37aeb9e5d361ed), UINT64_C(0xd2db3415b942b42a)},
    };
    uint8_t buffer[BUFFER_NBYTES];
    fill(buffer);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        assert_true(mr__hash(buffer, answers[i].nbytes) == answers[i].plain);
        assert_true(mr__hash_seeded(buffer, answers[i].nbytes, UINT64_C(11400714785074694797)) == answers[i].seeded);
        assert_true(mr__hash_seeded(buffer, answers[i].nbytes, 0) == answers[i].plain);
    }
}

static void pieces_give_the_same_at_every_split(void **state)
{
    (void)state;
    uint8_t buffer[BUFFER_NBYTES];
    fill(buffer);
    uint64_t whole = mr__hash(buffer, BUFFER_NBYTES);
    for (size_t split = 0; split <= BUFFER_NBYTES; split++) {
        mr__hasher hasher;
        mr__hasher_init(&hasher);
        mr__hasher_add(&hasher, buffer, split);
        assert_true(mr__hasher_value(&hasher) == mr__hash(buffer, split)); // asking does not end it
        mr__hasher_add(&hasher, buffer + split, BUFFER_NBYTES - split);
        assert_true(mr__hasher_value(&hasher) == whole);
    }
}

static void a_copy_goes_on_by_itself(void **state)
{
    (void)state;
    uint8_t buffer[BUFFER_NBYTES];
    fill(buffer);
    mr__hasher one, two;
    mr__hasher_init(&one);
    for (size_t i = 0; i < 300; i++)
        mr__hasher_add(&one, buffer + i, 1);
    two = one;
    mr__hasher_add(&one, buffer + 300, 100);
    assert_true(mr__hasher_value(&two) == mr__hash(buffer, 300));
    assert_true(mr__hasher_value(&one) == mr__hash(buffer, 400));
}

/* Whatever the processor has: the portable version, its own, and both in turn over one hasher. */
static void every_version_gives_the_same(void **state)
{
    (void)state;
    const uint64_t seed = UINT64_C(11400714785074694797);
    const mr__cpu_flags cpus[] = {0, mr__cpu_detect()};
    static uint8_t buffer[5 * BUFFER_NBYTES];
    for (size_t i = 0; i < 5; i++)
        fill(buffer + i * BUFFER_NBYTES);
    for (size_t nbytes = 0; nbytes <= sizeof buffer; nbytes += nbytes < 1200 ? 1 : 97) {
        const uint8_t *end = buffer + sizeof buffer - nbytes; // at every alignment
        for (size_t i = 0; i < 2; i++) {
            mr__hasher hasher;
            assert_true(mr__hash_by(end, nbytes, cpus[i]) == mr__hash(end, nbytes));
            assert_true(mr__hash_seeded_by(end, nbytes, seed, cpus[i]) == mr__hash_seeded(end, nbytes, seed));
            mr__hasher_init_seeded(&hasher, seed);
            mr__hasher_add_by(&hasher, end, nbytes / 3, cpus[i]);
            mr__hasher_add_by(&hasher, end + nbytes / 3, nbytes - nbytes / 3, cpus[!i]);
            assert_true(mr__hasher_value(&hasher) == mr__hash_seeded(end, nbytes, seed));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_answers),
        cmocka_unit_test(pieces_give_the_same_at_every_split),
        cmocka_unit_test(a_copy_goes_on_by_itself),
        cmocka_unit_test(every_version_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
