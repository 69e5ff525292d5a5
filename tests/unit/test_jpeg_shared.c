// SPDX-License-Identifier: Apache-2.0
/* Real JPEGs, where the shared data is at hand: the whole and some regions of each against plain libjpeg. */
#include "test.h"

#include "check.h"
#include "jpeg_plain.h"
#include "shared.h"

#include <string.h>

typedef struct tally {
    uint64_t random;
    uint32_t warnings;
    uint32_t gray;
    uint32_t cmyk;
    uint32_t common; /* baseline YCbCr */
} tally;

typedef struct bad_tally {
    size_t good;
    size_t same;
    size_t cmyk; /* of these */
} bad_tally;

static bool is_cmyk(const mr_info *info)
{
    return info->color == MR_COLOR_CMYK || info->color == MR_COLOR_YCCK;
}

/* As plain_decode, with the channels that we give. */
static int decode_plainly(const picture_file *file, const mr_info *info, uint32_t reduce, mr_image *out)
{
    return is_cmyk(info) ? plain_decode_cmyk(file->bytes, file->nbytes, reduce, out)
                         : plain_decode(file->bytes, file->nbytes, reduce, info->channels, out);
}

static void check_file(const char *path, const picture_file *file, void *arg)
{
    tally *t = arg;
    mr_image whole;
    if (mr_form_probe(file->bytes, file->nbytes) != MR_FORM_JPEG) {
        return;
    }
    mr_info info = info_of(file);
    t->gray += info.color == MR_COLOR_GRAY;
    t->cmyk += is_cmyk(&info);
    bool is_common = info.color == MR_COLOR_YCBCR && !info.progressive;
    if (is_common && t->common++ % 4 != 0 && test_quick())
        return; // a quick run takes a quarter of these, and all others
    mr_decode_hints h = {.struct_size = sizeof h, .reduce = 1u << picture_random_below(&t->random, 4)};
    for (int i = 0; i < 2; i++) {
        h.reduce = i == 0 ? 1 : h.reduce == 1 ? 2 : h.reduce;
        assert_true(decode_plainly(file, &info, h.reduce, &whole) >= 0);
        check_region(file, h, (mr_rect){0, 0, whole.width, whole.height}, &whole, path);
        t->warnings += mr_decoder_warnings(decoder);
        for (int k = 0; k < (i == 0 ? 3 : 1); k++)
            check_region(file, h, picture_random_rect(&t->random, whole.width, whole.height), &whole, path);
        mr_image_fini(&whole, NULL);
        h.reduce = 1u << (1 + picture_random_below(&t->random, 3));
    }
}

static void check_folder(const char *folder)
{
    tally t = {.random = 1};
    size_t count = shared_each(folder, "", check_file, &t);
    if (count == 0)
        skip();
    print_message("%s: %zu files, %u gray, %u CMYK, %u warnings\n", folder, count, t.gray, t.cmyk, t.warnings);
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

/* Every orientation, by the file's name: Landscape_6.jpg. */
static void check_orientation(const char *path, const picture_file *file, void *arg)
{
    (void)arg;
    uint32_t named = (uint32_t)(strrchr(path, '_')[1] - '0');
    assert_int_equal(info_of(file).orientation, named >= 1 && named <= 8 ? named : 1);
    mr_decode_hints h = {.struct_size = sizeof h, .orient = true, .reduce = 8};
    mr_image out = picture_decode(file->bytes, file->nbytes, &h);
    assert_int_equal(out.width > out.height, strstr(path, "Landscape") != NULL);
    mr_image_fini(&out, NULL);
}

static void exif(void **state)
{
    (void)state;
    check_folder("corpus/exif");
    shared_each("corpus/exif", "", check_orientation, NULL);
}

/* What could be decoded of it is what libjpeg makes of it. */
static void check_damaged(const char *path, const picture_file *file, const mr_image *ours, bad_tally *t)
{
    mr_image copy, plain;
    assert_int_equal(mr_image_init(&copy, ours->width, ours->height, ours->channels, 8, NULL), 0);
    assert_int_equal(mr_image_copy(ours, &copy), 0);
    mr_info info = info_of(file);
    if (decode_plainly(file, &info, 1, &plain) >= 0) {
        if (!picture_same(&plain, &copy))
            print_error("%s: not what libjpeg gives\n", path);
        assert_true(picture_same(&plain, &copy));
        mr_image_fini(&plain, NULL);
        t->same++;
        t->cmyk += is_cmyk(&info);
    }
    mr_image_fini(&copy, NULL);
}

/* Malformed files: no crash under any hints, and an error has a detail. */
static void try_file(const char *path, const picture_file *file, void *arg)
{
    bad_tally *t = arg;
    mr_image out;
    for (int i = 0; i < 3; i++) {
        mr_decode_hints h = {.struct_size = sizeof h, .accept_damaged = i == 1};
        if (i == 2) {
            h.reduce = 2;
            h.region = (mr_rect){1, 1, 3, 2};
        }
        int result = mr_decoder_decode(decoder, file->bytes, file->nbytes, &h, &out);
        assert_true(result == 0 || mr_decoder_detail(decoder)[0] != '\0');
        assert_int_not_equal(result, MR_EINTERNAL);
        t->good += i == 0 && result == 0;
        if (i == 1 && result == 0)
            check_damaged(path, file, &out, t);
    }
}

static void malformed(void **state)
{
    (void)state;
    bad_tally t = {0};
    size_t count = shared_each("corpus/jpeg", "", try_file, &t);
    if (count == 0)
        skip();
    print_message(
        "corpus/jpeg: %zu files, %zu decode, %zu damaged or not are as libjpeg gives them, %zu of them CMYK\n", count,
        t.good, t.same, t.cmyk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imagenet),
        cmocka_unit_test(large),
        cmocka_unit_test(exif),
        cmocka_unit_test(malformed),
    };
    return shared_status(cmocka_run_group_tests(tests, handles_setup, handles_teardown));
}
