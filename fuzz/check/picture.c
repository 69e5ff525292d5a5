// SPDX-License-Identifier: Apache-2.0
/*
 * An image and encoding options out of any bytes: twelve that choose, then the ICC profile (which is one, mostly: it
 * begins with its size), then pixels, repeated.
 */
#include "check.h"

#include <string.h>

#define CHOICE_NBYTES 12

static const mr_form forms[] = {MR_FORM_JPEG, MR_FORM_PNG, MR_FORM_WEBP, MR_FORM_PNM, MR_FORM_RAW};

static uint32_t size_from(uint8_t byte)
{
    return 1 + byte % 97;
}

static mr_encode_options options_from(const uint8_t *choice)
{
    return (mr_encode_options){.struct_size = sizeof(mr_encode_options),
                               .form = choice[0] < 200 ? forms[choice[0] % 5] : MR_FORM_L3,
                               .quality = choice[1] % 101,
                               .subsampling = (mr_subsampling)(choice[2] % (MR_SUBSAMPLING_OTHER + 1)),
                               .progressive = (choice[3] & 1) != 0,
                               .lossless = (choice[3] & 2) != 0,
                               .effort = choice[4] % 10,
                               .orientation = choice[5] % 9,
                               .preset = (mr_l3_preset)((choice[3] >> 2) % 3)};
}

/* Rows with gaps, rows from below: what a caller may hand over. */
static bool make_image(fuzz_picture *picture, const uint8_t *choice)
{
    mr_image *image = &picture->image;
    *image = (mr_image){.width = size_from(choice[6]),
                        .height = size_from(choice[7]),
                        .channels = 1 + (choice[8] & 3),
                        .depth = choice[8] & 4 ? 16 : 8};
    size_t row = mr_image_row_nbytes(image), step = row + (choice[8] & 8 ? 10 : 0);
    picture->memory = malloc(step * image->height);
    if (picture->memory == NULL)
        return false;
    memset(picture->memory, 0x33, step * image->height);
    image->pixels = picture->memory;
    image->stride = (ptrdiff_t)step;
    if (choice[8] & 16)
        *image = mr_image_upside_down(image);
    return true;
}

static void fill_image(const mr_image *image, const uint8_t *bytes, size_t nbytes)
{
    size_t row = mr_image_row_nbytes(image), used = 0;
    for (uint32_t y = 0; y < image->height; y++) {
        uint8_t *to = (uint8_t *)image->pixels + image->stride * (ptrdiff_t)y;
        for (size_t x = 0; x < row; x++)
            to[x] = nbytes == 0 ? 0 : bytes[used++ % nbytes];
    }
}

/* Taken from the end of the bytes, which get shorter by it. */
static bool add_profile(fuzz_picture *picture, const uint8_t *choice, const uint8_t *bytes, size_t *nbytes)
{
    size_t icc_nbytes = (size_t)(choice[10] << 8 | choice[11]);
    if ((choice[9] & 1) == 0 || icc_nbytes == 0)
        return true;
    if (icc_nbytes > *nbytes)
        icc_nbytes = *nbytes;
    uint8_t *icc = calloc(1, icc_nbytes + 128);
    if (icc == NULL || icc_nbytes == 0) {
        free(icc);
        return icc_nbytes == 0;
    }
    *nbytes -= icc_nbytes;
    memcpy(icc, bytes + *nbytes, icc_nbytes);
    if ((choice[9] & 14) != 0) {
        icc_nbytes += 128;
        memcpy(icc, (uint8_t[]){0, (uint8_t)(icc_nbytes >> 16), (uint8_t)(icc_nbytes >> 8), (uint8_t)icc_nbytes}, 4);
    }
    picture->options.icc = icc;
    picture->options.icc_nbytes = icc_nbytes;
    return true;
}

bool fuzz_picture_init(fuzz_picture *picture, const uint8_t *bytes, size_t nbytes)
{
    if (nbytes < CHOICE_NBYTES)
        return false;
    picture->options = options_from(bytes);
    if (!make_image(picture, bytes))
        return false;
    bytes += CHOICE_NBYTES;
    nbytes -= CHOICE_NBYTES;
    if (!add_profile(picture, bytes - CHOICE_NBYTES, bytes, &nbytes))
        return false;
    fill_image(&picture->image, bytes, nbytes);
    return true;
}

void fuzz_picture_fini(fuzz_picture *picture)
{
    free(picture->memory);
    free((void *)(uintptr_t)picture->options.icc);
}
