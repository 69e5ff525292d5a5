// SPDX-License-Identifier: Apache-2.0
/* Numbers of a PNG as they are stored (mr_decode_hints.values): masks of classes. */
#include "test.h"

#include "png_reference.h"

#include <stdlib.h>

/* png_make's palette has each index as its blue. */
static void check(const png_spec *spec, bool palette)
{
    picture_file file = png_make(spec);
    mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 1, .depth = 8, .values = true};
    mr_image shown = picture_decode(file.bytes, file.nbytes, &(mr_decode_hints){sizeof hints, .depth = 8}), stored;
    uint32_t spread = palette || spec->bit_depth == 8 ? 1 : 255u / ((1u << spec->bit_depth) - 1);
    for (int part = 0; part < 2; part++) {
        hints.region = part == 0 ? (mr_rect){0} : (mr_rect){3, 2, spec->width - 5, spec->height - 4};
        stored = picture_decode(file.bytes, file.nbytes, &hints);
        assert_int_equal(stored.channels, 1);
        for (uint32_t y = 0; y < stored.height; y++)
            for (uint32_t x = 0; x < stored.width; x++) {
                const uint8_t *from = (const uint8_t *)shown.pixels + (y + hints.region.y) * (size_t)shown.stride;
                const uint8_t *pixel = from + (x + hints.region.x) * (size_t)shown.channels;
                uint8_t got = ((const uint8_t *)stored.pixels)[y * (size_t)stored.stride + x];
                assert_int_equal(got, pixel[palette ? 2 : 0] / spread);
            }
        mr_image_fini(&stored, NULL);
    }
    mr_image_fini(&shown, NULL);
    free(file.bytes);
}

static void indices_and_small_gray_stay(void **state)
{
    (void)state;
    for (int bits = 1; bits <= 8; bits *= 2)
        for (int kind = 0; kind < 8; kind++) {
            png_spec spec = {.width = 29, .height = 17, .bit_depth = bits, .seed = 5};
            spec.color_type = kind % 2 == 0 ? 3 : 0;
            spec.interlaced = kind / 2 % 2 != 0;
            spec.transparent = kind / 4 != 0;
            check(&spec, kind % 2 == 0);
        }
}

/* Where there is more than one number in a pixel, or other channels are asked for, nothing changes. */
static void others_are_as_without(void **state)
{
    (void)state;
    static const int types[] = {2, 4, 6, 3, 0};
    for (size_t i = 0; i < 5; i++) {
        png_spec spec = {.width = 12, .height = 9, .bit_depth = 8, .color_type = types[i], .seed = 2};
        picture_file file = png_make(&spec);
        mr_decode_hints hints = {.struct_size = sizeof hints, .channels = i < 3 ? 1 : 3, .depth = 8};
        mr_image wanted = picture_decode(file.bytes, file.nbytes, &hints);
        hints.values = true;
        mr_image got = picture_decode(file.bytes, file.nbytes, &hints);
        picture_compare(&got, &wanted, "with values");
        mr_image_fini(&got, NULL);
        mr_image_fini(&wanted, NULL);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_and_small_gray_stay),
        cmocka_unit_test(others_are_as_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
