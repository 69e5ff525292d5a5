// SPDX-License-Identifier: Apache-2.0
/* PNG with every allocation refused in turn, libdeflate's and zlib's too. */
#include "test.h"

#include "failing_codec.h"
#include "png_reference.h"

#include <stdlib.h>

static void decoding(void **state)
{
    (void)state;
    static const png_spec specs[] = {
        {.width = 30, .height = 20, .bit_depth = 8, .color_type = 2, .idat_nbytes = 200},
        {.width = 30, .height = 20, .bit_depth = 16, .color_type = 6, .interlaced = true},
        {.width = 30, .height = 20, .bit_depth = 4, .color_type = 3, .transparent = true},
    };
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++) {
        failing_decoding d = {.file = png_make(&specs[i / 2]), .hints = {.channels = 3, .depth = 8}};
        if (i % 2 == 1) { // cut, so that zlib has to look at it
            d.file.nbytes = png_find(&d.file, "IEND", 0) - 8;
            d.hints.accept_damaged = true;
        }
        failing_run(failing_decode, &d);
        free(d.file.bytes);
    }
}

static void encoding(void **state)
{
    (void)state;
    static const uint8_t profile[128] = {0, 0, 0, 128};
    uint16_t pixels[20 * 10 * 3] = {1, 2, 3};
    mr_image image = {20, 10, 3, 16, 20 * 6, pixels};
    mr_encode_options options[3];
    for (uint32_t i = 0; i < 3; i++)
        options[i] = (mr_encode_options){.struct_size = sizeof *options,
                                         .form = MR_FORM_PNG,
                                         .effort = 1 + 4 * i,
                                         .icc = profile,
                                         .icc_nbytes = sizeof profile};
    failing_run(failing_encode, &(failing_encoding){&image, options, 3});
}

static void profiles(void **state)
{
    (void)state;
    const uint8_t profile[256] = {0, 0, 1, 0};
    uint32_t pixel = 0;
    mr_image image = {1, 1, 4, 8, 4, &pixel};
    mr_encode_options how = {.struct_size = sizeof how, .form = MR_FORM_PNG, .icc = profile, .icc_nbytes = 256};
    failing_decoding d = {.file = picture_encode(&image, &how), .profile = true, .icc_nbytes = 256};
    failing_run(failing_decode, &d);
    free(d.file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),
        cmocka_unit_test(encoding),
        cmocka_unit_test(profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
