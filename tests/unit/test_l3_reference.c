// SPDX-License-Identifier: Apache-2.0
/* The reference decoder and libjpeg have the same coefficients of what DCT mode was made from. */
#include "jpeg_plain.h"
#include "l3_dct.h"
#include "l3_reference.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

static const uint8_t zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                   12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                   35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                   58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static void compare_component(j_decompress_ptr jpeg, jvirt_barray_ptr array, const jpeg_component_info *info,
                              const l3_component *got, const char *what)
{
    for (uint32_t y = 0; y < got->blocks_h; y++) {
        JBLOCKARRAY row = jpeg->mem->access_virt_barray((j_common_ptr)jpeg, array, y, 1, FALSE);
        for (uint32_t x = 0; x < got->blocks_w; x++)
            for (unsigned z = 0; z < 64; z++)
                if (got->blocks[((size_t)y * got->blocks_w + x) * 64 + z] != row[0][x][zigzag[z]])
                    fail_msg("%s: component %d, block %u, %u, coefficient %u differs", what, info->component_index, x,
                             y, z);
    }
    assert_true(got->blocks_w <= info->width_in_blocks && got->blocks_h <= info->height_in_blocks);
}

/* libjpeg's default error handler ends the program: the files are good. */
static void compare(const picture_file *file, const l3_reference *got, const char *what)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr error;
    jpeg.err = jpeg_std_error(&error);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file->bytes, (unsigned long)file->nbytes);
    assert_int_equal(jpeg_read_header(&jpeg, TRUE), JPEG_HEADER_OK);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&jpeg);
    assert_int_equal(got->width, jpeg.image_width);
    assert_int_equal(got->height, jpeg.image_height);
    assert_int_equal(got->channels, jpeg.num_components);
    for (int i = 0; i < jpeg.num_components; i++) {
        const jpeg_component_info *info = &jpeg.comp_info[i];
        for (unsigned z = 0; z < 64; z++)
            assert_int_equal(got->quant[got->component[i].table][z], info->quant_table->quantval[zigzag[z]]);
        compare_component(&jpeg, arrays[i], info, &got->component[i], what);
    }
    jpeg_destroy_decompress(&jpeg);
}

static void coefficients_are_libjpegs(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x11, 0x21, 0x22, 0x12, 0x41};
    uint64_t random = 1;
    for (uint32_t i = 0; i < (test_quick() ? 12 : 120); i++) {
        plain_recipe recipe = {.space = i % 6 == 5 ? PLAIN_GRAY : PLAIN_YCC, .seed = i, .progressive = i % 4 == 3};
        char what[64];
        recipe.factors[0] = i % 6 == 5 ? 0 : factors[i % 6];
        recipe.width = 1 + picture_random_below(&random, 300);
        recipe.height = 1 + picture_random_below(&random, 300);
        recipe.quality = 1 + (int)picture_random_below(&random, 100);
        snprintf(what, sizeof what, "%u x %u, factors %02x", recipe.width, recipe.height, recipe.factors[0]);
        picture_file jpeg = plain_encode(&recipe), l3 = dct_make(&jpeg);
        l3_reference got;
        const char *why = l3_reference_decode(l3.bytes, l3.nbytes, &got);
        if (why != NULL)
            fail_msg("%s: the reference refuses it: %s", what, why);
        compare(&jpeg, &got, what);
        l3_reference_free(&got);
        free(jpeg.bytes);
        free(l3.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(coefficients_are_libjpegs)};
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
