// SPDX-License-Identifier: Apache-2.0
/* Resizing with every allocation refused in turn. */
#include "test.h"

#include "failing.h"

#include <millrace/millrace.h>
#include <string.h>

/* A resizer that was refused memory goes on: the same call works, or is refused again. */
static int resize(const mr_hooks *hooks, void *arg)
{
    const mr_image *image = arg;
    uint8_t out[40 * 40 * 8];
    mr_resizer_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_resizer *resizer = NULL;
    int result = mr_resizer_new(&options, &resizer);
    assert_int_equal(resizer == NULL, result != 0);
    for (uint32_t i = 0; i < 12 && result == 0; i++) {
        mr_resize_options how = {sizeof how, (mr_filter)(i % 6), MR_RESIZE_PILLOW_13};
        mr_image to = {40 - i, i < 6 ? 40 : 11, image->channels, image->depth, 320, out};
        memset(out, 0, sizeof out);
        result = mr_resizer_resize(resizer, image, &how, &to);
        assert_int_equal(mr_resizer_detail(resizer)[0] == '\0', result == 0);
        int again = mr_resizer_resize(resizer, image, &how, &to);
        assert_true(again == 0 || again == MR_ENOMEM);
    }
    mr_resizer_free(resizer);
    return result;
}

static void resizing(void **state)
{
    (void)state;
    static uint16_t pixels[30 * 30 * 4];
    for (uint32_t depth = 8; depth <= 16; depth += 8)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            mr_image image = {30, 30, channels, depth, 240, pixels};
            failing_run(resize, &image);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(resizing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
