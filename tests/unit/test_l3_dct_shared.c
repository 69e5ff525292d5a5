// SPDX-License-Identifier: Apache-2.0
/* Real JPEGs, where the shared data is at hand: to L3, its pixels whole and in parts, and back to the very file. */
#include "test.h"

#include "l3_dct.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

typedef struct tally {
    uint64_t random;
    uint32_t seen;
    uint32_t exact;
    uint32_t with_origin;
    uint64_t jpeg_nbytes;
    uint64_t l3_nbytes;
    uint64_t origin_nbytes;
} tally;

static void check_shape(const picture_file *jpeg, const picture_file *l3, tally *t, const char *path, uint32_t reduce)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = reduce};
    mr_image whole = picture_decode(jpeg->bytes, jpeg->nbytes, &hints);
    check_region(l3, hints, (mr_rect){0, 0, whole.width, whole.height}, &whole, path);
    for (int i = 0; i < 3; i++)
        check_region(l3, hints, picture_random_rect(&t->random, whole.width, whole.height), &whole, path);
    mr_image_fini(&whole, NULL);
}

static void check_file(const char *path, const picture_file *jpeg, void *arg)
{
    tally *t = arg;
    mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_L3, .threads = 1 + t->seen % 2};
    mr_recode_report report = {.struct_size = sizeof report};
    const void *bytes;
    size_t nbytes;
    char why[256];
    if (mr_form_probe(jpeg->bytes, jpeg->nbytes) != MR_FORM_JPEG || (t->seen++ % 4 != 0 && test_quick()))
        return;
    if (dct_try(jpeg, NULL, why) != 0) {
        print_message("%s: %s\n", path, why);
        return;
    }
    assert_int_equal(mr_encoder_recode(encoder, jpeg->bytes, jpeg->nbytes, &o, &bytes, &nbytes, &report), 0);
    picture_file l3 = picture_copy(bytes, nbytes);
    t->exact += report.exact;
    t->with_origin += report.has_origin;
    t->jpeg_nbytes += jpeg->nbytes;
    t->l3_nbytes += nbytes;
    t->origin_nbytes += report.origin_nbytes;
    check_shape(jpeg, &l3, t, path, 1);
    check_shape(jpeg, &l3, t, path, 2u << picture_random_below(&t->random, 3));
    if (report.has_origin) {
        picture_file back = dct_recode(encoder, &l3, MR_FORM_JPEG, NULL, NULL);
        assert_int_equal(back.nbytes, jpeg->nbytes);
        assert_memory_equal(back.bytes, jpeg->bytes, jpeg->nbytes);
        free(back.bytes);
    } else
        print_message("%s: no origin: %s\n", path, report.why);
    free(l3.bytes);
}

static void check_folder(const char *folder)
{
    tally t = {.random = 1};
    if (shared_each(folder, "", check_file, &t) == 0)
        skip();
    print_message("%s: %u JPEGs, %u in DCT mode, %u of them with origin; %.4f of their bytes without it, %.4f with\n",
                  folder, t.seen, t.exact, t.with_origin,
                  (double)(t.l3_nbytes - t.origin_nbytes) / (double)t.jpeg_nbytes,
                  (double)t.l3_nbytes / (double)t.jpeg_nbytes);
    assert_true(t.exact * 10 >= t.seen * (test_quick() ? 2 : 9));
}

static void imagenet(void **state)
{
    (void)state;
    check_folder("data/imagenet");
}

static void large(void **state)
{
    (void)state;
    check_folder("data/large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(imagenet), cmocka_unit_test(large)};
    return shared_status(cmocka_run_group_tests(tests, handles_setup, handles_teardown));
}
