// SPDX-License-Identifier: Apache-2.0
/* Every PNG at hand through pixel mode and back, by each preset: the real images and the odd ones. */
#include "test.h"

#include "check.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

/* A few of the large pictures do where a sample is asked for. */
static void check_file(const char *path, const picture_file *png, void *user)
{
    size_t *seen = user;
    mr_image image;
    if (test_quick() && *seen % 8 != 0 && png->nbytes > 100000) {
        ++*seen;
        return;
    }
    if (mr_decoder_decode(decoder, png->bytes, png->nbytes, NULL, &image) != 0)
        return; // a damaged one of the corpus
    mr_image wanted = image;
    wanted.pixels = malloc((size_t)image.stride * image.height);
    assert_non_null(wanted.pixels);
    memcpy(wanted.pixels, image.pixels, (size_t)image.stride * image.height);
    for (int preset = MR_L3_DEFAULT; preset <= MR_L3_SMALL; preset++) {
        const mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_L3, .preset = (mr_l3_preset)preset};
        picture_file file = picture_encode_with(encoder, &wanted, &o);
        check_decode(&file, NULL, &wanted, path);
        free(file.bytes);
    }
    free(wanted.pixels);
    ++*seen;
}

static void every_png_comes_back(void **state)
{
    (void)state;
    size_t seen = 0;
    shared_each("data", ".png", check_file, &seen);
    shared_each("corpus", ".png", check_file, &seen);
    print_message("%zu images\n", seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_png_comes_back)};
    return shared_status(cmocka_run_group_tests(tests, handles_setup, handles_teardown));
}
