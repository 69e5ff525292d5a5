// SPDX-License-Identifier: Apache-2.0
/* Every allocation of recoding a JPEG to L3 and back, and of decoding it, refused in turn. */
#include "test.h"

#include "failing_codec.h"
#include "jpeg_plain.h"
#include "l3_dct.h"

#include <stdlib.h>
#include <string.h>

typedef struct recoding {
    picture_file from, wanted;
    mr_encode_options options;
} recoding;

static int recode(const mr_hooks *hooks, void *arg)
{
    const recoding *r = arg;
    mr_encoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_encoder *own;
    int result = mr_encoder_new(&options, &own);
    if (result != 0)
        return result;
    const void *bytes;
    size_t nbytes;
    for (int i = 0; i < 2; i++) {
        int got = mr_encoder_recode(own, r->from.bytes, r->from.nbytes, &r->options, &bytes, &nbytes, NULL);
        if (got == 0) {
            assert_int_equal(nbytes, r->wanted.nbytes);
            assert_memory_equal(bytes, r->wanted.bytes, nbytes);
        } else
            assert_true(mr_encoder_detail(own)[0] != '\0');
        result = result != 0 ? result : got;
    }
    mr_encoder_free(own);
    return result;
}

static const plain_recipe kinds[] = {
    {.width = 150, .height = 140, .space = PLAIN_YCC, .factors = {0x22}},
    {.width = 65, .height = 130, .space = PLAIN_YCC, .progressive = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void recoding_there_and_back(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            picture_file jpeg = plain_encode(&kinds[k]), l3 = dct_make(&jpeg);
            mr_encode_options there = {.struct_size = sizeof there, .form = MR_FORM_L3, .threads = threads};
            mr_encode_options back = {.struct_size = sizeof back, .form = MR_FORM_JPEG};
            failing_run(recode, &(recoding){jpeg, l3, there});
            if (threads == 1)
                failing_run(recode, &(recoding){l3, jpeg, back});
            free(jpeg.bytes);
            free(l3.bytes);
        }
}

/* Where the system has no threads to give, one does all. */
static void no_threads(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 2; nth++) {
        picture_file jpeg = plain_encode(&kinds[0]), l3 = dct_make(&jpeg);
        mr_encode_options there = {.struct_size = sizeof there, .form = MR_FORM_L3, .threads = 2};
        failing_threads(nth);
        assert_int_equal(recode(NULL, &(recoding){jpeg, l3, there}), 0);
        failing_threads(0);
        free(jpeg.bytes);
        free(l3.bytes);
    }
}

static void decoding(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        picture_file jpeg = plain_encode(&kinds[k]);
        failing_decoding d = {.file = dct_make(&jpeg), .hints = {.region = {9, 5, 40, 30}}};
        failing_run(failing_decode, &d);
        check_memory_is_kept(&d.file, NULL);
        free(jpeg.bytes);
        free(d.file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recoding_there_and_back),
        cmocka_unit_test(no_threads),
        cmocka_unit_test(decoding),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
