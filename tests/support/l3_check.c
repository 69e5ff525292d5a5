// SPDX-License-Identifier: Apache-2.0
#include "l3_check.h"

#include "guard.h"
#include "handles.h"
#include "l3_reference.h"
#include "test.h"

#include <stdlib.h>

const char *const l3_kernel_names[L3_KERNELS] = {"portable", "avx2-slowpdep", "avx2", "neon", "all"};
mr_decoder *l3_decoders[L3_KERNELS];

void l3_check_setup(void)
{
    for (size_t i = 0; i < L3_KERNELS; i++) {
        setenv("MILLRACE_CPU", l3_kernel_names[i], 1);
        l3_decoders[i] = handles_decoder(NULL, NULL);
    }
    unsetenv("MILLRACE_CPU");
}

void l3_check_teardown(void)
{
    for (size_t i = 0; i < L3_KERNELS; i++)
        mr_decoder_free(l3_decoders[i]);
}

static uint16_t sample_at(const mr_image *image, uint32_t y, uint32_t i)
{
    const uint8_t *row = (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
    return image->depth == 8 ? row[i] : ((const uint16_t *)(const void *)row)[i];
}

static void compare(const l3_reference *reference, const mr_image *image, const char *what, const char *who)
{
    assert_int_equal(reference->width, image->width);
    assert_int_equal(reference->height, image->height);
    assert_int_equal(reference->channels, image->channels);
    assert_int_equal(reference->depth, image->depth);
    size_t n = 0;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t i = 0; i < image->width * image->channels; i++, n++)
            if (reference->samples[n] != sample_at(image, y, i))
                fail_msg("%s, %s: sample %u of row %u is %u, and %u by the reference", what, who, i, y,
                         sample_at(image, y, i), reference->samples[n]);
}

void l3_check_reference(const picture_file *file, const mr_image *wanted, const char *what)
{
    l3_reference reference;
    const char *why = l3_reference_decode(file->bytes, file->nbytes, &reference);
    if (why != NULL)
        fail_msg("%s: the reference refuses it: %s", what, why);
    compare(&reference, wanted, what, "what was encoded");
    l3_reference_free(&reference);
}

bool l3_check_agreement(const picture_file *file, const char *what)
{
    l3_reference reference;
    guard in;
    const uint8_t *bytes = guard_bytes(&in, file->bytes, file->nbytes);
    const char *why = l3_reference_decode(bytes, file->nbytes, &reference);
    for (size_t i = 0; i < L3_KERNELS; i++) {
        mr_image image;
        int result = mr_decoder_decode(l3_decoders[i], bytes, file->nbytes, NULL, &image);
        if ((result == 0) != (why == NULL))
            fail_msg("%s, %s: %s, but the reference: %s", what, l3_kernel_names[i],
                     result == 0 ? "decoded" : mr_decoder_detail(l3_decoders[i]), why == NULL ? "decoded" : why);
        if (result == 0)
            compare(&reference, &image, what, l3_kernel_names[i]);
    }
    l3_reference_free(&reference);
    guard_free(&in);
    return why == NULL;
}
