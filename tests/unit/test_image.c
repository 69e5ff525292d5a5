// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <millrace/millrace.h>
#include <string.h>

static void crop_is_a_view(void **state)
{
    (void)state;
    mr_image image, view;
    assert_int_equal(mr_image_init(&image, 7, 5, 3, 8, NULL), 0);
    assert_int_equal(mr_image_crop(&image, (mr_rect){2, 1, 3, 4}, &view), 0);
    assert_ptr_equal(view.pixels, (uint8_t *)image.pixels + 1 * 21 + 2 * 3);
    assert_int_equal(view.stride, 21);
    assert_int_equal(mr_image_crop(&image, (mr_rect){5, 1, 3, 4}, &view), MR_EARGUMENT);
    assert_int_equal(mr_image_crop(&image, (mr_rect){UINT32_MAX, 0, 2, 1}, &view), MR_EARGUMENT);
    mr_image_fini(&image, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crop_is_a_view)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
