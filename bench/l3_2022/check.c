// SPDX-License-Identifier: Apache-2.0
/* l3-2022 gives back every pixel, in every decoder, at every size and patch; broken files are refused, not followed. */
#include "l3_2022.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum content { CONSTANT, CONSTANT_ROWS, GRADIENT, NOISE, EXTREMES, ZEROS_AMONG, CONTENTS } content;

static uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static uint8_t sample(content what, uint32_t x, uint32_t y, uint32_t channel, uint64_t *state)
{
    switch (what) {
    case CONSTANT:
        return (uint8_t)(77 + channel);
    case CONSTANT_ROWS:
        return (uint8_t)(y * 37 + channel);
    case GRADIENT:
        return (uint8_t)(x * 2 + y * 3 + channel * 50 + next(state) % 3);
    case NOISE:
        return (uint8_t)next(state);
    case EXTREMES:
        return next(state) % 2 == 0 ? 0 : 255;
    case ZEROS_AMONG:
        return next(state) % 3 == 0 ? 0 : (uint8_t)(next(state) % 20);
    case CONTENTS:
        break;
    }
    return 0;
}

static void fill(const mr_image *image, content what, uint64_t seed)
{
    uint8_t *pixels = image->pixels;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            for (uint32_t channel = 0; channel < 3; channel++)
                *pixels++ = sample(what, x, y, channel, &seed);
}

/* From a block of exactly that many bytes, so that sanitizers see a read beyond them. */
static bool decode_exactly(const l3_2022_kernels *kernels, const uint8_t *bytes, size_t nbytes, const mr_image *to)
{
    uint8_t *exact = malloc(nbytes + (nbytes == 0));
    if (exact == NULL)
        exit(2);
    memcpy(exact, bytes, nbytes);
    bool good = l3_2022_decode(kernels, exact, nbytes, to);
    free(exact);
    return good;
}

static bool comes_back(const l3_2022_kernels *kernels, const uint8_t *bytes, size_t nbytes, const mr_image *image,
                       const mr_image *to)
{
    memset(to->pixels, 99, mr_image_row_nbytes(to) * to->height);
    return decode_exactly(kernels, bytes, nbytes, to) && mr_image_hash(to) == mr_image_hash(image);
}

/* Cut short or with a byte more it is refused; with a byte changed it is refused or gives pixels, the same ones in
 * every decoder. */
static bool survives(const l3_2022_kernels *kernels, uint8_t *bytes, size_t nbytes, const mr_image *to, uint64_t *state)
{
    for (int i = 0; i < 8; i++)
        if (decode_exactly(kernels, bytes, next(state) % nbytes, to))
            return false;
    if (decode_exactly(kernels, bytes, nbytes + 1, to)) // the encoder leaves room behind its bytes
        return false;
    for (int i = 0; i < 16; i++) {
        size_t at = next(state) % nbytes;
        uint8_t change = (uint8_t)(next(state) % 255 + 1);
        bytes[at] ^= change;
        bool here = decode_exactly(kernels, bytes, nbytes, to);
        uint64_t hash = mr_image_hash(to);
        if (decode_exactly(&l3_2022_portable, bytes, nbytes, to) != here || (here && mr_image_hash(to) != hash))
            return false;
        bytes[at] ^= change;
    }
    return true;
}

static int check(uint32_t width, uint32_t height, uint32_t side, content what)
{
    mr_image image, to;
    uint64_t state = (uint64_t)width << 32 | height << 8 | side;
    size_t nbytes;
    int wrong = 0;
    if (mr_image_init(&image, width, height, 3, 8, NULL) != 0 || mr_image_init(&to, width, height, 3, 8, NULL) != 0)
        exit(2);
    fill(&image, what, state);
    uint8_t *bytes = l3_2022_encode(&image, side, &nbytes);
    if (bytes == NULL)
        exit(2);
    const l3_2022_kernels *all[] = {&l3_2022_portable, l3_2022_can_avx2() ? l3_2022_avx2 : NULL};
    for (size_t k = 0; k < 2 && all[k] != NULL; k++) {
        if (!comes_back(all[k], bytes, nbytes, &image, &to) || !survives(all[k], bytes, nbytes, &to, &state)) {
            printf("l3-2022: %ux%u, side %u, content %d, decoder %zu: wrong\n", width, height, side, (int)what, k);
            wrong = 1;
        }
    }
    free(bytes);
    mr_image_fini(&image, NULL);
    mr_image_fini(&to, NULL);
    return wrong;
}

int main(void)
{
    static const uint32_t sizes[] = {1, 2, 7, 16, 31, 32, 33, 63, 64, 65, 97, 130}, sides[] = {1, 5, 32, 33, 64};
    int wrong = 0, checked = 0;
    for (size_t w = 0; w < sizeof sizes / sizeof *sizes; w++)
        for (size_t h = 0; h < sizeof sizes / sizeof *sizes; h++)
            for (size_t s = 0; s < sizeof sides / sizeof *sides; s++, checked++)
                wrong += check(sizes[w], sizes[h], sides[s], (content)(checked % CONTENTS));
    for (int what = 0; what < CONTENTS; what++, checked++)
        wrong += check(200, 100, 32, (content)what);
    printf("l3-2022: %d images, %d wrong%s\n", checked, wrong, l3_2022_can_avx2() ? "" : ", without AVX2");
    return wrong != 0;
}
