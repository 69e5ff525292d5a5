// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/error.h"

#include <string.h>

static const struct {
    int code, number;
    const char *name, *text;
} list[] = {
#define ENTRY(code, number, text) {code, number, #code, text},
    MR_ERROR_LIST(ENTRY)
#undef ENTRY
};

enum { COUNT = sizeof list / sizeof *list };

static void every_code_has_its_own_number_name_and_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(list[i].code < 0);
        assert_int_equal(list[i].code, list[i].number);
        assert_string_equal(mr_error_name(list[i].code), list[i].name);
        assert_string_equal(mr_error_text(list[i].code), list[i].text);
        assert_int_equal(strncmp(list[i].name, "MR_E", 4), 0);
        assert_true(strlen(list[i].text) > 5);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(list[i].code, list[j].code);
            assert_string_not_equal(list[i].name, list[j].name);
            assert_string_not_equal(list[i].text, list[j].text);
        }
    }
}

/* The numbers are part of the ABI: this list only grows. */
static void the_numbers_stay(void **state)
{
    (void)state;
    static const int frozen[] = {MR_EARGUMENT,    MR_ENOMEM, MR_EIO,     MR_EFORMAT,  MR_ETRUNCATED, MR_ECORRUPT,
                                 MR_EUNSUPPORTED, MR_ELIMIT, MR_ECLOSED, MR_ETIMEOUT, MR_ESYSTEM,    MR_EINTERNAL};
    assert_true(COUNT >= sizeof frozen / sizeof *frozen);
    for (size_t i = 0; i < sizeof frozen / sizeof *frozen; i++)
        assert_int_equal(frozen[i], -(int)i - 1);
    assert_int_equal(MR_OK, 0);
}

static void other_numbers_have_a_name_too(void **state)
{
    (void)state;
    static const int unknown[] = {1, -(int)COUNT - 1, -1000, INT32_MAX, INT32_MIN};
    assert_string_equal(mr_error_name(0), "MR_OK");
    assert_string_equal(mr_error_text(0), "no error");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_string_equal(mr_error_name(unknown[i]), "MR_E?");
        assert_string_equal(mr_error_text(unknown[i]), "an unknown error code");
    }
}

static void failing_writes_the_detail(void **state)
{
    (void)state;
    mr__detail detail;
    assert_int_equal(mr__fail(&detail, MR_ECORRUPT, "damaged %s at byte %d", "PNG", 7), MR_ECORRUPT);
    assert_string_equal(detail.text, "damaged PNG at byte 7");
    mr__detail_clear(&detail);
    assert_string_equal(detail.text, "");
    char large[1000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    mr__fail(&detail, MR_ECORRUPT, "%s", large);
    assert_int_equal(strlen(detail.text), sizeof detail.text - 1); // cut, and ended
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_own_number_name_and_text),
        cmocka_unit_test(the_numbers_stay),
        cmocka_unit_test(other_numbers_have_a_name_too),
        cmocka_unit_test(failing_writes_the_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
