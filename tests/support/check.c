// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include "failing.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

void check_refused(const picture_file *file, const mr_decode_hints *hints, int code, const char *part)
{
    mr_image out, before;
    memset(&before, 0x5a, sizeof before);
    out = before;
    int result = mr_decoder_decode(decoder, file->bytes, file->nbytes, hints, &out);
    if (result != code)
        fail_msg("%s, not %s: %s", mr_error_name(result), mr_error_name(code), mr_decoder_detail(decoder));
    assert_contains(mr_decoder_detail(decoder), part);
    assert_memory_equal(&out, &before, sizeof out);
}

void check_not_encoded(mr_encoder *with, const mr_image *image, const mr_encode_options *options, int code,
                       const char *part)
{
    const void *bytes = &bytes;
    size_t nbytes = 77;
    int result = mr_encoder_encode(with, image, options, &bytes, &nbytes);
    if (result != code)
        fail_msg("%s, not %s: %s", mr_error_name(result), mr_error_name(code), mr_encoder_detail(with));
    assert_contains(mr_encoder_detail(with), part);
    assert_ptr_equal(bytes, &bytes);
    assert_int_equal(nbytes, 77);
}

void check_decode(const picture_file *file, const mr_decode_hints *hints, const mr_image *wanted, const char *what)
{
    mr_image out;
    int result = mr_decoder_decode(decoder, file->bytes, file->nbytes, hints, &out);
    if (result != 0)
        fail_msg("%s: %s: %s", what, mr_error_name(result), mr_decoder_detail(decoder));
    picture_compare(&out, wanted, what);
}

void check_region(const picture_file *file, mr_decode_hints hints, mr_rect region, const mr_image *whole,
                  const char *what)
{
    mr_image out;
    hints.struct_size = sizeof hints;
    hints.region = region;
    int result = mr_decoder_decode(decoder, file->bytes, file->nbytes, &hints, &out);
    if (result != 0 || !picture_is_part(whole, region, &out))
        fail_msg("%s, reduce %u, %u channels, region %u,%u %ux%u: %s", what, hints.reduce, hints.channels, region.x,
                 region.y, region.width, region.height,
                 result != 0 ? mr_decoder_detail(decoder) : "not that part of the whole");
}

void check_every_region(const picture_file *file, const mr_image *whole)
{
    for (uint32_t y = 0; y < whole->height; y++)
        for (uint32_t x = 0; x < whole->width; x++)
            for (uint32_t height = 1; height <= whole->height - y; height++)
                for (uint32_t width = 1; width <= whole->width - x; width++)
                    check_region(file, (mr_decode_hints){0}, (mr_rect){x, y, width, height}, whole, "small");
}

void check_conversions(const picture_file *file, const mr_image *natural, const char *what)
{
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (uint32_t depth = 8; depth <= 16; depth += 8) {
            mr_decode_hints hints = {.struct_size = sizeof hints, .channels = channels, .depth = depth};
            mr_image wanted, out;
            assert_int_equal(mr_image_init(&wanted, natural->width, natural->height, channels, depth, NULL), 0);
            assert_int_equal(mr_image_convert(natural, &wanted), 0);
            assert_int_equal(mr_decoder_decode(decoder, file->bytes, file->nbytes, &hints, &out), 0);
            if (!picture_same(&out, &wanted))
                fail_msg("%s: to %u channels of %u bits is not as converted", what, channels, depth);
            mr_image_fini(&wanted, NULL);
        }
}

static void check_one_target(const picture_file *file, const mr_decode_hints *hints, const mr_image *wanted, bool flip)
{
    size_t row = mr_image_row_nbytes(wanted), stride = row + 10, nbytes = stride * (wanted->height + 2);
    uint8_t *block = malloc(nbytes);
    memset(block, 0xa5, nbytes);
    mr_image to = *wanted;
    to.stride = (ptrdiff_t)stride;
    to.pixels = block + stride;
    if (flip)
        to = mr_image_upside_down(&to);
    assert_int_equal(mr_decoder_decode_into(decoder, file->bytes, file->nbytes, hints, &to), 0);
    picture_compare(&to, wanted, flip ? "upside down" : "upright");
    for (size_t i = 0; i < nbytes; i++) {
        size_t y = i / stride;
        if (y == 0 || y == wanted->height + 1u || i % stride >= row)
            assert_int_equal(block[i], 0xa5);
    }
    free(block);
}

void check_target(const picture_file *file, const mr_decode_hints *hints, const mr_image *wanted)
{
    check_one_target(file, hints, wanted, false);
    check_one_target(file, hints, wanted, true);
}

void check_metadata(const picture_file *file, uint32_t orientation, const void *icc, size_t icc_nbytes)
{
    mr_info info = info_of(file);
    const void *given;
    size_t nbytes;
    assert_int_equal(info.orientation, orientation);
    assert_int_equal(info.has_icc, icc != NULL);
    assert_int_equal(mr_decoder_icc(decoder, file->bytes, file->nbytes, &given, &nbytes), 0);
    assert_int_equal(mr_decoder_warnings(decoder), 0);
    assert_int_equal(nbytes, icc_nbytes);
    if (icc != NULL)
        assert_memory_equal(given, icc, icc_nbytes);
    else
        assert_null(given);
}

void check_memory_is_kept(const picture_file *file, const mr_decode_hints *hints)
{
    mr_hooks hooks = failing_hooks();
    mr_info info = {.struct_size = sizeof info};
    mr_image out;
    failing_begin(0, false);
    mr_decoder *own = handles_decoder(&hooks, NULL);
    assert_int_equal(mr_decoder_decode(own, file->bytes, file->nbytes, hints, &out), 0);
    size_t before = failing_now().attempts;
    assert_int_equal(mr_decoder_decode(own, file->bytes, file->nbytes, hints, &out), 0);
    assert_int_equal(mr_decoder_info(own, file->bytes, file->nbytes, &info), 0);
    assert_int_equal(failing_now().attempts, before);
    mr_decoder_free(own);
    assert_int_equal(failing_end().live_blocks, 0);
}
