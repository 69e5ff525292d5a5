// SPDX-License-Identifier: Apache-2.0
/*
 * Who decodes. The rows that libjpeg gives are counted here, and spoiled on request: our own decoder must not notice,
 * and the proof that L3 holds a JPEG's pixels must, or the two would prove each other.
 */
#include "test.h"

#include "jpeg_make.h"
#include "jpeg_own.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

static uint32_t rows_given;
static bool is_spoiling;

/* In the place of libjpeg's, which it calls. */
JDIMENSION jpeg_read_scanlines(j_decompress_ptr c, JSAMPARRAY rows, JDIMENSION count)
{
    JDIMENSION (*read)(j_decompress_ptr, JSAMPARRAY, JDIMENSION);
    void *found = dlsym(RTLD_NEXT, "jpeg_read_scanlines");
    if (found == NULL)
        abort();
    memcpy(&read, &found, sizeof read);
    JDIMENSION got = read(c, rows, count);
    rows_given += got;
    if (is_spoiling && got != 0 && c->output_scanline == c->output_height)
        rows[got - 1][0] ^= 1; // the least there is: a bit of the last row
    return got;
}

static picture_file make(make_script script)
{
    make_recipe r = {.width = 70, .height = 50, .space = PLAIN_YCC, .factors = {0x22}, .script = script};
    return make_jpeg(&r);
}

static uint64_t hash_by(mr_decoder *with, const picture_file *file)
{
    mr_image out;
    assert_int_equal(mr_decoder_decode(with, file->bytes, file->nbytes, NULL, &out), 0);
    return mr_image_hash(&out);
}

static void ours_is_ours(void **state)
{
    (void)state;
    for (int script = 0; script < MAKE_SCRIPTS; script++) {
        picture_file file = make((make_script)script);
        is_spoiling = false;
        uint64_t libjpegs = hash_by(own_turbo, &file);
        assert_true(rows_given >= 50);
        rows_given = 0;
        is_spoiling = true;
        for (size_t i = 0; i < OWN_KERNELS; i++)
            assert_true(hash_by(own_decoders[i], &file) == libjpegs);
        assert_true(hash_by(own_either, &file) == libjpegs);
        assert_int_equal(rows_given, 0);
        assert_true(hash_by(own_turbo, &file) != libjpegs);
        free(file.bytes);
    }
    is_spoiling = false;
}

static void proof_is_by_libjpeg(void **state)
{
    (void)state;
    mr_encoder *encoder;
    assert_int_equal(mr_encoder_new(NULL, &encoder), 0);
    for (int script = 0; script < MAKE_SCRIPTS; script++) {
        picture_file file = make((make_script)script);
        for (int i = 0; i < 2; i++) {
            mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3};
            mr_recode_report report = {.struct_size = sizeof report};
            const void *bytes;
            size_t nbytes;
            rows_given = 0;
            is_spoiling = i != 0;
            assert_int_equal(mr_encoder_recode(encoder, file.bytes, file.nbytes, &options, &bytes, &nbytes, &report),
                             0);
            assert_int_equal(report.exact, !is_spoiling);
            assert_true(rows_given >= 50);
            if (is_spoiling)
                assert_contains(report.why, "row 49 would have other pixels than libjpeg-turbo decodes");
        }
        free(file.bytes);
    }
    is_spoiling = false;
    mr_encoder_free(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_is_ours),
        cmocka_unit_test(proof_is_by_libjpeg),
    };
    return cmocka_run_group_tests(tests, own_setup, own_teardown);
}
