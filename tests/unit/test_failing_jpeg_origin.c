// SPDX-License-Identifier: Apache-2.0
/* Every allocation refused in turn: coefficients, an origin made and written, a file without one. */
#include "test.h"

#include "failing.h"
#include "jpeg_coefs.h"

#include <stdlib.h>
#include <string.h>

static int use_all(coefs_tool *tool, const picture_file *file)
{
    static uint8_t profile[70000];
    picture_file icc = {profile, sizeof profile}, origin, made;
    mr__jpeg_coefficients c;
    int result = coefs_read(tool, file, &c);
    if (result == 0)
        result = coefs_origin(tool, file, &c, &icc, &origin);
    if (result == 0)
        result = coefs_restore(tool, &c, &icc, &origin, &made);
    if (result == 0) {
        assert_int_equal(made.nbytes, file->nbytes);
        assert_memory_equal(made.bytes, file->bytes, made.nbytes);
        result = coefs_write(tool, &c, &icc, &made);
    }
    if (result != 0)
        assert_string_not_equal(coefs_detail(tool), "");
    return result;
}

/* Twice, whatever came of the first time. */
static int scenario(const mr_hooks *hooks, void *arg)
{
    coefs_tool tool;
    int result = coefs_open(&tool, hooks, NULL);
    if (result != 0)
        return result;
    int first = use_all(&tool, arg), second = use_all(&tool, arg);
    coefs_close(&tool);
    return first != 0 ? first : second;
}

static void all(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        plain_recipe r = {.width = 261, .height = 251, .space = PLAIN_YCC, .factors = {0x22}, .progressive = i >= 2};
        r.restart = i == 1 ? 3 : 0;
        r.quality = 98; // large enough for the output to grow
        picture_file file = plain_encode(&r);
        for (size_t k = 0; i == 1 && k + 1 < file.nbytes; k++)
            if (file.bytes[k] == 0xff && file.bytes[k + 1] == 0xd3 && (file.bytes[k - 1] & 3) == 3)
                file.bytes[k - 1] ^= 1; // a padding bit
        failing_run(scenario, &file);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
