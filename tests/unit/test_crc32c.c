// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "cpu/crc32c.h"
#include "guard.h"

#include <string.h>

enum { MOST = 300 };

/* By the definition: a bit at a time. */
static uint32_t plain(uint32_t crc, const uint8_t *bytes, size_t nbytes)
{
    crc = ~crc;
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

/* The portable one and what this processor has; the same twice where it has nothing. */
static void take_both(mr__crc32c_function *both[2])
{
    mr__crc32c table;
    mr__crc32c_init(&table, 0);
    both[0] = table.add;
    mr__crc32c_init(&table, mr__cpu_detect());
    both[1] = table.add;
}

/* RFC 3720, appendix B.4, and the check value of the catalogues of CRCs. */
static void the_published_answers(void **state)
{
    (void)state;
    static const uint8_t command[48] = {1, 0xc0, 0, 0, 0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0x14, 0, 0, 0, 0,
                                        0, 4,    0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0,    0, 0, 2};
    uint8_t zeros[32] = {0}, ones[32], up[32], down[32];
    memset(ones, 255, sizeof ones);
    for (int i = 0; i < 32; i++) {
        up[i] = (uint8_t)i;
        down[i] = (uint8_t)(31 - i);
    }
    mr__crc32c_function *both[2];
    take_both(both);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(both[i](0, NULL, 0), 0);
        assert_int_equal(both[i](0, (const uint8_t *)"123456789", 9), 0xe3069283);
        assert_int_equal(both[i](0, zeros, 32), 0x8a9136aa);
        assert_int_equal(both[i](0, ones, 32), 0x62a8ab43);
        assert_int_equal(both[i](0, up, 32), 0x46dd794e);
        assert_int_equal(both[i](0, down, 32), 0x113fdb5c);
        assert_int_equal(both[i](0, command, 48), 0xd9963a56);
    }
}

static void every_length_and_split_is_the_definition(void **state)
{
    (void)state;
    mr__crc32c_function *both[2];
    take_both(both);
    uint8_t noise[MOST];
    uint32_t seed = 7;
    for (size_t i = 0; i < MOST; i++)
        noise[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (size_t n = 0; n <= MOST; n++) {
        guard g;
        const uint8_t *bytes = guard_bytes(&g, noise + MOST - n, n); // an odd address, and nothing behind it
        uint32_t wanted = plain(0, bytes, n);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(both[i](0, bytes, n), wanted);
            for (size_t split = 0; split <= n; split += 1 + n / 16)
                assert_int_equal(both[i](both[i](0, bytes, split), bytes + split, n - split), wanted);
        }
        guard_free(&g);
    }
}

/* Each entry of each table: a single byte, with zeros before it that change nothing but its place. */
static void every_byte_at_every_place(void **state)
{
    (void)state;
    mr__crc32c_function *both[2];
    take_both(both);
    for (size_t at = 0; at < 16; at++)
        for (int value = 0; value < 256; value++) {
            uint8_t bytes[16] = {0};
            bytes[at] = (uint8_t)value;
            assert_int_equal(both[0](0, bytes, 16), plain(0, bytes, 16));
            assert_int_equal(both[1](0, bytes, 16), plain(0, bytes, 16));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_answers),
        cmocka_unit_test(every_length_and_split_is_the_definition),
        cmocka_unit_test(every_byte_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
