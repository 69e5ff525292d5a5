// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/bytes.h"

#include <string.h>

static const uint8_t bytes[] = {0xff, 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8};

static void loads(void **state)
{
    (void)state;
    const uint8_t *p = bytes + 1; // at an odd address
    assert_int_equal(mr__load_le16(p), 0x9281);
    assert_int_equal(mr__load_le24(p), 0xa39281);
    assert_int_equal(mr__load_le32(p), 0xb4a39281);
    assert_true(mr__load_le64(p) == UINT64_C(0xf8e7d6c5b4a39281));
    assert_int_equal(mr__load_be16(p), 0x8192);
    assert_int_equal(mr__load_be32(p), 0x8192a3b4);
}

/* Writes its bytes, and none beside them. */
static void check_stored(const uint8_t got[16], const uint8_t *expected, size_t nbytes)
{
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(got[i], i >= 3 && i < 3 + nbytes ? expected[i - 3] : 0x55);
}

static void stores(void **state)
{
    (void)state;
    uint8_t got[16];
#define CHECK(call, ...)                                                                                               \
    do {                                                                                                               \
        const uint8_t expected[] = {__VA_ARGS__};                                                                      \
        memset(got, 0x55, sizeof got);                                                                                 \
        call;                                                                                                          \
        check_stored(got, expected, sizeof expected);                                                                  \
    } while (0)
    CHECK(mr__store_le16(got + 3, 0x8192), 0x92, 0x81);
    CHECK(mr__store_le32(got + 3, 0x8192a3b4), 0xb4, 0xa3, 0x92, 0x81);
    CHECK(mr__store_le64(got + 3, UINT64_C(0x8192a3b4c5d6e7f8)), 0xf8, 0xe7, 0xd6, 0xc5, 0xb4, 0xa3, 0x92, 0x81);
    CHECK(mr__store_be16(got + 3, 0x8192), 0x81, 0x92);
    CHECK(mr__store_be32(got + 3, 0x8192a3b4), 0x81, 0x92, 0xa3, 0xb4);
#undef CHECK
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),
        cmocka_unit_test(stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
