// SPDX-License-Identifier: Apache-2.0
/*
 * Every JPEG of the shared folder, where it is at hand, by our own decoder and by libjpeg: the whole, 20 regions, and
 * reduced. Says how many are ours to decode, and how many were handed over.
 */
#include "test.h"

#include "jpeg_own.h"
#include "jpeg_plain.h"
#include "shared.h"

#include <string.h>

typedef struct tally {
    uint64_t random;
    size_t jpegs;
    size_t own;
    size_t handed_over;
    size_t refused; /* as damaged, by both */
    size_t strict;  /* refused by ours alone, which libjpeg only warns of */
    size_t regions;
} tally;

/* A region of a large image takes as long as the whole: fewer of them. */
static uint32_t region_count(const mr_info *info)
{
    uint64_t pixels = (uint64_t)info->width * info->height;
    if (test_long())
        return 20;
    return pixels > 8000000 ? 1 : pixels > 1000000 ? 4 : test_quick() ? 4 : 20;
}

static void check_good(const char *path, const picture_file *file, const mr_info *info, tally *t)
{
    bool plain_takes;
    own_case c = {.what = path, .reduce = 1, .channels = info->channels, .random = &t->random};
    c.regions = region_count(info);
    int result = own_check(file, &c, &plain_takes);
    t->own += result == 0;
    t->handed_over += result != 0 && plain_takes;
    t->regions += result == 0 ? c.regions : 0;
    for (c.reduce = 2; c.reduce <= 8; c.reduce *= 2) {
        if (!test_long() && c.reduce != 2u << t->own % 3)
            continue;
        c.channels = info->color == MR_COLOR_YCBCR && t->own % 5 == 0 ? 1 : info->channels;
        c.regions = test_long() ? 20 : 2;
        c.libjpeg_regions = t->own % 4 == 0;
        assert_int_equal(own_check(file, &c, &plain_takes), result);
    }
}

/* A damaged one, or a kind of its own: both refuse it, or both give the same. */
static void check_odd(const char *path, const picture_file *file, tally *t)
{
    mr_image ours, turbo;
    mr_decoder *own = own_decoders[OWN_BEST];
    int result = mr_decoder_decode(own, file->bytes, file->nbytes, NULL, &ours);
    int other = mr_decoder_decode(own_turbo, file->bytes, file->nbytes, NULL, &turbo);
    if (result == 0 && (other != 0 || !picture_same(&ours, &turbo)))
        fail_msg("%s: ours decodes it, libjpeg: %s", path, other != 0 ? mr_decoder_detail(own_turbo) : "other pixels");
    if (result != 0)
        assert_true(mr_decoder_detail(own)[0] != '\0');
    bool is_damaged = result == MR_ECORRUPT || result == MR_ETRUNCATED;
    if (is_damaged && other == 0)
        print_message("%s: ours says: %s; libjpeg decodes it\n", path, mr_decoder_detail(own));
    t->own += result == 0;
    t->handed_over += result == MR_EUNSUPPORTED && other == 0;
    t->strict += is_damaged && other == 0;
    t->refused += result != 0 && other != 0;
}

static void check_file(const char *path, const picture_file *file, void *arg)
{
    tally *t = arg;
    mr_info info = {.struct_size = sizeof info};
    mr_image whole;
    if (mr_form_probe(file->bytes, file->nbytes) != MR_FORM_JPEG)
        return;
    t->jpegs++;
    bool is_known = mr_decoder_info(own_either, file->bytes, file->nbytes, &info) == 0;
    bool is_plain = is_known && info.color != MR_COLOR_CMYK && info.color != MR_COLOR_YCCK;
    int warnings = is_plain ? plain_decode(file->bytes, file->nbytes, 1, info.channels, &whole) : -1;
    if (warnings >= 0)
        mr_image_fini(&whole, NULL);
    // libjpeg's warnings of what is beside the pixels are ours, too, and no damage.
    bool is_good = warnings == 0 && mr_decoder_decode(own_turbo, file->bytes, file->nbytes, NULL, &whole) == 0;
    if (is_good)
        check_good(path, file, &info, t);
    else
        check_odd(path, file, t);
}

static void check_folder(const char *folder)
{
    tally t = {.random = 1};
    if (shared_each(folder, "", check_file, &t) == 0)
        skip();
    print_message("%s: %zu JPEGs: %zu by our own decoder (%zu regions), %zu handed over, %zu refused by both, %zu by "
                  "ours alone\n",
                  folder, t.jpegs, t.own, t.regions, t.handed_over, t.refused, t.strict);
    assert_int_equal(t.own + t.handed_over + t.refused + t.strict, t.jpegs);
    assert_int_equal(t.strict, 0);
}

static void data(void **state)
{
    (void)state;
    check_folder("data");
}

static void exif(void **state)
{
    (void)state;
    check_folder("corpus/exif");
}

static void corpus(void **state)
{
    (void)state;
    check_folder("corpus/jpeg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data),
        cmocka_unit_test(exif),
        cmocka_unit_test(corpus),
    };
    return shared_status(cmocka_run_group_tests(tests, own_setup, own_teardown));
}
