// SPDX-License-Identifier: Apache-2.0
/* Every allocation of a JPEG's decode and encode refused in turn, libjpeg's own among them. */
#include "test.h"

#include "check.h"
#include "failing_codec.h"
#include "jpeg_plain.h"

#include <stdlib.h>

static uint64_t hash_of_part(const mr_image *whole, mr_rect region)
{
    mr_image view;
    assert_int_equal(mr_image_crop(whole, region, &view), 0);
    return mr_image_hash(&view);
}

static void decoding(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        plain_recipe r = {.width = 61, .height = 51, .space = PLAIN_YCC, .factors = {0x22}, .progressive = i == 1};
        r.arithmetic = i == 2 && plain_has_arithmetic(); // by libjpeg; all others by our own decoder
        r.restart = i == 3 ? 3 : 0;
        r.separate = i == 4;
        failing_decoding d = {.file = plain_encode(&r), .hints = {.region = {9, 5, 40, 30}}};
        mr_image whole;
        assert_int_equal(plain_decode(d.file.bytes, d.file.nbytes, 1, 3, &whole), 0);
        d.hash = hash_of_part(&whole, d.hints.region);
        failing_run(failing_decode, &d);
        mr_image_fini(&whole, NULL);
        free(d.file.bytes);
    }
}

static void encoding(void **state)
{
    (void)state;
    mr_encode_options options[2];
    for (int i = 0; i < 2; i++)
        options[i] = (mr_encode_options){.struct_size = sizeof *options,
                                         .form = MR_FORM_JPEG,
                                         .quality = 95,
                                         .progressive = i == 1,
                                         .orientation = 3,
                                         .icc = "profile",
                                         .icc_nbytes = 7};
    mr_image image = picture_make(300, 200, 3, 8, 1);
    picture_noise(image.pixels, 300 * 200 * 3, 1); // so that the file is large
    failing_run(failing_encode, &(failing_encoding){&image, options, 2});
    mr_image_fini(&image, NULL);
}

/* Neither through the hooks nor by malloc inside libjpeg, where that is a static library. */
static void second_decode_allocates_nothing(void **state)
{
    (void)state;
    static const mr_decode_hints part = {.struct_size = sizeof part, .region = {40, 33, 100, 90}};
    static const mr_decode_hints small = {.struct_size = sizeof small, .reduce = 4, .channels = 1};
    for (int i = 0; i < 4; i++) {
        plain_recipe r = {.width = 300, .height = 200, .space = PLAIN_YCC, .factors = {0x22}, .progressive = i == 1};
        r.restart = i == 2 ? 5 : 0;
        r.separate = i == 3;
        picture_file file = plain_encode(&r);
        check_memory_is_kept(&file, NULL);
        check_memory_is_kept(&file, &part);
        check_memory_is_kept(&file, &small);
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),
        cmocka_unit_test(encoding),
        cmocka_unit_test(second_decode_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
