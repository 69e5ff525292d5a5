// SPDX-License-Identifier: Apache-2.0
/* PngSuite, libpng's own test files, and the PNGs of real data sets, where they are at hand: beside libpng. */
#include "test.h"

#include "handles.h"
#include "png_reference.h"
#include "shared.h"

#include <stdio.h>
#include <string.h>

typedef struct tally {
    size_t files;
    size_t taken;
    size_t different; /* taken by one alone, or with other pixels */
} tally;

/*
 * Where we and libpng part (see codec/png/chunks.h): a wrong Adler-32 is an error to us. libpng has a limit for the
 * size of a chunk, and does not like chunks that are larger than the file, which is a truncated file to us as well.
 */
static bool may_differ(const char *path)
{
    return strstr(path, "badadler") != NULL;
}

static void compare(const char *path, const picture_file *file, void *user)
{
    tally *t = user;
    mr_image ours, theirs;
    int result = mr_decoder_decode(decoder, file->bytes, file->nbytes, NULL, &ours);
    bool taken = png_reference_decode(file->bytes, file->nbytes, &theirs);
    bool same = taken == (result == 0) && (!taken || picture_same(&ours, &theirs));
    if (!same && !may_differ(path)) {
        printf("%s: libpng %s, we say \"%s\"\n", path, taken ? "takes it" : "refuses", mr_decoder_detail(decoder));
        t->different++;
    }
    t->files++;
    t->taken += result == 0;
    if (taken)
        mr_image_fini(&theirs, NULL);
}

static tally compare_folder(const char *folder)
{
    tally t = {0};
    shared_each(folder, ".png", compare, &t);
    assert_int_equal(t.different, 0);
    return t;
}

/* All are taken but the 14 that begin with x, which are broken on purpose. */
static void pngsuite(void **state)
{
    (void)state;
    tally t = compare_folder("corpus/png/pngsuite");
    if (t.files == 0)
        skip();
    assert_int_equal(t.files - t.taken, 14);
}

static void libpng_test_files(void **state)
{
    (void)state;
    if (compare_folder("corpus/png/testpngs").files == 0)
        skip();
}

static void data_sets(void **state)
{
    (void)state;
    static const char *const folders[] = {"data/kodak", "data/cityscapes", "data/kitti"};
    size_t files = 0;
    for (size_t i = 0; i < 3; i++) {
        tally t = compare_folder(folders[i]);
        assert_int_equal(t.taken, t.files);
        files += t.files;
    }
    if (files == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pngsuite),
        cmocka_unit_test(libpng_test_files),
        cmocka_unit_test(data_sets),
    };
    return shared_status(cmocka_run_group_tests(tests, handles_setup, handles_teardown));
}
