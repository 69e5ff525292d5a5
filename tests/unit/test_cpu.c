// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "cpu/cpu.h"

#include <millrace/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"portable", "sse41", "avx2", "avx2-slowpdep", "avx512", "neon", "all"};

static mr__cpu_flags detect_with(const char *text)
{
    if (text != NULL)
        setenv("MILLRACE_CPU", text, 1);
    else
        unsetenv("MILLRACE_CPU");
    return mr__cpu_detect();
}

static void masks_have_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mr__cpu_flags mask;
        assert_true(mr__cpu_mask_from_text(names[i], &mask));
    }
    mr__cpu_flags portable, avx2, slow, all, untouched = 77;
    assert_true(mr__cpu_mask_from_text("portable", &portable) && portable == 0);
    assert_true(mr__cpu_mask_from_text("avx2", &avx2) && (avx2 & MR__CPU_SSE41) && !(avx2 & MR__CPU_AVX512));
    assert_true(mr__cpu_mask_from_text("avx2-slowpdep", &slow) && (avx2 & ~slow) == MR__CPU_FAST_PDEP);
    assert_true(mr__cpu_mask_from_text("all", &all) && all == UINT32_MAX);
    static const char *const unknown[] = {"", "AVX2", "avx2 ", "avx", "sse41,avx2"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_false(mr__cpu_mask_from_text(unknown[i], &untouched));
    assert_int_equal(untouched, 77);
}

static void the_environment_only_takes_away(void **state)
{
    (void)state;
    mr__cpu_flags all = detect_with(NULL);
    assert_int_equal(detect_with(""), all);
    assert_int_equal(detect_with("all"), all);
    assert_int_equal(detect_with("portable"), 0);
    assert_int_equal(detect_with("a typing error"), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mr__cpu_flags mask;
        assert_true(mr__cpu_mask_from_text(names[i], &mask));
        assert_int_equal(detect_with(names[i]), all & mask);
    }
    detect_with(NULL);
}

static void flags_are_of_this_processor(void **state)
{
    (void)state;
    mr__cpu_flags all = detect_with(NULL), x86 = all & ~(mr__cpu_flags)(MR__CPU_NEON | MR__CPU_CRC32C);
#if defined(__x86_64__)
    assert_int_equal(all & ~(mr__cpu_flags)MR__CPU_CRC32C, x86);
    assert_true(!(all & MR__CPU_FAST_PDEP) || (all & MR__CPU_BMI2));
#else
    assert_int_equal(all & ~(mr__cpu_flags)MR__CPU_CRC32C, MR__CPU_NEON);
    assert_int_equal(x86, 0);
#endif
}

static void the_text_is_written_like_snprintf(void **state)
{
    (void)state;
    char text[128], cut[6];
    detect_with("portable");
    assert_int_equal(mr_cpu_text(text, sizeof text), 8);
    assert_string_equal(text, "portable");
    assert_int_equal(mr_cpu_text(cut, sizeof cut), 8);
    assert_string_equal(cut, "porta");
    assert_int_equal(mr_cpu_text(NULL, 0), 8);
    mr__cpu_flags all = detect_with(NULL);
    size_t length = mr_cpu_text(text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(strstr(text, "avx2") != NULL, (all & MR__CPU_AVX2) != 0);
    assert_int_equal(strstr(text, "neon") != NULL, (all & MR__CPU_NEON) != 0);
    assert_true(text[0] != ' ' && text[length - 1] != ' ');
}

static void all_names_are_told(void **state)
{
    (void)state;
    char text[128], cut[9], expected[128] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s", i != 0 ? " " : "", names[i]);
    detect_with("portable"); // which changes nothing here
    assert_int_equal(mr_cpu_names(text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    assert_int_equal(mr_cpu_names(cut, sizeof cut), strlen(expected));
    assert_string_equal(cut, "portable");
    detect_with(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_have_names),
        cmocka_unit_test(the_environment_only_takes_away),
        cmocka_unit_test(flags_are_of_this_processor),
        cmocka_unit_test(the_text_is_written_like_snprintf),
        cmocka_unit_test(all_names_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
