// SPDX-License-Identifier: Apache-2.0
#include "l3_dct.h"

#include "test.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/handle.h"
#include "codec/l3/l3.h"

#include <stdio.h>
#include <stdlib.h>

picture_file dct_recode(mr_encoder *with, const picture_file *from, mr_form form, const mr_encode_options *options,
                        mr_recode_report *report)
{
    mr_encode_options o = {0};
    mr_recode_report r = {.struct_size = sizeof r};
    const void *bytes;
    size_t nbytes;
    if (options != NULL)
        o = *options;
    o.struct_size = sizeof o;
    o.form = form;
    int result = mr_encoder_recode(with, from->bytes, from->nbytes, &o, &bytes, &nbytes, &r);
    if (result != 0)
        fail_msg("recode to %s: %s: %s", mr_form_name(form), mr_error_name(result), mr_encoder_detail(with));
    if (!r.exact)
        fail_msg("recode to %s went through pixels: %s", mr_form_name(form), r.why);
    if (report != NULL)
        *report = r;
    return picture_copy(bytes, nbytes);
}

picture_file dct_make(const picture_file *jpeg)
{
    return dct_recode(encoder, jpeg, MR_FORM_L3, NULL, NULL);
}

int dct_try(const picture_file *jpeg, const mr_encode_options *options, char why[256])
{
    mr__handle *handle;
    mr__buffer out = {0};
    size_t nbytes;
    mr_encode_options o = {0};
    mr_recode_report report = {.struct_size = sizeof report};
    if (options != NULL)
        o = *options;
    o.form = MR_FORM_L3;
    assert_int_equal(mr__handle_new(sizeof *handle, NULL, NULL, &handle), 0);
    mr__call call = mr__handle_call(handle, jpeg->bytes, jpeg->nbytes);
    int result = mr__states_get(&handle->states, &mr__codec_l3, &call);
    if (result == 0)
        result = mr__l3_dct_recode(&call, MR_FORM_JPEG, &o, &out, &nbytes, &report);
    snprintf(why, 256, "%s", handle->detail.text);
    mr__handle_end(handle, &call, result);
    mr__buffer_fini(&out, &handle->hooks);
    mr__handle_free(handle);
    return result;
}

mr_tile dct_tile(const picture_file *file, uint32_t number)
{
    mr_tile tile = {.struct_size = sizeof tile};
    assert_int_equal(mr_decoder_tile(decoder, file->bytes, file->nbytes, number, &tile), 0);
    return tile;
}

static uint32_t tile_rows(uint32_t size, uint32_t tile)
{
    return (size + tile - 1) / tile;
}

void dct_mend(picture_file *file)
{
    uint8_t *b = file->bytes;
    size_t tiles = (size_t)tile_rows(mr__load_le32(b + 16), mr__load_le16(b + 24)) *
                   tile_rows(mr__load_le32(b + 20), mr__load_le16(b + 26));
    size_t lengths = 40 + mr__load_le32(b + 28), hashes = lengths + b[14] * tiles, head = hashes + 4 * tiles + 8;
    size_t at = head;
    for (size_t i = 0; i < tiles; i++) {
        size_t nbytes = 0;
        for (size_t k = b[14]; k-- > 0;)
            nbytes = nbytes << 8 | b[lengths + i * b[14] + k];
        mr__store_le32(b + hashes + 4 * i, (uint32_t)mr__hash(b + at, nbytes));
        at += nbytes;
    }
    mr__store_le64(b + head - 8, mr__hash(b, head - 8));
}

uint8_t *dct_length_of(picture_file *file, size_t tile)
{
    return file->bytes + 40 + mr__load_le32(file->bytes + 28) + file->bytes[14] * tile;
}

static void check_shape(const picture_file *jpeg, const picture_file *l3, const mr_decode_hints *hints,
                        uint32_t regions, uint64_t *random, const char *what)
{
    mr_image whole = picture_decode(jpeg->bytes, jpeg->nbytes, hints);
    check_region(l3, *hints, (mr_rect){0, 0, whole.width, whole.height}, &whole, what);
    for (uint32_t i = 0; i < regions; i++)
        check_region(l3, *hints, picture_random_rect(random, whole.width, whole.height), &whole, what);
    mr_image_fini(&whole, NULL);
}

void dct_check_pixels(const picture_file *jpeg, const picture_file *l3, uint32_t regions, uint64_t *random,
                      const char *what)
{
    for (uint32_t reduce = 1; reduce <= 8; reduce *= 2)
        for (uint32_t channels = 1; channels <= 3; channels += 2) {
            mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = reduce, .channels = channels};
            check_shape(jpeg, l3, &hints, regions, random, what);
        }
}
