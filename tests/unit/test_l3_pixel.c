// SPDX-License-Identifier: Apache-2.0
/* Pixel mode of L3: what the plain encoder writes is what the reference reads is what we decode. */
#include "check.h"
#include "l3_plain_encode.h"
#include "l3_reference.h"
#include "test.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the reference's samples are these pixels. */
static void check_reference(const picture_file *file, const mr_image *wanted, const char *what)
{
    l3_reference got;
    const char *why = l3_reference_decode(file->bytes, file->nbytes, &got);
    if (why != NULL)
        fail_msg("%s: the reference refuses it: %s", what, why);
    size_t n = 0;
    for (uint32_t y = 0; y < wanted->height; y++) {
        const uint8_t *row = (const uint8_t *)wanted->pixels + (ptrdiff_t)y * wanted->stride;
        for (uint32_t i = 0; i < wanted->width * wanted->channels; i++, n++) {
            uint16_t sample = wanted->depth == 8 ? row[i] : ((const uint16_t *)(const void *)row)[i];
            if (got.samples[n] != sample)
                fail_msg("%s: the reference has %u at sample %u of row %u, not %u", what, got.samples[n], i, y, sample);
        }
    }
    free(got.samples);
}

static const char *name_of(const mr_image *image, uint64_t seed, char text[128])
{
    snprintf(text, 128, "%u x %u, %u channels of %u bits, seed %llu", image->width, image->height, image->channels,
             image->depth, (unsigned long long)seed);
    return text;
}

static void check_image(const mr_image *image, uint64_t seed)
{
    char what[128];
    picture_file file = l3_plain_encode(image, seed);
    check_reference(&file, image, name_of(image, seed, what));
    check_decode(&file, NULL, image, what);
    free(file.bytes);
}

static void every_shape_comes_back(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 130};
    const size_t n = sizeof sides / sizeof *sides;
    uint64_t seed = 1;
    for (size_t i = 0; i < n * n; i += test_quick() ? 13 : 1)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            mr_image image = picture_make(sides[i / n], sides[i % n], channels, seed % 3 == 0 ? 16 : 8, seed);
            check_image(&image, seed++);
            mr_image_fini(&image, NULL);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_comes_back),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
